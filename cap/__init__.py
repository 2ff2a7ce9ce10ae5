"""Code as policies: a sentence becomes a checked robot program, run in a sandbox.

Everything loads on first use, so that `import cap` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cap.checker.checker import check
    from cap.checker.policy import Policy
    from cap.engine.lmp import LMP
    from cap.program.scope import Scope
    from cap.sandbox.limits import Limits
    from cap.sandbox.sandbox import Sandbox
    from cap.session.session import Session

_HOMES = {
    "check": "cap.checker.checker",
    "Policy": "cap.checker.policy",
    "LMP": "cap.engine.lmp",
    "Limits": "cap.sandbox.limits",
    "Sandbox": "cap.sandbox.sandbox",
    "Scope": "cap.program.scope",
    "Session": "cap.session.session",
}
__all__ = ["LMP", "Limits", "Policy", "Sandbox", "Scope", "Session", "check"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cap' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOMES[name]), name)
