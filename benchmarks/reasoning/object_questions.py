"""Thirty questions that ask which objects: by side, order, distance, direction and color."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from benchmarks.reasoning.question import ReasoningQuestion
from benchmarks.reasoning.question_scene import QuestionScene


def _x(scene: QuestionScene) -> Callable[[str], float]:
    return lambda name: scene.positions[name][0]


def _y(scene: QuestionScene) -> Callable[[str], float]:
    return lambda name: scene.positions[name][1]


def _near(scene: QuestionScene, other: str) -> Callable[[str], float]:
    return lambda name: scene.gap(name, other)


def _from_point(scene: QuestionScene, x: float, y: float) -> Callable[[str], float]:
    return lambda name: float(np.hypot(*(scene.at(name) - (x, y))))


def _others(names: list[str], *left_out: str) -> list[str]:
    return [name for name in names if name not in left_out]


def _color(name: str) -> str:
    return name.split()[0]


def _pairs(scene: QuestionScene, names: list[str]) -> list[list[str]]:
    """Return every two of some objects, those closest to each other first."""
    pairs = [sorted(pair) for pair in combinations(names, 2)]
    return sorted(pairs, key=lambda pair: scene.gap(*pair))


def _matching(scene: QuestionScene) -> list[str]:
    colors = {_color(name) for name in scene.bowls}
    return [name for name in scene.blocks if _color(name) in colors]


def _in_corner(scene: QuestionScene) -> list[str]:
    """Return what is below `{block}` and right of `{bowl}`."""
    low, left = scene.positions[scene.block][1], scene.positions[scene.bowl][0]
    others = _others(scene.objects, scene.block, scene.bowl)
    return [name for name in others if _y(scene)(name) < low and _x(scene)(name) > left]


def _between(scene: QuestionScene) -> list[str]:
    """Return what has an x between those of two bowls."""
    low, high = sorted((_x(scene)(scene.bowl), _x(scene)(scene.bowl2)))
    return [name for name in scene.objects if low < _x(scene)(name) < high]


_BLOCKS = "names = [name for name in objects if 'block' in name]\n"
_BOWLS = "names = [name for name in objects if 'bowl' in name]\n"
_GAP = "def gap(a, b):\n    return np.linalg.norm(get_obj_pos(a) - get_obj_pos(b))\n"
_POINT = "def off(name):\n    return np.linalg.norm(get_obj_pos(name) - np.array({point}))\n"


def _ask(
    name: str,
    words: str,
    answer: Callable[[QuestionScene], list[str]],
    program: str,
    ordered: bool = False,
) -> ReasoningQuestion:
    return ReasoningQuestion(name, "object", words, answer, program, ordered)


OBJECTS: tuple[ReasoningQuestion, ...] = (
    _ask(
        "rightmost-block",
        "the rightmost block",
        lambda s: [max(s.blocks, key=_x(s))],
        _BLOCKS + "ret_val = max(names, key=lambda name: get_obj_pos(name)[0])",
    ),
    _ask(
        "leftmost-object",
        "the leftmost object",
        lambda s: [min(s.objects, key=_x(s))],
        "ret_val = min(objects, key=lambda name: get_obj_pos(name)[0])",
    ),
    _ask(
        "topmost-bowl",
        "the topmost bowl",
        lambda s: [max(s.bowls, key=_y(s))],
        _BOWLS + "ret_val = max(names, key=lambda name: get_obj_pos(name)[1])",
    ),
    _ask(
        "bottommost-object",
        "the bottommost object",
        lambda s: [min(s.objects, key=_y(s))],
        "ret_val = min(objects, key=lambda name: get_obj_pos(name)[1])",
    ),
    _ask(
        "second-bowl-from-right",
        "the second bowl from the right",
        lambda s: [sorted(s.bowls, key=_x(s))[-2]],
        _BOWLS + "ret_val = sorted(names, key=lambda name: -get_obj_pos(name)[0])[1]",
    ),
    _ask(
        "third-block-from-bottom",
        "the third block from the bottom",
        lambda s: [sorted(s.blocks, key=_y(s))[2]],
        _BLOCKS + "ret_val = sorted(names, key=lambda name: get_obj_pos(name)[1])[2]",
    ),
    _ask(
        "fourth-object-from-left",
        "the fourth object from the left",
        lambda s: [sorted(s.objects, key=_x(s))[3]],
        "ret_val = sorted(objects, key=lambda name: get_obj_pos(name)[0])[3]",
    ),
    _ask(
        "two-topmost-bowls",
        "the two topmost bowls",
        lambda s: sorted(sorted(s.bowls, key=_y(s))[-2:]),
        _BOWLS + "ret_val = sorted(names, key=lambda name: get_obj_pos(name)[1])[2:]",
    ),
    _ask(
        "three-leftmost-objects",
        "the three leftmost objects",
        lambda s: sorted(sorted(s.objects, key=_x(s))[:3]),
        "ret_val = sorted(objects, key=lambda name: get_obj_pos(name)[0])[:3]",
    ),
    _ask(
        "blocks-right-to-left",
        "the blocks from right to left",
        lambda s: sorted(s.blocks, key=_x(s), reverse=True),
        _BLOCKS + "ret_val = sorted(names, key=lambda name: -get_obj_pos(name)[0])",
        ordered=True,
    ),
    _ask(
        "bowls-bottom-to-top",
        "the bowls from bottom to top",
        lambda s: sorted(s.bowls, key=_y(s)),
        _BOWLS + "ret_val = sorted(names, key=lambda name: get_obj_pos(name)[1])",
        ordered=True,
    ),
    _ask(
        "blocks-by-distance",
        "the blocks ordered by their distance to the {bowl}, the closest first",
        lambda s: sorted(s.blocks, key=_near(s, s.bowl)),
        _GAP + _BLOCKS + "ret_val = sorted(names, key=lambda name: gap(name, '{bowl}'))",
        ordered=True,
    ),
    _ask(
        "block-closest-to-bowl",
        "the block closest to the {bowl}",
        lambda s: [min(s.blocks, key=_near(s, s.bowl))],
        _GAP + _BLOCKS + "ret_val = names[np.argmin([gap(name, '{bowl}') for name in names])]",
    ),
    _ask(
        "bowl-farthest-from-block",
        "the bowl farthest from the {block}",
        lambda s: [max(s.bowls, key=_near(s, s.block))],
        _GAP + _BOWLS + "ret_val = names[np.argmax([gap(name, '{block}') for name in names])]",
    ),
    _ask(
        "other-object-closest-to-block",
        "the other object closest to the {block}",
        lambda s: [min(_others(s.objects, s.block), key=_near(s, s.block))],
        _GAP + "ret_val = sorted(objects, key=lambda name: gap(name, '{block}'))[1]",
    ),
    _ask(
        "block-second-closest-to-bowl",
        "the block second closest to the {bowl}",
        lambda s: [sorted(s.blocks, key=_near(s, s.bowl))[1]],
        _GAP + _BLOCKS + "ret_val = sorted(names, key=lambda name: gap(name, '{bowl}'))[1]",
    ),
    _ask(
        "blocks-closest-together",
        "the two blocks that are closest to each other",
        lambda s: _pairs(s, s.blocks)[0],
        _GAP
        + _BLOCKS
        + "pairs = [(a, b) for a in names for b in names if a < b]\n"
        + "ret_val = list(min(pairs, key=lambda pair: gap(*pair)))",
    ),
    _ask(
        "bowls-farthest-apart",
        "the two bowls that are farthest apart",
        lambda s: _pairs(s, s.bowls)[-1],
        _GAP
        + _BOWLS
        + "pairs = [(a, b) for a in names for b in names if a < b]\n"
        + "ret_val = list(max(pairs, key=lambda pair: gap(*pair)))",
    ),
    _ask(
        "block-closest-to-point",
        "the block closest to the point (0.1, -0.4)",
        lambda s: [min(s.blocks, key=_from_point(s, 0.1, -0.4))],
        _POINT.format(point=(0.1, -0.4)) + _BLOCKS + "ret_val = min(names, key=off)",
    ),
    _ask(
        "bowl-farthest-from-point",
        "the bowl farthest from the point (-0.3, -0.2)",
        lambda s: [max(s.bowls, key=_from_point(s, -0.3, -0.2))],
        _POINT.format(point=(-0.3, -0.2)) + _BOWLS + "ret_val = max(names, key=off)",
    ),
    _ask(
        "blocks-left-of-bowl",
        "all the blocks to the left of the {bowl}",
        lambda s: [name for name in s.blocks if _x(s)(name) < _x(s)(s.bowl)],
        _BLOCKS
        + "edge = get_obj_pos('{bowl}')[0]\n"
        + "ret_val = [name for name in names if get_obj_pos(name)[0] < edge]",
    ),
    _ask(
        "bowls-above-block",
        "all the bowls above the {block}",
        lambda s: [name for name in s.bowls if _y(s)(name) > _y(s)(s.block)],
        _BOWLS
        + "edge = get_obj_pos('{block}')[1]\n"
        + "ret_val = [name for name in names if get_obj_pos(name)[1] > edge]",
    ),
    _ask(
        "objects-below-and-right",
        "all the objects that are below the {block} and to the right of the {bowl}",
        _in_corner,
        "edge = get_obj_pos('{bowl}')[0], get_obj_pos('{block}')[1]\n"
        + "ret_val = []\n"
        + "for name in objects:\n"
        + "    x, y = get_obj_pos(name)\n"
        + "    if x > edge[0] and y < edge[1]:\n"
        + "        ret_val.append(name)",
    ),
    _ask(
        "blocks-within-distance",
        "all the blocks within 25 cm of the {bowl}",
        lambda s: [name for name in s.blocks if s.gap(name, s.bowl) < 0.25],
        _GAP + _BLOCKS + "ret_val = [name for name in names if gap(name, '{bowl}') <= 0.25]",
    ),
    _ask(
        "bowls-beyond-distance",
        "all the bowls more than 30 cm away from the {block}",
        lambda s: [name for name in s.bowls if s.gap(name, s.block) > 0.3],
        _GAP + _BOWLS + "ret_val = [name for name in names if gap(name, '{block}') > 0.3]",
    ),
    _ask(
        "blocks-with-matching-bowl",
        "the blocks for which there is a bowl of the same color",
        _matching,
        _BLOCKS + "ret_val = [name for name in names if name.split()[0] + ' bowl' in objects]",
    ),
    _ask(
        "bowls-without-matching-block",
        "the bowls for which there is no block of the same color",
        lambda s: [name for name in s.bowls if f"{_color(name)} block" not in s.blocks],
        _BOWLS + "ret_val = [name for name in names if name.split()[0] + ' block' not in objects]",
    ),
    _ask(
        "block-of-bowl-s-color",
        "the block with the same color as the {twin}",
        lambda s: [f"{_color(s.twin)} block"],
        "ret_val = '{twin}'.replace('bowl', 'block')",
    ),
    _ask(
        "block-closest-to-its-bowl",
        "of the blocks with a bowl of the same color, the one closest to that bowl",
        lambda s: [min(_matching(s), key=lambda name: s.gap(name, f"{_color(name)} bowl"))],
        _GAP
        + "names = [name for name in objects if 'block' in name]\n"
        + "names = [name for name in names if name.replace('block', 'bowl') in objects]\n"
        + "ret_val = min(names, key=lambda name: gap(name, name.replace('block', 'bowl')))",
    ),
    _ask(
        "objects-between-bowls",
        "all the objects whose x coordinate lies between those of the {bowl} and the {bowl2}",
        _between,
        "ends = sorted([get_obj_pos('{bowl}')[0], get_obj_pos('{bowl2}')[0]])\n"
        + "ret_val = [name for name in objects if ends[0] < get_obj_pos(name)[0] < ends[1]]",
    ),
)
