"""Whether a result is what was expected: plain data of known types, compared in the parent.

The rules
    None, truth values and strings must be the same; a truth value is no number.
    Numbers (Python's and numpy's) must agree within the tolerance, two integers exactly where no
    tolerance is stated; NaN and infinity stand only where they are expected.
    Lists, tuples and arrays are one kind: same length at every level, same entries in order. Two
    arrays must have the same shape.
    Dictionaries must have the same keys, in any order.
    Geometries must have the same type and number of parts, and be the same set of points within
    the tolerance: Hausdorff distance, for lines also length, for areas the symmetric difference.
    Anything else is no result: instances of a program's own classes (whatever their `__eq__` says),
    functions, generators and other iterators, sets.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import shapely

from benchmarks.problems.problem import Tolerance

MAX_COORDINATES = 10_000
"""A geometry of more is not compared: the work grows with the square."""
_USUAL = Tolerance()
_Number = (int, float, np.integer, np.floating)
_Truth = (bool, np.bool_)
_Sequence = (list, tuple, np.ndarray)


def difference(expected: Any, got: Any, tolerance: Tolerance) -> str | None:
    """Return None if a result is right, else what is wrong with it, in a few words."""
    if not _kind(got) == _kind(expected) != "":
        equal = False
    elif isinstance(expected, shapely.Geometry):
        try:
            equal = _geometries_agree(expected, got, tolerance)
        except shapely.errors.GEOSException as error:
            return f"a geometry that cannot be compared: {shown(str(error))}"
    elif isinstance(expected, _Sequence):
        if isinstance(expected, np.ndarray) and isinstance(got, np.ndarray):
            if expected.shape != got.shape:
                return f"expected shape {expected.shape}, got {got.shape}"
        elif len(expected) != len(got):
            return f"expected {len(expected)} entries, got {len(got)}"
        for place, (right, mine) in enumerate(zip(expected, got, strict=True)):
            if why := difference(right, mine, tolerance):
                return f"[{place}]: {why}"
        return None
    elif isinstance(expected, dict):
        if expected.keys() != got.keys():
            return f"expected keys {shown(list(expected))}, got {shown(list(got))}"
        for key, right in expected.items():
            if why := difference(right, got[key], tolerance):
                return f"[{shown(key)}]: {why}"
        return None
    elif isinstance(expected, _Number) and not isinstance(expected, _Truth):
        equal = _numbers_agree(expected, got, tolerance)
    else:
        equal = expected == got
    return None if equal else f"expected {shown(expected)}, got {shown(got)}"


def unfit(value: Any) -> str | None:
    """Return None for a value that can be compared, else what in it cannot."""
    if _kind(value) == "sequence":
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return None
        return next(filter(None, map(unfit, value)), None)
    if isinstance(value, dict):
        if not all(isinstance(key, str | int) for key in value):
            return "a dictionary with keys that are no strings or integers"
        return next(filter(None, map(unfit, value.values())), None)
    return None if _kind(value) else f"a value of type '{type(value).__name__}'"


def shown(value: Any) -> str:
    """Return a value as messages show it: short, geometries as text."""
    try:
        text = value.wkt if isinstance(value, shapely.Geometry) else repr(value)
    except Exception:  # a number too long to write out, a geometry without coordinates
        return f"a value of type '{type(value).__name__}'"
    text = " ".join(text.split())
    return text if len(text) <= 160 else f"{text[:157]}..."


def _kind(value: Any) -> str:
    """Return which of the comparable kinds a value is, or ""."""
    if value is None:
        return "none"
    if isinstance(value, _Truth):
        return "truth"
    if isinstance(value, _Number):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, _Sequence):
        return "sequence" if np.ndarray is not type(value) or value.ndim else ""
    if isinstance(value, dict):
        return "mapping"
    return value.geom_type if isinstance(value, shapely.Geometry) else ""


def _numbers_agree(expected: Any, got: Any, tolerance: Tolerance) -> bool:
    whole = int, np.integer
    try:
        if isinstance(expected, whole) and isinstance(got, whole):
            if tolerance.abs == _USUAL.abs:
                tolerance = msgspec.structs.replace(tolerance, abs=0)
            if tolerance.rel == _USUAL.rel:
                tolerance = msgspec.structs.replace(tolerance, rel=0)
            return abs(int(expected) - int(got)) <= tolerance.allowed(int(expected))
        right, mine = float(expected), float(got)
    except OverflowError:  # an integer that no float reaches
        return False
    if not math.isfinite(right) or not math.isfinite(mine):
        return right == mine or (math.isnan(right) and math.isnan(mine))
    return abs(right - mine) <= tolerance.allowed(right)


def _geometries_agree(expected: Any, got: Any, tolerance: Tolerance) -> bool:
    if shapely.get_num_coordinates(got) > MAX_COORDINATES or got.has_z != expected.has_z:
        return False
    if expected.is_empty or got.is_empty:
        return bool(expected.is_empty and got.is_empty)
    if shapely.get_num_geometries(got) != shapely.get_num_geometries(expected):
        return False
    if not np.isfinite(shapely.get_coordinates(got)).all() or got.is_valid < expected.is_valid:
        return False
    if not expected.hausdorff_distance(got) <= tolerance.abs:
        return False
    if shapely.get_dimensions(expected) == 1:
        # Corners on each other's lines do not yet make the same line.
        dense = shapely.hausdorff_distance(expected, got, densify=0.1)
        return bool(dense <= tolerance.abs) and _numbers_agree(
            expected.length, got.length, tolerance
        )
    if shapely.get_dimensions(expected) == 2 and expected.is_valid:
        apart = expected.symmetric_difference(got).area
        return bool(apart <= tolerance.abs + tolerance.rel * expected.area)
    return True
