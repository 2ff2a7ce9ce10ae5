"""The one loop: a planner takes steps in a world, and feedback says how each went.

A world offers a robot's skills as steps in words. Disturbances make steps fail on purpose. Feedback
adds lines for the planner's model: objects, success, progress, a person's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Literal, Protocol

from cap.errors import CapError, ModelError, SpendLimit
from cap.trace.trace import Trace

MAX_STEPS = 15
"""Steps of an episode, as Inner Monologue has them; after the last the model is not asked again."""
SPOKEN_PER_STEP = 3
"""A planner may say this many times as many things as it may do."""
NO_ANSWER = "(no answer)"
"""The line where a person does not answer."""


@dataclass(frozen=True)
class Action:
    """One step: a robot's skill with its arguments, or something the planner says."""

    skill: str
    """Such as `pick`; of what the planner says: `done`, `ask`, `goal`, `think`."""
    args: tuple[str, ...] = ()
    """Names of what it is done to, or what is said."""
    text: str = ""
    """The step in words, as models read and choose it."""


DONE = Action("done", (), "done")
"""The planner has ended."""
UNREAD = 3
"""This many answers of a model in a row that mean no step end an episode."""


@dataclass(frozen=True)
class StepOutcome:
    """The result of a step."""

    action: Action
    """The step."""
    ok: bool
    """True if it had its effect, as a perfect success detector sees it."""
    message: str = ""
    """Why not, in one line; for the trace."""
    lines: tuple[str, ...] = ()
    """Feedback after it: all that the planner's model may know of it."""


class World(Protocol):
    """A robot's skills as words, with what a planner may ask about each of them."""

    def actions(self) -> Sequence[Action]:
        """Return every step that can be said, `DONE` among them; each text occurs once."""

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


Disturbance = Callable[[Action, int], str]
"""Gives why a step fails without effect, "" if it does not; called once for each step, with the
number of steps before it."""

Form = Literal["tabletop", "kitchen"]
FeedbackKind = Literal["object", "success", "scene", "human"]


def scene_line(names: Sequence[str]) -> str:
    """Return the line that names the objects there are."""
    return f"Scene: there is {', '.join(names) or 'nothing'}."


@dataclass
class Feedback:
    """What a planner's model reads of the world, in the order of its kinds; by default nothing.

    - `object`: the objects seen; on a tabletop once, in a kitchen after each step as well.
    - `success`: whether a step succeeded; on a tabletop a line after every step (`Success: no`), in
      a kitchen a note after one that failed (`[success: no]`). Both are Inner Monologue's.
    - `scene`: which of the goals that the planner stated are reached.
    - `human`: a person's answers, and what they say by themselves.
    """

    kinds: Sequence[FeedbackKind] = ()
    """Which, in this order."""
    form: Form = "kitchen"
    """Whose lines: the tabletop's or the kitchen's."""
    opening_text: str = ""
    """A line before all others, such as how the world is at first."""
    answer: Callable[[str], str] | None = None
    """Answers a question; "" where the person does not answer."""
    interjections: Sequence[tuple[int, str]] = ()
    """What the person says by themselves: after how many steps, and the words."""
    _goals: tuple[str, ...] = ()

    def opening(self, world: World) -> list[str]:
        """Return the lines before the first step."""
        lines = [self.opening_text] if self.opening_text else []
        return lines + ([scene_line(world.visible())] if "object" in self.kinds else [])

    def after_step(self, ok: bool, number: int, world: World) -> list[str]:
        """Return the lines after a step.

        Args:
            ok: Whether it succeeded.
            number: How many steps were taken, with this one.
            world: Where it was taken.
        """
        lines = []
        for kind in self.kinds:
            if kind == "success" and self.form == "tabletop":
                lines.append(f"Success: {'yes' if ok else 'no'}")
            elif kind == "success" and not ok:
                lines.append("[success: no]")
            elif kind == "object" and self.form == "kitchen":
                lines.append(scene_line(world.visible()))
            elif kind == "scene" and self._goals:
                lines.append(self._reached(world))
            elif kind == "human":
                lines += [f"Person: {words}" for at, words in self.interjections if at == number]
        return lines

    def after_words(self, spoken: Action, world: World) -> list[str]:
        """Return the lines after a question, a goal or a thought."""
        if spoken.skill == "ask" and "human" in self.kinds:
            said = self.answer(spoken.text) if self.answer else ""
            return [f"Person: {' '.join(said.split()) or NO_ANSWER}"]
        if spoken.skill == "goal" and "scene" in self.kinds:
            self._goals = spoken.args  # they replace those before
            return [self._reached(world)]
        return []

    def _reached(self, world: World) -> str:
        reached = [goal for goal in self._goals if world.satisfied(goal)]
        return f"Reached: {'; '.join(reached) or 'nothing'}"


@dataclass(frozen=True)
class Candidate:
    """One step that may come next, with what it is chosen by."""

    action: Action
    """The step."""
    log_score: float
    """What is compared: the logarithm of the score, or the score of planners that add."""
    parts: Mapping[str, Any]
    """What the score is made of, by name, as traces and tables show it; `score` among them."""


@dataclass(frozen=True)
class Ranking:
    """All candidates of one moment."""

    candidates: tuple[Candidate, ...]
    """The best first."""
    rung: str
    """How they were compared: `exact`, `choice`, `ranked`, `plan` or `translated`."""
    notes: tuple[str, ...] = ()
    """What was unusual."""
    stuck: str = ""
    """Why none of them should be taken; "" if the first should."""


End = Literal["done", "stuck", "steps", "talk", "model", "refused"]
"""How an episode ended: the planner was done, nothing could be done, too many steps, too many
words, no usable answer of its model, or a program that the check refused."""


class Ended(CapError):
    """An episode is over before its planner says so."""

    def __init__(self, end: End, why: str) -> None:
        """Say how it ended, and why in one line."""
        super().__init__(why)
        self.end = end


class Planner(Protocol):
    """Chooses steps; all it learns of their results is feedback."""

    def act(self, episode: PlanEpisode) -> str:
        """Take steps with `episode.step`; return why it is stuck, "" if it is done."""


@dataclass(frozen=True)
class EpisodeResult:
    """The result of an episode; whether its task is done is for a judge of the world."""

    end: End
    """How it ended."""
    why: str
    """In one line; "" if the planner was done."""
    outcomes: tuple[StepOutcome, ...]
    """Every step taken, with its result."""
    rung: str = ""
    """How the model's candidates were compared last; "" where it compared none."""

    @property
    def plan(self) -> tuple[str, ...]:
        """The steps in words."""
        return tuple(outcome.action.text for outcome in self.outcomes)


@dataclass
class PlanEpisode:
    """One instruction under way: its steps are counted, disturbed, given feedback and recorded."""

    instruction: str
    """The person's words."""
    world: World
    """What is acted on."""
    feedback: Feedback
    """What the planner's model reads of it."""
    disturbance: Disturbance | None
    """What goes wrong on purpose."""
    max_steps: int
    """Most steps that are taken."""
    trace: Trace
    """Where all is recorded."""
    outcomes: list[StepOutcome] = field(default_factory=list)
    """Of the steps taken."""
    rung: str = ""
    """How the model's candidates were compared last."""
    opening: Sequence[str] = ()
    """The lines of feedback before the first step."""
    _said: int = 0

    def __post_init__(self) -> None:
        """Begin."""
        self.opening = self.feedback.opening(self.world)
        self.trace.event("instruction", text=self.instruction, opening=self.opening)

    @property
    def asks(self) -> bool:
        """Whether a person answers questions."""
        return "human" in self.feedback.kinds

    def step(self, action: Action) -> StepOutcome:
        """Take a step in the world and return its result with feedback's lines.

        Raises:
            Ended: It was the last there may be: the planner's model is asked nothing more.
        """
        outcome = self.call(action, self.world.step)
        self._end_if_full()
        return outcome

    def call(self, action: Action, run: Callable[[Action], StepOutcome]) -> StepOutcome:
        """Take a step by a function, such as a program's call of the robot.

        Raises:
            Ended: There were as many steps as there may be.
        """
        self._end_if_full()
        number = len(self.outcomes)
        failed = self.disturbance(action, number) if self.disturbance else ""
        outcome = StepOutcome(action, False, failed) if failed else run(action)
        lines = tuple(self.feedback.after_step(outcome.ok, number + 1, self.world))
        outcome = replace(outcome, action=action, lines=lines)
        self.outcomes.append(outcome)
        self._record("step", action, lines, outcome.ok, outcome.message)
        return outcome

    def say(self, action: Action) -> Sequence[str]:
        """Say something, which changes nothing in the world, and return feedback's lines.

        Raises:
            Ended: As many things were said as may be.
        """
        if self._said == SPOKEN_PER_STEP * self.max_steps:
            raise Ended("talk", f"{self._said} things were said and the task is not done")
        self._said += 1
        lines = self.feedback.after_words(action, self.world)
        self._record("said", action, lines)
        return lines

    def _record(
        self, kind: str, action: Action, lines: Sequence[str], ok: bool = True, message: str = ""
    ) -> None:
        result = {"ok": ok, "message": message, "lines": lines}
        self.trace.event(kind, skill=action.skill, args=action.args, text=action.text, **result)

    def _end_if_full(self) -> None:
        """End the episode where as many steps were taken as there may be.

        Raises:
            Ended: With what was repeated.
        """
        if len(self.outcomes) < self.max_steps:
            return
        texts = [outcome.action.text for outcome in reversed(self.outcomes)]
        alike = len(list(takewhile(lambda text: text == texts[0], texts)))
        repeated = f"; the last {alike} were all '{texts[0]}'" if alike > 1 else ""
        raise Ended("steps", f"{self.max_steps} steps were taken and it never said done{repeated}")

    def choose(self, ranking: Ranking, chosen: Candidate | None = None) -> Action | None:
        """Record the candidates of the next step; return the one to take, None if there is none.

        Args:
            ranking: The candidates.
            chosen: One that a search found to be better than the first.
        """
        best = None if ranking.stuck else (chosen or ranking.candidates[0]).action
        self.rung = ranking.rung
        self.trace.event(
            "candidates",
            step=len(self.outcomes) + 1,
            rung=ranking.rung,
            notes=ranking.notes,
            chosen=best.text if best else None,
            candidates=[{"text": each.action.text, **each.parts} for each in ranking.candidates],
        )
        return best


def run_episode(
    instruction: str,
    world: World,
    planner: Planner,
    feedback: Feedback | None = None,
    disturbance: Disturbance | None = None,
    max_steps: int = MAX_STEPS,
    trace: Trace | None = None,
) -> EpisodeResult:
    """Run one planner in one world until it is done or has had its steps.

    Args:
        instruction: The person's words.
        world: What it acts on.
        planner: Chooses the steps.
        feedback: What its model reads after each step; nothing by default.
        disturbance: What goes wrong on purpose.
        max_steps: Most steps that are taken.
        trace: Where every candidate, step, outcome and line of feedback is recorded.

    Raises:
        SpendLimit: The run's budget is used up.
    """
    trace = trace or Trace()
    episode = PlanEpisode(instruction, world, feedback or Feedback(), disturbance, max_steps, trace)
    end: End
    try:
        why = planner.act(episode)
        end = "stuck" if why else "done"
    except Ended as ended:
        end, why = ended.end, str(ended)
    except SpendLimit:
        raise
    except ModelError as error:
        end, why = "model", f"{type(error).__name__}: {error}"
    trace.event("ended", end=end, why=why, steps=len(episode.outcomes))
    return EpisodeResult(end, why, tuple(episode.outcomes), episode.rung)
