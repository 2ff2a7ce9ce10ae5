# /// cap
# context = ["objects", "positions"]
# ///

objects = ['red block', 'blue bowl', 'green block', 'yellow bowl', 'blue block', 'green bowl']
positions = {'red block': (-0.1, -0.3), 'blue bowl': (0.15, -0.55), 'green block': (0.05, -0.7), 'yellow bowl': (-0.2, -0.6), 'blue block': (0.2, -0.35), 'green bowl': (-0.05, -0.45)}
# 10 cm to the left of the red block.
thoughts = (
    'The red block is at (-0.10, -0.30). 10 cm are 0.10 m, and left means a smaller x: -0.10 '
    '- 0.10 = -0.20. The y stays -0.30.'
)
answer = '(-0.200, -0.300)'

# 8 cm below the green bowl.
thoughts = (
    'The green bowl is at (-0.05, -0.45). 8 cm are 0.08 m, and below means a smaller y: -0.45'
    ' - 0.08 = -0.53. The x stays -0.05.'
)
answer = '(-0.050, -0.530)'

# 6 cm to the right of the topmost block.
thoughts = (
    'The y of the blocks: the red block at -0.30, the green block at -0.70, the blue block at'
    ' -0.35. The topmost is the red block at (-0.10, -0.30). 6 cm are 0.06 m, and right means'
    ' a larger x: -0.10 + 0.06 = -0.04. The y stays -0.30.'
)
answer = '(-0.040, -0.300)'

# the point a fifth of the way from the blue bowl to the yellow bowl.
thoughts = (
    'From the blue bowl at (0.15, -0.55) to the yellow bowl at (-0.20, -0.60) it is -0.35 in '
    'x and -0.05 in y. A fifth of that is -0.07 and -0.01. So x is 0.15 - 0.07 = 0.08 and y '
    'is -0.55 - 0.01 = -0.56.'
)
answer = '(0.080, -0.560)'

# the mean position of all the bowls.
thoughts = (
    'The x of the bowls: 0.15, -0.20 and -0.05, together -0.10, a third of which is -0.033. '
    'The y: -0.55, -0.60 and -0.45, together -1.60, a third of which is -0.533.'
)
answer = '(-0.033, -0.533)'

objects = ['yellow block', 'red bowl', 'gray block', 'pink bowl', 'cyan block', 'yellow bowl']
positions = {'yellow block': (0.1, -0.25), 'red bowl': (-0.15, -0.4), 'gray block': (0.05, -0.48), 'pink bowl': (0.25, -0.65), 'cyan block': (-0.05, -0.75), 'yellow bowl': (-0.25, -0.68)}
# 5 cm from the red bowl in the direction of the gray block.
thoughts = (
    'From the red bowl at (-0.15, -0.40) to the gray block at (0.05, -0.48) it is 0.20 in x '
    'and -0.08 in y, 0.215 m in all. 5 cm are 0.05 m, a share of 0.05 / 0.215 = 0.232. In x '
    'that is 0.046 and in y -0.019. So x is -0.15 + 0.046 = -0.104 and y is -0.40 - 0.019 = '
    '-0.419.'
)
answer = '(-0.104, -0.419)'

# 3 points evenly spaced from the cyan block to the gray block, both ends included.
thoughts = (
    'The first point is the cyan block at (-0.05, -0.75), the last is the gray block at '
    '(0.05, -0.48). The one between is in the middle: x is (-0.05 + 0.05) / 2 = 0 and y is '
    '(-0.75 - 0.48) / 2 = -0.615.'
)
answer = '(-0.050, -0.750), (0.000, -0.615), (0.050, -0.480)'

# the two ends of a horizontal line of 20 cm with the yellow block in its middle.
thoughts = (
    'The yellow block is at (0.10, -0.25). Half of 20 cm is 0.10 m. A horizontal line keeps '
    'the y -0.25, and its ends have x 0.10 - 0.10 = 0 and 0.10 + 0.10 = 0.20.'
)
answer = '(0.000, -0.250), (0.200, -0.250)'

# 4 points evenly spaced on a circle of radius 10 cm around the pink bowl, the first one above it.
thoughts = (
    'The pink bowl is at (0.25, -0.65) and 10 cm are 0.10 m. The first point is above: (0.25,'
    ' -0.55). A quarter of a turn on, counter-clockwise, is the point to the left: (0.15, '
    '-0.65). Then comes the one below: (0.25, -0.75). The last is to the right: (0.35, '
    '-0.65).'
)
answer = '(0.250, -0.550), (0.150, -0.650), (0.250, -0.750), (0.350, -0.650)'
