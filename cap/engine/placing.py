"""What was to be moved, compared with where things are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cap.engine.effect import HELD, ITSELF, Effect
from cap.engine.sentence import (
    HALVES,
    INSIDE,
    LENGTH,
    STACKS,
    SWAPS,
    UNITS,
    Placing,
    Reading,
)
from cap.robot.observation import Observation

SLACK_M, LENGTH_SHARE = 0.014, 0.03
"""A length may be off by so much, and by this share of itself: what is put down slides."""
BODIES_M = 0.08
"""A distance may be meant from edge to edge: so much more lies between the middles."""
TOUCHING_M, BESIDE_M = 0.07, 0.25
"""In a thing, and next to it: not farther apart than this."""
AT_PLACE_M = 0.1
"""What is in the middle, or in a corner, is not farther from it than this, where it is free."""
IN_LINE_M = 0.03
"""Things in a line are not farther than this from it."""
_NEAR = ("next to", "beside", "near", "by", "close to")
_BESIDE = (*_NEAR, "left of", "right of", "between", "behind", "in front of")
_CLOSER = ("closer to", "nearer to", "towards", "toward")
_FARTHER = ("away from", "farther from", "further from")
_KEPT = re.compile(r"\b(?:me|my|hold|hand|holding|keep|show|ready|up)\b")
"""Of what is carried: it may be still held."""
_CONTAINERS = re.compile(
    r"\b(?:in|into|inside|to|onto|on) .*\b(?:bowls?|plates?|bins?|boxe?s?|drawers?)\b"
)
_ALONE = re.compile(r"\b(?:only|nothing else|everything else|all the others? alone)\b")
_ORDERED = re.compile(r"\b(left to right|right to left|top to bottom|bottom to top)\b")
_OUT = re.compile(r"\b(?:out of|off)\b")
_LIKE_BEFORE = re.compile(r"^(?:the )?(?:rest|others|remaining \w+)$")
_TOWERS = re.compile(r"\b(?:towers|stacks|piles|pairs|each)\b")
_LINE = re.compile(
    r"\b(?:in|on|into|form|make|of|to) (?:a|one) (?:\w+ )?(?:row|line|column)\b"
    r"|^(?:line|make a row|form a row)\b"
)
_APART = re.compile(rf"{LENGTH} (?:apart|between)")


@dataclass(frozen=True)
class PlacingCheck:
    """Compares what an instruction says of things with what a turn did to them."""

    reading: Reading
    before: Observation
    after: Observation
    effect: Effect

    def doubts(self) -> Iterator[str]:
        """Yield what is not as it was to be; a line each."""
        lacking = list[str]()
        stacked = self._members(STACKS)
        for name, wishes in self.reading.wishes.items():
            found = [self._is_so(wish) for wish in wishes]
            onto = any(one in self.before.positions for wish in wishes for one in wish.targets)
            stands = name in stacked and not onto  # it may be the lowest of a tower
            if name == self.after.condition.get(HELD):
                if self._put_down(wishes):
                    yield f"{name!r} is still held"
                continue
            if name not in self.effect.moved and not all(found):
                acted = self.effect.altered or self.effect.said  # "done" alone explains nothing
                if acted and not stands and self._had_to_move(wishes):
                    lacking.append(name)
            elif name in self.effect.moved or stands:
                wrong = [w for w, so in zip(wishes, found, strict=True) if so is False]
                yield from (self._misplaced(wish) for wish in wrong[:1])
        if lacking:
            yield f"{quoted(lacking)} {'was' if len(lacking) == 1 else 'were'} not moved"
        for name in self.reading.stay:
            if (
                name in self.effect.moved
                and not self._rides(name)
                and name not in self.reading.wishes
            ):
                yield f"{name!r} was to stay where it was, and was moved"
        yield from self._counted()
        if _ALONE.search(" ".join(clause for clause, _ in self.reading.clauses)):
            meant = {*self.reading.wishes, *(n for _, names in self.reading.clauses for n in names)}
            more = [n for n in self.effect.moved if n not in meant and not self._rides(n)]
            if more and meant:
                yield f"{quoted(more)} {'was' if len(more) == 1 else 'were'} moved as well"
        for clause, names in self.reading.clauses:
            yield from self._swapped(clause, names)
            yield from self._stacked(clause, names)
            yield from self._in_line(clause, names)

    def _rides(self, name: str) -> bool:
        """Tell whether a thing was in or on another that was moved."""
        return self.before.whereabouts.get(name, "") in self.effect.moved

    def _counted(self) -> Iterator[str]:
        """Yield how many of a kind were moved, where another number was to be."""
        for kind, number, no_more in self.reading.counts:
            moved = [name for name in self.effect.moved if name.split()[-1] == kind]
            ends = {self.effect.places.get(name, ("", ""))[1] for name in moved} - {""}
            before = self.before.whereabouts
            now = len(moved) + sum(
                before.get(name, "") in ends for name in before if name not in moved
            )
            if moved and (now < number or (no_more and len(moved) > number)):
                yield f"{len(moved)} of the {kind}s moved instead of {number}"

    def _members(self, clauses: re.Pattern[str]) -> set[str]:
        found = [names for clause, names in self.reading.clauses if clauses.search(clause)]
        return {name for names in found for name in names}

    def _put_down(self, wishes: Sequence[Placing]) -> bool:
        inside = any(wish.relation in (*INSIDE, *_BESIDE) and wish.targets for wish in wishes)
        down = any(re.search(r"\b(?:put|lay|set) .*down\b|\bthere\b", w.clause) for w in wishes)
        return (inside or down) and not any(_KEPT.search(wish.clause) for wish in wishes)

    def _had_to_move(self, wishes: Sequence[Placing]) -> bool:
        """Tell whether a thing that did not move is not where it may have been meant to be."""
        name, clause = wishes[0].name, wishes[0].clause
        if not wishes[0].group:
            return True
        if any(wish.targets or wish.way for wish in wishes):
            return any(self._is_so(wish) is False for wish in wishes)
        if _OUT.search(clause):
            place = self.before.whereabouts.get(name)
            return bool(place) and self.after.whereabouts.get(name) == place
        if _LIKE_BEFORE.match(clause):
            return True
        loose = self.after.whereabouts.get(name) == ""
        ends = [self.after.whereabouts.get(other, "") for other in self.effect.moved]
        return bool(loose and ends and all(ends) and _CONTAINERS.search(clause))

    def _is_so(self, wish: Placing) -> bool | None:
        """Tell whether a thing is where it was to be; None where that is open."""
        name, seen = wish.name, self.after
        if name not in seen.positions:
            return None
        here = seen.positions[name]
        if wish.way is not None:
            return self._went(wish)
        targets = wish.targets
        if not targets:
            return None
        if len(targets) > 1:
            return self._between(here, targets) if wish.relation == "between" else None
        target = targets[0]
        place, drives = seen.whereabouts.get(name), ITSELF[0] in seen.condition
        if target not in seen.positions and not drives:
            return self._at_place(here, target) if wish.relation in (*INSIDE, "along") else None
        if wish.relation in INSIDE and place is not None:
            if self._within(name, target):
                return True
            if place and place != seen.whereabouts.get(target):
                return False
        elsewhere = place in seen.positions and place != seen.whereabouts.get(target)
        if wish.relation in _BESIDE and elsewhere:  # it was to be beside a thing, and is in one
            return False
        if target not in seen.positions:
            return False if wish.relation in INSIDE and place else None
        there = seen.positions[target]
        apart = math.dist(here[:2], there[:2])
        if wish.relation in (*_CLOSER, *_FARTHER) and wish.length_m is None:
            was = math.dist(*(self.before.positions[one][:2] for one in (name, target)))
            return None if (apart < was) == (wish.relation in _CLOSER) else False
        if wish.relation in _CLOSER and wish.length_m is not None:
            start = self.before.positions
            nearer = math.dist(start[name][:2], start[target][:2]) - apart
            return abs(nearer - wish.length_m) <= LENGTH_SHARE * wish.length_m + SLACK_M
        if wish.relation in _FARTHER and wish.length_m is not None:  # so far from it, or farther
            start = self.before.positions
            farther = apart - math.dist(start[name][:2], start[target][:2])
            if abs(farther - wish.length_m) <= LENGTH_SHARE * wish.length_m + SLACK_M:
                return True
        sides = {
            "left of": here[0] < there[0],
            "right of": here[0] > there[0],
            "above": here[1] > there[1] or bool(place),
            "below": here[1] < there[1] or bool(place),
            "behind": here[1] > there[1],
            "in front of": here[1] < there[1],
        }
        if not drives and not sides.get(wish.relation, True):
            return False
        if wish.length_m is not None and wish.relation not in _CLOSER:
            slack = LENGTH_SHARE * wish.length_m + SLACK_M
            return wish.length_m - slack <= apart <= wish.length_m + slack + BODIES_M
        if wish.relation in INSIDE and wish.relation not in ("to", "at"):
            return None if apart <= TOUCHING_M else False
        near = wish.relation in _NEAR or wish.relation == "to"
        return False if near and apart > BESIDE_M and not drives else None

    def _within(self, name: str, target: str) -> bool:
        under = self.after.whereabouts.get(name, "")
        while under and under != target:
            under = self.after.whereabouts.get(under, "")
        return bool(under)

    def _between(self, here: Sequence[float], targets: Sequence[str]) -> bool | None:
        if any(target not in self.after.positions for target in targets):
            return None
        (ax, ay), (bx, by) = (self.after.positions[one][:2] for one in targets[:2])
        along = (here[0] - ax) * (bx - ax) + (here[1] - ay) * (by - ay)
        return None if 0 < along < (bx - ax) ** 2 + (by - ay) ** 2 else False

    def _at_place(self, here: Sequence[float], target: str) -> bool | None:
        """Tell whether a point is at a named place of a table: a side is as long as the table."""
        places = self.after.landmarks
        if (target not in places and target not in HALVES) or "middle" not in places:
            return None
        dx, dy = here[0] - places["middle"][0], here[1] - places["middle"][1]
        halves = {"left half": -dx, "right half": dx, "top half": dy, "bottom half": -dy}
        if target in halves:
            return halves[target] > 0
        x, y = places[target]
        if "side" in target:
            middle_x, middle_y = places["middle"]
            along_x = abs(x - middle_x) > abs(y - middle_y)
            share = (
                (here[0] - middle_x) / (x - middle_x)
                if along_x
                else (here[1] - middle_y) / (y - middle_y)
            )
            return share > 0.5
        return math.dist(here[:2], (x, y)) <= AT_PLACE_M

    def _went(self, wish: Placing) -> bool | None:
        """Tell whether a thing moved the way, and as far, as was said."""
        assert wish.way is not None
        if wish.name not in self.effect.moved:
            return False
        start, end = self.effect.moved[wish.name]
        dx, dy = end[0] - start[0], end[1] - start[1]
        x, y = wish.way
        far = math.hypot(x, y)
        if far == 0:
            return None
        along, across = (dx * x + dy * y) / far, abs(dx * y - dy * x) / far
        if along <= 0 or across > along:
            return False
        if not wish.exact:
            return None
        return abs(along - far) <= LENGTH_SHARE * far + SLACK_M

    def _misplaced(self, wish: Placing) -> str:
        """Return in words where a thing is, that is not where it was to be."""
        name = wish.name
        if wish.way is not None:
            start, end = self.effect.moved[name]
            dx, dy = end[0] - start[0], end[1] - start[1]
            x, y = wish.way
            far = math.hypot(x, y)
            along, across = (dx * x + dy * y) / far, abs(dx * y - dy * x) / far
            if along <= 0 or across > along:
                return f"{name!r} did not move {wish.relation}"
            return f"{name!r} moved {100 * along:.1f} cm, where {100 * far:g} cm were asked for"
        where = " and ".join(map(repr, wish.targets))
        if wish.length_m is None:
            return f"{name!r} is not {wish.relation} {where}"
        here, there = self.after.positions[name], self.after.positions[wish.targets[0]]
        apart = 100 * math.dist(here[:2], there[:2])
        asked = f"{100 * wish.length_m:g} cm {wish.relation} it were asked for"
        if wish.relation in _CLOSER:
            was = self.before.positions
            apart = 100 * math.dist(was[name][:2], was[wish.targets[0]][:2]) - apart
            asked = f"{100 * wish.length_m:g} cm were asked for"
            return f"{name!r} is {apart:.0f} cm nearer to {where}, where {asked}"
        return f"{name!r} is {apart:.0f} cm from {where}, where {asked}"

    def _swapped(self, clause: str, names: Sequence[str]) -> Iterator[str]:
        if not SWAPS.search(clause) or len(names) != 2:
            return
        one, other = names
        was, now = self.before.positions, self.after.positions
        apart = [
            math.dist(now[a][:2], was[b][:2]) for a, b in ((one, other), (other, one)) if a in now
        ]
        if self.effect.altered and max(apart, default=0) > TOUCHING_M:
            yield f"{one!r} and {other!r} are not each where the other was"

    def _stacked(self, clause: str, names: Sequence[str]) -> Iterator[str]:
        """Yield what of a tower is not in it."""
        if not STACKS.search(clause) or _TOWERS.search(clause) or not self.effect.moved:
            return
        if re.search(r"\bthen\b", clause):  # not all of its things are read
            return
        wishes = [wish for name in names for wish in self.reading.wishes.get(name, ())]
        beneath = {one for wish in wishes for one in wish.targets if one in self.after.positions}
        below = {name: self.after.whereabouts.get(name) for name in names}
        if len(names) < 2 or None in below.values():
            return
        alone = [n for n in names if not any(self._within(n, one) for one in (*names, *beneath))]
        carrying = {one for one in below.values() if one}
        apart = [name for name in alone if name not in carrying]
        for name in names:
            end = re.search(
                rf"\b{name.split()[0]}\b(?: (?:block|one|bowl))?(?: \w+)?"
                r" (?:at|on)(?: the)?(?: very)? (bottom|top)\b(?! of| left| right| side)",
                clause,
            )
            wrong = end and ((name in alone) if end[1] == "top" else (name not in alone))
            if wrong and len(alone) == 1 and end:
                yield f"{name!r} is not at the {end[1]} of the tower"
        if len(alone) > 1:
            yield f"{quoted(apart or alone)} {'is' if len(apart) == 1 else 'are'} not in the tower"

    def _in_line(self, clause: str, names: Sequence[str]) -> Iterator[str]:
        """Yield what is not in a line with the others."""
        if not _LINE.search(clause) or not self.effect.moved:
            return
        known = [name for name in names if name in self.after.positions]
        if len(known) < 3:
            return
        points = np.array([self.after.positions[name][:2] for name in known])
        level = re.search(r"\b(horizontal|vertical)\b", clause)
        if level is not None:
            off = points[:, 1 if level[1] == "horizontal" else 0]
            off = np.abs(off - np.median(off))
        else:
            centred = points - points.mean(axis=0)
            off = np.abs(centred @ np.linalg.svd(centred)[2][1])
        way = _ORDERED.search(clause)
        said = clause[way.end() :] if way else ""
        ordered = [n for n in known if re.search(rf"\b{n.split()[0]}\b", said)]
        ordered.sort(key=lambda n: said.index(n.split()[0]))
        if way and len(ordered) > 2 and len({n.split()[0] for n in ordered}) == len(ordered):
            axis, sign = (0, 1) if "left" in way[1] else (1, -1)
            sign = -sign if way[1] in ("right to left", "bottom to top") else sign
            along = [sign * self.after.positions[n][axis] for n in ordered]
            if along != sorted(along):
                yield f"they are not in the order {', '.join(ordered)} from {way[1]}"
        if off.max() > IN_LINE_M:
            yield f"{known[int(off.argmax())]!r} is not in one line with the others"
        elif match := _APART.search(clause):
            wanted = float(match[1]) * UNITS[match[2]]
            longer = int(np.ptp(points[:, 1]) > np.ptp(points[:, 0]))
            gaps = np.linalg.norm(np.diff(points[points[:, longer].argsort()], axis=0), axis=1)
            slack = LENGTH_SHARE * wanted + SLACK_M
            wrong = [gap for gap in gaps if not wanted - slack <= gap <= wanted + slack + BODIES_M]
            if wrong:
                asked = f"{100 * wanted:g} cm were asked for"
                yield f"two of them are {100 * wrong[0]:.0f} cm apart, where {asked}"


def quoted(names: Mapping[str, object] | Sequence[str]) -> str:
    """Return names in quotes, with commas."""
    return ", ".join(map(repr, names))
