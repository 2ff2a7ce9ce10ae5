#: bigger = larger
#: smaller = tinier
#: make it = make that, make this, make the shape
#: move it = move that, move this, shift it, push it
#: rotate = turn, spin
#: to the left by = left by
#: to the right by = right by

objects = ['red block', 'green block']
# make it 2 times smaller.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = middle + (shape_pts - middle) / 2
