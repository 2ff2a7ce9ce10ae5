"""Sessions: what is kept between turns, what a failure leaves, and LMPs that call LMPs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.models import SampledModel
from cap.engine.question import ASKED_BEFORE
from cap.engine.settings import Repairs
from cap.errors import NoMatch, PromptError, UsageError
from cap.models.base import Completion, Request
from cap.models.providers import make_model
from cap.prompt.examples import split_examples
from cap.prompt.prompt import Prompt, parse
from cap.sandbox.limits import Limits
from cap.session.session import Session
from cap.session.settings import SessionSettings
from cap.trace.trace import Event, Trace
from robots.ravens import create

UI = """# /// cap
# context = ["objects"]
# session = true
# actions = true
# ///
import numpy as np
from robot import put_first_on_second, get_obj_pos, say
from lmps import parse_obj_name, parse_position
"""
PARSE_NAME = """# /// cap
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# ///
from robot import get_obj_pos
"""
PARSE_POSITION = """# /// cap
# returns = "ret_val"
# kind = "point"
# ///
from robot import get_obj_pos, put_first_on_second
from lmps import parse_obj_name
"""
PROMPTS: Mapping[str, Prompt] = {
    "ui": parse(UI, "ui"),
    "parse_obj_name": parse(PARSE_NAME, "parse_obj_name"),
    "parse_position": parse(PARSE_POSITION, "parse_position"),
}


class Scripted:
    """Answers each instruction line with the completion it was given."""

    name = "scripted"

    def __init__(self, answers: Mapping[str, str | Exception]) -> None:
        self.answers = answers
        self.prompts: list[str] = []

    def complete(self, request: Request) -> Completion:
        self.prompts.append(request.prompt)
        asked = request.prompt.rstrip().splitlines()[-1].removeprefix("# ").removesuffix(".")
        answer = self.answers.get(asked, NoMatch(f"nothing for {asked!r}"))
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer, self.name, 10, 5)


Open = Callable[..., Session]


@pytest.fixture
def open_session() -> Iterator[Open]:
    made: list[Session] = []

    def make(answers: Mapping[str, str | Exception], **options: Any) -> Session:
        robot = create(mode="instant", objects=["red block", "blue block", "blue bowl"], seed=1)
        options.setdefault("limits", Limits(program_s=2))
        made.append(Session(robot, Scripted(answers), SessionSettings(prompts=PROMPTS, **options)))
        return made[-1]

    yield make
    for session in made:
        session.close()


def prompts_of(session: Session) -> list[str]:
    assert isinstance(session.model, Scripted)
    return session.model.prompts


def test_variables_of_a_turn_are_there_in_the_next(open_session: Open) -> None:
    session = open_session({"a": "x = np.array([1.0, 2.0])", "b": "say(f'{x.sum():.0f}')"})
    assert session.run("a").ok
    assert session.run("b").ok
    assert session.robot.spoken == ["3"]  # type: ignore[attr-defined]


def test_functions_of_a_turn_are_there_in_the_next_and_see_each_other(open_session: Open) -> None:
    first = "def half(x):\n    return x / 2\n\ndef quarter(x):\n    return half(half(x))\n"
    answers = {"def a": first, "b": "say(str(quarter(8)))", "c": "say(str(half(2)))"}
    session = open_session(answers)
    for words in answers:
        assert session.run(words).failure is None
    assert session.robot.spoken == ["2.0", "1.0"]  # type: ignore[attr-defined]


IMPORTING = """
import math as m
from collections import Counter
from itertools import *

def count(words: Counter) -> Counter:
    "Count them."
    def longest(): return max(len(word) for word in words)
    return Counter(chain(words, ["a"])), longest(), m.floor(2.5)

class Pair:
    def __init__(self, x): self.x = m.sqrt(x)
"""


def test_a_kept_function_finds_what_its_turn_imported(open_session: Open) -> None:
    then = "n, size, low = count(['a', 'bb'])\nsay(f\"{n['a']} {size} {low} {Pair(9).x}\")"
    session = open_session({"a": IMPORTING, "b": then, "c": then})
    for words in "abc":
        assert session.run(words).failure is None
    assert session.robot.spoken == ["2 2 2 3.0"] * 2  # type: ignore[attr-defined]
    assert {entry.name for entry in session.state.definitions} == {"count", "Pair"}


def test_a_name_of_an_import_is_said_to_be_imported_again(open_session: Open) -> None:
    session = open_session({"a": "from math import sqrt\nx = sqrt(4)", "b": "say(str(sqrt(9)))"})
    assert session.run("a").failure is None
    failure = session.run("b").failure
    assert failure is not None
    assert failure.message == "'sqrt' was imported in turn 1 only; import it again"


STANDING_ALONE = {
    "a note in a class body": (
        "from collections import deque\nclass A:\n    size: deque = 1",
        "A.size",
        "1",
    ),
    "a note of a class that is lost": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
        "def f(p: P) -> P: return p",
        "f(2)",
        "2",
    ),
    "a name that a parameter has, too": (
        "from statistics import mean\ndef f(xs): return mean(xs)\ndef g(mean): return mean\n",
        "f([1, 3]) + g(1)",
        "3",
    ),
    "a name that an inner function binds": (
        "import math as m\ndef f(x):\n    def g(m): return m\n    return g(m.floor(x))",
        "f(2.5)",
        "2",
    ),
    "an import that is written twice": (
        "import re\nif True:\n    import re\ndef f(s): return re.sub('a', 'b', s)",
        "f('aa')",
        "bb",
    ),
    "notes that are not evaluated": (
        "from __future__ import annotations\nannotations = 4\ndef f(x: Foo): return annotations",
        "f(1)",
        "4",
    ),
}


@pytest.mark.parametrize(("first", "value", "said"), STANDING_ALONE.values(), ids=STANDING_ALONE)
def test_what_is_kept_stands_by_itself(
    first: str, value: str, said: str, open_session: Open
) -> None:
    session = open_session({"a": first, "b": f"say(str({value}))", "c": f"say(str({value}))"})
    for words in "abc":
        assert session.run(words).failure is None
    assert session.robot.spoken == [said, said]  # type: ignore[attr-defined]


NOT_STANDING_ALONE = {
    "what cannot be kept": "g = (i for i in [1])\nclass A:\n    first = g",
    "what may change": "n = [3]\nclass A:\n    first = n[0]",
    "a module in a class body": "import string\nclass A:\n    digits = string.digits[:2]",
    "a function in a class body": "k = 3\nclass A:\n    f = lambda self, a: a + k",
}


@pytest.mark.parametrize("first", NOT_STANDING_ALONE.values(), ids=NOT_STANDING_ALONE)
def test_a_class_that_could_not_be_made_again_is_said_to_be_lost(
    first: str, open_session: Open
) -> None:
    answers = {"a": first, "b": "n = []\nsay('b')", "c": "say('c')", "d": "say(str(A()))"}
    session = open_session(answers)
    for words in "abc":
        assert session.run(words).failure is None
    failure = session.run("d").failure
    assert failure is not None
    assert "'A' was set in turn 1 and could not be kept" in failure.message


HIDING = {
    "a module": ("np = 2", "say(str(np.mean([1, 3])))", "2.0"),
    "a builtin": ("len = 3", "say(str(len('ab')))", "2"),
    "a library function": ("box = [1, 2]", "say(str(box(0, 0, 1, 1).area))", "1.0"),
    "a class": ("class Point: pass", "say(str(Point(0, 1).y))", "1.0"),
    "a function": ("def max(a): return a", "say(str(max(1, 2)))", "2"),
    "a loop": ("for scale in [1]: pass", "say(str(scale(Point(1, 1), 2).x))", "1.0"),
}


@pytest.mark.parametrize(("first", "second", "said"), HIDING.values(), ids=HIDING)
def test_a_library_name_means_the_same_in_every_turn(
    first: str, second: str, said: str, open_session: Open
) -> None:
    session = open_session({"a": f"{first}\nx = 5", "b": f"{second}\nsay(str(x))"})
    assert session.run("a").failure is None
    ((name, why),) = session.state.dropped.items()
    assert name in first
    assert "not kept: it means the library's own again" in why
    assert session.run("b").failure is None
    assert session.robot.spoken == [said, "5"]  # type: ignore[attr-defined]


def test_a_failed_turn_changes_no_variable(open_session: Open) -> None:
    session = open_session({"a": "x = [1]", "b": "x.append(2)\n1 / 0", "c": "say(str(x))"})
    session.run("a")
    failed = session.run("b").failure
    assert failed is not None
    assert failed.error == "ZeroDivisionError"
    assert failed.line == 2
    session.run("c")
    assert session.robot.spoken == ["[1]"]  # type: ignore[attr-defined]


def test_history_holds_instructions_code_context_and_failures(open_session: Open) -> None:
    bad = "put_first_on_second('red block', 'blue bowl')\n1 / 0"
    session = open_session({"first": "x = 1", "second": bad, "third": "y = 2"})
    for words in ("first", "second", "third"):
        session.run(words)
    last = prompts_of(session)[-1]
    assert "# first.\nx = 1\n" in last
    assert "objects = ['red block', 'blue block', 'blue bowl']\n# second.\n" in last
    assert (
        "#! failed after put_first_on_second, which stays done: ZeroDivisionError (line 2)" in last
    )
    assert last.endswith("# third.\n")


def test_the_prompt_prefix_is_the_same_text_in_every_turn(open_session: Open) -> None:
    session = open_session({"a": "x = 1", "b": "y = 2"})
    session.run("a")
    session.run("b")
    one, two = prompts_of(session)
    before_request = one[: one.rindex("# a.")]
    assert two.startswith(before_request)


def test_later_prompts_tell_what_came_of_earlier_turns(open_session: Open) -> None:
    answers = {
        "first": "put_first_on_second('red block', 'blue bowl')\nsay('it is in')",
        "second": "x = 1",
        "third": "1 / 0",
        "fourth": "y = 2",
    }
    session = open_session(answers, repairs=Repairs(0, 0))
    for words in answers:
        session.run(words)
    last = prompts_of(session)[-1]
    assert "say('it is in')\n#= moved red block to blue bowl; said 'it is in'\n" in last
    assert "x = 1\n#= nothing moved\n" in last
    assert "1 / 0\n#! failed before anything was done: ZeroDivisionError" in last


def test_a_comment_of_an_earlier_program_is_no_instruction(open_session: Open) -> None:
    program = (
        "# first this\nx = 1\n\n# then that\nif x:  # why not\n    # do it\n    y = 2\n"
        "text = '''\n# not a comment\n'''"
    )
    session = open_session({"a": program, "b": "z = 3"})
    session.run("a")
    session.run("b")
    asked = prompts_of(session)[-1]
    assert [entry.instruction for entry in split_examples(asked)] == ["a", "b"]
    assert "\n# a.\nx = 1\n\nif x:  # why not\n    y = 2\ntext = '''\n    # not" in asked


def test_a_failed_program_keeps_the_numbers_of_its_lines(open_session: Open) -> None:
    program = "x = 1\n# now that\n1 / 0"
    session = open_session({"a": program, "b": "z = 3"}, repairs=Repairs(0, 0))
    session.run("a")
    session.run("b")
    told = "# a.\nx = 1\n    # now that\n1 / 0\n#! failed before anything was done: ZeroDivision"
    assert told in prompts_of(session)[-1]


IDLE = ["ret_val = 'red bowl'", "if objects:\n    ret_val = 2", "pass", "# so be it"]


@pytest.mark.parametrize("program", IDLE)
def test_a_program_that_does_nothing_at_all_is_no_success(open_session: Open, program: str) -> None:
    turn = open_session({"a": program}).run("a")
    assert turn.failure is not None
    assert (turn.failure.error, turn.effect.words) == ("NothingDone", ("nothing",))
    assert turn.failure.message.startswith("the program does nothing: it calls no function of")


@pytest.mark.parametrize("words", ["put the red block in the bowl", "stapel die Blöcke"])
def test_a_function_that_is_never_called_is_no_success(open_session: Open, words: str) -> None:
    answer = "def main():\n    say('done')\n\nif __name__ == 'main':\n    main()"
    turn = open_session({words: answer}).run(words)
    assert turn.failure is not None
    assert turn.failure.error == "NothingDone"
    assert turn.failure.message == "the program only defines 'main' and never calls it; call it"


@pytest.mark.parametrize(
    "words", ["define main", "write a function that says done", "schreib eine Funktion"]
)
def test_a_function_is_what_was_asked_for(open_session: Open, words: str) -> None:
    assert open_session({words: "def main():\n    say('done')"}).run(words).ok


def test_a_program_that_does_nothing_is_asked_for_again_with_the_reason(
    open_session: Open,
) -> None:
    answers = ["ret_val = 'red bowl'", "say('the red bowl')"]
    session = open_session({})

    def complete(request: Request) -> Completion:
        prompts_of(session).append(request.prompt)
        return Completion(answers.pop(0), "scripted", 10, 5)

    session.model.complete = complete  # type: ignore[method-assign]
    turn = session.run("which bowl?")
    assert (turn.ok, turn.attempts, turn.effect.said) == (True, 2, ("the red bowl",))
    assert (
        "and its 'ret_val' is not read; to answer the user, call say('...'); write"
        in (prompts_of(session)[-1])
    )


@pytest.mark.parametrize(
    "program",
    [
        "bin = 'blue bowl'",
        "print('so')",
        "x = get_obj_pos('red block')",
    ],
)
def test_a_program_that_leaves_or_looks_at_something_does_something(
    open_session: Open, program: str
) -> None:
    assert open_session({"a": program}).run("a").ok


def test_a_program_that_changes_what_is_kept_does_something(open_session: Open) -> None:
    session = open_session({"a": "names = {}", "b": "names['bin'] = 1", "c": "names['bin'] = 1"})
    assert session.run("a").ok
    assert session.run("b").ok
    assert session.run("c").failure is not None, "it is so already"
    assert session.execute("pass").ok, "a person's own program may do what it likes"


def test_a_name_that_cannot_be_kept_says_so_when_used(open_session: Open) -> None:
    session = open_session({"a": "pairs = zip([1], [2])\nkey = lambda v: v", "b": "list(pairs)"})
    assert session.run("a").ok
    failure = session.run("b").failure
    assert failure is not None
    assert failure.kind == "undefined"
    assert "'pairs' was set in turn 1 and could not be kept" in failure.message


def test_a_variable_too_large_to_stay_is_named_and_costs_no_later_turn(open_session: Open) -> None:
    session = open_session({"a": "x = 'a' * 50_000_000", "b": "y = 1", "c": "z = x", "d": "x = 2"})
    assert session.run("a").ok
    assert session.run("b").ok
    assert session.state.variables.keys() & {"x", "y"} == {"y"}
    failure = session.run("c").failure
    assert failure is not None
    told = "'x' was too large to be kept after turn 1: at most 32 MiB and 390000 values stay"
    assert failure.message.startswith(told)
    assert session.run("d").ok
    assert (session.state.variables["x"], dict(session.state.dropped)) == (2, {})


def test_a_kept_definition_runs_nothing_when_it_is_put_back(open_session: Open) -> None:
    source = (
        "def noisy():\n    say('called')\n    return 1\n\n"
        "def late(x=noisy()):\n    return x\n\ndef plain(x=2):\n    return x\n"
    )
    session = open_session({"a": source, "b": "y = plain()", "c": "late()"})
    session.run("a")
    assert session.run("b").ok
    assert session.robot.spoken == ["called"]  # type: ignore[attr-defined]
    failure = session.run("c").failure
    assert failure is not None
    assert "could not be kept" in failure.message


@pytest.mark.parametrize(
    "source",
    [
        "def f(x=say('again')):\n    return x\n",
        "class f:\n    say('again')\n",
        "class f:\n    x = say('again')\n",
        "class f:\n    def m(self, x=say('again')):\n        return x\n",
    ],
)
def test_no_definition_that_calls_something_is_put_back(open_session: Open, source: str) -> None:
    session = open_session({"a": source, "b": "y = 2", "c": "f()"})
    session.run("a")
    assert session.run("b").failure is None
    assert session.robot.spoken == ["again"]  # type: ignore[attr-defined]
    failure = session.run("c").failure
    assert failure is not None
    assert "could not be kept" in failure.message


def test_a_class_of_plain_methods_is_put_back(open_session: Open) -> None:
    source = (
        "class Box:\n    side = 2\n    def area(self):\n        return self.side ** 2\n"
        "    @staticmethod\n    def name():\n        return 'box'\n"
    )
    session = open_session({"def a": source, "b": "say(str((Box().area(), Box.name())))"})
    session.run("def a")
    assert session.run("b").failure is None
    assert session.robot.spoken == ["(4, 'box')"]  # type: ignore[attr-defined]


LAST_BOUND = {
    "a lambda": ("def f(): return 1", "f = lambda: 2"),
    "in a branch": ("def f(): return 1", "if True:\n    def f(): return 2"),
    "in a branch of the same program": ("", "def f(): return 1\nif True:\n    def f(): return 2"),
    "another function": ("def f(): return 1\ndef g(): return 2", "f = g"),
    "another of the same program": ("", "def f(): return 1\ndef g(): return 2\nf = g"),
    "changed places": ("def f(): return 1\ndef g(): return 2", "f, g = g, f"),
    "wrapped": ("def f(): return 1", "def more(h):\n    return lambda: h() + 1\nf = more(f)"),
    "decorated": ("def f(): return 1", "def two(h): return lambda: 2\n@two\ndef f(): return 1"),
    "a computed default": ("def f(): return 1", "y = 2\ndef f(x=y): return x"),
    "by a loop": ("def f(): return 1", "for i in [1, 2]:\n    def f(): return i"),
    "a closure": ("", "def make(n):\n    def f(): return n\n    return f\nf = make(2)"),
    "a method": ("", "class A:\n    def f(self): return 2\nf = A().f"),
    "by its own global": (
        "def f(): return 1",
        "def change():\n    global f\n    f = lambda: 2\nchange()",
    ),
    "an attribute": ("def f(): return f.count", "f.count = 2"),
    "an attribute from the start": ("", "def f(): return f.count\nf.count = 2"),
}


@pytest.mark.parametrize(("first", "second"), LAST_BOUND.values(), ids=LAST_BOUND)
def test_a_function_that_is_not_the_one_bound_last_is_said_to_be_lost(
    open_session: Open, first: str, second: str
) -> None:
    answers = {"a": f"y = 0\n{first}", "b": f"z = 0\n{second}", "c": "say(str(f()))"}
    session = open_session(answers)
    assert session.run("a").failure is None
    assert session.run("b").failure is None
    failure = session.run("c").failure
    assert failure is not None
    assert failure.message.startswith("'f' was set in turn 2 and could not be kept")
    assert session.robot.spoken == []  # type: ignore[attr-defined]


CLASS = "class A:\n    n = 1\n    seen = []\n    def get(self): return (self.n, self.seen)\n"


@pytest.mark.parametrize(
    "change",
    [
        "A.n = 5",
        "A.m = 5",
        "A.seen.append(2)",
        "A.get = lambda self: 2",
        "class B:\n    n = 2\nA = B",
        "a = A()\ntype(a).n = 3",
        "del A.n",
    ],
)
def test_a_class_changed_from_outside_is_said_to_be_lost(open_session: Open, change: str) -> None:
    for before, after in ((CLASS, change), ("y = 1", CLASS + change)):
        session = open_session({"def a": before, "def b": after, "c": "say(str(A().get()))"})
        assert session.run("def a").failure is None
        assert session.run("def b").failure is None
        failure = session.run("c").failure
        assert failure is not None
        assert failure.message.startswith("'A' was set in turn 2 and could not be kept")


def test_a_function_defined_anew_replaces_the_kept_one(open_session: Open) -> None:
    session = open_session(
        {
            "a": CLASS + "def f(): return 1\ndef g(): return f()\nx = 1\ndef h(): return x",
            "b": "def f(): return 2\ndef f(): return 3\nx = 4",
            "c": "say(str((f(), g(), h(), A().get())))",
        }
    )
    for words in "abc":
        assert session.run(words).failure is None
    assert session.robot.spoken == ["(3, 3, 4, (1, []))"]  # type: ignore[attr-defined]


def test_a_lost_function_is_kept_again_once_it_is_defined_again(open_session: Open) -> None:
    answers = {"a": "f = lambda: 1", "def b": "def f(): return 2", "c": "say(str(f()))"}
    session = open_session(answers)
    for words in answers:
        assert session.run(words).failure is None
    assert session.robot.spoken == ["2"]  # type: ignore[attr-defined]


def test_a_deleted_function_is_gone(open_session: Open) -> None:
    session = open_session({"def a": "def f(): return 1", "b": "del f"})
    assert session.run("def a").ok
    assert session.run("b").ok
    assert session.state.definitions == ()
    assert session.state.dropped == {}


def test_a_kept_function_that_calls_a_lost_one_says_so(open_session: Open) -> None:
    first = "def f(): return 1\ndef g(): return f()"
    session = open_session({"def a": first, "b": "f = lambda: 2", "c": "g()"})
    session.run("def a")
    session.run("b")
    failure = session.run("c").failure
    assert failure is not None
    assert failure.message.startswith(
        "name 'f' is not defined (in g, line 2 of it); it was set in turn 2 and"
    )


def test_a_generated_function_that_is_changed_is_said_to_be_lost(open_session: Open) -> None:
    session = open_session(
        {
            "a": "say(str(get_one(3)))\nget_one.count = 2",
            "define function: get_one(3)": "def get_one(n):\n    return 1\n",
            "b": "say(str(get_one(3)))",
        }
    )
    assert session.run("a").failure is None
    failure = session.run("b").failure
    assert failure is not None
    assert "'get_one' was set in turn 1 and could not be kept" in failure.message


def test_a_kept_class_still_finds_what_it_keeps_private(open_session: Open) -> None:
    source = (
        "class Box:\n    _n = 2\n    def __init__(self): self._side = 2\n"
        "    def _area(self): return self._side * Box._n\n"
        "def _twice(box): return 2 * box._area()\n"
        "_left = 1\n"
    )
    session = open_session({"a": source, "b": "say(str(_twice(Box())))", "c": "say(str(_left))"})
    session.run("a")
    assert session.run("b").failure is None
    assert session.robot.spoken == ["8"]  # type: ignore[attr-defined]
    failure = session.run("c").failure
    assert failure is not None
    assert "_left" in failure.message


def test_history_stays_within_its_budget_and_says_how_much_is_left_out(open_session: Open) -> None:
    answers = {f"turn {n}": f"x{n} = '{'a' * 400}'" for n in range(12)}
    session = open_session(answers, history_tokens=500)
    for words in answers:
        session.run(words)
    last = prompts_of(session)[-1]
    assert "# turn 0.\n" not in last
    assert "earlier instructions are left out here\n\n" in last
    assert "x0 = " not in last
    assert "x10 = " in last
    assert set(session.state.variables) >= {f"x{n}" for n in range(12)}


def test_the_turn_and_the_session_count_what_the_model_took(open_session: Open) -> None:
    session = open_session(
        {
            "go": "say(parse_obj_name('the red one'))",
            "the red one": "ret_val = 'red block'",
            "again": "say(no_such_name)",
        }
    )
    turn = session.run("go")
    assert (turn.usage.requests, turn.usage.completion_tokens) == (2, 10)
    assert turn.as_json()["usage"]["prompt_tokens"] == 20
    failed = session.run("again")
    assert failed.attempts == 2
    session.undo(2)
    assert session.usage.requests == 2 + failed.usage.requests


def test_repairs_can_be_set(open_session: Open) -> None:
    session = open_session({"again": "say(no_such_name)"}, repairs=Repairs(static=0))
    assert session.run("again").attempts == 1


def test_lmps_compose_and_their_context_is_filled_in(open_session: Open) -> None:
    session = open_session(
        {
            "go": "put_first_on_second(parse_obj_name('the red one'), parse_position('there'))",
            "the red one": "ret_val = [name for name in objects if 'red' in name][0]",
            "there": "ret_val = get_obj_pos(parse_obj_name('the bowl')) + [0, 0]",
            "the bowl": "ret_val = 'blue bowl'",
        }
    )
    turn = session.run("go")
    assert turn.failure is None
    assert list(turn.moved) == ["red block"]
    after = session.robot.positions()
    assert np.allclose(after["red block"][:2], after["blue bowl"][:2], atol=1e-3)
    nested = next(text for text in prompts_of(session) if text.endswith("# the red one.\n"))
    assert "objects = ['red block', 'blue block', 'blue bowl']\n# the red one.\n" in nested


def test_explicit_context_wins(open_session: Open) -> None:
    session = open_session(
        {
            "go": "say(parse_obj_name('the last', \"objects = ['a', 'b']\"))",
            "the last": "ret_val = objects[-1]",
        }
    )
    assert session.run("go").ok
    assert session.robot.spoken == ["b"]  # type: ignore[attr-defined]


def test_context_that_is_no_data_is_refused(open_session: Open) -> None:
    session = open_session({"go": "parse_obj_name('x', 'objects = say(1)')", "x": "ret_val = 'x'"})
    failure = session.run("go").failure
    assert failure is not None
    assert "name = literal" in failure.message


def test_a_nested_program_sees_only_its_own_variables(open_session: Open) -> None:
    session = open_session({"go": "secret = 1\nparse_obj_name('x')", "x": "ret_val = str(secret)"})
    failure = session.run("go").failure
    assert failure is not None
    assert failure.kind == "undefined"
    assert failure.message.startswith("parse_obj_name('x'): name 'secret' is not defined")


def test_a_nested_program_may_not_act(open_session: Open) -> None:
    act = "put_first_on_second('red block', 'blue bowl')\nret_val = [0, 0]"
    session = open_session({"go": "parse_position('x')", "x": act})
    turn = session.run("go")
    assert turn.failure is not None
    assert "not available to 'parse_position'" in turn.failure.message
    assert not turn.moved


def test_a_nested_decline_ends_the_turn_as_a_model_failure(open_session: Open) -> None:
    session = open_session({"go": "parse_obj_name('unknown')"})
    failure = session.run("go").failure
    assert failure is not None
    assert (failure.kind, failure.error, failure.exit_code) == ("model", "NoMatch", 4)
    assert failure.line == 1


def test_a_program_may_catch_a_nested_failure(open_session: Open) -> None:
    source = "try:\n    parse_obj_name('x')\nexcept LMPFailed:\n    say('sorry')\n"
    session = open_session({"go": source})
    assert session.run("go").ok
    assert session.robot.spoken == ["sorry"]  # type: ignore[attr-defined]


def test_lmps_that_call_each_other_for_ever_end(open_session: Open) -> None:
    session = open_session(
        {
            "go": "parse_position('x')",
            "x": "ret_val = parse_position('x')",
        }
    )
    failure = session.run("go").failure
    assert failure is not None
    assert "parse_position" in failure.message


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("ret_val = 3", "expected name or names, got 3"),
        ("ret_val = ['a', 1]", "expected name or names"),
        ("other = 'a'", "without setting 'ret_val'"),
        ("ret_val = (n for n in objects)", "not plain data"),
    ],
)
def test_a_wrong_kind_of_value_is_a_typed_failure(open_session: Open, code: str, said: str) -> None:
    session = open_session({"go": "parse_obj_name('x')", "x": code})
    failure = session.run("go").failure
    assert failure is not None
    assert said in failure.message


def test_a_generated_function_may_import_what_a_program_may(open_session: Open) -> None:
    written = (
        "import math as m\nfrom collections import Counter\n"
        "def get_most(names):\n    return m.floor(Counter(names).most_common(1)[0][1])\n"
    )
    session = open_session(
        {
            "go": "x = get_most(['a', 'b', 'a'])",
            "define function: x = get_most(['a', 'b', 'a'])": written,
            "again": "say(str(x + get_most('aab')))",
        },
    )
    for words in ("go", "again", "again"):
        assert session.run(words).failure is None
    assert session.robot.spoken == ["4", "4"]  # type: ignore[attr-defined]
    assert session.state.dropped == {}
    assert [entry.name for entry in session.state.definitions] == ["get_most"]


def test_undefined_functions_are_generated_shown_and_kept(open_session: Open) -> None:
    events: list[Event] = []
    trace = Trace()
    trace.listeners.append(events.append)
    session = open_session(
        {
            "go": "say(str(get_double(x=4)))",
            "define function: get_double(x=4)": "def get_double(x):\n    return get_sum(x, x)\n",
            "define function: get_sum(x, x)": "def get_sum(a, b):\n    return a + b\n",
            "again": "say(str(get_sum(1, 1)))",
        },
        trace=trace,
    )
    turn = session.run("go")
    assert turn.failure is None
    assert turn.program.index("def get_sum") < turn.program.index("def get_double")
    assert turn.program.index("def get_double") < turn.program.index("say(")
    (shown,) = [event.data for event in events if event.kind == "program"]
    assert [name for name, _ in shown["generated"]] == ["get_sum", "get_double"]
    asked = len(prompts_of(session))
    assert session.run("again").ok
    assert len(prompts_of(session)) == asked + 1
    assert session.robot.spoken == ["8", "2"]  # type: ignore[attr-defined]


def test_a_static_fault_leaves_the_world_untouched(open_session: Open) -> None:
    bad = "put_first_on_second('red block', 'blue bowl')\nno_such_name"
    session = open_session({"go": bad})
    turn = session.run("go")
    assert turn.failure is not None
    assert not turn.calls
    assert not turn.moved


def test_approval_sees_the_complete_program_and_may_refuse(open_session: Open) -> None:
    shown: list[str] = []

    def approve(source: str) -> bool:
        shown.append(source)
        return False

    answers = {
        "go": "put_first_on_second('red block', get_place(1))",
        "define function: get_place(1)": "def get_place(n):\n    return 'blue bowl'\n",
    }
    session = open_session(answers, approve=approve)
    turn = session.run("go")
    assert turn.failure is not None
    assert turn.failure.kind == "refused"
    assert "def get_place" in shown[0]
    assert not turn.moved


def test_hardware_without_an_approval_is_refused() -> None:
    robot = create(mode="instant")
    robot.simulated = False  # type: ignore[misc]
    with pytest.raises(UsageError, match="need an approval"):
        Session(robot, Scripted({}), SessionSettings(prompts=PROMPTS))


class Interrupting(list[str]):
    """What a robot has spoken; Ctrl-C comes as it speaks."""

    def append(self, text: str) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_stops_the_program_and_keeps_the_session(open_session: Open) -> None:
    session = open_session({"go": "x = 1\npoint_gripper_to = 2", "b": "say('still here')"})
    robot: Any = session.robot

    robot.spoken = Interrupting()
    turn = session.run("b")
    assert turn.failure is not None
    assert (turn.failure.kind, turn.failure.exit_code) == ("interrupted", 130)
    robot.spoken = []
    assert session.run("b").ok


def test_an_empty_instruction_is_refused(open_session: Open) -> None:
    with pytest.raises(UsageError, match="empty"):
        open_session({}).run(" \n\t")


def test_an_instruction_cannot_leave_its_comment_line(open_session: Open) -> None:
    session = open_session({"say hi import os": "say('hi')"})
    turn = session.run("say hi\nimport os")
    assert turn.ok
    assert prompts_of(session)[0].endswith("# say hi import os.\n")


def test_other_languages_and_emoji_arrive_intact(open_session: Open) -> None:
    words = "mets le bloc bleu à côté du bol 🥣, s'il te plaît"
    session = open_session({words: "say('oui')"})
    assert session.run(words).ok


def test_prompts_without_ui_are_refused() -> None:
    with pytest.raises(PromptError, match=r"ui\.py"):
        Session(create(mode="instant"), Scripted({}), SessionSettings(prompts={}))


ASKS = {
    "go": "say(parse_obj_name('the red one'))",
    "twice": "say(parse_obj_name('the red one'))\nsay(parse_obj_name('the red one'))",
    "the red one": "ret_val = 'red block'",
    "fail": "say(parse_obj_name('the red one'))\n1 / 0",
    "catch": "try:\n    parse_obj_name('wrong')\nexcept LMPFailed:\n    say('sorry')",
    "wrong": "ret_val = 3",
    "moved": "put_first_on_second('red block', 'blue bowl')\nparse_position('of it')",
    "of it": "ret_val = get_obj_pos('red block')",
}


def asked_of(session: Session, words: str) -> int:
    """Return how often the model was asked for something."""
    return sum(text.endswith(f"# {words}.\n") for text in prompts_of(session))


def test_what_a_program_asks_an_lmp_twice_is_asked_once(open_session: Open) -> None:
    events: list[Event] = []
    trace = Trace()
    trace.listeners.append(events.append)
    session = open_session(ASKS, trace=trace)
    assert session.run("twice").usage.requests == 2
    assert session.run("go").usage.requests == 1
    assert session.robot.spoken == ["red block"] * 3  # type: ignore[attr-defined]
    assert asked_of(session, "the red one") == 1
    told = [event.data for event in events if event.kind == "completion" and event.depth]
    assert [data["remembered"] for data in told] == [False, True, True]
    assert told[1]["notes"] == (ASKED_BEFORE,)
    assert (told[1]["prompt_tokens"], told[1]["cost_usd"]) == (0, 0.0)


def test_a_program_from_memory_runs_anew(open_session: Open) -> None:
    session = open_session({**ASKS, "where": "x = parse_position('of it')"})
    session.run("where")
    first = session.state.variables["x"]
    session.execute("put_first_on_second('red block', 'blue bowl')")
    session.run("where")
    assert asked_of(session, "of it") == 1
    assert not np.allclose(session.state.variables["x"][:2], first[:2])


def test_nothing_is_answered_from_memory_after_an_undo(open_session: Open) -> None:
    session = open_session(ASKS)
    session.run("go")
    session.undo()
    session.run("go")
    assert asked_of(session, "the red one") == 2


def test_nothing_is_answered_from_memory_after_a_failure_or_by_a_repair(open_session: Open) -> None:
    programs = [ASKS["fail"], ASKS["go"]]

    class Mends(dict[str, Any]):
        def get(self, words: str, default: Any = None) -> Any:
            return programs.pop(0) if words == "fail" else super().get(words, default)

    session = open_session(Mends(ASKS))
    assert session.run("fail").ok
    assert asked_of(session, "the red one") == 2
    assert session.run("go").ok
    assert asked_of(session, "the red one") == 2
    assert not session.execute("parse_obj_name('the red one')\n1 / 0").ok
    assert session.run("go").ok
    assert asked_of(session, "the red one") == 3


def test_an_answer_that_led_to_a_failure_is_not_remembered(open_session: Open) -> None:
    session = open_session(ASKS, repairs=Repairs(0, 0))
    assert session.run("catch").ok
    assert session.run("catch").ok
    assert asked_of(session, "wrong") == 2


def test_a_model_that_draws_its_answers_is_asked_each_time(open_session: Open) -> None:
    session = open_session(ASKS)
    session.engine.author.model = SampledModel(session.model, 0.5, 1)
    session.run("twice")
    assert asked_of(session, "the red one") == 2


def test_every_session_has_a_memory_of_its_own(open_session: Open) -> None:
    for _ in range(2):
        session = open_session(ASKS)
        session.run("go")
        assert asked_of(session, "the red one") == 1


def test_execute_runs_a_persons_program_with_everything_in_scope(open_session: Open) -> None:
    session = open_session({"the red one": "ret_val = 'red block'"})
    source = (
        "put_first_on_second(parse_obj_name('the red one'), 'middle')\n"
        "assert get_bbox('red block')[0] < 0.0\n"
    )
    turn = session.execute(source)
    assert turn.failure is None
    assert list(turn.moved) == ["red block"]


def test_programs_have_seeded_random_numbers(open_session: Open) -> None:
    answers = {"go": "say(str(np.random.uniform()))"}
    said = []
    for seed in (5, 5, 6):
        session = open_session(answers, seed=seed)
        session.run("go")
        session.run("go")
        said.append(list(session.robot.spoken))  # type: ignore[attr-defined]
    assert said[0] == said[1] != said[2]
    assert said[0][0] != said[0][1]


def test_an_interrupted_turn_keeps_its_program_and_the_calls_it_made(open_session: Open) -> None:
    session = open_session({"go": "put_first_on_second('red block', 'middle')\nsay('now')"})
    robot: Any = session.robot
    robot.spoken = Interrupting()
    turn = session.run("go")
    assert turn.failure is not None
    assert turn.failure.kind == "interrupted"
    assert "put_first_on_second" in turn.program
    assert [call.name for call in turn.calls] == ["put_first_on_second"]
    assert list(turn.moved) == ["red block"]


@pytest.mark.parametrize(
    ("error", "status"),
    [(KeyboardInterrupt, "interrupted"), (SystemExit, "interrupted"), (ValueError, "error")],
)
def test_what_ends_a_session_is_told_in_its_run_folder(
    tmp_path: Path, error: type[BaseException], status: str
) -> None:
    session = Session.open("ravens", mode="instant", runs=tmp_path / "runs")
    with pytest.raises(error), session:
        raise error
    (folder,) = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "run.json").read_text())["status"] == status


def test_after_resuming_it_is_said_why_there_is_nothing_to_undo(tmp_path: Path) -> None:
    with Session.open("ravens", mode="instant") as first:
        first.execute("x = 1")
        path = first.save(tmp_path / "kept.json")
    with (
        Session.resume(path) as second,
        pytest.raises(UsageError, match=r"1 turn of .* is known; undo does not reach it"),
    ):
        second.undo()


def test_a_closed_session_says_so(open_session: Open) -> None:
    session = open_session({})
    session.close()
    session.close()
    with pytest.raises(UsageError, match="closed"):
        session.run("anything")


def test_shared_parts_are_copied_from_turn_to_turn_and_cycles_are_dropped(
    open_session: Open,
) -> None:
    session = open_session(
        {
            "a": "shared = [1]\npair = [shared, shared]\nloop = {}\nloop['self'] = loop",
            "b": "pair[0].append(2)\nsay(str((shared, pair)))",
        }
    )
    assert session.run("a").failure is None
    assert "loop" in session.state.dropped
    assert session.run("b").failure is None
    assert session.robot.spoken == ["([1], [[1, 2], [1]])"]  # type: ignore[attr-defined]


def test_a_session_begins_with_the_variables_its_prompt_states() -> None:
    text = (
        "# /// cap\n# session = true\n# initial = { seen = [] }\n# ///\n# go.\nseen = seen + [1]\n"
    )
    prompts = {"ui": parse(text, "ui")}
    for _ in range(2):
        with Session(
            create(mode="instant"), make_model("nearest"), SessionSettings(prompts=prompts)
        ) as session:
            session.run("go")
            session.run("go")
            assert session.state.variables["seen"] == [1, 1]
            session.undo(2)
            assert session.state.variables["seen"] == []


def test_a_prompt_for_functions_of_one_s_own_asks_for_them(open_session: Open) -> None:
    text = "# define function: n = one(2).\ndef one(n):\n    return 1\n"
    own = parse(text, "fgen", infer=True)
    answers = {
        "go": "say(str(half(2)))",
        "define function: half(2)": "def half(n):\n    return n / 2\n",
    }
    session = open_session(answers)
    prompts = {"ui": parse(UI, "ui"), "fgen": own}
    with Session(session.robot, session.model, SessionSettings(prompts=prompts)) as other:
        assert other.run("go").ok
    assert "\n# define function: n = one(2).\n" in prompts_of(session)[1]


def test_a_prompt_that_is_called_otherwise_is_named_where_there_is_no_ui() -> None:
    prompts = {"tabletop_ui": parse("x = 1\n", "tabletop_ui")}
    with pytest.raises(PromptError, match=r"no 'ui\.py'; rename tabletop_ui\.py to it"):
        Session.open("ravens", Scripted({}), mode="instant", prompts=prompts)


@pytest.mark.parametrize("folder", ["", "run"])
@pytest.mark.parametrize("turn", ["run", "execute"])
def test_the_robot_is_looked_at_once_before_a_turn_and_once_after(
    open_session: Open, monkeypatch: pytest.MonkeyPatch, turn: str, folder: str, tmp_path: Path
) -> None:
    trace = Trace(tmp_path / folder) if folder else None
    session = open_session({"go": "put_first_on_second('red block', 'blue bowl')"}, trace=trace)
    looks: list[str] = []

    def counted(name: str) -> Callable[[], Any]:
        look = getattr(session.robot, name)

        def counting() -> Any:
            looks.append(name)
            return look()

        return counting

    for name in ("context", "positions", "condition", "snapshot"):
        monkeypatch.setattr(session.robot, name, counted(name))
    if turn == "run":
        session.run("go")
    else:
        session.execute("put_first_on_second('red block', 'blue bowl')")
    assert Counter(looks) == dict.fromkeys(("context", "positions", "condition", "snapshot"), 2)


def test_where_nothing_is_seen_nobody_is_asked_what_words_mean() -> None:
    with Session.open("kitchen", Scripted({}), mode="instant", objects=["apple @ desk"]) as session:
        turn = session.execute("say(str(parse_obj_name('all the fruit')))")
        assert (turn.failure, turn.effect.said) == (None, ("[]",))
        assert prompts_of(session) == []


def test_variables_too_many_to_be_given_to_the_next_program_are_not_kept() -> None:
    with Session.open("ravens", "nearest", mode="instant") as session:
        assert session.execute("v0 = [0.5] * 200_000\nv1 = [0.5] * 200_001\n").ok
        assert "too large to be kept" in session.state.dropped["v1"]
        assert session.execute("say(str(len(v0)))").ok
        assert session.execute("image = np.zeros((480, 640, 3))").ok
        assert "image" in session.state.variables
