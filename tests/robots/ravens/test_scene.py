import itertools
import math

import numpy as np
import pytest

from cap.errors import NotFound, UsageError
from robots.ravens import create, scene


def sample(names: tuple[str, ...], seed: int) -> scene.Scene:
    return scene.sample_scene(names, np.random.default_rng(seed))


def test_same_seed_same_scene_other_seed_other_scene() -> None:
    assert sample(scene.DEFAULT_NAMES, 5) == sample(scene.DEFAULT_NAMES, 5)
    assert sample(scene.DEFAULT_NAMES, 5) != sample(scene.DEFAULT_NAMES, 6)


@pytest.mark.parametrize("seed", range(20))
def test_sampled_objects_stand_apart_and_on_the_table(seed: int) -> None:
    bodies = sample(scene.DEFAULT_NAMES, seed).bodies
    for body in bodies:
        assert abs(body.xy[0]) <= 0.3 - scene.EDGE_INSET
        assert -0.8 + scene.EDGE_INSET <= body.xy[1] <= -0.2 - scene.EDGE_INSET
        assert body.bottom == pytest.approx(0.0)
    for first, second in itertools.combinations(bodies, 2):
        assert math.dist(first.xy, second.xy) > first.radius + second.radius


def test_names_come_back_in_the_order_asked_for() -> None:
    names = ("blue block", "red bowl", "cyan block")
    assert sample(names, 0).names == list(names)


def test_crowded_scene_is_refused_with_the_count() -> None:
    with pytest.raises(UsageError, match="cannot place 20 objects"):
        sample(scene.ALL_NAMES, 0)


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (["red blok"], "Did you mean 'red block'"),
        (["white block"], "colours: blue, red"),
        (["red block", "the red_block"], "given twice"),
    ],
)
def test_bad_object_lists_are_refused(objects: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create(mode="instant", objects=objects)


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="'physics' or 'instant'"):
        create(mode="quick")


def test_unknown_name_lists_the_nearest() -> None:
    with pytest.raises(NotFound, match="Did you mean 'red block'"):
        scene.find("red blocks", ["red block", "blue bowl"])


@pytest.mark.parametrize("text", ["red block", "Red Block", "the red block", "red_block"])
def test_names_are_matched_leniently(text: str) -> None:
    assert scene.find(text, ["red block"]) == "red block"


@pytest.mark.parametrize(
    "turn",
    [(0, 0, 0, 1), (math.sqrt(0.5), 0, 0, math.sqrt(0.5)), (0, math.sqrt(0.5), 0, math.sqrt(0.5))],
)
def test_a_cube_on_any_face_is_level(turn: tuple[float, float, float, float]) -> None:
    body = scene.Body("red block", (0.0, -0.5, 0.02), turn)
    assert body.bbox() == pytest.approx((-0.02, -0.52, 0.02, -0.48))
