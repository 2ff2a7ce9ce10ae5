"""SayCanPay: whole plans by what a model says, what can be done, and what it pays in the end.

Greedy-Token has the model write each step and takes the nearest there is; Greedy-Action takes the
best of some candidates at each step; Beam-Action keeps the best few plans, and of those that have
ended the one with the best mean score. It plans first, then acts: what comes of it is told to none.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cap.models.base import Model, Request
from cap.planners.candidates import Candidate, Ranking, say
from cap.planners.dialogue import CONTINUE, Dialogue, DialoguePrompt, read
from cap.planners.episode import PlanEpisode
from cap.planners.learned import PlanContext
from cap.planners.saycan import tell_planned
from cap.planners.translation import EditDistance
from cap.planners.world import DONE, Action, StepOutcome

CANDIDATES = 6
"""Steps that the model proposes; others are not compared."""
BEAMS = 3
ALIKE = 2
"""Logarithms of scores that are the same to so many decimals are alike: Can is no better known."""
_LINE_TOKENS = 60

Method = Literal["greedy-token", "greedy", "beam"]
Scorer = Callable[[PlanContext, Sequence[str]], list[float]]
"""Of several steps after others, each 0 to 1."""


@dataclass(frozen=True)
class PartialPlan:
    """A plan on the way."""

    steps: tuple[Action, ...] = ()
    """So far, `done` included."""
    scores: tuple[float, ...] = ()
    """The logarithm of each step's score."""

    @property
    def ended(self) -> bool:
        """Whether its last step is `done`."""
        return bool(self.steps) and self.steps[-1].skill == DONE.skill


def mean_score(scores: Sequence[float]) -> float:
    """Return the score of a plan: the mean of its steps'."""
    return math.fsum(scores) / len(scores) if scores else 0.0


@dataclass
class SayCanPay:
    """Plans by search, then acts."""

    model: Model
    """Who says how likely each step is."""
    prompt: DialoguePrompt
    """What stands before the dialogue."""
    can: Scorer | None = None
    """How likely each step can be done; None where that does not count."""
    pay: Scorer | None = None
    """What each step pays; None where that does not count."""
    method: Method = "greedy"
    """How it searches."""
    names: tuple[str, ...] = ()
    """Words that stand for any other of their kind."""
    beams: int = BEAMS
    """Plans that are kept, with `beam`."""
    candidates: int = CANDIDATES
    """Steps that the model proposes."""
    seed: int = 0
    """Of the order of steps that score alike."""
    name: str = "saycanpay"

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield the steps of the plan, whatever came of those before."""
        actions = episode.world.actions()
        if not actions:
            return "there is no step to choose"
        if self.method == "greedy-token":
            plan = self._written(episode, actions)
        else:
            plan = self._searched(episode, actions)
        for action in plan.steps:  # noqa: UP028  (a tuple is sent no outcomes)
            yield action
        return "" if plan.ended else f"no plan of {episode.max_steps} steps ends"

    def _written(self, episode: PlanEpisode, actions: Sequence[Action]) -> PartialPlan:
        """Return the plan a model writes step by step, each the nearest there is."""
        nearest = EditDistance([action.text for action in actions])
        plan = PartialPlan()
        while not plan.ended and len(plan.steps) <= episode.max_steps:
            text = f"{self._dialogue(episode, plan).text()}Robot"
            request = Request(text, stop=("\n",), max_tokens=_LINE_TOKENS, system=CONTINUE)
            said = self.model.complete(request).said().strip().split("\n")[0]
            line = next(iter(read(f"Robot{said}" if said.startswith(":") else said)), None)
            words = line.text if line is not None else said
            ((number, likeness),) = nearest.nearest(words)
            plan = replace(plan, steps=(*plan.steps, actions[number]))
            episode.trace.event("answer", text=said, taken=actions[number].text, like=likeness)
        return plan

    def _searched(self, episode: PlanEpisode, actions: Sequence[Action]) -> PartialPlan:
        """Return the best plan: of one beam the greedy one."""
        beams = self.beams if self.method == "beam" else 1
        kept = [PartialPlan()]
        seen: dict[tuple[Action, ...], Ranking] = {}
        while not all(plan.ended for plan in kept):
            following = [plan for plan in kept if plan.ended]
            for plan in kept:
                if plan.ended or len(plan.steps) > episode.max_steps:
                    continue
                ranking = self.ranked(episode, plan, actions)
                seen[plan.steps] = ranking
                following += [
                    PartialPlan((*plan.steps, each.action), (*plan.scores, each.log_score))
                    for each in ranking.candidates[:beams]
                ]
            if not following:
                break
            kept = sorted(following, key=lambda plan: -mean_score(plan.scores))[:beams]
        best = next((plan for plan in kept if plan.ended), kept[0])
        for steps, ranking in seen.items():
            number = len(steps)
            leads = best.steps[:number] == steps and number < len(best.steps)
            taken = leads and number < episode.max_steps
            chosen = best.steps[number].text if taken else None
            kind = "candidates" if leads else "considered"
            tell_planned(episode, ranking, number + 1, chosen, kind)
        return best

    def ranked(self, episode: PlanEpisode, plan: PartialPlan, actions: Sequence[Action]) -> Ranking:
        """Return the candidates after a plan's steps, the best first."""
        scores = say(self.model, self._dialogue(episode, plan), actions)
        opening = " ".join(episode.opening)
        steps = tuple(action.text for action in plan.steps)
        moment = zlib.crc32("\n".join(steps).encode())
        drawn = np.random.default_rng([self.seed, moment]).permutation(len(actions)).tolist()
        chosen = sorted(drawn, key=lambda n: -round(scores.logprobs[n], 9))
        chosen = [n for n in chosen if math.isfinite(scores.logprobs[n])][: self.candidates]
        context = PlanContext(episode.instruction, opening, steps, self.names)
        texts = [actions[n].text for n in chosen]
        none: list[float | None] = [None] * len(texts)
        cans = self.can(context, texts) if self.can else none
        pays = self.pay(context, texts) if self.pay else none
        found = [
            Candidate(actions[n], scores.logprobs[n], can, pay)
            for n, can, pay in zip(chosen, cans, pays, strict=True)
        ]
        found.sort(key=lambda each: -round(each.log_score, ALIKE))
        return Ranking(tuple(found), scores.rung, scores.notes)

    def _dialogue(self, episode: PlanEpisode, plan: PartialPlan) -> Dialogue:
        found = Dialogue(self.prompt, episode.instruction, episode.opening)
        for action in plan.steps:
            found.add("step", action.text)
        return found
