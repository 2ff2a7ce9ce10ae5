# Robot that tidies a tray
import numpy as np
from env_utils import put_first_on_second, get_obj_pos, get_obj_names, say, get_corner_name
from plan_utils import parse_obj_name, parse_position
from move_utils import line_up_objects

objects = ['pink block', 'tan bowl', 'gray block']
# drop the pink block in the tan bowl.
say('Dropping the pink block in the tan bowl')
put_first_on_second('pink block', 'tan bowl')
objects = ['pink block', 'tan bowl', 'gray block']
# which corner is the gray block near
corner = get_corner_name(get_obj_pos('gray block'))
say(f'It is near the {corner}')
objects = ['cyan block', 'olive bowl', 'cyan bowl']
# put every block in a bowl of its color.
for block in parse_obj_name('the blocks', f'objects = {get_obj_names()}'):
    bowl = block.replace('block', 'bowl')
    put_first_on_second(block, bowl)
# now line them up.
line_up_objects(object_names=get_obj_names())
# move the first one a bit to the left.
first_pos = get_obj_pos(get_obj_names()[0])
put_first_on_second(get_obj_names()[0], shift_left(first_pos, by=0.05))
