"""The robosuite robot: layouts, snapshots, stops, pictures; needs the extra."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from cap.errors import CapError, RobotError
from cap.robot import observation
from robots.robosuite import create
from robots.robosuite.environments import environments

pytest.importorskip("robosuite", reason="the extra robosuite has an environment of its own")
pytestmark = pytest.mark.timeout(600)

_ROBOTS: dict[str, tuple[Any, Any]] = {}


def _kept(env: str) -> Any:
    """Return a robot in its first state, built once for each environment."""
    if env not in _ROBOTS:
        robot = create(env=env)
        _ROBOTS[env] = robot, robot.snapshot()
    robot, first = _ROBOTS[env]
    robot.restore(first)
    return robot


def _speed(robot: Any) -> float:
    """Return how fast any arm's joint moves, rad/s or m/s."""
    env = robot.env
    speeds = [env.sim.data._data.qvel[arm._ref_joint_vel_indexes] for arm in env.robots]
    return float(np.abs(speeds).max())


def test_a_program_has_the_same_bits_after_an_undo_and_in_another_robot() -> None:
    states = []
    for robot in (create(seed=1), create(seed=1)):
        robot.goto_pos([0.0, 0.1, 1.0])
        kept = robot.snapshot()
        for _ in range(2):
            robot.restore(kept)
            assert not robot.env._check_success()
            robot.pick_obj("cube")
            assert robot.env._check_success()
            assert robot.obj_in_gripper("cube")
            assert robot.condition()["held"] == "cube"
            states.append(robot.state)
    assert all(state == states[0] for state in states)


@pytest.mark.parametrize("env", ["Lift", "Wipe"])
def test_a_seed_gives_robosuite_s_own_layout(env: str) -> None:
    from robots.robosuite.world import make

    def layout(robosuite: Any) -> bytes:
        model = robosuite.sim.model._model
        return bytes(model.geom_size.tobytes() + model.body_pos.tobytes())

    ours = layout(create(seed=7, env=env).env)
    assert ours == layout(make(environments()[env], "Panda", 7))
    assert ours != layout(create(seed=8, env=env).env)


@pytest.mark.parametrize("env", [*environments()])
def test_a_snapshot_put_back_goes_on_with_the_same_bits(env: str) -> None:
    robot = create(seed=4, env=env)
    actions = np.random.default_rng(0).uniform(-1, 1, (40, robot.env.action_dim))
    for action in actions[:10]:
        robot.env.step(action)
    kept = robot.snapshot()

    def go_on(robot: Any) -> tuple[Any, ...]:
        steps = [robot.env.step(action)[:2] for action in actions[10:]]
        seen = [{name: np.asarray(value).tobytes() for name, value in o.items()} for o, _ in steps]
        return seen, [reward for _, reward in steps], robot.state, robot.positions()

    first = go_on(robot)
    robot.restore(kept)
    assert robot.snapshot() == kept
    assert go_on(robot) == first
    # Written to a file, and put back in a robot of another seed.
    kind = observation.kind_of(robot)
    text = msgspec.json.encode(observation.pack(kept, kind))
    other = create(seed=5, env=env)
    other.restore(observation.unpack(msgspec.json.decode(text), kind))
    assert go_on(other) == first


def test_a_stop_leaves_the_arm_still() -> None:
    robot = _kept("Lift")
    frames: list[float] = []

    def stop_soon() -> None:
        frames.append(robot.sim_time_s)
        if len(frames) == 3:
            threading.Thread(target=robot.stop).start()

    robot.on_frame = stop_soon
    with pytest.raises(RobotError, match="stopped"):
        robot.pick_obj("cube")
    robot.on_frame = None
    assert np.diff(frames) == pytest.approx(0.25)
    assert _speed(robot) < 0.1
    robot.pick_obj("cube")
    assert robot.env._check_success()


def test_a_picture_shows_the_red_cube() -> None:
    picture = np.asarray(_kept("Lift").render(160, 120), dtype=float)
    assert picture.shape == (120, 160, 3)
    red = (picture[..., 0] > 1.7 * picture[..., 1]) & (picture[..., 0] > 80)
    assert red.sum() > 5


def test_a_spill_that_was_wiped_is_seen_no_more_and_again_after_an_undo() -> None:
    robot = _kept("Wipe")

    def dirty() -> int:
        picture = np.asarray(robot.render(160, 120), dtype=int)[60:90]
        return int((picture[..., 0] > picture[..., 2] + 20).sum())

    kept, seen = robot.snapshot(), dirty()
    robot.wipe(robot.get_spill_points()[:10])
    wiped, left = robot.snapshot(), dirty()
    assert 0 < left < seen
    robot.restore(kept)
    assert dirty() == seen
    robot.restore(wiped)
    assert dirty() == left


def test_it_costs_little_more_than_robosuite_s_own_steps() -> None:
    robot = _kept("Lift")

    def cost_of_a_step(act: Callable[[], object]) -> float:
        began_s, before = time.process_time(), robot.env.timestep
        act()
        return (time.process_time() - began_s) / float(robot.env.timestep - before)

    ours, theirs, still = [], [], np.zeros(robot.env.action_dim)
    for _ in range(3):  # in turn, since other processes slow the machine down at times
        _kept("Lift")
        ours.append(cost_of_a_step(lambda: robot.pick_obj("cube")))
        theirs.append(cost_of_a_step(lambda: [robot.env.step(still) for _ in range(100)]))
    assert min(ours) <= 1.2 * min(theirs)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(200))
def test_random_programs_fail_by_type_or_not_at_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = _kept(str(rng.choice([*environments()])))
    names = [*robot.get_obj_names(), "mug"]

    def argument(name: str) -> Any:
        point = rng.uniform([-0.6, -0.8, 0.7], [0.6, 0.8, 1.5])
        if name in ("name", "first", "text") or (name == "second" and rng.random() < 0.5):
            return str(rng.choice(names))
        if name == "offset":
            return point - np.array([0, 0, 1])
        if "arm" in name:
            return int(rng.integers(-1, 3))
        if name in ("yaw", "height", "angle", "distance"):
            return float(rng.uniform(-1, 2))
        return [point, point + 0.1] if name == "points" else point

    for _ in range(2):
        primitive = rng.choice(list(robot.primitives().values()))
        given = {
            name: argument(name)
            for name, parameter in primitive.signature.parameters.items()
            if parameter.default is parameter.empty or rng.random() < 0.3
        }
        with contextlib.suppress(CapError):
            primitive.function(**given)
    robot.on_frame = robot.stop
    with pytest.raises(CapError):
        robot.move_by([0, 0, -0.3])
    robot.on_frame = None
    assert _speed(robot) < 0.1
