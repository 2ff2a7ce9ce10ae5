import numpy as np
from utils import get_obj_pos, get_obj_names, parse_position, parse_obj_name

# twice as large.
new_shape_pts = scale_pts(shape_pts, factor=2)

# 10cm up.
new_shape_pts = shift_pts(shape_pts, delta=[0, 0.1])

# a quarter turn to the left around the tan bowl.
center = get_obj_pos('tan bowl')
new_shape_pts = turn_pts(shape_pts, angle=np.deg2rad(90), center=center)
