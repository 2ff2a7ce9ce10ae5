# /// cap
# actions = true
# ///
"""A round robot that drives in any direction is to reach a goal among round obstacles, touching none.

get_position() and get_goal_position() have shape (2,), metres; get_obstacles() has shape (n, 3): x, y and
radius of each; get_robot_radius() is the robot's own. set_velocity([x, y]) takes m/s, at most 0.6, which
the robot reaches with a lag. step() lets 0.05 s pass, is_done() tells whether the episode is over: after
20 s, or when an obstacle is touched.
"""
import numpy as np
from robot import get_position, get_goal_position, get_obstacles, get_robot_radius, set_velocity, step, is_done

# drive up with 0.1 m/s for a second, then stand still.
set_velocity([0, 0.1])
for _ in range(20):
    step()
set_velocity([0, 0])
step()

# drive away from the nearest obstacle until there are 40 cm between them.
while not is_done():
    here, circles = get_position(), get_obstacles()
    away = here - circles[:, :2]
    gaps = np.linalg.norm(away, axis=1) - circles[:, 2] - get_robot_radius()
    i = np.argmin(gaps)
    if gaps[i] > 0.4:
        break
    set_velocity(0.2 * away[i] / np.linalg.norm(away[i]))
    step()
set_velocity([0, 0])

# drive half a metre straight towards the goal, but stop 10 cm before any obstacle.
start, goal = get_position(), get_goal_position()
def gap(point):
    return min([np.linalg.norm(point - c[:2]) - c[2] for c in get_obstacles()]) - get_robot_radius()
way = (goal - start) / np.linalg.norm(goal - start)
set_velocity(0.2 * way)
while not is_done() and gap(get_position()) > 0.1 and np.linalg.norm(get_position() - start) < 0.5:
    step()
set_velocity([0, 0])
step()
