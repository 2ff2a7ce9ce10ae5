import itertools
import math

import numpy as np
import pytest

from cap.errors import UsageError
from robots.ravens.scene import Scene, sample_scene
from robots.table.geometry import EDGE_INSET
from robots.table.object_names import ALL_NAMES, DEFAULT_NAMES


def sample(names: tuple[str, ...], seed: int) -> Scene:
    return sample_scene(names, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(5))
def test_sampled_objects_stand_apart_and_on_the_table(seed: int) -> None:
    bodies = sample(DEFAULT_NAMES, seed).bodies
    for body in bodies:
        assert abs(body.xy[0]) <= 0.3 - EDGE_INSET
        assert -0.8 + EDGE_INSET <= body.xy[1] <= -0.2 - EDGE_INSET
        assert body.bottom == pytest.approx(0.0)
    for first, second in itertools.combinations(bodies, 2):
        assert math.dist(first.xy, second.xy) > first.radius + second.radius


def test_crowded_scene_is_refused_with_the_count() -> None:
    with pytest.raises(UsageError, match="cannot place 20 objects"):
        sample(ALL_NAMES, 0)
