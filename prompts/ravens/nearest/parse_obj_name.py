#: color = colour
#: block = cube, brick
#: bowl = dish, cup, container
#: gray = grey
#: all the = every last, each one of the
#: all the = all of the, every one of the, each of the, every single one of the
#: every = every single, each and every
#: blocks = blocks on the table
#: bowls = bowls on the table
#: except = except for, apart from, other than, but not, excluding, but
#: closest = nearest
#: farthest = furthest, most distant, most far away, farthest away, the most away
#: leftmost = left most
#: rightmost = right most
#: topmost = top most, uppermost, highest
#: bottommost = bottom most, lowest
#: the = the table's
#: corner = hand corner
#: middle = center, centre
#: side = hand side, edge, border
#: top left corner = upper left corner, back left corner, top left, upper left
#: top right corner = upper right corner, back right corner, top right, upper right
#: bottom left corner = lower left corner, front left corner, bottom left, lower left
#: bottom right corner = lower right corner, front right corner, bottom right, lower right
#: middle = middle of the table, very middle, exact middle, dead middle
#: top side = upper side, back side, back of the table, top of the table, top side of the table
#: bottom side = lower side, front side, front of the table, bottom of the table
#: bottom side = bottom side of the table
#: left side = left side of the table, left of the table, far left side, far left
#: right side = right side of the table, right of the table, far right side, far right
#: corner = hand corner, corner of the table
#: to the left of = left of, on the left of, on the left side of, at the left of
#: to the right of = right of, on the right of, on the right side of, at the right of
#: above = directly above, right above, to the top of, to the north of
#: below = directly below, right below, to the bottom of, underneath, beneath
#: everything. = the objects, the things, objects, things, all the objects, all the things
#: the X closest to Y. = the closest X to Y
#: the X farthest from Y. = the farthest X from Y
#: the X closest to the Y corner. = the X in the Y corner
#: the X closest to the middle. = the X in the middle
#: X closest to Y. = X that is closest to Y, X which is closest to Y, X closest Y
#: X farthest from Y. = X that is farthest from Y, X which is farthest from Y
#: the leftmost X. = the X farthest to the left, the X farthest left, the X on the left
#: the leftmost X. = the first X from the left, the last X from the right, the X on the far left
#: the rightmost X. = the first X from the right, the last X from the left, the X on the far right
#: the topmost X. = the X at the top, the X at the very top, the X farthest up, the X on top
#: the bottommost X. = the X at the bottom, the X at the very bottom, the X farthest down
#: from the left = in from the left, counting from the left, from left, counted from the left
#: from the right = in from the right, counting from the right, from right
#: the second X from the left. = the second leftmost X, the second from the left X
#: the second X from the right. = the second rightmost X, the second from the right X
#: the third X from the left. = the third leftmost X, the third from the left X
#: the third X from the right. = the third rightmost X, the third from the right X
#: the second X from the left. = the X second from the left, the X that is second from the left
#: the second X from the right. = the X second from the right, the X that is second from the right
#: the third X from the left. = the X third from the left, the X that is third from the left
#: the third X from the right. = the X third from the right, the X that is third from the right
#: the two leftmost X. = the leftmost two X, the first two X from the left, the two X farthest left
#: the two leftmost X. = the two X on the left, the two X farthest to the left
#: the two rightmost X. = the rightmost two X, the first two X from the right, the two X farthest right
#: the two rightmost X. = the two X on the right, the two X farthest to the right
#: the second X from the top. = the second topmost X
#: the second X from the bottom. = the second bottommost X
#: the third X from the top. = the third topmost X
#: the third X from the bottom. = the third bottommost X
#: from the top = from the back, from the far side
#: from the bottom = from the front, from the near side
#: the second closest X to Y. = the X second closest to Y, the X that is second closest to Y
#: the two X closest to Y. = the two closest X to Y, the closest two X to Y
#: the X closest to Y. = the X away the least from Y, the X with the smallest distance to Y
#: the X farthest from Y. = the X farthest away from Y, the X that is farthest away from Y
#: the leftmost X. = the left X, the X on the left side
#: the rightmost X. = the X farthest to the right, the X farthest right, the X on the right
#: the rightmost X. = the right X, the X on the right side
#: all the blocks except X. = every block except X, each block except X, all blocks except X
#: all the bowls except X. = every bowl except X, each bowl except X, all bowls except X
#: both X. = both of X
#: the X objects. = all the X objects, all X objects, all the X things, all X things
#: X blocks. = any X blocks, all X blocks
#: on = on top of, onto, standing on, lying on
#: in = inside, lying in, that is in, that are in, which are in

objects = ['blue block', 'cyan block', 'blue bowl', 'gray bowl', 'brown bowl', 'pink block']
# all the bowls.
ret_val = [name for name in objects if 'bowl' in name]

# each block.
ret_val = [name for name in objects if 'block' in name]

# the pink and cyan blocks.
ret_val = [name for name in objects if 'block' in name and ('pink' in name or 'cyan' in name)]

# the blue, the pink and the cyan block.
colors = ['blue', 'pink', 'cyan']
ret_val = [name for name in objects if 'block' in name and name.split()[0] in colors]

# the blue, pink and cyan blocks.
colors = ['blue', 'pink', 'cyan']
ret_val = [name for name in objects if 'block' in name and name.split()[0] in colors]

# the blue block, the gray bowl and the pink block.
ret_val = ['blue block', 'gray bowl', 'pink block']

# the cyan block, the blue bowl, the pink block and the gray bowl.
ret_val = ['cyan block', 'blue bowl', 'pink block', 'gray bowl']

# both the pink block and the cyan block.
ret_val = ['pink block', 'cyan block']

# the blocks other than the blue block.
ret_val = [name for name in objects if 'block' in name and name != 'blue block']

# all the bowls except the gray bowl.
ret_val = [name for name in objects if 'bowl' in name and name != 'gray bowl']

# all the blocks except the cyan and the pink block.
ret_val = [name for name in objects if 'block' in name and name not in ['cyan block', 'pink block']]

objects = ['red block', 'green block', 'orange bowl', 'yellow block', 'green bowl', 'red bowl']
# any block.
names = [name for name in objects if 'block' in name]
ret_val = names[0]

# one block.
names = [name for name in objects if 'block' in name]
ret_val = names[0]

# the leftmost object.
ret_val = min(objects, key=lambda name: get_obj_pos(name)[0])

# the rightmost bowl.
names = [name for name in objects if 'bowl' in name]
ret_val = max(names, key=lambda name: get_obj_pos(name)[0])

# the topmost block.
names = [name for name in objects if 'block' in name]
ret_val = max(names, key=lambda name: get_obj_pos(name)[1])

# the second to last block from the left.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])[-2]

# the first bowl from the bottom.
names = [name for name in objects if 'bowl' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[1])[0]

# the second block from the top.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: -get_obj_pos(name)[1])[1]

# the two leftmost blocks.
names = [name for name in objects if 'block' in name]
ret_val = sorted(names, key=lambda name: get_obj_pos(name)[0])[:2]

objects = ['brown block', 'pink bowl', 'gray block', 'blue bowl', 'purple block', 'cyan bowl']
# the two blocks closest to the pink bowl.
names = [name for name in objects if 'block' in name and name != 'pink bowl']
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('pink bowl')) for name in names]
ret_val = [names[i] for i in np.argsort(distances)[:2]]

# the bowl farthest from the gray block.
names = [name for name in objects if 'bowl' in name and name != 'gray block']
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('gray block')) for name in names]
ret_val = names[np.argmax(distances)]

# the bowl farthest from the top left corner.
names = [name for name in objects if 'bowl' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('top left corner')) for name in names]
ret_val = names[np.argmax(distances)]

# the block closest to the right side.
names = [name for name in objects if 'block' in name]
distances = [np.linalg.norm(get_obj_pos(name) - get_obj_pos('right side')) for name in names]
ret_val = names[np.argmin(distances)]

# the bowls to the left of the purple block.
ret_val = []
for name in [name for name in objects if 'bowl' in name]:
    offset = get_obj_pos(name) - get_obj_pos('purple block')
    if offset[0] < 0:
        ret_val.append(name)

# the blocks to the right of the pink bowl.
ret_val = []
for name in [name for name in objects if 'block' in name]:
    offset = get_obj_pos(name) - get_obj_pos('pink bowl')
    if offset[0] > 0:
        ret_val.append(name)

# the blocks below the blue bowl.
ret_val = []
for name in [name for name in objects if 'block' in name]:
    offset = get_obj_pos(name) - get_obj_pos('blue bowl')
    if offset[1] < 0:
        ret_val.append(name)

# the objects to the left of the purple block.
ret_val = []
for name in objects:
    offset = get_obj_pos(name) - get_obj_pos('purple block')
    if offset[0] < 0:
        ret_val.append(name)

# the block in the cyan bowl.
names = [name for name in objects if 'block' in name]
ret_val = min(names, key=lambda name: np.linalg.norm(get_obj_pos(name) - get_obj_pos('cyan bowl')))

# the objects in the cyan bowl.
left, bottom, right, top = get_bbox('cyan bowl')
ret_val = []
for name in objects:
    x, y = get_obj_pos(name)
    if name != 'cyan bowl' and left < x < right and bottom < y < top:
        ret_val.append(name)

# the objects above the brown block.
ret_val = []
for name in objects:
    offset = get_obj_pos(name) - get_obj_pos('brown block')
    if name != 'brown block' and offset[1] > 0:
        ret_val.append(name)
