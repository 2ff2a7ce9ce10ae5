"""Objects of other sizes than blocks: how they are held, stacked and refused."""

from __future__ import annotations

from typing import Any

import pytest

from cap.errors import NotFound, Unreachable
from robots.arm.motion import PARK
from robots.ravens import create
from robots.ravens.scene import Body, Scene
from robots.ravens.state import WorldState


def table(mode: str, *bodies: Body) -> Any:
    robot = create(mode=mode, objects=["red block"])
    robot.restore((WorldState(Scene(bodies), PARK.joints()), ()))
    return robot


APPLE = Body("apple", (0.05, -0.35, 0.035), size=(0.07, 0.07, 0.07))
BOOK = Body("book", (-0.12, -0.5, 0.015), size=(0.16, 0.06, 0.03))
SLAB = Body("slab", (-0.12, -0.5, 0.05), size=(0.12, 0.12, 0.1))
RED = Body("red block", (0.15, -0.6, 0.02))


@pytest.mark.parametrize("mode", ["instant", "physics"])
def test_a_larger_and_a_flat_object_are_carried_and_stood_on(mode: str) -> None:
    robot = table(mode, APPLE, BOOK, RED)
    try:
        robot.put_first_on_second("red block", "book")
        assert robot.positions()["red block"][2] == pytest.approx(0.05, abs=2e-3)
        robot.put_first_on_second("apple", [0.2, -0.3])
        assert robot.positions()["apple"] == pytest.approx((0.2, -0.3, 0.035), abs=3e-3)
        robot.put_first_on_second("red block", "middle")
        robot.put_first_on_second("book", [-0.15, -0.7])
        assert robot.positions()["book"] == pytest.approx((-0.15, -0.7, 0.015), abs=3e-3)
    finally:
        robot.close()


def test_what_is_wider_than_the_gripper_opens_is_refused() -> None:
    robot = table("instant", SLAB, RED)
    with pytest.raises(Unreachable, match="too little for 'slab'"):
        robot.put_first_on_second("slab", "middle")
    robot.put_first_on_second("red block", "slab")
    assert robot.positions()["red block"][2] == pytest.approx(0.12)


def test_boxes_have_boxes_of_their_own_size() -> None:
    robot = table("instant", BOOK)
    assert robot.get_bbox("book") == pytest.approx([-0.2, -0.53, -0.04, -0.47])


def test_a_name_without_a_colour_has_none() -> None:
    with pytest.raises(NotFound, match="colour"):
        table("instant", BOOK).get_color("book")


def test_a_mask_covers_what_its_box_spans() -> None:
    robot = create(seed=4, mode="instant", objects=["apple", "red bowl"])
    for name, area in {"apple": 0.066**2, "red bowl": 0.01169}.items():
        assert robot.get_segmask(name).sum() * 4e-6 == pytest.approx(area, rel=0.02)
