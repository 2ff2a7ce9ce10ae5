"""SayCan: the step with the greatest product of what the model says and what the robot can do."""

from __future__ import annotations

import ast
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from cap.errors import EmptyCompletion, ModelError, NoMatch, Unranked
from cap.models.base import Model, Request, Scores, ScoringModel
from cap.planners.affordances import TERMINATE, Affordance, of_world
from cap.planners.dialogue import CONTINUE, Dialogue, DialoguePrompt, continuation, match
from cap.planners.loop import (
    DONE,
    UNREAD,
    Action,
    Candidate,
    PlanEpisode,
    Ranking,
    StepOutcome,
    World,
)

PLANNED = 0.9
"""How likely the next step of a whole plan is; each later one has this share of the rest."""
PARTS = ("say", "can", "pay", "likeness", "share", "penalty")
"""What scores are made of, as traces and tables name it; each planner has some of them."""
_UNPLANNED = 1e-9


def scored(
    action: Action, log_say: float, can: float | None = None, pay: float | None = None
) -> Candidate:
    """Return a candidate that is compared by the product of the factors there are.

    Args:
        action: The step.
        log_say: Natural logarithm of the probability that the model says it, of all candidates.
        can: Affordance: probability that it would succeed now.
        pay: Expected payoff.
    """
    others = [value for value in (can, pay) if value is not None]
    log_score = -math.inf
    if all(value > 0.0 for value in others):
        log_score = log_say + math.fsum(math.log(value) for value in others)
    parts = {"say": math.exp(log_say), "can": can, "pay": pay, "score": math.exp(log_score)}
    known = {name: value for name, value in parts.items() if value is not None}
    known["log_say"] = log_say if math.isfinite(log_say) else None  # type: ignore[assignment]
    return Candidate(action, log_score, known)


def rank(
    model: Model,
    dialogue: Dialogue,
    world: World,
    affordance: Affordance,
    terminate: float | None = None,
) -> Ranking:
    """Return the steps that may come next, by the product of say and can.

    Args:
        model: Says how likely each is.
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
        found.append(scored(action, logprob - total, can))
    found.sort(key=lambda entry: -entry.log_score)  # ties: the world's order
    return Ranking(tuple(found), scores.rung, scores.notes, _stuck(found))


def _stuck(candidates: Sequence[Candidate]) -> str:
    """Return why none of the candidates should be taken; "" if the first should."""
    if candidates[0].log_score > -math.inf:
        return ""
    said = {entry.action.text: entry.parts["log_say"] for entry in candidates}
    likeliest = max(said, key=lambda text: -math.inf if said[text] is None else said[text])
    if None in said.values():  # ranked: not named
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
    """Chooses by say and can, step by step; of outcomes it learns only what feedback says.

    With feedback this is Inner Monologue's kitchen planner: its lines are in the dialogue.
    """

    model: Model
    """Says how likely each step is."""
    prompt: DialoguePrompt
    """The text before the dialogue."""
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
        prompt = self.prompt.with_questions() if episode.asks else self.prompt
        dialogue = Dialogue(prompt, words, episode.opening, self.explains)
        if self.explains:
            before = f"{dialogue.text()}Explanation:"
            request = Request(before, stop=("\n",), max_tokens=_EXPLANATION_TOKENS, system=CONTINUE)
            said = self.model.complete(request).said().strip().removeprefix("Explanation:").strip()
            dialogue.add("explanation", said.split("\n")[0])
            episode.trace.event("explanation", text=dialogue.lines[-1].text)
        if episode.asks:
            yield from self._question(dialogue)
        unread = 0
        while True:
            try:
                ranking = rank(
                    self.model, dialogue, episode.world, self.affordance, terminate=self.terminate
                )
            except Unranked as error:
                unread += 1
                if unread == UNREAD:
                    raise
                outcome = episode.unread(str(error))
                dialogue.add("step", outcome.action.text, outcome.lines)
                continue
            unread = 0
            episode.record(ranking)
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
        """Let the model ask the person something, if it prefers that to going on."""
        if (question := asked(self.model, dialogue)) is not None:
            outcome = yield Action("ask", (question,), question)
            dialogue.add("question", question, outcome.lines)


ON, ASK = " and continue", " and ask:"
"""What may follow a step where a person answers questions."""


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
