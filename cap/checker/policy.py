"""What programs may import and name, and policies of the check made of it; the lists are data."""

from __future__ import annotations

import builtins
import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from cap.errors import ROBOT_ERRORS

LISTS: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("lists.toml").read_text(encoding="utf-8")
)


def _words(name: str) -> frozenset[str]:
    return frozenset(LISTS[name].split())


ROBOT_MODULES = _words("robot")
"""What robots' programs may import: pure computation, without the machine's clock."""
BENCHMARK_MODULES = ROBOT_MODULES | _words("benchmark")
"""What programs of benchmarks may import: the standard library as well."""
FORBIDDEN_BUILTINS = _words("forbidden")
FILES: Mapping[str, frozenset[str]] = {"numpy": _words("numpy_files")}
"""Names of modules that work on files."""
PROCESS: Mapping[str, Any] = LISTS["process"]
"""What is left where no kernel layer holds: see `Policy.restricted`."""

LIBRARY: Mapping[str, frozenset[str]] = {
    module: frozenset(names.split()) for module, names in LISTS["library"].items()
}
"""Names that are there without an import, by the module they are of."""
MODULE_NAMES = {"np": "numpy", "numpy": "numpy", "math": "math", "affinity": "shapely.affinity"}
"""Modules that are there without an import, by the name programs know them by."""
LIBRARY_NAMES = frozenset(MODULE_NAMES).union(*LIBRARY.values())
_ALSO = {"shapely.geometry": "shapely", "shapely.ops": "shapely", "typing": "collections.abc"}
HOMES: Mapping[str, tuple[str, ...]] = {
    "affinity": ("shapely",),
    **{name: (home, _ALSO.get(home, home)) for home, names in LIBRARY.items() for name in names},
}
"""Where the library's names come from: an import from there binds the very same."""
SAFE_BUILTINS = frozenset(PROCESS["builtins"].split())
BUILTIN_NAMES = frozenset(
    [
        *(name for name in dir(builtins) if not name.startswith("_")),
        *(*SAFE_BUILTINS, *ROBOT_ERRORS, "LMPFailed", "__name__"),
    ]
) - (FORBIDDEN_BUILTINS | {"__import__"})
EVERYWHERE = LIBRARY_NAMES | BUILTIN_NAMES
"""Every name a program may read without a hint."""


@dataclass(frozen=True)
class Policy:
    """What the check allows."""

    name: str = "robot"
    """Named in traces."""
    modules: frozenset[str] = ROBOT_MODULES
    """Modules a program may import, of `BENCHMARK_MODULES`."""
    builtins: frozenset[str] = field(default_factory=frozenset)
    """Builtins it may use of those that are forbidden to robots' programs."""
    library: bool = True
    """The library's names are there without an import, as robots' programs know them; without them
    a program is like an imported module: `__name__` is not `__main__`."""
    signatures: bool = True
    """Refuse calls that cannot fit what they call, before anything moves; where tests judge a
    program, only what it reaches counts."""
    private: bool = True
    """The kernel stops what must not be: attributes such as `x._name` may be used, all builtins and
    all listed modules. Without it (level `process`) only listed names may."""

    @classmethod
    def benchmark(cls) -> Policy:
        """Return the policy for problems with tests: the standard library and `eval` as well."""
        return cls(
            "benchmark", modules=BENCHMARK_MODULES, builtins=frozenset(["eval"]), signatures=False
        )

    def restricted(self) -> Policy:
        """Return what is left of it where the check is all there is (level `process`)."""
        return replace(
            self,
            modules=self.modules & {"math", *PROCESS["modules"]},
            builtins=frozenset(),
            private=False,
        )

    def names(self) -> frozenset[str]:
        """Return every name a program may read, whatever its scope."""
        known = EVERYWHERE if self.library else BUILTIN_NAMES
        if not self.private:
            known = (known - BUILTIN_NAMES) | SAFE_BUILTINS | ROBOT_ERRORS.keys() | {"LMPFailed"}
        return known | self.builtins

    def module_names(self, module: str) -> frozenset[str] | None:
        """Return what a program finds in a module, by its full name; None if it is not listed."""
        if module not in self.modules:
            return None
        if not self.private and module != "math":
            return frozenset(PROCESS["modules"][module].split())
        return module_names(module)


@cache
def module_names(module: str) -> frozenset[str] | None:
    """Return the names of a module that programs may import; None for any other."""
    if module not in BENCHMARK_MODULES:
        return None
    try:
        return frozenset(dir(importlib.import_module(module)))
    except ImportError:  # a Python may be built without it
        return frozenset()
