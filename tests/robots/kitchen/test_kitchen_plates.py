"""Long things lie side by side on one plate, or are refused with the reason."""

from __future__ import annotations

import itertools

import pytest

from robots.kitchen import create
from robots.kitchen.objects import Thing, footprint
from robots.table.geometry import overlap


def _rectangle(thing: Thing) -> tuple[float, float, float, float, float]:
    shape = footprint(thing)
    return (*thing.xy, shape.length / 2, shape.width / 2, shape.yaw)


def put_on_a_plate(names: list[str], mode: str, seed: int) -> list[Thing]:
    """Carry things onto the red plate one by one; return how they lie there."""
    objects = [*(f"{name} @ table" for name in names), "red plate @ countertop"]
    robot = create(objects=objects, seed=seed, mode=mode)
    try:
        for name in names:
            robot.goto_loc("table")
            robot.pick_obj(name)
            robot.goto_loc("countertop")
            robot.place_at_obj("red plate")
        return robot.state.contents(robot.state["red plate"])
    finally:
        robot.close()


@pytest.mark.parametrize("mode", ["instant", "physics"])
@pytest.mark.parametrize(
    ("names", "seed"),
    [(["banana", "candy bar"], 0), (["chip bag", "banana"], 1), (["sponge", "energy bar"], 2)],
)
def test_two_long_things_lie_side_by_side(names: list[str], mode: str, seed: int) -> None:
    if mode == "physics":
        pytest.importorskip("mujoco")
    lying = put_on_a_plate(names, mode, seed)
    assert {thing.name for thing in lying} == set(names)
    for one, other in itertools.combinations(lying, 2):
        assert not overlap(_rectangle(one), _rectangle(other))
