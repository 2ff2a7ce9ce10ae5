"""What the real arm is told to do with objects: openings, heights, limits, and after a stop."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from cap.errors import Collision, LimitExceeded, ProtectiveStop, RobotError
from robots.arm import gripper as clearance
from robots.arm.gripper import Fingers, first_touched
from robots.ravens import transfer
from robots.ravens.scene import BOWL_FLOOR, Body, Scene, sample_scene
from robots.ravens.transfer import PALM
from robots.table.geometry import PLACES
from robots.table.object_names import DEFAULT_NAMES
from robots.tabletop import TabletopRobot
from robots.tabletop.dry_run import DryDriver
from robots.tabletop.limits import MotionLimits
from robots.tabletop.observation import ListedSight
from robots.tabletop.safety_guard import GuardedArm

BINARY = Fingers(stop_anywhere=False)
PARTIAL = Fingers()


@dataclass
class Arm(DryDriver):
    """Notes what it is told, and fails in the middle of a move if it is to."""

    name: str = "ur_rtde"
    fails_at: int | None = None
    moves: int = 0
    told: list[tuple[str, Any]] = field(default_factory=list)
    """`move` with a pose, or `gripper` with a distance, in order."""

    def move_linear(self, pose: Any, *, speed_mps: float, acceleration_mps2: float) -> None:
        self._require_going()
        self.moves += 1
        if self.moves == self.fails_at:
            middle = [a + (b - a) * 0.5 for a, b in zip(self.tcp_pose(), pose, strict=True)]
            self.told.append(("move", tuple(middle)))
            super().move_linear(tuple(middle), speed_mps=speed_mps, acceleration_mps2=1.0)  # type: ignore[arg-type]
            raise ProtectiveStop("in the middle")
        self.told.append(("move", pose))
        super().move_linear(pose, speed_mps=speed_mps, acceleration_mps2=acceleration_mps2)

    def gripper(self, gap_m: float) -> bool | None:
        self.told.append(("gripper", gap_m))
        return super().gripper(gap_m)


def listed(*bodies: Body) -> ListedSight:
    return ListedSight(lambda: Scene(bodies))


def block(color: str, x: float, y: float, level: int = 0, floor: float = 0.0) -> Body:
    return Body(f"{color} block", (x, y, 0.02 + 0.04 * level + floor))


def bowl(color: str, x: float, y: float) -> Body:
    return Body(f"{color} bowl", (x, y, 0.018))


def robot_on(
    *bodies: Body, arm: Arm | None = None, limits: MotionLimits | None = None
) -> tuple[TabletopRobot, Arm]:
    arm = arm or Arm()
    guarded = GuardedArm(arm, limits or MotionLimits())
    return TabletopRobot(guarded, listed(*bodies)), arm


def call(robot: TabletopRobot, name: str, *args: Any) -> Any:
    return robot.primitives()[name].function(*args)


# The opening.


@pytest.mark.inside
@pytest.mark.sweep
@pytest.mark.parametrize("fingers", [BINARY, PARTIAL], ids=["binary", "robotiq"])
@pytest.mark.parametrize("seed", range(40))
def test_at_the_opening_commanded_no_plan_touches_anything(
    seed: int, fingers: Fingers, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = sample_scene(DEFAULT_NAMES, np.random.default_rng(seed))
    hand = replace(transfer.WAITING, fingers=fingers)
    plans = 0
    pairs = itertools.product(scene.names, (*scene.names, *PLACES))
    for name, to in itertools.islice(pairs, seed % 5, None, 5):
        xy = PLACES[to] if to in PLACES else scene[to].xy
        try:
            planned = transfer.transfer(scene, name, xy, hand)
        except RobotError:
            continue
        plans += 1
        robot, arm = robot_on(*scene.bodies, arm=Arm(fingers=fingers))
        robot._table._world.transfer(planned)
        opened = [gap for what, gap in arm.told if what == "gripper" and gap > 0]
        assert len(opened) == 2
        for grip, gap in zip((planned.pick, planned.place), opened, strict=True):
            really = gap if fingers.stop_anywhere else fingers.stroke_m
            with monkeypatch.context() as exact:
                exact.setattr(clearance, "MARGIN_M", 0.0)
                assert first_touched(replace(grip, gap_m=really), PALM, scene.others(name)) is None
    assert plans > 12


def test_fingers_that_only_open_fully_need_room_and_say_so() -> None:
    scene = Scene((block("red", 0.0, -0.5), block("blue", 0.06, -0.5), block("pink", 0, -0.56)))
    transfer.transfer(scene, "red block", (0.2, -0.5))
    with pytest.raises(Collision, match="of fingers that only open fully"):
        transfer.transfer(
            scene, "red block", (0.2, -0.5), replace(transfer.WAITING, fingers=BINARY)
        )


# The height.


def over(pose: Sequence[float], body: Body) -> bool:
    return math.dist(pose[:2], body.xy) < body.radius + 0.055


def check_clear(told: Sequence[tuple[str, Any]], start: Sequence[float], tower: Body) -> None:
    """Check that straight moves keep above a tower where they pass over it."""
    for what, pose in told:
        if what == "move":
            for share in np.linspace(0.0, 1.0, 50):
                there = [a + (b - a) * share for a, b in zip(start[:3], pose[:3], strict=True)]
                assert not over(there, tower) or there[2] > tower.top
            start = pose


@pytest.mark.parametrize("fails_at", range(1, 12, 2))
def test_after_a_stop_the_way_goes_over_what_stands_on_it_from_where_the_arm_is(
    fails_at: int,
) -> None:
    tower = [block(c, 0.0, -0.53, n) for n, c in enumerate(("blue", "pink", "cyan", "gray"))]
    robot, arm = robot_on(
        block("red", 0.2, -0.7), block("green", -0.25, -0.3), *tower, arm=Arm(fails_at=fails_at)
    )
    with pytest.raises(ProtectiveStop):
        call(robot, "put_first_on_second", "red block", (0.2, -0.5))
    start, before = arm.tcp_pose(), len(arm.told)
    call(robot, "put_first_on_second", "green block", (-0.25, -0.42))
    check_clear(arm.told[before:], start, tower[-1])


# The limits.


@pytest.mark.parametrize("limits", [{"x_m": (-0.05, 0.4)}, {"z_m": (0.0, 0.33)}, {"step_m": 0.2}])
def test_a_narrowed_box_refuses_before_anything_moves(limits: dict[str, Any]) -> None:
    tower = (block(f"number {n}", 0.0, -0.7, n) for n in range(8))
    bodies = (block("red", 0.1, -0.45), bowl("blue", -0.15, -0.6), *tower)
    robot, arm = robot_on(*bodies, limits=MotionLimits(**limits))
    for target in (robot, robot.twin()):
        with pytest.raises(LimitExceeded, match=r"outside the workspace box|longer than step_m"):
            target.primitives()["put_first_on_second"].function("red block", "blue bowl")
    assert arm.told == []


# After a stop.

SCENES = {
    "table": ((block("red", 0.1, -0.45), bowl("blue", -0.2, -0.7)), "red block", "blue bowl"),
    "bowl": ((bowl("red", 0.2, -0.35), bowl("blue", -0.2, -0.7)), "red bowl", "blue bowl"),
    "with its contents": (
        (bowl("blue", 0.1, -0.45), block("red", 0.1, -0.45, floor=BOWL_FLOOR)),
        "blue bowl",
        (-0.15, -0.6),
    ),
}


def support(body: Body, others: Iterable[Body]) -> float:
    """Return the height of what is straight below an object, in plain words of this test."""
    heights = [0.0]
    for other in others:
        if math.dist(body.xy, other.xy) < 0.012 and other.kind == "bowl":
            nested = 0.0145 if body.kind == "bowl" else BOWL_FLOOR
            heights.append(other.bottom + nested)
        elif math.dist(body.xy, other.xy) < 0.03:
            heights.append(other.top)
    return max(heights)


@pytest.mark.inside
@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize(
    ("case", "fingers"),
    [(case, PARTIAL) for case in SCENES]
    + [(case, BINARY) for case in SCENES if case != "with its contents"],
)
def test_what_a_stop_left_in_the_gripper_is_put_down_at_its_height(
    case: str, fingers: Fingers
) -> None:
    bodies, first, second = SCENES[case]
    put_down = 0
    for fails_at in itertools.count(1):
        robot, arm = robot_on(*bodies, arm=Arm(fails_at=fails_at, fingers=fingers))
        try:
            call(robot, "put_first_on_second", first, second)
            break
        except ProtectiveStop:
            pass
        held = robot.condition()["held"]
        if held == "nothing":
            continue
        put_down += 1
        taken = next(
            before[1] for before, after in itertools.pairwise(arm.told) if after == ("gripper", 0.0)
        )
        hang = taken[2] - next(body for body in bodies if body.name == held).bottom
        before = len(arm.told)
        call(robot, "point_gripper_to", "middle")
        told = arm.told[before:]
        opened = next(n for n, (what, _) in enumerate(told) if what == "gripper")
        at = told[opened - 1][1] if opened else arm.tcp_pose()
        scene = robot._table._scene
        foot = at[2] - hang
        rest = support(
            scene[held], scene.others(held, *(b.name for b in transfer.resting_on(scene, held)))
        )
        assert scene[held].bottom == pytest.approx(rest, abs=1e-6)
        assert rest <= foot <= rest + 0.002
        assert robot.condition()["held"] == "nothing"
    assert put_down >= 4


def test_what_is_held_is_where_the_hand_is_and_the_twin_knows() -> None:
    robot, arm = robot_on(block("red", 0.1, -0.45), bowl("blue", -0.2, -0.7), arm=Arm(fails_at=6))
    with pytest.raises(ProtectiveStop):
        call(robot, "put_first_on_second", "red block", "blue bowl")
    assert robot.positions()["red block"][:2] == pytest.approx(arm.tcp_pose()[:2])
    twin = robot.twin()
    assert twin.condition()["held"] == "red block"
    twin.primitives()["point_gripper_to"].function("middle")
    call(robot, "point_gripper_to", "middle")
    assert twin.positions()["red block"] == pytest.approx(robot.positions()["red block"], abs=5e-3)


# The tool.


@pytest.mark.inside
def test_a_tool_that_was_shifted_since_is_noticed() -> None:
    arm = Arm()
    robot = TabletopRobot(
        GuardedArm(arm, MotionLimits(), tool_m=0.163), listed(block("red", 0, -0.5))
    )
    state = arm.state()
    x, y, z, *turn = state.tcp_pose
    arm._state = replace(state, tcp_pose=(x, y, z + 0.08, *turn))  # type: ignore[arg-type]
    with pytest.raises(LimitExceeded, match="cm from the tips"):
        call(robot, "point_gripper_to", "middle")
    assert arm.told == []


@pytest.mark.inside
def test_a_tool_that_is_turned_is_refused_unless_it_is_said() -> None:
    from robots.arm import rotations

    def turned() -> Arm:
        arm = Arm()
        tcp = arm.tcp_pose()
        about = rotations.rotation_of((0.0, 0.0, math.pi / 2))
        vector = rotations.rotation_vector(rotations.rotation_of(tcp[3:]) @ about)
        arm._state = replace(arm.state(), tcp_pose=(*tcp[:3], *vector.tolist()))
        return arm

    with pytest.raises(LimitExceeded, match="turned 90 degrees"):
        GuardedArm(turned(), MotionLimits(), tool_m=0.163).connect()
    GuardedArm(turned(), MotionLimits(), tool_m=0.163, tool_turn_rad=math.pi / 2).connect()


# Bowls with something in them.

FILLED = (
    bowl("blue", -0.12, -0.50),
    block("green", -0.12, -0.50, floor=BOWL_FLOOR),
    block("red", -0.12, -0.50, level=1, floor=BOWL_FLOOR),
    bowl("gray", 0.2, -0.3),
)


@pytest.mark.parametrize(("fingers", "carries"), [(BINARY, 5), (PARTIAL, 1)])
@pytest.mark.parametrize(("to", "xy"), [([0.1, -0.55], (0.1, -0.55)), ("middle", (0.0, -0.5))])
def test_a_filled_bowl_gets_there_with_what_it_holds(
    fingers: Fingers, carries: int, to: Any, xy: tuple[float, float]
) -> None:
    robot, arm = robot_on(*FILLED, arm=Arm(fingers=fingers))
    assert call(robot, "put_first_on_second", "blue bowl", to) == pytest.approx(xy, abs=0.003)
    assert [told[0] for told in arm.told].count("gripper") == 3 * carries
    now = robot.positions()
    for number, name in enumerate(["blue bowl", "green block", "red block"]):
        assert now[name][:2] == pytest.approx(xy, abs=0.003)
        assert now[name][2] == pytest.approx(FILLED[number].position[2], abs=0.003)
    assert now["gray bowl"] == FILLED[3].position
