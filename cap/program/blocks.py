"""Blocks of code in a model's answer, fenced or typed, and when several are one program."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from cap.errors import AnswerFault
from cap.program.program import MAX_SOURCE_CHARS, parsed, parses
from cap.program.prose import INLINE, LOOKALIKES, MOST_PROSE, PROMPT, is_idle, is_prose, tidy

# Possessive quantifiers: a long run of backticks or letters must not backtrack.
_OPENING = re.compile(
    r"^[ \t]*+(?:(?:[-*+]|\d{1,3}[.)])[ \t]++)?(```++|~~~++)[ \t]*+([^`\n]*+)$", re.MULTILINE
)
_CLOSING = re.compile(r"(?<![`~])(```++|~~~++)[ \t]*+$", re.MULTILINE)
_COMMENTED = re.compile(r"[ \t]*#(?:[# \t]*$|.*```)")
"""What stands before a fence in a comment about fences."""
_TAG = re.compile(r"\{?\.?([\w+-]*)")
CODE_TAGS = ("python", "py", "python3", "tool_code", "ipython", "pycon")
DATA_TAGS = ("json", "tool_call", "tool")
_DIFF_TAGS = ("diff", "patch")
_TEXT_TAGS = ("markdown", "md")
_TYPED = re.compile(PROMPT.pattern, re.MULTILINE)
_MORE = re.compile(r"^[ \t]*\.\.\.:?(?: (.*))?$")
_MAGIC = re.compile(r"^(?:%%?[a-z]|![a-z])")
_DIFF = re.compile(r"^(?:diff --git |--- \S|\+\+\+ \S|@@ -)", re.MULTILINE)
_HALF = re.compile(r"[\w.]++(?:[(\[]| ?[-+*/]?=)")
"""How a statement over several lines begins."""
_TEXTS = re.compile(r"('[^'\n]*'|\"[^\"\n]*\")")
_MOST_BLOCKS = 16
"""How many blocks one program may come in."""
_MOST_FENCES = 64
"""How many blocks an answer may hold, of whatever kind."""
_MOST_CLOSINGS = 8
"""How many fences are looked at for the end of a block; those before it stand in strings."""
ONE_BLOCK = "answer with one block that holds the whole program and nothing else"


@dataclass(frozen=True)
class Block:
    """What stands between two fences."""

    tag: str
    body: str
    closed: bool


def fenced_blocks(text: str, separators: Sequence[str] = ()) -> tuple[list[Block], str]:
    """Return the fenced blocks that hold anything, and the text beside them.

    Of a model that continues the prompt, all ends where a next example begins behind a block.

    Raises:
        AnswerFault: There are too many.
    """
    blocks: list[Block] = []
    beside: list[str] = []
    at = 0
    while opening := _OPENING.search(text, at):
        between = text[at : opening.start()]
        if blocks and (cut := _first(between, separators)) < len(between):
            return blocks, "\n".join([*beside, between[:cut]])
        beside.append(between)
        block, at = _block(text, opening)
        if not block.closed and not block.tag:
            block = replace(block, body=block.body[: _first(block.body, separators)])
            if all(map(is_prose, block.body.split("\n")[:MOST_PROSE])):  # a lone closing fence
                return blocks, "\n".join([*beside, block.body])
        if block.tag in _TEXT_TAGS:
            inner, rest = fenced_blocks(block.body)
            blocks += inner
            beside.append(rest)
        elif block.body.strip():
            blocks.append(block)
        if len(beside) > _MOST_FENCES:
            raise AnswerFault(f"there are more than {_MOST_FENCES} blocks; {ONE_BLOCK}")
    behind = text[at:]
    return blocks, "\n".join([*beside, behind[: _first(behind, separators) if blocks else None]])


def _first(text: str, separators: Sequence[str]) -> int:
    """Return where the first separator is, or the text's length."""
    found = [text.find(mark) for mark in separators if mark]
    return min([at for at in found if at >= 0], default=len(text))


def _block(text: str, opening: re.Match[str]) -> tuple[Block, int]:
    """Return the block that begins with a fence, and where the text goes on.

    It ends with the first fence that leaves Python; those before it stand in the program's strings.
    """
    marks, info = opening[1], opening[2].strip().lower()
    begin = opening.end() + 1
    tag = (_TAG.match(info) or [""])[0].lstrip("{.")
    if info.partition(" ")[0].endswith(".py"):
        tag = "python"
    first = None
    for end in islice(_CLOSING.finditer(text, begin), _MOST_CLOSINGS):
        line = text[text.rfind("\n", 0, end.start()) + 1 : end.start()]
        if end[1].startswith(marks) and not (tag in ("", *CODE_TAGS) and _COMMENTED.match(line)):
            first = first or end
            body = text[begin : end.start()]
            if not body.strip() or (tag in ("", *CODE_TAGS) and parses(tidy(body))):
                return Block(tag, body, True), end.end()
            if tag not in ("", *CODE_TAGS):
                break
    if not first:
        return Block(tag, text[begin:], False), len(text)
    return Block(tag, text[begin : first.start()], True), first.end()


def code_blocks(blocks: Sequence[Block], beside: str) -> list[str]:
    """Return the fenced blocks that are a program's.

    Raises:
        AnswerFault: One of them is a diff or has no end, or there is code that stands in none.
    """
    if any(block.tag in ("", *CODE_TAGS) and not block.closed for block in blocks):
        raise AnswerFault(f"the block of code has no end; {ONE_BLOCK}")
    if any(block.tag in _DIFF_TAGS or _DIFF.search(block.body) for block in blocks):
        raise AnswerFault(f"a diff is no program; {ONE_BLOCK}")
    tagged = any(block.tag in CODE_TAGS for block in blocks)
    # Beside a block that is said to be Python, one of no language may be what it will print.
    codes = [
        block.body
        for block in blocks
        if block.tag in CODE_TAGS or (not block.tag and not (tagged and _is_output(block.body)))
    ]
    if codes:
        refuse_code(beside)
    return codes[:1] if _same(codes) else codes


def _same(codes: Sequence[str]) -> bool:
    """Tell whether several blocks are one that is said again."""
    if not 1 < len(codes) <= _MOST_BLOCKS:
        return False
    sources = [mended(tidy(code)) for code in codes]
    return all(map(parses, sources)) and len({ast.dump(parsed(code)) for code in sources}) == 1


def refuse_code(beside: str) -> None:
    """Refuse code where there should be words: by the line, and by the paragraph.

    Raises:
        AnswerFault: There is some.
    """
    paragraphs = re.split(r"\n[ \t]*\n", "\n".join(beside.split("\n")[:MOST_PROSE]))
    for piece in (*paragraphs, *(line for text in paragraphs for line in text.split("\n"))):
        piece = piece.strip()
        half = parses(f"{piece} pass") or (_HALF.match(piece) and not is_prose(piece))
        if not is_idle(piece) or (half and not parses(piece)):
            shown = piece.partition("\n")[0][:80]
            raise AnswerFault(f"there is code beside the block: {shown}; {ONE_BLOCK}")


def _is_output(text: str) -> bool:
    """Tell whether a block is what a program prints: words or data, and no broken code."""
    if parses(tidy(text)):
        return is_idle(text)
    return all(map(is_prose, text.split("\n")[:MOST_PROSE]))


_IMPORTS = (ast.Import, ast.ImportFrom)


def joined(blocks: Sequence[str]) -> str:
    """Return several blocks as one program, where each goes on from those before it.

    A block goes on if it reads what those before it bind, and binds none of that anew. That it
    calls a function which they call themselves is not enough: it may be another way to do the same.

    Raises:
        AnswerFault: One of them does not: it may be another version, or a second program.
    """
    several = f"there are {len(blocks)} blocks of code; {ONE_BLOCK}"
    if len(blocks) > _MOST_BLOCKS:
        raise AnswerFault(several)
    blocks = [mended(tidy(block)) for block in blocks]
    working = [block for block in blocks if not is_idle(block)]
    if not working or len(blocks) == 1:
        return "\n".join(blocks)
    if any(not parses(block) and not _is_output(block) for block in blocks):
        raise AnswerFault(several)
    bound, made, functions, spent = set[str](), set[str](), set[str](), set[str]()
    steps = 0
    for block in working:
        binds, loads, makes = _names(block)
        if steps and (makes & made or not (loads - binds) & (bound - spent)):
            raise AnswerFault(several)
        steps += any(not isinstance(node, _IMPORTS) for node in parsed(block).body)
        bound |= binds
        made |= makes
        functions |= {n.name for n in parsed(block).body if isinstance(n, ast.FunctionDef)}
        spent |= loads & functions
    return "\n\n".join(block.strip("\n") for block in working) + "\n"


def _names(source: str) -> tuple[set[str], set[str], set[str]]:
    """Return the names a block binds, those it reads, and those it binds at its top for good."""
    binds, loads = set[str](), set[str]()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Name):
            (loads if isinstance(node.ctx, ast.Load) else binds).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            binds.add(node.name)
        elif isinstance(node, ast.alias):
            binds.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.arg):
            binds.add(node.arg)
    makes = set[str]()
    for statement in parsed(source).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                makes.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                makes.add(name)
    return binds, loads, makes


def mended(source: str) -> str:
    """Take markers off its lines, if that makes Python of it; else return it as it is."""
    if len(source) > MAX_SOURCE_CHARS or parses(source):
        return source
    if _DIFF.search(source):
        raise AnswerFault(f"a diff is no program; {ONE_BLOCK}")
    bare = source
    for take_off in _MARKERS:
        bare = take_off(bare)
        if bare != source and (tidied := tidy(bare)).strip() and parses(tidied):
            return tidied
    return source


def flush(source: str) -> str:
    """Return a source whose first line is not indented, as no program's is."""
    return source.lstrip(" \t")


def without_prompts(source: str) -> str:
    """Return what was typed in a session of an interpreter, without what it printed."""
    lines: list[str] = []
    for line in source.split("\n") if _TYPED.search(source) else ():
        if match := PROMPT.match(line):
            lines.append(match[1])
        elif lines and (match := _MORE.match(line)):
            lines.append(match[1] or "")
        elif not (is_idle(line.strip()) if lines else is_prose(line)):
            return source  # code that was not typed
        elif line.strip(">.") == "" != line:
            return source  # half a prompt
    return "\n".join(lines) if lines else source


def _without_magics(source: str) -> str:
    """Drop a notebook's magics and shell lines."""
    return "\n".join(line for line in source.split("\n") if not _MAGIC.match(line))


def _without_backticks(source: str) -> str:
    """Return the lines that are code between backticks, list marks before them dropped."""
    lines = [line for line in source.split("\n") if line.strip()]
    found = [match[1] for line in lines if (match := INLINE.match(line))]
    alone = all(INLINE.match(line) or is_prose(line) for line in lines[:MOST_PROSE])
    return joined(found) if found and alone and all(map(parses, found)) else source


def _with_plain_code(source: str) -> str:
    """Return a source with Python's own characters outside the strings on a line."""
    parts = _TEXTS.split(source)
    parts[::2] = [part.translate(LOOKALIKES) for part in parts[::2]]
    return "".join(parts)


def _with_plain_characters(source: str) -> str:
    """Return a source with Python's own quotes, spaces and signs for those that look alike."""
    return source.translate(LOOKALIKES)


_MARKERS: tuple[Callable[[str], str], ...] = (
    flush,
    without_prompts,
    _without_magics,
    _without_backticks,
    html.unescape,
    _with_plain_code,
    _with_plain_characters,
)
