"""The suite: tasks on every robot that can do such things, each robot a split of the reports.

Trials of one task and seed say the same words to every robot. Each robot's scene is the first of
the seed's scenes in which what is asked can be done: a pen cannot draw through a block.

The tasks of `tasks.toml` are words that mean the same to every robot, and what they ask for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks import task_file
from benchmarks.drawing import judge
from benchmarks.embodiments.judge import (
    Figure,
    Placement,
    Places,
    differs,
    misanswered,
    misplaced,
    missaid,
)
from benchmarks.embodiments.robots import EMBODIMENTS, Embodiment, Skill
from benchmarks.robot_suite import RobotCase, carry_out, check_model, names_prompts
from benchmarks.suite import BaseSuite, Outcome, Settings, Trial
from benchmarks.suite_folder import filled
from cap.errors import UsageError
from cap.robot import registry

Array = NDArray[np.float64]
Where = Callable[[str], Array]
"""Returns the xy of a thing or a place, metres."""
BOWL = "bowl"
"""What the one bowl there is is called, whatever its name."""
_ABSENT = "yellow block"
PRELUDE = """\
def at(name):
    return np.array(get_obj_pos(name))[:2]

def ring(center, radius, corners):
    angles = np.linspace(0, 2 * np.pi, corners + 1)
    return np.array(center) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

"""


@dataclass(frozen=True)
class Wish:
    """What a person asks for."""

    instructions: tuple[str, ...]
    """In one session."""
    steps: tuple[str, ...]
    """Of an oracle, one for each instruction: what binds `pts` to what the tool is to follow, or
    does it."""
    figures: Callable[[Where], Sequence[Figure]]
    """What the tool should trace, given where everything is; of two instructions, the first asks
    for the first of them."""
    placements: tuple[Placement, ...]
    """Where things should be in the end; the bowl is called `BOWL`."""
    first: tuple[Placement, ...]
    """Where things should be after the first of two instructions."""
    says: tuple[str, ...]
    """Things that should be named, and no others."""
    answer: bool | None
    """Whether yes or no should be said; None where nobody asked for it."""


class Length(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole number of centimetres, both ends included, times another."""

    least: int
    most: int
    times: int = 1


class FigureTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure to be traced."""

    kind: str
    """`circle`, `square`, `triangle`, `hexagon`, `line`, `line between` things, or a `horizontal`
    or `vertical` line."""
    at: tuple[str, ...]
    """Its middle, in the middle of several; or the ends of a line."""
    size: str = ""
    """The word that is its radius, side or length."""


class SharedStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One instruction."""

    say: str
    program: str
    places: tuple[tuple[str, ...], ...] = ()
    """Where things should be then: a thing (or `all`), `in`, `beside` or `between`, the others."""


class SharedTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task for every robot."""

    name: str
    """As reports show it."""
    steps: tuple[SharedStep, ...]
    skill: Skill = "trace"
    """What a robot needs for it."""
    draw: dict[str, Length | str | list[str | dict[str, str]]] = {}
    figures: tuple[FigureTable, ...] = ()
    says_all: bool = False
    """Whether all things should be named."""
    answers: str = ""
    """The thing of which yes or no should be said."""

    def wish(self, rng: np.random.Generator, things: Sequence[str]) -> Wish:
        """Return the wish of a random generator about things; the same numbers, the same words."""
        words: dict[str, Any] = {"things": list(things)}
        shuffled: list[str] = []
        for name, spec in self.draw.items():
            if isinstance(spec, Length):
                words[name] = spec.times * int(rng.integers(spec.least, spec.most + 1))
                words |= {f"{name}_m": words[name] / 100, f"{name}_half_m": words[name] / 200}
            elif spec in ("things", ""):  # several, each another one
                order = rng.permutation(len(things)) if spec else ()
                shuffled = [things[int(place)] for place in order] or shuffled
                words[name] = shuffled.pop(0)
            else:
                known = {"a thing": things, "a thing, or none": [_ABSENT, *things]}
                offered = known[spec] if isinstance(spec, str) else spec
                chosen = offered[int(rng.integers(len(offered)))]
                words |= chosen if isinstance(chosen, dict) else {name: chosen}
        places = [tuple(_placements(step, words)) for step in self.steps]
        return Wish(
            tuple(filled(step.say, words) for step in self.steps),
            tuple(filled(step.program, words) for step in self.steps),
            partial(_figures, self.figures, words),
            placements=places[-1],
            first=places[0] if len(places) > 1 else (),
            says=tuple(things) if self.says_all else (),
            answer=filled(self.answers, words) in things if self.answers else None,
        )


def _placements(step: SharedStep, words: Mapping[str, Any]) -> list[Placement]:
    found = []
    for thing, relation, *others in step.places:
        names = words["things"] if thing == "all" else [filled(thing, words)]
        where = tuple(filled(other, words) for other in others)
        found += [Placement(name, cast(Any, relation), where) for name in names]
    return found


def _figures(tables: Sequence[FigureTable], words: Mapping[str, Any], where: Where) -> list[Figure]:
    return [_figure(table, words, where) for table in tables]


def _figure(table: FigureTable, words: Mapping[str, Any], where: Where) -> Figure:
    kind = filled(table.kind, words)
    places = [where(filled(name, words)) for name in table.at]
    if kind in ("line", "line between"):
        return Figure(np.stack(places), spare_m=judge.SPARE_M if kind == "line between" else 0.0)
    center, size_m = np.mean(places, axis=0), words[table.size] / 100
    match kind:
        case "circle":
            return Figure(judge.circle(center, size_m))
        case "triangle":
            return Figure(judge.regular(center, size_m / 3**0.5, 3), symmetry=3)
        case "hexagon":
            return Figure(judge.regular(center, size_m, 6), symmetry=6)
        case "square":
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
            return Figure(center + size_m / 2 * corners, symmetry=4)
    half = size_m / 2 * np.array([1, 0] if kind == "horizontal" else [0, 1])
    return Figure(np.stack([center - half, center + half]))


TASKS = task_file.load(Path(__file__).with_name("tasks.toml"), SharedTask)
"""In report order, that of the file."""


VERSION = "7"
_SCENES = 200
"""Scenes of a seed that are tried."""
_WORDS = 11
"""Stream of the random numbers that words are made of."""
_THING_R_M = 0.028
"""Radius of the circle around a block, metres."""
_ROOM_M = 0.05
"""Free space around what is put between two things, metres."""


class EmbodimentSuite(BaseSuite):
    """The same instructions on several robots."""

    name = "embodiments"
    about = "the same words to several robots"
    version = VERSION

    def __init__(
        self,
        bodies: Sequence[Embodiment] = EMBODIMENTS,
        tasks: Sequence[SharedTask] = TASKS,
    ) -> None:
        """Put robots and tasks together, both in report order."""
        self._bodies = {body.robot: body for body in bodies}
        self._tasks = {task.name: task for task in tasks}

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every task with every robot that can do such things, robots last."""
        return tuple(
            (task.name, body.robot)
            for task in self._tasks.values()
            for body in self._bodies.values()
            if task.skill in body.skills
        )

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model or an option that does not exist, or prompts.
            MissingKey: The model needs a key and none is set.
        """
        check_model(settings)
        if names_prompts(settings):
            raise UsageError(
                "every robot of this suite has prompts of its own; leave out --prompts"
            )
        for body in self._bodies.values():
            body.make(0, settings.mode).close()

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out one trial.

        Raises:
            UsageError: The settings name a model that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        body = self._bodies[trial.split]
        wish = self.wish(trial)
        scene_seed, figures = prepare(body, wish, trial.seed)

        def case(rng: np.random.Generator, robot: Any) -> RobotCase:
            before = robot.positions()
            first = replace(wish, placements=wish.first)
            halfway = partial(missed, body, first, figures[:1], before)
            return RobotCase(
                wish.instructions,
                oracle(body, self._tasks[trial.task].skill, wish),
                partial(missed, body, wish, figures, before),
                on_the_way=(halfway,) * (len(wish.instructions) - 1),
            )

        robot = body.make(scene_seed, settings.mode)
        outcome = carry_out(robot, case, trial, settings, registry.robot_prompts(body.robot))
        return replace(outcome, extra={**outcome.extra, "scene_seed": scene_seed})

    def wish(self, trial: Trial) -> Wish:
        """Return what a person says in a trial; its robot and scene play no part."""
        rng = np.random.default_rng([trial.seed, _WORDS, *trial.task.encode()])
        return self._tasks[trial.task].wish(rng, self._bodies[trial.split].things)


def oracle(body: Embodiment, skill: Skill, wish: Wish) -> tuple[str, ...]:
    """Return programs that do what is wished for with a robot, one for each instruction."""
    if skill == "trace":
        return tuple(f"{PRELUDE}{step}\n{body.act}\n" for step in wish.steps)
    # What an answer does not use stays out: a mutant of that would be right.
    hands = "" if skill == "look" else f"bowl = {body.bowl!r}\n\n{body.hands}"
    known = f"{hands}def seen():\n    return {body.seen}\n\n"
    return tuple(f"{known}{step}\n" for step in wish.steps)


def prepare(body: Embodiment, wish: Wish, seed: int) -> tuple[int, tuple[Figure, ...]]:
    """Find the first of a seed's scenes in which a robot can do what is wished for.

    Returns:
        The scene's own seed, and what its tool should trace in it.

    Raises:
        UsageError: There is none.
    """
    scenes = np.random.SeedSequence([seed, _WORDS]).generate_state(_SCENES).tolist()
    for number in scenes:
        robot = body.make(number, "instant")
        try:
            figures = tuple(wish.figures(_where(robot)))
            paths = [figure.shortest for figure in figures]
            seen = set(robot.context()["objects"]) >= set(robot.positions())
            if seen and body.follows(robot, paths) and _roomy(body, wish, robot.positions()):
                return number, figures
        finally:
            robot.close()
    raise UsageError(f"no scene of seed {seed} leaves '{body.robot}' room for {wish.instructions}")


def missed(
    body: Embodiment, wish: Wish, figures: Sequence[Figure], before: Places, robot: Any
) -> str | None:
    """Say what a robot's world lacks of what was wished for; None if nothing."""
    if figures:
        # Without ink, what was traced before was judged then.
        wanted = [figures] if body.ink else [figures, figures[-1:]]
        found = [differs(trace, one) for trace in body.traces(robot) for one in wanted]
        return None if None in found else (found or ["the tool traced nothing"])[0]
    held = robot.condition()["held"] if wish.placements else "nothing"
    if held != "nothing":
        return f"the {held} is still in the gripper"
    wrong = misplaced(
        wish.placements, _named(body, before), _named(body, robot.positions()), _radius_m(body)
    )
    wrong = wrong or missaid(wish.says, robot.spoken)
    return wrong or misanswered(wish.answer, robot.spoken)


def _where(robot: Any) -> Where:
    look = robot.primitives()["get_obj_pos"].function
    return lambda name: np.asarray(look(name), dtype=np.float64)[:2]


def _named(body: Embodiment, places: Places) -> Places:
    """Return the places of things as the tasks call them."""
    return {BOWL if name == body.bowl else name: place for name, place in places.items()}


def _radius_m(body: Embodiment) -> Callable[[str], float]:
    return lambda name: body.bowl_r_m if name == BOWL else _THING_R_M


def _roomy(body: Embodiment, wish: Wish, places: Places) -> bool:
    """Return whether there is something to carry, and room where it is to stand."""
    if not wish.placements:
        return True
    known, radius_m = _named(body, places), _radius_m(body)
    for one in wish.placements:
        if one.relation == "between":
            middle = np.mean([known[name][:2] for name in one.others], axis=0)
            for name in known:
                near = radius_m(one.thing) + radius_m(name) + _ROOM_M
                if name != one.thing and math.dist(known[name][:2], middle) < near:
                    return False
    alone = [misplaced([one], known, known, radius_m) for one in wish.placements]
    return None not in alone
