"""Code as policies: a sentence becomes a checked robot program, run in a sandbox.

What needs numpy loads on first use, so that `import cap` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import Any

# Eager on purpose: the function must win over the module of the same name.
from cap.check import Policy, check

_HOMES = {
    "LMP": "cap.lmp_function",
    "Limits": "cap.sandbox",
    "Sandbox": "cap.sandbox",
    "Scope": "cap.scope",
    "Session": "cap.session",
}
__all__ = ["LMP", "Limits", "Policy", "Sandbox", "Scope", "Session", "check"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cap' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOMES[name]), name)
