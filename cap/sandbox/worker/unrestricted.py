"""Python as it is, for programs that the kernel's layers alone hold.

No name is taken away and no text refused: what a program may not do fails when it is done. A
module that was not loaded before the lock-down is there all the same, and raises when it is used.
A few functions that reach for the machine are gone, the same as in the official HumanEval scorer:
there, too, a program that calls one fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.machinery
import io
import selectors
import sys
import tempfile
import time
import types
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from cap.checker.allowlist import names
from cap.program.private_names import is_special
from cap.sandbox.worker.worker import Output, Parent, ProgramSetup

STANDARD = names(
    """
    __future__ _strptime abc argparse array ast asyncio atexit base64 bdb binascii bisect
    builtins bz2 calendar cmath cmd code codecs codeop collections collections.abc colorsys
    concurrent.futures concurrent.futures.process concurrent.futures.thread configparser
    contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal difflib dis
    doctest email encodings.base64_codec encodings.hex_codec encodings.idna
    encodings.punycode encodings.rot_13 enum errno faulthandler fileinput fnmatch fractions
    functools gc getopt getpass gettext glob graphlib gzip hashlib heapq hmac html
    html.parser importlib.util inspect io ipaddress itertools json keyword linecache locale
    logging logging.handlers lzma marshal math mimetypes mmap multiprocessing
    multiprocessing.pool numbers opcode operator os pathlib pdb pickle pickletools pkgutil
    platform posix posixpath pprint profile pstats pwd queue quopri random re readline
    reprlib runpy sched secrets select selectors shelve shlex shutil signal site socket stat
    statistics string stringprep struct subprocess symtable sys sysconfig tempfile textwrap
    threading time timeit token tokenize tomllib trace traceback tracemalloc types typing
    unicodedata unittest unittest.mock urllib urllib.parse uuid warnings weakref
    xml.etree.ElementTree zipfile zlib zoneinfo
    """
)
"""Modules that are loaded: a worker has no files left to import from."""
_GONE: Mapping[str, tuple[str, ...]] = {
    "builtins": names("exit help quit"),
    "os": names(
        """
        chdir chmod chown chroot fchdir fchmod fchown fork forkpty getcwd kill killpg lchflags
        lchmod lchown putenv remove removedirs rename renames replace rmdir setuid system truncate
        unlink
        """
    ),
    "shutil": names("chown move rmtree"),
    "subprocess": names("Popen"),
}
"""What the official scorer sets to None, by module."""
_MISSING = ("ipdb", "joblib", "psutil", "resource", "tkinter")
"""Modules that nobody can import there."""


def load() -> None:
    """Import every module of the standard library that programs may use."""
    for name in STANDARD:
        with contextlib.suppress(ImportError):  # a Python may be built without some
            importlib.import_module(name)
    tempfile.gettempdir()  # it tries the folders out, and remembers


class Unrestricted(ProgramSetup):
    """What a program finds that nothing but the kernel holds."""

    def __init__(self) -> None:
        """Have modules that are not there raise when they are used."""
        self.output = Output(0)
        asyncio.set_event_loop_policy(_EventLoops())
        sys.meta_path.append(_OutOfReach())

    def expect(self, setting: bytes, parent: Parent) -> None:
        """Note it; what it asks for changes the whole process, so it is a worker that does that.

        Args:
            setting: What the parent sent of the next programs.
            parent: Serves no calls here.
        """
        self.expected = setting

    def seed(self, seed: int) -> None:
        """Leave random numbers as Python starts them.

        Args:
            seed: The program's own.
        """

    def namespace(self, setting: Mapping[str, Any], parent: Parent) -> dict[str, Any]:
        """Return no names: Python adds its builtins; from here on the process is the program's.

        Args:
            setting: What the parent sent of it.
            parent: Serves no calls here.
        """
        for name, gone in _GONE.items():
            vars(sys.modules[name]).update(dict.fromkeys(gone))
        sys.modules.update(dict.fromkeys(_MISSING))  # type: ignore[arg-type]
        sys.stdout = sys.stderr = sys.stdin = _WriteOnly()
        return {}

    def code(self, shipped: bytes) -> types.CodeType:
        """Compile a program's text: here, where the limits hold for that as well."""
        return compile(shipped, "<program>", "exec", dont_inherit=True)

    def rehearse(self, wanted: Callable[[], bool]) -> None:
        """Run nothing: a program could see what another left behind."""


class _WriteOnly(io.StringIO):
    """A stream that cannot be read, in place of all three."""

    def readable(self) -> bool:
        """Say so."""
        return False

    def _refuse(self, *_: Any) -> NoReturn:
        raise OSError("nobody types anything here")

    read = readline = readlines = _refuse


class _EventLoops(asyncio.DefaultEventLoopPolicy):
    """Has coroutines run where there are no sockets to wait for."""

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """Return a loop that waits for times alone."""
        return _TimeLoop(_Nobody())


class _TimeLoop(asyncio.SelectorEventLoop):
    """An event loop without the socket by which other threads wake it: there are none."""

    def _make_self_pipe(self) -> None: ...

    def _close_self_pipe(self) -> None: ...


class _Nobody(selectors.SelectSelector):
    """Waits for nobody."""

    def select(self, timeout: float | None = None) -> list[Any]:
        """Let the time pass."""
        time.sleep(timeout or 0)
        return []


class _OutOfReach:
    """Finds the modules of the standard library that were not loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return how such a module is made; None for a name that Python does not know."""
        if name.partition(".")[0] not in sys.stdlib_module_names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Return the module."""
        return _Absent(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: there is nothing in it."""


class _Absent(types.ModuleType):
    """A module, or a name of one, that can be bound and not used."""

    def __getattr__(self, name: str) -> Any:
        if is_special(name):
            raise AttributeError(name)
        return _Absent(f"{self.__name__}.{name}")

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse."""
        raise PermissionError(1, f"{self.__name__} is out of a program's reach")
