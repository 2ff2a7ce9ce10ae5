"""The layers that hold a worker: whether each one holds here, and how it is applied.

A layer counts only if it was seen to hold: a child of the template applies it alone and attempts
what it must refuse. What holds is then applied for real, partly in the template, whose children
inherit it, partly in each worker, always before any program text arrives.
A child that was ended from outside proves nothing: the system may still have the layer.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cap.errors import SandboxError
from cap.sandbox.frames import WorkerLimits
from cap.sandbox.kernel import landlock, libc, namespaces, seccomp
from cap.sandbox.kernel.layers import KERNEL, LAYERS, LayerReport

_PROBE_BYTES = 256 << 20
_TRIES = 3
"""How often a layer is tried whose child dies before it reports."""
_FAULTS = (signal.SIGSYS, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT)
"""Signals by which a system says that it has no such layer; others come from outside."""
_STACK_BYTES = 8 << 20
_CPU_SLACK_S = 0.5
"""The parent's clock comes first; the kernel's is for a parent that cannot act."""
_FIRST_FREE = 5
"""Descriptors 0 to 2 are /dev/null, 3 and 4 the pipes; a worker has no further one."""


def probe(without: frozenset[str] = frozenset()) -> LayerReport:
    """Try every layer in a child of its own; needs a process with one thread.

    Args:
        without: Layers to leave out, for tests.

    Raises:
        SandboxError: A layer could not be tried: nobody knows whether it holds.
    """
    missing = {}
    for name in KERNEL:
        why = "left out" if name in without else _try_in_child(name)
        if why:
            missing[name] = why
    return LayerReport(tuple(name for name in LAYERS if name not in missing), missing, without)


def _try_in_child(layer: str) -> str:
    """Return why a layer does not hold in a child, or ""; one that is killed is tried again.

    Raises:
        SandboxError: Each child was ended from outside.
    """
    ended = 0
    for _ in range(_TRIES):
        why, ended = _in_child(layer)
        if why or not ended:
            return why
    how = f"each attempt was ended by signal {ended}"
    if ended in _FAULTS:
        return how
    raise SandboxError(f"layer '{layer}' cannot be tried: {how}")


def _in_child(layer: str) -> tuple[str, int]:
    """Attempt a layer in a child; return why it does not hold, and the signal that ended it."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _attempt(layer)
            code = 0
        except BaseException as error:  # whatever it is, the layer does not hold
            os.write(writes, f"{type(error).__name__}: {error}"[:500].encode())
        finally:
            os._exit(code)
    os.close(writes)
    with open(reads, "rb") as pipe:
        why = pipe.read().decode(errors="replace")
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return why, os.WTERMSIG(status)
    return why or (f"the attempt ended with status {status}" if status else ""), 0


def _attempt(layer: str) -> None:
    """Apply one layer alone and attempt what it must refuse.

    Raises:
        Exception: It cannot be applied, or does not hold.
    """
    if layer == "rlimits":
        limits = WorkerLimits(1, _PROBE_BYTES)
        for step in worker_limits(limits, mapped_bytes(), LayerReport(("rlimits",))):
            step()
        _must_fail("a file was opened", lambda: os.open("/", os.O_RDONLY))
        _must_fail("memory is not limited", lambda: bytearray(2 * _PROBE_BYTES))
    elif layer == "landlock":
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        landlock.restrict()
        _must_fail("a folder was opened", lambda: os.open("/", os.O_RDONLY))
    elif layer == "seccomp":
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.prepared()()
        _must_fail("a file was opened", lambda: os.open("/", os.O_RDONLY))
        _must_fail("a socket was made", socket.socket)
        _must_fail("a process was forked", _fork)
    elif layer == "namespaces":
        os.close(os.pidfd_open(os.getpid()))  # process ids mean nothing across namespaces
        namespaces.unshare()
        if child := os.fork():
            status = os.waitpid(child, 0)[1]
            if os.WIFSIGNALED(status):  # as if this child were that one
                os.kill(os.getpid(), os.WTERMSIG(status))
            if status:
                raise OSError(0, "no empty root folder, or another process to be seen")
            return
        namespaces.empty_root()
        os._exit(0 if os.getpid() == 1 and not os.listdir("/") else 1)


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _must_fail(otherwise: str, action: Callable[[], object]) -> None:
    try:
        action()
    except (OSError, MemoryError):
        return
    raise RuntimeError(otherwise)


def lock_template(report: LayerReport) -> None:
    """Apply what workers inherit; the template can only fork and talk to its parent after.

    Raises:
        OSError: A layer that was seen to hold cannot be applied: nothing may run.
    """
    if "namespaces" in report.layers:
        namespaces.empty_root()
    if "capabilities" not in report.without:
        with contextlib.suppress(OSError):
            libc.drop_capabilities()
    if {"landlock", "seccomp"} & set(report.layers):
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        libc.prctl(libc.PR_SET_DUMPABLE, 0)
    if "landlock" in report.layers:
        landlock.restrict()


def worker_lock(report: LayerReport) -> tuple[Callable[[], None], ...]:
    """Prepare what each worker applies itself: last of all the filter of system calls.

    Raises:
        OSError: A layer that was seen to hold cannot be applied: nothing may run. Also when called.
    """
    steps: list[Callable[[], None]] = []
    # With a namespace of their own, workers end with its first process, the template.
    if "namespaces" not in report.layers:
        with contextlib.suppress(OSError):
            steps.append(libc.prepared_prctl(libc.PR_SET_PDEATHSIG, int(signal.SIGKILL)))
    if "seccomp" in report.layers:
        steps.append(seccomp.prepared())
    return tuple(steps)


def worker_limits(
    limits: WorkerLimits, mapped_bytes: int, report: LayerReport
) -> tuple[Callable[[], object], ...]:
    """Prepare the calls that hold a process to limits, none above what this one may have itself.

    Args:
        limits: What to allow.
        mapped_bytes: Address space in use already, which these limits do not count.
        report: Which layers hold. A call that fails raises OSError or ValueError where limits were
            seen to hold; macOS has some of them, and says that it has not all.
    """
    if "rlimits" in report.without:
        return ()
    seconds = math.ceil(limits.cpu_s) + 2
    stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
    wanted = (
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes),
        # Shared mappings are no private data; the whole address space bounds them.
        (resource.RLIMIT_AS, *(limits.memory_bytes + mapped_bytes,) * 2),
        (resource.RLIMIT_STACK, *(_STACK_BYTES if stack < 0 else min(stack, _STACK_BYTES),) * 2),
        (resource.RLIMIT_NOFILE, _FIRST_FREE, _FIRST_FREE),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    )
    steps: list[Callable[[], object]] = []
    for limit, soft, hard in wanted:  # lowered to the hard one of a batch system, say
        most = resource.getrlimit(limit)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        step = partial(resource.setrlimit, limit, (soft, hard))
        steps.append(step if "rlimits" in report.layers else partial(_attempted, step))
    # The limit on processor time counts whole seconds only; the timer, whose signal ends the
    # process as well, is finer.
    return (*steps, partial(signal.setitimer, signal.ITIMER_PROF, limits.cpu_s + _CPU_SLACK_S))


def _attempted(step: Callable[[], object]) -> None:
    with contextlib.suppress(OSError, ValueError):
        step()


def mapped_bytes() -> int:
    """Return the address space this process uses; 0 where it cannot be known."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
