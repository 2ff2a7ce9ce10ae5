"""The names every program has without a hint: numpy, math, shapely's geometry, typing, builtins.

Only names are listed here; the worker imports what stands behind them. numpy is shown through an
allow-list of public functions: nothing that reads, writes, loads or leads to another module.
"""

from __future__ import annotations

import types
from functools import cache

from cap.errors import ROBOT_ERRORS


def names(text: str) -> tuple[str, ...]:
    """Split a list written as words."""
    return tuple(text.split())


SHAPELY_GEOMETRY = names(
    """
    GeometryCollection LinearRing LineString MultiLineString MultiPoint MultiPolygon Point
    Polygon box
    """
)
SHAPELY_AFFINITY = names("affine_transform rotate scale skew translate")
SHAPELY_OPS = names("nearest_points unary_union")
TYPING = names("Any Callable Dict Iterable List Optional Sequence Set Tuple Union")
STANDARD = ("math",)
NUMPY = ("np", "numpy")

LIBRARY_NAMES: frozenset[str] = frozenset(
    [*NUMPY, *STANDARD, *SHAPELY_GEOMETRY, *SHAPELY_AFFINITY, *SHAPELY_OPS, "affinity", *TYPING]
)

SAFE_BUILTINS = names(
    """
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod
    enumerate filter float format frozenset hash hex int isinstance issubclass iter len list
    map max min next object oct ord pow print property range repr reversed round set slice
    sorted staticmethod str sum super tuple type zip ArithmeticError AssertionError
    AttributeError BaseException Exception FloatingPointError GeneratorExit IndexError
    KeyError LookupError NameError NotImplemented NotImplementedError OverflowError
    RecursionError RuntimeError StopIteration TypeError UnboundLocalError ValueError
    ZeroDivisionError Ellipsis True False None
    """
)
BUILTIN_NAMES = frozenset([*SAFE_BUILTINS, *ROBOT_ERRORS, "LMPFailed", "print", "__name__"])
EVERYWHERE = LIBRARY_NAMES | BUILTIN_NAMES
"""Every name a program may read without a hint."""

FORBIDDEN_BUILTINS = frozenset(
    names(
        """
        breakpoint compile copyright credits delattr dir eval exec exit getattr globals hasattr
        help id input license locals memoryview open quit setattr vars
        """
    )
)

_NUMPY_DENIED = frozenset(
    names(
        """
        save savez savez_compressed savetxt load loadtxt genfromtxt fromfile fromregex
        fromstring frombuffer memmap set_printoptions printoptions get_printoptions seterr
        seterrcall geterrcall geterr setbufsize getbufsize show_config show_runtime info test
        get_include broadcast from_dlpack frompyfunc apply_over_axes fromfunction
        asarray_chkfinite asfortranarray may_share_memory shares_memory nditer nested_iters
        busdaycalendar ufunc errstate require recarray record rec ctypeslib
        """
    )
)
_SUBMODULES: dict[str, tuple[str, ...] | None] = {
    "linalg": None,
    "fft": None,
    "random": names(
        """
        choice default_rng exponential integers normal permutation rand randint randn random
        random_sample seed shuffle standard_normal uniform
        """
    ),
}


@cache
def numpy_names(submodule: str = "") -> frozenset[str]:
    """Return the attributes programs may use of `np`, or of one of its submodules."""
    import numpy as np

    if submodule:
        listed = _SUBMODULES[submodule]
        module = getattr(np, submodule)
        return frozenset(listed if listed is not None else _plain_names(module))
    public = _plain_names(np) - _NUMPY_DENIED
    return frozenset(public | set(_SUBMODULES))


def _plain_names(module: types.ModuleType) -> frozenset[str]:
    """Return a module's public names that are not modules."""
    return frozenset(
        name
        for name in dir(module)
        if not name.startswith("_") and not isinstance(getattr(module, name), types.ModuleType)
    )
