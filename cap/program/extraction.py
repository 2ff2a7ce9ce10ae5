"""Where the program is in a model's answer: everything else is taken off, layer by layer.

An answer that is Python as it stands is left alone, but for what a stop string would have ended. In
any other, thoughts, tags, tool calls and fences are opened, then prompts, markers and prose are
dropped; each only where that leaves Python, so that the text of a program is never touched.
"""

from __future__ import annotations

import html
import keyword
import re
import textwrap
from collections.abc import Callable, Sequence

from cap.program.parser import MAX_SOURCE_CHARS, parses
from cap.program.tool_calls import called

_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_THINK = re.compile(r"^[ \t]*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", _FLAGS)
_THINK_END = re.compile(r"</think(?:ing)?>", _FLAGS)
_MARKS = re.compile(r"```|~~~|<[/|]?[a-z]|\[/?(?:TOOL_CALLS|INST)\]", re.IGNORECASE)
# Possessive quantifiers: a long run of backticks or letters must not backtrack.
_FENCE = re.compile(r"^[ \t]*+(```++|~~~++)[ \t]*+([\w+-]*+)[^\n]*+\n(.*?)(?:\1[ \t]*$|\Z)", _FLAGS)
_CODE_TAGS = ("", "python", "py", "python3", "tool_code", "ipython", "pycon", "diff", "patch")
_DATA_TAGS = ("json", "tool_call", "tool")
_TOKENS = re.compile(r"<\|[a-z_]{1,40}\|>|</?s>|\[/?INST\]", re.IGNORECASE)
_ELEMENT = re.compile(
    r"<(code|python|answer|execute|program|solution|tool_call|function_call|action|function"
    r"|parameter)(?:=[\w.-]+)?>(.*?)(?:</\1>|\Z)",
    _FLAGS,
)
_TOOL_CALLS = "[TOOL_CALLS]"
_PROMPT = re.compile(r"^[ \t]*(?:>>>|In \[\d*\]:)[ ]?(.*)$")
_NUMBERED = re.compile(r"In \[\d+\]:")
_MORE = re.compile(r"^[ \t]*\.\.\.:?(?: (.*))?$")
_MAGIC = re.compile(r"^(?:%%?[a-z]|![a-z])")
_DIFF = re.compile(r"^(?:diff |index |--- |\+\+\+ |@@ )")
_SIDES = ("+", "-", " ", "@", "\\", "")
"""How lines of a diff begin, besides those that say of what it is."""
_INLINE = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*`([^`]+)`[ \t]*[.;:,]?$")
_LABEL = re.compile(r"(?:Answer|Code|Output|Program|Python|Response|Solution|assistant)[ \t]*:")
_SENTENCE = re.compile(r"[A-Z].*[.!?:]$")
_OPENS = re.compile(r"try:|@|match .*:$")
"""Lines that begin a statement, and are none with a mere `pass` behind."""
_MOST_PROSE = 1000
"""Lines of prose before the code, and after it."""
_MOST_BLOCKS = 16
"""How many blocks are looked at one by one."""
_MOST_NESTED = 3
"""How deep elements stand in each other: a call, its function, a parameter."""
_MOST_CUTS = 8
"""How many stop strings are looked at; those before the right one stand in strings."""


def program_text(answer: str, stop: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
    """Return what of an answer is the program, and notes on what was taken off.

    The text is "" if there is no code; where what is left is no Python, it is the likeliest part.
    """
    notes: list[str] = []
    text = answer.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").strip("\n")
    if (code := called(text.lstrip().removeprefix(_TOOL_CALLS))) is not None:
        return _from_call(code)
    # In a program, tags and fences are inside its strings.
    if _MARKS.search(text) and not parses(text):
        text = _without_tokens(_without_thoughts(text, notes))
        if (code := _in_data(text)) is not None:
            return _from_call(code, notes)
        text = _in_elements(text, notes)
        if fenced := _fenced(text, _CODE_TAGS):
            # A fence ends by itself; a stop string in it would be a comment of the program's own.
            return _mended(_tidy(_best(fenced))), (*notes, "code taken from a fence")
        text = _FENCE.sub("", text)
    return _unfenced(text, stop, notes), tuple(notes)


def _from_call(code: str, notes: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
    """Return the program of a tool call, which may be dressed up in its turn."""
    source, more = program_text(code)
    return source, (*notes, "code taken from a tool call", *more)


def _unfenced(text: str, stop: Sequence[str], notes: list[str]) -> str:
    """Return the text up to the first stop string, without prose if there is any."""
    source = _tidy(_without_context(text, stop))
    cut = _end(source, stop)
    if source[cut:].strip():
        notes.append("cut at a stop string")
    source = _tidy(source[:cut])
    if len(source) > MAX_SOURCE_CHARS:
        return source
    label = _LABEL.match(source)
    if _NUMBERED.match(source):  # which is Python, of a kind
        source = _tidy(_without_prompts(source))
    elif label and parses(labelled := _tidy(source[label.end() :])):
        source = labelled
    if parses(source) and not _is_word(source.split("\n", 1)[0]):
        return source
    if (mended := _mended(source)) != source:
        notes.append("markers removed")
        return mended
    bare = _without_prose(source)
    if bare != source:
        notes.append("prose removed")
    return _mended(bare)


def _tidy(text: str) -> str:
    """Drop repeated comment lines at the start, dedent; no program begins indented."""
    lines = text.split("\n")
    first = 0
    while first < len(lines) and (lines[first].startswith("#") or not lines[first].strip()):
        first += 1
    return textwrap.dedent("\n".join(lines[first:])).strip("\n").lstrip(" \t") + "\n"


def _without_context(text: str, stop: Sequence[str]) -> str:
    """Drop context lines repeated at the start: what the stop strings say begins a next turn.

    Without the instruction's comment after them they may be the program's own.
    """
    marks = tuple(mark.lstrip("\n") for mark in stop if mark.startswith("\n"))
    marks = tuple(mark for mark in marks if mark.strip("# "))
    if not marks:
        return text
    lines = text.split("\n")
    first = 0
    while first < len(lines) and (lines[first].startswith(marks) or not lines[first].strip()):
        first += 1
    repeated = first < len(lines) and lines[first].startswith("# ")
    return "\n".join(lines[first:]) if repeated else text


def _end(source: str, stop: Sequence[str]) -> int:
    """Return where the first stop string is that does not stand in a string or in brackets."""
    found = {at.start() for mark in stop if mark for at in re.finditer(re.escape(mark), source)}
    ends = sorted(found)[:_MOST_CUTS]
    if ends and not parses(source[: ends[0]]):
        for end in [*ends[1:], len(source)]:
            if parses(source[:end]):
                return end
    return ends[0] if ends else len(source)


# --- wrappings


def _without_thoughts(text: str, notes: list[str]) -> str:
    """Drop what a model says to itself before it answers, up to the last closing tag."""
    bare = _THINK.sub("", text)
    if ends := list(_THINK_END.finditer(bare)):
        before, after = bare[: ends[-1].start()], bare[ends[-1].end() :]
        rest_of_line = after.partition("\n")[0]
        opens_line = not before.rpartition("\n")[2].strip()
        if opens_line or not ("'" in rest_of_line or '"' in rest_of_line):  # else in a string
            bare = after
    bare = bare.rpartition("<|message|>")[2]
    if bare != text:
        notes.append("thoughts removed")
    return bare


def _without_tokens(text: str) -> str:
    """Drop the tokens that part a conversation, where a server lets them through."""
    return _TOKENS.sub("", text) if _TOKENS.search(text) else text


def _in_data(text: str) -> str | None:
    """Return the program of a tool call that stands in the text."""
    _, mark, after = text.partition(_TOOL_CALLS)
    if mark and (code := called(after)) is not None:
        return code
    bodies = [match[2] for match in _ELEMENT.finditer(text)] + _fenced(text, _DATA_TAGS)
    codes = [code for body in bodies if (code := called(body)) is not None]
    return "\n".join(codes) if codes else called(text)


def _in_elements(text: str, notes: list[str]) -> str:
    """Return what stands between `<code>` and `</code>`, or the like; the text if nothing does."""
    for _ in range(_MOST_NESTED):
        bodies = [match[2] for match in _ELEMENT.finditer(text) if match[2].strip()]
        if not bodies:
            break
        text = _best(bodies)
        notes.append("tags removed")
    return text


def _fenced(text: str, tags: Sequence[str]) -> list[str]:
    """Return the fenced blocks of some languages; a lone fence at the end holds nothing."""
    blocks = _FENCE.findall(text)
    return [body for _, tag, body in blocks if tag.lower() in tags and body.strip()]


def _best(blocks: Sequence[str]) -> str:
    """Join the blocks if that is Python; else the longest that is; else the first."""
    longest = sorted(blocks, key=len, reverse=True)[:_MOST_BLOCKS]
    for source in ("\n".join(blocks), *longest):
        if parses(textwrap.dedent(source)):
            return source
    return blocks[0]


# --- markers on lines


def _mended(source: str) -> str:
    """Take markers off its lines, if that makes Python of it; else return it as it is."""
    if len(source) > MAX_SOURCE_CHARS or parses(source):
        return source
    bare = source
    for take_off in _MARKERS:
        bare = take_off(bare)
        if bare != source and (tidied := _tidy(bare)).strip() and parses(tidied):
            return tidied
    return source


def _without_prompts(source: str) -> str:
    """Return what was typed in a session of an interpreter, without what it printed."""
    lines: list[str] = []
    for line in source.split("\n"):
        if match := _PROMPT.match(line):
            lines.append(match[1])
        elif lines and (match := _MORE.match(line)):
            lines.append(match[1] or "")
    return "\n".join(lines) if lines else source


def _without_magics(source: str) -> str:
    """Drop a notebook's magics and shell lines."""
    return "\n".join(line for line in source.split("\n") if not _MAGIC.match(line))


def _without_diff(source: str) -> str:
    """Return the new side of a diff."""
    lines = source.split("\n")
    if not all(line[:1] in _SIDES or _DIFF.match(line) for line in lines):
        return source
    kept = [line for line in lines if line[:1] in "+ " and not _DIFF.match(line)]
    return "\n".join(line[1:] for line in kept) if any(map(str.strip, kept)) else source


def _without_backticks(source: str) -> str:
    """Return the lines that are code between backticks, list marks before them dropped."""
    found = [match[1] for line in source.split("\n") if (match := _INLINE.match(line))]
    return "\n".join(found) if found else source


_MARKERS: tuple[Callable[[str], str], ...] = (
    _without_prompts,
    _without_magics,
    _without_diff,
    _without_backticks,
    html.unescape,
)


# --- prose


def _without_prose(source: str) -> str:
    """Return a source without the lines of prose before and after the code."""
    lines = source.split("\n")
    first, end = 0, len(lines)
    while first < min(end, _MOST_PROSE) and _is_prose(lines[first]):
        first += 1
    while end > max(first, len(lines) - _MOST_PROSE) and _is_prose(lines[end - 1]):
        end -= 1
    return textwrap.dedent("\n".join(lines[first:end])) + "\n" if first < end else ""


def _is_prose(line: str) -> bool:
    """Tell whether a line is words to a person (or blank), not code or part of it."""
    text = line.strip()
    if not text or _is_word(text):
        return True
    if line[0].isspace() or _OPENS.match(line) or parses(text) or parses(text + " pass"):
        return False
    if _PROMPT.match(line) or _INLINE.match(line):
        return False
    return not re.search(r"[=(\[{]", text) or bool(_SENTENCE.match(text))


def _is_word(line: str) -> bool:
    """Tell whether a line is one word, such as `Certainly` or `python`; it parses as a name."""
    return line.isidentifier() and not keyword.iskeyword(line)
