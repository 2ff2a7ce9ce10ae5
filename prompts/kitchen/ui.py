# /// cap
# context = ["objects", "at"]
# session = true
# initial = { target = "", velocity = [0.2, 0.0], reason = "nobody told me to move", traj = [], history = [] }
# actions = true
# ///
import numpy as np
from robot import is_obj_visible, get_visible_obj_names, get_loc_names, get_obj_pos, get_loc_pos
from robot import get_obj_size, get_color, get_robot_pos_and_angle, get_robot_pos, detect_object
from robot import obj_in_gripper, goto_pos, goto_loc, follow_traj, set_velocity, stop, wait
from robot import pick_obj, place_at_obj, place_at_pos, open_drawer, close_drawer, say
from robot import get_mark, undo_to
from lmps import parse_loc_name, parse_obj_name, parse_position, transform_traj

objects = ['apple', 'coke can', 'banana', 'bowl']
# go to the chair closest to the table.
goto_loc(parse_loc_name('the chair closest to the table'))

# go to the table as fast as you can.
goto_loc('table', speed=1.0)
#= drove to table

# pick up the apple.
target = 'apple'
pick_obj(target)
#= moved apple; changed held

# put it in the bowl.
if not obj_in_gripper(target):
    pick_obj(target)
place_at_obj('bowl')
#= moved apple; inside bowl

# put the banana next to the bowl.
target = 'banana'
pick_obj(target)
place_at_obj('bowl', 'beside')
#= moved banana; beside bowl; not inside bowl

# take the coke can to the desk.
target = 'coke can'
pick_obj(target)
goto_loc('desk')
place_at_obj('desk')
#= moved coke can; not near bowl

# bring me the mug.
say('I see no mug here')
#= said no mug; nothing moved

# fly.
say('I cannot do that: I can drive, look, carry objects, and open drawers')
#= said cannot; nothing moved

objects = ['apple', 'banana', 'bowl', 'orange', 'coke can', 'juice box']
# put all the fruit in the bowl.
names = parse_obj_name('all the fruit')
for name in names:
    pick_obj(name)
    place_at_obj('bowl')
if not names:
    say('I see no fruit here')
#= moved apple, banana, orange; inside bowl

# gather all the drinks in the kitchen on the cart.
for loc in get_loc_names():
    goto_loc(loc)
    for name in parse_obj_name('all the drinks') if loc != 'cart' else []:
        goto_loc(loc)
        pick_obj(name)
        goto_loc('cart')
        place_at_obj('cart')
#= moved coke can, juice box

objects = ['apple', 'lime', 'cup', 'egg', 'red plate', 'green plate']
# put each fruit on the plate of its color.
plates = parse_obj_name('the plates')
for name in parse_obj_name('the fruit'):
    away = [np.linalg.norm(np.subtract(get_color(name), get_color(plate))) for plate in plates]
    pick_obj(name)
    place_at_obj(plates[np.argmin(away)], 'on')
#= moved apple, lime

# put the smallest fruit next to the cup.
target = min(parse_obj_name('the fruit'), key=lambda name: np.prod(get_obj_size(name)))
pick_obj(target)
place_at_obj('cup', 'beside')
#= moved lime

# when you see an egg, put it on the red plate.
target = 'egg'
while not is_obj_visible(target):
    wait(1)
pick_obj(target)
place_at_obj('red plate', 'on')
#= moved egg

objects = ['sponge', 'apple', 'cup']
# put the sponge in the bottom drawer.
drawer, target, (place, angle) = 'bottom drawer', 'sponge', get_robot_pos_and_angle()
goto_loc(drawer)
open_drawer(drawer)
goto_pos(place, angle=angle)
pick_obj(target)
goto_loc(drawer)
place_at_obj(drawer)
close_drawer(drawer)
#= moved sponge; not near cup

# find the apple.
target, reason = 'apple', 'I have been everywhere'
for loc in get_loc_names():
    goto_loc(loc)
    if is_obj_visible(target):
        reason = f'I saw {target}'
        say(f'the {target} is at the {loc}')
        break
#= said apple; nothing moved

# move to the right of the room by 20 cm.
goto_pos(get_robot_pos() + 0.2 * np.array([1, 0, 0]))
#= drove 0.2 m right

# move backwards for 2 seconds.
set_velocity(x=0, y=-0.1)
wait(2)
stop()

# move in a 2.4 m by 1.6 m rectangle around the stool.
traj = parse_position('a 2.4 m by 1.6 m rectangle around the stool')
follow_traj(traj)

# do it again but slower and turned by 45 degrees.
traj = transform_traj('rotate it by 45 degrees', traj_pts=traj)
follow_traj(traj, speed=0.25)

objects = ['apple', 'banana', 'orange']
# move to the right until you see the apple.
target, velocity = 'the apple', np.array([0.2, 0.0])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1])
stop()
reason = f'I saw {target}'

# do it again but faster, to the left, and with a banana.
target, velocity = 'a banana', 2 * np.linalg.norm(velocity) * np.array([-1.0, 0.0])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1])
stop()
reason = f'I saw {target}'

# tell me why you stopped.
say(f'I stopped because {reason}')
#= said I saw a banana
