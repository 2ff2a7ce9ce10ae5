"""The examples of a prompt: context lines, an instruction comment, code."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """One instruction with its code."""

    instruction: str
    """The comment's text, without `# ` and the final full stop."""
    code: str
    """The program that answers it."""
    context: str
    """Assignment lines in force, from this or an earlier example; "" if none."""
    line: int
    """1-based line of the comment in the text."""
    follows: bool
    """True if it continues the example before it (no context line of its own)."""
    effects: tuple[str, ...] = ()
    """Its effect in the world: its lines `#= ` and `#? `, without the sigil."""


_ASSIGNMENT = re.compile(r"^[A-Za-z]\w* = [\[\(\{'\"\d-]")


_CALL = re.compile(r"# (?:\w+ = )?[A-Za-z_][\w.]*\([^ ].*\)$")
"""A call that somebody commented out; an instruction ends with a full stop."""
_IMPORT = re.compile(r"(?:import|from) ")
_EFFECT, _GIVEN, CHECK, FAILED = "#= ", "#< ", "#? ", "#! "
RECALLED = "as named before"
"""What a line `#? ` says of a program with names that only earlier turns tell: who does not read
the results of those cannot use it."""
_LEFT_OUT = re.compile(r"#! \d+ earlier instructions? (?:is|are) left out here")
_SEEN = ("moved", "drew", "drove")
"""Effects that a user sees."""
_CANNOT = "said cannot"
"""The effect of an instruction that the robot declines."""
_POINTING_BACK = {
    *("it", "that", "again", "them", "both", "one", "same", "now", "back", "no,", "other"),
    *("undo", "last", "bigger", "smaller"),
}
"""Words of instructions that need an earlier one."""
_ALL = {"all", "each", "every", "everything"}


def without_synonyms(text: str) -> str:
    """Return prompt text as a language model reads it: without its `#:` and `#?` lines."""
    return "".join(line for line in text.splitlines(True) if not line.startswith(("#: ", CHECK)))


def split_examples(
    text: str, prefix: str = "", first_line: int = 1, names: Container[str] = ()
) -> tuple[Example, ...]:
    """Split prompt text into examples: context lines, an instruction comment, code.

    Context lines are literal assignments straight above the comment; they hold until replaced. A
    call that is commented out is no instruction.
    A comment with no code under it (the request at the end) gives an example with empty code.

    Args:
        text: The text.
        prefix: What each instruction begins with.
        first_line: Number of the text's first line.
        names: What a context line may set where no blank line parts it from the code above.
    """
    lines = text.split("\n")
    starts = [
        number
        for number, line in enumerate(lines)
        if line.startswith("# " + prefix) and line.strip() != "#" and not _CALL.match(line)
    ]
    examples: list[Example] = []
    context = ""
    for number, start in enumerate(starts):
        above = _context_above(lines, start, names)
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        if number + 1 < len(starts):
            end -= len(_context_above(lines, end, names))
        below = [
            line
            for line in lines[start + 1 : end]
            if not (line.startswith(_GIVEN) or _LEFT_OUT.fullmatch(line))
        ]
        stated = [line for line in below if line.startswith((_EFFECT, CHECK))]
        code = "\n".join(line for line in below if line not in stated)
        effects = tuple(line[len(_EFFECT) :] for line in stated)
        context = "\n".join(above) or context
        instruction = lines[start][2 + len(prefix) :].strip().removesuffix(".")
        follows = not above and bool(examples)
        code = code.strip("\n").rstrip()
        examples.append(Example(instruction, code, context, start + first_line, follows, effects))
    return tuple(examples)


def separators(text: str, prefix: str = "", context: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what parts the examples of a prompt: where one ends and a next one begins.

    A blank line and a comment, where every example of the text stands after a blank line, so that a
    comment inside a program parts nothing; else any comment at the start of a line.

    Args:
        text: The text.
        prefix: What each instruction begins with.
        context: Names of the context lines that every example begins with.
    """
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith(f"# {prefix}")]
    tops = [at - len(_context_above(lines, at, context)) for at in starts]
    spaced = all(top == 0 or not lines[top - 1].strip() for top in tops)
    comment = f"\n\n# {prefix}" if spaced and len(tops) > 1 else f"\n# {prefix}"
    shown = [line for top, at in zip(tops, starts, strict=True) for line in lines[top:at]]
    marks = [f"\n{line[: line.index(' = ') + 4]}" for line in shown]  # with how the value opens
    marks += [f"\n{name} = [" for name in context if not any(name + " = " in m for m in marks)]
    named = (mark for mark in marks if mark[1 : mark.index(" = ")] in context)
    return (comment, *dict.fromkeys(named))


def _context_above(lines: Sequence[str], start: int, names: Container[str]) -> list[str]:
    """Return the literal assignments straight above a comment that stand after a blank line.

    Where code stands straight above them, only those that set a name of a context line.
    """
    first = start
    while first > 0 and _ASSIGNMENT.match(lines[first - 1]):
        first -= 1
    if first > 0 and lines[first - 1].strip() and not _IMPORT.match(lines[first - 1]):
        first = start
        while first > 0 and lines[first - 1].partition(" = ")[0] in names:
            first -= 1
    return list(lines[first:start])


def first_instructions(examples: Iterable[Example], things: Collection[str]) -> list[str]:
    """Return the instructions of examples that need no earlier one, and whose objects are there.

    Those that move something come first, those whose effect no example states last.

    Args:
        examples: Of the prompt that answers the user.
        things: The objects of the scene, by name.
    """
    there = {*things, *(name.split()[-1] for name in things)}
    found: dict[str, int] = {}
    for example in examples:
        words, listed = example.instruction.split(), example.context.split("'")[1::2]
        named = [name for name in listed if name in example.instruction]
        effect = example.effects[0] if example.effects else ""
        if RECALLED in example.effects or effect.startswith(_CANNOT):
            continue
        if not _POINTING_BACK.isdisjoint(words) or (example.follows and not named):
            continue
        if not _ALL.isdisjoint(words):  # of fewer it would not do what it is known to do
            named = [name for name in listed if name in effect] or [""]
        kinds = {name.split()[-1] for name in listed if name.split()}
        named += [kind for kind in kinds if kind in example.instruction]
        if there.issuperset(named):
            rank = example.follows + 2 * (not effect.startswith(_SEEN)) + 2 * (not effect)
            found.setdefault(example.instruction, rank)
    return sorted(found, key=found.__getitem__)
