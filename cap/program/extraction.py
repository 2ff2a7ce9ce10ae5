"""What of a model's answer is the program: thoughts, fences, tool calls and words are taken off.

An answer that is Python as it stands is left alone but for its comments and a mere closing word, so
that the text of a program is never touched.
What comes out is the whole program, or a fault that says what to write instead: never a part of
what was meant and never more. Several blocks are one program only if each goes on from those before
it; other odd forms go back to the model with the reason.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from cap.errors import ANOTHER, AnswerFault, EmptyCompletion
from cap.program.program import (
    MAX_ANSWER_CHARS,
    MAX_SHOWN_CHARS,
    MAX_SOURCE_CHARS,
    AnsweredInWords,
    Program,
    check_size,
    parsed,
    parses,
)

ONE_BLOCK = "answer with one block that holds the whole program and nothing else"
RUNNERS = {
    *("python", "python3", "ipython", "code_interpreter", "interpreter", "execute", "exec"),
    *("execute_code", "run", "run_code", "run_python", "tool", "code", "function"),
}
"""Names under which models look for an interpreter; none is a robot's function."""
_CODE_KEYS = ("code", "python", "source", "program", "script", "source_code", "python_code")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input")
_CODE_TAGS = ("", "python", "py", "python3", "tool_code", "ipython")
_WORDS = ("text", "thinking", "reasoning")
"""Types of parts of a message that are no calls."""
_DATA_TAGS = ("json", "tool_call", "tool")
_DIFF_TAGS = ("diff", "patch")
_MOST_BLOCKS, _MOST_FENCES = 16, 64
"""How many blocks one program may come in, and how many of whatever kind an answer may hold."""
_MOST_CLOSINGS = 8
"""How many fences are looked at for the end of a block; those before it stand in strings."""
_MOST_WORDS = 200
"""How many lines of words are looked for at each end of a program."""
_MOST_NESTED = 6

_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_THOUGHT = r"(?:(?:seed:)?think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)[>\]\u25b7]"
_THOUGHTS = re.compile(rf"\s*[<\[\u25c1]{_THOUGHT}.*?(?:[<\[\u25c1]/{_THOUGHT}|\Z)", _FLAGS)
_THOUGHTS_END = re.compile(rf"\A.*^[ \t]*[<\[\u25c1]/{_THOUGHT}|\A.*<\|message\|>", _FLAGS)
_TOKEN = re.compile(
    r"<[|\uff5c]\w[\w\u2581]*[|\uff5c]>(?:assistant\b)?|</?s>|<[be]os>|\[/?INST\]"
    r"|<(?:start|end)_of_turn>(?:model)?"
)
_END_TOKEN = re.compile(
    r"<\|(?:endoftext|end_of_text|im_end|eot_id|eom_id|eot|end|call|return|user)\|>|</s>|<eos>"
    r"|<end_of_turn>|<\uff5cend\u2581of\u2581sentence\uff5c>"
)
"""Where an answer ends; what a server lets through behind it was written for nobody."""
_ELEMENT = re.compile(
    r"<(code|python|execute|program|solution|tool_call|function_calls?)\b[^<>\n]*>(.*?)(?:</\1>|\Z)",
    _FLAGS,
)
# Possessive quantifiers: a long run of backticks must not backtrack.
_OPENING = re.compile(
    r"^[ \t>]*+(?:(?:[-*+]|\d{1,3}[.)])[ \t]++)?(```++|~~~++)[ \t]*+([^`\n]*+)$", re.MULTILINE
)
_CLOSING = re.compile(r"(?<![`~])(```++|~~~++)(?=[ \t]*+(?:$|[^\w`'\",)\s]|\w+ ))", re.MULTILINE)
_TILDES = re.compile(r"^[ \t]*~~~", re.MULTILINE)
"""A fence that parses as Python."""
_ONE_LINE = re.compile(r"^[ \t]*```(?:python|py)?[ \t]*([^`\n]+?)[ \t]*```[ \t]*$", _FLAGS)
_DIFF = re.compile(r"^(?:diff --git |--- \S|\+\+\+ \S|@@ -)", re.MULTILINE)
_ALTERNATIVE = re.compile(
    r"^#[# \t]*(?:alternative|option [\dab]|version [\dab]|approach [\dab]|or[,:]|another way)",
    re.MULTILINE | re.IGNORECASE,
)
_BEGUN = re.compile(r"^[ \t]*[\[{]|<\w*\s*\Z|\b[a-z_]\w*\([\w'\"]", re.MULTILINE)
"""The beginning of data, of a tag, of a call."""
_LEFT_OUT = re.compile(
    r"^[ \t]*#[ \t]*(?:\.\.\.|\u2026)[ \t]*\(?(?:the )?"
    r"(?:rest|remaining|remainder|existing|previous|same|other|your|more)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A comment in the place of code."""
_PAIR = re.compile(r"[^\W\d_]+[,;:]?[ ][^\W\d_]")
_SIGN = re.compile(r"\w\(|[=\[{]|^[\"']")
"""What stands in code rather than in words."""
_HALF = re.compile(r"[\w.]++(?:[(\[]| ?[-+*/]?=)")
"""How a statement over several lines begins."""
_SENTENCE = re.compile(r"[A-Z].*[.!?:]$")
_KEYWORD = re.compile(
    rf"(?:{'|'.join({*keyword.kwlist, 'match', 'case'} - {'is', 'in', 'or', 'and', 'not'})})\b"
)
_MARKED = re.compile(r"(?:[-*+\u2022>#]|\d+[.)])[ \t]|[-*_=]{3,}$|\*\*|</?\w+[^<>]*>$")
_BODIES = (ast.stmt, ast.excepthandler, ast.match_case)
_ACTS = (
    *(ast.Call, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Assert),
    *(ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With, ast.Import, ast.ImportFrom),
)
_CODE = (ast.Attribute, ast.Subscript, ast.Constant, *_ACTS)


def program_in(text: str, stop: Sequence[str] = ()) -> Program:
    """Return the program in a model's answer.

    Args:
        text: The answer.
        stop: Strings that begin a next turn, as in the request.

    Raises:
        EmptyCompletion: Nothing in it.
        AnsweredInWords: No code in it.
        AnswerFault: Code in it, but not of one whole program.
        ProgramSyntaxError: Code that is not valid Python.
    """
    check_size(text, MAX_ANSWER_CHARS)
    if not stop and (comments := _only_comments(text)):
        return Program.parse(comments, ("it only comments; nothing is done",))
    source, notes = program_text(text, stop)
    program = Program.parse(source, notes)
    if not _does_something(program.tree):
        if shown := " ".join(text.split())[:MAX_SHOWN_CHARS]:
            raise AnsweredInWords(f"the model answered with prose: {shown!r}{ANOTHER}")
        raise EmptyCompletion(f"the model answered with nothing{ANOTHER}")
    return program


def _does_something(tree: ast.Module) -> bool:
    """Return False for nothing, for mere imports, and for prose or data that happens to parse."""
    return any(
        not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.AnnAssign) and node.value is None)
        and not (
            isinstance(node, ast.Expr)
            and all(isinstance(part, _DATA) for part in ast.walk(node.value))
        )
        for node in tree.body
    )


_DATA = (
    *(ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp),
    *(ast.expr_context, ast.unaryop),
)


def _only_comments(text: str) -> str:
    """Return an answer of nothing but comments, without the fence around it; "" of any other."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 2 and lines[0][:3] == lines[-1] == "```":
        lines = lines[1:-1]
    return "\n".join(lines) + "\n" if all(line[:1] == "#" for line in lines) and lines else ""


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
    if not _is_python(text):
        text = _without_thoughts(text, notes)
        codes = _called(text) if _is_data(text) else None
        if codes is None and (bodies := _elements(text)):
            notes.append("tags removed")
            if any(map(_is_data, bodies)):
                text = "\n".join(bodies)
                codes = _called(text)
            else:
                codes = [program_text(body)[0] for body in bodies]
        plain = _plain(text, separators, [])
        if codes is None and (is_idle(plain) or _TILDES.search(text)):  # else a string has them
            codes, text = _fenced(_ONE_LINE.sub(r"```\n\1\n```", text), separators)
            notes += ["code taken from a fence"] if codes else []
        elif codes:
            notes.append("code taken from a tool call")
        if codes:
            return _whole(_joined(codes)), tuple(notes)
    return _whole(_plain(text, separators, notes)), tuple(notes)


def _is_python(text: str) -> bool:
    """Tell whether a text is Python as it stands; data and a fence of tildes are not."""
    if _is_data(text) or not parses(text):
        return False
    lines = text.split("\n")
    return not any(_TILDES.match(lines[node.lineno - 1]) for node in parsed(text).body)


def is_idle(source: str) -> bool:
    """Tell whether a text does nothing as a program: it is none, or mere data and names."""
    if not parses(source := _tidy(source)):
        return True
    return not any(isinstance(node, _ACTS) for node in ast.walk(parsed(source)))


def _tidy(text: str) -> str:
    """Drop repeated comment lines at the start, and what every line is indented by."""
    lines = text.split("\n")
    first = 0
    while first < len(lines) and (lines[first].startswith("#") or not lines[first].strip()):
        first += 1
    return textwrap.dedent("\n".join(lines[first:])).strip("\n") + "\n"


def _whole(source: str) -> str:
    """Return a program that is none of two versions at once, and has no gap.

    Raises:
        AnswerFault: It is a diff, a transcript, has alternatives, or dots where a part belongs.
    """
    if _DIFF.search(source):
        raise AnswerFault(f"a diff is no program; {ONE_BLOCK}")
    if not parses(source):
        return source
    body = parsed(source).body
    for node in body:
        match node:
            case ast.Expr(value=ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=ast.Call())):
                raise AnswerFault(f"a diff is no program; {ONE_BLOCK}")
            case ast.AnnAssign(annotation=ast.Call() | ast.Subscript(value=ast.List())):
                raise AnswerFault(f"a label is no part of a program; {ONE_BLOCK}")
            case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name in RUNNERS:
                raise AnswerFault(f"a program is no argument of {name}(); {ONE_BLOCK}")
            case ast.Expr(value=ast.Constant(value=value)) if value is ... and len(body) > 1:
                raise AnswerFault(f"a part of the program is left out; {ONE_BLOCK}")
    if _LEFT_OUT.search(source):
        raise AnswerFault(f"a part of the program is left out; {ONE_BLOCK}")
    if len(body) > 1 and _ALTERNATIVE.search(source):
        raise AnswerFault(f"there are several programs; {ONE_BLOCK}")
    return source


def _without_thoughts(text: str, notes: list[str]) -> str:
    """Drop what a model says to itself first, and the tokens that part a conversation."""
    bare = _THOUGHTS_END.sub("", text) if "<|message|>" in text else text
    if _TOKEN.search(bare) and not parses(bare):
        ends = (end.start() for end in _END_TOKEN.finditer(bare))
        cut = next((end for end in ends if _TOKEN.sub("", bare[:end]).strip()), len(bare))
        bare = _TOKEN.sub("", bare[:cut]).strip("\n")
    while found := _THOUGHTS.match(bare):
        bare = bare[found.end() :]
    if not parses(bare):
        bare = _THOUGHTS_END.sub("", bare).strip("\n")
    if bare != text:
        notes.append("thoughts removed")
    return bare


# Blocks of code


def _fenced(text: str, separators: Sequence[str]) -> tuple[list[str], str]:
    """Return the fenced blocks that are a program's, and the text if there is none.

    Raises:
        AnswerFault: One of them has no end or is a diff, or there is code that stands in none.
    """
    codes: list[tuple[str, str]] = []
    beside: list[str] = []
    at = 0
    while opening := _OPENING.search(text, at):
        between = text[at : opening.start()]
        if codes and (cut := _first(between, separators)) < len(between):
            text, at = between[:cut], 0
            break
        beside.append(between)
        if len(beside) > _MOST_FENCES:
            raise AnswerFault(f"there are more than {_MOST_FENCES} blocks; {ONE_BLOCK}")
        tag = (re.match(r"\{?\.?([\w+-]*)", opening[2].strip().lower()) or [""])[1]
        tag = "python" if opening[2].strip().endswith(".py") else tag
        body, at = _block(text, opening, tag)
        rest = text[at:][: _first(text[at:], separators)]
        if body is None and not tag and all(map(_is_words, rest.split("\n")[:_MOST_WORDS])):
            text, at = "", 0  # a lone closing fence
            break
        if body is None:
            raise AnswerFault(f"the block of code has no end; {ONE_BLOCK}")
        if tag in _DIFF_TAGS or (tag in _CODE_TAGS and _DIFF.search(body)):
            raise AnswerFault(f"a diff is no program; {ONE_BLOCK}")
        if tag in _DATA_TAGS and (called := _called(body)):
            codes += [("python", code) for code in called]
        elif tag in _CODE_TAGS and body.strip():
            codes.append((tag, _tidy(body)))
    behind = text[at:]
    beside.append(behind[: _first(behind, separators) if codes else None])
    if any(tag or not is_idle(code) for tag, code in codes):  # another may be what that prints
        codes = [(tag, code) for tag, code in codes if tag or not _is_output(code)]
    if codes:
        _refuse_code("\n".join(beside))
    found = [code for _, code in codes]
    return found[:1] if len(set(found)) == 1 else found, "\n".join(beside)  # or said again


def _block(text: str, opening: re.Match[str], tag: str) -> tuple[str | None, int]:
    """Return the block that begins with a fence, and where the text goes on; None without an end.

    It ends with the first fence that leaves Python; those before it stand in the program's strings.
    """
    begin = opening.end() + 1
    first: tuple[str, int] | None = None
    for _, end in zip(range(_MOST_CLOSINGS), _CLOSING.finditer(text, begin), strict=False):
        line = text[text.rfind("\n", 0, end.start()) + 1 : end.start()]
        if not end[1].startswith(opening[1]) or line.strip("> \t").startswith("#"):
            continue
        found = text[begin : end.start()], end.end()
        first = first or found
        if not found[0].strip() or tag not in _CODE_TAGS or parses(_tidy(found[0])):
            return found
    return first or (None, begin)


def _first(text: str, separators: Sequence[str]) -> int:
    found = [text.find(mark) for mark in separators if mark]
    return min([at for at in found if at >= 0], default=len(text))


def _is_output(text: str) -> bool:
    """Tell whether a block is what a program prints: words or data, and no broken code."""
    return is_idle(text) if parses(text) else all(map(_is_words, text.split("\n")[:_MOST_WORDS]))


def _elements(text: str) -> list[str]:
    """Return what stands in `<code>` and `</code>`, or the like.

    Raises:
        AnswerFault: There is code beside it.
    """
    bodies: list[str] = []
    for _ in range(_MOST_NESTED):
        if not (found := [*_ELEMENT.finditer(text)]):
            break
        if len(found) > _MOST_FENCES:
            raise AnswerFault(f"there are more than {_MOST_FENCES} tags; {ONE_BLOCK}")
        beside = _ELEMENT.sub("\n", text)
        _refuse_code(beside)
        ended = all(each[0].endswith(f"</{each[1]}>") for each in found)
        if _BEGUN.search(beside) or (len(found) > 1 and not ended):
            raise AnswerFault(f"there is more than one call, or half of one; {ONE_BLOCK}")
        bodies = [element[2].strip("\n") for element in found if element[2].strip()]
        text = "\n".join(bodies)
    if _ELEMENT.search(text):
        raise AnswerFault(f"there are too many tags; {ONE_BLOCK}")
    return bodies


def _refuse_code(beside: str) -> None:
    """Refuse code where there should be words: by the line, and by the paragraph.

    Raises:
        AnswerFault: There is some.
    """
    paragraphs = re.split(r"\n[ \t]*\n", "\n".join(beside.split("\n")[:_MOST_WORDS]))
    for piece in (*paragraphs, *(line for text in paragraphs for line in text.split("\n"))):
        piece = piece.strip()
        half = parses(f"{piece} pass") or (_HALF.match(piece) and not _is_words(piece))
        if not is_idle(piece) or (half and not parses(piece)):
            shown = piece.partition("\n")[0][:80]
            raise AnswerFault(f"there is code beside the block: {shown}; {ONE_BLOCK}")


def _joined(blocks: Sequence[str]) -> str:
    """Return several blocks as one program, where each goes on from those before it.

    A block goes on if it reads what those before it bind, and binds none of that again.

    Raises:
        AnswerFault: One of them does not: it may be another version, or a second program.
    """
    several = AnswerFault(f"there are {len(blocks)} blocks of code; {ONE_BLOCK}")
    working = [block for block in blocks if not is_idle(block)]
    if len(blocks) == 1 or not working:
        return "\n".join(blocks)
    if len(blocks) > _MOST_BLOCKS or not all(map(parses, blocks)):
        raise several
    bound, functions, spent = set[str](), set[str](), set[str]()
    steps = 0
    for block in working:
        binds, loads = _names(block)
        if steps and (binds & bound or not (loads - binds) & (bound - spent)):
            raise several
        body = parsed(block).body
        steps += any(not isinstance(node, ast.Import | ast.ImportFrom) for node in body)
        bound |= binds
        functions |= {node.name for node in body if isinstance(node, ast.FunctionDef)}
        # Of "def f", then "f(1)", then "f(2)": the third may be another way to do what the second
        # does, since it goes on from nothing but what was called already.
        spent |= loads & functions
    return "\n\n".join(block.strip("\n") for block in working) + "\n"


def _names(source: str) -> tuple[set[str], set[str]]:
    """Return the names that a block binds at its top, and those it reads."""
    nodes = [node for node in ast.walk(parsed(source)) if isinstance(node, ast.Name)]
    loads = {node.id for node in nodes if isinstance(node.ctx, ast.Load)}
    binds = set[str]()
    for statement in parsed(source).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                binds.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                binds |= {(each.asname or each.name).partition(".")[0] for each in names}
            case _:
                stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
                binds |= {node.id for node in stored if isinstance(node.ctx, ast.Store)}
    return binds, loads


# Plain text


def _plain(text: str, separators: Sequence[str], notes: list[str]) -> str:
    """Return the text up to the first separator, without the lines of words at its ends.

    Raises:
        AnswerFault: It ends in the middle of a statement that is none yet.
    """
    text = _without_context(text, separators)
    source = _tidy(text)
    cut = _end(source, separators)
    if source[cut:].strip():
        notes.append("cut where a next example begins")
    source = _tidy(source[:cut])
    if len(source) > MAX_SOURCE_CHARS:
        return source
    if not parses(source):
        lines = source.split("\n")
        first, end = 0, len(lines)
        while first < min(end, _MOST_WORDS) and (_is_words(lines[first]) or _is_name(lines[first])):
            first += 1
        while end > max(first, len(lines) - _MOST_WORDS) and _is_words(lines[end - 1]):
            end -= 1
        bare = _tidy("\n".join(lines[first:end])) if first < end else ""
        bare = bare.lstrip(" \t") if not parses(bare) else bare
        if bare != source:
            notes.append("words removed")
        source = bare
    source = _without_loose_words(source)
    if parses(source):
        _refuse_half(parsed(source).body)
    return source


def _without_loose_words(source: str) -> str:
    """Return a program without words at its ends that happen to be Python, such as `Sure, here`."""
    while parses(source) and len(body := parsed(source).body) > 1:
        lines = source.split("\n")
        if _is_loose(body[0]) and body[0].lineno < body[1].lineno:
            source = _tidy("\n".join(lines[body[0].end_lineno :]))
        elif _is_loose(body[-1], capital=True):
            source = "\n".join(lines[: body[-1].lineno - 1]).rstrip("\n") + "\n"
        else:
            break
    return source


def _is_loose(node: ast.stmt, capital: bool = False) -> bool:
    """Tell whether a statement is mere names; at an end the first of them must be capitalised."""
    if not isinstance(node, ast.Expr | ast.AnnAssign):
        return False
    parts = list(ast.walk(node))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    mere = not any(isinstance(part, _CODE) for part in parts)
    return mere and bool(names) and (not capital or names[0][:1].isupper())


def _refuse_half(body: Sequence[ast.stmt]) -> None:
    """Refuse a program whose last statement is half of one.

    Raises:
        AnswerFault: It is.
    """
    ends: list[ast.AST] = list(body)
    while ends and (inner := [n for n in ast.iter_child_nodes(ends[-1]) if isinstance(n, _BODIES)]):
        ends.append(inner[-1])
    match ends[1:]:
        case [*_, ast.Expr(value=ast.Attribute(value=ast.Name()))]:
            raise AnswerFault(f"it ends in the middle of a statement; {ONE_BLOCK}")
        case [*_, ast.Expr(value=ast.Name(id=name))] if not any(
            isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
            for node in body
            for part in ast.walk(node)
        ):
            raise AnswerFault(f"it ends with a mere name, {name}; {ONE_BLOCK}")


def _without_context(text: str, separators: Sequence[str]) -> str:
    """Drop context lines repeated at the start, above the instruction's comment."""
    marks = tuple(mark.lstrip("\n") for mark in separators if mark.startswith("\n"))
    marks = tuple(mark for mark in marks if mark.strip("# "))
    lines = text.split("\n")
    first = 0
    while marks and first < len(lines) and (lines[first].startswith(marks) or not lines[first]):
        first += 1
    repeated = first < len(lines) and lines[first].startswith("# ")
    return "\n".join(lines[first:]) if repeated else text


def _end(source: str, separators: Sequence[str]) -> int:
    """Return where the first separator is that does not stand in a string or in brackets."""
    found = {
        at.start() for mark in separators if mark for at in re.finditer(re.escape(mark), source)
    }
    ends = sorted(found)[:_MOST_CLOSINGS]
    if ends and not parses(source[: ends[0]]):
        for end in [*ends[1:], len(source)]:
            if parses(source[:end]):
                return end
    return ends[0] if ends else len(source)


def _is_words(line: str) -> bool:
    """Tell whether a line is words to a person (or blank), not code or part of it."""
    text = line.strip()
    if not text:
        return True
    if line[0].isspace() or text.startswith(("...", "\u2026")) or not is_idle(text):
        return False
    words = re.sub(r"`[^`]*`", "it", text)
    sign = _SIGN.search(words)
    if sign and _SENTENCE.match(words) and _PAIR.search(words[: sign.start()]):
        return True
    if sign or _KEYWORD.match(words) or parses(f"{text} pass"):
        return False
    if (
        _MARKED.match(words)
        or not words.isascii()
        or re.match(r"[A-Z]\w+[.:!]?(?: \w+){0,3}$", words)
    ):
        return True
    return words == "python" or bool(_PAIR.search(words) and not parses(text))


# Tool calls


def _is_data(text: str) -> bool:
    return text.lstrip().removeprefix("[TOOL_CALLS]").lstrip()[:1] in ("{", "[")


def _called(text: str) -> list[str] | None:
    """Return the programs that JSON holds or stands for; None of what is no JSON.

    Code under a key such as `code` is a program. Calls of functions by name, with arguments by
    name, stand for one program that makes these calls one after another.

    Raises:
        AnswerFault: One of the calls cannot be read.
    """
    rest = text.lstrip().removeprefix("[TOOL_CALLS]").strip()
    values: list[Any] = []
    while rest:
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(rest)
        except (ValueError, RecursionError):
            if values:
                raise AnswerFault(f"one of its calls cannot be read; {ONE_BLOCK}") from None
            return None
        values.append(value)
        rest = rest[end:].lstrip(" \t\n,;")
    programs: list[str] = []
    calls: list[str] = []
    for is_program, code in _pieces(values):
        (programs if is_program else calls).append(code)
    if programs and calls:
        raise AnswerFault(f"there is a call beside the program; {ONE_BLOCK}")
    inner = [program_text(code)[0] for code in programs]
    return [_joined(inner)] if inner else ["\n".join(calls)] if calls else None


def _pieces(value: Any, depth: int = 0) -> Iterator[tuple[bool, str]]:
    """Yield the programs in data, and the statements that calls by name stand for.

    Raises:
        AnswerFault: One of the calls cannot be read.
    """
    if isinstance(value, list) and depth < _MOST_NESTED:
        found = [list(_pieces(entry, depth + 1)) for entry in value]
        for entry, pieces in zip(value, found, strict=True):
            words = isinstance(entry, dict) and entry.get("type") in _WORDS
            if any(found) and not (pieces or words):
                raise AnswerFault(f"one of its calls cannot be read; {ONE_BLOCK}")
            yield from pieces
    if not isinstance(value, dict) or depth >= _MOST_NESTED:
        return
    codes = [value[key] for key in _CODE_KEYS if isinstance(value.get(key), str | list)]
    if codes:
        if len(codes) > 1 or not all(isinstance(line, str) for line in codes[0]):
            raise AnswerFault(f"one of its calls cannot be read; {ONE_BLOCK}")
        _refuse_more({key: value[key] for key in value if key not in _CODE_KEYS})
        yield True, codes[0] if isinstance(codes[0], str) else "\n".join(codes[0])
        return
    name = value.get("name") or value.get("tool") or value.get("function")
    given = next((value[key] for key in _ARGUMENTS if key in value), None)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:  # the code itself
            given = {"code": given} if str(name).lower() in RUNNERS else given
    if not isinstance(name, str):
        for key in ("function", "tool_calls", "tool_call", "function_call", "content"):
            yield from _pieces(value.get(key), depth + 1)
    elif isinstance(given, dict) and any(key in given for key in _CODE_KEYS):
        _refuse_more({key: value[key] for key in value if key not in _ARGUMENTS})
        yield from _pieces(given, depth + 1)
    elif isinstance(given, dict) and all(_is_name(part) for part in (*name.split("."), *given)):
        if name.lower() in RUNNERS:
            return
        arguments = ", ".join(f"{key}={entry!r}" for key, entry in given.items())
        yield False, f"{name}({arguments})"
    else:
        raise AnswerFault(f"one of its calls cannot be read; {ONE_BLOCK}")


def _refuse_more(value: Any) -> None:
    """Refuse a program or a call in what stands beside a program in data.

    Raises:
        AnswerFault: There is one.
    """
    for entry in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        _refuse_more(entry)
    if isinstance(value, list):
        value = "\n".join(map(str, value))
    code = isinstance(value, str) and not is_idle(re.sub(r"^```\w*$", "", value, flags=re.M))
    if code or (isinstance(value, dict) and any(key in value for key in _ARGUMENTS)):
        raise AnswerFault(f"there is more code beside the program; {ONE_BLOCK}")


def _is_name(word: str) -> bool:
    return word.isidentifier() and not keyword.iskeyword(word)
