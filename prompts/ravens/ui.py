# /// cap
# context = ["objects"]
# session = true
# actions = true
# ///
import numpy as np
from robot import get_obj_pos, get_obj_height, is_obj_visible
from robot import put_first_on_second, stack_objects_in_order, point_gripper_to, say
from lmps import parse_obj_name, parse_position, parse_question, transform_shape_pts

objects = ['red block', 'yellow block', 'blue bowl', 'green bowl', 'yellow bowl']
# put the red block in the blue bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the red block')]
put_first_on_second(moved[0], parse_obj_name('the blue bowl'))

# now move it to the top right corner.
before = {name: get_obj_pos(name) for name in objects}
moved = moved[-1:]
put_first_on_second(moved[0], parse_position('the top right corner'))

# undo that.
back = before
before = {name: get_obj_pos(name) for name in objects}
moved = moved[::-1]
for name in moved:
    put_first_on_second(name, back[name])

# place the yellow block on the red block.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], parse_obj_name('the red block'))

# put it back.
back = before
before = {name: get_obj_pos(name) for name in objects}
moved = moved[::-1]
for name in moved:
    put_first_on_second(name, back[name])

# pick up the red block and place it in the green bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the red block')]
put_first_on_second(moved[0], parse_obj_name('the green bowl'))

# pick up the yellow block and put it on the right side.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], parse_position('on the right side'))

# put the yellow block on top of the red block.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], parse_obj_name('the red block'))

# undo the last move.
back = before
before = {name: get_obj_pos(name) for name in objects}
moved = moved[::-1]
for name in moved:
    put_first_on_second(name, back[name])

# move the red block to the left side.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the red block')]
put_first_on_second(moved[0], parse_position('the left side'))

# do the same with the yellow block.
before = {name: get_obj_pos(name) for name in objects}
target = get_obj_pos(moved[-1])
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], target)

objects = ['pink block', 'cyan block', 'pink bowl', 'gray bowl', 'cyan bowl', 'gray block']
# put the blocks in the gray bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True)
bowl = parse_obj_name('the gray bowl')
for name in moved:
    put_first_on_second(name, bowl)

# now move them to the top left corner.
before = {name: get_obj_pos(name) for name in objects}
moved = moved[::-1]
place = parse_position('the top left corner')
for name in moved:
    put_first_on_second(name, place)

# put them back.
back = before
before = {name: get_obj_pos(name) for name in objects}
moved = moved[::-1]
for name in moved:
    put_first_on_second(name, back[name])

objects = ['cyan bowl', 'pink block', 'gray bowl', 'gray block', 'cyan block', 'brown bowl']
# put all the blocks except the pink block in the cyan bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = sorted(parse_obj_name('all the blocks except the pink block'), key=get_obj_height, reverse=True)
bowl = parse_obj_name('the cyan bowl')
for name in moved:
    put_first_on_second(name, bowl)

objects = ['pink block', 'gray bowl', 'cyan block', 'pink bowl', 'gray block', 'cyan bowl']
# put the blocks in the bowls with matching colors.
before = {name: get_obj_pos(name) for name in objects}
moved = []
for name in sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True):
    target = name.split()[0] + ' bowl'
    if is_obj_visible(target):
        put_first_on_second(name, target)
        moved.append(name)

# put each block in the bowl of its own color.
before = {name: get_obj_pos(name) for name in objects}
moved = []
for name in sorted(parse_obj_name('each block'), key=get_obj_height, reverse=True):
    target = name.split()[0] + ' bowl'
    if is_obj_visible(target):
        put_first_on_second(name, target)
        moved.append(name)

# sort the blocks into the bowls of the same color.
before = {name: get_obj_pos(name) for name in objects}
moved = []
for name in sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True):
    target = name.split()[0] + ' bowl'
    if is_obj_visible(target):
        put_first_on_second(name, target)
        moved.append(name)

objects = ['brown block', 'red bowl', 'red block', 'brown bowl']
# put the blocks in the bowls with mismatched colors.
before = {name: get_obj_pos(name) for name in objects}
moved = parse_obj_name('the blocks')
bowls = parse_obj_name('the bowls')
for i, name in enumerate(moved):
    others = [bowl for bowl in bowls if bowl.split()[0] != name.split()[0]]
    put_first_on_second(name, others[i % len(others)])

objects = ['orange block', 'purple block', 'brown block', 'green bowl', 'orange bowl']
# put the purple block to the left of the green bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the purple block')]
put_first_on_second(moved[0], parse_position('to the left of the green bowl'))

# put the brown block left of the purple block.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the brown block')]
put_first_on_second(moved[0], parse_position('left of the purple block'))

# set the brown block next to the orange bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the brown block')]
put_first_on_second(moved[0], parse_position('next to the orange bowl'))

# lay the orange block between the brown block and the purple block.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the orange block')]
put_first_on_second(moved[0], parse_position('between the brown block and the purple block'))

objects = ['brown block', 'green bowl', 'purple block', 'orange bowl', 'orange block']
# put the brown block a bit above the orange bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the brown block')]
put_first_on_second(moved[0], parse_position('a bit above the orange bowl'))

# drop the brown block into the orange bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the brown block')]
put_first_on_second(moved[0], parse_obj_name('the orange bowl'))

# put the purple block 12 cm below the green bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the purple block')]
put_first_on_second(moved[0], parse_position('12 cm below the green bowl'))

# put the orange block far to the right of the purple block.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the orange block')]
put_first_on_second(moved[0], parse_position('far to the right of the purple block'))

objects = ['orange bowl', 'brown block', 'purple block', 'green bowl', 'orange block']
# put the brown block slightly to the right of the purple block.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the brown block')]
put_first_on_second(moved[0], parse_position('slightly to the right of the purple block'))

# put the orange block at the bottom.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the orange block')]
put_first_on_second(moved[0], parse_position('at the bottom'))

# put the purple block in the center of the table.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the purple block')]
put_first_on_second(moved[0], parse_position('in the center of the table'))

# put the brown block in the corner farthest from the green bowl.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the brown block')]
put_first_on_second(moved[0], parse_position('in the corner farthest from the green bowl'))

objects = ['yellow block', 'gray bowl', 'pink block', 'brown block']
# move the pink block to the opposite side of the table.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the pink block')]
put_first_on_second(moved[0], 2 * get_obj_pos('middle') - get_obj_pos(moved[0]))

# put the blocks in different corners.
before = {name: get_obj_pos(name) for name in objects}
moved = parse_obj_name('the blocks')[:4]
for name, place in zip(moved, parse_position('the corners')):
    put_first_on_second(name, place)

# put the blocks on the right side of the table.
before = {name: get_obj_pos(name) for name in objects}
moved = sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True)
place = parse_position('on the right side of the table')
for name in moved:
    put_first_on_second(name, place)

objects = ['green block', 'cyan bowl', 'blue block', 'red bowl', 'yellow block']
# move the green block 5 cm to the left.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the green block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([-1, 0]))

# move the blue block 8 cm to the right.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the blue block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.08 * np.array([1, 0]))

# move the yellow block 6 cm up.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.06 * np.array([0, 1]))

# move the blue block 10 cm down.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the blue block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.1 * np.array([0, -1]))

# push the yellow block 4 cm to the left.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.04 * np.array([-1, 0]))

# push the green block a bit to the right.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the green block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([1, 0]))

# move the yellow block a little down.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([0, -1]))

# slide the yellow block slightly down.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([0, -1]))

# move the blue block a lot to the left.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the blue block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.2 * np.array([-1, 0]))

# move it 3 cm to the right.
before = {name: get_obj_pos(name) for name in objects}
moved = moved[-1:]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.03 * np.array([1, 0]))

# swap the blue block and the green block.
before = {name: get_obj_pos(name) for name in objects}
first = parse_obj_name('the blue block')
second = parse_obj_name('the green block')
aside = parse_position('a free spot')
moved = [first, second, first]
put_first_on_second(first, aside)
put_first_on_second(second, before[first])
put_first_on_second(first, before[second])

objects = ['red block', 'green block', 'purple block', 'brown bowl', 'blue block']
# stack all the blocks.
before = {name: get_obj_pos(name) for name in objects}
moved = parse_obj_name('all the blocks')
stack_objects_in_order(moved)

objects = ['yellow bowl', 'cyan block', 'gray block', 'orange block', 'green bowl']
# build a tower out of the blocks.
before = {name: get_obj_pos(name) for name in objects}
moved = parse_obj_name('the blocks')
stack_objects_in_order(moved)

objects = ['blue block', 'gray block', 'brown bowl', 'cyan block']
# stack the gray block on the blue block.
before = {name: get_obj_pos(name) for name in objects}
moved = [parse_obj_name('the gray block')]
put_first_on_second(moved[0], parse_obj_name('the blue block'))

objects = ['green block', 'yellow block', 'orange bowl', 'purple block']
# build a tower with the blocks.
before = {name: get_obj_pos(name) for name in objects}
moved = parse_obj_name('the blocks')
stack_objects_in_order(moved)

objects = ['blue block', 'purple block', 'red bowl', 'brown block']
# stack the blocks on top of each other.
before = {name: get_obj_pos(name) for name in objects}
moved = parse_obj_name('the blocks')
stack_objects_in_order(moved)

objects = ['pink bowl', 'gray block', 'orange bowl', 'cyan block', 'red block']
# make a stack out of all the blocks.
before = {name: get_obj_pos(name) for name in objects}
moved = parse_obj_name('all the blocks')
stack_objects_in_order(moved)

objects = ['green bowl', 'yellow block', 'pink block', 'green block', 'blue bowl']
# stack the blocks in the middle.
before = {name: get_obj_pos(name) for name in objects}
moved = parse_obj_name('the blocks')
put_first_on_second(moved[0], parse_position('in the middle'))
stack_objects_in_order(moved)

objects = ['red block', 'green block', 'purple block', 'brown bowl', 'blue block']
# arrange the blocks in a horizontal line.
before = {name: get_obj_pos(name) for name in objects}
moved = sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True)
points = parse_position(f'{len(moved)} points in a horizontal line')
for name, point in zip(moved, points):
    put_first_on_second(name, point)

objects = ['gray block', 'orange bowl', 'cyan block', 'yellow block']
# line up the blocks.
before = {name: get_obj_pos(name) for name in objects}
moved = sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True)
points = parse_position(f'{len(moved)} points in a row')
for name, point in zip(moved, points):
    put_first_on_second(name, point)

# put the blocks in a triangle.
before = {name: get_obj_pos(name) for name in objects}
moved = sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True)
points = parse_position(f'{len(moved)} points in a triangle')
for name, point in zip(moved, points):
    put_first_on_second(name, point)

objects = ['pink bowl', 'red block', 'brown block', 'green block', 'blue block']
# make a circle with the blocks.
before = {name: get_obj_pos(name) for name in objects}
moved = sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True)
points = parse_position(f'{len(moved)} points in a circle')
for name, point in zip(moved, points):
    put_first_on_second(name, point)

# make the circle bigger.
before = {name: get_obj_pos(name) for name in objects}
points = np.array([before[name] for name in moved])
points = transform_shape_pts('make the circle bigger', shape_pts=points)
for name, point in zip(moved, points):
    put_first_on_second(name, point)

objects = ['red block', 'green block', 'purple block', 'brown bowl', 'blue block']
# is the red block to the left of the brown bowl?
answer = parse_question('is the red block to the left of the brown bowl')
say('yes' if answer else 'no')

# are there any red blocks?
answer = parse_question('are there any red blocks')
say('yes' if answer else 'no')

# count the blocks.
say(f"{len(parse_obj_name('the blocks'))}")

# how many blocks are to the left of the brown bowl?
answer = parse_question('how many blocks are to the left of the brown bowl')
say(f'{answer}')

# which block is nearest to the brown bowl?
answer = parse_question('which block is nearest to the brown bowl')
say(f'{answer}')

# what color is the block closest to the brown bowl?
answer = parse_question('what color is the block closest to the brown bowl')
say(f'{answer}')

# where is the green block?
answer = parse_question('where is the green block')
say(f'{answer}')

# point to the brown bowl.
point_gripper_to(get_obj_pos(parse_obj_name('the brown bowl')))
