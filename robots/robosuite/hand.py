"""A hand: where it is and is to be, in which direction its fingers close, and the action for that.

A hand's frame has x in the direction in which the fingers close and z out of the hand, where they
point; its origin is between the fingertips. robosuite's sites have the same z; in which direction
the fingers close differs from arm to arm and is read off the gripper's own pads.
"""

from __future__ import annotations

import math

import mujoco
import numpy as np

from robots.arm.rotations import rotation_vector
from robots.robosuite.world import Array, Simulation, azimuth

FULL_STEP_RAD = 0.4
"""The furthest a step turns its goal from where the hand is: about 2.5 rad/s."""
WRIST_SPARE_RAD = 0.15
"""A wrist keeps so far from its ends."""
OPEN, CLOSED = -1.0, 1.0
"""robosuite's actions for fingers."""
_SPOTS = 5
"""So many spots stand for a part of a hand along each of its edges."""


def downward(yaw: float) -> Array:
    """Return the rotation of a hand that points down, its fingers closing at `yaw` from x."""
    across = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    down = np.array([0.0, 0.0, -1.0])
    return np.column_stack([across, np.cross(down, across), down])


class ArmHand:
    """One arm's hand in a simulation, and its command: it keeps to that until the next one."""

    def __init__(self, world: Simulation, number: int) -> None:
        """Find the hand of the arm of that number, as the simulation begins."""
        model, seen = world.model, world.seen
        self._world = world
        self._robot = world.env.robots[number]
        self._gripper = self._robot.gripper["right"]
        self._part = self._robot.composite_controller.part_controllers["right"]
        self._site = self._robot.eef_site_id["right"]
        self._origin = model.site(f"{self._part.naming_prefix}{self._part.part_name}_center").id
        prefix = self._gripper.naming_prefix
        self.has_fingers = bool(self._gripper.dof)
        site = seen.site_xmat[self._site].reshape(3, 3)
        across, out = site[:, 0], site[:, 2]
        if self.has_fingers:
            pads = self._gripper.important_geoms["right_fingerpad"]
            pads = [*pads, f"{prefix}right_finger_pad_1"]  # XArm7's true name
            pad = [number for number, name in world.geoms.items() if name in pads]
            along = (seen.geom_xpos[pad[0]] - seen.site_xpos[self._site]) @ site[:, :2]
            axis = int(np.abs(along).argmax())
            across = site[:, axis] * np.sign(along[axis])
        self._frame_from_site = np.column_stack([across, np.cross(out, across), out]).T @ site
        self.stay()
        self.fingers = OPEN
        """The command for the fingers: `OPEN` or `CLOSED`."""
        self.held = ""
        """What it was closed on; "" if on nothing."""
        self._joint = self._robot._ref_arm_joint_indexes[-1]
        wrist = np.flatnonzero(model.geom_bodyid == model.jnt_bodyid[self._joint])
        self._own = {number for number, name in world.geoms.items() if name.startswith(prefix)}
        shapes = {number for number in (*self._own, *wrist) if world.solid[number]}
        corners = (world.corners(shapes) - self.position) @ self.rotation
        low, high = corners.min(axis=1), corners.max(axis=1)
        self.tip_m = float(high[:, 2].max())
        """How far the fingers reach beyond the middle between their pads, metres."""
        shares = np.linspace(0.0, 1.0, _SPOTS)
        grid = np.array([(x, y, 1.0) for x in shares for y in shares])
        low[:, 2] = 0.0
        self._spots = (low[:, None] + grid * (high - low)[:, None]).reshape(-1, 3)
        self.base = np.array(seen.site_xpos[self._origin])
        """Where the arm begins, xyz in metres."""
        self._home_yaw = azimuth(self.rotation[:, 0])
        self._home_azimuth = azimuth(self.position - self.base)
        # The wrist's joint turns with the hand, the one way or the other, between its ends.
        self._way = float(np.sign(seen.xaxis[self._joint][2]))
        self._home_wrist = self._wrist
        self._ends = self._wrist + np.array([-math.pi, math.pi])
        if model.jnt_limited[self._joint]:
            self._ends = model.jnt_range[self._joint] + (WRIST_SPARE_RAD, -WRIST_SPARE_RAD)

    @property
    def position(self) -> Array:
        """Where the fingertips are, xyz in metres."""
        return np.array(self._world.seen.site_xpos[self._site])

    @property
    def rotation(self) -> Array:
        """How the hand's frame is turned, shape (3, 3)."""
        site = self._world.seen.site_xmat[self._site].reshape(3, 3)
        frame: Array = site @ self._frame_from_site.T
        return frame

    def stay(self) -> None:
        """Have it keep to where it is; `push`, metres and radians, is added to its goal."""
        self.aim, self.turned, self.push = self.position, self.rotation, np.zeros(6)

    @property
    def yaw(self) -> float:
        """In which direction the fingers close, seen from above: radians from x.

        It is within half a turn of `straight_yaw`.
        """
        straight = self.straight_yaw(self.position)
        return straight + math.remainder(azimuth(self.rotation[:, 0]) - straight, 2 * math.pi)

    def straight_yaw(self, place: Array) -> float:
        """Return the yaw at a place (xy or xyz, metres) for which the wrist is as it began."""
        turn = azimuth(place[:2] - self.base[:2]) - self._home_azimuth
        return self._home_yaw + math.remainder(turn, 2 * math.pi)

    def nearest_yaw(self, yaw: float, place: Array) -> float:
        """Return the same closing direction, either way round, that turns the wrist least there."""
        half_turns = round((self.straight_yaw(place) - yaw) / math.pi)
        return yaw + half_turns * math.pi

    @property
    def _wrist(self) -> float:
        """How the wrist's joint is turned, radians."""
        joint = self._world.model.jnt_qposadr[self._joint]
        return float(self._world.seen.qpos[joint])

    def beyond_wrist(self, yaw: float, place: Array) -> float:
        """Return by how much a yaw at a place is beyond what the wrist turns to, radians."""
        angle = self._home_wrist + self._way * (yaw - self.straight_yaw(place))
        least, most = self._ends
        return float(max(0.0, least - angle, angle - most))

    def can_turn(self, rotation: Array) -> bool:
        """Return whether the wrist has room to turn by a rotation vector from how it is."""
        angle = self._wrist + rotation @ self._world.seen.xaxis[self._joint]
        least, most = self._ends
        return bool(least <= angle <= most)

    def met(self, point: Array, yaw: float, without: set[int]) -> int:
        """Return how many spots of the open hand would be in something, at a point above it.

        Args:
            point: Of the fingertips, xyz in metres; the hand points down.
            yaw: In which direction its fingers close.
            without: Shapes that are not looked at.
        """
        spots = point + self._spots @ downward(yaw).T
        return int((self._world.floor(spots, without) > spots[:, 2]).sum())

    def off(self) -> tuple[Array, Array]:
        """Return how far it is from its goal: metres, shape (3,), and a rotation vector."""
        return self.aim - self.position, rotation_vector(self.turned @ self.rotation.T)

    def action(self, furthest_m: float) -> Array:
        """Return the arm's part of an action that brings the hand closer to where it is to be.

        Args:
            furthest_m: The furthest goal of this step; the controller goes about six times as far
                in a second.
        """
        way, turn = self.off()
        way = shortened(way, furthest_m) + self.push[:3]
        turn = shortened(turn, FULL_STEP_RAD) + self.push[3:]
        origin = self._world.seen.site_xmat[self._origin].reshape(3, 3)
        asked = np.concatenate([origin.T @ way, origin.T @ turn]) / self._part.output_max
        parts = {"right": np.clip(asked, -1.0, 1.0)}
        if self.has_fingers:
            parts["right_gripper"] = np.full(self._gripper.dof, self.fingers)
        action: Array = self._robot.create_action_vector(parts)
        return action

    def touches(self, geoms: set[int]) -> bool:
        """Return whether a finger presses on these geoms from either side."""
        seen, sides = self._world.seen, set()
        mujoco.mj_fwdPosition(self._world.model, seen)
        for pair, place in zip(seen.contact.geom, seen.contact.pos, strict=True):
            if self._own.intersection(pair) and geoms.intersection(pair):
                sides.add(((place - self.position) @ self.rotation)[0] > 0)
        return len(sides) == 2


def shortened(vector: Array, longest: float) -> Array:
    """Return a vector, or the one of that length in its direction if it is longer."""
    length = float(np.linalg.norm(vector))
    return vector if length <= longest else vector * (longest / length)
