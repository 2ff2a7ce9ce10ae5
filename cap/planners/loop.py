"""The one loop: a planner yields steps, the world takes them, feedback says how each went.

A world offers a robot's skills as steps in words. Disturbances make steps fail on purpose. Feedback
writes lines for the planner's model: objects, success, progress, a person's answers. Success has
Inner Monologue's two forms: on a tabletop a line after every step (`Success: no`), in a kitchen a
note after a step that failed (`[success: no]`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np

from cap.errors import CapError, ModelError, SpendLimit
from cap.trace.trace import Trace


@dataclass(frozen=True)
class Action:
    """One step: a robot's skill with its arguments, or a word of the planner's own."""

    skill: str
    """Such as `pick`; of the planner's own: `done`, `ask`, `goal`, `think`."""
    args: tuple[str, ...] = ()
    """Names of what it is done to, or what is said."""
    text: str = ""
    """The step in words, as models read and choose it."""


DONE = Action("done", (), "done")
"""The planner has ended."""
SPOKEN = ("ask", "goal", "think")
"""What a planner says rather than does; no world carries it out."""


@dataclass(frozen=True)
class StepOutcome:
    """What came of a step."""

    action: Action
    """The step."""
    ok: bool
    """True if its effect is there: what a perfect detector of success would say."""
    message: str = ""
    """Why not, in one line; for the trace."""
    lines: tuple[str, ...] = ()
    """What feedback says after it: all that a planner's model may know of it."""


class World(Protocol):
    """A robot's skills as words, with what a planner may ask about each of them."""

    name: str
    """As `--robot` takes it."""

    def actions(self) -> Sequence[Action]:
        """Return every step that can be said, `DONE` among them; each text stands once."""

    def visible(self) -> Sequence[str]:
        """Return the objects that are seen now."""

    def achieved(self, action: Action) -> bool:
        """Return whether a step's effect is there already, so that it need not be taken."""

    def affordance(self, action: Action) -> float:
        """Return how likely a step would succeed now, 0 to 1, by the formulas of its kind."""

    def satisfied(self, goal: str) -> bool | None:
        """Return whether a sentence such as `red block in blue bowl` is true; None if unread."""

    def step(self, action: Action) -> StepOutcome:
        """Take a step; a failure is an outcome, not an error."""


class Disturbance(Protocol):
    """Decides which steps go wrong."""

    def strikes(self, action: Action, number: int) -> str:
        """Return why a step fails without effect, "" if it does not; called once for each step.

        Args:
            action: The step.
            number: How many were taken before it.
        """


@dataclass
class SkillFailure:
    """Skills that succeed with a probability; the same seed and steps fail in the same way."""

    seed: int
    """Of the random numbers."""
    success: Mapping[str, float]
    """Probability of success by skill; those not named never fail."""

    def strikes(self, action: Action, number: int) -> str:
        """Return why a step fails, "" if it does not."""
        draw = np.random.default_rng([self.seed, number, 31]).random()
        return "the skill failed" if draw >= self.success.get(action.skill, 1.0) else ""


@dataclass
class ForcedFailure:
    """Somebody makes the first attempts of a skill fail, and may change the world as well."""

    skills: tuple[str, ...]
    """Those that are made to fail."""
    times: int = 1
    """How often: once is transient; many times, and the planner must do something else."""
    meddle: Callable[[Action], None] | None = None
    """What is changed at the first failure, such as an object that is taken elsewhere."""
    further: Disturbance | None = None
    """What goes wrong besides."""
    _struck: dict[Action, int] = field(default_factory=dict)

    def strikes(self, action: Action, number: int) -> str:
        """Return why a step fails, "" if it does not."""
        forced = action.skill in self.skills and (not self._struck or action in self._struck)
        if forced and self._struck.get(action, 0) < self.times:
            if not self._struck and self.meddle is not None:
                self.meddle(action)
            self._struck[action] = self._struck.get(action, 0) + 1
            return "somebody kept it from succeeding"
        return self.further.strikes(action, number) if self.further else ""


Form = Literal["tabletop", "kitchen"]
NO_ANSWER = "(no answer)"
"""What stands where a person says nothing."""


class Feedback(Protocol):
    """Something that tells a planner's model, in words, of what is and what happened."""

    answers: bool
    """Whether it answers questions."""

    def opening(self, world: World) -> list[str]:
        """Return what is said before the first step."""

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return what is said after a step, or after what a planner said."""


_SILENT = ("ask", "goal", "think")
"""After these nothing has changed."""


def scene_line(names: Sequence[str]) -> str:
    """Return the line that names the objects there are."""
    return f"Scene: there is {', '.join(names) or 'nothing'}."


@dataclass
class ObjectFeedback:
    """Names of the objects seen: on a tabletop once, in a kitchen at the start and after steps."""

    form: Form = "kitchen"
    """Where it is: in the kitchen what is seen changes."""
    answers: bool = False

    def opening(self, world: World) -> list[str]:
        """Return the objects there are."""
        return [self._line(world)]

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return the objects seen now, in the kitchen."""
        moves = outcome.action.skill not in _SILENT
        return [self._line(world)] if moves and self.form == "kitchen" else []

    def _line(self, world: World) -> str:
        return scene_line(world.visible())


@dataclass
class OpeningFeedback:
    """How it is at first, in words, and nothing later."""

    text: str
    """What is told."""
    answers: bool = False

    def opening(self, world: World) -> list[str]:
        """Return what is told."""
        return [self.text]

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return nothing."""
        return []


@dataclass
class SuccessFeedback:
    """Whether the last step succeeded."""

    form: Form = "kitchen"
    """How it is written."""
    answers: bool = False

    def opening(self, world: World) -> list[str]:
        """Return nothing."""
        return []

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return whether it succeeded; in the kitchen only if it did not."""
        if outcome.action.skill in _SILENT:
            return []
        if self.form == "kitchen":
            return [] if outcome.ok else ["[success: no]"]
        return [f"Success: {'yes' if outcome.ok else 'no'}"]


@dataclass
class SceneFeedback:
    """Which of its goals are reached, when the planner states them and after each step."""

    answers: bool = False
    _goals: tuple[str, ...] = ()

    def opening(self, world: World) -> list[str]:
        """Return nothing."""
        return []

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return the goals reached; goals that are stated replace those before."""
        action = outcome.action
        if action.skill == "goal":
            self._goals = action.args
        elif action.skill in _SILENT:
            return []
        reached = [goal for goal in self._goals if world.satisfied(goal)]
        return [f"Reached: {'; '.join(reached) or 'nothing'}"] if self._goals else []


@dataclass
class HumanFeedback:
    """A person who answers what is asked, and may change their mind on the way."""

    answer: Callable[[str], str]
    """Answers a question; "" where the person says nothing."""
    interjections: Sequence[tuple[int, str]] = ()
    """What the person says by themselves: after how many steps, and the words."""
    answers: bool = True
    _steps: int = 0

    def opening(self, world: World) -> list[str]:
        """Return nothing."""
        return []

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return the answer to a question, or what the person says after a step."""
        action: Action = outcome.action
        if action.skill == "ask":
            return [f"Person: {' '.join(self.answer(action.args[0]).split()) or NO_ANSWER}"]
        if action.skill in ("goal", "think"):
            return []
        self._steps += 1
        return [f"Person: {words}" for after, words in self.interjections if after == self._steps]


MAX_STEPS = 15
"""Steps of an episode, as Inner Monologue has them; after the last it is asked nothing more."""
SPOKEN_PER_STEP = 3
"""A planner may say so many times as many things as it may do."""


class Scored(Protocol):
    """One step that may come next, with its score."""

    @property
    def action(self) -> Action:
        """The step."""

    @property
    def as_json(self) -> dict[str, Any]:
        """All of it, as traces keep it."""


C = TypeVar("C", bound=Scored)


@dataclass(frozen=True)
class Ranking(Generic[C]):
    """All candidates of one moment."""

    candidates: tuple[C, ...]
    """The best first."""
    rung: str
    """How they were compared: `exact`, `choice`, `ranked`, `plan` or `translated`."""
    notes: tuple[str, ...] = ()
    """What was unusual."""
    stuck: str = ""
    """Why none of them should be taken; "" if the first should."""


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

    def tell(
        self,
        ranking: Ranking[Any],
        step: int | None = None,
        chosen: str | None = None,
        kind: str = "candidates",
    ) -> None:
        """Write down all candidates of a moment, the best first, and the one that is taken.

        Args:
            ranking: The candidates.
            step: Of which step they are; None for the next, of which the first is taken.
            chosen: The one that is taken; None if none is.
            kind: `considered` for moments that no plan leads to in the end.
        """
        if step is None:
            step = len(self.outcomes) + 1
            chosen = None if ranking.stuck else ranking.candidates[0].action.text
        self.rung = ranking.rung
        self.trace.event(
            kind,
            step=step,
            rung=ranking.rung,
            notes=ranking.notes,
            chosen=chosen,
            candidates=[candidate.as_json for candidate in ranking.candidates],
        )

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
