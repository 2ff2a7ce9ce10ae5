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
import re
from collections.abc import Sequence

from cap.errors import AnswerFault
from cap.program.blocks import (
    CODE_TAGS,
    DATA_TAGS,
    ONE_BLOCK,
    code_blocks,
    fenced_blocks,
    flush,
    joined,
    mended,
    refuse_code,
    without_prompts,
)
from cap.program.program import MAX_SOURCE_CHARS, parsed, parses
from cap.program.prose import is_idle, tidy, without_loose_words, without_prose
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
_ONE_LINE_FENCE = re.compile(r"^[ \t]*```(?:python3?|py)?[ \t]*([^`\n]+?)[ \t]*```[ \t]*$", _FLAGS)
_QUOTED = re.compile(r"^> ?(?=```|~~~)", re.MULTILINE)
_TOKENS = re.compile(
    r"<\|(?:im_start|start_header_id|start)\|>(?:assistant\b)?|<\|[a-z_]{1,40}\|>|<\uff5c[a-z_\u2581]{1,40}\uff5c>|</?s>|<[be]os>|\[/?INST\]"
    r"|<start_of_turn>(?:model)?|<end_of_turn>|</?end_code>",
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
_DATA_OR_CODE = re.compile(r"^[ \t]*[\[{]|<\w*\s*\Z|\b[a-z_][\w.]*\((?!e?s\))", _FLAGS)
"""The beginning of an object or a list, of a tag at the end, of a call; `block(s)` is none."""
_NAMED_CALL = re.compile(r"[ \t]*([\w.-]+)(?:\[CALL_ID\]\w+)?\[ARGS\](.*)", re.DOTALL)
_TOOL_CALLS = "[TOOL_CALLS]"
_NUMBERED = re.compile(r"In \[\d+\]:")
_LABEL = re.compile(r"(?:Answer|Code|Output|Program|Python|Response|Solution|[Aa]ssistant)[ \t]*:")
_LEFT_OUT = re.compile(
    r"^[ \t]*#[ \t]*(?:\.\.\.|\u2026)[ \t]*\(?(?:the )?"
    r"(?:rest|remaining|remainder|existing|previous|same|other|your|more)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A comment in the place of code."""
_BODIES = (ast.stmt, ast.excepthandler, ast.match_case)
_MOST_NESTED = 3
"""How deep elements stand in each other: a call, its function, a parameter."""
_MOST_CUTS = 8
"""How many separators are looked at; those before the right one stand in strings."""


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
        plain = without_prose(_until_next(text, separators)[0])
        if _is_python(plain) and not is_idle(plain):  # its strings hold the fences
            return _opened(_unfenced(text, separators, notes), notes)
        blocks, beside = fenced_blocks(text, separators)
        if codes := code_blocks(blocks, beside):
            # A fence ends by itself; a separator in it would be a comment of the program's own.
            notes.append("code taken from a fence")
            return _opened(joined(codes), notes)
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
            case [ast.Expr(value=ast.Constant(value=str(inner)))] if not is_idle(inner):
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
            ] if name in RUNNERS and not is_idle(inner):
                return _from_calls([inner], notes)
    return _whole(source), tuple(notes)


def _from_calls(codes: Sequence[str], notes: list[str]) -> tuple[str, tuple[str, ...]]:
    """Return the program of tool calls, each of which may be dressed up in its turn."""
    found = [program_text(code) for code in codes]
    more = (note for _, inner in found for note in inner)
    return joined([source for source, _ in found]), (*notes, "code taken from a tool call", *more)


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
                raise AnswerFault(f"a diff is no program; {ONE_BLOCK}")
            case ast.Expr(value=ast.Constant(value=value)) if value is ... and len(body) > 1:
                raise AnswerFault(f"a part of the program is left out; {ONE_BLOCK}")
    if _LEFT_OUT.search(source):
        raise AnswerFault(f"a part of the program is left out; {ONE_BLOCK}")
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
        source = tidy(without_prompts(source))
    elif label and parses(labelled := flush(source[label.end() :].lstrip("\n"))):
        source = labelled
    if not parses(source) and (plain := mended(source)) != source:
        notes.append("markers removed")
        source = plain
    bare = without_loose_words(without_prose(source))
    if bare != source:
        notes.append("prose removed")
    source = mended(bare)
    if parses(source):
        _refuse_half(parsed(source))
    return source


def _refuse_half(tree: ast.Module) -> None:
    """Refuse a program whose last statement, at its top or in a body, is half of one, or words.

    Raises:
        AnswerFault: It is.
    """
    ends: list[ast.AST] = [*tree.body[-1:]]
    while ends and (inner := [n for n in ast.iter_child_nodes(ends[-1]) if isinstance(n, _BODIES)]):
        ends.append(inner[-1])
    if len(ends) == len(tree.body) == 1:
        return  # one word: an answer in words
    match ends[-1] if ends else None:
        case ast.Expr(value=ast.Name(id=name)) if not any(
            isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
            for part in ast.walk(tree)
        ):
            raise AnswerFault(f"it ends with a mere name, {name}; {ONE_BLOCK}")
        case ast.Expr(value=ast.Attribute(value=ast.Name())):
            raise AnswerFault(f"it ends in the middle of a statement; {ONE_BLOCK}")
        case ast.Expr(value=ast.Compare(left=ast.Name())) | ast.AnnAssign(value=None) if (
            len(ends) == 1
        ):
            raise AnswerFault(f"it ends with words; {ONE_BLOCK}")


def _until_next(text: str, separators: Sequence[str]) -> tuple[str, str]:
    """Return a text up to where a next example begins, and what stands behind."""
    source = tidy(_without_context(text, separators))
    cut = _end(source, separators)
    return tidy(source[:cut]), source[cut:].strip()


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
    blocks, beside = fenced_blocks(text)
    bodies = [match[2] for match in _ELEMENT.finditer(text)]
    bodies += [block.body for block in blocks if block.tag in DATA_TAGS]
    bodies_called = [(body, called(body)) for body in bodies]
    found = [codes for _, codes in bodies_called if codes is not None]
    beside = _ELEMENT.sub("\n", beside)
    if not found and (data := re.search(r"^[ \t]*\{.*\}[ \t]*$", beside, re.DOTALL | re.MULTILINE)):
        found = [codes for codes in [called(data[0])] if codes is not None]
        beside = beside.replace(data[0], "")
    if not any(found):
        return [] if found else None
    code_blocks([block for block in blocks if block.tag not in DATA_TAGS], "")
    if any(block.tag in ("", *CODE_TAGS) and not is_idle(block.body) for block in blocks):
        raise AnswerFault(f"there is code beside the call; {ONE_BLOCK}")
    words = "\n\n".join([beside, *(body or "{" for body, codes in bodies_called if not codes)])
    if _DATA_OR_CODE.search(re.sub(r"`[^`\n]*`", "it", words)):
        raise AnswerFault(f"there is code or data beside the call; {ONE_BLOCK}")
    refuse_code(words)
    return [code for codes in found for code in codes]


def _in_elements(text: str, notes: list[str]) -> str:
    """Return what stands between `<code>` and `</code>`, or the like; the text if nothing does."""
    for _ in range(_MOST_NESTED):
        elements = [*_ELEMENT.finditer(text)]
        bodies = [element[2] for element in elements if element[2].strip()]
        if not bodies:
            break
        if len(elements) > 1 and elements[-1].end(2) == elements[-1].end():
            raise AnswerFault(f"the last of {len(elements)} elements has no end; {ONE_BLOCK}")
        refuse_code(fenced_blocks(_ELEMENT.sub("\n", text))[1])
        text = joined(bodies)
        notes.append("tags removed")
    return text
