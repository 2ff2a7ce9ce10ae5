"""The tabletop robot: the primitives of the simulated one, on a real arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PIL import ImageDraw

from cap.program.scope import Primitive
from cap.robot.view import Appearance, Shape
from robots.arm.strokes import Stroke
from robots.ravens.robot import RavensRobot
from robots.ravens.world import WorldState
from robots.simulation.world import WorldOwner
from robots.table.geometry import PLACES
from robots.tabletop.dry_run import DryDriver
from robots.tabletop.observation import Sight
from robots.tabletop.safety_guard import GuardedArm
from robots.tabletop.twin import make_twin
from robots.tabletop.world import HardwareWorld


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
        """Return what each body is made of, for who draws the table."""
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
