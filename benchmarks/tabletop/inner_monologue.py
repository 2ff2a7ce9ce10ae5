"""Inner Monologue's eight simulated tabletop tasks, and the noise they were run under.

Up to four blocks and three bowls in ten colours, 15 cm or more apart, nine places. On and in mean
within 4 cm and higher, by half a block on a block; at a place, within 4 cm. The split `IM` has no
noise; in `IM-noise` motions miss as they did there, so that even a perfect plan must look and try
again.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from benchmarks.tabletop.goals import Near
from benchmarks.tabletop.tasks import TASKS, Task

PREFIX = "im-"
NEAR = Near(block=0.04, bowl=0.04, place=0.04)
HEATMAP_M = 2.5 * 0.00267857
"""2.5 pixels of a heat map, metres."""
NOISE: Mapping[str, float] = {
    "camera_color": 3.0,
    "pick_m": HEATMAP_M,
    "place_m": (0.02**2 + HEATMAP_M**2) ** 0.5,
}
"""Standard deviations: grey levels of the picture; metres of picks; metres of places, which the
heat map and the noise on the place itself both shift."""

_BOWLS: Mapping[str, tuple[int, int]] = {
    "pick-and-place": (1, 3),
    "stack-blocks": (0, 3),
    "blocks-on-place": (0, 3),
    "blocks-in-bowl": (1, 3),
    "different-corners": (0, 3),
    "matching-bowls": (0, 0),
    "mismatched-bowls": (0, 0),
    "stack-on-place": (0, 3),
}
_SEEN = ("pick-and-place", "stack-blocks", "blocks-on-place", "blocks-in-bowl")


TASKS_IM: tuple[Task, ...] = tuple(
    msgspec.structs.replace(
        task,
        name=PREFIX + name,
        blocks=(2, 3) if task.own_bowls or name == "blocks-in-bowl" else (2, 4),
        bowls=bowls,
        seen=name in _SEEN,
        near=NEAR,
        apart=True,
    )
    for name, bowls in _BOWLS.items()
    for task in TASKS
    if task.name == name
)
"""In the order of the paper's table."""
SPLITS_IM: Mapping[str, Mapping[str, float]] = {"IM": {}, "IM-noise": NOISE}
"""What goes wrong in each split."""
