# /// cap
# doc = "Return the name of the object that words mean, or of a plural a list, perhaps empty. Raises NotFound where there is no such one."
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# exact = "objects"
# ///
import numpy as np
from robot import get_obj_pos, get_obj_height, get_bbox

objects = ['blue block', 'cyan block', 'blue bowl', 'gray bowl', 'brown bowl', 'pink block']
# the blue block.
ret_val = 'blue block'

# the blocks.
ret_val = [name for name in objects if 'block' in name]

# the apple.
ret_val = None

# everything.
ret_val = list(objects)

# the pink objects.
ret_val = [name for name in objects if 'pink' in name]

# the blue and the gray bowl.
ret_val = [name for name in objects if 'bowl' in name and ('blue' in name or 'gray' in name)]

# the blue block and the gray bowl.
ret_val = ['blue block', 'gray bowl']

# all the blocks except the blue block and the pink block.
ret_val = [name for name in objects if 'block' in name and name not in ['blue block', 'pink block']]

# the bowl with the same color as the blue block.
color = 'blue block'.split()[0]
ret_val = [name for name in objects if 'bowl' in name and name.split()[0] == color][0]

objects = ['red block', 'green block', 'orange bowl', 'yellow block', 'green bowl', 'red bowl']
# two blocks.
names = [name for name in objects if 'block' in name]
ret_val = [names[i] for i in range(2)]

# the leftmost block.
names = [name for name in objects if 'block' in name]
ret_val = min(names, key=lambda name: get_obj_pos(name)[0])

# the bottommost bowl.
names = [name for name in objects if 'bowl' in name]
ret_val = min(names, key=lambda name: get_obj_pos(name)[1])

# the second block from the left.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])[1]

# the third bowl from the right.
names = [name for name in objects if 'bowl' in name]
ret_val = sorted(names, key=lambda name: -get_obj_pos(name)[0])[2]

# the two rightmost blocks.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: -get_obj_pos(name)[0])[:2]

# the blocks from left to right.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])

objects = ['brown block', 'pink bowl', 'gray block', 'blue bowl', 'purple block', 'cyan bowl']
# the block closest to the pink bowl.
names = [name for name in objects if 'block' in name and name != 'pink bowl']
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('pink bowl')) for name in names]
ret_val = names[np.argmin(distances)]

# the second closest block to the pink bowl.
names = [name for name in objects if 'block' in name and name != 'pink bowl']
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('pink bowl')) for name in names]
ret_val = names[np.argsort(distances)[1]]

# the bowl closest to the middle.
names = [name for name in objects if 'bowl' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('middle')) for name in names]
ret_val = names[np.argmin(distances)]

# the block closest to the bottom right corner.
names = [name for name in objects if 'block' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('bottom right corner')) for name in names]
ret_val = names[np.argmin(distances)]

# the bowls above the brown block.
ret_val = []
for name in [name for name in objects if 'bowl' in name]:
    offset = get_obj_pos(name) - get_obj_pos('brown block')
    if offset[1] > 0:
        ret_val.append(name)

# the block to the left of the pink bowl.
names = [name for name in objects if 'block' in name and name != 'pink bowl']
spot = get_obj_pos('pink bowl') + 0.12 * np.array([-1, 0])
ret_val = min(names, key=lambda name: np.linalg.norm(get_obj_pos(name) - spot))

# the top block of the stack.
names = [name for name in objects if 'block' in name]
ret_val = max(names, key=get_obj_height)

# the top block of the stack on the brown block.
left, bottom, right, top = get_bbox('brown block')
ret_val, height = None, get_obj_height('brown block')
for name in [name for name in objects if 'block' in name]:
    x, y = get_obj_pos(name)
    if left < x < right and bottom < y < top and get_obj_height(name) > height:
        ret_val, height = name, get_obj_height(name)

# the objects on the brown block.
left, bottom, right, top = get_bbox('brown block')
ret_val = []
for name in objects:
    x, y = get_obj_pos(name)
    higher = get_obj_height(name) > get_obj_height('brown block')
    if higher and left < x < right and bottom < y < top:
        ret_val.append(name)

# the blocks in bowls.
bowls = [get_bbox(name) for name in objects if 'bowl' in name]
ret_val = []
for name in [name for name in objects if 'block' in name]:
    x, y = get_obj_pos(name)
    if any(left < x < right and bottom < y < top for left, bottom, right, top in bowls):
        ret_val.append(name)

# the blocks that are not in a bowl.
bowls = [get_bbox(name) for name in objects if 'bowl' in name]
ret_val = []
for name in [name for name in objects if 'block' in name]:
    x, y = get_obj_pos(name)
    if not any(left < x < right and bottom < y < top for left, bottom, right, top in bowls):
        ret_val.append(name)

# the empty bowls.
blocks = [get_obj_pos(name) for name in objects if 'block' in name]
ret_val = []
for name in [name for name in objects if 'bowl' in name]:
    left, bottom, right, top = get_bbox(name)
    if not any(left < x < right and bottom < y < top for x, y in blocks):
        ret_val.append(name)

# the blocks in the cyan bowl.
left, bottom, right, top = get_bbox('cyan bowl')
ret_val = []
for name in [name for name in objects if 'block' in name]:
    x, y = get_obj_pos(name)
    if left < x < right and bottom < y < top:
        ret_val.append(name)
