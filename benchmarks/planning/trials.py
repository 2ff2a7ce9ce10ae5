"""One trial of each table: its world, its planner, what goes wrong, and what the judge finds.

Code as Policies is among the planners: a program acts, and each of its action calls is a step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.planning import kitchen_tasks
from benchmarks.planning.household import (
    DEMONSTRATIONS,
    SYNONYMS,
    HouseholdKnowledge,
    HouseholdTask,
    bank,
    household_world,
    lacking,
    lcs,
    plan_of,
    prepared,
    scene,
    unexecutable,
)
from benchmarks.planning.kitchen_knowledge import KitchenKnowledge, solution_of
from benchmarks.planning.kitchen_skills import (
    KITCHEN_CALLS,
    KITCHEN_STEPS,
    SKILL_SUCCESS,
    KitchenSkills,
    actions_for,
    in_robot_words,
)
from benchmarks.planning.kitchen_tasks import EVERYTHING, SAYCAN, KitchenTask
from benchmarks.planning.language_simulator import LanguageWorld, Solution, SolutionKnowledge
from benchmarks.planning.puzzle_domains import TABLETOP, trained
from benchmarks.planning.tabletop_knowledge import TabletopKnowledge
from benchmarks.planning.tabletop_skills import (
    TABLETOP_CALLS,
    TABLETOP_TERMINATE,
    TabletopSkills,
    goals_of,
)
from benchmarks.tabletop.judge import judge
from benchmarks.tabletop.trial_sampler import Setup
from cap.errors import CheckFailed, LimitExceeded, RobotError
from cap.messages import shown_call
from cap.models.base import Model
from cap.planners.dialogue import DialoguePrompt, plan_in
from cap.planners.loop import (
    Action,
    Disturbance,
    Ended,
    EpisodeResult,
    Feedback,
    FeedbackKind,
    PlanEpisode,
    Planner,
    StepOutcome,
    run_episode,
)
from cap.planners.monologue import InnerMonologue
from cap.planners.saycan import SayCan
from cap.planners.saycanpay import PlanContext, SayCanPay, require_learning
from cap.planners.stand_in_models import Knowledge
from cap.planners.zero_shot import SAMPLES, PlanExample, Translator, ZeroShot, by_letters
from cap.program.scope import Primitive
from cap.robot import observation, registry
from cap.robot.protocol import Robot
from cap.session.session import Session
from cap.session.settings import SessionSettings
from robots.kitchen import create as create_kitchen
from robots.ravens import create as create_tabletop


@dataclass
class WatchedRobot:
    """A robot whose actions are steps of an episode; all else is as it was."""

    robot: Robot
    """The robot."""
    episode: PlanEpisode
    """Whose steps its actions are."""
    skills: Mapping[str, str]
    """The world's names of its actions."""
    settle: Callable[[], None] | None
    """What the world does after each action."""
    ended: Ended | None = None
    """What ended the episode while the program ran."""

    @property
    def about(self) -> str:
        """Its description in prompts: the robot's own."""
        return observation.about(self.robot)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.robot, name)

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the robot's primitives, its actions watched."""
        return {
            name: replace(entry, function=self._watched(entry)) if entry.kind == "action" else entry
            for name, entry in self.robot.primitives().items()
        }

    def close(self) -> None:
        """Do nothing: the episode's world has the robot."""

    def _watched(self, primitive: Primitive) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            returned: Any = None
            error: RobotError | None = None

            def run(action: Action) -> StepOutcome:
                nonlocal returned, error
                try:
                    returned = primitive.function(*args, **kwargs)
                except RobotError as failed:
                    error = failed
                if self.settle is not None:
                    self.settle()
                return StepOutcome(action, error is None, str(error or ""))

            text = shown_call(primitive.name, args, kwargs)
            names = tuple(map(str, (*args, *kwargs.values())))
            action = Action(self.skills.get(primitive.name, primitive.name), names, text)
            try:
                outcome = self.episode.call(action, run)
            except Ended as ended:
                self.ended = ended
                raise LimitExceeded(f"{ended}; end the program") from None
            if not outcome.ok:  # it failed, or was kept from succeeding
                raise error or RobotError(f"{text} failed: {outcome.message}")
            return returned

        return call


@dataclass
class CodeAsPolicies:
    """Has a model write a program for the instruction, and runs it as everywhere else."""

    model: Model
    """Writes it."""
    robot: Robot
    """What the program acts on: that of the episode's world."""
    settings: SessionSettings
    """Prompts, limits and repairs."""
    skills: Mapping[str, str] = field(default_factory=dict)
    """The world's names of the robot's actions, as disturbances know them."""
    settle: Callable[[], None] | None = None
    """What the world does after each action."""
    reword: Callable[[str], str] = str
    """Puts an instruction into the robot's own names of things."""

    def act(self, episode: PlanEpisode) -> str:
        """Run the program; return why it failed, or "".

        Raises:
            Ended: It had its steps, the model wrote no program, or the check refused it.
        """
        watched = WatchedRobot(self.robot, episode, self.skills, self.settle)
        with Session(watched, self.model, self.settings) as session:
            turn = session.run(self.reword(episode.instruction))
        episode.trace.event("policy", source=turn.program)
        if watched.ended is not None:
            raise watched.ended
        if turn.failure is None:
            return ""
        if turn.failure.kind in ("model", "generation"):
            raise Ended("model", str(turn.failure))
        if turn.failure.exit_code == CheckFailed.exit_code:
            raise Ended("refused", str(turn.failure))
        return str(turn.failure)


def skill_failure(seed: int, success: Mapping[str, float]) -> Disturbance:
    """Return a disturbance by chance; the same seed and steps fail in the same way.

    Args:
        seed: Of the random numbers.
        success: Probability of success by skill; those not named never fail.
    """

    def strikes(action: Action, number: int) -> str:
        draw = np.random.default_rng([seed, number, 31]).random()
        return "the skill failed" if draw >= success.get(action.skill, 1.0) else ""

    return strikes


def forced_failure(
    skills: Sequence[str],
    meddle: Callable[[Action], None] | None = None,
    further: Disturbance | None = None,
) -> Disturbance:
    """Return a disturbance that makes the first step with one of some skills fail.

    Args:
        skills: Which.
        meddle: Changes the world then, such as moving an object elsewhere.
        further: What goes wrong in addition.
    """
    struck: list[Action] = []

    def strikes(action: Action, number: int) -> str:
        if struck or action.skill not in skills:
            return further(action, number) if further else ""
        struck.append(action)
        if meddle is not None:
            meddle(action)
        return "somebody kept it from succeeding"

    return strikes


SIMULATED = 50
"""Instructions of the language-based simulator."""
HOUSEHOLD_STEPS = 20
METHODS: Mapping[str, Mapping[str, Any]] = {
    "zero-shot": {},
    "- translation": {"translates": False},
    "- dynamic": {"dynamic": False},
    "- correction": {"corrects": False},
    "vanilla": {"translates": False, "dynamic": False},
}
"""The zero-shot planner, whole and without one of its parts, and the model alone."""
_ELSEWHERE = ("table", "countertop")

MakeModel = Callable[[Knowledge], Model]
"""Makes a trial's model; say models are given what they may know."""


@dataclass(frozen=True)
class TrialResult:
    """What one trial came to."""

    instruction: str
    """The person's words."""
    episode: EpisodeResult
    """How it went."""
    missed: str | None
    """What the world lacks of what was asked for; None if nothing."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """What was measured besides, by name."""


@cache
def prompt(name: str) -> DialoguePrompt:
    """Load one of the shipped planners' prompts, once in each process."""
    return DialoguePrompt.load(registry.prompts_path() / "planners" / f"{name}.toml")


def kitchen_trial(
    task: KitchenTask,
    seed: int,
    make_model: MakeModel,
    *,
    planner: str = "saycan",
    feedback: Feedback | None = None,
    stochastic: bool = False,
    disturbed: bool = False,
    mode: str = "instant",
) -> TrialResult:
    """Run one task in the kitchen of a seed.

    Args:
        task: What is asked, and how the kitchen is before.
        seed: Of the kitchen and of what goes wrong.
        make_model: Makes the model.
        planner: `saycan` or `cap`.
        feedback: What the planner's model reads.
        stochastic: Whether skills fail now and then.
        disturbed: Whether somebody makes the first attempt of a skill fail; every other time they
            also take its object elsewhere.
        mode: `instant` or `physics`.
    """
    robot = create_kitchen(seed=seed, mode=mode, objects=kitchen_tasks.objects_of(task))
    with contextlib.closing(robot):
        kitchen_tasks.set_up(robot, task)
        before = kitchen_tasks.look(robot)
        carried: dict[str, str] = {}
        world = KitchenSkills(robot)
        model = make_model(KitchenKnowledge(task))
        disturbance = skill_failure(seed, SKILL_SUCCESS) if stochastic else None
        if disturbed:
            meddle = partial(_take_away, world, seed, carried) if seed % 2 else None
            disturbance = forced_failure(("pick", "open"), meddle=meddle, further=disturbance)
        chosen = kitchen_planner(planner, model, robot, seed, feedback)
        episode = run_episode(task.words, world, chosen, feedback, disturbance, KITCHEN_STEPS)
        if planner == "cap":
            world.visited += [
                outcome.action.args[0]
                for outcome in episode.outcomes
                if outcome.action.skill == "go" and outcome.ok
            ]
        return TrialResult(task.words, episode, kitchen_tasks.missed(task, world, before, carried))


def _take_away(world: KitchenSkills, seed: int, carried: dict[str, str], action: Action) -> None:
    """Take an object elsewhere, as a person might, and note where."""
    if action.skill != "pick" or world.state.held is not None:
        return
    name = action.args[0]
    here = world.state.location_of(name)
    place = next(place for place in (*_ELSEWHERE[seed // 2 % 2 :], *_ELSEWHERE) if place != here)
    world.robot.remove(name)
    world.robot.add(name, place)
    carried[name] = place


def kitchen_planner(
    kind: str, model: Model, robot: Robot, seed: int, feedback: Feedback | None
) -> Planner:
    """Return Code as Policies (`cap`) for the kitchen, else SayCan.

    SayCan's prompt speaks of feedback only where there is some.
    """
    if kind == "cap":
        settings = SessionSettings(prompts=registry.robot_prompts("kitchen"), seed=seed)
        return CodeAsPolicies(model, robot, settings, KITCHEN_CALLS, reword=in_robot_words)
    shown = prompt("kitchen")
    success = feedback is not None and "success" in feedback.kinds
    return SayCan(model, shown if success else shown.without_feedback())


def kitchen_feedback(kind: str) -> Feedback:
    """Return the kitchen's feedback: none for `saycan`, `success`, or `object+success`."""
    every: tuple[FeedbackKind, ...] = ("success", "object")
    return Feedback([one for one in every if one in kind], "kitchen")


def tabletop_trial(
    setup: Setup,
    noise: Mapping[str, float],
    make_model: MakeModel,
    *,
    planner: str,
    mode: str = "instant",
    seed: int = 0,
) -> TrialResult:
    """Run one trial on the tabletop.

    Args:
        setup: Objects, words and goal.
        noise: What goes wrong in motions.
        make_model: Makes the model.
        planner: `object`, `success` or `scene` for Inner Monologue with this much feedback,
            `monologue` as `success`; `saycan`, `saycanpay`, `zero-shot` or `cap`.
        mode: `instant` or `physics`.
        seed: Of programs' random numbers.
    """
    robot = create_tabletop(
        seed=setup.scene_seed, mode=mode, objects=setup.objects, disturbances=noise
    )
    with contextlib.closing(robot):
        world = TabletopSkills(robot)
        pairs = {setup.instruction: goals_of(setup.goal)}
        model = make_model(TabletopKnowledge(pairs, list(setup.before)))
        kinds: list[FeedbackKind] = ["object"]
        if planner == "scene":
            kinds.append("scene")
        elif planner in ("success", "monologue"):
            kinds.append("success")
        chosen = tabletop_planner(planner, model, world, seed, success="success" in kinds)
        episode = run_episode(setup.instruction, world, chosen, Feedback(kinds, "tabletop"))
        missed = judge(setup.goal, setup.before, dict(robot.positions()), robot.spoken)
        return TrialResult(setup.instruction, episode, missed)


def tabletop_planner(
    kind: str, model: Model, world: TabletopSkills, seed: int, *, success: bool
) -> Planner:
    """Return `cap`, `saycan`, `saycanpay`, `zero-shot`, or Inner Monologue for the tabletop.

    Args:
        kind: Which; `scene` for Inner Monologue that states goals first.
        model: The model.
        world: What it acts on.
        seed: Of what is sampled, and of programs' random numbers.
        success: Whether it is given success feedback; only then its prompt speaks of it.

    Raises:
        MissingExtra: What it learns with is not installed.
    """
    usual = prompt("tabletop")
    if not success:
        usual = usual.without_feedback()
    match kind:
        case "cap":
            settings = SessionSettings(prompts=registry.robot_prompts("ravens"), seed=seed)
            return CodeAsPolicies(model, world.robot, settings, TABLETOP_CALLS, world.settle)
        case "saycan":
            return SayCan(model, usual, terminate=TABLETOP_TERMINATE)
        case "saycanpay":
            require_learning()
            colors = tuple(dict.fromkeys(name.split()[0] for name in world.visible()))

            def can(context: PlanContext, steps: Sequence[str]) -> list[float]:  # when needed:
                return trained(TABLETOP).can(context, steps)  # a model without an answer is first

            def pay(context: PlanContext, steps: Sequence[str]) -> list[float]:
                return trained(TABLETOP).pay(context, steps)

            return SayCanPay(model, usual, can, pay, names=colors)
        case "zero-shot":
            texts = [action.text for action in world.actions()]
            examples = [
                PlanExample(instruction, steps[:-1])  # without `done`
                for instruction, steps in map(plan_in, usual.examples)
                if len(steps) > 1
            ]
            return ZeroShot(model, examples, by_letters(texts, {}), seed=seed * SAMPLES)
        case "scene":
            return InnerMonologue(model, prompt("tabletop-scene"))
    return InnerMonologue(model, usual)


def household_trial(
    task: HouseholdTask, number: int, seed: int, make_model: MakeModel, *, method: str
) -> TrialResult:
    """Let the zero-shot planner write a plan, and carry it out in one of the houses.

    Args:
        task: What is to be done.
        number: Of the house.
        seed: Of what is sampled.
        make_model: Makes the model.
        method: One of `METHODS`.
    """
    model = make_model(HouseholdKnowledge())
    planner = household_planner(model, seed * SAMPLES, **METHODS[method])
    world = household_world(scene(number))
    episode = run_episode(task.name, world, planner, max_steps=HOUSEHOLD_STEPS)
    plan = plan_of(episode.plan)
    read = [step for step in plan if step is not None]
    ready = prepared(scene(number), read)
    levels = {
        "parsed": len(read) == len(plan),
        "prepared": not unexecutable(ready, plan),
        "bare": not unexecutable(scene(number), plan),
    }
    measured = {
        **{level: float(bool(plan) and reached) for level, reached in levels.items()},
        "lcs": lcs(episode.plan, task.steps),
        "steps": float(len(plan)),
    }
    return TrialResult(task.name, episode, lacking(task, world.state), measured)


def household_planner(model: Model, seed: int, **parts: Any) -> Planner:
    """Return the zero-shot planner for the house, with its demonstrations."""
    examples = [PlanExample(task.name, task.steps) for task in DEMONSTRATIONS]
    return ZeroShot(model, examples, household_translator(), seed=seed, **parts)


@cache
def household_translator() -> Translator:
    """Return a translator to the house's steps, made once in each process."""
    return by_letters([action.text for action in bank()], SYNONYMS)


@cache
def solutions() -> tuple[Solution, ...]:
    """Return the simulator's instructions: fifty of SayCan's with a solution, of all families."""
    found: dict[str, Solution] = {}
    for task in SAYCAN:
        steps = solution_of(task)
        words = task.words.rstrip(".")
        if steps is not None and words not in found:
            found[words] = Solution(words, steps)
    known = list(found.values())
    return tuple(known[number * len(known) // SIMULATED] for number in range(SIMULATED))


def simulator_trial(
    number: int, examples: int, make_model: MakeModel, *, ends: bool, seed: int = 0
) -> TrialResult:
    """Run one instruction in the language-based simulator.

    Args:
        number: Which of them.
        examples: How many examples its prompt has.
        make_model: Makes the model.
        ends: Whether the plan must end with `done` where the solution does.
        seed: Of the distractors.
    """
    solution = solutions()[number]
    world = LanguageWorld(solution, actions_for(EVERYTHING), seed)
    model = make_model(SolutionKnowledge(solutions()))
    usual = prompt("kitchen").without_feedback()
    planner = SayCan(model, replace(usual, examples=usual.examples[:examples]))
    episode = run_episode(solution.instruction, world, planner, max_steps=KITCHEN_STEPS)
    good = world.recovered and episode.end == "done" if ends else world.solved
    return TrialResult(solution.instruction, episode, None if good else "not the solution")
