"""The untrusted side: one fresh process runs one program and is gone.

Robot functions are proxies that send a call over the pipe and wait for its answer; values cross
as plain data (`cap.sandbox.wire.codec`), and nothing here is trusted by the parent.
"""

from __future__ import annotations

import builtins
import contextlib
import marshal
import opcode
import os
import sys
import types
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NoReturn

from cap.checker.policy import Policy
from cap.program.private_names import MARK, SPECIAL, shown
from cap.sandbox.template_protocol import ANYWHERE, CORE, GO, SIZE
from cap.sandbox.wire import codec, frames
from cap.sandbox.worker.abstract import PROGRAM_NAMES
from cap.sandbox.worker.bindings import PROGRAM, Bindings
from cap.sandbox.worker.call_list import call_each
from cap.sandbox.worker.namespace import (
    Facade,
    Rights,
    close_library,
    kind_of,
    library,
    numeric,
    safe_builtins,
    start_random,
)
from cap.sandbox.worker.object_dictionary import ObjectDictionary


class Output:
    """What the program prints, up to a limit."""

    def __init__(self, limit_chars: int) -> None:
        self.parts: list[str] = []
        self.left = limit_chars
        self.exceeded: OutputLimit | None = None
        """Raised when the limit was met, whatever the program made of that."""
        self.told = 0
        """How many of the parts the parent knows already."""

    def print(
        self,
        *values: Any,
        sep: str | None = " ",
        end: str | None = "\n",
        file: Any = None,
        flush: bool = False,
        **more: Any,
    ) -> None:
        """Stand in for the builtin."""
        for name in more:
            raise TypeError(f"'{name}' is an invalid keyword argument for print()")
        ends: tuple[tuple[str, Any], ...] = (("sep", sep), ("end", end))
        for name, given in ends:
            if given is not None and not isinstance(given, str):
                kind = type(given).__name__
                raise TypeError(f"{name} must be None or a string, not {kind}")
        texts: list[str] = []
        for value in values:
            texts += (" " if sep is None else str(sep), str(value))
        # Joined like this, texts of a program's own classes are what they hold.
        texts = [*texts[1:], "\n" if end is None else str(end)]
        if file is not None:  # of the program's own making
            for text in texts:
                file.write(shown("".join([text])))
            if flush:
                file.flush()
            return
        text = shown("".join(texts))
        if len(text) > self.left:
            self.exceeded = OutputLimit("the program printed too much")
            raise self.exceeded
        self.left -= len(text)
        self.parts.append(text)


class OutputLimit(BaseException):
    """More was printed than the limit allows; programs cannot catch it by `except Exception`."""


class ProgramSetup:
    """What every program finds, made once in the template: building it costs each fork copies."""

    expected = b""
    """What the template was told of the programs that are to come."""
    setting: Mapping[str, Any]
    """The same, read."""
    space: dict[str, Any]
    """The names a program starts with."""
    _prepared = b""
    """The setting these names are for."""

    def __init__(self, *, own_builtins: bool = False) -> None:
        """Build it, and walk the common path once.

        Args:
            own_builtins: Give programs Python's own builtins, for tests of the other layers.
        """
        self.output = Output(0)
        self.builtins = safe_builtins(self.output.print)
        self._rights = Policy.benchmark().as_data()
        self._more = safe_builtins(self.output.print, self._rights)
        kind_of(None)  # its first call looks at every class there is
        close_library()
        for _ in range(_WARM_UPS):
            self.rehearse(lambda: False)
        if own_builtins:
            self.builtins = self._more = {
                **vars(builtins),
                **{name: entry for name, entry in self.builtins.items() if MARK in name},
                "print": self.output.print,
                SPECIAL: lambda value: value,
            }

    def expect(self, setting: bytes, parent: Parent) -> None:
        """Note what the next programs will find and build that, in the template: forks share it.

        Args:
            setting: What the parent sent of them.
            parent: Serves their calls.
        """
        self.expected = setting
        with contextlib.suppress(Exception):  # then it fails again where it is needed
            self.prepare(setting, parent)

    def prepare(self, setting: bytes, parent: Parent) -> None:
        """Build the names that a program starts with, unless they are there.

        Args:
            setting: What the parent sent of it.
            parent: Serves its calls.
        """
        if setting and setting != self._prepared:
            self._prepared = b""
            self.setting = codec.decode(setting)
            self.space = self.namespace(self.setting, parent)
            self._prepared = setting

    def namespace(self, setting: Mapping[str, Any], parent: Parent) -> dict[str, Any]:
        """Return the names a program starts with, but for its variables.

        Args:
            setting: What the parent sent of it.
            parent: Serves its calls.
        """
        rights: Rights | None = setting["policy"]
        names = library()
        space: dict[str, Any] = names if setting["library"] else {}
        if not rights:  # as most programs
            space["__builtins__"] = self.builtins
        elif rights == self._rights:
            space["__builtins__"] = self._more
        else:
            space["__builtins__"] = safe_builtins(self.output.print, rights)
        space |= {"__name__": PROGRAM_NAMES[0 if setting["library"] else 1], "__doc__": None}
        for name in setting["primitives"]:
            space[name] = parent.proxy(name, self.output if setting["lines"] else None)
        for group, members in setting["groups"].items():
            space[group] = Facade(**{member: space[member] for member in members}, __name__=group)
        return space

    def seed(self, seed: int) -> None:
        """Start the program's random numbers.

        Args:
            seed: The program's own.
        """
        start_random(seed)

    def code(self, shipped: bytes) -> types.CodeType:
        """Return the code object the parent sent; nothing a worker sends is ever read this way."""
        code: types.CodeType = marshal.loads(shipped)
        return code

    def rehearse(self, wanted: Callable[[], bool]) -> None:
        """Run programs of common kinds, so that what the first one costs is paid already.

        Args:
            wanted: Tells that somebody waits: no more rehearsing then.
        """
        prompter, ready = Prompter(-1, -1), {**vars(self)}
        self.setting = codec.decode(codec.encode(_REHEARSED))
        for job in _REHEARSALS if numeric() else _REHEARSALS[:1]:
            if not wanted():
                self.space = self.namespace(self.setting, prompter)
                codec.decode(_run(self, job, prompter))
        vars(self).update(ready)


@dataclass(frozen=True)
class Parent:
    """The other end of the two pipes."""

    requests: int
    """Read end: the program, then answers to its calls."""
    answers: int
    """Write end: its calls, then its result."""

    def begin(self) -> None:
        """Take what says that nothing has begun; without it the job would be another worker's."""
        if not os.read(self.requests, len(GO)):
            raise codec.PeerClosed

    def ask(self, frame: bytes) -> bytes:
        """Send a call; return the answer to it."""
        frames.send(self.answers, frame)
        return frames.receive(self.requests)

    def proxy(self, name: str, watched: Output | None) -> Callable[..., Any]:
        """Return what stands for a primitive: it sends the call and waits for the answer.

        Args:
            name: The primitive's.
            watched: What the program prints, if the parent is told which line calls and what was
                printed by then.
        """

        def call(*args: Any, **kwargs: Any) -> Any:
            message: list[Any] = ["call", name, list(args)]
            if kwargs or watched is not None:
                message.append(kwargs)
            if watched is not None:
                message.append(_line())
                if watched.told < len(watched.parts):
                    message.append(codec.text("".join(watched.parts[watched.told :])))
            try:
                frame = codec.encode(message)
            except codec.WireError as error:
                raise TypeError(f"{name}(): {error}") from None
            if watched is not None:
                watched.told = len(watched.parts)
            answer = codec.decode(self.ask(frame))
            if answer[0] == "ok":
                return answer[1]
            _, kind, text = answer
            raise codec.RAISABLE[kind](text)

        call.__name__ = call.__qualname__ = name
        return call


def main(setup: ProgramSetup, parent: Parent, core: int, cores: AbstractSet[int]) -> NoReturn:
    """Run the one program that arrives on a pipe, send its result, and wait for the end.

    Args:
        setup: What the program finds.
        parent: Sends the program, serves its calls.
        core: The only core this process may be on, `ANYWHERE` if it may be on each.
        cores: All of them; none where the system does not tell.
    """
    try:
        frame = frames.receive_all_but(parent.requests, len(GO))
        (goal,) = CORE.unpack_from(frame)  # where the thread is by now that serves it
        if goal != core and cores:
            os.sched_setaffinity(0, cores if goal == ANYWHERE else {goal})
        (size,) = SIZE.unpack_from(frame, CORE.size)
        begin = CORE.size + SIZE.size
        setup.prepare(frame[begin : begin + size], parent)
        codec.send(parent.answers, _run(setup, marshal.loads(frame[begin + size :]), parent))
        # Ending takes longer than most programs; the parent goes on first and then kills.
        while os.read(parent.requests, 1):
            pass
    except (codec.PeerClosed, BrokenPipeError):  # nobody needs it any more
        pass
    os._exit(0)


class Prompter(Parent):
    """Stands for the parent in a rehearsal."""

    def begin(self) -> None:
        """Begin at once."""

    def ask(self, frame: bytes) -> bytes:
        """Return an answer without a parent."""
        name = codec.decode(frame)[1]
        return codec.encode(["ok", _REHEARSED_ANSWERS[name]])


def _run(setup: ProgramSetup, job: list[Any], parent: Parent) -> bytes:
    """Run a program; return its last frame."""
    shipped, definitions, given, returns, keep, calls, seed = job
    output, space = setup.output, setup.space
    output.left, output.exceeded = setup.setting["stdout_chars"], None
    output.parts.clear()
    output.told = 0
    variables = codec.decode(given) if given else {}
    # What it leaves bound is of interest for a session alone.
    bindings = Bindings(space) if keep else None
    space.update(variables)
    setup.seed(seed)
    parent.begin()
    try:
        for code in definitions:
            exec(setup.code(code), space)
        if bindings is not None:
            bindings.begin(space)
        try:
            exec(setup.code(shipped), space)
        except SystemExit as end:  # of a program that is done, as in Python
            if not (end.code is None or (type(end.code) is int and end.code == 0)):
                raise
        if calls is not None:
            returns = "answers"
            space["answers"] = call_each(space, *calls)
        message = _success(returns, space, bindings)
        if output.exceeded is not None:
            raise output.exceeded
    except BaseException as error:  # whatever the program did ends here
        message = _failure(output.exceeded or error)
        if bindings is not None:  # where its world stays, so does what it had set by then
            with contextlib.suppress(BaseException):  # its own objects may do anything
                message |= {"variables": bindings.left(space)["variables"]}
    return _done(message, output)


def _done(message: dict[str, Any], output: Output) -> bytes:
    """Return the last frame; a result that does not fit in one is a failure of its own."""
    stdout = codec.text("".join(output.parts))
    try:
        return codec.encode(["done", {**message, "stdout": stdout}])
    except codec.WireError as error:
        return codec.encode(["done", {**_failure(ValueError(str(error))), "stdout": stdout}])


_WARM_UPS = 16
"""How often the common path is walked in the template: Python makes its code fit what it meets in
some ten runs, and each worker would do that anew, on pages of its own."""
_COMMON = (
    """
def helper(count, *rest, **named):
    return [f"{i:.1f}" for i in range(count)]
class Thing:
    def __init__(self, size):
        self.size = size
try:
    print(sorted(helper(3), key=lambda text: -float(text)))
    places = {name: Thing(at).size for at, name in enumerate(["a", "b"])}
    {}["nothing"]
except KeyError as error:
    text = str(error)
ret_val = [1.0, (2, "a")]
""",
    """
names = get_names()
places = {name: get_position(name) for name in names}
last = sorted(names, key=lambda name: -places[name][0])[-1]
say(f"{last}: {places[last][0]:.2f}")
point = np.array([0.5, 0.25]) * 2
size = np.linalg.norm(point - point.mean())
ret_val = np.round(point, 2).tolist()
""",
    "ret_val = Point(0, 0).distance(Point(1, 1))\n",
)
"""What many programs do, the most common first."""
_REHEARSED_ANSWERS = {
    "get_names": ["red block", "blue bowl"],
    "get_position": numeric().np.zeros(3) if numeric() else 0.0,
    "say": None,
}
"""Of the functions that are called in a rehearsal."""
_REHEARSED = {
    "primitives": list(_REHEARSED_ANSWERS),
    "groups": {},
    "policy": {},
    "library": True,
    "stdout_chars": 1000,
    "lines": False,
}
"""The setting of a rehearsal."""
_REHEARSALS: tuple[list[Any], ...] = tuple(
    [
        marshal.dumps(compile(source, PROGRAM, "exec", dont_inherit=True)),
        *([], b"", "ret_val", False, None, 0),
    ]
    for source in _COMMON
)


def _line() -> int:
    """Return the line of the program that runs, 0 where none does."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno


def _success(
    returns: str | None, space: dict[str, Any], bindings: Bindings | None
) -> dict[str, Any]:
    """Return the value asked for and, for a session, what else the program left bound."""
    message: dict[str, Any] = {"status": "ok", "defined": {}, "dropped": [], "variables": b""}
    if returns is not None:
        if returns not in space:
            raise NameError(f"the program ended without setting '{returns}'")
        try:
            value = space[returns]
            if type(value) is ObjectDictionary:
                value = dict(value)
            message["value"] = codec.encode(value)
        except codec.WireError as error:
            raise TypeError(f"'{returns}' is not plain data: {error}") from None
    return message if bindings is None else {**message, **bindings.left(space)}


_RAISING = frozenset(
    opcode.opmap[name] for name in ("RAISE_VARARGS", "YIELD_VALUE", "RETURN_GENERATOR")
)
"""Where an exception stands that a program raised itself, or threw into a generator of its own."""


def _failure(error: BaseException) -> dict[str, Any]:
    line, inside, raised = None, "", False
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        at = max(trace.tb_lasti, 0)
        before = code.co_code[max(at - 2, 0)]  # a generator that has not begun stands behind it
        raised = code.co_code[at] in _RAISING or before == opcode.opmap["RETURN_GENERATOR"]
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
    kind = _name_of(type(error))
    if kind == MemoryError.__name__ and raised:  # by the program; memory there was
        kind = f"program.{kind}"
    return {
        "status": "failed",
        "error": kind,
        "message": codec.one_line(shown(text)) + inside,
        "line": line,
    }


def _name_of(kind: type) -> str:
    """Return an exception's name; that of a program's own class says that it is one."""
    if numeric() and kind is numeric().ARRAY_MEMORY_ERROR:
        return MemoryError.__name__
    module = sys.modules.get(kind.__module__)
    provided = vars(module).get(kind.__qualname__) is kind if module else False
    if provided or kind is OutputLimit or kind in codec.RAISABLE.values():
        return kind.__name__
    return f"program.{kind.__name__}"
