"""From a session to what is saved of it, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cap.errors import SavedError
from cap.robot.robot_facts import facts
from cap.session.session_file import Saved, put_world, world_of

if TYPE_CHECKING:
    from cap.session.session import Session


def described(session: Session) -> Saved:
    """Return everything that decides how a session goes on."""
    objects = facts(session.robot).get("objects")
    world, lost = world_of(session.robot)
    engine = session.engine
    return Saved(
        robot=session.robot.name,
        mode=getattr(session.robot, "mode", None),
        objects=None if objects is None else tuple(objects),
        seed=engine.seed,
        programs=engine.programs,
        turns=session.earlier + len(session.turns),
        state=session.state,
        origins=session.origins,
        history_tokens=session.history_tokens,
        repairs=(engine.repairs.static, engine.repairs.runtime),
        mends=engine.author.repairs,
        world=world,
        world_lost=lost,
        file=None if session.robot_file is None else str(session.robot_file),
    )


def registered(kept: Saved) -> str:
    """Return the name of a saved session's robot.

    Raises:
        SavedError: The robot is from a file: nothing that a saved session names is executed.
    """
    if kept.file is not None:
        raise SavedError(
            f"the saved session's robot is the file {kept.file}, and files are executed only "
            "when they are named; pass robot=FILE"
        )
    return kept.robot


def become(session: Session, kept: Saved) -> bool:
    """Make a session that has not begun a saved one; return whether the world came back too.

    Raises:
        SavedError: It is of another robot, or holds a name of this robot's own.
    """
    if kept.robot != session.robot.name:
        raise SavedError(f"the session was saved with robot '{kept.robot}'; use that one")
    bound = [*kept.state.variables, *(entry.name for entry in kept.state.definitions)]
    if clash := sorted(session.reserved.intersection(bound)):
        raise SavedError(f"the saved session sets {clash[0]!r}, a name of the robot's own")
    rewound = put_world(session.robot, kept)
    session.state, session.origins, session.earlier = kept.state, kept.origins, kept.turns
    session.trace.turn, session.history_tokens = kept.turns, kept.history_tokens
    session.engine.programs, session.engine.seed = kept.programs, kept.seed
    session.trace.event("resumed", turns=kept.turns, world=rewound)
    return rewound
