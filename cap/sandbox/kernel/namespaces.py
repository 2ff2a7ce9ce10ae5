"""Empty namespaces: no other process, no network, no shared memory, an empty root folder."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from cap.sandbox.kernel import libc

_NEWNS, _NEWUTS, _NEWIPC = 0x00020000, 0x04000000, 0x08000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_REC, _MS_PRIVATE = 32, 1 << 14, 1 << 18
_DETACH = 2
_NOBODY = 65534
_MOUNT_POINT = b"/proc"
"""Any folder serves; this one must exist, since the user is mapped through it."""


def enter() -> None:
    """Move into new namespaces and carry on in a child that is the first process of its own.

    The process that called waits for the child, and ends with it, also if it is stopped for good.
    It must have one thread.

    Raises:
        OSError: The kernel refuses.
    """
    unshare()
    child = os.fork()
    if child:
        os.waitpid(child, os.WUNTRACED)
        os._exit(0)
    # If the one who waits is killed, so is this one, and with it all that it forked.
    libc.prctl(libc.PR_SET_PDEATHSIG, int(signal.SIGKILL))


def unshare() -> None:
    """Make the namespaces; only children forked from now on are in the one of processes.

    Raises:
        OSError: The kernel refuses.
    """
    user, group = os.getuid(), os.getgid()
    libc.call("unshare", _NEWUSER | _NEWNS | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET)
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny")
    (own / "uid_map").write_text(f"{_NOBODY} {user} 1")
    (own / "gid_map").write_text(f"{_NOBODY} {group} 1")


def empty_root() -> None:
    """Replace every file system by an empty, read-only folder; nothing can be imported after.

    Raises:
        OSError: The kernel refuses.
    """
    bare = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    libc.call("mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    libc.call("mount", b"none", _MOUNT_POINT, b"tmpfs", bare, b"size=4k,nr_inodes=2")
    os.chdir(_MOUNT_POINT)
    libc.call("pivot_root", b".", b".")
    libc.call("umount2", b".", _DETACH)
    os.chdir("/")
    libc.call("mount", b"none", b"/", None, _MS_REMOUNT | _MS_RDONLY | bare, None)
