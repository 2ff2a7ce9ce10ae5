import ast
import builtins
import collections
import dis
import symtable

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cap.checker.undefined import undefined
from cap.program.program import Program
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


def loaded_by_the_code(source: str) -> set[str]:
    """Return what the compiled code loads as a global and no instruction of it binds."""
    used: set[str] = set()
    bound: set[str] = set()
    codes = [(compile(source, "<oracle>", "exec"), True)]
    while codes:
        code, top = codes.pop()
        codes += [(part, False) for part in code.co_consts if hasattr(part, "co_code")]
        steps = [(step.opname, step.argval) for step in dis.get_instructions(code)]
        stored = {name for kind, name in steps if kind in ("STORE_NAME", "DELETE_NAME")}
        if top:
            bound |= stored
        bound |= {name for kind, name in steps if kind in ("STORE_GLOBAL", "DELETE_GLOBAL")}
        loaded = {name for kind, name in steps if kind in ("LOAD_NAME", "LOAD_GLOBAL")}
        used |= loaded if top else loaded - stored
    return used - bound - BUILTINS - {"__conditional_annotations__"}  # of Python 3.14


RANDOM = settings(
    max_examples=60,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@RANDOM
@given(programs())
def test_for_any_program_the_answer_is_the_symbol_tables(source: str) -> None:
    assume(compiles(source))
    assert names(source) == oracle(source)


@RANDOM
@given(programs())
def test_for_any_program_the_answer_is_what_the_code_loads(source: str) -> None:
    assume(compiles(source))
    assert names(source) == loaded_by_the_code(source)


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


@RANDOM
@given(programs(), st.sets(st.sampled_from([*NAMES, *FREE])))
def test_what_is_known_is_all_that_is_taken_off(source: str, known: set[str]) -> None:
    assume(compiles(source))
    assert names(source, BUILTINS | known) == names(source) - known


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


def test_a_call_site_has_its_arguments() -> None:
    (entry,) = undefined(Program.parse("\ny = f(1, [2], unit='m')"), BUILTINS)
    assert (entry.name, entry.line) == ("f", 2)
    (site,) = entry.calls
    assert (site.line, site.arguments, site.keywords) == (2, ("1", "[2]"), ("unit",))


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


def test_a_known_name_is_defined() -> None:
    assert names("pick(1)\nplace(2)", BUILTINS | {"pick"}) == {"place"}


def test_nothing_is_executed() -> None:
    source = "f()\nraise SystemExit\n"
    assert [entry.name for entry in undefined(Program.parse(source), BUILTINS)] == ["f"]
