"""What stands behind the library names inside a worker; imported by the template only.

Everything a policy may ask for is loaded here, once: a worker that runs a program has no files.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import random
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import shapely
import shapely.affinity
import shapely.geometry
import shapely.ops

from cap.checker.allowlist import (
    BENCHMARK_MODULES,
    NUMPY,
    SAFE_BUILTINS,
    SHAPELY_AFFINITY,
    SHAPELY_GEOMETRY,
    SHAPELY_OPS,
    TYPING,
    module_names,
    numpy_names,
)
from cap.checker.attributes import reason_against
from cap.checker.node_rules import rule_violations
from cap.checker.policy import Policy
from cap.checker.survey import survey
from cap.errors import ROBOT_ERRORS, LMPFailed
from cap.program.private_names import TOLD, hidden, plain_error, rename
from cap.sandbox.worker import hints, records, stand_ins
from cap.sandbox.worker.enumerations import ENUM

Rights = Mapping[str, Sequence[str]]
"""What a policy allows besides: `modules` and `builtins` by name."""
PROGRAM_NAMES = ("__main__", "program")
"""What a program is called: one that is run, and one that is imported, as tests do."""
_SUBMODULES = ("linalg", "fft", "random")
_LATE = ("_strptime", "time")
"""Modules that the C code of `datetime` asks for when first used."""


class Facade:
    """An allow-listed view of a module; it leads nowhere else."""

    __slots__ = ("__dict__",)

    def __init__(self, **names: Any) -> None:
        self.__dict__.update(names)

    def __repr__(self) -> str:
        """Return what a module shows."""
        return f"<module '{self.__dict__.get('__name__', '')}'>"


class _Closed(type):
    """The class of a class that a program may ask about, and not call."""

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError(f"'{cls.__name__}' cannot be called by a program")

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _closed_kinds.get(cls, ()))

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, _closed_kinds.get(cls, ()))


_closed_kinds: dict[type, type] = {}
"""The classes behind the closed ones; kept here, where no attribute leads."""


_stand_ins: dict[type, type] = {}


def _closed(kind: type) -> type:
    """Return the closed stand-in of a class; every caller gets the same one."""
    if kind not in _stand_ins:
        space: dict[str, Any] = {"__module__": kind.__module__, "__slots__": ()}
        space["__class_getitem__"] = classmethod(types.GenericAlias)
        stand_in = _stand_ins[kind] = _Closed(kind.__name__, (), space)
        _closed_kinds[stand_in] = kind
    return _stand_ins[kind]


def kind_of(value: Any) -> type:
    """Stand in for `type(value)`: classes that programs cannot name come back closed.

    The class of classes makes classes of any names, the class of arrays takes any memory for
    objects, the class of functions any code.
    """
    kind = builtins.type(value)
    if kind is Facade:
        return _closed(types.ModuleType)
    if kind in _named() or kind.__module__ in PROGRAM_NAMES or issubclass(kind, _OPEN_FAMILIES):
        return kind
    return _closed(kind)


_OPEN_FAMILIES = (np.generic, shapely.Geometry, BaseException, builtins.type(None))


@cache
def _named() -> frozenset[type]:
    """Return the classes programs can name, but for those that are closed to them."""
    spaces = [vars(facade) for facade in _modules().values()]
    spaces += [_library(), {name: getattr(builtins, name) for name in SAFE_BUILTINS}]
    found = {value for space in spaces for value in space.values() if isinstance(value, type)}
    return frozenset(found - {builtins.type})


# --- modules

_own_random = random.Random(0)
"""What stands behind the module `random`; started anew for programs with another seed."""


@cache
def _library() -> dict[str, Any]:
    """Build the library names once, in the template; its forks share them."""
    modules = _modules()
    names: dict[str, Any] = dict.fromkeys(NUMPY, modules["numpy"])
    names["math"] = modules["math"]
    names["affinity"] = Facade(**{n: getattr(shapely.affinity, n) for n in SHAPELY_AFFINITY})
    names |= {name: getattr(shapely.geometry, name) for name in SHAPELY_GEOMETRY}
    names |= {name: getattr(shapely.affinity, name) for name in SHAPELY_AFFINITY}
    names |= {name: getattr(shapely.ops, name) for name in SHAPELY_OPS}
    return names | {name: hints.TYPING[name] for name in TYPING}


_STAND_INS: dict[str, Mapping[str, Any]] = {
    "collections": {"namedtuple": records.namedtuple},
    "dataclasses": records.DATACLASSES,
    "enum": ENUM,
    "functools": stand_ins.FUNCTOOLS,
    "itertools": stand_ins.ITERTOOLS,
    "typing": hints.TYPING,
}
"""What takes the place of a module's own."""


@cache
def _modules() -> dict[str, Any]:
    """Build every module a policy may list."""
    for name in _LATE:
        importlib.import_module(name)
    modules: dict[str, Any] = {}
    for name in BENCHMARK_MODULES:
        if not name.startswith("numpy"):
            module, listed = importlib.import_module(name), module_names(name) or ()
            found = {entry: getattr(module, entry) for entry in listed if hasattr(module, entry)}
            modules[name] = Facade(**found)
    vars(modules["collections"])["abc"] = modules["collections.abc"]
    for name, given in _STAND_INS.items():
        listed = module_names(name) or ()
        vars(modules[name]).update({n: value for n, value in given.items() if n in listed})
    for name in vars(modules["random"]).keys() - {"Random"}:
        setattr(modules["random"], name, getattr(_own_random, name))
    numpy = {name: getattr(np, name) for name in numpy_names() - set(_SUBMODULES)}
    for name in ("linalg", "fft"):
        module = getattr(np, name)
        numpy[name] = Facade(**{entry: getattr(module, entry) for entry in numpy_names(name)})
        modules[f"numpy.{name}"] = numpy[name]
    rows, columns = _without_text(builtins.type(np.r_)), _without_text(builtins.type(np.c_))
    numpy |= {"ndarray": _closed(np.ndarray), "r_": rows(), "c_": columns()}
    # Its class keeps cached properties, which anybody may turn into those of another class.
    numpy["finfo"] = lambda dtype: np.finfo(dtype)
    modules["numpy"] = Facade(**numpy)
    for name in modules:
        vars(modules[name])["__name__"] = name
    return modules


def _without_text(kind: Any) -> Any:
    """Return a class like that of `np.r_`, which evaluates the names in a text."""

    class Rows(kind):  # type: ignore[misc]
        makemat = None  # a class that evaluates texts

        def __getitem__(self, key: Any) -> Any:
            if isinstance(key, str):
                raise TypeError("np.r_ and np.c_ take arrays, numbers and slices")
            return super().__getitem__(key)

    return Rows


def library(seed: int, policy: Rights | None = None) -> dict[str, Any]:
    """Return the library names with what they mean; random numbers start from `seed`."""
    names = dict(_library())
    names["np"].random = _modules()["numpy.random"] = _Random(seed)
    if seed and policy and "random" in policy["modules"]:
        _own_random.seed(seed)
    return names


# --- builtins


@cache
def _common_builtins() -> dict[str, Any]:
    """Return the builtins every program has; a spare worker makes them before it is needed."""
    names = {name: getattr(builtins, name) for name in SAFE_BUILTINS}
    names |= ROBOT_ERRORS
    more = {"LMPFailed": LMPFailed, "__build_class__": builtins.__build_class__, "type": kind_of}
    more[TOLD] = plain_error
    return {**names, **more}


def safe_builtins(
    print_function: Callable[..., None], policy: Rights | None = None
) -> dict[str, Any]:
    """Return the builtins a program sees, with its own `print`."""
    names = dict(_common_builtins())
    names["print"] = print_function
    modules = frozenset(policy["modules"]) if policy else frozenset()
    names["__import__"] = functools.partial(_import, modules)
    for name in policy["builtins"] if policy else ():
        names[name] = _MORE_BUILTINS[name]
    return names


def _import(
    listed: frozenset[str],
    name: str,
    _globals: Any = None,
    _locals: Any = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """Serve the imports a policy lists, and those of C code, which asks its calling frame.

    C code takes the module from the interpreter itself: here it need only not fail.
    """
    if name == "__future__":
        return _FUTURE
    if name in listed and not level:
        return _modules().get(name if fromlist else name.partition(".")[0], _NOTHING)
    if (name.partition(".")[0] == "numpy" or name in _LATE) and name in sys.modules:
        return _NOTHING
    raise ImportError(f"import of '{name}' is not allowed")


_NOTHING = Facade()
_FUTURE = Facade(annotations=None)


def _getattr(value: Any, name: str, *default: Any) -> Any:
    if problem := _attribute_problem(name):
        raise AttributeError(problem)
    return getattr(value, hidden(name), *default)


def _hasattr(value: Any, name: str) -> bool:
    if builtins.type(name) is not str:
        raise TypeError("hasattr(): attribute name must be string")
    return hasattr(value, hidden(name))  # the truth of any name; it hands out nothing


def _setattr(value: Any, name: str, new: Any) -> None:
    if problem := _attribute_problem(name):
        raise AttributeError(problem)
    setattr(value, hidden(name), new)


def _attribute_problem(name: str) -> str | None:
    if builtins.type(name) is not str:
        raise TypeError("attribute name must be a string")
    finding = reason_against(name)
    return finding[1] if finding else None


def _eval(text: str, names: dict[str, Any] | None = None, own: Any = None) -> Any:
    """Stand in for `eval`: an expression passes the check of its program before it runs."""
    if builtins.type(text) is not str:
        raise TypeError("eval() takes a text here")
    tree = ast.parse(text.strip(" \t"), mode="eval")
    whole = ast.Module([ast.Expr(tree.body)], [])
    policy = Policy.benchmark()
    for violation in rule_violations(survey(whole, policy), policy):
        raise ValueError(f"eval() refuses the text: {violation}")
    rename(tree)
    code = compile(tree, "<eval>", "eval", dont_inherit=True)
    caller = sys._getframe(1)
    if caller.f_builtins.get("eval") is not _eval:  # a library would look up names among its own
        raise TypeError("eval() is called by programs only")
    if names is None:
        return eval(code, caller.f_globals, caller.f_locals if own is None else own)
    # Without builtins of its own, Python would give it all of them.
    return eval(code, {**names, "__builtins__": caller.f_builtins}, own)


_MORE_BUILTINS: dict[str, Any] = {
    "eval": _eval,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "id": builtins.id,
    "setattr": _setattr,
}
for _name in ("eval", "getattr", "hasattr", "setattr"):
    _MORE_BUILTINS[_name].__name__ = _MORE_BUILTINS[_name].__qualname__ = _name


class _Random:
    """`np.random` from a program's own seed, set up at first use: few programs need it."""

    def __init__(self, seed: int) -> None:
        self.__seed = seed
        self.__state: Any = None

    def __getattr__(self, name: str) -> Any:
        if name not in numpy_names("random"):
            raise AttributeError(f"numpy.random has no '{name}' that programs may use")
        if self.__state is None:
            self.__state = np.random.RandomState(self.__seed)
        if name == "default_rng":
            seed = self.__seed
            return lambda own=None: np.random.default_rng(seed if own is None else own)
        return getattr(self.__state, name)
