"""Three differing answers to one instruction, one of them right: that one is carried out.

Ten instructions, answered by hand as a model would from the prompt alone, each with a goal check;
no measurement of a model. What is right is told by the true world.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cap.engine.settings import Sampling
from cap.models.base import Completion, Request
from cap.session.session import Session
from tests.fakes.scripted import Scripted, listened
from tests.rows import table

ASKED = table(__file__, "three answers")
"""Robot, which answer is right, answers, goal check, and the function that tells if it is so."""
World = dict[str, Any]


def _at(robot: Any, name: str) -> Any:
    return np.array(robot.positions()[name])


def _near(robot: Any, name: str, where: Any, far: float = 0.05) -> bool:
    return bool(np.linalg.norm(_at(robot, name)[:2] - np.array(where)[:2]) < far)


def _ink(robot: Any) -> Any:
    return np.concatenate([np.array(stroke)[:, :2] for stroke in robot.strokes])


def _beside(robot: Any, before: World) -> bool:
    x, y = (_at(robot, "red block") - _at(robot, "green bowl"))[:2]
    return 0.08 < x < 0.2 and abs(y) < 0.03


def _stacked(robot: Any, before: World) -> bool:
    low, middle, high = (_at(robot, f"{color} block") for color in ("green", "yellow", "blue"))
    level = low[2] + 0.03 < middle[2] < high[2] - 0.03
    return bool(level and np.linalg.norm((high - low)[:2]) < 0.02)


def _all_but_red(robot: Any, before: World) -> bool:
    colors = ("green", "blue", "yellow")
    inside = all(_near(robot, f"{c} block", _at(robot, f"{c} bowl"), 0.04) for c in colors)
    return inside and _near(robot, "red block", before["red block"], 0.005)


def _swapped(robot: Any, before: World) -> bool:
    pairs = (("red block", "blue block"), ("blue block", "red block"))
    return all(_near(robot, name, before[other], 0.01) for name, other in pairs)


def _circle(robot: Any, before: World) -> bool:
    middle = (np.array(before["red block"]) + np.array(before["green block"]))[:2] / 2
    radii = np.linalg.norm(_ink(robot) - middle, axis=1)
    return bool(np.all(abs(radii - 0.05) < 0.005))


def _line(robot: Any, before: World) -> bool:
    ink = _ink(robot)
    ends = np.array([ink[:, 0].min(), ink[:, 0].max()])
    level = np.all(abs(ink[:, 1] + 0.5) < 0.005)
    return bool(level and np.allclose(ends, [-0.1, 0.1], atol=0.005))


def _triangle(robot: Any, before: World) -> bool:
    from shapely import Point, Polygon

    (stroke,) = robot.strokes
    closed = np.linalg.norm(np.array(stroke[0]) - np.array(stroke[-1])) < 0.005
    shape = Polygon([point[:2] for point in stroke])
    corners = len(shape.simplify(0.005).exterior.coords) - 1
    return bool(closed and corners == 3 and shape.contains(Point(before["blue block"][:2])))


def _in_bowl(robot: Any, before: World) -> bool:
    return str(robot.whereabouts()["apple"]).endswith("bowl")


def _cup_on_desk(robot: Any, before: World) -> bool:
    return str(robot.whereabouts()["cup"]) == "desk"


def _both_on_countertop(robot: Any, before: World) -> bool:
    return all(str(robot.whereabouts()[name]) == "countertop" for name in ("chip bag", "cup"))


class ByHand(Scripted):
    """Gives each sample its answer."""

    repairs = False

    def complete(self, request: Request) -> Completion:
        answers, self.answers = self.answers, self.answers[request.seed or 0 :]
        try:
            return super().complete(request)
        finally:
            self.answers = answers


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("words", ASKED)
def test_the_right_one_of_three_is_carried_out(words: str) -> None:
    name, right, answers, goal, so = ASKED[words]
    model = ByHand(*answers, goal=goal)
    with Session.open(name, model, mode="instant", seed=0, sampling=Sampling(3)) as session:
        events = listened(session)
        before = dict(session.robot.positions())
        turn = session.run(words)
        (tried,) = (event.data for event in events if event.kind == "samples")
        assert tried["chosen"] == right, tried
        assert len({one["came"] for one in tried["tried"]}) == 3  # they can be told apart
        assert turn.ok
        assert globals()[f"_{so}"](session.robot, before)
