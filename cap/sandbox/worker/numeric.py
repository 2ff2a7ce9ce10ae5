"""What stands for numpy and shapely inside a worker; not loaded where no program needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import shapely
import shapely.affinity
import shapely.geometry
import shapely.ops

from cap.checker.allowlist import (
    NUMPY,
    SHAPELY_AFFINITY,
    SHAPELY_GEOMETRY,
    SHAPELY_OPS,
    module_names,
    numpy_names,
)
from cap.sandbox.wire import payloads as payloads  # values of both libraries cross
from cap.sandbox.worker.builtin_function import shown_as
from cap.sandbox.worker.namespace import Facade, closed

OPEN_FAMILIES = (np.generic, shapely.Geometry)
"""Classes that programs are told of with all below them."""
FUNCTIONS = (type(np.linspace), np.ufunc)
"""Classes of functions that take attributes, as those written in Python do."""
_SUBMODULES = ("linalg", "fft", "random")


class Random(Facade):
    """`np.random` from a program's own seed, set up at first use: few programs need it."""

    __slots__ = ("_seed", "_state")

    def __init__(self, seed: int) -> None:
        """Set up nothing yet."""
        object.__setattr__(self, "_seed", seed)
        object.__setattr__(self, "_state", None)

    def __repr__(self) -> str:
        """Return what a module shows."""
        return "<module 'numpy.random'>"

    def __getattr__(self, name: str) -> Any:
        """Return one of the listed functions."""
        if name not in numpy_names("random"):
            raise AttributeError(f"numpy.random has no '{name}' that programs may use")
        if self._state is None:
            object.__setattr__(self, "_state", np.random.RandomState(self._seed))
        if name in ("default_rng", "seed"):  # without a number of their own: the program's
            own, start = self._seed, np.random.default_rng if name != "seed" else self._state.seed
            return lambda seed=None: start(own if seed is None else seed)
        return getattr(self._state, name)


shown_as(Random, "builtins", "module")


def modules() -> dict[str, Facade]:
    """Build the modules of both libraries, but for `numpy.random`, which has a seed."""
    found = {name: _view(name) for name in ("shapely.affinity", "shapely.geometry", "shapely.ops")}
    found["shapely"] = _view("shapely")
    for name in ("affinity", "geometry", "ops"):
        vars(found["shapely"])[name] = found[f"shapely.{name}"]
    numpy = {name: getattr(np, name) for name in numpy_names() - set(_SUBMODULES)}
    for name in ("linalg", "fft"):
        module = getattr(np, name)
        numpy[name] = Facade(**{entry: getattr(module, entry) for entry in numpy_names(name)})
        found[f"numpy.{name}"] = numpy[name]
    rows, columns = _without_text(type(np.r_)), _without_text(type(np.c_))
    numpy |= {"ndarray": closed(np.ndarray), "r_": rows(), "c_": columns(), "finfo": _finfo}
    numpy |= {"printoptions": PrintOptions, "set_printoptions": _set_print_options}
    numpy |= {"get_printoptions": _print_options, "errstate": ErrorState}
    return {**found, "numpy": Facade(**numpy)}


def _view(name: str) -> Facade:
    """Return what programs may use of a module of shapely."""
    module: Any = shapely
    for part in name.split(".")[1:]:
        module = getattr(module, part)
    listed = module_names(name) or ()
    return Facade(**{entry: getattr(module, entry) for entry in listed if hasattr(module, entry)})


def names(built: Mapping[str, Facade]) -> dict[str, Any]:
    """Return what programs know of both libraries without an import.

    Args:
        built: The modules, as `modules` made them.
    """
    known: dict[str, Any] = dict.fromkeys(NUMPY, built["numpy"])
    known["affinity"] = Facade(**{n: getattr(shapely.affinity, n) for n in SHAPELY_AFFINITY})
    known |= {name: getattr(shapely.geometry, name) for name in SHAPELY_GEOMETRY}
    known |= {name: getattr(shapely.affinity, name) for name in SHAPELY_AFFINITY}
    return known | {name: getattr(shapely.ops, name) for name in SHAPELY_OPS}


def _finfo(dtype: Any) -> Any:
    """Stand in for a class of cached properties, which anybody may turn into those of another."""
    return np.finfo(dtype)


shown_as(_finfo, "numpy", "finfo")


_PRINT_OPTIONS = frozenset(
    [
        *("edgeitems", "floatmode", "infstr", "linewidth", "nanstr", "precision", "sign"),
        *("suppress", "threshold", "formatter"),
    ]
)
"""How arrays are printed, as far as numbers, texts and functions of the program say it."""


def _print_options() -> dict[str, Any]:
    """Stand in for `np.get_printoptions`."""
    return {name: value for name, value in np.get_printoptions().items() if name in _PRINT_OPTIONS}


def _set_print_options(precision: Any = None, **options: Any) -> None:
    """Stand in for `np.set_printoptions`."""
    given = {"precision": precision, **options}
    given = {n: at.item() if isinstance(at, np.generic) else at for n, at in given.items()}
    for name, value in given.items():
        if name not in _PRINT_OPTIONS:
            raise TypeError(
                f"set_printoptions() takes no '{name}' here; print such values yourself"
            )
        if name == "formatter":
            if value is not None and type(value) is not dict:
                raise TypeError("'formatter' takes a dictionary of functions")
            if not all(type(kind) is str and callable(at) for kind, at in (value or {}).items()):
                raise TypeError("'formatter' takes a dictionary of functions by kinds of values")
        elif type(value) not in (type(None), bool, int, float, str):
            raise TypeError(f"'{name}' takes a number or a text")
    np.set_printoptions(**given)


class PrintOptions:
    """Stand in for `np.printoptions`, options for a `with` block."""

    __slots__ = ("_before", "_options")

    def __init__(self, precision: Any = None, **options: Any) -> None:
        """Keep them."""
        self._options = {"precision": precision, **options}
        self._before: dict[str, Any] = {}

    def __enter__(self) -> dict[str, Any]:
        """Use them."""
        self._before = _print_options()
        _set_print_options(**self._options)
        return _print_options()

    def __exit__(self, *_: object) -> None:
        """Use those from before."""
        _set_print_options(**self._before)


class ErrorState:
    """Stand in for `np.errstate`: what faults of arithmetic do in a `with` block."""

    __slots__ = ("_before", "_options")

    def __init__(self, **options: Any) -> None:
        """Keep them."""
        for name, value in options.items():
            if name not in ("all", "divide", "over", "under", "invalid"):
                raise TypeError(f"errstate() takes no '{name}' here")
            if value is not None and (type(value) is not str or value not in _ON_FAULTS):
                raise ValueError(f"errstate() takes one of {', '.join(_ON_FAULTS)} here")
        self._options = options
        self._before: dict[str, Any] = {}

    def __enter__(self) -> None:
        """Use them."""
        self._before = {**np.seterr(**self._options)}

    def __exit__(self, *_: object) -> None:
        """Use those from before."""
        np.seterr(**self._before)


_ON_FAULTS = ("ignore", "warn", "raise")
shown_as(ErrorState, "numpy", "errstate")
shown_as(PrintOptions, "numpy", "printoptions")
shown_as(_set_print_options, "numpy", "set_printoptions")
shown_as(_print_options, "numpy", "get_printoptions")


def _without_text(kind: Any) -> Any:
    """Return a class like that of `np.r_`, which evaluates the names in a text."""

    class Rows(kind):  # type: ignore[misc]
        makemat = None  # a class that evaluates texts

        def __getitem__(self, key: Any) -> Any:
            if isinstance(key, str):
                raise TypeError("np.r_ and np.c_ take arrays, numbers and slices")
            return super().__getitem__(key)

    return shown_as(Rows, "numpy", kind.__name__)


_MEMORY_ERROR: type = MemoryError
try:
    np.empty(1 << 60, np.uint8)
except MemoryError as error:
    _MEMORY_ERROR = type(error)
ARRAY_MEMORY_ERROR = _MEMORY_ERROR
"""The class that numpy raises where no memory is left: it bears the builtin's name."""
