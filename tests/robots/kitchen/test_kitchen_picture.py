"""The kitchen's picture shows what is there."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from PIL import ImageDraw

from robots.kitchen import KitchenRobot, create, picture
from robots.kitchen.objects import KINDS


def _pixel(robot: KitchenRobot, name: str) -> tuple[int, int]:
    """Return row and column of a thing in a picture of 960 by 960."""
    x, y = picture._Brush(960, 960).pixel(robot.state[name].xy)
    return round(y), round(x)


@pytest.mark.inside
@pytest.mark.parametrize("name", ["lime", "egg", "plum", "strawberry"])
def test_a_small_thing_in_a_bowl_is_drawn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = create(seed=0, mode="instant", objects=[name, "bowl"])
    robot.goto_loc("table")
    robot.pick_obj(name)
    robot.place_at_obj("bowl")
    robot.goto_loc("desk")
    far = np.abs(np.asarray(robot.render(960, 960), float) - KINDS[name].color).max(axis=2)
    near = far[tuple(slice(at - 8, at + 8) for at in _pixel(robot, name))]
    assert (near < 15).sum() > 10
    robot.goto_loc("table")
    robot.pick_obj("bowl")
    drawn: list[str] = []
    monkeypatch.setattr(picture, "_draw_thing", lambda brush, thing: drawn.append(thing.name))
    robot.render(320, 320)
    robot.close()
    assert drawn == ["bowl", name]


@pytest.mark.inside
@pytest.mark.parametrize("seed", [8, 11, 16, 19, 28, 33])
def test_a_name_stands_nearest_to_its_thing_or_a_line_leads_there(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, tuple[float, ...]] = {}
    lines: list[Any] = []
    write, draw = picture._Brush.text, ImageDraw.ImageDraw.line

    def text(self: Any, anchor: Any, middles: Any, text: str, *others: Any) -> Any:
        before = len(lines)
        box = write(self, anchor, middles, text, *others)
        if len(lines) == before and anchor is not None:
            written[text] = box
            places.setdefault(text, self.pixel(anchor))
        return box

    def line(self: Any, points: Any, *rest: Any) -> None:
        lines.append(points)
        draw(self, points, *rest)

    places: dict[str, tuple[float, float]] = {}
    monkeypatch.setattr(picture._Brush, "text", text)
    monkeypatch.setattr(ImageDraw.ImageDraw, "line", line)
    names = ["lime", "orange", "apple", "lemon", "egg", "cup"]
    robot = create(seed=seed, mode="instant", objects=[f"{name} @ table" for name in names])
    robot.render(320, 320)
    robot.close()
    for name, (left, top, right, bottom) in written.items():
        away = {
            other: math.dist((x, y), (min(max(x, left), right), min(max(y, top), bottom)))
            for other, (x, y) in places.items()
        }
        assert min(away, key=lambda other: away[other]) == name


@pytest.mark.inside
@pytest.mark.parametrize("seed", [1, 2, 8])
def test_names_in_a_small_picture_cover_no_other_name(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes: dict[str, tuple[float, ...]] = {}
    write = picture._Brush.text

    def text(self: Any, anchor: Any, middles: Any, text: str, *others: Any) -> Any:
        boxes[text] = write(self, anchor, middles, text, *others)
        return boxes[text]

    monkeypatch.setattr(picture._Brush, "text", text)
    robot = create(seed=seed, mode="instant")
    robot.render(240, 240)
    robot.close()
    for (one, a), (other, b) in itertools.combinations(boxes.items(), 2):
        wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        assert min(wide, high) < 1, (one, other)
