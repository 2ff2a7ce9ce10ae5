"""The kinds of value an LMP may return, as prompt headers name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def kind_error(value: Any, kinds: Sequence[str]) -> str | None:
    """Return None if a value is of one of the kinds, else what is wrong with it."""
    if any(_is_of(kind, value) for kind in kinds):
        return None
    return f"expected {' or '.join(kinds)}, got {_shown(value)}"


def _is_of(kind: str, value: Any) -> bool:
    """Tell whether a value is of one kind, of those in `cap.prompt.prompt.KINDS`."""
    match kind:
        case "name" | "text":
            return isinstance(value, str)
        case "names":
            return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        case "point" | "points":
            return _is_array(value, 1 if kind == "point" else 2)
        case "number":
            return _is_number(value)
        case "boolean":
            return isinstance(value, bool | np.bool_)
    return True


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
