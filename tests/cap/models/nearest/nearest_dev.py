"""The development sentences: what the offline model was improved on, and what they must do.

All were written down before any of their failures was looked at. They stress what the other sets
hardly touch: signs and units, lists, counts, chained instructions, stacks of three. `DECLINE` as
in `nearest_cases`: no program of the ravens prompts serves it, and running one is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from tests.cap.models.nearest.nearest_cases import (
    ALL_IN,
    BLOCKS,
    DECLINE,
    OTHER_BLOCKS,
    SCENE,
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
from tests.cap.models.nearest.nearest_world import World

Holds = Callable[[World], object] | None
Points = Mapping[str, tuple[float, float]]


def dev(instruction: str, holds: Holds, scene: Points = SCENE) -> Case:
    """Return a case of one instruction."""
    return Case((instruction,), holds, scene)


def pile(*names: str) -> Callable[[World], bool]:
    """True if each object stands on the one named before it."""
    return lambda world: all(world.below[upper] == lower for lower, upper in pairwise(names))


def close(name: str, target: str) -> Callable[[World], bool]:
    """True if the object lies near the target, not on it."""
    return lambda world: bool(0.05 < np.hypot(*(world.xy[name] - world.xy[target])) < 0.2)


def stays(*names: str) -> Callable[[World], bool]:
    """True if the objects are where the scene had them."""
    return every(*(shifted(name, 0, 0) for name in names))


def how_many(count: int, target: str) -> Callable[[World], bool]:
    """True if this many things were put in or on the target."""
    return lambda world: sum(below == target for below in world.below.values()) == count


NUMBERS = [
    dev("move the red block -5 cm to the left", shifted("red block", 0.05, 0)),
    dev("shift the blue block by minus 4 cm to the right", shifted("blue block", -0.04, 0)),
    dev("move the green block −3 cm up", shifted("green block", 0, -0.03)),
    dev("push the green block +6 cm up", shifted("green block", 0, 0.06)),
    dev("move the red block 2 inches to the right", shifted("red block", 0.0508, 0)),
    dev("move the red block 30 mm down", shifted("red block", 0, -0.03)),
    dev("nudge the yellow block 15 millimeters left", shifted("yellow block", -0.015, 0)),
    dev("move the yellow block five centimetres to the left", shifted("yellow block", -0.05, 0)),
    dev("move the green block fifteen centimeters up", shifted("green block", 0, 0.15)),
    dev("slide the green block up by twenty cm", shifted("green block", 0, 0.20)),
    dev("move the blue block half a meter down", shifted("blue block", 0, -0.5)),
    dev("move the blue bowl a quarter of a meter to the right", shifted("blue bowl", 0.25, 0)),
    dev("move the blue bowl 0.2 m right", shifted("blue bowl", 0.2, 0)),
    dev("move the blue bowl .2 m right", shifted("blue bowl", 0.2, 0)),
    dev("move the red block two and a half cm down", shifted("red block", 0, -0.025)),
    dev("shift the red bowl an inch up", shifted("red bowl", 0, 0.0254)),
    dev("move the red block 7.5cm to the right", shifted("red block", 0.075, 0)),
    dev(
        "put the red block 10 cm to the left of the red bowl",
        at("red block", -0.07, -0.45),
    ),
    dev("place the blue block 12cm above the blue bowl", at("blue block", -0.18, -0.43)),
    dev("set the green block 100 mm right of the blue bowl", at("green block", -0.08, -0.55)),
    dev(
        "put the yellow block nine centimeters below the red bowl", at("yellow block", 0.03, -0.54)
    ),
    dev("put 100 blocks in the green bowl", DECLINE),
    dev("put seven blocks in the red bowl", DECLINE),
    dev("put two blocks in the red bowl", how_many(2, "red bowl")),
    dev("put any three blocks in the blue bowl", how_many(3, "blue bowl")),
    dev("put the four blocks in the green bowl", ALL_IN["green bowl"]),
    dev("put all four blocks in the yellow bowl", ALL_IN["yellow bowl"]),
    dev("put one block in the blue bowl", how_many(1, "blue bowl")),
    dev("move the red block 5", DECLINE),
    dev("move the red block 5 parsecs to the left", DECLINE),
]

CHAINED = [
    dev(
        "put the red block in the green bowl, then put the blue block in the yellow bowl",
        every(on("red block", "green bowl"), on("blue block", "yellow bowl")),
    ),
    dev(
        "put the red block in the green bowl and then move it to the middle",
        at("red block", 0, -0.5),
    ),
    dev(
        "first put the green block on the red block, after that put the yellow block on it",
        pile("red block", "green block", "yellow block"),
    ),
    dev(
        "first stack all the blocks, then undo that",
        stays(*BLOCKS),
    ),
    dev(
        "move the red block to the left side. Then move the blue block to the right side.",
        every(at("red block", -0.25, -0.5), at("blue block", 0.25, -0.5)),
    ),
    dev(
        "move the yellow block 5 cm up; move the green block 5 cm up",
        every(shifted("yellow block", 0, 0.05), shifted("green block", 0, 0.05)),
    ),
    dev(
        "put the red block in the blue bowl and put the green block in the red bowl",
        every(on("red block", "blue bowl"), on("green block", "red bowl")),
    ),
    dev(
        "put the red block in the blue bowl and the green block in the red bowl",
        every(on("red block", "blue bowl"), on("green block", "red bowl")),
    ),
    dev(
        "place the red block on the blue block, the green block in the red bowl and the yellow"
        " block in the middle",
        every(
            on("red block", "blue block"),
            on("green block", "red bowl"),
            at("yellow block", 0, -0.5),
        ),
    ),
    dev(
        "move the red block up by 5 cm and after that to the right by 5 cm",
        shifted("red block", 0.05, 0.05),
    ),
    dev(
        "pick up the blue block, then put it in the red bowl",
        on("blue block", "red bowl"),
    ),
    dev(
        "could you put the blue block in the red bowl and then tell me how many blocks are in the"
        " red bowl?",
        every(on("blue block", "red bowl"), said("1", "one")),
    ),
    dev(
        "put all the blocks in the green bowl and afterwards put the red block in the middle",
        every(on("blue block", "green bowl"), at("red block", 0, -0.5)),
    ),
    dev(
        "first, put the red block in the middle; second, put the blue block to the left of it",
        every(
            at("red block", 0, -0.5), off("blue block", "red block", (-0.2, -0.01), (-0.05, 0.01))
        ),
    ),
    dev(
        "put the leftmost block in the red bowl, next put the rightmost block in the blue bowl",
        every(on("red block", "red bowl"), on("yellow block", "blue bowl")),
    ),
    dev(
        "put the red block in the green bowl, then the blue block in the yellow bowl",
        every(on("red block", "green bowl"), on("blue block", "yellow bowl")),
    ),
    dev(
        "put the red block in the green bowl, then sing a song",
        DECLINE,
    ),
    dev(
        "make coffee and then put the red block in the green bowl",
        DECLINE,
    ),
    dev(
        "put the red block in the green bowl and don't touch anything else",
        DECLINE,
    ),
    dev(
        "put the red block in the green bowl, then the lemon in the yellow bowl",
        DECLINE,
    ),
    dev(
        "swap the red block and the blue block, then put the red block in the yellow bowl",
        every(on("red block", "yellow bowl"), at("blue block", -0.15, -0.35)),
    ),
    dev(
        "make a tower with the blocks and then put the red block in the middle",
        at("red block", 0, -0.5),
    ),
    dev(
        "move the green block to the top right corner, then 5 cm to the left",
        at("green block", 0.20, -0.25),
    ),
    dev(
        "arrange the blocks in a circle, and then make it bigger",
        ring,
    ),
    Case(
        ("put the red block in the blue bowl", "then put the green block in the red bowl"),
        every(on("red block", "blue bowl"), on("green block", "red bowl")),
    ),
    Case(
        (
            "put the red block in the blue bowl then put the green block in the red bowl",
            "now move it to the middle",
        ),
        every(at("green block", 0, -0.5), on("red block", "blue bowl")),
    ),
    dev(
        "put the blue block in the green bowl, then do the same with the red block",
        every(on("blue block", "green bowl"), at("red block", 0.20, -0.72)),
    ),
    other(
        every(on("pink block", "orange bowl"), on("gray block", "gray bowl")),
        "please first put the pink block in the orange bowl and then the gray block in the gray"
        " bowl, thanks",
    ),
    other(
        every(on("pink block", "gray bowl"), stays("brown block")),
        "move the brown block 5 cm up, then put it back, and then put the pink block in the gray"
        " bowl",
    ),
    dev(
        "put the red block in the blue bowl if it is empty, then stop",
        DECLINE,
    ),
]

LISTS = [
    dev(
        "put the red and the blue block in the green bowl",
        every(how_many(2, "green bowl"), on("red block", "green bowl")),
    ),
    dev(
        "put the red block and the blue block in the green bowl",
        every(how_many(2, "green bowl"), on("blue block", "green bowl")),
    ),
    dev(
        "put the red, green and blue blocks in the yellow bowl",
        every(how_many(3, "yellow bowl"), stays("yellow block")),
    ),
    dev(
        "put the red block, the green block and the blue block in the yellow bowl",
        every(how_many(3, "yellow bowl"), stays("yellow block")),
    ),
    dev(
        "drop the yellow block and the green one in the red bowl",
        every(how_many(2, "red bowl"), on("green block", "red bowl")),
    ),
    dev(
        "move both the red block and the yellow block to the middle",
        every(at("red block", 0, -0.5), at("yellow block", 0, -0.5)),
    ),
    dev(
        "move the red and green blocks to the bottom left corner",
        every(at("red block", -0.25, -0.75), at("green block", -0.25, -0.75)),
    ),
    dev(
        "stack the red, the blue and the green block",
        pile("red block", "blue block", "green block"),
    ),
    dev(
        "stack the red block, the blue block and the green block",
        pile("red block", "blue block", "green block"),
    ),
    dev(
        "put all the blocks except the red block and the blue block in the green bowl",
        every(how_many(2, "green bowl"), stays("red block", "blue block")),
    ),
    dev(
        "put every block but the red and the green one in the blue bowl",
        every(how_many(2, "blue bowl"), stays("red block", "green block")),
    ),
    dev(
        "arrange the red, blue and green blocks in a horizontal line",
        lambda w: bool(
            np.ptp([w.xy[n][1] for n in ("red block", "blue block", "green block")]) < 0.01
            and tuple(w.xy["yellow block"]) == SCENE["yellow block"]
        ),
    ),
    dev(
        "put the leftmost block and the rightmost block in the green bowl",
        every(on("red block", "green bowl"), on("yellow block", "green bowl")),
    ),
    dev(
        "put the red block and the lemon in the green bowl",
        DECLINE,
    ),
    other(
        every(on("pink block", "pink bowl"), on("cyan block", "pink bowl"), stays("gray block")),
        "please place the pink cube and the cyan cube into the pink bowl",
    ),
    other(
        every(*(on(n, "gray bowl") for n in OTHER_BLOCKS)),
        "put the pink block, the cyan block, the brown block and the gray block in the gray bowl",
    ),
    dev("is there a red block and a blue bowl?", said("yes")),
]

STACKS = [
    dev(
        "stack the red block on the blue block on the green block",
        pile("green block", "blue block", "red block"),
    ),
    dev(
        "put the yellow block on the red block on the blue block",
        pile("blue block", "red block", "yellow block"),
    ),
    dev(
        "stack the red block on top of the blue block on top of the yellow block",
        pile("yellow block", "blue block", "red block"),
    ),
    dev("stack the green block on the yellow block", on("green block", "yellow block")),
    dev("build a tower from all of the blocks", tower),
    dev("please make one tall stack of the cubes", tower),
    dev("stack the blocks in the bottom right corner", every(tower, at("red block", 0.25, -0.75))),
    dev(
        "make a stack with the blue block at the bottom",
        every(tower, lambda w: w.below["blue block"] is None),
    ),
    dev("stack two blocks", lambda w: sum(w.below[n] in BLOCKS for n in BLOCKS) == 1),
    dev("stack the bowls", lambda w: sum(str(b).endswith("bowl") for b in w.below.values()) == 3),
    dev(
        "put the red block on the blue block and the green block on top of that",
        pile("blue block", "red block", "green block"),
    ),
]

WHICH = [
    dev("put the second block from the left in the red bowl", on("green block", "red bowl")),
    dev("put the third block from the top in the red bowl", on("yellow block", "red bowl")),
    dev("put the third block from the bottom in the red bowl", on("red block", "red bowl")),
    dev("put the fourth block from the bottom in the red bowl", on("blue block", "red bowl")),
    dev("put the first block from the right in the blue bowl", on("yellow block", "blue bowl")),
    dev("take the second bowl from the top and move it to the middle", at("red bowl", 0, -0.5)),
    dev("put the 3rd cube from the left in the blue dish", on("blue block", "blue bowl")),
    dev(
        "put the two topmost blocks in the green bowl",
        every(
            how_many(2, "green bowl"), on("blue block", "green bowl"), on("red block", "green bowl")
        ),
    ),
    dev(
        "put the three leftmost blocks in the green bowl",
        every(how_many(3, "green bowl"), stays("yellow block")),
    ),
    dev("put the ninth block from the left in the red bowl", DECLINE),
    dev("put the block closest to the red bowl in the red bowl", how_many(1, "red bowl")),
    dev("put the highest block in the blue bowl", on("blue block", "blue bowl")),
    dev("put the block in the top left in the blue bowl", on("red block", "blue bowl")),
    dev(
        "put the blocks to the left of the red bowl in the green bowl",
        every(how_many(2, "green bowl"), on("red block", "green bowl")),
    ),
    dev(
        "put the blocks above the red bowl in the blue bowl",
        every(how_many(2, "blue bowl"), on("red block", "blue bowl")),
    ),
    dev("put the block between the bowls in the red bowl", DECLINE),
    dev("put the heaviest block in the red bowl", DECLINE),
    other(on("brown block", "pink bowl"), "put the block nearest the bottom edge in the pink bowl"),
]

WORDS = [
    dev("now just put the red block into the blue bowl, would you", on("red block", "blue bowl")),
    dev("red block to blue bowl", on("red block", "blue bowl")),
    dev("put red block in blue bowl", on("red block", "blue bowl")),
    dev("Put the red block inside of the blue bowl!!!", on("red block", "blue bowl")),
    dev(
        "hey there, can you please put the red block in the blue bowl", on("red block", "blue bowl")
    ),
    dev("the blue bowl should contain the red block", on("red block", "blue bowl")),
    dev("i think you should put the red block in the blue bowl", on("red block", "blue bowl")),
    dev("set the green cube atop the blue cube", on("green block", "blue block")),
    dev("rest the green block on the yellow one", on("green block", "yellow block")),
    dev("quickly move the red block to the center", at("red block", 0, -0.5)),
    dev("gently place the red block in the top left corner", at("red block", -0.25, -0.25)),
    dev("carefully put the blue block in the green bowl", on("blue block", "green bowl")),
    dev("empty the blue bowl", DECLINE),
    dev(
        "put the red block somewhere free",
        lambda w: (
            min(float(np.hypot(*(w.xy["red block"] - w.xy[n]))) for n in SCENE if n != "red block")
            > 0.1
        ),
    ),
    dev("put the blocks in the blue bowl one by one", ALL_IN["blue bowl"]),
    dev("each of the blocks must go in the green bowl", ALL_IN["green bowl"]),
    dev("all blocks into the yellow bowl please", ALL_IN["yellow bowl"]),
    dev("put blocks in the yellow bowl", ALL_IN["yellow bowl"]),
]

PLACES = [
    dev("move the red block to the far right corner at the top", at("red block", 0.25, -0.25)),
    dev("put the red block at the top right", at("red block", 0.25, -0.25)),
    dev("put the red block in the north west corner", at("red block", -0.25, -0.25)),
    dev(
        "put the blue block midway between the red bowl and the blue bowl",
        at("blue block", -0.075, -0.5),
    ),
    dev("put the green block near the red bowl", close("green block", "red bowl")),
    dev("move the green block close to the yellow bowl", close("green block", "yellow bowl")),
    dev(
        "put the red block in front of the red bowl",
        off("red block", "red bowl", (-0.01, -0.2), (0.01, -0.05)),
    ),
    dev(
        "put the red block behind the blue bowl",
        off("red block", "blue bowl", (-0.01, 0.05), (0.01, 0.2)),
    ),
    dev("place the yellow block along the left edge of the table", at("yellow block", -0.25, -0.5)),
    dev("move all the blocks to the right side", every(*(at(n, 0.25, -0.5) for n in BLOCKS))),
    dev("put the red block in the corner nearest to the green bowl", at("red block", 0.25, -0.75)),
    dev(
        "move the red block toward the red bowl",
        lambda w: np.hypot(*(w.xy["red block"] - w.xy["red bowl"])) < 0.2,
    ),
    dev("put the red block as far as possible from the blue bowl", DECLINE),
    other(at("cyan block", 0, -0.25), "get the cyan block to the top edge"),
]

SHAPES = [
    dev("line the blocks up", spread(0)),
    dev("put all the blocks in a vertical line", spread(1)),
    dev("arrange all of the blocks in a circle", ring),
    dev("make a ring out of the blocks", ring),
    dev("put the blocks in one straight horizontal line please", spread(0)),
    dev("put a block in every corner", corners),
    dev("spread the blocks over the four corners", corners),
    Case(
        ("make a circle with the blocks", "make it a bit bigger"),
        ring,
    ),
    Case(("put the blocks in a line", "rotate it by ninety degrees"), spread(1)),
    Case(("put the blocks in a line", "rotate it 90 degrees"), spread(1)),
]

COLOURS = [
    dev("put the blocks in the bowls of matching colors", paired(True)),
    dev("every block goes in the bowl of its colour", paired(True)),
    dev("sort the blocks by color", paired(True)),
    dev("put each block in a bowl with a different color", paired(False)),
    dev("put each cube in the dish with the same color as the cube", paired(True)),
    dev("put the blocks into bowls that don't match their color", paired(False)),
    other(
        every(on("pink block", "pink bowl"), on("gray block", "gray bowl")),
        "place the blocks in the bowls with the same colour",
    ),
    other(
        all_in("orange bowl", "pink block"),
        "put all blocks apart from the pink one in the orange bowl",
    ),
]

QUESTIONS = [
    dev("how many blocks are on the table?", said("4", "four")),
    dev("how many objects are there?", said("8", "eight")),
    dev("could you tell me how many red blocks there are", said("1", "one")),
    dev("which block is the leftmost one?", said("red")),
    dev("what's the rightmost bowl?", said("green")),
    dev("is the blue block above the red bowl?", said("yes")),
    dev("is there any block to the left of the blue bowl?", said("no")),
    dev("is the red block closer to the blue bowl than to the green block?", said("yes")),
    dev("are there more bowls than blocks?", said("no")),
    dev("how far is the red block from the blue block in cm?", said("27")),
    dev("what is your name?", DECLINE),
    dev("why is the red block in the bowl?", DECLINE),
    dev("which blocks are left of the red bowl?", said("red")),
    dev("how many blocks are right of the red bowl?", said("2", "two")),
    dev("what colour is the third block from the left?", said("blue")),
    dev("is the blue bowl empty?", said("yes")),
]

BACK = [
    Case(
        ("put the red block in the green bowl", "put it in the blue bowl instead"),
        on("red block", "blue bowl"),
    ),
    Case(
        ("put the red block in the green bowl", "now move that block 5 cm up"),
        at("red block", 0.20, -0.67),
    ),
    Case(
        ("put the red block in the green bowl", "and now the blue one too"),
        at("blue block", 0.20, -0.72),
    ),
    Case(
        ("put the red block on the blue block", "put the green block on that"),
        on("green block", "red block"),
    ),
    Case(
        ("put the blocks in the green bowl", "move all of them to the middle"),
        every(*(at(n, 0, -0.5) for n in BLOCKS)),
    ),
    Case(("put the red block in the green bowl", "please undo the last step"), stays("red block")),
    Case(
        ("put the red block in the green bowl", "undo", "put the blue block in the red bowl"),
        every(stays("red block"), on("blue block", "red bowl")),
    ),
    Case(
        ("put the red and the blue block in the green bowl", "undo that please"),
        stays("red block", "blue block"),
    ),
    Case(
        ("stack the red block on the blue block on the green block", "undo it"),
        stays("red block", "blue block", "green block"),
    ),
    Case(("move the red block 5 cm to the left", "a bit more"), DECLINE),
    Case(
        ("move the red block to the middle", "no, to the left side"), at("red block", -0.25, -0.5)
    ),
    dev("move it to the middle", DECLINE),
]

OUT_OF_SCOPE = [
    dev("paint the red block green", DECLINE),
    dev("put the red block in the drawer", DECLINE),
    dev("put the orange block in the blue bowl", DECLINE),
    dev("never put the red block in the blue bowl", DECLINE),
    dev("put the red block anywhere but in the blue bowl", DECLINE),
    dev("if the red bowl is empty put the red block in it", DECLINE),
    dev("keep the red block away from the blue bowl", DECLINE),
    dev("put the red block in the blue bowl in ten minutes", DECLINE),
    dev("put the red block in the blue bowl three times", DECLINE),
    dev("put the red block in the blue bowl or the green bowl", DECLINE),
    dev("the red block", DECLINE),
    dev("blocks", DECLINE),
    dev("what is the meaning of the red block", DECLINE),
    dev("spell banana", DECLINE),
    dev("put the red block on the ceiling", DECLINE),
    dev("remove the red block from the table", DECLINE),
    dev("put the red thing in the blue thing", DECLINE),
    dev("leg den roten Klotz in die blaue Schale", DECLINE),
    dev("", DECLINE),
]

PARAPHRASED = [
    # in a bowl, on a block
    dev("plop the red block into the blue bowl", on("red block", "blue bowl")),
    dev("tuck the green block inside the red bowl", on("green block", "red bowl")),
    dev("transport the yellow cube into the red dish", on("yellow block", "red bowl")),
    dev("have the red block end up in the green bowl", on("red block", "green bowl")),
    dev("I want the blue block inside the yellow bowl", on("blue block", "yellow bowl")),
    dev("let's get the green block into the blue bowl", on("green block", "blue bowl")),
    dev("make the red block sit in the blue bowl", on("red block", "blue bowl")),
    dev("add the red block to the blue bowl", on("red block", "blue bowl")),
    dev("the red bowl needs the green block in it", on("green block", "red bowl")),
    dev("the green block, put it in the blue bowl", on("green block", "blue bowl")),
    dev("retrieve the blue block and drop it off in the red bowl", on("blue block", "red bowl")),
    dev("into the red bowl goes the blue block", on("blue block", "red bowl")),
    dev("would you be able to put the red block in the green bowl?", on("red block", "green bowl")),
    dev("kindly see that the red block lands in the green bowl", on("red block", "green bowl")),
    dev("use the arm to put the red block in the blue bowl", on("red block", "blue bowl")),
    dev("balance the yellow block on the blue block", on("yellow block", "blue block")),
    dev("cover the red block with the green block", on("green block", "red block")),
    dev("top the blue block with the red block", on("red block", "blue block")),
    dev("the yellow block should be sitting on the green block", on("yellow block", "green block")),
    dev("perch the red block on top of the yellow one", on("red block", "yellow block")),
    dev("Get the green block onto the blue block.", on("green block", "blue block")),
    # places
    dev("slide the green block over into the top right corner", at("green block", 0.25, -0.25)),
    dev("the blue block belongs in the bottom left", at("blue block", -0.25, -0.75)),
    dev("tuck the red block into the lower right-hand corner", at("red block", 0.25, -0.75)),
    dev("bring the blue block to the middle of the workspace", at("blue block", 0, -0.5)),
    dev("center the green block on the table", at("green block", 0, -0.5)),
    dev("put the red block dead center", at("red block", 0, -0.5)),
    dev("haul the yellow block over to the left-hand side", at("yellow block", -0.25, -0.5)),
    dev("place the green bowl up at the top edge", at("green bowl", 0, -0.25)),
    dev("position the red block in the table's upper left corner", at("red block", -0.25, -0.25)),
    dev("the red bowl should live on the right side of the table", at("red bowl", 0.25, -0.5)),
    # directions
    dev(
        "put the green block on the left of the red bowl",
        off("green block", "red bowl", (-0.2, -0.01), (-0.05, 0.01)),
    ),
    dev(
        "I'd like the blue block just to the right of the blue bowl",
        off("blue block", "blue bowl", (0.05, -0.01), (0.2, 0.01)),
    ),
    dev(
        "make sure the yellow block is above the red bowl",
        off("yellow block", "red bowl", (-0.01, 0.05), (0.01, 0.2)),
    ),
    dev(
        "to the left of the red bowl, place the green block",
        off("green block", "red bowl", (-0.2, -0.01), (-0.05, 0.01)),
    ),
    dev(
        "stick the yellow block on the right hand side of the blue bowl",
        off("yellow block", "blue bowl", (0.05, -0.01), (0.2, 0.01)),
    ),
    dev(
        "set the red block down right below the red bowl",
        off("red block", "red bowl", (-0.01, -0.2), (0.01, -0.05)),
    ),
    dev("move the yellow block leftwards", lambda w: 0.01 < 0.18 - w.xy["yellow block"][0] < 0.21),
    dev(
        "nudge the red block a touch to the right",
        lambda w: 0.005 < w.xy["red block"][0] + 0.15 < 0.11,
    ),
    dev("budge the green block up a bit", lambda w: 0.005 < w.xy["green block"][1] + 0.62 < 0.11),
    dev("slide the blue block way to the left", lambda w: w.xy["blue block"][0] < 0.0),
    dev("move the red block down a little", lambda w: 0.005 < -0.35 - w.xy["red block"][1] < 0.11),
    # ordinals and superlatives
    dev("the block on the far left goes in the red bowl", on("red block", "red bowl")),
    dev(
        "take whichever block is furthest right and put it in the blue bowl",
        on("yellow block", "blue bowl"),
    ),
    dev(
        "counting from the left, put the second block in the red bowl",
        on("green block", "red bowl"),
    ),
    dev("put the second leftmost block in the red bowl", on("green block", "red bowl")),
    dev("put the second-from-left block in the red bowl", on("green block", "red bowl")),
    dev("put the second to last block from the left in the red bowl", on("blue block", "red bowl")),
    dev("put the last block on the right in the blue bowl", on("yellow block", "blue bowl")),
    dev(
        "grab the third block counting from the left and drop it in the red bowl",
        on("blue block", "red bowl"),
    ),
    dev("put the block at the very top in the green bowl", on("blue block", "green bowl")),
    dev("put the block lowest down on the table in the red bowl", on("green block", "red bowl")),
    # distances
    dev("put the closest block to the green bowl in the middle", at("yellow block", 0, -0.5)),
    dev("which bowl is the yellow block closest to?", said("green", "red")),
    dev(
        "move the block nearest to the blue bowl to the top left corner",
        at("green block", -0.25, -0.25),
    ),
    dev(
        "pick the block that is farthest away from the red bowl and put it in the yellow bowl",
        on("red block", "yellow bowl"),
    ),
    dev("whichever block is closest to the red bowl should go in it", DECLINE),
    dev("put the red block in the bowl closest to it", on("red block", "yellow bowl")),
    dev("put the red block in the nearest bowl", on("red block", "yellow bowl")),
    dev(
        "put the yellow block in the bowl that's furthest away from it",
        on("yellow block", "blue bowl"),
    ),
    dev("put the red block in the corner closest to it", at("red block", -0.25, -0.25)),
    dev("put the red block in the nearest corner", at("red block", -0.25, -0.25)),
    dev(
        "put the yellow block in the corner that is farthest from the red bowl",
        lambda w: w.xy["yellow block"][1] < -0.7,
    ),
    dev(
        "put the blue block 10 cm away from the red bowl",
        lambda w: bool(abs(np.hypot(*(w.xy["blue block"] - w.xy["red bowl"])) - 0.1) < 0.005),
    ),
    dev(
        "put the green block ten centimeters to the right of the blue bowl",
        at("green block", -0.08, -0.55),
    ),
    # stacks
    dev("pile the blocks up on top of each other", tower),
    dev("make one stack out of all blocks", tower),
    dev("stack every block", tower),
    dev("I want a tower of all the blocks", tower),
    dev("put all the blocks on top of one another", tower),
    dev(
        "build a stack with the red block on the bottom",
        every(tower, lambda w: w.below["red block"] is None),
    ),
    dev("stack them all up", DECLINE),
    dev(
        "stack the blocks in the top left corner of the table",
        every(tower, at("red block", -0.25, -0.25)),
    ),
    dev(
        "build a tower in the middle of the table using all the blocks",
        every(tower, at("red block", 0, -0.5)),
    ),
    dev(
        "put the blue block on the red block and then the green block on the blue block",
        pile("red block", "blue block", "green block"),
    ),
    # shapes
    dev("set the blocks out in a straight line", spread(0)),
    dev("could you line up the cubes horizontally?", spread(0)),
    dev("place the blocks in a vertical column", spread(1)),
    dev("put the cubes into a circle shape", ring),
    dev("have the blocks form a circle", ring),
    dev("arrange the blocks to form a circle", ring),
    dev("make a vertical line out of the blocks", spread(1)),
    dev("make a row of blocks", spread(0)),
    dev("position the blocks so that they form a ring", ring),
    # matching
    dev("put all the blocks in their corresponding bowls", paired(True)),
    dev("each block should go to the bowl with the same color", paired(True)),
    dev("drop every block in the bowl that has its color", paired(True)),
    dev("match the blocks with the bowls by color", paired(True)),
    dev("place each block into the same-colored bowl", paired(True)),
    dev("color-match the blocks and bowls", paired(True)),
    dev("put each block in a bowl that is not its color", paired(False)),
    dev("no block should be in a bowl of its own color", DECLINE),
    # all
    dev("dump everything but the bowls in the green bowl", DECLINE),
    dev("I need all of the blocks in the yellow bowl", ALL_IN["yellow bowl"]),
    dev("toss all the cubes in the blue dish", ALL_IN["blue bowl"]),
    dev("get every last block into the green bowl", ALL_IN["green bowl"]),
    dev("clear the blocks into the green bowl", ALL_IN["green bowl"]),
    dev("fill the yellow bowl with the blocks", ALL_IN["yellow bowl"]),
    dev("put each of the four blocks in a corner", corners),
    dev("one block per corner please", corners),
    dev(
        "move all blocks to the left side of the table",
        every(*(at(n, -0.25, -0.5) for n in BLOCKS)),
    ),
    # questions
    dev("how many blocks can you count?", said("4", "four")),
    dev("what's the number of bowls on the table?", said("4", "four")),
    dev("tell me which block is the furthest left", said("red")),
    dev("which block is on the far right?", said("yellow")),
    dev("is there a purple bowl anywhere?", said("no")),
    dev("do any blocks lie to the left of the blue bowl?", said("no")),
    dev("what is the block closest to the green bowl?", said("yellow")),
    dev("which of the blocks is nearest the green bowl?", said("yellow")),
    dev("what color is the leftmost bowl?", said("blue")),
    dev("does the blue bowl have anything in it?", said("no")),
    dev("in which corner is the closest place to the red block?", DECLINE),
    Case(("put the red block in the blue bowl", "which block is in the blue bowl?"), said("red")),
    Case(("put the red block in the blue bowl", "what did you put in the blue bowl?"), DECLINE),
    dev("list everything on the table", said("block", "bowl")),
    # referring back and undoing
    Case(
        ("put the red block in the green bowl", "now get it to the top left corner"),
        at("red block", -0.25, -0.25),
    ),
    Case(
        ("put the red block in the green bowl", "do the same thing with the blue block"),
        at("blue block", 0.20, -0.72),
    ),
    Case(
        ("put the red block in the green bowl", "the yellow block goes there too"),
        at("yellow block", 0.20, -0.72),
    ),
    Case(
        ("move the red block to the middle", "now put the blue bowl where the red block was"),
        DECLINE,
    ),
    Case(
        ("move the red block to the middle", "move it a bit further to the right"),
        lambda w: 0.005 < w.xy["red block"][0] < 0.15,
    ),
    Case(("move the red block to the middle", "and 5 cm up"), at("red block", 0, -0.45)),
    Case(("stack all the blocks", "now line them up"), spread(0)),
    Case(
        ("put the red and blue blocks in the green bowl", "move them both to the middle"),
        every(at("red block", 0, -0.5), at("blue block", 0, -0.5)),
    ),
    Case(
        ("put the red block in the green bowl", "on second thought, put it back"),
        stays("red block"),
    ),
    Case(("put the red block in the green bowl", "that was wrong, undo it"), stays("red block")),
    Case(
        ("put the red block in the green bowl", "return the red block to where it was before"),
        stays("red block"),
    ),
    Case(("put the red block in the green bowl", "scrap that"), stays("red block")),
    Case(
        ("put the red block in the green bowl", "can you reverse what you just did"),
        stays("red block"),
    ),
    Case(
        ("put the red block in the green bowl", "move it back to where it came from"),
        stays("red block"),
    ),
    # nothing serves
    dev("cook the red block in the blue bowl", DECLINE),
    dev("hide from the red block", DECLINE),
    dev("bring me a beer", DECLINE),
    dev("count to ten", DECLINE),
    dev("put your hand on the red block", DECLINE),
    dev("put the red block in the blue box", DECLINE),
    dev("open the blue bowl", DECLINE),
    dev("smash the red block on the blue block", DECLINE),
    dev("turn the red block over in the blue bowl", DECLINE),
    dev("imagine the red block in the blue bowl", DECLINE),
    dev("don't put anything in the blue bowl", DECLINE),
    dev("put nothing in the blue bowl", DECLINE),
    dev("measure the red block", DECLINE),
    dev("put the red block next to the lamp", DECLINE),
]

DEV_CASES = [
    *NUMBERS,
    *CHAINED,
    *LISTS,
    *STACKS,
    *WHICH,
    *WORDS,
    *PLACES,
    *SHAPES,
    *COLOURS,
    *QUESTIONS,
    *BACK,
    *OUT_OF_SCOPE,
    *PARAPHRASED,
]
