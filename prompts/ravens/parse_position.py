# /// cap
# returns = "ret_val"
# kind = ["point", "points"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos, denormalize_xy, get_corner_positions, get_side_positions
from lmps import parse_obj_name

objects = ['red block', 'blue bowl', 'yellow block', 'green bowl', 'purple block']
# the top right corner.
ret_val = get_obj_pos('top right corner')

# on the left side of the table.
ret_val = get_obj_pos('left side')

# in the middle of the table.
ret_val = get_obj_pos('middle')

# the center.
ret_val = get_obj_pos('middle')

# the bottom edge.
ret_val = get_obj_pos('bottom side')

# in the blue bowl.
ret_val = get_obj_pos(parse_obj_name('the blue bowl'))

# to the left of the blue bowl.
direction = np.array([-1, 0])
ret_val = get_obj_pos(parse_obj_name('the blue bowl')) + 0.12 * direction

# to the right of the red block.
direction = np.array([1, 0])
ret_val = get_obj_pos(parse_obj_name('the red block')) + 0.12 * direction

# above the green bowl.
direction = np.array([0, 1])
ret_val = get_obj_pos(parse_obj_name('the green bowl')) + 0.12 * direction

# below the yellow block.
direction = np.array([0, -1])
ret_val = get_obj_pos(parse_obj_name('the yellow block')) + 0.12 * direction

# behind the blue bowl.
direction = np.array([0, 1])
ret_val = get_obj_pos(parse_obj_name('the blue bowl')) + 0.12 * direction

# in front of the purple block.
direction = np.array([0, -1])
ret_val = get_obj_pos(parse_obj_name('the purple block')) + 0.12 * direction

# a bit to the left of the green bowl.
direction = np.array([-1, 0])
ret_val = get_obj_pos(parse_obj_name('the green bowl')) + 0.1 * direction

# a little above the purple block.
direction = np.array([0, 1])
ret_val = get_obj_pos(parse_obj_name('the purple block')) + 0.1 * direction

# far to the right of the red block.
direction = np.array([1, 0])
target = get_obj_pos(parse_obj_name('the red block')) + 0.2 * direction
ret_val = np.clip(target, denormalize_xy([0, 0]), denormalize_xy([1, 1]))

# a lot below the yellow block.
direction = np.array([0, -1])
target = get_obj_pos(parse_obj_name('the yellow block')) + 0.2 * direction
ret_val = np.clip(target, denormalize_xy([0, 0]), denormalize_xy([1, 1]))

# 15 cm to the left of the purple block.
direction = np.array([-1, 0])
ret_val = get_obj_pos(parse_obj_name('the purple block')) + 0.15 * direction

# next to the blue bowl.
pos = get_obj_pos(parse_obj_name('the blue bowl'))
direction = np.array([1, 0]) if pos[0] < 0 else np.array([-1, 0])
ret_val = pos + 0.12 * direction

# near the red block.
pos = get_obj_pos(parse_obj_name('the red block'))
direction = np.array([1, 0]) if pos[0] < 0 else np.array([-1, 0])
ret_val = pos + 0.12 * direction

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

# the corner farthest from the cyan block.
places = get_corner_positions()
distances = np.linalg.norm(places - get_obj_pos(parse_obj_name('the cyan block')), axis=1)
ret_val = places[np.argmax(distances)]

# the side nearest to the pink block.
places = get_side_positions()
distances = np.linalg.norm(places - get_obj_pos(parse_obj_name('the pink block')), axis=1)
ret_val = places[np.argmin(distances)]

# on the opposite side of the table from the gray bowl.
ret_val = 2 * get_obj_pos('middle') - get_obj_pos(parse_obj_name('the gray bowl'))

# a free spot.
taken = np.array([get_obj_pos(name) for name in objects])
spots = [denormalize_xy([x, y]) for x in np.linspace(0, 1, 9) for y in np.linspace(0, 1, 9)]
ret_val = max(spots, key=lambda spot: np.min(np.linalg.norm(taken - spot, axis=1)))

# the corners.
ret_val = get_corner_positions()

# the sides.
ret_val = get_side_positions()

# 4 points in a horizontal line.
ret_val = np.array([denormalize_xy([x, 0.5]) for x in np.linspace(0.1, 0.9, 4)])

# 5 points in a line.
ret_val = np.array([denormalize_xy([x, 0.5]) for x in np.linspace(0.1, 0.9, 5)])

# 3 points in a vertical line.
ret_val = np.array([denormalize_xy([0.5, y]) for y in np.linspace(0.9, 0.1, 3)])

# 5 points in a diagonal line.
ret_val = np.array([denormalize_xy([t, t]) for t in np.linspace(0.1, 0.9, 5)])

# 6 points in a circle.
angles = 2 * np.pi * np.arange(6) / 6
ret_val = get_obj_pos('middle') + 0.15 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# 8 points in a square.
corners = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1], [-1, 1]])
t = np.arange(8) * 4 / 8
outline = [np.interp(t, np.arange(5), corners[:, axis]) for axis in range(2)]
ret_val = get_obj_pos('middle') + 0.12 * np.stack(outline, axis=1)

# 6 points in a triangle.
corners = np.array([[0, 1], [0.87, -0.5], [-0.87, -0.5], [0, 1]])
t = np.arange(6) * 3 / 6
outline = [np.interp(t, np.arange(4), corners[:, axis]) for axis in range(2)]
ret_val = get_obj_pos('middle') + 0.15 * np.stack(outline, axis=1)
