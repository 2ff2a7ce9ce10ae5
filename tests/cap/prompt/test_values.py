"""What a model is told of functions and values: docs from docstrings, values as text, kinds."""

import math
from typing import Any

import numpy as np
import pytest
import shapely

from cap.checker.checker import examine
from cap.program.program import Program
from cap.program.scope import Primitive, Scope
from cap.prompt.context import assignments
from cap.prompt.docs import call_of, imports, primitive_docs
from cap.prompt.prompt import kind_error
from cap.sandbox import wire
from cap.sandbox.sandbox import Sandbox
from tests.rows import rows


def goto(pos: list[float], speed: float = 0.25) -> list[float]:
    """Drive to a point.

    It keeps its heading.

    Args:
        pos: x and y in metres
            in the table frame.
        speed: In m/s.

    Returns:
        Where it is now,
        in metres.

    Raises:
        Unreachable: It is off the table;
            nothing moved.
    """
    return pos


def follow(path: list[float], speed: float = 0.25) -> float:
    """Drive along a path.

    Args:
        path: Points.
        speed: In m/s.

    Raises:
        Unreachable: It is off the table;
            nothing moved.
    """
    return 0.0


def bare(names: list[str]) -> None:
    pass


def told(*functions: object, about: str = "", groups: dict[str, list[str]] | None = None) -> str:
    primitives = {f.__name__: Primitive.of(f, "action") for f in functions}  # type: ignore
    return primitive_docs(about, primitives, groups or {})


def test_a_function_is_one_line_with_all_its_docs() -> None:
    assert told(goto) == (
        '"""goto(pos, speed=0.25): Drive to a point. It keeps its heading. pos: x and y in metres '
        "in the table frame. speed: In m/s. Returns where it is now, in metres. Raises "
        'Unreachable: It is off the table; nothing moved.\n"""'
    )


def test_what_was_told_of_a_function_before_is_not_told_again() -> None:
    *_, last, _ = told(goto, follow).split("\n")
    assert last == (
        "follow(path, speed=0.25) -> float: Drive along a path. path: Points. Raises Unreachable."
    )


def test_a_function_without_docs_shows_its_types() -> None:
    assert told(bare) == '"""bare(names: list[str])\n"""'


def test_functions_of_a_group_are_shown_as_they_are_called() -> None:
    assert told(goto, groups={"robot": ["goto"]}).startswith('"""robot.goto(pos, speed=0.25): ')


def test_a_nested_lmp_takes_a_description() -> None:
    def parse(description: str, context: str = "", **given: object) -> str:
        """Return a name."""
        return ""

    assert call_of(Primitive.of(parse, "lmp")) == "parse(description)"


def test_without_docs_there_is_no_block() -> None:
    assert told() == ""


def test_no_line_of_the_docs_can_be_taken_for_an_instruction_or_end_the_block() -> None:
    def odd() -> None:
        pass

    odd.__doc__ = 'One.\n\n# two.\n\n"""\n'
    block = told(odd, about="# three.\n\n# four.")
    assert not [line for line in block.split("\n") if line.startswith("#")]
    assert block.count('"""') == 2


def test_what_a_function_may_call_is_named_by_lines_that_import_it() -> None:
    looks, asks = Primitive.of(len, "perception", "get"), Primitive.of(len, "lmp", "parse")
    assert imports({"get": looks}) == "from robot import get"
    told = "from robot import get, put\nfrom lmps import parse"
    assert imports({"get": looks, "parse": asks, "put": looks}) == told
    assert imports({}) == ""


# --- values as text that makes them again, and the kinds of value that a prompt's header names

NAN, INF = math.nan, math.inf
HUGE = 10**5000  # more digits than Python shows
VALUES: tuple[Any, ...] = (
    *(0.1 + 0.2, -0.0, NAN, -INF, 10**50, True, None, 1 - 2j, b"\x00a", range(1, 9, 2)),
    'it\'s "so"\n\x1b\x80 é\u202e',
    [1, [2.5, None], "a", []],
    ((), (1,), (1, (2, 3))),
    [set(), {1}, frozenset(), frozenset({2})],
    {"a": {1: (2, 3)}, (1, 2): [], None: INF},
    np.array([[0.1, 2.0], [NAN, -INF]]),
    np.array([True, False]),
    np.array(2.5),
)
LOOP: list[Any] = [1]
LOOP.append(LOOP)
NO_LITERAL = (ValueError("x"), shapely.Point(0.1, 0.2), LOOP, 1 << 20_000, list(range(10_000)))


def test_a_program_makes_the_same_values_again() -> None:
    names = {f"x{number}": value for number, value in enumerate(VALUES)}
    program = Program.parse(assignments(f"x = [{', '.join(names)}]\n", names) + "pass\n")
    assert examine(program, Scope()).violations == ()
    with Sandbox() as sandbox:
        result = sandbox.execute(program, Scope(), keep=True)
    assert {name: wire.encode(result.variables[name]) for name in names} == {
        name: wire.encode(value) for name, value in names.items()
    }


@rows("value", NO_LITERAL, ids=type)
def test_what_has_no_literal_is_said_in_a_comment(value: Any) -> None:
    _, line, *rest = assignments("x\n", {"x": value}).splitlines()
    assert line.startswith("# x: its value cannot be written here (")
    assert rest == [""]


@rows(
    ("source", "names"),
    [
        ("say('hello')", ""),
        ("x = 2", ""),
        ("x += 1", "x"),
        ("del x", "x"),
        ("def f():\n    return y\nz = f()", "y"),
        ("for x in [y]:\n    pass", "y"),
    ],
)
def test_only_what_is_read_is_written(source: str, names: str) -> None:
    lines = assignments(source, {"x": 1, "y": 2, "z": 3}).splitlines()
    assert [line[0] for line in lines if line[:1] not in ("", "#")] == [*names]


FITS: dict[str, list[Any]] = {
    "name": ["red block", ""],
    "names": [[], ["a", "b"], ("a",)],
    "point": [[0.1, 0.2], (1, 2, 3), np.array([1.0, 2.0])],
    "points": [[[0, 1], [2, 3]], np.zeros((4, 3)), [np.zeros(2), np.ones(2)]],
    "number": [1, 1.5, np.float64(2), np.int32(3)],
    "boolean": [True, np.bool_(True)],
    "any": [None, [1]],
}
FITS_NOT: dict[str, list[Any]] = {
    "name": [None, 1, ["a"], b"a"],
    "names": ["red block", [1], {"a"}, np.array(["a"]), None],
    "point": [
        *([1], [1, 2, 3, 4], [[1, 2]], [1, NAN], ["1", "2"], "12", [True, False], [1, None]),
        *([HUGE, 1], [1j, 2], [1, [2]], np.zeros(0), {0: 1, 1: 2}, None),
    ],
    "points": [[1, 2], [[1, 2], [3]], [[NAN, 0]], np.zeros((2, 2, 2)), None],
    "number": [True, np.bool_(False), "1", NAN, INF, 1j, [1], None],
    "boolean": [0, "True", None, []],
}


@pytest.mark.parametrize("kind", FITS)
def test_what_is_of_a_kind_and_what_is_not(kind: str) -> None:
    assert [value for value in FITS[kind] if kind_error(value, [kind])] == []
    for value in FITS_NOT.get(kind, ()):
        message = kind_error(value, [kind]) or ""
        assert message.startswith(f"expected {kind}, got "), value
        assert len(message) < 120
    assert kind_error(3, ["name", "names"]) == "expected name or names, got 3"
