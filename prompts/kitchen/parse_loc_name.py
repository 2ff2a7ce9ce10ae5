# /// cap
# doc = "Return the name of the location that words mean, or a list of names where they mean several."
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["locations"]
# exact = "locations"
# ///
import numpy as np
from robot import get_loc_pos, get_robot_pos

locations = ['table', 'countertop', 'cart', 'desk', 'wood chair', 'steel chair', 'office chair', 'stool', 'recycle bin', 'trash bin', 'compost bin', 'top drawer', 'middle drawer', 'bottom drawer']
# the table.
ret_val = 'table'

# the countertop.
ret_val = 'countertop'

# the recycle bin.
ret_val = 'recycle bin'

# the top drawer.
ret_val = 'top drawer'

# the wood chair.
ret_val = 'wood chair'

# the chairs.
ret_val = [name for name in locations if 'chair' in name]

# the drawers.
ret_val = [name for name in locations if 'drawer' in name]

# the bins.
ret_val = [name for name in locations if 'bin' in name]

# all the locations.
ret_val = locations

# the chair closest to you.
chairs = [name for name in locations if 'chair' in name]
ret_val = min(chairs, key=lambda name: np.linalg.norm(get_loc_pos(name)[:2] - get_robot_pos()[:2]))

# the chair farthest from you.
chairs = [name for name in locations if 'chair' in name]
ret_val = max(chairs, key=lambda name: np.linalg.norm(get_loc_pos(name)[:2] - get_robot_pos()[:2]))

# the bin closest to you.
bins = [name for name in locations if 'bin' in name]
ret_val = min(bins, key=lambda name: np.linalg.norm(get_loc_pos(name)[:2] - get_robot_pos()[:2]))

# the chair closest to the table.
chairs = [name for name in locations if 'chair' in name and name != 'table']
ret_val = min(chairs, key=lambda name: np.linalg.norm(get_loc_pos(name)[:2] - get_loc_pos('table')[:2]))

# the chair farthest from the table.
chairs = [name for name in locations if 'chair' in name and name != 'table']
ret_val = max(chairs, key=lambda name: np.linalg.norm(get_loc_pos(name)[:2] - get_loc_pos('table')[:2]))

# the leftmost chair.
chairs = [name for name in locations if 'chair' in name]
ret_val = min(chairs, key=lambda name: get_loc_pos(name)[0])

# the rightmost chair.
chairs = [name for name in locations if 'chair' in name]
ret_val = max(chairs, key=lambda name: get_loc_pos(name)[0])
