#: draw = sketch, make, trace, write
#: draw = draw me, please draw, can you draw, could you draw
#: erase = wipe off, wipe, rub out, remove, delete, clear
#: undo that. = undo, undo it, undo this, go back, take that back, take it back
#: both. = both of them, the two shapes, both shapes
#: both = both of them, the two shapes, both shapes, them both
#: do you see X. = do you see X say yes or no
#: it = that, this, the shape, that shape, the drawing, the last one, the last shape
#: bigger = larger
#: smaller = tinier
#: move = shift, push
#: everything. = all of it, all shapes, all the shapes, the board

objects = ['red block', 'green block', 'yellow block']
# draw a 12 cm by 6 cm rectangle around the middle.
shapes = shapes + [parse_shape_pts('a 12 cm by 6 cm rectangle around the middle')]
draw(shapes[-1])

# say which blocks you see, separated by commas.
say(', '.join(parse_obj_name('the blocks')) or 'none')

# make it wider.
before, shapes = shapes, shapes[:-1] + [transform_shape_pts('make it wider', shape_pts=shapes[-1])]
redraw(before, shapes)
#= changed the drawing

# make it 2 times smaller.
before, shapes = shapes, shapes[:-1] + [transform_shape_pts('make it 2 times smaller', shape_pts=shapes[-1])]
redraw(before, shapes)
#= changed the drawing

# flip it.
before, shapes = shapes, shapes[:-1] + [transform_shape_pts('flip it', shape_pts=shapes[-1])]
redraw(before, shapes)
#= changed the drawing

# move it down by 4 cm.
before, shapes = shapes, shapes[:-1] + [transform_shape_pts('move it down by 4 cm', shape_pts=shapes[-1])]
redraw(before, shapes)
#= changed the drawing

# what can you do?
say('draw shapes around and beside things, change and erase them; /examples lists sentences')
