"""Right answers in many styles: what people and models write around a solution, and in it.

Each style stands behind a solution and calls it: `own_way` is the solution, `{name}` the function
that is asked for. What a style brings along runs when the function is called, or never.
"""

from __future__ import annotations

import random
import textwrap

from benchmarks.humaneval.problems import HumanEvalProblem

STYLES: dict[str, str] = {
    "imports what it never uses": """
        import os, sys, subprocess, socket, ctypes
        from os import path
        def {name}(*args): return own_way(*args)
    """,
    "imports what no program here may use": """
        import sqlite3, ssl, http.client
        from smtplib import SMTP
        def {name}(*args): return own_way(*args)
    """,
    "opens a file in a function that nobody calls": """
        def save(path, text):
            with open(path, "w") as file:
                file.write(text)
        def {name}(*args): return own_way(*args)
    """,
    "abstract classes": """
        from abc import ABC, abstractmethod
        class Solver(ABC):
            @abstractmethod
            def solve(self, *args): ...
        class Own(Solver):
            def solve(self, *args): return own_way(*args)
        def {name}(*args): return Own().solve(*args)
    """,
    "special methods called by name": """
        def {name}(*args):
            whole = ().__add__(args)
            assert whole.__len__() == len(args) and (1).__add__(2).__eq__(3)
            return own_way(*whole)
    """,
    "iterators driven by hand": """
        def {name}(*args):
            found = iter([own_way(*args)])
            return found.__next__()
    """,
    "private attributes": """
        class Holder:
            def __init__(self, args): self.__args, self._shown = args, False
            def answer(self): return own_way(*self.__args)
        def {name}(*args): return Holder(args).answer()
    """,
    "slots": """
        class Holder:
            __slots__ = ("args", "__dict__")
            def __init__(self, args): self.args = args
        def {name}(*args): return own_way(*Holder(args).args)
    """,
    "a list of exported names": """
        __all__ = ["{name}"]
        __author__, __version__ = "nobody", "1.0"
        def {name}(*args): return own_way(*args)
    """,
    "documentation strings read": """
        def {name}(*args):
            '''Return it.'''
            assert {name}.__doc__ == "Return it." and {name}.__name__ == "{name}"
            return own_way(*args)
    """,
    "an honest equality": """
        class Key:
            def __init__(self, value): self.value = value
            def __eq__(self, other): return isinstance(other, Key) and self.value == other.value
            def __hash__(self): return hash(self.value)
            def __lt__(self, other): return self.value < other.value
            def __repr__(self): return f"Key({{self.value!r}})"
        def {name}(*args):
            assert {{Key(1): 1}}[Key(1)] == 1 and max(Key(1), Key(2)) == Key(2)
            return own_way(*args)
    """,
    "named tuples replaced": """
        from collections import namedtuple
        Pair = namedtuple("Pair", ["args", "done"])
        def {name}(*args):
            pair = Pair(None, False)._replace(args=args)
            return own_way(*pair._asdict()["args"])
    """,
    "the recursion limit": """
        import sys
        sys.setrecursionlimit(100_000)
        def deep(n): return 0 if n == 0 else deep(n - 1)
        def {name}(*args):
            deep(5000)
            return own_way(*args)
    """,
    "words to the error stream": """
        import sys
        def {name}(*args):
            print("called", args, file=sys.stderr, flush=True)
            sys.stdout.write("so\\n")
            return own_way(*args)
    """,
    "time measured": """
        import time
        from timeit import default_timer
        def {name}(*args):
            begin = time.perf_counter()
            answer = own_way(*args)
            assert time.perf_counter() >= begin and default_timer() > 0 and time.time() > 0
            return answer
    """,
    "logging": """
        import logging
        logging.basicConfig(level=logging.DEBUG)
        logger = logging.getLogger(__name__)
        def {name}(*args):
            logger.info("called with %s", args)
            return own_way(*args)
    """,
    "arrays": """
        from array import array
        def {name}(*args):
            places = array("i", range(len(args)))
            return own_way(*[args[place] for place in places])
    """,
    "locks": """
        import threading
        lock = threading.Lock()
        local = threading.local()
        def {name}(*args):
            with lock:
                local.args = args
                return own_way(*local.args)
    """,
    "its own examples, run": """
        import doctest, tempfile, tomllib
        def {name}(*args):
            return own_way(*args)
        assert doctest.testmod().attempted >= 0
        assert tomllib.loads("a = 1") == {{"a": 1}} and tempfile.gettempdir()
    """,
    "hashes by name": """
        import hashlib
        def {name}(*args):
            assert len(hashlib.new("sha256", repr(args).encode()).hexdigest()) == 64
            return own_way(*args)
    """,
    "locals": """
        def {name}(*args):
            answer = own_way(*args)
            return locals()["answer"]
    """,
    "globals": """
        def {name}(*args):
            assert "own_way" in globals() and "own_way" in dir() + list(globals())
            return globals()["own_way"](*args)
    """,
    "coroutines run by a loop": """
        import asyncio
        async def answer(*args):
            await asyncio.sleep(0)
            return own_way(*args)
        def {name}(*args): return asyncio.run(answer(*args))
    """,
    "coroutines driven by hand": """
        async def answer(*args): return own_way(*args)
        def {name}(*args):
            try:
                answer(*args).send(None)
            except StopIteration as stop:
                return stop.value
    """,
    "guarded imports": """
        try:
            import no_such_module_anywhere as fast
        except ImportError:
            fast = None
        try:
            import numpy as np
        except ImportError:
            np = None
        def {name}(*args): return own_way(*args) if fast is None else fast.own_way(*args)
    """,
    "everything of typing": """
        from typing import *
        T = TypeVar("T")
        def {name}(*args: Any) -> Optional[Any]: return cast(Any, own_way(*args))
    """,
    "a very long text": """
        # {long}
        TABLE = "{long}"
        def {name}(*args): return own_way(*args)
    """,
    "a part for scripts alone": """
        def {name}(*args): return own_way(*args)
        if __name__ == "__main__":
            import sys, doctest
            doctest.testmod()
            print({name}(*map(int, sys.argv[1:])), open("result.txt", "w"))
    """,
    "classes made by calls": """
        Own = type("Own", (object,), {{"answer": lambda self, *args: own_way(*args)}})
        class Meta(type):
            def __call__(cls, *args): return own_way(*args)
        class Called(metaclass=Meta): ...
        def {name}(*args):
            Own().answer(*__import__("copy").deepcopy(args))
            return Called(*args)
    """,
    "attributes made on the way": """
        class Lazy:
            def __getattr__(self, name):
                if name != "answer": raise AttributeError(name)
                return own_way
            def __call__(self, *args): return self.answer(*args)
            def __class_getitem__(cls, item): return cls
            def __init_subclass__(cls, **given): ...
        def {name}(*args): return Lazy[int]()(*args)
    """,
    "context managers": """
        from contextlib import contextmanager, ExitStack
        class Guard:
            def __enter__(self): return self
            def __exit__(self, kind, error, trace): return False
        @contextmanager
        def given(args): yield args
        def {name}(*args):
            with ExitStack() as stack, Guard():
                return own_way(*stack.enter_context(given(args)))
    """,
    "text that is run": """
        exec("def inner(*args): return own_way(*args)")
        code = compile("inner(*args)", "inner", "eval")
        def {name}(*args): return eval(code, {{**globals(), "args": args}})
    """,
    "decorators that look at signatures": """
        import functools, inspect
        def traced(function):
            @functools.wraps(function)
            def inner(*args):
                return inner.__wrapped__(*inspect.signature(function).bind(*args).args)
            inner.calls = 0
            return inner
        @traced
        def {name}(*args): return own_way(*args)
    """,
    "data classes": """
        from dataclasses import dataclass, field, asdict, replace
        @dataclass(order=True)
        class Case:
            args: 'tuple' = ()
            seen: 'list[int]' = field(default_factory=list)
            def __post_init__(self): self.count = len(self.args)
        def {name}(*args): return own_way(*replace(Case(), args=args).args)
    """,
    "enumerations": """
        from enum import Enum, auto
        class Way(Enum):
            FIRST = auto()
            def __call__(self, *args): return own_way(*args)
        def {name}(*args): return Way["FIRST"](*args)
    """,
    "generators sent to": """
        def serve():
            args = yield
            while True:
                args = yield own_way(*args)
        def inner(): yield from serve()
        def {name}(*args):
            served = inner()
            next(served)
            return served.send(args)
    """,
    "patterns": """
        def {name}(*args):
            match args:
                case []: return own_way()
                case [one]: return own_way(one)
                case [one, *rest]: return own_way(one, *rest)
    """,
    "paths as texts": """
        import os, os.path, string
        from pathlib import PurePosixPath
        def {name}(*args):
            assert os.path.join("a", "b") == str(PurePosixPath("a") / "b")
            assert os.environ.get("NO_SUCH_NAME", "") == "" and os.linesep == "\\n"
            return own_way(*args)
    """,
    "streams in memory": """
        import io, sys, contextlib
        def {name}(*args):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                print("hello", end="")
            assert out.getvalue() == "hello"
            return own_way(*args)
    """,
    "warnings": """
        import warnings, traceback
        warnings.filterwarnings("ignore")
        warnings.warn("slow", DeprecationWarning)
        def {name}(*args):
            try:
                raise ValueError("tried")
            except ValueError as error:
                assert traceback.format_exc() and error.__traceback__ and error.__class__
            return own_way(*args)
    """,
    "names listed and deleted": """
        spare = 1
        del spare
        def {name}(*args):
            view = memoryview(b"abc")
            assert "spare" not in globals() and vars(Holder)["one"] == 1 and view[0] == 97
            setattr(Holder, "two", 2); delattr(Holder, "two")
            return own_way(*args)
        class Holder: one = 1
    """,
    "weak references": """
        import gc, weakref
        class Node: ...
        def {name}(*args):
            node = Node()
            kept = weakref.ref(node)
            del node
            gc.collect()
            assert kept() is None
            return own_way(*args)
    """,
    "copies by way of bytes": """
        import copy, pickle, json, struct, base64
        def {name}(*args):
            assert struct.unpack("<i", struct.pack("<i", 7)) == (7,)
            return own_way(*pickle.loads(pickle.dumps(copy.deepcopy(args))))
    """,
    "tests of its own": """
        import unittest
        class OwnTest(unittest.TestCase):
            def test_it(self): self.assertEqual(1, 1)
        def run():
            unittest.main()
        def {name}(*args): return own_way(*args)
    """,
    "modules by name": """
        import importlib, operator
        def {name}(*args):
            assert importlib.import_module("math").sqrt(4) == __import__("math").sqrt(4) == 2
            return operator.call(own_way, *args) if hasattr(operator, "call") else own_way(*args)
    """,
    "processes for scripts alone": """
        from multiprocessing import Pool, cpu_count
        from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor
        def all_of(cases):
            with Pool(cpu_count()) as pool: return pool.map(own_way, cases)
        def {name}(*args): return own_way(*args)
    """,
    "words in other alphabets": """
        import codecs, unicodedata, locale
        \u00e9t\u00e9 = unicodedata.normalize("NFC", "e\\u0301te\\u0301")
        def {name}(*args):
            assert codecs.encode("abc", "rot13") == "nop" and \u00e9t\u00e9 == "\\xe9t\\xe9"
            return own_way(*args)
    """,
    "a memory between calls": """
        from functools import lru_cache, cached_property, singledispatch
        class Solver:
            _only = None
            def __new__(cls):
                if cls._only is None: cls._only = super().__new__(cls)
                return cls._only
            @cached_property
            def way(self): return own_way
        @lru_cache(maxsize=None)
        def solver(): return Solver()
        def {name}(*args): return solver().way(*args)
    """,
    "dates": """
        from datetime import datetime
        import calendar, decimal, fractions, statistics
        def {name}(*args):
            assert datetime.strptime("2020-01-02", "%Y-%m-%d").day == 2
            assert datetime.now().year > 2000 and decimal.getcontext().prec == 28
            return own_way(*args)
    """,
}


def chosen(problems: dict[str, HumanEvalProblem], style: str, n: int) -> list[HumanEvalProblem]:
    """Return some problems for a style, the same every time."""
    return random.Random(style).sample(list(problems.values()), n)


def right_answer(style: str, problem: HumanEvalProblem) -> str:
    """Return a completion that is right, in one style."""
    text = STYLES[style].format(name=problem.entry_point, long="x" * 70_000)
    around = textwrap.dedent(text)
    return f"{problem.canonical_solution}\n\nown_way = {problem.entry_point}\n{around}"
