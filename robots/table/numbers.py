"""Numbers that a program hands over, as an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.errors import LimitExceeded


def real_numbers(value: Any, what: str, wanted: str) -> NDArray[np.float64]:
    """Return a number, or numbers of any shape, as an array of floats.

    Args:
        value: What was handed over.
        what: Its name, for the message.
        wanted: What it must be, for the message.

    Raises:
        TypeError: It is no real numbers.
        LimitExceeded: One is more than a float holds.
    """
    try:
        found = np.asarray(value)
        large = found.dtype == object and all(isinstance(each, int | float) for each in found.flat)
        if found.dtype.kind in "iuf" or large:
            numbers: NDArray[np.float64] = found.astype(np.float64)
            return numbers
    except OverflowError:
        raise LimitExceeded(f"{what} has a number beyond all limits") from None
    except (TypeError, ValueError):
        pass
    shown = f"{value!r:.80}" if isinstance(value, str) else f"a {type(value).__name__}"
    raise TypeError(f"{what} must be {wanted}; got {shown}")


def finite_numbers(
    value: Any, what: str, wanted: str, *shapes: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return numbers as an array of floats, all of them finite.

    Args:
        value: What was handed over.
        what: Its name, for the message.
        wanted: What it must be, for the message.
        shapes: The shapes that it may have.

    Raises:
        TypeError: It is something else.
        LimitExceeded: A number is more than a float holds.
    """
    array = real_numbers(value, what, wanted)
    if array.shape not in shapes:
        raise TypeError(f"{what} must be {wanted}; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise TypeError(f"{what} must be {wanted}; got {array.tolist()}")
    return array
