"""The kitchen's picture shows what is there, and names it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from PIL import ImageDraw

from robots.kitchen import KitchenRobot, create, picture
from robots.kitchen.objects import KINDS
from robots.simulation.top_view import TopView

Box = tuple[float, float, float, float]


class Drawn:
    """What was written into pictures, and where: pixels before the picture is reduced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.boxes: dict[str, Box] = {}
        self.at: dict[str, tuple[float, float]] = {}
        self.lines = 0
        self.has_line: set[str] = set()
        self.picture: Any = None
        write, line, solids = picture._Names.write, ImageDraw.ImageDraw.line, TopView.solids

        def written(names: Any, name: str, middles: Any, anchor: Any = None, *rest: Any) -> Box:
            before = self.lines
            self.boxes[name] = write(names, name, middles, anchor, *rest)
            self.picture = names._picture
            if anchor is not None:
                self.at[name] = self.picture.pixel(anchor)
            if self.lines > before:
                self.has_line.add(name)
            return self.boxes[name]

        def lined(brush: Any, *rest: Any) -> None:
            self.lines += 1
            line(brush, *rest)

        def drawn(view: TopView, *rest: Any) -> None:
            assert not self.boxes, "something was drawn over a name"
            solids(view, *rest)

        monkeypatch.setattr(picture._Names, "write", written)
        monkeypatch.setattr(ImageDraw.ImageDraw, "line", lined)
        monkeypatch.setattr(TopView, "solids", drawn)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    return Drawn(monkeypatch)


def pictured(seed: int, pixels: int, objects: Sequence[str] | None = None) -> KitchenRobot:
    robot = create(seed=seed, mode="instant", objects=objects)
    robot.render(pixels, pixels)
    robot.close()
    return robot


def overlap(one: Box, other: Box) -> float:
    return min(
        min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    )


@pytest.mark.inside
@pytest.mark.parametrize("name", ["lime", "egg", "plum", "strawberry"])
def test_a_small_thing_in_a_bowl_is_drawn(name: str, drawn: Drawn) -> None:
    robot = create(seed=0, mode="instant", objects=[name, "bowl"])
    robot.goto_loc("table")
    robot.pick_obj(name)
    robot.place_at_obj("bowl")
    for _ in ("in the bowl", "in the bowl that is held"):
        robot.goto_loc("desk")
        drawn.boxes.clear()
        pixels = np.asarray(robot.render(960, 960), float)
        column, row = (round(at / 3) for at in drawn.picture.pixel(robot.state[name].xy))
        near = pixels[row - 12 : row + 12, column - 12 : column + 12]
        assert (np.abs(near - KINDS[name].color).max(axis=2) < 15).sum() > 10
        robot.goto_loc("table")
        if robot.state.held is None:
            robot.pick_obj("bowl")
    robot.close()


@pytest.mark.inside
@pytest.mark.parametrize("seed", [8, 11, 16, 19, 28, 33])
def test_a_name_stands_nearest_to_its_thing_or_a_line_leads_there(seed: int, drawn: Drawn) -> None:
    names = ["lime", "orange", "apple", "lemon", "egg", "cup"]
    pictured(seed, 320, [f"{name} @ table" for name in names])
    for name in set(names) - drawn.has_line:
        left, top, right, bottom = drawn.boxes[name]
        away = {
            other: math.dist((x, y), (min(max(x, left), right), min(max(y, top), bottom)))
            for other, (x, y) in drawn.at.items()
        }
        assert min(away, key=lambda other: away[other]) == name


@pytest.mark.inside
@pytest.mark.parametrize("seed", [1, 2, 8])
def test_names_in_a_small_picture_cover_no_other_name(seed: int, drawn: Drawn) -> None:
    pictured(seed, 240)
    for (one, a), (other, b) in itertools.combinations(drawn.boxes.items(), 2):
        assert overlap(a, b) < 1.5, (one, other)  # half a pixel once the picture is reduced


@pytest.mark.inside
def test_names_are_written_last_and_cover_nothing(drawn: Drawn) -> None:
    names = ["apple", "red plate", "bowl", "cup", "egg", "sponge @ cart", "coke can @ desk"]
    robot = pictured(0, 480, names)
    assert {name.split(" @ ")[0] for name in names} <= {*drawn.boxes}
    things = [(thing.xy, thing.radius) for thing in robot.state.things]
    for middle, radius in [*things, (robot.state.base.xy, 0.2)]:
        (x, y), r = drawn.picture.pixel(middle), radius * drawn.picture.scale * 0.9
        around = (x - r, y - r, x + r, y + r)
        assert not [name for name, box in drawn.boxes.items() if overlap(box, around) > 0]
