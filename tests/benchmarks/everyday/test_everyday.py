"""The everyday sentences are sound, and a trial is judged and counted as it should be."""

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks import everyday, task_file
from benchmarks.everyday.suite import TASKS, EverydaySuite, EverydayTask, verdict
from benchmarks.results import begin
from benchmarks.suite import Outcome, Settings, suite
from benchmarks.tabletop.judge import PLACES, WAYS, judge
from cap.cli.main import run as cap
from tests.rows import rows

FILE = Path(everyday.__file__).with_name("tasks.jsonl")
World = dict[str, tuple[float, float, float]]
CASES = tuple(TASKS.values())
BY_ID = rows("case", CASES, ids=lambda case: case.id)


def scene(case: EverydayTask) -> World:
    """Return a made-up scene of a case, on a grid away from every corner, side and the middle."""
    spots = [(x, y) for x in (-0.16, 0.02, 0.14) for y in (-0.67, -0.58, -0.41, -0.34)]
    chosen = random.Random(case.seed).sample(spots, len(case.objects))
    height = {"block": 0.02, "bowl": 0.01}
    return {n: (*xy, height[n.split()[1]]) for n, xy in zip(case.objects, chosen, strict=True)}


# An oracle: what the world would be after somebody did just what a case expects.


def choose(name: Any, before: World) -> str:
    """Return the object or place a selector means, written apart from the judge's own."""
    if isinstance(name, str):
        return name
    [(selector, [kind, *rest])] = name.items()
    where = {**PLACES, **{entry: xyz[:2] for entry, xyz in before.items()}}
    found = [entry for entry in where if entry.endswith(kind)]
    if selector == "ordinal":
        dx, dy = WAYS[rest[0]]
        found.sort(key=lambda entry: where[entry][0] * dx + where[entry][1] * dy, reverse=True)
        return found[rest[1] - 1]
    found = sorted(set(found) - {rest[0]}, key=lambda e: math.dist(where[e], where[rest[0]]))
    return found[0] if selector == "closest" else found[-1]


def colour(name: str) -> str:
    return name.split()[0]


def do_on(world: World, before: World, pairs: Any) -> None:
    for a, b in pairs:
        x, y, z = world[choose(b, before)]
        world[choose(a, before)] = (x, y, z + 0.04)


def do_place(world: World, before: World, pairs: Any) -> None:
    for n, (a, place) in enumerate(pairs):
        world[choose(a, before)] = (*PLACES[choose(place, before)], 0.02 + 0.04 * n)


def do_at(world: World, before: World, targets: Any) -> None:
    for a, (x, y), _ in targets:
        world[a] = (x, y, 0.02)


def do_direction(world: World, before: World, relations: Any) -> None:
    for a, way, b, low, high in relations:
        dx, dy = WAYS.get(way, (0.6, 0.8))
        x, y, _ = before[b]
        world[a] = (x + dx * (low + high) / 2, y + dy * (low + high) / 2, 0.02)


def do_stacked(world: World, before: World, names: Any) -> None:
    x, y, _ = world[names[0]]
    world.update({name: (x, y, 0.02 + 0.04 * n) for n, name in enumerate(names)})


def do_line(world: World, before: World, shape: Any) -> None:
    along = {"x": (0.1, 0.0), "y": (0.0, 0.1), "any": (0.08, 0.06)}[shape["axis"]]
    for n, name in enumerate(shape["names"]):
        world[name] = (-0.2 + along[0] * n, -0.7 + along[1] * n, 0.02)


def do_circle(world: World, before: World, shape: Any) -> None:
    around = shape.get("around", "middle")
    x, y = before[around][:2] if around in before else PLACES[around]
    for n, name in enumerate(shape["names"]):
        angle = 2 * math.pi * n / len(shape["names"])
        world[name] = (x + 0.1 * math.cos(angle), y + 0.1 * math.sin(angle), 0.02)


def do_each(world: World, before: World, rule: Any) -> None:
    names, kind = rule["names"], rule["to"]
    where = {**PLACES, **{entry: xyz[:2] for entry, xyz in before.items()}}
    spots = [entry for entry in where if entry.endswith(kind)]
    for n, name in enumerate(names):
        fit = [s for s in spots if not (rule.get("mismatched") and colour(s) == colour(name))]
        world[name] = (*where[fit[n % len(fit)]], 0.06)


DO: Mapping[str, Callable[[World, World, Any], None]] = {
    "stacked": do_stacked,
    "on": do_on,
    "at": do_at,
    "place": do_place,
    "direction": do_direction,
    "line": do_line,
    "circle": do_circle,
    "each": do_each,
}


def do(expect: Mapping[str, Any], before: World) -> World:
    """Return the world after an expectation was carried out."""
    world = dict(before)
    # A pile goes where its one `place` says.
    for word in ("place", "stacked", "on", "at", "direction", "line", "circle", "each"):
        if word in expect:
            DO[word](world, before, expect[word])
    return world


def answer(expect: Mapping[str, Any], before: World) -> list[str]:
    """Return what an honest robot would say."""
    if isinstance(wanted := expect.get("said"), str):
        return [digit for digit in "0123456789" if judge({"said": wanted}, {}, {}, [digit]) is None]
    if wanted is not None:
        return [f"the {choose(wanted, before)}"]
    if isinstance(truth := expect.get("answer"), list):
        a, way, b = truth
        truth = (
            sum(w * (p - q) for w, p, q in zip(WAYS[way], before[a], before[b], strict=False)) > 0
        )
    return [] if truth is None else ["yes" if truth else "no"]


@BY_ID
def test_every_case_can_be_met(case: EverydayTask) -> None:
    before = scene(case)
    moved = {**before, case.objects[0]: (0.25, -0.75, 0.02)}
    if "restored" in case.expect:
        assert judge(case.expect, moved, before, (), undone=before) is None
    elif "refused" in case.expect:
        assert judge(case.expect, before, before, ("I cannot do that.",)) is None
    else:
        after = do(case.expect, before)
        assert judge(case.expect, before, after, answer(case.expect, before)) is None


@BY_ID
def test_no_case_is_met_by_doing_nothing(case: EverydayTask) -> None:
    before = scene(case)
    earlier = {**before, case.objects[0]: (0.25, -0.75, 0.02)}
    assert judge(case.expect, before, before, (), undone=earlier)


BYSTANDERS = [case for case in CASES if len(case.expect.get("moved_only", ())) < len(case.objects)]


@rows("case", BYSTANDERS, ids=lambda case: case.id)
def test_no_case_allows_a_bystander_to_move(case: EverydayTask) -> None:
    earlier = scene(case)
    before = dict(earlier)
    if "restored" in case.expect:
        before[case.objects[0]] = (0.25, -0.75, 0.02)
    world = do(case.expect, earlier)
    spoken = [*answer(case.expect, before), "I cannot do that."][:1]
    moving = {choose(name, before) for name in case.expect.get("moved_only", ())}
    for name in sorted(set(case.objects) - moving):
        x, y, z = world[name]
        after = {**world, name: (x, y + 0.03, z)}
        reason = judge(case.expect, before, after, spoken, undone=earlier)
        assert reason is not None
        assert f"{name} moved" in reason or f"{name} is not back" in reason


def test_every_family_has_six_to_nine_cases() -> None:
    counts = Counter(case.family for case in CASES)
    assert len(counts) == 14
    assert all(6 <= count <= 9 for count in counts.values())


def test_no_wording_and_no_scene_is_used_twice() -> None:
    assert len({case.instruction.lower() for case in CASES}) == len(CASES)
    assert len({case.seed for case in CASES}) == len(CASES)


def test_setups_are_there_for_what_refers_back_and_only_there() -> None:
    assert {case.family for case in CASES if case.setup} == {"refer", "undo"}
    assert all(case.setup for case in CASES if case.family in ("refer", "undo"))


def test_every_object_is_one_of_the_tabletop_and_no_id_is_used_twice() -> None:
    assert len(task_file.load(FILE, EverydayTask)) == len(TASKS)
    assert all(name.partition(" ")[2] in ("block", "bowl") for c in CASES for name in c.objects)


@dataclass(frozen=True)
class FakeFailure:
    kind: str
    error: str
    message: str = "no luck"


@dataclass(frozen=True)
class FakeTurn:
    failure: FakeFailure | None = None
    instruction: str = "do it"


START: World = {"red block": (-0.1, -0.4, 0.02), "blue bowl": (0.1, -0.6, 0.01)}
PUT: World = {**START, "red block": (0.1, -0.6, 0.03)}
IN_BOWL = {"on": [["red block", "blue bowl"]]}
BACK = {"restored": True}
NO_MATCH = FakeFailure("model", "NoMatch")
CRASHED = FakeFailure("program", "ProgramError")
NOT_FOUND = FakeFailure("robot", "NotFound")


@pytest.mark.parametrize(
    ("expect", "after", "said", "failure", "result"),
    [
        (IN_BOWL, PUT, [], None, "right"),
        (IN_BOWL, START, [], None, "wrong"),
        (IN_BOWL, START, [], NO_MATCH, "declined"),
        (IN_BOWL, PUT, [], NO_MATCH, "wrong"),
        (IN_BOWL, START, [], FakeFailure("model", "EmptyCompletion"), "wrong"),
        (IN_BOWL, START, [], FakeFailure("program", "NoMatch"), "wrong"),
        (IN_BOWL, PUT, [], CRASHED, "wrong"),
        ({"refused": True}, START, [], NO_MATCH, "right"),
        ({"refused": True}, START, [], NOT_FOUND, "right"),
        ({"refused": True}, START, ["I cannot do that"], None, "right"),
        ({"refused": True}, START, ["done"], None, "wrong"),
        ({"refused": True}, PUT, [], NO_MATCH, "wrong"),
        ({"said": "four"}, START, ["four"], None, "right"),
        ({"said": "four"}, START, ["five"], None, "wrong"),
        (BACK, PUT, [], None, "right"),
        (BACK, START, [], None, "wrong"),
    ],
)
def test_result_of_a_session(
    expect: dict[str, Any],
    after: World,
    said: list[str],
    failure: FakeFailure | None,
    result: str,
) -> None:
    task = EverydayTask("x", "bowl", tuple(START), 5, "do it", expect)
    last: Any = FakeTurn(failure)
    found, reason = verdict(task, last, START, after, said, undone=PUT)
    assert found == result
    assert bool(reason) == (result != "right")
    assert failure is None or result == "right" or "'do it' failed: " in reason


def test_an_earlier_instruction_that_is_declined_declines_the_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = EverydaySuite()
    (trial,) = found.trials(1, 0, ["refer-1"])
    unmatched = msgspec.structs.replace(TASKS[trial.task], setup=("fly to the moon",))
    monkeypatch.setitem(TASKS, trial.task, unmatched)
    outcome = found.run(trial, Settings("everyday", "nearest", "instant", prompts=""))
    assert outcome.extra["result"] == "declined"
    assert outcome.failure.startswith("'fly to the moon' failed: NoMatch")
    assert outcome.failure.endswith("nothing moved")


def test_a_summary_counts_families_and_all(tmp_path: Path) -> None:
    found = suite("everyday")
    settings = Settings("everyday", "nearest", "instant")
    results = begin(tmp_path, found, settings, resume=False)
    told = {"undo-1": "declined", "bowl-1": "right", "bowl-2": "right", "bowl-3": "wrong"}
    told["bowl-4"] = "declined"
    for trial in found.trials(1, 0, list(told)):
        result = told[trial.task]
        results.add(trial, Outcome(result == "right", "task", "", "", extra={"result": result}))
    results.close()
    table = found.summary(tmp_path)
    assert [row["family"] for row in table] == ["bowl", "undo", "total"]
    counts = [(row["right"], row["wrong"], row["declined"], row["n"]) for row in table]
    assert counts == [(2, 1, 1, 4), (0, 0, 1, 1), (2, 1, 2, 5)]
    # 2 of 4 by hand: centre 0.5, half width z / (2 sqrt(4 + z^2)).
    assert table[0]["95 %"] == "0.15-0.85"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-m", "vllm/x", "--base-url", "http://127.0.0.1:9/v1"], 4, "nothing answers there"),
        (["-m", "nearest", "--set", "max_calls=3"], 4, "raise it: --set max_calls=N"),
        (["-m", "oracle"], 2, "has no programs of its own"),
        (["-m", "noisy-oracle:0.5"], 2, "has no programs of its own"),
        (["-m", "nearest", "--perception", "camera"], 2, "takes no --perception"),
    ],
)
def test_what_could_not_be_asked_is_no_answer(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cap(["bench", "run", "everyday", "-q", "--out", str(tmp_path / "a"), *arguments]) == code
    assert message in capsys.readouterr().err
