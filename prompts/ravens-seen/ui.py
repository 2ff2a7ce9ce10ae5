# /// cap
# docs = false
# context = ["objects"]
# session = true
# actions = true
# ///
import numpy as np
from robot import get_obj_pos, get_obj_height, is_obj_visible, denormalize_xy, get_obj_names
from robot import get_corner_positions, get_side_positions, get_corner_name, get_side_name
from robot import put_first_on_second, stack_objects_in_order, say
from lmps import parse_obj_name, parse_position

#: pick up X and place it = pick X up and place it, take X and put it, grab X and put it
#: put all the = put the, place all the, place the, put every one of the

objects = ['red block', 'yellow block', 'blue bowl', 'green bowl']
# pick up the red block and place it on the blue bowl.
put_first_on_second(parse_obj_name('the red block'), parse_obj_name('the blue bowl'))

# pick up the yellow block and place it on the red block.
put_first_on_second(parse_obj_name('the yellow block'), parse_obj_name('the red block'))

objects = ['green block', 'orange bowl', 'blue block', 'red block']
# stack all the blocks.
stack_objects_in_order(parse_obj_name('the blocks'))

objects = ['yellow block', 'red bowl', 'orange block', 'blue bowl', 'green block']
# put all the blocks on the left side.
place = parse_position('the left side')
for name in parse_obj_name('the blocks'):
    put_first_on_second(name, place)

# put all the blocks on the top right corner.
place = parse_position('the top right corner')
for name in sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True):
    put_first_on_second(name, place)

objects = ['blue block', 'green bowl', 'yellow bowl', 'orange block']
# put the blocks in the green bowl.
bowl = parse_obj_name('the green bowl')
for name in parse_obj_name('the blocks'):
    put_first_on_second(name, bowl)

objects = ['red block', 'green bowl', 'yellow block', 'red bowl', 'green block', 'yellow bowl']
# put all the blocks in the bowls with matching colors.
for name in parse_obj_name('the blocks'):
    bowl = name.split()[0] + ' bowl'
    if is_obj_visible(bowl):
        put_first_on_second(name, bowl)

objects = ['orange block', 'yellow bowl', 'red block', 'blue block']
# pick up the block to the left of the yellow bowl and place it on the top side.
block = parse_obj_name('the block to the left of the yellow bowl')
put_first_on_second(block, parse_position('the top side'))

# pick up the block closest to the yellow bowl and place it on the top left corner.
block = parse_obj_name('the block closest to the yellow bowl')
put_first_on_second(block, parse_position('the top left corner'))

objects = ['green block', 'yellow block', 'blue bowl', 'red block', 'orange bowl']
# pick up the first block from the left and place it on the top right corner.
block = parse_obj_name('the first block from the left')
put_first_on_second(block, parse_position('the top right corner'))

# move the red block 5 cm to the left.
delta = 0.05 * np.array([-1, 0])
put_first_on_second('red block', get_obj_pos('red block') + delta)
