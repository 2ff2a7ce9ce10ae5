# /// cap
# doc = "Tell whether what an instruction asks for is so now."
# returns = "ret_val"
# kind = ["boolean"]
# context = ["objects"]
# arguments = { before = { "red block" = [0.1, -0.4, 0.02], "green block" = [-0.1, -0.5, 0.02] }, drawn_before = [[[0.0, -0.5], [0.1, -0.5], [0.1, -0.4]], [[-0.1, -0.5], [-0.2, -0.6]]] }
# ///
import numpy as np
from robot import get_drawn_shapes, get_obj_pos

#< The instruction was carried out just now, rightly or wrongly: tell by looking whether what it asks for is so.
#< before: where each object was before that, name: [x, y, z] in metres. What is drawn are lists of points.
#< drawn_before: what was drawn before that, as get_drawn_shapes() returns it now. What is older than the
#< instruction stays, unless it is to be changed: compare with drawn_before where the words need it.
#< What is asked for may be so in many ways: take what is so in all of them, or ret_val = None if nothing is.
#< Within 1 cm is near enough; a figure may be turned, and its corners lie on its edge line too.

objects = ['red block', 'green block']
# draw a 6cm radius circle around the middle.
shapes = get_drawn_shapes()
points = np.concatenate(shapes) if shapes else np.zeros((0, 2))
radii = np.linalg.norm(points - get_obj_pos('middle'), axis=1)
ret_val = len(points) > 8 and bool(np.all(np.abs(radii - 6 / 100) < 0.01))

# draw a 4cm radius circle around the red block.
shapes = get_drawn_shapes()
points = np.concatenate(shapes) if shapes else np.zeros((0, 2))
radii = np.linalg.norm(points - get_obj_pos('red block'), axis=1)
ret_val = len(points) > 8 and bool(np.all(np.abs(radii - 4 / 100) < 0.01))

# draw a 10cm square around the middle.
shapes = get_drawn_shapes()
points = np.concatenate(shapes) if shapes else np.zeros((0, 2))
radii = np.linalg.norm(points - get_obj_pos('middle'), axis=1)
half = 10 / 200
far = len(points) > 0 and abs(np.max(radii) - half * np.sqrt(2)) < 0.01
ret_val = bool(far and np.min(radii) > half - 0.01)

# draw a 7cm radius hexagon around the middle.
shapes = get_drawn_shapes()
points = np.concatenate(shapes) if shapes else np.zeros((0, 2))
radii = np.linalg.norm(points - get_obj_pos('middle'), axis=1)
far = len(points) > 0 and abs(np.max(radii) - 7 / 100) < 0.01
ret_val = bool(far and np.min(radii) > 0.8 * np.max(radii))

# draw a line from the red block to the green block.
shapes = get_drawn_shapes()
points = np.concatenate(shapes) if shapes else np.zeros((0, 2))
start, end = get_obj_pos('red block'), get_obj_pos('green block')
way = (end - start) / np.linalg.norm(end - start)
aside = np.abs((points - start) @ np.array([-way[1], way[0]]))
along = (points - start) @ way
length = np.max(along) - np.min(along) if len(points) else 0
ret_val = bool(len(points) > 1 and np.all(aside < 0.01) and length > 0.5 * np.linalg.norm(end - start))

# draw circles around the blocks.
blocks = [name for name in objects if 'block' in name]
middles = [np.mean(shape, axis=0) for shape in get_drawn_shapes()]
near = [any(np.linalg.norm(middle - get_obj_pos(name)) < 0.02 for middle in middles) for name in blocks]
ret_val = all(near) and len(middles) == len(blocks)

# erase everything.
ret_val = len(get_drawn_shapes()) == 0

# make the last shape twice as big.
shapes = get_drawn_shapes()
sizes = [np.max(np.ptp(np.array(drawn[-1]), axis=0)) for drawn in (drawn_before, shapes) if drawn]
ret_val = bool(len(shapes) == len(drawn_before) and abs(sizes[-1] - 2 * sizes[0]) < 0.01)

# draw something funny.
ret_val = None
