"""Words against a drawing: how many shapes were asked for, which and where, and what was drawn.

One shape is taken to be one stroke, or all the new ones.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from cap.engine.effect import INK
from cap.engine.measures import (
    AREA,
    missing_area,
    missing_gaps,
    missing_sizes,
    not_by,
    not_in_proportion,
    not_lying,
    unmet_lengths,
)
from cap.engine.redrawing import (
    BECOMES,
    CHANGES,
    ERASES,
    REPLACES,
    not_changed,
    not_erased,
    still_there,
)
from cap.engine.sentence import NUMBERS, clauses_of, mentions
from cap.engine.shapes import (
    CHANGE_SHARE,
    CHANGE_SLACK_M,
    CORNERS,
    PLACE,
    SHAPES,
    SLACK_M,
    STRAIGHT_M,
    WAYS,
    Points,
    box_of,
    corners_of,
    holds,
    metres,
    middle_of,
    not_at_place,
    not_at_side,
    points_of,
    same,
    size_of,
)
from cap.robot.observation import Observation

COUNTS = {"a": 1, "an": 1, "one": 1, "another": 1, **NUMBERS}
IN_A_ROW = 0.1
"""Shapes are in a row if none is off the line through them by more of its length."""
REGULAR = 0.03
"""A circle is as wide as it is high, and a square's sides are equal, but for this share."""
OPEN_SHARE = 0.3
"""A shape is open if its ends are farther apart than this share of its size."""
_ROUND = 16
"""A circle of so many points is as wide as it is high."""
CENTRED_M, CENTRED_SHARE = 0.02, 0.15
"""The middle of a shape is at a point if it is nearer to it than this or a share of its size."""
_CENTRED = re.compile(
    r"\b(?:(?:its|whose|with the) middle(?: is| should be| lies)?|centred|centered)"
    r"(?: exactly| right)? (?:on|at|in|around) (?:the )?$"
)
CORNER_M = 0.12
"""A line to a corner ends not farther from where the robot takes it to be."""
_ALTERNATIVE = re.compile(
    r"\b(?:if|unless|or|either|maybe|perhaps|until|whichever|undo|no wait|i mean)\b"
)
_NEGATED = re.compile(r"^(?:don't|do not|no|not|never|without|keep|leave (?!an?\b))\b")
_DRAWS = re.compile(
    r"(?:draw|sketch|write|paint|trace|add|copy|duplicate|repeat|connect|join|circle|ring|make"
    r"|now|and|put|also|i want|i'd like|a|an|another)\b"
)
_DRAWS_NEW = re.compile(
    r"(?:(?:draw|sketch|paint|trace|add|put|copy|duplicate|repeat|connect)\b|make a copy\b)"
)
_KEEPS = re.compile(
    r"\b(?:bigger|larger|smaller|longer|shorter|twice|half|double|but|erase|wipe|clear"
    r"|delete|remove|get rid|rub|replace|instead|turn|change"
    r"|make (?!a\b)|move|redo|redraw|shift|scale|rotate|over)\b"
)
"""Words without which everything that was drawn is to stay."""
_COPIES = re.compile(
    r"\b(?:same|copy|again|once more|duplicate|repeat|another|second|one more)\b.*?"
    r"(?<!of )\b(?P<n>\d+(?:\.\d+)?) ?(?P<u>mm|cm|m)(?: further)?(?: to the)?"
    r" (?P<way>left|right|up|down|above|below)(?= it$| of it\b| of the (?:first|old|other)|$)"
)
_ALL_OF = r"(?:the|each|every|all|both)(?: of)?(?: the)?(?: (?:two|three|four|five|six))?"
_EACH_AROUND = re.compile(
    rf"\baround {_ALL_OF} (?P<kind>\w+?)s?$"
    rf"|^(?:circle|encircle|ring|frame) {_ALL_OF} (?P<kind2>\w+?)s?$"
)
_INSIDE_IT = re.compile(rf"\b(?:inside|in|within) (?:it|the (?:{SHAPES}))\b")
_AROUND_IT = re.compile(rf"\baround (?:it|the (?:{SHAPES}))$")
_BESIDE_IT = re.compile(
    r"\b(?P<side>above|below|under|beneath|left of|right of)"
    rf" (?:it|that|the (?:{SHAPES}))$"
)
_JOINS = re.compile(r"\b(?:from|between|connect(?:ing|s)?|join(?:ing|s)?) (?:the )?$")
"""Before the first of two things that a line leads from and to."""
_SIDE = re.compile(r"\b(?P<side>above|below|under|beneath|left of|right of|around)(?: the)? $")
_SHAPE = re.compile(
    rf"\b({'|'.join(COUNTS)}|\d+) (?!(?:mm|cm|m)\b)"
    rf"(?:(?!(?:{'|'.join(NUMBERS)}|of|with)\b)[\w.]+ ){{0,3}}?({SHAPES}|dot)(?:e?s)?\b(?! wave)"
    r"(?! of (?:(?:two|three|four|five|six)\b|\d+ (?!(?:mm|cm|m)\b)))"
)
_PARTS = re.compile(
    r":|\b(?:made|out|consist\w+|composed|using) (?:of|up)?\b|\bhouse\b.*\bwith\b"
    r"|\bwith \w+ (?:lines|strokes|sides)\b|\b(?:form\w*|like|shaped?) "
)
"""Words after which shapes are parts of another one."""
_NOT_QUITE = re.compile(r"\b(?:round\w*|half|semi\w*|quarter|oval|squashed|flat\w*|ellip\w*)\b")
"""Words after which a shape need not look like its name."""
_LINE = re.compile(r"\b(horizontal|vertical)\b")
_SEPARATE = re.compile(
    r"\bside by side\b|\bnext to each other\b|\b(?:not|n't|without) (?:touch|overlap)\w*"
)
OVERLAP = 0.02
"""Shapes overlap that have more than this share of the smaller one in common."""
_STRAIGHT = re.compile(r"\bstraight line\b")
_OF_A_PART = re.compile(
    r"\b(?:start\w*|begin\w*|end|ends|ending|vertex|origin|tip|corner|through|pass\w*|from)"
    r" (?:\w+ )?(?:in|at|on|to) the\b"
)
"""Before a place where a part of a shape is to be, and not its middle."""
_LINE_WAY = re.compile(
    r"\bline\b.* (?:to (?:the|its) )?(?P<way>left|right|upwards?|downwards?)\b"
    r"(?! (?:of|side|half|edge|corner))"
)
_BENT = re.compile(r"\b(?:from|wavy|curv\w+|zig|then|and|dashed|around|bent|left of|right of)\b")
_MANY = re.compile(
    rf"(?<!the )(?<!these )(?<!those )(?<!all )(?<!into )\b({'|'.join(NUMBERS)}|\d+)"
    r" (?!(?:mm|cm|m|square|times|degrees|seconds|percent|by)\b)(?:(?!of\b)[a-z]+ ){0,2}?[a-z]+s\b"
)
"""So many new things; "the two blocks" are there already."""
_POINTED = re.compile(rf"\b({'|'.join(NUMBERS)}|\d+)-?pointed\b")
_HALFWAY = re.compile(r"\b(?:halfway|half way|midway|exactly|in the middle) between (?:the )?$")
_ROW = re.compile(r"\bin (?:a|one) (?:\w+ )?(?:row|line|column)\b")


def missing_in_drawing(words: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield what a drawing lacks, or has too much; a line each.

    One shape is taken to be one stroke, or all the new ones.

    Args:
        words: The instruction, as `plain_words` has it.
        before: The world before.
        after: The world after.
    """
    new = [line for line in after.drawn if line not in before.drawn]
    gone = [line for line in before.drawn if line not in after.drawn]
    if words.endswith("?") or _ALTERNATIVE.search(words) or INK not in after.condition:
        return
    clauses = [clause for clause in clauses_of(words) if not _NEGATED.match(clause)]
    if not (before.drawn or after.drawn):
        if _DRAWS_NEW.match(words) and not any(map(ERASES.match, clauses)):
            yield "nothing was drawn"
        return
    shapes = [points_of(stroke) for stroke in new if len(stroke) > 1]
    for clause in clauses:
        if ERASES.match(clause):
            alone = len(clauses) == 1
            yield from not_erased(clause, before, gone, bool(after.drawn) if alone else None)
    if clauses and REPLACES.match(clauses[0]) and "house" not in words:
        if new and not gone:
            yield "what was to be replaced is still there"
        return
    if before.drawn and clauses and CHANGES.match(clauses[0]) and not BECOMES.search(words):
        if len(clauses) == 1:
            yield from not_changed(words, before, gone, new)
        return
    drawing = [clause for clause in clauses if shapes or _DRAWS.match(clause)]
    if not drawing:
        return
    if gone and not _KEEPS.search(words) and any(_DRAWS_NEW.match(c) for c in drawing):
        yield "what was drawn before is not there any more"
    if any(ERASES.match(clause) for clause in clauses):
        if not before.drawn and ERASES.match(clauses[-1]):
            yield from still_there(clauses[-1], shapes)
        return
    words = ", ".join(drawing)
    text = AREA.sub("", words)
    yield from not_lying(words, shapes)
    yield from not_by(words, shapes)
    yield from not_in_proportion(words, shapes)
    yield from missing_area(words, shapes)
    yield from missing_sizes(text, shapes)
    yield from missing_gaps(text, shapes)
    yield from unmet_lengths(text, shapes, before)
    too_few = [*_too_few(text, shapes)]
    yield from too_few
    yield from _not_around(words, shapes, before)
    yield from _not_beside(words, shapes, before)
    if not shapes or _PARTS.search(words):
        return
    named = _SHAPE.findall(re.sub(r"\bin (?:a|one) (?:\w+ )?\w+", "", text))
    count = sum(COUNTS.get(number) or int(number) for number, _ in named)
    if len(shapes) < count and not too_few:
        yield f"{len(shapes)} drawn, where {count} shapes were asked for"
    elif _ROW.search(words) and len(shapes) > 2 and not _in_a_row(shapes):
        counted = [count, *(_number(match[1]) for match in _MANY.finditer(text))]
        if len(shapes) in counted:
            yield "the shapes are not in a row"
    if len(shapes) > 1 and _SEPARATE.search(words) and _overlap(shapes):
        yield "the shapes overlap"
    if count <= 1 and _STRAIGHT.search(words) and not _is_straight(np.concatenate(shapes)):
        yield "the line is not straight"
    if count == len(shapes) == 1:
        yield from _other_way(text, named[0][1], shapes[0])
    if count == len(shapes) and len({kind for _, kind in named}) == 1:
        for shape in shapes:
            yield from _unlike(text, named[0][1], shape)
    if count <= 1 and not any(CHANGES.match(clause) for clause in clauses[1:]):
        yield from _misplaced(words, np.concatenate(shapes), before)


def _number(text: str) -> int:
    return NUMBERS.get(text) or int(text)


def _too_few(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield how many strokes are new, where more of something were asked for."""
    from shapely import LineString

    for match in _MANY.finditer(words) if shapes else ():
        count = _number(match[1])
        if len(shapes) >= count:
            continue
        sides = [len(LineString(shape).simplify(STRAIGHT_M).coords) - 1 for shape in shapes]
        if max(sides) < count:
            yield f"{len(shapes)} drawn, where '{match[0]}' were asked for"


def _not_around(words: str, shapes: Sequence[Points], before: Observation) -> Iterator[str]:
    """Yield the things that were to have a shape around each, and have none."""
    from shapely import Point, Polygon

    match = _EACH_AROUND.search(words)
    if match is None or not shapes:
        return
    kind = match["kind"] or match["kind2"]
    outlines = [Polygon(shape) for shape in shapes if len(shape) > 2]
    several = re.search(r"\b(?:each|every)\b", words) or re.match(r"\w+ (?:\w+s) around", words)
    for name, xyz in before.positions.items():
        if name.split()[-1] != kind:
            continue
        within = [outline for outline in outlines if outline.contains(Point(*xyz[:2]))]
        if not within and (several or match["kind2"] or len(outlines) > 1):
            yield f"nothing is around {name!r}"


def _not_beside(words: str, shapes: Sequence[Points], before: Observation) -> Iterator[str]:
    """Yield what is otherwise than was said of one shape in or beside another."""
    from shapely import Polygon

    if match := _COPIES.search(words):
        x, y = WAYS[match["way"]]
        wanted = metres(match)
        moves = [
            middle_of(shape) - middle_of(points_of(old)) for shape in shapes for old in before.drawn
        ]
        along = [float(dx * x + dy * y) for dx, dy in moves]
        widths = [float(np.ptp(shape, axis=0) @ np.abs([x, y])) for shape in shapes]
        meant = [wanted, *(wanted + width for width in widths)]
        if along and not any(
            same(one, way, CHANGE_SHARE, CHANGE_SLACK_M) for one in meant for way in along
        ):
            near = min(along, key=lambda way: abs(way - wanted))
            asked = f"{100 * wanted:g} cm were asked for"
            yield f"the copy is {100 * near:.1f} cm {match['way']} of it, where {asked}"
        return
    others = [*shapes, *(points_of(old) for old in before.drawn)]
    if _INSIDE_IT.search(words) and len(shapes) in (1, 2) and len(others) > 1:
        outlines = [Polygon(shape) for shape in others if len(shape) > 3]
        inner = [Polygon(shape) for shape in shapes if len(shape) > 3]
        if inner and not any(
            one is not other and holds(other, one) for one in inner for other in outlines
        ):
            yield "nothing new is inside another shape"
    if _AROUND_IT.search(words) and len(shapes) == len(before.drawn) == 1:
        old = Polygon(points_of(before.drawn[0])) if len(before.drawn[0]) > 3 else None
        if old and not (len(shapes[0]) > 3 and holds(Polygon(shapes[0]), old)):
            yield "what is new is not around what was there"
    if (match := _BESIDE_IT.search(words)) and len(shapes) == 1 and len(before.drawn) == 1:
        at = middle_of(points_of(before.drawn[0])).tolist()
        yield from not_at_side(match["side"], shapes[0], at, "it")


def _is_straight(points: Points) -> bool:
    centred = points - points.mean(axis=0)
    across = np.linalg.svd(centred, full_matrices=False)[2][1]
    return bool(np.abs(centred @ across).max() <= STRAIGHT_M)


def _overlap(shapes: Sequence[Points]) -> bool:
    from shapely import MultiPoint

    areas = [MultiPoint(shape).convex_hull for shape in shapes]
    pairs = itertools.combinations(areas, 2)
    return any(
        one.intersection(other).area > OVERLAP * min(one.area, other.area) for one, other in pairs
    )


def _in_a_row(shapes: Sequence[Points]) -> bool:
    middles = np.array([middle_of(shape) for shape in shapes])
    centred = middles - middles.mean(axis=0)
    _, spread, _ = np.linalg.svd(centred)
    return bool(spread[1] <= IN_A_ROW * spread[0])


def _other_way(words: str, named: str, shape: Points) -> Iterator[str]:
    """Yield that a line does not run the way that was said."""
    wide, high = np.ptp(shape, axis=0)
    length = float(np.linalg.norm(np.diff(shape, axis=0), axis=1).sum())
    if (line := _LINE.search(words)) and (wide > high) != (line[1] == "horizontal"):
        yield f"the line is not {line[1]}"
    way = _LINE_WAY.search(words) if named == "line" and not _BENT.search(words) else None
    if way is not None:
        x, y = WAYS[way["way"].removesuffix("s").removesuffix("ward")]
        dx, dy = shape[-1] - shape[0]
        if dx * x + dy * y < (1 - CHANGE_SHARE) * length:
            yield f"the line does not go straight {way['way']}"


def _unlike(words: str, named: str, shape: Points) -> Iterator[str]:
    """Yield how one shape differs from what it is called."""
    if _NOT_QUITE.search(words):
        return
    gap = float(np.linalg.norm(shape[-1] - shape[0]))
    closed, size = gap < SLACK_M, float(np.ptp(shape, axis=0).max())
    if gap > OPEN_SHARE * size and (named == "circle" or named in CORNERS):
        yield f"the {named} is open: its ends are {100 * gap:.0f} cm apart"
        return
    big = size > 15 * STRAIGHT_M  # a small one has no corners to be seen
    if named == "circle" and big and closed and (found := corners_of(shape)) <= 5:
        yield f"it has {found} corners, which no circle has"
    points = _POINTED.search(words) if named == "star" else None
    usual = (_number(points[1]), 2 * _number(points[1])) if points else CORNERS.get(named)
    kind = f"{points[1]}-pointed {named}" if points else named
    if usual and (found := corners_of(shape)) not in usual:
        yield f"it has {found} corners, which no {kind} has"
    short, long = sorted(np.ptp(shape, axis=0)) if named == "circle" else box_of(shape)
    regular = named == "square" or (named == "circle" and closed and len(shape) > _ROUND)
    if regular and long - short > REGULAR * long:
        yield f"it is {100 * short:.0f} cm by {100 * long:.0f} cm, which no {named} is"


def _place(words: str) -> str:
    """Return the place where a shape is to be; "" where none is named, or one of a part of it."""
    match = PLACE.search(words)
    return "" if match is None or _OF_A_PART.search(words) else match["place"]


def _misplaced(words: str, shape: Points, before: Observation) -> Iterator[str]:
    """Yield where one shape is not, of the named things."""
    points = {**before.landmarks, **before.positions}
    for place, begin, _ in mentions(words, points):
        if _CENTRED.search(words[:begin]):
            off = math.dist(middle_of(shape), points[place][:2])
            if off > max(CENTRED_M, CENTRED_SHARE * size_of(shape)):
                yield f"its middle is {100 * off:.0f} cm from {place!r}"
    names = mentions(words, before.positions)
    places = {name: before.positions[name][:2] for name, _, _ in names}
    if len(names) == 1 and (side := _SIDE.search(words[: names[0][1]])):
        ((name, at),) = places.items()
        yield from not_at_side(side["side"], shape, at, repr(name))
    if len(names) == 2 and _HALFWAY.search(words[: names[0][1]]):
        off = math.dist(middle_of(shape), np.mean([*places.values()], axis=0))
        if off > max(CENTRED_M, CENTRED_SHARE * size_of(shape)):
            yield f"its middle is {100 * off:.0f} cm from halfway between them"
    ends = mentions(words, before.landmarks)
    if not names and len(ends) == 2 and _JOINS.search(words[: ends[0][1]]):
        for place, _, _ in ends:
            away = min(math.dist(before.landmarks[place][:2], end) for end in (shape[0], shape[-1]))
            if away > CORNER_M:
                yield f"the line does not end at the {place}"
    elif not names and (place := _place(words)) and "middle" in before.landmarks:
        yield from not_at_place(place, shape, before.landmarks["middle"])
    if len(places) == 2 and _JOINS.search(words[: names[0][1]]):
        for end in (shape[0], shape[-1]):
            apart = {name: math.dist(xyz[:2], end) for name, xyz in before.positions.items()}
            if (nearest := min(apart, key=lambda name: apart[name])) not in places:
                yield f"the line ends at {nearest!r}"
