"""Words against a drive: how far, which way and where to a robot was to go, and where it is.

A stated length must be found in the drive: as a leg, as its whole length, as how far the robot is
from where it was, or as a distance from something named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from cap.engine.doubts.sentence import NUMBERS, UNITS, clauses_of, mentions
from cap.engine.doubts.shapes import Points, length_of, middle_of
from cap.engine.effect import ITSELF, VELOCITY, Effect
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
POINT_M = 0.05
"""A point with coordinates is reached so near."""
STRAIGHT = 0.9
"""A drive went the way that was said if this share of it, or more, is along that way."""
ROUND_SHARE = 0.2
"""A round may lack so much of itself."""
HEADINGS = {"forward": 0, "left": 90, "right": -90, "back": 180}
"""Degrees from where a robot that drives looks, to its left."""
_USUAL = {
    re.compile(r"^(?:back up|back off|back|reverse|retreat)\b(?! to\b)"): "drive back",
    re.compile(r"^(?:drop|stop|swing) by (?=the )"): "visit ",
    re.compile(r"^advance\b"): "drive forward",
    re.compile(r"\b(back|for|side)wards?\b"): r"\1ward",
    re.compile(r"\bbackward\b"): "back",
    re.compile(r"\b(?:straight ahead|straight on|ahead)\b"): "forward",
    re.compile(
        r"^(?:roll|creep|go|move|travel|walk|head|step|inch|ride|come|run|stand|park|patrol|trace"
        r"|sidestep|strafe|drift|slide|return|navigate|keep driving|keep going)\b"
    ): "drive",
    re.compile(r"^(?:make|do) (?=an? (?:\w+ )?(?:loop|lap|circle|square|tour|figure|round))"): (
        "drive "
    ),
    re.compile(r"^(?:rotate|spin|pivot|swivel)\b"): "turn",
    re.compile(r"\bcounter ?-?clockwise\b|\banti ?-?clockwise\b"): "left",
    re.compile(r"\bclockwise\b"): "right",
    re.compile(r"\bhalf a turn\b"): "180 degrees",
    re.compile(r"\b(?:a )?quarter (?:of a )?turn\b"): "90 degrees",
    re.compile(r"^make (?=\d+ degrees)"): "turn ",
    re.compile(r" (?:slowly|straight|quickly|slightly|carefully|exactly|then)\b"): "",
    re.compile(r"(?<! to) (?:where you are|in place)$"): "",
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
    r"(?<!most )(?<!least )(?<!within )(?<!than )(?<!up to )(?<!every )(?<!under )(?<!over )"
    r"(?<![\d.])(\d+(?:\.\d+)?) ?(cm|m)\b(?![²^/]| per| a second| around| or\b)"
)
_WAY = re.compile(
    r"\b(left|right|forward|back)\b"
    r"(?! (?:of|side|up|to (?!the (?:left|right)|your)|again|and forth))"
)
_FIGURE = re.compile(
    r"(?<!half )(?<!quarter )\b(?:(?:circle|loop|square|triangle|rectangle|lap)s?|rounds)\b(?! m\b)"
)
_SEVERAL = {"twice": 2, "thrice": 3}
_ROUNDS = re.compile(
    rf"\b(twice|thrice|(?:{'|'.join(NUMBERS)}|\d+)(?= (?:full |whole |complete )?"
    r"(?:times|laps|rounds|turns|circles|squares|loops|rotations|spins|revolutions)\b))"
)
_GOES_AROUND = re.compile(r"^(?!.*\bdeg).*\b(?:around|laps?|rounds|spin|full turns|on the spot)\b")
_POINT = re.compile(
    r"(?:\bx ?=? ?(?P<x>-?\d+(?:\.\d+)?)(?: m)?,? (?:and )?y ?=? ?(?P<y>-?\d+(?:\.\d+)?)"
    r"|\((?P<x2>-?\d+(?:\.\d+)?), ?(?P<y2>-?\d+(?:\.\d+)?)\))(?: m)?$"
)
_RETURNS = re.compile(
    r"^(?:(?:drive|get|be|and) )*(?:back|return)\b(?! \d)"
    r"(?: (?:again|right away|here|at once"
    r"|to (?:here|the start|your place|where you (?:are|started|were))))*(?: now)?$"
    r"|^(?:finish|end|stop) (?:up )?(?:here|where you (?:started|are|were|began))"
)
_TO = re.compile(r"^drive\b.*?\bto (?:the )?$|^(?:visit|(?:wait|drive) at) (?:the )?$")
_NEXT_TO = re.compile(r"\b(?:clos\w*|near\w*|next|front|side|towards?|way|back to you)\b")
_CLOSER = re.compile(
    r"(?:drive|get|be)(?: (?:[\d.]+|cm|m|an?|bit|little|much|even))*"
    r" (?:(?P<closer>closer to|nearer to|towards?)"
    r"|away from|farther from|further (?:away )?from)(?: the)? $"
)
_ENDS = re.compile(r"\b(?:stop|halt|stand still|standstill)\b|\bfor \d+(?:\.\d+)? ?(?:s|sec\w*)\b")
_GOES_ON = re.compile(r"\b(?:keep|until|on and on|continue|don't stop|without stopping)\b")


def driven_differently(
    text: str, before: Observation, after: Observation, effect: Effect
) -> Iterator[str]:
    """Yield how the robot's drive differs from what was said; a line each.

    Args:
        text: The instruction, as `plain_words` has it.
        before: The world before.
        after: The world after.
        effect: What the turn did.
    """
    base, _, travel = ITSELF
    if base not in before.condition or base not in after.condition:
        return
    clauses = [_usual(clause) for clause in clauses_of(text)]
    drives = bool(clauses) and bool(_DRIVES.match(clauses[0])) and not _OTHERS.match(clauses[0])
    left_on = effect.changed.get(VELOCITY, (None, None))[1]
    ends = _ENDS.search(text) or _LENGTH.search(text)
    if left_on and drives and ends and not _GOES_ON.search(text):
        yield f"a velocity of {left_on} is left on"
    if not clauses:
        return
    (x, y, heading), (end_x, end_y, end_heading) = (
        seen.condition[base][:3] for seen in (before, after)
    )
    if drives and (point := _POINT.search(text)):
        goal = float(point["x"] or point["x2"]), float(point["y"] or point["y2"])
        if math.dist(goal, (end_x, end_y)) > POINT_M:
            yield f"the robot is at ({end_x:.2f}, {end_y:.2f}), not at ({goal[0]:g}, {goal[1]:g})"
    if len(clauses) > 1 and drives and _RETURNS.match(clauses[-1]):
        way_m = math.dist((x, y), (end_x, end_y))
        if way_m > RETURNED_M:
            yield f"the robot is {way_m:.2f} m from where it was, where it was to come back"
    for clause in clauses if len(clauses) == 1 else ():
        yield from _not_closer(clause, (x, y), (end_x, end_y), before)
    driven = _driven(before, after)
    yield from _not_visited(clauses, driven, before, after)
    if travel in before.condition and not effect.moved:
        yield from _missing_lengths(text, driven, heading, after)
    if not drives:
        return
    if travel in before.condition:
        turned_m = after.condition[travel] - before.condition[travel] - length_of(driven)
        yield from _missing_rounds(text, driven, turned_m, after)
    turned = math.degrees(math.remainder(end_heading - heading, math.tau))
    yield from _not_turned(clauses, turned)
    if len(clauses) == 1:
        yield from _other_way(clauses[0], (end_x - x, end_y - y), heading)


def _usual(clause: str) -> str:
    for said, usual in _USUAL.items():
        clause = said.sub(usual, clause)
    return clause


def _not_closer(
    clause: str, start: Sequence[float], end: Sequence[float], before: Observation
) -> Iterator[str]:
    """Yield that a robot that was to come closer to something is not, or that was to go away."""
    places = _places(before)
    for name, begin, _ in mentions(clause, places):
        if match := _CLOSER.match(clause[:begin]):
            was, now = (math.dist(point, places[name][:2]) for point in (start, end))
            if (now < was) != bool(match["closer"]):
                way = "closer to" if match["closer"] else "farther from"
                yield f"the robot did not get {way} {name!r}"


def _driven(before: Observation, after: Observation) -> Points:
    """Return the path of the base: the ends of its straight legs, shape (n, 2), metres."""
    base, _, travel = ITSELF
    since = before.condition.get(travel, 0.0)
    legs = [leg[1:] for leg in after.base_track if leg[0] > since]
    return np.array([before.condition[base][:2], *legs])


def _not_visited(
    clauses: Sequence[str], driven: Points, before: Observation, after: Observation
) -> Iterator[str]:
    """Yield the places that the robot was to go to and did not come near, or is not at."""
    places = [str(name) for name in before.facts.get("locations", ())]
    for clause in clauses:
        for name, begin, end in mentions(clause, places):
            said = clause[:begin]
            if not _TO.match(said) or _NEXT_TO.search(said) or _OTHERS.match(clause):
                continue
            last = clause == clauses[-1] and end == len(clause)
            here = str(after.facts.get("at", "")).replace(" (closed)", "").split(" or ")
            if last and "at" in after.facts and name not in here:
                yield f"the robot is not at {name!r}"
            elif not last and name in after.landmarks:
                away = np.linalg.norm(driven - np.array(after.landmarks[name][:2]), axis=1)
                if away.min() > PASSED_M:
                    yield f"the robot was not at {name!r}"


def _not_turned(clauses: Sequence[str], turned: float) -> Iterator[str]:
    """Yield how far the robot turned, degrees to its left, where another turn was asked for."""
    turns = [turn for clause in clauses if (turn := _TURN.match(clause))]
    others = [clause for clause in clauses if not _TURN.match(clause)]
    if not turns or not all(re.match(r"(?:drive|stop|halt)\b(?!.* to the )", c) for c in others):
        return
    ways = [turn["way"] or turn["last"] or turn["plain"] or "" for turn in turns]
    signs = [{"left": 1, "right": -1}.get(way, 0) for way in ways]
    if len(turns) == 1 and signs[0] and not turns[0]["degrees"]:
        if turned * signs[0] <= 0:
            asked = f"asked for: a turn to the {ways[0]}"
            yield f"the robot turned by {turned:.0f} degrees to its left; {asked}"
    elif all(turn["degrees"] or not sign for turn, sign in zip(turns, signs, strict=True)):
        pairs = zip(turns, signs, strict=True)
        asked_deg = sum((sign or 1) * float(turn["degrees"] or 180) for turn, sign in pairs)
        wanted = [asked_deg] if all(signs) or len(turns) > 1 else [asked_deg, -asked_deg]
        if min(abs(math.remainder(turned - one, 360)) for one in wanted) > TURNED_DEG:
            said = f"{abs(asked_deg):g} degrees to the {'left' if asked_deg >= 0 else 'right'}"
            yield f"the robot turned by {turned:.0f} degrees to its left; asked for: {said}"


def _other_way(clause: str, went: Sequence[float], heading: float) -> Iterator[str]:
    """Yield that a drive of one straight leg did not go the way that was said."""
    lengths, ways = _LENGTH.findall(clause), _WAY.findall(clause)
    if not clause.startswith("drive") or len(lengths) != 1 or len(ways) > 1:
        return
    far = math.hypot(*went)
    off = math.atan2(went[1], went[0]) - heading - math.radians(HEADINGS[ways[0]] if ways else 0)
    if ways and far > SLACK_M and math.cos(off) < STRAIGHT:
        yield f"the robot did not drive {ways[0]}"


def _missing_lengths(
    text: str, driven: Points, heading: float, after: Observation
) -> Iterator[str]:
    """Yield the stated lengths that nothing in a drive has."""
    stated = list(_LENGTH.finditer(text))
    if not stated or len(driven) < 2:
        return
    out = driven - driven[0]
    ahead = out @ (math.cos(heading), math.sin(heading))
    aside = out @ (-math.sin(heading), math.cos(heading))
    found = [length_of(driven), *np.ptp(driven, axis=0), np.ptp(ahead), np.ptp(aside)]
    found += np.linalg.norm(np.diff(driven, axis=0), axis=1).tolist()
    found += np.linalg.norm(out, axis=1).tolist()
    if "radius" in text:
        found = [one / 2 for one in found]
    places = _places(after)
    apart = [math.dist(places[name], driven[-1]) for name, _, _ in mentions(text, places)]
    often = [1, *(NUMBERS.get(word) or _SEVERAL.get(word) or 1 for word in text.split())]
    if any(abs(one - sum(map(_metres, stated))) <= SLACK_M for one in found):
        return
    for match in stated:
        wanted = _metres(match)
        off = SHARE * wanted + SLACK_M
        driven_so = any(abs(one - n * wanted) <= n * off for one in found for n in often)
        if not driven_so and not any(wanted - off <= one <= wanted + FURNITURE_M for one in apart):
            way_m = length_of(driven)
            yield f"nothing in the drive measures '{match[0]}'; it is {way_m:.2f} m long"


def _metres(match: re.Match[str]) -> float:
    return float(match[1]) * UNITS[match[2]]


def _places(seen: Observation) -> dict[str, Sequence[float]]:
    """Return where everything with a name is, xy in metres."""
    return {**seen.landmarks, **{name: at[:2] for name, at in seen.positions.items()}}


def _missing_rounds(text: str, driven: Points, turned: float, after: Observation) -> Iterator[str]:
    """Yield how often the robot went around something, or turned, if more was asked for.

    Args:
        text: The instruction.
        driven: The path of the base.
        turned: How far it turned on the spot, radians.
        after: The world after.
    """
    figure, said = _FIGURE.search(text), _ROUNDS.search(text)
    if not figure and not (said and _GOES_AROUND.search(text)):
        return
    wanted = (_SEVERAL.get(said[1]) or NUMBERS.get(said[1]) or int(said[1])) if said else 1
    places = _places(after)
    named = mentions(text, places)
    middle = places[named[0][0]] if named else middle_of(driven)
    angles = np.unwrap(np.arctan2(*(driven - np.array(middle[:2])).T[::-1]))
    rounds = max(abs(float(angles[-1] - angles[0])), turned) / math.tau
    if rounds < wanted - ROUND_SHARE:
        yield f"the robot went around {rounds:.1f} times, where {wanted} were asked for"
