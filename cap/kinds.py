"""The kinds of value an LMP may return, as prompt headers name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def kind_error(value: Any, kinds: Sequence[str]) -> str | None:
    """Return None if a value is of one of the kinds, else what is wrong with it."""
    if any(_TESTS[kind](value) for kind in kinds):
        return None
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return f"expected {' or '.join(kinds)}, got {shown}"


def _is_number(value: Any) -> bool:
    scalar = isinstance(value, int | float | np.integer | np.floating)
    return scalar and not isinstance(value, bool) and bool(np.isfinite(value))


def _is_array(value: Any, dimensions: int) -> bool:
    """True for finite coordinates: the last axis is xy or xyz."""
    if not isinstance(value, list | tuple | np.ndarray):
        return False
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return False
    shape_fits = array.ndim == dimensions and array.shape[-1] in (2, 3)
    return shape_fits and bool(np.isfinite(array).all())


def _is_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value)


_TESTS: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "name": lambda value: isinstance(value, str),
    "text": lambda value: isinstance(value, str),
    "names": _is_names,
    "point": lambda value: _is_array(value, 1),
    "points": lambda value: _is_array(value, 2),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool | np.bool_),
}
