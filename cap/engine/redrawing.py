"""Words against what was drawn before: what was to be erased, moved, turned or scaled."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cap.engine.measures import missing_sizes
from cap.engine.sentence import NUMBERS
from cap.engine.shapes import (
    CHANGE_SHARE,
    CHANGE_SLACK_M,
    PLACE,
    SHAPES,
    SLACK_M,
    WAYS,
    Points,
    Stroke,
    is_a,
    metres,
    middle_of,
    not_at_place,
    points_of,
    same,
    size_of,
)
from cap.robot.observation import Observation

TURNED_SHARE = 0.06
"""A turned shape may be off by this share of its size."""
_TIMES = {"twice": 2.0, "double": 2.0, "triple": 3.0, "half": 0.5, "halve": 0.5}
ERASES = re.compile(
    r"^(?:erase|wipe|clear|delete|remove|get rid of|rub|take away|scratch|undraw)\b"
)
_ALL_DRAWN = re.compile(
    r"^\w+(?: out| away)? (?:everything|it all|all(?: of (?:it|them))?|them(?: all)?"
    r"|both(?: of them)?|(?:all of )?the (?:whole )?(?:board|drawing|picture)(?: clean)?)"
    r"(?: (?:on|off|from) the board)?$"
)
_JUST_DRAWN = re.compile(
    rf"^\w+(?: (?:off|out|away))? (?:it\b|the (?P<shape>{SHAPES})(?: again)?$)"
)
_ALL_BUT = re.compile(
    rf"^\w+ (?:everything|all|all shapes) (?:but|except)(?: for)? the (?P<shape>{SHAPES})(?:e?s)?$"
)
_PART_OF = re.compile(
    r"\b(?:(?:one|two|some|most) of|half|part|piece|end|side|corner|except|but|only)\b"
)
_ORDER_OF = re.compile(
    r"\bthe (?P<which>first|second|third|last|biggest|largest|smallest|leftmost|rightmost"
    rf"|(?:left|right|top|bottom)(?= (?:one|shape|{SHAPES})\b))"
    rf"(?: (?P<shape>one|shape|{SHAPES}))?\b(?! (?:side|corner|half|edge|from|of|in|on|that)\b)"
)
_SHAPES_NAMED = re.compile(
    rf"\b(?:the|all|every|both|each)(?: of)?(?: the)? "
    rf"(?P<shape>{SHAPES})(?P<many>e?s)?(?: again)?$"
)
REPLACES = re.compile(
    rf"^(?:replace|change|turn|exchange) (?:it|that|the \w+) (?:by|with|into|for)"
    rf" (?:a|an) (?:\w+ )?(?:{SHAPES})\b"
)
BECOMES = re.compile(r"\b(?:into|look|nicer|prettier|better)\b")
CHANGES = re.compile(
    r"^(?:make|turn|change|scale|move|shift|slide|nudge|push|pull|rotate|spin|flip|mirror|shrink"
    r"|enlarge|grow|double|triple|halve|stretch|widen|resize) "
    r"(?:it|its size|that|them|(?:the|both|all) [\w ]+?|everything)"
    r"(?=$| (?!into\b|look\b|an? (?!bit|little)))"
)
_CHANGED = re.compile(
    r"\b(?:\w+er|twice|half|times|left|right|up|down|degrees|double|triple|halve|shrink|enlarge)\b"
)
_MOVE = re.compile(r"^(?:move|shift|slide|nudge|push|pull)\b")
_FAR = re.compile(r"\b(?P<n>\d+(?:\.\d+)?) ?(?P<u>mm|cm|m)\b")
_WAY = re.compile(r"\b(?P<way>left|right|up|down)(?:wards?)?\b(?! (?:of|corner|side|half))")
_ROTATES = re.compile(
    r"^(?:turn|rotate|spin)\b.*?\b(?P<degrees>\d+(?:\.\d+)?) ?(?:deg\w*|°)(?: to the)?"
    r"(?: (?P<way>clockwise|right|counter ?-?clockwise|anti ?-?clockwise|left))?"
)
_BIGGER = re.compile(r"\b(?:bigger|larger|enlarge|grow|longer|taller|wider|double|triple|twice)\b")
_SMALLER = re.compile(r"\b(?:smaller|shrink|shorter|narrower|halve|half|tinier)\b")
_FACTOR = re.compile(
    r"\b(?P<times>twice|half|double|triple|halve|\d+(?:\.\d+)?(?= ?times)|(?:two|three|four|five"
    r"|six|seven|eight|ten)(?= times))\b"
)
_PERCENT = re.compile(r"\b(\d+) ?(?:%|percent)")
_ONE_WAY = re.compile(
    r"\b(?P<wide>wide|wider|width)\b|\b(?P<tall>tall|taller|high|higher|height)\b"
)


def still_there(clause: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield what is still there, of what was to be drawn and erased again in one turn."""
    if shapes and _ALL_DRAWN.match(clause):
        yield "what was drawn is still there"
    elif match := _JUST_DRAWN.match(clause):
        kind = match["shape"]
        if len(shapes) == 1 and (kind is None or is_a(shapes[0], kind)):
            yield f"the {kind or 'drawing'} is still there"


def not_erased(
    words: str, before: Observation, gone: Sequence[Stroke], remains: bool | None
) -> Iterator[str]:
    """Yield what was to be erased and is still there, or was erased and was to stay.

    Args:
        words: The clause.
        before: The world before.
        gone: The strokes that are not as they were.
        remains: Whether anything is drawn now; None where something was to be drawn as well.
    """
    shapes = [points_of(stroke) for stroke in before.drawn]
    left = [n for n, stroke in enumerate(before.drawn) if stroke not in gone]
    both = re.search(r"\bboth\b", words)
    if match := _ALL_BUT.match(words):
        if any(not is_a(shapes[n], match["shape"]) for n in left):
            yield "there is still something drawn that was to be erased"
        elif any(is_a(points_of(stroke), match["shape"]) for stroke in gone):
            yield f"a {match['shape']} was erased that was to stay"
        return
    if _PART_OF.search(words):
        return
    if _ALL_DRAWN.match(words):
        if (left or remains) and (not both or len(shapes) == 2):
            yield "there is still something drawn"
        return
    if re.match(r"^[\w ]+? (?:it|that)(?: off| out| away)?(?: again)?$", words):
        if len(shapes) == 1 and (left or remains):
            yield "there is still something drawn"
        return
    if ordered := _by_order(words, shapes):
        wanted, which = ordered
        where = f"the {which} one"
    elif match := _SHAPES_NAMED.search(words):
        kind = match["shape"]
        wanted = [n for n, shape in enumerate(shapes) if is_a(shape, kind)]
        if not match["many"] and len(wanted) != 1 and "every" not in words and "each" not in words:
            wanted = [0] if len(shapes) == 1 else []
        where = f"a {kind}"
    else:
        return
    if any(n in left for n in wanted) or (wanted and len(shapes) == 1 and remains):
        yield f"{where} is still there: there is still something drawn that was to be erased"
    elif wanted and remains is not None and len(gone) > len(wanted):
        yield "more was erased than was to be"


def _by_order(words: str, shapes: Sequence[Points]) -> tuple[Sequence[int], str] | None:
    """Return which shape words such as "the second one" mean, and the word; none if there is none.

    A shape is given by its number, in a sequence that is empty if there are fewer shapes.
    """
    match = _ORDER_OF.search(words)
    if match is None:
        return None
    kind, which = match["shape"] or "one", match["which"]
    chosen = [n for n, shape in enumerate(shapes) if kind in ("one", "shape") or is_a(shape, kind)]
    middles = {n: middle_of(shapes[n]) for n in chosen}
    orders: Mapping[str, Sequence[int]] = {
        "first": chosen,
        "second": chosen[1:],
        "third": chosen[2:],
        "last": chosen[::-1],
        "left": sorted(chosen, key=lambda n: middles[n][0]),
        "right": sorted(chosen, key=lambda n: -middles[n][0]),
        "biggest": sorted(chosen, key=lambda n: -size_of(shapes[n])),
        "smallest": sorted(chosen, key=lambda n: size_of(shapes[n])),
        "top": sorted(chosen, key=lambda n: -middles[n][1]),
        "bottom": sorted(chosen, key=lambda n: middles[n][1]),
    }
    which = "biggest" if which == "largest" else which
    return orders[which.removesuffix("most")][:1], which


def not_changed(
    words: str, before: Observation, gone: Sequence[Stroke], new: Sequence[Stroke]
) -> Iterator[str]:
    """Yield how a shape that was to be changed is not as it was to be."""
    if new and not gone and _CHANGED.search(words):
        yield "what was drawn before is still there beside it"
    if gone and (ordered := _by_order(words, [points_of(stroke) for stroke in before.drawn])):
        chosen, which = ordered
        if any(before.drawn[n] not in gone for n in chosen):
            yield f"the {which} one was not changed"
        elif chosen and len(gone) > 1:
            yield f"more than the {which} one was changed"
    if len(new) != len(gone) or not new or min(map(len, [*new, *gone])) < 2:
        return
    was, now = (np.concatenate([points_of(stroke) for stroke in some]) for some in (gone, new))
    if re.search(r"\b(?:both|all|every\w*|them|each)\b", words) and len(gone) < len(before.drawn):
        yield "not all that was drawn was changed"
    if _MOVE.match(words) and (place := PLACE.search(words)) and "middle" in before.landmarks:
        yield from not_at_place(place["place"], now, before.landmarks["middle"])
    elif _MOVE.match(words) and (way := _WAY.search(words)):
        x, y = WAYS[way["way"]]
        dx, dy = middle_of(now) - middle_of(was)
        along, across, far = dx * x + dy * y, abs(dx * y) + abs(dy * x), _FAR.search(words)
        wanted = metres(far) if far else 0.0
        if along <= 0 or across > along:
            yield f"it did not move {way['way']}"
        elif far and not same(wanted, along, CHANGE_SHARE, CHANGE_SLACK_M):
            yield f"it moved {100 * along:.1f} cm, where {100 * wanted:g} cm were asked for"
    elif (turn := _ROTATES.match(words)) and len(new) == 1:
        yield from _not_turned(turn, was, now)
    elif not _FAR.search(words):
        yield from _not_scaled(words, was, now)
    elif not _WAY.search(words):
        yield from missing_sizes(words, [points_of(stroke) for stroke in new])


def _not_turned(turn: re.Match[str], was: Points, now: Points) -> Iterator[str]:
    """Yield that a shape is not turned as far, or the way, that was said."""
    from shapely import LineString
    from shapely.affinity import rotate, translate

    old, new, way = LineString(was), LineString(now), turn["way"] or ""
    if not same(old.length, new.length, CHANGE_SHARE):
        return
    signs = (-1,) if way in ("clockwise", "right") else (1,) if way else (1, -1)
    for sign in signs:
        turned = rotate(old, sign * float(turn["degrees"]), origin="centroid")
        x, y = new.centroid.x - turned.centroid.x, new.centroid.y - turned.centroid.y
        if (
            translate(turned, x, y).hausdorff_distance(new)
            <= TURNED_SHARE * np.ptp(was, axis=0).max()
        ):
            return
    yield f"it is not turned by {turn['degrees']} degrees{way and ' ' + way}"


def _not_scaled(words: str, was: Points, now: Points) -> Iterator[str]:
    """Yield that a shape is not so much bigger, or smaller, as was said."""
    (wide, high), (was_wide, was_high) = np.ptp(now, axis=0), np.ptp(was, axis=0)
    times = math.hypot(wide, high) / math.hypot(was_wide, was_high)
    one_way = _ONE_WAY.search(words)
    if one_way is not None:
        now_m, was_m = (wide, was_wide) if one_way["wide"] else (high, was_high)
        if was_m < SLACK_M:
            return
        times = now_m / was_m
    said = _FACTOR.search(words)
    percent = _PERCENT.search(words)
    bigger, smaller = _BIGGER.search(words), _SMALLER.search(words)
    if said is not None and not percent:
        factor = _TIMES.get(said["times"]) or float(NUMBERS.get(said["times"], 0) or said["times"])
        factor = 1 / factor if smaller and factor > 1 else factor
        meant = [factor] if one_way else [factor, math.sqrt(factor)]
        meant += [1 + factor] if bigger and factor < 1 else []
        if not any(same(one, times, CHANGE_SHARE, 0.0) for one in meant):
            yield f"it is {times:.2g} times as big, where {factor:.2g} times was asked for"
    elif bigger and not smaller and times < 1:
        yield f"it is {times:.2g} times as big, where it was to be bigger"
    elif smaller and not bigger and times > 1:
        yield f"it is {times:.2g} times as big, where it was to be smaller"
