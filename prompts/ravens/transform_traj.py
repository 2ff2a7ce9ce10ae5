# /// cap
# doc = "Return a path changed as words say, such as 'make it mirrored'; takes it as traj_pts=..., shape (n, 2)."
# returns = "new_traj_pts"
# kind = ["points"]
# context = ["objects"]
# arguments = { traj_pts = [[0.05, -0.45], [0.05, -0.55], [-0.05, -0.5], [0.05, -0.45]] }
# ///
import numpy as np
from robot import get_obj_pos
from lmps import parse_obj_name, parse_position

objects = ['red block', 'blue bowl', 'green block']
# make it larger.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = center + 1.5 * (traj_pts - center)

# make it smaller.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = center + 0.6 * (traj_pts - center)

# make it a bit larger.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = center + 1.2 * (traj_pts - center)

# make it a bit smaller.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = center + 0.8 * (traj_pts - center)

# make it half as large.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = center + 0.5 * (traj_pts - center)

# make it twice as large.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = center + 2 * (traj_pts - center)

# make it 3 times larger.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = center + 3 * (traj_pts - center)

# make it mirrored.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = center + np.array([-1, 1]) * (traj_pts - center)

# make it upside down.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = center + np.array([1, -1]) * (traj_pts - center)

# make it backwards.
new_traj_pts = np.array(traj_pts)[::-1]

# make it rotated by 90 degrees.
angle = np.radians(90)
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
new_traj_pts = center + (traj_pts - center) @ turn.T

# make it rotated clockwise by 90 degrees.
angle = -np.radians(90)
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
new_traj_pts = center + (traj_pts - center) @ turn.T

# make it 5 cm to the left.
new_traj_pts = np.array(traj_pts) + 0.05 * np.array([-1, 0])

# make it 5 cm to the right.
new_traj_pts = np.array(traj_pts) + 0.05 * np.array([1, 0])

# make it 5 cm up.
new_traj_pts = np.array(traj_pts) + 0.05 * np.array([0, 1])

# make it 5 cm down.
new_traj_pts = np.array(traj_pts) + 0.05 * np.array([0, -1])

# make it around the blue bowl.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = np.array(traj_pts) + get_obj_pos(parse_obj_name('the blue bowl')) - center

# make it around the middle.
center = (np.min(traj_pts, axis=0) + np.max(traj_pts, axis=0)) / 2
new_traj_pts = np.array(traj_pts) + parse_position('the middle') - center
