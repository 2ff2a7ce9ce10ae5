import ast
import importlib
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from cap.checker.allowlist import FORBIDDEN_BUILTINS, MODULES, numpy_names
from cap.checker.attributes import DATA_MODEL
from cap.checker.rules_page import RULES, rules_page
from hypothesis import given, settings
from hypothesis import strategies as st

from cap.checker.checker import Policy, check
from cap.checker.rules import HARMLESS as WITHOUT_RULES
from cap.checker.rules import RULES_BY_NODE
from cap.program.program import Program, ProgramSyntaxError
from tests.rows import rows

RESERVED = frozenset({"pick", "robot", "truth"})


def rules(source: str, policy: Policy | None = None) -> list[str]:
    return [violation.rule for violation in check(ast.parse(source), policy, RESERVED)]


@pytest.mark.parametrize("name", RULES)
def test_each_rule_refuses_one_and_lets_its_neighbour_pass(name: str) -> None:
    assert set(rules(RULES[name].refuses)) == {name}
    assert rules(RULES[name].accepts) == []


def test_the_page_of_rules_is_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "check-rules.md"
    assert page.read_text() == rules_page()


HARMLESS = {
    "import in a string": "say('import os')",
    "import in a comment": "x = 1  # import os, exec, __class__",
    "import in a docstring": 'def f():\n    """import os; eval()."""\n    return 1',
    "dunder in a string": "say('__class__')",
    "f-string": "say(f'{x!r:>{width}} {y.name} {z[0]:.2f}')",
    "percent": "say('%s at %d' % (name, 3))",
    "class": "class Box:\n    side = 1\n    def __init__(self, w):\n        self._w = w",
    "private attribute": "class A:\n    def f(self):\n        self._x = 1\n        return self._x",
    "data model": "class V:\n    def __add__(self, o): return o\n    def __len__(self): return 2",
    "iterator class": (
        "class C:\n    def __iter__(self): return self\n    def __next__(self): raise StopIteration"
    ),
    "context manager": (
        "class C:\n    def __enter__(self): return 1\n    def __exit__(self, *a): pass\n"
        "with C() as c:\n    pass"
    ),
    "dataclass-like": "class P:\n    x: float = 0.0\n    y: float = 0.0\np = P()\np.x = 1.0",
    "property": "class A:\n    @property\n    def area(self): return 1",
    "static method": "class A:\n    @staticmethod\n    def make(): return A()",
    "inheritance": "class Mine(ValueError): pass\nraise Mine('x')",
    "generator": "def g():\n    for i in range(3):\n        yield i",
    "yield from": "def g():\n    yield from [1, 2]",
    "generator expression": "total = sum(x for x in xs if x > 0)",
    "match": (
        "match p:\n    case {'x': x, **rest}: pass\n    case [a, *_]: pass\n"
        "    case Point(x=0): pass\n    case str() | None: pass\n    case _: pass"
    ),
    "walrus": "while (n := next_one()) is not None:\n    say(n)",
    "decorator": "def twice(f):\n    return f\n@twice\ndef g(): pass",
    "closure": "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n = 1\n    return g",
    "global": "n = 0\ndef f():\n    global n\n    n += 1",
    "recursion": "def f(n): return 1 if n == 0 else n * f(n - 1)",
    "sort with key": "names = sorted(names, key=lambda n: get_pos(n)[0], reverse=True)",
    "max with key": "best = max(names, key=get_size)",
    "star arguments": "def f(*args, **kwargs): return g(*args, **kwargs)",
    "positional only": "def f(a, /, b, *, c): return a",
    "unpacking": "(a, *rest), b = xs, [*ys, 1]",
    "private that no class binds": "class A:\n    def f(self): return self._geom",
    "mangled": "class A:\n    def f(self): return self.__x",
    "self outside a class": "self._x",
    "private of another": "class A:\n    def f(self, o): return o._x",
    "private name": "_hidden = 1",
    "private keyword": "f(_x=1)",
    "private parameter": "def f(_x): pass",
    "slots": "class A:\n    __slots__ = ('a',)",
    "private of its own class": "class A:\n    _n = 0\n    def _f(self): return self._n",
    "super": "class A(B):\n    def __init__(self): super().__init__()",
    "super method": "class A(B):\n    def f(self): return super().f()",
    "old super": "class A(B):\n    def __init__(self): super(A, self).__init__()",
    "init of a base": "class A(B):\n    def __init__(self): B.__init__(self)",
    "match args": "class A:\n    __match_args__ = ('x', 'data')\n    data = 1",
    "class name": "say(x.__class__.__name__)",
    "format of a literal": "say('{} {a:>{w}} {1!r}'.format(x, y, a=1, w=3))",
    "data of its own": "class N:\n    def __init__(self, data): self.data = data\nx = N(1).data",
    "method named like a builtin": "class Door:\n    def open(self): pass\nDoor().open()",
    "attribute of a rebound name": "box = Thing()\nbox.lid = 1",
    "throw-away": "for _, name in pairs:\n    say(name)",
    "type hints": "def f(a: List[str], b: Optional[int] = None) -> Dict[str, float]: return {}",
    "annotated variable": "count: int = 0",
    "try": "try:\n    pick('x')\nexcept NotFound as error:\n    say(str(error))\nelse:\n    x = 1\n"
    "finally:\n    x = 2",
    "assert": "assert x > 0, 'positive'",
    "del": "d = {}\nd['a'] = 1\ndel d['a']",
    "ternary and chain": "x = a if 0 < b <= 1 else c",
    "numpy": "p = np.mean([np.array(a), np.array(b)], axis=0) + np.array([0, 0.1])",
    "numpy submodules": "np.linalg.norm(p) + np.random.uniform(0, 1) + np.fft.fft(p)[0]",
    "numpy alias": "lin = np.linalg\nx = lin.norm(p)",
    "numpy vectors": "np.clip(np.hypot(*p), 0, np.inf)\nnp.argsort(x)[::-1]\nnp.pi",
    "shapely": "box(0, 0, 1, 1).buffer(0.1).exterior.coords[:-1]",
    "affinity": "affinity.rotate(Polygon(pts), 45, origin='centroid')",
    "math": "math.degrees(math.atan2(y, x))",
    "group": "robot.say('hi')\nrobot.dump('bin')",
    "type of": "if type(x) is str or isinstance(x, str):\n    pass",
    "everyday words": "id = 3\ndir = 'left'\ninput = [id]\nsay(dir, input)",
    "everyday parameters": "def f(id, vars): return id + vars",
    "name": "if __name__ == '__main__':\n    main()",
    "function name": "say(f.__name__)",
    "while with break": "while True:\n    if done(): break\n    else: continue",
    "set and dict comprehension": "{n: len(n) for n in names}\n{n[0] for n in names}",
    "slices": "xs[1:-1:2], ys[..., None], zs[:, 0]",
    "lambda default": "fs = [lambda x, i=i: x * i for i in range(3)]",
    "bytes and complex": "x = b'a' + bytes([1])\ny = 1j ** 2",
    "library name as a variable": "box = 'red box'\nscale = 2",
    "unicode": "h\u00f6he = 1\n\u540d = 'bloc'",
    "getattr": "getattr(x, '__cl' + 'ass__')",
    "setattr": "setattr(x, 'y', 1)",
    "str.format taken": "f = str.format",
    "literal with an attribute": "'{0.real}'.format(1)",
    "literal with an index": "'{0[0]}'.format(x)",
    "literal with a field in a width": "'{:{0.real}}'.format(x)",
    "literal with a broken field": "'{'.format(x)",
    "literal, method kept": "f = 'a {}'.format",
    "literal in a variable": "t = 'a {}'\nt.format(1)",
    "class of a class name": "x.__class__.__name__.__class__",
    "type renamed": "t = type\nt('A', (), {})",
    "self dunder": "class A:\n    def f(self): return self.__class__",
    "except star": "try: pass\nexcept* ValueError: pass",
    "class kept": "kinds = list(map(type, xs))\nclass A: pass\nx = isinstance(A, type)",
    "special methods read": "xs.__len__() + next(xs.__iter__())",
    "documentation": "def f():\n    'Say.'\nx = f.__doc__",
    "cause": "try: f()\nexcept ValueError as e: say(e.__cause__, e.__context__)",
    "aliases in a class": "class A:\n    def __add__(self, o): return o\n    __radd__ = __add__",
    "no hash": "class A:\n    __hash__ = None",
    "risky words of its own": "class A:\n    def resize(self, obj): self.obj = obj\nA().resize(1)",
    "parameters named like modules": "def f(math, np): return math.total + np.load('x')",
    "abstract": "from abc import ABCMeta\nclass A(metaclass=ABCMeta): pass",
    "a long program": "x = 1\n" * 2000,
}


@rows("source", HARMLESS.values(), ids=HARMLESS)
def test_a_harmless_program_is_accepted(source: str) -> None:
    assert list(map(str, check(ast.parse(source), None, RESERVED))) == []


ATTACKS = {
    "class walk": "().__class__.__base__.__subclasses__()",
    "function globals": "def f(): pass\nf.__globals__['x']",
    "method globals": "pick.__init__.__globals__",
    "closure": "pick.__closure__",
    "module": "np.__loader__",
    "dict": "x.__dict__",
    "traceback": "try: 1/0\nexcept Exception as e: e.__traceback__.tb_frame.f_back",
    "traceback frame": "e.tb_frame",
    "generator frame": "g = (g.gi_frame.f_back for _ in [1])",
    "generator code": "g.gi_code",
    "coroutine frame": "c.cr_frame",
    "frame builtins": "x.f_builtins",
    "frame globals": "x.f_globals",
    "pattern attribute": "match x:\n    case object(__class__=c): pass",
    "nested pattern attribute": "match x:\n    case [A(b=B(__dict__=d))]: pass",
    "pattern frame": "match g:\n    case object(gi_frame=f): pass",
    "f-string": "f'{x.__dict__}'",
    "nested f-string": "f'{1:{x.__dict__}}'",
    "getattr, full width": "\uff47etattr(x, '__dict__')",
    "getattr of a dunder": "getattr(x, '__globals__')",
    "setattr of a dunder": "setattr(x, '__getattr__', f)",
    "literal with a dunder": "'{0.__class__.__mro__}'.format(x)",
    "literal with a dunder in a width": "'{:{0.__dict__}}'.format(x)",
    "format by a pattern": "match x:\n    case str(format=f): pass",
    "format by match args": "class A(str):\n    __match_args__ = ('format',)",
    "class by a pattern": "match x:\n    case object(__class__=c): pass",
    "class written": "x.__class__ = A",
    "init of a base by another": "class A(B): pass\nB.__init__(x)",
    "init of what super stands for": "def super(): return x\nsuper().__init__()",
    "init of another object": "object = x\nobject.__init__()",
    "setattr of anything": "x.__setattr__('a', 1)",
    "special method written": "x.__getattr__ = f",
    "special method unbound": "del x.__len__",
    "star over a primitive": "from operator import *\nx = 1",
    "italic exec": "\U0001d452\U0001d465\U0001d452\U0001d450('1')",
    "full width dunder": "x._\uff3fdict_\uff3f",
    "eval": "eval('1')",
    "eval renamed": "e = eval",
    "eval in a default": "def f(e=eval): pass",
    "eval in a decorator": "@eval\ndef f(): pass",
    "eval as a sort key": "sorted(['1'], key=eval)",
    "eval bound, then read": "eval = eval",
    "function named eval": "def eval(x): pass",
    "exec": "exec('import os')",
    "compile": "compile('1', 'a', 'exec')",
    "open": "open('/etc/passwd').read()",
    "input": "input()",
    "breakpoint": "breakpoint()",
    "globals": "globals()['x'] = 1",
    "locals": "locals()",
    "vars": "vars(x)",
    "dir": "dir(x)",
    "memoryview": "memoryview(b'')",
    "builtins": "__builtins__['open']",
    "import function": "__import__('os')",
    "build class": "__build_class__(f, 'A')",
    "loader": "__loader__",
    "import": "import os",
    "import in a function": "def f():\n    import os",
    "import from": "from os import system",
    "import renamed": "import os as np",
    "import star": "from numpy import *",
    "relative import": "from . import secrets",
    "future": "from __future__ import generator_stop",
    "str.format": "'{0.__class__.__base__}'.format(x)",
    "format_map": "'{a.__class__.__base__}'.format_map(d)",
    "np.load": "np.load('a.npy', allow_pickle=True)",
    "np.save": "np.save('a', x)",
    "np.savetxt": "np.savetxt('a', x)",
    "np.fromfile": "np.fromfile('/etc/passwd')",
    "np.genfromtxt": "np.genfromtxt('/etc/passwd')",
    "np.memmap": "np.memmap('/etc/passwd')",
    "np.f2py": "np.f2py.compile('x')",
    "np.ctypeslib": "np.ctypeslib.load_library('c', '/')",
    "np.testing": "np.testing.rundocs()",
    "np.lib": "np.lib.npyio.os",
    "numpy.core": "numpy._core.multiarray",
    "np.linalg module": "np.linalg.linalg.warnings",
    "np.random state": "np.random.bit_generator",
    "array to file": "np.zeros(3).tofile('a')",
    "array dump": "np.zeros(3).dump('a')",
    "array memory": "np.zeros(3).ctypes.data",
    "super kept": "class A:\n    def f(self): return super().__init__",
    "super of another special": "class A:\n    def f(self): return super().__reduce__()",
    "special of no base": "class A(B):\n    def f(self): return C.__new__(self)",
    "class's module written": "x.__class__.__module__ = 'y'",
    "function's defaults written": "f.__defaults__ = (1,)",
    "match args computed": "class A:\n    __match_args__ = ('a' + 'b',)",
    "match args of a dunder": "class A:\n    __match_args__ = ('__class__',)",
    "match args of a frame": "class A:\n    __match_args__ = ('gi_frame',)",
    "match args outside a class": "__match_args__ = ('a',)",
    "exception's object": "e.obj",
    "traceback given": "e.with_traceback(t)",
    "array buffer": "a.data",
    "array below": "a.base",
    "array resized": "a.resize(9, refcheck=False)",
    "array flag": "a.flags.writeable = True",
    "a later python's generator attribute": "g.gi_anything",
    "np.matrix": "np.matrix('1 2')",
    "np.linalg.test": "np.linalg.test()",
    "math's loader": "math.__loader__",
    "patch a library class": "Polygon.area = 1",
    "patch a builtin class": "str.upper = 1",
    "patch below a group": "robot.arm.x = 1",
    "relative import of a listed name": "from .math import pi",
    "type with three": "type('A', (), {'f': 1})",
    "type with a star": "type(*parts)",
    "type with keywords": "type(**parts)",
    "type as a base": "class M(type): pass",
    "metaclass": "class A(metaclass=M): pass",
    "class keyword": "class A(B, flag=True): pass",
    "class keywords unpacked": "class A(**kw): pass",
    "getattribute": "class A:\n    def __getattribute__(self, n): pass",
    "getattr method": "class A:\n    def __getattr__(self, n): pass",
    "del method": "class A:\n    def __del__(self): pass",
    "subclass hook": "class A:\n    def __init_subclass__(cls): pass",
    "class_getitem": "class A:\n    def __class_getitem__(cls, k): pass",
    "reduce": "class A:\n    def __reduce__(self): pass",
    "special as attribute": "class A:\n    __getattr__ = f",
    "special in an if": "class A:\n    if 1:\n        def __getattr__(self, n): pass",
    "slots computed": "class A:\n    __slots__ = ['_' * 2 + 'x']",
    "slots of a dunder": "class A:\n    __slots__ = '__dict__'",
    "dunder by too many underscores": "x.___class__",
    "interpreter's local": "def f():\n    __x__ = 1",
    "dunder name": "__name__ = 'x'",
    "dunder function": "def __init__(): pass",
    "async def": "async def f(): pass",
    "async for": "async def f():\n    async for x in y: pass",
    "async comprehension": "[x async for x in y]",
    "await": "await x",
    "patch a group": "robot.say = print",
    "unpatch a group": "del robot.say",
    "private of a group": "robot._arm",
    "patch a primitive": "pick.x = 1",
    "patch numpy": "np.array = print",
    "patch math": "math.pi = 3",
}


@rows("source", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_refused(source: str) -> None:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return  # refused even earlier
    assert check(tree, None, RESERVED) != []


REMEDY = re.compile(r"; \w|Did you mean")


@rows("source", ATTACKS.values(), ids=ATTACKS)
def test_a_refusal_says_what_to_do_instead(source: str) -> None:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return  # refused even earlier
    for violation in check(tree, None, RESERVED):
        assert REMEDY.search(violation.reason), violation
        assert violation.rule in RULES


@pytest.mark.parametrize("name", RULES)
def test_the_refusal_of_each_rule_says_what_to_do_instead(name: str) -> None:
    for source in (RULES[name].refuses, *_MORE.get(name, ())):
        (violation, *_) = check(ast.parse(source), None, RESERVED)
        assert violation.rule == name
        assert REMEDY.search(violation.reason), violation


_MORE = {
    "CAP101": ["await x", "[x async for x in y]"],
    "CAP102": ["from os import path", "from math import nothing", "from . import x"],
    "CAP103": ["del x.__len__", "setattr(x, '__get__', f)", "robot._arm"],
    "CAP104": ["def __init__(): pass", "__x__ = 1", "f(__x__=1)"],
    "CAP105": [f"{name}(1)" for name in sorted(FORBIDDEN_BUILTINS)],
    "CAP106": ["math.pi = 3", "for pick in x: pass"],
    "CAP108": ["match x:\n    case str(format=f): pass"],
    "CAP109": ["np.no_such", "math.squareroot(4)", "str.no_such()"],
    "CAP110": ["class M(type): pass"],
}


BINDINGS = {
    "assignment": "pick = 1",
    "several": "a = pick = 1",
    "tuple": "a, pick = 1, 2",
    "list": "[pick] = [1]",
    "star": "*pick, a = b",
    "augmented": "pick += 1",
    "annotated": "pick: int = 1",
    "only annotated": "pick: int",
    "for": "for pick in x: pass",
    "with": "with a as pick: pass",
    "comprehension": "[0 for pick in x]",
    "walrus": "(pick := 1)",
    "def": "def pick(): pass",
    "class": "class pick: pass",
    "parameter": "def f(pick): pass",
    "positional only": "def f(pick, /): pass",
    "keyword only": "def f(*, pick): pass",
    "star parameter": "def f(*pick): pass",
    "double star parameter": "def f(**pick): pass",
    "lambda": "lambda pick: 1",
    "lambda positional only": "lambda pick, /: 1",
    "import": "import pick",
    "import as": "import math as pick",
    "from import": "from robot import pick",
    "dotted import": "import pick.me",
    "except": "try: pass\nexcept E as pick: pass",
    "match capture": "match x:\n    case pick: pass",
    "match as": "match x:\n    case A() as pick: pass",
    "match star": "match x:\n    case [*pick]: pass",
    "match rest": "match x:\n    case {**pick}: pass",
    "match keyword": "match x:\n    case A(a=pick): pass",
    "global": "def f():\n    global pick",
    "nonlocal": "def f():\n    def g():\n        nonlocal pick",
    "del": "del pick",
    "method": "class A:\n    def pick(self): pass",
    "full width": "\uff50\uff49\uff43\uff4b = 1",
    "inside": "def f():\n    def g():\n        pick = 1",
}


@rows("source", BINDINGS.values(), ids=BINDINGS)
def test_a_primitive_may_not_be_bound_in_any_form(source: str) -> None:
    assert "CAP106" in rules(source)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize("source", ["def f[pick](x): pass", "type pick = int", "class A[T]: pass"])
def test_type_parameters_are_refused(source: str) -> None:
    assert "CAP101" in rules(source)


def test_a_violation_has_rule_line_column_and_reason() -> None:
    (violation,) = check(ast.parse("x = 1\ny = x.__base__\n"))
    assert (violation.rule, violation.line, violation.column) == ("CAP103", 2, 5)
    assert str(violation) == (
        "CAP103 line 2: attribute '__base__' leads to the interpreter; use issubclass()"
    )


def test_violations_come_in_the_order_of_lines() -> None:
    found = check(ast.parse("def f():\n    import os\nx = y.__z__\nimport gc\n"))
    assert [violation.line for violation in found] == [2, 3, 4]


@pytest.mark.parametrize(
    "source", ["import random", "from random import choice", "import random as r, math"]
)
def test_a_policy_may_list_modules(source: str) -> None:
    policy = Policy(modules=frozenset({"random", "math"}))
    assert rules(source, policy) == []
    assert "CAP102" in rules(source, Policy(modules=frozenset()))


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import random, os",
        "from random import _os as x",
        "from random import SystemRandom",
        "from .random import choice",
        "import random as __r__",
        "import random\nrandom.SystemRandom()",
        "import random as r\nr._os",
        "import random as pick",
    ],
)
def test_a_policy_allows_no_other_import(source: str) -> None:
    assert rules(source, Policy(modules=frozenset({"random"}))) != []


IMPORTS = {
    "module attribute": "import collections\nx = collections.Counter('aab')",
    "submodule": "import collections.abc as c\nx = isinstance(y, c.Sequence)",
    "numpy": "import numpy as np\nfrom numpy import array\nimport numpy.linalg as la\nla.norm(x)",
    "json": "import json\nx = json.loads(json.dumps([1]))",
    "a parameter named like a module": "import string\ndef f(string): return string.lower()",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 0",
    "named tuple": "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int",
    "all of a module": "from math import *\nx = sin(pi)",
}


@pytest.mark.parametrize("source", IMPORTS.values(), ids=IMPORTS)
def test_modules_of_pure_computation_may_be_imported(source: str) -> None:
    assert rules(source) == rules(source, Policy.benchmark()) == []


BENCHMARK = {
    "evaluation": "x = eval('1 + 2')",
    "time": "import time\nx = time.perf_counter()",
    "dates": "from datetime import date\nx = date(2024, 1, 1)",
}


@pytest.mark.parametrize("source", BENCHMARK.values(), ids=BENCHMARK)
def test_the_benchmark_policy_lets_pass_what_a_robots_refuses(source: str) -> None:
    assert rules(source, Policy.benchmark()) == []
    assert rules(source) != []


@pytest.mark.parametrize(
    "source",
    [
        *(
            "import os",
            "import sys\nsys.modules",
            "import typing.io",
            "from string import Formatter",
        ),
        *("from numpy import *", "from dataclasses import make_dataclass"),
        *("from typing import get_type_hints", "from functools import WRAPPER_ASSIGNMENTS"),
        *("from hashlib import file_digest", "from enum import EnumMeta", "from re import enum"),
        *("from numpy import load", "import numpy.lib", "from collections import _sys"),
        *(
            "open('a')",
            "compile('1', '', 'eval')",
            "exec('1')",
            "vars(x)",
            "globals()",
            "x.__dict__",
        ),
        *("import json\njson.codecs", "import re\nre.enum.sys", "import random\nrandom._os"),
        "class A(metaclass=B): pass",
    ],
)
def test_the_benchmark_policy_refuses_what_leads_out(source: str) -> None:
    assert rules(source, Policy.benchmark()) != []


@rows("module", MODULES)
def test_a_listed_module_has_the_names_listed(module: str) -> None:
    found = importlib.import_module(module)
    later = {"UTC": (3, 11), "batched": (3, 12)}
    submodules = {name for name in MODULES[module] if f"{module}.{name}" in MODULES}
    missing = [n for n in MODULES[module] if not hasattr(found, n) and n not in submodules]
    assert [name for name in missing if sys.version_info >= later.get(name, (3, 0))] == []


@rows("module", MODULES)
def test_a_listed_module_hands_out_no_module(module: str) -> None:
    found = importlib.import_module(module)
    handed = {n: getattr(found, n, None) for n in MODULES[module] if f"{module}.{n}" not in MODULES}
    assert [name for name, value in handed.items() if isinstance(value, types.ModuleType)] == []
    assert [name for name in handed if name.startswith("_")] == []


@pytest.mark.parametrize("submodule", ["", "linalg", "fft", "random"])
def test_numpy_hands_out_no_module_and_nothing_private(submodule: str) -> None:
    found = getattr(np, submodule) if submodule else np
    listed = numpy_names(submodule) - {"linalg", "fft", "random"}
    assert len(listed) > 10
    handed = {name: getattr(found, name) for name in listed}
    assert [name for name, value in handed.items() if isinstance(value, types.ModuleType)] == []
    assert [name for name in listed if name.startswith("_")] == []


def test_every_kind_of_syntax_is_looked_at_or_refused() -> None:
    """A node of a later Python is in no list, and so refused."""
    listed = WITHOUT_RULES | RULES_BY_NODE.keys()
    assert not WITHOUT_RULES & RULES_BY_NODE.keys()
    for name in ("AsyncFunctionDef", "AsyncFor", "AsyncWith", "Await"):
        assert getattr(ast, name) not in listed

    class Novelty(ast.stmt):
        pass

    tree = ast.parse("x = 1")
    tree.body.append(Novelty(lineno=2, col_offset=0))
    assert [violation.rule for violation in check(tree)] == ["CAP101"]


def test_a_misspelt_name_of_a_module_comes_with_a_suggestion() -> None:
    (violation,) = check(ast.parse("np.lingspace(0, 1)"))
    assert "Did you mean 'linspace'" in violation.reason


@pytest.mark.parametrize(
    "source",
    ["-" * 3000 + "x", "x" + ".a" * 3000, "x = " + "not " * 2000 + "y", "x" + " + 1" * 2500],
    ids=["minus", "attributes", "not", "sum"],
)
def test_a_deep_program_is_one_finding(source: str) -> None:
    try:
        tree = ast.parse(source)
    except (RecursionError, MemoryError):
        pytest.skip("the parser refuses it")
    assert [violation.rule for violation in check(tree)] == ["CAP107"]


def test_a_large_program_is_one_finding() -> None:
    tree = ast.parse("x = 1\n" * 10_000)
    assert [violation.rule for violation in check(tree)] == ["CAP107"]


@rows("name", sorted(DATA_MODEL))
def test_every_listed_special_method_may_be_defined_read_and_bound(name: str) -> None:
    assert rules(f"class A:\n    def {name}(self): pass") == []
    assert rules(f"x.{name}()\nx.{name} = f\nsetattr(x, '{name}', f)") == []
    assert rules(f"del x.{name}") == ["CAP103"]
    assert rules(f"math.{name} = np.{name} = f") == ["CAP106", "CAP106"]


HARMLESS_PIECE = "try: pass\nexcept: pass"
PIECES = st.sampled_from(
    [
        "x.__dict__",
        "class A(B, k=1):\n  def __getattr__(s): pass",
        "import a.b as _c, pick",
        "from .. import *",
        "match x:\n  case {1: a, **_b}: pass\n  case A(_c=pick) | [*_]: pass",
        "def f(_a, pick=eval, /, *b, **__c): pass",
        "lambda *, _k: (yield)",
        "global _z",
        "type(*a, **k)",
        "np.linalg.nope.x = 1",
        "async def g():\n  [x async for x in y]",
        "try: pass\nexcept* E as pick: pass",
        "f'{x!r:{y.__z}}'",
        "del np.x, pick.y",
        "@exec\nclass A: __slots__ = 1",
        HARMLESS_PIECE,
    ]
)


@settings(max_examples=40, derandomize=True, database=None, deadline=None)
@given(st.lists(PIECES, max_size=4), st.sampled_from(["{}", "if 1:\n{}", "class C:\n{}"]))
def test_the_check_never_raises(pieces: list[str], around: str) -> None:
    body = "\n".join(pieces) or "pass"
    indented = "\n".join("    " + line for line in body.split("\n"))
    tree = ast.parse(around.format(indented if around != "{}" else body))
    assert bool(check(tree, None, RESERVED)) == bool(set(pieces) - {HARMLESS_PIECE})


DISGUISED = ("def f(\uff49\uff46): return 1\nf(1)", "\uff49\uff46 = 1", "f(\uff46\uff4f\uff52=1)")


@pytest.mark.parametrize("source", DISGUISED)
def test_a_keyword_in_other_letters_is_no_name(source: str) -> None:
    ast.parse(source)  # Python takes it for a name
    with pytest.raises(ProgramSyntaxError, match="reads as the keyword"):
        Program.parse(source)
    assert Program.parse(f"x = '\uff49\uff46'  # \uff49\uff46 {source!r}").tree.body
