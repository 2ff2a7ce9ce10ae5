"""Code as policies: a sentence becomes a checked robot program, run in a sandbox.

Everyday names, all from here: `from cap import Session, LMP, UsageError, ...`. Everything loads on
first use, so that `import cap` stays cheap.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cap.checker.checker import Violation, check
    from cap.checker.policy import Policy
    from cap.engine.effect import Effect
    from cap.engine.settings import GenerationLimits, Repairs, Sampling
    from cap.engine.standalone_lmp import LMP
    from cap.errors import (
        CapError,
        CheckFailed,
        LMPFailed,
        ModelError,
        NotFound,
        RobotError,
        SandboxError,
        SavedError,
        UsageError,
    )
    from cap.models.base import Completion, Model, Request, Usage
    from cap.models.providers import make_model
    from cap.program.scope import Scope
    from cap.prompt.prompt import Prompt
    from cap.result import Call, Failure, Result
    from cap.robot.protocol import Robot
    from cap.robot.registry import make_robot
    from cap.sandbox.limits import Limits
    from cap.sandbox.sandbox import Sandbox
    from cap.session.session import Session
    from cap.session.settings import SessionSettings
    from cap.session.skills.store import SkillStore
    from cap.session.turn import Turn
    from cap.trace.trace import Event, Trace

_HOMES = {
    "cap.checker.checker": ("Violation", "check"),
    "cap.checker.policy": ("Policy",),
    "cap.engine.effect": ("Effect",),
    "cap.engine.standalone_lmp": ("LMP",),
    "cap.engine.settings": ("GenerationLimits", "Repairs", "Sampling"),
    "cap.errors": (
        "CapError",
        "CheckFailed",
        "LMPFailed",
        "ModelError",
        "NotFound",
        "RobotError",
        "SandboxError",
        "SavedError",
        "UsageError",
    ),
    "cap.models.base": ("Completion", "Model", "Request", "Usage"),
    "cap.models.providers": ("make_model",),
    "cap.program.scope": ("Scope",),
    "cap.prompt.prompt": ("Prompt",),
    "cap.result": ("Call", "Failure", "Result"),
    "cap.robot.protocol": ("Robot",),
    "cap.robot.registry": ("make_robot",),
    "cap.sandbox.limits": ("Limits",),
    "cap.sandbox.sandbox": ("Sandbox",),
    "cap.session.session": ("Session",),
    "cap.session.settings": ("SessionSettings",),
    "cap.session.skills.store": ("SkillStore",),
    "cap.session.turn": ("Turn",),
    "cap.trace.trace": ("Event", "Trace"),
}
"""Where the names are at home."""
__all__ = [
    "LMP",
    "Call",
    "CapError",
    "CheckFailed",
    "Completion",
    "Effect",
    "Event",
    "Failure",
    "GenerationLimits",
    "LMPFailed",
    "Limits",
    "Model",
    "ModelError",
    "NotFound",
    "Policy",
    "Prompt",
    "Repairs",
    "Request",
    "Result",
    "Robot",
    "RobotError",
    "Sampling",
    "Sandbox",
    "SandboxError",
    "SavedError",
    "Scope",
    "Session",
    "SessionSettings",
    "SkillStore",
    "Trace",
    "Turn",
    "Usage",
    "UsageError",
    "Violation",
    "check",
    "make_model",
    "make_robot",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'cap' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
