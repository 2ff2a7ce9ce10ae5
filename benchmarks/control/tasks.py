"""The two controllers: what is asked, when it is done, and a program that does it.

cartpole
    `upright_steps` is the number of pushes after which the pole still stood. Done from 475 of 500
    on, the threshold at which gymnasium calls the task solved.
impedance
    The goal makes three smooth legs, then jumps by 5 cm and rests. `rms_m` is the root mean square
    of the fingertips' distance from the goal over the legs; `settling_s` is how long after the jump
    that distance stays below 5 mm for good (None: never). Done if the first is at most 15 mm and
    the second at most 0.5 s. A program that ends before the time is over has not done it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.control.arm import JUMP_STEP, STEP_S, STEPS, Arm
from benchmarks.control.cartpole import CartPole
from cap.robot.protocol import Robot

ENOUGH_STEPS = 475
MOST_RMS_M = 0.015
SETTLED_M = 0.005
MOST_SETTLING_S = 0.5
_SERIES_POINTS = 250
"""Points of a curve that are written down."""
_GAINS = ((1000, 60), (1500, 80), (2000, 100))
"""Stiffness in N/m and damping in N s/m, all of which do."""


@dataclass(frozen=True)
class EpisodeVerdict:
    """What came of an episode."""

    missed: str | None
    """Why it is not done; None if it is."""
    metrics: Mapping[str, Any]
    """The measured values, as JSON can hold them."""
    series: Mapping[str, Any]
    """The curves behind them, for a plot."""


@dataclass(frozen=True)
class ControlTask:
    """One controller to be written."""

    name: str
    """As the command line takes it; also the name of its prompt."""
    instruction: Callable[[int], str]
    """The person's words, by the trial's seed."""
    robot: Callable[[int], Robot]
    """Makes what is controlled, by the trial's seed."""
    judge: Callable[[Any], EpisodeVerdict]
    """Measures the robot after the program."""
    oracle: Callable[[int], str]
    """A program that does it, by the trial's seed."""


_CARTPOLE_WORDS = (
    "balance the pole with a PD controller of its angle until the episode is over",
    "keep the pole upright with a PD controller for as long as the episode lasts",
    "write a PD controller that keeps the pole from falling, and run it to the episode's end",
)
_CARTPOLE = """\
def pd(error, speed, p, d):
    return p * error + d * speed

while not is_done():
    x, x_dot, theta, theta_dot = get_state()
    control = pd(theta, theta_dot, p=1.0, d=0.4) + pd(x, x_dot, p=0.03, d=0.05)
    push(1 if control > 0 else 0)
"""
_IMPEDANCE_WORDS = (
    "follow the goal with the fingertips by impedance control until the time is over: stiffness "
    "{stiffness} N/m and damping {damping} N s/m along x, y and z, with gravity compensated"
)
_IMPEDANCE = """\
stiffness, damping = {stiffness} * np.eye(3), {damping} * np.eye(3)
while not is_done():
    jacobian = get_jacobian()
    velocity = jacobian @ get_joint_velocities()
    error = get_goal_position() - get_ee_position()
    force = stiffness @ error - damping @ velocity
    set_torques(jacobian.T @ force + get_gravity_torques())
    step()
"""


def _judge_cartpole(robot: CartPole) -> EpisodeVerdict:
    steps = robot.steps
    missed = None if steps >= ENOUGH_STEPS else f"upright for {steps} steps, not {ENOUGH_STEPS}"
    states = np.array(robot.states)
    series = {"x_m": _kept(states[:, 0]), "theta_rad": _kept(states[:, 2])}
    return EpisodeVerdict(
        missed, {"upright_steps": steps}, {**series, "step": _kept(np.arange(len(states)))}
    )


def _judge_impedance(robot: Arm) -> EpisodeVerdict:
    tips = np.array(robot.tips)
    goals = np.array([robot.goal(step) for step in range(len(tips))])
    off = np.linalg.norm(tips - goals, axis=1)
    rms_m = float(np.sqrt(np.mean(off[1:JUMP_STEP] ** 2))) if robot.steps else math.inf
    settling_s = None
    if robot.steps == STEPS:  # how long after the jump the error stays small for good
        outside = np.flatnonzero(~(off[JUMP_STEP:] < SETTLED_M))
        steps = int(outside[-1]) + 1 if len(outside) else 0
        settling_s = None if steps >= len(off) - JUMP_STEP else round(steps * STEP_S, 6)
    metrics = {"rms_m": _number(rms_m), "settling_s": settling_s}
    series = {
        "time_s": _kept(np.arange(len(tips)) * STEP_S),
        "error_m": _kept(off),
        "goal_m": [_kept(axis) for axis in goals.T],
        "tip_m": [_kept(axis) for axis in tips.T],
    }
    return EpisodeVerdict(_missed(robot, rms_m, settling_s), metrics, series)


def _missed(robot: Arm, rms_m: float, settling_s: float | None) -> str | None:
    if robot.steps < STEPS:
        return f"stopped after {robot.sim_time_s:.2f} of {STEPS * STEP_S:.2f} s"
    if not rms_m <= MOST_RMS_M:
        return f"{1000 * rms_m:.1f} mm off on the way, not {1000 * MOST_RMS_M:g}"
    if settling_s is None:
        return f"never settled within {1000 * SETTLED_M:g} mm of the goal"
    if settling_s > MOST_SETTLING_S:
        return f"settled after {settling_s:.2f} s, not {MOST_SETTLING_S:g}"
    return None


def _number(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _kept(curve: np.ndarray[Any, Any]) -> list[float | None]:
    """Return points spread over a curve, first and last among them."""
    chosen = np.unique(np.linspace(0, len(curve) - 1, _SERIES_POINTS).round().astype(int))
    return [_number(float(curve[place])) for place in chosen]


def _gains(seed: int) -> dict[str, int]:
    stiffness, damping = _GAINS[seed % len(_GAINS)]
    return {"stiffness": stiffness, "damping": damping}


TASKS: Mapping[str, ControlTask] = {
    "cartpole": ControlTask(
        "cartpole",
        lambda seed: _CARTPOLE_WORDS[seed % len(_CARTPOLE_WORDS)],
        CartPole,
        _judge_cartpole,
        lambda seed: _CARTPOLE,
    ),
    "impedance": ControlTask(
        "impedance",
        lambda seed: _IMPEDANCE_WORDS.format(**_gains(seed)),
        Arm,
        _judge_impedance,
        lambda seed: _IMPEDANCE.format(**_gains(seed)),
    ),
}
