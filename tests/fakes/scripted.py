"""A model that answers as it is scripted, and sessions on the tabletop with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cap.errors import NoMatch
from cap.models.base import Completion, Request
from cap.prompt.prompt import Prompt, parse
from cap.session.session import Session
from cap.session.settings import SessionSettings
from cap.session.turn import Turn
from cap.trace.trace import Event, Trace
from robots.ravens import create

OBJECTS = ("red block", "blue block", "blue bowl")
UI = """# /// cap
# context = ["objects"]
# session = true
# actions = true
# ///
import numpy as np
from robot import put_first_on_second, get_obj_pos, is_obj_visible, say
from lmps import parse_obj_name, parse_position
"""
NAME = """# /// cap
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# ///
from robot import get_obj_pos
"""
POSITION = """# /// cap
# returns = "ret_val"
# kind = ["point"]
# context = ["objects"]
# ///
from robot import get_obj_pos
from lmps import parse_obj_name
"""
GOAL = """# /// cap
# returns = "ret_val"
# kind = ["boolean"]
# context = ["objects"]
# actions = true
# ///
#< before: where each object was
import numpy as np
from robot import get_obj_pos, put_first_on_second, say
"""
PROMPTS: Mapping[str, Prompt] = {
    "ui": parse(UI, "ui"),
    "parse_obj_name": parse(NAME, "parse_obj_name"),
    "parse_position": parse(POSITION, "parse_position"),
}
WITH_GOAL: Mapping[str, Prompt] = {**PROMPTS, "goal": parse(GOAL, "goal")}


class Scripted:
    """Gives scripted answers, and keeps the requests.

    Of a mapping, each instruction has its answer, and one that is not in it is declined. Other
    answers are given one after the other, whatever is asked, the last one for ever. An answer is a
    text, a completion, an exception to raise, or a list of these, given in the same way. A goal
    check is answered with `goal`, if there is one.
    """

    name = "scripted"

    def __init__(self, *answers: Any, goal: str = "") -> None:
        self.goal = goal
        self.answers: Any = list(answers)
        if answers and isinstance(answers[0], Mapping):
            self.answers = {
                words: list(given) if isinstance(given, list) else [given]
                for words, given in answers[0].items()
            }
        self.requests: list[Request] = []

    @property
    def prompts(self) -> list[str]:
        """The text of each request."""
        return [request.prompt for request in self.requests]

    @property
    def asked(self) -> list[str]:
        """The instruction of each request."""
        return [instruction_of(request) for request in self.requests]

    @property
    def notes(self) -> list[str]:
        """What the last request says of failures."""
        return [line[3:] for line in self.prompts[-1].splitlines() if line.startswith("#! ")]

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        if self.goal and "#< before: where each object was" in request.prompt:
            return Completion(self.goal, self.name, 10, 5)
        left = self.answers
        if isinstance(left, Mapping):
            words = instruction_of(request)
            if words not in left:
                raise NoMatch(f"nothing for {words!r}")
            left = left[words]
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Completion):
            return answer
        return Completion(answer, self.name, 10, 5, cost_usd=0.25)


class Drawn(Scripted):
    """Answers an instruction by the sample's seed, a goal check and an LMP always the same."""

    words = "put the red block in the blue bowl"
    """The instruction."""

    def __init__(self, answers: Sequence[str], goal: str = "", words: str = words) -> None:
        super().__init__(goal=goal)
        self.drawn, self.words = answers, words

    def complete(self, request: Request) -> Completion:
        self.answers = ["ret_val = 'blue bowl'\n"]
        if instruction_of(request) == self.words:
            text = self.drawn[(request.seed or 0) % len(self.drawn)]
            self.answers = [Completion(text, self.name, 100, 20)]
        return super().complete(request)

    @property
    def times(self) -> int:
        """How many programs for the instruction were asked for."""
        return self.asked.count(self.words)


def instruction_of(request: Request) -> str:
    """Return the words of a request's last comment."""
    return request.prompt.rstrip().splitlines()[-1].removeprefix("# ").removesuffix(".")


def table_session(
    answers: Any,
    *,
    mode: str = "instant",
    objects: Sequence[str] = OBJECTS,
    robot: Any = None,
    **options: Any,
) -> Session:
    """Open a session on the tabletop, with a model or the answers of a scripted one.

    Args:
        options: Of `SessionSettings`.
    """
    robot = robot or create(mode=mode, objects=objects, seed=options.get("seed", 1))
    model = answers if hasattr(answers, "complete") else Scripted(answers)
    return Session(robot, model, SessionSettings(**{"prompts": PROMPTS, **options}))


def model_of(session: Session) -> Scripted:
    """Return the scripted model that a session was opened with."""
    assert isinstance(session.model, Scripted)
    return session.model


def run_all(session: Session, *instructions: str) -> Turn:
    """Run instructions of which all but the last must go well; return the last one's turn."""
    for words in instructions[:-1]:
        assert session.run(words).failure is None
    return session.run(instructions[-1])


def snapshot(session: Session) -> Any:
    """Return the state of a session's simulated world."""
    robot: Any = session.robot
    return robot.snapshot()


def said(session: Session) -> list[str]:
    """Return all that a session's robot has said."""
    robot: Any = session.robot
    return list(robot.spoken)


def listened(trace: Session | Trace) -> list[Event]:
    """Return a list to which each later event is added."""
    events: list[Event] = []
    (trace.trace if isinstance(trace, Session) else trace).listeners.append(events.append)
    return events
