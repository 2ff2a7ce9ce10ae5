# /// cap
# prefix = "define function: "
# ///
import math
import numpy as np
from shapely.geometry import LineString, Point, Polygon
from shapely.affinity import rotate, scale, translate

#< These functions are examples: none of them is there.

# define function: total = get_total(xs=numbers).
def get_total(xs):
    return np.sum(xs)

# define function: center = get_center(points=[[0, 0], [0.2, 0], [0.1, 0.3]]).
def get_center(points):
    return np.mean(points, axis=0)

# define function: distance = get_distance(start=pos1, end=pos2).
def get_distance(start, end):
    return float(np.linalg.norm(np.asarray(end) - np.asarray(start)))

# define function: idx = get_closest_idx(points=positions, point=target).
def get_closest_idx(points, point):
    return int(np.argmin(np.linalg.norm(np.asarray(points) - np.asarray(point), axis=1)))

# define function: closest = get_closest_point(points=positions, point=target).
def get_closest_point(points, point):
    return np.asarray(points)[get_closest_idx(points=points, point=point)]

# define function: y = eval_line(x, slope=2, offset=0.1).
def eval_line(x, slope, offset=0.0):
    return slope * x + offset

# define function: new_pt = shift_pt(pt=[0.1, -0.4], delta=[0, 0.05]).
def shift_pt(pt, delta):
    return np.asarray(pt) + np.asarray(delta)

# define function: new_pts = rotate_pts(pts, angle_deg=90).
def rotate_pts(pts, angle_deg):
    angle = np.radians(angle_deg)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle = (np.min(pts, axis=0) + np.max(pts, axis=0)) / 2
    return middle + (np.asarray(pts) - middle) @ turn.T

# define function: line = make_line(start=[0, 0], end=[0.2, 0.1]).
def make_line(start, end):
    return LineString([start, end])

# define function: points = interpolate_line(line, n=5).
def interpolate_line(line, n):
    return np.array([line.interpolate(t, normalized=True).coords[0] for t in np.linspace(0, 1, n)])

# define function: square = make_square(size=0.1, center=(0, -0.5)).
def make_square(size, center):
    x, y = center
    half = size / 2
    return Polygon([(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)])

# define function: circle = make_circle(radius=0.08, center=(0, -0.5)).
def make_circle(radius, center):
    return Point(center).buffer(radius)

# define function: inside = is_inside(point=(0.1, 0.2), polygon=region).
def is_inside(point, polygon):
    return bool(polygon.contains(Point(point)))

# define function: best = find_roomiest(layouts=rows, taken=positions).
def find_roomiest(layouts, taken):
    def room(points):
        gaps = [math.dist(p, q) for i, p in enumerate(points) for q in [*taken, *points[:i]]]
        return min([0.12, *gaps])
    middle = np.mean([np.mean(points, axis=0) for points in layouts], axis=0)
    return max(layouts, key=lambda points: (room(points), -math.dist(np.mean(points, axis=0), middle)))

# define function: counts = count_by_key(items=names, key=get_kind).
def count_by_key(items, key):
    counts = {}
    for item in items:
        counts[key(item)] = counts.get(key(item), 0) + 1
    return counts

# define function: near = is_near(pos, target); visible = is_near(pos, camera_pos, limit=0.3).
def is_near(pos, target, limit=0.1):
    return bool(np.linalg.norm(np.asarray(pos) - np.asarray(target)) <= limit)

# define function: get_kind(item); count_by_key(items=names, key=get_kind).
def get_kind(item):
    return item.split()[-1]
