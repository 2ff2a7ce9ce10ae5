"""A tabletop in simulation: a UR5e with a Robotiq 2F-85, blocks and bowls.

`create` makes the robot in one of two modes, with the same scenes, primitives and refusals.

`instant` has no dynamics: every plan comes true at once and exactly. It needs numpy, shapely and
Pillow, and draws the table from above.

`physics` runs PyBullet. The arm is moved by its joint motors within the UR5e's published speed and
torque limits; nothing sets the state of a body while it moves. To grasp, the fingers close by
force until both press on the object; only from then on does a fixed joint of limited force hold it
to the hand, because two narrow pads alone would let a bowl tip. It is removed when the fingers
open. The gripper's linkage is simplified to two fingers that slide, with the published stroke.

The empty gripper also follows paths: over everything that stands on the table, at one height, at
up to a given speed. In physics the path kept (`robot.state.paths`) is where the fingertips were.

Both are deterministic: the same seed and the same calls give the same bits. In physics every
motion starts from a new simulation built from plain data, so neither the process's past nor
pictures taken on the way matter, and a snapshot is a copy of that data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from cap.errors import UsageError
from robots.perception import choose_detector
from robots.ravens import scene_file
from robots.ravens.disturbances import parse
from robots.ravens.observation import SHAPES, CameraEyes
from robots.ravens.robot import MakeWorld, RavensRobot
from robots.ravens.scene import Scene
from robots.ravens.world import TabletopWorld
from robots.simulation.simulated_robot import check_choices
from robots.table.object_names import ALL_NAMES, DEFAULT_NAMES, check_names

__all__ = ["RavensRobot", "create"]


def create(
    *,
    seed: int = 0,
    mode: str = "physics",
    objects: Sequence[str] | None = None,
    scene: str | None = None,
    perception: str = "truth",
    detector: str | None = None,
    disturbances: Mapping[str, float] | None = None,
    engine: str | None = None,
) -> RavensRobot:
    """Make the robot at a table with objects scattered by `seed`.

    Args:
        seed: Decides where the objects stand.
        mode: `physics` or `instant`.
        objects: Names such as `red block` and `blue bowl`; without it four blocks and four bowls.
        scene: A TOML file of what stands where instead, see `robots.simulation.scene_file`.
        perception: `truth`, or `camera`: programs know of the scene only what a picture shows.
        detector: `color`, as without it: colours and sizes. Anything else is a trained zero-shot
            detector: a folder, or a name on the hub (extra `detect`).
        disturbances: What goes wrong, by the names in `Disturbances`; nothing by default.
        engine: `mujoco` or `pybullet` for physics; MuJoCo where it is installed, by default.

    Raises:
        UsageError: Unknown mode, object, perception or disturbance, an object given twice, or
            more than fit on the table, or both objects and a scene.
        ConfigError: The scene file cannot be used.
        MissingExtra: Physics without an engine installed.
    """
    check_choices(mode, objects, scene)
    names: Sequence[str] | Scene = DEFAULT_NAMES if objects is None else check_names(objects)
    if scene is not None:
        names = scene_file.load(scene)
    wrong = parse(disturbances)
    if perception not in ("truth", "camera"):
        raise UsageError(f"no perception {perception!r}; use 'truth' or 'camera'")
    if detector is not None and perception != "camera":
        raise UsageError("a detector looks at pictures; use perception 'camera' with it")
    eyes: Callable[[Any], CameraEyes] | None = None
    if perception == "camera":
        if mode == "instant":
            raise UsageError("the instant world has no camera; use mode 'physics'")
        finder = choose_detector(detector, SHAPES, ALL_NAMES)
        eyes = partial(CameraEyes, detector=finder, disturbances=wrong)
    world: MakeWorld = TabletopWorld
    if mode == "physics":
        from robots.ravens.physics import PhysicsTabletop

        world = partial(PhysicsTabletop, engine=engine)
    return RavensRobot(names, seed, mode, world, make_eyes=eyes, disturbances=wrong)
