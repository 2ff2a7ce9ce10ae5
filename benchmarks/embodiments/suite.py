"""The suite: tasks on every robot that can do such things, each robot a split of the reports.

Trials of one task and seed say the same words to every robot. Each robot's scene is the first of
the seed's scenes in which what is asked can be done: a pen cannot draw through a block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.embodiments.embodiment import EMBODIMENTS, Embodiment, Skill
from benchmarks.embodiments.judge import Figure, Places, differs, misanswered, misplaced, missaid
from benchmarks.embodiments.tasks import BOWL, PRELUDE, TASKS, SharedTask, Where, Wish
from benchmarks.robot_suite import RobotCase, carry_out, check_model, names_prompts
from benchmarks.suite import BaseSuite, Outcome, Settings, Trial
from cap.errors import UsageError
from cap.robot import registry

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
