"""A small table-top world, and the ravens prompts run in it with the offline model.

It stands in for robot and engine so that the prompts can be tried without either: programs are
plain `exec`, placing is exact and a thing put on another shares its point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from cap.models.base import Request
from cap.models.nearest import Nearest
from cap.prompt.context import Context
from cap.prompt.prompt import Example, Prompt, load
from cap.prompt.prompt import PastTurn as PromptTurn

PROMPTS = Path(__file__).parents[4] / "prompts"
PLACES = {
    "top left corner": (-0.25, -0.25),
    "top right corner": (0.25, -0.25),
    "bottom left corner": (-0.25, -0.75),
    "bottom right corner": (0.25, -0.75),
    "top side": (0.0, -0.25),
    "right side": (0.25, -0.5),
    "bottom side": (0.0, -0.75),
    "left side": (-0.25, -0.5),
    "middle": (0.0, -0.5),
}
CORNERS, SIDES = list(PLACES)[:4], list(PLACES)[4:8]


@cache
def prompt(name: str, folder: str = "ravens") -> Prompt:
    """Load one of the project's prompts."""
    return load(PROMPTS / folder / f"{name}.py")


class World:
    """Objects on a table, as the ravens primitives see them."""

    def __init__(self, xy: Mapping[str, tuple[float, float]]) -> None:
        self.xy = {name: np.array(point, dtype=float) for name, point in xy.items()}
        self.below: dict[str, str | None] = dict.fromkeys(xy)
        self.said: list[str] = []
        self.pointed: Any = None
        self.gripper: Any = np.array([0.0, -0.38])
        self.followed: list[tuple[Any, float]] = []
        self.avoided: list[str] = []
        self.layouts: list[dict[str, Any]] = []
        """Where everything was before each turn."""

    def get_obj_names(self) -> list[str]:
        return list(self.xy)

    def get_obj_pos(self, name: str) -> Any:
        return np.array(PLACES[name] if name in PLACES else self.xy[name], dtype=float)

    def get_bbox(self, name: str) -> Any:
        half = 0.06 if "bowl" in name else 0.02
        return np.concatenate([self.xy[name] - half, self.xy[name] + half])

    def get_obj_height(self, name: str) -> float:
        below = self.below[name]
        return 0.02 + (0.04 + self.get_obj_height(below) if below in self.below else 0.0)

    def is_obj_visible(self, name: str) -> bool:
        return name in self.xy

    def denormalize_xy(self, xy: Any) -> Any:
        return np.asarray(xy) * 0.5 + np.array([-0.25, -0.75])

    def get_corner_positions(self) -> Any:
        return np.array([PLACES[name] for name in CORNERS])

    def get_side_positions(self) -> Any:
        return np.array([PLACES[name] for name in SIDES])

    def get_corner_name(self, xy: Any) -> str:
        return min(CORNERS, key=lambda name: float(np.hypot(*(np.array(PLACES[name]) - xy))))

    def get_side_name(self, xy: Any) -> str:
        return min(SIDES, key=lambda name: float(np.hypot(*(np.array(PLACES[name]) - xy))))

    def put_first_on_second(self, first: str, second: Any) -> None:
        assert isinstance(first, str), f"cannot pick {first!r}"
        assert first in self.xy, f"no {first!r}"
        target = self.get_obj_pos(second) if isinstance(second, str) else np.asarray(second)
        assert target.shape == (2,), f"cannot place at {second!r}"
        low, high = np.array([-0.3, -0.8]), np.array([0.3, -0.2])
        assert np.all((target >= low) & (target <= high)), f"off the table: {target}"
        near = [n for n in self.xy if n != first and np.hypot(*(self.xy[n] - target)) < 0.03]
        self.below[first] = second if isinstance(second, str) else (near or [None])[-1]
        self.xy[first] = np.array(target, dtype=float)

    def stack_objects_in_order(self, names: list[str]) -> None:
        for lower, upper in pairwise(names):
            self.put_first_on_second(upper, lower)

    def get_layout(self, turns_ago: int = 0) -> dict[str, Any]:
        if turns_ago:
            return self._changed()[-turns_ago]
        return {name: self.xy[name].copy() for name in sorted(self.xy, key=self.get_obj_height)}

    def begin_turn(self) -> None:
        self.layouts.append(self.get_layout())

    def _changed(self) -> list[dict[str, Any]]:
        kept = list(self.layouts)
        while kept and all(np.array_equal(self.xy[name], kept[-1][name]) for name in self.xy):
            kept.pop()
        return kept

    def undo_turns(self, turns: int = 1) -> list[str]:
        kept = self._changed()
        self.layouts = kept[:-turns]
        moved = self.arrange_objects(kept[-turns]) if kept else []
        self.begin_turn()
        return moved

    def arrange_objects(self, places: Mapping[str, Any]) -> list[str]:
        moved = [name for name in places if not np.array_equal(self.xy[name], places[name])]
        for name in moved:  # all at once: nothing stands where another goes
            self.xy[name] = np.array([9.0, 9.0])
        for name in moved:
            self.put_first_on_second(name, places[name])
        return moved

    def find_free_region(self, size: Any) -> Any:
        steps = np.linspace(0, 1, 17)
        spots = [self.denormalize_xy([x, y]) for x in steps for y in steps]
        room = [min(np.hypot(*(spot - xy)) for xy in self.xy.values()) for spot in spots]
        return spots[int(np.argmax(room))]

    def point_gripper_to(self, xy: Any) -> None:
        self.pointed = np.asarray(xy)

    def get_robot_pos(self) -> Any:
        return self.gripper

    def plan_path(self, start: Any, goal: Any, avoid_regions: Any = ()) -> Any:
        assert all(name in self.xy for name in avoid_regions), avoid_regions
        self.avoided = list(avoid_regions)
        return np.array([start, goal])

    def follow_traj(self, traj: Any, speed: float) -> None:
        self.followed.append((np.asarray(traj), speed))
        self.gripper = np.asarray(traj)[-1]

    def goto_pos(self, pos: Any, speed: float) -> None:
        self.follow_traj(np.array([self.gripper, pos]), speed)

    def say(self, text: str) -> None:
        assert isinstance(text, str)
        self.said.append(text)


@cache
def defined(call: str) -> CodeType:
    """Ask for a function; the answer to a call is the same in every world."""
    request = Request(prompt("define", "functions").render(call))
    return compile(Nearest().complete(request).text, "<function>", "exec")


class Player:
    """A session of the ravens prompts in a world, with the offline model."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.model = Nearest()
        self.history: list[PromptTurn] = []
        self.state: dict[str, Any] = deepcopy(dict(prompt("ui").header.initial))

    def names(self, hinted: Prompt) -> dict[str, Any]:
        """Return what a program of this prompt may use, the generated function it calls too."""
        scope: dict[str, Any] = {"np": np, "math": math, "objects": list(self.world.xy)}
        exec(defined("best = find_roomiest(layouts=rows, taken=taken)"), scope)
        for name in hinted.hints:
            if (prompt_file := PROMPTS / "ravens" / f"{name}.py").exists():
                scope[name] = partial(self.nested, prompt_file.stem)
            elif name != "np":
                scope[name] = getattr(self.world, name)
        return scope

    def nested(self, name: str, instruction: str, **arguments: Any) -> Any:
        """Answer a nested call."""
        used = prompt(name)
        code = self.write(used, instruction)
        scope = {**self.names(used), **arguments}
        exec(code, scope)
        return scope[used.header.returns or ""]

    def write(self, used: Prompt, instruction: str, history: tuple[PromptTurn, ...] = ()) -> str:
        """Ask the offline model for a program."""
        context = Context.of({"objects": list(self.world.xy)}).text
        text = used.render(instruction, context, history)
        return self.model.complete(Request(text, further=used.further)).text

    def tell(self, instruction: str) -> str:
        """Write and run one instruction's program; return it."""
        used = prompt("ui")
        code = self.write(used, instruction, tuple(self.history))
        given = self.names(used)
        scope = {**given, **self.state}
        before = set(given)
        self.world.begin_turn()
        exec(code, scope)
        self.state = {k: v for k, v in scope.items() if k not in before and k[0] != "_"}
        self.history.append(PromptTurn(instruction, code))
        return code


def play_example(used: Prompt, example: Example, state: dict[str, Any]) -> dict[str, Any]:
    """Run an example's code over its own scene; return what it bound."""
    objects = Context.read(example.context).facts["objects"]
    rng = np.random.default_rng(3)
    cells = rng.permutation(16)[: len(objects)]
    spots = [(-0.225 + 0.15 * (c % 4), -0.725 + 0.15 * (c // 4)) for c in cells]
    world = state.setdefault("world", World(dict(zip(objects, spots, strict=True))))
    player = Player(world)
    arguments = {key: np.array(value) for key, value in used.header.arguments.items()}
    given = player.names(used)
    scope = {**given, **arguments, **state.setdefault("names", deepcopy(dict(used.header.initial)))}
    world.begin_turn()
    exec(example.code, scope)
    state["names"] = {key: value for key, value in scope.items() if key not in given}
    return scope
