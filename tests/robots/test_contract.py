"""Every simulated robot keeps to what `cap robots check` asks of one, with usual values as well."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cap.errors import LimitExceeded, NotFound
from cap.session.session import Session
from cap.validation.robots import ODD_VALUES, broken_promises, fault

TABLE = {
    "name": "red block",
    "first": "red block",
    "second": "middle",
    "object_names": ["red block", "blue bowl"],
    "places": {"red block": "middle"},
    "avoid_regions": ["red block"],
    "moving": ["red block"],
    "pos": [0.0, -0.5],
    "pos_normalized": [0.5, 0.5],
    "start_pos": [0.0, -0.5],
    "goal_pos": "top side",
    "traj": [[0.0, -0.5], [0.1, -0.5]],
    "size": [0.1, 0.1],
}
BOARD = {
    "name": "red block",
    "pts_2d": [[0.0, -0.6], [0.1, -0.6]],
    "old_shapes": [[[0.0, -0.6], [0.1, -0.6]]],
    "new_shapes": [[[0.0, -0.6], [0.1, -0.6]]],
    "pos_normalized": [0.5, 0.5],
}
KITCHEN = {
    "name": "apple",
    "first": "apple",
    "second": "bowl",
    "loc": "desk",
    "pos": [0.0, -1.2],
    "traj": [[0.0, -1.2], [0.2, -1.2]],
    "x": 0.1,
    "y": 0.1,
    "seconds": 1.0,
}


def odd_values(usual: Any) -> Iterator[Any]:
    """Yield odd values, and what usually works with an odd value in it."""
    for odd in ODD_VALUES:
        yield odd
        if isinstance(usual, list):
            yield [usual[0], odd]
        elif isinstance(usual, dict):
            yield dict.fromkeys(usual, odd)


@pytest.mark.parametrize(
    ("name", "objects", "usual"),
    [
        ("ravens", ["red block", "green block", "blue bowl"], TABLE),
        ("drawing", ["red block"], BOARD),
        ("kitchen", ["apple", "bowl"], KITCHEN),
    ],
)
def test_a_robot_keeps_its_promises(name: str, objects: list[str], usual: dict[str, Any]) -> None:
    create = importlib.import_module(f"robots.{name}").create
    robot = create(mode="instant", seed=1, objects=objects)
    assert list(broken_promises(robot)) == []
    kept = robot.snapshot()
    for primitive in robot.primitives().values():
        needed = {each: usual[each] for each in primitive.signature.parameters if each in usual}
        for name in needed if primitive.name != "say" else ():
            for odd in odd_values(usual[name]):
                robot.restore(kept)
                given = {**needed, name: odd}
                assert fault(robot, primitive, given) == "", (primitive.name, name, odd)
    robot.restore(kept)
    assert robot.view().placements.keys() <= robot.shapes().keys()
    assert robot.render(64, 48).size == (64, 48)
    robot.close()


@pytest.mark.parametrize("name", ["ravens", "drawing", "kitchen"])
def test_a_seed_a_snapshot_and_a_reset_give_the_same_bits(name: str, mode: str) -> None:
    create = importlib.import_module(f"robots.{name}").create
    one, other = (create(mode=mode, seed=3) for _ in range(2))
    first = one.snapshot()
    assert first == other.snapshot()
    one.stop()  # while nothing moves it is forgotten
    one.undo_turns()
    one.reset(4)
    assert one.snapshot() != first
    one.restore(first)
    assert one.snapshot() == first
    one.reset(4)
    one.reset(3)
    assert one.snapshot() == first
    for robot in (one, other):
        robot.close()
        robot.close()


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        (
            "ravens",
            [
                "put_first_on_second('red block', 'blue bowl')",
                "put_first_on_second('green block', 'red bowl')",
            ],
        ),
        ("drawing", ["draw([[-0.1, -0.78], [0.1, -0.78]])", "draw([[-0.1, -0.75], [0.1, -0.75]])"]),
        ("kitchen", ["goto_loc('desk')", "goto_loc('cart')"]),
    ],
)
def test_turns_are_undone_as_far_as_they_go_in_a_saved_session_too(
    name: str, turns: list[str], tmp_path: Path
) -> None:
    def facts(session: Session) -> tuple[Any, Any]:
        """Return where everything is, the robot's base too, and how much ink there is."""
        condition = session.robot.condition()
        return {
            **session.robot.positions(), "base": condition.get("robot", 0.0)
        }, condition.get("ink")  # fmt: skip

    with Session.open(name, model="nearest", mode="instant", seed=0) as session:
        first = facts(session)
        for number in (1, 2):
            assert session.execute(turns[number - 1]).ok
            for wrong, error in ((number + 1, NotFound), (0, LimitExceeded), ("1", TypeError)):
                with pytest.raises(error):
                    session.robot.undo_turns(wrong)
        saved = session.save(tmp_path)
    with Session.resume(saved) as session:
        assert session.execute("undo_turns(2)").ok
        places, ink = facts(session)
    assert ink == first[1]
    for each, place in first[0].items():
        assert places[each] == pytest.approx(place, abs=0.003)
