"""One instruction with one planner, for a person who watches: `cap plan`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from benchmarks.planning import kitchen_needs, trials
from benchmarks.planning.code_as_policies import CodeAsPolicies
from benchmarks.planning.disturbances import forced_failure, skill_failure
from benchmarks.planning.household_knowledge import HouseholdKnowledge
from benchmarks.planning.household_tasks import BY_WORDS as IN_HOUSE
from benchmarks.planning.household_tasks import DEMONSTRATIONS
from benchmarks.planning.household_world import SCENES, HouseholdWorld, scene
from benchmarks.planning.kitchen_knowledge import KitchenKnowledge
from benchmarks.planning.kitchen_needs import KitchenTask
from benchmarks.planning.kitchen_skills import KitchenSkills, in_robot_words
from benchmarks.planning.kitchen_tasks import BY_WORDS, plain
from benchmarks.planning.tabletop_knowledge import TabletopKnowledge
from benchmarks.planning.tabletop_skills import TabletopSkills, goals_of
from benchmarks.planning.trials import KITCHEN_CALLS, TABLETOP_CALLS
from benchmarks.tabletop.attributes import CORNERS
from benchmarks.tabletop.judge import Positions, judge
from benchmarks.tabletop.scene_conditions import clear
from benchmarks.tabletop.tasks import TASKS
from cap.errors import UsageError
from cap.models.base import Model
from cap.planners.loop import (
    Disturbance,
    EpisodeResult,
    Feedback,
    Form,
    Planner,
    run_episode,
    scene_line,
)
from cap.planners.stand_in_models import Knowledge
from cap.planners.zero_shot import PlanExample, ZeroShot
from cap.robot import registry
from cap.session.settings import SessionSettings
from cap.trace.trace import Trace
from robots.table.geometry import PLACES

ROBOTS = ("kitchen", "ravens", "household")
"""Those whose skills planners know."""
PLANNERS = ("saycan", "monologue", "saycanpay", "zero-shot", "cap")
FEEDBACK = ("object", "success", "scene", "human")
PAPER_WORDING: Mapping[str, Sequence[str]] = {
    "blocks-in-bowl": ("Put all the blocks in the {bowl}",),
    "matching-bowls": (
        "Put the blocks in their matching bowls",
        "Put all the blocks in their matching bowls",
        "Put the blocks in the bowls with matching colors",
    ),
    "mismatched-bowls": (
        "Put the blocks on mismatched bowls",
        "Put the blocks in mismatched bowls",
    ),
}
"""Other words for some of the tabletop tasks: Inner Monologue's table has them."""


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
    if setup.robot == "kitchen":
        return plain(instruction) in BY_WORDS
    if setup.robot == "household":
        return plain(instruction) in IN_HOUSE
    return any(words is not None for _, words in _readings(instruction))


def nearest_known(setup: PlanSetup, instruction: str) -> list[str]:
    """Return the benchmark's instructions that are most like one, for messages."""
    if setup.robot == "kitchen":
        known = {key: task.words for key, task in BY_WORDS.items()}
    elif setup.robot == "household":
        known = {key: task.name for key, task in IN_HOUSE.items()}
    else:
        known = {plain(task.template): task.template for task in _named_tasks()}
    return [known[key] for key in difflib.get_close_matches(plain(instruction), known, 3, 0.0)]


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


def run(
    setup: PlanSetup, instruction: str, make_model: Callable[[Knowledge], Model], trace: Trace
) -> PlanVerdict:
    """Carry out one instruction.

    Raises:
        CapError: It could not be begun.
    """
    check(setup)
    if setup.robot == "kitchen":
        return _in_kitchen(setup, instruction, make_model, trace)
    if setup.robot == "household":
        return _in_house(setup, instruction, make_model, trace)
    return _on_tabletop(setup, instruction, make_model, trace)


def _in_house(
    setup: PlanSetup, instruction: str, make_model: Callable[[Knowledge], Model], trace: Trace
) -> PlanVerdict:
    world = HouseholdWorld(scene(setup.seed % SCENES), trials.household_bank())
    examples = [PlanExample(task.name, task.steps) for task in DEMONSTRATIONS]
    translator = trials.household_translator()
    planner = ZeroShot(make_model(HouseholdKnowledge()), examples, translator, seed=setup.seed)
    episode = run_episode(
        instruction, world, planner, None, _disturbance(setup), setup.max_steps, trace
    )
    task = IN_HOUSE.get(plain(instruction))
    lacking = [goal for goal in task.goals if not world.house.holds(goal)] if task else []
    missed = f"not so: {'; '.join(lacking)}" if lacking else None
    return PlanVerdict(episode, task is not None, missed, {}, dict(world.house.places))


def _in_kitchen(
    setup: PlanSetup, instruction: str, make_model: Callable[[Knowledge], Model], trace: Trace
) -> PlanVerdict:
    known = BY_WORDS.get(plain(instruction))
    task = msgspec.structs.replace(known or KitchenTask("", "", ()), words=instruction)
    own = list(setup.objects) if setup.objects is not None else None
    objects = own if own is not None else kitchen_needs.objects_of(task)
    robot: Any = registry.make_robot("kitchen", seed=setup.seed, mode=setup.mode, objects=objects)
    try:
        if own is None:
            kitchen_needs.set_up(robot, task)
        else:
            task = msgspec.structs.replace(task, holding="")
        before = kitchen_needs.look(robot)
        world = KitchenSkills(robot)
        if known and not setup.interjections:
            why = kitchen_needs.nothing_to_do(task, world, before)
            if why is not None:
                raise UsageError(
                    f"there is nothing to do: '{instruction}' {why}; name other objects or places "
                    'with --objects, such as "apple @ table"'
                )
        model = make_model(KitchenKnowledge(task if known else None))
        there = [action.args[0] for action in world.actions() if action.skill == "find"]
        feedback = _feedback(setup, "kitchen", there)
        planner: Planner
        if setup.planner == "cap":
            settings = SessionSettings(prompts=registry.robot_prompts("kitchen"), seed=setup.seed)
            planner = CodeAsPolicies(model, robot, settings, KITCHEN_CALLS, reword=in_robot_words)
        else:
            planner = trials.kitchen_planner(model, feedback)
        episode = run_episode(
            instruction, world, planner, feedback, _disturbance(setup), setup.max_steps, trace
        )
        said = [words for after, words in setup.interjections if after <= len(episode.outcomes)]
        wanted = [found for words in said if (found := BY_WORDS.get(plain(words))) is not None]
        judged = wanted[-1] if wanted else task if known else None
        carried = {  # what was begun before the person said otherwise may be where it is
            name: str(robot.whereabouts().get(name))
            for other in [task, *wanted[:-1]] if other is not judged
            for need in other.needs for name in need.objects
        }  # fmt: skip
        missed = kitchen_needs.missed(judged, world, before, carried) if judged else None
        _picture(robot, trace)
        return PlanVerdict(episode, judged is not None, missed, *_where(robot))
    finally:
        robot.close()


def _on_tabletop(
    setup: PlanSetup, instruction: str, make_model: Callable[[Knowledge], Model], trace: Trace
) -> PlanVerdict:
    objects = None if setup.objects is None else list(setup.objects)
    robot: Any = registry.make_robot("ravens", seed=setup.seed, mode=setup.mode, objects=objects)
    try:
        world = TabletopSkills(robot)
        before: Positions = dict(robot.positions())
        said = [instruction, *(words for _, words in setup.interjections)]
        goals = {words: goal for words in said if (goal := _goal(words, before)) is not None}
        if (
            len(said) == 1
            and instruction in goals
            and not judge(goals[instruction], before, before, ())
        ):
            raise UsageError(
                f"there is nothing to do: '{instruction}' is so already; name other objects with "
                "--objects"
            )
        pairs = {words: goals_of(goal) for words, goal in goals.items()}
        knowledge = TabletopKnowledge(pairs, list(before))
        model = make_model(knowledge)
        feedback = _feedback(setup, "tabletop", world.visible())
        planner: Planner
        if setup.planner == "cap":
            settings = SessionSettings(prompts=registry.robot_prompts("ravens"), seed=setup.seed)
            planner = CodeAsPolicies(model, robot, settings, TABLETOP_CALLS, settle=world.settle)
        else:
            states = setup.planner == "monologue" and "scene" in setup.feedback
            success = "success" in feedback.kinds
            planner = trials.tabletop_planner(
                "scene" if states else setup.planner, model, world, setup.seed,
                success=success,
            )  # fmt: skip
        episode = run_episode(
            instruction, world, planner, feedback, _disturbance(setup), setup.max_steps, trace
        )
        steps = len(episode.outcomes)
        heard = [instruction, *(words for at, words in setup.interjections if at <= steps)]
        wanted = next((goals[words] for words in reversed(heard) if words in goals), None)
        after = dict(robot.positions())
        missed = None if wanted is None else judge(wanted, before, after, robot.spoken)
        _picture(robot, trace)
        return PlanVerdict(episode, wanted is not None, missed, *_where(robot))
    finally:
        robot.close()


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
        return skill_failure(setup.seed, trials.SKILL_SUCCESS)
    return forced_failure(("pick", "open", "put")) if setup.disturb == "once" else None


def _picture(robot: Any, trace: Trace) -> None:
    if trace.folder is not None:
        robot.render(480, 480).save(trace.folder / "after.png")


def _where(robot: Any) -> tuple[dict[str, list[float]], dict[str, str]]:
    positions = {name: [round(value, 4) for value in at] for name, at in robot.positions().items()}
    return positions, dict(robot.whereabouts())


def _named_tasks() -> Sequence[Any]:
    """Return the tabletop tasks that name objects and places alone."""
    return [task for task in TASKS if not task.coordinates]


def _readings(instruction: str) -> list[tuple[Any, dict[str, str] | None]]:
    """Return each tabletop task with the words an instruction has in its slots, if it is one."""
    return [
        (task, _words(template, instruction))
        for task in _named_tasks()
        for template in (task.template, *PAPER_WORDING.get(task.name, ()))
    ]


def _goal(instruction: str, scene: Positions) -> Mapping[str, Any] | None:
    """Return what an instruction asks for in a scene; None if it is not one of the tasks'.

    Raises:
        UsageError: The scene lacks what it speaks of, or has a bowl where a block is to be.
    """
    for task, words in _readings(instruction):
        if words is None or not all(word in scene or word in PLACES for word in words.values()):
            continue
        blocks = [name for name in scene if name.endswith("block")]
        matching = task.name == "matching-bowls"
        colors = {name.split()[0] for name in blocks} if matching else set()
        lacking = [bowl for color in sorted(colors) if (bowl := f"{color} bowl") not in scene]
        lacking += [] if blocks else ["block"]
        lacking += [] if not task.own_bowls or any(n.endswith("bowl") for n in scene) else ["bowl"]
        if lacking:
            raise UsageError(
                f"there is nothing to do: '{instruction}' needs a {lacking[0]}, and the table has "
                "none; name one with --objects"
            )
        aside = {name: (10.0, 10.0, 0.0) if name in blocks else at for name, at in scene.items()}
        found: Mapping[str, Any] | None = task.goal_in(words, aside)
        if found is None:  # blocks can make way, bowls stay
            places = [word for word in words.values() if word in PLACES] or CORNERS
            name, place = next(
                (name, place)
                for place in places
                for name, at in aside.items()
                if not clear({name: at}, [PLACES[place]])
            )
            raise UsageError(
                f"'{instruction}' cannot be done here: the {name} is too near to the {place}; "
                "leave it out with --objects, or use another --seed"
            )
        return found
    return None


def _words(template: str, instruction: str) -> dict[str, str] | None:
    """Return the words of a template's slots in an instruction; None if it is another one."""
    pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[\\w ]+?)", re.escape(plain(template)))
    match = re.fullmatch(pattern, plain(instruction))
    return None if match is None else match.groupdict()
