"""Programs that seem to do what is said to several robots, and right ones in other styles."""

from __future__ import annotations

import re

import pytest

from benchmarks.embodiments.embodiment import EMBODIMENTS
from benchmarks.embodiments.suite import EmbodimentSuite
from benchmarks.embodiments.tasks import PRELUDE
from benchmarks.suite import Outcome, Trial
from tests.benchmarks.cheating import FAILS, NOTHING, assert_judged_wrong, carried_out

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
CIRCLE = "pts = ring(at('middle'), R, 64)\nact(pts)\n"
SQUARE = (
    "pts = at(NAMES[-1]) + SIDE / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])\n"
)
LINE = """\
a, b = at(NAMES[0]), at(NAMES[1])
u = (b - a) / np.linalg.norm(b - a)
pts = np.array([a + 0.05 * u, b - 0.05 * u])
"""
ABSENT = "', '.join([c + ' block' for c in ['red', 'green', 'blue', 'yellow', 'pink', 'purple']])"
CARRIERS, TRACERS = ("ravens", "tabletop", "kitchen"), ("ravens", "tabletop", "drawing")
CHEATS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "beside without having been in": ("in-and-out", CARRIERS, (NOTHING, BESIDE)),
    "in and out at once": ("in-and-out", CARRIERS, (IN + BESIDE, NOTHING)),
    "in, and then nothing": ("in-and-out", CARRIERS, (IN, NOTHING)),
    "in, and then a failure": ("in-and-out", CARRIERS, (IN, BESIDE + FAILS)),
    "another one in first": (
        "in-and-out",
        CARRIERS,
        (
            "other = [n for n in THINGS if n != NAMES[0]][0]\nput_in(other, bowl)\n",
            BESIDE,
        ),
    ),
    "held in the gripper": (
        "in-the-bowl",
        ("kitchen",),
        ("pick_obj(NAMES[0])\nstop()\n",),
    ),
    "one of two": ("two-in-the-bowl", CARRIERS, (IN,)),
    "the others as well": (
        "in-the-bowl",
        CARRIERS,
        ("for name in THINGS:\n    put_in(name, bowl)\n",),
    ),
    "the bowl brought to the block": (
        "beside-the-bowl",
        ("ravens", "tabletop"),
        ("put_beside(bowl, NAMES[0])\n",),
    ),
    "beside one of the two": (
        "between-two",
        CARRIERS,
        ("put_beside(NAMES[0], NAMES[1])\n",),
    ),
    "both figures in the last turn": (
        "circle-and-square",
        TRACERS,
        (NOTHING, CIRCLE + SQUARE + "act(pts)\n"),
    ),
    "both figures in the first turn": (
        "circle-and-square",
        TRACERS,
        (CIRCLE + SQUARE + "act(pts)\n", NOTHING),
    ),
    "the square alone": ("circle-and-square", TRACERS, (NOTHING, SQUARE + "act(pts)\n")),
    "the circle twice": ("circle-and-square", TRACERS, (CIRCLE, CIRCLE)),
    "a zigzag for a line": (
        "line-between",
        TRACERS,
        (
            LINE + "side = np.array([-u[1], u[0]])\n"
            "sign = (-1.0) ** np.arange(80)[:, None]\n"
            "pts = np.linspace(pts[0], pts[1], 80) + 0.004 * side * sign\n"
            "act(pts)\n",
        ),
    ),
    "half a circle": ("circle-around", TRACERS, ("act(ring(at(NAMES[0]), R, 64)[:33])\n",)),
    "a circle around the middle": ("circle-around", TRACERS, (CIRCLE,)),
    "no idea": ("is-it-seen", CARRIERS, ("say('I have no idea')\n",)),
    "whatever there may be": ("what-is-seen", CARRIERS, (f"say({ABSENT})\n",)),
    "yes and no": ("is-it-seen", CARRIERS, ("say('yes. no.')\n",)),
    "yes or no, nobody knows": ("is-it-seen", CARRIERS, ("say('yes')\nsay('no')\n",)),
}
HONEST: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "in, and then out": ("in-and-out", CARRIERS, (IN, BESIDE)),
    "one after the other": (
        "two-in-the-bowl",
        CARRIERS,
        ("for n in NAMES[::-1]:\n    put_in(n, bowl)\n",),
    ),
    "a circle, a way to the square, and the square": (
        "circle-and-square",
        ("ravens", "tabletop"),
        (CIRCLE, SQUARE + "act(np.array([at('middle'), pts[0]]))\nact(pts)\n"),
    ),
    "a circle in short ways": (
        "circle-around",
        TRACERS,
        ("pts = ring(at(NAMES[0]), R, 24)\nfor i in range(24):\n    act(pts[i : i + 2])\n",),
    ),
    "a square side by side": (
        "square-around",
        TRACERS,
        (SQUARE + "for i in range(4):\n    act(pts[i : i + 2])\n",),
    ),
    "both in pieces": (
        "circle-and-square",
        TRACERS,
        (
            "pts = ring(at('middle'), R, 60)\n"
            "for i in range(0, 60, 10):\n    act(pts[i : i + 11])\n",
            SQUARE + "for i in range(4):\n    act(pts[i : i + 2])\n",
        ),
    ),
    "a line the other way": ("line-between", TRACERS, (LINE + "act(pts[::-1])\n",)),
    "listed the other way, with articles": (
        "what-is-seen",
        CARRIERS,
        (
            "say('I look around.')\n"
            "say(', '.join(f'The {n}' for n in seen()[::-1] if 'block' in n) + '.')\n",
        ),
    ),
    "with a mark behind it": (
        "is-it-seen",
        CARRIERS,
        ("say('I look.')\nsay('Yes.' if ASKED in seen() else 'NO!')\n",),
    ),
}


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
