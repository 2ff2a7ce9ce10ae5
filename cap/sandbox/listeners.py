"""Who is told of a program while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cap.result import Call


@dataclass(frozen=True)
class Listeners:
    """What the parent calls between a program's calls; none is there by default."""

    on_call: Callable[[Call], None] | None = None
    """Told of every call once it is served."""
    on_line: Callable[[int], None] | None = None
    """Told before every call which line of the program makes it."""
    on_print: Callable[[str], None] | None = None
    """Told before a call what was printed since the one before; only where `on_line` is told as
    well. What is printed behind the last call is in the result alone."""
