"""The untrusted side: one fresh process runs one program and ends.

Behind the kernel's layers a program runs in real Python with the real library. Replaced are only
its output (one capped stream), its imports (the policy's list) and the seeds of random numbers
that are given none. Without those layers it finds a few builtins and views of listed modules.
Robot functions are proxies that send a call over the pipe and wait for its answer. The parent
trusts nothing that comes from here.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import io
import math
import opcode
import os
import random
import select
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import shapely
import shapely.affinity
import shapely.geometry
import shapely.ops  # noqa: F401

from cap.checker import policy
from cap.checker.policy import PROCESS
from cap.errors import ROBOT_ERRORS, LMPFailed
from cap.sandbox import arrays as arrays  # values of both libraries cross
from cap.sandbox import frames, wire

PROGRAM = "<program>"
"""The file name of a program's code."""
MOST_YIELDED = 10_000
"""Values that an iterator may yield which a called function returns."""
_RAISE = opcode.opmap["RAISE_VARARGS"]


class OutputLimit(BaseException):
    """More was printed than the limit allows; programs cannot catch it by `except Exception`."""


class Output(io.TextIOBase):
    """What the program prints, to standard output and error, up to a limit."""

    def __init__(self) -> None:
        self.left = 0
        """Characters that may still be printed."""
        self.exceeded: OutputLimit | None = None
        """Raised at the limit, and again at the end if the program caught it."""
        self._parts: list[str] = []
        self._reported = 0

    def write(self, text: str) -> int:
        """Keep a text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if len(text) > self.left:
            self.exceeded = OutputLimit("the program printed too much")
            raise self.exceeded
        self.left -= len(text)
        self._parts.append(text)
        return len(text)

    def writable(self) -> bool:
        """Return True."""
        return True

    def text(self) -> str:
        """Return everything that was printed."""
        return wire.text("".join(self._parts))

    def news(self) -> str:
        """Return what was printed since the last time."""
        parts, self._reported = self._parts[self._reported :], len(self._parts)
        return wire.text("".join(parts))


class ProgramRunner:
    """What every program finds, made once in the template."""

    def __init__(self, modules: Sequence[str], *, restricted: bool) -> None:
        """Build the names.

        Args:
            modules: What programs may import.
            restricted: The kernel stops nothing: hand out views of listed names only.
        """
        self._output = Output()
        self._library: dict[str, Any] = {
            **{
                name: getattr(sys.modules[module], name)
                for module, names in policy.LIBRARY.items()
                for name in sorted(names)
            },
        }
        found = {name: sys.modules[name] for name in modules if name in sys.modules}
        self._builtins: dict[str, Any] = dict(vars(builtins))
        if restricted:
            found = _module_views()
            self._builtins = _safe_builtins()
        self._library |= {"np": found["numpy"], "numpy": found["numpy"], "math": found["math"]}
        self._library["affinity"] = found["shapely.affinity"]
        self._builtins |= {**ROBOT_ERRORS, "LMPFailed": LMPFailed}
        self._builtins["__import__"] = _importer(modules, found if restricted else None)

    def serve(self, requests: int, answers: int) -> NoReturn:
        """Run the one program that arrives on a pipe, and end.

        Args:
            requests: Read end: the job, then answers to its calls.
            answers: Write end: that it is ready, its calls, its result.
        """
        try:
            # What a spare worker does before its job arrives costs its program no time.
            caller = _Caller(requests, answers, self._output)
            sys.stdout = sys.stderr = self._output
            space: dict[str, Any] = {"__builtins__": dict(self._builtins), **self._library}
            _seed_random(0)
            os.write(answers, frames.READY)
            job = wire.decode(frames.receive(requests))
            frames.send(answers, self._run(job, space, caller))
        except (frames.PeerClosed, BrokenPipeError):  # nobody needs it any more
            pass
        os._exit(0)

    def _run(self, job: Mapping[str, Any], ready: dict[str, Any], caller: _Caller) -> bytes:
        """Run a program with the names that are ready; return its last frame."""
        output = self._output
        output.left = job["stdout_chars"]
        _seed_random(job["seed"])
        if not job["library"]:
            ready = {"__builtins__": ready["__builtins__"]}
        # A real module, where dataclasses, enumerations and typing look for the program's names.
        module = types.ModuleType("__main__" if job["library"] else "program")
        sys.modules[module.__name__] = module
        space = vars(module)
        space |= ready
        for name in job["primitives"]:
            space[name] = caller.proxy(name)
        for group, members in job["groups"].items():
            space[group] = types.SimpleNamespace(**{member: space[member] for member in members})
        bindings = _Bindings(space) if job["keep"] else None
        space |= job["variables"]
        message: dict[str, Any] = {"status": "ok"}
        try:
            for name, source in job["definitions"]:
                exec(compile(source, f"<{name}>", "exec", dont_inherit=True), space)
            code = _compiled(job["source"])
            if bindings is not None:
                bindings.begin()
            try:
                exec(code, space)
            except SystemExit as end:  # of a program that is done, as in Python
                if end.code not in (None, 0):
                    raise
            if job["calls"] is not None:
                message["value"] = _call_each(space, *job["calls"])
            elif job["returns"] is not None:
                message["value"] = _returned(space, job["returns"])
            if bindings is not None:
                message |= bindings.left()
            if output.exceeded is not None:
                raise output.exceeded
        except BaseException as error:  # whatever the program did ends here
            message = _failure(output.exceeded or error)
            if bindings is not None:  # where its world stays, so does what it had set by then
                with contextlib.suppress(BaseException):  # of the program's own objects
                    message["variables"] = bindings.left()["variables"]
        return _last_frame(message, output)


def _last_frame(message: dict[str, Any], output: Output) -> bytes:
    """Return the last frame; a result that does not fit in one is a failure of its own."""
    try:
        return wire.encode(["done", {**message, "stdout": output.text()}])
    except frames.WireError as error:
        return wire.encode(["done", {**_failure(ValueError(str(error))), "stdout": output.text()}])


class _Caller:
    """Sends a program's calls to the parent."""

    def __init__(self, requests: int, answers: int, output: Output) -> None:
        self._ends = requests, answers
        self._poller = frames.poll_for(requests, select.POLLIN)
        self._output = output

    def proxy(self, name: str) -> Callable[..., Any]:
        """Return what stands for a primitive: it sends the call and waits for the answer."""

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                news = self._output.news()
                frame = wire.encode(["call", name, list(args), kwargs, _line(), news])
            except frames.WireError as error:
                raise TypeError(f"{name}(): {error}") from None
            requests, answers = self._ends
            frames.send(answers, frame)
            answer = wire.decode(frames.receive(requests, None, self._poller))
            if answer[0] == "ok":
                return answer[1]
            _, kind, text = answer
            raise wire.RAISABLE[kind](text)

        call.__name__ = call.__qualname__ = name
        return call


def _line() -> int:
    """Return the line of the program that runs, 0 where none does."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno


def _importer(modules: Sequence[str], views: Mapping[str, Any] | None) -> Callable[..., Any]:
    """Return what stands for `__import__`: it serves the policy's list.

    Args:
        modules: What may be imported.
        views: What is handed out in place of the modules, if not they themselves.
    """
    listed = frozenset(modules if views is None else views)

    def __import__(  # noqa: N807
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if not isinstance(name, str):
            raise TypeError("__import__() argument 1 must be str")
        if name == "__future__" or (name in listed and not level and views is None):
            return builtins.__import__(name, globals, locals, fromlist, level)
        if name in listed and not level and views is not None:
            return views[name if fromlist else name.partition(".")[0]]
        if name.startswith("numpy.") and name in sys.modules:  # numpy's C code asks in our frames
            return sys.modules[name if fromlist else "numpy"] if views is None else None
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    return __import__


_program_seed = 0
_unseeded = 0
"""How often random numbers were started without a seed: each time they are others."""


def _seed_random(seed: int) -> None:
    """Start random numbers from a seed, and those that are given none from seeds of its own."""
    global _program_seed
    _program_seed = seed
    random.Random.seed = _seed  # type: ignore[method-assign]
    random.seed = random._inst.seed
    random.seed(seed)
    np.random.bit_generator.randbits = _seed_bits  # type: ignore[attr-defined]
    np.random.seed(seed % (1 << 32))


_given_seed = random.Random.seed


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    """Stand in for `Random.seed`."""
    global _unseeded
    if a is None:
        _unseeded += 1
        a = f"{_program_seed} {_unseeded}"
    _given_seed(self, a, version)


def _seed_bits(bits: int) -> int:
    """Stand in for the entropy that numpy takes from the system."""
    global _unseeded
    _unseeded += 1
    return abs(_program_seed) + ((_unseeded - 1) << 64)


# --- results


def _compiled(source: str) -> types.CodeType:
    try:
        return compile(source, PROGRAM, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise _NoProgram(str(getattr(error, "msg", error))) from None


class _NoProgram(Exception):
    """The text of a program cannot be compiled."""


def _returned(space: Mapping[str, Any], name: str) -> bytes:
    if name not in space:
        raise NameError(f"the program ended without setting '{name}'")
    try:
        return wire.encode(space[name])
    except frames.WireError as error:
        raise TypeError(f"'{name}' is not plain data: {error}") from None


def _failure(error: BaseException) -> dict[str, Any]:
    """Return what the parent is to know of an exception."""
    if isinstance(error, _NoProgram):
        return {"status": "syntax", "error": "SyntaxError", "message": str(error), "line": None}
    line, inside, raised = None, "", False
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        raised = code.co_code[max(trace.tb_lasti, 0)] == _RAISE
        if code.co_filename == PROGRAM:
            line = trace.tb_lineno
        if code.co_filename.startswith("<"):
            inside = "" if code.co_name == "<module>" else f" (in {code.co_name})"
            if inside and code.co_filename != PROGRAM:  # a function written for it, or kept
                inside = f" (in {code.co_name}, line {trace.tb_lineno} of it)"
        trace = trace.tb_next
    try:
        text = str(error)
    except BaseException:  # a program's own exception class may do anything
        text = ""
    kind = type(error)
    name = kind.__name__
    if isinstance(error, MemoryError) and not raised:
        name = MemoryError.__name__  # numpy has a class of its own
    elif kind.__module__ in ("__main__", "program") or isinstance(error, MemoryError):
        name = f"program.{name}"
    message = wire.one_line(text) + inside
    return {"status": "failed", "error": name, "message": message, "line": line}


class _Bindings:
    """What a program leaves bound, for a session: its data, and which definition made a function.

    A function or class is kept as the source of its definition, so what is bound must be what that
    source says: not a lambda under its name, nor another function, a wrapped or a changed one.
    """

    def __init__(self, space: dict[str, Any]) -> None:
        """Note what every program has, and note each class that is made from now on.

        Args:
            space: The names of the program, still without variables and definitions.
        """
        self._space = space
        self._given = dict(space)
        self._before: dict[str, Any] = {}
        self._classes: dict[type, tuple[types.CodeType, dict[str, tuple[Any, bytes | None]]]] = {}
        space["__builtins__"]["__build_class__"] = self._build_class

    def begin(self) -> None:
        """Note what the kept definitions made; the program comes next."""
        self._before = dict(self._space)

    def left(self) -> dict[str, Any]:
        """Return what is bound now: data, lines of definitions, and names that are not kept.

        A line is that of the definition in the program, 0 of what was kept before and still is.
        """
        variables: dict[str, bytes] = {}
        defined: dict[str, int] = {}
        dropped: list[str] = []
        oversized: list[str] = []
        left_bytes, left_values = wire.MAX_KEPT_BYTES, wire.MAX_KEPT_VALUES
        for name, value in self._space.items():
            if (name.startswith("__") and name.endswith("__")) or not name.strip("_"):
                continue
            if name in self._given and value is self._given[name]:
                continue
            if isinstance(value, types.FunctionType | type):
                if (line := self._line(name, value)) is not None:
                    defined[name] = line
                elif value.__module__ == self._space["__name__"] or not self._was(name, value):
                    dropped.append(name)
            elif name.startswith("_"):  # the program's own business
                dropped.append(name)
            else:
                try:
                    data = wire.encode(value)
                except frames.WireError:
                    if not self._was(name, value):  # a kept definition may import for itself
                        dropped.append(name)
                    continue
                kind = getattr(getattr(value, "dtype", None), "kind", "-")
                values = wire.count_values(value) + (value.size if kind in "USO" else 0)
                if len(data) > left_bytes or values > left_values:
                    oversized.append(name)
                else:
                    left_bytes -= len(data)
                    left_values -= values
                    variables[name] = data
        return {
            "variables": variables,
            "defined": defined,
            "dropped": dropped,
            "oversized": oversized,
        }

    def _was(self, name: str, value: Any) -> bool:
        """Return True if the kept definitions bound a name to a value."""
        return name in self._before and self._before[name] is value

    def _line(self, name: str, value: types.FunctionType | type) -> int | None:
        """Return the line of the definition that a function or class is; None if it is none."""
        if isinstance(value, types.FunctionType):
            code = value.__code__
            plain = types.FunctionType(code, {}, closure=value.__closure__)
            texts = ("__name__", "__qualname__", "__doc__")
            changed = any(getattr(value, name) != getattr(plain, name) for name in texts)
            changed = changed or bool(vars(value))
        elif value in self._classes:
            code, made = self._classes[value]
            changed = value.__name__ != code.co_name or not _same(made, _attributes(value))
        else:
            return None
        if changed:
            return None
        if self._was(name, value):
            return 0
        own = code.co_filename == PROGRAM and code.co_name == name
        return code.co_firstlineno if own else None

    def _build_class(
        self, body: Callable[[], Any], name: str, /, *bases: Any, **options: Any
    ) -> Any:
        """Stand in for what a `class` statement calls."""
        made = builtins.__build_class__(body, name, *bases, **options)
        if isinstance(made, type):
            self._classes[made] = body.__code__, _attributes(made)
        return made


def _attributes(kind: type) -> dict[str, tuple[Any, bytes | None]]:
    """Return a class's own attributes: each itself, and as bytes where it is data."""
    found: dict[str, tuple[Any, bytes | None]] = {}
    for name, value in vars(kind).items():
        try:
            found[name] = value, wire.encode(value)
        except frames.WireError:  # no data
            found[name] = value, None
    return found


def _same(
    made: Mapping[str, tuple[Any, bytes | None]], now: Mapping[str, tuple[Any, bytes | None]]
) -> bool:
    """Return True if attributes are the same objects with the same data."""
    return made.keys() == now.keys() and all(
        value is now[name][0] and data == now[name][1] for name, (value, data) in made.items()
    )


# --- calls of a function that the program defined


def _call_each(space: Mapping[str, Any], name: str, calls: Sequence[Any]) -> list[list[Any]]:
    """Call a function of a program with each of its arguments.

    What comes back is wider than the wire, which takes exact types only: a subclass of a builtin
    becomes that builtin, a fraction or decimal the number exactly as large if there is one, a view
    of a dictionary a set, an iterator and anything else that can be iterated over a list.

    Args:
        space: The names of the program that ended.
        name: The function's.
        calls: Positional and keyword arguments of each call.

    Returns:
        For each call `[kind, encoded value, message]`, kind being `value`, `yields` or `raises`.

    Raises:
        NameError: There is no such function.
        WireError: A result is no plain data.
    """
    if name not in space:
        raise NameError(f"the program ended without defining '{name}'")
    return [_answer(space[name], args, named) for args, named in calls]


def _answer(function: Any, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    try:
        value = function(*args, **named)
        kind = "yields" if hasattr(type(value), "__next__") else "value"
        if kind == "yields":
            value = _taken(value)
    except Exception as error:  # whatever a program's function raises is its answer
        return ["raises", wire.encode(type(error).__name__), wire.one_line(str(error))]
    try:
        return [kind, wire.encode(value), ""]
    except frames.WireError:
        plain = _plain(value)
    if plain is value and hasattr(type(value), "__iter__"):  # equal to no list, yet may become one
        kind, plain = "yields", _plain(_taken(iter(value)))
    return [kind, wire.encode(plain), ""]


def _taken(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if len(found) == MOST_YIELDED:
            raise TypeError(f"a result that yields more than {MOST_YIELDED} values")
        found.append(value)
    return found


def _plain(value: Any) -> Any:
    """Return a value with every part of it of a type that crosses, if it has one."""
    if isinstance(value, dict):
        return {_plain(key): _plain(entry) for key, entry in dict.items(value)}
    views: tuple[Any, ...] = (type({}.keys()), type({}.items()))
    if isinstance(value, views):
        return {_plain(entry) for entry in value}
    groups: tuple[Any, ...] = (list, tuple, set, frozenset)
    for group in groups:
        if isinstance(value, group):
            return group([_plain(entry) for entry in group.__iter__(value)])
    bases: Mapping[type, Callable[[Any], Any]] = {
        int: int.__pos__,
        float: float.__pos__,
        str: str.__str__,
        bytes: bytes.__bytes__,
    }
    for base, plain in bases.items():
        if isinstance(value, base):
            return plain(value)
    from decimal import Decimal
    from fractions import Fraction

    if isinstance(value, Decimal | Fraction):
        for number in (int(value), float(value)):
            if number == value:
                return number
    return value


def _module_views() -> dict[str, types.ModuleType]:
    """Return a view of each listed module: a new module with the listed names."""
    views = {"math": _view(math, dir(math))}
    for name, listed in PROCESS["modules"].items():
        views[name] = _view(importlib.import_module(name), listed.split())
    for name, view in views.items():
        top, _, last = name.rpartition(".")
        if top in views:
            setattr(views[top], last, view)
    return views


def _view(module: types.ModuleType, names: list[str]) -> types.ModuleType:
    view = types.ModuleType(module.__name__)
    vars(view).update({name: getattr(module, name) for name in names if hasattr(module, name)})
    return view


def _safe_builtins() -> dict[str, Any]:
    """Return the listed builtins, with what Python itself calls for a class statement."""
    listed = [*PROCESS["builtins"].split(), "__build_class__"]
    return {name: getattr(builtins, name) for name in listed}
