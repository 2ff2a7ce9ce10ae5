# /// cap
# doc = "Return the name of the object that words mean, or of a plural a list, perhaps empty. Raises NotFound where there is no such one."
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# exact = "objects"
# ///
import numpy as np
from robot import get_obj_pos

objects = ['blue block', 'cyan block', 'pink block']
# the cyan block.
ret_val = 'cyan block'

# the bowl.
ret_val = None

# the blocks.
ret_val = [name for name in objects if 'block' in name]

# all the blocks.
ret_val = [name for name in objects if 'block' in name]

objects = ['red block', 'green block', 'orange block']
# the leftmost block.
blocks = [name for name in objects if 'block' in name]
ret_val = min(blocks, key=lambda name: get_obj_pos(name)[0])

# the rightmost block.
blocks = [name for name in objects if 'block' in name]
ret_val = max(blocks, key=lambda name: get_obj_pos(name)[0])

# the topmost block.
blocks = [name for name in objects if 'block' in name]
ret_val = max(blocks, key=lambda name: get_obj_pos(name)[1])

# the bottommost block.
blocks = [name for name in objects if 'block' in name]
ret_val = min(blocks, key=lambda name: get_obj_pos(name)[1])

# the block closest to the middle.
blocks = [name for name in objects if 'block' in name]
ret_val = min(blocks, key=lambda name: np.linalg.norm(get_obj_pos(name) - get_obj_pos('middle')))

# the block farthest from the red block.
blocks = [name for name in objects if 'block' in name and name != 'red block']
ret_val = max(blocks, key=lambda name: np.linalg.norm(get_obj_pos(name) - get_obj_pos('red block')))
