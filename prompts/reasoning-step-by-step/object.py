# /// cap
# context = ["objects", "positions"]
# ///

objects = ['red block', 'blue bowl', 'green block', 'yellow bowl', 'blue block', 'green bowl']
positions = {'red block': (-0.1, -0.3), 'blue bowl': (0.15, -0.55), 'green block': (0.05, -0.7), 'yellow bowl': (-0.2, -0.6), 'blue block': (0.2, -0.35), 'green bowl': (-0.05, -0.45)}
# the green block.
thoughts = 'The green block is meant by its name.'
answer = 'green block'

# the blocks.
thoughts = 'The objects whose name says block are the red block, the green block and the blue block.'
answer = 'red block, green block, blue block'

# the bowls.
thoughts = 'The objects whose name says bowl are the blue bowl, the yellow bowl and the green bowl.'
answer = 'blue bowl, yellow bowl, green bowl'

# the topmost block.
thoughts = (
    'Topmost means the largest y. The y of the blocks: the red block at -0.30, the green '
    'block at -0.70, the blue block at -0.35. The largest is -0.30, that of the red block.'
)
answer = 'red block'

# the rightmost bowl.
thoughts = (
    'Rightmost means the largest x. The x of the bowls: the blue bowl at 0.15, the yellow '
    'bowl at -0.20, the green bowl at -0.05. The largest is 0.15, that of the blue bowl.'
)
answer = 'blue bowl'

# the third bowl from the left.
thoughts = (
    'From the left means by growing x. The bowls in that order: the yellow bowl at -0.20, the'
    ' green bowl at -0.05, the blue bowl at 0.15. The third is the blue bowl.'
)
answer = 'blue bowl'

# the two bottommost blocks.
thoughts = (
    'Bottommost means the smallest y. The blocks by growing y: the green block at -0.70, the '
    'blue block at -0.35, the red block at -0.30. The first two are the green block and the '
    'blue block.'
)
answer = 'green block, blue block'

# the bowls from left to right.
thoughts = (
    'From left to right means by growing x. The bowls in that order: the yellow bowl at '
    '-0.20, the green bowl at -0.05, the blue bowl at 0.15.'
)
answer = 'yellow bowl, green bowl, blue bowl'

objects = ['yellow block', 'red bowl', 'gray block', 'pink bowl', 'cyan block', 'yellow bowl']
positions = {'yellow block': (0.1, -0.25), 'red bowl': (-0.15, -0.4), 'gray block': (0.05, -0.48), 'pink bowl': (0.25, -0.65), 'cyan block': (-0.05, -0.75), 'yellow bowl': (-0.25, -0.68)}
# the bowl closest to the cyan block.
thoughts = (
    'The distances of the bowls: from the red bowl it is -0.10 in x and +0.35 in y, 0.364 m '
    'in all; from the pink bowl it is +0.30 in x and +0.10 in y, 0.316 m in all; from the '
    'yellow bowl it is -0.20 in x and +0.07 in y, 0.212 m in all. The smallest is 0.212, to '
    'the yellow bowl.'
)
answer = 'yellow bowl'

# the block farthest from the red bowl.
thoughts = (
    'The distances of the blocks: from the yellow block it is +0.25 in x and +0.15 in y, '
    '0.292 m in all; from the gray block it is +0.20 in x and -0.08 in y, 0.215 m in all; '
    'from the cyan block it is +0.10 in x and -0.35 in y, 0.364 m in all. The largest is '
    '0.364, to the cyan block.'
)
answer = 'cyan block'

# all the blocks below the pink bowl.
thoughts = (
    'Below means a smaller y than that of the pink bowl, -0.65. The y of the blocks: the '
    'yellow block at -0.25, the gray block at -0.48, the cyan block at -0.75. Smaller: only '
    'that of the cyan block.'
)
answer = 'cyan block'

# all the other objects within 22 cm of the gray block.
thoughts = (
    'The distances of the others: from the yellow block it is +0.05 in x and +0.23 in y, '
    '0.235 m in all; from the red bowl it is -0.20 in x and +0.08 in y, 0.215 m in all; from '
    'the pink bowl it is +0.20 in x and -0.17 in y, 0.262 m in all; from the cyan block it is'
    ' -0.10 in x and -0.27 in y, 0.288 m in all; from the yellow bowl it is -0.30 in x and '
    '-0.20 in y, 0.361 m in all. Up to 0.220 m: only the red bowl.'
)
answer = 'red bowl'

# the bowl with the same color as the yellow block.
thoughts = (
    'The color is yellow. The bowls are the red bowl, the pink bowl and the yellow bowl; the '
    'yellow one is the yellow bowl.'
)
answer = 'yellow bowl'
