# /// cap
# docs = false
# returns = "ret_val"
# kind = ["point", "points"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos, denormalize_xy, get_corner_positions, get_side_positions
from lmps import parse_obj_name

objects = ['red block', 'blue bowl', 'yellow block', 'green bowl']
# the left side.
ret_val = get_obj_pos('left side')

# the top side.
ret_val = get_obj_pos('top side')

# the top left corner.
ret_val = get_obj_pos('top left corner')

# the top right corner.
ret_val = get_obj_pos('top right corner')

# in the blue bowl.
ret_val = get_obj_pos(parse_obj_name('the blue bowl'))

# on the yellow block.
ret_val = get_obj_pos(parse_obj_name('the yellow block'))

# 10 cm to the left of the blue bowl.
direction = np.array([-1, 0])
ret_val = get_obj_pos(parse_obj_name('the blue bowl')) + 0.1 * direction

# 15 cm above the red block.
direction = np.array([0, 1])
ret_val = get_obj_pos(parse_obj_name('the red block')) + 0.15 * direction

# the place nearest to the red block.
places = np.concatenate([get_corner_positions(), get_side_positions()])
distances = np.linalg.norm(places - get_obj_pos('red block'), axis=1)
ret_val = places[np.argmin(distances)]
