# /// cap
# doc = "Tell whether what an instruction asks for is so now."
# returns = "ret_val"
# kind = ["boolean"]
# context = ["objects"]
# arguments = { before = { "red block" = [0.1, -0.3, 0.02], "yellow block" = [0.0, -0.5, 0.02], "blue block" = [-0.1, -0.6, 0.02], "blue bowl" = [0.2, -0.6, 0.0], "yellow bowl" = [-0.2, -0.4, 0.0] } }
# ///
import numpy as np
from robot import get_obj_pos, get_obj_height, get_bbox, get_corner_name, get_side_name
from robot import get_corner_positions, is_obj_visible

#< The instruction was carried out just now, rightly or wrongly: tell by looking whether what it asks for is so.
#< before: where each object was before that, name: [x, y, z] in metres; which thing is meant is decided by it.
#< Where several things are asked for, all must be so. Near a place is within 5 cm of it.
#< What is asked for may be so in many ways: take what is so in all of them, or ret_val = None if nothing is.

objects = ['red block', 'yellow block', 'blue block', 'blue bowl', 'yellow bowl']
# put the red block in the blue bowl.
left, bottom, right, top = get_bbox('blue bowl')
x, y = get_obj_pos('red block')
ret_val = bool(left < x < right and bottom < y < top)

# put the red block on the yellow block.
apart = np.linalg.norm(get_obj_pos('red block') - get_obj_pos('yellow block'))
ret_val = bool(apart < 0.03 and get_obj_height('red block') > get_obj_height('yellow block'))

# put the yellow block on the top left corner.
ret_val = bool(np.linalg.norm(get_obj_pos('yellow block') - get_obj_pos('top left corner')) < 0.05)

# move the leftmost block to the middle.
block = min([name for name in before if 'block' in name], key=lambda name: before[name][0])
ret_val = bool(np.linalg.norm(get_obj_pos(block) - get_obj_pos('middle')) < 0.05)

# move the red block 5cm to the right.
moved = get_obj_pos('red block') - np.array(before['red block'][:2])
ret_val = bool(np.linalg.norm(moved - [5 / 100, 0]) < 0.02)

# stack all the blocks.
blocks = sorted([name for name in objects if 'block' in name], key=get_obj_height)
pairs = list(zip(blocks, blocks[1:]))
ret_val = all([np.linalg.norm(get_obj_pos(a) - get_obj_pos(b)) < 0.03 for a, b in pairs])

# put the blocks in the blue bowl.
left, bottom, right, top = get_bbox('blue bowl')
spots = [get_obj_pos(name) for name in objects if 'block' in name]
ret_val = all([bool(left < x < right and bottom < y < top) for x, y in spots])

# put the blocks in the bowls with matching colors.
pairs = [(name, name.replace('block', 'bowl')) for name in objects if 'block' in name]
pairs = [(name, bowl) for name, bowl in pairs if bowl in objects]
ret_val = all([np.linalg.norm(get_obj_pos(name) - get_obj_pos(bowl)) < 0.05 for name, bowl in pairs])

# put the blocks in the bowls with mismatched colors.
bowls = [name for name in objects if 'bowl' in name]
nearest = {}
for name in objects:
    if 'block' in name:
        nearest[name] = min(bowls, key=lambda bowl: np.linalg.norm(get_obj_pos(bowl) - get_obj_pos(name)))
inside = all([np.linalg.norm(get_obj_pos(name) - get_obj_pos(bowl)) < 0.05 for name, bowl in nearest.items()])
ret_val = inside and all([name.split()[0] != bowl.split()[0] for name, bowl in nearest.items()])

# put the blocks in different corners.
spots = [get_obj_pos(name) for name in objects if 'block' in name]
corners = [get_corner_name(spot) for spot in spots]
near = all([np.linalg.norm(get_obj_pos(c) - spot) < 0.05 for c, spot in zip(corners, spots)])
ret_val = near and len(set(corners)) == len(corners)

# how many blocks are there.
ret_val = all([np.linalg.norm(get_obj_pos(name) - np.array(before[name][:2])) < 0.01 for name in objects])

# make the table look nicer.
ret_val = None
