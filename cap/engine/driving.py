"""Words against a drive: how far, which way and where to a robot was to go, and where it is."""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from cap.engine.effect import ITSELF, VELOCITY, Effect
from cap.engine.measures import AREA, AREA_SHARE, area_m2
from cap.engine.sentence import NUMBERS, UNITS, clauses_of, mentions
from cap.engine.shapes import Points, box_of, middle_of
from cap.robot.observation import Observation

SHARE, SLACK_M = 0.02, 0.012
"""A drive may be off by this share of the length that was said, and by so much more."""
TURNED_DEG = 20.0
"""A turn may be off by so much."""
PASSED_M = 1.6
"""A robot that went to a piece of furniture came this close to its middle, metres."""
RETURNED_M = 0.3
"""What has come back is not farther from where it was."""
FURNITURE_M = 1.0
"""A distance to a thing in a room may be meant to its edge: so much more lies to its middle."""
HEADINGS = {"forward": 0, "ahead": 0, "left": 90, "right": -90, "back": 180, "around": 180}
"""Degrees from where a robot that drives looks, to its left."""
STRAIGHT = 0.9
"""A drive went the way that was said if this share of it, or more, is along that way."""
FIGURES = {
    "circle": (math.pi, 1.0, 1.0),
    "square": (4.0, 1.0, 1.0),
    "loop": (math.pi, 1.0, 1.0),
    "triangle": (3.0, math.sqrt(3) / 2, 1.0),
}
"""How long a figure is, how narrow and how wide, in its diameter or its side."""
POLYGON_SHARE = 0.05
"""A circle may be driven as a polygon, of ten corners or more, which is smaller by this share."""
_USUAL = {
    re.compile(r"^(?:back up|back off|back|reverse|retreat)\b(?! to\b)"): "drive back",
    re.compile(r"^(?:drop|stop|swing) by (?=the )"): "visit ",
    re.compile(r"^advance\b"): "drive forward",
    re.compile(r"\b(back|for|side)wards?\b"): r"\1ward",
    re.compile(r"\bbackward\b"): "back",
    re.compile(r"\b(?:straight ahead|straight on|ahead)\b"): "forward",
    re.compile(
        r"^(?:roll|creep|go|move|travel|walk|head|step|inch|ride|come|run|stand|park|patrol|trace"
        r"|keep driving|keep going)\b"
    ): "drive",
    re.compile(r"^(?:make|do) (?=an? (?:\w+ )?(?:loop|lap|circle|square|tour|figure|round))"): (
        "drive "
    ),
    re.compile(r"^(?:rotate|spin|pivot|swivel)\b"): "turn",
    re.compile(r"\bcounter ?-?clockwise\b|\banti ?-?clockwise\b"): "left",
    re.compile(r"\bclockwise\b"): "right",
    re.compile(r"\bhalf a turn\b"): "180 degrees",
    re.compile(r"\b(?:a )?quarter (?:of a )?turn\b"): "90 degrees",
}
"""What is said in several ways, and how it is written here."""
_OTHERS = re.compile(
    r"\b(?:drive|turn) (?:it|them|both|all|every\w*|your (?:hand|gripper|arm)"
    r"|an? (?!(?:\w+ )?(?:square|circle|triangle|rectangle|figure|loop|lap|zigzag|spiral"
    r"|path|route|way|tour|distance|line|curve)|little|bit|m\b)"
    r"|the (?!left|right|robot|other way))\b"
)
"""Of a thing, and not of the robot."""
_DRIVES = re.compile(r"^(?:drive|turn|follow|visit|stop|halt|stay)\b")
_TURN = re.compile(
    r"^turn(?: yourself)?(?: (?:to|towards))?(?: (?:the|your))? ?(?P<way>left|right|around)?"
    r"(?: (?:by|through|for))?(?: ?(?P<degrees>\d+(?:\.\d+)?) ?(?:deg\w*|°))?"
    r"(?: to (?:the|your) (?P<last>left|right)| (?P<plain>left|right))?(?: once)?$"
)
_LENGTH = re.compile(
    r"(?<!most )(?<!up to )(?<![\d.])(\d+(?:\.\d+)?) ?(cm|m)\b"
    r"(?! (?:from|of|past|beyond|away|behind|(?:to the )?(?:left|right) of|in front|before|radius)"
    r"|/| per)"
)
_WAY = re.compile(
    r"\b(left|right|forward|back)\b"
    r"(?! (?:of|side|up|to (?!the (?:left|right)|your)|again|and forth))"
)
_NOT_LEGS = re.compile(
    r"\b(?:circle|square|triangle|rectangle|figure|diagonal|times|radius|sides?|between|around"
    r"|from|past|away|every|per|loop|lap|laps|tour|in all|in total|zigzag|turns)\b"
)
_ANY_LENGTH = re.compile(
    r"(?<!most )(?<!least )(?<!within )(?<!than )(?<!up to )(?<!every )(?<!under )(?<!over )"
    r"(?<![\d.])(\d+(?:\.\d+)?) ?(cm|m)\b(?!/| per| a second| around| or\b)"
)
_SPEED = re.compile(
    r"\bat (\d+(?:\.\d+)?) ?m(?:/s| per second| a second)? for (\d+(?:\.\d+)?) ?(?:s|seconds?)\b"
)
_FOR_SECONDS = re.compile(
    r"\bfor (\d+(?:\.\d+)?) ?(?:s|seconds?) at (\d+(?:\.\d+)?) ?m(?:/s| per second| a second)"
)
_FROM = re.compile(
    r"\b(\d+(?:\.\d+)?) ?(cm|m) (?:away )?(?:from|past|behind|beyond|in front of|before"
    r"|(?:to the )?(?:left|right) of) (?:the )?(?P<name>[\w ]+)$"
)
_OFTEN = {"twice": 2, "thrice": 3}
_ROUNDS = re.compile(
    rf"\b(twice|thrice|(?:{'|'.join(NUMBERS)}|\d+)(?= (?:full |whole |complete )?"
    r"(?:times|laps|rounds|turns|circles|rotations|spins|revolutions)\b))"
)
_GOES_AROUND = re.compile(
    r"^(?!.*\bdeg).*\b(?:around|laps|rounds|spin|circles|full turns|on the spot)\b"
)
_ROUND_SHARE = 0.2
"""A round may lack so much of itself."""
_POINT = re.compile(
    r"(?:\bx ?=? ?(?P<x>-?\d+(?:\.\d+)?)(?: m)?,? (?:and )?y ?=? ?(?P<y>-?\d+(?:\.\d+)?)"
    r"|\((?P<x2>-?\d+(?:\.\d+)?), ?(?P<y2>-?\d+(?:\.\d+)?)\))(?: m)?$"
)
POINT_M = 0.05
"""A point with coordinates is reached so near."""
_BY = re.compile(r"(\d+(?:\.\d+)?) ?(cm|m) by (\d+(?:\.\d+)?) ?(cm|m)\b")
_FIGURE = re.compile(r"(?<!half )(?<!quarter )\b(circle|loop|square|triangle)(?:s\b|\b(?! m\b))")
_SIDES = re.compile(
    r"\bsides\b[^\d]{0,20}((?:\d+(?:\.\d+)?(?: ?m)?(?:,? and |, ))+\d+(?:\.\d+)?) ?m\b"
)
_SIZE = re.compile(
    r"(\d+(?:\.\d+)?) ?(cm|m)[- ](?:in )?(?:long )?"
    r"(?:radius|diameter|sides?|edges?|circle|loops?|square|triangle)\b"
    r"|\b(?:radius|diameter|sides?|edges?|circle|loops?|square|triangle)\b"
    r"(?: (?!m\b)[a-z]+){0,4}?"
    r" (\d+(?:\.\d+)?) ?(cm|m)\b(?! (?:from|away))"
)
_RETURNS = re.compile(
    r"^(?:(?:come|go|drive|return|get|be|and) )*(?:back|return)\b(?! \d)"
    r"(?: (?:again|right away|here|at once"
    r"|to (?:here|the start|your place|where you (?:are|started|were))))*(?: now)?$"
    r"|^(?:finish|end|stop) (?:up )?(?:here|where you (?:started|are|were|began))"
)
_TO = re.compile(r"^(?:drive|return|navigate|visit)\b.*?(?:\bto |^visit )(?:the )?$")
_GOES = ("drive", "return", "navigate", "visit")
_NEXT_TO = re.compile(r"\b(?:clos\w*|near\w*|next|front|side|towards?|way|back to you)\b")
_AND_BACK = re.compile(r"\b(?:and|then) (?:come |go |drive )?back\b(?! (?:to|off|up|\d))")
_STANDS = re.compile(r"\b(?:stop|halt|stand still)\b|\bfor \d+(?:\.\d+)? ?(?:s|sec\w*)\b")
_GOES_ON = re.compile(r"\b(?:keep|until|on and on|continue|don't stop|without stopping)\b")


def driven_otherwise(
    text: str, before: Observation, after: Observation, effect: Effect
) -> Iterator[str]:
    """Yield how a robot drove otherwise than it was to; a line each.

    Args:
        text: The instruction, as `plain_words` has it.
        before: The world before.
        after: The world after.
        effect: What the turn did.
    """
    base, _, travel = ITSELF
    left_on = effect.changed.get(VELOCITY, (None, None))[1]
    clauses = [_usual(clause) for clause in clauses_of(text)]
    drives = bool(clauses) and bool(_DRIVES.match(clauses[0])) and not _OTHERS.match(clauses[0])
    ends = _STANDS.search(text) or _LENGTH.search(text)
    if left_on and drives and ends and not _GOES_ON.search(text):
        yield f"a velocity of {left_on} is left on"
    if base not in before.condition or base not in after.condition or not clauses:
        return
    unmet = list[str]()
    if travel in before.condition and not effect.moved:
        unmet += _unmet_lengths(text, before, after)
        yield from _at_point(text, after)
        yield from _figured(text, before, after)
        yield from _around(text, before, after)
        yield from _passed(clauses, before, after)
    yield from _visited(clauses, before, after)
    yield from _returned(clauses, before, after)
    if drives:
        yield from _turned(clauses, before, after)
        off = [*_legs(clauses, before, after), *_apart(text, after)]
        if travel in before.condition and _figure(text) is None:
            off += _travelled(text, before, after)
        unmet = off or unmet  # they say the same in fewer words
    yield from unmet


def _usual(clause: str) -> str:
    for said, usual in _USUAL.items():
        clause = said.sub(usual, clause)
    for word in ("slowly", "straight", "quickly", "slightly", "carefully", "exactly", "then"):
        clause = clause.replace(f" {word}", "")
    return clause


def _visited(clauses: list[str], before: Observation, after: Observation) -> Iterator[str]:
    """Yield the place that the robot was to go to last and is not at."""
    places = [str(name) for name in before.facts.get("locations", ())]
    named = mentions(clauses[-1], places)
    if not named or named[-1][2] != len(clauses[-1]) or "at" not in after.facts:
        return
    name, begin, _ = named[-1]
    said = clauses[-1][:begin]
    if _TO.match(said) and not _NEXT_TO.search(said) and not _OTHERS.match(clauses[-1]):
        here = [one.removesuffix(" (closed)") for one in str(after.facts["at"]).split(" or ")]
        if name not in here:
            yield f"the robot is not at {name!r}"


def _passed(clauses: list[str], before: Observation, after: Observation) -> Iterator[str]:
    """Yield the places that the robot was to go to on the way, and did not come near."""
    from shapely import LineString, Point

    driven, places = _driven(before, after), list(map(str, before.facts.get("locations", ())))
    path = LineString(driven) if len(driven) > 1 else Point(driven[0])
    for clause in clauses:
        if _OTHERS.match(clause) or _NEXT_TO.search(clause) or not clause.startswith(_GOES):
            continue
        for name, begin, _ in mentions(
            clause, [name for name in places if name in after.landmarks]
        ):
            said = re.search(r"\bto (?:the )?$|^visit (?:the )?$", clause[:begin])
            if said and path.distance(Point(after.landmarks[name][:2])) > PASSED_M:
                yield f"the robot was not at {name!r}"


def _returned(clauses: list[str], before: Observation, after: Observation) -> Iterator[str]:
    """Yield how far the robot is from where it began, if it was to come back."""
    if len(clauses) < 2 or not _RETURNS.match(clauses[-1]) or not _DRIVES.match(clauses[0]):
        return
    way_m = math.dist(before.condition[ITSELF[0]][:2], after.condition[ITSELF[0]][:2])
    if way_m > RETURNED_M:
        yield f"the robot is {way_m:.2f} m from where it was, where it was to come back"


def _turns(clauses: list[str]) -> list[tuple[float | None, int]]:
    """Return the turns that are said: degrees to the left, None if open, and which way."""
    found = list[tuple[float | None, int]]()
    for clause in clauses:
        if turn := _TURN.match(clause):
            way = turn["way"] or turn["last"] or turn["plain"]
            sign = {"left": 1, "right": -1}.get(way or "", 0)
            degrees = float(turn["degrees"]) if turn["degrees"] else 180.0 if not sign else None
            found.append((degrees, sign))
    return found


def _turned(clauses: list[str], before: Observation, after: Observation) -> Iterator[str]:
    turns = _turns(clauses)
    whole = [c for c in clauses if c.startswith("turn")]
    others = [c for c in clauses if not c.startswith("turn")]
    plain = all(
        re.match(r"(?:drive|stop|halt)\b", c) and not re.search(r"\bto the (?!left|right)", c)
        for c in others
    )
    if not turns or len(turns) != len(whole) or not plain:
        return
    start, end = (seen.condition[ITSELF[0]][2] for seen in (before, after))
    turned = math.degrees(math.remainder(end - start, math.tau))
    if any(degrees is None for degrees, _ in turns):
        ((_, sign), *more) = turns
        if not more and turned * sign <= 0:
            way = "left" if sign > 0 else "right"
            asked_for = f"asked for: a turn to the {way}"
            yield f"the robot turned by {turned:.0f} degrees to its left; {asked_for}"
        return
    asked = sum((sign or 1) * (degrees or 0) for degrees, sign in turns)
    one_way = all(sign for _, sign in turns) or len(turns) > 1
    wanted = [asked] if one_way else [asked, -asked]
    if min(abs(math.remainder(turned - one, 360)) for one in wanted) > TURNED_DEG:
        way = "left" if asked >= 0 else "right"
        said = f"{abs(asked):g} degrees to the {way}"
        yield f"the robot turned by {turned:.0f} degrees to its left; asked for: {said}"


def _legs(clauses: list[str], before: Observation, after: Observation) -> Iterator[str]:
    """Yield how far, or which way, the robot is from where it was, by the legs that were said."""
    where, heading, lengths, ways = 0j, 0.0, list[float](), list[str]()
    for clause in clauses:
        if turn := _TURN.match(clause):
            ((degrees, sign),) = _turns([turn[0]])
            heading += (sign or 1) * (90.0 if degrees is None else degrees)
            continue
        if re.match(r"(?:stop|halt|wait)\b", clause):
            continue
        if not clause.startswith("drive") or _NOT_LEGS.search(clause):
            return
        parts = re.split(r",? (?:and|then)\b,?(?: then\b)?|,", clause)
        for part in parts:
            found, said = _LENGTH.findall(part), _WAY.findall(part)
            if len(found) != 1 or len(said) > 1 or (not said and (len(parts) > 1 or ways)):
                return
            length = float(found[0][0]) * UNITS[found[0][1]]
            lengths.append(length)
            ways += said
            angle = heading + HEADINGS[said[0] if said else "forward"]
            where += length * cmath.exp(1j * math.radians(angle))
    if not lengths:
        return
    (x, y, facing), (end_x, end_y) = before.condition[ITSELF[0]][:3], after.condition[ITSELF[0]][:2]
    went = complex(end_x - x, end_y - y)
    wanted, way_m = abs(where), abs(went)
    if len(lengths) == 1 and abs(way_m - wanted) > SHARE * wanted + SLACK_M:
        yield f"the robot is {way_m:.2f} m from where it was, where {wanted:g} m were asked for"
    if len(lengths) == 1 and ways and way_m > SLACK_M:
        off = went / cmath.exp(1j * facing) / where
        if off.real < STRAIGHT * abs(off):
            yield f"the robot did not drive {ways[0]}"
    if len(lengths) > 1:
        longest = sum(lengths)
        travel = ITSELF[2]
        along = after.condition.get(travel, longest) - before.condition.get(travel, 0.0)
        if along < (1 - SHARE) * min(wanted, longest) - SLACK_M:
            yield f"the robot drove {along:.2f} m, where {wanted:.2f} m were asked for"
        elif abs(way_m - wanted) > SHARE * longest + SLACK_M:
            asked = f"where {wanted:.2f} m were asked for"
            yield f"the robot is {way_m:.2f} m from where it was, {asked}"


def _driven(before: Observation, after: Observation) -> Points:
    """Return the path of the base: the ends of its straight legs, shape (n, 2), metres."""
    since = before.condition[ITSELF[2]]
    legs = [leg[1:] for leg in after.base_track if leg[0] > since]
    return np.array([before.condition[ITSELF[0]][:2], *legs])


def _travelled(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield how far the robot drove, where its legs are longer."""
    legs = [float(number) * UNITS[unit] for number, unit in _LENGTH.findall(text)]
    wanted = sum(legs) if " then " in text and len(legs) > 1 else 0.0
    if speed := _SPEED.search(text) or _FOR_SECONDS.search(text):
        wanted = float(speed[1]) * float(speed[2])
    if len(legs) == 1 and _AND_BACK.search(text):
        wanted = 2 * legs[0]
    way_m = float(np.linalg.norm(np.diff(_driven(before, after), axis=0), axis=1).sum())
    if way_m < (1 - SHARE) * wanted - SLACK_M:
        yield f"the robot drove {way_m:.2f} m, where {wanted:.2f} m were asked for"


def _at_point(text: str, after: Observation) -> Iterator[str]:
    """Yield where the robot is, where it was to be at a point with coordinates."""
    if point := _POINT.search(text):
        goal = float(point["x"] or point["x2"]), float(point["y"] or point["y2"])
        x, y = after.condition[ITSELF[0]][:2]
        if math.dist(goal, (x, y)) > POINT_M:
            yield f"the robot is at ({x:.2f}, {y:.2f}), not at ({goal[0]:g}, {goal[1]:g})"


def _around(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield how often the robot turned, or drove around something, where more was asked for."""
    driven = _driven(before, after)
    way_m = float(np.linalg.norm(np.diff(driven, axis=0), axis=1).sum())
    turned = after.condition[ITSELF[2]] - before.condition[ITSELF[2]] - way_m
    places = _places(after)
    for match in _ROUNDS.finditer(text) if _GOES_AROUND.search(text) else ():
        wanted = _OFTEN.get(match[1]) or NUMBERS.get(match[1]) or float(match[1])
        named = mentions(text, places)
        middle = places[named[0][0]] if named else middle_of(driven)
        angles = np.unwrap(np.arctan2(*(driven - np.array(middle[:2])).T[::-1]))
        rounds = max(abs(float(angles[-1] - angles[0])), turned) / math.tau
        if rounds < wanted - _ROUND_SHARE:
            yield f"the robot went around {rounds:.1f} times, where '{match[0]}' was asked for"


def _unmet_lengths(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield the stated lengths that no leg of a drive has, and no distance at its end."""
    driven = _driven(before, after)
    if len(driven) < 2 or _figure(text) is not None or re.search(r"\b(?:radius|diameter)\b", text):
        return
    legs = np.linalg.norm(np.diff(driven, axis=0), axis=1)
    out = driven - driven[0]
    heading = before.condition[ITSELF[0]][2]
    ahead = out @ (math.cos(heading), math.sin(heading))
    aside = out @ (-math.sin(heading), math.cos(heading))
    parts = [np.abs(np.diff(one)) for one in (ahead, aside)]
    found = [
        legs.sum(),
        *legs,
        *np.linalg.norm(out, axis=1),
        *box_of(driven),
        *np.ptp(driven, axis=0),
    ]
    found += [*np.abs(out).ravel(), *np.abs(ahead), *np.abs(aside), *parts[0], *parts[1]]
    places = _places(after)
    apart = [math.dist(places[name], driven[-1]) for name, _, _ in mentions(text, places)]
    stated = list(_ANY_LENGTH.finditer(AREA.sub("", text)))
    often = [NUMBERS.get(word) or _OFTEN.get(word) or 1 for word in text.split()]
    if any(abs(one - sum(map(_metres, stated))) <= SLACK_M for one in found):
        return
    for match in stated:
        wanted = _metres(match)
        off = SHARE * wanted + SLACK_M
        if any(abs(one - n * wanted) <= n * off for one in found for n in {1, *often}):
            continue
        if not any(wanted - off <= one <= wanted + FURNITURE_M for one in apart):
            yield f"nothing in the drive measures '{match[0]}'; it is {legs.sum():.2f} m long"


def _metres(match: re.Match[str]) -> float:
    return float(match[1]) * UNITS[match[2]]


def _places(seen: Observation) -> dict[str, Sequence[float]]:
    """Return where everything with a name is, xy in metres."""
    return {**seen.landmarks, **{name: at[:2] for name, at in seen.positions.items()}}


def _figure(text: str) -> tuple[float, float, float] | None:
    """Return how long the figure is that a robot is to drive, how narrow and how wide, metres."""
    if sides := _BY.search(text):
        short, long = sorted((float(sides[1]) * UNITS[sides[2]], float(sides[3]) * UNITS[sides[4]]))
        return 2 * (short + long), short, long
    if listed := _SIDES.search(text):
        each = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", listed[1])]
        if len(each) == 2:  # of a rectangle
            return 2 * sum(each), min(each), max(each)
        return sum(each), 0.0, max(each)
    figure, size = _FIGURE.search(text), _SIZE.search(text)
    if figure is None or size is None:
        return None
    side = float(size[1] or size[3]) * UNITS[size[2] or size[4]] * (1 + ("radius" in text))
    long, short, wide = FIGURES[figure[1]]
    return long * side, short * side, wide * side


def _figured(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield how much smaller the driven path is than the figure that was asked for."""
    from shapely import MultiPoint

    driven, area = _driven(before, after), AREA.search(text)
    outline = MultiPoint(driven).convex_hull
    if area and outline.area < (1 - AREA_SHARE) * area_m2(area):
        yield f"the path encloses {outline.area:.1f} square m, where '{area[0]}' was asked for"
    if (figure := _figure(text)) is None:
        return
    found = [outline.length, *box_of(driven)]
    share = POLYGON_SHARE if re.search(r"\b(?:circle|loop)", text) else SHARE
    if any(one < (1 - share) * wanted - SLACK_M for wanted, one in zip(figure, found, strict=True)):
        _, short, long = found
        asked = f"one of {figure[1]:.2f} m by {figure[2]:.2f} m was asked for"
        yield f"the figure that was driven is {short:.2f} m by {long:.2f} m, where {asked}"


def _apart(text: str, after: Observation) -> Iterator[str]:
    """Yield how far from a thing the robot is, where another distance was asked for."""
    match = _FROM.search(text)
    if match is None:
        return
    end = after.condition[ITSELF[0]][:2]
    at = after.positions.get(match["name"]) or after.landmarks.get(match["name"])
    if at is None:
        return
    wanted = float(match[1]) * UNITS[match[2]]
    apart = math.dist(at[:2], end)
    if not wanted * (1 - SHARE) - SLACK_M <= apart <= wanted + FURNITURE_M:
        where = f"{apart:.2f} m from {match['name']!r}"
        yield f"the robot is {where}, where {wanted:g} m were asked for"
