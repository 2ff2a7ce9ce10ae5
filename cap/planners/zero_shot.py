"""A language model as a zero-shot planner: it writes steps as it likes, each is translated.

    Task: Drink water
    Step 1: Walk to the fridge
    ...

    Task: Drink milk
    Step 1:

With correction each step is sampled, translated to one there is, and put into the prompt before the
next; without it the whole plan is written first. The planner gets no feedback.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from cap.models.base import Model, Request
from cap.planners.dialogue import CONTINUE, plain
from cap.planners.loop import DONE, Action, Candidate, PlanEpisode, Ranking

GRAMS = (2, 3, 4)
"""Letters of a piece of a word."""

Translator = Callable[[str], tuple[int, float]]
"""Gives the number of the text that is most like another, and the likeness, 0 to 1."""


def by_letters(texts: Sequence[str], synonyms: Mapping[str, str]) -> Translator:
    """Return a translator by the cosine of pieces of words, weighed by how rare they are.

    Of several texts that are alike it takes the first.
    """
    pieces = [Counter(_pieces(text, synonyms)) for text in texts]
    counts = Counter(piece for each in pieces for piece in each)
    index: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    """Of each piece, the texts that have it, with its weight there."""

    def weighed(pieces: Mapping[str, int]) -> dict[str, float]:
        weights = {
            piece: count * (1 + math.log((1 + len(texts)) / (1 + counts[piece])))
            for piece, count in pieces.items()
        }
        length = math.sqrt(math.fsum(weight**2 for weight in weights.values())) or 1.0
        return {piece: weight / length for piece, weight in weights.items()}

    @cache
    def nearest(text: str) -> tuple[int, float]:
        alike = [0.0] * len(texts)
        for piece, weight in weighed(Counter(_pieces(text, synonyms))).items():
            for number, other in index.get(piece, ()):
                alike[number] += weight * other
        best = max(range(len(alike)), key=lambda number: round(alike[number], 9))
        return best, alike[best]

    for number, each in enumerate(pieces):
        for piece, weight in weighed(each).items():
            index[piece].append((number, weight))
    return nearest


def _pieces(text: str, synonyms: Mapping[str, str]) -> list[str]:
    """Return the pieces of words, and the pairs of words, of a text in the usual words."""
    usual = f" {plain(text)} "
    for word, other in synonyms.items():
        usual = usual.replace(f" {word} ", f" {other} ")
    words = [f" {word} " for word in usual.split()]
    found = [word[at : at + n] for word in words for n in GRAMS for at in range(len(word) - n + 1)]
    return found + [f"{first} {second}" for first, second in pairwise(usual.split())]


SAMPLES = 10
"""Ways of saying the next step that are asked for."""
BETA = 0.3
"""How much the model's own liking counts beside the likeness of the translation."""
CUTOFF = 0.3
"""Where the best candidate scores less than this, the plan ends: nothing here is meant."""
REPEATED = 0.5
"""Taken off where a step would be the one before it once more."""
TEMPERATURE = 0.6
_STEP_TOKENS = 32
_PLAN_TOKENS = 400
_NUMBER = re.compile(r"(?:step )?(?:\d+)\s*[:.)]\s*", re.I)


@dataclass(frozen=True)
class PlanExample:
    """A task with its plan."""

    task: str
    """Its name."""
    steps: tuple[str, ...]
    """In words."""

    def text(self) -> str:
        """Return it as a prompt has it."""
        lines = [f"Step {number}: {step}" for number, step in enumerate(self.steps, start=1)]
        return "\n".join([f"Task: {self.task}", *lines])


@dataclass
class ZeroShot:
    """Lets the model write a plan in its own words, and takes the steps it most likely means."""

    model: Model
    """Writes."""
    examples: Sequence[PlanExample]
    """Plans that may stand in the prompt; the first is the fixed one."""
    translator: Translator
    """To the texts of the world's steps, in the world's order."""
    translates: bool = True
    """Whether words that are no step are taken for the nearest one."""
    corrects: bool = True
    """Whether each step is translated before the next is written."""
    dynamic: bool = True
    """Whether the example is the one whose task is most like this one."""
    samples: int = SAMPLES
    """Ways of saying the next step, with correction."""
    seed: int = 0
    """Of the first sample."""

    def act(self, episode: PlanEpisode) -> str:
        """Take the steps of the plan, whatever their outcomes; return why it is stuck, or ""."""
        actions = episode.world.actions()
        shown = [*episode.opening]
        if self.examples:
            tasks = by_letters([each.task for each in self.examples], {})
            example = self.examples[tasks(episode.instruction)[0] if self.dynamic else 0]
            shown.append(example.text())
        before = "\n\n".join([*shown, ""])
        if not (self.translates and self.corrects):
            self._act_at_once(episode, before, actions)
            return ""
        taken: tuple[str, ...] = ()
        while True:
            so_far = PlanExample(episode.instruction, taken).text()
            said = list(self._said(f"{before}{so_far}\nStep {len(taken) + 1}:"))
            if said.count("") > len(said) / 2:
                return ""  # most samples end the plan here
            ranking = self._ranked(said, actions, taken[-1:])
            action = episode.choose(ranking)
            if action is None:
                return "" if taken else ranking.stuck
            if action == DONE:
                return ""
            episode.step(action)
            taken = (*taken, action.text)

    def _act_at_once(self, episode: PlanEpisode, before: str, actions: Sequence[Action]) -> None:
        """Take the steps of a plan that is written at once."""
        prompt = f"{before}Task: {episode.instruction}\nStep 1:"
        stop = ("\n\n", "\nTask:")
        request = Request(prompt, stop, max_tokens=_PLAN_TOKENS, seed=self.seed, system=CONTINUE)
        written = self.model.complete(request).text.split("\n\n")[0]
        episode.trace.event("answer", text=written)
        texts = {action.text.lower(): action for action in actions}
        for step in filter(None, map(_step, written.splitlines())):
            action = texts.get(step.lower().rstrip("."), Action("unread", (), step))
            if self.translates:
                action = actions[self.translator(step)[0]]
            if action == DONE:
                return
            episode.step(action)

    def _said(self, prompt: str) -> Iterator[str]:
        """Yield samples of the next step, "" where the plan ends there."""
        request = Request(
            prompt, ("\n",), max_tokens=_STEP_TOKENS, temperature=TEMPERATURE, system=CONTINUE
        )
        for number in range(self.samples):
            completion = self.model.complete(replace(request, seed=self.seed + number))
            text = completion.text.strip().split("\n")[0]
            yield "" if text.lower().startswith("task:") else _step(text)

    def _ranked(
        self, said: Sequence[str], actions: Sequence[Action], before: tuple[str, ...]
    ) -> Ranking:
        """Return the steps that may be meant, by likeness and by how often they were said.

        The model's liking is the logarithm of the share of samples, of which it knows no better.

        Args:
            said: Samples.
            actions: All steps.
            before: The step that was taken last, if any.
        """
        best: dict[int, Candidate] = {}
        for words, count in Counter(filter(None, said)).items():
            number, likeness = self.translator(words)
            share = count / len(said)
            penalty = REPEATED if actions[number].text in before else 0.0
            score = likeness + BETA * math.log(share) - penalty
            parts = {"said": words, "likeness": likeness, "share": share, "beta": BETA}
            step = Candidate(actions[number], score, {**parts, "penalty": penalty, "score": score})
            best[number] = max(best.get(number, step), step, key=lambda one: one.log_score)
        found = tuple(sorted(best.values(), key=lambda step: -step.log_score))
        stuck, high = "", found[0].log_score
        if high < CUTOFF:
            stuck = f"the likeliest step scores {high:.2f}, less than {CUTOFF:g}"
        return Ranking(found, "translated", (stuck,) if stuck else (), stuck)


def _step(text: str) -> str:
    """Return a line of a plan without its number."""
    return _NUMBER.sub("", text, count=1).strip()
