# /// cap
# doc = "Tell whether what an instruction asks for is so now."
# returns = "ret_val"
# kind = ["boolean"]
# context = ["objects", "at"]
# arguments = { before = { "apple" = [0.1, -1.4, 0.8], "coke can" = [0.3, -1.4, 0.8], "banana" = [0.2, -1.5, 0.8], "bowl" = [0.0, -1.5, 0.75] }, robot_before = [0.0, 0.0, 0.0] }
# ///
import numpy as np
from robot import get_obj_pos, get_bbox, get_loc_names, get_loc_pos, get_robot_pos
from robot import is_obj_visible, obj_in_gripper

#< The instruction was carried out just now, rightly or wrongly: tell by looking whether what it asks for is so.
#< before: where each object was before that, name: [x, y, z] in metres; which thing is meant is decided by it.
#< robot_before: where the robot stood and how it was turned before that, [x, y, angle in radians]. A thing that
#< was not in sight before has no entry in before.
#< What is asked for may be so in many ways: take what is so in all of them, or ret_val = None if nothing is.

objects = ['apple', 'coke can', 'banana', 'bowl']
# pick up the apple.
ret_val = obj_in_gripper('apple')

# put the apple in the bowl.
ret_val = bool(np.linalg.norm(get_obj_pos('apple') - get_obj_pos('bowl')) < 0.1)

# take the coke can to the countertop.
spot = get_obj_pos('coke can')
places = {name: np.linalg.norm(get_loc_pos(name) - spot) for name in get_loc_names()}
ret_val = min(places, key=places.get) == 'countertop' and not obj_in_gripper('coke can')

# take the coke can from the table to the countertop.
spot = get_obj_pos('coke can')
places = {name: np.linalg.norm(get_loc_pos(name) - spot) for name in get_loc_names()}
ret_val = min(places, key=places.get) == 'countertop' and not obj_in_gripper('coke can')

# go to the desk.
spot = get_robot_pos()
places = {name: np.linalg.norm(get_loc_pos(name) - spot) for name in get_loc_names()}
ret_val = min(places, key=places.get) == 'desk'

# move the banana next to the apple.
ret_val = bool(np.linalg.norm(get_obj_pos('banana') - get_obj_pos('apple')) < 0.25)

# how many objects are there.
spots = [(get_obj_pos(name), np.array(before[name])) for name in objects if is_obj_visible(name)]
ret_val = all([np.linalg.norm(now - was) < 0.01 for now, was in spots])

# drive 1m forward.
x, y, angle = robot_before
way = get_robot_pos()[:2] - np.array([x, y])
ret_val = bool(np.linalg.norm(way - 1 * np.array([np.cos(angle), np.sin(angle)])) < 0.05)

# tidy up a bit.
ret_val = None
