import numpy as np
from env_utils import get_obj_pos, parse_position
from utils import get_obj_positions_np

objects = ['pink block', 'tan bowl', 'gray block', 'tan block']
# the tan bowl.
ret_val = 'tan bowl'
# the blocks.
ret_val = ['pink block', 'gray block', 'tan block']
objects = ['pink block', 'tan bowl', 'gray block', 'tan block']
# the block nearest the tan bowl.
names = ['pink block', 'gray block', 'tan block']
positions = get_obj_positions_np(names)
idx = get_closest_idx(points=positions, point=get_obj_pos('tan bowl'))
ret_val = names[idx]
objects = ['cup', 'plate']
# the thing further right.
if get_obj_pos('cup')[0] > get_obj_pos('plate')[0]:
    ret_val = 'cup'
else:
    ret_val = 'plate'
