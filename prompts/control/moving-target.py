# /// cap
# actions = true
# ///
"""A robot that drives in any direction is to catch a target, which moves all the time.

get_position() and get_target_position() have shape (2,), metres. set_velocity([x, y]) takes m/s, at most 1,
which the robot reaches with a lag; it drifts a little. step() lets 0.05 s pass, is_done() tells whether
the episode is over.
"""
import numpy as np
from robot import get_position, get_target_position, set_velocity, step, is_done

# drive to the right with 0.2 m/s for two seconds.
set_velocity([0.2, 0])
for _ in range(40):
    step()

# drive to the point (0, 0) with a P controller and stop there.
goal = np.array([0, 0])
while not is_done() and np.linalg.norm(goal - get_position()) > 0.02:
    set_velocity(1.5 * (goal - get_position()))
    step()
set_velocity([0, 0])

# keep half a metre above the target until the episode is over.
while not is_done():
    set_velocity(1.0 * (get_target_position() + np.array([0, 0.5]) - get_position()))
    step()
