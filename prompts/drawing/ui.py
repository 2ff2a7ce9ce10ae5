# /// cap
# context = ["objects"]
# session = true
# initial = { shapes = [] }
# actions = true
# ///
import numpy as np
from robot import draw, erase, get_drawn_shapes, get_obj_names, get_obj_pos, is_obj_visible, redraw, say, undo_turns
from lmps import parse_obj_name, parse_shape_pts, transform_shape_pts

#< shapes: the lines that were drawn, oldest first; count a face or a dashed line as one shape.

objects = ['red block', 'green block', 'yellow block']
# draw a hexagon around the middle.
shapes = shapes + [parse_shape_pts('a hexagon around the middle')]
draw(shapes[-1])
#= drew

# draw a line that bisects it.
shapes = shapes + [parse_shape_pts('a line that bisects it', it=shapes[-1])]
draw(shapes[-1])
#= drew

# make both bigger.
before, shapes = shapes, shapes[:-2] + [transform_shape_pts('make it bigger', shape_pts=pts) for pts in shapes[-2:]]
redraw(before, shapes)
#= changed the drawing

# make both smaller.
before, shapes = shapes, shapes[:-2] + [transform_shape_pts('make it smaller', shape_pts=pts) for pts in shapes[-2:]]
redraw(before, shapes)
#= changed the drawing

# move both to the left by 5 cm.
before, shapes = shapes, shapes[:-2] + [transform_shape_pts('move it to the left by 5 cm', shape_pts=pts) for pts in shapes[-2:]]
redraw(before, shapes)
#= changed the drawing

# erase both.
before, shapes = shapes, shapes[:-2]
redraw(before, shapes)
#= erased everything

objects = ['blue block', 'purple block']
# draw a square around the middle.
shapes = shapes + [parse_shape_pts('a square around the middle')]
draw(shapes[-1])
#= drew

# make it smaller.
before, shapes = shapes, shapes[:-1] + [transform_shape_pts('make it smaller', shape_pts=shapes[-1])]
redraw(before, shapes)
#= changed the drawing

# make it bigger.
before, shapes = shapes, shapes[:-1] + [transform_shape_pts('make it bigger', shape_pts=shapes[-1])]
redraw(before, shapes)
#= changed the drawing

# make it 2 times bigger.
before, shapes = shapes, shapes[:-1] + [transform_shape_pts('make it 2 times bigger', shape_pts=shapes[-1])]
redraw(before, shapes)
#= changed the drawing

# move it up by 6 cm.
before, shapes = shapes, shapes[:-1] + [transform_shape_pts('move it up by 6 cm', shape_pts=shapes[-1])]
redraw(before, shapes)
#= changed the drawing

# rotate it by 45 degrees.
before, shapes = shapes, shapes[:-1] + [transform_shape_pts('rotate it by 45 degrees', shape_pts=shapes[-1])]
redraw(before, shapes)
#= changed the drawing

# undo that.
if undo_turns():
    shapes = get_drawn_shapes()
else:
    say('nothing was drawn yet')
#= changed the drawing

# erase it.
before, shapes = shapes, shapes[:-1]
redraw(before, shapes)
#= erased everything

# draw three 4 cm radius circles in a row.
middle, count, diameter = get_obj_pos('middle'), 3, 2 * 0.04
angles = np.linspace(0, 2 * np.pi, 33)
circle = 0.5 * diameter * np.stack([np.cos(angles), np.sin(angles)], axis=1)
new = [middle + [1.5 * diameter * (number - (count - 1) / 2), 0] + circle for number in range(count)]
shapes = shapes + new
for pts in new:
    draw(pts)
#= drew

# make the first one smaller.
before, shapes = shapes, list(shapes)
shapes[0] = transform_shape_pts('make it smaller', shape_pts=shapes[0])
redraw(before, shapes)
#= changed the drawing

# erase the first one.
before, shapes = shapes, list(shapes)
del shapes[0]
redraw(before, shapes)
#= erased

# move everything to the left by 5 cm.
before, shapes = shapes, [pts + 0.05 * np.array([-1, 0]) for pts in get_drawn_shapes()]
redraw(before, shapes)
#= changed the drawing

objects = ['cyan block', 'red block', 'green block']
# draw the ground line.
shapes = shapes + [parse_shape_pts('the ground line')]
draw(shapes[-1])
#= drew

# draw a pyramid on the ground line.
shapes = shapes + [parse_shape_pts('a pyramid on the ground line', it=shapes[-1])]
draw(shapes[-1])
#= drew

# draw a sun above it.
shapes = shapes + [parse_shape_pts('a sun above it', it=shapes[-1])]
draw(shapes[-1])
#= drew

# draw circles around the blocks.
new = [parse_shape_pts(f'a circle around the {name}') for name in parse_obj_name('the blocks')]
shapes = shapes + new
for pts in new:
    draw(pts)
#= drew

# draw a line from the cyan block to the red block.
shapes = shapes + [parse_shape_pts('a line from the cyan block to the red block')]
draw(shapes[-1])
#= drew

# draw a 4 cm radius circle halfway between the cyan block and the red block.
shapes = shapes + [parse_shape_pts('a 4 cm radius circle halfway between the cyan block and the red block')]
draw(shapes[-1])
#= drew

# draw an equilateral triangle with 10 cm sides around the middle.
shapes = shapes + [parse_shape_pts('an equilateral triangle with 10 cm sides around the middle')]
draw(shapes[-1])
#= drew

# draw a square in the top left corner.
shapes = shapes + [parse_shape_pts('a square in the top left corner')]
draw(shapes[-1])
#= drew

# also draw a triangle around the middle.
shapes = shapes + [parse_shape_pts('a triangle around the middle')]
draw(shapes[-1])
#= drew

# draw a smaller triangle inside the triangle.
shapes = shapes + [transform_shape_pts('make it smaller', shape_pts=shapes[-1])]
draw(shapes[-1])
#= drew

# draw the same triangle again 12 cm to the right.
shapes = shapes + [shapes[-1] + [12 / 100, 0]]
draw(shapes[-1])
#= drew

# draw a triangle and a square side by side.
middle = get_obj_pos('middle')
new = [parse_shape_pts(f'a {name} around the middle') + [x, 0] for name, x in [('triangle', -0.07), ('square', 0.07)]]
shapes = shapes + new
for pts in new:
    draw(pts)
#= drew

# erase everything.
shapes = []
for pts in get_drawn_shapes():
    erase(pts)
#= erased everything

# what do you see?
say(', '.join(get_obj_names()) or 'nothing')
#= said; nothing moved

# do you see the red block?
say('yes' if is_obj_visible('the red block') else 'no')
#= said; nothing moved

# how many shapes are there?
say(f'{len(shapes)}')
#= said; nothing moved

# move the red block.
say('I cannot do that: I can only draw on the board and erase')
#= said cannot; nothing moved

# draw a circle in red.
say('I cannot do that: there is one pen, and it is black')
#= said black; nothing moved
