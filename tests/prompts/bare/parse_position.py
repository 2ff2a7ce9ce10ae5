import numpy as np
from shapely.geometry import *
from env_utils import denormalize_xy, parse_obj_name, get_obj_names, get_obj_pos

# 12cm right of the pink block.
ret_val = get_obj_pos('pink block') + [0.12, 0]
# the middle.
ret_val = denormalize_xy([0.5, 0.5])
# a row of 4 points, 20cm long, around the middle
middle = denormalize_xy([0.5, 0.5])
row = make_row(length=0.2, center=middle)
ret_val = points_along(row, n=4)
