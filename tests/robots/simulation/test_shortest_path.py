"""Ways around regions: never in one, from end to end, as short as can be, the same every time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shapely.geometry import LineString, Point, Polygon, box

from cap.errors import LimitExceeded, Unreachable
from robots.ravens import RavensRobot, create
from robots.simulation.shortest_path import CLEARANCE_M, MAX_REGIONS, shortest
from robots.table.geometry import TABLE_X, TABLE_Y

LEFT, RIGHT, MIDDLE = (-0.25, -0.5), (0.25, -0.5), (0.0, -0.5)

points = st.tuples(
    st.integers(0, 60).map(lambda i: TABLE_X[0] + i / 100),
    st.integers(0, 60).map(lambda i: TABLE_Y[0] + i / 100),
)
polygons = st.lists(points, min_size=3, max_size=6, unique=True).map(
    lambda corners: Polygon(corners).convex_hull
)
discs = st.tuples(points, st.floats(0.01, 0.15)).map(lambda disc: Point(disc[0]).buffer(disc[1]))
regions = st.lists(st.one_of(polygons, discs), max_size=5)


@pytest.fixture
def robot() -> RavensRobot:
    return create(seed=4, mode="instant", objects=["red block", "green block", "blue bowl"])


def length(path: Any) -> float:
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def way(start: Any, goal: Any, avoid: Any) -> np.ndarray | None:
    """Return the shortest way; None if there is none."""
    try:
        return shortest(np.array(start), np.array(goal), avoid)
    except Unreachable:
        return None


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(points, points, regions)
def test_a_way_keeps_clear_from_end_to_end_and_is_as_long_back(
    start: Any, goal: Any, avoid: Any
) -> None:
    path, back, again = way(start, goal, avoid), way(goal, start, avoid), way(start, goal, avoid)
    assert (path is None) == (back is None)
    assume(path is not None)
    assert path is not None
    line = LineString(path)
    for region in avoid:
        room = min(CLEARANCE_M, region.distance(Point(start)), region.distance(Point(goal)))
        assert line.distance(region) >= 0.95 * room - 2e-6
        assert not line.intersects(region.buffer(-1e-6))
    assert box(TABLE_X[0], TABLE_Y[0], TABLE_X[1], TABLE_Y[1]).buffer(1e-9).contains(line)
    assert (path[0].tolist(), path[-1].tolist()) == (list(start), list(goal))
    assert length(back) == pytest.approx(length(path), abs=1e-9)
    assert np.array_equal(path, again)


def test_around_a_square_the_way_is_what_geometry_says(robot: RavensRobot) -> None:
    square = box(-0.05, -0.55, 0.05, -0.45)
    path = robot.plan_path(LEFT, RIGHT, [square])
    corner = np.array([0.05, 0.05])
    reach = np.hypot(0.25 - corner[0], corner[1])
    tangent = np.sqrt(reach**2 - CLEARANCE_M**2)
    turn = np.arctan2(corner[1], 0.25 - corner[0]) + np.arcsin(CLEARANCE_M / reach)
    exact = 2 * (tangent + CLEARANCE_M * turn + corner[0])
    assert length(path) == pytest.approx(exact, rel=0.003)


def test_nothing_in_the_way_is_a_straight_way(robot: RavensRobot) -> None:
    for avoid in ([], [box(-0.05, -0.3, 0.05, -0.25)], [Polygon()]):
        assert robot.plan_path(LEFT, RIGHT, avoid).tolist() == [list(LEFT), list(RIGHT)]
    assert robot.plan_path(LEFT, LEFT).tolist() == [list(LEFT), list(LEFT)]


def test_a_region_is_a_polygon_its_corners_or_an_object(robot: RavensRobot) -> None:
    corners = [(-0.05, -0.6), (0.05, -0.6), (0.0, -0.4)]
    first = robot.plan_path(LEFT, RIGHT, [Polygon(corners)])
    for same in (corners, np.array(corners), [list(corner) for corner in corners]):
        assert (robot.plan_path(LEFT, RIGHT, [same]) == first).all()
    around = robot.plan_path("red block", "green block", ["the blue bowl"])
    bowl = Point(robot.get_obj_pos("blue bowl"))
    assert LineString(around).distance(bowl) > 0.061
    wall = LineString([(0.0, -0.8), (0.0, -0.3)])
    assert LineString(robot.plan_path(LEFT, RIGHT, [wall])).distance(wall) > 0.95 * CLEARANCE_M


@pytest.mark.parametrize(
    "avoid",
    [
        [box(-0.02, -0.9, 0.02, -0.1)],
        [box(-0.3, -0.55, -0.2, -0.45)],
        [Point(RIGHT).buffer(0.1).exterior],
        [box(-0.02, -0.78, 0.02, -0.22)],
    ],
    ids=["a wall", "at the start", "a ring around the goal", "no room at the edge"],
)
def test_where_no_way_is_free_there_is_none(robot: RavensRobot, avoid: Any) -> None:
    with pytest.raises(Unreachable):
        robot.plan_path(LEFT, RIGHT, avoid)


@pytest.mark.parametrize(
    ("start", "avoid", "error"),
    [
        (LEFT, box(0, 0, 1, 1), TypeError),
        (LEFT, [box(0, 0, 1, 1)] * (MAX_REGIONS + 1), LimitExceeded),
        (LEFT, [Point(MIDDLE).buffer(0.1, quad_segs=2000)], LimitExceeded),
    ],
)
def test_what_is_no_question_is_refused(
    robot: RavensRobot, start: Any, avoid: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        robot.plan_path(start, RIGHT, avoid)
