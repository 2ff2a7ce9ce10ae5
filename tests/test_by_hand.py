"""Twenty instructions on ravens, answered by hand twice: the world comes out as it did then.

The answers were written by hand from the prompts alone, in the manners of several model families;
they are no measurement of any model.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cap.models.base import Completion, Request
from cap.session.session import Session

FOLDER = Path(__file__).parent / "corpus" / "by_hand"
SESSIONS = {
    f"{path.stem}-{session['name']}": session
    for path in sorted(FOLDER.glob("*.json"))
    for session in json.loads(path.read_text(encoding="utf-8"))
}


class ByHand:
    """Gives the answers to each question in their order; the last again, if it is asked again."""

    name = "by hand"

    def __init__(self) -> None:
        self.answers: dict[str, list[str]] = defaultdict(list)

    def learn(self, answers: Sequence[tuple[str, str]]) -> None:
        self.answers.clear()
        for question, text in answers:
            self.answers[question].append(text)

    def complete(self, request: Request) -> Completion:
        known = self.answers[request.prompt.rstrip().rpartition("\n")[2]]
        return Completion(known.pop(0) if len(known) > 1 else known[0], self.name)


def positions(session: Session) -> dict[str, Any]:
    return {name: pytest.approx(xyz, abs=1e-3) for name, xyz in session.robot.positions().items()}


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("played", SESSIONS.values(), ids=SESSIONS)
def test_the_world_comes_out_as_it_did(played: Mapping[str, Any]) -> None:
    model = ByHand()
    scene = {"objects": played["objects"], "seed": played["seed"], "mode": "instant"}
    with Session.open("ravens", model, **scene) as session:
        for turn in played["turns"]:
            model.learn(turn["answers"])
            done = session.run(turn["text"])
            assert (done.ok, list(done.effect.words)) == (turn["ok"], turn["effect"]), done.failure
            assert list(done.effect.said) == turn["said"]
            assert turn["after"] == positions(session)
