"""What the check allows, as data; named policies."""

from __future__ import annotations

from dataclasses import dataclass, field

from cap.checker.allowlist import (
    BENCHMARK_BUILTINS,
    BENCHMARK_MODULES,
    BUILTIN_NAMES,
    EVERYWHERE,
    ROBOT_MODULES,
)


@dataclass(frozen=True)
class Policy:
    """What the check allows."""

    name: str = "robot"
    """Named in traces."""
    max_nodes: int = 20_000
    """Largest syntax tree."""
    max_depth: int = 100
    """Deepest nesting of the tree."""
    modules: frozenset[str] = ROBOT_MODULES
    """Modules a program may import, of those `cap.checker.allowlist` lists: pure computation."""
    builtins: frozenset[str] = field(default_factory=frozenset)
    """Builtins it may use besides the usual ones; none for robots."""
    library: bool = True
    """The library's names are there without an import, as robots' programs know them; without them
    a program is like an imported module: `__name__` is not `__main__`."""

    signatures: bool = True
    """Calls that cannot fit what they call and attributes that library classes do not have are
    refused before anything moves; where tests judge a program, only what it reaches counts."""

    @classmethod
    def benchmark(cls) -> Policy:
        """Return the policy for problems with tests: modules of time and `eval` besides."""
        return cls(
            "benchmark",
            modules=BENCHMARK_MODULES,
            builtins=BENCHMARK_BUILTINS,
            signatures=False,
        )

    def names(self) -> frozenset[str]:
        """Return every name a program may read, whatever its scope."""
        known = EVERYWHERE if self.library else BUILTIN_NAMES
        return known | self.builtins if self.builtins else known

    def as_data(self) -> dict[str, list[str]]:
        """Return what a worker needs to know of its rights, as plain data; nothing of a robot's."""
        if self.modules == ROBOT_MODULES and not self.builtins:
            return {}
        return {"modules": sorted(self.modules), "builtins": sorted(self.builtins)}
