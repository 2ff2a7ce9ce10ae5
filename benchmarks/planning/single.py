"""One instruction with one planner, for a person who watches: `cap plan`."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from benchmarks.planning import kitchen_tasks
from benchmarks.planning.household import BY_WORDS as IN_HOUSE
from benchmarks.planning.household import (
    SCENES,
    HouseholdKnowledge,
    household_world,
    lacking,
    scene,
)
from benchmarks.planning.kitchen_knowledge import KitchenKnowledge
from benchmarks.planning.kitchen_skills import SKILL_SUCCESS, KitchenSkills
from benchmarks.planning.kitchen_tasks import BY_WORDS, KitchenTask, plain
from benchmarks.planning.tabletop_knowledge import TabletopKnowledge
from benchmarks.planning.tabletop_skills import TabletopSkills, goals_of
from benchmarks.planning.trials import (
    MakeModel,
    forced_failure,
    household_planner,
    kitchen_planner,
    skill_failure,
    tabletop_planner,
)
from benchmarks.tabletop.goals import Goal
from benchmarks.tabletop.judge import Positions, judge
from benchmarks.tabletop.tasks import TASKS, Task
from cap.errors import UsageError
from cap.planners.loop import (
    Disturbance,
    EpisodeResult,
    Feedback,
    Form,
    run_episode,
    scene_line,
)
from cap.robot import registry
from cap.trace.trace import Trace
from robots.table.geometry import PLACES

ROBOTS = ("kitchen", "ravens", "household")
"""Those whose skills planners know."""
PLANNERS = ("saycan", "monologue", "saycanpay", "zero-shot", "cap")
FEEDBACK = ("object", "success", "scene", "human")


@dataclass(frozen=True)
class PlanSetup:
    """What a person asked for, beside the instruction."""

    robot: str
    """One of `ROBOTS`."""
    planner: str
    """One of `PLANNERS`."""
    seed: int = 0
    """Of the scene and of what goes wrong."""
    mode: str = "instant"
    """`instant` or `physics`."""
    objects: tuple[str, ...] | None = None
    """Names; None for the instruction's own kitchen, or for what the robot has by itself."""
    feedback: tuple[str, ...] = ()
    """Of `FEEDBACK`."""
    answer: Callable[[str], str] = lambda question: ""
    """Answers a planner's questions."""
    interjections: tuple[tuple[int, str], ...] = ()
    """What the person says on the way: after how many steps, and the words."""
    disturb: str = ""
    """`skills`: they fail now and then; `once`: the first attempt is made to fail; else nothing."""
    max_steps: int = 15
    """Most steps."""


@dataclass(frozen=True)
class PlanVerdict:
    """Its result."""

    episode: EpisodeResult
    """How it went."""
    judged: bool
    """Whether the world could be judged: the instruction is one of the benchmark's."""
    missed: str | None
    """What the world lacks; None if nothing, or if nobody knows."""
    positions: Mapping[str, Sequence[float]]
    """Where each object is in the end: xyz in metres."""
    whereabouts: Mapping[str, str]
    """What each is in or on; "" in the gripper, on the floor, or on a table's own top."""


def check(setup: PlanSetup) -> None:
    """Refuse what no planner can do.

    Raises:
        UsageError: With the remedy.
    """
    if setup.robot not in ROBOTS:
        raise UsageError(
            f"planners know no skills of '{setup.robot}'; use -r {' or -r '.join(ROBOTS)}"
        )
    if setup.robot == "kitchen" and "scene" in setup.feedback:
        raise UsageError("the kitchen has no scene feedback; use --feedback object or success")
    blind = setup.planner in ("zero-shot", "saycanpay")
    if setup.robot == "household" and setup.planner != "zero-shot":
        raise UsageError("in the household plans --planner zero-shot alone")
    if setup.robot == "kitchen" and blind:
        raise UsageError(f"--planner {setup.planner} has no place in the kitchen; use -r ravens")
    if blind and (setup.feedback or setup.interjections):
        raise UsageError(
            f"--planner {setup.planner} plans first and gets no feedback; leave --feedback and "
            "--say out"
        )
    if setup.robot == "household" and setup.objects is not None:
        raise UsageError("the household has its own things; leave --objects out")
    if setup.feedback and setup.planner == "cap":
        raise UsageError("a program sees by the robot's own functions; leave --feedback out")


def is_known(setup: PlanSetup, instruction: str) -> bool:
    """Return whether an instruction is one of the benchmark's, so that say models know its plan."""
    if setup.robot == "ravens":
        return _reading(instruction) is not None
    return plain(instruction) in _known(setup)


def nearest_known(setup: PlanSetup, instruction: str) -> list[str]:
    """Return the benchmark's instructions that are most like one, for messages."""
    known = _known(setup)
    return [known[key] for key in difflib.get_close_matches(plain(instruction), known, 3, 0.0)]


def _known(setup: PlanSetup) -> Mapping[str, str]:
    """Return the benchmark's instructions for a robot by their plain words."""
    texts = {
        "kitchen": [task.words for task in BY_WORDS.values()],
        "household": [task.name for task in IN_HOUSE.values()],
        "ravens": [task.template for task in _named_tasks()],
    }
    return {plain(text): text for text in texts[setup.robot]}


def check_writer(setup: PlanSetup, model: str, instruction: str) -> None:
    """Refuse `nearest` where a planner needs lines written: it has examples of programs alone.

    Raises:
        UsageError: With instructions that a stand-in knows.
    """
    writes = setup.planner == "zero-shot" or (
        setup.planner == "monologue" and setup.robot == "ravens"
    )
    if model == "nearest" and writes:
        known = ", ".join(f"'{words}'" for words in nearest_known(setup, instruction))
        raise UsageError(
            f"nearest writes no steps for --planner {setup.planner}; use a language model with -m, "
            f"or one of the benchmark's own instructions with perfect-say, such as {known}"
        )


def run(setup: PlanSetup, instruction: str, make_model: MakeModel, trace: Trace) -> PlanVerdict:
    """Carry out one instruction.

    Raises:
        CapError: It could not be begun.
    """
    check(setup)
    if setup.robot == "household":
        return _in_house(setup, instruction, make_model, trace)
    names = None if setup.objects is None else list(setup.objects)
    if setup.robot == "kitchen" and names is None:
        names = kitchen_tasks.objects_of(_kitchen_task(instruction))
    robot = registry.make_robot(setup.robot, seed=setup.seed, mode=setup.mode, objects=names)
    with contextlib.closing(robot):
        act = _in_kitchen if setup.robot == "kitchen" else _on_tabletop
        return act(setup, robot, instruction, make_model, trace)


def _in_house(
    setup: PlanSetup, instruction: str, make_model: MakeModel, trace: Trace
) -> PlanVerdict:
    world = household_world(scene(setup.seed % SCENES))
    planner = household_planner(make_model(HouseholdKnowledge()), setup.seed)
    episode = run_episode(
        instruction, world, planner, None, _disturbance(setup), setup.max_steps, trace
    )
    task = IN_HOUSE.get(plain(instruction))
    missed = lacking(task, world.state) if task else None
    return PlanVerdict(episode, task is not None, missed, {}, dict(world.state.places))


def _kitchen_task(instruction: str) -> KitchenTask:
    """Return the task of an instruction in the words it was given; one without needs if unknown."""
    known = BY_WORDS.get(plain(instruction), KitchenTask("", "", ()))
    return msgspec.structs.replace(known, words=instruction)


def _in_kitchen(
    setup: PlanSetup, robot: Any, instruction: str, make_model: MakeModel, trace: Trace
) -> PlanVerdict:
    task = _kitchen_task(instruction)
    if setup.objects is None:
        kitchen_tasks.set_up(robot, task)
    else:
        task = msgspec.structs.replace(task, holding="")
    before, world = kitchen_tasks.look(robot), KitchenSkills(robot)
    if task.needs and not setup.interjections:
        why = kitchen_tasks.nothing_to_do(task, world, before)
        if why is not None:
            raise UsageError(
                f"there is nothing to do: '{instruction}' {why}; name other objects or places "
                'with --objects, such as "apple @ table"'
            )
    model = make_model(KitchenKnowledge(task if task.needs else None))
    there = [action.args[0] for action in world.actions() if action.skill == "find"]
    feedback = _feedback(setup, "kitchen", there)
    planner = kitchen_planner(setup.planner, model, robot, setup.seed, feedback)
    episode = run_episode(
        instruction, world, planner, feedback, _disturbance(setup), setup.max_steps, trace
    )
    wanted = [
        found
        for words in _heard(setup, instruction, episode)[1:]
        if (found := BY_WORDS.get(plain(words))) is not None
    ]
    judged = wanted[-1] if wanted else task if task.needs else None
    carried = {  # what was begun before the person said otherwise may be where it is
        name: str(robot.whereabouts().get(name))
        for other in [task, *wanted[:-1]]
        if other is not judged
        for need in other.needs
        for name in need.objects
    }
    missed = kitchen_tasks.missed(judged, world, before, carried) if judged else None
    return _verdict(robot, episode, judged is not None, missed, trace)


def _on_tabletop(
    setup: PlanSetup, robot: Any, instruction: str, make_model: MakeModel, trace: Trace
) -> PlanVerdict:
    world = TabletopSkills(robot)
    before: Positions = dict(robot.positions())
    said = [instruction, *(words for _, words in setup.interjections)]
    goals = {words: goal for words in said if (goal := _goal(words, before)) is not None}
    if len(said) == len(goals) == 1 and not judge(goals[instruction], before, before, ()):
        raise UsageError(
            f"there is nothing to do: '{instruction}' is so already; name other objects with "
            "--objects"
        )
    pairs = {words: goals_of(goal) for words, goal in goals.items()}
    model = make_model(TabletopKnowledge(pairs, list(before)))
    feedback = _feedback(setup, "tabletop", world.visible())
    states = setup.planner == "monologue" and "scene" in setup.feedback
    planner = tabletop_planner(
        "scene" if states else setup.planner,
        model,
        world,
        setup.seed,
        success="success" in feedback.kinds,
    )
    episode = run_episode(
        instruction, world, planner, feedback, _disturbance(setup), setup.max_steps, trace
    )
    heard = reversed(_heard(setup, instruction, episode))
    wanted = next((goals[words] for words in heard if words in goals), None)
    after = dict(robot.positions())
    missed = None if wanted is None else judge(wanted, before, after, robot.spoken)
    return _verdict(robot, episode, wanted is not None, missed, trace)


def _heard(setup: PlanSetup, instruction: str, episode: EpisodeResult) -> list[str]:
    """Return what the person has said by the end, the instruction first."""
    steps = len(episode.outcomes)
    return [instruction, *(words for at, words in setup.interjections if at <= steps)]


def _verdict(
    robot: Any, episode: EpisodeResult, judged: bool, missed: str | None, trace: Trace
) -> PlanVerdict:
    """Return the result with where everything is, and keep a picture of it with the trace."""
    if trace.folder is not None:
        robot.render(480, 480).save(trace.folder / "after.png")
    positions = {name: [round(value, 4) for value in at] for name, at in robot.positions().items()}
    return PlanVerdict(episode, judged, missed, positions, dict(robot.whereabouts()))


def _feedback(setup: PlanSetup, form: Form, there: Sequence[str]) -> Feedback:
    """Return what a planner's model reads; the objects there are in any case."""
    wanted: list[Any] = [*setup.feedback]
    if setup.interjections and "human" not in wanted:
        wanted.append("human")
    if setup.planner == "monologue" and not setup.feedback:
        wanted += ["success", *(["object"] if form == "kitchen" else [])]
    named = "object" in wanted or setup.planner == "cap"
    opening = "" if named else scene_line(there)
    return Feedback(wanted, form, opening, setup.answer, setup.interjections)


def _disturbance(setup: PlanSetup) -> Disturbance | None:
    if setup.disturb == "skills":
        return skill_failure(setup.seed, SKILL_SUCCESS)
    return forced_failure(("pick", "open", "put")) if setup.disturb == "once" else None


def _named_tasks() -> Sequence[Task]:
    """Return the tabletop tasks that name objects and places alone."""
    return [task for task in TASKS if not task.coordinates]


def _reading(
    instruction: str, names: Collection[str] | None = None
) -> tuple[Task, dict[str, str]] | None:
    """Return the tabletop task that an instruction is, with the words in its slots; None for none.

    Args:
        instruction: What the person says.
        names: What there is for the slots; None for anything.
    """
    for task in _named_tasks():
        for template in (task.template, *task.also):
            slots = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[\\w ]+?)", re.escape(plain(template)))
            match = re.fullmatch(slots, plain(instruction))
            if match and (names is None or set(match.groupdict().values()) <= set(names)):
                return task, match.groupdict()
    return None


def _goal(instruction: str, scene: Positions) -> Goal | None:
    """Return what an instruction asks for in a scene; None if it is not one of the tasks'.

    Raises:
        UsageError: It cannot be done in the scene.
    """
    found = _reading(instruction, {*scene, *PLACES})
    if found is None:
        return None
    task, words = found
    for kind in ("block", *(["bowl"] if task.own_bowls else ())):
        if not any(name.endswith(kind) for name in scene):
            raise UsageError(
                f"there is nothing to do: '{instruction}' needs a {kind}, and the table has none; "
                "name one with --objects"
            )
    # Blocks can make way, bowls stay.
    aside = {
        name: (10.0, 10.0, 0.0) if name.endswith("block") else at for name, at in scene.items()
    }
    goal = task.goal_in(words, aside)
    if goal is None:
        raise UsageError(
            f"'{instruction}' cannot be done here: a bowl is too near to where something is to "
            "be put; leave it out with --objects, or use another --seed"
        )
    try:
        judge(goal, scene, scene, ())
    except ValueError as error:
        raise UsageError(
            f"there is nothing to do: '{instruction}' needs what is not there ({error}); name it "
            "with --objects"
        ) from None
    return goal
