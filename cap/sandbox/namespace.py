"""What stands behind the library names inside a worker; imported by the template only."""

from __future__ import annotations

import builtins
import math
import sys
import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import shapely
import shapely.affinity
import shapely.geometry
import shapely.ops

from cap.errors import ROBOT_ERRORS, LMPFailed
from cap.library import (
    NUMPY,
    SAFE_BUILTINS,
    SHAPELY_AFFINITY,
    SHAPELY_GEOMETRY,
    SHAPELY_OPS,
    TYPING,
    numpy_names,
)


class Facade:
    """An allow-listed view of a module; it leads nowhere else."""

    __slots__ = ("__dict__",)

    def __init__(self, **names: Any) -> None:
        self.__dict__.update(names)


@cache
def _library() -> dict[str, Any]:
    """Build the library names once, in the template; its forks share them."""
    names: dict[str, Any] = dict.fromkeys(NUMPY, _numpy())
    names["math"] = Facade(**_public(math))
    names["affinity"] = Facade(**{n: getattr(shapely.affinity, n) for n in SHAPELY_AFFINITY})
    names |= {name: getattr(shapely.geometry, name) for name in SHAPELY_GEOMETRY}
    names |= {name: getattr(shapely.affinity, name) for name in SHAPELY_AFFINITY}
    names |= {name: getattr(shapely.ops, name) for name in SHAPELY_OPS}
    names |= {name: getattr(typing, name) for name in TYPING}
    return names


def library(seed: int) -> dict[str, Any]:
    """Return the library names with what they mean; numpy's random numbers start from `seed`."""
    names = dict(_library())
    names["np"].random = _Random(seed)
    return names


def safe_builtins(print_function: Callable[..., None]) -> dict[str, Any]:
    """Return the builtins a program sees, with its own `print`."""
    names = {name: getattr(builtins, name) for name in SAFE_BUILTINS}
    names |= ROBOT_ERRORS
    names["LMPFailed"] = LMPFailed
    names["print"] = print_function
    names["__build_class__"] = builtins.__build_class__
    names["__import__"] = _loaded_numpy
    return names


def _loaded_numpy(name: str, *_: Any, **__: Any) -> types.ModuleType:
    """Serve numpy's own late imports: its C code asks the calling frame's builtins."""
    if name.split(".")[0] == "numpy" and name in sys.modules:
        return sys.modules[name]
    raise ImportError(f"import of '{name}' is not allowed")


def _public(module: types.ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


def _numpy() -> Facade:
    names = {name: getattr(np, name) for name in numpy_names() - {"linalg", "fft", "random"}}
    names["linalg"] = Facade(**{n: getattr(np.linalg, n) for n in numpy_names("linalg")})
    names["fft"] = Facade(**{n: getattr(np.fft, n) for n in numpy_names("fft")})
    return Facade(**names)


class _Random:
    """`np.random` from a program's own seed, set up at first use: few programs need it."""

    def __init__(self, seed: int) -> None:
        self.__seed = seed

    def __getattr__(self, name: str) -> Any:
        if name not in numpy_names("random"):
            raise AttributeError(f"numpy.random has no '{name}' that programs may use")
        if "state" not in self.__dict__:
            self.state = np.random.RandomState(self.__seed)
        if name == "default_rng":
            seed = self.__seed
            return lambda own=None: np.random.default_rng(seed if own is None else own)
        return getattr(self.state, name)
