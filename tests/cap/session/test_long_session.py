"""A thousand turns of one session: nothing that is shown, written or held outgrows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cap.models.base import Completion, Request
from cap.session.session import Session
from cap.session.settings import HISTORY_TOKENS, SessionSettings
from cap.trace.trace import Trace
from robots.ravens import create


class Mover:
    """Moves the red block to and fro."""

    name = "scripted"

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def complete(self, request: Request) -> Completion:
        self.sizes.append(len(request.prompt))
        place = [0.1, -0.3] if len(self.sizes) % 2 else [-0.1, -0.7]
        code = f"count = {len(self.sizes)}\nput_first_on_second('red block', {place})\n"
        return Completion(f"{code}say('that was turn {len(self.sizes)}')\n", self.name, 10, 5)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_thousand_turns_stay_within_the_stated_sizes(tmp_path: Path) -> None:
    turns = 1000
    model, written, saved = Mover(), [], []
    robot = create(mode="instant", seed=0, objects=["red block", "blue bowl"])
    with Session(robot, model, SessionSettings(trace=Trace(tmp_path))) as session:
        start = robot.snapshot()
        for number in range(turns):
            turn = session.run(f"move the red block elsewhere, please, for time {number}")
            assert (turn.failure, turn.attempts) == (None, 1)
            written.append((tmp_path / "events.jsonl").stat().st_size)
            saved.append((tmp_path / "session.json").stat().st_size)
        assert session.state.variables["count"] == turns
        tenth, half = turns // 10, turns // 2

        # a prompt: at most the history's budget above the first one's, all along
        assert max(model.sizes) - model.sizes[0] < 1.05 * 4 * HISTORY_TOKENS
        assert max(model.sizes[half:]) <= 1.05 * max(model.sizes[tenth:half])

        # the trace: the second half takes no more than the first; the saved session holds what
        # was said, and else no more than at first
        assert written[-1] - written[half] <= 1.1 * (written[half] - written[0])
        assert written[-1] < turns * 40_000
        assert saved[-1] < saved[tenth] + 40 * turns

        assert session.undo(turns)
        assert robot.snapshot() == start
        assert session.state.history == ()
