"""How the gripper can hold an object, and whether its fingers have room to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

from cap.errors import Collision, RobotError, Unreachable
from robots.arm import ur5e
from robots.arm.clearance import first_touched
from robots.arm.gripper import (
    FINGER_LENGTH,
    NO_FINGERS,
    PALM_SIZE,
    Fingers,
    Grip,
)
from robots.ravens.scene import BOWL_RIM_R, Body

CLEARANCES = (0.008, 0.004)
"""Gap between each open finger and the object, metres; the narrow one where room is short."""
PALM = [(PALM_SIZE[0] / 2, PALM_SIZE[1] / 2, FINGER_LENGTH)]
"""What there is of the hand above the fingers; see `clearance.Part`."""
GRIP_DEPTH = 0.024
"""How far the fingertips reach below a block's top, metres."""
SHALLOW_DEPTH = 0.008
"""The same of fingers that open as far as they go, where room is short: as high as a bowl's rim,
where a block in the bowl that is not quite in its middle leaves room as well."""
_LEAST_TIP = 0.004
"""The fingertips stay this far above the foot of what they hold, metres."""
RIM_DEPTHS = (0.013, 0.007)
"""How far the fingertips reach below a bowl's rim, metres; the lesser out of another bowl."""
_AROUND_RIM = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6)
"""Twelfths of the rim, from the robot's side on: there the arm reaches furthest."""
_RIM_R = BOWL_RIM_R - 0.005
"""Where the fingers straddle a bowl's wall: its sloping outside and inside, halved, metres."""
_RIM_SPAN = 0.010
"""Width of the sloping wall between the fingers, metres."""


def free_grips(body: Body, around: Iterable[Body], doing: str, fingers: Fingers) -> list[Grip]:
    """Return the grips on a body that touch nothing else, best first.

    Args:
        body: Where it is, or is to be.
        around: What stands there beside it.
        doing: What for, in messages.
        fingers: Of the gripper.

    Raises:
        Collision: There is none; the message names what is in the way.
        Unreachable: There is one, but not where the arm reaches.
        RobotError: There is no gripper.
    """
    if fingers == NO_FINGERS:
        raise RobotError(
            f"no way to {doing}: this arm has no gripper; say which it has, such as "
            "-R gripper=robotiq"
        )
    around = [other for other in around if math.dist(other.xy, body.xy) < 0.25]
    free: list[Grip] = []
    blockers: list[str] = []
    for grip in _grips(body, fingers):
        blocker = first_touched(grip, PALM, around)
        if blocker is None:
            free.append(grip)
        else:
            blockers.append(blocker.name)
    if not free and not blockers:
        raise Unreachable(
            f"the gripper opens {100 * fingers.stroke_m:.1f} cm, too little for {body.name!r}"
        )
    if not free:
        fully = "" if fingers.stop_anywhere else " of fingers that only open fully"
        raise Collision(
            f"no room for the fingers to {doing}: {blockers[0]!r} is in the way{fully}; move "
            f"{blockers[0]!r} first"
        )
    reachable = [grip for grip in free if ur5e.reaches(grip.tip)]
    if not reachable:
        raise Unreachable(f"the arm is too short to {doing}")
    return reachable


def _grips(body: Body, fingers: Fingers) -> Iterator[Grip]:
    """Yield the ways to hold a body, best first."""
    x, y = body.xy
    fully, stroke_m = not fingers.stop_anywhere, fingers.stroke_m
    clearances = CLEARANCES[1:] if fully else CLEARANCES
    if body.kind == "block":
        sides = ((math.pi / 2, body.half[1]), (0.0, body.half[0]))
        depths = (GRIP_DEPTH, SHALLOW_DEPTH) if fully else (GRIP_DEPTH,)
        for depth, clearance, (turn, half) in itertools.product(depths, clearances, sides):
            gap_m = 2 * (half + clearance)
            if gap_m <= stroke_m:
                tip = (x, y, max(body.top - depth, body.bottom + _LEAST_TIP))
                yield Grip(tip, body.yaw + turn, stroke_m if fully else gap_m)
        return
    for depth, clearance, step in itertools.product(RIM_DEPTHS, clearances, _AROUND_RIM):
        angle = math.pi / 2 + step * math.pi / 6
        rim = (x + _RIM_R * math.cos(angle), y + _RIM_R * math.sin(angle))
        gap_m = _RIM_SPAN + 2 * clearance
        if gap_m <= stroke_m:
            yield Grip((*rim, body.top - depth), angle, stroke_m if fully else gap_m)
