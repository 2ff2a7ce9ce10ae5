"""The drawing arm in PyBullet."""

from __future__ import annotations

from collections.abc import Sequence

from robots.arm import ur5e
from robots.drawing.board import ARM_URDF, BoardState
from robots.ravens.scene import BLOCK_HALF
from robots.simulation.bullet import begin, load_arm, p
from robots.table.geometry import Vec3

_GAIN = 0.3
_JOINTS = range(len(ur5e.MAX_TORQUE))


class BulletPen:
    """A UR5e with a pen; see `Pen`."""

    def __init__(self) -> None:
        """Connect a physics server."""
        self._client: int = p.connect(p.DIRECT)
        self._arm = 0

    def build(self, state: BoardState) -> None:
        """Build the simulation of a state; see `Pen`."""
        client = self._client
        begin(client)
        self._arm = load_arm(client, ARM_URDF, state.joints)
        box = p.createCollisionShape(
            p.GEOM_BOX, halfExtents=[BLOCK_HALF] * 3, physicsClientId=client
        )
        for body in state.scene.bodies:
            p.createMultiBody(0, box, -1, body.position, body.quaternion, physicsClientId=client)

    def advance(self, position: Sequence[float], velocity: Sequence[float]) -> None:
        """Advance one step; see `Pen`."""
        p.setJointMotorControlArray(
            self._arm,
            _JOINTS,
            p.POSITION_CONTROL,
            targetPositions=position,
            targetVelocities=velocity,
            forces=ur5e.MAX_TORQUE,
            positionGains=[_GAIN] * len(position),
            physicsClientId=self._client,
        )
        p.stepSimulation(physicsClientId=self._client)

    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""
        states = p.getJointStates(self._arm, _JOINTS, physicsClientId=self._client)
        return tuple(state[0] for state in states)

    def tip(self) -> Vec3:
        """Return where the tip of the pen is, metres."""
        state = p.getLinkState(
            self._arm, len(_JOINTS), computeForwardKinematics=True, physicsClientId=self._client
        )
        tip: Vec3 = state[4]
        return tip

    def close(self) -> None:
        """Disconnect the physics server; doing so twice does no harm."""
        if p.isConnected(self._client):
            p.disconnect(self._client)
