# /// cap
# context = ["objects"]
# session = true
# actions = true
# ///
import numpy as np
from robot import get_obj_names, is_obj_visible, get_obj_pos, get_obj_yaw, get_bbox
from robot import get_spill_points, get_robot_pos, obj_in_gripper, pick_obj, place_at_pos
from robot import put_first_on_second, push, wipe, turn_handle, pull, lift_with_both_arms
from robot import hand_over
from robot import goto_pos, move_by, open_gripper, close_gripper, say

objects = ['cube']
# pick up the cube.
pick_obj('cube')
#= moved cube; holds cube

# put it down 10 cm further to the left.
target = 'cube'
if not obj_in_gripper(target):
    pick_obj(target)
place_at_pos(get_obj_pos(target) + np.array([0, 10 / 100, 0]))
#= moved cube; holds nothing

# push the cube 5 cm away from the robot.
low, high = get_bbox('cube')
x, y, z = get_obj_pos('cube')
start = np.array([low[0] - 0.03, y, z])
push(start, start + np.array([0.03 + 5 / 100, 0, 0]))
#= moved cube

# move the hand up by 10 cm.
move_by([0, 0, 10 / 100])
#= gripper moved

# bring me the mug.
say('I see no mug')
#= said no mug; nothing moved

objects = []
# wipe up the spill.
for _ in range(3):
    wipe(get_spill_points())
#= spill is 0 marks

objects = ['red cube', 'green cube']
# put the red cube on the green cube.
put_first_on_second('red cube', 'green cube')
#= moved red cube

# now the other way round.
x, y, z = get_obj_pos('green cube')
put_first_on_second('red cube', [x - 0.12 if x > 0 else x + 0.12, y])
put_first_on_second('green cube', 'red cube')
#= moved red cube, green cube
#? as named before

objects = ['square nut', 'round nut', 'square peg', 'round peg']
# hang the square nut on its peg.
put_first_on_second('square nut', 'square peg')
#= moved square nut

objects = ['milk', 'bread', 'cereal', 'can', 'milk bin', 'bread bin', 'cereal bin', 'can bin']
# put the cereal in its bin.
put_first_on_second('cereal', 'cereal bin')
#= moved cereal

objects = ['pot', 'green handle', 'blue handle']
# lift the pot by 15 cm with both hands.
lift_with_both_arms('pot', 15 / 100)
#= moved green handle, blue handle, pot; holds green handle, blue handle

objects = ['hammer']
# hand the hammer over.
hand_over('hammer', from_arm=0)
#= moved hammer; holds hammer

objects = ['door', 'door handle']
# open the door by 20 cm.
turn_handle('door handle')
pull(20 / 100)
#= moved door, door handle; holds door handle
