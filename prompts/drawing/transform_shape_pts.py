# /// cap
# doc = "Return a shape changed as words say, such as 'make it bigger'; takes it as shape_pts=..., shape (n, 2)."
# returns = "new_shape_pts"
# kind = ["points"]
# context = ["objects"]
# arguments = { shape_pts = [[0.05, -0.45], [0.05, -0.55], [-0.05, -0.5], [0.05, -0.45]] }
# ///
import numpy as np
from robot import get_obj_pos
from lmps import parse_obj_name

objects = ['red block', 'green block']
# make it bigger.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = middle + 1.5 * (shape_pts - middle)

# make it smaller.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = middle + 0.6 * (shape_pts - middle)

# make it 2 times bigger.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = middle + 2 * (shape_pts - middle)

# make it wider.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = middle + np.array([1.5, 1]) * (shape_pts - middle)

# make it taller.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = middle + np.array([1, 1.5]) * (shape_pts - middle)

# rotate it by 45 degrees.
angle = np.radians(45)
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
new_shape_pts = middle + (shape_pts - middle) @ turn.T

# move it to the left by 5 cm.
new_shape_pts = np.array(shape_pts) + 0.05 * np.array([-1, 0])

# move it to the right by 8 cm.
new_shape_pts = np.array(shape_pts) + 0.08 * np.array([1, 0])

# move it up by 6 cm.
new_shape_pts = np.array(shape_pts) + 0.06 * np.array([0, 1])

# move it down by 4 cm.
new_shape_pts = np.array(shape_pts) + 0.04 * np.array([0, -1])

# move it to the middle.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = np.array(shape_pts) + get_obj_pos('middle') - middle

# flip it.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = middle + np.array([-1, 1]) * (shape_pts - middle)

# flip it upside down.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = middle + np.array([1, -1]) * (shape_pts - middle)
