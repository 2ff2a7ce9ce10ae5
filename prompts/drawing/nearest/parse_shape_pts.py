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
