"""From a step as a model words it to the steps there are: the nearest by letters or by meaning."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

from cap.errors import MissingExtra, UsageError, install_extra

GRAMS = (2, 3, 4)
"""Letters of a piece of a word."""
SHORTLIST = 200
"""Of so many steps by letters the two-stage translator compares the meaning."""
KINDS = ("tfidf", "edit", "embedding", "two-stage")
USUAL = KINDS[0]
ENCODED = ("embedding", "two-stage")
"""Those that take a sentence-transformers model, after a colon."""


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
    shortlist: Translator | None = None
    """Which texts are compared at all; None for every one."""

    def nearest(self, text: str, most: int = 1) -> list[tuple[int, float]]:
        """Return the nearest."""
        if self.shortlist is None:
            numbers, rows = list(range(len(self.texts))), self._rows
        else:
            numbers = [number for number, _ in self.shortlist.nearest(text, SHORTLIST)]
            rows = self.encode([self.texts[number] for number in numbers])
        alike = rows @ self.encode([text])[0]
        found = zip(numbers, map(float, alike), strict=True)
        return sorted(found, key=lambda entry: -entry[1])[:most]

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


def check_translator(said: str) -> None:
    """Refuse what is no translator: one of `KINDS`, or `embedding:MODEL` and `two-stage:MODEL`.

    Raises:
        UsageError: It is none of these.
    """
    kind, colon, model = said.partition(":")
    if kind not in KINDS:
        raise UsageError(f"no translator {said!r}; use one of: {', '.join(KINDS)}")
    if colon and not (model and kind in ENCODED):
        raise UsageError(
            f"no translator {said!r}; only {' and '.join(ENCODED)} take a model, such as "
            f"{ENCODED[0]}:FOLDER"
        )


def translator(said: str, texts: Sequence[str], synonyms: Mapping[str, str]) -> Translator:
    """Return a translator to some texts.

    Args:
        said: One of `KINDS`; of `ENCODED` with a colon and a sentence-transformers model if wanted.
        texts: What there is.
        synonyms: Words and the usual ones.

    Raises:
        UsageError: There is no such translator or model.
        MissingExtra: What it needs is not installed.
    """
    check_translator(said)
    kind, _, model = said.partition(":")
    if kind == "edit":
        return EditDistance(texts, synonyms)
    letters = LetterPieces(texts, synonyms)
    if kind == "tfidf":
        return letters
    encode = sentence_encoder(model or "sentence-transformers/all-MiniLM-L6-v2")
    return Embedding(texts, encode, letters if kind == "two-stage" else None)
