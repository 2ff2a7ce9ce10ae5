"""Calling what a program defined, many times in one worker."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from cap.checker.policy import Policy
from cap.errors import SandboxError
from cap.program.scope import Scope
from cap.sandbox import wire as codec
from cap.sandbox.limits import Limits
from cap.sandbox.results import CallAnswer, read_answers
from cap.sandbox.sandbox import Sandbox
from cap.sandbox.worker import MOST_YIELDED

POLICY = dataclasses.replace(Policy.benchmark(), library=False)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(limits=Limits(program_s=5), policy=POLICY) as opened:
        yield opened


def called(sandbox: Sandbox, source: str, *arguments: Any) -> Sequence[CallAnswer]:
    calls = [((value,), {}) for value in arguments]
    result = sandbox.call_each(source, Scope(), "f", calls)
    assert result.failure is None, result.failure
    found: Sequence[CallAnswer] = result.value
    return found


def test_each_call_has_its_answer(sandbox: Sandbox) -> None:
    source = "def f(x, *, by=1):\n    if x < 0: raise ValueError('less\\nthan')\n    return x + by"
    calls = [((1,), {}), ((-1,), {}), ((2,), {"by": 5})]
    assert sandbox.call_each(source, Scope(), "f", calls).value == [
        CallAnswer("value", 2),
        CallAnswer("raises", "ValueError", "less than"),
        CallAnswer("value", 7),
    ]


def test_calls_share_the_programs_state_and_no_arguments(sandbox: Sandbox) -> None:
    shared = [1]
    source = "seen = []\ndef f(x):\n    x.append(0)\n    seen.append(len(x))\n    return seen\n"
    assert [a.value for a in called(sandbox, source, shared, shared)] == [[2], [2, 2]]
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
def test_what_comes_back_is_plain(sandbox: Sandbox, body: str, kind: str, value: Any) -> None:
    (answer,) = called(sandbox, f"def f(x):\n    {body}\n", 0)
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
    sandbox: Sandbox, source: str, kind: str, told: str
) -> None:
    sandbox.limits = Limits(program_s=0.3)
    result = sandbox.call_each(source, Scope(), "f", [((0,), {})])
    assert result.failure is not None
    assert (result.failure.kind, result.value) == (kind, None)
    assert told in str(result.failure)
    sandbox.limits = Limits(program_s=5)


def test_an_argument_that_cannot_cross_is_the_callers_fault(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="a value of type 'object' cannot cross"):
        sandbox.call_each("def f(x): pass\n", Scope(), "f", [((object(),), {})])


def test_a_program_may_hold_any_name_but_not_the_librarys(sandbox: Sandbox) -> None:
    source = "answers = calls = 7\ndef f(x):\n    return [answers, calls, __name__]\n"
    assert called(sandbox, source, 0)[0].value == [7, 7, "program"]
    (answer,) = called(sandbox, "def f(x):\n    return math.pi\n", 0)
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


def test_too_many_values_are_not_waited_for(sandbox: Sandbox) -> None:
    source = "def f(n):\n    yield from range(n)\n"
    enough, much = called(sandbox, source, MOST_YIELDED, MOST_YIELDED + 1)
    assert (len(enough.value), much.kind) == (MOST_YIELDED, "raises")


def test_what_a_worker_says_of_an_exception_is_cut() -> None:
    name, message = codec.encode("E" * 100_000), "m\n" * 100_000
    (answer,) = read_answers([["raises", name, message]], 1) or []
    assert len(answer.value) < 100
    assert len(answer.message) <= 2000
    assert "\n" not in answer.message
