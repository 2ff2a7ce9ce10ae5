"""The names of the layers that hold a worker, and the levels they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ALWAYS = ("process", "environment")
KERNEL = ("rlimits", "landlock", "seccomp", "namespaces")
LAYERS = (*ALWAYS, *KERNEL)
"""Every layer there is; a `LayerReport` says which of them are enforced."""
LEVELS: Mapping[str, tuple[str, ...]] = {
    "kernel+ns": ("rlimits", "seccomp", "landlock", "namespaces"),
    "kernel": ("rlimits", "seccomp", "landlock"),
    "kernel-seccomp": ("rlimits", "seccomp"),
    "process": (),
}
"""What each level needs, the strongest first."""


@dataclass(frozen=True)
class LayerReport:
    """Which layers hold."""

    layers: tuple[str, ...] = ()
    """By name, in the order of `LAYERS`."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why each of the others does not."""
    without: frozenset[str] = frozenset()
    """Layers left out on purpose, for tests."""

    @property
    def level(self) -> str:
        """The strongest level whose layers all hold."""
        return next(name for name, needs in LEVELS.items() if set(needs) <= set(self.layers))

    def lacks(self, level: str) -> Mapping[str, str]:
        """Return the layers a level needs and this system does not have, and why."""
        return {name: self.missing[name] for name in LEVELS[level] if name not in self.layers}
