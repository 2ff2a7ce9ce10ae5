"""A turn's effect: what it changed in the world, what was said, what was left over.

The effect is read from the world, not from the program: an action that ran to its end and left
everything where it was has moved nothing.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cap.errors import clipped
from cap.result import EFFECTS, ByValue, Call, Result, between, folded, plain, unmarked
from cap.robot.observation import Changed, Moved, Observation, alike

_MOVED, _DREW, _SAID, _ANSWERED, _NOTHING = EFFECTS
INK, NOTHING_DRAWN = "ink", "none"
"""What a robot's condition calls what is drawn, and says where that is nothing."""
VELOCITY = "velocity"
"""What a robot's condition calls what it drives on with: to set it is no motion yet."""
ITSELF = ("robot", "gripper", "travel")
"""What a robot's condition calls where it is itself, and the way it has gone: reported where
nothing else changed; the way, where the robot is back where it was."""
HELD, NOTHING_HELD = "held", "nothing"
"""What a robot's condition calls what it holds, and says where that is nothing."""
MOTIONS = "motions"
"""What a robot's condition calls the number of its own motions: never reported."""
ALIKE_M, INSIDE_ALIKE_M = 0.025, 0.05
"""Objects that end so near to each other, somewhere or in the same thing, are in one place."""
_SAY = "say"
_SAID_CHARS = 200
"""How much of what was said later prompts show."""


@dataclass(frozen=True, eq=False)
class Effect(ByValue):
    """What one turn did."""

    moved: Moved = field(default_factory=dict)
    """Objects that moved: from and to, xyz in metres; the last moved last."""
    places: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """What they were and are in or on, in the robot's words; "" where it has none."""
    changed: Changed = field(default_factory=dict)
    """What else changed, by name: before and after."""
    no_longer_seen: tuple[str, ...] = ()
    """Objects that are no longer seen: they may be hidden, so what moved is not known."""
    newly_seen: tuple[str, ...] = ()
    """Objects that were not seen before."""
    said: tuple[str, ...] = ()
    """What the robot said to the user."""
    answered: bool = False
    """True if the program returned a value or printed something."""
    acted: bool = False
    """True if an action ran to its end, other than saying something."""
    left_over: tuple[str, ...] = ()
    """What the program was asked for and did not find, or could not do and went on: lines."""
    doubts: tuple[str, ...] = ()
    """What the words ask for in every reading and the world does not show: lines."""
    undone: tuple[str, ...] = ()
    """Instructions of the turns that it undid, the last of them first."""
    unseen: bool = False
    """True if the world could not be seen afterwards: whether anything moved is not known."""

    @classmethod
    def of(
        cls,
        before: Observation,
        after: Observation,
        result: Result,
        earlier_calls: int = 0,
    ) -> Effect:
        """Compare the world before a program with the world after it.

        Args:
            before: The world when the turn began.
            after: The world now.
            result: The result of the program: its calls, its value.
            earlier_calls: How many of the calls are of attempts that were written again.
        """
        shifted, changed = after.since(before)
        gone = sorted(before.positions.keys() - after.positions.keys())
        new = sorted(after.positions.keys() - before.positions.keys())
        changed = {name: pair for name, pair in changed.items() if name not in (*gone, *new)}
        if MOTIONS in after.condition and MOTIONS not in changed:  # something else moved them
            shifted = {}
            changed = {name: pair for name, pair in changed.items() if name not in ITSELF}
        changed.pop(MOTIONS, None)
        base, _, travel = ITSELF
        if base in changed:
            changed.pop(travel, None)
        done = [call for call in result.calls if call.error is None]
        said = [str(_first(call)) for call in done if call.name == _SAY]
        last = replace(result, calls=result.calls[earlier_calls:])
        still = not shifted and not changed
        handled = _handled(done)
        appeared = {name: after.positions[name] for name in new if name in handled}
        shifted = {**shifted, **{name: (xyz, xyz) for name, xyz in appeared.items()}}
        ordered = [name for name in shifted if name not in handled]  # it came along
        ordered += [name for name in handled if name in shifted]
        return cls(
            moved={name: shifted[name] for name in ordered},
            places={
                name: (before.whereabouts.get(name, ""), after.whereabouts.get(name, ""))
                for name in ordered
            },
            changed=changed,
            no_longer_seen=tuple(gone),
            newly_seen=tuple(name for name in new if name not in appeared),
            said=tuple(words for words in said if words.strip()),
            answered=result.value is not None or bool(result.stdout.strip()),
            acted=any(call.kind == "action" and call.name != _SAY for call in done),
            left_over=tuple(_left_over(last, still and not said, after.facts.get("objects", ()))),
        )

    def agrees(self, other: Effect) -> bool:
        """Tell whether two turns that began in the same world did the same to it.

        What they said counts only where the world is as it was.
        """
        ours, theirs = self._others, other._others
        alone = not (self.moved or ours) and not (other.moved or theirs)
        return (
            self.moved.keys() == other.moved.keys()
            and (self.altered or self.said == other.said)
            and (self.unseen, self.no_longer_seen) == (other.unseen, other.no_longer_seen)
            and ours.keys() == theirs.keys()
            and all(  # a drawing is more than its length
                name == INK or alike(after, theirs[name][1]) for name, (_, after) in ours.items()
            )
            and all(self._ends_alike(other, name) for name in self.moved)
            and (not alone or alike(plain(self.changed), plain(other.changed)))
        )

    def _ends_alike(self, other: Effect, name: str) -> bool:
        """Tell whether an object ended in the same place: in the same thing, or nearly there."""
        ours, theirs = (effect.places.get(name, ("", ""))[1] for effect in (self, other))
        near = math.dist(self.moved[name][1], other.moved[name][1])
        return ours == theirs and near <= (INSIDE_ALIKE_M if ours else ALIKE_M)

    @property
    def altered(self) -> bool:
        """True if the world is known to have changed."""
        return bool(self.moved or self.changed)

    @property
    def still(self) -> bool:
        """True if the world is as it was, and all of it is seen as before."""
        return not (self.moved or self.changed or self.no_longer_seen or self.newly_seen)

    @property
    def words(self) -> tuple[str, ...]:
        """The effect in words, of `cap.result.EFFECTS`; `nothing` stands alone.

        None at all where only what is seen changed: that nothing moved is not known then.
        """
        others = [name for name in self.changed if name not in (INK, VELOCITY)]
        there = {
            _MOVED: bool(self.moved or others),
            _DREW: INK in self.changed,
            _SAID: bool(self.said),
            _ANSWERED: self.answered,
        }
        found = tuple(word for word, so in there.items() if so)
        unknown = self.unseen or self.no_longer_seen or self.newly_seen
        return found if found or unknown else (_NOTHING,)

    @property
    def line(self) -> str:
        """The effect as a line `#= ` of a prompt; "" where it cannot be seen."""
        return "; ".join(self.clauses)

    @property
    def detail(self) -> str:
        """The same with where each thing was and is, and how much is drawn."""
        return "; ".join(self._clauses(detailed=True))

    @property
    def clauses(self) -> tuple[str, ...]:
        """The parts of that line; none where the effect cannot be seen."""
        return self._clauses()

    def _clauses(self, detailed: bool = False) -> tuple[str, ...]:
        parts = []
        if detailed:
            parts += [f"moved {name}{self.way(name)}" for name in self.moved]
        for ends, names in () if detailed else itertools.groupby(self.moved, self.places.get):
            parts.append(f"moved {', '.join(names)}{between(ends or ('', ''))}")
        for name, (was, now) in self.changes.items():
            base, gripper, travel = ITSELF
            if name == INK:
                amounts = f": {unmarked(was)}, now {unmarked(now)}" if detailed else ""
                parts.append(f"{_drawn(was, now)}{amounts}")
                continue
            known = {base: "drove", gripper: "gripper moved", HELD: f"holds {now}"}
            known[travel] = "drove, and is back where it was"
            state = f"{name} is {now}" if isinstance(now, str) else f"changed {name}"
            parts.append(known.get(name, state))
        parts += [f"{name} is no longer seen" for name in self.no_longer_seen]
        parts += [f"{name} is seen" for name in self.newly_seen]
        parts += folded(f"said '{words[:_SAID_CHARS]}'" for words in self.said)
        parts += [self.undone_line] if self.undone else []
        if self.still:
            parts.append("nothing moved")
        return () if self.unseen else tuple(parts)

    def way(self, name: str) -> str:
        """Return from where to where a thing moved: what it was in or on, and xy in metres."""
        ends = zip(("from", "to"), self.places.get(name, ("", "")), self.moved[name], strict=True)
        return "".join(f" {word} {place and place + ' '}{_xy(xyz)}" for word, place, xyz in ends)

    @property
    def undone_line(self) -> str:
        """What it undid, in words; "" if nothing."""
        words_undone = ", ".join(f"'{clipped(' '.join(words.split()))}'" for words in self.undone)
        return words_undone and f"undone: {words_undone}"

    @property
    def stillness(self) -> str:
        """The words for an unchanged world; "" if it changed."""
        if self.unseen:
            return "whether anything moved cannot be seen"
        if not self.still:
            return ""
        return "nothing moved: everything is where it was" if self.acted else "nothing moved"

    @property
    def changes(self) -> Changed:
        """What to report of `changed`: where the robot is only if nothing else changed."""
        others = self._others
        return others if others or self.moved else self.changed

    @property
    def _others(self) -> Changed:
        """What changed other than where the robot itself is."""
        return {name: pair for name, pair in self.changed.items() if name not in ITSELF}


def _drawn(was: object, now: object) -> str:
    """Return how the ink changed, by the number of strokes and their length."""
    if now == NOTHING_DRAWN:
        return "erased everything"
    found = (re.match(r"(\d+) strokes? \((\S+) m", str(ink)) for ink in (was, now))
    before, after = ((int(one[1]), float(one[2])) if one else (0, 0.0) for one in found)
    if before[0] == after[0] > 0:
        return "changed the drawing"
    return "erased" if after[1] < before[1] else _DREW


def _xy(xyz: Sequence[float]) -> str:
    return f"({xyz[0]:.3f}, {xyz[1]:.3f})"


def _left_over(result: Result, still: bool, objects: Sequence[str]) -> Iterator[str]:
    """Yield what was asked for and not found, and what could not be done and was passed over."""
    asked = [call for call in result.calls if call.error is None and isinstance(_first(call), str)]
    found_some = dict[str, bool]()  # what is not at one place may be at another
    for call in asked:
        if call.kind == "lmp":
            empty = isinstance(call.result, list | tuple) and not call.result
            some = call.result is not None and not empty
            found_some[_first(call)] = some or found_some.get(_first(call), False)
    lacking = [f"{clipped(words)}: none here" for words, some in found_some.items() if not some]
    if still:  # that something is not to be seen matters where nothing was done
        found = {
            f"{call.name}({clipped(_first(call))!r}) is False": call.result is False
            for call in asked
            if call.kind == "perception"
        }
        lacking += [line for line, lasts in found.items() if lasts]
    yield from dict.fromkeys(lacking)
    if lacking and objects:
        yield f"here are: {', '.join(objects)}"
    if result.failure is None:
        for call in result.calls:
            if call.error is not None and call.kind == "action":
                yield f"{call.name} failed and the program went on: {call.error}"


def _handled(calls: Sequence[Call]) -> list[str]:
    """Return the names that actions were given first, once each: the one handled last is last.

    What an action handles is its first argument: a name, several, or a table by name.
    """
    found: dict[str, None] = {}
    for call in calls:
        if call.kind == "action" and call.name != _SAY:
            given = _first(call)
            for name in given if isinstance(given, list | tuple | dict) else [given]:
                if isinstance(name, str):
                    found.pop(name, None)
                    found[name] = None
    return list(found)


def _first(call: Call) -> Any:
    """Return the first argument, or None."""
    return next(iter([*call.args, *call.kwargs.values()]), None)
