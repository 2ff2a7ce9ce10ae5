"""Code as Policies among the planners: a program acts, and each of its action calls is a step."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cap.errors import CheckFailed, LimitExceeded, RobotError
from cap.models.base import Model
from cap.planners.loop import Action, Ended, PlanEpisode, StepOutcome
from cap.program.scope import Primitive
from cap.robot import observation
from cap.robot.protocol import Robot
from cap.session.session import Session
from cap.session.settings import SessionSettings


class WatchedRobot:
    """A robot whose actions are steps of an episode; all else is as it was."""

    def __init__(
        self,
        robot: Robot,
        episode: PlanEpisode,
        skills: Mapping[str, str],
        settle: Callable[[], None] | None,
    ) -> None:
        """Watch a robot; see `CodeAsPolicies`."""
        self.about = observation.about(robot)
        """Its description in prompts is the robot's own."""
        self._robot = robot
        self._episode = episode
        self._skills = skills
        self._settle = settle
        self.ended: Ended | None = None
        """What ended the episode while the program ran."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the robot's primitives, its actions watched."""
        return {
            name: replace(entry, function=self._watched(entry)) if entry.kind == "action" else entry
            for name, entry in self._robot.primitives().items()
        }

    def close(self) -> None:
        """Do nothing: the episode's world has the robot."""

    def _watched(self, primitive: Primitive) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            returned: Any = None
            error: RobotError | None = None

            def run(action: Action) -> StepOutcome:
                nonlocal returned, error
                try:
                    returned = primitive.function(*args, **kwargs)
                except RobotError as failed:
                    error = failed
                if self._settle is not None:
                    self._settle()
                return StepOutcome(action, error is None, str(error or ""))

            given = [*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]
            text = f"{primitive.name}({', '.join(given)})"
            names = tuple(map(str, (*args, *kwargs.values())))
            action = Action(self._skills.get(primitive.name, primitive.name), names, text)
            try:
                outcome = self._episode.step(action, run)
            except Ended as ended:
                self.ended = ended
                raise LimitExceeded(f"{ended}; end the program") from None
            if not outcome.ok:  # it failed, or was kept from succeeding
                raise error or RobotError(f"{text} failed: {outcome.message}")
            return returned

        return call


@dataclass
class CodeAsPolicies:
    """Has a model write a program for the instruction, and runs it as everywhere else."""

    model: Model
    """Writes it."""
    robot: Robot
    """What the program acts on: that of the episode's world."""
    settings: SessionSettings
    """Prompts, limits and repairs."""
    skills: Mapping[str, str] = field(default_factory=dict)
    """The world's names of the robot's actions, as disturbances know them."""
    settle: Callable[[], None] | None = None
    """What the world does after each action."""
    reword: Callable[[str], str] = str
    """Puts an instruction into the robot's own names of things."""

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Run the program; nothing is left to yield. Return why it failed, or "".

        Raises:
            Ended: It had its steps, the model wrote no program, or the check refused it.
        """
        watched = WatchedRobot(self.robot, episode, self.skills, self.settle)
        with Session(watched, self.model, self.settings) as session:
            turn = session.run(self.reword(episode.instruction))
        episode.trace.event("policy", source=turn.program)
        if watched.ended is not None:
            raise watched.ended
        why = "" if turn.failure is None else str(turn.failure)
        if turn.failure is not None and turn.failure.kind in ("model", "generation"):
            raise Ended("model", why)
        if turn.failure is not None and turn.failure.exit_code == CheckFailed.exit_code:
            raise Ended("refused", why)
        yield from ()  # its steps are taken already
        return why
