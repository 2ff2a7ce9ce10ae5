"""The tabletop robot's pick-and-place as a planner's steps, and its goals as sentences.

The instant world has no gravity: where a motion missed its block or its bowl, what was moved is put
on the table beside it, as it falls in the world with physics (measured there: a block whose centre
is 2 cm or more off the one below comes to rest 4.4 cm or more away, and the pile stays). A pile
topples by statics: where the centre of mass of all that stands on a block is 2 cm or more off it,
all of that falls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.tabletop.inner_monologue import NEAR
from cap.errors import RobotError
from cap.planners.loop import DONE, Action, StepOutcome
from robots.ravens import RavensRobot
from robots.ravens.scene import BLOCK_HALF, Body
from robots.table.geometry import PLACES, TABLE_X, TABLE_Y

STAYS_M = 0.02
"""A block stays on another if its centre is nearer than this to the other's."""
_OFF_BLOCK_M = 0.025
"""What falls off a block comes to rest so much further off."""
_OFF_PILE_M = 0.045
"""The blocks of a pile that topples come to rest so far from its foot and from one another."""
_BESIDE_BOWL_M = 0.105
"""What misses a bowl comes to rest so far from its middle."""
_LAYER_M = 0.01
TABLETOP_CALLS: Mapping[str, str] = {
    "put_first_on_second": "put",
    "stack_objects_in_order": "put",
    "arrange_objects": "put",
}
"""The skills that the tabletop robot's own actions are."""
TABLETOP_TERMINATE = 0.2
"""Affordance of ending on the tabletop, as in SayCan's own notebook."""


class TabletopSkills:
    """A tabletop robot and what a planner may do with it."""

    name = "ravens"

    def __init__(self, robot: RavensRobot) -> None:
        """Offer every block on every object and place there is."""
        self.robot = robot
        names = list(robot.positions())
        blocks = [name for name in names if name.endswith("block")]
        pairs = [(a, b) for a in blocks for b in (*names, *PLACES) if a != b]
        self._actions = (*(put(a, b) for a, b in pairs), DONE)

    def actions(self) -> Sequence[Action]:
        """Return every step, `done` last."""
        return self._actions

    def visible(self) -> Sequence[str]:
        """Return the objects there are."""
        return list(self.robot.positions())

    def achieved(self, action: Action) -> bool:
        """Return whether what a step moves is there already."""
        return action.skill == "put" and self.on(*action.args)

    def affordance(self, action: Action) -> float:
        """Return 1 where both are seen, as SayCan's own tabletop has it."""
        if action.skill == DONE.skill:
            return TABLETOP_TERMINATE
        there = (*self.robot.positions(), *PLACES)
        return float(all(name in there for name in action.args))

    def on(self, first: str, second: str) -> bool:
        """Return whether an object is within 4 cm of another and higher, or of a place."""
        now = self.robot.positions()
        if first not in now or not (second in now or second in PLACES):
            return False
        if second in PLACES:
            return math.dist(now[first][:2], PLACES[second]) < NEAR.place
        near = math.dist(now[first][:2], now[second][:2]) < NEAR.on(second)
        return near and now[first][2] > now[second][2]

    def satisfied(self, goal: str) -> bool | None:
        """Return whether `red block on blue bowl` is true; None for any other sentence."""
        first, mark, second = goal.strip().rstrip(".").partition(" on ")
        second = second.removeprefix("the ")
        known = (*self.robot.positions(), *PLACES)
        if not mark or first not in known or second not in known:
            return None
        return self.on(first, second)

    def step(self, action: Action) -> StepOutcome:
        """Take a step by the robot's own primitive."""
        message = ""
        try:
            self.robot.put_first_on_second(*action.args)
        except RobotError as error:
            message = f"{type(error).__name__}: {error}"
        self.settle()
        ok = self.on(*action.args)
        return StepOutcome(action, ok, "" if ok else message or "it did not come to rest there")

    def settle(self) -> None:
        """Let what nothing holds up fall, in the world without gravity."""
        if self.robot.mode != "instant":
            return
        state, spoken = self.robot.snapshot()
        for body in sorted(state.scene.bodies, key=lambda body: body.position[2]):
            if body.kind == "block" and (fallen := self._fallen(body, state.scene.bodies)):
                state = replace(state, scene=state.scene.moved([fallen]))
        for base in sorted(state.scene.bodies, key=lambda body: body.position[2]):
            pile = _pile_on(base, state.scene.bodies) if base.kind == "block" else []
            middle = [sum(b.xy[i] for b in pile) / len(pile) for i in range(2)] if pile else base.xy
            if math.dist(middle, base.xy) >= STAYS_M:
                aside = [
                    _beside(block, base, _OFF_PILE_M * number)
                    for number, block in enumerate(pile, start=1)
                ]
                state = replace(state, scene=state.scene.moved(aside))
        self.robot.restore((state, spoken))

    def _fallen(self, block: Body, bodies: Sequence[Body]) -> Body | None:
        """Return where a block falls to, None if it stays."""
        for bowl in bodies:
            away = math.dist(block.xy, bowl.xy)
            if bowl.kind == "bowl" and away < NEAR.bowl:
                return None
            if bowl.kind == "bowl" and away < _BESIDE_BOWL_M:
                return _beside(block, bowl, _BESIDE_BOWL_M)
        below = [b for b in bodies if b.name != block.name and b.bottom < block.bottom - _LAYER_M]
        if not below or block.bottom < _LAYER_M:
            return None
        # The one whose top it touches; a lower block of the pile may be nearer in x and y.
        touched = [body for body in below if abs(body.top - block.bottom) < _LAYER_M]
        nearest = min(touched or below, key=lambda body: math.dist(body.xy, block.xy))
        away = math.dist(block.xy, nearest.xy)
        if away < STAYS_M:
            return None
        return _beside(block, nearest, max(0.045, away + _OFF_BLOCK_M))


def _pile_on(base: Body, bodies: Sequence[Body]) -> list[Body]:
    """Return the blocks that stand on one another on a block, the lowest first."""
    pile: list[Body] = []
    below = base
    for body in sorted(bodies, key=lambda body: body.bottom):
        touches = abs(body.bottom - (below.position[2] + below.half_height)) < _LAYER_M
        if body.kind == "block" and touches and math.dist(body.xy, below.xy) < STAYS_M:
            pile.append(body)
            below = body
    return pile


def _beside(block: Body, other: Body, distance_m: float) -> Body:
    """Return a block on the table, so far from another body, the way it missed it."""
    dx, dy = (block.xy[i] - other.xy[i] for i in range(2))
    away = math.hypot(dx, dy)
    dx, dy = (dx / away, dy / away) if away > 1e-9 else (1.0, 0.0)
    inset = BLOCK_HALF * 1.5
    x = min(max(other.xy[0] + dx * distance_m, TABLE_X[0] + inset), TABLE_X[1] - inset)
    y = min(max(other.xy[1] + dy * distance_m, TABLE_Y[0] + inset), TABLE_Y[1] - inset)
    return replace(block, position=(x, y, block.half_height))


def put(first: str, second: str) -> Action:
    """Return the step that puts one object on another or at a place."""
    return Action("put", (first, second), f"pick up the {first} and put it on the {second}")


def goals_of(goal: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return what must be on what for a task's goal, in the order in which it can be done."""
    pairs: list[tuple[str, str]] = []
    for key in ("on", "place"):
        listed = goal.get(key, [])
        assert isinstance(listed, list)
        pairs += [(str(a), str(b)) for a, b, *_ in listed]
    each = goal.get("each")
    if isinstance(each, Mapping):
        blocks = list(each["names"])
        if each["to"] == "corner":
            corners = [place for place in PLACES if place.endswith("corner")]
            pairs += list(zip(blocks, corners, strict=False))
        else:
            colors = [name.split()[0] for name in blocks]
            pairs += [
                (block, f"{color} bowl")
                for block, color in zip(blocks, [*colors[1:], colors[0]], strict=True)
            ]
    stacked = goal.get("stacked")
    if isinstance(stacked, list):
        pile = [str(name) for name in stacked]
        pairs = [pair for pair in pairs if pair[0] == pile[0]]
        pairs += list(zip(pile[1:], pile, strict=False))
    return pairs
