"""The kitchen robot's skills as a planner's steps: find, go, bring, pick, put down, drawer.

Places have the names that SayCan's instructions use; each is one of the robot's own locations, and
the person who gives instructions is at the desk.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence

from cap.errors import RobotError
from cap.planners.loop import DONE, Action, StepOutcome
from cap.planners.saycan import TERMINATE
from robots.kitchen import KitchenRobot, planner
from robots.kitchen.state import KitchenState

PLACES: Mapping[str, str] = {
    "table": "table",
    "close counter": "countertop",
    "far counter": "cart",
    "trash can": "trash bin",
    "recycling bin": "recycle bin",
    "compost bin": "compost bin",
    "drawers": "top drawer",
}
"""The robot's location that each place is."""
_OWN_WORDS = {
    **{name: place for name, place in PLACES.items() if name not in ("drawers", place)},
    "trash": "trash bin",
    "to me": "to the desk",
}
PERSON = "desk"
"""The location where the person is."""
DRAWER = "top drawer"
"""The drawer that drawer skills are of."""
_SHUT_M = 0.02
FARTHEST_M = 100.0
"""How far a place can be, metres."""
SKILL_SUCCESS: Mapping[str, float] = {
    "find": 0.99,
    "go": 0.99,
    "bring": 0.99,
    "pick": 0.9,
    "put": 0.97,
    "open": 0.85,
    "close": 0.85,
    "stow": 0.9,
}
"""How often a stochastic skill succeeds: this project's stand-in for learned policies."""
KITCHEN_CALLS: Mapping[str, str] = {
    "goto_loc": "go",
    "pick_obj": "pick",
    "place_at_obj": "put",
    "open_drawer": "open",
    "close_drawer": "close",
}
"""The skills that the kitchen robot's own actions are."""
KITCHEN_STEPS = 25
"""Steps of an episode in the kitchen; its longest task needs twelve."""


def with_article(name: str) -> str:
    """Return a name with the article it takes: `an apple`, `the rice chips`."""
    if name.endswith("s") and not name.endswith("ss"):
        return f"the {name}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


class _Look:
    """What is known of one state of the kitchen, worked out once."""

    def __init__(self, state: KitchenState) -> None:
        self.state = state
        self.here = [place.name for place in state.here()]
        self.visible = state.visible()
        self.picks: dict[str, bool] = {}


class KitchenSkills:
    """A kitchen robot and what a planner may do with it."""

    name = "kitchen"

    def __init__(self, robot: KitchenRobot) -> None:
        """Offer the skills of a robot for the objects in its kitchen now."""
        self.robot = robot
        self.visited: list[str] = []
        """The robot's locations that it went to, in order."""
        self._put: set[str] = set()
        self._found: str | None = None
        self._last = _Look(robot.state)
        names = [thing.name for thing in robot.state.things if thing.kind.shape != "dish"]
        self._actions = tuple(actions_for(names))

    @property
    def state(self) -> KitchenState:
        """The kitchen as it is."""
        return self.robot.state

    @property
    def _look(self) -> _Look:
        if self._last.state is not self.state:
            self._last = _Look(self.state)
        return self._last

    def actions(self) -> Sequence[Action]:
        """Return every step, `done` last."""
        return self._actions

    def visible(self) -> Sequence[str]:
        """Return the objects seen at the present location."""
        return self._look.visible

    def achieved(self, action: Action) -> bool:
        """Return whether a step's effect is there already."""
        state, args = self.state, action.args
        match action.skill:
            case "find":
                # What is in view by chance was not found yet: a step that finds it may follow.
                return state.held == args[0] or (
                    self._found == args[0] and args[0] in self._look.visible
                )
            case "go":
                return self._at(PLACES[args[0]])
            case "bring":
                return self._at(PERSON)
            case "pick":
                return state.held == args[0]
            case "put":
                return args[0] in self._put and state.held != args[0]
            case "stow":
                return state.held != args[0] and state.location_of(args[0]) == DRAWER
            case "open":
                return state.is_open(state.room.locations[DRAWER])
            case "close":
                return state.opening_m(DRAWER) < _SHUT_M
        return False

    def affordance(self, action: Action) -> float:
        """Return how likely a step would succeed now, by SayCan's formulas."""
        match action.skill:
            case "find" | "go" | "bring":
                place = self._goal(action)
                if place is None:
                    return 0.0
                x, y, _ = self.state.room.locations[place].stand
                return near(math.dist(self.state.base.xy, (x, y)))
            case "pick":
                return float(self._can_pick(action.args[0]))
            case "put":
                return 1.0
            case "open" | "close" | "stow":
                return float(self._at(DRAWER))
        return TERMINATE

    def satisfied(self, goal: str) -> bool | None:
        """Return None: the kitchen has no feedback on stated goals."""
        return None

    def step(self, action: Action) -> StepOutcome:
        """Take a step by the robot's own primitives."""
        try:
            self._carry_out(action)
        except RobotError as error:
            return StepOutcome(action, False, f"{type(error).__name__}: {error}")
        return StepOutcome(action, self.achieved(action))

    def _carry_out(self, action: Action) -> None:
        robot, skill = self.robot, action.skill
        if skill in ("find", "go", "bring"):
            place = self._goal(action)
            if place is not None:
                robot.goto_loc(place)
                self.visited.append(place)
                self._found = action.args[0] if skill == "find" else None
        elif skill == "pick":
            robot.pick_obj(action.args[0])
            self._put.discard(action.args[0])
        elif skill in ("put", "stow"):
            if self.state.held != action.args[0]:
                held = self.state.held or "nothing"
                raise RobotError(f"the gripper holds {held}, not the {action.args[0]}; pick it up")
            here = [place.name for place in self.state.here() if not place.drawer]
            robot.place_at_obj(DRAWER if skill == "stow" or not here else here[0])
            self._put.add(action.args[0])
        elif skill == "open":
            robot.open_drawer(DRAWER)
        elif skill == "close":
            robot.close_drawer(DRAWER)

    def _goal(self, action: Action) -> str | None:
        """Return the location a step leads to; None if the object is nowhere to be found."""
        if action.skill == "bring":
            return PERSON
        if action.skill == "go":
            return PLACES[action.args[0]]
        there = any(thing.name == action.args[0] for thing in self.state.things)
        return self.state.location_of(action.args[0]) if there else None

    def _at(self, place: str) -> bool:
        return place in self._look.here

    def _can_pick(self, name: str) -> bool:
        """Return whether a pick will succeed: the simulation knows it in place of a critic."""
        picks = self._look.picks
        if name not in picks:
            picks[name] = False
            if self.state.held is None and name in self._look.visible:
                with contextlib.suppress(RobotError):
                    planner.pick(self.state, name)
                    picks[name] = True
        return picks[name]


def near(distance_m: float) -> float:
    """Return SayCan's affordance of going to what is so far away."""
    return max(0.0, (FARTHEST_M - distance_m) / FARTHEST_M)


def actions_for(objects: Sequence[str]) -> list[Action]:
    """Return the steps for a kitchen with these objects."""
    found: list[Action] = []
    for name in objects:
        found += [
            Action("find", (name,), f"find {with_article(name)}"),
            Action("pick", (name,), f"pick up the {name}"),
            Action("put", (name,), f"put down the {name}"),
            Action("stow", (name,), f"put the {name} in the {DRAWER}"),
        ]
    found += [Action("go", (place,), f"go to the {place}") for place in PLACES]
    return [
        *found,
        Action("bring", (), "bring it to you"),
        Action("open", (), f"open the {DRAWER}"),
        Action("close", (), f"close the {DRAWER}"),
        DONE,
    ]


def in_robot_words(instruction: str) -> str:
    """Return an instruction with the robot's own names of places, for those who know no others."""
    text = re.sub(r"\bbring me (.*?)[.?!]*$", r"bring \1 to me", instruction)
    for name in sorted(_OWN_WORDS, key=len, reverse=True):
        text = re.sub(rf"\b{name}\b(?! bin)", _OWN_WORDS[name], text)
    return text
