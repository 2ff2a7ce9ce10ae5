import math

import pytest

from robots.ravens.scene import Body


@pytest.mark.parametrize(
    "turn",
    [(0, 0, 0, 1), (math.sqrt(0.5), 0, 0, math.sqrt(0.5)), (0, math.sqrt(0.5), 0, math.sqrt(0.5))],
)
def test_a_cube_on_any_face_is_level(turn: tuple[float, float, float, float]) -> None:
    body = Body("red block", (0.0, -0.5, 0.02), turn)
    assert body.bbox() == pytest.approx((-0.02, -0.52, 0.02, -0.48))
