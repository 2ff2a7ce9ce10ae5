"""A hand: where it is and is to be, in which direction its fingers close, and the action for that.

A hand's frame has x in the direction in which the fingers close and z out of the hand, where they
point; its origin is between the fingertips. robosuite's arms differ in how their sites are turned,
so the frame is read off the gripper's own pads.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.arm.rotations import rotation_vector
from robots.robosuite.world import Array, Simulation

FULL_STEP_RAD = 0.4
"""The furthest a step turns its goal from where the hand is: about 2.5 rad/s."""
WRIST_SPARE_RAD = 0.15
"""A wrist keeps so far from its ends."""
OPEN, CLOSED = -1.0, 1.0
"""robosuite's actions for fingers."""


@dataclass(frozen=True)
class Goal:
    """The command of a hand: it keeps to it until the next one."""

    position: tuple[float, ...]
    """Of the fingertips, xyz in metres."""
    rotation: tuple[float, ...]
    """Of the hand's frame, nine numbers, row after row."""
    fingers: float = OPEN
    """`OPEN` or `CLOSED`."""
    held: str = ""
    """What it was closed on; "" if on nothing."""

    @property
    def matrix(self) -> Array:
        """The rotation, shape (3, 3)."""
        return np.array(self.rotation).reshape(3, 3)


def downward(yaw: float) -> Array:
    """Return the rotation of a hand that points down, its fingers closing at `yaw` from x."""
    across = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    down = np.array([0.0, 0.0, -1.0])
    return np.column_stack([across, np.cross(down, across), down])


class ArmHand:
    """One arm's hand in a simulation."""

    def __init__(self, simulation: Simulation, number: int) -> None:
        """Find the hand of the arm of that number, as the simulation begins."""
        self._simulation = simulation
        self.robot: Any = simulation.env.robots[number]
        sim = simulation.env.sim
        self.gripper: Any = self.robot.gripper["right"]
        self._part: Any = self.robot.composite_controller.part_controllers["right"]
        self._site = int(self.robot.eef_site_id["right"])
        part = f"{self._part.naming_prefix}{self._part.part_name}"
        self._origin = sim.model.site_name2id(f"{part}_center")
        self.has_fingers = bool(self.gripper.dof)
        seen = simulation.seen
        site = seen.site_xmat[self._site].reshape(3, 3)
        out = seen.site_xpos[self._site] - seen.xpos[self._body_of_hand(sim)]
        across = site[:, 0]
        if self.has_fingers:
            self._pads = [self._pads_of(side) for side in ("left", "right")]
            across = self._between_pads()
        # Fingers, and hands, run along axes of their site: the closest of those is exact.
        across, out = _closest_axis(site, across), _closest_axis(site, out)
        self._frame_from_site = np.column_stack([across, np.cross(out, across), out]).T @ site
        prefix = self.gripper.naming_prefix
        self._own = {number for number, name in simulation.geoms.items() if name.startswith(prefix)}
        wrist = self._body_of_hand(sim)
        while not simulation.model.body_jntnum[wrist]:
            wrist = int(simulation.model.body_parentid[wrist])
        first, count = simulation.model.body_geomadr[wrist], simulation.model.body_geomnum[wrist]
        rigid = [*sorted(self._own), *range(first, first + count)]
        shapes = [number for number in rigid if simulation.solid[number]]
        corners = (simulation.corners(shapes) - self.position) @ self.rotation
        self.boxes = np.stack([corners.min(axis=1), corners.max(axis=1)])
        """Boxes around its open parts and its wrist, in its frame: least, greatest: (2, n, 3)."""
        self.tip_m = float(self.boxes[1, :, 2].max())
        """How far the fingers reach beyond the middle between their pads, metres."""
        self.base = np.array(seen.site_xpos[self._origin])
        """Where the arm begins, xyz in metres."""
        x, y, _ = self.rotation[:, 0]
        self.home_yaw = math.atan2(y, x)
        """In which direction the fingers closed as it began."""
        x, y = self.position[:2] - self.base[:2]
        self._home_azimuth = math.atan2(y, x)
        # The wrist's joint turns with the hand, the one way or the other, between its ends.
        joint = self._last_joint = self.robot._ref_arm_joint_indexes[-1]
        way = float(np.sign(seen.xaxis[joint][2]))
        angle = seen.qpos[simulation.model.jnt_qposadr[joint]]
        ends = (simulation.model.jnt_range[joint] - angle) * way
        least, most = float(min(ends)) + WRIST_SPARE_RAD, float(max(ends)) - WRIST_SPARE_RAD
        limited = bool(simulation.model.jnt_limited[joint])
        self._wrist = (least, most) if limited else (-math.pi, math.pi)

    def _body_of_hand(self, sim: Any) -> int:
        return int(sim.model.body_name2id(self.robot.robot_model.eef_name["right"]))

    @property
    def position(self) -> Array:
        """Where the fingertips are, xyz in metres."""
        return np.array(self._simulation.seen.site_xpos[self._site])

    @property
    def rotation(self) -> Array:
        """How the hand's frame is turned, shape (3, 3)."""
        site = self._simulation.seen.site_xmat[self._site].reshape(3, 3)
        frame: Array = site @ self._frame_from_site.T
        return frame

    @property
    def yaw(self) -> float:
        """In which direction the fingers close, seen from above: radians from x.

        It is within half a turn of `straight_yaw`.
        """
        x, y, _ = self.rotation[:, 0]
        straight = self.straight_yaw(self.position)
        return straight + math.remainder(math.atan2(y, x) - straight, 2 * math.pi)

    def straight_yaw(self, place: Array) -> float:
        """Return the yaw at a place for which the wrist is turned as it began.

        Args:
            place: xy or xyz, metres.
        """
        x, y = (np.asarray(place)[:2] - self.base[:2]).tolist()
        return self.home_yaw + math.remainder(math.atan2(y, x) - self._home_azimuth, 2 * math.pi)

    def beyond_wrist(self, yaw: float, place: Array) -> float:
        """Return by how much a yaw at a place is beyond what the wrist turns to, radians."""
        turn = yaw - self.straight_yaw(place)
        least, most = self._wrist
        return max(0.0, least - turn, turn - most)

    def can_turn(self, rotation: Array) -> bool:
        """Return whether the wrist has room to turn by a rotation vector from how it is."""
        model, seen, joint = self._simulation.model, self._simulation.seen, self._last_joint
        angle = seen.qpos[model.jnt_qposadr[joint]] + rotation @ seen.xaxis[joint]
        least, most = model.jnt_range[joint] + (WRIST_SPARE_RAD, -WRIST_SPARE_RAD)
        return bool(least <= angle <= most or not model.jnt_limited[joint])

    def nearest_yaw(self, yaw: float, place: Array) -> float:
        """Return the same closing direction, either way round, that turns the wrist least there."""
        half_turns = round((self.straight_yaw(place) - yaw) / math.pi)
        return yaw + half_turns * math.pi

    def _pads_of(self, side: str) -> list[int]:
        """Return the geoms of a finger's pad; robosuite 1.5.2 lists some XArm7's gripper lacks."""
        listed = self.gripper.important_geoms[f"{side}_fingerpad"]
        own = f"{self.gripper.naming_prefix}{side}_finger_pad"
        names = self._simulation.geoms
        known = [number for number, name in names.items() if name in listed]
        return known or [number for number, name in names.items() if name.startswith(own)]

    def _between_pads(self) -> Array:
        places = [self._simulation.seen.geom_xpos[pads].mean(axis=0) for pads in self._pads]
        between: Array = places[1] - places[0]
        return between

    def here(self) -> Goal:
        """Return the goal of staying where it is."""
        return Goal(tuple(self.position.tolist()), tuple(self.rotation.ravel().tolist()))

    def off(self, goal: Goal) -> tuple[Array, Array]:
        """Return how far the hand is from its goal: metres, shape (3,), and a rotation vector."""
        turn = rotation_vector(goal.matrix @ self.rotation.T)
        return np.array(goal.position) - self.position, turn

    def action(self, goal: Goal, furthest_m: float, push: Array) -> Array:
        """Return the arm's part of an action that brings the hand closer to its goal.

        Args:
            goal: The command.
            furthest_m: The furthest goal of this step; the controller goes about six times as far
                in a second.
            push: Added to the goal, metres and radians, shape (6,).
        """
        way, turn = self.off(goal)
        way = _shortened(way, furthest_m) + push[:3]
        turn = _shortened(turn, FULL_STEP_RAD) + push[3:]
        origin = self._simulation.seen.site_xmat[self._origin].reshape(3, 3)
        asked = np.concatenate([origin.T @ way, origin.T @ turn]) / self._part.output_max
        parts = {"right": np.clip(asked, -1.0, 1.0)}
        if self.has_fingers:
            parts["right_gripper"] = np.full(self.gripper.dof, goal.fingers)
        action: Array = self.robot.create_action_vector(parts)
        return action

    def touches(self, geoms: Collection[int]) -> bool:
        """Return whether a finger presses on these geoms from either side."""
        sides = set()
        for ours, theirs, place in self._simulation.contacts():
            if theirs in geoms and ours in self._own:
                sides.add(((place - self.position) @ self.rotation)[0] > 0)
        return len(sides) == 2


def _shortened(vector: Array, longest: float) -> Array:
    length = float(np.linalg.norm(vector))
    return vector if length <= longest else vector * (longest / length)


def _closest_axis(frame: Array, direction: Array) -> Array:
    """Return the axis of a frame, or its opposite, that is closest to a direction."""
    along = direction @ frame
    best = int(np.abs(along).argmax())
    axis: Array = frame[:, best] * np.sign(along[best])
    return axis
