# /// cap
# context = ["objects", "positions"]
# ///

objects = ['red block', 'blue bowl', 'green block', 'yellow bowl', 'blue block', 'green bowl']
positions = {'red block': (-0.1, -0.3), 'blue bowl': (0.15, -0.55), 'green block': (0.05, -0.7), 'yellow bowl': (-0.2, -0.6), 'blue block': (0.2, -0.35), 'green bowl': (-0.05, -0.45)}
# 10 cm to the left of the red block.
answer = '(-0.200, -0.300)'

# 8 cm below the green bowl.
answer = '(-0.050, -0.530)'

# 6 cm to the right of the topmost block.
answer = '(-0.040, -0.300)'

# the point a fifth of the way from the blue bowl to the yellow bowl.
answer = '(0.080, -0.560)'

# the mean position of all the bowls.
answer = '(-0.033, -0.533)'

objects = ['yellow block', 'red bowl', 'gray block', 'pink bowl', 'cyan block', 'yellow bowl']
positions = {'yellow block': (0.1, -0.25), 'red bowl': (-0.15, -0.4), 'gray block': (0.05, -0.48), 'pink bowl': (0.25, -0.65), 'cyan block': (-0.05, -0.75), 'yellow bowl': (-0.25, -0.68)}
# 5 cm from the red bowl in the direction of the gray block.
answer = '(-0.104, -0.419)'

# 3 points evenly spaced from the cyan block to the gray block, both ends included.
answer = '(-0.050, -0.750), (0.000, -0.615), (0.050, -0.480)'

# the two ends of a horizontal line of 20 cm with the yellow block in its middle.
answer = '(0.000, -0.250), (0.200, -0.250)'

# 4 points evenly spaced on a circle of radius 10 cm around the pink bowl, the first one above it.
answer = '(0.250, -0.550), (0.150, -0.650), (0.250, -0.750), (0.350, -0.650)'
