"""The kitchen's picture shows what is there, and names it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from PIL import ImageDraw

from robots.kitchen import create
from robots.simulation.top_view import TopView

Box = tuple[float, float, float, float]


class Drawn:
    """Where names are, and the picture they are in: pixels before it is reduced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.boxes: dict[str, Box] = {}
        self.picture: Any = None
        text, solids = ImageDraw.ImageDraw.text, TopView.solids

        def written(brush: Any, at: Any, name: str, fill: Any, font: Any, **rest: Any) -> None:
            left, top, right, bottom = font.getbbox(name, anchor="mm")
            self.boxes[name] = (at[0] + left, at[1] + top, at[0] + right, at[1] + bottom)
            text(brush, at, name, fill, font, **rest)

        def drawn(view: TopView, *rest: Any) -> None:
            self.boxes.clear()  # what is drawn later may cover them
            self.picture = view
            solids(view, *rest)

        monkeypatch.setattr(ImageDraw.ImageDraw, "text", written)
        monkeypatch.setattr(TopView, "solids", drawn)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    return Drawn(monkeypatch)


def overlap(one: Box, other: Box) -> float:
    return min(
        min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    )


def test_every_name_is_written_and_covers_nothing(drawn: Drawn) -> None:
    names = ["apple", "red plate", "bowl", "cup", "egg", "sponge @ cart", "lime @ top drawer"]
    robot = create(seed=0, mode="instant", objects=names)
    robot.render(240, 240)
    for (one, a), (other, b) in itertools.combinations(drawn.boxes.items(), 2):
        assert overlap(a, b) <= 0, (one, other)
    robot.render(480, 480)
    seen = {name.split(" @ ")[0] for name in names[:-1]}
    assert drawn.boxes.keys() == seen | {piece.name for piece in robot.state.room.pieces}
    things = [(robot.state[name].xy, robot.state[name].radius) for name in seen]
    for middle, radius in [*things, (robot.state.base.xy, 0.2)]:
        (x, y), r = drawn.picture.pixel(middle), radius * drawn.picture.scale * 0.9
        around = (x - r, y - r, x + r, y + r)
        assert not [name for name, box in drawn.boxes.items() if overlap(box, around) > 0]
