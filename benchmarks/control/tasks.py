"""The five controllers of `tasks.toml`: what is measured of each, and when it is done.

cartpole
    `upright_steps` is the number of pushes after which the pole still stood, `lean_deg` how far it
    leans in the end, with what it swings on to. Done if the first is all 500, and the second at
    most 8: more does not stay up. Where the words name the angle, `unexplained` is the share of
    pushes that no PD law of the angle gives (a push to the right where kp * theta + kd * theta_dot
    is positive), and at most 0.02.
impedance
    The goal makes three smooth legs, then jumps by 5 cm and rests. `rms_m` is the root mean square
    of the fingertips' distance from the goal over the legs; `settling_s` is how long after the jump
    that distance stays below 5 mm for good (None: never). `stiffness` and `damping` (N/m, N s/m)
    fit the forces of the whole episode best, for a law that brakes either the fingertips' velocity
    or that relative to the goal; `unexplained` is what they leave over, as a share. Done if the
    first is at most 15 mm and the second at most 0.5 s, if the fingertips are slower than 5 cm/s in
    the end, both gains are those asked for to 10 %, and the last is at most 0.1: an integral term,
    for one, leaves more over.
tracking
    `rms_m` and `most_m` are the root mean square and the greatest distance from the reference after
    the first 5 s. Done if they are at most 3 and 8 cm, and the robot still drives with it.
moving-target
    `caught_s` is when the robot came within 5 cm of the target for good (None: never). Done if that
    is after at most 10 of the 20 s, and the robot still drives with it.
avoidance
    `left_m` is how far the robot is from its goal in the end, `clearance_m` how near it came to an
    obstacle. Done if it touched none and rests, within 5 cm: no more than 1 cm in the last half
    second. It drives on with its last command to the end of the episode.

A robot still drives with what it follows if in the last 0.2 s it went where that went, to 2 cm and
to a quarter of the way. A program that ends before the time is over has not done it, but for
avoidance. The baselines are what one might try first: each controls something, and none does its
task.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks import task_file
from benchmarks.control import worlds
from benchmarks.control.arm import JUMP_STEP, STEP_S, STEPS, Arm
from benchmarks.control.worlds import PUSHES, Avoider, CartPole, Chaser, Tracker
from benchmarks.suite_folder import filled
from cap.robot.protocol import Robot

Array = np.ndarray[Any, Any]

MOST_LEAN_DEG = 8.0
SWING_RADPS = 3.8
"""Rate at which the pole falls: with a swing of theta_dot it comes theta_dot / rate farther."""
MOST_RMS_M = 0.015
SETTLED_M = 0.005
MOST_SETTLING_S = 0.5
STILL_MPS = 0.05
GAIN_SHARE, MOST_UNEXPLAINED = 0.1, 0.1
MOST_UNLIKE_PD = 0.02
"""Share of the pushes that a PD law of the angle need not explain."""
_ANGLES = 3600
"""Ratios of the two gains that are tried."""
_JUMPY_STEPS = 2
"""Steps from the jump on in which the goal's velocity is none."""
SETTLED_S = 5.0
MOST_TRACKING_RMS_M, MOST_TRACKING_M = 0.03, 0.08
CAUGHT_M = 0.05
MOST_CAUGHT_S = 10.0
WITH_STEPS, WITH_M, WITH_SHARE = 4, 0.02, 0.25
ARRIVED_M = 0.05
REST_STEPS, REST_M = 10, 0.01


@dataclass(frozen=True)
class EpisodeVerdict:
    """The result of an episode."""

    missed: str | None
    """Why it is not done; None if it is."""
    metrics: Mapping[str, Any]
    """The measured values, as JSON can hold them."""


class ControlTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One controller to be written."""

    name: str
    """As the command line takes it; also the name of its prompt."""
    words: tuple[str, ...]
    """What a person says; the trial's seed chooses."""
    programs: tuple[str, ...]
    """A program that does it, for each of the words; or one for all."""
    baseline: str
    """A simple program that does not: how far one gets without thinking twice."""
    gains: tuple[dict[str, int], ...] = ({},)
    """What words and programs have in braces: stiffness in N/m and damping in N s/m."""

    def instruction(self, seed: int) -> str:
        """Return the person's words in a trial."""
        return self._chosen(self.words, seed)

    def oracle(self, seed: int) -> str:
        """Return a program that does what a trial asks for."""
        return self._chosen(self.programs, seed)

    def gains_of(self, seed: int) -> dict[str, int]:
        """Return the gains that a trial asks for."""
        return self.gains[seed % len(self.gains)]

    def _chosen(self, texts: Sequence[str], seed: int) -> str:
        return filled(texts[seed % len(texts)], self.gains_of(seed))

    def robot(self, seed: int) -> Any:
        """Make what is controlled, by the trial's seed."""
        return _WORLDS[self.name][0](seed)

    def judge(self, robot: Any) -> EpisodeVerdict:
        """Measure the robot after the program."""
        return _WORLDS[self.name][1](robot)


TASKS: Mapping[str, ControlTask] = {
    task.name: task for task in task_file.load(Path(__file__).with_name("tasks.toml"), ControlTask)
}
"""By name, in report order."""


def _judge_cartpole(robot: CartPole) -> EpisodeVerdict:
    steps, states = robot.steps, np.array(robot.track)
    lean_deg = math.degrees(abs(states[-1, 2] + states[-1, 3] / SWING_RADPS))
    metrics = {"upright_steps": steps, "lean_deg": _number(lean_deg)}
    unlike = 0.0
    if _names_angle(robot.seed) and robot.pushes:
        metrics["unexplained"] = unlike = round(_unlike_pd(states[:-1, 2:], robot.pushes), 3)
    leans = f"by {lean_deg:.0f} degrees, not {MOST_LEAN_DEG:g}"
    claims = (
        (steps < PUSHES or robot.fell, f"upright for {steps} steps, not {PUSHES}"),
        (lean_deg > MOST_LEAN_DEG, f"about to fall in the end, {leans}"),
        (
            unlike > MOST_UNLIKE_PD,
            f"{100 * unlike:.0f} % of the pushes are of no PD law of the angle",
        ),
    )
    return EpisodeVerdict(_first(claims), metrics)


def _names_angle(seed: int) -> bool:
    return "of its angle" in TASKS["cartpole"].instruction(seed)


def _rms(off: Array) -> float:
    return float(np.sqrt(np.mean(off**2))) if len(off) else math.inf


def _steady_from(off: Array, most: float) -> int | None:
    """Return the first step from which a distance stays within a limit; None if none is."""
    outside = np.flatnonzero(~(off <= most))
    first = int(outside[-1]) + 1 if len(outside) else 0
    return first if first < len(off) else None


def _first(claims: Iterable[tuple[object, str]]) -> str | None:
    """Return what the first claim that is true says; None if none is."""
    return next((words for wrong, words in claims if wrong), None)


def _unlike_pd(angles: Array, pushes: Sequence[int]) -> float:
    """Return the share of pushes that the PD law of the angle that fits best does not give.

    Args:
        angles: Angle and its rate before each push, rad and rad/s.
        pushes: 1 to the right, 0 to the left.
    """
    ratios = np.linspace(0, math.pi / 2, _ANGLES)
    control = angles @ np.stack([np.cos(ratios), np.sin(ratios)])
    return float(((control > 0) != (np.array(pushes) == 1)[:, None]).mean(axis=0).min())


def _judge_impedance(robot: Arm) -> EpisodeVerdict:
    tips = np.array(robot.track)
    goals = np.array([robot.goal(step) for step in range(len(tips))])
    off = np.linalg.norm(tips - goals, axis=1)
    rms_m = _rms(off[1:JUMP_STEP])
    settling_s = None
    if robot.steps == STEPS and (after := _steady_from(off[JUMP_STEP:], SETTLED_M)) is not None:
        settling_s = round(after * STEP_S, 6)
    mps = math.dist(*robot.track[-2:]) / STEP_S if robot.steps else math.inf
    stopped = f"stopped after {robot.sim_time_s:.2f} of {STEPS * STEP_S:.2f} s"
    missed = _first(
        (
            (robot.steps < STEPS, stopped),
            (
                not rms_m <= MOST_RMS_M,
                f"{1e3 * rms_m:.1f} mm off on the way, not {1e3 * MOST_RMS_M:g}",
            ),
            (settling_s is None, f"never settled within {1e3 * SETTLED_M:g} mm of the goal"),
            (
                (settling_s or 0.0) > MOST_SETTLING_S,
                f"settled after {settling_s or 0.0:.2f} s, not {MOST_SETTLING_S:g}",
            ),
            (
                not mps <= STILL_MPS,
                f"still at {100 * mps:.0f} cm/s in the end, not {100 * STILL_MPS:g}",
            ),
        )
    )
    metrics = {"rms_m": _number(rms_m), "settling_s": settling_s}
    if robot.steps == STEPS and np.isfinite(tips).all():
        law, another = _law(robot, tips, goals)
        metrics |= law
        missed = missed or another
    return EpisodeVerdict(missed, metrics)


def _law(robot: Arm, tips: Array, goals: Array) -> tuple[dict[str, float], str | None]:
    """Return the gains that fit a whole episode's forces best, with the share they leave over.

    Then comes how the forces are not those of the gains asked for; None if they are.
    """
    velocities, forces = (np.array(side) for side in zip(*robot.pulls, strict=True))
    led = np.diff(goals, axis=0, prepend=goals[:1])[:-1] / STEP_S
    inputs = np.stack([(goals - tips)[:-1], -velocities, led], axis=-1)
    kept = np.r_[:JUMP_STEP, JUMP_STEP + _JUMPY_STEPS : STEPS]
    rows, wanted = inputs[kept].reshape(-1, 3), forces[kept].ravel()
    gains = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    left = float(np.linalg.norm(rows @ gains - wanted) / max(float(np.linalg.norm(wanted)), 1e-9))
    law: dict[str, float] = {}
    wrong, asked = [], TASKS["impedance"].gains_of(robot.seed)
    for name, unit, gain in zip(asked, ("N/m", "N s/m"), map(float, gains[:2]), strict=True):
        law[name] = round(gain, 1)
        if abs(gain - asked[name]) > GAIN_SHARE * asked[name]:
            wrong.append(f"a {name} of {gain:.0f} {unit}, not {asked[name]}")
    law["unexplained"] = round(left, 3)
    if left > MOST_UNEXPLAINED:
        wrong.append(f"{100 * left:.0f} % of the force is of another law")
    return law, wrong[0] if wrong else None


def _judge_tracking(robot: Tracker) -> EpisodeVerdict:
    path, goals, off = _paths(robot)
    late = off[round(SETTLED_S / worlds.STEP_S) :]
    rms, most = _rms(late), float(max(late, default=math.inf))
    missed = _short(robot) or _first(
        (
            (
                not rms <= MOST_TRACKING_RMS_M,
                f"{100 * rms:.1f} cm off the reference, not {100 * MOST_TRACKING_RMS_M:g}",
            ),
            (
                not most <= MOST_TRACKING_M,
                f"up to {100 * most:.1f} cm off the reference, not {100 * MOST_TRACKING_M:g}",
            ),
        )
    )
    metrics = {"rms_m": _number(rms), "most_m": _number(most)}
    return EpisodeVerdict(missed or _left_behind(path, goals), metrics)


def _judge_chase(robot: Chaser) -> EpisodeVerdict:
    path, goals, off = _paths(robot)
    missed, caught_s = _short(robot), None
    if missed is None:
        first = _steady_from(off, CAUGHT_M)
        caught_s = None if first is None else round(first * worlds.STEP_S, 6)
        if caught_s is None:
            missed = f"{100 * off[-1]:.1f} cm from the target in the end, not {100 * CAUGHT_M:g}"
        elif caught_s > MOST_CAUGHT_S:
            missed = f"with the target from {caught_s:.2f} s on, not {MOST_CAUGHT_S:g}"
        missed = missed or _left_behind(path, goals)
    return EpisodeVerdict(missed, {"caught_s": caught_s})


def _left_behind(path: Array, goals: Array) -> str | None:
    """Say how a robot does not drive on with what it follows; None if it does."""
    way = goals[-1] - goals[-1 - WITH_STEPS]
    off = float(np.linalg.norm(path[-1] - path[-1 - WITH_STEPS] - way))
    # What stands still beside a slow target has let go of it, too.
    most = min(WITH_M, WITH_SHARE * float(np.linalg.norm(way)))
    if off <= most:
        return None
    seconds = WITH_STEPS * worlds.STEP_S
    return f"let go in the end: {100 * off:.1f} cm in the last {seconds:g} s, not {100 * most:.2g}"


def _judge_avoidance(robot: Avoider) -> EpisodeVerdict:
    while robot.steps and not robot.is_done():
        robot.step()
    path = np.array(robot.track)
    left = np.linalg.norm(path - robot.goal_m, axis=1)
    clearance = min(map(robot.clearance_m, robot.track))
    moved = float(np.linalg.norm(path[-REST_STEPS:] - path[-1], axis=1).max())
    missed = _first(
        (
            (robot.touched, f"ran into an obstacle after {robot.sim_time_s:.2f} s"),
            (
                left[-1] > ARRIVED_M,
                f"{100 * left[-1]:.0f} cm from the goal, not {100 * ARRIVED_M:g}",
            ),
            (moved > REST_M, f"not at rest: {100 * moved:.1f} cm in the end, not {100 * REST_M:g}"),
        )
    )
    return EpisodeVerdict(
        missed,
        {"left_m": _number(float(left[-1])), "clearance_m": _number(clearance)},
    )


def _paths(robot: Tracker | Chaser) -> tuple[Array, Array, Array]:
    """Return where a robot was and should have been, shape (n, 2) each, and how far off it was."""
    path = np.array(robot.track)
    goals = np.array([robot.goal(step) for step in range(robot.steps + 1)])
    return path, goals, np.linalg.norm(path - goals, axis=1)


def _short(robot: worlds.PlanarRobot) -> str | None:
    if robot.steps >= worlds.STEPS:
        return None
    return f"stopped after {robot.sim_time_s:.2f} of {worlds.STEPS * worlds.STEP_S:.2f} s"


def _number(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


_WORLDS: Mapping[str, tuple[Callable[[int], Robot], Callable[[Any], EpisodeVerdict]]] = {
    "cartpole": (CartPole, _judge_cartpole),
    "impedance": (Arm, _judge_impedance),
    "tracking": (Tracker, _judge_tracking),
    "moving-target": (Chaser, _judge_chase),
    "avoidance": (Avoider, _judge_avoidance),
}
"""What is controlled in each task, and its judge."""
