# /// cap
# returns = "ret_val"
# kind = ["point", "points"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos
from lmps import parse_obj_name

objects = ['red block', 'blue bowl', 'green block', 'yellow bowl', 'blue block', 'green bowl']
# 10 cm to the left of the red block.
ret_val = get_obj_pos('red block') + np.array([-0.1, 0])

# 8 cm below the green bowl.
ret_val = get_obj_pos('green bowl') + np.array([0, -0.08])

# 6 cm to the right of the topmost block.
name = parse_obj_name('the topmost block')
ret_val = get_obj_pos(name) + np.array([0.06, 0])

# the point a fifth of the way from the blue bowl to the yellow bowl.
start, end = get_obj_pos('blue bowl'), get_obj_pos('yellow bowl')
ret_val = start + (end - start) / 5

# the mean position of all the bowls.
names = parse_obj_name('the bowls')
ret_val = np.mean([get_obj_pos(name) for name in names], axis=0)

objects = ['yellow block', 'red bowl', 'gray block', 'pink bowl', 'cyan block', 'yellow bowl']
# 5 cm from the red bowl in the direction of the gray block.
start, end = get_obj_pos('red bowl'), get_obj_pos('gray block')
ret_val = start + 0.05 * (end - start) / np.linalg.norm(end - start)

# 3 points evenly spaced from the cyan block to the gray block, both ends included.
start, end = get_obj_pos('cyan block'), get_obj_pos('gray block')
ret_val = np.array([start + t * (end - start) for t in np.linspace(0, 1, 3)])

# the two ends of a horizontal line of 20 cm with the yellow block in its middle.
middle = get_obj_pos('yellow block')
ret_val = np.array([middle + np.array([-0.1, 0]), middle + np.array([0.1, 0])])

# 4 points evenly spaced on a circle of radius 10 cm around the pink bowl, the first one above it.
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 4, endpoint=False)
offsets = 0.1 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
ret_val = get_obj_pos('pink bowl') + offsets
