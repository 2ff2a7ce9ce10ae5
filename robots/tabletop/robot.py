"""The tabletop robot: the primitives of the simulated one, on a real arm.

Plans are carried out one straight move after the other. Programs are rehearsed in a twin: a
simulated table that has the arm's limits.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ImageDraw

from cap.errors import MissingExtra, NotGrasped, RobotError
from cap.program.scope import Primitive
from cap.robot.view import Appearance, Shape
from robots.arm.gripper import Fingers, Grip
from robots.arm.motion import Pose
from robots.arm.strokes import Array, Stroke, stroke_of
from robots.ravens import transfer
from robots.ravens.robot import RavensRobot
from robots.ravens.scene import Body, Scene
from robots.ravens.state import MAX_PATHS, Layout, WorldState
from robots.ravens.transfer import Transfer
from robots.ravens.world import TabletopWorld
from robots.simulation.physics import chosen_engine
from robots.simulation.simulated_robot import TurnHistory
from robots.simulation.world import WorldOwner
from robots.table.geometry import PLACES
from robots.tabletop import waypoints
from robots.tabletop.arm_state import TcpPose
from robots.tabletop.dry_run import DryDriver
from robots.tabletop.limits import MotionLimits, straight_down, yaw_of
from robots.tabletop.observation import Sight
from robots.tabletop.safety_guard import GuardedArm
from robots.tabletop.waypoints import Way


def make_twin(state: WorldState, fingers: Fingers, limits: MotionLimits) -> RavensRobot:
    """Return a simulated table in a state: with dynamics, where an engine is installed."""
    make = TabletopWorld
    with contextlib.suppress(MissingExtra):
        chosen_engine(None)
        from robots.ravens.physics import PhysicsTabletop

        make = PhysicsTabletop

    limited: Any = type("LimitedTabletop", (LimitedWorld, make), {"limits": limits})
    mode = "instant" if make is TabletopWorld else "physics"
    twin = Twin((), 0, mode, partial(limited, fingers=fingers))
    twin.restore((state, ()))
    return twin


class Twin(RavensRobot):
    """A simulated table that also knows how its gripper is turned."""

    def condition(self) -> Mapping[str, Any]:
        """Return what the table reports, and the direction the fingers close in: x and y."""
        yaw = Pose.of_joints(self._world.state.joints).yaw
        return {**super().condition(), "gripper closes along": (math.cos(yaw), math.sin(yaw))}


class LimitedWorld(TabletopWorld):
    """A simulated table whose gripper goes only where a real arm's limits let it.

    The class that moves it comes behind this one.
    """

    limits: MotionLimits

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up and put it down, where the limits allow the whole way."""
        self._check(waypoints.of_transfer(self._start(), planned, self.state.scene).whole)
        super().transfer(planned, slips=slips)

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, where the limits allow the way."""
        if self.state.held is not None:
            planned = self.state.put_down(self.fingers)
            self._check(waypoints.of_put_down(self._start(), planned, self.state.scene).whole)
        super().recover()

    def point(self, xy: tuple[float, float]) -> None:
        """Hold the gripper over a point of the table, metres."""
        self._check(waypoints.to_point(self._start(), xy, self.state.scene))
        super().point(xy)

    def follow(self, path: Array, speed_mps: float) -> None:
        """Take the gripper along a path, where the limits allow all of it."""
        self._check(waypoints.along(self._start(), path, speed_mps, self.state.scene))
        super().follow(path, speed_mps)

    def _start(self) -> TcpPose:
        hand = Pose.of_joints(self.state.joints)
        return straight_down(hand.x, hand.y, hand.z, hand.yaw)

    def _check(self, way: Way) -> None:
        self.limits.check_way([waypoint.pose for waypoint in way], self._start())


_LIFTED_M = 0.003
"""What the fingers have not moved by since they closed still stands where it stood."""


@dataclass(frozen=True)
class Held:
    """What is between the fingers, as it was when they closed on it."""

    bodies: tuple[Body, ...]
    """The object, and what it carries."""
    grip: Grip
    """Where the fingers were, and how far they were open."""
    laid: tuple[Body, ...] = ()
    """The bodies where they stand once the fingers open; nothing before they were to open."""

    def at(self, pose: Pose) -> tuple[Body, ...]:
        """Return where they are with the fingertips at a pose."""
        turn, tip = pose.yaw - self.grip.yaw, (pose.x, pose.y, pose.z)
        return tuple(body.carried(self.grip.tip, tip, turn) for body in self.bodies)


class HardwareWorld(TabletopWorld):
    """Carries plans out with an arm behind its limits."""

    def __init__(self, owner: WorldOwner, arm: GuardedArm, sight: Sight) -> None:
        """Use an arm that is connected."""
        self._owner = owner
        self._arm = arm
        self.fingers = arm.driver.fingers
        self._sight = sight
        self._held: Held | None = None
        self._seen: Scene | None = None
        """What was seen last."""
        self.paths: tuple[Stroke, ...] = ()
        """Paths followed, the oldest first."""
        self._turns: TurnHistory[Layout] = TurnHistory()

    @property
    def state(self) -> WorldState:
        """What is known now: the scene as seen, what is held as it hangs, the arm as measured."""
        pose = self._arm.last_pose()
        self._seen = self._sight.scene()
        return self._with_hand(self._seen, pose)

    @state.setter
    def state(self, state: WorldState) -> None:
        raise RobotError("a real table cannot be restored; move the objects yourself")

    def _with_hand(self, scene: Scene, pose: TcpPose) -> WorldState:
        """Return the state with the fingertips at a pose: what they hold hangs there."""
        hand, held, gap_m = Pose(*pose[:3], yaw_of(pose)), self._held, self.fingers.stroke_m
        if held is not None:
            scene = scene.moved(held.at(hand))
            gap_m = held.grip.gap_m
        state = WorldState(scene, hand.joints(), gap_m, self.held, paths=self.paths)
        return replace(state, turns=self._turns)

    @property
    def held(self) -> str | None:
        """The name of what is between the fingers."""
        return None if self._held is None else self._held.bodies[0].name

    def remember(self, turns: TurnHistory[Layout]) -> None:
        """Keep where everything was before the last turns."""
        self._turns = turns

    def end_turn(self, words: str) -> tuple[str, ...]:
        """Begin another turn, whether the table is seen now; return the instructions undone."""
        undone = self._turns.undone
        self._turns = self._turns.ended(words)
        return undone

    def begin(self) -> None:
        """Connect again if need be, and make sure that the arm may move."""
        self._arm.begin()

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up and put it down; every pose is checked before anything moves."""
        scene = self._sight.scene()
        way = waypoints.of_transfer(self._arm.pose(), planned, scene)
        self._arm.require_allowed(way.whole)
        self._arm.gripper(planned.pick.gap_m)
        self._arm.path(way.to_pick)
        self._owner.frame()
        self._held = Held(tuple(scene[body.name] for body in planned.result), planned.pick)
        try:
            empty = self._arm.gripper(0.0) is False
        except BaseException:
            if self._arm.driver.commanded_gap_m:  # they were never commanded to close
                self._held = None
            raise
        if empty:
            self._held = None
            self._arm.gripper(planned.pick.gap_m)
            self._arm.path(way.lift)
            raise NotGrasped(f"the gripper closed on nothing at {planned.name!r}; look where it is")
        self._arm.path((*way.lift, *way.to_place))
        self._owner.frame()
        self._require_held(planned.name)
        self._let_go(planned.result, planned.place.gap_m)
        self._arm.path(way.away)

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, straight below it if it stands."""
        if self._held is None:
            return
        start, scene = self._arm.pose(), self._sight.scene()
        if math.dist(start[:3], self._held.grip.tip) < _LIFTED_M and not self._arm.holding():
            # It was not lifted: it stands where it stood.
            self._let_go(self._held.bodies, self._held.grip.gap_m)
            return
        if self._held.laid and self._arm.holding() is False:
            self._note_let_go()  # the fingers did open, though nobody could tell then
            return
        self._require_held(self._held.bodies[0].name)
        hand = Pose(*start[:3], yaw_of(start))
        opened = replace(self._held.grip, tip=start[:3], yaw=hand.yaw)
        planned = transfer.put_down(scene, self._held.at(hand), opened)
        way = waypoints.of_put_down(start, planned, scene)
        self._arm.require_allowed(way.whole)
        self._arm.path(way.to_place)
        self._let_go(planned.result, planned.place.gap_m)
        self._arm.path(way.away)

    def _require_held(self, name: str) -> None:
        """Raise `NotGrasped` if the gripper can tell that it lost what it held."""
        if self._arm.holding() is False:
            self._held = None
            raise NotGrasped(
                f"{name!r} is no longer in the gripper: it slipped out, or somebody took it; "
                "look where it is, and correct the list of objects if there is one"
            )

    def _let_go(self, laid: tuple[Body, ...], gap_m: float) -> None:
        """Open the fingers, which leaves bodies where they are said to be.

        Fingers that were commanded to open do so, whatever stops the arm meanwhile.
        """
        assert self._held is not None
        self._held = replace(self._held, laid=laid)
        try:
            self._arm.gripper(gap_m)
        except BaseException as error:
            if not self._arm.driver.commanded_gap_m:
                raise
            self._note_let_go()
            if not isinstance(error, RobotError):
                raise
            x, y = laid[0].xy
            raise type(error)(
                f"{error}; the fingers had been commanded to open: {laid[0].name!r} should stand "
                f"at ({x:.2f}, {y:.2f}); check that it does"
            ) from error
        self._note_let_go()
        self._owner.frame()

    def _note_let_go(self) -> None:
        assert self._held is not None
        laid, self._held = self._held.laid, None
        self._sight.placed(laid)

    def point(self, xy: tuple[float, float]) -> None:
        """Hold the gripper over a point of the table, metres."""
        self._arm.path(waypoints.to_point(self._arm.pose(), xy, self._sight.scene()))
        self._owner.frame()

    def follow(self, path: NDArray[np.float64], speed_mps: float) -> None:
        """Take the gripper to a path's first point, then along the path, above all objects.

        The arm stops for a moment at each corner.
        """
        way = waypoints.along(self._arm.pose(), path, speed_mps, self._sight.scene())
        self._arm.path(way)
        corners = np.array(waypoints.corners_of(path))
        self.paths = (*self.paths, stroke_of(corners))[-MAX_PATHS:]
        self._owner.frame()

    def now(self) -> WorldState:
        """Return what was seen last, with the arm where it was heard to be last.

        Neither camera nor controller is asked, so this may be called while the arm moves.
        """
        heard = self._arm.heard_pose()
        if self._seen is None or heard is None:
            return self.state
        return self._with_hand(self._seen, heard)

    def close(self) -> None:
        """Disconnect."""
        self._arm.close()
        self._sight.close()


class TabletopRobot:
    """A real UR5e with a two-finger gripper at a table, seen by a camera.

    Positions are xy in metres in the table frame: x grows to the right, y grows away from the front
    edge (up, in the picture), towards the robot, whose base is at its origin. Things stand at
    x -0.28 to 0.28, y -0.78 to -0.22. Objects have the names the camera's detector gives them, such
    as 'red block' or 'blue bowl'. Places have names too: 'top left corner', 'top right corner',
    'bottom left corner', 'bottom right corner', 'top side', 'right side', 'bottom side',
    'left side', 'middle'.
    """

    name = "tabletop"

    def __init__(self, arm: GuardedArm, sight: Sight, world_note: str = "") -> None:
        """Take over an arm; with `connect` it can move.

        Args:
            arm: Connected here.
            sight: What is known of the table.
            world_note: What a person should know of that table when a session goes on with it.
        """
        self.world_note = world_note
        self.simulated = isinstance(arm.driver, DryDriver)
        self.mode = "dry run" if self.simulated else "hardware"
        self._arm = arm
        arm.connect()

        def world(host: WorldOwner, _: WorldState) -> HardwareWorld:
            self._world = HardwareWorld(host, arm, sight)
            return self._world

        self._table = RavensRobot((), 0, "instant", world)

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name: those of the simulated table."""
        return self._table.primitives()

    def context(self) -> Mapping[str, Any]:
        """Return the names of the objects seen."""
        return self._table.context()

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return where each object is seen: xyz in metres."""
        return self._table.positions()

    landmarks = PLACES

    def whereabouts(self) -> Mapping[str, str]:
        """Return the bowl or block that each object is seen in or on; "" on the table itself."""
        return self._table.whereabouts()

    def condition(self) -> Mapping[str, Any]:
        """Return where the fingertips are, what they hold, paths followed, and motions sent.

        That is known of an arm that sees nothing as well.
        """
        return {
            "gripper": self._arm.last_pose()[:3],
            "held": self._world.held or "nothing",
            "paths followed": len(self._world.paths),
            "motions": self._arm.driver.sent,
        }

    @property
    def spoken(self) -> list[str]:
        """What `say` was given, in order."""
        return self._table.spoken

    @property
    def paths(self) -> tuple[Stroke, ...]:
        """Paths the fingertips were led along, the oldest first: xy, metres."""
        return self._world.paths

    @property
    def commands(self) -> list[str]:
        """What a dry run would have sent, in order; nothing on hardware."""
        driver = self._arm.driver
        return list(driver.commands) if isinstance(driver, DryDriver) else []

    def twin(self) -> RavensRobot:
        """Return the simulated table with arm and objects where they are now, and its limits.

        Raises:
            NotConnected: Where the arm is, is not known.
        """
        self._arm.reach()
        state = replace(self._table.state, paths=())
        return make_twin(state, self._arm.driver.fingers, self._arm.limits)

    def end_turn(self, words: str = "") -> tuple[str, ...]:
        """Begin another turn; return the instructions that were undone."""
        return self._world.end_turn(words)

    def stop(self) -> None:
        """Brake now; safe from any thread. The primitive that was moving raises `RobotError`."""
        self._table.stop()
        self._arm.stop()

    def shapes(self) -> Mapping[str, Sequence[Shape]]:
        """Return what each body is made of, for drawing the table."""
        return self._table.shapes()

    def view(self) -> Appearance:
        """Return where each body is, as far as that is known; also while the arm moves."""
        return self._table.view()

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return what is known of the table as a PIL image, in a dry run with the path."""
        image = self._table.render(width, height)
        driver = self._arm.driver
        if isinstance(driver, DryDriver):
            middle, scale = (width / 2, height / 2), min(width, height) / 0.66
            line = [
                (middle[0] + x * scale, middle[1] - (y + 0.5) * scale) for x, y, *_ in driver.poses
            ]
            ImageDraw.Draw(image).line(line, (30, 30, 30), 2)
        return image

    def close(self) -> None:
        """Stop, disconnect the arm and close the camera."""
        self._table.close()
