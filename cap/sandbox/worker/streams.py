"""Streams in memory: `io.StringIO` and `io.BytesIO` without what other streams lead to.

They read into no buffer that is another's, and hand out none of their own.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from cap.sandbox.worker.builtin_function import shown_as


class _Stream:
    """What both have."""

    __slots__ = ("_stream",)
    _stream: Any

    @property
    def closed(self) -> bool:
        """Tell whether it is closed."""
        return bool(self._stream.closed)

    def __iter__(self) -> _Stream:
        """Return it; it yields its lines."""
        return self

    def __next__(self) -> Any:
        """Return the next line."""
        return next(self._stream)

    def __enter__(self) -> _Stream:
        """Return it, unless it is closed."""
        self._stream.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._stream.close()

    def __repr__(self) -> str:
        """Return what `io` would show."""
        return f"<_io.{type(self).__name__} object at {id(self):#x}>"


def _delegated(name: str) -> Callable[..., Any]:
    def method(self: _Stream, /, *args: Any) -> Any:
        return getattr(self._stream, name)(*args)

    method.__name__ = method.__qualname__ = name
    return method


for _name in (
    *("close", "flush", "getvalue", "isatty", "read", "readable", "readline", "readlines", "seek"),
    *("seekable", "tell", "truncate", "writable", "write", "writelines"),
):
    setattr(_Stream, _name, _delegated(_name))


class StringIO(_Stream):
    """Stand in for `io.StringIO`."""

    __slots__ = ()

    def __init__(self, initial_value: str | None = "", newline: str | None = "\n") -> None:
        """Open one."""
        self._stream = io.StringIO(initial_value, newline)

    @property
    def newlines(self) -> Any:
        """Tell which ends of lines it has met."""
        return self._stream.newlines

    encoding = errors = None
    """There is none: it holds text."""


class BytesIO(_Stream):
    """Stand in for `io.BytesIO`."""

    __slots__ = ()

    def __init__(self, initial_bytes: bytes | bytearray = b"") -> None:
        """Open one."""
        self._stream = io.BytesIO(bytes(initial_bytes))

    def readinto(self, buffer: Any) -> int:
        """Read into an array of bytes."""
        if type(buffer) is not bytearray:
            raise TypeError("readinto() takes a bytearray here")
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


for _kind in (StringIO, BytesIO):
    shown_as(_kind, "_io", _kind.__name__)
