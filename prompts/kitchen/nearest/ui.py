#: chip bag = chips bag, bag of chips, chips, crisps
#: coke can = can of coke, coke, soda can, can of soda, soda
#: water bottle = bottle of water
#: juice box = box of juice, carton of juice, juice carton
#: cracker box = box of crackers, crackers
#: soap bottle = bottle of soap
#: countertop = kitchen counter, kitchen worktop, counter, worktop
#: cart = trolley, kitchen cart
#: table = kitchen table, dining table
#: recycle bin = recycling bin, recycling
#: trash bin = trash can, garbage can, garbage bin, rubbish bin, waste bin, garbage, rubbish, trash
#: top drawer = upper drawer, first drawer, highest drawer
#: middle drawer = second drawer
#: bottom drawer = lower drawer, third drawer, lowest drawer
#: wood chair = wooden chair
#: steel chair = metal chair
#: all the fruit = the fruits, fruits, the fruit, all fruit, every fruit, all of the fruit, every piece of fruit
#: all the drinks = all of the drinks, every drink, all drinks
#: all the snacks = all of the snacks, every snack, all snacks
#: go to = drive to, drive over to, go over to, walk to, move over to, head to, head over to, navigate to, come to, roll to, return to, go back to, come back to, drive back to
#: pick up = grab, grasp, get hold of, take hold of, lift up, lift, collect
#: pick up X. = pick X up
#: put = place, set, lay, drop, leave, stow, store, put away
#: put X in Y. = put X back in Y, put X away in Y, put X down in Y
#: serve X on the Y plate. = put X on the Y plate, put X onto the Y plate, place X on the Y plate, set X on the Y plate, lay X on the Y plate
#: put X on Y. = put X back on Y, put X down on Y
#: put X next to Y. = put X down next to Y
#: put X in the trash bin. = throw X away, throw away X, throw out X, throw X out, discard X, get rid of X, toss X
#: put X in the Y bin. = throw X in the Y bin, toss X in the Y bin, take X to the Y bin, bring X to the Y bin
#: put X in the recycle bin. = recycle X
#: move to the right by N. = move N to the right, go N to the right, drive N to the right, drive to the right by N, go to the right by N, move right by N, move N right, go right by N
#: move to the left by N. = move N to the left, go N to the left, drive N to the left, drive to the left by N, go to the left by N, move left by N, move N left, go left by N
#: move forward by N. = move N forward, go forward by N, go N forward, move ahead by N, drive forward by N, drive N forward, move forwards by N
#: move backward by N. = move N backward, go back by N, go N back, move back by N, drive back by N, drive N back, move backwards by N
#: move to the front of the room by N. = move N to the front of the room, go to the front of the room by N
#: move to the back of the room by N. = move N to the back of the room, go to the back of the room by N
#: compost bin = compost, compost heap
#: green apple = granny smith
#: color = colour
#: put each fruit on the plate of its color. = sort the fruit onto the plates by color, sort the fruit by color, put all the fruit on the plates of matching colors, put the fruit on the plates with matching colors
#: around = round
#: take X from Y to Z. = bring X from Y to Z, carry X from Y to Z, move X from Y to Z, fetch X from Y to Z, take X off Y to Z
#: take X to Y. = bring X to Y, carry X to Y, deliver X to Y, bring X over to Y, take X over to Y, move X to Y
#: take X out of the Y drawer. = get X out of the Y drawer, fetch X from the Y drawer, remove X from the Y drawer, take X from the Y drawer, get X from the Y drawer
#: pick up X. = get X, fetch X, go and get X
#: in = into, inside, inside of
#: on = onto, on top of, upon
#: next to = right next to, beside, close to
#: put X down. = put down X, put X back down
#: put it down. = put it, put that down, put that, let go of it, release it, let it go
#: open X. = pull X open, pull open X
#: close X. = shut X, push X shut, push X closed
#: move = drive, roll, keep moving, keep driving, go on moving
#: until you see = until you spot, until you detect, until you find, till you see, until you can see
#: move to the right until you see X. = move right until you see X, move rightwards until you see X, go right until you see X, go to the right until you see X
#: move to the left until you see X. = move left until you see X, move leftwards until you see X, go left until you see X, go to the left until you see X
#: move forwards until you see X. = move forward until you see X, move ahead until you see X, go forward until you see X
#: move backwards until you see X. = move backward until you see X, move back until you see X, go backwards until you see X
#: turn to the left until you see X. = turn left until you see X, turn around until you see X, turn until you see X, look around until you see X
#: do it again = do that again, do the same again, do the same, repeat that, repeat it
#: faster = quicker, more quickly
#: slower = more slowly
#: why you stopped. = why did you stop, why did you stop moving, explain why you stopped, what made you stop, why have you stopped, why you stopped moving
#: what do you see. = what can you see, what is there, what is here, tell me what you see, list the objects, what objects are there, what objects do you see
#: do you see X. = do you see X say yes or no
#: where are you. = where is the robot, tell me where you are, what is your position
#: what are you holding. = what do you hold, what is in your hand, what is in the gripper, what is in your gripper, what do you have in your hand
#: find X. = look for X, search for X, where is X, find out where X is, where X is, go and find X
#: keep looking until you see X. = look until you see X, search until you see X, keep searching until you see X
#: as fast as you can = as quickly as possible, as fast as possible, as quickly as you can, at full speed
#: undo that. = undo, undo it, undo this, undo them, undo the last move, undo your last move, undo the last action
#: undo that. = undo what you did, undo all of that, go back a step, go back one step, take it back, take that back
#: undo that. = never mind, put it back where it was, put them back where they were, put everything back where it was
#: undo that. = put it back to where it was, put that back where it was, restore the previous state, revert that

objects = ['apple', 'coke can', 'banana', 'bowl']
# go to the chair closest to the table.
goto_loc(parse_loc_name('the chair closest to the table'))

# go to the table as fast as you can.
goto_loc('table', speed=1.0)

objects = ['apple', 'banana', 'bowl', 'orange', 'coke can', 'juice box']
# put all the fruit in the bowl.
names = parse_obj_name('all the fruit')
for name in names:
    pick_obj(name)
    place_at_obj('bowl')
if not names:
    say('I see no fruit here')

objects = ['apple', 'lime', 'cup', 'egg', 'red plate', 'green plate']
# put each fruit on the plate of its color.
plates = parse_obj_name('the plates')
for name in parse_obj_name('the fruit'):
    away = [np.linalg.norm(np.subtract(get_color(name), get_color(plate))) for plate in plates]
    pick_obj(name)
    place_at_obj(plates[np.argmin(away)], 'on')

# put the smallest fruit next to the cup.
target = min(parse_obj_name('the fruit'), key=lambda name: np.prod(get_obj_size(name)), default='')
pick_obj(target)
place_at_obj('cup', 'beside')

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

# bring the sponge from the bottom drawer to the table.
target, drawer = 'sponge', 'bottom drawer'
goto_loc(drawer)
open_drawer(drawer)
pick_obj(target)
goto_loc('table')
place_at_obj('table')
goto_loc(drawer)
close_drawer(drawer)

# find the apple.
target, reason = 'apple', 'I have been everywhere'
for loc in get_loc_names():
    goto_loc(loc)
    if is_obj_visible(target):
        reason = f'I saw {target}'
        say(f'the {target} is at the {loc}')
        break
else:
    say('it is nowhere to be seen; I opened no drawer')

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

objects = ['apple', 'coke can', 'banana', 'bowl']
# go to the countertop as fast as you can.
goto_loc(parse_loc_name('the countertop'), speed=1.0)

objects = ['apple', 'coke can', 'banana', 'bowl']
# pick up the apple.
target = parse_obj_name('the apple')
pick_obj(target)

# put it down.
locs = [loc for loc in get_loc_names() if 'drawer' not in loc and 'bin' not in loc]
here = locs[np.argmin([np.linalg.norm(get_loc_pos(loc)[:2] - get_robot_pos()[:2]) for loc in locs])]
goto_loc(here)
place_at_obj(here)

# put the apple down.
target = parse_obj_name('the apple')
if not obj_in_gripper(target):
    pick_obj(target)
locs = [loc for loc in get_loc_names() if 'drawer' not in loc and 'bin' not in loc]
here = locs[np.argmin([np.linalg.norm(get_loc_pos(loc)[:2] - get_robot_pos()[:2]) for loc in locs])]
goto_loc(here)
place_at_obj(here)

# put it in the bowl.
if not obj_in_gripper(target):
    pick_obj(target)
place_at_obj(parse_obj_name('the bowl'))

# put the coke can in the bowl.
target = parse_obj_name('the coke can')
pick_obj(target)
place_at_obj(parse_obj_name('the bowl'))

# put the banana next to the bowl.
target = parse_obj_name('the banana')
pick_obj(target)
place_at_obj(parse_obj_name('the bowl'), 'beside')

# put it next to the bowl.
if not obj_in_gripper(target):
    pick_obj(target)
place_at_obj(parse_obj_name('the bowl'), 'beside')

objects = ['apple', 'coke can', 'cup', 'sponge']
# put the apple 20 cm to the right of the cup.
target = parse_obj_name('the apple')
pick_obj(target)
place_at_pos(parse_position('20 cm to the right of the cup'))

# take the apple to the desk.
target = parse_obj_name('the apple')
pick_obj(target)
goto_loc(parse_loc_name('the desk'))
place_at_obj(parse_loc_name('the desk'))

# take it to the table.
for loc in get_loc_names() if target else []:
    if obj_in_gripper(target) or is_obj_visible(target):
        break
    goto_loc(loc)
if not obj_in_gripper(target):
    pick_obj(target)
goto_loc(parse_loc_name('the table'))
place_at_obj(parse_loc_name('the table'))

# put it on the cart.
for loc in get_loc_names() if target else []:
    if obj_in_gripper(target) or is_obj_visible(target):
        break
    goto_loc(loc)
if not obj_in_gripper(target):
    pick_obj(target)
goto_loc(parse_loc_name('the cart'))
place_at_obj(parse_loc_name('the cart'))

# take the sponge from the table to the countertop.
goto_loc(parse_loc_name('the table'))
target = parse_obj_name('the sponge')
pick_obj(target)
goto_loc(parse_loc_name('the countertop'))
place_at_obj(parse_loc_name('the countertop'))

objects = ['chip bag', 'water bottle', 'cracker box', 'soap bottle', 'candy bar', 'lemon']
# pick up the water bottle.
target = parse_obj_name('the water bottle')
pick_obj(target)

objects = ['apple', 'coke can', 'banana', 'bowl', 'orange', 'juice box', 'cup']
# put the coke can on the countertop.
target = parse_obj_name('the coke can')
pick_obj(target)
goto_loc(parse_loc_name('the countertop'))
place_at_obj(parse_loc_name('the countertop'))

objects = ['apple', 'coke can', 'banana', 'bowl', 'orange', 'juice box', 'cup']
# put the juice box in the recycle bin.
target = parse_obj_name('the juice box')
pick_obj(target)
place, heading = get_robot_pos_and_angle()
goto_loc(parse_loc_name('the recycle bin'))
place_at_obj(parse_loc_name('the recycle bin'))
goto_pos(place, angle=heading)

# take the cup from the table to the trash bin.
goto_loc(parse_loc_name('the table'))
target = parse_obj_name('the cup')
pick_obj(target)
goto_loc(parse_loc_name('the trash bin'))
place_at_obj(parse_loc_name('the trash bin'))

objects = ['apple', 'banana', 'bowl', 'orange', 'coke can', 'juice box']
# put all the fruit in the bowl.
bowl = parse_obj_name('the bowl')
for name in parse_obj_name('all the fruit'):
    if name != bowl:
        pick_obj(name)
        place_at_obj(bowl)

# take all the drinks from the table to the countertop.
goto_loc(parse_loc_name('the table'))
for name in parse_obj_name('all the drinks'):
    goto_loc(parse_loc_name('the table'))
    pick_obj(name)
    goto_loc(parse_loc_name('the countertop'))
    place_at_obj(parse_loc_name('the countertop'))

objects = ['apple', 'orange', 'cup', 'lemon']
# put everything except the cup on the cart.
place, angle = get_robot_pos_and_angle()
for name in parse_obj_name('everything except the cup'):
    goto_pos(place, angle=angle)
    pick_obj(name)
    goto_loc(parse_loc_name('the cart'))
    place_at_obj(parse_loc_name('the cart'))

# pick up the leftmost object.
target = parse_obj_name('the leftmost object')
pick_obj(target)

objects = ['chip bag', 'cracker box', 'coke can', 'juice box', 'apple', 'banana']
# take all the snacks to the desk.
place, angle = get_robot_pos_and_angle()
for name in parse_obj_name('all the snacks'):
    goto_pos(place, angle=angle)
    pick_obj(name)
    goto_loc(parse_loc_name('the desk'))
    place_at_obj(parse_loc_name('the desk'))

objects = ['sponge', 'apple', 'cup']
# put the sponge in the bottom drawer.
drawer, (place, angle) = 'the bottom drawer', get_robot_pos_and_angle()
goto_loc(drawer)
open_drawer(drawer)
goto_pos(place, angle=angle)
target = parse_obj_name('the sponge')
pick_obj(target)
goto_loc(drawer)
place_at_obj(drawer)
close_drawer(drawer)

# open the bottom drawer.
drawer = 'the bottom drawer'
goto_loc(drawer)
open_drawer(drawer)

# put it in the bottom drawer.
drawer = 'the bottom drawer'
for loc in get_loc_names() if target else []:
    if obj_in_gripper(target) or is_obj_visible(target):
        break
    goto_loc(loc)
if not obj_in_gripper(target):
    pick_obj(target)
goto_loc(drawer)
place_at_obj(drawer)

# close the bottom drawer.
drawer = 'the bottom drawer'
goto_loc(drawer)
close_drawer(drawer)

# take the sponge out of the bottom drawer.
drawer = 'the bottom drawer'
goto_loc(drawer)
open_drawer(drawer)
target = parse_obj_name('the sponge')
pick_obj(target)

objects = ['sponge', 'apple', 'cup']
# close all the drawers.
for drawer in ['top drawer', 'middle drawer', 'bottom drawer']:
    goto_loc(drawer)
    close_drawer(drawer)

objects = ['apple', 'banana', 'cup', 'coke can']
# what do you see?
say(', '.join(get_visible_obj_names()) or 'nothing')

# say which blocks you see, separated by commas.
known = ['red block', 'green block', 'blue block']
say(', '.join(name for name in known if is_obj_visible(name)) or 'none')

# do you see the apple?
say('yes' if is_obj_visible('the apple') else 'no')

# what can you do?
say('drive, look for things, carry them, open and close drawers; /examples lists sentences')

# where are you?
say(f'at x {get_robot_pos()[0]:.2f} m, y {get_robot_pos()[1]:.2f} m')

# what are you holding?
fruit, drinks = ['apple', 'green apple', 'banana', 'orange', 'lemon', 'lime', 'pear', 'peach', 'plum', 'grapefruit', 'strawberry'], ['coke can', 'water bottle', 'juice box']
snacks, others = ['chip bag', 'cracker box', 'candy bar'], ['bowl', 'cup', 'sponge', 'soap bottle', 'egg', 'red plate', 'green plate', 'blue plate', 'yellow plate', 'white plate']
held = [name for name in fruit + drinks + snacks + others if obj_in_gripper(name)]
say(held[0] if held else 'nothing')

# find the coke can.
target, reason = 'the coke can', 'I have been everywhere'
for loc in get_loc_names():
    goto_loc(loc)
    if is_obj_visible(target):
        reason = f'I saw {target}'
        say(f'{target} is at the {loc}')
        break
else:
    say('it is nowhere to be seen; I opened no drawer')

# find the coke can, and say just where it is.
target, reason = 'the coke can', 'I have been everywhere'
for loc in get_loc_names():
    goto_loc(loc)
    if is_obj_visible(target):
        reason = f'I saw {target}'
        say(f'at the {loc}')
        break
else:
    say('it is nowhere to be seen; I opened no drawer')

# pick it up.
pick_obj(target)

# keep looking until you see an apple.
target = 'an apple'
while not is_obj_visible(target):
    for loc in get_loc_names():
        goto_loc(loc)
        if is_obj_visible(target):
            break
reason = f'I saw {target}'

# wait until you see the apple.
target = 'the apple'
while not is_obj_visible(target):
    wait(0.5)
reason = f'I saw {target}'

objects = ['apple', 'banana', 'cup']
# move to the right by 20 cm.
place, angle = get_robot_pos_and_angle()
goto_pos(place + 0.2 * np.array([np.sin(angle), -np.cos(angle), 0]))

# move to the left by 20 cm.
place, angle = get_robot_pos_and_angle()
goto_pos(place + 0.2 * np.array([-np.sin(angle), np.cos(angle), 0]))

# move forward by 10 cm.
place, angle = get_robot_pos_and_angle()
goto_pos(place + 0.1 * np.array([np.cos(angle), np.sin(angle), 0]))

# move backward by 10 cm.
place, angle = get_robot_pos_and_angle()
goto_pos(place - 0.1 * np.array([np.cos(angle), np.sin(angle), 0]))

# move to the front of the room by 10 cm.
goto_pos(get_robot_pos() + 0.1 * np.array([0, -1, 0]))

# move to the back of the room by 10 cm.
goto_pos(get_robot_pos() + 0.1 * np.array([0, 1, 0]))

# move in a 30 cm square.
traj = parse_position('a 30 cm square')
follow_traj(traj)

# do it again but faster.
follow_traj(traj, speed=0.75)

# do it again but slower.
follow_traj(traj, speed=0.25)

# rotate the path by 45 degrees.
traj = transform_traj('rotate it by 45 degrees', traj_pts=traj)
follow_traj(traj)

# move the path to the left by 5 cm.
traj = transform_traj('move it to the left by 5 cm', traj_pts=traj)
follow_traj(traj)

objects = ['apple', 'banana', 'orange']
# move to the right until you see the apple.
target, velocity = 'the apple', np.array([0.2, 0.0])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

# do it again but faster, to the left, and with a banana.
target, velocity = 'a banana', 2 * np.linalg.norm(velocity) * np.array([-1.0, 0.0])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

# do it again but slower, to the left, and with an orange.
target, velocity = 'an orange', 0.5 * np.linalg.norm(velocity) * np.array([-1.0, 0.0])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

# do it again but faster, to the right, and with a banana.
target, velocity = 'a banana', 2 * np.linalg.norm(velocity) * np.array([1.0, 0.0])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

# do it again but slower, to the right, and with an apple.
target, velocity = 'an apple', 0.5 * np.linalg.norm(velocity) * np.array([1.0, 0.0])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

# do it again but with a banana.
target = 'a banana'
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

# do it again but to the left.
velocity = np.linalg.norm(velocity) * np.array([-1.0, 0.0])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

objects = ['apple', 'orange']
# move to the left until you see the apple.
target, velocity = 'the apple', np.array([-0.2, 0.0])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

# move backwards until you see the apple.
target, velocity = 'the apple', np.array([0.0, -0.2])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

# move forwards until you see the apple.
target, velocity = 'the apple', np.array([0.0, 0.2])
while not detect_object(target):
    set_velocity(x=velocity[0], y=velocity[1], turn=0)
stop()
reason = f'I saw {target}'

# turn to the left until you see the apple.
target = 'the apple'
while not detect_object(target):
    set_velocity(x=0, y=0, turn=0.5)
stop()
reason = f'I saw {target}'

# if you see an orange, move backwards.
if detect_object('an orange'):
    start = get_robot_pos()
    while np.linalg.norm(get_robot_pos() - start) < 0.2:
        set_velocity(x=0, y=-0.2, turn=0)
    stop()

# stop.
stop()
reason = 'you told me to'

objects = ['apple', 'lime', 'lemon', 'cup', 'cracker box', 'red plate', 'green plate', 'blue plate']
# serve the apple on the red plate.
target = parse_obj_name('the apple')
pick_obj(target)
place_at_obj(parse_obj_name('the red plate'), 'on')

# put the lime on top of the cracker box.
target = parse_obj_name('the lime')
pick_obj(target)
place_at_obj(parse_obj_name('the cracker box'), 'on')

# serve all the fruit on the blue plate.
names = parse_obj_name('all the fruit')
for name in names:
    pick_obj(name)
    place_at_obj(parse_obj_name('the blue plate'), 'on')
if not names:
    say('I see no fruit here')

# move along the hull of the wood chair, the steel chair and the stool, 2 times bigger.
traj = parse_position('the hull of the wood chair, the steel chair and the stool, 2 times bigger')
follow_traj(traj)

# wait 5 seconds.
wait(5)

objects = ['apple', 'banana', 'bowl', 'orange', 'coke can', 'juice box']
# put all the drinks on the cart.
names, (place, angle) = parse_obj_name('all the drinks'), get_robot_pos_and_angle()
for name in names:
    goto_pos(place, angle=angle)
    pick_obj(name)
    goto_loc('cart')
    place_at_obj('cart')
if not names:
    say('I see no drinks here')
#= moved coke can, juice box from table to cart
