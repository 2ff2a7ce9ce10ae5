"""The kinds of value an LMP may return, as prompt headers name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def kind_error(value: Any, kinds: Sequence[str]) -> str | None:
    """Return None if a value is of one of the kinds, else what is wrong with it."""
    if any(_TESTS[kind](value) for kind in kinds):
        return None
    return f"expected {' or '.join(kinds)}, got {_shown(value)}"


def _shown(value: Any) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python shows no integer of more than 4300 digits
        return f"a value of type '{type(value).__name__}' too large to show"
    return shown if len(shown) <= 80 else shown[:77] + "..."


def _is_number(value: Any) -> bool:
    if isinstance(value, int | np.integer):
        return not isinstance(value, bool)
    return isinstance(value, float | np.floating) and bool(np.isfinite(value))


def _is_array(value: Any, dimensions: int) -> bool:
    """True for finite coordinates: the last axis is xy or xyz."""
    if not isinstance(value, list | tuple | np.ndarray):
        return False
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return False
    shape_fits = array.ndim == dimensions and array.shape[-1] in (2, 3)
    return shape_fits and array.dtype.kind in "iuf" and bool(np.isfinite(array).all())


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
