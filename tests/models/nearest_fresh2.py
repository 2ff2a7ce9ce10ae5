"""A third set of everyday instructions, written before the synonyms and the verb frames were.

Worded as people talk to a table-top robot, not as the prompts are; `DECLINE` as in
`nearest_cases`.
"""

from __future__ import annotations

import numpy as np
from nearest_cases import (
    ALL_IN,
    BLOCKS,
    DECLINE,
    Case,
    all_in,
    at,
    corners,
    every,
    off,
    on,
    other,
    paired,
    ring,
    said,
    shifted,
    spread,
    tower,
)
from nearest_world import World


def near(name: str, target: str, world: World) -> bool:
    """True if the object lies close to the target, not on it."""
    return bool(0.05 < np.hypot(*(world.xy[name] - world.xy[target])) < 0.2)


MESSY_CASES = [
    # put in, on
    Case(("grab the red block and drop it into the green bowl",), on("red block", "green bowl")),
    Case(("take the blue block and put it on the yellow block",), on("blue block", "yellow block")),
    Case(("in the blue bowl, put the red block",), on("red block", "blue bowl")),
    Case(("could you get the green block over to the red bowl?",), on("green block", "red bowl")),
    Case(("the yellow block goes in the blue bowl",), on("yellow block", "blue bowl")),
    Case(("I'd like the red block in the yellow bowl please",), on("red block", "yellow bowl")),
    Case(("the red cube should go into the blue dish",), on("red block", "blue bowl")),
    Case(
        ("hey robot, please stick the green brick in the red bowl",), on("green block", "red bowl")
    ),
    Case(("pop the blue block on top of the red one",), on("blue block", "red block")),
    Case(
        ("would you mind putting the red block in the green bowl",), on("red block", "green bowl")
    ),
    other(on("pink block", "gray bowl"), "can you transfer the pink block to the grey bowl"),
    other(
        on("cyan block", "pink bowl"), "OK now just chuck the cyan block in the pink bowl, thanks!"
    ),
    other(on("pink bowl", "orange bowl"), "place the pink bowl inside the orange bowl"),
    # places
    Case(("bring the green block to the top-left corner",), at("green block", -0.25, -0.25)),
    Case(("shift the yellow block to the center of the table",), at("yellow block", 0, -0.5)),
    Case(("send the red block to the bottom right",), at("red block", 0.25, -0.75)),
    Case(("Slide the blue block over to the left edge.",), at("blue block", -0.25, -0.5)),
    Case(
        ("i want you to move the red bowl to the upper right corner",), at("red bowl", 0.25, -0.25)
    ),
    Case(("the green block belongs in the middle",), at("green block", 0, -0.5)),
    other(at("brown block", 0, -0.75), "put the brown block near the front edge of the table"),
    other(at("gray block", 0, -0.25), "move the gray block all the way to the back of the table"),
    # directions
    Case(
        ("move the red block so that it is left of the red bowl",),
        off("red block", "red bowl", (-0.2, -0.01), (-0.07, 0.01)),
    ),
    Case(
        ("place the green block on the right hand side of the blue bowl",),
        off("green block", "blue bowl", (0.07, -0.01), (0.2, 0.01)),
    ),
    Case(
        ("put the yellow block just above the red bowl",),
        off("yellow block", "red bowl", (-0.01, 0.05), (0.01, 0.2)),
    ),
    Case(
        ("position the blue block underneath the red bowl",),
        off("blue block", "red bowl", (-0.01, -0.2), (0.01, -0.05)),
    ),
    Case(
        ("put the red block right next to the red bowl",),
        lambda w: near("red block", "red bowl", w),
    ),
    Case(
        ("bring the green block close to the blue block",),
        lambda w: near("green block", "blue block", w),
    ),
    Case(
        ("set the red block in between the blue bowl and the green bowl",),
        at("red block", 0.01, -0.635),
    ),
    other(shifted("pink block", 0, -0.05), "nudge the pink block down by 5 cm"),
    other(shifted("cyan block", -0.03, 0), "shift the cyan block left 3 centimetres"),
    other(shifted("cyan block", 0.06, 0), "push the cyan block to the right by 6cm"),
    other(shifted("brown block", 0, 0.10), "move the brown block up ten centimeters"),
    other(
        lambda w: 0.02 < w.xy["brown block"][1] + 0.66 < 0.12,
        "scoot the brown block up a little bit",
    ),
    other(
        off("gray block", "pink bowl", (-0.081, -0.01), (-0.079, 0.01)),
        "put the gray block 8cm left of the pink bowl",
    ),
    # ordinals and superlatives
    Case(
        ("pick up the block furthest left and put it in the red bowl",), on("red block", "red bowl")
    ),
    Case(("put the right-most block in the blue bowl",), on("yellow block", "blue bowl")),
    Case(
        ("take the 2nd block from the left and put it in the yellow bowl",),
        on("green block", "yellow bowl"),
    ),
    Case(
        ("drop the third cube from the right in the green bowl",), on("green block", "green bowl")
    ),
    Case(
        ("move the block that's nearest to the blue bowl to the middle",),
        at("green block", 0, -0.5),
    ),
    Case(
        ("put the brick most distant from the blue bowl into the blue bowl",),
        on("blue block", "blue bowl"),
    ),
    other(on("brown block", "orange bowl"), "put the lowest block in the orange bowl"),
    other(
        on("gray block", "purple bowl"), "put the block closest to the top right in the purple bowl"
    ),
    other(
        every(on("gray block", "pink bowl"), on("cyan block", "pink bowl")),
        "put the two rightmost blocks in the pink bowl",
    ),
    # stacks and shapes
    Case(("pile up the blocks",), tower),
    Case(("please build me a tower with all of the blocks",), tower),
    Case(("pile all the cubes on top of one another",), tower),
    Case(
        ("make a pile of the blocks in the bottom left corner",),
        every(tower, *(at(name, -0.25, -0.75) for name in BLOCKS)),
    ),
    Case(("arrange all blocks in a row",), spread(0)),
    Case(("form a vertical line with the blocks",), spread(1)),
    Case(("lay the blocks out in a ring",), ring),
    Case(("can you arrange the bricks into a circle",), ring),
    # colours
    Case(("put every block in the bowl that matches its color",), paired(True)),
    Case(("match each cube with the bowl of the same colour",), paired(True)),
    Case(("sort the blocks by colour into the bowls",), paired(True)),
    Case(("put each block into a bowl of a different color",), paired(False)),
    # all of, some of
    Case(("throw all of the blocks into the green bowl",), ALL_IN["green bowl"]),
    Case(("put everything that is a block in the yellow bowl",), ALL_IN["yellow bowl"]),
    Case(("gather the blocks in the blue bowl",), ALL_IN["blue bowl"]),
    Case(("distribute the blocks to the corners",), corners),
    other(all_in("gray bowl", "pink block"), "put all blocks but the pink one in the gray bowl"),
    other(
        every(on("pink block", "gray bowl"), on("brown block", "gray bowl")),
        "place both the pink block and the brown block in the gray bowl",
    ),
    # questions
    Case(("how many cubes do you see?",), said("4", "four")),
    Case(("what colour is the block nearest the green bowl?",), said("yellow")),
    Case(("is there an orange block on the table?",), said("no")),
    Case(("do you see a red bowl?",), said("yes")),
    Case(("which block is the furthest from the red bowl?",), said("red", "green", "blue")),
    Case(("can you tell me where the red block is",), said("left", "top")),
    Case(("put the red block on the blue block", "what is on top of the blue block?"), said("red")),
    Case(("put the red block in the blue bowl", "what's in the blue bowl?"), said("red")),
    Case(("is the yellow block right of the red bowl",), said("yes")),
    # referring back
    Case(
        ("put the red block in the green bowl", "actually, move that one to the middle"),
        at("red block", 0, -0.5),
    ),
    Case(
        ("put the red block in the green bowl", "now take it to the left side"),
        at("red block", -0.25, -0.5),
    ),
    Case(
        ("move the blue block to the left side", "and the red block as well"),
        at("red block", -0.25, -0.5),
    ),
    Case(("put the blocks in the green bowl", "now stack them"), tower),
    # undo
    Case(("put the red block in the green bowl", "take that back"), shifted("red block", 0, 0)),
    Case(("put the red block in the green bowl", "please revert that"), shifted("red block", 0, 0)),
    Case(("put the red block in the green bowl", "go back"), shifted("red block", 0, 0)),
    Case(
        ("stack all the blocks", "put everything back where it was"),
        every(*(shifted(name, 0, 0) for name in BLOCKS)),
    ),
    # what no program serves
    Case(("sing me a song please",), DECLINE),
    Case(("put the red block in the fridge",), DECLINE),
    Case(("cut the red bowl in half",), DECLINE),
    Case(("what time is it?",), DECLINE),
    Case(("wash the blue bowl",), DECLINE),
    Case(("flip the red block upside down",), DECLINE),
    Case(("put the red spoon in the blue bowl",), DECLINE),
    Case(("do not put the red block in the blue bowl",), DECLINE),
    Case(("who are you",), DECLINE),
    Case(("put the red block in the bowl that has no block in it",), DECLINE),
    Case(("throw the blue bowl off the table",), DECLINE),
    Case(("put the block in the fridge",), DECLINE),
]
"""As written; the first run's counts are those of the prompts and the method before."""
