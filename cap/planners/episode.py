"""The one loop: a planner yields steps, the world takes them, feedback tells of what came of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from cap.errors import CapError, ModelError, SpendLimit
from cap.planners.disturbance import Disturbance
from cap.planners.feedback import Feedback
from cap.planners.world import DONE, SPOKEN, Action, StepOutcome, World
from cap.trace.trace import Trace

MAX_STEPS = 15
"""Steps of an episode, as Inner Monologue has them; after the last it is asked nothing more."""
SPOKEN_PER_STEP = 3
"""A planner may say so many times as many things as it may do."""

End = Literal["done", "stuck", "steps", "talk", "model"]
"""How an episode ended: the planner's word, nothing it could do, too many steps, talk without
steps, or no usable answer of its model."""


class StepsUsed(CapError):
    """An episode has had its steps; what acts on must end."""


class NoProgram(ModelError):
    """A model wrote no program; the message begins with the error it ended with instead."""


class Planner(Protocol):
    """Chooses steps; what it learns of them is what feedback says."""

    name: str
    """As `--planner` takes it."""

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield steps and receive their outcomes; return why it ended, "" if it is done."""


@dataclass(frozen=True)
class EpisodeResult:
    """What came of an episode; whether its task is done, a judge of the world says."""

    end: End
    """How it ended."""
    why: str
    """In one line; "" if the planner was done."""
    outcomes: tuple[StepOutcome, ...]
    """Every step taken, with what came of it."""
    rung: str = ""
    """How the model's candidates were compared last; "" where it compared none."""

    @property
    def plan(self) -> tuple[str, ...]:
        """The steps in words."""
        return tuple(outcome.action.text for outcome in self.outcomes)


class PlanEpisode:
    """One instruction on its way: every step counted, disturbed, told of and written down."""

    def __init__(
        self,
        instruction: str,
        world: World,
        feedback: Sequence[Feedback],
        disturbance: Disturbance | None,
        max_steps: int,
        trace: Trace,
    ) -> None:
        """Begin; the opening lines of feedback are asked for once."""
        self.instruction = instruction
        self.world = world
        self.max_steps = max_steps
        self.trace = trace
        self.outcomes: list[StepOutcome] = []
        """Of the steps taken."""
        self._feedback = tuple(feedback)
        self._disturbance = disturbance
        self._said = 0
        self.asks = any(entry.answers for entry in self._feedback)
        """Whether anybody answers questions."""
        self.opening = [line for entry in self._feedback for line in entry.opening(world)]
        """What feedback says before the first step."""
        self.rung = ""
        """How the model's candidates were compared last."""
        trace.event("instruction", text=instruction, opening=self.opening)

    def step(
        self, action: Action, carry_out: Callable[[Action], StepOutcome] | None = None
    ) -> StepOutcome:
        """Take a step, or say something, and return what came of it with feedback's lines.

        Args:
            action: What to do or say.
            carry_out: What takes the step instead of the world, for a call of a program.

        Raises:
            StepsUsed: There were as many as there may be.
        """
        spoken = action.skill in SPOKEN
        if spoken:
            self._said += 1
            if self._said > SPOKEN_PER_STEP * self.max_steps:
                raise StepsUsed(f"{self._said - 1} things were said and the task is not done")
            outcome = StepOutcome(action, True)
        else:
            number = len(self.outcomes)
            if self.full:
                raise StepsUsed(self.used_up())
            failed = self._disturbance.strikes(action, number) if self._disturbance else ""
            if failed:
                outcome = StepOutcome(action, False, failed)
            else:
                outcome = (carry_out or self.world.step)(action)
        lines = [line for entry in self._feedback for line in entry.after(outcome, self.world)]
        outcome = StepOutcome(action, outcome.ok, outcome.message, tuple(lines))
        if not spoken:
            self.outcomes.append(outcome)
        kind = "said" if spoken else "step"
        told = {"ok": outcome.ok, "message": outcome.message, "lines": outcome.lines}
        self.trace.event(kind, skill=action.skill, args=action.args, text=action.text, **told)
        return outcome

    @property
    def full(self) -> bool:
        """Whether as many steps were taken as there may be."""
        return len(self.outcomes) >= self.max_steps

    def used_up(self) -> str:
        """Return that it had its steps, and what it repeated."""
        last = self.outcomes[-1].action.text if self.outcomes else ""
        again = 0
        for outcome in reversed(self.outcomes):
            if outcome.action.text != last:
                break
            again += 1
        repeated = f"; the last {again} were all '{last}'" if again > 1 else ""
        return f"{self.max_steps} steps were taken and it never said done{repeated}"


def run_episode(
    instruction: str,
    world: World,
    planner: Planner,
    feedback: Sequence[Feedback] = (),
    disturbance: Disturbance | None = None,
    max_steps: int = MAX_STEPS,
    trace: Trace | None = None,
) -> EpisodeResult:
    """Run one planner in one world until it is done or has had its steps.

    Args:
        instruction: The person's words.
        world: What it acts on.
        planner: Who chooses the steps.
        feedback: What is told after each step.
        disturbance: What goes wrong on purpose.
        max_steps: Most steps that are taken.
        trace: Where every candidate, step, outcome and line of feedback is written down.

    Raises:
        SpendLimit: The run's budget is used up.
    """
    trace = trace or Trace()
    episode = PlanEpisode(instruction, world, feedback, disturbance, max_steps, trace)
    chosen = planner.act(episode)
    end: End
    try:
        action = next(chosen)
        while action.skill != DONE.skill:
            outcome = episode.step(action)
            if episode.full:  # whatever it would choose could not be taken: it is not asked
                raise StepsUsed(episode.used_up())
            action = chosen.send(outcome)
        end, why = "done", ""
    except StopIteration as stop:
        why = str(stop.value or "")
        end = "stuck" if why else "done"
    except StepsUsed as used:
        why = str(used)
        end = "steps" if episode.full else "talk"
    except SpendLimit:
        raise
    except NoProgram as error:
        end, why = "model", str(error)
    except ModelError as error:
        end, why = "model", f"{type(error).__name__}: {error}"
    finally:
        chosen.close()
    trace.event("ended", end=end, why=why, steps=len(episode.outcomes))
    return EpisodeResult(end, why, tuple(episode.outcomes), episode.rung)
