# /// cap
# actions = true
# ///
"""A robot on two wheels is to be where a reference point is, which moves all the time.

get_pose() gives x, y and the heading in metres and radians: 0 along x, growing to the left. The reference
has get_reference_position() and get_reference_velocity(), shape (2,), m and m/s. set_velocity(forward, turn)
takes m/s and rad/s, which the robot reaches with a lag; it slips a little. step() lets 0.05 s pass,
is_done() tells whether the episode is over.
"""
import numpy as np
from robot import get_pose, get_reference_position, get_reference_velocity, set_velocity, step, is_done

# drive straight ahead with 0.2 m/s for two seconds.
set_velocity(0.2, 0)
for _ in range(40):
    step()

# turn on the spot until the robot heads along x.
while not is_done():
    x, y, heading = get_pose()
    if abs(heading) < 0.05:
        break
    set_velocity(0, -1.5 * heading)
    step()

# drive in a circle of 30 cm radius until the episode is over.
while not is_done():
    set_velocity(0.3, 0.3 / 0.3)
    step()

# face the reference without moving, until the episode is over.
while not is_done():
    x, y, heading = get_pose()
    to = get_reference_position() - np.array([x, y])
    error = (np.arctan2(to[1], to[0]) - heading + np.pi) % (2 * np.pi) - np.pi
    set_velocity(0, 2.0 * error)
    step()
