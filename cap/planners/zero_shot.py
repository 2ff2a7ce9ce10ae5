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
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

from cap.errors import MissingExtra, UsageError, install_extra
from cap.models.base import Model, Request
from cap.planners.dialogue import CONTINUE
from cap.planners.loop import DONE, Action, Candidate, PlanEpisode, Ranking, StepOutcome

GRAMS = (2, 3, 4)
"""Letters of a piece of a word."""
KINDS = ("tfidf", "edit", "embedding")
USUAL = KINDS[0]
ENCODED = "embedding"
"""The one that takes a sentence-transformers model, after a colon."""


class Translator(Protocol):
    """Knows which of some texts is most like another."""

    def nearest(self, text: str, most: int = 1) -> list[tuple[int, float]]:
        """Return numbers of texts with their likeness, 0 to 1, the most alike first."""


def edit_distance(first: str, second: str) -> int:
    """Return how many letters must be put in, taken out or changed."""
    row = list(range(len(second) + 1))
    for number, letter in enumerate(first, start=1):
        above, row[0] = row[0], number
        for at, other in enumerate(second, start=1):
            above, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, above + (letter != other))
    return row[-1]


def plain(text: str, synonyms: Mapping[str, str]) -> str:
    """Return a text in small letters, without articles and marks, and with the usual words."""
    words = "".join(c if c.isalnum() else " " for c in text.lower())
    kept = f" {' '.join(w for w in words.split() if w not in ('the', 'a', 'an'))} "
    for word, usual in synonyms.items():
        kept = kept.replace(f" {word} ", f" {usual} ")
    return " ".join(kept.split())


@dataclass(frozen=True)
class EditDistance:
    """The least edit distance, as a share of the longer text."""

    texts: Sequence[str]
    """What there is."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Words and the ones that are usual here."""

    def nearest(self, text: str, most: int = 1) -> list[tuple[int, float]]:
        """Return the nearest."""
        said = plain(text, self.synonyms)
        found = []
        for number, each in enumerate(self._plain):
            longer = max(len(said), len(each)) or 1
            found.append((number, 1 - edit_distance(said, each) / longer))
        return sorted(found, key=lambda entry: -entry[1])[:most]

    @cached_property
    def _plain(self) -> list[str]:
        return [plain(text, self.synonyms) for text in self.texts]


@dataclass(frozen=True)
class LetterPieces:
    """The cosine of pieces of words, weighed by how rare they are: TF-IDF of letters."""

    texts: Sequence[str]
    """What there is."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Words and the ones that are usual here."""

    def nearest(self, text: str, most: int = 1) -> list[tuple[int, float]]:
        """Return the nearest."""
        if (text, most) not in self._known:
            self._known[text, most] = self._compared(text, most)
        return self._known[text, most]

    def _compared(self, text: str, most: int) -> list[tuple[int, float]]:
        likeness: defaultdict[int, float] = defaultdict(float)
        for piece, weight in self._weighed(plain(text, self.synonyms)).items():
            for number, other in self._index.get(piece, ()):
                likeness[number] += weight * other
        found = sorted(likeness.items(), key=lambda entry: (-round(entry[1], 9), entry[0]))[:most]
        return found or [(0, 0.0)][: len(self.texts)]

    @cached_property
    def _known(self) -> dict[tuple[str, int], list[tuple[int, float]]]:
        return {}

    @cached_property
    def _rare(self) -> dict[str, float]:
        counts: Counter[str] = Counter()
        for text in self.texts:
            counts.update(set(_pieces(plain(text, self.synonyms))))
        total = 1 + len(self.texts)
        return {piece: 1 + math.log(total / (1 + count)) for piece, count in counts.items()}

    @cached_property
    def _index(self) -> Mapping[str, list[tuple[int, float]]]:
        found: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, text in enumerate(self.texts):
            for piece, weight in self._weighed(plain(text, self.synonyms)).items():
                found[piece].append((number, weight))
        return found

    def _weighed(self, text: str) -> dict[str, float]:
        unseen = 1 + math.log(1 + len(self.texts))
        counts = Counter(_pieces(text))
        weights = {p: count * self._rare.get(p, unseen) for p, count in counts.items()}
        length = math.sqrt(math.fsum(weight**2 for weight in weights.values())) or 1.0
        return {piece: weight / length for piece, weight in weights.items()}


def _pieces(text: str) -> list[str]:
    words = [f" {word} " for word in text.split()]
    found = [word[at : at + n] for word in words for n in GRAMS for at in range(len(word) - n + 1)]
    return found + [f"{first} {second}" for first, second in pairwise(text.split())]


@dataclass(frozen=True)
class Embedding:
    """The cosine of sentence embeddings."""

    texts: Sequence[str]
    """What there is."""
    encode: Callable[[Sequence[str]], Any]
    """Gives a matrix with a row of length 1 for each text."""

    def nearest(self, text: str, most: int = 1) -> list[tuple[int, float]]:
        """Return the nearest."""
        alike = self._rows @ self.encode([text])[0]
        return sorted(enumerate(map(float, alike)), key=lambda entry: -entry[1])[:most]

    @cached_property
    def _rows(self) -> Any:
        return self.encode(list(self.texts))


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
    if colon and not (model and kind == ENCODED):
        raise UsageError(
            f"no translator {name!r}; only {ENCODED} takes a model, such as {ENCODED}:FOLDER"
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
    if kind == ENCODED:
        encode = sentence_encoder(model or "sentence-transformers/all-MiniLM-L6-v2")
        return Embedding(texts, encode)
    return (EditDistance if kind == "edit" else LetterPieces)(texts, synonyms)


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
_LINE = re.compile(r"(?:step )?(?:\d+)\s*[:.)]\s*", re.I)


@dataclass(frozen=True)
class PlanExample:
    """A task with its plan."""

    task: str
    """Its name."""
    steps: tuple[str, ...]
    """In words."""

    def text(self, steps: Sequence[str] | None = None) -> str:
        """Return it as a prompt has it."""
        shown = self.steps if steps is None else steps
        lines = [f"Step {number}: {step}" for number, step in enumerate(shown, start=1)]
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
    beta: float = BETA
    """Weight of the model's liking."""
    cutoff: float = CUTOFF
    """Least score of a step."""
    seed: int = 0
    """Of the first sample."""
    name: str = "zero-shot"

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield the steps of the plan, whatever their outcomes."""
        actions = episode.world.actions()
        if not actions:
            return "there is no step to choose"
        example = self.example(episode.instruction)
        episode.trace.event("example", task=example.task)
        opening = "".join(f"{line}\n\n" for line in episode.opening)
        before = opening + (f"{example.text()}\n\n" if example.steps else "")
        if self.translates and self.corrects:
            return (yield from self._step_by_step(episode, before, actions))
        prompt = f"{before}Task: {episode.instruction}\nStep 1:"
        request = Request(
            prompt,
            stop=("\n\n", "\nTask:"),
            max_tokens=_PLAN_TOKENS,
            seed=self.seed,
            system=CONTINUE,
        )
        written = self.model.complete(request).text.split("\n\n")[0]
        said = [_LINE.sub("", line, count=1).strip() for line in written.splitlines()]
        episode.trace.event("answer", text=written)
        texts = {action.text.lower(): action for action in actions}
        for step in [step for step in said if step]:
            action = texts.get(step.lower().rstrip("."), Action("unread", (), step))
            if self.translates:
                ((number, _),) = self.translator.nearest(step)
                action = actions[number]
            if action.skill == DONE.skill:
                break
            yield action
        return ""

    def example(self, task: str) -> PlanExample:
        """Return the example for a task."""
        if not self.examples:
            return PlanExample("", ())
        if not self.dynamic:
            return self.examples[0]
        tasks = LetterPieces([example.task for example in self.examples])
        ((number, _),) = tasks.nearest(task)
        return self.examples[number]

    def _step_by_step(
        self, episode: PlanEpisode, before: str, actions: Sequence[Action]
    ) -> Generator[Action, StepOutcome, str]:
        taken: list[str] = []
        task = PlanExample(episode.instruction, ())
        while True:
            prompt = f"{before}{task.text(taken)}\nStep {len(taken) + 1}:"
            said = self._said(prompt)
            if sum(not words for words in said) > len(said) / 2:
                return ""  # most samples end the plan here
            ranking = self._ranked(said, actions, taken)
            episode.record(ranking)
            if ranking.stuck:
                return "" if taken else ranking.stuck
            action = ranking.candidates[0].action
            if action.skill == DONE.skill:
                return ""
            yield action
            taken.append(action.text)

    def _said(self, prompt: str) -> list[str]:
        """Return samples of the next step, "" where the plan ends there."""
        found = []
        for number in range(self.samples):
            request = Request(
                prompt,
                stop=("\n",),
                max_tokens=_STEP_TOKENS,
                temperature=TEMPERATURE,
                seed=self.seed + number,
                system=CONTINUE,
            )
            text = self.model.complete(request).text.strip().split("\n")[0]
            ended = not text or text.lower().startswith("task:")
            found.append("" if ended else _LINE.sub("", text, count=1).strip())
        return found

    def _ranked(
        self, said: Sequence[str], actions: Sequence[Action], taken: Sequence[str]
    ) -> Ranking:
        """Return the steps that may be meant, by likeness and by how often they were said.

        The model's liking is the logarithm of the share of samples, of which it knows no better.
        """
        liked = Counter(words for words in said if words)
        best: dict[int, Candidate] = {}
        for words, count in liked.items():
            ((number, likeness),) = self.translator.nearest(words)
            again = bool(taken) and actions[number].text == taken[-1]
            share = count / len(said)
            penalty = REPEATED if again else 0.0
            score = likeness + self.beta * math.log(share) - penalty
            parts = {"said": words, "likeness": likeness, "share": share, "beta": self.beta}
            step = Candidate(actions[number], score, {**parts, "penalty": penalty, "score": score})
            if number not in best or score > best[number].log_score:
                best[number] = step
        found = sorted(best.values(), key=lambda step: -step.log_score)
        if not found:
            return Ranking((), "translated", (), "there is no step to choose")
        high = found[0].log_score
        stuck = f"the likeliest step scores {high:.2f}, less than {self.cutoff:g}"
        stuck = "" if high >= self.cutoff else stuck
        return Ranking(tuple(found), "translated", (stuck,) if stuck else (), stuck)
