"""How one object is carried to one place, decided on plain data before anything moves.

Both modes use this module, so they refuse the same commands for the same reasons: the target is
off the table or out of reach (`Unreachable`), or something is in the way (`Collision`).
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import shapely

from cap.errors import Collision, RobotError, Unreachable
from robots.arm import ur5e
from robots.arm.gripper import (
    FINGER_LENGTH,
    NO_FINGERS,
    PALM_SIZE,
    ROBOTIQ_2F_85,
    Fingers,
    Grip,
    first_touched,
)
from robots.arm.gripper import MARGIN_M as MARGIN
from robots.arm.motion import PARK, TABLE, Pose, highest_between
from robots.ravens.scene import BOWL_FLOOR, BOWL_RIM_R, Body, Scene
from robots.table.geometry import (
    EDGE_INSET,
    TABLE_X,
    TABLE_Y,
    XY,
    Vec3,
    distance,
    overlap,
    polygon,
    yaw_quaternion,
)

_NEST = 0.0145
"""Height at which a bowl's foot rests inside another, as their leaning walls meet, metres."""
_PARKED: Vec3 = (PARK.x, PARK.y, PARK.z)
_PUT_DOWN_RINGS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
"""How far from where it hangs an object may be put down after a stop, metres."""
PLACE_RINGS = (0.025, 0.05)
"""How far from a named place an object may be put instead, metres."""
_ASIDE_RINGS = (0.1, 0.15, 0.2, 0.3, 0.4)
"""How far an object may be set aside, metres."""
ASIDE_ROOM = 0.03
"""What is set aside keeps so far from where something else is to go, metres."""
_SPOT_STEP = 0.01
"""How close together the spots are that are tried on a wide thing, metres."""
_ASTRAY = 0.02
"""An object further than this from where it was put did not stay there, metres."""
_BALANCE = 0.8
"""A block stays on a box while its centre is within this share of it; a bowl half of that."""
_LEVEL = 0.002
"""Tops whose heights differ by less carry something together, metres."""
_BALANCE_M = 0.004
"""So far what lies across several reaches over each, and its centre over their hull, metres."""
_IN_BOWL = {"block": 0.012, "bowl": 0.006}
"""How far off centre each kind of object still comes to rest in a bowl, metres."""
_ARM_R = 0.06
"""Radius of forearm and wrist with some room, metres."""
_ARM_CLEAR = 0.15
"""What rises less than this above the fingertips cannot touch forearm or wrist, metres."""
_SAME = 1e-6
"""Heights (m) and angles (rad) closer than this are the same."""
_ROUNDING_M = 1e-9
"""By so much sums of numbers such as 0.3 - 0.02 miss the limits they name."""
_ASLANT = 0.2
"""An object leaning more than this lies on or against something, radians."""


@dataclass(frozen=True)
class Hand:
    """The gripper that a transfer is planned for, as it is before it."""

    tip: Vec3
    """Where its fingertips are, metres."""
    fingers: Fingers = ROBOTIQ_2F_85
    """How far it opens."""
    check_stop: Callable[[], None] = field(default=lambda: None, compare=False)
    """Raises where somebody has asked to stop: called between two searches."""


WAITING = Hand(_PARKED)
"""A hand that waits between motions."""


@dataclass(frozen=True)
class Transfer:
    """A pick and a place that nothing stands in the way of."""

    name: str
    """What is picked up."""
    pick: Grip
    """Where it is grasped."""
    place: Grip
    """Where it is let go."""
    travel_z: float
    """Fingertip height while carrying, metres."""
    result: tuple[Body, ...]
    """The object and what it carries, where they should come to rest."""


def check_target(xy: Sequence[float], surface: str = "table") -> None:
    """Refuse a point that is not on the table, or what else lies there.

    Raises:
        Unreachable: Off the table, or too close to its edge.
    """
    (left, right), (front, back), inset = TABLE_X, TABLE_Y, EDGE_INSET - _ROUNDING_M
    if not (left + inset <= xy[0] <= right - inset and front + inset <= xy[1] <= back - inset):
        raise Unreachable(
            f"({xy[0]:.4g}, {xy[1]:.4g}) m is off the {surface} or at its edge; things stand at "
            f"x {left + EDGE_INSET:.2f} to {right - EDGE_INSET:.2f} and "
            f"y {front + EDGE_INSET:.2f} to {back - EDGE_INSET:.2f}"
        )


def resting_on(scene: Scene, name: str) -> list[Body]:
    """Return everything that stands on or in an object, directly or not, lowest first."""
    direct = [body for body in scene.others(name) if stands_on(body, scene[name])]
    found = {body.name: body for body in direct}
    for body in direct:
        found.update({other.name: other for other in resting_on(scene, body.name)})
    return sorted(found.values(), key=lambda body: body.position[2])


def stands_on(body: Body, below: Body) -> bool:
    """Return whether an object stands straight on a block, or on or in a bowl."""
    if below.kind == "bowl":
        inside = below.bottom < body.bottom < below.top + 0.01
        return inside and math.dist(body.xy, below.xy) < BOWL_RIM_R
    if abs(body.bottom - below.top) >= 0.01:
        return False
    if body.kind == "bowl":
        return math.dist(body.xy, below.xy) < body.radius
    return meet(body, below, 0.0)


@dataclass(frozen=True)
class _Taken:
    """An object that can be taken, wherever it then goes."""

    body: Body
    load: Sequence[Body]
    """What stands on it or in it, and goes with it."""
    rest: Scene
    """Everything else."""
    picks: Sequence[Grip]
    """How it can be held, best first."""


def stands_on_it(upper: str, lower: str) -> Collision:
    """Return the failure of what another object keeps from being taken."""
    return Collision(f"{upper!r} stands on {lower!r}; move {upper!r} first")


def _taken(scene: Scene, name: str, hand: Hand) -> _Taken:
    """Return how an object can be taken.

    Raises:
        Unreachable, Collision: It cannot be; as `transfer`.
    """
    body = scene[name]
    load = resting_on(scene, name)
    for other in load:
        # A bowl carries blocks; a bowl in it would come between its rim and the fingers.
        if body.kind == "block" or other.kind == "bowl":
            raise stands_on_it(other.name, name)
    if body.lean > _ASLANT:
        raise Collision(f"{name!r} leans on something; move its neighbours first")
    rest = Scene(tuple(scene.others(name, *(other.name for other in load))))
    for other in rest.bodies:
        if other.bottom > body.bottom + MARGIN and meet(body, other, 0.0):
            raise Collision(f"{other.name!r} reaches over {name!r}; move {other.name!r} first")
    picks = free_grips(body, rest.bodies + tuple(load), f"take {name!r}", hand.fingers)
    return _Taken(body, load, rest, picks)


def transfer(
    scene: Scene,
    name: str,
    xy: tuple[float, float],
    hand: Hand = WAITING,
    yaw: float | None = None,
) -> Transfer:
    """Plan how an object gets to a point, onto whatever stands there.

    Args:
        scene: Where everything is.
        name: The object, by its exact name.
        xy: Where its centre goes, metres.
        hand: What is to carry it.
        yaw: How it is turned there, radians; as `support` says if None.

    Raises:
        Unreachable: The point is off the table or out of the arm's reach.
        Collision: Something stands on the object, beside it, or in the place.
    """
    check_target(xy)
    return _carried_to(scene, _taken(scene, name, hand), xy, hand, yaw)


def _carried_to(
    scene: Scene,
    taken: _Taken,
    xy: tuple[float, float],
    hand: Hand,
    yaw: float | None = None,
) -> Transfer:
    """Plan how an object that can be taken gets to a point of the table.

    Raises:
        Unreachable, Collision: As `transfer`.
    """
    hand.check_stop()
    body, load, rest, name = taken.body, taken.load, taken.rest, taken.body.name
    height, yaw = support(rest, body, xy, yaw)
    centre = (*xy, height + body.half_height)
    goal = replace(body, position=centre, quaternion=yaw_quaternion(yaw))
    there = f"put {name!r} at ({xy[0]:.2f}, {xy[1]:.2f})"
    places = free_grips(goal, rest.bodies, there, hand.fingers)
    if not (ways := _same_hold(taken.picks, places, body, goal)):
        raise Collision(f"no room for the fingers to {there} as they must hold it")
    pick, place = _least_turn(ways, body)
    turn = place.yaw - pick.yaw
    result = tuple(other.carried(body.position, centre, turn) for other in [body, *load])
    planned = Transfer(name, pick, place, 0.0, result)
    hang = pick.tip[2] - min(other.bottom for other in [body, *load])
    to_pick = highest_between(scene.bodies, hand.tip, pick.tip) + TABLE.lift
    travel = max(to_pick, _travel_height(rest, body, hang, planned, hand.tip))
    for tip in (hand.tip, pick.tip, place.tip):
        if not ur5e.reaches((tip[0], tip[1], travel)):
            raise Unreachable(
                f"cannot carry {name!r} {travel:.2f} m high at ({tip[0]:.2f}, {tip[1]:.2f}), over "
                "what stands there; clear the way or build closer to the middle"
            )
    for grip in (pick, place):
        _check_arm(rest, grip)
    return replace(planned, travel_z=travel)


def _check_arm(rest: Scene, grip: Grip) -> None:
    """Refuse to reach over something so high that the forearm or the wrist would hit it.

    Raises:
        Collision: It would.
    """
    tall = [body for body in rest.bodies if body.top > grip.tip[2] + _ARM_CLEAR]
    if not tall:
        return
    points = ur5e.skeleton(Pose(*grip.tip, grip.yaw).joints())
    for body in tall:
        beside = np.hypot(points[:, 0] - body.xy[0], points[:, 1] - body.xy[1])
        if ((beside < _ARM_R + body.radius) & (points[:, 2] - _ARM_R < body.top)).any():
            raise Collision(
                f"the arm cannot reach ({grip.tip[0]:.2f}, {grip.tip[1]:.2f}) past {body.name!r}, "
                f"{body.top:.2f} m high; take that down first"
            )


def _same_hold(
    picks: Sequence[Grip], places: Sequence[Grip], body: Body, goal: Body
) -> list[tuple[int, Grip, Grip]]:
    """Return picks, by rank, with places where the fingers are on the object as at the pick.

    A bowl may be turned about its axis, a cube by a quarter; how high the fingers hold it, and by
    which sides they hold a box, stays.
    """
    either_way = body.kind == "bowl" or abs(body.size[0] - body.size[1]) < 2 * MARGIN
    lower, turned = body.bottom - goal.bottom, 0.0 if either_way else goal.yaw - body.yaw
    return [
        (rank, pick, place)
        for rank, pick in enumerate(picks)
        for place in places
        if abs(place.tip[2] - pick.tip[2] + lower) < _SAME
        and (either_way or abs(_wrap(place.yaw - pick.yaw - turned, math.pi)) < _SAME)
    ]


def _least_turn(ways: Sequence[tuple[int, Grip, Grip]], body: Body) -> tuple[Grip, Grip]:
    """Return a pick and a place between which the wrist turns least, their yaws consistent.

    Fingers have no front, so half a turn more or less is the same grip; but a bowl held by its rim
    follows every turn between pick and place.
    """
    period = math.pi if body.kind == "block" else 2 * math.pi
    options = [
        (round(abs(_wrap(place.yaw - pick.yaw, period)), 3), rank, pick, place)
        for rank, pick, place in ways
    ]
    _, _, pick, place = min(options, key=lambda option: option[:2])
    yaw = PARK.yaw + _wrap(pick.yaw - PARK.yaw, math.pi)
    turn = _wrap(place.yaw - pick.yaw, period)
    return replace(pick, yaw=yaw), replace(place, yaw=yaw + turn)


def _wrap(angle: float, period: float) -> float:
    """Return an angle less whole periods, between minus and plus half a period."""
    return (angle + period / 2) % period - period / 2


def _travel_height(
    rest: Scene, before: Body, hang: float, planned: Transfer, start: Vec3 | None = None
) -> float:
    """Return a fingertip height that clears everything on the way, metres.

    Args:
        rest: What is not carried.
        before: The object as it is.
        hang: How far below the fingertips the lowest of what they carry is, metres.
        planned: The transfer, but for this height.
        start: Where the fingertips are; None where they hold the object already.
    """
    pick, place = planned.pick.tip, planned.place.tip
    goal = planned.result[0].position
    carrying = highest_between(rest.bodies, pick, place)
    carrying = max(carrying, highest_between(rest.bodies, before.position, goal))
    away = highest_between((*rest.bodies, *planned.result), place, _PARKED)
    least = place[2] + TABLE.straight
    if start is not None:
        least = max(pick[2], place[2]) + TABLE.straight
    return max(away + TABLE.lift, carrying + hang + TABLE.lift, least)


def _first(
    scene: Scene, taken: _Taken, spots: Iterable[XY], hand: Hand, height: float | None = None
) -> Transfer | None:
    """Return the way of an object to the first of some spots that serves, if one does.

    Args:
        scene: Where everything is.
        taken: The object.
        spots: Where it may go, metres.
        hand: What is to carry it.
        height: What it must lie at, metres; anywhere if None.
    """
    for spot in spots:
        with contextlib.suppress(Collision, Unreachable):
            check_target(spot)
            planned = _carried_to(scene, taken, spot, hand)
            if height is None or abs(planned.result[0].bottom - height) < _LEVEL:
                return planned
    return None


def on_or_near(scene: Scene, name: str, xy: tuple[float, float], hand: Hand = WAITING) -> Transfer:
    """Plan how an object gets to a named place, which is an area and not a point.

    Where something covers half of the place's centre, the nearest free spot around it serves.

    Raises:
        Unreachable, Collision: As `transfer`, for the place's centre.
    """
    taken = _taken(scene, name, hand)
    try:
        return _carried_to(scene, taken, xy, hand)
    except Collision:
        if planned := _first(scene, taken, around(xy, PLACE_RINGS), hand):
            return planned
        raise


def has_room_beside(scene: Scene, name: str, base: Body) -> bool:
    """Tell whether an object goes on a wide thing, such as a plate, beside what stands there."""
    body = scene[name]
    there = [other for other in resting_on(scene, base.name) if other.name != name]
    return bool(there) and base.kind == "block" and min(base.half) >= 2 * max(body.half)


def on_free_spot(scene: Scene, name: str, base: Body, hand: Hand = WAITING) -> Transfer:
    """Plan how an object gets onto a wide thing beside what stands there: nearest its middle.

    Raises:
        Unreachable: The object cannot be reached.
        Collision: There is no free spot on it, or the object cannot be taken.
    """
    taken = _taken(scene, name, hand)
    rings = np.arange(0.0, _BALANCE * min(base.half), _SPOT_STEP).tolist()
    if planned := _first(scene, taken, around(base.xy, rings), hand, base.top):
        return planned
    raise Collision(
        f"no free spot within reach for {name!r} on {base.name!r}; take something off it first"
    )


def aside(scene: Scene, name: str, hand: Hand = WAITING, clear_of: Sequence[Body] = ()) -> Transfer:
    """Plan how an object gets off what it stands on, to the nearest free spot of the table.

    Args:
        scene: Where everything is.
        name: The object, by its exact name.
        hand: What is to carry it.
        clear_of: Where other things are to go later: it keeps away from there.

    Raises:
        Collision: There is none, or it cannot be taken; as `transfer`.
        Unreachable: It cannot be reached.
    """
    body, taken = scene[name], _taken(scene, name, hand)
    across, along = (np.arange(low + 0.025, high, 0.025) for low, high in (TABLE_X, TABLE_Y))
    points = [(float(x), float(y)) for x in across for y in along]
    far = [point for point in points if math.dist(point, body.xy) > _ASIDE_RINGS[0]]
    far.sort(key=lambda point: math.dist(point, body.xy))
    spots = np.array([*around(body.xy, _ASIDE_RINGS), *far])
    for other in taken.rest.bodies:  # where it would surely touch something
        away = np.linalg.norm(spots - other.xy, axis=1)
        spots = spots[away >= _inner_r(body) + _inner_r(other)]
    clear = (
        (x, y)
        for x, y in spots.tolist()
        if not any(
            meet(replace(body, position=(x, y, body.position[2])), goal, ASIDE_ROOM)
            for goal in clear_of
        )
    )
    if planned := _first(scene, taken, clear, hand, 0.0):
        return planned
    raise Collision(f"no free spot on the table to set {name!r} aside; clear some room first")


def _inner_r(body: Body) -> float:
    """Return the radius of a circle that an object covers, seen from above, metres."""
    return BOWL_RIM_R if body.kind == "bowl" else min(body.half)


def put_down(scene: Scene, held: Sequence[Body], grip: Grip) -> Transfer:
    """Plan how what a stopped motion left in the gripper gets onto what is straight below it.

    Where it would not stand there, the nearest spot serves where it does.

    Args:
        scene: Where everything else is; what it says of the held objects does not count.
        held: The object between the fingers, and what it carries, as they hang now.
        grip: Where the fingers are, and how far they are to open.

    Returns:
        A transfer whose pick is that grip; the height is for travelling elsewhere, and away after.

    Raises:
        Collision: There is no such spot within reach.
    """
    base = held[0]
    rest = Scene(tuple(scene.others(*(body.name for body in held))))
    hang = grip.tip[2] - min(body.bottom for body in held)
    for xy in (base.xy, *around(base.xy, _PUT_DOWN_RINGS)):
        with contextlib.suppress(Collision, Unreachable):
            check_target(xy)
            height, _ = support(rest, base, xy, base.yaw)
            down = (xy[0] - base.xy[0], xy[1] - base.xy[1], height - base.bottom)
            place = replace(grip, tip=_shifted(grip.tip, down))
            result = tuple(replace(body, position=_shifted(body.position, down)) for body in held)
            if first_touched(place, PALM, rest.bodies) is not None or not ur5e.reaches(place.tip):
                continue
            _check_arm(rest, place)
            planned = Transfer(base.name, grip, place, 0.0, result)
            return replace(planned, travel_z=_travel_height(rest, base, hang, planned))
    raise Collision(
        f"no free spot to put {base.name!r} down, which a stop left in the gripper; "
        "take it out by hand, or clear some room"
    )


def _shifted(point: Vec3, by: Vec3) -> Vec3:
    return (point[0] + by[0], point[1] + by[1], point[2] + by[2])


def around(xy: tuple[float, float], radii: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Yield points on circles around a point, nearest circles first."""
    for radius in radii:
        for step in range(8):
            angle = step * math.pi / 4
            yield xy[0] + radius * math.cos(angle), xy[1] + radius * math.sin(angle)


def check_result(planned: Transfer, body: Body) -> tuple[float, float]:
    """Return where an object came to rest, metres, if that is where it was put.

    Raises:
        Collision: It lies elsewhere.
    """
    goal = planned.result[0].position
    if math.dist(goal, body.position) > _ASTRAY:
        x, y, z = body.position
        raise Collision(
            f"{body.name!r} was put at ({goal[0]:.2f}, {goal[1]:.2f}) but came to rest at "
            f"({x:.2f}, {y:.2f}), {z:.2f} m high: it hit or fell off something"
        )
    return body.xy


def support(
    rest: Scene, body: Body, xy: tuple[float, float], kept: float | None = None
) -> tuple[float, float]:
    """Return the height a body would stand at and the yaw it should have there.

    The highest things below decide: a block lines up with a block that it stands on, and may lie
    across several that are equally high.

    Args:
        rest: What stands there.
        body: What is put there.
        xy: Where its centre goes, metres.
        kept: Its yaw where it is not turned, radians.

    Raises:
        Collision: It would land half on something.
    """
    for other in sorted(rest.bodies, key=lambda other: other.top, reverse=True):
        distance = math.dist(xy, other.xy)
        straight = other.kind == "block" and distance <= _BALANCE * min(other.half)
        yaw = kept if kept is not None else other.yaw if straight else 0.0
        there = replace(body, position=(*xy, 0.0), quaternion=yaw_quaternion(yaw))
        if not meet(there, other, MARGIN):
            continue
        if other.lean > _ASLANT:
            raise Collision(
                f"{other.name!r} lies aslant, so nothing can stand on it; move it first"
            )
        steady = _IN_BOWL[body.kind] if other.kind == "bowl" else _BALANCE * min(other.half)
        if body.kind == "bowl" and other.kind == "block":
            steady /= 2
        if distance > steady and not _lies_across(rest, there, other):
            in_line = replace(there, quaternion=yaw_quaternion(other.yaw))
            if kept is None and _lies_across(rest, in_line, other):
                return other.top, other.yaw
            bowls = [bowl for bowl in rest.bodies if bowl.kind == "bowl"]
            in_bowl = any(stands_on(other, bowl) for bowl in bowls)
            where = "" if in_bowl else f"the centre of {other.name!r}, or "
            clear_m = body.radius + other.radius + MARGIN
            raise Collision(
                f"no room for {body.name!r} at ({xy[0]:.2f}, {xy[1]:.2f}): {other.name!r} is "
                f"{100 * distance:.1f} cm away; choose {where}a spot "
                f"{math.ceil(100 * clear_m)} cm from it"
            )
        if other.kind == "block":
            return other.top, yaw
        return other.bottom + (_NEST if body.kind == "bowl" else BOWL_FLOOR), yaw
    return 0.0, 0.0 if kept is None else kept


def _lies_across(rest: Scene, body: Body, highest: Body) -> bool:
    """Return whether a block is in balance on several blocks whose tops are level.

    Args:
        rest: What stands there.
        body: The block where it is to lie, seen from above.
        highest: The highest thing it would touch.
    """
    level = [
        other
        for other in rest.bodies
        if abs(other.top - highest.top) < _LEVEL and meet(body, other, MARGIN)
    ]
    if len(level) < 2 or any(one.kind == "bowl" or one.lean > _ASLANT for one in [body, *level]):
        return False
    outline = polygon(body.rectangle).buffer(-_BALANCE_M)
    contact = shapely.union_all([outline.intersection(polygon(other.rectangle)) for other in level])
    carrying = contact.convex_hull.buffer(-_BALANCE_M)
    return bool(carrying.contains(shapely.Point(body.xy)))


def meet(body: Body, other: Body, margin: float) -> bool:
    """Return whether two objects come closer than a margin (m) seen from above."""
    if body.kind == other.kind == "bowl":
        return math.dist(body.xy, other.xy) < 2 * BOWL_RIM_R + margin
    block, second = (body, other) if body.kind == "block" else (other, body)
    length, width = block.half
    outline = (*block.xy, length + margin, width + margin, block.yaw)
    if second.kind == "bowl":
        return distance(outline, second.xy) < BOWL_RIM_R
    return overlap(outline, second.rectangle)


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
