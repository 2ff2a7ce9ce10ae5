"""Classes of the library that no program changes, by whatever name it holds them.

Python lets anybody put a method into a class that was written in Python, and takes none into its
own. The mark by which it tells the two apart is one bit in the class, set here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from fractions import Fraction

_IMMUTABLE = 1 << 8
"""`Py_TPFLAGS_IMMUTABLETYPE`."""
_SEARCHED_BYTES = 256
"""Every class is larger; its flags come early."""
_KNOWN: tuple[type, ...] = (object, int, dict, type, BaseException, Fraction)
"""Classes with different flags, by which the place of the flags is found."""


def close(kinds: Iterable[type]) -> None:
    """Have attributes of these classes and of those they inherit from be bound no more.

    Args:
        kinds: Classes.
    """
    word = ctypes.sizeof(ctypes.c_ulong)
    places = [
        place
        for place in range(0, _SEARCHED_BYTES, word)
        if all(_flags(kind, place).value == kind.__flags__ for kind in _KNOWN)
    ]
    closed = {base for kind in kinds for base in kind.__mro__} if len(places) == 1 else set()
    for kind in closed:
        _flags(kind, places[0]).value |= _IMMUTABLE


def _flags(kind: type, place: int) -> ctypes.c_ulong:
    return ctypes.c_ulong.from_address(id(kind) + place)
