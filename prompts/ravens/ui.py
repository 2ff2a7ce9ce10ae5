# /// cap
# context = ["objects"]
# session = true
# initial = { before = {}, called = {} }
# actions = true
# ///
import numpy as np
from robot import get_obj_pos, get_obj_height, is_obj_visible
from robot import put_first_on_second, stack_objects_in_order, point_gripper_to, say
from robot import follow_traj, goto_pos, get_robot_pos, plan_path
from lmps import parse_obj_name, parse_position, parse_question, transform_shape_pts
from lmps import parse_traj, transform_traj

objects = ['red block', 'yellow block', 'blue bowl', 'green bowl', 'yellow bowl']
# put the red block in the blue bowl.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = ['red block']
put_first_on_second(moved[0], 'blue bowl')
#= moved red block; inside blue bowl

# now move it to the top right corner.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = moved[-1:]
put_first_on_second(moved[0], 'top right corner')
#= moved red block; at top right corner

# undo that.
back = before
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = moved[::-1]
for name in moved:
    put_first_on_second(name, back[name])
#= moved red block; inside blue bowl

# move the yellow block to the left side.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = ['yellow block']
put_first_on_second(moved[0], 'left side')
#= moved yellow block; at left side

# now do with the red block what you did with the yellow block.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
other, moved = moved[-1], ['red block']
put_first_on_second(moved[0], parse_position(f'next to the {other}'))
#= moved red block; beside yellow block; not on yellow block

# undo the last two moves.
back = earlier
earlier, before = before, {name: get_obj_pos(name) for name in objects}
gone = [name for name in objects if np.linalg.norm(back[name] - before[name]) > 0.01]
moved = sorted(gone, key=get_obj_height, reverse=True)
for name in moved:
    put_first_on_second(name, back[name])
#= moved yellow block, red block; not near left side

# from now on the blue bowl is called the bin.
called['bin'] = 'blue bowl'
say('all right, the blue bowl is the bin')
#= said bin; nothing moved

# throw the leftmost block away.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the leftmost block')]
put_first_on_second(moved[0], called['bin'])
#= moved; inside blue bowl

# put the white block in the bin.
say('I see no white block')
#= said no white block; nothing moved

# cut the red block in two.
say('I cannot do that: I can only move things on the table, point, and answer questions')
#= said cannot; nothing moved

objects = ['pink block', 'gray bowl', 'cyan block', 'pink bowl', 'gray block', 'cyan bowl']
# put the blocks in the bowls with matching colors.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = []
for name in sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True):
    target = name.split()[0] + ' bowl'
    if is_obj_visible(target):
        put_first_on_second(name, target)
        moved.append(name)
#= moved pink block, cyan block, gray block

# swap the pink block and the cyan block.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
first, second, aside = 'pink block', 'cyan block', parse_position('a free spot')
moved = [first, second, first]
put_first_on_second(first, aside)
put_first_on_second(second, before[first])
put_first_on_second(first, before[second])
#= moved pink block, cyan block

# put the cyan block next to the gray bowl.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = ['cyan block']
put_first_on_second(moved[0], parse_position('next to the gray bowl'))
#= moved cyan block; beside gray bowl

# move it 5 cm up.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = moved[-1:]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([0, 1]))
#= moved cyan block

objects = ['blue block', 'gray block', 'brown bowl', 'cyan block']
# stack the gray block on the blue block on the cyan block.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = ['blue block', 'gray block']
stack_objects_in_order(['cyan block', *moved])
#= moved blue block, gray block; on cyan block

# put the blocks in a circle.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
moved = sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True)
points = parse_position(f'{len(moved)} points in a circle')
for name, point in zip(moved, points):
    put_first_on_second(name, point)
#= moved blue block, gray block, cyan block; not on cyan block

# make the circle bigger.
earlier, before = before, {name: get_obj_pos(name) for name in objects}
points = np.array([before[name] for name in moved])
points = transform_shape_pts('make the circle bigger', shape_pts=points)
for name, point in zip(moved, points):
    put_first_on_second(name, point)
#= moved

# which block is closest to the brown bowl?
say(f"{parse_question('which block is closest to the brown bowl')}")
#= said block; nothing moved

# point to the brown bowl.
point_gripper_to(get_obj_pos('brown bowl'))
#= nothing moved

# move the gripper 5 cm to the left.
traj, speed = get_robot_pos() + 0.05 * np.array([[0, 0], [-1, 0]]), 0.25
follow_traj(traj, speed=speed)
#= nothing moved

# move the gripper to the top left corner while avoiding the gray block.
traj = plan_path(get_robot_pos(), 'top left corner', avoid_regions=['gray block'])
follow_traj(traj, speed=0.25)
#= nothing moved

# trace a square around the gray block.
traj, speed = parse_traj('a square around the gray block'), 0.25
follow_traj(traj, speed=speed)

# do that again but slower.
speed = max(0.5 * speed, 0.01)
follow_traj(traj, speed=speed)

# do that again but mirrored.
traj = transform_traj('make it mirrored', traj_pts=traj)
follow_traj(traj, speed=speed)
