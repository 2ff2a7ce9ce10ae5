# /// cap
# doc = "Return the xy that words mean, shape (2,), such as 'next to the red block', or xys, shape (n, 2), such as '4 points in a row'."
# returns = "ret_val"
# kind = ["point", "points"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos, denormalize_xy, get_corner_positions, get_side_positions
from robot import find_free_region
from lmps import parse_obj_name

objects = ['red block', 'blue bowl', 'yellow block', 'green bowl', 'purple block']
# the top right corner.
ret_val = get_obj_pos('top right corner')

# on the left side of the table.
ret_val = get_obj_pos('left side')

# in the blue bowl.
ret_val = get_obj_pos(parse_obj_name('the blue bowl'))

# to the left of the blue bowl.
direction = np.array([-1, 0])
ret_val = get_obj_pos(parse_obj_name('the blue bowl')) + 0.12 * direction

# behind the blue bowl.
direction = np.array([0, 1])
ret_val = get_obj_pos(parse_obj_name('the blue bowl')) + 0.12 * direction

# a little above the purple block.
direction = np.array([0, 1])
ret_val = get_obj_pos(parse_obj_name('the purple block')) + 0.1 * direction

# far to the right of the red block.
direction = np.array([1, 0])
target = get_obj_pos(parse_obj_name('the red block')) + 0.2 * direction
ret_val = np.clip(target, denormalize_xy([0, 0]), denormalize_xy([1, 1]))

# 15 cm to the left of the purple block.
direction = np.array([-1, 0])
ret_val = get_obj_pos(parse_obj_name('the purple block')) + 0.15 * direction

# next to the blue bowl.
target = parse_obj_name('the blue bowl')
taken = np.array([get_obj_pos(name) for name in objects if name != target] or [[9, 9]])
angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
spots = get_obj_pos(target) + 0.12 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
on_table = [spot for spot in spots if np.max(np.abs(spot - get_obj_pos('middle'))) < 0.27]
ret_val = max(on_table, key=lambda spot: np.min(np.linalg.norm(taken - spot, axis=1)))

# between the red block and the green bowl.
first = get_obj_pos(parse_obj_name('the red block'))
second = get_obj_pos(parse_obj_name('the green bowl'))
ret_val = (first + second) / 2

# 7 cm from the yellow block toward the blue bowl.
start = get_obj_pos(parse_obj_name('the yellow block'))
end = get_obj_pos(parse_obj_name('the blue bowl'))
ret_val = start + 0.07 * (end - start) / np.linalg.norm(end - start)

objects = ['cyan block', 'orange bowl', 'brown block', 'gray bowl', 'pink block']
# in the corner closest to the orange bowl.
places = get_corner_positions()
distances = np.linalg.norm(places - get_obj_pos(parse_obj_name('the orange bowl')), axis=1)
ret_val = places[np.argmin(distances)]

# the side nearest to the pink block.
places = get_side_positions()
distances = np.linalg.norm(places - get_obj_pos(parse_obj_name('the pink block')), axis=1)
ret_val = places[np.argmin(distances)]

# on the opposite side of the table from the gray bowl.
ret_val = 2 * get_obj_pos('middle') - get_obj_pos(parse_obj_name('the gray bowl'))

# a free spot.
ret_val = find_free_region([0.14, 0.14])

# the corners.
ret_val = get_corner_positions()

# 4 points in a row.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = np.array([get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims])
layouts = [
    np.array([denormalize_xy([x, y]) for x in np.linspace(start, end, 4)])
    for start, end in [(0, 1), (0, 0.7), (0.3, 1), (0, 0.5), (0.5, 1)]
    for y in [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9, 0, 1]
]
room = [np.min(np.linalg.norm(points[:, None] - taken, axis=2)) for points in layouts]
ret_val = layouts[np.argmax(np.minimum(room, 0.12))]

# 3 points in a vertical line.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = np.array([get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims])
layouts = [
    np.array([denormalize_xy([x, y]) for y in np.linspace(end, start, 3)])
    for start, end in [(0, 1), (0, 0.7), (0.3, 1), (0, 0.5), (0.5, 1)]
    for x in [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9, 0, 1]
]
room = [np.min(np.linalg.norm(points[:, None] - taken, axis=2)) for points in layouts]
ret_val = layouts[np.argmax(np.minimum(room, 0.12))]

# 4 points in a line along the right side.
ret_val = np.array([denormalize_xy([1, y]) for y in np.linspace(1, 0, 4)])

# 6 points in a circle.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = np.array([get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims])
angles = np.linspace(0, 2 * np.pi, 6, endpoint=False)
circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
layouts = [
    denormalize_xy([x, y]) + radius * circle
    for radius in [0.15, 0.12, 0.09]
    for x in [0.5, 0.4, 0.6, 0.3, 0.7, 0.25, 0.75]
    for y in [0.5, 0.4, 0.6, 0.3, 0.7, 0.25, 0.75]
]
room = [np.min(np.linalg.norm(points[:, None] - taken, axis=2)) for points in layouts]
ret_val = layouts[np.argmax(np.minimum(room, 0.12))]

# 5 points in a circle around the orange bowl.
angles = np.linspace(0, 2 * np.pi, 5, endpoint=False)
circle = 0.12 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
ret_val = get_obj_pos(parse_obj_name('the orange bowl')) + circle

# 3 points in a line to the left of the pink block.
direction = np.array([-1, 0])
steps = np.outer([1, 2, 3], 0.08 * direction)
ret_val = get_obj_pos(parse_obj_name('the pink block')) + steps

# 8 points in a square.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = np.array([get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims])
corners = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1], [-1, 1]])
sides = np.bincount(np.arange(8) % 4)
t = [side + i / count for side, count in enumerate(sides) for i in range(count)]
square = np.stack([np.interp(t, np.arange(5), corners[:, axis]) for axis in range(2)], axis=1)
layouts = [
    denormalize_xy([x, y]) + half * square
    for half in [0.12, 0.1, 0.08]
    for x in [0.5, 0.4, 0.6, 0.3, 0.7, 0.25, 0.75]
    for y in [0.5, 0.4, 0.6, 0.3, 0.7, 0.25, 0.75]
]
room = [np.min(np.linalg.norm(points[:, None] - taken, axis=2)) for points in layouts]
ret_val = layouts[np.argmax(np.minimum(room, 0.12))]
