"""A model that is none: the task's own program with a probability, else a mutant of it.

    noisy-oracle:0.7            the right program in 70 % of all answers, else any kind of mutant
    noisy-oracle:0.7:swap       else one with swapped arguments

It measures what samples, rounds and repairs are worth without a language model. Every answer is
drawn for itself, by the trial (suite, task, split, seed, sample), the request's seed and its words:
the same request of a trial gets the same answer, whatever was asked before it. In a further round
it knows from the suite's own judge whether all is done, and says so.

A mutant is the program made wrong on purpose, in one way that models' programs are wrong.
"""

from __future__ import annotations

import ast
import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cap.errors import ModelError, UsageError, did_you_mean
from cap.models.base import Completion, Request
from cap.models.nearest.nearest import Nearest
from cap.prompt.prompt import CHARS_PER_TOKEN, comment, tokens_of
from cap.session.rounds import GO_ON

Rng = np.random.Generator
Mutate = Callable[[ast.Module, Rng, Sequence[str]], bool]
"""Changes a program in place; False if there is nothing in it to change in this way."""

_OFFSET = 0.08
"""Metres, or what a small number is off by."""
NOTHING = "pass\n"


def mutant(source: str, kind: str | None, rng: Rng, names: Sequence[str]) -> tuple[str, str]:
    """Return a program made wrong, and in which way of `KINDS`.

    Args:
        source: The right program.
        kind: The way; None draws one. Where a program has no place for it, it does nothing.
        rng: Draws.
        names: What things are called that a program may confuse.
    """
    ways = [kind] if kind else [str(way) for way in rng.permutation([*KINDS])]
    for way in ways:
        tree = ast.parse(source)
        if KINDS[way](tree, rng, names):
            changed = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            if changed != ast.unparse(ast.parse(source)) + "\n":
                return changed, way
    return NOTHING, "nothing"


def _object(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Take another thing of the same kind, else any other."""
    found = [node for node in _constants(tree) if node.value in names]
    if not found or len(set(names)) < 2:
        return False
    node = found[rng.integers(len(found))]
    here = str(node.value)
    others = [name for name in dict.fromkeys(names) if name != here]
    alike = [name for name in others if name.split(" ")[-1] == here.split(" ")[-1]]
    node.value = str(rng.choice(alike or others))
    return True


def _swap(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Swap the first two arguments of a call."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and len(node.args) >= 2
        and ast.dump(node.args[0]) != ast.dump(node.args[1])
        and not any(isinstance(entry, ast.Starred) for entry in node.args)
    ]
    if not found:
        return False
    node = found[rng.integers(len(found))]
    node.args[0], node.args[1] = node.args[1], node.args[0]
    return True


def _offset(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Miss a place, or a length, by some centimetres."""
    sign = -1 if rng.random() < 0.5 else 1
    numbers: list[ast.Constant] = [
        node for node in _constants(tree) if isinstance(node.value, float) and abs(node.value) < 10
    ]
    places = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "get_obj_pos"
    ]
    number = int(rng.integers(len(numbers) + len(places))) if numbers or places else -1
    if number < 0:
        return False
    if number < len(numbers):
        value = numbers[number].value
        assert isinstance(value, float)
        numbers[number].value = round(value + (_OFFSET if sign > 0 or value > 0.1 else -value), 6)
        return True
    chosen = places[number - len(numbers)]
    moved = ast.parse(f"({ast.unparse(chosen)} + {sign * _OFFSET})", mode="eval").body

    class Moved(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.expr:
            return moved if node is chosen else self.generic_visit(node)  # type: ignore[return-value]

    Moved().visit(tree)
    return True


def _loop(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Leave out the last turn of a loop."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    if not found:
        return False
    node = found[rng.integers(len(found))]
    node.iter = ast.parse(f"list({ast.unparse(node.iter)})[:-1]", mode="eval").body
    return True


def _inserted(tree: ast.Module, rng: Rng, names: Sequence[str], source: str) -> bool:
    """Put a statement before one of the last half of a program's own."""
    at = int(rng.integers(len(tree.body) // 2, len(tree.body) + 1))
    body = tree.body
    last = body[-1] if body else None
    if isinstance(last, ast.FunctionDef):  # the whole is one function: inside it
        body, at = last.body, 0
    body[at:at] = ast.parse(source).body
    return True


def _nothing(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Do nothing at all."""
    tree.body = ast.parse(NOTHING).body
    return True


KINDS: Mapping[str, Mutate] = {
    "object": _object,
    "swap": _swap,
    "offset": _offset,
    "loop": _loop,
    "exception": partial(_inserted, source="raise ValueError('a mutant')"),
    "endless": partial(_inserted, source="while True:\n    pass"),
    "nothing": _nothing,
}
"""Every way, by its name."""


def _constants(tree: ast.Module) -> Iterator[ast.Constant]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Constant))


NOISY = "noisy-oracle"
WHAT_IT_IS = (
    f"{NOISY}:P is no language model: it answers with the task's own program with probability P, "
    "else with a mutant of it"
)
_PARSING = threading.Lock()
"""Python 3.11 cannot parse in several threads at a time: SystemError, once in thousands."""


def is_noisy(model: str) -> bool:
    """Tell whether a model's name means a noisy oracle."""
    return model.partition(":")[0] == NOISY


def noise_of(model: str) -> tuple[float, str | None]:
    """Return the probability of the right program, and the kind of mutants; None for any.

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
    return p, kind or None


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
        (self._p, self._kind), self._draw = noise_of(name), draw
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
        if rng.random() >= self._p:
            with _PARSING:
                text, kind = mutant(source, self._kind, rng, self.names)
            notes = (*notes, f"a mutant: {kind}")
        read = len(request.prompt) // CHARS_PER_TOKEN
        return Completion(text, self.name, read, tokens_of(len(text)), cost_usd=0.0, notes=notes)

    def _source(self, request: Request) -> str:
        last = request.prompt.rstrip().rpartition("\n")[2]
        known = {comment(words): source for words, source in self.programs.items() if words}
        if last in known:
            return known[last]
        if "" in self.programs:
            return self.programs[""]
        asked = re.sub(r"^# ", "", last)
        raise ModelError(f"{self.name} knows the task's own programs alone, none for: {asked:.80}")
