"""When the robot that owns a world sees a motion, and when it may stop it."""

import pytest

from robots.arm.motion import DT_S
from robots.simulation.world import after_step
from tests.rows import table


class Owner:
    frame_every_s = 12 * DT_S

    def __init__(self) -> None:
        self.called: list[str] = []

    def on_frame(self) -> None:
        """Listen, so that frames are wanted."""

    def frame(self) -> None:
        self.called.append("frame")

    def check_stop(self) -> None:
        self.called.append("check_stop")


@pytest.mark.parametrize(
    ("steps", "watched", "called"),
    table(__file__, "frames_are_even_and_what_is_not_watched_cannot_be_stopped").values(),
)
def test_frames_are_even_and_what_is_not_watched_cannot_be_stopped(
    steps: int, watched: bool, called: list[str]
) -> None:
    owner = Owner()
    after_step(owner, steps, watched=watched)
    assert owner.called == called
