# /// cap
# doc = "Return the path that words mean, such as 'a square around the blue bowl': xys, shape (n, 2)."
# returns = "traj"
# kind = ["points"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos, get_robot_pos, get_corner_positions, plan_path
from lmps import parse_obj_name, parse_position

objects = ['red block', 'blue bowl', 'yellow block', 'green block']
# a circle around the red block.
center = get_obj_pos(parse_obj_name('the red block'))
angles = np.linspace(0, 2 * np.pi, 65)
traj = center + 0.05 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 8 cm radius circle around the blue bowl.
center = get_obj_pos(parse_obj_name('the blue bowl'))
angles = np.linspace(0, 2 * np.pi, 65)
traj = center + 0.08 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a circle.
center = get_obj_pos('middle')
angles = np.linspace(0, 2 * np.pi, 65)
traj = center + 0.1 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a circle around the middle.
angles = np.linspace(0, 2 * np.pi, 65)
traj = get_obj_pos('middle') + 0.1 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 6 cm radius circle around the middle.
angles = np.linspace(0, 2 * np.pi, 65)
traj = get_obj_pos('middle') + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 4 cm radius circle halfway between the red block and the green block.
first = get_obj_pos(parse_obj_name('the red block'))
second = get_obj_pos(parse_obj_name('the green block'))
angles = np.linspace(0, 2 * np.pi, 65)
traj = (first + second) / 2 + 0.04 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a square around the yellow block.
center = get_obj_pos(parse_obj_name('the yellow block'))
traj = center + 0.05 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a 12 cm square around the yellow block.
center = get_obj_pos(parse_obj_name('the yellow block'))
traj = center + 0.5 * 0.12 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a square around the middle.
traj = get_obj_pos('middle') + 0.1 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a 12 cm square around the middle.
traj = get_obj_pos('middle') + 0.5 * 0.12 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a triangle around the green block.
center = get_obj_pos(parse_obj_name('the green block'))
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 4)
traj = center + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a triangle around the middle.
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 4)
traj = get_obj_pos('middle') + 0.1 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 12 cm triangle around the middle.
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 4)
traj = get_obj_pos('middle') + 0.12 / np.sqrt(3) * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a hexagon around the middle.
angles = np.linspace(0, 2 * np.pi, 7)
traj = get_obj_pos('middle') + 0.1 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 6 cm radius hexagon around the middle.
angles = np.linspace(0, 2 * np.pi, 7)
traj = get_obj_pos('middle') + 0.06 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

objects = ['yellow block', 'red block', 'green block', 'blue bowl']
# a 20 cm horizontal line through the middle.
traj = get_obj_pos('middle') + 0.5 * 0.2 * np.array([[-1, 0], [1, 0]])

# a 20 cm vertical line through the middle.
traj = get_obj_pos('middle') + 0.5 * 0.2 * np.array([[0, -1], [0, 1]])

# a line from the red block to the blue bowl.
start = get_obj_pos(parse_obj_name('the red block'))
goal = get_obj_pos(parse_obj_name('the blue bowl'))
traj = np.array([start, goal])

# a line from the top left corner to the middle.
traj = np.array([parse_position('the top left corner'), parse_position('the middle')])

# the diagonal of the table.
traj = np.array([get_obj_pos('bottom left corner'), get_obj_pos('top right corner')])

# the other diagonal of the table.
traj = np.array([get_obj_pos('bottom right corner'), get_obj_pos('top left corner')])

# all around the table.
top_left, top_right, bottom_left, bottom_right = get_corner_positions()
traj = np.array([bottom_left, bottom_right, top_right, top_left, bottom_left])

# a zigzag across the table.
xs = np.linspace(-0.2, 0.2, 9)
ys = np.tile([-0.08, 0.08], 5)[:9]
traj = get_obj_pos('middle') + np.stack([xs, ys], axis=1)

# a spiral around the red block.
center = get_obj_pos(parse_obj_name('the red block'))
turns = np.linspace(0, 3, 121)
angles, radii = 2 * np.pi * turns, 0.02 * turns
traj = center + np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)

# to the blue bowl around the green block.
goal = get_obj_pos(parse_obj_name('the blue bowl'))
traj = plan_path(get_robot_pos(), goal, avoid_regions=[parse_obj_name('the green block')])
