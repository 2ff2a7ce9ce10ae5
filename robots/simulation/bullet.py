"""PyBullet, imported once: with a clear error where it is missing, and without its greeting."""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cap.errors import MissingSimulator, install_extra
from robots.arm.motion import DT_S
from robots.table.geometry import Quat, Vec3

WHEELS = tuple((version, "Linux on x86_64") for version in ("3.10", "3.11"))
"""Pythons and machines for which PyBullet is published ready to install."""


@contextlib.contextmanager
def _silent_stderr() -> Iterator[None]:
    """Send what native code writes to standard error nowhere."""
    try:
        kept = os.dup(2)
    except OSError:  # There is no standard error to keep clean.
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)


def _import() -> Any:
    try:
        with _silent_stderr():
            return importlib.import_module("pybullet")
    except ImportError as error:
        version = ".".join(map(str, sys.version_info[:2]))
        machine = f"{platform.system()} on {platform.machine()}"
        if (version, machine) not in WHEELS:
            why = f"has no wheel for Python {version}, {machine}; use Python 3.11 on Linux x86-64"
        elif isinstance(error, ModuleNotFoundError) and error.name == "pybullet":
            why = f"is not installed: {install_extra('pybullet')}"
        else:
            why = f"does not load ({error}): {install_extra('pybullet')}"
        raise MissingSimulator(f"physics needs PyBullet, which {why}, or --mode instant") from None


p = _import()
"""The module `pybullet`."""


def begin(client: int) -> None:
    """Empty a physics server: nothing of an earlier simulation is kept, so none changes a bit."""
    p.resetSimulation(physicsClientId=client)
    p.setGravity(0, 0, -9.81, physicsClientId=client)
    p.setTimeStep(DT_S, physicsClientId=client)
    p.setPhysicsEngineParameter(
        numSolverIterations=50, deterministicOverlappingPairs=1, physicsClientId=client
    )


def load_arm(
    client: int,
    urdf: Path,
    joints: Sequence[float],
    position: Vec3 = (0.0, 0.0, 0.0),
    orientation: Quat = (0.0, 0.0, 0.0, 1.0),
) -> int:
    """Add an arm that stands still, and return its number.

    Args:
        client: The physics server.
        urdf: What it is made of.
        joints: Where each joint is, in the file's order: radians, metres.
        position: Where its base stands, metres.
        orientation: How that is turned.
    """
    number: int = p.loadURDF(
        str(urdf),
        position,
        orientation,
        useFixedBase=True,
        flags=p.URDF_USE_INERTIA_FROM_FILE | p.URDF_IGNORE_VISUAL_SHAPES,
        physicsClientId=client,
    )
    for joint, value in enumerate(joints):
        p.resetJointState(number, joint, value, physicsClientId=client)
    return number
