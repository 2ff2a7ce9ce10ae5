"""SayCan: the step with the greatest product of what the model says and what the robot can do."""

from __future__ import annotations

import ast
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from cap.errors import EmptyCompletion, ModelError, NoMatch
from cap.models.base import Model, Request, Scores, ScoringModel
from cap.planners.affordances import TERMINATE, Affordance, of_world
from cap.planners.dialogue import CONTINUE, Dialogue, DialoguePrompt, continuation, match
from cap.planners.loop import DONE, Action, PlanEpisode, Ranking, StepOutcome, World

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


def rank(
    model: Model,
    dialogue: Dialogue,
    world: World,
    affordance: Affordance,
    terminate: float | None = None,
) -> Ranking[Candidate]:
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
    if isinstance(model, ScoringModel) and getattr(model, "compares", True):
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


_EXPLANATION_TOKENS = 80


@dataclass
class SayCan:
    """Chooses by say and can, step by step; of outcomes it learns what feedback says, if any does.

    With feedback this is Inner Monologue's kitchen planner, as the lines stand in the dialogue.
    """

    model: Model
    """Who says how likely each step is."""
    prompt: DialoguePrompt
    """What stands before the dialogue."""
    affordance: Affordance = of_world
    """Of each step; those whose effect is there are capped by the usual one."""
    terminate: float = TERMINATE
    """Affordance of ending."""
    explains: bool = False
    """Whether the model first explains what the person wants, and scores with that in view."""
    name: str = "saycan"

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield steps until ending is the best of them; return why it is stuck, or ""."""
        words = " ".join(episode.instruction.split())
        dialogue = Dialogue(self.prompt, words, episode.opening, self.explains)
        if self.explains:
            before = f"{dialogue.text()}Explanation:"
            request = Request(before, stop=("\n",), max_tokens=_EXPLANATION_TOKENS, system=CONTINUE)
            said = self.model.complete(request).said()
            dialogue.add("explanation", said.strip().split("\n")[0])
            episode.trace.event("explanation", text=dialogue.lines[-1].text)
        if episode.asks:
            yield from self._question(dialogue)
        while True:
            ranking = rank(
                self.model, dialogue, episode.world, self.affordance, terminate=self.terminate
            )
            episode.tell(ranking)
            if ranking.stuck:
                return ranking.stuck
            best = ranking.candidates[0]
            outcome = yield best.action
            if best.action.skill == DONE.skill:
                return ""
            dialogue.add("step", best.action.text, outcome.lines)
            if episode.asks:
                yield from self._question(dialogue)

    def _question(self, dialogue: Dialogue) -> Generator[Action, StepOutcome, None]:
        """Let the model ask the person something, if it rather would than go on."""
        if (question := asked(self.model, dialogue)) is not None:
            outcome = yield Action("ask", (question,), question)
            dialogue.add("question", question, outcome.lines)


ON, ASK = " and continue", " and ask:"
"""What may follow a step where somebody answers questions."""


def asked(model: Model, dialogue: Dialogue) -> str | None:
    """Return what a model asks before the next step, None if it goes on.

    Raises:
        ModelError: No usable answer.
    """
    if not isinstance(model, ScoringModel):
        return None
    text = f"{dialogue.text().rstrip()}\nRobot:"
    on, ask = model.score(text, (ON, ASK)).logprobs
    if not ask > on:
        return None
    request = Request(f"{text}{ASK}", stop=("\n",), max_tokens=_EXPLANATION_TOKENS, system=CONTINUE)
    return " ".join(model.complete(request).said().split())
