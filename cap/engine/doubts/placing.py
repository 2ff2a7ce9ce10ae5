"""What was to be moved, compared with where things are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cap.engine.doubts.sentence import INSIDE, STACKS, SWAPS, Placing, Reading, is_a, lies_in
from cap.engine.effect import HELD, ITSELF, Effect
from cap.robot.observation import Observation

SLACK_M, LENGTH_SHARE = 0.014, 0.03
"""A length may be off by so much, and by this share of itself: what is put down slides."""
BODIES_M = 0.08
"""A distance may be meant from edge to edge: so much more lies between the middles."""
TOUCHING_M, BESIDE_M = 0.07, 0.25
"""In a thing, and next to it: not farther apart than this."""
AT_PLACE_M = 0.1
"""What is in the middle, or in a corner, is not farther from it than this, where it is free."""
_NEAR = ("next to", "beside", "near", "by", "close to")
_BESIDE = (*_NEAR, "left of", "right of", "between", "behind", "in front of")
_CLOSER = ("closer to", "nearer to", "towards", "toward")
_FARTHER = ("away from", "farther from", "further from")
_KEPT = re.compile(r"\b(?:me|my|hold|hand|holding|keep|show|ready|up)\b")
"""Of what is carried: it may be still held."""
_DOWN = re.compile(r"\b(?:put|lay|set) .*down\b|\bthere\b")
_ALONE = re.compile(r"\b(?:only|nothing else|everything else|all the others? alone)\b")
_LIKE_BEFORE = re.compile(r"^(?:the )?(?:rest|others|remaining \w+)$")
_TOWERS = re.compile(r"\b(?:towers|stacks|piles|pairs|each|then)\b")


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
        moved = self.effect.moved
        for name, wishes in self.reading.wishes.items():
            wrong = [self._misplaced(wish) for wish in wishes if wish.name in self.after.positions]
            wrong = [line for line in wrong if line]
            if name == self.after.condition.get(HELD):
                if self._put_down(wishes):
                    yield f"{name!r} is still held"
            elif name in moved or self._may_be_lowest(wishes):
                yield from wrong[:1]
            elif (wrong or self._had_to_move(wishes)) and (self.effect.altered or self.effect.said):
                lacking.append(name)
        if lacking:
            yield f"{quoted(lacking)} {_were(lacking)} not moved"
        for name in self.reading.stay:
            if name in moved and not self._rides(name) and name not in self.reading.wishes:
                yield f"{name!r} was to stay where it was, and was moved"
        yield from self._counted()
        if _ALONE.search(" ".join(clause for clause, _ in self.reading.clauses)):
            meant = {*self.reading.wishes, *(n for _, names in self.reading.clauses for n in names)}
            more = [name for name in moved if name not in meant and not self._rides(name)]
            if more and meant:
                yield f"{quoted(more)} {_were(more)} moved as well"
        for clause, names in self.reading.clauses:
            if SWAPS.search(clause) and len(names) == 2:
                yield from self._not_swapped(*names)
            if STACKS.search(clause) and not _TOWERS.search(clause):
                tower = [name for name in names if name not in self.reading.stay]
                yield from self._not_stacked(tower)

    def _rides(self, name: str) -> bool:
        """Tell whether a thing was in or on another that was moved."""
        return self.before.whereabouts.get(name, "") in self.effect.moved

    def _counted(self) -> Iterator[str]:
        """Yield how many of a kind were moved, where another number was to be."""
        before = self.before.whereabouts
        for kind, number, no_more in self.reading.counts:
            moved = [name for name in self.effect.moved if is_a(name, kind)]
            ends = {self.effect.places.get(name, ("", ""))[1] for name in moved} - {""}
            there = [name for name in before if name not in moved and before[name] in ends]
            if moved and (len(moved + there) < number or (no_more and len(moved) > number)):
                yield f"{len(moved)} of the {kind}s moved instead of {number}"

    def _put_down(self, wishes: Sequence[Placing]) -> bool:
        """Tell whether a thing was to be let go somewhere."""
        down = any(
            _DOWN.search(wish.clause) or (wish.relation in (*INSIDE, *_BESIDE) and wish.targets)
            for wish in wishes
        )
        return down and not any(_KEPT.search(wish.clause) for wish in wishes)

    def _may_be_lowest(self, wishes: Sequence[Placing]) -> bool:
        """Tell whether a thing may be the lowest of a tower, so that it need not move."""
        onto = any(one in self.before.positions for wish in wishes for one in wish.targets)
        return bool(STACKS.search(wishes[0].clause)) and not onto

    def _had_to_move(self, wishes: Sequence[Placing]) -> bool:
        """Tell whether a thing that did not move, and may be where it was to be, was to move.

        Where all of a kind are meant, some may be there already.
        """
        if wishes[0].group:
            left = any(self._within(wish.name, wish.out_of) for wish in wishes)
            return left or bool(_LIKE_BEFORE.match(wishes[0].clause))
        return not all(w.length_m is not None or self._within(w.name, w.targets) for w in wishes)

    def _misplaced(self, wish: Placing) -> str:
        """Return in words that a thing is not where it was to be; "" if it is, or that is open."""
        if wish.way is not None:
            return self._went_otherwise(wish, *wish.way)
        if len(wish.targets) != 1:
            return ""
        (target,) = wish.targets
        so = self._is_at(wish, target)
        if so is not False:
            return ""
        if wish.length_m is not None and target in self.after.positions:
            apart = math.dist(*(self.after.positions[one][:2] for one in (wish.name, target)))
            if not _as_far(apart, wish.length_m):
                asked = f"{100 * wish.length_m:g} cm {wish.relation} it were asked for"
                return f"{wish.name!r} is {100 * apart:.0f} cm from {target!r}, where {asked}"
        return f"{wish.name!r} is not {wish.relation} {target!r}"

    def _is_at(self, wish: Placing, target: str) -> bool:
        """Tell whether a thing may be where it was to be."""
        name, relation, seen = wish.name, wish.relation, self.after
        here, place = seen.positions[name], seen.whereabouts.get(name)
        drives = ITSELF[0] in seen.condition
        inside = relation in INSIDE
        if inside and self._within(name, wish.targets):
            return True
        if target not in seen.positions:
            return not inside or (self._at_place(here, target) if not drives else not place)
        beneath = place not in ("", None, seen.whereabouts.get(target))
        beneath = beneath and (inside or not STACKS.search(wish.clause))
        if beneath and (inside or (relation in _BESIDE and place in seen.positions)):
            return False  # it was to be in a thing, or next to it, and is in another
        there = seen.positions[target]
        apart = math.dist(here[:2], there[:2])
        as_far = wish.length_m is not None and _as_far(apart, wish.length_m)
        if relation in (*_CLOSER, *_FARTHER) and not as_far:
            was = math.dist(*(self.before.positions[one][:2] for one in (name, target)))
            return (apart < was) == (relation in _CLOSER)
        sides = {
            "left of": here[0] < there[0],
            "right of": here[0] > there[0],
            "above": here[1] > there[1] or bool(place),
            "below": here[1] < there[1] or bool(place),
            "behind": here[1] > there[1],
            "in front of": here[1] < there[1],
        }
        if not drives and not sides.get(relation, True):
            return False
        if wish.length_m is not None:
            return as_far
        if inside and relation not in ("to", "at"):
            return apart <= TOUCHING_M
        return drives or apart <= BESIDE_M or relation not in (*_NEAR, "to")

    def _within(self, name: str, targets: Sequence[str]) -> bool:
        return lies_in(name, targets, self.after.whereabouts)

    def _at_place(self, here: Sequence[float], target: str) -> bool:
        """Tell whether a point may be at a named place of a table: a side is all along it."""
        places = self.after.landmarks
        if "middle" not in places:
            return True
        x, y = here[0] - places["middle"][0], here[1] - places["middle"][1]
        sides = {"left": x < 0, "right": x > 0, "top": y > 0, "bottom": y < 0}
        if target in places and "side" not in target:
            return math.dist(here[:2], places[target]) <= AT_PLACE_M
        return all(sides.get(word, True) for word in target.split())

    def _went_otherwise(self, wish: Placing, x: float, y: float) -> str:
        """Return in words that a thing did not move the way, or as far, as was said; else ""."""
        if wish.name not in self.effect.moved:
            return f"{wish.name!r} did not move"
        start, end = self.effect.moved[wish.name]
        dx, dy, far = end[0] - start[0], end[1] - start[1], math.hypot(x, y)
        if far == 0:
            return ""
        along, across = (dx * x + dy * y) / far, abs(dx * y - dy * x) / far
        if along <= 0 or across > along:
            return f"{wish.name!r} did not move {wish.relation}"
        if wish.exact and abs(along - far) > LENGTH_SHARE * far + SLACK_M:
            asked = f"{100 * far:g} cm were asked for"
            return f"{wish.name!r} moved {100 * along:.1f} cm, where {asked}"
        return ""

    def _not_swapped(self, one: str, other: str) -> Iterator[str]:
        was, now = self.before.positions, self.after.positions
        pairs = ((one, other), (other, one))
        apart = [math.dist(now[a][:2], was[b][:2]) for a, b in pairs if a in now]
        if self.effect.altered and max(apart, default=0) > TOUCHING_M:
            yield f"{one!r} and {other!r} are not each where the other was"

    def _not_stacked(self, names: Sequence[str]) -> Iterator[str]:
        """Yield what of a tower is not in it: all but the lowest are on another, or on its base."""
        wishes = [wish for name in names for wish in self.reading.wishes.get(name, ())]
        targets = [target for wish in wishes for target in wish.targets]
        under = self.after.whereabouts
        alone = [name for name in names if not self._within(name, (*names, *targets))]
        apart = [name for name in alone if name not in under.values()] or alone
        if self.effect.moved and len(alone) > 1 and {*names} <= under.keys():
            yield f"{quoted(apart)} {'is' if len(apart) == 1 else 'are'} not in the tower"


def _as_far(apart: float, length_m: float) -> bool:
    """Tell whether a distance between middles may be meant by a length."""
    slack = LENGTH_SHARE * length_m + SLACK_M
    return length_m - slack <= apart <= length_m + slack + BODIES_M


def _were(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def quoted(names: Mapping[str, object] | Sequence[str]) -> str:
    """Return names in quotes, with commas."""
    return ", ".join(map(repr, names))
