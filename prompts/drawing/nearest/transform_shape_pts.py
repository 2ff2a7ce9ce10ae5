#: bigger = larger
#: smaller = tinier
#: make it = make that, make this, make the shape
#: move it = move that, move this, shift it, push it
#: rotate = turn, spin
#: to the left by = left by
#: to the right by = right by
#: to the left = left
#: to the right = right

objects = ['red block', 'green block']
# make it 2 times smaller.
middle = np.mean([np.min(shape_pts, axis=0), np.max(shape_pts, axis=0)], axis=0)
new_shape_pts = middle + (shape_pts - middle) / 2

# move it to the left.
new_shape_pts = np.array(shape_pts) + 0.05 * np.array([-1, 0])

# move it up.
new_shape_pts = np.array(shape_pts) + 0.05 * np.array([0, 1])
