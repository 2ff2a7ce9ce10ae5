"""Words against a drawing: the shapes, lengths and places that were asked for, and what was drawn.

One shape is taken to be one stroke, or all the new ones. A stated length must be a size of
something new, or a distance from it; a size counts with the word that says what it measures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from cap.engine.doubts.sentence import NUMBERS, UNITS, clauses_of, mentions
from cap.engine.doubts.shapes import (
    KNOWN,
    MEASURES,
    Points,
    Stroke,
    corners_of,
    is_closed,
    looks_like,
    middle_of,
    points_of,
    same,
    sizes_of,
)
from cap.engine.effect import INK
from cap.robot.observation import Observation

CHANGE_SHARE, CHANGE_SLACK_M = 0.05, 0.003
"""A change of size, or a move, may be off by this share, and by so much more."""
TURNED_DEG = 5.0
"""A turn may be off by so much."""
MIDDLE_M, CORNER_M = 0.06, 0.12
"""A shape in the middle of the board, and the end of a line at a place, are not farther from it."""
CENTRED_M, CENTRED_SHARE = 0.02, 0.15
"""The middle of a shape is at a point if it is nearer to it than this or a share of its size."""
STARTS_SHARE = 0.4
"""A line begins at a point if it is nearer to it than this share of its length."""
SHAPES = (
    "line|circle|square|triangle|rectangle|pentagon|hexagon|octagon|star|cross|arrow|house|heart"
    "|dot|ring|oval|ellipse|stroke"
)
WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}
_TIMES = {"twice": 2.0, "double": 2.0, "triple": 3.0, "half": 0.5, "halve": 0.5}
_OPEN = re.compile(
    r"\b(?:if|unless|or|either|maybe|perhaps|until|whichever|undo|no wait|i mean)\b|\?$"
)
_NEGATED = re.compile(r"^(?:don't|do not|no|not|never|without|keep|leave (?!an?\b))\b")
_DRAWS = re.compile(
    r"(?:(?:draw|sketch|paint|trace|add|put|copy|duplicate|repeat|connect)\b|make a copy\b)"
)
_KEEPS = re.compile(
    r"\b(?:bigger|larger|smaller|longer|shorter|twice|half|double|but|replace|instead|turn|change"
    r"|make (?!a\b)|move|redo|redraw|shift|scale|rotate|over)\b"
)
"""Words without which everything that was drawn is to stay."""
_ERASES = re.compile(
    r"^(?:erase|wipe|clear|delete|remove|get rid of|rub|take away|scratch|undraw)\b"
)
_ALL_DRAWN = re.compile(
    r"^(?:get rid of|\w+(?: out| away| off)?) (?:everything|it|that|all(?: of (?:it|them))?|them"
    r"|both|(?:all of )?the (?:whole )?(?:board|drawing|picture))(?: of them| all| completely"
    r"| clean| out| away| off| again| after\w*| (?:on|off|from) the board)*$"
)
_KIND_ERASED = re.compile(
    rf"\b(?:the|all|every|both|each)(?: of)?(?: the)? (?P<kind>{SHAPES})(?P<many>e?s)?(?: again)?$"
)
_PART_OF = re.compile(r"\b(?:(?:one|two|some|most) of|half|part|piece|end|side|except|but|only)\b")
_CHANGES = re.compile(
    r"^(?:make|turn|change|replace|exchange|scale|move|shift|slide|nudge|push|pull|rotate|spin|flip"
    r"|mirror|shrink|enlarge|grow|double|triple|halve|stretch|widen|resize) "
    r"(?:it|its size|that|them|(?:the|both|all) [\w ]+?|everything)(?=$| (?!look\b))"
)
_MOVE = re.compile(r"^(?:move|shift|slide|nudge|push|pull)\b")
_WAY = re.compile(r"\b(left|right|up|down)(?:wards?)?\b(?! (?:of|corner|side|half))")
_ROTATES = re.compile(
    r"^(?:turn|rotate|spin)\b.*?\b(?P<degrees>\d+(?:\.\d+)?) ?(?:deg\w*|°)(?: to the)?"
    r"(?: (?P<way>clockwise|right|counter ?-?clockwise|anti ?-?clockwise|left))?"
)
_BIGGER = re.compile(r"\b(?:bigger|larger|enlarge|grow|double|triple|twice)\b")
_SMALLER = re.compile(r"\b(?:smaller|shrink|halve|half|tinier)\b")
_FACTOR = re.compile(
    r"\b(?P<times>twice|half|double|triple|halve"
    rf"|(?:\d+(?:\.\d+)?|{'|'.join(NUMBERS)})(?= times))\b"
)
_ONE_WAY = re.compile(r"\b(?:wide\w*|width|tall\w*|high\w*|height|long\w*|short\w*|percent)\b|%")
_MEASURE = "|".join(MEASURES)
_LENGTH = re.compile(
    rf"(?:\b(?P<before>{_MEASURE})(?: of| is| are| at| (?:should|must|has to|have to) be)? )?"
    r"\b(?P<number>\d+(?:\.\d+)?) ?-?(?P<unit>mm|cm|m)\b(?![²^])"
    r"(?! (?:spac\w+|steps?|wavelength|period|thick)\b)"
    rf"(?:[- ](?:in )?(?P<after>{_MEASURE})\b|(?P<of_shape> by\b| (?:\w+ )?(?:{SHAPES})s?\b))?"
)
_SEVERAL = re.compile(rf"\b({'|'.join(NUMBERS)}|\d+) (?:(?!and\b|or\b|to\b|by\b)\w+ )?$")
"""How many of a size, just before it."""
_AREA = re.compile(r"\b\d+(?:\.\d+)? (?:square|sq\.?) ?(?:cm|m)\b")
_ASLANT = re.compile(r"\b(?:tilted|rotated|diagonal\w*)\b")
_EDGE = re.compile(r"\b(?:edges?|borders?|sides?|corners?|margins?|frame)\b")
_SHAPE = re.compile(
    rf"(?<!\bthe )(?<!\bthese )(?<!\bthose )\b(an?|another|{'|'.join(NUMBERS)}|\d+) "
    rf"(?!(?:mm|cm|m)\b)(?:(?!(?:{'|'.join(NUMBERS)}|of|with)\b)[\w.]+ ){{0,3}}?"
    rf"({SHAPES})(?:e?s)?\b(?! wave)"
    r"(?! of (?:(?:two|three|four|five|six)\b|\d+ (?!(?:mm|cm|m)\b)))"
)
_PARTS = re.compile(
    r":|\b(?:made|out|consist\w+|composed|using) (?:of|up)?\b|\bhouse\b.*\bwith\b"
    r"|\bwith \w+ (?:lines|strokes|sides)\b|\b(?:form\w*|like|shaped?) "
)
"""Words after which shapes are parts of another one."""
_NOT_QUITE = re.compile(r"\b(?:round\w*|half|semi\w*|quarter|oval|squashed|flat\w*|ellip\w*)\b")
"""Words after which a shape need not look like its name."""
_POINTED = re.compile(rf"\b({'|'.join(NUMBERS)}|\d+)-?pointed\b")
_LEVEL = re.compile(r"\b(horizontal|vertical)\b")
_PLACE = re.compile(
    r"\b(?:in|into|to|at|on|along) the (?P<place>(?:top|bottom) (?:left|right) corner"
    r"|(?:top|bottom|left|right) (?:side|half)|middle)\b(?! of)"
)
_OF_A_PART = re.compile(
    r"\b(?:start\w*|begin\w*|end|ends|ending|vertex|origin|tip|corner|through|pass\w*|from)"
    r" (?:\w+ )?(?:in|at|on|to) the\b"
)
"""Before a place where a part of a shape is to be, and not its middle."""
_SIDE = re.compile(r"\b(above|below|under|beneath|left of|right of|around)(?: the)? $")
_BESIDE_IT = re.compile(
    rf"\b(above|below|under|beneath|left of|right of|around) (?:it|that|the (?:{SHAPES}))$"
)
_JOINS = re.compile(r"\b(?:from|between|connect(?:ing|s)?|join(?:ing|s)?) (?:the )?$")
"""Before the first of two things that a line leads from and to."""
_HALFWAY = re.compile(r"\b(?:halfway|half way|midway|exactly|in the middle) between (?:the )?$")
_SAYS_SIZE = re.compile(r"^[^\d]*, make it \d[\w. ]*(?:long|wide|high|tall|across)$")
"""A shape whose size alone is said after it: "a line, make it 12 cm long"."""
_TURNED_BY = re.compile(
    r"\b(?P<kind>square|rectangle|line)\b.*\b(?:turned|rotated|tilted|at)(?: by| at)?"
    r"(?: an angle of)? (?P<degrees>\d+(?:\.\d+)?) ?(?:deg\w*|°)"
)
_LEADS = re.compile(
    r"\bline\b(?=.*\bfrom (?:the )?(?P<start>[\w ]+?)(?:$|,| (?:going|straight|up|down|to|\d)))"
    r".*\b(?P<way>up|down|left|right)(?:wards?)?\b(?! (?:of|corner|side|half))"
)
"""A line from a named place one way."""
_AROUND_BOTH = re.compile(
    r"\ba?round (?:one|the \w+) (?:of the )?(?P<kind>\w+)\b.*\ba?round (?:the |an)other\b"
)
_ALL_OF = r"(?:the|each|every|all|both)(?: of)?(?: the)?(?: (?:two|three|four|five|six))?"
_EACH_AROUND = re.compile(
    r"(?:\ba?round|^(?:circle|encircle|ring|frame|box in|enclose|surround))"
    rf" (?P<of>{_ALL_OF}) (?P<kind>\w+?)(?P<many>s?)(?=$|,)"
)


def missing_in_drawing(words: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield what a drawing lacks, or has too much; a line each.

    Args:
        words: The instruction, as `plain_words` has it.
        before: The world before.
        after: The world after.
    """
    if INK not in after.condition or _OPEN.search(words):
        return
    clauses = [clause for clause in clauses_of(words) if not _NEGATED.match(clause)]
    erasing = [clause for clause in clauses if _ERASES.match(clause)]
    if not (before.drawn or after.drawn):
        if _DRAWS.match(words) and not erasing:
            yield "nothing was drawn"
        return
    gone = [stroke for stroke in before.drawn if stroke not in after.drawn]
    new = [stroke for stroke in after.drawn if stroke not in before.drawn]
    shapes = [points_of(stroke) for stroke in new if len(stroke) > 1]
    if erasing:
        last = erasing[-1] == clauses[-1]
        left = [stroke for stroke in after.drawn if last or stroke in before.drawn]
        draws_too = last and len(erasing) < len(clauses)
        yield from _not_erased(erasing[-1], before.drawn, gone, left, draws_too)
    elif before.drawn and clauses and _CHANGES.match(clauses[0]):
        if new and not gone:
            yield "what was drawn before is still there beside it"
        elif len(clauses) == 1 and shapes and len(new) == len(gone):
            yield from _not_changed(words, before, gone, shapes)
    else:
        if gone and _DRAWS.match(words) and not _KEEPS.search(words):
            yield "what was drawn before is not there any more"
        if shapes:
            text = _AREA.sub("", ", ".join(clauses))
            yield from _missing_shapes(text, shapes)
            yield from _not_around_each(text, shapes, before)
            yield from _not_around_both(text, shapes, before)
            changes = [clause for clause in clauses[1:] if _CHANGES.match(clause)]
            if not changes or _SAYS_SIZE.search(text):
                yield from _missing_lengths(text, shapes, before)
            if not changes:
                yield from _misplaced(text, shapes, before)
                yield from _not_aslant(text, shapes)
                yield from _led_differently(text, shapes, before)


def _not_erased(
    clause: str,
    drawn: Sequence[Stroke],
    gone: Sequence[Stroke],
    left: Sequence[Stroke],
    draws_too: bool,
) -> Iterator[str]:
    """Yield what was to be erased and is still there, or was erased and was to stay.

    Args:
        clause: What is said of erasing.
        drawn: What was drawn before.
        gone: What of that is there no more.
        left: What is still there, that may have been to be erased.
        draws_too: Whether something was to be drawn before that.
    """
    kind = _KIND_ERASED.search(clause)
    if _PART_OF.search(clause):
        return
    if _ALL_DRAWN.match(clause):
        one = re.search(r"\b(?:it|that)\b", clause)
        if left and not (one and drawn and max(len(drawn), len(left)) > 1):
            yield "there is still something drawn that was to be erased"
    elif kind is not None and kind["kind"] in KNOWN:
        of_kind = [looks_like(points_of(stroke), kind["kind"]) for stroke in drawn]
        still = any(looks_like(points_of(stroke), kind["kind"]) for stroke in left)
        if still and (kind["many"] or sum(of_kind) + draws_too <= 1):
            yield f"a {kind['kind']} is still there"
        elif not all(looks_like(points_of(stroke), kind["kind"]) for stroke in gone):
            yield "more was erased than was to be"


def _not_changed(
    words: str, before: Observation, gone: Sequence[Stroke], shapes: Sequence[Points]
) -> Iterator[str]:
    """Yield how a shape that was to be moved, turned or scaled is not as it was to be."""
    was, now = np.concatenate([points_of(stroke) for stroke in gone]), np.concatenate(shapes)
    way, length, turn = _WAY.search(words), _LENGTH.search(words), _ROTATES.match(words)
    if turn is not None:
        yield from _not_turned(turn, was, now)
    elif _MOVE.match(words) and way is not None:
        (x, y), (dx, dy) = WAYS[way[1]], middle_of(now) - middle_of(was)
        along, across = dx * x + dy * y, abs(dx * y) + abs(dy * x)
        if along <= 0 or across > along:
            yield f"it did not move {way[1]}"
        elif length and not same(_metres(length), along, CHANGE_SHARE, CHANGE_SLACK_M):
            yield f"it moved {100 * along:.1f} cm, where '{length[0].strip()}' was asked for"
    elif _MOVE.match(words):
        yield from _not_at_place(words, now, before)
    elif length is not None:
        yield from _missing_lengths(words, shapes, before)
    elif not _ONE_WAY.search(words):
        yield from _not_scaled(words, was, now)


def _not_turned(turn: re.Match[str], was: Points, now: Points) -> Iterator[str]:
    """Yield that a shape of the same points is not turned as far, or the way, that was said."""
    if len(was) != len(now):
        return
    arms, turned_arms = ((shape - shape.mean(axis=0)) @ (1, 1j) for shape in (was, now))
    turned = math.degrees(float(np.angle(np.vdot(arms, turned_arms))))
    degrees, way = float(turn["degrees"]), turn["way"] or ""
    wanted = [-degrees] if way in ("clockwise", "right") else [degrees]
    wanted += [] if way else [-degrees]
    if min(abs(math.remainder(turned - one, 360)) for one in wanted) > TURNED_DEG:
        yield f"it is not turned by {turn['degrees']} degrees{way and ' ' + way}"


def _not_scaled(words: str, was: Points, now: Points) -> Iterator[str]:
    """Yield that a shape is not so much bigger, or smaller, as was said."""
    sizes = (float(np.linalg.norm(np.ptp(shape, axis=0))) for shape in (now, was))
    times = next(sizes) / next(sizes)
    said, bigger, smaller = (some.search(words) for some in (_FACTOR, _BIGGER, _SMALLER))
    if said is not None:
        factor = _TIMES.get(said["times"]) or float(NUMBERS.get(said["times"], 0) or said["times"])
        factor = 1 / factor if smaller and factor > 1 else factor
        meant = [factor, math.sqrt(factor), *([1 + factor] if bigger and factor < 1 else [])]
        if not any(same(one, times, CHANGE_SHARE) for one in meant):
            yield f"it is {times:.2g} times as big, where {factor:.2g} times was asked for"
    elif bigger and times < 1:
        yield f"it is {times:.2g} times as big, where it was to be bigger"
    elif smaller and times > 1:
        yield f"it is {times:.2g} times as big, where it was to be smaller"


def _missing_lengths(words: str, shapes: Sequence[Points], before: Observation) -> Iterator[str]:
    """Yield the stated lengths that are no size of a new shape, and no distance from one."""
    stated = list(_LENGTH.finditer(words))
    if not stated:
        return
    sizes = [sizes_of(shape) for shape in shapes]
    if len(shapes) > 1:  # one shape of several strokes
        every = np.concatenate(shapes)
        sizes.append(sizes_of(np.array([every.min(axis=0), every.max(axis=0)])))
    for match in stated:
        kind = MEASURES.get(match["before"] or match["after"] or "", "")
        kind = "side" if kind in ("wide", "high") and _ASLANT.search(words) else kind
        found = [
            [one for name in each if kind in ("", name) for one in each[name]] for each in sizes
        ]
        several, wanted = _SEVERAL.search(words[: match.start()]), _metres(match)
        if not kind and not match["of_shape"]:  # it may be a distance
            found.append(_distances(words, shapes, before))
            several = None
        count = _number(several[1]) if several else 1
        having = sum(any(same(wanted, one) for one in each) for each in found)
        if having < min(count, len(shapes)):
            near = min((one for each in found for one in each), key=lambda one: abs(one - wanted))
            lacking = "nothing new measures" if count == 1 else f"{having} of {count} measure"
            yield f"{lacking} '{match[0].strip()}'; the nearest is {100 * near:.1f} cm"


def _number(text: str) -> int:
    return NUMBERS.get(text) or int(text)


def _metres(match: re.Match[str]) -> float:
    return float(match["number"]) * UNITS[match["unit"]]


def _distances(words: str, shapes: Sequence[Points], before: Observation) -> list[float]:
    """Return how far the new shapes are from each other, from old ones and from named places."""
    places = {**before.landmarks, **before.positions}
    named = [name for name, _, _ in mentions(words, places)] or ["middle"]
    fixed = [
        places[name][:2] for name in (places if _EDGE.search(words) else named) if name in places
    ]
    others = [points_of(stroke) for stroke in before.drawn if len(stroke) > 1]
    others += [np.array([point]) for point in fixed]
    found = list[float]()
    for n, shape in enumerate(shapes):
        for other in [*shapes[n + 1 :], *others]:
            away = _marks(shape, True) - _marks(other, False)
            found += [*np.abs(away).ravel(), *np.hypot(*away.T)]
    return found


def _marks(shape: Points, first: bool) -> Points:
    """Return the points of one of two shapes that distances are measured between, shape (n, 2)."""
    low, top = shape.min(axis=0), shape.max(axis=0)
    facing = [low, top] if first else [top, low]
    return np.array([low, top, (low + top) / 2, shape[0], shape[-1], *facing])


def _missing_shapes(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield how many shapes lack, and which do not look like their name."""
    if _PARTS.search(words):
        return
    named = [(_count(number), kind) for number, kind in _SHAPE.findall(words)]
    count = sum(number for number, _ in named)
    alone = named[0][1] if len(named) == 1 < count else ""
    all_alike = alone in (*KNOWN, "stroke") and all(looks_like(one, alone) for one in shapes)
    if len(shapes) < count or (len(shapes) > count and all_alike):
        yield f"{len(shapes)} drawn, where {count} shapes were asked for"
    points, level = _POINTED.search(words), _LEVEL.search(words)
    for wanted, kind in named if len(shapes) == count and not _NOT_QUITE.search(words) else ():
        alike = sum(looks_like(s, kind, _number(points[1]) if points else 0) for s in shapes)
        if alike < wanted:
            yield f"{alike} of {wanted} drawn look like a {kind}"
        wide, high = np.ptp(shapes[0], axis=0)
        if count == 1 and kind == "line" and level and (wide > high) != (level[1] == "horizontal"):
            yield f"the line is not {level[1]}"


def _count(text: str) -> int:
    return 1 if text in ("a", "an", "another") else _number(text)


def _not_around_each(words: str, shapes: Sequence[Points], before: Observation) -> Iterator[str]:
    """Yield the things that were to have a shape around each, and have none."""
    match = _EACH_AROUND.search(words)
    if match is None or not (match["many"] or match["of"].startswith(("each", "every"))):
        return
    for name, (x, y, *_) in before.positions.items():
        if name.split()[-1] == match["kind"] and not any(_holds(shape, (x, y)) for shape in shapes):
            yield f"nothing is around {name!r}"


def _not_around_both(words: str, shapes: Sequence[Points], before: Observation) -> Iterator[str]:
    """Yield the one of two things that has nothing around it, where each was to have something."""
    if match := _AROUND_BOTH.search(words):
        kind = match["kind"].removesuffix("s")
        points = [at[:2] for name, at in before.positions.items() if name.split()[-1] == kind]
        having = sum(any(_holds(shape, point) for shape in shapes) for point in points)
        if having < 2 <= len(points):
            yield f"there is something around {having} {kind} alone"


def _holds(shape: Points, point: Sequence[float]) -> bool:
    return bool((shape.min(axis=0) < point).all() and (point < shape.max(axis=0)).all())


def _misplaced(words: str, shapes: Sequence[Points], before: Observation) -> Iterator[str]:
    """Yield where one shape is not, of the named things and places."""
    if sum(_count(number) for number, _ in _SHAPE.findall(words)) > 1 or _PARTS.search(words):
        return
    shape = np.concatenate(shapes)
    places = {name: at[:2] for name, at in {**before.landmarks, **before.positions}.items()}
    named = mentions(words, places)
    things = [one for one in named if one[0] in before.positions]
    spots = {name: side[1] for name, begin, _ in things if (side := _SIDE.search(words[:begin]))}
    if len(things) == 1 and spots:
        ((name, where),) = spots.items()
        if not _is_at_side(where, shape, places[name]):
            yield f"it is not {where} {name!r}"
    elif (side := _BESIDE_IT.search(words)) and len(before.drawn) == 1:
        if not _is_at_side(side[1], shape, middle_of(points_of(before.drawn[0])).tolist()):
            yield f"it is not {side[1]} what was there"
    elif len(named) == 2 and _HALFWAY.search(words[: named[0][1]]):
        halfway = np.mean([places[name] for name, _, _ in named], axis=0)
        off = math.dist(middle_of(shape), halfway)
        if off > max(CENTRED_M, CENTRED_SHARE * np.ptp(shape, axis=0).max()):
            yield f"its middle is {100 * off:.0f} cm from halfway between them"
    elif len(named) == 2 and _JOINS.search(words[: named[0][1]]) and not is_closed(shape):
        for name, _, _ in named:
            if min(math.dist(places[name], end) for end in (shape[0], shape[-1])) > CORNER_M:
                yield f"the line does not end at the {name}"
    elif not things:
        yield from _not_at_place(words, shape, before)


def _not_aslant(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield that no side of a shape has the angle, from level or upright, that was said."""
    match = _TURNED_BY.search(words)
    if match is None or len(shapes) != 1:
        return
    corners = corners_of(shapes[0])
    sides = np.diff(np.vstack([corners, corners[: len(corners) > 2]]), axis=0)
    degrees, along = float(match["degrees"]), np.degrees(np.arctan2(*sides.T[::-1]))
    off = [abs(math.remainder(one - way * degrees, 90)) for one in along for way in (1, -1)]
    if min(off) > TURNED_DEG:
        yield f"the {match['kind']} is not turned by {match['degrees']} degrees"


def _led_differently(words: str, shapes: Sequence[Points], before: Observation) -> Iterator[str]:
    """Yield that a line does not lead from where it was to begin the way that was said."""
    match = _LEADS.search(words)
    places = {**before.landmarks, **before.positions}
    if match is None or match["start"] not in places or len(shapes) != 1:
        return
    at, (x, y) = np.array(places[match["start"]][:2]), WAYS[match["way"]]
    ends = sorted((shapes[0][0], shapes[0][-1]), key=lambda end: float(np.linalg.norm(end - at)))
    (dx, dy), off = ends[1] - ends[0], float(np.linalg.norm(ends[0] - at))
    if off > STARTS_SHARE * math.hypot(dx, dy) or dx * x + dy * y <= abs(dx * y) + abs(dy * x):
        yield f"the line does not lead {match['way']} from the {match['start']}"


def _is_at_side(side: str, shape: Points, at: Sequence[float]) -> bool:
    """Tell whether a shape is at a side of a point, such as above it."""
    (middle_x, middle_y), (x, y) = middle_of(shape), at
    if side == "around":
        return _holds(shape, at)
    if side in ("left of", "right of"):
        return bool((middle_x < x) == (side == "left of"))
    return bool((middle_y > y) == (side == "above"))


def _not_at_place(words: str, shape: Points, before: Observation) -> Iterator[str]:
    """Yield where on the board a shape is not: the middle of it counts."""
    match, middle = _PLACE.search(words), before.landmarks.get("middle")
    if match is None or middle is None or _OF_A_PART.search(words):
        return
    x, y = middle_of(shape) - np.array(middle[:2])
    sides = {"left": x < 0, "right": x > 0, "top": y > 0, "bottom": y < 0}
    sides["middle"] = math.hypot(x, y) <= MIDDLE_M
    if not all(sides.get(word, True) for word in match["place"].split()):
        yield f"it is not in the {match['place']}"
