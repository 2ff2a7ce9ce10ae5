"""A table of answers as language models give them, each with what must come of it.

What must come is a program, of which the syntax tree counts, or the class of the fault. It was
written down from what a person would want before any of it was run: the program where there is
exactly one and all of it, else a fault; what the check refuses later is a program here.
"""

# ruff: noqa: E501  an answer's lines are as long as they are
from __future__ import annotations

import json

from cap.engine.question import CutOff
from cap.errors import EmptyCompletion
from cap.program.blocks import AnswerFault
from cap.program.program import AnsweredInWords, ProgramSyntaxError

Outcome = str | type[Exception]

FENCE = "```"
RED = "put_first_on_second('red block', 'blue bowl')"
GREEN = "put_first_on_second('green block', 'yellow bowl')"
BOTH = f"{RED}\n{GREEN}"
LOOP = """\
blocks = parse_obj_name('the blocks', f'objects = {get_obj_names()}')
for name in blocks:
    # the bowl has the block's own colour
    color = name.split(' ')[0]
    put_first_on_second(name, f'{color} bowl')"""
TOWER = """\
def stack_up(names):
    for low, high in zip(names, names[1:]):
        put_first_on_second(high, low)


order = sorted(get_obj_names())
stack_up(order)"""
DRAW = """\
import numpy as np

angles = np.linspace(0, 2 * np.pi, 7)
pts = [np.array([0.1 * np.cos(a), 0.1 * np.sin(a)]) for a in angles]

# close the outline
draw(pts + pts[:1])"""
FETCH = """\
goto_loc('fridge')
while not detect_object('coke can'):
    set_velocity(x=0, y=0, turn=0.3)
stop()
if is_obj_visible('coke can'):
    pick('coke can')
else:
    say("I don't see a coke can")"""
MAIN = """\
def main():
    put_first_on_second('red block', 'blue bowl')


if __name__ == '__main__':
    main()"""


def _block(code: str, tag: str = "python") -> str:
    return f"{FENCE}{tag}\n{code}\n{FENCE}"


def _call(code: str, key: str = "code", name: str = "python") -> str:
    return json.dumps({"name": name, "arguments": {key: code}})


MOVED = "put_first_on_second(obj='red block', target='blue bowl')"
MOVE = json.dumps(
    {"name": "put_first_on_second", "arguments": {"obj": "red block", "target": "blue bowl"}}
)


CHATTY: dict[str, tuple[str, Outcome]] = {
    "a heading, a block, an offer": (
        f"Here's a program that does this:\n\n{_block(LOOP)}\n\nLet me know if you'd like the robot to say something when it's done!",
        LOOP,
    ),
    "a block and bullets of explanation": (
        f"{_block(LOOP)}\n\n**How it works:**\n\n- `parse_obj_name('the blocks', ...)` finds the blocks.\n- `name.split(' ')[0]` is the colour.\n- `put_first_on_second(name, ...)` moves each one.",
        LOOP,
    ),
    "numbered steps with code words": (
        f"To do this:\n\n1. Get the names with `get_obj_names()`.\n2. Sort them.\n3. Stack them with `put_first_on_second(high, low)`.\n\n{_block(TOWER)}",
        TOWER,
    ),
    "headings of markdown": (
        f"## Plan\n\nDraw a hexagon.\n\n## Code\n\n{_block(DRAW)}\n\n## Notes\n\nThe radius is 10 cm.",
        DRAW,
    ),
    "a rule between code and words": (f"{_block(RED)}\n\n---\n\nDone ✅", RED),
    "bold, emoji, a quote": (
        f"🤖 **On it!**\n\n> put the red block away\n\n{_block(RED)}\n\n🎉",
        RED,
    ),
    "a table behind": (
        f"{_block(BOTH)}\n\n| block | bowl |\n| --- | --- |\n| red | blue |\n| green | yellow |",
        BOTH,
    ),
    "an apology first": (
        f"I apologize for the confusion. Here is the program:\n\n{_block(RED)}",
        RED,
    ),
    "a caveat behind": (
        f"{_block(FETCH)}\n\nNote: this assumes that the fridge is already open (otherwise, call `open_door()` first).",
        FETCH,
    ),
    "key points": (
        f"{_block(DRAW)}\n\nKey points:\n* 7 angles, since the last equals the first\n* `pts[:1]` closes it",
        DRAW,
    ),
    "no fence, one sentence": (f"Sure, I can do that:\n\n{LOOP}", LOOP),
    "no fence, sentences on both sides": (
        f"Of course! This moves both blocks.\n\n{BOTH}\n\nLet me know if anything else should be moved.",
        BOTH,
    ),
    "no fence, bullets behind": (
        f"{LOOP}\n\nExplanation:\n- `color = name.split(' ')[0]` takes the first word\n- the loop moves each block",
        LOOP,
    ),
    "no fence, a call over lines": (
        "Sure!\nput_first_on_second(\n    'red block',\n    'blue bowl',\n)\nThat moves it.",
        RED,
    ),
    "no fence, text over lines": (
        'Certainly!\nsay("""One\ntwo\nthree""")\n\nHope this helps!',
        'say("""One\ntwo\nthree""")',
    ),
    "no fence, a word behind": (f"{RED}\nDone", RED),
    "no fence, a word and a stop behind": (f"{RED}\nDone.", RED),
    "no fence, a label that is an annotation": (f"Note: untested\n{RED}", RED),
    "no fence, words that are a comparison": (f"{RED}\nThis is it", RED),
    "no fence, words that are a tuple": (f"Sure, here\n{RED}", RED),
    "a docstring on top": (
        f'"""Moves the red block."""\n{RED}',
        f'"""Moves the red block."""\n{RED}',
    ),
    "the instruction as a comment": (f"# put the red block in the blue bowl.\n{RED}", RED),
    "context and comment again": (
        f"objects = ['red block', 'blue bowl']\n# put the red block in the blue bowl.\n{RED}",
        f"objects = ['red block', 'blue bowl']\n{RED}",
    ),
    "context and comment again in a block": (
        _block(f"objects = ['red block', 'blue bowl']\n# put the red block away.\n{RED}"),
        f"objects = ['red block', 'blue bowl']\n{RED}",
    ),
    "a comment behind": (f"{RED}\n# that was all", RED),
    "bare": (LOOP, LOOP),
    "a block with a title": (f"{FENCE}python title='robot.py'\n{RED}\n{FENCE}", RED),
    "a block with a file's name as tag": (f"{FENCE}robot.py\n{RED}\n{FENCE}", RED),
    "a block with a path": (f"{FENCE}python:src/robot.py\n{RED}\n{FENCE}", RED),
    "a block with braces": (f"{FENCE}{{.python .numberLines}}\n{RED}\n{FENCE}", RED),
    "a block of tildes": (f"~~~\n{RED}\n~~~", RED),
    "a block in a block of four": (f"````markdown\n{_block(RED)}\n````", RED),
    "a block quoted": (f"> {FENCE}python\n> {RED}\n> {FENCE}", RED),
    "a block on one line": (f"{FENCE}python {RED} {FENCE}", RED),
    "a block closed on the code's line": (f"{FENCE}python\n{LOOP}{FENCE}", LOOP),
    "a block closed by more": (f"{FENCE}python\n{LOOP}\n{FENCE}{FENCE}", LOOP),
    "a block in a list": (
        f"1. Run this:\n\n   {FENCE}python\n   {RED}\n   {GREEN}\n   {FENCE}\n\n2. That is all.",
        BOTH,
    ),
    "a lone closing fence": (f"{RED}\n{FENCE}\n\nThis moves the red block.", RED),
    "fences in a docstring": (
        _block(
            f"def go():\n    '''Moves.\n\n    {FENCE}\n    go()\n    {FENCE}\n    '''\n    {RED}\n\n\ngo()"
        ),
        f"def go():\n    '''Moves.\n\n    {FENCE}\n    go()\n    {FENCE}\n    '''\n    {RED}\n\n\ngo()",
    ),
    "a fence in a text": (
        f"Sure:\n{_block(f'say({chr(34) * 3}{chr(10)}{FENCE}{chr(10)}{chr(34) * 3}){chr(10)}{RED}')}",
        f'say("""\n{FENCE}\n""")\n{RED}',
    ),
    "inline code alone": (f"`{RED}`", RED),
    "inline code amid words, which may say not to": (f"Run this: `{RED}`", AnsweredInWords),
    "a label": (f"Python: {RED}", RED),
    "an assistant's label": (f"Assistant: {RED}", RED),
    "a lower-case label": (f"assistant:\n{RED}", RED),
    "a word for the language": (f"python\n{LOOP}", LOOP),
    "a main that is called": (_block(MAIN), MAIN),
    "a main that nobody calls": (_block(MAIN.partition("\n\n\n")[0]), MAIN.partition("\n\n\n")[0]),
    "an async main": (
        _block("import asyncio\n\nasync def main():\n    say('hi')\n\nasyncio.run(main())"),
        "import asyncio\n\nasync def main():\n    say('hi')\n\nasyncio.run(main())",
    ),
    "a class": (
        _block("class Sorter:\n    def run(self):\n        say('sorting')\n\nSorter().run()"),
        "class Sorter:\n    def run(self):\n        say('sorting')\n\nSorter().run()",
    ),
    "a program of another robot": (
        _block("arm.move_j([0, -1.57, 1.57, 0, 0, 0], speed=0.5)\narm.gripper.close()"),
        "arm.move_j([0, -1.57, 1.57, 0, 0, 0], speed=0.5)\narm.gripper.close()",
    ),
    "the same statement 300 times": ("\n".join([RED] * 300), "\n".join([RED] * 300)),
    "the same statement 300 times in a block": (
        _block("\n".join([RED] * 300)),
        "\n".join([RED] * 300),
    ),
    "a shell block first": (f"{_block('pip install numpy', 'bash')}\n\n{_block(DRAW)}", DRAW),
    "an output block behind": (f"{_block(RED)}\n\nOutput:\n\n{_block('moved red block', '')}", RED),
    "an output block with a tag": (
        f"{_block(LOOP)}\nExpected output:\n{_block('red block -> red bowl', 'text')}",
        LOOP,
    ),
    "an output block that is Python": (
        f"{_block('say(str(len(get_obj_names())))')}\n{_block('4', '')}",
        "say(str(len(get_obj_names())))",
    ),
    "an output block called output": (f"{_block(RED)}\n{_block(GREEN, 'output')}", RED),
    "an output block of a console": (f"{_block(RED)}\n{_block('put(1)', 'console')}", RED),
    "two untagged blocks, the second an output": (
        f"{_block(RED, '')}\nwhich prints\n{_block('moving the red block', '')}",
        RED,
    ),
    "functions under headings": (
        f"### Helper\n\n{_block(TOWER.partition(chr(10) * 3)[0])}\n\n### Use\n\n{_block(TOWER.partition(chr(10) * 3)[2])}",
        TOWER,
    ),
    "three blocks that go on": (
        f"First the names:\n{_block('names = get_obj_names()')}\nThen the blocks:\n{_block('blocks = [n for n in names if n.endswith(chr(107))]')}\nAnd move them:\n{_block('for b in blocks:' + chr(10) + '    say(b)')}",
        "names = get_obj_names()\nblocks = [n for n in names if n.endswith(chr(107))]\nfor b in blocks:\n    say(b)",
    ),
    "imports in a block of their own": (
        f"{_block('import numpy as np')}\n{_block(DRAW.partition(chr(10) * 2)[2])}",
        DRAW,
    ),
    "a block of what the prompt said": (
        f"Given\n{_block('objects = [1, 2]')}\nthis works:\n{_block('say(str(len(objects)))')}",
        "objects = [1, 2]\nsay(str(len(objects)))",
    ),
    "the same block twice": (f"{_block(LOOP)}\n\nFinal answer:\n\n{_block(LOOP)}", LOOP),
    "the same block twice, with other comments": (
        f"{_block(RED)}\nFinal answer:\n{_block('# red' + chr(10) + RED, '')}",
        RED,
    ),
    "a step that is taken twice": (
        f"{_block('n = get_obj_names()')}\n{_block('say(n)')}\nand again\n{_block('say(n)')}",
        "n = get_obj_names()\nsay(n)\nsay(n)",
    ),
    "thought, code and its end": (
        f"Thought: I move the red block.\nCode:\n{_block(RED, 'py')}<end_code>",
        RED,
    ),
    "thought, code and its end on the next line": (
        f"Thought: I will loop over the blocks.\nCode:\n{_block(LOOP, 'py')}\n<end_code>",
        LOOP,
    ),
    "thought, code and its end, twice": (
        f"Thought: red.\nCode:\n{_block(RED, 'py')}<end_code>\nThought: green.\nCode:\n{_block(GREEN, 'py')}<end_code>",
        AnswerFault,
    ),
    "no fence, a table behind": (
        f"{BOTH}\n\n| block | call |\n| --- | --- |\n| red | put('red') |\n|green|x = 1|",
        BOTH,
    ),
    "no fence, a table at once": (f"{LOOP}\n| block | bowl |\n|:--|--:|\n| red | blue |", LOOP),
    "no fence, an indented sentence behind": (f"{RED}\n    This moves the red block.", RED),
    "no fence, an indented paragraph behind": (
        f"{BOTH}\n\n  This moves the red block.\n  Then it moves the green one.",
        BOTH,
    ),
    "no fence, an indented sentence with code behind": (
        f"{RED}\n\n    Then {GREEN}.",
        ProgramSyntaxError,
    ),
    "no fence, a sentence as a step of a loop": (
        "for n in get_obj_names():\n    say(n)\n    Then move the block away.",
        ProgramSyntaxError,
    ),
    "a comment of HTML in front": (f"<!-- robot.py: moves (red) -->\n{RED}", RED),
    "a comment of HTML before a block": (f"<!-- robot.py -->\n{_block(RED)}", RED),
    "fences in a comment in a block": (_block(f"# {FENCE}` {FENCE} {FENCE}`\n{BOTH}"), BOTH),
    "a fence in a comment in a block": (_block(f"{RED}\n# {FENCE}\n{GREEN}"), BOTH),
    "signatures in words": (
        f"The function `put_first_on_second(a, b)` moves a onto b.\n\n{_block(RED)}",
        RED,
    ),
}

THINKING: dict[str, tuple[str, Outcome]] = {
    "R1": (
        f"<think>\nThe user wants the red block moved. Let me see.\n</think>\n\n{_block(RED)}",
        RED,
    ),
    "R1 with a draft": (
        f"<think>\nMaybe\n{_block(GREEN)}\nNo, red.\n</think>\n\n{_block(RED)}",
        RED,
    ),
    "R1 with bare code in it": (f"<think>\n{GREEN}\n</think>\n{RED}", RED),
    "only the end, as a template opens it": (
        f"Okay, so the red one.\nx = 3?\n</think>\n\n{_block(RED)}",
        RED,
    ),
    "an end and bare code": (f"Hmm.\n{GREEN}\nno\n</think>\n{RED}", RED),
    "empty thoughts": (f"<think>\n\n</think>\n\n{RED}", RED),
    "thoughts on one line": (f"<think>easy</think>{RED}", RED),
    "thoughts with an end in quotes": (
        f"<think>I close with '</think>' later.\n</think>\n{RED}",
        RED,
    ),
    "thinking": (f"<thinking>\n1. red\n2. done\n</thinking>\n\n{RED}", RED),
    "thought": (f"<thought>\nred it is\n</thought>\n{RED}", RED),
    "reasoning": (f"<reasoning>\n{GREEN}\n</reasoning>\n{_block(RED)}", RED),
    "scratchpad and answer": (
        f"<scratchpad>\n{GREEN}\n</scratchpad>\n<answer>\n{RED}\n</answer>",
        RED,
    ),
    "reflection and output": (f"<reflection>ok</reflection>\n<output>\n{RED}\n</output>", RED),
    "Magistral": (f"[THINK]Let me see: {GREEN}?[/THINK]{_block(RED)}", RED),
    "Seed": (f"<seed:think>\n{GREEN}\n</seed:think>\n{RED}", RED),
    "Kimi": (f"◁think▷\n{GREEN}\n◁/think▷\n{RED}", RED),
    "channels": (
        f"<|channel|>analysis<|message|>We put red. {GREEN}<|end|><|start|>assistant<|channel|>final<|message|>{_block(RED)}<|return|>",
        RED,
    ),
    "a channel for a tool": (
        f'<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=python <|constrain|>json<|message|>{{"code": "{RED}"}}<|call|>',
        RED,
    ),
    "thoughts without end": (f"<think>\nLet me see.\n{RED}", AnsweredInWords),
    "thoughts without end, with a block": (
        f"<think>\nPerhaps\n{_block(RED)}\nor not",
        AnsweredInWords,
    ),
    "thoughts and no answer": ("<think>\nI cannot see a red block.\n</think>", AnsweredInWords),
    "thoughts and a refusal": ("<think>\nNo.\n</think>\n\nI can't do that.", AnsweredInWords),
    "a text about thoughts": ("say('I <think> so')", "say('I <think> so')"),
    "thoughts in comments": (f"# Let me think: red first.\n{RED}\n# then green\n{GREEN}", BOTH),
    "a plan, then a block": (
        f"Let me think step by step.\n\nStep 1: red.\nStep 2: green.\n\n{_block(BOTH)}",
        BOTH,
    ),
}

TOOLS: dict[str, tuple[str, Outcome]] = {
    "a call": (_call(LOOP), LOOP),
    "a call with spaces": (
        json.dumps({"name": "python", "arguments": {"code": LOOP}}, indent=2),
        LOOP,
    ),
    "a call in tags": (f"<tool_call>\n{_call(LOOP)}\n</tool_call>", LOOP),
    "a call in tags without end": (f"<tool_call>\n{_call(LOOP)}", LOOP),
    "words and a call in tags": (
        f"I'll move them now.\n<tool_call>\n{_call(LOOP)}\n</tool_call>",
        LOOP,
    ),
    "a call in a block": (f"{_block(_call(RED), 'json')}", RED),
    "Mistral": (f"[TOOL_CALLS][{_call(RED)}]", RED),
    "Mistral's newer": (f'[TOOL_CALLS]python[ARGS]{{"code": "{RED}"}}', RED),
    "DeepSeek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>python\n"
        + _block(json.dumps({"code": RED}), "json")
        + "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
        RED,
    ),
    "Llama's tag": (f"<|python_tag|>{RED}<|eom_id|>", RED),
    "Llama's call": (
        f'<|python_tag|>{{"type": "function", "name": "python", "parameters": {{"code": "{RED}"}}}}<|eom_id|>',
        RED,
    ),
    "Llama's function": (f'<function=python>{{"code": "{RED}"}}</function><|eom_id|>', RED),
    "Gemma": (f"{FENCE}tool_code\n{RED}\n{FENCE}", RED),
    "Gemma and its output": (f"{_block(RED, 'tool_code')}\n{_block('None', 'tool_output')}", RED),
    "Qwen coder": (
        f"<tool_call>\n<function=python>\n<parameter=code>\n{LOOP}\n</parameter>\n</function>\n</tool_call>",
        LOOP,
    ),
    "Claude's older": (
        f'<function_calls>\n<invoke name="python">\n<parameter name="code">{LOOP}</parameter>\n</invoke>\n</function_calls>',
        LOOP,
    ),
    "calls by name": (
        json.dumps(
            [
                {
                    "name": "put_first_on_second",
                    "arguments": {"obj": "red block", "target": "blue bowl"},
                }
            ]
        ),
        "put_first_on_second(obj='red block', target='blue bowl')",
    ),
    "a message with a call": (
        json.dumps(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "type": "function",
                        "function": {"name": "python", "arguments": json.dumps({"code": LOOP})},
                    }
                ],
            }
        ),
        LOOP,
    ),
    "an object with thoughts": (json.dumps({"thought": "red first", "code": BOTH}), BOTH),
    "an object with a program": (json.dumps({"explanation": "moves it", "program": RED}), RED),
    "an object with lines": (json.dumps({"code": [RED, GREEN]}), BOTH),
    "an object with an answer": (json.dumps({"answer": RED}), RED),
    "an object in words": (f"Here you are:\n\n{json.dumps({'code': RED})}\n\nDone.", RED),
    "Python in quotes": (json.dumps(LOOP), LOOP),
    "a wrapper": (f'execute_code("""\n{LOOP}\n""")', LOOP),
    "a wrapper with a name": (f"run_python(code={LOOP!r})", LOOP),
    "a wrapper in a block": (_block(f"execute_code({BOTH!r})"), BOTH),
    "exec": (f"exec({BOTH!r})", BOTH),
    "a call of no wrapper": ("say('stop()')", "say('stop()')"),
    "a call that was cut": ('{"name": "python", "arguments": {"code": "' + RED, ProgramSyntaxError),
    "a call in tags that was cut": (
        '<tool_call>\n{"name": "python", "arguments": {"code": "' + RED,
        ProgramSyntaxError,
    ),
    "two calls that are two programs": (
        f"<tool_call>{_call(RED)}</tool_call>\n<tool_call>{_call(GREEN)}</tool_call>",
        AnswerFault,
    ),
    "a call and another block": (
        f"<tool_call>{_call(RED)}</tool_call>\n{_block(GREEN)}",
        AnswerFault,
    ),
    "an object with two programs": (json.dumps({"program": RED, "code": GREEN}), AnswerFault),
    "an object with a setup": (json.dumps({"setup": RED, "code": GREEN}), AnswerFault),
    "an object with a cleanup": (json.dumps({"code": RED, "cleanup_code": GREEN}), AnswerFault),
    "an object that goes on": (json.dumps({"code": RED, "code_continued": GREEN}), AnswerFault),
    "an object with a next step": (json.dumps({"code": RED, "then": [GREEN]}), AnswerFault),
    "an object with half a next step": (
        json.dumps({"code": RED, "then": "put_first_on_second('green"}),
        AnswerFault,
    ),
    "an object with lines behind": (
        json.dumps({"code": RED, "then": ["for n in names:", "    say(n)"]}),
        AnswerFault,
    ),
    "an object with a final program": (json.dumps({"program": RED, "final": GREEN}), AnswerFault),
    "an object with a program deeper in it": (
        json.dumps({"code": RED, "then": {"steps": [{"code": GREEN}]}}),
        AnswerFault,
    ),
    "an object with a block in it": (
        json.dumps({"code": RED, "then": _block(GREEN)}),
        AnswerFault,
    ),
    "an object with the same key twice": (
        f'{{"code": {json.dumps(RED)}, "code": {json.dumps(GREEN)}}}',
        AnswerFault,
    ),
    "an object with a call and code": (f'{{"actions": [{MOVE}], "code": "{GREEN}"}}', AnswerFault),
    "an object with code and a call": (
        f'{{"code": "{GREEN}", "tool_calls": [{MOVE}]}}',
        AnswerFault,
    ),
    "Qwen coder, half of a next": (
        f"<tool_call>\n<function=python>\n<parameter=code>\n{RED}\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=python>\n<parameter=code>\nput_first",
        AnswerFault,
    ),
    "a call with more than its code": (
        json.dumps({"name": "python", "arguments": {"code": RED}, "then": GREEN}),
        AnswerFault,
    ),
    "two calls by name": (f"[{MOVE}, {MOVE}]", f"{MOVED}\n{MOVED}"),
    "two calls by name, on two lines": (f"{MOVE}\n{MOVE}", f"{MOVED}\n{MOVED}"),
    "a call and words of a message": (
        f'[{{"type": "text", "text": "I move it."}}, {MOVE}]',
        MOVED,
    ),
    "a call with a text that is code": (
        json.dumps([{"name": "say", "arguments": {"text": "stop()"}}]),
        "say(text='stop()')",
    ),
    **{
        f"a call and {what}": (f"[{MOVE}, {other}]", AnswerFault)
        for what, other in {
            "one with arguments in order": '{"name": "put_first_on_second", "args": ["a", "b"]}',
            "one of a tool in order": '{"tool": "put_first_on_second", "args": ["a", "b"]}',
            "one of a tool with a text": '{"tool": "put_first_on_second", "args": "a, b"}',
            "one with broken arguments": r'{"name": "say", "arguments": "{\"text\": "}',
            "one without a name": '{"arguments": {"obj": "green block"}}',
            "one without arguments": '{"name": "stop"}',
            "a text": '"put the green block away"',
            "nothing": "null",
        }.items()
    },
    **{
        f"a call and {what}": (f"{MOVE}\n{other}", AnswerFault)
        for what, other in {
            "half of a next": '{"name": "put_first_on_s',
            "a sign of a next": "{",
            "a tag of a next": '<tool_call>{"name": "put_first_on_s',
        }.items()
    },
    **{
        f"a call in tags and {what}": (f"<tool_call>{MOVE}</tool_call>\n{other}", AnswerFault)
        for what, other in {
            "half of a next": '<tool_call>{"name": "put_first_on_s',
            "the tag of a next": "<tool_call>",
            "half a tag": "<tool_c",
            "an object": '{"name": "put_first_on_s',
            "code in other tags": f"<code>{GREEN}</code>",
            "words with code": f"and then {GREEN}",
        }.items()
    },
    "an object and words with code": (
        f"{json.dumps({'code': RED})}\nand then {GREEN}",
        AnswerFault,
    ),
    "words with code and an object": (
        f"First {RED} then:\n{json.dumps({'code': GREEN})}",
        AnswerFault,
    ),
    "words with a name and an object": (
        f"I call `put_first_on_second()` for the block(s):\n{json.dumps({'code': RED})}",
        RED,
    ),
    "a refusal as an object": ('{"error": "there is no red block"}', AnsweredInWords),
    "a plan as an object": ('{"steps": ["pick red block", "place in bowl"]}', AnsweredInWords),
}

TOKENS: dict[str, tuple[str, Outcome]] = {
    "ChatML": (f"{LOOP}<|im_end|>", LOOP),
    "ChatML, and on": (
        f"{RED}<|im_end|>\n<|im_start|>user\nnow green<|im_end|>\n<|im_start|>assistant\n{GREEN}",
        RED,
    ),
    "Llama 3": (f"<|start_header_id|>assistant<|end_header_id|>\n\n{_block(RED)}<|eot_id|>", RED),
    "Llama 4": (f"{RED}<|eot|>", RED),
    "Llama 2": (f"{RED}</s><s>[INST] now green [/INST] {GREEN}", RED),
    "Phi": (f"{RED}<|end|>\n<|user|>\nnow green<|end|>\n<|assistant|>\n{GREEN}", RED),
    "Gemma": (f"{_block(RED)}<end_of_turn>\n<start_of_turn>user\nand green?", RED),
    "Command": (f"{RED}<|END_OF_TURN_TOKEN|>", RED),
    "GLM": (f"{RED}\n<|user|>\nnow green", RED),
    "DeepSeek coder": (f"{RED}\n<|EOT|>", RED),
    "end of text, then rubbish": (f"{RED}<|endoftext|>import os\nos.remove('x')", RED),
    "a token in a text": ("say('<|im_end|>')", "say('<|im_end|>')"),
    "fill in the middle": (f"<|fim_prefix|><|fim_suffix|><|fim_middle|>{RED}<|endoftext|>", RED),
}

DRESSED: dict[str, tuple[str, Outcome]] = {
    "a notebook": (
        "In [1]: names = get_obj_names()\n\nIn [2]: say(names[0])\nOut[2]: None",
        "names = get_obj_names()\nsay(names[0])",
    ),
    "cells": (
        "# %%\nnames = get_obj_names()\n\n# %%\nsay(names[0])",
        "names = get_obj_names()\nsay(names[0])",
    ),
    "magics": (_block(f"%matplotlib inline\n{RED}"), RED),
    "a session": (
        ">>> for n in get_obj_names():\n...     say(n)\n...\nred block\ngreen block\n>>> stop()",
        "for n in get_obj_names():\n    say(n)\nstop()",
    ),
    "a session in a block": (_block(f">>> {RED}\nTrue\n>>> {GREEN}\nTrue"), BOTH),
    "numbered lines": ("1  names = get_obj_names()\n2  say(names[0])", ProgramSyntaxError),
    "code tags": (f"<code>\n{LOOP}\n</code>", LOOP),
    "code tags in pre": (f'<pre><code class="language-python">{RED}</code></pre>', RED),
    "python tags": (f"Sure.\n<python>\n{LOOP}\n</python>\nDone.", LOOP),
    "an answer's tags around a block": (f"<answer>\n{_block(LOOP)}\n</answer>", LOOP),
    "an artifact": (f'<artifact type="code" language="python">\n{RED}\n</artifact>', RED),
    "BEGIN and END": (f"[PYTHON]\n{LOOP}\n[/PYTHON]", LOOP),
    "LaTeX": (f"\\begin{{verbatim}}\n{RED}\n\\end{{verbatim}}", ProgramSyntaxError),
    "entities": (
        "for n in get_obj_names():\n    if len(n) &gt; 3:\n        say(&quot;long&quot;)",
        "for n in get_obj_names():\n    if len(n) > 3:\n        say('long')",
    ),
    "curly quotes": ("say(‘hello’)\nsay(“it’s”)", "say('hello')\nsay(\"it's\")"),
    "a curly apostrophe in a text": ("say('it’s done')", "say('it’s done')"),
    "a curly apostrophe and hard spaces": (
        "for n in names:\n\u00a0\u00a0\u00a0\u00a0say('it’s ' + n)",
        "for n in names:\n    say('it’s ' + n)",
    ),
    "hard spaces": (LOOP.replace("    ", "\u00a0" * 4), LOOP),
    "no width": ("\u200b" + RED + "\u200b\n" + GREEN, BOTH),
    "a minus sign": ("goto_pos([0.1, \u22120.2])", "goto_pos([0.1, -0.2])"),
    "full-width brackets": ("say（'hi'）", "say('hi')"),
    "CRLF": (_block(LOOP).replace("\n", "\r\n"), LOOP),
    "a byte order mark": ("\ufeff" + LOOP, LOOP),
    "tabs": (LOOP.replace("    ", "\t"), LOOP),
    "indented": ("\n".join("    " + line for line in LOOP.split("\n")), LOOP),
    "an escaped line end": (f"{RED}\\n{GREEN}", ProgramSyntaxError),
    "text with backslashes": ("say('a\\nb')", "say('a\\nb')"),
    "semicolons": (f"{RED}; {GREEN}", BOTH),
    "one line": ("[say(n) for n in get_obj_names()]", "[say(n) for n in get_obj_names()]"),
    "a shebang": (f"#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n{RED}", RED),
}

LANGUAGES: dict[str, tuple[str, Outcome]] = {
    "Chinese": (
        f"好的，以下是代码：\n\n{_block(LOOP)}\n\n这段代码会把每个方块放进同色的碗里。",
        LOOP,
    ),
    "Chinese without a fence": (f"好的，代码如下：\n{RED}\n这将红色方块放入蓝色碗中。", RED),
    "Chinese thoughts": (f"<think>\n用户想移动红色方块。\n</think>\n{RED}", RED),
    "Chinese bullets": (
        f"{_block(RED)}\n说明：\n- `put_first_on_second` 移动物体\n- 红色方块 → 蓝色碗",
        RED,
    ),
    "German": (
        f"Gerne! Hier ist das Programm:\n\n{_block(FETCH)}\n\nSag Bescheid, wenn noch etwas fehlt.",
        FETCH,
    ),
    "German without a fence": (
        f"Natürlich, so geht es:\n\n{BOTH}\n\nDamit liegen beide Blöcke in Schüsseln.",
        BOTH,
    ),
    "Spanish": (f"¡Claro! Aquí tienes:\n\n{_block(RED)}\n\nEspero que te sirva.", RED),
    "Spanish without a fence": (f"¡Por supuesto!\n\n{RED}\n\n¿Algo más?", RED),
    "French": (f"Voici le programme :\n{_block(RED)}\nN'hésitez pas !", RED),
    "Japanese": (f"はい、こちらです。\n{_block(RED)}\n以上です。", RED),
    "Russian without a fence": (f"Вот программа:\n{RED}\nГотово.", RED),
    "a Chinese text": ("say('你好，世界')", "say('你好，世界')"),
    "German comments": (f"# zuerst der rote\n{RED}\n# dann der grüne\n{GREEN}", BOTH),
    "a refusal in German": ("Das kann ich leider nicht.", AnsweredInWords),
    "a question in Chinese": ("您想移动哪个方块？", AnsweredInWords),
}

FAULTY: dict[str, tuple[str, Outcome]] = {
    "nothing": ("", EmptyCompletion),
    "line ends": ("\n\n", EmptyCompletion),
    "an empty block": (f"{FENCE}python\n{FENCE}", AnsweredInWords),
    "a refusal": ("I'm sorry, but I can't help with that.", AnsweredInWords),
    "a refusal with code words": (
        "I can't: `put_first_on_second` needs a red block, and there is none.",
        AnsweredInWords,
    ),
    "a refusal with a call in it": (
        "There is no red block, so I won't call `put_first_on_second('red block', 'blue bowl')`.",
        AnsweredInWords,
    ),
    "a question": ("Which block do you mean, the red one or the green one?", AnsweredInWords),
    "a question with choices": ("Which one?\n\n1. red block\n2. green block", AnsweredInWords),
    "a plan in words": ("1. Pick up the red block\n2. Place it in the blue bowl", AnsweredInWords),
    "a policy": ("As an AI language model, I do not have a body.", AnsweredInWords),
    "one word": ("OK", AnsweredInWords),
    "comments": ("# The red block is already in the blue bowl.\n# Nothing to do.", ""),
    "comments in a block": (_block("# nothing to do"), ""),
    "only imports": (_block("import numpy as np"), AnsweredInWords),
    "pseudo code": (_block("pick red block\nplace in blue bowl", "text"), AnsweredInWords),
    "JavaScript": (_block("robot.put('red', 'blue');", "javascript"), AnsweredInWords),
    "C++": (_block("int main() { put(); return 0; }", "cpp"), AnsweredInWords),
    "two options": (f"**Option 1**\n{_block(RED)}\n\n**Option 2**\n{_block(GREEN)}", AnswerFault),
    "two options that share names": (
        f"Either\n{_block('b = 1' + chr(10) + RED)}\nor\n{_block('b = 2' + chr(10) + GREEN)}",
        AnswerFault,
    ),
    "a mistake and its correction": (
        f"{_block(LOOP)}\n\nWait, that is wrong. Corrected:\n\n{_block(LOOP.replace('[0]', '[-1]'))}",
        AnswerFault,
    ),
    "a correction that calls the same helper": (
        f"{_block(TOWER)}\n\nActually, better in reverse:\n\n{_block(TOWER.replace('sorted(', 'reversed('))}",
        AnswerFault,
    ),
    "a correction of the last line": (
        f"{_block(TOWER)}\nShorter:\n{_block('order = get_obj_names()' + chr(10) + 'stack_up(order)')}",
        AnswerFault,
    ),
    "a helper and two uses": (
        f"{_block(TOWER)}\nOr with other blocks:\n{_block('stack_up(get_obj_names()[:2])')}",
        AnswerFault,
    ),
    "a diff": (_block(f"- {RED}\n+ {GREEN}", "diff"), AnswerFault),
    "a diff without a tag": (
        f"--- a/robot.py\n+++ b/robot.py\n@@ -1,2 +1,2 @@\n {RED}\n-{RED}\n+{GREEN}",
        AnswerFault,
    ),
    "code before a block": (f"{RED}\n\n{_block(GREEN)}", AnswerFault),
    "a call over lines before a block": (
        f"put_first_on_second(\n    'red block',\n    'blue bowl',\n)\n\n{_block(GREEN)}",
        AnswerFault,
    ),
    "code behind a block": (
        f"{_block(RED)}\n\nfor name in get_obj_names():\n    say(name)",
        AnswerFault,
    ),
    "a block without an end": (f"Sure:\n\n{FENCE}python\n{LOOP}", AnswerFault),
    "a block without an end in a list": (
        f"1. So:\n   {FENCE}python\n   {RED}\n   {GREEN}",
        AnswerFault,
    ),
    "a second block without an end": (
        f"{_block('names = get_obj_names()')}\n{FENCE}python\nsay(names[0])",
        AnswerFault,
    ),
    "a block cut in a text": (f"{FENCE}python\nsay('''a\n", AnswerFault),
    "words between steps": (f"First red:\n{RED}\nThen green:\n{GREEN}", ProgramSyntaxError),
    "a sentence between steps": (
        f"{RED}\nNow the green block goes in.\n{GREEN}",
        ProgramSyntaxError,
    ),
    "half a call": (f"{RED}\nput_first_on_second('green", ProgramSyntaxError),
    "half a call behind words": (
        f"Sure!\n{RED}\nput_first_on_second('green block',",
        ProgramSyntaxError,
    ),
    "half a name behind words": (f"Sure!\n{RED}\nrobot.", ProgramSyntaxError),
    "half an assignment behind words": (f"Sure!\n{RED}\nGOAL = robot.", ProgramSyntaxError),
    "half a mapping behind words": (f"Sure!\n{RED}\nGOALS = {{'red block':", ProgramSyntaxError),
    "half a sum behind words": (f"Sure!\n{RED}\nheight +", ProgramSyntaxError),
    "half a text behind words": (f"Sure!\n{RED}\n'''Now the green", ProgramSyntaxError),
    "half a function": ("def stack(names):\n", ProgramSyntaxError),
    "half a function behind a step": (f"{RED}\n\n\ndef stack(names):", ProgramSyntaxError),
    "half a decorator": (f"{RED}\n@retry", ProgramSyntaxError),
    "half a loop": ("for name in get_obj_names():\n    # first", ProgramSyntaxError),
    "half an else": (f"if is_obj_visible('a'):\n    {RED}\nelse:", ProgramSyntaxError),
    "half a try": (f"try:\n    {RED}", ProgramSyntaxError),
    "dots for a step": (f"{RED}\n...\n{GREEN}", AnswerFault),
    "a comment for the rest": (f"{RED}\n# ... the rest as before\n{GREEN}", AnswerFault),
    "the rest left out in words": (f"{RED}\n... and so on for the others", ProgramSyntaxError),
    "a name behind a program": (f"{RED}\nput_first", AnswerFault),
    "the name of a function called before": (f"{RED}\nput_first_on_second", AnswerFault),
    "a function's name behind its definition": (
        MAIN.partition("if __name__")[0] + "main",
        AnswerFault,
    ),
    "a mere name in a loop": ("for n in get_obj_names():\n    put_first_on_second", AnswerFault),
    "a mere name in a loop behind a step": (
        f"{RED}\nfor n in ['green block', 'red block']:\n    put_first_on_second",
        AnswerFault,
    ),
    "a mere name in an else": (
        f"if is_obj_visible('a'):\n    {RED}\nelse:\n    put_first_on_second",
        AnswerFault,
    ),
    "a mere name behind an error": (f"try:\n    {RED}\nexcept ValueError:\n    say", AnswerFault),
    "a mere name in a case": ("match get_obj_names():\n    case []:\n        say", AnswerFault),
    "a mere method in a loop": ("for n in get_obj_names():\n    robot.stop", AnswerFault),
    "a name that it binds": ("names = get_obj_names()\nnames", "names = get_obj_names()\nnames"),
    "a method that is not called": (f"{RED}\nrobot.stop", AnswerFault),
    "a placeholder": (_block("put_first_on_second(<object>, <target>)"), ProgramSyntaxError),
    "a conflict": (f"<<<<<<< HEAD\n{RED}\n=======\n{GREEN}\n>>>>>>> new", ProgramSyntaxError),
    "a print of Python 2": ("print 'hello'", ProgramSyntaxError),
    "a wrong indentation": (f"if True:\n{RED}", ProgramSyntaxError),
    "a return outside": (f"{RED}\nreturn", ProgramSyntaxError),
    "backticks on two lines": (f"- `{RED}`\n- `{GREEN}`", AnswerFault),
    "another example in chat": (f"{RED}\n\nobjects = ['a']\n# do a.\n{GREEN}", AnswerFault),
    "another example in a block": (
        _block(f"{RED}\n\nobjects = ['a']\n# do a.\n{GREEN}"),
        AnswerFault,
    ),
}

CHAT = {
    f"{family}: {name}": entry
    for family, table in {
        "chat": CHATTY,
        "thinking": THINKING,
        "tools": TOOLS,
        "tokens": TOKENS,
        "dressed": DRESSED,
        "languages": LANGUAGES,
        "faulty": FAULTY,
    }.items()
    for name, entry in table.items()
}
"""Answers of chat models, which end their turn themselves."""

CONTINUED: dict[str, tuple[str, Outcome]] = {
    "bare": (f"{LOOP}\n", LOOP),
    "the next instruction": (f"{RED}\n\n# put the green block away.\n{GREEN}\n", RED),
    "the next context": (f"{BOTH}\n\nobjects = ['cup']\n# say hi.\nsay('hi')\n", BOTH),
    "the next context at once": (f"{LOOP}\nobjects = ['cup']\n# say hi.\nsay('hi')\n", LOOP),
    "ten examples more": (f"{RED}\n" + "\n# again.\nsay('again')\n" * 10, RED),
    "a next instruction without its program": (f"{TOWER}\n\n# and the", TOWER),
    "a comment between steps": (f"{RED}\n# then\n{GREEN}\n\n# next.\nsay('x')", BOTH),
    "the instruction again": (f"# put the red block away.\n{RED}\n\n# next.\nsay('x')", RED),
    "context and instruction again": (
        f"objects = ['red block']\n# put it away.\n{RED}\n\n# next.\nsay('x')",
        RED,
    ),
    "end of text": (f"{RED}\n<|endoftext|># other file\nimport os", RED),
    "a fence": (f"{_block(LOOP)}\n\n# next.\nsay('x')", LOOP),
    "a lone fence behind": (f"{LOOP}\n{FENCE}\n\nobjects = ['a']\n# next.\nsay('x')", LOOP),
    "a mark in a text": ("say('''a\n\n# b''')\nstop()", "say('''a\n\n# b''')\nstop()"),
    "a mark in brackets": (
        "goto_pos([\n\n# left\n0.1, 0.2])\nstop()",
        "goto_pos([0.1, 0.2])\nstop()",
    ),
    "half a call before the next": (
        f"{RED}\nput_first_on_second('green\n\n# next.\nsay('x')",
        ProgramSyntaxError,
    ),
    "half a function before the next": (
        f"{RED}\ndef go():\n\n# next.\nsay('x')",
        ProgramSyntaxError,
    ),
    "nothing before the next": ("\n# next.\n# after.\n", AnsweredInWords),
    "nothing": ("", EmptyCompletion),
    "the same statement 300 times": ("\n".join([RED] * 300), "\n".join([RED] * 300)),
    "words": ("I am a language model.", AnsweredInWords),
}
"""Answers of models that go on with the prompt's text."""

CUT: dict[str, str] = {
    "a repetition to the limit": "\n".join([RED] * 80) + "\nput_first_on",
    "a whole program": LOOP,
    "a block without an end": f"{FENCE}python\n{LOOP}",
    "a block with an end": f"{_block(LOOP)}\n\nThis will",
    "thoughts": "<think>\nThe user wants",
}
"""Answers that ended at their limit of tokens: each must be a `CutOff`."""

FAULT_OF_A_CUT: type[Exception] = CutOff
