"""What must be true after an instruction, judged on the world's true state.

An expectation is plain data; all its words must hold:

    on          [[a, b, tol?], ...]  a rests on or in b, within tol metres of its centre, and
                                   higher: than a block by half a block
    at          [[a, [x, y], tol]] a is within tol metres of a point
    place       [[a, place, tol?], ...]  a is at a corner, a side or the middle
    direction   [[a, way, b, min, max]]  a is min..max metres left, right, top or bottom of b, and
                                   off that axis by at most 0.05; `any`: at that distance. The
                                   same object twice: against where it was before.
    stacked     [a, ...]           one pile, in any order
    line        {names, axis}      on one line; axis `x`, `y`, `diagonal` or `any`
    circle      {names, around?}   all the way round one circle, about its own centre or `around`
    each        {names, to, distinct?, mismatched?, tol?}  each at a `corner` or `side` or in a
                                   `bowl`; no two at the same one; none in one of its own colour
    said        regex or selector  the last utterance matches, or has the selected object's colour
    answer      true, false or [a, way, b]  the last utterance says yes or no, as is true
    moved_only  [a, ...]           everything else stayed within 1 cm
    kept        [a, ...]           each stayed within 3 cm: what something is put on or in
    unmoved     true               everything stayed within 1 cm
    restored    true               everything is back within 2 cm of where it was before the last
                                   setup instruction, which must have moved something
    refused     true               nothing moved, and the instruction failed, was declined, or the
                                   last utterance says it cannot be done

A name may be a selector, resolved on the scene before the instruction:
`{"ordinal": [kind, way, n]}` (n-th counting from that way), `{"closest": [kind, b]}` or
`{"farthest": [kind, b]}`, with kind `block`, `bowl`, `corner` or `side`.

Frame: metres, x right, y up (away from the front edge). Where no tol is given, the distances for
`on` (0.04 on a block, 0.06 in a bowl) and `place` (0.06) are those of the original release's
simulator; the others are this project's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.table.geometry import PLACES

Vector = NDArray[np.float64]
Positions = Mapping[str, tuple[float, float, float]]

WAYS: Mapping[str, tuple[float, float]] = {
    "left": (-1.0, 0.0),
    "right": (1.0, 0.0),
    "top": (0.0, 1.0),
    "bottom": (0.0, -1.0),
}
ON_BLOCK_M, IN_BOWL_M, PLACE_M, OFF_AXIS_M = 0.04, 0.06, 0.06, 0.05
SHAPE_M = 0.03
"""Farthest from the common axis, line or circle; also the least distance of two on a shape."""
LINE_SHARE = 0.1
"""The same of a line, as a share of its length: three blocks close together may be no corner."""
LAYER_M = 0.02
"""Least difference of height in a pile: half a block."""
DIAGONAL_RAD = (np.pi / 6, np.pi / 3)
"""Slopes of a diagonal line, of either sign: within 15 degrees of 45."""
MOVED_M, RESTORED_M, KEPT_M = 0.01, 0.02, 0.03

YES = re.compile(r"\b(yes|yeah|yep|true|correct|indeed|(there|it) (is|are))\b|\bi do\b", re.I)
NO = re.compile(r"\b(no|nope|not|false|none)\b|n['’]t\b", re.I)
_PLAIN_YES = re.compile(r"\b(yes|yeah|yep)\b", re.I)
_PLAIN_NO = re.compile(r"\b(no|nope)\b", re.I)
REFUSAL = re.compile(r"\b(cannot|can not|unable|not able|impossible|sorry|no)\b|n['’]t\b", re.I)


def judge(
    expect: Mapping[str, Any],
    before: Positions,
    after: Positions,
    spoken: Sequence[str],
    undone: Positions | None = None,
) -> str | None:
    """Return None if the world is as expected, else why not.

    Args:
        expect: What must be true; see the module's docstring.
        before: Where each object was before the instruction, xyz in metres.
        after: Where each is now.
        spoken: What was said since the instruction, oldest first.
        undone: Where each was before the last setup instruction; `restored` needs it.

    Raises:
        LookupError, TypeError, ValueError: `expect` is malformed: a word, name, way or place that
            does not exist, or a value of the wrong shape.
    """
    if unknown := sorted(set(expect) - set(_CHECKS)):
        raise ValueError(f"expect {unknown} unknown; known: {sorted(_CHECKS)}")
    scene = _Scene(before, after, spoken[-1] if spoken else "", undone)
    reasons = [reason for word, value in expect.items() for reason in _CHECKS[word](scene, value)]
    return "; ".join(reasons) or None


@dataclass(frozen=True)
class _Scene:
    """What a check may look at."""

    before: Positions
    """Where each object was before the instruction, xyz in metres."""
    after: Positions
    """Where each is now."""
    last: str
    """The last utterance, or ""."""
    undone: Positions | None
    """Where each was before the last setup instruction."""

    def name(self, name: Any) -> str:
        """Return the object or place a name or selector means."""
        if isinstance(name, str):
            if name not in self.before and name not in PLACES:
                raise ValueError(f"no object or place {name!r} in the scene")
            return name
        ((selector, (kind, *rest)),) = name.items()
        found = self.candidates(kind)
        if selector == "ordinal":
            way, n = rest
            found.sort(key=lambda entry: float(-np.dot(self.was(entry), WAYS[way])))
            if not 1 <= n <= len(found):
                raise ValueError(f"there is no {kind} number {n}; the scene has {len(found)}")
            return found[int(n) - 1]
        if selector not in ("closest", "farthest"):
            raise ValueError(f"selector {selector!r} unknown; use ordinal, closest or farthest")
        other = self.name(rest[0])
        found = [entry for entry in found if entry != other]
        sign = 1 if selector == "closest" else -1
        return min(found, key=lambda entry: sign * _distance(self.was(entry), self.was(other)))

    def candidates(self, kind: str) -> list[str]:
        """Return the objects or places of a kind."""
        return [entry for entry in (*self.before, *PLACES) if entry.split()[-1] == kind]

    def was(self, name: str) -> Vector:
        """Return where an object was before, or where a place is: xy in metres."""
        return np.array(self.before[name][:2] if name in self.before else PLACES[name])

    def now(self, name: str) -> Vector:
        """Return where an object or a place is now: xy in metres."""
        return np.array(self.after[name][:2] if name in self.after else PLACES[name])

    def points(self, names: Iterable[Any]) -> Vector:
        """Return where objects are now: n x 2, in metres."""
        return np.array([self.now(self.name(name)) for name in names])

    def rests_on(self, a: str, b: str, tol: float | None = None) -> bool:
        """Tell whether `a` is on the block, or in the bowl, `b`."""
        usual = IN_BOWL_M if b.endswith("bowl") else ON_BLOCK_M
        near = _distance(self.now(a), self.now(b)) < (usual if tol is None else tol)
        least = 0.0 if b.endswith("bowl") else LAYER_M  # beside a block, and leaning, is not on it
        return near and self.after[a][2] > self.after[b][2] + least

    def moved(self, since: Positions, limit_m: float) -> list[str]:
        """Return the objects that are more than `limit_m` from where they were."""
        return [name for name in since if _distance(since[name], self.after[name]) > limit_m]


def _distance(a: Any, b: Any) -> float:
    return float(np.linalg.norm(np.subtract(a, b)))


def _on(scene: _Scene, pairs: Any) -> list[str]:
    named = [(scene.name(a), scene.name(b), *tol) for a, b, *tol in pairs]
    return [f"{a} is not on {b}" for a, b, *tol in named if not scene.rests_on(a, b, *tol)]


def _at(scene: _Scene, targets: Any) -> list[str]:
    named = [(scene.name(a), point, tol) for a, point, tol in targets]
    return [f"{a} is not at {p}" for a, p, tol in named if _distance(scene.now(a), p) > tol]


def _place(scene: _Scene, pairs: Any) -> list[str]:
    named = [(scene.name(a), scene.name(b), *tol) for a, b, *tol in pairs]
    far = [(a, b) for a, b, *tol in named if not _at_place(scene, a, b, *tol)]
    return [f"{a} is not at the {b}" for a, b in far]


def _at_place(scene: _Scene, name: str, place: str, tol: float | None = None) -> bool:
    return _distance(scene.now(name), PLACES[place]) < (PLACE_M if tol is None else tol)


def _direction(scene: _Scene, relations: Any) -> list[str]:
    reasons = []
    for first, way, second, low, high in relations:
        a, b = scene.name(first), scene.name(second)
        shift = scene.now(a) - (scene.was(b) if a == b else scene.now(b))
        # The part across the axis: 0 for `any`, where only the distance counts.
        axis = shift / (np.linalg.norm(shift) or 1.0) if way == "any" else np.array(WAYS[way])
        along = float(shift @ axis)
        across = float(np.linalg.norm(shift - along * axis))
        if not (low <= along <= high and across <= OFF_AXIS_M):
            found = f"{along:.3f} m along, {across:.3f} m across"
            reasons.append(f"{a} is not {low} to {high} m {way} of {b}: {found}")
    return reasons


def _stacked(scene: _Scene, names: Any) -> list[str]:
    if not names:
        raise ValueError("`stacked` names no object")
    points = scene.points(names)
    spread = np.linalg.norm(points - points.mean(axis=0), axis=1).max()
    heights = sorted(scene.after[scene.name(name)][2] for name in names)
    piled = all(high - low >= LAYER_M for low, high in pairwise(heights))
    return [] if spread <= SHAPE_M and piled else [f"{names} are not one pile"]


def _line(scene: _Scene, shape: Any) -> list[str]:
    points = scene.points(shape["names"])
    offsets = points - points.mean(axis=0)
    way, normal = np.linalg.svd(offsets)[2]
    normals = {"x": (0.0, 1.0), "y": (1.0, 0.0), "any": normal, "diagonal": normal}
    residual = np.abs(offsets @ np.array(normals[shape["axis"]])).max()
    most = min(SHAPE_M, LINE_SHARE * float(np.ptp(offsets @ way)))
    slope = float(np.arctan2(abs(way[1]), abs(way[0])))
    slanted = shape["axis"] != "diagonal" or DIAGONAL_RAD[0] <= slope <= DIAGONAL_RAD[1]
    straight = residual <= most and slanted and _apart(points)
    return [] if straight else [f"{shape['names']} are not on a line, axis {shape['axis']}"]


def _circle(scene: _Scene, shape: Any) -> list[str]:
    """Check the distance from the centre, and that no gap is over 1.5 times the even one."""
    points = scene.points(shape["names"])
    if (around := shape.get("around")) is not None:
        centre = scene.now(scene.name(around))
    else:  # fitted by least squares, in Kasa's linear form
        system = np.column_stack([2 * points, np.ones(len(points))])
        centre = np.linalg.lstsq(system, (points**2).sum(axis=1), rcond=None)[0][:2]
    offsets = points - centre
    radii = np.linalg.norm(offsets, axis=1)
    angles = np.sort(np.arctan2(offsets[:, 1], offsets[:, 0]))
    gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
    even = bool(gaps.max() <= 1.5 * 2 * np.pi / len(points))
    round_ = even and np.abs(radii - radii.mean()).max() <= SHAPE_M and _apart(points)
    return [] if round_ else [f"{shape['names']} are not on a circle"]


def _apart(points: Vector) -> bool:
    return all(_distance(a, b) >= SHAPE_M for a, b in combinations(points, 2))


def _each(scene: _Scene, rule: Any) -> list[str]:
    tol = rule.get("tol")
    found = {name: _where(scene, name, rule["to"], tol) for name in map(scene.name, rule["names"])}
    reasons = [f"{name} is at no {rule['to']}" for name, where in found.items() if where is None]
    places = [where for where in found.values() if where is not None]
    if rule.get("distinct") and len(set(places)) < len(places):
        reasons.append(f"two of {rule['names']} are at the same {rule['to']}")
    if rule.get("mismatched"):
        same = [name for name, where in found.items() if where and _colour(where) == _colour(name)]
        reasons += [f"{name} is in the bowl of its own colour" for name in same]
    return reasons


def _where(scene: _Scene, name: str, kind: str, tol: float | None = None) -> str | None:
    """Return the place or bowl of a kind an object is at, or None."""
    for where in scene.candidates(kind):
        if where in PLACES and _at_place(scene, name, where, tol):
            return where
        if where not in PLACES and scene.rests_on(name, where, tol):
            return where
    return None


def _colour(name: str) -> str:
    return name.split()[0]


def _said(scene: _Scene, wanted: Any) -> list[str]:
    if isinstance(wanted, str):
        matches = re.search(wanted, scene.last, re.IGNORECASE) is not None
        return [] if matches else [f"said {scene.last!r}, not {wanted}"]
    target = scene.name(wanted)
    ((kind, *rest),) = wanted.values()
    # A colour may be named next to the right one only if the question itself has it.
    allowed = {_colour(target), *(_colour(name) for name in rest if isinstance(name, str))}
    words = set(re.findall(r"[a-z]+", scene.last.lower().replace("grey", "gray")))
    others = {_colour(name) for name in scene.candidates(kind)} - allowed
    matches = _colour(target) in words and not others & words
    return [] if matches else [f"said {scene.last!r}, not {target}"]


def yes_or_no(text: str) -> bool | None:
    """Return whether a text says yes; None if it says neither, or both in so many words."""
    if _PLAIN_YES.search(text) and _PLAIN_NO.search(text):
        return None
    if NO.search(text):
        return False
    return True if YES.search(text) else None


def _answer(scene: _Scene, wanted: Any) -> list[str]:
    if isinstance(wanted, list):
        a, way, b = wanted
        shift = scene.was(scene.name(a)) - scene.was(scene.name(b))
        wanted = bool(shift @ np.array(WAYS[way]) > 0)
    said = yes_or_no(scene.last)
    return [] if said is wanted else [f"said {scene.last!r}, not {'yes' if wanted else 'no'}"]


def _moved_only(scene: _Scene, names: Any) -> list[str]:
    allowed = {scene.name(name) for name in names}
    return [f"{name} moved" for name in scene.moved(scene.before, MOVED_M) if name not in allowed]


def _kept(scene: _Scene, names: Any) -> list[str]:
    wanted = {scene.name(name) for name in names}
    return [f"{name} was moved" for name in scene.moved(scene.before, KEPT_M) if name in wanted]


def _unmoved(scene: _Scene, _: Any) -> list[str]:
    return [f"{name} moved" for name in scene.moved(scene.before, MOVED_M)]


def _restored(scene: _Scene, _: Any) -> list[str]:
    if scene.undone is None:
        raise ValueError("`restored` needs the world before the last setup instruction")
    if all(_distance(scene.undone[name], scene.before[name]) <= MOVED_M for name in scene.undone):
        return ["nothing to restore: the setup moved nothing"]
    return [f"{name} is not back" for name in scene.moved(scene.undone, RESTORED_M)]


def _refused(scene: _Scene, _: Any) -> list[str]:
    refused = REFUSAL.search(scene.last) is not None
    return _unmoved(scene, True) + ([] if refused else ["neither declined nor failed"])


_CHECKS: Mapping[str, Callable[[_Scene, Any], list[str]]] = {
    "on": _on,
    "at": _at,
    "place": _place,
    "direction": _direction,
    "stacked": _stacked,
    "line": _line,
    "circle": _circle,
    "each": _each,
    "said": _said,
    "answer": _answer,
    "moved_only": _moved_only,
    "kept": _kept,
    "unmoved": _unmoved,
    "restored": _restored,
    "refused": _refused,
}
