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
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

from cap.errors import MissingExtra, UsageError, install_extra
from cap.models.base import Model, Request
from cap.planners.dialogue import CONTINUE
from cap.planners.loop import DONE, Action, Candidate, PlanEpisode, Ranking, StepOutcome

GRAMS = (2, 3, 4)
"""Letters of a piece of a word."""
KINDS = ("tfidf", "edit", "embedding")
USUAL = KINDS[0]
USUAL_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"

Translator = Callable[[str], tuple[int, float]]
"""Gives the number of the text that is most like another, and the likeness, 0 to 1."""


def plain(text: str, synonyms: Mapping[str, str]) -> str:
    """Return a text in small letters, without articles and marks, and with the usual words."""
    words = re.findall(r"[^\W_]+", text.lower())
    kept = f" {' '.join(word for word in words if word not in ('the', 'a', 'an'))} "
    for word, usual in synonyms.items():
        kept = kept.replace(f" {word} ", f" {usual} ")
    return " ".join(kept.split())


def _nearest(likeness: Callable[[str], Sequence[float]]) -> Translator:
    """Return a translator by the likeness to each text; of several alike it takes the first."""

    @cache
    def nearest(text: str) -> tuple[int, float]:
        alike = likeness(text)
        best = max(range(len(alike)), key=lambda number: round(alike[number], 9))
        return best, alike[best]

    return nearest


def edit_distance(first: str, second: str) -> int:
    """Return how many letters must be put in, taken out or changed."""
    row = list(range(len(second) + 1))
    for number, letter in enumerate(first, start=1):
        above, row[0] = row[0], number
        for at, other in enumerate(second, start=1):
            above, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, above + (letter != other))
    return row[-1]


def by_edits(texts: Sequence[str], synonyms: Mapping[str, str]) -> Translator:
    """Return a translator by the least edit distance, as a share of the longer text."""
    options = [plain(text, synonyms) for text in texts]

    def likeness(text: str) -> list[float]:
        said = plain(text, synonyms)
        longest = [max(len(said), len(each)) or 1 for each in options]
        distances = [edit_distance(said, each) for each in options]
        return [1 - far / most for far, most in zip(distances, longest, strict=True)]

    return _nearest(likeness)


def by_letters(texts: Sequence[str], synonyms: Mapping[str, str]) -> Translator:
    """Return a translator by the cosine of pieces of words, weighed by how rare they are."""
    pieces = [Counter(_pieces(plain(text, synonyms))) for text in texts]
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

    def likeness(text: str) -> list[float]:
        alike = [0.0] * len(texts)
        for piece, weight in weighed(Counter(_pieces(plain(text, synonyms)))).items():
            for number, other in index.get(piece, ()):
                alike[number] += weight * other
        return alike

    for number, each in enumerate(pieces):
        for piece, weight in weighed(each).items():
            index[piece].append((number, weight))
    return _nearest(likeness)


def _pieces(text: str) -> list[str]:
    words = [f" {word} " for word in text.split()]
    found = [word[at : at + n] for word in words for n in GRAMS for at in range(len(word) - n + 1)]
    return found + [f"{first} {second}" for first, second in pairwise(text.split())]


def by_meaning(texts: Sequence[str], encoder: str) -> Translator:
    """Return a translator by the cosine of an encoder's sentence embeddings."""
    encode = sentence_encoder(encoder)
    rows = encode(list(texts))
    return _nearest(lambda text: (rows @ encode([text])[0]).tolist())


def sentence_encoder(name: str) -> Callable[[Sequence[str]], Any]:
    """Return the encoder of a sentence-transformers model: its name, or its folder.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        UsageError: There is no such model.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtra(
            f"embeddings need sentence-transformers: {install_extra('embed')}; or use tfidf"
        ) from None
    try:
        model = SentenceTransformer(name, device="cpu")
    except (OSError, ValueError) as error:  # a hub that is not reached raises an OSError as well
        why = str(error).split("\n")[0]
        raise UsageError(
            f"no encoder {name!r} ({why}); give the folder of a sentence-transformers model, or "
            "use tfidf"
        ) from None
    return lambda texts: model.encode(list(texts), normalize_embeddings=True)


def check_translator(name: str) -> tuple[str, str]:
    """Return the kind of a translator, one of `KINDS`, and the model of `embedding:MODEL`.

    Raises:
        UsageError: There is no such translator.
    """
    kind, colon, model = name.partition(":")
    if kind not in KINDS:
        raise UsageError(f"no translator {name!r}; use one of: {', '.join(KINDS)}")
    if colon and not (model and kind == "embedding"):
        raise UsageError(
            f"no translator {name!r}; only embedding takes a model, such as embedding:FOLDER"
        )
    return kind, model


def translator(name: str, texts: Sequence[str], synonyms: Mapping[str, str]) -> Translator:
    """Return a translator to some texts.

    Args:
        name: One of `KINDS`, or `embedding:MODEL` with a sentence-transformers model.
        texts: What there is.
        synonyms: Words and the usual ones.

    Raises:
        UsageError: There is no such translator or model.
        MissingExtra: What it needs is not installed.
    """
    kind, model = check_translator(name)
    if kind == "embedding":
        return by_meaning(texts, model or USUAL_ENCODER)
    return (by_edits if kind == "edit" else by_letters)(texts, synonyms)


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

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield the steps of the plan, whatever their outcomes."""
        actions = episode.world.actions()
        example = PlanExample("", ())
        if self.examples:
            tasks = by_letters([each.task for each in self.examples], {})
            example = self.examples[tasks(episode.instruction)[0] if self.dynamic else 0]
        episode.trace.event("example", task=example.task)
        shown = [*episode.opening, *([example.text()] if example.steps else []), ""]
        before = "\n\n".join(shown)
        if not (self.translates and self.corrects):
            yield from self._whole(episode, before, actions)
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
            if action.skill == DONE.skill:
                return ""
            yield action
            taken = (*taken, action.text)

    def _whole(
        self, episode: PlanEpisode, before: str, actions: Sequence[Action]
    ) -> Iterator[Action]:
        """Yield the steps of a plan that is written at once."""
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
            if action.skill == DONE.skill:
                return
            yield action

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
