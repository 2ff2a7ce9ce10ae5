"""Keeping a session's function as a skill: by itself, with what it needs and where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from cap.checker.allowlist import EVERYWHERE
from cap.checker.undefined import undefined
from cap.engine.answer import State
from cap.errors import UsageError, did_you_mean
from cap.program.program import Program
from cap.scope import Definition
from cap.session.skills.skill_file import ORIGIN, Skill, renamed
from cap.session.skills.store import SkillStore, check_name


@dataclass(frozen=True)
class Origin:
    """Where a session's functions come from."""

    robot: str
    """Its registered name."""
    model: str
    """What writes programs."""
    prompt_sha256: str
    """Of the prompt that programs are written for."""
    function_sha256: str
    """Of the prompt that functions are generated with."""
    instructions: Mapping[str, str]
    """The person's words each function was written for, by its name."""

    def skill(self, definition: Definition, name: str, source: str) -> Skill:
        """Describe a definition that is kept under a name."""
        generated = definition.origin == "generated"
        return Skill(
            name=name,
            source=source,
            robot=self.robot,
            instruction=self.instructions.get(definition.name, ""),
            model=self.model,
            prompt_sha256=self.function_sha256 if generated else self.prompt_sha256,
            date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )


def keep(
    store: SkillStore,
    state: State,
    name: str,
    rename_to: str | None,
    reserved: frozenset[str],
    origin: Origin,
) -> Path:
    """Save a session's function, with those it needs that are no skills yet; return its file.

    Args:
        store: Where.
        state: The session's.
        name: The function.
        rename_to: The name it is to have as a skill; its own if None.
        reserved: Names of the robot's own.
        origin: What to say of where they come from.

    Raises:
        UsageError: There is no such function, a name is taken, or it cannot stand by itself.
    """
    definitions = {entry.name: entry for entry in state.definitions}
    needed = _needed(name, definitions, state)
    first = name if rename_to is None else rename_to
    check_name(first)
    sources = [definitions[entry].source for entry in needed]
    if first != name:
        sources = renamed(sources, name, first)
    names = [*needed[:-1], first]
    if clash := sorted(reserved & {*names}):
        raise UsageError(f"'{clash[0]}' is a name of the robot's own; choose another")
    old = {entry.name for entry in state.definitions if entry.origin == ORIGIN}
    made = [
        origin.skill(definitions[entry], as_name, source)
        for entry, as_name, source in zip(needed, names, sources, strict=True)
    ]
    skills = [
        replace(skill, requires=tuple(need for need in skill.calls if need in old | {*names}))
        for skill in made
        if skill.name == first or not store.holds(skill)
    ]
    return store.save(*skills)[-1]


def _needed(name: str, definitions: Mapping[str, Definition], state: State) -> list[str]:
    """Return the names of a function and of those it needs that are no skills, it last."""
    if name not in definitions:
        hint = did_you_mean(name, definitions)
        listed = ", ".join(definitions) or "none yet"
        raise UsageError(f"this session has no function '{name}'.{hint} It has: {listed}")
    if definitions[name].origin == ORIGIN:
        raise UsageError(f"'{name}' is a skill already")
    order = [name]
    for reader in order:  # grows on the way
        for entry in undefined(Program.parse(definitions[reader].source), EVERYWHERE):
            if entry.name in state.variables:
                raise UsageError(
                    f"'{reader}' reads '{entry.name}', a variable of this session only; "
                    "have it made an argument first"
                )
            kept = definitions.get(entry.name)
            if kept is not None and kept.origin != ORIGIN and kept.name not in order:
                order.append(kept.name)
    return order[::-1]
