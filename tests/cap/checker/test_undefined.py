"""Names that nobody binds, names that are meant to be others, and calls that do not fit."""

import ast
import builtins
import collections
import inspect
import symtable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cap.checker.checker import Policy, Violation, examine
from cap.checker.undefined import near_miss, undefined
from cap.program.program import Program
from cap.program.scope import Definition, Primitive, Scope
from tests.fakes.programs import FREE, NAMES, programs
from tests.rows import rows, table

BUILTINS = frozenset(dir(builtins)) | {"__annotations__"}


def names(source: str, known: frozenset[str] = BUILTINS) -> set[str]:
    return {entry.name for entry in undefined(Program.parse(source), known)}


def oracle(source: str) -> set[str]:
    """Return what the compiler's symbol tables say is read globally and bound nowhere."""
    top = symtable.symtable(source, "<oracle>", "exec")
    used: set[str] = set()
    bound: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            here = table is top or (symbol.is_global() and not symbol.is_assigned())
            by_global = symbol.is_declared_global() and symbol.is_assigned()
            if (table is top or by_global) and (symbol.is_assigned() or symbol.is_imported()):
                bound.add(symbol.get_name())
            if (here or by_global) and symbol.is_referenced():
                used.add(symbol.get_name())
    return used - bound - BUILTINS - {"__conditional_annotations__"}  # of Python 3.14


TABLE = table(__file__, "TABLE")


@rows(("source", "expected"), TABLE.values(), ids=TABLE)
def test_a_name_is_undefined_if_nobody_binds_it(source: str, expected: list[str]) -> None:
    assert names(source) == set(expected)


FLOW = {"class body", "annotated local", "walrus leaves a comprehension"}
"""Where the symbol tables differ: they know neither order nor what is never evaluated, and from
Python 3.12 on not what `:=` sets in a comprehension."""


@rows("source", [TABLE[key][0] for key in TABLE if key not in FLOW])
def test_the_answer_is_the_symbol_tables(source: str) -> None:
    assert names(source) == oracle(source) - {"__class__"}


RANDOM = settings(
    max_examples=60,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@RANDOM
@given(programs(), st.sets(st.sampled_from([*NAMES, *FREE])))
def test_for_any_program_the_answer_is_the_symbol_tables(source: str, known: set[str]) -> None:
    assume(compiles(source))
    assert names(source, BUILTINS | known) == oracle(source) - known


@RANDOM
@given(programs())
def test_for_any_program_every_use_of_a_name_is_told(source: str) -> None:
    assume(compiles(source))
    tree = ast.parse(source)
    uses = collections.Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    called = {name: [node for node in ast.walk(tree) if is_call(node, name)] for name in FREE}
    for entry in undefined(Program.parse(source), BUILTINS):
        if entry.name not in FREE:
            continue  # somewhere else in the program it may be a local
        assert len(entry.calls) == len(called[entry.name])
        assert len(entry.calls) + len(entry.reads) == uses[entry.name]
        assert {(site.line, site.arguments, site.keywords) for site in entry.calls} == {
            (
                node.lineno,
                tuple(map(ast.unparse, node.args)),
                tuple(keyword.arg or "**" for keyword in node.keywords),
            )
            for node in called[entry.name]
        }


def compiles(source: str) -> bool:
    try:
        compile(source, "<generated>", "exec")
    except SyntaxError:
        return False
    return True


def is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def calls(source: str) -> list[str]:
    return [
        site.text for entry in undefined(Program.parse(source), BUILTINS) for site in entry.calls
    ]


CALLS = table(__file__, "CALLS")


@rows(("source", "expected"), CALLS.values(), ids=CALLS)
def test_every_call_site_is_found_in_order(source: str, expected: list[str]) -> None:
    assert calls(source) == expected


def test_double_stars_are_named() -> None:
    (entry,) = undefined(Program.parse("f(*[1], **{'a': 1})"), BUILTINS)
    assert entry.calls[0].arguments == ("*[1]",)
    assert entry.calls[0].keywords == ("**",)


READS = table(__file__, "READS")


@pytest.mark.parametrize(("source", "expected"), READS.values(), ids=READS)
def test_where_a_name_is_only_read_is_told(source: str, expected: tuple[str, ...]) -> None:
    (entry,) = undefined(Program.parse(source), BUILTINS)
    assert entry.reads == tuple(expected)


def test_names_come_in_the_order_of_first_use() -> None:
    found = undefined(Program.parse("z(1)\na(2)\nz(a)\nm"), BUILTINS)
    assert [(entry.name, entry.line) for entry in found] == [("z", 1), ("a", 2), ("m", 4)]


# --- names that are meant to be others

KNOWN = ["get_obj_pos", "put_first_on_second", "say", "get_robot_pos", "goto_loc"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("get_obj_position", "get_obj_pos"),
        ("get_object_position", "get_obj_pos"),
        ("getObjPos", "get_obj_pos"),
        ("get_obj_poss", "get_obj_pos"),
        ("get_ojb_pos", "get_obj_pos"),
        ("put_first_on_secnd", "put_first_on_second"),
        ("goto_location", "goto_loc"),
        ("goto_lok", "goto_loc"),
    ],
)
def test_one_edit_or_the_same_words(name: str, meant: str) -> None:
    assert near_miss(name, KNOWN) == meant


@pytest.mark.parametrize(
    "name",
    [
        "get_obj_positions",
        "get_obj_pos_3d",
        "pay",
        "get_pos",
        "put_second_on_first",
        "sort_by_size",
    ],
)
def test_a_name_of_its_own(name: str) -> None:
    assert near_miss(name, KNOWN) is None


# --- signatures

FIXED = settings(max_examples=150, derandomize=True, database=None, deadline=None)


def get_pos(name: str) -> list[float]:
    return [0.0, 0.0]


def place(obj: str, at: list[float], *, speed: float = 1.0) -> None:
    pass


def ask(description: str, context: str = "", **given: Any) -> None:
    pass


SCOPE = Scope(
    primitives={f.__name__: Primitive.of(f, "action") for f in (get_pos, place, ask)},
    variables={"seen": 1},
    definitions=(
        Definition("shift", "def shift(pt, by=0):\n    return pt"),
        Definition("Cup", "class Cup:\n    pass"),
        Definition("wrapped", "@staticmethod\ndef wrapped(a): return a"),
        Definition("twice", "def twice(twice): return twice"),
    ),
    groups={"robot": ("get_pos", "place")},
)


def faults(source: str, scope: Scope = SCOPE) -> tuple[Violation, ...]:
    found = examine(Program.parse(source), scope).violations
    return tuple(entry for entry in found if entry.rule in ("CAP109", "CAP113"))


FAULTY = table(__file__, "FAULTY")


@rows(("source", "reason"), FAULTY.values(), ids=FAULTY)
def test_what_cannot_be_is_one_fault(source: str, reason: str) -> None:
    (fault,) = faults(source)
    assert reason in fault.reason
    assert "\n" not in fault.reason


SOUND = table(__file__, "SOUND")


@rows("source", SOUND.values(), ids=SOUND)
def test_what_may_be_is_no_fault(source: str) -> None:
    assert faults(source) == ()


def test_a_variable_may_have_the_name_of_a_library() -> None:
    scope = Scope(variables={"np": 1, "get_pos": 2})
    assert faults("np.no_such\nget_pos()", scope) == ()


def test_a_library_that_is_not_in_scope_is_not_looked_at() -> None:
    program = Program.parse("Point.centre")
    assert examine(program, policy=Policy(library=False)).violations == ()


# --- against Python itself

LETTERS = ("a", "b", "c", "d")


@st.composite
def parameters(draw: st.DrawFn) -> str:
    """Return a parameter list that Python accepts."""
    names = draw(st.permutations(LETTERS))[: draw(st.integers(0, 4))]
    plain = draw(st.integers(0, len(names)))
    defaults = draw(st.integers(0, plain))
    parts = [
        f"{name}=0" if number >= plain - defaults else name
        for number, name in enumerate(names[:plain])
    ]
    if names[plain:]:
        parts.append(draw(st.sampled_from(["*", "*rest"])))
        parts += [name + draw(st.sampled_from(["", "=0"])) for name in names[plain:]]
    elif draw(st.booleans()):
        parts.append("*rest")
    return ", ".join(parts + ["**more"] * draw(st.booleans()))


@st.composite
def arguments(draw: st.DrawFn) -> str:
    keywords = draw(st.lists(st.sampled_from([*LETTERS, "e", "rest"]), unique=True, max_size=4))
    return ", ".join(["1"] * draw(st.integers(0, 4)) + [f"{name}=1" for name in keywords])


def accepted(function: Any, given: str) -> bool:
    try:
        eval(f"function({given})", {"function": function})
    except TypeError:
        return False
    return True


def function_of(header: str) -> Any:
    space: dict[str, Any] = {}
    exec(f"def f({header}): pass", space)
    return space["f"]


@FIXED
@given(parameters(), arguments())
def test_a_call_of_an_own_or_a_kept_function_is_judged_as_python_does(
    header: str, given: str
) -> None:
    right = accepted(function_of(header), given)
    defined, call = f"def f({header}): pass", f"f({given})"
    assert (not faults(f"{defined}\n{call}\n", Scope())) == right
    assert (not faults(f"{call}\n", Scope(definitions=[Definition("f", defined)]))) == right


@FIXED
@given(parameters(), arguments())
def test_a_call_that_fits_a_primitive_is_no_fault(header: str, given: str) -> None:
    function = function_of(header)
    scope = Scope(primitives={"f": Primitive.of(function, "action")})
    fits = accepted(inspect.signature(function).bind, given)
    found = faults(f"f({given})\n", scope)
    assert not (found and fits)
    assert found or accepted(function, given)


@settings(FIXED, max_examples=60, suppress_health_check=list(HealthCheck))
@given(programs())
def test_any_program_is_looked_at_without_a_crash(source: str) -> None:
    scope = Scope(
        primitives={name: Primitive.of(get_pos, "action") for name in "um"},
        definitions=[Definition("v", "def v(a): pass"), Definition("a", "def a(): pass")],
        groups={"p": ("m",), "b": ("m",)},
    )
    for fault in faults(source, scope):
        assert 1 <= fault.line <= source.count("\n")
