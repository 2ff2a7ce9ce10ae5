"""The system calls a worker may make: a seccomp allow-list for x86-64 and 64-bit ARM.

A program needs memory, clocks, random bytes, its two pipes and its own end. Every other call
fails with EPERM, so that a program sees a plain `PermissionError`; a call by another architecture's
table (32-bit or x32) kills the process, since its numbers mean other calls.
"""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from cap.sandbox.kernel import libc

_KILL, _EPERM, _ALLOW = 0x80000000, 0x00050001, 0x7FFF0000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 32
"""Offsets in the kernel's description of a call; of an argument, its low half."""
_PROT_EXEC = 4
_MODE_FILTER = 2
_X32 = 0x40000000


@dataclass(frozen=True)
class Machine:
    """One architecture's numbers."""

    audit: int
    """What the kernel calls it in a filter."""
    allowed: Mapping[str, int]
    """The calls a worker may make."""
    never_executable: Mapping[str, int]
    """Calls it may make unless their third argument asks for executable memory."""
    own: Mapping[str, int]
    """Calls that name a process by their first argument: allowed for this one, by 0."""
    x32: bool = False
    """Whether numbers from `0x40000000` on are another table's."""


MACHINES = {
    "x86_64": Machine(
        audit=0xC000003E,
        allowed={
            "read": 0,
            "write": 1,
            "close": 3,
            "fstat": 5,
            "poll": 7,
            "lseek": 8,
            "munmap": 11,
            "brk": 12,
            "rt_sigreturn": 15,
            "readv": 19,
            "writev": 20,
            "sched_yield": 24,
            "mremap": 25,
            "madvise": 28,
            "nanosleep": 35,
            "getpid": 39,
            "exit": 60,
            "gettimeofday": 96,
            "getrusage": 98,
            "gettid": 186,
            "time": 201,
            "futex": 202,
            "restart_syscall": 219,
            "clock_gettime": 228,
            "clock_getres": 229,
            "clock_nanosleep": 230,
            "exit_group": 231,
            "ppoll": 271,
            "getrandom": 318,
            "rseq": 334,
        },
        never_executable={"mmap": 9, "mprotect": 10},
        own={"sched_setaffinity": 203},
        x32=True,
    ),
    "aarch64": Machine(
        audit=0xC00000B7,
        allowed={
            "close": 57,
            "lseek": 62,
            "read": 63,
            "write": 64,
            "readv": 65,
            "writev": 66,
            "ppoll": 73,
            "fstat": 80,
            "exit": 93,
            "exit_group": 94,
            "futex": 98,
            "nanosleep": 101,
            "clock_gettime": 113,
            "clock_getres": 114,
            "clock_nanosleep": 115,
            "sched_yield": 124,
            "restart_syscall": 128,
            "rt_sigreturn": 139,
            "getrusage": 165,
            "gettimeofday": 169,
            "getpid": 172,
            "gettid": 178,
            "brk": 214,
            "munmap": 215,
            "mremap": 216,
            "madvise": 233,
            "getrandom": 278,
            "rseq": 293,
        },
        never_executable={"mmap": 222, "mprotect": 226},
        own={"sched_setaffinity": 122},
    ),
}


def filter_for(machine: Machine) -> bytes:
    """Return the filter as the kernel's instructions, eight bytes each.

    Every call walks down the numbers; a match jumps to a verdict, or to the look at an argument,
    at the end.
    """
    head = [_step(_LOAD, _ARCH), _step(_EQUAL, machine.audit, 1, 0), _step(_RETURN, _KILL)]
    head.append(_step(_LOAD, _NUMBER))
    if machine.x32:
        head += [_step(_AT_LEAST, _X32, 0, 1), _step(_RETURN, _KILL)]
    tail = [
        _step(_RETURN, _EPERM),
        _step(_LOAD, _THIRD_ARGUMENT),
        _step(_ANY_BIT, _PROT_EXEC, 3, 2),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_EQUAL, 0, 0, 1),
        _step(_RETURN, _ALLOW),
        _step(_RETURN, _EPERM),
    ]
    goals = {  # each call's place in the tail; the commonest calls come first
        **dict.fromkeys(machine.allowed.values(), 5),
        **dict.fromkeys(machine.never_executable.values(), 1),
        **dict.fromkeys(machine.own.values(), 3),
    }
    body = [
        _step(_EQUAL, number, goal + len(goals) - at - 1, 0)
        for at, (number, goal) in enumerate(goals.items())
    ]
    return b"".join([*head, *body, *tail])


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


@cache
def prepared() -> Callable[[], None]:
    """Return what holds a process to the allow-list, for good.

    The process must have `no_new_privs` already.

    Raises:
        OSError: No table for this machine; when called, the kernel refuses.
    """
    name = platform.machine()
    if platform.system() != "Linux" or name not in MACHINES:
        raise OSError(0, f"no seccomp filter for {platform.system()} on {name or 'this machine'}")
    steps = filter_for(MACHINES[name])
    program = _Program(len(steps) // 8, steps)
    return libc.prepared_prctl(libc.PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program))
