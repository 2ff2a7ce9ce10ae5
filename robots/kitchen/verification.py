"""What a motion in the kitchen must have come to: what is put down rests, nothing else moved."""

from __future__ import annotations

import math
from collections.abc import Collection

from cap.errors import Collision
from robots.kitchen import planner
from robots.kitchen.planner import Place
from robots.kitchen.state import KitchenState, carried

ASTRAY_M = 0.03
"""An object further than this, seen from above, from where it was put did not stay there."""
DISTURBED_M = 0.01
"""An object that nobody meant to move may move so far."""
_HANGS_M = 0.012
"""An object may be so much higher or lower than it was meant to be."""
_LEANS_M = 0.02
"""In a dish, where it may lean against the wall, so much higher."""
_FELL_RAD = 0.5
"""What leans by so much more than it was meant to has fallen over."""


def check_rest(state: KitchenState, planned: Place) -> None:
    """See that what was put down rests where it was put.

    Raises:
        Collision: It lies elsewhere, hangs in the air, or fell over.
    """
    meant, thing = planned.result, state[planned.name]
    high = thing.bottom - meant.bottom
    strayed, hangs = math.dist(thing.xy, meant.xy) > ASTRAY_M, high > _HANGS_M
    if planned.dish is not None:
        inside = state.contents(state[planned.dish])
        near = [t for t in inside if math.dist(thing.xy, t.xy) < thing.radius + t.radius]
        on_others = any(t != thing and thing.bottom < t.top + _HANGS_M for t in near)
        strayed, hangs = thing not in inside, high > _LEANS_M and not on_others
    if hangs:
        fault = "it hangs, caught on something"
    elif strayed or high < -_HANGS_M:
        fault = "it slid or fell off"
    elif thing.lean > meant.lean + _FELL_RAD:
        fault = "it fell over"
    else:
        return
    x, y, z = thing.position
    raise Collision(
        f"{thing.name!r} did not stay where it was put, {planned.where}: {fault}, and is at "
        f"({x:.2f}, {y:.2f}) m, {z:.2f} m high; look, and pick it up again"
    )


def check_riders(before: KitchenState, state: KitchenState, dish: str) -> None:
    """See that what was in or on a dish came along with it, as it was in or on it.

    Raises:
        Collision: Something fell off or over, or slid.
    """
    was, carrier = before[dish], state[dish]
    inside = state.contents(carrier)
    faults = []
    for rider in before.contents(was):
        thing, meant = state[rider.name], carried(rider, was.pose, carrier.pose)
        if thing not in inside:
            fault = f"fell off the {dish}"
        elif thing.lean > meant.lean + _FELL_RAD:
            fault = f"fell over {'in' if carrier.kind.bowl else 'on'} the {dish}"
        elif math.dist(thing.xy, meant.xy) > ASTRAY_M and not carrier.kind.bowl:
            fault = f"slid on the {dish}"
        else:
            continue
        faults.append(f"{planner.place_named(thing)} {fault}")
    if faults:
        raise Collision(f"{', '.join(faults)} on the way; look, and pick it up")


def disturbed(before: KitchenState, after: KitchenState, own: Collection[str]) -> str:
    """Return what a motion moved that it should have left alone, in words; "" if nothing."""
    now = {thing.name: thing for thing in after.things}
    faults = []
    for was in before.things:
        thing = now.get(was.name, was)
        moved_m = math.dist(was.position, thing.position)
        if was.name not in own and moved_m > DISTURBED_M:
            fell = " and fell over" if thing.lean > was.lean + _FELL_RAD else ""
            faults.append(f"{planner.place_named(was)} moved by {100 * moved_m:.0f} cm{fell}")
    return ", ".join(faults)
