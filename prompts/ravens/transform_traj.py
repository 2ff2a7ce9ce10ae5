# /// cap
# returns = "new_traj_pts"
# kind = ["points"]
# context = ["objects"]
# arguments = { traj_pts = [[0.05, -0.45], [0.05, -0.55], [-0.05, -0.5], [0.05, -0.45]] }
# ///
import numpy as np
from robot import get_obj_pos
from lmps import parse_obj_name, parse_position

#: half as large = half as big, half as wide, half the size, in half the size, at half the size
#: half as large = 2 times smaller, at half size
#: twice as large = twice as big, twice as wide, double the size, at double the size, twice the size
#: 2 times larger = 2 times as large, 2 times bigger, 2 times as big
#: N larger = N bigger
#: larger = bigger, wider
#: a bit larger = a little larger, slightly larger
#: a bit smaller = a little smaller, slightly smaller
#: make it X. = X
#: make it mirrored. = mirror it, flip it, make it flipped, make it mirror inverted
#: make it mirrored. = make it mirrored from left to right
#: make it upside down. = mirror it from top to bottom, make it mirrored from top to bottom
#: make it upside down. = turn it upside down, flip it upside down
#: make it backwards. = reverse it, make it reversed, make it backward, make it in reverse
#: make it backwards. = make it in the opposite direction, make it in the other direction
#: make it backwards. = make it the other way, make it the other way around, make it from the end
#: rotated = turned
#: make it rotated by 90 degrees. = rotate it by 90 degrees, make it rotated 90 degrees
#: up = upwards, upward, forward, forwards, higher
#: down = downwards, downward, lower
#: make it N to the X. = move it N to the X, make it moved N to the X, make it shifted N to the X
#: make it around X. = make it centered on X, make it over X, center it on X, make it with X
#: make it N up. = move it N up, make it moved N up, make it shifted N up
#: make it N down. = move it N down, make it moved N down, make it shifted N down

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
