# /// cap
# actions = true
# ///
"""A pole stands on a cart that is pushed for 0.02 s at a time: push(1) to the right, push(0) to the left.

get_state() gives x, x_dot, theta, theta_dot in m, m/s, rad, rad/s: x grows to the right, theta is 0
where the pole is upright and grows as it leans to the right. is_done() tells whether the episode is over.
"""
import numpy as np
from robot import get_state, is_done, push

# push the cart to the left five times.
for _ in range(5):
    push(0)

# push right and left in turn until the episode is over.
direction = 1
while not is_done():
    push(direction)
    direction = 1 - direction

# push the cart to the right until it is faster than 0.5 m/s.
while not is_done() and get_state()[1] < 0.5:
    push(1)

# bring the cart back to the middle with a P controller of its position, until the episode is over.
while not is_done():
    x, x_dot, theta, theta_dot = get_state()
    control = -1.0 * x
    push(1 if control > 0 else 0)
