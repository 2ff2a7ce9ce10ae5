# /// cap
# doc = "Return the shape that words mean: xys, shape (n, 2), closed where the shape is. Takes a shape that the words call `it` as it=...."
# returns = "shape_pts"
# kind = ["points"]
# context = ["objects"]
# arguments = { it = [[0.05, -0.45], [0.05, -0.55], [-0.05, -0.5], [0.05, -0.45]] }
# ///
import numpy as np
from robot import get_obj_pos, denormalize_xy, get_obj_names, is_obj_visible
from lmps import parse_obj_name

objects = ['red block', 'green block', 'blue block']
# a circle around the middle.
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = get_obj_pos('middle') + 0.05 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 6 cm radius circle around the middle.
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = get_obj_pos('middle') + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a circle around the red block.
center = get_obj_pos(parse_obj_name('the red block'))
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = center + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 6 cm radius circle around the red block.
center = get_obj_pos(parse_obj_name('the red block'))
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = center + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 4 cm radius circle halfway between the red block and the green block.
first = get_obj_pos(parse_obj_name('the red block'))
second = get_obj_pos(parse_obj_name('the green block'))
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = (first + second) / 2 + 0.04 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a hexagon around the middle.
angles = np.linspace(0, 2 * np.pi, 7)
shape_pts = get_obj_pos('middle') + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 6 cm radius hexagon around the middle.
angles = np.linspace(0, 2 * np.pi, 7)
shape_pts = get_obj_pos('middle') + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a pentagon around the middle.
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 6)
shape_pts = get_obj_pos('middle') + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a hexagon around the red block.
center = get_obj_pos(parse_obj_name('the red block'))
angles = np.linspace(0, 2 * np.pi, 7)
shape_pts = center + 0.07 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a square in the top left corner.
corner, half = get_obj_pos('top left corner'), 0.5 * 0.1
center = corner + half * np.sign(get_obj_pos('middle') - corner)
shape_pts = center + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a 6 cm square in the top left corner.
corner, half = get_obj_pos('top left corner'), 0.5 * 0.06
center = corner + half * np.sign(get_obj_pos('middle') - corner)
shape_pts = center + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a square around the middle.
shape_pts = get_obj_pos('middle') + 0.05 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a 8 cm square around the middle.
shape_pts = get_obj_pos('middle') + 0.5 * 0.08 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a square around the red block.
center = get_obj_pos(parse_obj_name('the red block'))
shape_pts = center + 0.06 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a 12 cm square around the red block.
center = get_obj_pos(parse_obj_name('the red block'))
shape_pts = center + 0.5 * 0.12 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a big circle around the middle.
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = get_obj_pos('middle') + 0.1 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 10 cm wide circle around the middle.
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = get_obj_pos('middle') + 0.5 * 0.1 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 12 cm by 6 cm rectangle around the middle.
shape_pts = get_obj_pos('middle') + 0.5 * np.array([0.12, 0.06]) * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a triangle around the middle.
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 4)
shape_pts = get_obj_pos('middle') + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# an equilateral triangle with 12 cm sides around the middle.
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 4)
shape_pts = get_obj_pos('middle') + 0.12 / np.sqrt(3) * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a star around the middle.
angles = np.pi / 2 + np.linspace(0, 4 * np.pi, 6)
shape_pts = get_obj_pos('middle') + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a horizontal line through the middle.
shape_pts = get_obj_pos('middle') + 0.1 * np.array([[-1, 0], [1, 0]])

# a vertical line through the middle.
shape_pts = get_obj_pos('middle') + 0.1 * np.array([[0, -1], [0, 1]])

# a 20 cm horizontal line through the middle.
shape_pts = get_obj_pos('middle') + 0.5 * 0.2 * np.array([[-1, 0], [1, 0]])

# a line from the red block to the green block.
start = get_obj_pos(parse_obj_name('the red block'))
end = get_obj_pos(parse_obj_name('the green block'))
direction = (end - start) / np.linalg.norm(end - start)
shape_pts = np.array([start + 0.05 * direction, end - 0.05 * direction])

# a line from the top left corner to the middle.
shape_pts = np.array([get_obj_pos('top left corner'), get_obj_pos('middle')])

# a line from the bottom left corner to the top right corner.
shape_pts = np.array([get_obj_pos('bottom left corner'), get_obj_pos('top right corner')])

# a line that bisects it.
low, high = np.min(it, axis=0), np.max(it, axis=0)
x = (low[0] + high[0]) / 2
shape_pts = np.array([[x, low[1] - 0.01], [x, high[1] + 0.01]])

# a 4 cm line perpendicular to it.
middle, along = np.mean([np.min(it, axis=0), np.max(it, axis=0)], axis=0), np.subtract(it[1], it[0])
across = np.array([-along[1], along[0]]) / np.linalg.norm(along)
shape_pts = middle + 0.5 * 0.04 * np.array([-across, across])

# the ground line.
shape_pts = np.array([denormalize_xy([0.26, 0.4]), denormalize_xy([0.74, 0.4])])

# a pyramid on the ground line.
low, high = np.min(it, axis=0), np.max(it, axis=0)
middle, width = (low + high) / 2, 0.5 * (high[0] - low[0])
left, right = [middle[0] - width / 2, high[1]], [middle[0] + width / 2, high[1]]
shape_pts = np.array([left, right, [middle[0], high[1] + width], left])

# a sun above it.
middle = np.mean([np.min(it, axis=0), np.max(it, axis=0)], axis=0)
center = np.array([middle[0], np.max(it, axis=0)[1] + 0.05])
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = center + 0.025 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 4 cm square to the right of it.
low, high, half = np.min(it, axis=0), np.max(it, axis=0), 0.5 * 0.04
center = np.array([high[0] + 0.02 + half, (low[1] + high[1]) / 2])
shape_pts = center + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a circle around it.
middle = np.mean([np.min(it, axis=0), np.max(it, axis=0)], axis=0)
radius = 0.01 + np.max(np.linalg.norm(it - middle, axis=1))
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = middle + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
