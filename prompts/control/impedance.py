# /// cap
# actions = true
# ///
"""An arm with six joints is driven by torques in Nm; its fingertips have a goal, which may move.

get_joint_positions() and get_joint_velocities() have shape (6,), rad and rad/s. get_ee_position() and
get_goal_position() have shape (3,), metres. get_jacobian() has shape (3, 6) and takes joint velocities to
the fingertips' velocity. get_gravity_torques() holds the arm as it is now. set_torques() sets the motors,
step() lets 1/240 s pass, is_done() tells whether the time is over.
"""
import numpy as np
from robot import get_joint_positions, get_joint_velocities, get_ee_position, get_jacobian
from robot import get_gravity_torques, get_goal_position, set_torques, step, is_done

# do nothing but hold the arm against gravity for half a second.
for _ in range(120):
    set_torques(get_gravity_torques())
    step()

# hold every joint where it is now with a PD controller, until the time is over.
target = get_joint_positions()
while not is_done():
    torques = 300 * (target - get_joint_positions()) - 30 * get_joint_velocities()
    set_torques(torques + get_gravity_torques())
    step()

# push upwards with the fingertips, with 10 N, for a quarter of a second.
for _ in range(60):
    torques = get_jacobian().T @ np.array([0, 0, 10])
    set_torques(torques + get_gravity_torques())
    step()

# let the fingertips move freely but brake them with 40 N s/m, until the time is over.
while not is_done():
    jacobian = get_jacobian()
    velocity = jacobian @ get_joint_velocities()
    set_torques(jacobian.T @ (-40 * velocity) + get_gravity_torques())
    step()
