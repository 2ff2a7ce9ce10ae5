"""The steps a planner chooses among: how likely its model says each is, and how likely it works."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cap.errors import EmptyCompletion, ModelError, NoMatch
from cap.models.base import Model, Request, Scores, ScoringModel
from cap.planners.affordances import Affordance
from cap.planners.dialogue import CONTINUE, Dialogue, continuation, match
from cap.planners.world import DONE, Action, World

PLANNED = 0.9
"""How likely the next step of a whole plan is; each later one has so much of what is left."""
PARTS = ("say", "can", "pay", "likeness", "share", "penalty")
"""What scores are made of, as traces and tables name it; each planner has some of them."""
_UNPLANNED = 1e-9


@dataclass(frozen=True)
class Candidate:
    """One step that may come next."""

    action: Action
    """The step."""
    log_say: float
    """Natural logarithm of the probability that the model says it, of all candidates."""
    can: float | None = None
    """Affordance: probability that it would succeed now; None for planners that know of none."""
    pay: float | None = None
    """Expected payoff; None for planners that know of none."""

    @property
    def say(self) -> float:
        """Probability that the model says it; 0 where that is too small for a number."""
        return math.exp(self.log_say)

    @property
    def log_score(self) -> float:
        """What is chosen by: the logarithm of the product of those there are."""
        others = [value for value in (self.can, self.pay) if value is not None]
        if any(value <= 0.0 for value in others):
            return -math.inf
        return self.log_say + math.fsum(math.log(value) for value in others)

    @property
    def score(self) -> float:
        """The product."""
        return math.exp(self.log_score)

    @property
    def as_json(self) -> dict[str, Any]:
        """All of it, as traces keep it."""
        values = {"say": self.say, "can": self.can, "pay": self.pay, "score": self.score}
        known = {name: value for name, value in values.items() if value is not None}
        log_say = self.log_say if math.isfinite(self.log_say) else None  # 0: JSON has no infinity
        return {"text": self.action.text, **known, "log_say": log_say}


@dataclass(frozen=True)
class TranslatedStep:
    """One step that the model's own words may mean."""

    action: Action
    """The step."""
    said: str
    """The words that mean it best."""
    likeness: float
    """Of those words and the step."""
    share: float
    """Of the samples that were those words."""
    beta: float
    """How much the logarithm of the share counts."""
    penalty: float = 0.0
    """Taken off because it would be the step before it once more."""

    @property
    def score(self) -> float:
        """What is chosen by."""
        return self.likeness + self.beta * math.log(self.share) - self.penalty

    @property
    def as_json(self) -> dict[str, Any]:
        """All of it, as traces keep it; the score follows from the rest."""
        values = {name: getattr(self, name) for name in ("likeness", "share", "beta", "penalty")}
        return {"text": self.action.text, "said": self.said, **values, "score": self.score}


@dataclass(frozen=True)
class Ranking:
    """All candidates of one moment."""

    candidates: tuple[Candidate, ...] | tuple[TranslatedStep, ...]
    """The best first."""
    rung: str
    """How they were compared: `exact`, `choice`, `ranked`, `plan` or `translated`."""
    notes: tuple[str, ...] = ()
    """What was unusual."""
    stuck: str = ""
    """Why none of them should be taken; "" if the first should."""


def rank(
    model: Model,
    dialogue: Dialogue,
    world: World,
    affordance: Affordance,
    terminate: float | None = None,
) -> Ranking:
    """Return the steps that may come next, by the product of say and can.

    Args:
        model: Who says how likely each is.
        dialogue: What it continues.
        world: Whose steps they are.
        affordance: Of every step but the last.
        terminate: That of `done`; None for the world's own.

    Raises:
        ModelError: No usable answer.
    """
    actions = world.actions()
    if not actions:
        return Ranking((), "none", (), "there is no step to choose")
    scores = say(model, dialogue, actions)
    logprobs = _finite(scores)
    high = max(logprobs)
    total = high + math.log(math.fsum(math.exp(value - high) for value in logprobs))
    found = []
    for action, logprob in zip(actions, logprobs, strict=True):
        ends = action.skill == DONE.skill and terminate is not None
        can = terminate if ends else affordance(world, action)
        found.append(Candidate(action, logprob - total, can))
    found.sort(key=lambda entry: -entry.log_score)  # ties: the world's order
    return Ranking(tuple(found), scores.rung, scores.notes, _stuck(found))


def _stuck(candidates: Sequence[Candidate]) -> str:
    """Return why none of the candidates should be taken; "" if the first should."""
    if candidates[0].log_score > -math.inf:
        return ""
    likeliest = max(candidates, key=lambda entry: entry.log_say).action.text
    if any(entry.log_say == -math.inf for entry in candidates):  # ranked: not named
        return f"nothing the model said can be done now, such as '{likeliest}'"
    return f"none of {len(candidates)} steps can be done: all affordances are 0"


def _finite(scores: Scores) -> list[float]:
    """Return log-probabilities that are numbers: one that is missing is as unlikely as can be.

    Raises:
        ModelError: None is a number.
    """
    finite = [value for value in scores.logprobs if math.isfinite(value)]
    if not finite:
        raise ModelError("the model gave no log-probability that is a number; use another model")
    floor = -math.inf if scores.rung == "ranked" else min(finite) - 20.0
    return [value if math.isfinite(value) else floor for value in scores.logprobs]


def say(model: Model, dialogue: Dialogue, actions: Sequence[Action]) -> Scores:
    """Return how likely a model says each step is next, by the best way it offers.

    A model that can compare does; one that only completes is asked for its whole plan, in the form
    of prompt files, and the step that is due in it is the likely one, then those after it.

    Raises:
        ModelError: No usable answer.
    """
    texts = [continuation(action) for action in actions]
    if isinstance(model, ScoringModel) and _compares(model):
        return model.score(dialogue.before_step(), texts)
    said = (*plan_of(model, dialogue, actions), DONE.text)
    options = [action.text for action in actions]
    found = [(step, match(step, options)) for step in said]
    notes = tuple(f"its step {step!r} is none there is" for step, number in found if number is None)
    plan = [number for _, number in found if number is not None]
    understood = {options[number] for number in plan} > {DONE.text}
    if notes and not understood:  # then `done` is no answer to what was asked
        raise NoMatch(f"no step of the model's plan is one there is, such as {said[0]!r}")
    at = 0
    for step in dialogue.steps():  # where in its plan it is: after the last step that was taken
        done = options.index(step) if step in options else -1
        at = plan.index(done, at) + 1 if done in plan[at:] else at
    weights = [_UNPLANNED] * len(actions)
    share = PLANNED
    for number in plan[at:]:
        weights[number] += share
        share *= 1 - PLANNED
    total = math.fsum(weights)
    return Scores(tuple(math.log(weight / total) for weight in weights), "plan", notes)


def _compares(model: Model) -> bool:
    """Return whether a model can compare: it has an endpoint, or what it wraps compares itself."""
    if not hasattr(model, "endpoint"):
        return True
    within = getattr(model, "_model", None)
    return model.endpoint is not None or within is None or isinstance(within, ScoringModel)


def plan_of(model: Model, dialogue: Dialogue, actions: Sequence[Action]) -> tuple[str, ...]:
    """Ask a model for the whole plan of an instruction, as a list of texts in Python.

    Raises:
        ModelError: No answer, or none that is a list of texts.
    """
    prompt = dialogue.as_program(sorted({name for action in actions for name in action.args}))
    text = model.complete(Request(prompt, stop=("\n# ", "\nobjects = "), system=CONTINUE)).said()
    try:
        value = ast.literal_eval(text.split("plan =", 1)[-1].strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise EmptyCompletion("the answer is no list of steps; use another model") from None
    if not isinstance(value, list) or not value or not all(isinstance(e, str) for e in value):
        raise NoMatch("the answer is no list of steps; say it otherwise, or use another model")
    return tuple(value)
