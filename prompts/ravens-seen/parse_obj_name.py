# /// cap
# docs = false
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos, get_obj_height, get_bbox

#: the blocks. = all the blocks, every block
#: the bowls. = all the bowls, every bowl

objects = ['blue block', 'green block', 'blue bowl', 'red bowl', 'orange bowl', 'yellow block']
# the blue block.
ret_val = 'blue block'

# the red bowl.
ret_val = 'red bowl'

# the blocks.
ret_val = [name for name in objects if 'block' in name]

# the bowls.
ret_val = [name for name in objects if 'bowl' in name]

# the bowl with the same color as the blue block.
color = 'blue block'.split()[0]
ret_val = [name for name in objects if 'bowl' in name and name.split()[0] == color][0]

objects = ['red block', 'green block', 'orange bowl', 'yellow block', 'green bowl']
# the block to the left of the orange bowl.
names = [name for name in objects if 'block' in name]
offsets = {name: get_obj_pos(name) - get_obj_pos('orange bowl') for name in names}
found = [name for name in names if offsets[name][0] < 0] or names
ret_val = min(found, key=lambda name: np.linalg.norm(offsets[name]))

# the block to the top of the green bowl.
names = [name for name in objects if 'block' in name]
offsets = {name: get_obj_pos(name) - get_obj_pos('green bowl') for name in names}
found = [name for name in names if offsets[name][1] > 0] or names
ret_val = min(found, key=lambda name: np.linalg.norm(offsets[name]))

# the block closest to the orange bowl.
names = [name for name in objects if 'block' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('orange bowl')) for name in names]
ret_val = names[np.argmin(distances)]

# the bowl closest to the red block.
names = [name for name in objects if 'bowl' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('red block')) for name in names]
ret_val = names[np.argmin(distances)]

# the first block from the left.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])[0]

# the second block from the left.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])[1]

# the first block from the top.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: -get_obj_pos(name)[1])[0]

# the second block from the top.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: -get_obj_pos(name)[1])[1]
