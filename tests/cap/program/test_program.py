import ast
import json
import textwrap
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cap.errors import AnswerFault, EmptyCompletion
from cap.program.program import MAX_ANSWER_CHARS, AnsweredInWords, Program, ProgramSyntaxError
from tests.fakes.programs import programs
from tests.rows import rows

STOP = ("\n# ", "\nobjects = [")
TICKS = "```"

ANSWERS = {
    "bare": ("x = 1", "x = 1"),
    "several lines": ("x = 1\ny = 2\n", "x = 1\ny = 2"),
    "blank lines around": ("\n\n\nx = 1\n\n", "x = 1"),
    "only a definition": ("def f():\n    return 1\n", "def f():\n    return 1"),
    "a pass": ("pass", "pass"),
    "a call": ("say('hi')", "say('hi')"),
    "tagged fence": ("```python\nx = 1\n```", "x = 1"),
    "untagged fence": ("```\nx = 1\n```", "x = 1"),
    "upper case tag": ("```PYTHON\nx = 1\n```", "x = 1"),
    "title case tag": ("```Python\nx = 1\n```", "x = 1"),
    "short tag": ("```py\nx = 1\n```", "x = 1"),
    "versioned tag": ("```python3\nx = 1\n```", "x = 1"),
    "tool tag": ("```tool_code\nx = 1\n```", "x = 1"),
    "tag with attributes": ('```python title="a"\nx = 1\n```', "x = 1"),
    "tildes": ("~~~python\nx = 1\n~~~", "x = 1"),
    "longer fence": ("````python\nx = '''```'''\n````", "x = '''```'''"),
    "indented fence": ("  ```python\n  x = 1\n  y = 2\n  ```", "x = 1\ny = 2"),
    "fence in a list": ("1. First:\n   ```python\n   x = 1\n   ```", "x = 1"),
    "fence closed on the code's line": ("```python\nx = 1```", "x = 1"),
    "closing fence alone": ("x = 1\n```", "x = 1"),
    "closing fence alone, newline": ("x = 1\n```\n", "x = 1"),
    "fence with CRLF": ("```python\r\nx = 1\r\n```\r\nDone.", "x = 1"),
    "prose around a fence": ("Here:\n```python\nx = 1\n```\nDone.", "x = 1"),
    "heading before a fence": ("Sure\n# Code\n```python\nx = 1\n```", "x = 1"),
    "two fences": ("```python\nx = 1\n```\nand\n```python\ny = x\n```", "x = 1\n\ny = x"),
    "shell fence first": ("```bash\npip install a\n```\n```python\nx = 1\n```", "x = 1"),
    "one fence of two in words": ("```\nset x to one\n```\n```\nlonger = 1\n```", "longer = 1"),
    "own comments in a fence": (
        "```python\nx = 1\n# then\ny = 2\n```",
        "x = 1\n# then\ny = 2",
    ),
    "fence and repeated comment": ("```python\n# do it.\nx = 1\n```", "x = 1"),
    "fence in a string": ("say('''\n```python\na\n```\n''')", "say('''\n```python\na\n```\n''')"),
    "prose before": ("Sure! Here is the code:\nx = 1", "x = 1"),
    "prose after": ("x = 1\n\nThis sets x to one.", "x = 1"),
    "prose on both sides": ("Of course:\nx = 1\nThis sets x.", "x = 1"),
    "prose with parentheses": ("The answer is (hopefully) right:\nx = 1", "x = 1"),
    "prose after with a call": ("x = 1\nThis calls f(x) and so on.", "x = 1"),
    "list after": ("x = 1\n- sets x\n- nothing else", "x = 1"),
    "one polite word": ("Certainly\n\nx = 1", "x = 1"),
    "try first": ("try:\n    f()\nfinally:\n    g()", "try:\n    f()\nfinally:\n    g()"),
    "try, then prose": (
        "try:\n    f()\nfinally:\n    g()\nIt is safe.",
        "try:\n    f()\nfinally:\n    g()",
    ),
    "match, then prose": (
        "match x:\n    case 1: f()\nThat matches.",
        "match x:\n    case 1: f()",
    ),
    "decorator, then prose": (
        "@d\ndef f(): pass\nThat decorates.",
        "@d\ndef f(): pass",
    ),
    "prose and an indented block": ("Code:\n\n    x = 1\n    y = 2\n", "x = 1\ny = 2"),
    "thoughts": ("<think>hm\n```python\nbad()\n```</think>\nx = 1", "x = 1"),
    "thinking": ("<thinking>a</thinking>\nx = 1", "x = 1"),
    "upper case thoughts": ("<THINK>a</THINK>x = 1", "x = 1"),
    "two thoughts": ("<think>a</think>\n<think>b</think>\nx = 1", "x = 1"),
    "only the closing tag": ("it is easy\n</think>\n\nx = 1", "x = 1"),
    "closing tag and quotes": ("it is easy\n</think>say('hi')", "say('hi')"),
    "thoughts, then a fence": ("<think>a</think>\n```python\nx = 1\n```", "x = 1"),
    "a tag in a string": ("x = '<think>'\ny = 2", "x = '<think>'\ny = 2"),
    "tags in a string": ("say('<think> a </think>')", "say('<think> a </think>')"),
    "tags in a fenced string": ("```\nsay('a </think>')\n```", "say('a </think>')"),
    "stop: next instruction": ("x = 1\n# next one.\ny = 2", "x = 1"),
    "stop: next context": ("x = 1\nobjects = ['a']\n# b.", "x = 1"),
    "no stop inside a block": ("if x:\n    # why\n    y = 2", "if x:\n    # why\n    y = 2"),
    "repeated instruction": ("# put the block.\nx = 1", "x = 1"),
    "repeated instructions": ("# a.\n\n# b.\nx = 1", "x = 1"),
    "CRLF": ("x = 1\r\ny = 2\r\n", "x = 1\ny = 2"),
    "CR": ("x = 1\ry = 2", "x = 1\ny = 2"),
    "tabs": ("\tx = 1\n\ty = 2", "x = 1\ny = 2"),
    "indented": ("    x = 1\n    y = 2", "x = 1\ny = 2"),
    "first line indented": (" x = 1\ny = 2", "x = 1\ny = 2"),
    "byte order mark": ("\ufeffx = 1", "x = 1"),
    "unicode": ("name = 'bloc rouge \u7ea2 \U0001f916'", "name = 'bloc rouge \u7ea2 \U0001f916'"),
    "form feed": ("x = 1\n\x0cy = 2", "x = 1\n\x0cy = 2"),
    "semicolons": ("x = 1; y = 2", "x = 1; y = 2"),
    # tool calls
    "a tool call": ('{"name": "python", "arguments": {"code": "x = 1\\ny = 2"}}', "x = 1\ny = 2"),
    "with raw line ends": (
        '{"name": "python", "arguments": {"code": "x = 1\ny = 2"}}',
        "x = 1\ny = 2",
    ),
    "arguments as text": (
        '{"name": "python", "arguments": "{\\"code\\": \\"x = 1\\"}"}',
        "x = 1",
    ),
    "only code as arguments": ('{"name": "python", "arguments": "x = 1"}', "x = 1"),
    "a bare code key": ('{"code": "x = 1"}', "x = 1"),
    "with thoughts of its own": ('{"thought": "hm", "code": "x = 1", "done": true}', "x = 1"),
    "parameters": (
        '{"type": "function", "name": "run", "parameters": {"source": "x = 1"}}',
        "x = 1",
    ),
    "two tool calls": ('[{"code": "x = 1"}, {"code": "y = x"}]', "x = 1\n\ny = x"),
    "a list of calls": (
        '{"tool_calls": [{"function": {"name": "run", "arguments": "{\\"code\\": \\"x = 1\\"}"}}]}',
        "x = 1",
    ),
    "a call by name": (
        '{"name": "put", "arguments": {"obj": "it\'s", "at": [1, 2.5, null, true]}}',
        'put(obj="it\'s", at=[1, 2.5, None, True])',
    ),
    "two calls by name": (
        '[{"name": "say", "arguments": {"text": "a"}}, {"name": "stop", "parameters": {}}]',
        "say(text='a')\nstop()",
    ),
    "a method by name": ('{"name": "robot.say", "arguments": {"t": 1}}', "robot.say(t=1)"),
    "tool call tags": (
        '<tool_call>\n{"name": "python", "arguments": {"code": "x = 1"}}\n</tool_call>',
        "x = 1",
    ),
    "prose and tool call tags": (
        'I will do it.\n<tool_call>{"code": "x = 1"}</tool_call>',
        "x = 1",
    ),
    "two tool call tags": (
        '<tool_call>{"code": "x = 1"}</tool_call>\n<tool_call>{"code": "y = x"}</tool_call>',
        "x = 1\n\ny = x",
    ),
    "tool calls in brackets": (
        '[TOOL_CALLS] [{"name": "python", "arguments": {"code": "x = 1"}}]',
        "x = 1",
    ),
    "a fenced tool call": (
        '```json\n{"name": "python", "arguments": {"code": "x = 1"}}\n```',
        "x = 1",
    ),
    "thoughts and a tool call": ('<think>a</think>\n{"code": "x = 1"}', "x = 1"),
    "a fence in a tool call": ('{"code": "```python\\nx = 1\\n```"}', "x = 1"),
    # tags and tokens
    "code tags": ("<code>\nx = 1\n</code>", "x = 1"),
    "code tags on the line": ("Here: <code>x = 1</code> as asked.", "x = 1"),
    "code tags never closed": ("<code>\nx = 1", "x = 1"),
    "a fence in tags": ("<answer>\n```python\nx = 1\n```\n</answer>", "x = 1"),
    "tags in thoughts": ("<think><code>bad()</code></think><code>x = 1</code>", "x = 1"),
    "an end token": ("x = 1<|im_end|>", "x = 1"),
    "an end of text": ("x = 1\n</s>", "x = 1"),
    "a header of tokens": (
        "<|start_header_id|>assistant<|end_header_id|>\n\nx = 1<|eot_id|>",
        "x = 1",
    ),
    "channels": (
        "<|channel|>analysis<|message|>hm x=2<|end|>"
        "<|start|>assistant<|channel|>final<|message|>x = 1",
        "x = 1",
    ),
    "a python token": ("<|python_tag|>x = 1", "x = 1"),
    "an element in a string": ("say('<code>a</code>')", "say('<code>a</code>')"),
    "a comparison": ("x = 1 <y", "x = 1 <y"),
    # interpreters and notebooks
    "magics": ("%matplotlib inline\n!pip install numpy\nx = 1", "x = 1"),
    "a language line": ("python\nx = 1", "x = 1"),
    "a versioned language line": ("python3\nx = 1", "x = 1"),
    "a shebang": ("#!/usr/bin/env python3\nx = 1", "x = 1"),
    # other dressings
    "entities in a string": ("x = '&gt;'", "x = '&gt;'"),
    "a label above": ("Code:\n\nx = 1", "x = 1"),
    "a bold heading": ("**Program**\n\nx = 1", "x = 1"),
    "an annotation is no label": ("program: int = 1", "program: int = 1"),
    "French": ("Voici le code :\n\nx = 1\n\nVoil\u00e0 !", "x = 1"),
    "German": ("Nat\u00fcrlich, hier ist es:\nx = 1", "x = 1"),
    "Chinese": ("\u597d\u7684\uff0c\u4ee3\u7801\u5982\u4e0b\uff1a\nx = 1", "x = 1"),
    "a Chinese word": ("\u5f53\u7136\n\nx = 1", "x = 1"),
    "Arabic": ("\u0627\u0644\u0643\u0648\u062f:\nx = 1", "x = 1"),
    "Russian": ("\u041a\u043e\u043d\u0435\u0447\u043d\u043e!\nx = 1", "x = 1"),
    "emoji": ("\U0001f44d Done!\nx = 1 \n\U0001f916", "x = 1"),
    # what the prompt said
    "repeated context": ("objects = ['a']\n# b.\nx = 1", "x = 1"),
    "repeated context, blank line": ("\nobjects = ['a']\n\n# b.\nx = 1\n# c.\ny()", "x = 1"),
    "objects of its own": ("objects = ['a']\nx = objects[0]", "objects = ['a']\nx = objects[0]"),
    "a stop string in a string": ("x = '''a\n# b'''\ny = 2", "x = '''a\n# b'''\ny = 2"),
    "a stop string in one, then one": ("x = '''a\n# b'''\n# c.\ny()", "x = '''a\n# b'''"),
    "a stop string in brackets": ("x = [\n# b\n1]", "x = [\n# b\n1]"),
    "two instructions repeated": ("# a.\n# b.\n\nx = 1\n\n# c.\ny()", "x = 1"),
}


@rows(("answer", "source"), ANSWERS.values(), ids=ANSWERS)
def test_the_program_is_found_in_the_answer(answer: str, source: str) -> None:
    assert Program.from_completion(answer, STOP).source.strip() == source


NOTHING = {
    "nothing": "",
    "blank": "  \n\n\t",
    "a refusal": "I cannot do that.",
    "a word": "Sorry",
    "a string": "'hello'",
    "a number": "1",
    "a bare name": "put_first_on_second",
    "dots": "...",
    "empty fence": "```python\n```",
    "a lone fence": "```",
    "thoughts that never end": "<think>hm\nx = 1",
    "a shell fence": "```bash\nrm -rf /\n```",
    "data": "```json\n{}\n```",
    "another language": "```javascript\nlet x = 1;\n```",
    "bare data": '{"objects": ["a", "b"]}',
    "a bare list": "['red block', 'blue block']",
    "imports": "import numpy as np\nfrom robot import say",
    "the whole prompt": "import numpy as np\n\nobjects = ['a']\n# b.\nbad()\n\n# c.\nx()",
    "a refusal in Spanish": "Lo siento, no puedo hacerlo.",
    "a refusal in Chinese": "\u62b1\u6b49\uff0c\u6211\u505a\u4e0d\u5230\u3002",
    "an emoji": "\U0001f916",
    "a list of words": "- first\n- second",
    "names in backticks": "- `red_block`\n- `bowl`",
    "a tool nobody has": '{"name": "python", "arguments": {"language": "en"}}',
    "an empty tool call": '{"name": "python", "arguments": {"code": ""}}',
    "an end token": "<|im_end|>",
    "a refusal as data": '{"error": "cannot"}',
}


@rows("answer", NOTHING.values(), ids=NOTHING)
def test_an_answer_without_code_is_words_or_nothing(answer: str) -> None:
    kind = AnsweredInWords if answer.strip() else EmptyCompletion
    for separators in (STOP, ()) if "\n# " not in answer else (STOP,):
        with pytest.raises(kind, match="answered"):
            Program.from_completion(answer, separators)


@pytest.mark.parametrize("answer", ["# only\n# comments", "```python\n# only\n```", "  # one"])
def test_an_answer_of_comments_is_a_program_that_does_nothing(answer: str) -> None:
    program = Program.from_completion(answer)
    assert program.tree.body == []
    assert program.source.lstrip().startswith("#")


ONE, TWO = "put('red')", "put('green')"
FAULTS = {
    "two options": f"Option 1\n```python\n{ONE}\n```\nOr, better:\n```python\n{TWO}\n```",
    "a correction": f"```python\n{ONE}\n```\nWait. Corrected:\n```python\n{TWO}\n```",
    "two versions that bind the same": f"```\nx = 1\n{ONE}\n```\n```\nx = 2\nput(x)\n```",
    "two options in tags": f"<code>{ONE}</code> or <code>{TWO}</code>",
    "two programs in tool calls": f'[{{"code": "{ONE}"}}, {{"code": "{TWO}"}}]',
    "a fenced diff": f"```diff\n-{ONE}\n+{TWO}\n```",
    "a diff in a block of Python": f"```python\n-{ONE}\n+{TWO}\n```",
    "a bare diff, which is Python": f"-{ONE}\n+{TWO}",
    "a diff with its head": f"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-{ONE}\n+{TWO}",
    "code before the block": f"{ONE}\n```python\n{TWO}\n```",
    "code behind the block": f"```python\n{ONE}\n```\nThen:\n{TWO}",
    "a block without an end": f"```python\n{ONE}",
    "a second block without an end": f"```python\n{ONE}\n```\n```python\n{TWO}",
}


@pytest.mark.parametrize("answer", FAULTS.values(), ids=FAULTS)
def test_an_answer_that_is_not_one_program_is_a_fault(answer: str) -> None:
    with pytest.raises(AnswerFault, match="one block"):
        Program.from_completion(answer)


WHOLE = {
    "a comment between two steps": f"{ONE}\n# then the green one\n{TWO}",
    "a comment after a blank line": f"{ONE}\n\n# Then the green one.\n{TWO}",
    "a comment inside a function": f"def f():\n    {ONE}\n# odd place\n    {TWO}\nf()",
    "context of its own": f"{ONE}\nobjects = ['a']\n{TWO}",
    "definitions, then their use": f"def f():\n    {ONE}\n\n\nf()",
}


@pytest.mark.parametrize("source", WHOLE.values(), ids=WHOLE)
def test_a_chat_answer_is_the_whole_program(source: str) -> None:
    for answer in (source, f"Sure:\n\n{source}\n", f"{TICKS}python\n{source}\n{TICKS}"):
        found = Program.from_completion(answer).tree
        assert ast.dump(found) == ast.dump(ast.parse(source))


BEHIND = {
    "an end of text": "<|endoftext|>\nbad()",
    "another file": "<|endoftext|># other file\nimport os\nbad()",
    "Gemma's end": "<end_of_turn>\n<start_of_turn>user\nbad()",
    "an end of sequence": "<eos>\nbad()",
    "DeepSeek's end": "<\uff5cend\u2581of\u2581sentence\uff5c>bad()",
}


@pytest.mark.parametrize("junk", BEHIND.values(), ids=BEHIND)
def test_what_a_server_lets_through_behind_the_end_is_no_program(junk: str) -> None:
    found = Program.from_completion(f"{ONE}\n{TWO}{junk}").tree
    assert ast.dump(found) == ast.dump(ast.parse(f"{ONE}\n{TWO}"))


def test_what_a_program_prints_is_no_program() -> None:
    for output in ("hi", "[0.1, 0.2]", "moved red block", "'red block'", "3"):
        answer = f"{TICKS}python\n{ONE}\n{TICKS}\nThis prints:\n{TICKS}\n{output}\n{TICKS}"
        assert Program.from_completion(answer).source.strip() == ONE


def test_half_a_statement_is_no_prose() -> None:
    for stump in ("for name in", "if x", "while", "def place(name", "return"):
        with pytest.raises(ProgramSyntaxError):
            Program.from_completion(f"{ONE}\n{stump}")


BROKEN = {
    "half a statement": "x = 1 if",
    "half a definition": "def f(:\n",
    "NUL": "x = 1\0",
    "surrogate": "x = '\ud800'",
    "a line separator is no line end": "x = 1\u2028y = 2",
    "open brackets": "(" * 5000,
    "deep operators": "x = " + "-" * 30_000 + "1",
    "return outside": "return 1",
    "yield outside": "yield 1",
    "break outside": "break",
    "nonlocal nothing": "def f():\n    nonlocal q",
    "late global": "x = 1\nglobal x\ndef f():\n    y = 1\n    global y",
    "two parameters": "def f(a, a): pass",
    "an unclosed string": "say('hi",
    "a broken tool call": '{"name": "python", "arguments": {"code": "x = "}}',
    "a tool call cut off": '{"name": "python", "arguments": {"code": "x = 1',
    "a call by no name": "put the block(1) there",
    "another language, bare": "let x = 1;\nput(x);",
    "a conflict": "<<<<<<< a\nx = 1\n=======\nx = 2\n>>>>>>> b",
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_a_broken_program_is_a_typed_failure(answer: str) -> None:
    with pytest.raises(ProgramSyntaxError):
        Program.from_completion(answer, STOP)


def test_a_syntax_error_names_its_line() -> None:
    with pytest.raises(ProgramSyntaxError, match="not valid Python") as caught:
        Program.parse("x = 1\ny = = 2\n")
    assert caught.value.line == 2


HUGE = {
    "code": "x = 1\n" * 1_700_000,
    "prose": "no way to do this. " * 500_000,
    "comments": "# a\n" * (MAX_ANSWER_CHARS // 4),
    "blank lines": "\n" * MAX_ANSWER_CHARS,
    "backticks": "`" * MAX_ANSWER_CHARS,
    "a fence and a long tag": TICKS + "a" * (MAX_ANSWER_CHARS - 3),
    "a fence and blanks": TICKS + "\n" + " " * (MAX_ANSWER_CHARS - 4),
    "many fences": (TICKS + "\n") * (MAX_ANSWER_CHARS // 4),
    "many tags": "</think>" * (MAX_ANSWER_CHARS // 8 - 1) + "'",
    "many open tags": "<think>\n" * (MAX_ANSWER_CHARS // 8),
    "lines of prose": "no way.\n" * 8000,
    "brackets": "[" * MAX_ANSWER_CHARS,
    "braces": '{"a":' * (MAX_ANSWER_CHARS // 5),
    "elements": "<code>" * (MAX_ANSWER_CHARS // 6),
    "closed elements": "<code>a b</code>" * (MAX_ANSWER_CHARS // 16),
    "tokens": "<|a|>" * (MAX_ANSWER_CHARS // 5),
    "stop strings": "x = [" + "\n# a" * 10_000,
    "prompts": ">>> a b\n" * 8000,
    "entities": "&gt;" * 16_000,
    "lines in backticks": "`a b`\n" * 10_000,
    "a diff": "+a b\n" * 13_000,
    "spaces and a backtick": " " * 60_000 + "`" * 5,
    "dots": "." * 65_000,
}


@pytest.mark.parametrize("answer", HUGE.values(), ids=HUGE)
@pytest.mark.sweep(share=0.15)
def test_a_huge_answer_is_refused_in_less_than_a_second(answer: str) -> None:
    begin_s = time.process_time()
    with pytest.raises((ProgramSyntaxError, EmptyCompletion, AnswerFault)):
        Program.from_completion(answer, STOP)
    assert time.process_time() - begin_s < 1.0


DRESSINGS: dict[str, Callable[[str], str]] = {
    "bare": lambda source: source,
    "a fence": lambda source: f"Sure:\n\n{TICKS}python\n{source}{TICKS}\nDone.",
    "thoughts": lambda source: f"<think>\nx = (\n</think>\n{source}",
    "a tool call": lambda source: json.dumps({"name": "python", "arguments": {"code": source}}),
    "a tagged tool call": lambda source: f"<tool_call>{json.dumps({'code': source})}</tool_call>",
    "tags": lambda source: f"<code>\n{source}</code>",
    "tokens": lambda source: f"{source}<|im_end|>",
    "CRLF": lambda source: source.replace("\n", "\r\n"),
    "indented": lambda source: textwrap.indent(source, "    "),
    "a repeated instruction": lambda source: f"objects = ['a']\n# do it.\n{source}",
}
RANDOM = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.sweep(share=0.15)
@pytest.mark.parametrize("dress", DRESSINGS.values(), ids=DRESSINGS)
@RANDOM
@given(source=programs())
def test_any_program_comes_out_of_any_dressing(dress: Callable[[str], str], source: str) -> None:
    source = f"f()\n{source}\nf()\n"  # a mere name at the end may be half a statement
    try:
        tree = Program.parse(source).tree
    except ProgramSyntaxError:
        return
    found = Program.from_completion(dress(source), STOP)
    assert ast.dump(found.tree) == ast.dump(tree)


PIECES = st.sampled_from(
    [
        *("x = 1", "f(x)", "\n", "\n# ", "\n\n", TICKS, "~~~", "python\n", "<think>", "</think>"),
        *("<code>", "</code>", "<tool_call>", '{"code": "', '"}', "[TOOL_CALLS]", ">>> ", "... "),
        *("+", "- ", "`", "&gt;", "Sure: ", "In [1]: ", "%", "'", '"""', "(", "\0", "\ud800", ":"),
        *("    ", "\t", "\ufeff", "<|message|>", "Answer:", "\u597d", "@@ ", "objects = ['a']"),
    ]
)


@settings(RANDOM, max_examples=500)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_any_answer_is_a_program_or_a_typed_failure(answer: str) -> None:
    try:
        program = Program.from_completion(answer, STOP)
    except (ProgramSyntaxError, EmptyCompletion, AnswerFault):
        return
    assert ast.dump(ast.parse(program.source)) == ast.dump(program.tree)


def test_what_was_taken_off_is_noted() -> None:
    program = Program.from_completion("<think>a</think>\n```python\nx = 1\n```", STOP)
    assert program.notes == ("thoughts removed", "code taken from a fence")
    assert Program.from_completion("x = 1\n# b.\ny = 2", STOP).notes == (
        "cut where a next example begins",
    )
    assert Program.from_completion("Sure:\nx = 1", STOP).notes == ("words removed",)
    assert Program.from_completion("x = 1", STOP).notes == ()


def test_questionable_style_is_no_warning() -> None:
    Program.from_completion("x = '\\d'\ny = x is 'a'\n", STOP)


def test_the_tree_belongs_to_the_source() -> None:
    program = Program.from_completion("Sure:\nx = 1\ny = 2\n", STOP)
    assert [node.lineno for node in program.tree.body] == [1, 2]
