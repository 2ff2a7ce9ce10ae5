"""Words in a model's answer, told from code: around the program they are dropped."""

from __future__ import annotations

import ast
import keyword
import re
import textwrap

from cap.program.program import parsed, parses

PROMPT = re.compile(r"^[ \t]*(?:>>>|In \[\d*\]:)[ ]?(.*)$")
INLINE = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*`([^`]+)`[ \t]*[.;:,]?$")
_SENTENCE = re.compile(r"[A-Z].*[.!?:]$")
_SIGN = re.compile(r"[=(\[{\"]|(?<!\w)'|'(?!\w)")
"""What stands in code rather than in words; an apostrophe does not."""
_WORDS = re.compile(r"(?<!\w)[^\W\d_]++[,;:]? [^\W\d_]")
_ONE_WORD = re.compile(r"([^\W\d_]+)[ ]?[.:!?]*$")
_BULLET = re.compile(r"(?:[-*+\u2022]|\d+[.)])[ \t]+")
_MARKUP = re.compile(r"[-*_=]{3,}$|(?:</?[a-z_][^<>]*>)+$|[|>] .*\w|\*\*.+\*\*", re.IGNORECASE)
_NO_CODE = re.compile(r"\|.*\|$|<!--.*-->$")
"""A row of a table, a comment of HTML: whatever they hold."""
_NAME = re.compile(r"[\w.]++ *+[-+*/%@,.]*+$")
_KEYWORD = re.compile(rf"(?:{'|'.join(keyword.kwlist)})\b")
LOOKALIKES = str.maketrans(
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
MOST_PROSE = 1000
"""Lines of prose before the code, and after it."""
_MOST_LOOSE = 8
"""How many statements at the ends of a program may be words."""
_MOST_ASIDE = 8
"""How many lines above an indented sentence are looked at."""
_MOST_PARSED = 500_000
"""How many characters are read in search of the end of the code before prose."""


def tidy(text: str) -> str:
    """Drop repeated comment lines at the start, and what every line is indented by."""
    lines = text.split("\n")
    first = 0
    while first < len(lines) and (lines[first].startswith("#") or not lines[first].strip()):
        first += 1
    code = "\n".join(lines[first:])
    if code[:1].isspace() and (bare := textwrap.dedent(code)).strip() != code.strip():
        code = bare  # else a line of blanks keeps them
    return code.strip("\n") + "\n"


def is_idle(source: str) -> bool:
    """Tell whether a text does nothing as a program: it is none, or mere data and names."""
    source = tidy(source)
    if not parses(source):
        return True
    return not any(isinstance(node, _ACTS) for node in ast.walk(parsed(source)))


_ACTS = (
    *(ast.Call, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Assert),
    *(ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With, ast.Import, ast.ImportFrom),
)


def without_prose(source: str) -> str:
    """Return a source without the lines of prose before and after the code, as few as it takes."""
    if parses(source):
        return source
    lines = source.split("\n")
    first, end = 0, len(lines)
    while first < min(end, MOST_PROSE) and (
        is_prose(lines[first]) or _is_word(lines[first]) or lines[first].startswith("#")
    ):
        first += 1
    if first == end:
        return ""
    code, least = "\n".join(lines[first:]), end
    while least > max(first, end - MOST_PROSE) and (
        is_prose(lines[least - 1], code) or _is_aside(lines, least - 1)
    ):
        least -= 1
    tries = 1 + _MOST_PARSED // len(source)
    ends = [at for at in range(end, least, -1) if lines[at - 1].strip()][:tries]
    for at in [*ends, least]:
        if parses(bare := tidy("\n".join(lines[first:at]))):
            return bare
    return bare if first < least else ""


def _is_aside(lines: list[str], at: int) -> bool:
    """Tell whether a line is a sentence that is indented, but not as part of an indented body."""
    if not _is_sentence(lines[at]):
        return False
    above = lines[max(0, at - _MOST_ASIDE) : at]
    before = [line for line in above if line.strip() and not _is_sentence(line)]
    return bool(before) and not before[-1][:1].isspace()


def _is_sentence(line: str) -> bool:
    """Tell whether a line is indented, and a sentence without any sign of code."""
    text = line.strip()
    worded = line[:1].isspace() and _SENTENCE.match(text) and _WORDS.search(text)
    return bool(worded) and not _SIGN.search(text) and is_prose(text)


def without_loose_words(source: str) -> str:
    """Return a program without words at its ends that happen to be Python, such as `Note: none`."""
    for _ in range(_MOST_LOOSE):
        if not parses(source) or len(body := parsed(source).body) < 2:
            break
        lines = source.split("\n")
        head, last = body[0].end_lineno or 1, body[-1].lineno
        alone = head < body[1].lineno
        if alone and (_is_loose(body[0]) or _is_word(lines[0])):
            source = tidy("\n".join(lines[head:]))
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


def is_prose(line: str, source: str = "") -> bool:
    """Tell whether a line is words to a person (or blank), not code or part of it.

    Args:
        line: The line.
        source: Where it stands behind code: there a word that is one of the code's names is none.
    """
    text = line.translate(LOOKALIKES).strip()
    if not text or _NO_CODE.match(text):
        return True
    if line[0].isspace() or _OPENS.match(line):
        return False
    if parses(text):
        body = parsed(text).body
        return len(body) == 1 and _is_loose(body[0], source)
    if parses(text + " pass"):
        return False
    if _KEYWORD.match(text) or PROMPT.match(line) or INLINE.match(line):
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
