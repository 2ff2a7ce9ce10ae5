"""Blocks and bowls scattered over the table at random, with room for the gripper between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cap.errors import UsageError
from robots.ravens.scene import BLOCK_HALF, Body, Scene, size_of

_SPAWN_X = (-0.24, 0.24)
_SPAWN_Y = (-0.74, -0.26)
_SPACING = {
    ("block", "block"): 0.1,
    ("block", "bowl"): 0.125,
    ("bowl", "block"): 0.125,
    ("bowl", "bowl"): 0.15,
}
"""Least distance between centres, metres: the gripper fits between any two."""
_LAYOUTS = 60
_TRIES = 120


def _apart_m(one: Body, other: Body) -> float:
    """Return the least distance between two centres: the gripper fits between."""
    wider = (max(body.half) - BLOCK_HALF for body in (one, other) if body.kind == "block")
    return _SPACING[one.kind, other.kind] + sum(max(0.0, more) for more in wider)


def sample_scene(names: Sequence[str], rng: np.random.Generator) -> Scene:
    """Scatter objects over the table at random, each with room for the gripper around it.

    Bowls are laid out first, being larger; a layout that gets stuck is begun again, a bounded
    number of times.

    Raises:
        UsageError: They do not fit.
    """
    order = sorted(names, key=lambda name: not name.endswith(("bowl", "plate")))
    most = 0
    for _ in range(_LAYOUTS):
        placed: list[Body] = []
        for name in order:
            for _ in range(_TRIES):
                x, y = float(rng.uniform(*_SPAWN_X)), float(rng.uniform(*_SPAWN_Y))
                body = Body(name, (x, y, 0.0), size=size_of(name))
                body = replace(body, position=(x, y, body.half_height))
                if all(math.dist(body.xy, o.xy) >= _apart_m(body, o) for o in placed):
                    placed.append(body)
                    break
            else:  # The layout is stuck.
                break
        most = max(most, len(placed))
        if len(placed) == len(order):
            by_name = {body.name: body for body in placed}
            return Scene(tuple(by_name[name] for name in names))
    raise UsageError(
        f"cannot place {len(order)} objects on the table: {most} found room in {_LAYOUTS} "
        "layouts; ask for fewer objects"
    )
