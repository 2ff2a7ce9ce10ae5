"""Settings of a session: declared once, handed on as one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cap.checker.library_arguments import check_fields
from cap.engine.settings import EngineSettings, GenerationLimits, Repairs, Sampling
from cap.errors import UsageError
from cap.prompt.prompt import Prompt
from cap.robot import registry
from cap.sandbox.limits import Limits
from cap.session.skills.learning import Learn
from cap.session.skills.store import SkillStore
from cap.trace.trace import Trace

HISTORY_TOKENS = 4000


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
    learn: Learn | None = None
    """Shown each function of a turn that is offered as a skill; None learns nothing."""
    rounds: int = 1
    """How many programs the model may write for an instruction, each after the result of the
    last."""
    history_tokens: int = HISTORY_TOKENS
    """How much of a prompt earlier turns may take."""
    rehearse: bool | None = None
    """Whether each program runs in the robot's simulated twin first; by default wherever there is
    one, as real robots have."""
    robot_file: Path | None = None
    """The file the robot was made from, for resuming the session."""
    min_level: str | None = None
    """The weakest sandbox level to accept; by default `kernel-seccomp` for programs of a language
    model and on real hardware, and any for others in simulation."""

    @classmethod
    def of(cls, robot: str, seed: int, options: Mapping[str, Any]) -> SessionSettings:
        """Return settings from keywords: folders as text, groups as mappings.

        Args:
            robot: Whose prompts a folder has, and whose own are the default.
            seed: Of the session.
            options: The other fields by name.

        Raises:
            UsageError: There is no such field, or its value does not fit.
        """
        check_fields("option of a session (a robot's own go into robot_options)", cls, options)
        given: dict[str, Any] = {"prompts": None, **options}
        if not isinstance(given["prompts"], Mapping):
            folder = given["prompts"]
            folder = None if folder is None else as_path("prompts", folder)
            given["prompts"] = registry.robot_prompts(robot, folder)
        if isinstance(given.get("skills"), str | Path):
            given["skills"] = SkillStore(as_path("skills", given["skills"]))
        for name, kind in _GROUPS.items():
            if isinstance(given.get(name), Mapping):
                check_fields(f"key of {name}", kind, given[name])
                given[name] = kind(**given[name])
        return cls(seed=seed, **given)


_GROUPS: Mapping[str, type[Any]] = {
    "limits": Limits,
    "sampling": Sampling,
    "repairs": Repairs,
    "budget": GenerationLimits,
}
"""Settings that are groups of settings."""


def as_path(what: str, given: object) -> Path:
    """Return a path that was given as text or as a path.

    Raises:
        UsageError: It is neither, or empty.
    """
    if isinstance(given, Path) or (isinstance(given, str) and given):
        return Path(given)
    raise UsageError(f"{what} is {given!r}; name a path")
