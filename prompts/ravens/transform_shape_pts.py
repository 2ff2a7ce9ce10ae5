# /// cap
# doc = "Return xys changed as words say, such as 'make it bigger'; takes them as shape_pts=..., shape (n, 2)."
# returns = "new_shape_pts"
# kind = ["points"]
# context = ["objects"]
# arguments = { shape_pts = [[0.05, -0.45], [0.05, -0.55], [-0.05, -0.5]] }
# ///
import numpy as np
from robot import get_obj_pos, denormalize_xy
from lmps import parse_obj_name, parse_position

objects = ['red block', 'blue bowl', 'green block']
# make it bigger.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + 1.5 * (shape_pts - center)
low, high = denormalize_xy([0, 0]), denormalize_xy([1, 1])
new_shape_pts += np.clip(0, low - np.min(new_shape_pts, axis=0), high - np.max(new_shape_pts, axis=0))

# make the circle bigger.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + 1.5 * (shape_pts - center)
low, high = denormalize_xy([0, 0]), denormalize_xy([1, 1])
new_shape_pts += np.clip(0, low - np.min(new_shape_pts, axis=0), high - np.max(new_shape_pts, axis=0))

# make the triangle smaller.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + 0.6 * (shape_pts - center)

# make it smaller.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + 0.6 * (shape_pts - center)

# make it a bit bigger.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + 1.2 * (shape_pts - center)
low, high = denormalize_xy([0, 0]), denormalize_xy([1, 1])
new_shape_pts += np.clip(0, low - np.min(new_shape_pts, axis=0), high - np.max(new_shape_pts, axis=0))

# make it a bit smaller.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + 0.8 * (shape_pts - center)

# make it 2 times bigger.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + 2 * (shape_pts - center)
low, high = denormalize_xy([0, 0]), denormalize_xy([1, 1])
new_shape_pts += np.clip(0, low - np.min(new_shape_pts, axis=0), high - np.max(new_shape_pts, axis=0))

# make it wider.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + np.array([1.5, 1]) * (shape_pts - center)
low, high = denormalize_xy([0, 0]), denormalize_xy([1, 1])
new_shape_pts += np.clip(0, low - np.min(new_shape_pts, axis=0), high - np.max(new_shape_pts, axis=0))

# make it taller.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + np.array([1, 1.5]) * (shape_pts - center)
low, high = denormalize_xy([0, 0]), denormalize_xy([1, 1])
new_shape_pts += np.clip(0, low - np.min(new_shape_pts, axis=0), high - np.max(new_shape_pts, axis=0))

# flip it.
center = np.mean(shape_pts, axis=0)
new_shape_pts = center + np.array([-1, 1]) * (shape_pts - center)

# rotate it by 45 degrees.
angle = np.radians(45)
center = np.mean(shape_pts, axis=0)
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
new_shape_pts = center + (shape_pts - center) @ turn.T
low, high = denormalize_xy([0, 0]), denormalize_xy([1, 1])
new_shape_pts += np.clip(0, low - np.min(new_shape_pts, axis=0), high - np.max(new_shape_pts, axis=0))

# rotate it clockwise by 30 degrees.
angle = -np.radians(30)
center = np.mean(shape_pts, axis=0)
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
new_shape_pts = center + (shape_pts - center) @ turn.T
low, high = denormalize_xy([0, 0]), denormalize_xy([1, 1])
new_shape_pts += np.clip(0, low - np.min(new_shape_pts, axis=0), high - np.max(new_shape_pts, axis=0))

# rotate it 30 degrees clockwise.
angle = -np.radians(30)
center = np.mean(shape_pts, axis=0)
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
new_shape_pts = center + (shape_pts - center) @ turn.T
low, high = denormalize_xy([0, 0]), denormalize_xy([1, 1])
new_shape_pts += np.clip(0, low - np.min(new_shape_pts, axis=0), high - np.max(new_shape_pts, axis=0))

# move it 5 cm to the left.
new_shape_pts = np.array(shape_pts) + 0.05 * np.array([-1, 0])

# move it 8 cm to the right.
new_shape_pts = np.array(shape_pts) + 0.08 * np.array([1, 0])

# move it 6 cm up.
new_shape_pts = np.array(shape_pts) + 0.06 * np.array([0, 1])

# move it 4 cm down.
new_shape_pts = np.array(shape_pts) + 0.04 * np.array([0, -1])

# move it a bit to the right.
new_shape_pts = np.array(shape_pts) + 0.05 * np.array([1, 0])

# move it toward the blue bowl.
offset = get_obj_pos(parse_obj_name('the blue bowl')) - np.mean(shape_pts, axis=0)
new_shape_pts = np.array(shape_pts) + 0.5 * offset

# center it on the blue bowl.
offset = get_obj_pos(parse_obj_name('the blue bowl')) - np.mean(shape_pts, axis=0)
new_shape_pts = np.array(shape_pts) + offset

# move it to the top left corner.
offset = parse_position('the top left corner') - np.mean(shape_pts, axis=0)
new_shape_pts = np.array(shape_pts) + offset
