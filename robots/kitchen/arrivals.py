"""What appears and is taken away while the robot is at work, as if by a person."""

from __future__ import annotations

from dataclasses import replace

from cap.errors import UsageError
from robots.kitchen.objects import KINDS, Thing, scene_entries
from robots.kitchen.placement import ANYWHERE_M, clear_spots
from robots.kitchen.room import Location
from robots.kitchen.scene_sampler import arrival_of
from robots.kitchen.state import KitchenState

_ROUNDING_S = 1e-6


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
    """
    entry = scene_entries([name])[0]
    known = [*state.things, *(arrival.thing for arrival in state.arriving)]
    if entry.name in (thing.name for thing in known):
        raise UsageError(f"object {entry.name!r} exists already; each exists once")
    x, y, z = location.middle()
    thing = Thing(entry.name, (x, y, z + KINDS[entry.name].size[2] / 2))
    arrival = arrival_of(state.room, thing, state.time_s + after_s)
    waiting = sorted((*state.arriving, arrival), key=lambda arrival: arrival.at_s)
    return arrived(replace(state, arriving=tuple(waiting)))


def without(state: KitchenState, name: str) -> KitchenState:
    """Return a state in which an object is not in the kitchen any more."""
    left = tuple(thing for thing in state.things if thing.name != name)
    return replace(state, things=left, held=None if state.held == name else state.held)
