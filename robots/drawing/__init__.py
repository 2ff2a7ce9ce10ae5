"""A drawing arm: a UR5e with a pen over a whiteboard.

`create` makes it in one of two modes, with the same scenes, primitives and refusals: `instant`
draws every line at once and exactly; in `physics` a simulated arm moves the pen by its joint motors
within the published limits, and the ink is where the tip really was. What was drawn is geometry
(`robot.state.ink()`), a picture (`render`) and an SVG (`svg`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cap.errors import UsageError
from robots.drawing.robot import DrawingRobot
from robots.drawing.worlds import ArmBoard, Board
from robots.ravens import scene_file
from robots.ravens.scene import Scene
from robots.simulation.simulated_robot import check_choices
from robots.table.object_names import check_names

__all__ = ["DrawingRobot", "create"]

DEFAULT_NAMES = ("red block", "green block", "blue block")


def create(
    *,
    seed: int = 0,
    mode: str = "physics",
    objects: Sequence[str] | None = None,
    scene: str | None = None,
    engine: str | None = None,
) -> DrawingRobot:
    """Make the robot at an empty board, with blocks set on it by `seed`.

    Args:
        seed: Decides where the blocks stand.
        mode: `physics` or `instant`.
        objects: Blocks, such as `red block`; without it three of them.
        scene: A TOML file of what stands where instead, see `robots.simulation.scene_file`.
        engine: `mujoco` or `pybullet` for physics; MuJoCo where it is installed, by default.

    Raises:
        UsageError: Unknown mode or object, an object given twice, more than fit on the board, or
            both objects and a scene.
        ConfigError: The scene file cannot be used.
        MissingExtra: Physics without an engine installed.
    """
    check_choices(mode, objects, scene)
    given = DEFAULT_NAMES if objects is None else check_names(objects, ["block"])
    if others := [name for name in given if name.endswith("bowl")]:
        raise UsageError(f"no bowls stand on the board, and so not {others[0]!r}")
    names: Sequence[str] | Scene = given
    if scene is not None:
        names = scene_file.load(scene, ["block"], stacked=False, surface="board")
    board = Board if mode == "instant" else partial(ArmBoard, engine=engine)
    return DrawingRobot(names, seed, mode, board)
