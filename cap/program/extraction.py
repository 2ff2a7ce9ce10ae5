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
from dataclasses import dataclass, replace
from itertools import islice

from cap.errors import CheckFailed
from cap.program.parser import MAX_SOURCE_CHARS, parsed, parses
from cap.program.tool_calls import RUNNERS, called

_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_THOUGHT = r"(?:think(?:ing)?|thought|reasoning|reflection|scratchpad|seed:think)"
_THINK = re.compile(rf"^[ \t]*<{_THOUGHT}>.*?(?:</{_THOUGHT}>|\Z)", _FLAGS)
_THINK_END = re.compile(rf"</{_THOUGHT}>", _FLAGS)
_OTHER_TAGS = re.compile(r"\[(/?)(THINK|PYTHON)\]|\u25c1(/?)(think)\u25b7")
"""Tags in brackets of other kinds."""
_MARKS = re.compile(
    r"```|~~~|<[/|\uff5c]?[a-z]|\u25c1|\[/?(?:TOOL_CALLS|INST|THINK|PYTHON)\]|^[ \t]*\{", _FLAGS
)
# Possessive quantifiers: a long run of backticks or letters must not backtrack.
_OPENING = re.compile(
    r"^[ \t]*+(?:(?:[-*+]|\d{1,3}[.)])[ \t]++)?(```++|~~~++)[ \t]*+([^`\n]*+)$", re.MULTILINE
)
_CLOSING = re.compile(r"(?<![`~])(```++|~~~++)[ \t]*+$", re.MULTILINE)
_TAG = re.compile(r"\{?\.?([\w+-]*)")
_CODE_TAGS = ("python", "py", "python3", "tool_code", "ipython", "pycon")
_DATA_TAGS = ("json", "tool_call", "tool")
_DIFF_TAGS = ("diff", "patch")
_TEXT_TAGS = ("markdown", "md")
_ONE_LINE_FENCE = re.compile(r"^[ \t]*```(?:python3?|py)?[ \t]*([^`\n]+?)[ \t]*```[ \t]*$", _FLAGS)
_QUOTED = re.compile(r"^> ?(?=```|~~~)", re.MULTILINE)
_TOKENS = re.compile(
    r"<\|(?:im_start|start_header_id|start)\|>(?:assistant\b)?|<\|[a-z_]{1,40}\|>|<\uff5c[a-z_\u2581]{1,40}\uff5c>|</?s>|<[be]os>|\[/?INST\]"
    r"|<start_of_turn>(?:model)?|<end_of_turn>",
    re.IGNORECASE,
)
_END_TOKENS = re.compile(
    r"<\|(?:endoftext|end_of_text|end_of_turn_token|im_end|eot_id|eom_id|eot|end|return|call|user"
    r"|observation)\|>|</s>|<eos>|<end_of_turn>|<\uff5cend\u2581of\u2581sentence\uff5c>",
    re.IGNORECASE,
)
"""Where an answer ends; what a server lets through behind it was written for nobody."""
_ELEMENT = re.compile(
    r"<(code|python|answer|execute|program|solution|tool_call|function_calls?|action|function"
    r"|invoke|parameter|artifact)\b[^<>\n]{0,200}>(.*?)(?:</\1>|\Z)",
    _FLAGS,
)
_NAMED_CALL = re.compile(r"[ \t]*([\w.-]+)(?:\[CALL_ID\]\w+)?\[ARGS\](.*)", re.DOTALL)
_TOOL_CALLS = "[TOOL_CALLS]"
_PROMPT = re.compile(r"^[ \t]*(?:>>>|In \[\d*\]:)[ ]?(.*)$")
_TYPED = re.compile(_PROMPT.pattern, re.MULTILINE)
_NUMBERED = re.compile(r"In \[\d+\]:")
_MORE = re.compile(r"^[ \t]*\.\.\.:?(?: (.*))?$")
_MAGIC = re.compile(r"^(?:%%?[a-z]|![a-z])")
_DIFF = re.compile(r"^(?:diff --git |--- \S|\+\+\+ \S|@@ -)", re.MULTILINE)
_INLINE = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*`([^`]+)`[ \t]*[.;:,]?$")
_LABEL = re.compile(r"(?:Answer|Code|Output|Program|Python|Response|Solution|[Aa]ssistant)[ \t]*:")
_SENTENCE = re.compile(r"[A-Z].*[.!?:]$")
_SIGN = re.compile(r"[=(\[{\"]|(?<!\w)'|'(?!\w)")
"""What stands in code rather than in words; an apostrophe does not."""
_WORDS = re.compile(r"(?<!\w)[^\W\d_]++[,;:]? [^\W\d_]")
_ONE_WORD = re.compile(r"([^\W\d_]+)[ ]?[.:!?]*$")
_BULLET = re.compile(r"(?:[-*+\u2022]|\d+[.)])[ \t]+")
_MARKUP = re.compile(r"[-*_=]{3,}$|(?:</?[a-z_][^<>]*>)+$|[|>] .*\w|\*\*.+\*\*", re.IGNORECASE)
_NAME = re.compile(r"[\w.]++ *+[-+*/%@,.]*+$")
_HALF = re.compile(r"[\w.]++(?:[(\[]| ?[-+*/]?=)")
"""How a statement over several lines begins."""
_LEFT_OUT = re.compile(
    r"^[ \t]*#[ \t]*(?:\.\.\.|\u2026)[ \t]*\(?(?:the )?"
    r"(?:rest|remaining|remainder|existing|previous|same|other|your|more)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A comment in the place of code."""
_KEYWORD = re.compile(rf"(?:{'|'.join(keyword.kwlist)})\b")
_TEXTS = re.compile(r"('[^'\n]*'|\"[^\"\n]*\")")
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u00a0\u2007\u202f\u2009", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None),
        **dict.fromkeys("\u2010\u2011\u2212", "-"),
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    }
)
"""Characters that editors put in the place of Python's own."""
_OPENS = re.compile(r"try:|@|match .*:$")
"""Lines that begin a statement, and are none with a mere `pass` behind."""
_MOST_PROSE = 1000
"""Lines of prose before the code, and after it."""
_MOST_BLOCKS = 16
"""How many blocks one program may come in."""
_MOST_FENCES = 64
"""How many blocks an answer may hold, of whatever kind."""
_MOST_CLOSINGS = 8
"""How many fences are looked at for the end of a block; those before it stand in strings."""
_MOST_NESTED = 3
"""How deep elements stand in each other: a call, its function, a parameter."""
_MOST_LOOSE = 8
"""How many statements at the ends of a program may be words."""
_MOST_PARSED = 500_000
"""How many characters are read in search of the end of the code before prose."""
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
    if _MARKS.search(text) and not _is_python(text):
        text = _without_tokens(_without_thoughts(text, notes))
        if _QUOTED.search(text):
            text = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
        if (codes := _in_data(text)) is not None:
            return _from_calls(codes, notes)
        text = _in_elements(text, notes)
        text = _ONE_LINE_FENCE.sub(r"```\n\1\n```", text)
        plain = _without_prose(_until_next(text, separators)[0])
        if _is_python(plain) and not _idle(plain):  # its strings hold the fences
            return _opened(_unfenced(text, separators, notes), notes)
        blocks, beside = _split(text, separators)
        if codes := _code_blocks(blocks, beside):
            # A fence ends by itself; a separator in it would be a comment of the program's own.
            notes.append("code taken from a fence")
            return _opened(_joined(codes), notes)
        text = beside
    return _opened(_unfenced(text, separators, notes), notes)


def _is_python(text: str) -> bool:
    """Tell whether a text is Python as it stands; a fence of tildes is not, though it parses."""
    if "~~~" not in text or not parses(text):
        return parses(text)
    lines = text.split("\n")
    return not any(lines[node.lineno - 1].startswith("~~~") for node in parsed(text).body)


def _opened(source: str, notes: list[str]) -> tuple[str, tuple[str, ...]]:
    """Return a program, and where it is nothing but a program in a string, that one."""
    if parses(source):
        match parsed(source).body:
            case [ast.Expr(value=ast.Constant(value=str(inner)))] if not _idle(inner):
                return _from_calls([inner], notes)
            case [
                ast.Expr(
                    value=ast.Call(
                        func=ast.Name(id=name),
                        args=[ast.Constant(value=str(inner))],
                        keywords=[],
                    )
                    | ast.Call(
                        func=ast.Name(id=name),
                        args=[],
                        keywords=[ast.keyword(value=ast.Constant(value=str(inner)))],
                    )
                )
            ] if name in RUNNERS and not _idle(inner):
                return _from_calls([inner], notes)
    return _whole(source), tuple(notes)


def _from_calls(codes: Sequence[str], notes: list[str]) -> tuple[str, tuple[str, ...]]:
    """Return the program of tool calls, each of which may be dressed up in its turn."""
    found = [program_text(code) for code in codes]
    more = (note for _, inner in found for note in inner)
    return _joined([source for source, _ in found]), (*notes, "code taken from a tool call", *more)


def _whole(source: str) -> str:
    """Return a program that is none of two versions at once, and has no gap.

    Raises:
        AnswerFault: Its lines begin with the marks of a diff, which Python takes for signs, or
            there are dots where a part of it belongs.
    """
    if not parses(source):
        return source
    body = parsed(source).body
    for node in body:
        match node:
            case ast.Expr(value=ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=ast.Call())):
                raise AnswerFault(f"a diff is no program; {_ONE_BLOCK}")
            case ast.Expr(value=ast.Constant(value=value)) if value is ... and len(body) > 1:
                raise AnswerFault(f"a part of the program is left out; {_ONE_BLOCK}")
    if _LEFT_OUT.search(source):
        raise AnswerFault(f"a part of the program is left out; {_ONE_BLOCK}")
    return source


def _unfenced(text: str, separators: Sequence[str], notes: list[str]) -> str:
    """Return the text up to the first separator, without prose if there is any.

    Raises:
        AnswerFault: It ends in the middle of a statement that is none yet.
    """
    source, behind = _until_next(text, separators)
    if behind:
        notes.append("cut where a next example begins")
    if len(source) > MAX_SOURCE_CHARS:
        return source
    label = _LABEL.match(source)
    if _NUMBERED.match(source):  # which is Python, of a kind
        source = _tidy(_without_prompts(source))
    elif label and parses(labelled := _flush(source[label.end() :].lstrip("\n"))):
        source = labelled
    if not parses(source) and (mended := _mended(source)) != source:
        notes.append("markers removed")
        source = mended
    bare = _without_loose_words(_without_prose(source))
    if bare != source:
        notes.append("prose removed")
    source = _mended(bare)
    match parsed(source).body if parses(source) else []:
        case [*others, ast.Expr(value=ast.Name(id=name))] if others and not any(
            isinstance(part, ast.Name) and part.id == name
            for other in others
            for part in ast.walk(other)
        ):
            raise AnswerFault(f"it ends with a mere name, {name}; {_ONE_BLOCK}")
        case [_, *_, ast.Expr(value=ast.Attribute(value=ast.Name()))]:
            raise AnswerFault(f"it ends in the middle of a statement; {_ONE_BLOCK}")
        case [_, *_, ast.Expr(value=ast.Compare(left=ast.Name())) | ast.AnnAssign(value=None)]:
            raise AnswerFault(f"it ends with words; {_ONE_BLOCK}")
    return source


def _until_next(text: str, separators: Sequence[str]) -> tuple[str, str]:
    """Return a text up to where a next example begins, and what stands behind."""
    source = _tidy(_without_context(text, separators))
    cut = _end(source, separators)
    return _tidy(source[:cut]), source[cut:].strip()


def _tidy(text: str) -> str:
    """Drop repeated comment lines at the start, and what every line is indented by."""
    lines = text.split("\n")
    first = 0
    while first < len(lines) and (lines[first].startswith("#") or not lines[first].strip()):
        first += 1
    return _dedented("\n".join(lines[first:])).strip("\n") + "\n"


def _dedented(text: str) -> str:
    """Return a text without what all its lines begin with; else a line of blanks keeps them."""
    bare = textwrap.dedent(text)
    return text if bare.strip() == text.strip() or not text[:1].isspace() else bare


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
    text = _OTHER_TAGS.sub(lambda tag: f"<{tag[1] or tag[3] or ''}{tag[2] or tag[4]}>", text)
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
    """Return the programs of tool calls that stand in the text.

    Raises:
        AnswerFault: There is other code beside them.
    """
    _, mark, after = text.partition(_TOOL_CALLS)
    if mark:
        if named := [_NAMED_CALL.match(part) for part in after.split(_TOOL_CALLS)]:
            parts = [f'{{"name": "{m[1]}", "arguments": {m[2]}}}' for m in named if m]
            after = "\n".join(parts) if len(parts) == len(named) else after
        if (codes := called(after)) is not None:
            return codes
    blocks, beside = _split(text)
    bodies = [match[2] for match in _ELEMENT.finditer(text)]
    bodies += [block.body for block in blocks if block.tag in _DATA_TAGS]
    found = [codes for body in bodies if (codes := called(body)) is not None]
    if not found and (data := re.search(r"^[ \t]*\{.*\}[ \t]*$", beside, re.DOTALL | re.MULTILINE)):
        found = [codes for codes in [called(data[0])] if codes is not None]
        beside = beside.replace(data[0], "")
    if not any(found):
        return [] if found else None
    _code_blocks([block for block in blocks if block.tag not in _DATA_TAGS], "")
    if any(block.tag in ("", *_CODE_TAGS) and not _idle(block.body) for block in blocks):
        raise AnswerFault(f"there is code beside the call; {_ONE_BLOCK}")
    _refuse_code(_ELEMENT.sub("\n", beside))
    return [code for codes in found for code in codes]


def _in_elements(text: str, notes: list[str]) -> str:
    """Return what stands between `<code>` and `</code>`, or the like; the text if nothing does."""
    for _ in range(_MOST_NESTED):
        bodies = [match[2] for match in _ELEMENT.finditer(text) if match[2].strip()]
        if not bodies:
            break
        _refuse_code(_split(_ELEMENT.sub("\n", text))[1])
        text = _joined(bodies)
        notes.append("tags removed")
    return text


# --- fences


@dataclass(frozen=True)
class _Block:
    """What stands between two fences."""

    tag: str
    body: str
    closed: bool


def _split(text: str, separators: Sequence[str] = ()) -> tuple[list[_Block], str]:
    """Return the fenced blocks that hold anything, and the text beside them.

    Of a model that continues the prompt, all ends where a next example begins behind a block.

    Raises:
        AnswerFault: There are too many.
    """
    blocks: list[_Block] = []
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
            if all(map(_is_prose, block.body.split("\n")[:_MOST_PROSE])):  # a lone closing fence
                return blocks, "\n".join([*beside, block.body])
        if block.tag in _TEXT_TAGS:
            inner, rest = _split(block.body)
            blocks += inner
            beside.append(rest)
        elif block.body.strip():
            blocks.append(block)
        if len(beside) > _MOST_FENCES:
            raise AnswerFault(f"there are more than {_MOST_FENCES} blocks; {_ONE_BLOCK}")
    behind = text[at:]
    return blocks, "\n".join([*beside, behind[: _first(behind, separators) if blocks else None]])


def _first(text: str, separators: Sequence[str]) -> int:
    """Return where the first separator is, or the text's length."""
    found = [text.find(mark) for mark in separators if mark]
    return min([at for at in found if at >= 0], default=len(text))


def _block(text: str, opening: re.Match[str]) -> tuple[_Block, int]:
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
        if end[1].startswith(marks):
            first = first or end
            body = text[begin : end.start()]
            if not body.strip() or (tag in ("", *_CODE_TAGS) and parses(_tidy(body))):
                return _Block(tag, body, True), end.end()
            if tag not in ("", *_CODE_TAGS):
                break
    if not first:
        return _Block(tag, text[begin:], False), len(text)
    return _Block(tag, text[begin : first.start()], True), first.end()


def _code_blocks(blocks: Sequence[_Block], beside: str) -> list[str]:
    """Return the fenced blocks that are a program's.

    Raises:
        AnswerFault: One of them is a diff or has no end, or there is code that stands in none.
    """
    if any(block.tag in ("", *_CODE_TAGS) and not block.closed for block in blocks):
        raise AnswerFault(f"the block of code has no end; {_ONE_BLOCK}")
    if any(block.tag in _DIFF_TAGS or _DIFF.search(block.body) for block in blocks):
        raise AnswerFault(f"a diff is no program; {_ONE_BLOCK}")
    tagged = any(block.tag in _CODE_TAGS for block in blocks)
    # Beside a block that is said to be Python, one of no language may be what it will print.
    codes = [
        block.body
        for block in blocks
        if block.tag in _CODE_TAGS or (not block.tag and not (tagged and _is_output(block.body)))
    ]
    if codes:
        _refuse_code(beside)
    return codes


def _refuse_code(beside: str) -> None:
    """Refuse code where there should be words: by the line, and by the paragraph.

    Raises:
        AnswerFault: There is some.
    """
    paragraphs = re.split(r"\n[ \t]*\n", "\n".join(beside.split("\n")[:_MOST_PROSE]))
    for piece in (*paragraphs, *(line for text in paragraphs for line in text.split("\n"))):
        piece = piece.strip()
        half = parses(f"{piece} pass") or (_HALF.match(piece) and not _is_prose(piece))
        if not _idle(piece) or (half and not parses(piece)):
            shown = piece.partition("\n")[0][:80]
            raise AnswerFault(f"there is code beside the block: {shown}; {_ONE_BLOCK}")


def _is_output(text: str) -> bool:
    """Tell whether a block is what a program prints: words or data, and no broken code."""
    if parses(_tidy(text)):
        return _idle(text)
    return all(map(_is_prose, text.split("\n")[:_MOST_PROSE]))


def _idle(source: str) -> bool:
    """Tell whether a text does nothing as a program: it is none, or mere data and names."""
    source = _tidy(source)
    if not parses(source):
        return True
    return not any(isinstance(node, _ACTS) for node in ast.walk(parsed(source)))


_ACTS = (
    *(ast.Call, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Assert),
    *(ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With, ast.Import, ast.ImportFrom),
)
_IMPORTS = (ast.Import, ast.ImportFrom)


def _joined(blocks: Sequence[str]) -> str:
    """Return several blocks as one program, where each goes on from those before it.

    A block goes on if it reads what those before it bind, and binds none of that anew. That it
    calls a function which they call themselves is not enough: it may be another way to do the same.

    Raises:
        AnswerFault: One of them does not: it may be another version, or a second program.
    """
    several = f"there are {len(blocks)} blocks of code; {_ONE_BLOCK}"
    if len(blocks) > _MOST_BLOCKS:
        raise AnswerFault(several)
    blocks = [_mended(_tidy(block)) for block in blocks]
    working = [block for block in blocks if not _idle(block)]
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


def _flush(source: str) -> str:
    """Return a source whose first line is not indented, as no program's is."""
    return source.lstrip(" \t")


def _without_prompts(source: str) -> str:
    """Return what was typed in a session of an interpreter, without what it printed."""
    lines: list[str] = []
    for line in source.split("\n") if _TYPED.search(source) else ():
        if match := _PROMPT.match(line):
            lines.append(match[1])
        elif lines and (match := _MORE.match(line)):
            lines.append(match[1] or "")
        elif not (_idle(line.strip()) if lines else _is_prose(line)):
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
    found = [match[1] for line in lines if (match := _INLINE.match(line))]
    alone = all(_INLINE.match(line) or _is_prose(line) for line in lines[:_MOST_PROSE])
    return _joined(found) if found and alone and all(map(parses, found)) else source


def _with_plain_code(source: str) -> str:
    """Return a source with Python's own characters outside the strings on a line."""
    parts = _TEXTS.split(source)
    parts[::2] = [part.translate(_LOOKALIKES) for part in parts[::2]]
    return "".join(parts)


def _with_plain_characters(source: str) -> str:
    """Return a source with Python's own quotes, spaces and signs for those that look alike."""
    return source.translate(_LOOKALIKES)


_MARKERS: tuple[Callable[[str], str], ...] = (
    _flush,
    _without_prompts,
    _without_magics,
    _without_backticks,
    html.unescape,
    _with_plain_code,
    _with_plain_characters,
)


# --- prose


def _without_prose(source: str) -> str:
    """Return a source without the lines of prose before and after the code, as few as it takes."""
    if parses(source):
        return source
    lines = source.split("\n")
    first, end = 0, len(lines)
    while first < min(end, _MOST_PROSE) and (
        _is_prose(lines[first]) or _is_word(lines[first]) or lines[first].startswith("#")
    ):
        first += 1
    if first == end:
        return ""
    code, least = "\n".join(lines[first:]), end
    while least > max(first, end - _MOST_PROSE) and _is_prose(lines[least - 1], code):
        least -= 1
    tries = 1 + _MOST_PARSED // len(source)
    ends = [at for at in range(end, least, -1) if lines[at - 1].strip()][:tries]
    for at in [*ends, least]:
        if parses(bare := _tidy("\n".join(lines[first:at]))):
            return bare
    return bare if first < least else ""


def _without_loose_words(source: str) -> str:
    """Return a program without words at its ends that happen to be Python, such as `Note: none`."""
    for _ in range(_MOST_LOOSE):
        if not parses(source) or len(body := parsed(source).body) < 2:
            break
        lines = source.split("\n")
        head, last = body[0].end_lineno or 1, body[-1].lineno
        alone = head < body[1].lineno
        if alone and (_is_loose(body[0]) or _is_word(lines[0])):
            source = _tidy("\n".join(lines[head:]))
        elif (body[-2].end_lineno or last) < last and _is_loose(body[-1], source):
            source = "\n".join(lines[: last - 1]) + "\n"
        else:
            break
    return source


def _is_loose(node: ast.stmt, source: str = "") -> bool:
    """Tell whether a statement is words: it does nothing, and begins with a name like no other.

    Args:
        node: The statement.
        source: The program it stands at the end of.
    """
    parts = list(ast.walk(node))
    if not isinstance(node, _SAYS) or any(isinstance(part, _CODE) for part in parts):
        return False
    for part in parts:
        if isinstance(part, ast.Name) and part.col_offset == node.col_offset:
            strange = part.id[0].isupper() or not part.id.isascii()
            return strange and _times(part.id, source) < 2
    return False


_SAYS = (ast.Expr, ast.AnnAssign)
_CODE = (ast.Attribute, ast.Subscript, ast.Constant, *_ACTS)


def _times(word: str, source: str) -> int:
    return len(re.findall(rf"\b{re.escape(word)}\b", source))


def _is_prose(line: str, source: str = "") -> bool:
    """Tell whether a line is words to a person (or blank), not code or part of it.

    Args:
        line: The line.
        source: Where it stands behind code: there a word that is one of the code's names is none.
    """
    text = line.translate(_LOOKALIKES).strip()
    if not text:
        return True
    if line[0].isspace() or _OPENS.match(line):
        return False
    if parses(text):
        body = parsed(text).body
        return len(body) == 1 and _is_loose(body[0], source)
    if parses(text + " pass"):
        return False
    if _KEYWORD.match(text) or _PROMPT.match(line) or _INLINE.match(line):
        return False  # half a statement, more likely than a sentence
    words = re.sub(r"`[^`\n]*`", "it", text)
    if words.startswith(("'", '"', "...", "\u2026")):
        return False
    if sign := _SIGN.search(words):
        ascii_only = words[: sign.start()].isascii()
        return not (ascii_only or _NAME.match(words[: sign.start()])) or bool(
            (_SENTENCE.match(words) or _BULLET.match(words))
            and _WORDS.search(words[: sign.start()])
        )
    if _MARKUP.match(words) or _BULLET.match(words):
        return True
    if word := _ONE_WORD.match(words):
        named = words[0].isupper() or not words.isascii()
        return words[-1] in ".:!?" and named and _times(word[1], source) < 2
    if not words.isascii() and not _NAME.match(words):
        return True
    pair = _WORDS.search(words)
    return bool(pair) and (words[0].isupper() or words.count(" ") > 1 or words[-1] in ".:!?")


def _is_word(line: str) -> bool:
    """Tell whether a line is one word, such as `Certainly` or `python`; it parses as a name."""
    return line.isidentifier() and not keyword.iskeyword(line)
