# /// cap
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos

objects = ['red block', 'blue bowl', 'green block', 'yellow bowl', 'blue block', 'green bowl']
# the green block.
ret_val = 'green block'

# the blocks.
ret_val = [name for name in objects if 'block' in name]

# the bowls.
ret_val = [name for name in objects if 'bowl' in name]

# the topmost block.
names = [name for name in objects if 'block' in name]
ret_val = max(names, key=lambda name: get_obj_pos(name)[1])

# the rightmost bowl.
names = [name for name in objects if 'bowl' in name]
ret_val = max(names, key=lambda name: get_obj_pos(name)[0])

# the third bowl from the left.
names = [name for name in objects if 'bowl' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])[2]

# the two bottommost blocks.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[1])[:2]

# the bowls from left to right.
names = [name for name in objects if 'bowl' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])

objects = ['yellow block', 'red bowl', 'gray block', 'pink bowl', 'cyan block', 'yellow bowl']
# the bowl closest to the cyan block.
names = [name for name in objects if 'bowl' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('cyan block')) for name in names]
ret_val = names[np.argmin(distances)]

# the block farthest from the red bowl.
names = [name for name in objects if 'block' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('red bowl')) for name in names]
ret_val = names[np.argmax(distances)]

# all the blocks below the pink bowl.
ret_val = []
for name in [name for name in objects if 'block' in name]:
    if get_obj_pos(name)[1] < get_obj_pos('pink bowl')[1]:
        ret_val.append(name)

# all the other objects within 22 cm of the gray block.
ret_val = []
for name in [name for name in objects if name != 'gray block']:
    if np.linalg.norm(get_obj_pos(name) - get_obj_pos('gray block')) <= 0.22:
        ret_val.append(name)

# the bowl with the same color as the yellow block.
color = 'yellow block'.split()[0]
ret_val = [name for name in objects if 'bowl' in name and name.split()[0] == color][0]
