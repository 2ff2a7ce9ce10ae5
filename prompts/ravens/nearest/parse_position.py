#: color = colour
#: block = cube, brick
#: bowl = dish, cup, container
#: gray = grey
#: closest = nearest
#: farthest = furthest, most distant, most far away, farthest away, the most away
#: the = the table's
#: corner = hand corner
#: middle = center, centre
#: side = hand side, edge, border
#: top left corner = upper left corner, back left corner, top left, upper left
#: top right corner = upper right corner, back right corner, top right, upper right
#: bottom left corner = lower left corner, front left corner, bottom left, lower left
#: bottom right corner = lower right corner, front right corner, bottom right, lower right
#: table = tabletop, table top, desk, workspace, work surface
#: middle = middle of the table, very middle, exact middle, dead middle
#: top side = upper side, back side, back of the table, top of the table, top side of the table
#: bottom side = lower side, front side, front of the table, bottom of the table
#: bottom side = bottom side of the table
#: left side = left side of the table, left of the table, far left side, far left
#: right side = right side of the table, right of the table, far right side, far right
#: corner = hand corner, corner of the table
#: on the X side = near the X side, by the X side, along the X side, close to the X side
#: opposite side = other side
#: next to = right next to, beside, right beside, alongside, close to, near to, adjacent to, near
#: between = halfway between, midway between, in between, exactly between, right between
#: a bit = a little bit, a tiny bit, a little, a touch, a tad, slightly
#: to the left of = left of, on the left of, on the left side of, at the left of
#: to the right of = right of, on the right of, on the right side of, at the right of
#: above = directly above, right above, to the top of, to the north of
#: below = directly below, right below, to the bottom of, underneath, beneath
#: behind = in back of
#: N away from = N from
#: far = quite far, very far, a lot
#: a free spot. = somewhere free, an empty spot, a free place, an empty place, somewhere else
#: a free spot. = away
#: circle = ring
#: in a horizontal line = in a row, in a line, on a row, on a line, in the row, on the row

objects = ['red block', 'blue bowl', 'yellow block', 'green bowl', 'purple block']
# in the middle of the table.
ret_val = get_obj_pos('middle')

# on the left.
ret_val = get_obj_pos('left side')

# at the top.
ret_val = get_obj_pos('top side')

# at the bottom.
ret_val = get_obj_pos('bottom side')

# in the second bowl from the left.
ret_val = get_obj_pos(parse_obj_name('the second bowl from the left'))

# on top of the purple block.
ret_val = get_obj_pos(parse_obj_name('the purple block'))

# next to the blue bowl.
target = parse_obj_name('the blue bowl')
taken = [get_obj_pos(name) for name in objects if name != target]
angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
spots = get_obj_pos(target) + 0.12 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
free = [[spot] for spot in spots if np.max(np.abs(spot - get_obj_pos('middle'))) < 0.27]
ret_val = find_roomiest(layouts=free, taken=taken)[0]

# 15 cm away from the blue bowl.
target = parse_obj_name('the blue bowl')
taken = [get_obj_pos(name) for name in objects if name != target]
angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
spots = get_obj_pos(target) + 0.15 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
free = [[spot] for spot in spots if np.max(np.abs(spot - get_obj_pos('middle'))) < 0.27]
ret_val = find_roomiest(layouts=free, taken=taken)[0]

objects = ['cyan block', 'orange bowl', 'brown block', 'gray bowl', 'pink block']
# the corner farthest from the cyan block.
places = get_corner_positions()
distances = np.linalg.norm(places - get_obj_pos(parse_obj_name('the cyan block')), axis=1)
ret_val = places[np.argmax(distances)]

# the sides.
ret_val = get_side_positions()

# 4 points in a horizontal line.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = [get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims]
rows = [
    np.array([denormalize_xy([x, y]) for x in np.linspace(start, end, 4)])
    for start, end in [(0, 1), (0, 0.7), (0.3, 1), (0, 0.5), (0.5, 1)]
    for y in np.linspace(0, 1, 21)
]
ret_val = find_roomiest(layouts=rows, taken=taken)

# 3 points in a vertical line.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = [get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims]
columns = [
    np.array([denormalize_xy([x, y]) for y in np.linspace(end, start, 3)])
    for start, end in [(0, 1), (0, 0.7), (0.3, 1), (0, 0.5), (0.5, 1)]
    for x in np.linspace(0, 1, 21)
]
ret_val = find_roomiest(layouts=columns, taken=taken)

# 5 points in a diagonal line.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = [get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims]
diagonals = [
    np.array([denormalize_xy([x + t, y + t]) for t in np.linspace(0, length, 5)])
    for length in [0.9, 0.7, 0.5]
    for x in np.linspace(0, 1 - length, 8)
    for y in np.linspace(0, 1 - length, 8)
]
ret_val = find_roomiest(layouts=diagonals, taken=taken)

# 6 points in a circle.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = [get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims]
angles = np.linspace(0, 2 * np.pi, 6, endpoint=False)
circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
layouts = [
    denormalize_xy([x, y]) + radius * circle
    for radius in [0.15, 0.12, 0.09]
    for x in np.linspace(0.25, 0.75, 9)
    for y in np.linspace(0.25, 0.75, 9)
]
ret_val = find_roomiest(layouts=layouts, taken=taken)

# 8 points in a square.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = [get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims]
corners = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1], [-1, 1]])
sides = np.bincount(np.arange(8) % 4)
t = [side + i / count for side, count in enumerate(sides) for i in range(count)]
square = np.stack([np.interp(t, np.arange(5), corners[:, axis]) for axis in range(2)], axis=1)
layouts = [
    denormalize_xy([x, y]) + half * square
    for half in [0.12, 0.1, 0.08]
    for x in np.linspace(0.25, 0.75, 9)
    for y in np.linspace(0.25, 0.75, 9)
]
ret_val = find_roomiest(layouts=layouts, taken=taken)

# 6 points in a triangle.
rims = 0.04 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
taken = [get_obj_pos(name) + rim * ('bowl' in name) for name in objects for rim in rims]
corners = np.array([[0, 1], [0.87, -0.5], [-0.87, -0.5], [0, 1]])
sides = np.bincount(np.arange(6) % 3)
t = [side + i / count for side, count in enumerate(sides) for i in range(count)]
triangle = np.stack([np.interp(t, np.arange(4), corners[:, axis]) for axis in range(2)], axis=1)
layouts = [
    denormalize_xy([x, y]) + size * triangle
    for size in [0.15, 0.12, 0.09]
    for x in np.linspace(0.25, 0.75, 9)
    for y in np.linspace(0.25, 0.75, 9)
]
ret_val = find_roomiest(layouts=layouts, taken=taken)
