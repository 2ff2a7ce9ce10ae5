"""A kitchen robot: a mobile base with a seven-joint arm, among furniture and household objects.

`create` makes it in one of two modes, with the same scenes, primitives and refusals. In both the
base drives kinematically: along the shortest path around the furniture, in simulated time, checked
for collisions. In `instant` the arm's plans come true at once and exactly; in `physics`
the arm is moved by its joint motors, and what it takes is held by contact and then by a fixed joint
of limited force, as in `robots.ravens`. docs/kitchen.md says what is simulated and what is not.

The robot sees only what is at its present location: what it faces at most 1 m ahead, or else the
nearest furniture; the inside of a drawer only while it is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from robots.kitchen.robot import KitchenRobot, MakeWorld
from robots.kitchen.scene import DEFAULT_NAMES, SceneEntry, read, scene_entries
from robots.kitchen.world import KitchenWorld
from robots.simulation.scene_file import PlacedObject
from robots.simulation.simulated_robot import check_choices

__all__ = ["KitchenRobot", "create"]


def create(
    *,
    seed: int = 0,
    mode: str = "physics",
    objects: Sequence[str] | None = None,
    scene: str | None = None,
    engine: str | None = None,
) -> KitchenRobot:
    """Make the robot at the table of a kitchen.

    Args:
        seed: Decides where furniture and objects stand.
        mode: `physics` or `instant`.
        objects: Names such as `apple`, which then stand on the table, where the robot begins (or
            elsewhere once that is full), `apple @ desk`, or `apple @ desk after 20 s`, which
            appears then; without it eleven objects about the kitchen.
        scene: A TOML file of what stands where instead, see `robots.simulation.scene_file`; where
            the furniture is, the seed decides.
        engine: `mujoco` or `pybullet` for physics; MuJoCo where it is installed, by default.

    Raises:
        UsageError: Unknown mode, object or place, an object given twice, no room for one, or both
            objects and a scene.
        ConfigError: The scene file cannot be used.
        MissingExtra: Physics without an engine installed.
    """
    check_choices(mode, objects, scene)
    entries: Sequence[SceneEntry | PlacedObject] = (
        scene_entries(DEFAULT_NAMES if objects is None else objects)
        if scene is None
        else read(scene)
    )
    world: MakeWorld = KitchenWorld
    if mode == "physics":
        from robots.kitchen.physics import PhysicsKitchen

        world = partial(PhysicsKitchen, engine=engine)
    return KitchenRobot(entries, seed, mode, world, scattered=objects is None)
