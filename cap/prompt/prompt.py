"""Prompt files: a header, hints (imports) and examples (instruction comments with code).

A prompt file is Python text:

    # /// cap
    # doc = "Return names."        what programs of other prompts see of it
    # docs = true                  whether it reads what the functions it imports do, and
    #                              what program calls the function it is asked for
    # returns = "ret_val"          the variable a program of this prompt must set
    # kind = ["name", "names"]     what that value may be
    # context = ["objects"]        facts shown before each instruction, as `objects = [...]`
    # session = false              whether variables and earlier turns are kept
    # initial = { shapes = [] }    variables a session begins with
    # exact = "objects"            names in that context, and their plain plurals, answer unasked
    # actions = false              whether its programs may move the robot
    # ///
    import numpy as np
    from robot import get_obj_pos

    objects = ['red block', 'blue bowl']
    # the red block.
    ret_val = 'red block'

Lines `#: put = place, set` above the first example state synonyms. They serve `nearest`, which
knows no English of its own; language models are not sent them. Nor are they sent the file of the
same name in the folder `nearest` beside it: more synonyms and examples, for `nearest` alone.

Lines `#= moved red block to blue bowl` under an example state its effect in the world, in the
words in which earlier turns of a session are shown. `cap prompts check` judges them, and the lines
`#? moved`, which no model is sent. Lines `#< ` say what else was given with a request.

The header is TOML in comments. Of a file without one, what it would say is read off the examples
(`cap.prompt.released`), so that prompts of the original release work as they are.

The text sent to the model is what the robot's functions do (`cap.prompt.docs`), the file less its
header, the session's earlier turns, then this turn's context and instruction: what changes least
comes first.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from cap.errors import PromptError
from cap.files import read_text
from cap.prompt import released
from cap.prompt.context import Context, brief
from cap.prompt.examples import Example, separators, split_examples

CHARS_PER_TOKEN = 4
"""A rule of thumb; no tokenizer is used."""
HEADER = re.compile(r"^# /// cap\n(?P<body>(?:#[^\n]*\n)*?)# ///[ \t]*\n", re.MULTILINE)
_OPENED = re.compile(r"^# /// cap[ \t]*$", re.MULTILINE)
_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")
_JOINERS = "\u200c\u200d"
"""Not printable, but part of words: Persian compounds, emoji of several signs."""
FURTHER = "nearest"
"""The folder beside prompt files that holds what only `nearest` reads."""
SESSION = "#< The session so far. Variables stay set; a program that failed (#!) set none."
"""Stands above a session's turns, and above its first one: what a prompt begins with stays."""
_KEPT_OF_BUDGET = 0.75
"""Of a history that is cut down."""
_LAST = 3
"""Earlier turns that stay whatever their length."""
_WORDS_CHARS = 1_000
"""How much of an instruction, of its effect and of its failure is shown again."""
Kind = Literal["any", "name", "names", "point", "points", "number", "boolean", "text"]


def tokens_of(chars: int) -> int:
    """Return about how many tokens a text of that length has, rounded up."""
    return -(-chars // CHARS_PER_TOKEN)


@dataclass(frozen=True)
class Header:
    """A prompt file's metadata."""

    doc: str = ""
    """What callers need to know: what it returns for which words, and how it fails."""
    docs: bool = True
    """Show what the functions do that its programs may call, and what calls one to be written."""
    returns: str | None = None
    """Variable that holds the program's value, or None."""
    kind: tuple[Kind, ...] = ("any",)
    """What the value may be: any of these."""
    context: tuple[str, ...] = ()
    """Robot facts shown before the instruction."""
    exact: str = ""
    """Which of them lists names that answer for themselves, such as `the red block` and `the
    blocks`; "" if none does."""
    session: bool = False
    """Keep variables and earlier turns between instructions."""
    actions: bool = False
    """Programs may call action primitives."""
    stop: tuple[str, ...] = ()
    """Where a completion that continues the file ends; what parts its examples, if not said."""
    prefix: str = ""
    """Put before the instruction inside its comment, such as `define function: `."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Sample keyword arguments, for executing the examples."""
    initial: Mapping[str, Any] = field(default_factory=dict)
    """Variables a session begins with."""


@dataclass(frozen=True)
class PastTurn:
    """One finished instruction of a session, as later prompts show it."""

    instruction: str
    """The person's words."""
    code: str
    """The program's source."""
    context: str = ""
    """The context lines it was shown."""
    effect: str = ""
    """Its effect, in the form of the examples' lines `#= `; "" where that is not known."""
    note: str = ""
    """How it failed, or ""."""
    left_out: int = 0
    """How many turns it stands for, if it is none itself; its note says so."""


@dataclass(frozen=True)
class Prompt:
    """A loaded prompt file."""

    name: str
    """File stem; programs call the LMP by it."""
    header: Header
    """Metadata."""
    text: str
    """The file without its header."""
    hints: tuple[str, ...]
    """Names its import lines bind, without the library names."""
    examples: tuple[Example, ...]
    """Its examples, in order."""
    further: str = ""
    """Synonyms and examples for `nearest`, which no language model is sent."""
    path: Path | None = None
    """Where it was read from."""
    inferred: tuple[str, ...] = ()
    """The header that was read off its examples, line by line, if it has none."""

    @cached_property
    def beside(self) -> Prompt:
        """What stands beside it for `nearest` alone, as a prompt of its own."""
        examples = split_examples(self.further, self.header.prefix)
        path = self.path and self.path.parent / FURTHER / self.path.name
        named = f"{FURTHER}/{self.name}"
        return replace(self, name=named, text=self.further, examples=examples, path=path)

    @cached_property
    def called(self) -> frozenset[str]:
        """Names that its examples call."""
        return frozenset(name for one in self.examples for name in _CALLED.findall(one.code))

    @cached_property
    def sha256(self) -> str:
        """Hash of the text, for traces."""
        return hashlib.sha256((self.text + self.further).encode()).hexdigest()

    def head(self, docs: str = "") -> str:
        """Return what every request of the prompt begins with.

        Args:
            docs: What the functions it imports do.
        """
        return f"{docs}\n{self.text.rstrip()}" if docs else self.text.rstrip()

    def context_of(self, facts: Mapping[str, Any]) -> Context:
        """Return the context it asks for.

        Args:
            facts: All that are known, by name.

        Raises:
            PromptError: It asks for a fact nobody knows, or that cannot be shown.
        """
        asked = self.header.context
        if lacking := [name for name in asked if name not in facts]:
            raise PromptError(
                f"prompt '{self.name}' asks for context {lacking}, which nobody gives; "
                f"known: {sorted(facts)}"
            )
        return Context.of({name: facts[name] for name in asked})

    def render(
        self,
        instruction: str,
        context: str = "",
        history: Sequence[PastTurn] = (),
        hints: Sequence[str] = (),
        docs: str = "",
        given: str = "",
    ) -> str:
        """Return the text of one request; it ends with the instruction's comment line.

        Args:
            instruction: The person's words.
            context: Assignment lines shown above them.
            history: Earlier turns, oldest first.
            hints: Lines that name what else exists, skills for one; between examples and history.
            docs: What the functions it imports do.
            given: What else its program has, in lines of any length.
        """
        parts = [self.head(docs)]
        if hints:
            parts.append("\n".join(hints))
        if self.header.session:
            parts.append(SESSION)
        prefix = self.header.prefix
        for turn in history:
            below = [f"#= {one_line(turn.effect)}"] if turn.effect else []
            below += [f"#! {one_line(turn.note)}"] if turn.note else []
            # A note on a failure names lines by their numbers.
            code = _indented(turn.code) if turn.note else _uncommented(turn.code)
            block = _block(turn.context, prefix, turn.instruction, code, *below)
            parts.append(below[-1] if turn.left_out else block)
        if given:
            parts.append("\n".join(f"#< {line}".rstrip() for line in given.split("\n")))
        parts.append(_block(context, self.header.prefix, instruction))
        return "\n\n".join(parts) + "\n"


def one_line(text: str) -> str:
    """Return words that cannot leave their comment line: control characters become spaces.

    What stands for a byte that could not be decoded is shown as such.
    """
    return " ".join("".join(map(_in_line, text)).split())


def _in_line(char: str) -> str:
    if "\ud800" <= char <= "\udfff":
        return "\N{REPLACEMENT CHARACTER}"
    return char if char.isprintable() or char in _JOINERS else " "


def comment(instruction: str, prefix: str = "") -> str:
    """Return the comment line that asks for a program."""
    words = one_line(instruction)
    return f"# {prefix}{words}" + ("" if words.endswith((".", "?", "!")) else ".")


def _uncommented(code: str) -> str:
    """Return a program without its comment lines."""
    lines = [line for line in code.rstrip().split("\n") if not line.lstrip().startswith("#")]
    return "\n".join(lines).strip("\n").rstrip()


def _indented(code: str) -> str:
    """Return a program whose comments cannot be taken for instructions; its lines stay."""
    return re.sub("^#", "    #", code.rstrip(), flags=re.MULTILINE)


def _block(context: str, prefix: str, instruction: str, *below: str) -> str:
    lines = [context, comment(instruction, prefix), *below]
    return "\n".join(line for line in lines if line)


def load(path: Path) -> Prompt:
    """Read a prompt file.

    Raises:
        PromptError: It cannot be read, or its header or its Python is wrong; with file and line.
    """
    try:
        text = read_text(path)
        more = path.parent / FURTHER / path.name
        further = read_text(more) if more.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"cannot read prompt file {path}: {error}") from None
    return parse(text, name=path.stem, path=path, infer=True, further=further)


@lru_cache(maxsize=256)  # each session reads its robot's prompts again
def parse(
    text: str, name: str, path: Path | None = None, *, infer: bool = False, further: str = ""
) -> Prompt:
    """Parse prompt text.

    Args:
        text: The text.
        name: What programs call the LMP by.
        path: Named in errors.
        infer: Read off the examples what a header would say, if there is none.
        further: Synonyms and examples for `nearest`.

    Raises:
        PromptError: Its header or its Python is wrong; with file and line.
    """
    where = str(path or name)
    _parsed(further, str(path.parent / FURTHER / path.name) if path else where)
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    header, body, skipped = _header(text, where)
    tree = _parsed(body, where, skipped)
    known = header or Header()
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [alias.asname or alias.name for node in imports for alias in node.names]
    hints = tuple(dict.fromkeys(each.split(".")[0] for each in names))
    whole = Prompt(name, known, body.strip("\n") + "\n", hints, (), further, path)
    if header is None and infer:
        return _bare(whole, body)
    examples = split_examples(body, known.prefix, first_line=skipped + 1)
    stop = known.stop or separators(body, known.prefix, known.context)
    return replace(whole, header=replace(known, stop=stop), examples=examples)


def _parsed(text: str, where: str, skipped: int = 0) -> ast.Module:
    """Return the syntax tree of a prompt's text.

    Raises:
        PromptError: It is not valid Python.
    """
    try:
        return ast.parse(text)
    except SyntaxError as error:
        line = (error.lineno or 0) + skipped
        raise PromptError(
            f"{where}, line {line}: {error.msg}; a prompt must be valid Python"
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise PromptError(f"{where}: {error or 'nested too deep'}; not valid Python") from None


def _bare(prompt: Prompt, body: str) -> Prompt:
    """Return a prompt without a header, with what its examples tell."""
    prefix = released.prefix_of(body)
    spaced = split_examples(body, prefix)
    names = {line.partition(" = ")[0] for entry in spaced[:2] for line in entry.context.split("\n")}
    examples = tuple(
        replace(entry, code=entry.code.partition("\n# ")[0].rstrip()) if prefix else entry
        for entry in split_examples(body, prefix, names=names)
        if not released.is_title(entry.code)
    )
    inferred = released.infer(examples, prefix)
    return replace(
        prompt,
        header=Header(**inferred),
        examples=examples,
        inferred=tuple(f"{key} = {json.dumps(value)}" for key, value in inferred.items() if value),
    )


def _header(text: str, where: str) -> tuple[Header | None, str, int]:
    """Return the metadata if there is any, the text after it and how many lines it took."""
    match = HEADER.search(text)
    if match is None:
        if opened := _OPENED.search(text):
            line = text[: opened.start()].count("\n") + 1
            raise PromptError(f"{where}, line {line}: header has no end; close it with '# ///'")
        return None, text, 0
    toml = "\n".join(line[1:].removeprefix(" ") for line in match["body"].split("\n"))
    try:
        values = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise PromptError(f"{where}: header is not valid TOML: {error}") from None
    known = {entry.name for entry in fields(Header)}
    if unknown := sorted(set(values) - known):
        raise PromptError(f"{where}: header has unknown keys {unknown}; known: {sorted(known)}")
    for key in _LISTS:
        if isinstance(values.get(key), str):
            values[key] = [values[key]]
    try:
        header = msgspec.convert(values, Header)
    except msgspec.ValidationError as error:
        raise PromptError(f"{where}: header: {error}") from None
    body = text[: match.start()] + text[match.end() :]
    return header, body, match[0].count("\n")


_LISTS = ("kind", "context", "stop")
"""Keys of a header that take one word for a list of one."""


def turn_tokens(turn: PastTurn) -> int:
    """Return about how many tokens a turn takes in a prompt, rounded up."""
    text = turn.context, turn.instruction, turn.code, turn.effect, turn.note
    return tokens_of(sum(len(part) + 1 for part in text if part))


def within(turns: Sequence[PastTurn], budget_tokens: int) -> tuple[PastTurn, ...]:
    """Return the turns that fit a budget, after one that says how many were left out.

    The oldest leave whole; the last ones keep their programs, whatever their length: "that" means
    them. Of a long instruction, effect or failure its beginning stays. Once the turns do not fit,
    more leave than need be, so that the text up to the newest turn stays the same for many turns.

    Args:
        turns: Oldest first; the first may count others left out before.
        budget_tokens: The most they may take. Beyond it they are cut down to three quarters, but
            never to fewer than the last three.
    """
    kept = [
        replace(
            turn,
            instruction=_beginning(turn.instruction),
            effect=_beginning(turn.effect),
            note=_beginning(turn.note),
        )
        for turn in turns
    ]
    total = sum(map(turn_tokens, kept))
    if total <= budget_tokens:
        return tuple(kept)
    left = kept.pop(0).left_out if kept and kept[0].left_out else 0
    while len(kept) > _LAST and total > budget_tokens * _KEPT_OF_BUDGET:
        total -= turn_tokens(kept.pop(0))
        left += 1
    if not left:
        return tuple(kept)
    many = f"{left} earlier instructions are" if left > 1 else "1 earlier instruction is"
    return (PastTurn("", "", note=f"{many} left out here", left_out=left), *kept)


def _beginning(text: str) -> str:
    return text if len(text) <= _WORDS_CHARS else f"{text[:_WORDS_CHARS].rstrip()} ... (cut here)"


def kind_error(value: Any, kinds: Sequence[str]) -> str | None:
    """Return None if a value is of one of the kinds, else what is wrong with it."""
    if any(_is_of(kind, value) for kind in kinds):
        return None
    return f"expected {' or '.join(kinds)}, got {brief(value)}"


def _is_of(kind: str, value: Any) -> bool:
    """Tell whether a value is of one kind, of those that headers name."""
    match kind:
        case "any":
            return True
        case "name" | "text":
            return isinstance(value, str)
        case "names":
            return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        case "boolean":
            return isinstance(value, bool | np.bool_)
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return False
    dimensions = {"number": 0, "point": 1, "points": 2}[kind]
    fits = array.ndim == dimensions and (not dimensions or array.shape[-1] in (2, 3))
    return fits and array.dtype.kind in "iuf" and bool(np.isfinite(array).all())
