"""What a batch expects of a session, judged on the robot's true state.

Effects, each with its arguments in a list (or a list of such lists):

    on         [a, b]       a rests on b itself, let go, as the robot's own bodies say; else centres
                            within 4 cm seen from above, a higher by 1 cm, nothing between
    inside     [a, b]       a lies in b, as the robot says; else within 6 cm of its middle
    near       [a, b, m?]   centres within m metres, 0.10 by default; b may be a place or [x, y]
    at         [a, b, m?]   the same, 0.06 by default
    left_of, right_of, behind, in_front_of    [a, b]    by 1 cm or more
    stacked    [a, b, ...]  from the bottom to the top, each on the one before
    moved      [a, ...]     each is 1 cm or more from where it was
    only_moved [a, ...]     each of these moved, and nothing else: all other objects are where they
                            were, to 1 cm, and in or on what they were
    said       words        something that was said since then has these words in it, in any case
    effect     [word, ...]  its effect, in words of `cap.result.EFFECTS`
    fails      true, words  the robot refuses, or the model declines, with these words in the
                            reason, whole, in any case; and no object moved, unless `moved` or
                            `only_moved` says which

Metres; x right, y away from the front edge. Behind is farther away.

A check program is Python of the kind robots run, in the sandbox, with these variables: `positions`
and `before` (name to (x, y, z)), `objects`, `moved` (names) and `said` (a list of utterances). It
leaves `ret_val` as True, or is one expression that is.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from cap.checker.checker import examine
from cap.errors import CheckFailed, UsageError, did_you_mean
from cap.program.program import Program
from cap.program.scope import Scope
from cap.result import EFFECTS
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox

Positions = Mapping[str, tuple[float, float, float]]
ON_M, INSIDE_M, NEAR_M, AT_M = 0.04, 0.06, 0.10, 0.06
HIGHER_M = 0.01
"""What is on another thing has its middle at least so far above the other's."""
RIM_M = 0.03
"""The middle of what is low may be so far below the middle of the vessel it is in."""
MOVED_M = 0.01
CHECK_S = 5.0
"""Longest time of a check program, seconds."""
VARIABLES = frozenset(["positions", "before", "objects", "moved", "said"])
RETURNS = "ret_val"


@dataclass(frozen=True)
class View:
    """What effects are judged on."""

    before: Positions
    """Where each object was, xyz in metres."""
    after: Positions
    """Where each is now."""
    said: Sequence[str] = ()
    """What was said since, oldest first."""
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Places by name, xy in metres."""
    effect: Sequence[str] = ()
    """What was done, in words of `cap.result.EFFECTS`."""
    contents: Mapping[str, Collection[str]] | None = None
    """What lies in each vessel, let go; None if the robot does not say."""
    held: str = ""
    """What the gripper holds: that rests on nothing, and is in nothing."""
    resting: Mapping[str, str] | None = None
    """What each object is in or on, such as a bowl; None if the robot does not say."""
    rested: Mapping[str, str] | None = None
    """The same before."""

    @property
    def moved(self) -> list[str]:
        """The objects that are elsewhere than before."""
        return [
            name
            for name, was in self.before.items()
            if name not in self.after or math.dist(was, self.after[name]) > MOVED_M
        ]

    def xyz(self, name: str) -> tuple[float, float, float]:
        """Return where an object is.

        Raises:
            UsageError: There is none of that name.
        """
        if name not in self.after:
            hint = did_you_mean(name, self.after) or f" There are: {', '.join(self.after)}."
            raise UsageError(f"no object {name!r} in the scene.{hint}")
        return self.after[name]

    def xy(self, where: Any) -> tuple[float, float]:
        """Return a point, or where an object or a place is.

        Raises:
            UsageError: There is none of that name.
        """
        if isinstance(where, list | tuple):
            return float(where[0]), float(where[1])
        return self.places[where] if where in self.places else self.xyz(where)[:2]


def judge(expect: Mapping[str, Any], view: View) -> str | None:
    """Return None if every effect is there, else what is not. `fails` is not looked at."""
    reasons = []
    for name, value in expect.items():
        for arguments in _each(name, value) if name != "fails" else ():
            try:
                reason = EXPECTATIONS[name].missing(arguments, view)
            except UsageError as error:
                reason = f"{name}: {error}"
            if reason is not None:
                reasons.append(reason)
    return "; ".join(reasons) or None


def run_check(source: str, view: View) -> str | None:
    """Return None if a check program leaves True, else why not."""
    variables = {
        "positions": dict(view.after),
        "before": dict(view.before),
        "objects": list(view.after),
        "moved": view.moved,
        "said": list(view.said),
    }
    with Sandbox(Scope(variables=variables), limits=Limits(program_s=CHECK_S)) as sandbox:
        result = sandbox.run(_program(source), RETURNS)
    if result.failure is not None:
        return f"the check failed: {result.failure}"
    return None if result.value is True else f"the check gave {result.value!r:.80}, not True"


def wrong_check(source: str) -> str | None:
    """Return why a check program cannot be run at all, or None."""
    try:
        program = Program.parse(_program(source))
    except CheckFailed as error:
        return str(error)
    examined = examine(program, Scope(variables=dict.fromkeys(VARIABLES)))
    for violation in examined.violations:
        return str(violation)
    for entry in examined.undefined:
        known = ", ".join(sorted(VARIABLES))
        return f"line {entry.line}: name '{entry.name}' is not defined; there are {known}"
    bound = {node.id for node in ast.walk(program.tree) if isinstance(node, ast.Name)}
    return None if RETURNS in bound else f"it sets no {RETURNS}"


def _program(source: str) -> str:
    """Return a check as a program: an expression gives the result."""
    try:
        ast.parse(source.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    return f"{RETURNS} = ({source.strip()}\n)\n"


def wrong_effects(expect: Any) -> str | None:
    """Return what is wrong with a table of effects, or None."""
    if not isinstance(expect, dict) or not expect:
        return f"must be a table of effects; known: {', '.join(EXPECTATIONS)}"
    for name, value in expect.items():
        if name not in EXPECTATIONS:
            hint = did_you_mean(name, EXPECTATIONS) or f" Known: {', '.join(EXPECTATIONS)}."
            return f"has an unknown effect {name!r}.{hint}"
        if not all(EXPECTATIONS[name].fits(arguments) for arguments in _each(name, value)):
            return f"has a wrong '{name}': it takes {EXPECTATIONS[name].form}, not {value!r:.60}"
    return None


def _each(name: str, value: Any) -> list[Any]:
    """Return the arguments of each use of an effect; several are a list of lists."""
    several = isinstance(value, list) and value and all(isinstance(one, list) for one in value)
    return value if several and isinstance(value, list) else [value]


def names_in(expect: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every name of an object or place in a table of effects, with its effect."""
    for effect, value in expect.items():
        if effect == "effect":  # words of another kind
            continue
        for arguments in _each(effect, value) if isinstance(value, list) else ():
            for name in arguments:
                if isinstance(name, str):
                    yield effect, name


@dataclass(frozen=True)
class Expectation:
    """One thing that can be expected."""

    form: str
    """Its arguments, for messages."""
    fits: Callable[[Any], bool]
    """Returns whether arguments have that form."""
    missing: Callable[[Any, View], str | None]
    """Returns None if it is there, else what is not."""


def _is_names(value: Any, least: int, most: int | None = None) -> bool:
    return (
        isinstance(value, list)
        and least <= len(value) <= (most or len(value))
        and all(isinstance(name, str) and name.strip() for name in value)
    )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_near(value: Any) -> bool:
    if not isinstance(value, list) or len(value) not in (2, 3) or not isinstance(value[0], str):
        return False
    where, most = value[1], value[2] if len(value) == 3 else 1.0
    point = isinstance(where, list) and len(where) == 2 and all(map(_is_number, where))
    return (isinstance(where, str) or point) and _is_number(most) and most > 0


def _on(arguments: Any, view: View) -> str | None:
    a, b = arguments
    one = view.xyz(a)
    if a == view.held:
        return f"{a} is not on {b}: it is in the gripper"
    if view.resting is not None:
        below = view.resting.get(a, "")
        return None if below == b else f"{a} is not on {b}, but on {below or 'nothing named'}"
    other = view.xyz(b)
    apart_m, higher_m = math.dist(one[:2], other[:2]), one[2] - other[2]
    if apart_m > ON_M or higher_m < HIGHER_M:
        return f"{a} is not on {b}: {apart_m:.3f} m beside and {higher_m:.3f} m above it"
    for name, (x, y, z) in view.after.items():
        between = other[2] + HIGHER_M < z < one[2] - HIGHER_M
        if name not in (a, b) and between and math.dist(one[:2], (x, y)) <= ON_M:
            return f"{a} is not on {b}: the {name} is between"
    return None


def _inside(arguments: Any, view: View) -> str | None:
    a, b = arguments
    one = view.xyz(a)
    if view.contents is not None and b not in view.contents:
        return f"{a} is not in {b}: nothing can be in it"
    if a == view.held:
        return f"{a} is not in {b}: it is in the gripper"
    if view.contents is not None and (a in view.contents[b] or b not in view.after):
        return None if a in view.contents[b] else f"{a} is not in {b}"
    other = view.xyz(b)
    apart_m, higher_m = math.dist(one[:2], other[:2]), one[2] - other[2]
    if view.contents is None and apart_m <= INSIDE_M and higher_m > -RIM_M:
        return None
    return f"{a} is not in {b}: {apart_m:.3f} m beside and {higher_m:.3f} m above it"


def _within(usual_m: float) -> Callable[[Any, View], str | None]:
    def missing(arguments: Any, view: View) -> str | None:
        a, b, *given = arguments
        most_m = given[0] if given else usual_m
        apart_m = math.dist(view.xy(a), view.xy(b))
        return None if apart_m <= most_m else f"{a} is {apart_m:.3f} m from {b}, not {most_m:g}"

    return missing


def _beside(words: str, axis: int, sign: int) -> Callable[[Any, View], str | None]:
    def missing(arguments: Any, view: View) -> str | None:
        a, b = arguments
        ahead_m = sign * (view.xy(a)[axis] - view.xy(b)[axis])
        return None if ahead_m >= MOVED_M else f"{a} is not {words} {b}, by {ahead_m:.3f} m"

    return missing


def _stacked(names: Any, view: View) -> str | None:
    found = [_on([above, below], view) for below, above in pairwise(names)]
    return next((reason for reason in found if reason), None)


def _moved(names: Any, view: View) -> str | None:
    still = [name for name in names if view.xyz(name) and name not in view.moved]
    return f"did not move: {', '.join(still)}" if still else None


def _only_moved(names: Any, view: View) -> str | None:
    if others := [name for name in view.moved if name not in names]:
        return f"moved as well: {', '.join(others)}"
    now = view.resting or {}
    for name, below in (view.rested or {}).items():
        if name not in names and now.get(name) != below:
            return f"moved as well: {name}, from {below or 'nothing named'}"
    return _moved(names, view)


def has_words(words: str, text: str) -> bool:
    """Return whether a text has words in it, whole, in any case."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text.casefold()) is not None


def _said(words: Any, view: View) -> str | None:
    if any(has_words(words, text) for text in view.said):
        return None
    heard = " / ".join(view.said) if view.said else "nothing"
    return f"did not say {words!r}; said: {heard:.200}"


def _effect(words: Any, view: View) -> str | None:
    wanted = [words] if isinstance(words, str) else words
    lacking = [word for word in wanted if word not in view.effect]
    if not lacking:
        return None
    return f"effect: {', '.join(view.effect)}; expected: {', '.join(lacking)}"


def _is_effect(value: Any) -> bool:
    words = [value] if isinstance(value, str) else value
    return isinstance(words, list) and bool(words) and all(word in EFFECTS for word in words)


_TWO = "[a, b], two names"


def _pair(value: Any) -> bool:
    return _is_names(value, 2, 2)


EXPECTATIONS: Mapping[str, Expectation] = {
    "on": Expectation(_TWO, _pair, _on),
    "inside": Expectation(_TWO, _pair, _inside),
    "near": Expectation("[a, b] or [a, b, metres]", _is_near, _within(NEAR_M)),
    "at": Expectation("[a, b] or [a, b, metres]", _is_near, _within(AT_M)),
    "left_of": Expectation(_TWO, _pair, _beside("left of", 0, -1)),
    "right_of": Expectation(_TWO, _pair, _beside("right of", 0, 1)),
    "behind": Expectation(_TWO, _pair, _beside("behind", 1, 1)),
    "in_front_of": Expectation(_TWO, _pair, _beside("in front of", 1, -1)),
    "stacked": Expectation(
        "two names or more, bottom to top", lambda value: _is_names(value, 2), _stacked
    ),
    "moved": Expectation("a list of names", lambda value: _is_names(value, 1), _moved),
    "only_moved": Expectation("a list of names", lambda value: _is_names(value, 0), _only_moved),
    "said": Expectation("words", lambda value: isinstance(value, str) and bool(value), _said),
    "effect": Expectation(f"words of {', '.join(EFFECTS)}", _is_effect, _effect),
    "fails": Expectation(
        "true, false or words of the reason",
        lambda value: isinstance(value, bool | str) and value != "",
        lambda *_: None,
    ),
}
