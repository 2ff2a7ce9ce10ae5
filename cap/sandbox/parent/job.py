"""One program on its way to a worker, as the bytes it is sent."""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cap.program.parser import compiled, parsed
from cap.program.program import Program
from cap.sandbox.parent.needs import is_plain, words_of
from cap.sandbox.template_protocol import SIZE
from cap.sandbox.wire import codec

if TYPE_CHECKING:
    from cap.checker.policy import Policy
    from cap.program.scope import Scope
    from cap.sandbox.worker.call_list import CallList

Arguments = Sequence[tuple[Sequence[Any], Mapping[str, Any]]]
"""Positional and keyword arguments of several calls."""


@dataclass(frozen=True)
class Job:
    """What is to be done."""

    setting: bytes
    """What the program finds; a spare worker was sent it before if it was the same then."""
    content: bytes
    """The program, with what is its alone, as marshal writes it: no worker's word is read so."""
    scope: Scope
    """The names the program may use."""
    lines: int
    """How long it is."""
    plain: bool
    """It can do without numpy and shapely."""
    calls_robot: bool
    """It names a function that runs on the robot's thread."""

    @classmethod
    def of(
        cls,
        source: str | Program,
        scope: Scope,
        policy: Policy,
        *,
        returns: str | None = None,
        keep: bool = False,
        seed: int = 0,
        calls: CallList | None = None,
        tells_lines: bool = False,
        stdout_chars: int,
        restricted: bool = True,
    ) -> Job:
        """Encode a program that was checked already; most arguments are `Sandbox.execute`'s.

        Args:
            source: The program.
            scope: The names it may use.
            policy: What it may do.
            returns: Variable whose value is the result.
            keep: Bring back every variable it binds.
            seed: Start of the random numbers inside the program.
            calls: What is called at its end.
            tells_lines: Somebody is told before every call which line makes it.
            stdout_chars: How much it may print.
            restricted: It is compiled here; else the worker compiles its text.

        Raises:
            WireError: A variable of the scope is not plain data.
            SyntaxError, ValueError, RecursionError, MemoryError: The program has no code object.
        """
        text = source if isinstance(source, str) else source.source
        words = words_of(text, scope)
        asked = {returns or "", "" if calls is None else calls.function}
        content = [
            _shipped(source) if restricted else text.encode(),
            [_shipped(entry.source, entry.name) for entry in scope.definitions],
            codec.encode_shared(dict(scope.variables)) if scope.variables else b"",
            None if returns is None else str(returns),
            keep,
            None if calls is None else [str(calls.function), calls.arguments],
            int(seed),
        ]
        return cls(
            setting=setting_of(scope, policy, tells_lines=tells_lines, stdout_chars=stdout_chars),
            content=marshal.dumps(content),
            scope=scope,
            lines=text.count("\n") + 1,
            plain=is_plain(words | asked, scope) and (calls is None or calls.plain),
            calls_robot=_names_robot_call(words, scope),
        )

    def for_worker(self, setting: bytes) -> bytes:
        """Return what a worker is sent.

        Args:
            setting: What was sent ahead.
        """
        own = b"" if setting == self.setting else self.setting
        return b"".join([SIZE.pack(len(own)), own, self.content])


def setting_of(
    scope: Scope, policy: Policy, *, tells_lines: bool = False, stdout_chars: int
) -> bytes:
    """Return what programs find, as far as it is known before there is one; as `Job.of` takes it.

    Args:
        scope: The names they may use.
        policy: What they may do.
        tells_lines: Somebody is told before every call which line makes it.
        stdout_chars: How much they may print.
    """
    setting = {
        "primitives": list(scope.primitives),
        "groups": {group: list(members) for group, members in scope.groups.items()},
        "policy": policy.as_data(),
        "library": policy.library,
        "stdout_chars": stdout_chars,
        "lines": tells_lines,
    }
    return codec.encode(setting)


def _names_robot_call(words: set[str], scope: Scope) -> bool:
    """Tell whether a program names a function that runs on the robot's thread."""
    return not words.isdisjoint(scope.groups) or any(
        scope.primitives[name].kind != "lmp" for name in words & scope.primitives.keys()
    )


def _shipped(source: str | Program, name: str = "program") -> bytes:
    """Return a program's code object as bytes, for the worker; nothing ever comes back this way."""
    if isinstance(source, Program):
        return marshal.dumps(source.code)
    return _compiled_text(source, f"<{name}>")


@lru_cache(maxsize=256)
def _compiled_text(source: str, name: str) -> bytes:
    return marshal.dumps(compiled(source, parsed(source), name))
