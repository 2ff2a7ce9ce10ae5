import numpy as np
from shapely.geometry import *
from shapely.affinity import *

from env_utils import get_obj_pos, put_first_on_second

# define function: total = add_up(values=heights).
def add_up(values):
    return np.sum(values)

# define function: pt = step_left(pos, by=0.1).
def step_left(pos, by):
    return pos + [-by, 0]

# example: shift all points to the left.
new_pts = [step_left(pt, by=0.1) for pt in pts]

# define function: side = longer_side(get_bbox('tan bowl')).
def longer_side(bbox):
    x0, y0, x1, y1 = bbox
    return max(x1 - x0, y1 - y0)
