"""What appears and is taken away while the robot is at work, as if by a person."""

from __future__ import annotations

import math
from dataclasses import replace

from cap.errors import LimitExceeded, UsageError
from robots.kitchen import arguments
from robots.kitchen.objects import KINDS, Thing, scene_entries
from robots.kitchen.placement import ANYWHERE_M, clear_spots
from robots.kitchen.room import Location
from robots.kitchen.scene_sampler import arrival_of
from robots.kitchen.state import KitchenState
from robots.table.object_names import find

_ROUNDING_S = 1e-6
MAX_AFTER_S = 86_400.0
"""Something appears so many seconds from now at the latest."""
_TOUCH_M = 0.012
"""What is so close to what is below it stands on it, metres."""


def arrived(state: KitchenState) -> KitchenState:
    """Return a state with those objects in the kitchen whose time has come.

    Each stands where it was to appear, or at the nearest free spot; where there is none it waits.
    """
    now_s = state.time_s + _ROUNDING_S
    if not state.arriving or state.arriving[0].at_s > now_s:
        return state
    waiting = []
    for arrival in state.arriving:
        place, thing = state.room.locations[arrival.place], arrival.thing
        spots = clear_spots(state, thing, thing.xy, place, ANYWHERE_M)
        if arrival.at_s <= now_s and (spot := next(spots, None)):
            state = replace(state, things=(*state.things, spot))
        else:
            waiting.append(arrival)
    return replace(state, arriving=tuple(waiting))


def announced(state: KitchenState, name: str, location: Location, after_s: float) -> KitchenState:
    """Return a state in which an object appears at a location, now or so many seconds later.

    Raises:
        UsageError: It exists already, or cannot appear there.
        LimitExceeded: It is to appear before now, or after more than a day.
        TypeError: The time is no number.
    """
    if not 0.0 <= (wait_s := arguments.number(after_s, "after_s")) <= MAX_AFTER_S:
        raise LimitExceeded(f"after_s must be 0 to {MAX_AFTER_S:g} s; got {wait_s:g}")
    entry = scene_entries([name])[0]
    known = [*state.things, *(arrival.thing for arrival in state.arriving)]
    if entry.name in (thing.name for thing in known):
        raise UsageError(f"object {entry.name!r} exists already; each exists once")
    x, y, z = location.middle()
    thing = Thing(entry.name, (x, y, z + KINDS[entry.name].size[2] / 2))
    arrival = arrival_of(state.room, thing, state.time_s + wait_s)
    waiting = sorted((*state.arriving, arrival), key=lambda arrival: arrival.at_s)
    return arrived(replace(state, arriving=tuple(waiting)))


def without(state: KitchenState, name: str) -> KitchenState:
    """Return a state in which an object is not in the kitchen any more.

    What stood on it comes down on what is below, and so does what stood on that.

    Raises:
        NotFound: There is no such object.
    """
    gone = state[find(name, [thing.name for thing in state.things])]
    left = [thing for thing in state.things if thing.name != gone.name]
    held = None if state.held == gone.name else state.held
    falls_m: dict[str, float] = {}
    falling = [gone]
    for thing in sorted(left, key=lambda thing: thing.bottom):
        below = next((other for other in falling if _stood_on(thing, other)), None)
        if below is not None and thing.name != held:
            falls_m[thing.name] = falls_m.get(below.name, thing.bottom - gone.bottom)
            falling.append(thing)
    dropped = []
    for thing in left:
        x, y, z = thing.position
        dropped.append(thing.at((x, y, z - falls_m.get(thing.name, 0.0))))
    return replace(state, things=tuple(dropped), held=held)


def _stood_on(thing: Thing, other: Thing) -> bool:
    """Tell whether an object is in or on another one."""
    inside = other.kind.shape == "dish" and other.bottom - _TOUCH_M < thing.bottom < other.top
    on = abs(thing.bottom - other.top) < _TOUCH_M
    return math.dist(thing.xy, other.xy) < other.radius and (inside or on)
