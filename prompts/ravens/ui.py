# /// cap
# context = ["objects"]
# session = true
# initial = { called = {} }
# actions = true
# ///
import numpy as np
from robot import get_obj_pos, get_obj_height, is_obj_visible, get_layout, get_obj_names
from robot import put_first_on_second, arrange_objects, stack_objects_in_order, undo_turns
from robot import point_gripper_to, say, follow_traj, goto_pos, get_robot_pos, plan_path
from lmps import parse_obj_name, parse_position, parse_question, transform_shape_pts
from lmps import parse_traj, transform_traj

#< called: names the person gave.

objects = ['red block', 'yellow block', 'blue bowl', 'green bowl', 'yellow bowl']
# put the red block in the blue bowl.
moved = ['red block']
put_first_on_second(moved[0], 'blue bowl')
#= moved red block to blue bowl

# now move it to the top right corner.
moved = moved[-1:]
put_first_on_second(moved[0], 'top right corner')
#= moved red block from blue bowl

# undo that.
moved = undo_turns()
if not moved:
    say('nothing was moved yet')
#= moved red block to blue bowl

# move the other block to the left side.
moved = [name for name in parse_obj_name('the blocks') if name not in moved]
put_first_on_second(moved[0], 'left side')
#= moved yellow block

# no, the red one.
undo_turns()
moved = ['red block']
put_first_on_second(moved[0], 'left side')
#= moved yellow block; moved red block from blue bowl
#? as named before

# now do with the yellow block what you did with the red block.
other, moved = moved[-1], ['yellow block']
put_first_on_second(moved[0], parse_position(f'next to the {other}'))
#= moved yellow block

# undo the last two moves.
moved = undo_turns(2)
#= moved red block to blue bowl; moved yellow block

# from now on the blue bowl is called the bin.
called['bin'] = 'blue bowl'
say('all right, the blue bowl is the bin')
#= said bin; nothing moved

# throw the leftmost block away.
moved = [parse_obj_name('the leftmost block')]
put_first_on_second(moved[0], called['bin'])
#= moved yellow block to red block

# put the white block in the bin.
say('I see no white block')
#= said no white block; nothing moved

# cut the red block in two.
say('I cannot do that: I only move things, point and answer questions')
#= said cannot; nothing moved

objects = ['pink block', 'gray bowl', 'cyan block', 'pink bowl', 'gray block', 'cyan bowl']
# put the blocks in the bowls with matching colors.
moved = []
for name in sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True):
    target = name.split()[0] + ' bowl'
    if is_obj_visible(target):
        put_first_on_second(name, target)
        moved.append(name)
#= moved pink block to pink bowl; moved cyan block to cyan bowl; moved gray block to gray bowl

# swap the pink block and the cyan block.
moved = ['pink block', 'cyan block']
arrange_objects({'pink block': 'cyan block', 'cyan block': 'pink block'})
#= moved pink block from pink bowl to cyan bowl; moved cyan block from cyan bowl to pink bowl

# put the cyan block next to the gray bowl.
moved = ['cyan block']
put_first_on_second(moved[0], parse_position('next to the gray bowl'))
#= moved cyan block from pink bowl

# move it 5 cm up.
moved = moved[-1:]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([0, 1]))
#= moved cyan block

# move the gray bowl by the same amount.
shift = get_obj_pos(moved[-1]) - get_layout(1)[moved[-1]]
moved = ['gray bowl']
put_first_on_second(moved[0], get_obj_pos(moved[0]) + shift)
#= moved gray block from gray bowl to gray bowl; moved gray bowl

objects = ['blue block', 'gray block', 'brown bowl', 'cyan block']
# stack the gray block on the blue block on the cyan block.
moved = ['blue block', 'gray block']
stack_objects_in_order(['cyan block', *moved])
#= moved blue block to cyan block; moved gray block to blue block

# put the blocks in a circle.
moved = parse_obj_name('the blocks')
points = parse_position(f'{len(moved)} points in a circle')
arrange_objects(dict(zip(moved, points)))
#= moved blue block from cyan block; moved gray block from blue block; moved cyan block

# make the circle bigger.
points = np.array([get_obj_pos(name) for name in moved])
points = transform_shape_pts('make the circle bigger', shape_pts=points)
arrange_objects(dict(zip(moved, points)))
#? moved

# build a pyramid of three blocks.
moved = parse_obj_name('the blocks')[:3]
points = parse_position('a free spot') + 0.06 * np.array([[-0.5, 0], [0.5, 0], [0, 0]])
arrange_objects(dict(zip(moved, points)))
#? moved

# which block is closest to the brown bowl?
say(f"{parse_question('which block is closest to the brown bowl')}")
#= said block; nothing moved

# point to the brown bowl.
point_gripper_to(get_obj_pos('brown bowl'))
#= gripper moved

# move the gripper to the top left corner while avoiding the gray block.
traj = plan_path(get_robot_pos(), 'top left corner', avoid_regions=['gray block'])
follow_traj(traj, speed=0.25)
#? changed paths followed

# trace a square around the gray block.
traj, speed = parse_traj('a square around the gray block'), 0.25
follow_traj(traj, speed=speed)

# do that again but mirrored.
traj = transform_traj('make it mirrored', traj_pts=traj)
follow_traj(traj, speed=speed)
