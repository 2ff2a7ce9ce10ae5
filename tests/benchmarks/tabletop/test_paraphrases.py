"""The paraphrases: the cases are sound, and a run is judged and counted as it should be."""

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from benchmarks.tabletop.judge import PLACES, WAYS, judge
from benchmarks.tabletop.paraphrases import (
    FAMILIES,
    Judgement,
    Paraphrase,
    ParaphraseOutcome,
    load,
    parse,
    run_case,
    summarize,
)
from cap.cli.main import run as cap
from cap.errors import UsageError
from tests.rows import rows

World = dict[str, tuple[float, float, float]]
CASES = load()
BY_ID = rows("case", CASES, ids=lambda case: case.id)


def scene(case: Paraphrase) -> World:
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
def test_every_case_can_be_met(case: Paraphrase) -> None:
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
def test_no_case_is_met_by_doing_nothing(case: Paraphrase) -> None:
    before = scene(case)
    earlier = {**before, case.objects[0]: (0.25, -0.75, 0.02)}
    assert judge(case.expect, before, before, (), undone=earlier)


BYSTANDERS = [case for case in CASES if len(case.expect.get("moved_only", ())) < len(case.objects)]


@rows("case", BYSTANDERS, ids=lambda case: case.id)
def test_no_case_allows_a_bystander_to_move(case: Paraphrase) -> None:
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
    assert list(counts) == list(FAMILIES)
    assert all(6 <= count <= 9 for count in counts.values())


def test_no_wording_and_no_scene_is_used_twice() -> None:
    assert len({case.instruction.lower() for case in CASES}) == len(CASES)
    assert len({case.seed for case in CASES}) == len(CASES)


def test_setups_are_there_for_what_refers_back_and_only_there() -> None:
    assert {case.family for case in CASES if case.setup} == {"refer", "undo"}
    assert all(case.setup for case in CASES if case.family in ("refer", "undo"))


GOOD: dict[str, Any] = {
    "id": "bowl-1",
    "family": "bowl",
    "objects": ["red block", "blue bowl", "green block"],
    "seed": 3,
    "instruction": "Put the red block in the blue bowl.",
    "expect": {"on": [["red block", "blue bowl"]]},
}


def test_a_good_line_is_read() -> None:
    (case,) = parse(json.dumps(GOOD), "here")
    assert case.objects == ("red block", "blue bowl", "green block")
    assert case.setup == ()
    assert case.expect == {"on": [["red block", "blue bowl"]]}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"family": "dance"}, "family 'dance' unknown"),
        ({"objects": ["red block", "blue bowl", "white block"]}, "'white block'"),
        ({"objects": ["red block", "blue bowl"]}, "must be 3 to 8"),
        ({"objects": ["red block", "red block", "blue bowl"]}, "all different"),
        ({"seed": "3"}, "seed must be an int"),
        ({"instruction": " "}, "must have words"),
        ({"expect": {}}, "must not be empty"),
        ({"expect": {"restored": True}}, "needs a setup"),
        ({"expect": {"om": [["red block", "blue bowl"]]}}, "'om'"),
        ({"expect": {"on": [["red block", "pink bowl"]]}}, "no object or place 'pink bowl'"),
        ({"expect": {"on": [[["red block"], "blue bowl"]]}}, "AttributeError"),
        ({"expect": {"said": "("}}, "unterminated"),
        ({"note": "x"}, "keys ['note'] unknown"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(change: dict[str, Any], reason: str) -> None:
    text = json.dumps({**GOOD, "id": "bowl-0"}) + "\n" + json.dumps({**GOOD, **change})
    with pytest.raises(UsageError, match="here, line 2: not a valid case") as caught:
        parse(text, "here")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"id": "x"}', json.dumps(GOOD) + "\n" + json.dumps(GOOD)]
)
def test_a_line_that_is_no_new_case_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a valid case"):
        parse(text, "here")


@dataclass(frozen=True)
class FakeFailure:
    kind: str
    error: str
    message: str = "no luck"


@dataclass(frozen=True)
class FakeTurn:
    failure: FakeFailure | None = None


@dataclass
class FakeRobot:
    world: World
    spoken: list[str] = field(default_factory=list)

    def positions(self) -> World:
        return self.world


Step = tuple[World, list[str], FakeFailure | None]
MIDDLE, CORNER = (0.0, -0.5, 0.02), (0.25, -0.25, 0.02)
START: World = {"red block": (-0.1, -0.4, 0.02), "blue bowl": (0.1, -0.6, 0.01)}
PUT: World = {"red block": (0.1, -0.6, 0.03)}
NO_MATCH = FakeFailure("model", "NoMatch")
CRASHED = FakeFailure("program", "ProgramError")
NOT_FOUND = FakeFailure("robot", "NotFound")
EMPTY = FakeFailure("model", "EmptyCompletion")


class FakeSession:
    """Plays steps one after another: what is moved in place, what is said, how it fails."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.robot = FakeRobot(dict(START))
        self.steps = list(steps)

    def run(self, instruction: str) -> FakeTurn:
        moves, said, failure = self.steps.pop(0)
        self.robot.world.update(moves)
        self.robot.spoken += said
        return FakeTurn(failure)


def outcome(expect: dict[str, Any], *steps: Step) -> ParaphraseOutcome:
    """Run a case of as many instructions as there are steps."""
    setup = tuple(f"step {n}" for n in range(len(steps) - 1))
    case = Paraphrase("x", "bowl", tuple(START), 5, setup, "the last step", expect)
    return run_case(case, lambda objects, seed: FakeSession(steps))


IN_BOWL = {"on": [["red block", "blue bowl"]]}


@pytest.mark.parametrize(
    ("expect", "step", "result"),
    [
        (IN_BOWL, (PUT, [], None), "right"),
        (IN_BOWL, ({}, [], None), "wrong"),
        (IN_BOWL, ({}, [], NO_MATCH), "declined"),
        (IN_BOWL, (PUT, [], NO_MATCH), "wrong"),
        (IN_BOWL, ({}, [], EMPTY), "wrong"),
        (IN_BOWL, ({}, [], FakeFailure("program", "NoMatch")), "wrong"),
        (IN_BOWL, (PUT, [], CRASHED), "wrong"),
        ({"refused": True}, ({}, [], NO_MATCH), "right"),
        ({"refused": True}, ({}, [], NOT_FOUND), "right"),
        ({"refused": True}, ({}, ["I cannot do that"], None), "right"),
        ({"refused": True}, ({}, ["done"], None), "wrong"),
        ({"refused": True}, (PUT, [], NO_MATCH), "wrong"),
        ({"refused": True}, (PUT, [], NOT_FOUND), "wrong"),
    ],
)
def test_result_of_one_instruction(expect: dict[str, Any], step: Step, result: Judgement) -> None:
    found = outcome(expect, step)
    assert found.result == result
    assert bool(found.reason) == (result != "right")


def test_a_setup_that_is_declined_declines_the_case() -> None:
    found = outcome(IN_BOWL, ({}, [], NO_MATCH), (PUT, [], None))
    assert found.result == "declined"
    assert found.reason == "'step 0' failed: NoMatch: no luck; nothing moved"


def test_a_setup_that_fails_is_wrong_and_ends_the_case() -> None:
    found = outcome(IN_BOWL, ({}, [], CRASHED), (PUT, [], None))
    assert found.result == "wrong"
    assert "'step 0' failed: ProgramError" in found.reason


def test_a_decline_after_a_setup_that_moved_is_still_a_decline() -> None:
    assert outcome(IN_BOWL, (PUT, [], None), ({}, [], NO_MATCH)).result == "declined"


@pytest.mark.parametrize(
    ("last", "result"),
    [({"red block": MIDDLE}, "right"), (START, "wrong"), ({}, "wrong")],
)
def test_restored_means_before_the_last_setup_instruction(last: World, result: Judgement) -> None:
    first: Step = ({"red block": MIDDLE}, [], None)
    second: Step = ({"red block": CORNER}, [], None)
    assert outcome({"restored": True}, first, second, (last, [], None)).result == result


def test_only_what_the_last_instruction_said_counts() -> None:
    early: Step = ({}, ["four"], None)
    expect = {"said": "four"}
    assert outcome(expect, early, ({}, [], None)).result == "wrong"
    assert outcome(expect, early, ({}, ["four"], None)).result == "right"


def test_the_session_gets_the_scene_of_the_case() -> None:
    asked: list[tuple[tuple[str, ...], int]] = []

    def make_session(objects: Sequence[str], seed: int) -> FakeSession:
        asked.append((tuple(objects), seed))
        return FakeSession([(PUT, [], None)])

    run_case(Paraphrase("x", "bowl", tuple(START), 5, (), "do it", IN_BOWL), make_session)
    assert asked == [(("red block", "blue bowl"), 5)]


def outcomes_of(family: str, *results: Judgement) -> list[ParaphraseOutcome]:
    case = Paraphrase("x", family, tuple(START), 5, (), "do it", IN_BOWL)
    return [ParaphraseOutcome(case, result, "") for result in results]


def test_summary_counts_families_and_total() -> None:
    found = summarize(
        [
            *outcomes_of("undo", "declined"),
            *outcomes_of("bowl", "right", "right", "wrong", "declined"),
        ]
    )
    assert [entry.family for entry in found] == ["bowl", "undo", "total"]
    counts = [(entry.right, entry.wrong, entry.declined, entry.n) for entry in found]
    assert counts == [(2, 1, 1, 4), (0, 0, 1, 1), (2, 1, 2, 5)]
    # 2 of 4 by hand: centre 0.5, half width z / (2 sqrt(4 + z^2)).
    assert (found[0].low, found[0].high) == pytest.approx((0.1500, 0.8500), abs=5e-5)


def test_summary_of_nothing_is_empty() -> None:
    assert summarize([]) == ()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-m", "vllm/x", "--base-url", "http://127.0.0.1:9/v1"], "nothing answers there"),
        (["-m", "nearest", "--max-calls", "3"], "raise --max-calls"),
    ],
)
def test_what_could_not_be_asked_is_no_answer(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cap(["bench", "paraphrases", *arguments]) == 4
    screen = capsys.readouterr()
    assert told in screen.err
    assert screen.out == ""


@pytest.mark.parametrize("option", [["-r", "drawing"], ["--objects", "x"], ["--seed", "7"]])
def test_options_without_effect_are_not_taken(option: list[str]) -> None:
    assert cap(["bench", "paraphrases", *option]) == 2
