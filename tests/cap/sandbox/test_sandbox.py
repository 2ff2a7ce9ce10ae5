import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cap.checker.policy import Policy
from cap.errors import (
    ROBOT_ERRORS,
    LMPFailed,
    NotFound,
    SandboxError,
    Unreachable,
    UsageError,
)
from cap.program.scope import Definition, Primitive, Scope
from cap.result import Call, Failure, Result
from cap.sandbox import wire as codec
from cap.sandbox.limits import Limits, Listeners
from cap.sandbox.results import CallAnswer, read_answers
from cap.sandbox.sandbox import Sandbox
from cap.sandbox.worker import MOST_YIELDED
from tests.rows import rows, table


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def scope_of(*functions: Callable[..., Any], **more: Any) -> Scope:
    primitives = [Primitive.of(function, "perception") for function in functions]
    return Scope(primitives={entry.name: entry for entry in primitives}, **more)


def limited(
    sandbox: Sandbox,
    source: str,
    scope: Scope | None = None,
    returns: str | None = None,
    **limits: Any,
) -> Result:
    """Run with other limits, in the same template."""
    before = sandbox.limits
    sandbox.limits = replace(before, **limits)
    try:
        return sandbox.execute(source, scope or Scope(), returns=returns)
    finally:
        sandbox.limits = before


def value_of(sandbox: Sandbox, source: str, scope: Scope | None = None, **more: Any) -> Any:
    result = sandbox.execute(source, scope or Scope(), returns="ret", **more)
    assert result.failure is None, result.failure
    return result.value


def failure_of(sandbox: Sandbox, source: str, scope: Scope | None = None, **more: Any) -> Failure:
    failure = sandbox.execute(source, scope or Scope(), **more).failure
    assert failure is not None
    return failure


def add(a: float, b: float = 10, *, scale: float = 1) -> float:
    return (a + b) * scale


def list_of(values: Any) -> Any:
    return list(values)


VALUES = table(__file__, "values")


@pytest.mark.parametrize(("source", "value", "stdout"), VALUES.values(), ids=VALUES)
def test_a_program_gives_its_value_and_what_it_printed(
    sandbox: Sandbox, source: str, value: Any, stdout: str
) -> None:
    scope = scope_of(add, list_of, groups={"robot": ["add"]})
    result = sandbox.execute(source, scope, returns="ret")
    assert (result.failure, result.value, result.stdout) == (None, value, stdout)


def test_a_variable_that_cannot_cross_is_an_error_of_the_caller(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="cannot cross"):
        sandbox.execute("ret = 1", Scope(variables={"bad": object()}))


# --- calls


@pytest.mark.parametrize("name", ROBOT_ERRORS)
def test_a_robot_error_is_caught_by_its_name(sandbox: Sandbox, name: str) -> None:
    def fail() -> None:
        raise ROBOT_ERRORS[name]("no such block")

    source = f"try:\n    fail()\nexcept {name} as error:\n    ret = str(error)"
    result = sandbox.execute(source, scope_of(fail), returns="ret")
    assert result.value == "no such block"
    assert result.calls[0].error == f"{name}: no such block"


def test_a_robot_error_that_is_not_caught_is_the_robots(sandbox: Sandbox) -> None:
    def find(name: str) -> None:
        raise NotFound(f"no '{name}'\non the table")

    failure = failure_of(sandbox, "def f():\n    find('cup')\nf()", scope_of(find))
    assert (failure.kind, failure.error) == ("raised", "NotFound")
    assert failure.message == "no 'cup' on the table"
    assert (failure.line, failure.robot) == (2, True)


def test_an_error_the_program_raises_itself_is_not_the_robots(sandbox: Sandbox) -> None:
    def find() -> None:
        raise NotFound("no cup")

    source = "try:\n    find()\nexcept NotFound:\n    pass\nraise NotFound('no cup of mine')"
    failure = failure_of(sandbox, source, scope_of(find))
    assert failure.error == "NotFound"
    assert not failure.robot


class TooHigh(Unreachable):
    pass


def test_a_robots_own_kind_of_error_is_caught_by_its_parents_name(sandbox: Sandbox) -> None:
    def lift() -> None:
        raise TooHigh("2 m")

    source = "try:\n    lift()\nexcept Unreachable as error:\n    ret = str(error)"
    assert value_of(sandbox, source, scope_of(lift)) == "2 m"


def test_a_fault_in_a_primitive_is_a_failure_of_the_robot(sandbox: Sandbox) -> None:
    def break_down() -> None:
        raise OSError("x")

    failure = failure_of(sandbox, "break_down()", scope_of(break_down))
    assert (failure.error, failure.robot) == ("RobotError", True)
    assert failure.message == "OSError: x"


def test_a_result_that_cannot_cross_is_a_failure_of_the_robot(sandbox: Sandbox) -> None:
    def look() -> object:
        return object()

    failure = failure_of(sandbox, "look()", scope_of(look))
    assert failure.robot
    assert "'object' cannot cross" in failure.message


def test_a_failed_lmp_keeps_its_own_failure(sandbox: Sandbox) -> None:
    inner = Failure("model", "EmptyCompletion", "nothing said")

    def parse() -> None:
        error = LMPFailed("parse(): nothing said")
        error.failure = inner  # type: ignore[attr-defined]
        raise error

    failure = failure_of(sandbox, "\nparse()", scope_of(parse))
    assert failure == replace(inner, line=2)


# --- limits


FAILURES = table(__file__, "failures")


@pytest.mark.parametrize("case", FAILURES.values(), ids=FAILURES)
def test_a_failing_program_is_a_typed_failure(sandbox: Sandbox, case: Mapping[str, Any]) -> None:
    result = limited(sandbox, case["source"], scope_of(add), "ret", **case.get("limits", {}))
    failure = result.failure
    assert failure is not None
    assert (failure.kind, failure.error, failure.robot) == (case["kind"], case["error"], False)
    assert failure.line == case.get("line", failure.line)
    assert case.get("message", "") in failure.message
    assert "\n" not in failure.message
    assert "forged" not in failure.message
    assert len(result.calls) == case.get("calls", len(result.calls))
    assert len(result.stdout) <= 1000


def test_programs_share_nothing(sandbox: Sandbox) -> None:
    sandbox.execute("left = 1\nnp.extra = 2\nmath.pi = 3", Scope())
    assert failure_of(sandbox, "left").error == "NameError"
    assert failure_of(sandbox, "np.extra").error == "AttributeError"
    assert value_of(sandbox, "ret = math.pi") == np.pi


@rows(
    "draw",
    [
        "np.random.rand()",
        "np.random.default_rng().random()",
        "(__import__('statistics').NormalDist(0, 1).samples(2))",
        "random.Random().random()",
        "(random.seed(), random.random())[1]",
        "(np.random.seed(), np.random.rand())[1]",
        "Own().random()",
    ],
)
def test_random_numbers_start_from_the_programs_seed(sandbox: Sandbox, draw: str) -> None:
    source = f"import random\nclass Own(random.Random): pass\nret = {draw}"
    first, again, other = (value_of(sandbox, source, seed=seed) for seed in (7, 7, 8))
    assert first == again != other


def test_a_group_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="group 'g' names 'missing', which is no primitive"):
        Scope(groups={"g": ["missing"]})


def test_why_a_program_cannot_be_parsed_is_said(sandbox: Sandbox) -> None:
    failure = sandbox.run(f"r = {'-' * 50_000}1").failure
    assert failure is not None
    assert failure.message == "cannot be parsed: it is nested too deeply"


# --- state


KEPT = table(__file__, "kept")


@pytest.mark.parametrize("case", KEPT.values(), ids=KEPT)
def test_what_a_program_leaves(sandbox: Sandbox, case: Mapping[str, Any]) -> None:
    scope = scope_of(add, groups={"robot": ["add"]}, variables=case["given"])
    result = sandbox.execute(case["source"], scope, keep=True)
    assert (result.variables, result.defined) == (case["variables"], case["defined"])
    assert sorted(result.dropped) == case["dropped"]


def test_it_is_told_which_definition_each_function_is(sandbox: Sandbox) -> None:
    kept = (
        Definition("f", "def f(): return 1\n"),
        Definition("g", "def g(): return 1\n"),
        Definition("A", "class A:\n    n = 1\n"),
        Definition("program", "def program(): return 1\n"),
    )
    source = "def h(): return 1\n\ndef g(): return 2\nh = program\ni = lambda: 1\nP = Point\n"
    result = sandbox.execute(source, Scope(definitions=kept), keep=True)
    assert result.defined == {"f": 0, "g": 3, "A": 0, "program": 0}
    assert set(result.dropped) == {"h", "i", "P"}
    result = sandbox.execute("A.n = [A.n]\nA.n[0] = 1", Scope(definitions=kept), keep=True)
    assert "A" in result.dropped


def test_without_keep_nothing_comes_back(sandbox: Sandbox) -> None:
    result = sandbox.execute("a = 1\ndef f(): pass", Scope())
    assert (result.variables, result.defined, result.dropped) == ({}, {}, ())


def test_every_result_names_the_layers_that_held(sandbox: Sandbox) -> None:
    assert sandbox.run("x = 1").layers == sandbox.layers
    assert sandbox.run("1 / 0").layers == sandbox.layers
    assert sandbox.run("import os").layers == ()


# --- what calls bring

LARGE = {
    "an array": "np.zeros(30_000)",
    "empty lists": "[[] for _ in range(15_000)]",
}


@pytest.mark.parametrize("value", LARGE.values(), ids=LARGE)
def test_the_bytes_of_all_calls_are_limited(sandbox: Sandbox, value: str) -> None:
    def say(value: Any) -> None: ...

    scope = Scope(primitives={"say": Primitive.of(say, "action")})
    result = limited(
        sandbox, f"for _ in range(200): say({value})", scope, call_bytes=1 << 20, program_s=30
    )
    assert result.failure is not None
    assert (result.failure.kind, result.failure.error) == ("limit", "CallBytesLimit")
    assert "1 MiB" in result.failure.message
    assert 0 < len(result.calls) < 40


def test_the_bytes_of_results_count_as_well(sandbox: Sandbox) -> None:
    def photo() -> Any:
        return np.zeros((480, 640, 3), np.uint8)

    scope = Scope(primitives={"photo": Primitive.of(photo, "perception")})
    result = limited(
        sandbox, "for _ in range(200): photo()", scope, call_bytes=4 << 20, program_s=30
    )
    assert result.failure is not None
    assert result.failure.error == "CallBytesLimit"
    assert limited(sandbox, "for _ in range(60): photo()", scope).failure is None


@rows("name", ["NotFound", "OutputLimit", "ValueError", "CAP103", "Output\u034fLimit"])
def test_an_exception_of_the_program_has_no_name_of_anothers(sandbox: Sandbox, name: str) -> None:
    failure = failure_of(sandbox, f"class {name}(RobotError): pass\nraise {name}('mine')")
    plain = name.replace("\u034f", "")  # which is drawn like nothing
    assert (failure.kind, failure.error) == ("raised", f"program.{plain}")
    assert failure.message == "mine"
    assert failure.cause == "program"


def test_before_each_call_it_is_told_which_line_makes_it(sandbox: Sandbox) -> None:
    source = (
        "add(1)\ndef own(n):\n    return add(n)\n\nlist(map(own, [1, 2]))\nadd(b=1, a=given(4))"
    )
    kept = Definition("given", "def given(n):\n\n\n    return add(n)\n", "generated")
    lines: list[int] = []
    calls: list[Call] = []
    scope = replace(scope_of(add), definitions=(kept,))
    result = sandbox.execute(source, scope, listeners=Listeners(calls.append, lines.append))
    assert result.failure is None
    assert lines == [1, 3, 3, 6, 6]
    assert [call.args for call in calls] == [(1,), (1,), (2,), (4,), ()]
    assert (calls[-1].kwargs, calls[-1].result) == ({"b": 1, "a": 14}, 15)
    assert result.calls == tuple(calls)


def test_what_is_printed_is_told_before_the_call_that_follows(sandbox: Sandbox) -> None:
    source = "print('a')\nadd(1)\nadd(2)\nprint('b', end='')\nprint('c')\nadd(b=1, a=3)\nprint('d')"
    told: list[Any] = []
    listeners = Listeners(lambda call: told.append(call.name), lambda line: None, told.append)
    result = sandbox.execute(source, scope_of(add), listeners=listeners)
    assert told == ["a\n", "add", "add", "bc\n", "add"]
    assert result.stdout == "a\nbc\nd\n"


# --- calling what a program defined, many times in one worker

POLICY = dataclasses.replace(Policy.benchmark(), library=False)


@pytest.fixture(scope="module")
def caller() -> Iterator[Sandbox]:
    with Sandbox(limits=Limits(program_s=5), policy=POLICY) as opened:
        yield opened


def called(caller: Sandbox, source: str, *arguments: Any) -> Sequence[CallAnswer]:
    calls = [((value,), {}) for value in arguments]
    result = caller.call_each(source, Scope(), "f", calls)
    assert result.failure is None, result.failure
    found: Sequence[CallAnswer] = result.value
    return found


def test_each_call_has_its_answer(caller: Sandbox) -> None:
    source = "def f(x, *, by=1):\n    if x < 0: raise ValueError('less\\nthan')\n    return x + by"
    calls = [((1,), {}), ((-1,), {}), ((2,), {"by": 5})]
    assert caller.call_each(source, Scope(), "f", calls).value == [
        CallAnswer("value", 2),
        CallAnswer("raises", "ValueError", "less than"),
        CallAnswer("value", 7),
    ]


def test_calls_share_the_programs_state_and_no_arguments(caller: Sandbox) -> None:
    shared = [1]
    source = "seen = []\ndef f(x):\n    x.append(0)\n    seen.append(len(x))\n    return seen\n"
    assert [a.value for a in called(caller, source, shared, shared)] == [[2], [2, 2]]
    assert shared == [1]


@pytest.mark.parametrize(
    ("body", "kind", "value"),
    [
        ("from collections import Counter\n    return Counter('aab')", "value", {"a": 2, "b": 1}),
        ("from fractions import Fraction\n    return [Fraction(4, 2)]", "value", [2]),
        ("return {1: 2}.items()", "value", {(1, 2)}),
        ("class T(str):\n        def __str__(self): return 'b'\n    return T('a')", "value", "a"),
        ("class L(list): pass\n    return L([L([1])])", "value", [[1]]),
        ("return (i for i in range(3))", "yields", [0, 1, 2]),
    ],
)
def test_what_comes_back_is_plain(caller: Sandbox, body: str, kind: str, value: Any) -> None:
    (answer,) = called(caller, f"def f(x):\n    {body}\n", 0)
    assert (answer.kind, answer.value) == (kind, value)
    plain = (list, tuple, set, dict, int, str)
    assert type(answer.value) in plain


@pytest.mark.parametrize(
    ("source", "kind", "told"),
    [
        ("g = 1\n", "raised", "without defining 'f'"),
        ("def f(x):\n    class Own: pass\n    return Own()\n", "raised", "cannot cross"),
        ("def f(x):\n    while True: pass\n", "timeout", "longer"),
        ("def f(x):\n    raise SystemExit\n", "raised", "SystemExit"),
    ],
)
def test_what_ends_a_program_ends_its_calls(
    caller: Sandbox, source: str, kind: str, told: str
) -> None:
    caller.limits = Limits(program_s=0.3)
    result = caller.call_each(source, Scope(), "f", [((0,), {})])
    assert result.failure is not None
    assert (result.failure.kind, result.value) == (kind, None)
    assert told in str(result.failure)
    caller.limits = Limits(program_s=5)


def test_an_argument_that_cannot_cross_is_the_callers_fault(caller: Sandbox) -> None:
    with pytest.raises(SandboxError, match="a value of type 'object' cannot cross"):
        caller.call_each("def f(x): pass\n", Scope(), "f", [((object(),), {})])


def test_a_program_may_hold_any_name_but_not_the_librarys(caller: Sandbox) -> None:
    source = "answers = calls = 7\ndef f(x):\n    return [answers, calls, __name__]\n"
    assert called(caller, source, 0)[0].value == [7, 7, "program"]
    (answer,) = called(caller, "def f(x):\n    return math.pi\n", 0)
    assert (answer.kind, answer.value) == ("raises", "NameError")


NOTHING = codec.encode(None)


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [["value", NOTHING, ""]] * 2,
        [["value", NOTHING]],
        [["value", None, ""]],
        [["passed", NOTHING, ""]],
        [["yields", codec.encode(1), ""]],
        [7],
    ],
)
def test_what_no_worker_sends_is_no_answer(sent: Any) -> None:
    assert read_answers(sent, 1) is None


def test_too_many_values_are_not_waited_for(caller: Sandbox) -> None:
    source = "def f(n):\n    yield from range(n)\n"
    enough, much = called(caller, source, MOST_YIELDED, MOST_YIELDED + 1)
    assert (len(enough.value), much.kind) == (MOST_YIELDED, "raises")


def test_what_a_worker_says_of_an_exception_is_cut() -> None:
    name, message = codec.encode("E" * 100_000), "m\n" * 100_000
    (answer,) = read_answers([["raises", name, message]], 1) or []
    assert len(answer.value) < 100
    assert len(answer.message) <= 2000
    assert "\n" not in answer.message
