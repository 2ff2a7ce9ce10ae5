# /// cap
# doc = "Answer a question about the scene: True, False, a number or text."
# returns = "ret_val"
# kind = ["boolean", "number", "text", "names"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos, get_bbox, get_corner_name, get_side_name
from lmps import parse_obj_name

objects = ['red block', 'blue block', 'green bowl', 'pink bowl', 'gray block']
# how many blocks are there.
ret_val = len(parse_obj_name('the blocks'))

# how many objects are there.
ret_val = len(objects)

# how many blocks are to the left of the green bowl.
ret_val = len(parse_obj_name('the blocks to the left of the green bowl'))

# how far is the red block from the pink bowl.
start = get_obj_pos(parse_obj_name('the red block'))
end = get_obj_pos(parse_obj_name('the pink bowl'))
ret_val = f'{100 * np.linalg.norm(end - start):.0f} cm'

# is the blue block to the left of the pink bowl.
first = get_obj_pos(parse_obj_name('the blue block'))
second = get_obj_pos(parse_obj_name('the pink bowl'))
ret_val = bool(first[0] < second[0])

# is the gray block to the right of the green bowl.
first = get_obj_pos(parse_obj_name('the gray block'))
second = get_obj_pos(parse_obj_name('the green bowl'))
ret_val = bool(first[0] > second[0])

# is the pink bowl above the red block.
first = get_obj_pos(parse_obj_name('the pink bowl'))
second = get_obj_pos(parse_obj_name('the red block'))
ret_val = bool(first[1] > second[1])

# is the red block below the blue block.
first = get_obj_pos(parse_obj_name('the red block'))
second = get_obj_pos(parse_obj_name('the blue block'))
ret_val = bool(first[1] < second[1])

# is the red block in the green bowl.
left, bottom, right, top = get_bbox(parse_obj_name('the green bowl'))
x, y = get_obj_pos(parse_obj_name('the red block'))
ret_val = bool(left < x < right and bottom < y < top)

# is the gray block on the red block.
ret_val = 'gray block' in parse_obj_name('the objects on the red block')

# is the blue block closer to the green bowl than the pink bowl.
start = get_obj_pos(parse_obj_name('the blue block'))
first = np.linalg.norm(get_obj_pos(parse_obj_name('the green bowl')) - start)
second = np.linalg.norm(get_obj_pos(parse_obj_name('the pink bowl')) - start)
ret_val = bool(first < second)

objects = ['cyan block', 'orange bowl', 'purple block', 'brown bowl', 'yellow block']
# are there any cyan blocks.
ret_val = any('cyan' in name and 'block' in name for name in objects)

# are there any blocks to the left of the orange bowl.
ret_val = len(parse_obj_name('the blocks to the left of the orange bowl')) > 0

# is there a cyan block.
ret_val = any('cyan' in name and 'block' in name for name in objects)

# is there a red block.
ret_val = any('red' in name and 'block' in name for name in objects)

# are there any red blocks.
ret_val = any('red' in name and 'block' in name for name in objects)

# how many red blocks are there.
ret_val = sum('red' in name and 'block' in name for name in objects)

# are there more blocks than bowls.
ret_val = len(parse_obj_name('the blocks')) > len(parse_obj_name('the bowls'))

# which block is closest to the brown bowl.
ret_val = parse_obj_name('the block closest to the brown bowl')

# which bowl is farthest from the purple block.
ret_val = parse_obj_name('the bowl farthest from the purple block')

# which blocks are to the left of the orange bowl.
ret_val = ', '.join(parse_obj_name('the blocks to the left of the orange bowl')) or 'none'

# what is in the orange bowl.
ret_val = ', '.join(parse_obj_name('the objects in the orange bowl')) or 'nothing'

# what is on the purple block.
ret_val = ', '.join(parse_obj_name('the objects on the purple block')) or 'nothing'

# what is the leftmost block.
ret_val = parse_obj_name('the leftmost block')

# is the orange bowl empty.
ret_val = not parse_obj_name('the objects in the orange bowl')

# is there anything in the orange bowl.
ret_val = len(parse_obj_name('the objects in the orange bowl')) > 0

# which blocks are in the orange bowl.
ret_val = ', '.join(parse_obj_name('the blocks in the orange bowl')) or 'none'

# what is to the left of the orange bowl.
ret_val = ', '.join(parse_obj_name('the objects to the left of the orange bowl')) or 'nothing'

# what color is the block closest to the orange bowl.
ret_val = parse_obj_name('the block closest to the orange bowl').split()[0]

# what objects are there.
ret_val = ', '.join(objects)

# where is the purple block.
pos = get_obj_pos(parse_obj_name('the purple block'))
places = [get_side_name(pos), get_corner_name(pos), 'middle']
ret_val = 'near the ' + min(places, key=lambda place: np.linalg.norm(get_obj_pos(place) - pos))

# which corner is closest to the yellow block.
ret_val = get_corner_name(get_obj_pos(parse_obj_name('the yellow block')))

# which side is closest to the yellow block.
ret_val = get_side_name(get_obj_pos(parse_obj_name('the yellow block')))
