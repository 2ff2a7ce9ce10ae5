"""Packets of the controller's secondary interface, as software from 3.5 on sends them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tests.fakes.ur.arm import MODE_NUMBERS, SAFETY_NUMBERS, SimulatedArm


def state_packet(arm: SimulatedArm, *, running: bool) -> bytes:
    """Return a whole robot state message (type 16)."""
    parts = (
        _robot_mode(arm, running),
        _joints(arm.joints),
        _tool(),
        _masterboard(arm),
        _cartesian(arm.pose),
    )
    return _part(16, b"".join(parts))


def version_message() -> bytes:
    """Return what the controller says first: which software it runs (type 20)."""
    name = b"URControl"
    body = struct.pack("!QbbB", 0, -2, 3, len(name)) + name
    return _part(20, body + struct.pack("!BBii", 5, 11, 1, 108318) + b"01-02-2022")


def _part(kind: int, body: bytes) -> bytes:
    return struct.pack("!iB", 5 + len(body), kind) + body


def _robot_mode(arm: SimulatedArm, running: bool) -> bytes:
    powered = arm.mode in ("idle", "running")
    body = struct.pack(
        "!Q7?BBddd",
        int(arm.advance() * 1e6),
        arm.mode != "disconnected",
        True,
        powered,
        arm.safety == "emergency_stop",
        arm.safety == "protective_stop",
        running,
        False,
        MODE_NUMBERS[arm.mode],
        0,
        1.0,
        1.0,
        1.0,
    )
    return _part(0, body + b"\0")


def _joints(joints: Sequence[float]) -> bytes:
    each = (struct.pack("!dddffffB", q, q, 0.0, 0.1, 48.0, 30.0, 30.0, 255) for q in joints)
    return _part(1, b"".join(each))


def _tool() -> bytes:
    return _part(2, struct.pack("!BBddfBffB", 0, 0, 0.0, 0.0, 24.0, 24, 0.1, 30.0, 255))


def _masterboard(arm: SimulatedArm) -> bytes:
    reduced = arm.safety == "reduced"
    body = struct.pack("!iibbddbbdd", 0, arm.output_bits, 0, 0, 0.0, 0.0, 0, 0, 0.0, 0.0)
    body += struct.pack("!ffff", 30.0, 48.0, 0.5, 0.1)
    body += struct.pack("!BBb", SAFETY_NUMBERS[arm.safety], reduced, 0)
    return _part(3, body + struct.pack("!IBBB", 0, 0, 0, 0))


def _cartesian(pose: Sequence[float]) -> bytes:
    return _part(4, struct.pack("!12d", *pose, *(0.0,) * 6))
