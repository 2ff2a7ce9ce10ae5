# /// cap
# doc = "Return the xyz that words mean, shape (3,), such as '20 cm to the left of the cup', or xyzs, shape (n, 3) or (n, 2)."
# returns = "ret_val"
# kind = ["point", "points"]
# context = ["objects"]
# ///
import numpy as np
from shapely.geometry import MultiPoint
from robot import get_obj_pos, get_loc_pos, get_bbox, get_robot_pos, get_robot_pos_and_angle
from robot import get_loc_names, get_visible_obj_names
from lmps import parse_obj_name, parse_loc_name

objects = ['apple', 'banana', 'cup']
# your position.
ret_val = get_robot_pos()

# the apple.
ret_val = get_obj_pos(parse_obj_name('the apple'))

# 10 cm to the left of the apple.
ret_val = get_obj_pos(parse_obj_name('the apple')) + 0.1 * np.array([-1, 0, 0])

# 10 cm to the right of the apple.
ret_val = get_obj_pos(parse_obj_name('the apple')) + 0.1 * np.array([1, 0, 0])

# 10 cm behind the apple.
ret_val = get_obj_pos(parse_obj_name('the apple')) + 0.1 * np.array([0, 1, 0])

# 10 cm in front of the apple.
ret_val = get_obj_pos(parse_obj_name('the apple')) + 0.1 * np.array([0, -1, 0])

# to the left of the cup.
ret_val = get_obj_pos(parse_obj_name('the cup')) + 0.15 * np.array([-1, 0, 0])

# to the right of the cup.
ret_val = get_obj_pos(parse_obj_name('the cup')) + 0.15 * np.array([1, 0, 0])

# behind the cup.
ret_val = get_obj_pos(parse_obj_name('the cup')) + 0.15 * np.array([0, 1, 0])

# in front of the cup.
ret_val = get_obj_pos(parse_obj_name('the cup')) + 0.15 * np.array([0, -1, 0])

# next to the cup.
target = parse_obj_name('the cup')
away = 0.26 if target == 'bowl' else 0.15
ret_val = get_obj_pos(target) + away * np.array([1, 0, 0])

# between the apple and the banana.
first, second = get_obj_pos(parse_obj_name('the apple')), get_obj_pos(parse_obj_name('the banana'))
ret_val = (first + second) / 2

# the middle of the table.
ret_val = get_loc_pos(parse_loc_name('the table'))

# 30 cm to the left of your position.
place, angle = get_robot_pos_and_angle()
ret_val = place + 0.3 * np.array([-np.sin(angle), np.cos(angle), 0])

# 30 cm to the right of your position.
place, angle = get_robot_pos_and_angle()
ret_val = place + 0.3 * np.array([np.sin(angle), -np.cos(angle), 0])

# 30 cm in front of your position.
place, angle = get_robot_pos_and_angle()
ret_val = place + 0.3 * np.array([np.cos(angle), np.sin(angle), 0])

# 3 points in a 40 cm line to the left of your position.
place, angle = get_robot_pos_and_angle()
ret_val = np.linspace(place, place + 0.4 * np.array([-np.sin(angle), np.cos(angle), 0]), 3)

# 3 points in a 40 cm line to the right of your position.
place, angle = get_robot_pos_and_angle()
ret_val = np.linspace(place, place + 0.4 * np.array([np.sin(angle), -np.cos(angle), 0]), 3)

# a 2.4 m by 1.6 m rectangle around the stool.
middle = get_loc_pos(parse_loc_name('the stool'))
ret_val = middle + 0.5 * np.array([2.4, 1.6, 0]) * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, 0]])

# a 1.6 m square around the wood chair.
middle = get_loc_pos(parse_loc_name('the wood chair'))
ret_val = middle + 0.5 * 1.6 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, 0]])

# the hull of the wood chair, the steel chair and the stool, 1.5 times bigger.
pts = np.array([get_loc_pos(parse_loc_name(name)) for name in ['the wood chair', 'the steel chair', 'the stool']])
hull = np.array(MultiPoint(pts[:, :2]).convex_hull.exterior.coords)
ret_val = np.mean(hull[:-1], axis=0) + 1.5 * (hull - np.mean(hull[:-1], axis=0))

# 40 cm away from the wood chair and the stool, all the way around both.
boxes = [get_bbox(parse_loc_name(name)) for name in ['the wood chair', 'the stool']]
corners = MultiPoint([(x, y) for a, b, c, d in boxes for x in (a, c) for y in (b, d)])
ret_val = np.array(corners.convex_hull.buffer(0.4, join_style='mitre').exterior.coords)

# a 30 cm square.
ret_val = get_robot_pos() + 0.3 * np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [0, -1, 0], [0, 0, 0]])

# a 30 cm wide circle.
angles, radius = np.pi / 2 + np.linspace(0, 2 * np.pi, 25), 0.5 * 0.3
middle = get_robot_pos() - radius * np.array([0, 1, 0])
ret_val = middle + radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
