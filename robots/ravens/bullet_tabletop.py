"""The tabletop in PyBullet: simulations of it, and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from robots.arm import ur5e
from robots.arm.gripper import FINGER_FORCE_N, FINGER_SPEED_MPS, GRIP_FORCE_N, HOLD_FORCE_N
from robots.perception.camera import Array, Camera
from robots.perception.lens import Lens
from robots.ravens import bodies
from robots.ravens.bodies import ARM_JOINTS, FINGERS, HAND
from robots.ravens.camera import Studio
from robots.ravens.scene import Body, Scene
from robots.ravens.world import WorldState
from robots.simulation.bullet import p
from robots.simulation.bullet_arm import BulletArm
from robots.simulation.world import WorldOwner


class BulletTabletop(BulletArm):
    """A built simulation of the table in PyBullet."""

    joint_numbers, hand, fingers = ARM_JOINTS, HAND, FINGERS
    torques = ur5e.MAX_TORQUE
    finger_mps = closing_mps = FINGER_SPEED_MPS
    finger_force_n, grip_force_n, hold_force_n = FINGER_FORCE_N, GRIP_FORCE_N, HOLD_FORCE_N
    passes_held = FINGERS

    def __init__(self, client: int, state: WorldState, owner: WorldOwner) -> None:
        """Build the simulation of a state."""
        self.ids = bodies.build(client, state)
        loose = self.ids.objects.values()
        super().__init__(client, owner, self.ids.arm, loose, state.joints, state.gap_m)
        self._sizes = {body.name: body.size for body in state.scene.bodies}
        if state.held:
            self.fix(self.ids.objects[state.held])
            self.held = state.held

    def take(self, name: str) -> bool:
        """Close the fingers on an object, if it is there; return whether they hold it."""
        return self.grasp(self.ids.objects.get(name))

    def touches_another(self, name: str) -> bool:
        """Return whether an object touches anything but the gripper."""
        number = self.ids.objects[name]
        contacts = p.getContactPoints(bodyA=number, physicsClientId=self._client)
        return any(contact[2] != self.ids.arm and contact[8] < 5e-4 for contact in contacts)

    def body(self, name: str) -> Body:
        """Return where an object is now."""
        position, turn = p.getBasePositionAndOrientation(
            self.ids.objects[name], physicsClientId=self._client
        )
        return Body(name, position, turn, self._sizes[name])

    def scene(self) -> Scene:
        """Return where every object is now."""
        return Scene(tuple(self.body(name) for name in self.ids.objects))


class BulletTabletopEngine:
    """A physics server for the table, and a second one that poses for pictures."""

    def __init__(self) -> None:
        """Connect a physics server."""
        self._client: int = p.connect(p.DIRECT)
        self._studio: Studio | None = None

    def build(self, state: WorldState, owner: WorldOwner) -> BulletTabletop:
        """Build the simulation of a state; it replaces the one before."""
        return BulletTabletop(self._client, state, owner)

    def draw(
        self, scene: Scene, joints: Sequence[float], gap_m: float, width: int, height: int
    ) -> Any:
        """Return a spectator's view as a PIL image."""
        return self._open_studio().draw(scene, joints, gap_m, width, height)

    def camera(
        self,
        show: Callable[[], tuple[Scene, Sequence[float], float]],
        lens: Lens,
        pose: Callable[[], Array],
    ) -> Camera:
        """Return a depth camera of what `show` says, held where `pose` says."""
        return self._open_studio().camera(show, lens, pose)

    def _open_studio(self) -> Studio:
        if self._studio is None:
            self._studio = Studio()
        return self._studio

    def close(self) -> None:
        """Disconnect; doing so twice does no harm."""
        if p.isConnected(self._client):
            p.disconnect(self._client)
        if self._studio is not None:
            self._studio.close()
            self._studio = None
