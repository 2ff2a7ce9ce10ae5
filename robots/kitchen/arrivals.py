"""What appears while the robot is at work, as if a person had put it there."""

from __future__ import annotations

from dataclasses import replace

from robots.kitchen.objects import Thing
from robots.kitchen.placement import ANYWHERE_M, clear_spots
from robots.kitchen.room import Location
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
        place = state.room.locations[arrival.place]
        spot = _spot(state, arrival.thing, place) if arrival.at_s <= now_s else None
        if spot is None:
            waiting.append(arrival)
        else:
            state = replace(state, things=(*state.things, spot))
    return replace(state, arriving=tuple(waiting))


def _spot(state: KitchenState, thing: Thing, place: Location) -> Thing | None:
    return next(clear_spots(state, thing, thing.xy, place, ANYWHERE_M), None)
