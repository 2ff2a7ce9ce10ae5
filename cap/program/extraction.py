"""Where the program is in a model's answer: everything else is taken off, layer by layer.

An answer that is Python as it stands is left alone. In any other, thoughts, tags, tool calls and
fences are opened, then prompts, markers and prose are dropped; each only where that leaves Python,
so that the text of a program is never touched.

What comes out is the whole program or a fault that says what to write instead, never a part of what
was meant and never more: an answer of several blocks is one program only if the later ones go on
from the earlier, and code that stands beside a block is not passed over.
"""

from __future__ import annotations

import ast
import html
import keyword
import re
import textwrap
from collections.abc import Callable, Sequence

from cap.errors import CheckFailed
from cap.program.parser import MAX_SOURCE_CHARS, parsed, parses
from cap.program.tool_calls import called

_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_THINK = re.compile(r"^[ \t]*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", _FLAGS)
_THINK_END = re.compile(r"</think(?:ing)?>", _FLAGS)
_MARKS = re.compile(r"```|~~~|<[/|\uff5c]?[a-z]|\[/?(?:TOOL_CALLS|INST)\]", re.IGNORECASE)
# Possessive quantifiers: a long run of backticks or letters must not backtrack.
_FENCE = re.compile(r"^[ \t]*+(```++|~~~++)[ \t]*+([\w+-]*+)[^\n]*+\n(.*?)(?:\1[ \t]*$|\Z)", _FLAGS)
_CODE_TAGS = ("python", "py", "python3", "tool_code", "ipython", "pycon")
_DATA_TAGS = ("json", "tool_call", "tool")
_DIFF_TAGS = ("diff", "patch")
_ONE_LINE_FENCE = re.compile(r"^[ \t]*```(?:python3?|py)?[ \t]*([^`\n]+?)[ \t]*```[ \t]*$", _FLAGS)
_TOKENS = re.compile(
    r"<\|[a-z_]{1,40}\|>|<\uff5c[a-z_\u2581]{1,40}\uff5c>|</?s>|<[be]os>|\[/?INST\]"
    r"|<start_of_turn>(?:model)?|<end_of_turn>",
    re.IGNORECASE,
)
_END_TOKENS = re.compile(
    r"<\|(?:endoftext|end_of_text|im_end|eot_id|eom_id|return|call)\|>|</s>|<eos>|<end_of_turn>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>",
    re.IGNORECASE,
)
"""Where an answer ends; what a server lets through behind it was written for nobody."""
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
_DIFF = re.compile(r"^(?:diff --git |--- \S|\+\+\+ \S|@@ -)", re.MULTILINE)
_INLINE = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*`([^`]+)`[ \t]*[.;:,]?$")
_LABEL = re.compile(r"(?:Answer|Code|Output|Program|Python|Response|Solution|assistant)[ \t]*:")
_SENTENCE = re.compile(r"[A-Z].*[.!?:]$")
_KEYWORD = re.compile(rf"(?:{'|'.join(keyword.kwlist)})\b")
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u00a0\u2007\u202f\u2009", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None),
        **dict.fromkeys("\u2010\u2011\u2212", "-"),
    }
)
"""Characters that editors put in the place of Python's own."""
_OPENS = re.compile(r"try:|@|match .*:$")
"""Lines that begin a statement, and are none with a mere `pass` behind."""
_MOST_PROSE = 1000
"""Lines of prose before the code, and after it."""
_MOST_BLOCKS = 16
"""How many blocks one program may come in."""
_MOST_NESTED = 3
"""How deep elements stand in each other: a call, its function, a parameter."""
_MOST_CUTS = 8
"""How many separators are looked at; those before the right one stand in strings."""
_ONE_BLOCK = "answer with one block that holds the whole program and nothing else"


class AnswerFault(CheckFailed):
    """An answer that holds code, but not one whole program."""

    line: int | None = None


def program_text(answer: str, separators: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
    """Return what of an answer is the program, and notes on what was taken off.

    The text is "" if there is no code; where what is left is no Python, it is the likeliest part.

    Args:
        answer: All that the model wrote.
        separators: What parts examples in its prompt, if it continues that text: the answer ends
            where a next example begins. None of a chat model, which ends its answer itself.

    Raises:
        AnswerFault: It holds several programs, changes to one, or code beside a block of code.
    """
    notes: list[str] = []
    text = answer.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").strip("\n")
    if (codes := called(text.lstrip().removeprefix(_TOOL_CALLS))) is not None:
        return _from_calls(codes, notes)
    # In a program, tags and fences are inside its strings.
    if _MARKS.search(text) and not parses(text):
        text = _without_tokens(_without_thoughts(text, notes))
        if (codes := _in_data(text)) is not None:
            return _from_calls(codes, notes)
        text = _in_elements(text, notes)
        text = _ONE_LINE_FENCE.sub(r"```\n\1\n```", text)
        if blocks := _code_blocks(text):
            # A fence ends by itself; a separator in it would be a comment of the program's own.
            source = _mended(_tidy(_joined(blocks)))
            notes.append("code taken from a fence")
            return _whole(source), tuple(notes)
        text = _FENCE.sub("", text)
    return _whole(_unfenced(text, separators, notes)), tuple(notes)


def _from_calls(codes: Sequence[str], notes: list[str]) -> tuple[str, tuple[str, ...]]:
    """Return the program of tool calls, each of which may be dressed up in its turn."""
    found = [program_text(code) for code in codes]
    more = (note for _, inner in found for note in inner)
    return _joined([source for source, _ in found]), (*notes, "code taken from a tool call", *more)


def _whole(source: str) -> str:
    """Return a program that is none of two versions at once.

    Raises:
        AnswerFault: Its lines begin with the marks of a diff, which Python takes for signs.
    """
    if parses(source):
        for node in parsed(source).body:
            match node:
                case ast.Expr(value=ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=ast.Call())):
                    raise AnswerFault(f"a diff is no program; {_ONE_BLOCK}")
    return source


def _unfenced(text: str, separators: Sequence[str], notes: list[str]) -> str:
    """Return the text up to the first separator, without prose if there is any."""
    source = _tidy(_without_context(text, separators))
    cut = _end(source, separators)
    if source[cut:].strip():
        notes.append("cut where a next example begins")
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


def _without_context(text: str, separators: Sequence[str]) -> str:
    """Drop context lines repeated at the start: what the separators say begins a next turn.

    Without the instruction's comment after them they may be the program's own.
    """
    marks = tuple(mark.lstrip("\n") for mark in separators if mark.startswith("\n"))
    marks = tuple(mark for mark in marks if mark.strip("# "))
    if not marks:
        return text
    lines = text.split("\n")
    first = 0
    while first < len(lines) and (lines[first].startswith(marks) or not lines[first].strip()):
        first += 1
    repeated = first < len(lines) and lines[first].startswith("# ")
    return "\n".join(lines[first:]) if repeated else text


def _end(source: str, separators: Sequence[str]) -> int:
    """Return where the first separator is that does not stand in a string or in brackets."""
    found = {
        at.start() for mark in separators if mark for at in re.finditer(re.escape(mark), source)
    }
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
    """Drop the tokens that part a conversation, and what a server lets through behind its end."""
    if not _TOKENS.search(text):
        return text
    for end in _END_TOKENS.finditer(text):
        if _TOKENS.sub("", text[: end.start()]).strip():
            text = text[: end.start()]
            break
    return _TOKENS.sub("", text)


def _in_data(text: str) -> list[str] | None:
    """Return the programs of tool calls that stand in the text."""
    _, mark, after = text.partition(_TOOL_CALLS)
    if mark and (codes := called(after)) is not None:
        return codes
    bodies = [match[2] for match in _ELEMENT.finditer(text)]
    bodies += [body for tag, body in _fenced(text) if tag in _DATA_TAGS]
    found = [codes for body in bodies if (codes := called(body)) is not None]
    return [code for codes in found for code in codes] if found else called(text)


def _in_elements(text: str, notes: list[str]) -> str:
    """Return what stands between `<code>` and `</code>`, or the like; the text if nothing does."""
    for _ in range(_MOST_NESTED):
        bodies = [match[2] for match in _ELEMENT.finditer(text) if match[2].strip()]
        if not bodies:
            break
        text = _joined(bodies)
        notes.append("tags removed")
    return text


def _fenced(text: str) -> list[tuple[str, str]]:
    """Return the fenced blocks: language and text; a lone fence at the end holds nothing."""
    blocks = _FENCE.findall(text)
    return [(tag.lower(), body) for _, tag, body in blocks if body.strip()]


def _code_blocks(text: str) -> list[str]:
    """Return the fenced blocks that are a program's.

    Raises:
        AnswerFault: One of them is a diff or has no end, or there is code that stands in none.
    """
    blocks = _fenced(text)
    *_, last = _FENCE.finditer(text) if blocks else [None]
    if last and last[2].lower() in ("", *_CODE_TAGS) and not last[0].rstrip().endswith(last[1]):
        raise AnswerFault(f"the block of code has no end; {_ONE_BLOCK}")
    if any(tag in _DIFF_TAGS or _DIFF.search(body) for tag, body in blocks):
        raise AnswerFault(f"a diff is no program; {_ONE_BLOCK}")
    tagged = any(tag in _CODE_TAGS for tag, _ in blocks)
    # Beside a block that is said to be Python, one of no language may be what it will print.
    codes = [
        body
        for tag, body in blocks
        if tag in _CODE_TAGS or (not tag and not (tagged and _idle(body)))
    ]
    if codes:
        beside = _FENCE.sub("\n", text)
        for line in beside.split("\n")[:_MOST_PROSE]:
            if parses(line.strip()) and not _idle(line.strip()):
                shown = line.strip()[:80]
                raise AnswerFault(f"there is code beside the block: {shown}; {_ONE_BLOCK}")
    return codes


def _idle(source: str) -> bool:
    """Tell whether a text does nothing as a program: it is none, or mere data and names."""
    source = textwrap.dedent(source)
    if not parses(source):
        return True
    return not any(isinstance(node, _ACTS) for node in ast.walk(parsed(source)))


_ACTS = (
    *(ast.Call, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Assert),
    *(ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With, ast.Import, ast.ImportFrom),
)


def _joined(blocks: Sequence[str]) -> str:
    """Return several blocks as one program, where each goes on from those before it.

    Raises:
        AnswerFault: One of them does not: it may be another version, or a second program.
    """
    if len(blocks) > _MOST_BLOCKS:
        raise AnswerFault(f"there are {len(blocks)} blocks of code; {_ONE_BLOCK}")
    blocks = [textwrap.dedent(block).strip("\n") for block in blocks]
    if len(blocks) == 1:
        return blocks[0]
    working = [block for block in blocks if not _idle(block)]
    if not working:
        return "\n".join(blocks)
    if any(not parses(block) for block in blocks) and len(working) < 2:
        return max(working or blocks, key=len)  # the others are no code
    bound: set[str] = set()
    for number, block in enumerate(working):
        binds, reads = _names(block)
        if number and not reads & bound:
            raise AnswerFault(f"there are {len(working)} blocks of code; {_ONE_BLOCK}")
        bound |= binds
    return "\n\n".join(working)


def _names(source: str) -> tuple[set[str], set[str]]:
    """Return the names a block binds, and those it reads that it does not bind itself."""
    binds, reads = set[str](), set[str]()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else binds).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            binds.add(node.name)
        elif isinstance(node, ast.arg):
            reads.discard(node.arg)
    return binds, reads - binds


# --- markers on lines


def _mended(source: str) -> str:
    """Take markers off its lines, if that makes Python of it; else return it as it is."""
    if len(source) > MAX_SOURCE_CHARS or parses(source):
        return source
    if _DIFF.search(source):
        raise AnswerFault(f"a diff is no program; {_ONE_BLOCK}")
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


def _without_backticks(source: str) -> str:
    """Return the lines that are code between backticks, list marks before them dropped."""
    found = [match[1] for line in source.split("\n") if (match := _INLINE.match(line))]
    return _joined(found) if found and all(map(parses, found)) else source


def _with_plain_characters(source: str) -> str:
    """Return a source with Python's own quotes, spaces and signs for those that look alike."""
    return source.translate(_LOOKALIKES)


_MARKERS: tuple[Callable[[str], str], ...] = (
    _without_prompts,
    _without_magics,
    _without_backticks,
    html.unescape,
    _with_plain_characters,
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
    if _KEYWORD.match(text):  # half a statement, more likely than a sentence
        return False
    if _PROMPT.match(line) or _INLINE.match(line):
        return False
    return not re.search(r"[=(\[{]", text) or bool(_SENTENCE.match(text))


def _is_word(line: str) -> bool:
    """Tell whether a line is one word, such as `Certainly` or `python`; it parses as a name."""
    return line.isidentifier() and not keyword.iskeyword(line)
