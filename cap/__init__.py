"""Code as policies: a sentence becomes a checked robot program, run in a sandbox.

Everything loads on first use, so that `import cap` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cap.checker import check
    from cap.lmp_function import LMP
    from cap.policy import Policy
    from cap.sandbox import Limits, Sandbox
    from cap.scope import Scope
    from cap.session import Session

_HOMES = {
    "check": "cap.checker",
    "Policy": "cap.policy",
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
