#: bigger = larger
#: smaller = tinier
#: make it = make that, make this, make the shape
#: move it = move that, move this, shift it, push it
#: rotate = turn, spin
#: to the left by = left by
#: to the right by = right by
