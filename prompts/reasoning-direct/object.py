# /// cap
# context = ["objects", "positions"]
# ///

objects = ['red block', 'blue bowl', 'green block', 'yellow bowl', 'blue block', 'green bowl']
positions = {'red block': (-0.1, -0.3), 'blue bowl': (0.15, -0.55), 'green block': (0.05, -0.7), 'yellow bowl': (-0.2, -0.6), 'blue block': (0.2, -0.35), 'green bowl': (-0.05, -0.45)}
# the green block.
answer = 'green block'

# the blocks.
answer = 'red block, green block, blue block'

# the bowls.
answer = 'blue bowl, yellow bowl, green bowl'

# the topmost block.
answer = 'red block'

# the rightmost bowl.
answer = 'blue bowl'

# the third bowl from the left.
answer = 'blue bowl'

# the two bottommost blocks.
answer = 'green block, blue block'

# the bowls from left to right.
answer = 'yellow bowl, green bowl, blue bowl'

objects = ['yellow block', 'red bowl', 'gray block', 'pink bowl', 'cyan block', 'yellow bowl']
positions = {'yellow block': (0.1, -0.25), 'red bowl': (-0.15, -0.4), 'gray block': (0.05, -0.48), 'pink bowl': (0.25, -0.65), 'cyan block': (-0.05, -0.75), 'yellow bowl': (-0.25, -0.68)}
# the bowl closest to the cyan block.
answer = 'yellow bowl'

# the block farthest from the red bowl.
answer = 'cyan block'

# all the blocks below the pink bowl.
answer = 'cyan block'

# all the other objects within 22 cm of the gray block.
answer = 'red bowl'

# the bowl with the same color as the yellow block.
answer = 'yellow bowl'
