"""Asking a person before each call that moves the robot."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cap.errors import RobotError
from cap.sandbox.parent.deadlines import asking_person
from cap.scope import Primitive

Allow = Callable[[str], bool]
"""Shown one call as text; False refuses it."""
_SILENT = ("say",)
"""Actions that move nothing."""


def asked(primitives: Mapping[str, Primitive], allow: Allow | None) -> dict[str, Primitive]:
    """Return a robot's functions, of which those that move it ask first.

    Args:
        primitives: By name.
        allow: Asked; a call it refuses raises `RobotError`. None asks for nothing.
    """
    if allow is None:
        return dict(primitives)
    return {
        name: _asked(primitive, allow)
        if primitive.kind == "action" and name not in _SILENT
        else primitive
        for name, primitive in primitives.items()
    }


def _asked(primitive: Primitive, allow: Allow) -> Primitive:
    function = primitive.function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        from cap.trace.terminal import shown_call  # its terminal library is slow to load

        with asking_person():
            allowed = allow(shown_call(primitive.name, args, kwargs))
        if not allowed:
            raise RobotError(f"{primitive.name} was not allowed by the person; nothing moved")
        return function(*args, **kwargs)

    return replace(primitive, function=call)
