"""The C library calls the lock-down needs, by ctypes: nothing is compiled at install time."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION_3 = 0x20080522


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> int:
    """Call a C function that returns an integer, negative for an error.

    Args:
        name: The function.
        arguments: Integers are passed as C longs.

    Raises:
        OSError: The call failed, or the C library has no such function.
    """
    try:
        function = getattr(_library(), name)
    except (AttributeError, TypeError):
        raise OSError(0, f"the C library has no {name}()") from None
    function.restype = ctypes.c_long
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    # Functions declared `int` leave the upper half of the register undefined.
    result = ctypes.c_long(function(*converted)).value
    if name != "syscall":
        result = ctypes.c_int(result).value
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def prctl(option: int, *values: Any) -> None:
    """Set one property of this process.

    Raises:
        OSError: The kernel refuses, or there is no such call.
    """
    prepared_prctl(option, *values)()


def prepared_prctl(option: int, *values: Any) -> Callable[[], None]:
    """Return a call of `prctl` with everything in place: a fork copies each page it writes to.

    Raises:
        OSError: The C library has no such call.
    """
    try:
        function = _library().prctl
    except (AttributeError, TypeError):
        raise OSError(0, "the C library has no prctl()") from None
    given = [option, *values, *[0] * (4 - len(values))]
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in given]

    def apply() -> None:
        if function(*arguments):
            code = ctypes.get_errno()
            raise OSError(code, f"prctl: {os.strerror(code)}")

    return apply


def drop_capabilities() -> None:
    """Give up every capability of a privileged user; harmless for any other.

    Raises:
        OSError: The kernel refuses.
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    call("capset", ctypes.byref(header), ctypes.byref(nothing))
