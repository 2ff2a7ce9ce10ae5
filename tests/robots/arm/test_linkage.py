"""The arm as it is drawn stands where kinematics and simulation have it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robots.kitchen
import robots.ravens
from robots.arm import ur5e
from robots.arm.linkage import linkage, within
from robots.kitchen import arm as kitchen_arm

UR5E = Path(robots.ravens.__file__).with_name("ur5e.urdf")
KITCHEN = Path(robots.kitchen.__file__).with_name("arm.urdf")


@pytest.mark.parametrize(
    ("urdf", "tip_m", "forward"),
    [
        (UR5E, ur5e.D6 + ur5e.TOOL_LENGTH, lambda joints: ur5e.forward(joints)[:3, 3]),
        (KITCHEN, kitchen_arm.TOOL_M, lambda joints: kitchen_arm.links(joints)[-1]),
    ],
    ids=["ur5e", "kitchen"],
)
def test_the_hand_is_where_the_kinematics_have_the_fingertips(
    urdf: Path, tip_m: float, forward: Any
) -> None:
    for joints in np.random.default_rng(3).uniform(-3, 3, (10, 7)).tolist():
        joints = joints[: 6 if urdf == UR5E else 7]
        hand = linkage(urdf).placements([*joints, 0.0, 0.0])["arm/hand"]
        tip = within(hand, (0.0, 0.0, tip_m, 0.0, 0.0, 0.0, 1.0))
        assert tip[:3] == pytest.approx(forward(joints), abs=1e-6)


def test_every_link_is_where_the_simulation_has_it() -> None:
    pytest.importorskip("pybullet", reason="the extra 'pybullet' is not installed")
    from robots.simulation.bullet import p

    client = p.connect(p.DIRECT)
    try:
        for urdf, count in ((UR5E, 8), (KITCHEN, 9)):
            body = p.loadURDF(str(urdf), useFixedBase=True, physicsClientId=client)
            values = np.random.default_rng(5).uniform(0.0, 0.04, count).tolist()
            for joint, value in enumerate(values):
                p.resetJointState(body, joint, value, physicsClientId=client)
            found = linkage(urdf).placements(values)
            for joint in range(count):
                name = p.getJointInfo(body, joint, physicsClientId=client)[12].decode()
                state = p.getLinkState(
                    body, joint, computeForwardKinematics=True, physicsClientId=client
                )
                place = found[f"arm/{name}"]
                assert place[:3] == pytest.approx(state[4], abs=1e-5), name
                assert abs(np.dot(place[3:], state[5])) == pytest.approx(1.0, abs=1e-6), name
    finally:
        p.disconnect(client)
