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
from tests.rows import rows

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
    return used - bound - BUILTINS


TABLE = {
    "a call": ("f(1)", {"f"}),
    "an attribute": ("a.b.c()", {"a"}),
    "an item": ("d[k] = v", {"d", "k", "v"}),
    "delete an item": ("del d[k], e.a", {"d", "k", "e"}),
    "bound before": ("x = 1\nx", set()),
    "bound after": ("def f(): return g()\ndef g(): return 1", set()),
    "bound in a branch": ("if c:\n    x = 1\nx", {"c"}),
    "bound by a loop": ("for i in xs:\n    pass\ni", {"xs"}),
    "bound by unpacking": ("(a, [b, *c]), d = t\na, b, c, d", {"t"}),
    "bound by with": ("with o() as (a, b):\n    a, b", {"o"}),
    "bound by walrus": ("if (n := f()):\n    n", {"f"}),
    "walrus leaves a comprehension": ("[(y := x) for x in xs]\ny", {"xs"}),
    "bound by import": ("import a.b, c as d\nfrom e import f as g\na, d, g, c, f", {"c", "f"}),
    "augmented": ("x += y", {"y"}),
    "deleted": ("x = 1\ndel x\nx", set()),
    "except-as": ("try:\n    f()\nexcept E as e:\n    e\ng(e)", {"f", "E", "g"}),
    "match captures": (
        "match p:\n    case {'a': b, **r}: b, r\n    case [c, *d]: c, d\n"
        "    case K(x=e) as g: g, e",
        {"p", "K"},
    ),
    "match values": ("match p:\n    case Colour.RED: pass", {"p", "Colour"}),
    "parameters": ("def f(a, b=B, *c, d, e=E, **g): return a, b, c, d, e, g, h", {"B", "E", "h"}),
    "positional only": ("def f(a, /, b): return a, b, c", {"c"}),
    "defaults see the outside": ("def f(a=a): return a", {"a"}),
    "annotations": ("def f(a: A, *b: B) -> C: pass", {"A", "B", "C"}),
    "annotated variable": ("x: T = 1", {"T"}),
    "annotated local": ("def f():\n    x: T = 1\n    return x", set()),
    "annotated in a class": ("class A:\n    x: T = 0\n    y: int = 1", {"T"}),
    "decorators": ("@d(k)\ndef f(): pass\n@e\nclass A: pass", {"d", "k", "e"}),
    "lambda": ("g = lambda a, b=c: a + b + d", {"c", "d"}),
    "nested function": ("def f():\n    def g(): return h() + a\n    a = 1\n    return g", {"h"}),
    "nested calls the outer": ("def f():\n    def g(): return f()\n    return g()", set()),
    "local function": ("def f():\n    def g(): pass\n    g()\ng()", {"g"}),
    "comprehension variable": ("[x for x in xs if p(x)]\nx", {"xs", "p", "x"}),
    "comprehension over itself": ("[x for x in x]", {"x"}),
    "nested comprehension": ("[[a for a in b] for b in c]", {"c"}),
    "dict comprehension": ("{k: v + w for k, v in d.items()}", {"d", "w"}),
    "generator in a function": ("def f(n): return sum(g(i, n) for i in r)", {"g", "r"}),
    "class body": ("class A(B):\n    x = y\n    z = x", {"B", "y"}),
    "methods do not see the class": ("class A:\n    x = 1\n    def f(self): return x", {"x"}),
    "class names in methods": ("class A:\n    def f(self): return A, super(), __class__", set()),
    "class in a function": ("def f(a):\n    class A:\n        b = a\n    return A", set()),
    "comprehension in a class": ("class A:\n    n = 3\n    xs = [i for i in range(n)]", set()),
    "global": ("def f():\n    global x\n    x = 1\nf()\nx", set()),
    "global only read": ("def f():\n    global x\n    return x", {"x"}),
    "global in a class": ("class A:\n    global x\n    x = 1\nx", set()),
    "nonlocal": (
        "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = y\n    g()",
        {"y"},
    ),
    "f-string": ("f'{a!r:{w}.{p}} {b[c]}'", {"a", "w", "p", "b", "c"}),
    "star arguments": ("f(*a, **b)", {"f", "a", "b"}),
    "slices": ("x[a:b:c]", {"x", "a", "b", "c"}),
    "yield": ("def f():\n    y = yield a\n    yield from b(y)", {"a", "b"}),
    "assert": ("assert a, b", {"a", "b"}),
    "raise from": ("raise a from b", {"a", "b"}),
    "ternary": ("x = a if b else c", {"a", "b", "c"}),
    "recursion": ("def f(n): return n and f(n - 1)", set()),
    "mutual recursion": ("def f(): return g()\ndef g(): return f()", set()),
    "builtins": ("print(len(sorted([abs(-1)])))", set()),
    "module name": ("if __name__ == '__main__': pass", set()),
    "unicode, normalised": ("\uff46\uff4f\uff4f()", {"foo"}),
    "two on a line": ("a(); b()", {"a", "b"}),
    "chained": ("f()().g()", {"f"}),
    "callable parameter": ("def f(g): return g(1)", set()),
    "string": ("'f()'", set()),
}


@rows(("source", "expected"), TABLE.values(), ids=TABLE)
def test_a_name_is_undefined_if_nobody_binds_it(source: str, expected: set[str]) -> None:
    assert names(source) == expected


FLOW = {"class body", "annotated local"}
"""Where the symbol tables, which know neither order nor what is never evaluated, differ."""


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
    return used - bound - BUILTINS


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


CALLS = {
    "assigned": ("x = f(1)", ["x = f(1)"]),
    "annotated": ("x: int = f(1)", ["x = f(1)"]),
    "assigned twice": ("x = y = f(1)", ["x = y = f(1)"]),
    "unpacked": ("x, y = f(1)", ["(x, y) = f(1)"]),
    "two sites": ("f(1)\nx = 0\nf(2, 3)", ["f(1)", "f(2, 3)"]),
    "nested": ("f(f(1))", ["f(f(1))", "f(1)"]),
    "two names, nested": ("f(g(1))", ["f(g(1))", "g(1)"]),
    "keywords": ("f(1, unit='m', **more)", ["f(1, unit='m', **more)"]),
    "in a function": ("def h():\n    return f(1)\nf(2)", ["f(1)", "f(2)"]),
    "in a comprehension": ("[f(x) for x in range(3) if f(-x)]", ["f(x)", "f(-x)"]),
    "in an f-string": ("f'{f(1)}'", ["f(1)"]),
    "as a decorator": ("@f(1)\ndef g(): pass", ["f(1)"]),
    "as a condition": ("while f(1): pass", ["f(1)"]),
    "after unicode": ("'\u7ea2'; f(1); '\u00e9'; f(2)", ["f(1)", "f(2)"]),
    "over lines": ("f(\n    1,\n)", ["f(1)"]),
    "in parentheses": ("(f)(1)", ["f(1)"]),
    "called twice": ("f()()", ["f()"]),
    "passed on, not called": ("sorted([], key=f)", ["f(item); sorted([], key=f)"]),
    "augmented": ("x = 0\nx += f(1)", ["f(1); x += f(1)"]),
    "augmented attribute": ("len.x += f(1)", ["f(1); len.x += f(1)"]),
    "to an item": ("[1][0] = f(1)", ["[1][0] = f(1)"]),
    "starred target": ("a, *b = f(1)", ["(a, *b) = f(1)"]),
    "chained tuples": ("x = y, z = f(1)", ["x = (y, z) = f(1)"]),
    "walrus": ("if (n := f(1)): pass", ["n = f(1)"]),
    "with": ("with f(1) as x: pass", ["f(1); with f(1) as x"]),
    "with two": (
        "with f(1) as (x, y), f(2): pass",
        ["f(1); with f(1) as (x, y)", "f(2); with f(2)"],
    ),
    "loop": ("for x in f(1): pass", ["f(1); for x in f(1)"]),
    "loop over pairs": ("for x, y in f(1): pass", ["f(1); for (x, y) in f(1)"]),
    "comprehension": ("[x for x in f(1)]", ["f(1); for x in f(1)"]),
    "returned": ("def g():\n    return f(1)", ["f(1)"]),
    "yielded": ("def g():\n    yield f(1)", ["f(1)"]),
    "raised": ("raise f(1)", ["f(1)"]),
    "an item of the value": ("f(1)[0]", ["f(1)"]),
    "an attribute of the value": ("f(1).x", ["f(1)"]),
    "in both branches": ("x = f(1) if f(2) else f(3)", ["f(1)", "f(2)", "f(3)"]),
    "in a default": ("def g(a=f(1)): pass", ["f(1)"]),
    "in a class": ("class A(f(1)):\n    x = f(2)", ["f(1)", "x = f(2)"]),
    "in several lines of a string": ("f'''{f(1)}\n{f(2)}'''", ["f(1)", "f(2)"]),
    "in a match": ("match f(1):\n    case 1 if f(2): pass", ["f(1)", "f(2)"]),
    "a local of the same name": ("def h(f): return f(1)\nf(2)", ["f(2)"]),
}


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


READS = {
    "a keyword": ("sorted([], key=f)", ("sorted([], key=f)",)),
    "an argument": ("map(f, [])", ("map(f, [])",)),
    "starred": ("print(*f)", ("print(*f)",)),
    "double starred": ("print(**f)", ("print(**f)",)),
    "assigned": ("x = f", ("x = f",)),
    "returned": ("def g():\n    return f", ("return f",)),
    "arithmetic": ("x = 1 + f", ("1 + f",)),
    "a condition": ("if f: pass", ("f",)),
    "a condition and more": ("if not f: pass", ("not f",)),
    "iterated": ("for x in f: pass", ("f",)),
    "an attribute": ("f.x.y()", ("f.x",)),
    "an item": ("f[0] = 1", ("f[0]",)),
    "in a list": ("[len, f]", ("[len, f]",)),
    "in a lambda": ("lambda: f", ("lambda: f",)),
    "augmented": ("def g():\n    global f\n    f.x += f.y", ("f.x", "f.y")),
    "a base": ("class A(f): pass", ("f",)),
    "a decorator": ("@f\ndef g(): pass", ("f",)),
    "in an f-string": ("f'{f}'", ("f",)),
    "called and passed on": ("f(1)\nmap(f, [])", ("map(f, [])",)),
    "to itself": ("f(f)", ("f(f)",)),
    "called only": ("f(1)", ()),
}


@pytest.mark.parametrize(("source", "expected"), READS.values(), ids=READS)
def test_where_a_name_is_only_read_is_told(source: str, expected: tuple[str, ...]) -> None:
    (entry,) = undefined(Program.parse(source), BUILTINS)
    assert entry.reads == expected


def test_names_come_in_the_order_of_first_use() -> None:
    found = undefined(Program.parse("z(1)\na(2)\nz(a)\nm"), BUILTINS)
    assert [(entry.name, entry.line) for entry in found] == [("z", 1), ("a", 2), ("m", 4)]


def test_a_known_name_is_defined() -> None:
    assert names("pick(1)\nplace(2)", BUILTINS | {"pick"}) == {"place"}


def test_nothing_is_executed() -> None:
    source = "f()\nraise SystemExit\n"
    assert [entry.name for entry in undefined(Program.parse(source), BUILTINS)] == ["f"]
