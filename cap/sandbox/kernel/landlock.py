"""Landlock with no rules: no file, no TCP, no abstract socket or signal to the outside."""

from __future__ import annotations

import ctypes
import os
import platform

from cap.sandbox.kernel import libc

_CREATE_RULESET, _RESTRICT_SELF = 444, 446
"""The same numbers on every machine."""
_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many file rights each version of the interface knows; later ones know 16."""
_LATEST_FILE_RIGHTS = 16


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


def version() -> int:
    """Return the kernel's version of the interface.

    Raises:
        OSError: The kernel has none.
    """
    if platform.system() != "Linux":
        raise OSError(0, f"{platform.system()} has no Landlock")
    return libc.call("syscall", _CREATE_RULESET, None, 0, _VERSION)


def ruleset(version: int) -> tuple[_Ruleset, int]:
    """Return what to handle, which without rules is to refuse, and its size in bytes."""
    files = (1 << _FILE_RIGHTS.get(version, _LATEST_FILE_RIGHTS)) - 1
    network = 0b11 if version >= 4 else 0  # bind and connect
    scoped = 0b11 if version >= 6 else 0  # abstract sockets and signals
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    return _Ruleset(files, network, scoped), size


def restrict() -> None:
    """Close everything Landlock knows of to this process, for good; it needs `no_new_privs`.

    Raises:
        OSError: The kernel refuses.
    """
    attributes, size = ruleset(version())
    descriptor = libc.call("syscall", _CREATE_RULESET, ctypes.byref(attributes), size, 0)
    try:
        libc.call("syscall", _RESTRICT_SELF, descriptor, 0)
    finally:
        os.close(descriptor)
