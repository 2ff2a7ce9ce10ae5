#: around = centred on, centered on, in, at
#: big = large, huge
#: small = little, tiny
#: wide = diameter, across
#: a circle = a ring
#: a circle around the middle. = a circle
#: a hexagon around the middle. = a hexagon
#: a pentagon around the middle. = a pentagon
#: a square around the middle. = a square
#: a triangle around the middle. = a triangle
#: a star around the middle. = a star
#: a house around the middle. = a house, a simple house
#: an arrow to the right. = an arrow, a right arrow, an arrow pointing right, an arrow pointing to the right
#: an arrow to the left. = a left arrow, an arrow pointing left, an arrow pointing to the left
#: an arrow up. = an up arrow, an arrow pointing up, an arrow upwards
#: an arrow down. = a down arrow, an arrow pointing down, an arrow downwards
#: the letter = a letter, a capital, the capital letter, a capital letter
#: a big circle around the middle. = a big circle
#: a big square around the middle. = a big square
#: a big triangle around the middle. = a big triangle
#: a big hexagon around the middle. = a big hexagon
#: a small circle around the middle. = a small circle
#: a small square around the middle. = a small square
#: a small triangle around the middle. = a small triangle
#: a small hexagon around the middle. = a small hexagon
#: the ground line = a ground line, the ground, a line for the ground
#: a line that bisects it = a line that cuts it in half, a line bisecting it, a line through its middle
#: a pyramid on the ground line = a pyramid on it, a pyramid on the ground

objects = ['red block', 'green block', 'blue block']
# a circle in the top left corner.
corner, radius = get_obj_pos('top left corner'), 0.06
center = corner + radius * np.sign(get_obj_pos('middle') - corner)
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = center + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a hexagon in the top left corner.
corner, radius = get_obj_pos('top left corner'), 0.06
center = corner + radius * np.sign(get_obj_pos('middle') - corner)
angles = np.linspace(0, 2 * np.pi, 7)
shape_pts = center + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a pentagon in the top left corner.
corner, radius = get_obj_pos('top left corner'), 0.06
center = corner + radius * np.sign(get_obj_pos('middle') - corner)
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 6)
shape_pts = center + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a triangle in the top left corner.
corner, radius = get_obj_pos('top left corner'), 0.06
center = corner + radius * np.sign(get_obj_pos('middle') - corner)
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 4)
shape_pts = center + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a star in the top left corner.
corner, radius = get_obj_pos('top left corner'), 0.06
center = corner + radius * np.sign(get_obj_pos('middle') - corner)
angles = np.pi / 2 + np.linspace(0, 4 * np.pi, 6)
shape_pts = center + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 5 cm radius circle in the top left corner.
corner, radius = get_obj_pos('top left corner'), 0.05
center = corner + radius * np.sign(get_obj_pos('middle') - corner)
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = center + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a small circle around the middle.
angles = np.linspace(0, 2 * np.pi, 33)
shape_pts = get_obj_pos('middle') + 0.03 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a big square around the middle.
shape_pts = get_obj_pos('middle') + 0.1 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a small square around the middle.
shape_pts = get_obj_pos('middle') + 0.025 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])

# a big triangle around the middle.
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 4)
shape_pts = get_obj_pos('middle') + 0.12 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a small triangle around the middle.
angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 4)
shape_pts = get_obj_pos('middle') + 0.03 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a big hexagon around the middle.
angles = np.linspace(0, 2 * np.pi, 7)
shape_pts = get_obj_pos('middle') + 0.1 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a small hexagon around the middle.
angles = np.linspace(0, 2 * np.pi, 7)
shape_pts = get_obj_pos('middle') + 0.03 * np.stack([np.cos(angles), np.sin(angles)], axis=1)

# a 20 cm vertical line through the middle.
shape_pts = get_obj_pos('middle') + 0.5 * 0.2 * np.array([[0, -1], [0, 1]])

# a house around the middle.
walls_and_roof = np.array([[-1, -1], [1, -1], [1, 0.2], [0, 1], [-1, 0.2], [-1, -1]])
shape_pts = get_obj_pos('middle') + 0.07 * walls_and_roof

# a house in the top left corner.
corner, half = get_obj_pos('top left corner'), 0.05
walls_and_roof = np.array([[-1, -1], [1, -1], [1, 0.2], [0, 1], [-1, 0.2], [-1, -1]])
shape_pts = corner + half * np.sign(get_obj_pos('middle') - corner) + half * walls_and_roof

# an arrow to the right.
along, tip = 0.08 * np.array([1, 0]), get_obj_pos('middle') + 0.08 * np.array([1, 0])
barb = 0.3 * np.array([-along[1], along[0]])
shape_pts = np.array([tip - 2 * along, tip, tip - 0.4 * along + barb, tip, tip - 0.4 * along - barb])

# an arrow to the left.
along, tip = 0.08 * np.array([-1, 0]), get_obj_pos('middle') + 0.08 * np.array([-1, 0])
barb = 0.3 * np.array([-along[1], along[0]])
shape_pts = np.array([tip - 2 * along, tip, tip - 0.4 * along + barb, tip, tip - 0.4 * along - barb])

# an arrow up.
along, tip = 0.08 * np.array([0, 1]), get_obj_pos('middle') + 0.08 * np.array([0, 1])
barb = 0.3 * np.array([-along[1], along[0]])
shape_pts = np.array([tip - 2 * along, tip, tip - 0.4 * along + barb, tip, tip - 0.4 * along - barb])

# an arrow down.
along, tip = 0.08 * np.array([0, -1]), get_obj_pos('middle') + 0.08 * np.array([0, -1])
barb = 0.3 * np.array([-along[1], along[0]])
shape_pts = np.array([tip - 2 * along, tip, tip - 0.4 * along + barb, tip, tip - 0.4 * along - barb])

# an arrow from the red block to the green block.
start, end = (get_obj_pos(parse_obj_name(name)) for name in ['the red block', 'the green block'])
along = (end - start) / np.linalg.norm(end - start)
start, tip, barb = start + 0.06 * along, end - 0.06 * along, 0.015 * np.array([-along[1], along[0]])
shape_pts = np.array([start, tip, tip - 0.02 * along + barb, tip, tip - 0.02 * along - barb])

# the letter A.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[-0.7, -1], [0, 1], [0.7, -1], [0.35, 0], [-0.35, 0]])

# the letter E.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[0.6, 1], [-0.6, 1], [-0.6, 0], [0.4, 0], [-0.6, 0], [-0.6, -1], [0.6, -1]])

# the letter H.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[-0.6, 1], [-0.6, -1], [-0.6, 0], [0.6, 0], [0.6, 1], [0.6, -1]])

# the letter L.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[-0.5, 1], [-0.5, -1], [0.6, -1]])

# the letter M.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[-0.8, -1], [-0.8, 1], [0, -0.2], [0.8, 1], [0.8, -1]])

# the letter N.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[-0.6, -1], [-0.6, 1], [0.6, -1], [0.6, 1]])

# the letter T.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[-0.7, 1], [0.7, 1], [0, 1], [0, -1]])

# the letter V.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[-0.7, 1], [0, -1], [0.7, 1]])

# the letter X.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[-0.7, 1], [0.7, -1], [0, 0], [0.7, 1], [-0.7, -1]])

# the letter Z.
shape_pts = get_obj_pos('middle') + 0.06 * np.array([[-0.6, 1], [0.6, 1], [-0.6, -1], [0.6, -1]])
