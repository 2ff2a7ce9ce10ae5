#: do that again but X. = do it again but X, do that again X, do it again X, do the same but X
#: do that again but X. = do that but X, again but X, do this again but X, do the same again but X
#: do that again but X. = do that once more but X, do it once more but X, once more but X
#: do that again but X. = do the same thing again but X, repeat it but X, repeat that but X
#: do that again but X. = the same again but X, the same but X, trace it again but X, go again but X
#: do that again but slower. = slower, do that again but more slowly, do that again but at half speed
#: do that again but slower. = do that again but half as fast, do that again but 2 times slower
#: do that again but faster. = faster, do that again but more quickly, do that again but twice as fast
#: do that again but faster. = do that again but at double speed, do that again but 2 times faster
#: do that again but backwards. = do that again but in reverse, do that again but reversed
#: do that again but backwards. = do that again but backward, do that again but the other way round
#: do that again but backwards. = do that again but in the other direction
#: do that again but backwards. = do that again but in the opposite direction
#: do that again but mirrored. = do that again but flipped, do that again but mirror inverted
#: do that again but half as large. = do that again but half as big, do that again but half the size
#: do that again but twice as large. = do that again but twice as big, do that again but double the size
#: do that again but at N per second. = do that again but with N per second
#: do that again. = again, once more, do it again, do this again, repeat it, do that once more
#: do that again. = do it once more, do the same again, do it another time, one more time, repeat that
#: trace all around the table. = go around the table, move the gripper around the table
#: trace all around the table. = circle the table, go once around the table, go all around the table
#: trace X around Y. = draw X around Y
#: trace a line from X to Y. = draw a line from X to Y
#: while avoiding = but avoid, and avoid, while you avoid, avoiding, but stay clear of
#: while avoiding = and stay clear of, without passing over, without going over, without crossing
#: while avoiding = but keep away from, and keep away from, while staying clear of
#: undo = revert, reverse, cancel, take back, roll back, scrap, rewind
#: last move = last action, last step, last instruction, last command, last operation, last change
#: last move = last one, last thing, previous move, previous action, previous step, previous command
#: last move = previous instruction, previous one, previous thing, most recent move, latest move
#: undo the last two moves. = undo the last two, undo the last two turns, undo two moves
#: undo that. = undo, undo it, undo this, undo them, undo the move, undo the change, undo the action
#: undo that. = undo the last move, undo your last move, undo my last move, undo that last move
#: undo that. = undo last move, undo the last move you made, undo the last move you did, undo that move
#: undo that. = undo what you did, undo the thing you did, undo everything you did, undo all of that
#: undo that. = undo what i said, undo all that, undo the whole thing, undo what i asked
#: undo that. = go back, step back, go back a step, go back one step, go one step back, take it back
#: undo that. = take that back, forget that, never mind, nevermind, restore it, that back
#: undo that. = restore the previous state, go back to before, bring it back, take it back again
#: undo that. = put it back, put that back, move it back, put it back where it was, move that back
#: undo that. = put them back, put them all back, put everything back, put all of them back, return it
#: undo that. = put everything back where it was, put them back where they were, move them back
#: undo that. = put it back to where it was, move it back to where it was, put it where it was
#: undo that. = move it back where it came from, put it back where it came from, bring them back
#: undo that. = move it back to where it came from, put it back to where it came from
#: undo that. = put it back where you found it, put it back where you got it, put it back again
#: undo that. = put it back in its place, put things back, put things back the way they were
#: undo that. = put everything back the way it was, put it back the way it was, move everything back
#: block = cube, brick, toy block
#: table = tabletop, table top, desk, workspace, work surface
#: bowl = dish, cup, container
#: gray = grey
#: all the = every last, each one of the, each and every one of the
#: color = colour
#: blocks = blocks on the table, blocks you see, blocks there are, blocks you can find
#: all the = all of the, every one of the, each of the, every single one of the
#: every = every single, each and every
#: the leftmost block = the block on the left, the left block, the block on the far left
#: the leftmost block = the block farthest left, the block farthest to the left, the far left block
#: the leftmost block = the last block on the left, the first block from the left
#: the rightmost block = the block on the right, the right block, the block on the far right
#: the rightmost block = the block farthest right, the block farthest to the right
#: the rightmost block = the last block on the right, the first block from the right
#: the rightmost block = the far right block
#: the topmost block = the block at the top, the block at the very top, the block farthest up
#: the bottommost block = the block at the bottom, the block at the very bottom
#: the bottommost block = the block farthest down, the block lowest down
#: the leftmost bowl = the bowl on the left, the left bowl, the bowl on the far left
#: the rightmost bowl = the bowl on the right, the right bowl, the bowl on the far right
#: it = that block, the same block, that one, this one, the same one
#: the X and the Y = both the X and the Y
#: the leftmost block and the rightmost = the leftmost and the rightmost, the leftmost and rightmost
#: them = those blocks, these blocks, those, these, all of them, both of them, them all
#: them = the same blocks, them both, them all up
#: do the same = do the same thing, do exactly the same, repeat that, repeat this
#: except = except for, apart from, other than, but not, excluding, but
#: leftmost = left most
#: rightmost = right most
#: closest = nearest
#: farthest = furthest, most distant, most far away, farthest away, the most away
#: the = the table's
#: corners = corners of the table
#: corner = hand corner
#: middle = center, centre
#: side = hand side, edge, border
#: top left corner = upper left corner, back left corner, top left, upper left
#: top right corner = upper right corner, back right corner, top right, upper right
#: bottom left corner = lower left corner, front left corner, bottom left, lower left
#: bottom right corner = lower right corner, front right corner, bottom right, lower right
#: in the middle = in the dead center, dead center
#: middle = middle of the table, very middle, exact middle, dead middle
#: top side = upper side, back side, back of the table, top of the table, top side of the table
#: bottom side = lower side, front side, front of the table, bottom of the table
#: bottom side = bottom side of the table
#: left side = left side of the table, left of the table, far left side, far left
#: right side = right side of the table, right of the table, far right side, far right
#: corner = hand corner, corner of the table
#: on the X side = near the X side, by the X side, along the X side, close to the X side
#: next to = right next to, beside, right beside, alongside, close to, near to, adjacent to
#: between = halfway between, midway between, in between, exactly between, right between
#: a bit = a bit further, a bit more, a little further, a little more, a smidge, a hair
#: a bit = a little bit, a tiny bit, a little, a touch, a tad, slightly
#: the block = whichever block is, whatever block is
#: the bowl = whichever bowl is, whatever bowl is
#: take = go get, go and get, go grab, take hold of, find, go find
#: that is = which is
#: take = grasp, retrieve, collect, seize, hold, pull out, pick out
#: take = grab, get, fetch, pick up, pick, lift up, lift, choose, select
#: put = place, set, lay, position, drop, pop, stick, deposit, insert, gather, collect, leave
#: put = stuff, sweep, shovel, plonk, hide, add, sink, lower, keep, wedge, press, assemble, mount
#: put = tuck, plop, plunk, balance, perch, situate, slot, locate, stow, stash, fit
#: put = plant, install, settle, toss, throw, chuck, dump, fling, sling, slip, dunk, release
#: put = load, park, store, rest
#: put = put down, set down, lay down
#: move = shift, push, slide, nudge, scoot, drag, shove, pull, bring, carry, send, transfer
#: move = relocate, transport, haul, budge, reposition, deliver, guide, lug, tow, carry over
#: move = scooch, steer, displace, take over, pull over, push over, bring over
#: to the left side = all the way to the left, all the way left, all the way to the left side
#: to the right side = all the way to the right, all the way right, all the way to the right side
#: to the top side = all the way up, all the way to the top, all the way to the top side
#: to the bottom side = all the way down, all the way to the bottom
#: to the bottom side = all the way to the bottom side
#: to = over to, all the way to, back to
#: in = into, inside, inside of, within, over into, over in
#: on = directly on top of, right on top of, directly on, on the top of
#: on = onto, upon, on top of, atop, on to
#: put X in = put X down in
#: put X on = put X down on
#: put X in = put X out in, put X over in, put X off in, put X up in, put X away in
#: put X at = put X up at, put X down at, put X over at
#: put X next to = put X down next to
#: put X to = put X down to
#: take X and = take X up and, take X then
#: stack X = take X and stack it, take X and stack them
#: put X = take X and put it, take X and put them, take X and move it, take X and move them
#: put X = take X put it, take X put them, take X move it
#: put X = move X so that it is, move X so it is, put X so that it is, put X so it is
#: put X = make sure X is, make sure that X is, make sure X are
#: put X = could X be placed, could X be put, can X be placed, can X be put, X is to be put
#: put X = X is to be placed, X should be placed, X should be put, X must be placed, X must be put
#: put X = X needs to be placed, X needs to be put, X has to be placed, X has to be put
#: put X = i would love to see X, i would like to see X, i want to see X, i would love X
#: put X = make it so that X is, make it so X is, see to it that X is, ensure X is, ensure that X is
#: put X in = put X to go in, put X to be in, move X to be in, move X so that it is in
#: put X in Y. = add X to Y, put X end up in Y, make X sit in Y, have X sit in Y, have X land in Y
#: put X in Y. = have X end up in Y, get X to go in Y, Y needs X in it, Y should have X in it
#: put X in Y. = X lands in Y, X ends up in Y, in Y goes X, X lives in Y, put Y with X in it
#: put X in Y. = X put it in Y, X put them in Y, fill Y with X, let X go in Y, X is to go in Y
#: put X in Y. = X into Y, use Y to hold X, Y gets X, Y should hold X
#: put X on Y. = have X sit on Y, make X sit on Y, cover Y with X, top Y with X, X sitting on Y
#: put X on Y. = X put it on Y, on Y goes X, cap Y with X, let X rest on Y, X ends up on Y
#: put X on the S. = X should live on the S, X lives on the S
#: put X = X should be sitting, X should sit, X should live, X should end up, X should stay
#: put X = could X go, can X go
#: put X = i want X to be, i would like X to be, i want X to go, i want X, i would like X
#: put X = i need X
#: put X = X goes, X belongs, X should go, X should be, X must go, X must be, X has to go, X go
#: put X = X should sit, X should stand, X should lie, X is supposed to go, X ought to go
#: put X = X needs to go, X needs to be, X has to be, X belong
#: put X in Y. = Y should contain X, Y must contain X
#: put X in a free spot. = put X somewhere free, put X somewhere else, put X anywhere free
#: put X in a free spot. = put X somewhere empty, put X in an empty spot, put X in a free place
#: put X in a free spot. = move X somewhere free, move X somewhere else, move X to a free spot
#: put X in a free spot. = move X out of the way, put X out of the way
#: stack X on Y on Z. = put X on Y on Z
#: put X on it. = put X on that, put X on this, put X on top, put X on that block
#: put X in it. = put X in that, put X in this
#: toward = towards, in the direction of
#: move X toward Y. = move X closer to Y
#: put X in Y. = in Y put X, in Y move X, have X in Y
#: put X on Y. = have X on Y
#: put X on Y. = on Y put X, on Y move X
#: put X back where it was. = put X back where it came from, return X to where it came from
#: put X back where it was. = put X where it was, put X back to where it was
#: put X back where it was. = move X back where it was
#: put X back where it was. = return X to where it was before, put X back where it was before
#: put X back where it was. = put X back in its place, return X to its place
#: put X back where it was. = return X to its original position, put X back in its original position
#: put X back where it was. = put X back, put back X, move X back, return X to where it was
#: put X next to Y. = next to Y put X
#: put X to Y. = to Y put X, to Y move X
#: move = take
#: put it = put that over, put this over
#: put it in = put that in, put this in
#: put it on = stack it on, put that on, put this on
#: move it to = move that to, move this to
#: move it N = move that N, move this N
#: up = upwards, upward
#: down = downwards, downward
#: N to the left = to the left by N, left by N, left N, N left, N towards the left
#: N to the left = by N to the left
#: N to the right = to the right by N, right by N, right N, N right, N towards the right
#: N to the right = by N to the right
#: N up = up by N, up N, N upwards, N higher, N away from me, by N up
#: N down = down by N, down N, N downwards, N lower, N towards me, N toward me, N closer to me
#: N down = by N down
#: move X to the left. = move X left, move X leftwards
#: move X to the right. = move X right, move X rightwards
#: put X on the left side. = put X on the left
#: put X on the right side. = put X on the right
#: move X to the opposite side of the table. = move X to the opposite side
#: move X to the opposite side of the table. = move X to the other side
#: move X to the opposite side of the table. = put X on the opposite side, put X on the other side
#: move X to the opposite side of the table. = put X on the opposite side of the table
#: to the left of = left of, on the left of, on the left side of, at the left of
#: to the right of = right of, on the right of, on the right side of, at the right of
#: above = directly above, right above, to the top of
#: below = directly below, right below, to the bottom of, underneath, beneath
#: do the same with X. = X goes there too, X goes there as well, X should go there too
#: do the same with X. = put X in there too, put X in there as well, put X in the same place
#: do the same with X. = put X there too, put X there as well, put X there, do the same for X
#: do the same with X. = move X there too, move X there as well, move X there, do that with X too
#: do the same with X. = do that with X, do it with X, do this with X
#: do the same with X. = same with X, the same with X, same for X, the same for X
#: do the same with X. = same again with X
#: do the same with the X. = the X too, the X as well
#: swap = switch, exchange, trade
#: swap the X block and the Y block. = swap the X and Y blocks, swap the X and the Y block
#: swap X and Y. = swap X with Y, swap the positions of X and Y, swap the places of X and Y
#: point to = point at, point towards, point toward, point out, show me, indicate
#: a stack = one tall stack, one big stack, a tall stack, a big stack
#: a stack = a tall tower, a big pile, one big pile, one tall tower, a high tower
#: a stack = a tower, a pile, one stack, one pile, one tower, a single stack, a heap
#: stack = pile up, pile, stack up, heap up
#: stack X in = stack X up in
#: stack X on = stack X up on
#: at the bottom = on the bottom, as the base, as the bottom, as the bottom one, at the base
#: each other = one another
#: make = form, create, build, construct, draw
#: make a = make me a
#: make X with Y. = make X out of Y, make X from Y, make X of Y, make X using Y
#: stack the blocks with X at the bottom. = make a stack with X at the bottom
#: stack X. = stack X in a stack, make a stack with X, put X in a stack, put X on each other
#: stack X. = stack X on each other, i want a stack of X, i want a stack with X, put a stack of X
#: stack X. = make a stack of X, make X a stack, turn X in a stack, have X stacked, get X stacked
#: in a = in the shape of a, in the form of a
#: arrange the = shape the
#: circle = circle shape, circular formation, circular arrangement, round shape, round circle
#: circle = ring, circular shape
#: arrange = organize, line up, order, put out
#: arrange X = arrange X up, line X up
#: line = row
#: horizontal line = straight horizontal line
#: line = straight line
#: vertical line = vertical column, column, line from top to bottom, line going up and down
#: horizontal line = horizontal row, line from left to right, row from left to right
#: arrange X. = arrange X from left to right
#: arrange X in a vertical line. = arrange X vertically, make a vertical line with X
#: arrange X in a horizontal line. = arrange X horizontally, make a horizontal line with X
#: put the blocks in different corners. = put one block in each corner, put a block in each corner
#: put the blocks in different corners. = put one block in every corner, put a block in every corner
#: put the blocks in different corners. = one block per corner, one block in each corner
#: put the blocks in different corners. = put each of the blocks in a corner
#: put X in different corners. = put X in a corner of its own, put X in corners
#: put X in different corners. = put X each in a corner, put X in its own corner, give X its own corner
#: put X in different corners. = move X to a different corner, move X to different corners
#: put X in different corners. = move X to its own corner, move X to the corners, put X to the corners
#: put X in different corners. = put X in its own corner, put X in their own corners
#: put X in different corners. = put X over the corners, put X over the four corners
#: put X in different corners. = put X in the four corners, put X in all four corners
#: put X in different corners. = spread X over the four corners, spread X out over the corners
#: put X in different corners. = distribute X over the four corners
#: put X in different corners. = put X in the corners, put X in a different corner
#: put X in different corners. = put X at the corners
#: put X in different corners. = put X in separate corners, distribute X to the corners
#: put X in different corners. = distribute X over the corners, spread X over the corners
#: match = sort, pair, pair up
#: of the same color = with the same color, that has the same color, of its own color
#: in the bowls of the same color = in the bowls that match, in bowls that match
#: in the bowls of the same color = in the bowls so that the colors match
#: in the bowls of the same color = in bowls so that the colors match, in the bowls so the colors match
#: of the same color = of its color, that has its color, that has the color of the block
#: of the same color = with the color of the block, whose color matches, whose color is the same
#: of the same color = that is the same color, that are the same color, corresponding to its color
#: of the same color = that share their color, that shares its color, in its color, in their color
#: of the same color = of the same color as the block, of the same color as it
#: of the same color = that matches its color, matching its color, with matching colors
#: of the same color = with its color, of matching colors
#: of the same color = that match their colors, that match their color, matching their colors
#: of the same color = of matching color, with the matching color, of their own color
#: of the same color = of their color
#: bowl of the same color = corresponding bowl, color matched bowl, color matching bowl
#: bowl of the same color = matching bowl, same color bowl, same colored bowl
#: bowl of the same color = bowl that matches it
#: bowl of the same color = bowl matching it, bowl that matches
#: put X in the bowl of the same color. = match X and the bowls by color
#: put X in the bowl of the same color. = match X with the bowls by color, color match X and bowls
#: put X in the bowl of the same color. = pair X with the bowls by color, match X and bowls by color
#: put X in the bowl of the same color. = match X in bowls by color, match X with the bowls
#: put X in the bowl of the same color. = match X to the bowls
#: put X in the bowl of the same color. = match X with the bowl of the same color
#: put X in the bowl of the same color. = put X with bowls by color, match X with bowls by color
#: put X in the bowl of the same color. = match X to the bowls, match X by color in the bowls
#: put X in the bowl of the same color. = match X in the bowls by color
#: put X in the bowl of the same color. = match X by color
#: of a different color = with mismatched colors, of different colors, with different colors
#: of a different color = of another color, with another color, with a different color
#: in the bowls of a different color = in the wrong colored bowl, in the wrong colored bowls
#: of a different color = of the wrong color, that is not its color, that are not their color
#: of a different color = not of its color, of some other color, that has another color
#: of a different color = that has a different color, that is a different color, of any other color
#: of a different color = that do not match their color, that do not match their colors
#: of a different color = that does not match its color, that do not match
#: which block = what block, which one of the blocks, which of the blocks, which cube
#: which bowl = what bowl, which one of the bowls, which of the bowls
#: is there anything in X. = is anything in X, is there something in X, does X have anything in it
#: is there anything in X. = does X contain anything, does X hold anything, is something in X
#: is X empty. = does X have nothing in it, is there nothing in X, is nothing in X
#: is X in Y. = does Y contain X, does Y hold X, is X inside of Y, does Y have X in it
#: what is in X. = what does X contain, what does X hold, what do we have in X, what lies in X
#: how far is X from Y. = how far apart are X and Y, how far is X away from Y
#: how far is X from Y. = how far is it from X to Y
#: how far is X from Y. = how far is X from Y in cm, how far is X from Y in centimeters
#: what is the X block. = which block is the X block, which one is the X block
#: what is the X bowl. = which bowl is the X bowl, which one is the X bowl
#: how far is X from Y. = what is the distance between X and Y, what is the distance from X to Y
#: is there X. = is there X anywhere on the table, is X here, is X anywhere, is X there
#: is there X. = is there X here, are there X here, is there any X here
#: is there X. = is there X on the table, is there X anywhere, is X on the table
#: what objects are there. = what do you see, what can you see, what is on the table
#: what objects are there. = what is there
#: what objects are there. = what objects are on the table, list the objects, list all the objects
#: what objects are there. = list everything on the table, list everything, name everything
#: what objects are there. = what is in front of you, what things are there
#: what objects are there. = what is there on the table
#: what objects are there. = name the objects, name all the objects
#: is there X. = do you see X say yes or no
#: is there = do you see, can you see, do we have, is there still
#: are there any = is there any, are there some
#: how many X are there. = how many X can you count, count how many X there are
#: how many X are there. = how many X are on the table, how many X are there on the table
#: how many X are there. = what is the number of X on the table, count the number of X
#: how many X are there. = how many X do you see, how many X can you see, how many X do we have
#: how many X are there. = how many X are on the table, what is the number of X
#: where is X. = where is X located, where is X on the table, where on the table is X, locate X
#: where is X. = where is X right now, where can X be found, where does X lie
#: where is X. = where X is, what is the position of X, where can i find X
#: what color is = what is the color of, which color is, which color has
#: rotate = turn, spin
#: in the bowl of the same color = in a bowl of the same color, in the bowls of the same color
#: in the bowl of the same color = in their bowls of the same color
#: in the bowl of the same color = in their bowl of the same color, in its bowl of the same color
#: in the bowl of the same color = in the matching bowls, in their own bowls
#: in the bowl of the same color = in bowls of the same color
#: in the bowls of a different color = in bowls of a different color
#: in the bowls of a different color = in a bowl of a different color
#: in the bowls of a different color = in the wrong bowls, in the wrong bowl
#: in the bowls of a different color = in the bowl of a different color
#: move it to X. = to X
#: move it N up. = N up
#: move it N down. = N down
#: move it N to the left. = N to the left
#: move it N to the right. = N to the right
#: put X in the bowl closest to it. = put X in the closest bowl, put X in its closest bowl
#: put X in the bowl farthest from it. = put X in the farthest bowl
#: move X to the corner closest to it. = put X in the closest corner, move X to the closest corner
#: move X to the corner closest to it. = put X in the corner closest to it
#: move X to the corner farthest from it. = put X in the farthest corner
#: move X to the corner farthest from it. = move X to the farthest corner
#: move X to the corner farthest from it. = put X in the corner farthest from it
#: stack X in Y. = make a stack in Y using X, make a stack in Y with X, make a stack in Y out of X
#: stack X in Y. = make a stack with X in Y
#: arrange X in S. = have X make S, arrange X to make S, put X so that they make S, let X make S
#: arrange X in S. = arrange X so that they make S, arrange X so they make S, make X make S
#: arrange X in S. = make S of X, put X so they make S, use X to make S
#: arrange X in S. = get X to make S
#: put X in the middle. = middle X, middle X on the table
#: stack the blocks with the X block at the bottom. = stack the blocks on the X block
#: stack the blocks with the X block at the bottom. = stack all the blocks on the X block
#: make it bigger. = enlarge it, grow it, expand it, scale it up, make it larger
#: make it smaller. = shrink it, reduce it, scale it down, make it tinier
#: make it 2 times bigger. = make it twice as big, double its size, make it double the size
#: make the circle bigger. = enlarge the circle, make the circle larger, expand the circle
#: put X below = put X down below
#: put X above = put X up above
#: put X to the left of = put X down to the left of
#: put X to the right of = put X down to the right of
#: put them in a line. = arrange them
#: X block = X colored block
#: X bowl = X colored bowl
#: put X in Y. = move X to Y and put it in, take X to Y and put it in
#: the gripper = the robot arm, the robotic arm, the arm, your arm, your gripper, the end effector
#: move the gripper 5 cm to the left. = move the gripper a bit to the left, move the gripper a bit left
#: move the gripper 5 cm to the right. = move the gripper a bit right
#: move the gripper 5 cm up. = move the gripper a bit up, move the gripper a bit forward
#: move the gripper 5 cm down. = move the gripper a bit down, move the gripper a bit backward
#: move the gripper 5 cm down. = move the gripper a bit backwards
#: move the gripper forward. = move the gripper forwards
#: move the gripper 10 cm to the left. = move the gripper left
#: move the gripper 10 cm to the right. = move the gripper to the right, move the gripper right
#: move the gripper 10 cm up. = move the gripper up
#: move the gripper 10 cm down. = move the gripper down, move the gripper backward
#: move the gripper 10 cm down. = move the gripper backwards
#: move the gripper N up. = move the gripper N forward, move the gripper N forwards
#: move the gripper N up. = move the gripper forward N, move the gripper forward by N
#: move the gripper N down. = move the gripper N backward, move the gripper N backwards
#: move the gripper N down. = move the gripper backward N, move the gripper backward by N
#: move the gripper to X. = go to X, head to X, head for X, travel to X, drive to X
#: move the gripper to X while avoiding Y. = move to X while avoiding Y
#: trace X. = move the gripper in X, move the gripper along X, trace out X, run along X, walk along X
#: trace X. = follow X, go along X, go in X, move along X, move in X, trace X with the gripper
#: trace X. = follow X with the gripper, make X with the gripper, move the gripper through X
#: trace X. = drive along X, go through X, describe X, circle along X
#: trace a circle around X. = go around X, circle X, move the gripper around X, circle around X
#: next to = near
#: put the blocks in = put all the blocks in, put all blocks in, put every block in, move the blocks in
#: put the blocks in = move all the blocks in, move all blocks in, move every block in
#: put the bowls in = put all the bowls in, put all bowls in, put every bowl in, move all the bowls in
#: put the blocks on the X. = move the blocks to the X, move all the blocks to the X
#: put the blocks on the X. = move all blocks to the X, move every block to the X
#: put the bowls on the X. = move the bowls to the X, move all the bowls to the X
#: put the bowls on the X. = move all bowls to the X, move every bowl to the X
#: move it = put it

objects = ['red block', 'yellow block', 'blue bowl', 'green bowl', 'yellow bowl']
# put the red block in the blue bowl.
moved = [parse_obj_name('the red block')]
put_first_on_second(moved[0], parse_obj_name('the blue bowl'))

# now move it to the top right corner.
moved = moved[-1:]
put_first_on_second(moved[0], parse_position('the top right corner'))

# move the yellow block to the left side.
moved = ['yellow block']
put_first_on_second(moved[0], 'left side')

# place the yellow block on the red block.
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], parse_obj_name('the red block'))

objects = ['red block', 'yellow block', 'blue bowl', 'green bowl', 'yellow bowl']
# take the red block and put it in the green bowl.
moved = [parse_obj_name('the red block')]
put_first_on_second(moved[0], parse_obj_name('the green bowl'))

# take the yellow block and put it on the right side.
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], parse_position('on the right side'))

# move the red block to the left side.
moved = [parse_obj_name('the red block')]
put_first_on_second(moved[0], parse_position('the left side'))

# do the same with the yellow block.
target = get_obj_pos(moved[-1])
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], target)

objects = ['green block', 'purple bowl', 'red block', 'gray block']
# put the green block in the purple bowl.
moved = [parse_obj_name('the green block')]
put_first_on_second(moved[0], parse_obj_name('the purple bowl'))

# put the red block on it.
target = moved[-1]
moved = [parse_obj_name('the red block')]
put_first_on_second(moved[0], target)

# put the gray block to the left of it.
place = parse_position(f'to the left of the {moved[-1]}')
moved = [parse_obj_name('the gray block')]
put_first_on_second(moved[0], place)

# put the red block in the bowl closest to it.
moved = [parse_obj_name('the red block')]
put_first_on_second(moved[0], parse_obj_name(f'the bowl closest to the {moved[0]}'))

# move the red block to the corner closest to it.
moved = [parse_obj_name('the red block')]
put_first_on_second(moved[0], parse_position(f'the corner closest to the {moved[0]}'))

objects = ['pink block', 'cyan block', 'pink bowl', 'gray bowl', 'cyan bowl', 'gray block']
# put the leftmost block and the rightmost block in the pink bowl.
first, second = parse_obj_name('the leftmost block'), parse_obj_name('the rightmost block')
bowl = parse_obj_name('the pink bowl')
moved = [first, second]
for name in moved:
    put_first_on_second(name, bowl)

# put the blocks in the gray bowl.
moved = sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True)
bowl = parse_obj_name('the gray bowl')
for name in moved:
    put_first_on_second(name, bowl)

# now move them to the top left corner.
moved = moved[::-1]
place = parse_position('the top left corner')
for name in moved:
    put_first_on_second(name, place)

objects = ['cyan bowl', 'pink block', 'gray bowl', 'gray block', 'cyan block', 'brown bowl']
# put all the blocks except the pink block in the cyan bowl.
moved = sorted(parse_obj_name('all the blocks except the pink block'), key=get_obj_height, reverse=True)
bowl = parse_obj_name('the cyan bowl')
for name in moved:
    put_first_on_second(name, bowl)

objects = ['pink block', 'gray bowl', 'cyan block', 'pink bowl', 'gray block', 'cyan bowl']
# sort the blocks into the bowls of the same color.
moved = []
for name in sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True):
    target = name.split()[0] + ' bowl'
    if is_obj_visible(target):
        put_first_on_second(name, target)
        moved.append(name)

objects = ['brown block', 'red bowl', 'red block', 'brown bowl']
# put the blocks in the bowls with mismatched colors.
moved = parse_obj_name('the blocks')
bowls = parse_obj_name('the bowls')
for i, name in enumerate(moved):
    others = [bowl for bowl in bowls if bowl.split()[0] != name.split()[0]]
    put_first_on_second(name, others[i % len(others)])

objects = ['orange block', 'purple block', 'brown block', 'green bowl', 'orange bowl']
# put the purple block to the left of the green bowl.
moved = [parse_obj_name('the purple block')]
put_first_on_second(moved[0], parse_position('to the left of the green bowl'))

# put the brown block next to the orange bowl.
moved = [parse_obj_name('the brown block')]
put_first_on_second(moved[0], parse_position('next to the orange bowl'))

# lay the orange block between the brown block and the purple block.
moved = [parse_obj_name('the orange block')]
put_first_on_second(moved[0], parse_position('between the brown block and the purple block'))

objects = ['brown block', 'green bowl', 'purple block', 'orange bowl', 'orange block']
# put the brown block a bit above the orange bowl.
moved = [parse_obj_name('the brown block')]
put_first_on_second(moved[0], parse_position('a bit above the orange bowl'))

# drop the brown block into the orange bowl.
moved = [parse_obj_name('the brown block')]
put_first_on_second(moved[0], parse_obj_name('the orange bowl'))

# put the purple block 12 cm below the green bowl.
moved = [parse_obj_name('the purple block')]
put_first_on_second(moved[0], parse_position('12 cm below the green bowl'))

# put the orange block far to the right of the purple block.
moved = [parse_obj_name('the orange block')]
put_first_on_second(moved[0], parse_position('far to the right of the purple block'))

objects = ['orange bowl', 'brown block', 'purple block', 'green bowl', 'orange block']
# put the orange block at the bottom.
moved = [parse_obj_name('the orange block')]
put_first_on_second(moved[0], parse_position('at the bottom'))

# put the purple block in the middle.
moved = [parse_obj_name('the purple block')]
put_first_on_second(moved[0], parse_position('in the middle'))

# put the purple block in a free spot.
moved = [parse_obj_name('the purple block')]
put_first_on_second(moved[0], parse_position('a free spot'))

objects = ['yellow block', 'gray bowl', 'pink block', 'brown block']
# move the pink block to the opposite side of the table.
moved = [parse_obj_name('the pink block')]
put_first_on_second(moved[0], 2 * get_obj_pos('middle') - get_obj_pos(moved[0]))

# put the pink block back where it was.
back = get_layout(1)
moved = [parse_obj_name('the pink block')]
put_first_on_second(moved[0], back[moved[0]])

# put the topmost block and the bottommost block on the left side.
place = parse_position('on the left side')
moved = [parse_obj_name('the topmost block'), parse_obj_name('the bottommost block')]
for name in moved:
    put_first_on_second(name, place)

# put the blocks in different corners.
moved = parse_obj_name('the blocks')[:4]
for name, place in zip(moved, parse_position('the corners')):
    put_first_on_second(name, place)

# put the blocks on the right side.
moved = sorted(parse_obj_name('the blocks'), key=get_obj_height, reverse=True)
place = parse_position('on the right side')
for name in moved:
    put_first_on_second(name, place)

# put the blocks back where they were.
back = get_layout(1)
moved = parse_obj_name('the blocks')
arrange_objects({name: back[name] for name in moved})

objects = ['green block', 'cyan bowl', 'blue block', 'red bowl', 'yellow block']
# move the green block 5 cm to the left.
moved = [parse_obj_name('the green block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([-1, 0]))

# move the blue block 8 cm to the right.
moved = [parse_obj_name('the blue block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.08 * np.array([1, 0]))

# move the yellow block 6 cm up.
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.06 * np.array([0, 1]))

# move the yellow block 6 cm toward the cyan bowl.
moved = [parse_obj_name('the yellow block')]
offset = get_obj_pos(parse_obj_name('the cyan bowl')) - get_obj_pos(moved[0])
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.06 * offset / np.linalg.norm(offset))

# move the green block toward the red bowl.
moved = [parse_obj_name('the green block')]
offset = get_obj_pos(parse_obj_name('the red bowl')) - get_obj_pos(moved[0])
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * offset / np.linalg.norm(offset))

# move the blue block 4 cm away from the cyan bowl.
moved = [parse_obj_name('the blue block')]
offset = get_obj_pos(moved[0]) - get_obj_pos(parse_obj_name('the cyan bowl'))
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.04 * offset / np.linalg.norm(offset))

objects = ['green block', 'cyan bowl', 'blue block', 'red bowl', 'yellow block']
# move the green block to the right.
moved = [parse_obj_name('the green block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([1, 0]))

# move the yellow block a bit to the right.
moved = [parse_obj_name('the yellow block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([1, 0]))

# move the blue block a lot to the left.
moved = [parse_obj_name('the blue block')]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.2 * np.array([-1, 0]))

# move it a bit to the left.
moved = moved[-1:]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([-1, 0]))

# move it up.
moved = moved[-1:]
put_first_on_second(moved[0], get_obj_pos(moved[0]) + 0.05 * np.array([0, 1]))

# swap the blue block and the green block.
first = parse_obj_name('the blue block')
second = parse_obj_name('the green block')
aside = parse_position('a free spot')
before, moved = get_layout(), [first, second, first]
put_first_on_second(first, aside)
put_first_on_second(second, before[first])
put_first_on_second(first, before[second])

objects = ['red block', 'green block', 'purple block', 'brown bowl', 'blue block']
# stack all the blocks.
moved = parse_obj_name('all the blocks')
stack_objects_in_order(moved)

objects = ['blue block', 'gray block', 'brown bowl', 'cyan block']
# stack the gray block on the blue block.
moved = [parse_obj_name('the gray block')]
put_first_on_second(moved[0], parse_obj_name('the blue block'))

# stack the gray block on the blue block on the cyan block.
middle = parse_obj_name('the blue block')
bottom = parse_obj_name('the cyan block')
moved = [middle, parse_obj_name('the gray block')]
stack_objects_in_order([bottom] + moved)

objects = ['blue block', 'purple block', 'red bowl', 'brown block']
# stack the blocks with the brown block at the bottom.
first = parse_obj_name('the brown block')
moved = [first] + [name for name in parse_obj_name('the blocks') if name != first]
stack_objects_in_order(moved)

objects = ['green bowl', 'yellow block', 'pink block', 'green block', 'blue bowl']
# stack the blocks in the middle.
moved = parse_obj_name('the blocks')
put_first_on_second(moved[0], parse_position('in the middle'))
stack_objects_in_order(moved)

# now stack them.
moved = moved[::-1]
stack_objects_in_order(moved)

# now put them in a line.
moved = moved
points = parse_position(f'{len(moved)} points in a line')
arrange_objects(dict(zip(moved, points)))

objects = ['red block', 'green block', 'purple block', 'brown bowl', 'blue block']
# arrange the blocks in a horizontal line.
moved = parse_obj_name('the blocks')
points = parse_position(f'{len(moved)} points in a horizontal line')
arrange_objects(dict(zip(moved, points)))

objects = ['gray block', 'orange bowl', 'cyan block', 'yellow block']
# line up the blocks.
moved = parse_obj_name('the blocks')
points = parse_position(f'{len(moved)} points in a row')
arrange_objects(dict(zip(moved, points)))

objects = ['pink bowl', 'red block', 'brown block', 'green block']
# make a circle with the blocks.
moved = parse_obj_name('the blocks')
points = parse_position(f'{len(moved)} points in a circle')
arrange_objects(dict(zip(moved, points)))

# make it smaller.
points = np.array([get_obj_pos(name) for name in moved])
points = transform_shape_pts('make it smaller', shape_pts=points)
arrange_objects(dict(zip(moved, points)))

# rotate it clockwise by 30 degrees.
points = np.array([get_obj_pos(name) for name in moved])
points = transform_shape_pts('rotate it clockwise by 30 degrees', shape_pts=points)
arrange_objects(dict(zip(moved, points)))

# make it wider.
points = np.array([get_obj_pos(name) for name in moved])
points = transform_shape_pts('make it wider', shape_pts=points)
arrange_objects(dict(zip(moved, points)))

objects = ['red block', 'green block', 'purple block', 'brown bowl', 'blue block']
# is the red block to the left of the brown bowl?
answer = parse_question('is the red block to the left of the brown bowl')
say('yes' if answer else 'no')

# are there any red blocks?
answer = parse_question('are there any red blocks')
say('yes' if answer else 'no')

# count the blocks.
say(f"{len(parse_obj_name('the blocks'))}")

# how many blocks are to the left of the brown bowl?
answer = parse_question('how many blocks are to the left of the brown bowl')
say(f'{answer}')

# which block is closest to the brown bowl?
answer = parse_question('which block is closest to the brown bowl')
say(f'{answer}')

# what objects are there?
answer = parse_question('what objects are there')
say(f'{answer}')

# say which blocks you see, separated by commas.
say(', '.join(parse_obj_name('the blocks')) or 'none')

# where is the green block?
answer = parse_question('where is the green block')
say(f'{answer}')

# what can you do?
say('move blocks and bowls, stack and arrange them, trace paths, answer where things are; /examples lists sentences')

# pick up the red block.
say('I only pick up what I put down in the same instruction: say where to put it')

# point to the brown bowl.
point_gripper_to(get_obj_pos(parse_obj_name('the brown bowl')))

objects = ['red block', 'green block', 'blue bowl', 'yellow block']
# move the gripper to the blue bowl.
traj = np.array([get_robot_pos(), get_obj_pos(parse_obj_name('the blue bowl'))])
speed = 0.25
goto_pos(traj[-1], speed=speed)

# move the gripper to the middle.
traj = np.array([get_robot_pos(), parse_position('the middle')])
speed = 0.25
goto_pos(traj[-1], speed=speed)

# move the gripper 5 cm to the left.
traj = get_robot_pos() + 0.05 * np.array([[0, 0], [-1, 0]])
speed = 0.25
follow_traj(traj, speed=speed)

# move the gripper to the left.
traj = get_robot_pos() + 0.1 * np.array([[0, 0], [-1, 0]])
speed = 0.25
follow_traj(traj, speed=speed)

# move the gripper a bit to the right.
traj = get_robot_pos() + 0.05 * np.array([[0, 0], [1, 0]])
speed = 0.25
follow_traj(traj, speed=speed)

# move the gripper forward.
traj = get_robot_pos() + 0.1 * np.array([[0, 0], [0, 1]])
speed = 0.25
follow_traj(traj, speed=speed)

objects = ['red block', 'green block', 'blue bowl', 'yellow block']
# move the gripper to the green block while avoiding the red block.
goal = get_obj_pos(parse_obj_name('the green block'))
traj = plan_path(get_robot_pos(), goal, avoid_regions=[parse_obj_name('the red block')])
speed = 0.25
follow_traj(traj, speed=speed)

# move the gripper to the top left corner while avoiding the yellow block.
goal = parse_position('the top left corner')
traj = plan_path(get_robot_pos(), goal, avoid_regions=[parse_obj_name('the yellow block')])
speed = 0.25
follow_traj(traj, speed=speed)

# move the gripper to the bottom left corner while avoiding the blocks.
goal = parse_position('the bottom left corner')
traj = plan_path(get_robot_pos(), goal, avoid_regions=parse_obj_name('the blocks'))
speed = 0.25
follow_traj(traj, speed=speed)

objects = ['red block', 'green block', 'blue bowl', 'yellow block']
# trace a 8 cm radius circle around the green block.
traj = parse_traj('a 8 cm radius circle around the green block')
speed = 0.25
follow_traj(traj, speed=speed)

# do that again.
follow_traj(traj, speed=speed)

# do that again but slower.
speed = max(0.5 * speed, 0.01)
follow_traj(traj, speed=speed)

# do that again but faster.
speed = min(2 * speed, 1.0)
follow_traj(traj, speed=speed)

# do that again but at 10 cm per second.
speed = 0.1
follow_traj(traj, speed=speed)

# do that again but half as large.
traj = transform_traj('make it half as large', traj_pts=traj)
follow_traj(traj, speed=speed)

# do that again but backwards.
traj = transform_traj('make it backwards', traj_pts=traj)
follow_traj(traj, speed=speed)

# do that again but upside down.
traj = transform_traj('make it upside down', traj_pts=traj)
follow_traj(traj, speed=speed)

# do that again but rotated by 90 degrees.
traj = transform_traj('make it rotated by 90 degrees', traj_pts=traj)
follow_traj(traj, speed=speed)

# trace the diagonal of the table.
traj = parse_traj('the diagonal of the table')
speed = 0.25
follow_traj(traj, speed=speed)

# trace a square around the blue bowl.
traj = parse_traj('a square around the blue bowl')
speed = 0.25
follow_traj(traj, speed=speed)

# trace a line from the top left corner to the bottom right corner.
traj = parse_traj('a line from the top left corner to the bottom right corner')
speed = 0.25
follow_traj(traj, speed=speed)

# trace an equilateral triangle with 12 cm sides around the middle.
traj = parse_traj('an equilateral triangle with 12 cm sides around the middle')
speed = 0.25
follow_traj(traj, speed=speed)

# trace a spiral around the green block.
traj = parse_traj('a spiral around the green block')
speed = 0.25
follow_traj(traj, speed=speed)

# trace all around the table.
traj = parse_traj('all around the table')
speed = 0.25
follow_traj(traj, speed=speed)
