"""Programs that seem to do what is said to several robots, and right ones in other styles."""

from __future__ import annotations

import re

import pytest

from benchmarks.embodiments.robots import EMBODIMENTS
from benchmarks.embodiments.suite import PRELUDE, EmbodimentSuite
from benchmarks.suite import Outcome, Trial
from tests.benchmarks.cheating import NOTHING, assert_judged_wrong, carried_out
from tests.rows import table

SUITE = EmbodimentSuite()
SEED = 0
IN, BESIDE = "put_in(NAMES[0], bowl)\n", "put_beside(NAMES[0], bowl)\n"
SEEN = """
def seen():
    return [name for name in THINGS if is_obj_visible(name)]

"""
TABLE_HANDS = """
def put_in(name, other):
    put_first_on_second(name, other)

def put_between(name, one, other):
    put_first_on_second(name, (at(one) + at(other)) / 2)

def put_beside(name, other):
    near = [at(n) for n in [*THINGS, bowl] if n not in (name, other)]
    spots = [at(other) + 0.13 * np.array([np.cos(a), np.sin(a)]) for a in np.linspace(0, 6, 24)]
    inside = [p for p in spots if abs(p[0]) < 0.27 and abs(p[1] + 0.5) < 0.22]
    put_first_on_second(name, max(inside, key=lambda p: min([np.linalg.norm(p - n) for n in near])))

"""
CARRIERS, TRACERS = ("ravens", "tabletop", "kitchen"), ("ravens", "tabletop", "drawing")
CHEATS = table(__file__, "cheats: cheats")
HONEST = table(__file__, "cheats: honest")


def told_and_carried_out(
    task: str, robot: str, programs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> Outcome:
    """Run programs for a task's sentences, told the numbers and things that stand in them."""
    (body,) = [body for body in EMBODIMENTS if body.robot == robot]
    trial = Trial(task, robot, SEED)
    words = " ".join(SUITE.wish(trial).instructions)
    sizes = [int(number) / 100 for number in re.findall(r"(\d+) cm", words)] or [0.05]
    told = f"bowl = {body.bowl!r}\nTHINGS, R, SIDE = {body.things!r}, {sizes[0]}, {sizes[-1]}\n"
    told += f"NAMES = {re.findall(r'[a-z]+ block(?!s)', words)!r}\n"
    told += "ASKED = NAMES[0] if NAMES else ''\n" + PRELUDE + SEEN
    told += body.hands if robot == "kitchen" else TABLE_HANDS if body.hands else ""
    told += f"def act(pts):\n    {body.act or 'pass'}\n\n"
    return carried_out(SUITE, trial, [told + program for program in programs], monkeypatch)


def rows(table: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]) -> list[tuple[str, str]]:
    """Return every row with each of its robots."""
    return [(name, robot) for name, (_, robots, _) in table.items() for robot in robots]


@pytest.mark.sweep(share=0.06)
@pytest.mark.parametrize(("name", "robot"), rows(CHEATS))
def test_it_is_not_taken_for_what_was_said(
    name: str, robot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, _, programs = CHEATS[name]
    outcome = told_and_carried_out(task, robot, programs, monkeypatch)
    assert_judged_wrong(outcome, broken=name == "in, and then a failure")


@pytest.mark.sweep(share=0.06)
@pytest.mark.parametrize(("name", "robot"), rows(HONEST))
def test_another_style_is_right_too(name: str, robot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, _, programs = HONEST[name]
    outcome = told_and_carried_out(task, robot, programs, monkeypatch)
    assert outcome.success, outcome.failure


def test_the_world_is_looked_at_after_the_first_of_two_instructions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for robot in CARRIERS:
        outcome = told_and_carried_out("in-and-out", robot, (NOTHING, BESIDE), monkeypatch)
        assert "is not in the bowl" in outcome.failure
