"""Fruit and plates on the table."""

from __future__ import annotations

import pytest

from cap.errors import Unreachable
from robots.ravens import create
from robots.table.things import SIZES

OBJECTS = ["apple", "lemon", "banana", "blue plate", "red bowl"]


@pytest.mark.parametrize("engine", [None, "mujoco", "pybullet"])
def test_fruit_goes_side_by_side_on_a_plate(engine: str | None) -> None:
    if engine is not None:
        pytest.importorskip(engine)
    mode = "instant" if engine is None else "physics"
    robot = create(seed=4, mode=mode, objects=OBJECTS, engine=engine)
    with pytest.raises(Unreachable, match="too little for 'blue plate'"):
        robot.put_first_on_second("blue plate", "middle")
    for name in ("apple", "lemon", "banana"):
        robot.put_first_on_second(name, "blue plate")
    places = robot.positions()
    for name in ("apple", "lemon", "banana"):
        above = 0.012 + SIZES[name][2] / 2
        assert places[name][2] == pytest.approx(above, abs=2e-3)
    assert robot.get_color("lemon")[0] == pytest.approx(222 / 255)
    robot.close()


def test_a_mask_covers_what_its_box_spans() -> None:
    robot = create(seed=4, mode="instant", objects=OBJECTS)
    for name, area in {"apple": 0.066**2, "red bowl": 0.01169}.items():
        assert robot.get_segmask(name).sum() * 4e-6 == pytest.approx(area, rel=0.02)
