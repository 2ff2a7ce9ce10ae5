"""What every controlled thing has beside its own readings and commands: nobody moves objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cap.program.scope import Primitive
from robots.base import primitives_of


class Episode:
    """One simulation whose time passes only in a program's calls."""

    simulated = True

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name."""
        return primitives_of(self)

    def context(self) -> Mapping[str, Any]:
        """Return no facts: everything changes with every step."""
        return {}

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return nothing: no object is moved about."""
        return {}

    def stop(self) -> None:
        """Do nothing: time passes only inside one call."""

    def close(self) -> None:
        """Release nothing."""
