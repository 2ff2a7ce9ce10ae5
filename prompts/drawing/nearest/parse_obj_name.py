#: block = cube, brick
#: closest = nearest
#: farthest = furthest
#: all the = all of the, every one of the
#: blocks = objects, things
