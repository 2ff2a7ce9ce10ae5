# /// cap
# docs = false
# prefix = "define function: "
# ///
import math
import numpy as np
from shapely.geometry import LineString, Point, Polygon
from shapely.affinity import rotate, scale, translate

# define function: total = get_total(xs).
def get_total(xs):
    return np.sum(xs)

# define function: distance = get_distance(start, end).
def get_distance(start, end):
    return float(np.linalg.norm(np.asarray(end) - np.asarray(start)))

# define function: middle = get_middle(first, second).
def get_middle(first, second):
    return (np.asarray(first) + np.asarray(second)) / 2

# define function: moved = move_points(points, delta).
def move_points(points, delta):
    return np.array([move_point(point=point, delta=delta) for point in points])

# define function: line = make_line(start, end).
def make_line(start, end):
    return LineString([start, end])

# define function: found = get_points_on_line(line, count).
def get_points_on_line(line, count):
    shares = np.linspace(0, 1, count)
    return np.array([get_point_on_line(line=line, share=share) for share in shares])

# define function: square = make_square(center, size).
def make_square(center, size):
    x, y = center
    half = size / 2
    return Polygon([(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)])

# define function: circle = make_circle(center, radius).
def make_circle(center, radius):
    return Point(center).buffer(radius)

# define function: turned = turn_points(points, angle_deg).
def turn_points(points, angle_deg):
    matrix = make_turn_matrix(angle_deg=angle_deg)
    return np.asarray(points) @ matrix.T

# define function: index = get_closest_index(points, target).
def get_closest_index(points, target):
    return int(np.argmin(get_distances(points=points, target=target)))

# define function: on_the_left = get_points_left_of_line(points, x).
def get_points_left_of_line(points, x):
    return np.array([point for point in points if is_point_left_of_line(point=point, x=x)])

# define function: overlapping = is_overlapping(first, second).
def is_overlapping(first, second):
    return get_overlap_area(first=first, second=second) > 0

# define function: near = is_near(point, target, limit).
def is_near(point, target, limit):
    return get_distance(start=point, end=target) <= limit

# define function: far = are_all_far(points, target, limit).
def are_all_far(points, target, limit):
    return all(not is_near(point, target, limit) for point in points)

# define function: command = get_p_command(error, gain).
def get_p_command(error, gain):
    return gain * error
