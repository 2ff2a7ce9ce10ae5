"""The kitchen without dynamics: every plan of the arm comes true at once and exactly."""

from __future__ import annotations

import math
from dataclasses import replace

from cap.errors import NotGrasped
from robots.kitchen import arm
from robots.kitchen.grasps import CLEARANCES_M, STROKE_M
from robots.kitchen.objects import Thing
from robots.kitchen.placement import Place
from robots.kitchen.plan import Pick, Slide
from robots.kitchen.state import KitchenState, turned
from robots.simulation.world import WorldOwner

_GONE_M = 0.02
"""An object this far from where it was grasped is not there any more."""


class InstantWorld:
    """Puts everything where its plan says; the arm takes no time, driving does."""

    def __init__(self, host: WorldOwner, state: KitchenState) -> None:
        """Start from a state; the host's `frame` is called once per motion."""
        self.state = state
        self._host = host

    def pick(self, planned: Pick) -> None:
        """Take hold of an object; see `World`."""
        state = self.state
        thing = next((thing for thing in state.things if thing.name == planned.name), None)
        if thing is None or math.dist(thing.xy, planned.grip.tip[:2]) > thing.radius + _GONE_M:
            raise NotGrasped(f"the gripper closed on nothing: {planned.name!r} is not there")
        loads = [thing, *state.contents(thing)]
        folded = self._in_hand(thing, planned)
        moved = [_carried(load, thing, folded) for load in loads]
        gap = planned.grip.gap_m - 2 * CLEARANCES_M[0]
        self.state = replace(state.moved(moved), held=planned.name, gap_m=gap)
        self._host.frame()

    def _in_hand(self, thing: Thing, planned: Pick) -> Thing:
        """Return a thing moved along with the hand from a grip to the folded arm."""
        (tip_x, tip_y, tip_z), yaw = planned.grip.tip, planned.grip.yaw
        x, y, z, folded_yaw = arm.to_world(self.state.base, arm.PARK_POSE)
        turn = folded_yaw - yaw
        c, s = math.cos(turn), math.sin(turn)
        dx, dy = thing.position[0] - tip_x, thing.position[1] - tip_y
        place = (x + c * dx - s * dy, y + s * dx + c * dy, z + thing.position[2] - tip_z)
        return replace(thing, position=place, quaternion=turned(thing.quaternion, turn))

    def place(self, planned: Place) -> None:
        """Put down what is held; see `World`."""
        state, result = self.state, planned.result
        before = state[result.name]
        loads = [_carried(state[name], before, result) for name in state.load()]
        self.state = replace(state.moved(loads), held=None, gap_m=STROKE_M)
        self._host.frame()

    def slide(self, planned: Slide) -> None:
        """Pull or push a drawer; see `World`."""
        state = self.state
        self.state = slid(state, planned.drawer, planned.opening_m)
        self._host.frame()

    def now(self) -> KitchenState:
        """Return the state; see `World`."""
        return self.state

    def close(self) -> None:
        """Do nothing: no resource is held."""


def _carried(thing: Thing, before: Thing, after: Thing) -> Thing:
    """Return a thing moved as another was moved and turned about the vertical."""
    turn = after.yaw - before.yaw
    c, s = math.cos(turn), math.sin(turn)
    dx, dy, dz = (thing.position[i] - before.position[i] for i in range(3))
    x, y, z = after.position
    place = (x + c * dx - s * dy, y + s * dx + c * dy, z + dz)
    return replace(thing, position=place, quaternion=turned(thing.quaternion, turn))


def slid(state: KitchenState, drawer: str, opening_m: float) -> KitchenState:
    """Return the state with a drawer, and what lies in it, pulled out so far."""
    piece = state.room.locations[drawer].piece
    by = opening_m - state.opening_m(drawer)
    dx, dy = -by * math.cos(piece.facing), -by * math.sin(piece.facing)
    inside = [thing for thing in state.things if state.location_of(thing.name) == drawer]
    moved = [
        thing.at((thing.position[0] + dx, thing.position[1] + dy, thing.position[2]))
        for thing in inside
    ]
    return state.moved(moved).with_drawer(drawer, opening_m)
