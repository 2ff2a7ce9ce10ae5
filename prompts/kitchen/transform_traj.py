# /// cap
# doc = "Return a path changed as words say, such as 'make it bigger'; takes it as traj_pts=..., shape (n, 3)."
# returns = "new_traj_pts"
# kind = ["points"]
# context = ["objects"]
# arguments = { traj_pts = [[0.0, -1.0, 0.0], [0.4, -1.0, 0.0], [0.4, -1.2, 0.0]] }
# ///
import numpy as np
from robot import get_obj_pos, get_loc_pos, get_robot_pos
from lmps import parse_obj_name, parse_loc_name

objects = ['apple', 'banana']
# make it bigger.
middle = np.mean([np.min(traj_pts, axis=0), np.max(traj_pts, axis=0)], axis=0)
new_traj_pts = middle + 1.5 * (np.array(traj_pts) - middle)

# make it smaller.
middle = np.mean([np.min(traj_pts, axis=0), np.max(traj_pts, axis=0)], axis=0)
new_traj_pts = middle + 0.6 * (np.array(traj_pts) - middle)

# make it 2 times bigger.
middle = np.mean([np.min(traj_pts, axis=0), np.max(traj_pts, axis=0)], axis=0)
new_traj_pts = middle + 2 * (np.array(traj_pts) - middle)

# move it to the left by 20 cm.
new_traj_pts = np.array(traj_pts) + 0.2 * np.array([-1, 0, 0])

# move it to the right by 20 cm.
new_traj_pts = np.array(traj_pts) + 0.2 * np.array([1, 0, 0])

# move it to the back of the room by 20 cm.
new_traj_pts = np.array(traj_pts) + 0.2 * np.array([0, 1, 0])

# move it to the front of the room by 20 cm.
new_traj_pts = np.array(traj_pts) + 0.2 * np.array([0, -1, 0])

# rotate it by 45 degrees.
angle = np.radians(45)
middle = np.mean([np.min(traj_pts, axis=0), np.max(traj_pts, axis=0)], axis=0)
turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
new_traj_pts = middle + (np.array(traj_pts) - middle) @ turn.T

# reverse it.
new_traj_pts = np.array(traj_pts)[::-1]
