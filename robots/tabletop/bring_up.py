"""Bringing a real arm up with a person: what only reads first, the first slow move last."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence

from cap.errors import LimitExceeded, RobotError, Timeout
from cap.robot.protocol import Step
from robots.arm.gripper import NO_FINGERS
from robots.tabletop import controller
from robots.tabletop.arm_state import TcpPose, raised
from robots.tabletop.limits import tilt_of
from robots.tabletop.observation import Sight
from robots.tabletop.safety_guard import GuardedArm
from robots.tabletop.waypoints import Waypoint

_SLOWLY_MPS = 0.02
_RISE_M = 0.03
_STOPPED_RISE_M = 0.08
_UNDER_WAY_M = 0.01
"""A move is stopped once it has come so far."""
_NEAR_M = 0.002
_PATIENCE_S = 10.0
_POLL_S = 0.01
_WATCHDOGS = {
    "ur_rtde": "the controller stops the arm should this computer fall silent",
    "urx": "it has no watchdog: should this computer fall silent, the arm ends the move under way",
}


class TabletopBringUp:
    """The checklist of one arm."""

    def __init__(self, arm: GuardedArm, host: str, sight: Sight | None) -> None:
        """Prepare; the first step connects.

        Args:
            arm: Not connected.
            host: The controller's address.
            sight: What is known of the table, if anything.
        """
        self._arm = arm
        self._host = host
        self._sight = sight

    def steps(self) -> Sequence[Step]:
        """Return the checklist."""
        fingers = Step(
            "the fingers open and close",
            self._fingers,
            "The fingers will open, close and open. Is nothing between them, and no hand near?",
        )
        slowly = f"{100 * _SLOWLY_MPS:.0f} cm/s"
        return (
            Step("the controller answers", self._connect),
            Step("the controller reports its version and control mode", self._software),
            Step(
                "the arm is powered, its safety status is normal and its gripper is empty",
                self._state,
            ),
            Step("the tool centre point is between the fingertips", self._tool),
            Step("the objects on the table are listed", self._objects),
            Step("the arm is inside its box, with the tool pointing down", self._start),
            Step(
                "the base frame is correct",
                lambda: "the user measured it",
                "Measure with a ruler: are the fingertips where the line above says, x to the "
                "right of the base, y away from the front edge, and so high over the table?",
            ),
            Step(
                "the safety measures are in place",
                lambda: "the user confirmed it",
                "Is an emergency stop within reach, the payload set on the pendant, the robot's "
                "own safety configuration in force, and a risk assessment of this cell done?",
            ),
            *(() if self._arm.driver.fingers == NO_FINGERS else (fingers,)),
            Step(
                "the arm makes its first slow move",
                self._move,
                f"The fingertips will rise {100 * _RISE_M:.0f} cm at {slowly} and come down again. "
                "Is the way free, and a hand on the emergency stop?",
            ),
            Step(
                "the arm stops in mid-motion",
                self._stop_on_the_way,
                f"They will rise at {slowly}, at most {100 * _STOPPED_RISE_M:.0f} cm, be "
                "stopped on the way, and come down again. Ready?",
            ),
        )

    def stop(self) -> None:
        """Brake."""
        self._arm.stop()

    def close(self) -> None:
        """Disconnect."""
        self._arm.close()
        if self._sight is not None:
            self._sight.close()

    def _connect(self) -> str:
        driver = self._arm.driver
        driver.connect()
        age_ms = 1000 * driver.state().age_s
        return f"{driver.name}: a state {age_ms:.0f} ms old; {_WATCHDOGS[driver.name]}"

    def _software(self) -> str:
        version = controller.ask_dashboard(self._host, "PolyscopeVersion")
        serial = controller.ask_dashboard(self._host, "get serial number")
        remote = {True: "on", False: "off", None: "not known to this software"}
        on = controller.remote_control(self._host)
        return (
            f"{version or 'no dashboard answers'}; serial number {serial or 'unknown'}; "
            f"remote control {remote[on]}"
        )

    def _state(self) -> str:
        state = self._arm.check_state()
        if state.moving:
            raise RobotError("the arm moves, or a program runs on the controller: end it there")
        self._arm.require_empty()
        return f"{state.mode}, safety {state.safety.replace('_', ' ')}, nothing runs, nothing held"

    def _tool(self) -> str:
        arm = self._arm
        arm.begin()
        assert arm.tool_m is not None
        apart_m, turned_rad = arm.tool_error(arm.check_state(), arm.tool_m)
        return (
            f"{1000 * apart_m:.1f} mm and {math.degrees(turned_rad):.1f} degrees from a tool of "
            f"{100 * arm.tool_m:.1f} cm"
        )

    def _start(self) -> str:
        pose = self._arm.pose()
        self._arm.limits.check_start(pose)
        x, y, z = pose[:3]
        return (
            f"fingertips at x = {x:.3f}, y = {y:.3f}, {z:.3f} m above the table, leaning "
            f"{math.degrees(tilt_of(pose)):.1f} degrees"
        )

    def _objects(self) -> str:
        if self._sight is None:
            return "none asked for: give -R scene=FILE or -R camera=realsense"
        bodies = self._sight.scene().bodies
        seen = (f"{b.name} at ({b.xy[0]:.2f}, {b.xy[1]:.2f})" for b in bodies)
        return ", ".join(seen) or "nothing is seen"

    def _fingers(self) -> str:
        arm, stroke_m = self._arm, self._arm.driver.fingers.stroke_m
        arm.begin()
        arm.gripper(stroke_m)
        held = arm.gripper(0.0)
        if held:
            raise RobotError(
                "the fingers closed on something, where nothing was to be: they hold it still; "
                "look at them, take it out by hand, and check again"
            )
        arm.gripper(stroke_m)
        report = "it cannot tell what it holds" if held is None else "it says that it held nothing"
        return f"opened {1000 * stroke_m:.0f} mm, closed and opened as commanded; {report}"

    def _move(self) -> str:
        start = self._arm.pose()
        self._arm.begin()
        self._go(raised(start, _RISE_M))
        off_m = math.dist(self._arm.pose()[:3], raised(start, _RISE_M)[:3])
        self._go(start)
        back_m = math.dist(self._arm.pose()[:3], start[:3])
        if max(off_m, back_m) > _NEAR_M:
            raise LimitExceeded(
                f"it ended {1000 * max(off_m, back_m):.1f} mm from where it was sent: look at the "
                "payload and the mounting"
            )
        return f"there to {1000 * off_m:.1f} mm, back to {1000 * back_m:.1f} mm"

    def _stop_on_the_way(self) -> str:
        start = self._arm.pose()
        goal = raised(start, _STOPPED_RISE_M)
        self._arm.begin()
        self._arm.check([Waypoint(goal)])
        asked_s: list[float] = []

        def stop() -> None:
            until = time.monotonic() + _PATIENCE_S
            while time.monotonic() < until and self._arm.last_pose()[2] < start[2] + _UNDER_WAY_M:
                time.sleep(_POLL_S)
            asked_s.append(time.monotonic())
            self._arm.stop()

        thread = threading.Thread(target=stop)
        thread.start()
        stopped = False
        try:
            self._go(goal)
        except RobotError as error:
            if type(error) is not RobotError:
                raise
            stopped = True
        finally:
            thread.join()
        until = time.monotonic() + _PATIENCE_S
        while self._arm.check_state().moving:
            if time.monotonic() > until:
                raise Timeout("the arm still moves after a stop: use the emergency stop")
            time.sleep(_POLL_S)
        rest_s = time.monotonic() - asked_s[0]
        short_m = goal[2] - self._arm.pose()[2]
        if not stopped or short_m < _NEAR_M:
            raise RobotError("the stop came too late: the arm went on to where it was sent")
        self._arm.begin()
        self._go(start)
        return f"at rest {100 * short_m:.1f} cm short, {rest_s:.1f} s after the stop; gone back"

    def _go(self, pose: TcpPose) -> None:
        self._arm.path([Waypoint(pose, _SLOWLY_MPS)])
