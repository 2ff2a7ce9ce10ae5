# /// cap
# context = ["objects", "at"]
# session = true
# initial = { target = "", velocity = [0.2, 0.0], reason = "nobody told me to move", traj = [] }
# actions = true
# ///
import numpy as np
from robot import is_obj_visible, get_visible_obj_names, get_loc_names, get_obj_pos, get_loc_pos
from robot import get_obj_size, get_color, get_robot_pos_and_angle, get_robot_pos, detect_object
from robot import obj_in_gripper, goto_pos, goto_loc, follow_traj, set_velocity, stop, wait
from robot import pick_obj, place_at_obj, place_at_pos, open_drawer, close_drawer, say, undo_turns
from lmps import parse_loc_name, parse_obj_name, parse_position, transform_traj

objects = ['apple', 'coke can', 'banana', 'bowl']
# pick up the apple.
target = 'apple'
pick_obj(target)
#= moved apple from table; holds apple

# put it in the bowl.
if not obj_in_gripper(target):
    pick_obj(target)
place_at_obj('bowl')
#= moved apple to bowl; holds nothing

# put the banana next to the bowl.
target = 'banana'
pick_obj(target)
place_at_obj('bowl', 'beside')
#= moved banana from table to table

# take the coke can to the desk.
target = 'coke can'
pick_obj(target)
goto_loc('desk')
place_at_obj('desk')
#= moved coke can from table to desk

# put it back where it was.
goto_loc('desk')
pick_obj(target)
goto_loc('table')
place_at_obj('table')
#= moved coke can from desk to table
#? as named before

# undo that.
if not undo_turns():
    say('nothing was done yet')
#= moved coke can from table to desk

# bring me the mug.
say('I see no mug')
#= said no mug; nothing moved

# fly.
say('I cannot do that: I can drive, look, carry objects, and open drawers')
#? said cannot; nothing moved

objects = ['apple', 'banana', 'bowl', 'orange', 'coke can', 'juice box']
# put all the fruit in the bowl.
names = parse_obj_name('all the fruit')
for name in names:
    pick_obj(name)
    place_at_obj('bowl')
if not names:
    say('I see no fruit')
#= moved apple, banana, orange from table to bowl

# gather all the drinks in the kitchen on the cart.
for loc in get_loc_names():
    goto_loc(loc)
    for name in parse_obj_name('all the drinks') if loc != 'cart' else []:
        goto_loc(loc)
        pick_obj(name)
        goto_loc('cart')
        place_at_obj('cart')
#= moved coke can, juice box from table to cart

objects = ['apple', 'egg', 'red plate']
# when you see an egg, put it on the red plate.
target = 'egg'
while not is_obj_visible(target):
    wait(1)
pick_obj(target)
place_at_obj('red plate', 'on')
#= moved egg from table to red plate

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
#= moved sponge from table to bottom drawer

# find the apple.
target, reason = 'apple', 'I saw none'
for loc in get_loc_names():
    goto_loc(loc)
    if is_obj_visible(target):
        reason = f'I saw {target}'
        say(f'the {target} is at the {loc}')
        break
else:
    say(f'I see no {target}; I opened no drawer')
#= drove; said apple

# move to the right of the room by 20 cm.
goto_pos(get_robot_pos() + 0.2 * np.array([1, 0, 0]))
#? drove

# turn around.
place, angle = get_robot_pos_and_angle()
goto_pos(place, angle=angle + np.pi)

# back off until you are 1.5 m from the stool.
middle = get_loc_pos('stool')[:2]
away = get_robot_pos()[:2] - middle
goto_pos(middle + 1.5 * away / np.linalg.norm(away))
#= drove

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

# tell me why you stopped.
say(f'I stopped because {reason}')
#? said I saw the apple
