"""What appears while the robot is at work, as if a person had put it there."""

from __future__ import annotations

from dataclasses import replace

from robots.kitchen.placement import ANYWHERE_M, clear_spots
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
