"""Private names: what a program's own classes keep, and no library's."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import importlib
import types
from typing import Any

import pytest

from cap.checker.allowlist import MODULES
from cap.checker.checker import check
from cap.program.program import compiled
from cap.program.private_names import (
    FOUND,
    KIND,
    MARK,
    SPECIAL,
    TEXT,
    TOLD,
    found,
    hidden,
    is_private,
    leads_out,
    may_hold_private_names,
    plain_error,
    shown,
)
from cap.program.program import Program
from tests.rows import rows

PROGRAMS = {
    "own": "class A:\n    def __init__(self): self._x = 1\nret = A()._x",
    "another's": (
        "class A:\n    def __init__(self, x): self._x = x\n"
        "    def __eq__(self, o): return self._x == o._x\nret = [A(1) == A(1), A(1) == A(2)]"
    ),
    "of the class": (
        "class A:\n    _n = 0\n    @classmethod\n    def up(cls):\n        cls._n += 1\n"
        "        return cls._n\nret = [A.up(), A.up(), A._n]"
    ),
    "of a node": (
        "class Node:\n    def __init__(self, value): self._value, self._next = value, None\n"
        "a = Node(1)\na._next = Node(2)\nret = a._next._value"
    ),
    "method": "class A:\n    def _f(self, x): return x / 2\nret = [A()._f(3), A._f.__name__]",
    "method's qualified name": (
        "class A:\n    def _f(self): pass\ntry: A._f()\nexcept TypeError as e: ret = str(e)"
    ),
    "property": (
        "class A:\n    @property\n    def _p(self): return self._q\n    @_p.setter\n"
        "    def _p(self, v): self._q = v\na = A()\na._p = 3\nret = a._p"
    ),
    "slots": "class A:\n    __slots__ = ('_x', 'y')\na = A()\na._x = 1\nret = a._x",
    "one slot": "class A:\n    __slots__ = '_x'\na = A()\na._x = 1\nret = a._x",
    "slot that is not there": (
        "class A:\n    __slots__ = ['_x']\ntry: A()._y = 1\n"
        "except AttributeError as e: ret = [str(e), e.name]"
    ),
    "match": (
        "class A:\n    __match_args__ = ('_x',)\n    def __init__(self): self._x, self._y = 1, 2\n"
        "match A():\n    case A(a, _y=b): ret = [a, b]"
    ),
    "not there": "class A: pass\ntry: A()._x\nexcept AttributeError as e: ret = [str(e), e.name]",
    "not there, raised": "class A: pass\nA()._x",
    "of a class, not there": "class A: pass\nA._x",
    "two underscores": (
        "class _A:\n    __n = 1\n    def __init__(self): self.__x = 2\n"
        "    def get(self): return [self.__x, _A.__n]\nret = [_A().get(), hasattr(_A(), '_x')]"
    ),
    "two underscores, inherited": (
        "class A:\n    def __init__(self): self.__x = 1\n    def a(self): return self.__x\n"
        "class B(A):\n    def __init__(self):\n        super().__init__()\n        self.__x = 2\n"
        "    def b(self): return self.__x\nret = [B().a(), B().b()]"
    ),
    "two underscores, not there": (
        "class A:\n    def f(self): return self.__x\ntry: A().f()\n"
        "except AttributeError as e: ret = str(e)"
    ),
    "two underscores, as a method": (
        "class A:\n    def __f(self): return 1\n    def g(self): return self.__f()\nret = A().g()"
    ),
    "inner class": "class A:\n    class _B:\n        _c = 3\nret = [A._B._c, A._B.__name__]",
    "read in a class body": "class A:\n    _n = 2\n    m = _n * 2\n    _n += 1\nret = [A.m, A._n]",
    "outer, read in a class body": "_n = 1\nclass A:\n    _n = _n + 1\nret = [A._n, _n]",
    "outer, in a method": "_n = 1\nclass A:\n    _n = 2\n    def f(self): return _n\nret = A().f()",
    "default in a class body": "class A:\n    _n = 2\n    def f(_, n=_n): return n\nret = A().f()",
    "loop in a class body": "class A:\n    t = []\n    for _i in range(3): t.append(_i)\nret = A.t",
    "comprehension in a class body": "class A:\n    _n = [1]\n    m = [x for x in _n]\nret = A.m",
    "decorator in a class body": (
        "class A:\n    def _twice(f): return lambda self: 2 * f(self)\n    @_twice\n"
        "    def g(self): return 2\nret = A().g()"
    ),
    "branch in a class body": (
        "class A:\n    if True:\n        _n = 1\n        def _f(_): return _._n\nret = A()._f()"
    ),
    "global in a class body": "class A:\n    global _n\n    _n = 1\nret = [_n, hasattr(A, '_n')]",
    "outer, augmented in a class body": "_n = 1\nclass A:\n    _n += 1\nret = [A._n, _n]",
    "outer, where a branch is not taken": (
        "_n = 'g'\nclass A:\n    if not _n: _n = 'c'\n    m = _n\nret = [A.m, hasattr(A, '_n')]"
    ),
    "outer, once it is deleted": (
        "_n = 'g'\nclass A:\n    _n = 'c'\n    del _n\n    m = _n\nret = A.m"
    ),
    "outer, below an empty loop": (
        "_n = 3\nclass A:\n    for _n in (): pass\n    m = _n\n    _n = 9\nret = [A.m, A._n, _n]"
    ),
    "global, where an inner function binds it, too": (
        "_n = 'g'\ndef f():\n    _n = 'l'\n    class A:\n        m = _n\n        _n = 'c'\n"
        "    return [A.m, A._n]\nret = f()"
    ),
    "of an inner function": (
        "_n = 'g'\ndef f():\n    _n = 'l'\n    class A:\n        m = _n\n    return A.m\nret = f()"
    ),
    "import in a class body": (
        "class A:\n    import math as _m\n    from math import sqrt as _s\n    half = _m.sqrt(4)\n"
        "    def f(self): return [self._m.sqrt(4), A._s(9)]\nret = [A().f(), A.half]"
    ),
    "captures in a class body": (
        "class A:\n  match [1, 2, 3], {'a': 4}:\n        case [_a, *_b], {**_c}: m = (_a, _b, _c)\n"
        "  try: [][_a]\n  except IndexError as _e: n = str(_e)\n"
        "ret = [A.m, A._a, A._b, A._c, A.n, hasattr(A, '_e')]"
    ),
    "not defined in a class body": (
        "try:\n    class A:\n        if 0: _n = 1\n        m = _n\n"
        "except NameError as e: ret = [str(e), e.name]"
    ),
    "lambda in a class body": (
        "_n = 'g'\nclass A:\n    _n = 'c'\n    f = lambda self, m=_n: [m, _n]\nret = A().f()"
    ),
    "slots under another name, too, and added": (
        "class A:\n    names = __slots__ = ('_x',)\n    __slots__ += ('_y',)\n"
        "a = A()\na._x = a._y = 1\nret = a._x + a._y"
    ),
    "given to __exit__": (
        "class A: pass\nclass M:\n    def __enter__(self): return self\n"
        "    def __exit__(self, kind, value, trace):\n        'Text.'\n"
        "        self.told = [str(value), value and value.name, self.__exit__.__doc__]\n"
        "        return True\nwith M() as m: A()._x\nwith M() as n: pass\nret = [m.told, n.told]"
    ),
    "given to __exit__ among others": (
        "class A: pass\nclass M:\n    def __enter__(self): return self\n"
        "    def __exit__(self, *given):\n        self.told = str(given[1])\n"
        "        return True\nwith M() as m: A()._x\nret = m.told"
    ),
    "context of another error": (
        "class A: pass\ntry:\n    try: A()._x\n    except AttributeError: raise ValueError(1)\n"
        "except ValueError as e: ret = [str(e.__context__), e.__context__.name]"
    ),
    "cause of an error in a group": (
        "class A: pass\ntry:\n    try: A()._x\n    except AttributeError as e:\n"
        "        raise ExceptionGroup('g', [ValueError(1)]) from e\n"
        "except* ValueError as g: ret = [str(g.__cause__), g.message]"
    ),
    "augmented": "class A: pass\na = A()\na._n = 1\na._n += 1\nret = a._n",
    "deleted": (
        "class A: pass\na = A()\na._n = 1\ndel a._n\ntry: a._n\nexcept AttributeError: ret = 1"
    ),
    "in an f-string": "class A:\n    _n = 1\nret = f'{A._n} {A._n=}'",
    "a variable": "_n = 1\ndef _f(_x): return _x + _n\nret = _f(_x=2)",
    "of a subclass of a library's class": (
        "class E(ValueError):\n    def __init__(self, n):\n        super().__init__(n)\n"
        "        self._n = n\ntry: raise E(3)\nexcept E as e: ret = [e._n, str(e)]"
    ),
}


def ran(code: types.CodeType) -> Any:
    names = {**vars(builtins), TOLD: plain_error, FOUND: found}
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": names}
    try:
        exec(code, space)
    except Exception as error:
        return type(error).__name__, shown(str(error))
    return space["ret"]


@rows("source", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_means_what_python_means_by_it(source: str) -> None:
    plain = compile(source, "<program>", "exec", dont_inherit=True)
    renamed = compiled(source, ast.parse(source))
    assert ran(renamed) == ran(plain)
    assert renamed.co_firstlineno == plain.co_firstlineno


@rows("source", PROGRAMS.values(), ids=PROGRAMS)
def test_the_check_lets_it_pass(source: str) -> None:
    # Robots' programs do without the first, and write their tables as one tuple.
    if "hasattr" not in source and "__slots__ +=" not in source:
        assert check(ast.parse(source)) == []


def attributes(code: types.CodeType) -> set[str]:
    inner = [entry for entry in code.co_consts if isinstance(entry, types.CodeType)]
    return set(code.co_names).union(*map(attributes, inner))


@pytest.mark.parametrize(
    "source",
    [
        "x._geom",
        "x.y._geom = 1",
        "del x._geom",
        "x._g\uff45om",
        "class A:\n    def f(self, o): return o._geom",
        "class A:\n    def f(self, o): return o.__geom",
        "f'{x._geom}'",
        "lambda: [y._geom for y in x]",
        "match x:\n    case A(_geom=y): pass",
        "with x as y._geom: pass",
        "for x._geom in y: pass",
    ],
)
def test_no_attribute_keeps_a_private_name(source: str) -> None:
    code = compiled(source, ast.parse(source))
    assert not {name for name in attributes(code) if is_private(name) and MARK not in name}
    assert "_geom'" not in repr(code.co_consts)


@pytest.mark.parametrize("name", ["__doc__", "__name__", "__repr__", "__init__", "__class__"])
@pytest.mark.parametrize(
    "source",
    [
        "x.NAME = y",
        "x . NAME = y",
        "x.\\\nNAME += y",
        "(x. # no\n NAME) = y",
        "(x.NAME), z = y",
        "[*x.NAME] = y",
        "x.NAME: int = y",
        "for x.NAME in y: pass",
        "with x as x.NAME: pass",
        "del x.NAME",
        "x._\uff3fdoc_\uff3f = y",
        "[y for x.NAME in y]",
        "class A:\n    x.NAME = y",
    ],
)
def test_a_special_attribute_is_bound_by_a_stand_in_however_it_is_written(
    source: str, name: str
) -> None:
    source = source.replace("NAME", name)
    assert SPECIAL in attributes(compiled(source, ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "x.__init__()",
        "x . __init__()",
        "(x. # no\n __init__)()",
        "x().__init__()",
        "x.y.__init__",
        "sup().__init__()",
        "super .__init__()",
        "object.__setattr__(x, 'a', 1)",
        "super().__setattr__('a', 1)",
        "x.\\\n__setattr__",
        "x.__wrapped__(1)",
        "x.__annotations__",
        "x.__members__.items()",
    ],
)
def test_what_makes_an_object_anew_is_read_of_a_stand_in(source: str) -> None:
    assert SPECIAL in attributes(compiled(source, ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "class A(B):\n    def f(self): super().__init__()",
        "class A(B):\n    def f(self): B.__init__(self)",
        "object.__init__(x)",
        "x.__len__()",
        "type(x).__name__",
    ],
)
def test_what_the_check_judges_is_compiled_as_it_is(source: str) -> None:
    assert SPECIAL not in attributes(compiled(source, ast.parse(source)))


def test_a_program_without_private_names_is_compiled_as_it_is() -> None:
    source = "class A:\n    def __init__(self, x): self.x = x\nfor _ in range(3): a_b = A(1)"
    assert not may_hold_private_names(source)
    plain = compile(source, "<program>", "exec", dont_inherit=True)
    assert compiled(source, ast.parse(source)).co_code == plain.co_code


def test_the_tree_that_others_see_stays_as_it_was() -> None:
    program = Program.parse("class A:\n    _n = 1\nx = A._n")
    before = ast.dump(program.tree)
    assert program.code is not None
    assert ast.dump(Program.parse(program.source).tree) == before


def test_lines_stay() -> None:
    source = "class A:\n    def _f(self):\n\n        return self._x\n\nA()._f()\n"
    plain = compile(source, "<program>", "exec", dont_inherit=True)
    lines = {line for _, _, line in compiled(source, ast.parse(source)).co_lines()}
    assert lines == {line for _, _, line in plain.co_lines()}


@pytest.mark.parametrize(
    ("name", "owner", "inner"),
    [
        ("x", "A", "x"),
        ("_x", "A", "_x" + MARK),
        ("__x", "A", "_A__x" + MARK),
        ("__x", "__A", "_A__x" + MARK),
        ("__x", "_", "__x" + MARK),
        ("__x", "", "__x" + MARK),
        ("__x_", "A", "_A__x_" + MARK),
        ("__x__", "A", "__x__"),
        ("_missing_", "A", "_missing_"),
        ("_", "A", "_"),
        ("__", "A", "__"),
    ],
)
def test_what_a_name_becomes(name: str, owner: str, inner: str) -> None:
    assert hidden(name, owner) == inner
    assert shown(inner) in (name, f"_{owner.lstrip('_')}{name}")


def test_no_library_has_a_name_with_the_mark() -> None:
    for module in (*MODULES, "numpy", "shapely", "builtins", "types", "typing"):
        found = importlib.import_module(module)
        for value in (found, *vars(found).values()):
            assert not [name for name in dir(value) if MARK in name]


def test_libraries_look_for_no_private_name_but_those_that_stay() -> None:
    """`enum` finds what a class says by names with one underscore on either side."""
    assert hidden("_missing_") == "_missing_"
    assert all(hasattr(enum.Enum, name) for name in ("_missing_", "_generate_next_value_"))
    assert not [name for name in vars(dataclasses.dataclass) if is_private(name)]


LEADING_OUT = [
    "x.data",
    "x.gi_frame",
    "x . data",
    "x.\tdata",
    "x.\x0cdata",
    "x.\\\n  data",
    "(x.  # a comment\n  # and another: .y\n  data)",
    "(x.\n\n  data)",
    "x.\uff44\uff41\uff54\uff41",
    "x.y.tb_next",
    "x().f_back.f_globals",
    "x.data = 1",
    "x.data += 1",
    "del x.data",
    "f'{x.data!r:{y.base}}'",
    "lambda: [y.co_code for y in x]",
    "@x.mro\ndef f(): pass",
    "def f(a=x.data): pass",
    "for x.obj in y: pass",
    "with x as y.obj: pass",
    "match x:\n    case A(data=y): pass",
    "match x:\n    case A(gi_frame=B(f_back=y)): pass",
    "class A:\n    data = 1",
    "class A:\n    data: int",
    "class A:\n    __slots__ = ('data',)",
    "class A:\n    __match_args__ = ('data',)",
    "class A:\n    for base in (1, 2): pass",
]


@rows("source", LEADING_OUT)
def test_no_attribute_keeps_a_name_that_leads_out(source: str) -> None:
    code = compiled(source, ast.parse(source))
    tables = [entry for entry in code.co_consts if type(entry) is tuple]
    texts = {name for entry in tables for name in entry if type(name) is str}
    assert not {n for n in attributes(code) | texts if leads_out(n) and MARK not in n}


@pytest.mark.parametrize("source", ["x.__class__", "(x.\n __class__)", "x._\uff3fclass_\uff3f"])
def test_the_class_of_a_value_is_asked_of_a_stand_in(source: str) -> None:
    code = compiled(source, ast.parse(source))
    assert "__class__" not in code.co_names
    assert KIND in code.co_names


FORMATS_OF_TEXTS = {
    "t.format(1)": True,
    "(t.  # of a text\n format)": True,
    "t.format_map({})": True,
    "'{0.x}'.format(1)": True,
    "'{:{w.x}}'.format(1, w=2)": True,
    "'{0[0]}'.format(x)": True,
    "f'{x}'.format(1)": True,
    "('a' + '{0.x}').format(1)": True,
    "b'{0.x}'.format(1)": True,
    "'{} {a:>{w}.2f} {{}}'.format(1, a=2, w=3)": False,
    "x.format = 1": False,
    "del x.format": False,
}


@pytest.mark.parametrize(("source", "asked"), FORMATS_OF_TEXTS.items())
def test_a_templates_attributes_are_looked_at_where_it_may_read_some(
    source: str, asked: bool
) -> None:
    assert (TEXT in compiled(source, ast.parse(source)).co_names) is asked
