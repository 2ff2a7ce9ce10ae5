"""A model that is none: the task's own program with a probability, else a mutant of it.

    noisy-oracle:0.7            the right program in 70 % of all answers, else any kind of mutant
    noisy-oracle:0.7:swap       else one with swapped arguments

It measures what samples, rounds and repairs are worth without a language model. Every answer is
drawn for itself, by the trial (suite, task, split, seed, sample), the request's seed and its words:
the same request of a trial gets the same answer, whatever was asked before it. In a further round
it knows from the suite's own judge whether all is done, and says so.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.mutation import KINDS, mutant
from cap.errors import ModelError, UsageError, did_you_mean
from cap.models.base import Completion, Request
from cap.models.nearest import Nearest
from cap.prompt.prompt import comment
from cap.session.rounds import GO_ON

NOISY = "noisy-oracle"
WHAT_IT_IS = (
    f"{NOISY}:P is no language model: it answers with the task's own program with probability P, "
    "else with a mutant of it"
)
_PARSING = threading.Lock()
"""Python 3.11 cannot parse in several threads at a time: SystemError, once in thousands."""
_TOKEN_CHARS = 4
"""Its tokens are counted as so many characters each."""


@dataclass(frozen=True)
class Noise:
    """How often an answer is right, and in which way it is wrong otherwise."""

    p: float
    """Probability of the right program."""
    kind: str | None = None
    """Of `KINDS`; None for any."""


def is_noisy(model: str) -> bool:
    """Tell whether a model's name means a noisy oracle."""
    return model.partition(":")[0] == NOISY


def noise_of(model: str) -> Noise:
    """Return what the name of a noisy oracle says.

    Raises:
        UsageError: It is not of the form `noisy-oracle:P[:KIND]`.
    """
    _, _, rest = model.partition(":")
    chance, _, kind = rest.partition(":")
    try:
        p = float(chance)
    except ValueError:
        p = -1.0
    if not 0 <= p <= 1:
        raise UsageError(f"{model!r}: write it as {NOISY}:P, P from 0 to 1, such as {NOISY}:0.7")
    if kind and kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        raise UsageError(f"{model!r}: no mutants {kind!r}.{hint} Known: {', '.join(KINDS)}")
    return Noise(p, kind or None)


class NoisyOracle:
    """Answers instructions with their oracle's program, or with a mutant of it."""

    sees = False

    def __init__(
        self,
        name: str,
        draw: str,
        programs: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
    ) -> None:
        """Take what it knows.

        Args:
            name: `noisy-oracle:P[:KIND]`.
            draw: What the trial differs by from all others: suite, task, split, seed and sample.
            programs: The right program by instruction; that of "" answers whatever is asked.
            names: What things are called that a mutant may confuse.
        """
        self.name = name
        self._noise, self._draw = noise_of(name), draw
        self.programs = dict(programs or {})
        self.names = tuple(names)
        self.asks = ""
        """The text of the prompt that asks for the programs, where others ask too: `nearest`
        answers those, such as goal checks."""
        self.done: Callable[[], bool] | None = None
        """Returns whether what was asked for is so, for further rounds; None if that is unknown."""

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ModelError: It asks for something that no oracle wrote.
        """
        if self.asks and self.asks not in request.prompt:
            completion = Nearest().complete(request)
            return replace(completion, notes=(*completion.notes, WHAT_IT_IS), cost_usd=0.0)
        further = GO_ON.splitlines()[-1] in request.prompt
        if further and self.done is not None and self.done():
            return Completion("pass\n", self.name, cost_usd=0.0, notes=(WHAT_IT_IS,))
        source = self._source(request)
        drawn = f"{self._draw} {request.seed} {request.prompt}".encode(errors="replace")
        digest = hashlib.blake2s(drawn, digest_size=8).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "little"))
        notes: tuple[str, ...] = (WHAT_IT_IS,)
        text = source
        if rng.random() >= self._noise.p:
            with _PARSING:
                text, kind = mutant(source, self._noise.kind, rng, self.names)
            notes = (*notes, f"a mutant: {kind}")
        read, written = len(request.prompt) // _TOKEN_CHARS, -(-len(text) // _TOKEN_CHARS)
        return Completion(text, self.name, read, written, cost_usd=0.0, notes=notes)

    def _source(self, request: Request) -> str:
        last = request.prompt.rstrip().rpartition("\n")[2]
        known = {comment(words): source for words, source in self.programs.items() if words}
        if last in known:
            return known[last]
        if "" in self.programs:
            return self.programs[""]
        asked = re.sub(r"^# ", "", last)
        raise ModelError(f"{self.name} knows the task's own programs alone, none for: {asked:.80}")
