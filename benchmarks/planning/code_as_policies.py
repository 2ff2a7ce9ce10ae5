"""Code as Policies among the planners: a program acts, and each of its action calls is a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cap.errors import CheckFailed, LimitExceeded, RobotError
from cap.messages import shown_call
from cap.models.base import Model
from cap.planners.loop import Action, Ended, PlanEpisode, StepOutcome
from cap.program.scope import Primitive
from cap.robot import observation
from cap.robot.protocol import Robot
from cap.session.session import Session
from cap.session.settings import SessionSettings


@dataclass
class WatchedRobot:
    """A robot whose actions are steps of an episode; all else is as it was."""

    robot: Robot
    """The robot."""
    episode: PlanEpisode
    """Whose steps its actions are."""
    skills: Mapping[str, str]
    """The world's names of its actions."""
    settle: Callable[[], None] | None
    """What the world does after each action."""
    ended: Ended | None = None
    """What ended the episode while the program ran."""

    @property
    def about(self) -> str:
        """Its description in prompts: the robot's own."""
        return observation.about(self.robot)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.robot, name)

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the robot's primitives, its actions watched."""
        return {
            name: replace(entry, function=self._watched(entry)) if entry.kind == "action" else entry
            for name, entry in self.robot.primitives().items()
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
                if self.settle is not None:
                    self.settle()
                return StepOutcome(action, error is None, str(error or ""))

            text = shown_call(primitive.name, args, kwargs)
            names = tuple(map(str, (*args, *kwargs.values())))
            action = Action(self.skills.get(primitive.name, primitive.name), names, text)
            try:
                outcome = self.episode.call(action, run)
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

    def act(self, episode: PlanEpisode) -> str:
        """Run the program; return why it failed, or "".

        Raises:
            Ended: It had its steps, the model wrote no program, or the check refused it.
        """
        watched = WatchedRobot(self.robot, episode, self.skills, self.settle)
        with Session(watched, self.model, self.settings) as session:
            turn = session.run(self.reword(episode.instruction))
        episode.trace.event("policy", source=turn.program)
        if watched.ended is not None:
            raise watched.ended
        if turn.failure is None:
            return ""
        if turn.failure.kind in ("model", "generation"):
            raise Ended("model", str(turn.failure))
        if turn.failure.exit_code == CheckFailed.exit_code:
            raise Ended("refused", str(turn.failure))
        return str(turn.failure)
