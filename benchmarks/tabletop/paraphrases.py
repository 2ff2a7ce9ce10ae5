"""Everyday paraphrases: does a model understand how ordinary people put things?

The cases in `paraphrases.jsonl` were written without sight of any prompt and are not for tuning.
One case is a scene, earlier instructions of the same session, one instruction, and what must be
true afterwards, in the words of `benchmarks.tabletop.judge`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any, Literal

from benchmarks.statistics import wilson_interval
from benchmarks.tabletop.judge import judge
from cap.errors import UsageError
from cap.result import Failure
from cap.session.session import Session

Judgement = Literal["right", "wrong", "declined"]

FAMILIES = (
    "bowl",
    "block",
    "place",
    "direction",
    "ordinal",
    "distance",
    "stack",
    "shape",
    "matching",
    "all",
    "question",
    "refer",
    "undo",
    "out_of_scope",
)
COLOURS = ("blue", "red", "green", "orange", "yellow", "purple", "pink", "cyan", "brown", "gray")


@dataclass(frozen=True)
class Paraphrase:
    """One paraphrase."""

    id: str
    """Unique; the family and a number."""
    family: str
    """One of `FAMILIES`."""
    objects: tuple[str, ...]
    """Names of the objects in the scene."""
    seed: int
    """Seed of the scene."""
    setup: tuple[str, ...]
    """Earlier instructions of the same session."""
    instruction: str
    """The paraphrase itself."""
    expect: Mapping[str, Any]
    """What must be true afterwards, in the words of `benchmarks.tabletop.judge`."""


@dataclass(frozen=True)
class ParaphraseOutcome:
    """How one case ended."""

    case: Paraphrase
    """The case."""
    result: Judgement
    """`declined`: the model found no match and nothing moved."""
    reason: str
    """Why it is not right; "" if it is."""


@dataclass(frozen=True)
class Summary:
    """Counts of one family, or of all."""

    family: str
    """The family, or `total`."""
    right: int
    """Cases as expected."""
    wrong: int
    """Cases not as expected, declines apart."""
    declined: int
    """Cases the model declined, out-of-scope ones apart (there it is right)."""
    n: int
    """Every case asked for."""
    low: float
    """Lower end of the Wilson 95 % interval of right / n."""
    high: float
    """Upper end."""


def load() -> tuple[Paraphrase, ...]:
    """Return the shipped cases."""
    text = files("benchmarks.tabletop").joinpath("paraphrases.jsonl").read_text(encoding="utf-8")
    return parse(text, "paraphrases.jsonl")


def parse(text: str, where: str) -> tuple[Paraphrase, ...]:
    """Read cases from JSON lines; `where` is named in errors.

    Raises:
        UsageError: A line is not a valid case; with its number and what is wrong.
    """
    cases: dict[str, Paraphrase] = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            case = _case(json.loads(line))
            if case.id in cases:
                raise ValueError(f"id {case.id!r} is used twice")
        except (LookupError, TypeError, ValueError, AttributeError, re.error) as error:
            raise UsageError(f"{where}, line {number}: not a valid case: {error!r}") from None
        cases[case.id] = case
    return tuple(cases.values())


def _case(entry: dict[str, Any]) -> Paraphrase:
    """Build one case and check it."""
    if unknown := sorted(set(entry) - {field.name for field in fields(Paraphrase)}):
        raise ValueError(f"keys {unknown} unknown")
    case = Paraphrase(
        id=entry["id"],
        family=entry["family"],
        objects=tuple(entry["objects"]),
        seed=entry["seed"],
        setup=tuple(entry.get("setup", ())),
        instruction=entry["instruction"],
        expect=entry["expect"],
    )
    known = {f"{colour} {kind}" for colour in COLOURS for kind in ("block", "bowl")}
    if case.family not in FAMILIES:
        raise ValueError(f"family {case.family!r} unknown; known: {FAMILIES}")
    if unknown := sorted(set(case.objects) - known):
        raise ValueError(f"objects {unknown} unknown; need '<colour> block' or '<colour> bowl'")
    if not 3 <= len(set(case.objects)) == len(case.objects) <= 8:
        raise ValueError(f"objects {case.objects} must be 3 to 8, all different")
    if type(case.seed) is not int or not all(map(str.strip, (*case.setup, case.instruction))):
        raise ValueError("seed must be an int and every instruction must have words")
    if not case.expect or ("restored" in case.expect and not case.setup):
        raise ValueError("expect must not be empty, and `restored` needs a setup")
    # Tried on a made-up scene, so that no run meets a malformed expectation at its end.
    scene = {name: (0.05 * n, -0.3 - 0.04 * n, 0.02) for n, name in enumerate(case.objects)}
    judge(case.expect, scene, scene, (), undone=scene)
    return case


def run_case(
    case: Paraphrase, make_session: Callable[[Sequence[str], int], Session]
) -> ParaphraseOutcome:
    """Run one case in a session of its own and judge it on the world's true state.

    A setup instruction that fails ends the case. A decline after something moved is wrong.
    """
    session = make_session(case.objects, case.seed)
    robot: Any = session.robot  # the tabletop's: it keeps what it said
    undone = before = dict(robot.positions())
    failure, spoken_before, instruction = None, 0, ""
    for instruction in (*case.setup, case.instruction):
        undone, before = before, dict(robot.positions())
        spoken_before = len(robot.spoken)
        failure = session.run(instruction).failure
        if failure is not None:
            break
    after = dict(robot.positions())
    if failure is None:
        spoken = robot.spoken[spoken_before:]
        reason = judge(case.expect, before, after, spoken, undone)
        return ParaphraseOutcome(case, "wrong" if reason else "right", reason or "")
    return _failed(case, failure, instruction, judge({"unmoved": True}, before, after, ()))


def _failed(
    case: Paraphrase, failure: Failure, instruction: str, moved: str | None
) -> ParaphraseOutcome:
    if "refused" in case.expect and not moved:
        return ParaphraseOutcome(case, "right", "")
    declined = failure.kind == "model" and failure.error == "NoMatch" and not moved
    reason = f"{instruction!r} failed: {failure.error}: {failure.message}"
    return ParaphraseOutcome(
        case, "declined" if declined else "wrong", f"{reason}; {moved or 'nothing moved'}"
    )


def summarize(outcomes: Iterable[ParaphraseOutcome]) -> tuple[Summary, ...]:
    """Return the counts per family, in the order of `FAMILIES`, and last the total."""
    results: dict[str, list[Judgement]] = {family: [] for family in (*FAMILIES, "total")}
    for outcome in outcomes:
        results[outcome.case.family].append(outcome.result)
        results["total"].append(outcome.result)
    return tuple(_count(family, found) for family, found in results.items() if found)


def _count(family: str, results: Sequence[Judgement]) -> Summary:
    right, wrong, declined = (results.count(word) for word in ("right", "wrong", "declined"))
    low, high = wilson_interval(right, len(results))
    return Summary(family, right, wrong, declined, len(results), low, high)
