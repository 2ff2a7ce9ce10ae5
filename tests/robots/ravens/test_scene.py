import math

import pytest
from PIL import Image, ImageDraw

from robots.ravens.scene import Body
from robots.simulation.top_view import draw_way


@pytest.mark.parametrize(
    "turn",
    [(0, 0, 0, 1), (math.sqrt(0.5), 0, 0, math.sqrt(0.5)), (0, math.sqrt(0.5), 0, math.sqrt(0.5))],
)
def test_a_cube_on_any_face_is_level(turn: tuple[float, float, float, float]) -> None:
    body = Body("red block", (0.0, -0.5, 0.02), turn)
    assert body.bbox() == pytest.approx((-0.02, -0.52, 0.02, -0.48))


def test_a_way_shows_its_order_and_direction() -> None:
    ways = []
    for points in ([(10, 10), (90, 10), (90, 90)], [(90, 90), (90, 10), (10, 10)]):
        image = Image.new("RGB", (100, 100), (255, 255, 255))
        draw_way(ImageDraw.Draw(image), points, (0, 0, 0))
        ways.append(image.tobytes())
    assert ways[0] != ways[1]
