"""Learning: a function of a turn whose effect was verified is kept as a skill, with its example."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from cap.engine.answer import Answer
from cap.errors import CapError, NotFound, SkillError
from cap.program.scope import Definition
from cap.prompt.context import assignments
from cap.prompt.prompt import Prompt
from cap.result import plain
from cap.session.session_file import SavedSession
from cap.session.skills.skill_check import (
    CheckedRobot,
    SkillExample,
    output_of,
    spoken,
    write_example,
)
from cap.session.skills.store import ORIGIN, needed_by

if TYPE_CHECKING:
    from cap.session.session import Session
    from cap.session.turn import Turn

_UNVERIFIED = (
    "nothing but its own program says that it did what was asked; say what it must do by --expect, "
    "or give the robot a prompt goal.py"
)


@dataclass(frozen=True)
class OfferedSkill:
    """A function that is offered as a skill."""

    definition: Definition
    """The function."""
    instruction: str
    """What it was written for."""
    did: str
    """What the turn did, which its example did again."""


Learn = Callable[[OfferedSkill], bool]
"""Shown each function that is offered; True keeps it."""


def learn_from(
    session: Session, begun: SavedSession, turn: Turn, answer: Answer, expect: Sequence[str]
) -> None:
    """Offer the functions of a turn as skills, and report what is kept and what is not, and why.

    Args:
        session: Whose turn, which is over.
        begun: The session before it.
        turn: Its result, which is no failure.
        answer: What the engine made of it.
        expect: The effect it had to have.
    """
    why = _unfit(begun, turn, answer, expect)
    old = {entry.name: entry.source for entry in begun.definitions}
    new = {
        entry.name: entry
        for entry in session.state.definitions
        if entry.origin != ORIGIN and old.get(entry.name) != entry.source
    }
    called = _called(answer, new)
    if not why and not called:
        why = "its program defines no new function that it calls"
    kept, left_out = dict[str, str](), dict[str, str]()
    for name in () if why else called:
        try:
            kept[name] = _keep(session, begun, turn, answer, new, name)
        except CapError as error:
            left_out[name] = str(error)
    if kept:
        assert session.skills is not None
        files = session.skills.names()
        definitions = tuple(
            replace(entry, origin=ORIGIN) if entry.name in new and entry.name in files else entry
            for entry in session.state.definitions
        )
        session.state = replace(session.state, definitions=definitions)
    session.trace.event("learned", kept=kept, left_out=left_out, why=why)


def _unfit(begun: SavedSession, turn: Turn, answer: Answer, expect: Sequence[str]) -> str:
    """Return why nothing is learned from a turn; "" if something may be."""
    effect = turn.effect
    if effect.unseen or effect.no_longer_seen or effect.newly_seen:
        return "what it did cannot be seen"
    if effect.words == ("nothing",):
        return "it did nothing"
    if effect.left_over:
        return f"something was left over: {effect.left_over[0]}"
    if answer.denied and not answer.accepted:
        return answer.denied
    if not (expect or answer.accepted):
        return _UNVERIFIED
    if answer.earlier or answer.failed:
        return "it took several programs, one after the other"
    if begun.world is None:
        return "this robot's world cannot be restored, so no example can be run"
    return ""


def _called(answer: Answer, new: Mapping[str, Definition]) -> list[str]:
    """Return the new functions that the program itself calls, outside of all functions."""
    assert answer.program is not None
    body = [node for node in answer.program.tree.body if not isinstance(node, ast.FunctionDef)]
    nodes = [node for part in body for node in ast.walk(part)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return [name for name in new if name in names]


def _keep(
    session: Session,
    begun: SavedSession,
    turn: Turn,
    answer: Answer,
    new: Mapping[str, Definition],
    name: str,
) -> str:
    """Run a function's example, offer it, and keep both; return its file.

    Raises:
        UsageError: It cannot stand by itself, its name is taken, or nobody wants it.
        SkillError: Its example does not do the same, or cannot be run.
    """
    store, program = session.skills, answer.program
    assert store is not None
    assert program is not None
    needed, prompts = needed_by(name, session.state), session.engine.prompts
    written = [node for node in program.tree.body if isinstance(node, ast.FunctionDef)]
    example = SkillExample(
        instruction=turn.instruction,
        program=program.without([node for node in written if node.name in needed]).source,
        effect=turn.effect,
        output=output_of(turn),
        ink=plain(getattr(session.robot, "strokes", None)),
        answers=_answers(answer, prompts),
        before=msgspec.structs.replace(begun, history=(), hints=()),
    )
    skills = [entry for entry in session.state.definitions if entry.origin == ORIGIN]
    skills += [new[entry] for entry in needed if entry in new]
    robot = CheckedRobot(session.robot, prompts, session.robot_file)
    if why := robot.run(example, skills):
        raise SkillError(why)
    idle = Definition(name, f"def {name}(*given, **named):\n    return None\n")
    if not robot.run(example, [idle if entry.name == name else entry for entry in skills]):
        raise SkillError("its example comes out the same if it does nothing")
    offered = OfferedSkill(new[name], turn.instruction, turn.effect.line)
    if session.learn is None or not session.learn(offered):
        raise SkillError("it was declined")
    path = session.save_skill(name)
    held = robot.conditions(store.with_needs(name))
    write_example(msgspec.structs.replace(example, held=held), store.example(name))
    return str(path)


def _answers(answer: Answer, prompts: Mapping[str, Prompt]) -> tuple[tuple[str, str], ...]:
    """Return what LMPs were asked by the program, and a program that gives each answer."""
    found = []
    for call in answer.last_calls:
        prompt = prompts.get(call.name) if call.kind == "lmp" else None
        if prompt is None or (name := prompt.header.returns) is None:
            continue
        words = call.args[0] if call.args else call.kwargs.get("description", "")
        none = call.error is not None and call.error.startswith(NotFound.__name__)
        if call.error is None or none:
            program = assignments(f"{name}\n", {name: call.result})
            found.append((spoken(str(words)), program))
    return tuple(found)
