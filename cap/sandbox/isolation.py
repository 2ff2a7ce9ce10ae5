"""The layers that hold a worker, applied in it before any program text arrives.

This first form sets the kernel's resource limits; each layer reports itself by name, so that
further ones (seccomp, Landlock, namespaces) join the list and every result says which held.
"""

from __future__ import annotations

import contextlib
import resource

LAYERS = ("process", "environment", "rlimits")
"""What `lock_down` and the template apply, for `cap info`."""


def lock_down(cpu_s: float, memory_bytes: int) -> tuple[str, ...]:
    """Apply every layer this system has; return their names."""
    limits = {
        resource.RLIMIT_CPU: int(cpu_s) + 2,
        resource.RLIMIT_DATA: memory_bytes,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))
    return LAYERS
