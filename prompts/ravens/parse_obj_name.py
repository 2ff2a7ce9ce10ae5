# /// cap
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos, get_bbox

objects = ['blue block', 'cyan block', 'blue bowl', 'gray bowl', 'brown bowl', 'pink block']
# the blue block.
ret_val = 'blue block'

# the blocks.
ret_val = [name for name in objects if 'block' in name]

# all the bowls.
ret_val = [name for name in objects if 'bowl' in name]

# each block.
ret_val = [name for name in objects if 'block' in name]

# everything.
ret_val = list(objects)

# the pink objects.
ret_val = [name for name in objects if 'pink' in name]

# the pink and cyan blocks.
ret_val = [name for name in objects if 'block' in name and ('pink' in name or 'cyan' in name)]

# the blue block and the gray bowl.
ret_val = ['blue block', 'gray bowl']

# the blocks other than the blue block.
ret_val = [name for name in objects if 'block' in name and name != 'blue block']

# all the bowls except the gray bowl.
ret_val = [name for name in objects if 'bowl' in name and name != 'gray bowl']

# the bowl with the same color as the blue block.
color = 'blue block'.split()[0]
ret_val = [name for name in objects if 'bowl' in name and name.split()[0] == color][0]

objects = ['red block', 'green block', 'orange bowl', 'yellow block', 'green bowl', 'red bowl']
# any block.
names = [name for name in objects if 'block' in name]
ret_val = names[0]

# the leftmost block.
names = [name for name in objects if 'block' in name]
ret_val = min(names, key=lambda name: get_obj_pos(name)[0])

# the rightmost bowl.
names = [name for name in objects if 'bowl' in name]
ret_val = max(names, key=lambda name: get_obj_pos(name)[0])

# the topmost block.
names = [name for name in objects if 'block' in name]
ret_val = max(names, key=lambda name: get_obj_pos(name)[1])

# the bottommost bowl.
names = [name for name in objects if 'bowl' in name]
ret_val = min(names, key=lambda name: get_obj_pos(name)[1])

# the block on the left.
names = [name for name in objects if 'block' in name]
ret_val = min(names, key=lambda name: get_obj_pos(name)[0])

# the second block from the left.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])[1]

# the third bowl from the right.
names = [name for name in objects if 'bowl' in name]
ret_val = sorted(names, key=lambda name: -get_obj_pos(name)[0])[2]

# the first bowl from the bottom.
names = [name for name in objects if 'bowl' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[1])[0]

# the second block from the top.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: -get_obj_pos(name)[1])[1]

# the two blocks on the left.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])[:2]

# the blocks from left to right.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])

objects = ['brown block', 'pink bowl', 'gray block', 'blue bowl', 'purple block', 'cyan bowl']
# the block closest to the pink bowl.
names = [name for name in objects if 'block' in name and name != 'pink bowl']
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('pink bowl')) for name in names]
ret_val = names[np.argmin(distances)]

# the bowl farthest from the gray block.
names = [name for name in objects if 'bowl' in name and name != 'gray block']
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('gray block')) for name in names]
ret_val = names[np.argmax(distances)]

# the bowl nearest to the middle.
names = [name for name in objects if 'bowl' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('middle')) for name in names]
ret_val = names[np.argmin(distances)]

# the block closest to the bottom right corner.
names = [name for name in objects if 'block' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('bottom right corner')) for name in names]
ret_val = names[np.argmin(distances)]

# the bowl farthest from the top left corner.
names = [name for name in objects if 'bowl' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('top left corner')) for name in names]
ret_val = names[np.argmax(distances)]

# the block nearest to the right side.
names = [name for name in objects if 'block' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('right side')) for name in names]
ret_val = names[np.argmin(distances)]

# the bowls to the left of the purple block.
ret_val = []
for name in [name for name in objects if 'bowl' in name]:
    offset = get_obj_pos(name) - get_obj_pos('purple block')
    if offset[0] < 0:
        ret_val.append(name)

# the blocks to the right of the pink bowl.
ret_val = []
for name in [name for name in objects if 'block' in name]:
    offset = get_obj_pos(name) - get_obj_pos('pink bowl')
    if offset[0] > 0:
        ret_val.append(name)

# the bowls above the brown block.
ret_val = []
for name in [name for name in objects if 'bowl' in name]:
    offset = get_obj_pos(name) - get_obj_pos('brown block')
    if offset[1] > 0:
        ret_val.append(name)

# the blocks below the blue bowl.
ret_val = []
for name in [name for name in objects if 'block' in name]:
    offset = get_obj_pos(name) - get_obj_pos('blue bowl')
    if offset[1] < 0:
        ret_val.append(name)

# the objects to the left of the purple block.
ret_val = []
for name in objects:
    offset = get_obj_pos(name) - get_obj_pos('purple block')
    if offset[0] < 0:
        ret_val.append(name)

# the block to the left of the pink bowl.
names = [name for name in objects if 'block' in name]
spot = get_obj_pos('pink bowl') + 0.12 * np.array([-1, 0])
ret_val = min(names, key=lambda name: np.linalg.norm(get_obj_pos(name) - spot))

# the bowl to the right of the gray block.
names = [name for name in objects if 'bowl' in name]
spot = get_obj_pos('gray block') + 0.12 * np.array([1, 0])
ret_val = min(names, key=lambda name: np.linalg.norm(get_obj_pos(name) - spot))

# the block above the blue bowl.
names = [name for name in objects if 'block' in name]
spot = get_obj_pos('blue bowl') + 0.12 * np.array([0, 1])
ret_val = min(names, key=lambda name: np.linalg.norm(get_obj_pos(name) - spot))

# the bowl below the brown block.
names = [name for name in objects if 'bowl' in name]
spot = get_obj_pos('brown block') + 0.12 * np.array([0, -1])
ret_val = min(names, key=lambda name: np.linalg.norm(get_obj_pos(name) - spot))

# the block in the cyan bowl.
names = [name for name in objects if 'block' in name]
ret_val = min(names, key=lambda name: np.linalg.norm(get_obj_pos(name) - get_obj_pos('cyan bowl')))

# the blocks in the cyan bowl.
left, bottom, right, top = get_bbox('cyan bowl')
ret_val = []
for name in [name for name in objects if 'block' in name]:
    x, y = get_obj_pos(name)
    if left < x < right and bottom < y < top:
        ret_val.append(name)
