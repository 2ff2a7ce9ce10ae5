"""What the engine needs of a robot, and what some robots can do in addition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from cap.program.scope import Primitive

Xyz = tuple[float, float, float]
"""A place, metres."""


@runtime_checkable
class Robot(Protocol):
    """What the engine needs of a robot; its primitives are its decorated methods."""

    name: str
    """Registry name; also the folder of its prompts."""
    simulated: bool
    """False where a program moves real hardware and must be approved."""

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name."""

    def context(self) -> Mapping[str, Any]:
        """Return facts a prompt may ask for, such as `objects`: plain data.

        One called `elsewhere` is shown with each instruction, in words: what was seen before, and
        is not seen from here.
        """

    def positions(self) -> Mapping[str, Xyz]:
        """Return where each object is now, xyz in metres; to tell what moved."""

    def stop(self) -> None:
        """Stop all motion at once; safe to call from any thread."""

    def close(self) -> None:
        """Release what the robot holds."""


@runtime_checkable
class Conditioned(Protocol):
    """A robot that reports more than where objects are."""

    def condition(self) -> Mapping[str, Any]:
        """Return what else programs change, by name; to tell what a turn did.

        Such as `{"ink": "2 strokes, 0.410 m", "top drawer": "open"}`: plain data, of which numbers
        (metres, radians) are the same within 5 mm. What is drawn is called `ink`; where the robot
        itself is, `robot` or `gripper`; what it holds, `held`, which is `nothing` where it holds
        nothing; what it drives on with, `velocity`. Where others may move
        it as well, `motions` counts its own: without one, no turn has moved anything.
        """


@runtime_checkable
class Locating(Protocol):
    """A robot that has words for where objects are."""

    def whereabouts(self) -> Mapping[str, str]:
        """Return what each object is in or on, such as `{"apple": "bowl"}`; "" for nothing named.

        Later prompts show from where to where a turn moved each object.
        """


@runtime_checkable
class Containing(Protocol):
    """A robot that knows what is in what, from the bodies themselves."""

    def contents(self) -> Mapping[str, Sequence[str]]:
        """Return what truly lies in everything that can hold something, let go: names by name."""


@runtime_checkable
class Rewindable(Protocol):
    """A robot whose whole world can be saved and restored: a simulated one."""

    def snapshot(self) -> Any:
        """Return the world as it is: bodies, motors, grasp, random state, what was said."""

    def restore(self, snapshot: Any) -> None:
        """Put a snapshot back; what follows has the same bits as if nothing came between."""


@runtime_checkable
class TurnTaking(Protocol):
    """A robot that remembers how its world was before each turn, so that programs can undo it."""

    def end_turn(self, words: str) -> Sequence[str]:
        """Know that what is done from now on belongs to another turn.

        Args:
            words: The instruction of this one.

        Returns:
            The instructions of the turns that this one undid, the last of them first.
        """


@runtime_checkable
class Rehearsable(Protocol):
    """A robot that has a simulated twin."""

    def twin(self) -> Robot:
        """Return a simulated robot with the same primitives in the scene as it is seen now."""


@dataclass(frozen=True)
class Step:
    """One line of the checklist by which a real robot is brought up."""

    title: str
    """What is looked at, or done."""
    do: Callable[[], str]
    """Does it and returns what was found, in one line; raises `CapError` if it is not right."""
    question: str = ""
    """What a person must say yes to before it is done; "" for what only reads."""


class BringUp(Protocol):
    """A robot that is to be brought up; nothing is connected before its first step."""

    def steps(self) -> Sequence[Step]:
        """Return the checklist, in order: what only reads comes before what moves."""

    def stop(self) -> None:
        """Stop all motion at once; safe to call from any thread."""

    def close(self) -> None:
        """Disconnect; doing so twice does no harm."""
