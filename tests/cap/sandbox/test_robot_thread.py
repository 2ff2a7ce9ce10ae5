"""Questions of the robot's thread are answered on the thread that waits for it, or not at all."""

from __future__ import annotations

import threading
import time

import pytest

from cap.errors import NotApproved
from cap.sandbox.robot_thread import Hung, RobotThread, on_waiting_thread


class Watched:
    """Work with time enough, which notes that it was told to end."""

    ends = 0

    def left_s(self) -> float:
        return 60.0

    def interrupt(self) -> None:
        self.ends += 1

    def abandon(self) -> bool:
        return True


def test_a_question_that_is_interrupted_has_no_answer_and_the_thread_goes_on() -> None:
    refused: list[NotApproved] = []
    thread, watched = RobotThread(), Watched()

    def interrupted() -> bool:
        raise KeyboardInterrupt

    def work() -> None:
        for _ in range(2):  # a second question does not count either
            try:
                on_waiting_thread(interrupted)
            except NotApproved as error:
                refused.append(error)

    with pytest.raises(KeyboardInterrupt):
        thread.run(work, watched, 5.0)
    assert len(refused) == 2
    assert watched.ends
    assert not thread.hung
    assert thread.run(lambda: "goes on", Watched(), 5.0) == "goes on"


def test_a_function_that_was_given_up_asks_nobody() -> None:
    class Brief(Watched):
        def left_s(self) -> float:
            return -1.0

    go, asked, ended = threading.Event(), [], threading.Event()

    def work() -> None:
        go.wait(60.0)
        try:
            on_waiting_thread(lambda: asked.append(time.monotonic()))
        finally:
            ended.set()

    with pytest.raises(Hung):
        RobotThread().run(work, Brief(), 0.01)
    go.set()
    assert ended.wait(60.0)
    assert not asked
