"""Programs that need neither numpy nor shapely run without them, and nobody can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from cap.checker.policy import Policy
from cap.program.scope import Definition, Primitive, Scope
from cap.result import Result
from cap.sandbox.parent.needs import is_plain, words_of
from cap.sandbox.parent.template_client import TemplateClient
from cap.sandbox.sandbox import Sandbox


@pytest.fixture(scope="module")
def template() -> Iterator[TemplateClient]:
    opened = TemplateClient()
    yield opened
    opened.close()


def get_position() -> np.ndarray:
    """Return a point."""
    return np.array([1.0, 2.0])


PRIMITIVES = {"get_position": Primitive.of(get_position, "perception")}
PLAIN = {
    "a sum": "ret = 1 + 1",
    "classes": "class A:\n    def __init__(self, x):\n        self.x = x\nret = A(3).x",
    "modules": "import re, statistics\nret = [re.findall('a', 'aba'), statistics.mean([1, 2])]",
    "random numbers": "import random\nret = [random.random(), random.choice('abc')]",
    "an exception": "ret = {}['x']",
    "rich data": "ret = [(1, {2, 3}, frozenset([4])), range(5), 1j, 2**70, b'x', None]",
    "output": "print('hello', [1, 2])\nret = 0",
    "type of a value": "ret = [str(type(1)), isinstance(1, int), type(math).__name__]",
}
WITH_LIBRARIES = {
    "np": "ret = np.mean([1, 2])",
    "an import": "import numpy\nret = float(numpy.sqrt(4))",
    "shapely": "ret = Point(0, 0).distance(Point(3, 4))",
    "letters that read as np": "ret = \N{MATHEMATICAL BOLD SMALL N}p.sqrt(4.0)",
    "a call of the robot": "ret = float(get_position()[1])",
    "every name": "ret = sorted(n for n in dir() if n in ('np', 'math'))",
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_program_is_the_same_with_the_libraries(
    name: str, template: TemplateClient
) -> None:
    scope = Scope(primitives=PRIMITIVES)
    assert is_plain(words_of(PLAIN[name], scope), scope)
    plain = _run(PLAIN[name], template, scope)
    full = _run(PLAIN[name] + "\n# np", template, scope)
    assert plain.failure == full.failure
    assert repr((plain.value, plain.stdout)) == repr((full.value, full.stdout))


@pytest.mark.parametrize("name", WITH_LIBRARIES)
def test_a_program_that_may_need_the_libraries_has_them(
    name: str, template: TemplateClient
) -> None:
    scope = Scope(primitives=PRIMITIVES)
    assert not is_plain(words_of(WITH_LIBRARIES[name], scope), scope)
    result = _run(WITH_LIBRARIES[name], template, scope)
    if name == "every name" and result.failure is not None:  # the check refuses it
        assert result.failure.kind in ("violation", "undefined")
    else:
        assert result.failure is None, result.failure


VALUES: Mapping[str, tuple[Any, bool]] = {
    "numbers": ([1, 2.5, {"a": (1, None)}], True),
    "an array": (np.zeros(2), False),
    "an array within": ({"a": [np.zeros(2)]}, False),
    "a number of numpy": (np.float64(1), False),
    "very many": (list(range(100_000)), False),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_a_session_holds_counts(name: str) -> None:
    value, expected = VALUES[name]
    assert is_plain({"ret"}, Scope(variables={"kept": value})) is expected


def test_what_a_kept_function_names_counts() -> None:
    kept = Definition("norm", "def norm(v):\n    return np.linalg.norm(v)")
    scope = Scope(definitions=[kept])
    assert not is_plain(words_of("ret = norm([3, 4])", scope), scope)


def test_arguments_of_numpy_reach_a_function_that_names_it_not(template: TemplateClient) -> None:
    sandbox = Sandbox(template=template, policy=Policy.benchmark())
    source = "def last(values):\n    return values[-1]"
    result = sandbox.call_each(source, Scope(), "last", [([np.array([1.0, 2.0])], {})])
    assert result.failure is None
    assert result.value[0].value == 2.0


def test_what_is_asked_of_a_program_counts(template: TemplateClient) -> None:
    sandbox = Sandbox(template=template)
    asked = sandbox.run("ret = 1", returns="Point")
    assert asked.failure is not None
    assert asked.failure.error == "TypeError", asked.failure  # it is there, and no plain data
    called = sandbox.call_each("ret = 1", Scope(), "Point", [([1.0, 2.0], {})])
    assert called.failure is None, called.failure


def test_a_worker_without_the_libraries_cannot_send_what_looks_like_theirs() -> None:
    """Its pipe is the worker's own: what it may hold is the parent's to say."""
    plain = TemplateClient(libraries=False)
    try:
        result = Sandbox(template=plain).run("class ndarray: pass\nret = ndarray()", returns="ret")
    finally:
        plain.close()
    assert result.failure is not None
    assert "'ndarray' cannot cross" in result.failure.message


def _run(source: str, template: TemplateClient, scope: Scope) -> Result:
    return Sandbox(scope, template=template).run(source, returns="ret")
