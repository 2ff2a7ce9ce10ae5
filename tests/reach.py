"""What a program can reach from the names it is given: a walk over objects, by the check's rules.

From every object the walk reads the attributes the rules allow, calls what can be called with a few
plain arguments, takes entries and items, and looks at what comes back. Of each kind of object one
is enough. What leads out of a program is listed with the road to it. An audit hook tells of texts
that are compiled and of files that are opened on the way.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import ctypes
import functools
import io
import itertools
import random
import types
import typing
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import shapely

from cap.checker.allowlist import FORBIDDEN_BUILTINS
from cap.checker.attributes import reason_against
from cap.checker.policy import Policy
from cap.program import private_names
from cap.program.private_names import FORMATS, MARK, READ_LATER, is_private, is_special
from cap.sandbox.worker import namespace
from cap.sandbox.worker.special_attributes import SpecialAttributes, set_special
from cap.sandbox.worker.templates import Formats
from tests.fakes.audit import listening

TEXT = "tripwire + 1"
"""What must never be compiled."""
_SPECIAL = "__getattr__"
_SEEN_OTHERWISE = ("__name__", *READ_LATER)
_SETS = ("__setattr__", "__delattr__")
ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (),
    (2,),
    (TEXT,),
    ([3.0, 1.0, 2.0],),
    (lambda *args: 1, [1, 2]),
    ("A", (), {_SPECIAL: 1}),
    ("A", {_SPECIAL: 1, "a": 2}),
    ("A", [_SPECIAL]),
    ("A", [(_SPECIAL, int)]),
)
_FORBIDDEN = {
    types.ModuleType: "a module",
    types.FrameType: "a frame",
    types.CodeType: "a code object",
    types.TracebackType: "a traceback",
    io.IOBase: "a file",
    memoryview: "raw memory",
    ctypes._SimpleCData: "raw memory",
    functools.cached_property: "a property that can be told to set any name",
}
_BY_NAME = ("getattr", "hasattr", "setattr", "vars")
_RAW = {
    id(getattr(builtins, name)): f"{name}()"
    for name in (*FORBIDDEN_BUILTINS, *_BY_NAME)
    if name in dir(builtins)
}
_RAW |= {id(str.format): "str.format", id(str.format_map): "str.format_map"}
_RAW |= {id(functools.update_wrapper): "what copies attributes by their names"}
_RAW |= {id(type): "the class of classes", id(np.ndarray): "the class of arrays"}
_FAMILIES = (BaseException, np.generic, np.dtype, shapely.Geometry)
_EVENTS = (
    *("open", "os.system", "os.exec", "os.remove", "os.rename", "os.mkdir", "subprocess"),
    *("socket", "ctypes", "code.__new__", "function.__new__"),
)


class Own:
    """Stands for a class of the program's own."""


def handed_in(policy: Policy) -> dict[str, Any]:
    """Return every name a program of a policy may read or import, with what it is given."""
    rights = policy.as_data()
    namespace.start_random(1)
    space = namespace.library() if policy.library else {}
    space |= namespace.safe_builtins(lambda *_, **__: None, rights)
    for name in ("__import__", "__build_class__", "eval", "id"):  # eval checks what it is given
        space.pop(name, None)
    space = {name: value for name, value in space.items() if MARK not in name}
    modules = {
        f"import {name}": module
        for name, module in namespace._modules().items()
        if name in policy.modules
    }
    return {**space, **modules, "super()": super(Own, Own())}


def settable(space: Mapping[str, Any], depth: int) -> dict[str, str]:
    """Return which attributes of the library's objects a program can bind, each with a road there.

    Of interest are those that a class keeps by a descriptor of its own: what they change, code
    that was written in C relies on. What is bound beside them is a word in a dictionary.

    Args:
        space: The names a program is given.
        depth: How many steps from a name.
    """
    found: dict[str, str] = {}
    seen: set[Any] = set()
    ahead = deque((name, value, 0) for name, value in space.items())
    state = random.getstate(), np.random.get_state()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while ahead:
            road, value, steps = ahead.popleft()
            if (key := _kind(value)) in seen or isinstance(value, types.ModuleType):
                continue
            seen.add(key)
            kind = "error" if isinstance(value, BaseException) else type(value).__qualname__
            for name in _bound_by_descriptor(value):
                found.setdefault(f"{kind}.{name}", road)
            if steps < depth and leads_out(value) is None:
                ahead += [(f"{road}{way}", reached, steps + 1) for way, reached in _steps(value)]
    random.setstate(state[0])
    np.random.set_state(state[1])
    return found


def _bound_by_descriptor(value: Any) -> Iterator[str]:
    """Yield the attributes of an object of the library that the rules let a program bind."""
    if isinstance(value, type) or type(value).__module__ in ("__main__", "tests.reach"):
        return
    for name in dir(value):
        if reason_against(name) is not None or is_private(name) or is_special(name):
            continue
        owner = next((kind for kind in type(value).__mro__ if name in vars(kind)), object)
        if not hasattr(type(vars(owner).get(name)), "__set__"):
            continue
        try:
            bind = set_special if name in private_names.GUARDED else setattr
            bind(value, name, getattr(value, name))
        except BaseException:  # whatever it is, a program would get no further
            continue
        yield name


def ways_out(space: Mapping[str, Any], depth: int) -> list[str]:
    """Return what leads out of a program, each with the road there.

    Args:
        space: The names it is given.
        depth: How many steps from a name.
    """
    heard: list[str] = []

    def listen(event: str, args: tuple[Any, ...]) -> None:
        if event.startswith(_EVENTS) and not str(args[0]).endswith((".py", ".pyc")):
            heard.append(f"{event} happens")
        elif event == "compile" and TEXT in str(args[0]):
            heard.append("a text is compiled")

    found: dict[str, None] = {}
    seen: set[Any] = set()
    ahead = deque((name, value, 0) for name, value in space.items())
    state = random.getstate(), np.random.get_state()
    try:
        with listening(listen), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            while ahead:
                road, value, steps = ahead.popleft()
                if what := leads_out(value):
                    found[f"{road}: {what}"] = None
                    if not isinstance(value, type):  # who knows what it would do
                        continue
                if steps == depth or (key := _kind(value)) in seen:
                    continue
                seen.add(key)
                for way, reached in _steps(value):
                    while heard:
                        found[f"{road}{way}: {heard.pop()}"] = None
                    ahead.append((f"{road}{way}", reached, steps + 1))
    finally:
        random.setstate(state[0])
        np.random.set_state(state[1])
    return list(found)


def _kind(value: Any) -> Any:
    """Return what stands for all objects like this one."""
    kind = type(value)
    if isinstance(value, namespace.Facade):
        return id(value)
    if isinstance(value, type) or callable(value):
        owner = getattr(value, "__self__", None)
        names = (getattr(value, "__module__", None), getattr(value, "__qualname__", None))
        return (kind, *map(str, names), getattr(value, "__name__", None), type(owner))
    return kind


def leads_out(value: Any) -> str | None:
    """Return what an object is, if a program must not have it."""
    if id(value) in _RAW:
        return _RAW[id(value)]
    method = value if isinstance(value, types.BuiltinMethodType) else None
    if method and isinstance(method.__self__, str) and method.__name__ in FORMATS:
        return "a text's own format"
    for kind, what in _FORBIDDEN.items():
        if isinstance(value, kind):
            return what
    if type(value).__name__ in ("PyCapsule", "BitGenerator", "GEOSGeometry"):
        return "a raw pointer"
    if isinstance(value, types.MethodWrapperType) and value.__name__ in _SETS:
        return "what sets any attribute"
    if isinstance(value, functools.partial):
        where = getattr(value.func, "__globals__", {}).get("__name__", "")
        if where.startswith("cap."):
            return "a partial of ours, which hands out its parts"
    kind = type(value)
    if kind.__module__ == "typing" and vars(typing).get(kind.__name__) is kind:
        return "typing's own, which compiles texts"
    if not isinstance(value, type):
        by_data = _SPECIAL in getattr(value, "__dict__", {})
        return "an object with special attributes by data" if by_data else None
    if _SPECIAL in {**vars(value), **vars(value).get("__annotations__", {})}:
        return "a class with special methods by data"
    own = value.__module__ in ("__main__", "tests.reach", "cap.sandbox.worker.namespace")
    if own or isinstance(value, namespace._Closed) or issubclass(value, _FAMILIES):
        return None
    return None if value in namespace._named() else f"a class of others, {value}"


def _steps(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what one step leads to."""
    for name in dir(value):
        if reason_against(name) is None and not is_private(name) and name not in _SEEN_OTHERWISE:
            try:
                yield f".{name}", getattr(Formats(value) if name in FORMATS else value, name)
            except BaseException:  # whatever it is, a program would see no more
                continue
    yield ".__class__", namespace.kind_of(value)
    for name in ("__init__", *READ_LATER):
        try:
            yield f".{name}", getattr(SpecialAttributes(value), name)
        except BaseException:
            continue
    with contextlib.suppress(BaseException):  # a hint of a class hands out what the class has
        for place, kind in enumerate(SpecialAttributes(value[int]).mro()):
            yield f"[int].mro()[{place}]", kind
    for arguments in copy.deepcopy(ARGUMENTS) if callable(value) else ():
        try:
            yield f"{arguments}".replace("\n", " "), value(*arguments)
        except BaseException:
            yield f"{arguments}", None
    try:
        yield f"(**{{{_SPECIAL!r}: 1}})", value(**{_SPECIAL: 1})
    except BaseException:
        yield " called by keyword", None
    for key in (0, TEXT, "a"):
        if hasattr(type(value), "__getitem__") or hasattr(value, "__class_getitem__"):
            try:
                yield f"[{key!r}]", value[key]
            except BaseException:
                yield f"[{key!r}]", None
    try:
        yield " entry", next(itertools.islice(iter(value), 1))
    except BaseException:
        return
