"""Values that no primitive expects and every one may be given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import shapely

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 5, 10**400, -(10**400), 10**5000, 1e300, -1e300, 3 + 4j),
    *(math.nan, math.inf, -math.inf, np.float64("nan"), np.bool_(True)),
    *("", " ", "x" * 100_000, "\x00", "__class__", "the", "a", "1", "unicorn", b"apple"),
    *([], [None], [[]], [1], [1, 2, 3, 4], [[1, 2], [3]], [[0, 0], [1e300, 0]], [10**400, 0]),
    *(
        [1e300, 0],
        [1e300, 1e300],
        [math.nan, 0],
        ["a", "b"],
        ["1", "2"],
        [[0, 0, 0], [1, 10**400, 0]],
    ),
    *({}, {"x": 1}, set(), (), range(3), range(100_000), [[0.0, 0.0]] * 20_000),
    *(np.zeros(0), np.zeros((0, 2)), np.zeros((2, 2, 2)), np.array(["a"]), np.array([1 + 2j, 3])),
    *(shapely.Point(0, 0), shapely.LineString([(0, 0), (1, 1)]), object(), len),
)
"""No names of things, and no places or sizes that a robot could do something with."""
