"""The tabletop's bodies in PyBullet: table, blocks, bowls and the arm, as collision shapes only.

Pictures are drawn elsewhere (`camera`), so a simulation is built in a few milliseconds.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robots.ravens.scene import BLOCK_MASS_KG, BLOCK_SIZE, BOWL_MASS_KG, Body, bowl_boxes
from robots.ravens.view import ARM_URDF
from robots.ravens.world import WorldState
from robots.simulation.bullet import begin, load_arm, p
from robots.table.geometry import Vec3

ARM_JOINTS = (0, 1, 2, 3, 4, 5)
HAND = 5
FINGERS = (6, 7)
_FLOOR_M = 2.0
"""Half the edges of the box whose top everything stands on, metres."""


@dataclass(frozen=True)
class TabletopIds:
    """PyBullet's numbers for one simulation."""

    client: int
    """The physics server."""
    arm: int
    """The arm with its gripper."""
    objects: Mapping[str, int]
    """Blocks and bowls by name."""


def build(client: int, state: WorldState) -> TabletopIds:
    """Build a simulation anew from a state, everything at rest.

    Nothing of an earlier simulation is kept, so its bits depend on the state alone.
    """
    begin(client)
    # A box and no plane: what stands on a plane wakes on one corner, and creeps.
    table = p.createCollisionShape(p.GEOM_BOX, halfExtents=[_FLOOR_M] * 3, physicsClientId=client)
    p.createMultiBody(
        0, table, basePosition=[0, 0, -_FLOOR_M], useMaximalCoordinates=True, physicsClientId=client
    )
    arm = load_arm(client, ARM_URDF, [*state.joints, state.gap_m / 2, state.gap_m / 2])
    shapes = _Shapes(client)
    objects: dict[str, int] = {}
    for _, alike in itertools.groupby(
        state.scene.bodies, lambda body: (body.kind, body.size, body.quaternion)
    ):
        objects.update(_add(client, list(alike), shapes))
    return TabletopIds(client, arm, objects)


class _Shapes:
    """Collision shapes shared by all objects of a kind and size."""

    def __init__(self, client: int) -> None:
        self._client = client
        self._boxes: dict[Vec3, int] = {}
        self.box(BLOCK_SIZE)
        self.bowl: int = p.createCollisionShapeArray(**_bowl_boxes(), physicsClientId=client)

    def box(self, size: Vec3) -> int:
        """Return a box of these edges, metres."""
        if size not in self._boxes:
            self._boxes[size] = p.createCollisionShape(
                p.GEOM_BOX, halfExtents=[edge / 2 for edge in size], physicsClientId=self._client
            )
        return self._boxes[size]


def _add(client: int, alike: Sequence[Body], shapes: _Shapes) -> dict[str, int]:
    """Add bodies that differ in place alone, in one call, which costs least; return their ids."""
    first = alike[0]
    bowl = first.kind == "bowl"
    numbers: Sequence[int] = p.createMultiBody(
        BOWL_MASS_KG if bowl else BLOCK_MASS_KG,
        shapes.bowl if bowl else shapes.box(first.size),
        baseOrientation=first.quaternion,
        batchPositions=[body.position for body in alike],
        useMaximalCoordinates=True,
        physicsClientId=client,
    )
    for number in numbers:
        p.changeDynamics(
            number,
            -1,
            lateralFriction=0.6,
            spinningFriction=0.002,
            linearDamping=0.04,
            angularDamping=0.1,
            activationState=p.ACTIVATION_STATE_ENABLE_SLEEPING | p.ACTIVATION_STATE_SLEEP,
            physicsClientId=client,
        )
    return {body.name: number for body, number in zip(alike, numbers, strict=True)}


@functools.cache
def _bowl_boxes() -> dict[str, list[Any]]:
    """Return a bowl's boxes as PyBullet takes them: their contacts are its cheapest."""
    boxes = bowl_boxes()
    return {
        "shapeTypes": [p.GEOM_BOX] * len(boxes),
        "halfExtents": [list(half) for half, _, _ in boxes],
        "collisionFramePositions": [list(place) for _, place, _ in boxes],
        "collisionFrameOrientations": [
            list(p.getQuaternionFromEuler([0.0, lean, angle])) for _, _, (lean, angle) in boxes
        ],
    }
