# /// cap
# context = ["objects"]
# ///

objects = ['red block', 'yellow block', 'blue bowl', 'green bowl']
# pick up the red block and place it on the blue bowl.
plan = ['Pick up the red block. Place it on the blue bowl.']

# pick up the yellow block and place it on the red block.
plan = ['Pick up the yellow block. Place it on the red block.']

objects = ['green block', 'orange bowl', 'blue block', 'red block']
# stack all the blocks.
plan = [
    'Pick up the blue block. Place it on the green block.',
    'Pick up the red block. Place it on the blue block.',
]

objects = ['yellow block', 'red bowl', 'orange block', 'blue bowl', 'green block']
# put all the blocks on the left side.
plan = [
    'Pick up the yellow block. Place it on the left side.',
    'Pick up the orange block. Place it on the left side.',
    'Pick up the green block. Place it on the left side.',
]

# put all the blocks on the top right corner.
plan = [
    'Pick up the yellow block. Place it on the top right corner.',
    'Pick up the orange block. Place it on the top right corner.',
    'Pick up the green block. Place it on the top right corner.',
]

objects = ['blue block', 'green bowl', 'yellow bowl', 'orange block']
# put the blocks in the green bowl.
plan = [
    'Pick up the blue block. Place it on the green bowl.',
    'Pick up the orange block. Place it on the green bowl.',
]

objects = ['red block', 'green bowl', 'yellow block', 'red bowl', 'green block', 'yellow bowl']
# put all the blocks in the bowls with matching colors.
plan = [
    'Pick up the red block. Place it on the red bowl.',
    'Pick up the yellow block. Place it on the yellow bowl.',
    'Pick up the green block. Place it on the green bowl.',
]
