"""The robosuite robot: layouts, what programs do, snapshots, stops, pictures; needs the extra."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from cap.errors import CapError, Collision, LimitExceeded, NotFound, NotGrasped, RobotError
from cap.robot import observation
from robots.robosuite import create
from robots.robosuite.environments import environments

pytest.importorskip("robosuite", reason="the extra robosuite has an environment of its own")
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def lift() -> Iterator[Any]:
    robot = create(seed=1)
    yield robot
    robot.close()


def test_a_cube_is_lifted(lift: Any) -> None:
    assert not lift.env._check_success()
    lift.pick_obj("cube")
    assert lift.env._check_success()
    assert lift.obj_in_gripper("cube")
    assert lift.condition()["held"] == "cube"


@pytest.mark.parametrize("arm", ["Panda", "UR5e", "xArm7"])
def test_a_cube_is_put_on_another(arm: str) -> None:
    robot = create(seed=2, env="Stack", arm=arm)
    rest = robot.put_first_on_second("the red cube", "green cube")
    assert robot.env._check_success()
    assert rest == pytest.approx(
        robot.get_obj_pos("green cube") + np.array([0, 0, 0.045]), abs=0.01
    )
    assert robot.condition()["held"] == "nothing"


def test_objects_choose_the_environment() -> None:
    assert create(objects=["red cube"]).environment.name == "Stack"


@pytest.mark.parametrize("env", ["Lift", "Wipe"])
def test_a_seed_gives_robosuite_s_own_layout(env: str) -> None:
    from robots.robosuite.world import make

    whole = environments()[env]
    own = make(whole, "Panda", 7).sim.model._model
    ours = create(seed=7, env=env).env.sim.model._model
    other = create(seed=8, env=env).env.sim.model._model
    assert ours.geom_size.tobytes() == own.geom_size.tobytes()
    assert ours.body_pos.tobytes() == own.body_pos.tobytes()
    assert other.body_pos.tobytes() + other.geom_size.tobytes() != (
        ours.body_pos.tobytes() + ours.geom_size.tobytes()
    )


def test_three_runs_of_a_seed_have_the_same_bits() -> None:
    states = []
    for _ in range(3):
        robot = create(seed=3, env="Stack")
        robot.put_first_on_second("red cube", "green cube")
        states.append(robot.state)
    assert states[0] == states[1] == states[2]


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


def test_undo_in_the_middle_of_a_program_changes_nothing_after_it(lift: Any) -> None:
    lift.goto_pos([0.0, 0.1, 1.0])
    kept = lift.snapshot()
    lift.pick_obj("cube")
    first = lift.state
    lift.restore(kept)
    lift.pick_obj("cube")
    assert lift.state == first


def test_a_stop_leaves_the_arm_still(lift: Any) -> None:
    frames = 0

    def stop_soon() -> None:
        nonlocal frames
        frames += 1
        if frames == 3:
            thread = threading.Thread(target=lift.stop)
            thread.start()
            thread.join()

    lift.on_frame = stop_soon
    with pytest.raises(RobotError, match="stopped"):
        lift.pick_obj("cube")
    lift.on_frame = None
    assert lift._world.speed < 0.1
    lift.pick_obj("cube")
    assert lift.env._check_success()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda robot: robot.pick_obj("mug"), NotFound),
        (lambda robot: robot.pick_obj("cube", arm=1), NotFound),
        (lambda robot: robot.place_at_pos([0, 0]), NotGrasped),
        (lambda robot: robot.put_first_on_second("cube", "cube"), Collision),
        (lambda robot: robot.goto_pos([5, 0, 1]), RobotError),
        (lambda robot: robot.goto_pos([float("nan"), 0, 1]), TypeError),
        (lambda robot: robot.goto_pos("cube"), TypeError),
        (lambda robot: robot.wipe([[0, 0]]), TypeError),
        (lambda robot: robot.lift_with_both_arms("cube"), NotFound),
        (lambda robot: robot.lift_with_both_arms("cube", 9), LimitExceeded),
        (lambda robot: robot.pick_obj("cube", arm="left"), TypeError),
        (lambda robot: robot.turn_handle("cube"), NotFound),
        (lambda robot: robot.pull(0.1), NotGrasped),
        (lambda robot: robot.pull(7), LimitExceeded),
        (lambda robot: robot.hand_over("cube"), NotFound),
    ],
)
def test_what_cannot_be_is_refused_before_anything_moves(
    lift: Any, call: Callable[[Any], object], error: type[Exception]
) -> None:
    before = lift.state
    with pytest.raises(error):
        call(lift)
    assert lift.state == before


@pytest.mark.parametrize("seed", [0, 1])
def test_a_wiper_wipes_and_grasps_nothing(seed: int) -> None:
    robot = create(env="Wipe", seed=seed)
    with pytest.raises(NotGrasped, match="wiper"):
        robot.close_gripper()
    points = robot.get_spill_points()
    robot.wipe(points[:3])
    assert len(robot.get_spill_points()) < len(points)


def test_a_nut_put_down_where_its_peg_is_hangs_on_it() -> None:
    robot = create(env="NutAssembly", seed=0)
    robot.pick_obj("round nut")
    rest = robot.place_at_pos(robot.get_obj_pos("round peg"))
    assert robot.env.on_peg(rest, 1)
    assert robot.env.on_peg(robot.get_obj_pos("round nut"), 1)


@pytest.mark.parametrize(
    ("env", "act"),
    [
        ("TwoArmLift", lambda robot: robot.lift_with_both_arms("pot")),
        ("TwoArmHandover", lambda robot: robot.hand_over("hammer")),
        ("Door", lambda robot: (robot.turn_handle("door handle"), robot.pull(0.2))),
    ],
)
def test_handles_and_two_arms(env: str, act: Callable[[Any], object]) -> None:
    robot = create(env=env)
    assert not robot.env._check_success()
    act(robot)
    assert robot.env._check_success()


def test_a_picture_shows_the_red_cube(lift: Any) -> None:
    picture = np.asarray(lift.render(160, 120), dtype=float)
    assert picture.shape == (120, 160, 3)
    red = (picture[..., 0] > 1.7 * picture[..., 1]) & (picture[..., 0] > 80)
    assert red.sum() > 5


def test_it_costs_little_more_than_robosuite_s_own_steps() -> None:
    robot = create(seed=1)
    robot.pick_obj("cube")
    robot.reset(1)
    began_s, before = time.process_time(), robot.env.timestep
    robot.pick_obj("cube")
    ours = (time.process_time() - began_s) / (robot.env.timestep - before)
    began_s = time.process_time()
    for _ in range(100):
        robot.env.step(np.zeros(robot.env.action_dim))
    theirs = (time.process_time() - began_s) / 100
    assert ours <= 1.2 * theirs


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(200))
def test_random_programs_fail_by_type_or_not_at_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    env = str(rng.choice([*environments()]))
    robot = _kept(env)
    names = [*robot.get_obj_names(), "mug"]

    def point() -> Any:
        return rng.uniform([-0.6, -0.8, 0.7], [0.6, 0.8, 1.5])

    arguments: dict[str, Callable[[], Any]] = {
        "name": lambda: str(rng.choice(names)),
        "first": lambda: str(rng.choice(names)),
        "second": lambda: str(rng.choice(names)) if rng.random() < 0.5 else point(),
        "pos": point,
        "start": point,
        "end": point,
        "offset": lambda: rng.uniform(-0.3, 0.3, 3),
        "points": lambda: np.stack([point() for _ in range(3)]),
        "text": lambda: "hello",
        "height": lambda: float(rng.uniform(0, 0.5)),
        "yaw": lambda: float(rng.uniform(-9, 9)),
        "arm": lambda: int(rng.integers(-1, 3)),
        "angle": lambda: float(rng.uniform(-1, 2)),
        "distance": lambda: float(rng.uniform(-0.1, 0.6)),
        "from_arm": lambda: int(rng.integers(0, 2)),
        "to_arm": lambda: int(rng.integers(0, 2)),
    }
    for _ in range(4):
        primitive = rng.choice(list(robot.primitives().values()))
        given = {
            name: arguments[name]()
            for name, parameter in primitive.signature.parameters.items()
            if parameter.default is parameter.empty or rng.random() < 0.3
        }
        with contextlib.suppress(CapError):
            primitive.function(**given)
    robot.on_frame = robot.stop
    with pytest.raises(CapError):
        robot.move_by([0, 0, -0.3])
    robot.on_frame = None
    assert robot._world.speed < 0.1


_ROBOTS: dict[str, tuple[Any, Any]] = {}


def _kept(env: str) -> Any:
    """Return a robot in its first state, built once for each environment."""
    if env not in _ROBOTS:
        robot = create(env=env)
        _ROBOTS[env] = robot, robot.snapshot()
    robot, first = _ROBOTS[env]
    robot.restore(first)
    return robot
