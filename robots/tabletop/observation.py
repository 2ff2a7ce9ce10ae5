"""What the robot knows of its table: what is seen, and where its own motions left things."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from cap.errors import NotFound, RobotError, UsageError
from robots.perception import see
from robots.perception.camera import Camera, Detection, Detector
from robots.ravens.scene import BLOCK_SIZE, Body, Scene
from robots.table.geometry import yaw_quaternion

_SUNK_M = 0.01
"""A height may be listed so much too low before it is no height of a thing on the table."""
FRESH_S = 0.2
"""A look this recent still holds while nothing has moved."""


class Sight(Protocol):
    """Knows the scene."""

    def scene(self) -> Scene:
        """Return where everything is, as far as can be known."""

    def placed(self, bodies: Iterable[Body]) -> None:
        """Take note of what a motion was to leave; an observer that sees need not believe it."""

    def close(self) -> None:
        """Release what it looks with."""


class CameraSight:
    """Looks at the table again and again."""

    def __init__(self, camera: Camera, detector: Detector) -> None:
        """Look with a camera, which is closed here."""
        self._camera, self._detector = camera, detector
        self._seen: tuple[float, Scene] | None = None

    def scene(self) -> Scene:
        """Return what is seen now."""
        now_s = time.monotonic()
        if self._seen is None or now_s - self._seen[0] > FRESH_S:
            self._seen = now_s, scene_of(see(self._camera, self._detector))
        return self._seen[1]

    def placed(self, bodies: Iterable[Body]) -> None:
        """Look again."""
        self._seen = None

    def close(self) -> None:
        """Close the camera."""
        self._camera.close()


class ListedSight:
    """Takes a list of objects for the truth, and every motion as carried out.

    When the list itself changes, the new one holds.
    """

    def __init__(self, read: Callable[[], Scene]) -> None:
        """Begin with what is listed.

        Args:
            read: Returns the list as it is now.
        """
        self._read = read
        self._listed = read()
        self._scene = _apart(self._listed)

    def scene(self) -> Scene:
        """Return the list with everything that was moved since.

        Raises:
            RobotError: It is no longer there, or cannot be used any more.
        """
        try:
            listed = self._read()
            if listed != self._listed:
                self._scene = _apart(listed)
                self._listed = listed
        except UsageError as error:  # in a session it is no error of usage
            raise RobotError(f"{error}") from None
        return self._scene

    def placed(self, bodies: Iterable[Body]) -> None:
        """Believe it."""
        self._scene = self._scene.moved(bodies)

    def close(self) -> None:
        """Do nothing: no list is kept open."""


def scene_of(detections: Iterable[Detection]) -> Scene:
    """Return detections as a scene: bowls as bowls, anything else as a box of its size.

    Raises:
        NotFound: A box without height: the object cannot be distinguished from the table.
    """
    return Scene(tuple(_body(seen) for seen in detections))


def _apart(scene: Scene) -> Scene:
    """Return a scene in which no two objects are said to be in one place; bowls hold others.

    Raises:
        UsageError: Two are, or one is said to be below the table top.
    """
    for body in scene.bodies:
        if body.bottom < -_SUNK_M:
            raise UsageError(
                f"{body.name!r} is listed with its centre {body.position[2]:.3f} m over the table, "
                f"so it would reach {-100 * body.bottom:.1f} cm into it: on the table its centre "
                f"is at {body.half_height:.3f} m"
            )
    solid = [body for body in scene.bodies if body.kind == "block"]
    for one, other in itertools.combinations(solid, 2):
        if math.dist(one.position, other.position) < min(*one.size, *other.size) / 2:
            raise UsageError(
                f"{one.name!r} and {other.name!r} are listed in one place, "
                f"({one.position[0]:.3f}, {one.position[1]:.3f}) m; say where each of them is"
            )
    return scene


def _body(seen: Detection) -> Body:
    size = seen.size_m or BLOCK_SIZE
    if min(size) <= 0:
        raise NotFound(f"{seen.name!r} was seen without any extent: {size} m; look again")
    return Body(seen.name, seen.position, yaw_quaternion(seen.yaw), size)
