"""SayCan: the step with the greatest product of what the model says and what the robot can do."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass

from cap.errors import EmptyCompletion, NoMatch, Unranked
from cap.models.base import Model, Request, Scores, ScoringModel
from cap.models.scorers import normalized
from cap.planners.dialogue import CONTINUE, Dialogue, DialoguePrompt, match, next_line
from cap.planners.loop import DONE, UNREAD, Action, Candidate, PlanEpisode, Ranking, World

TERMINATE = 0.1
"""Affordance of ending: small, so that it is chosen when nothing else can be done."""
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
    factors = {name: value for name, value in (("can", can), ("pay", pay)) if value is not None}
    product = math.prod(factors.values())
    log_score = log_say + math.log(product) if product > 0.0 else -math.inf
    known = log_say if math.isfinite(log_say) else None
    say, score = math.exp(log_say), math.exp(log_score)
    return Candidate(action, log_score, {"say": say, **factors, "score": score, "log_say": known})


def rank(model: Model, dialogue: Dialogue, world: World, terminate: float) -> Ranking:
    """Return the steps that may come next, by the product of say and can.

    A step whose effect is there already counts as one that cannot be done.

    Args:
        model: Says how likely each is.
        dialogue: What it continues.
        world: Whose steps they are.
        terminate: Affordance of `done`.

    Raises:
        ModelError: No usable answer.
    """
    actions = world.actions()
    scores = say(model, dialogue, actions)
    found = []
    for action, log_say in zip(actions, normalized(scores.logprobs), strict=True):
        can = 0.0 if world.achieved(action) else world.affordance(action)
        found.append(scored(action, log_say, terminate if action == DONE else can))
    found.sort(key=lambda entry: -entry.log_score)  # ties: the world's order
    stuck = ""
    if found[0].log_score == -math.inf:
        likeliest = actions[scores.logprobs.index(max(scores.logprobs))].text
        stuck = f"nothing the model said can be done now, such as '{likeliest}'"
    return Ranking(tuple(found), scores.rung, scores.notes, stuck)


def say(model: Model, dialogue: Dialogue, actions: Sequence[Action]) -> Scores:
    """Return how likely a model says each step is next, by the best way it offers.

    A model that can compare does; one that only completes is asked for its whole plan, in the form
    of prompt files, and the step that is due in it is the likely one, then those after it.

    Raises:
        ModelError: No usable answer.
    """
    options = [action.text for action in actions]
    if isinstance(model, ScoringModel) and getattr(model, "compares", True):
        # Without the full stop, "pick up the apple" would be as likely as "... apple juice".
        return model.score(dialogue.before_step(), [f" {text}." for text in options])
    said = (*plan_of(model, dialogue, actions), DONE.text)
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


@dataclass
class SayCan:
    """Chooses by say and can, step by step; of outcomes it learns only what feedback says.

    With feedback this is Inner Monologue's kitchen planner: its lines are in the dialogue.
    """

    model: Model
    """Says how likely each step is."""
    prompt: DialoguePrompt
    """The text before the dialogue."""
    terminate: float = TERMINATE
    """Affordance of ending."""

    def act(self, episode: PlanEpisode) -> str:
        """Take steps until ending is the best of them; return why it is stuck, or ""."""
        dialogue = Dialogue.begin(self.prompt, episode)
        unread = 0
        while True:
            if episode.asks and not unread:
                self._ask(dialogue, episode)
            try:
                ranking = rank(self.model, dialogue, episode.world, self.terminate)
            except Unranked as error:
                unread += 1
                if unread == UNREAD:
                    raise
                episode.trace.event("answer", text=str(error))
                dialogue.add("step", NO_STEP, (FAILED,))
                continue
            unread = 0
            best = episode.choose(ranking)
            if best is None or best == DONE:
                return ranking.stuck
            dialogue.add("step", best.text, episode.step(best).lines)

    def _ask(self, dialogue: Dialogue, episode: PlanEpisode) -> None:
        """Let the model ask the person something, if it prefers that to going on."""
        if not isinstance(self.model, ScoringModel):
            return
        text = f"{dialogue.text().rstrip()}\nRobot:"
        on, ask = self.model.score(text, (ON, ASK)).logprobs
        if ask > on:
            question = " ".join(next_line(self.model, f"{text}{ASK}").split())
            lines = episode.say(Action("ask", (question,), question))
            dialogue.add("question", question, lines)


NO_STEP, FAILED = "no step", "[success: no]"
"""What the dialogue shows in place of an answer that ranks no step, and the line after it."""
ON, ASK = " and continue", " and ask:"
"""What may follow a step where a person answers questions."""
