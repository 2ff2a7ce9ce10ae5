"""Settings of a session: declared once, handed on as one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cap.engine.settings import EngineSettings
from cap.prompt.prompt import Prompt
from cap.sandbox.limits import Limits
from cap.session.skills.store import SkillStore
from cap.trace.trace import Trace

HISTORY_TOKENS = 4000
HARDWARE_LEVEL = "kernel-seccomp"
"""Below this level of the sandbox only the check stands between a program and the host."""


@dataclass(frozen=True)
class SessionSettings(EngineSettings):
    """How a session runs, and what it keeps."""

    prompts: Mapping[str, Prompt] | None = None
    """By name, with a `ui`; those shipped for the robot by default."""
    trace: Trace | None = None
    """Where events go; nowhere by default."""
    limits: Limits | None = None
    """What one program may use."""
    skills: SkillStore | None = None
    """Kept functions to offer to programs, and where to keep more."""
    rounds: int = 1
    """How often the model may go on with an instruction, after it was told what came of it."""
    history_tokens: int = HISTORY_TOKENS
    """How much of a prompt earlier turns may take."""
    rehearse: bool | None = None
    """Whether each program runs in the robot's simulated twin first; by default wherever there is
    one, as real robots have."""
    robot_file: Path | None = None
    """The file the robot was made from, for who goes on with the session."""
    min_level: str | None = None
    """The weakest sandbox level to accept; by default any in simulation, and `HARDWARE_LEVEL`
    on real hardware."""
