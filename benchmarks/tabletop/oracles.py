"""One program per task, written by a person: it shows that the task can be done.

An oracle reads the scene like any other program and runs through the same check and sandbox. The
words of its instruction come as variables above it (`block = 'red block'`); nothing else about the
trial does. Those of Inner Monologue's tasks look at what they did and try again, fifteen steps at
most, since there motions may miss.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.tabletop.inner_monologue import PREFIX
from benchmarks.tabletop.tasks import Task
from cap.prompt.context import Context

_BLOCKS = "blocks = [name for name in objects if 'block' in name]\n"
_BOWLS = "bowls = [name for name in objects if 'bowl' in name]\n"
_WAYS = "ways = {'left': [-1, 0], 'right': [1, 0], 'top': [0, 1], 'bottom': [0, -1]}\n"
_DISTANCE = """
def distance(first, second):
    return np.linalg.norm(get_obj_pos(first) - get_obj_pos(second))

"""
_STACK = (
    _BLOCKS
    + _DISTANCE
    + """
blocks.sort(key=lambda name: distance(name, 'middle'))
stack_objects_in_order(blocks)
"""
)
_CORNERS = (
    _BLOCKS
    + _DISTANCE
    + """
corners = [side + ' ' + end + ' corner' for side in ('top', 'bottom') for end in ('left', 'right')]
goals = []
for name in blocks:
    corner = min(corners, key=lambda corner: distance(name, corner))
    corners.remove(corner)
    goals.append((name, corner))
"""
)
_MISMATCHED = (
    _BLOCKS
    + _BOWLS
    + """
goals = []
for name, shifted in zip(blocks, blocks[1:] + blocks[:1]):
    goals.append((name, shifted.split()[0] + ' bowl'))
"""
)
_MATCHING = _BLOCKS + "goals = [(name, name.split()[0] + ' bowl') for name in blocks]\n"
_DO = """
for name, target in goals:
    put_first_on_second(name, target)
"""
_LINE = """
ways = {'horizontal': [(1, 0)], 'vertical': [(0, 1)], 'diagonal': [(0.71, 0.71), (0.71, -0.71)]}
bowls = [get_obj_pos(name) for name in objects if 'bowl' in name]
free = {name: get_obj_pos(name) for name in objects if 'block' in name}
count = len(free)

def layout(way, shift, gap):
    steps = gap * (np.arange(count) - (count - 1) / 2)
    across = np.array([-way[1], way[0]])
    return get_obj_pos('middle') + np.outer(steps, way) + shift * across

def room(spots):
    nearest_bowl = min([np.linalg.norm(p - q) for p in spots for q in bowls], default=1)
    edge = 0.25 - np.max(np.abs(spots - get_obj_pos('middle')))
    nearest_block = min([np.linalg.norm(p - q) for p in spots for q in free.values()])
    return (nearest_bowl >= 0.125 and edge >= 0, nearest_block)

layouts = [
    layout(np.array(way), shift, gap)
    for way in ways[line]
    for shift in np.linspace(-0.2, 0.2, 17)
    for gap in (0.1, 0.11, 0.12)
]
spots = list(max(layouts, key=room))
while spots:
    pairs = [(name, i) for name in free for i in range(len(spots))]
    name, i = min(pairs, key=lambda pair: np.linalg.norm(free[pair[0]] - spots[pair[1]]))
    put_first_on_second(name, spots.pop(i))
    del free[name]
"""

_ORACLES: Mapping[str, str] = {
    "pick-and-place": "put_first_on_second(block, target)\n",
    "stack-blocks": _STACK,
    "blocks-on-place": _BLOCKS + "goals = [(name, place) for name in blocks]\n" + _DO,
    "blocks-in-bowl": _BLOCKS + "goals = [(name, bowl) for name in blocks]\n" + _DO,
    "matching-bowls": _MATCHING + _DO,
    "block-beside-bowl": _BLOCKS
    + _WAYS
    + """
def ahead(name):
    return np.dot(get_obj_pos(name) - get_obj_pos(bowl), ways[direction])

put_first_on_second(max(blocks, key=ahead), place)
""",
    "block-by-distance": _BLOCKS
    + _DISTANCE
    + """
choose = min if distance_word == 'closest to' else max
put_first_on_second(choose(blocks, key=lambda name: distance(name, bowl)), place)
""",
    "nth-block": _BLOCKS
    + _WAYS
    + """
blocks.sort(key=lambda name: -np.dot(get_obj_pos(name), ways[direction]))
put_first_on_second(blocks[['first', 'second', 'third', 'fourth'].index(ordinal)], place)
""",
    "different-corners": _CORNERS + _DO,
    "mismatched-bowls": _MISMATCHED + _DO,
    "stack-on-place": _BLOCKS + "stack_objects_in_order([place] + blocks)\n",
    "away-from-bowl": _WAYS
    + """
far = {'a little': 0.12, 'a lot': 0.2}[magnitude]
put_first_on_second(block, get_obj_pos(bowl) + far * np.array(ways[direction]))
""",
    "corner-by-distance": """
def away(position):
    return np.linalg.norm(position - get_obj_pos(bowl))

choose = min if distance_word == 'closest to' else max
corner = choose(get_corner_positions(), key=away)
put_first_on_second(block, get_corner_name(corner))
""",
    "blocks-in-line": _LINE,
}

_PERSIST = """
def there(name, target):
    near = np.linalg.norm(get_obj_pos(name) - get_obj_pos(target)) < 0.035
    if not is_obj_visible(target):
        return near
    return near and get_obj_height(name) > get_obj_height(target)

for step in range(15):
    missing = [(name, target) for name, target in goals if not there(name, target)]
    if not missing:
        break
    name, target = missing[step % len(missing)]
    inside = [other for other, where in goals if where == target and there(other, where)]
    for spot in [target] + sorted(inside, key=get_obj_height, reverse=True)[:1]:
        try:
            put_first_on_second(name, spot)
            break
        except RobotError:
            pass
"""
_PERSIST_PILE = """
def there(name, target):
    near = np.linalg.norm(get_obj_pos(name) - get_obj_pos(target))
    if not is_obj_visible(target):
        return near < 0.035
    return near < 0.025 and get_obj_height(name) > get_obj_height(target)

for step in range(15):
    missing = [(name, target) for name, target in goals if not there(name, target)]
    if not missing:
        break
    try:
        put_first_on_second(*missing[0])
    except RobotError:
        for name in reversed(blocks):
            if name != missing[0][1] and get_obj_height(name) > 0.03:
                try:
                    put_first_on_second(name, 'middle')
                except RobotError:
                    pass
"""
_PILE = """
blocks.sort(key=lambda name: np.linalg.norm(get_obj_pos(name) - get_obj_pos('middle')))
goals = list(zip(blocks[1:], blocks))
"""

_PERSISTENT: Mapping[str, str] = {
    "pick-and-place": "goals = [(block, target)]\n" + _PERSIST,
    "stack-blocks": _BLOCKS + _PILE + _PERSIST_PILE,
    "blocks-on-place": _BLOCKS + "goals = [(name, place) for name in blocks]\n" + _PERSIST,
    "blocks-in-bowl": _BLOCKS + "goals = [(name, bowl) for name in blocks]\n" + _PERSIST,
    "different-corners": _CORNERS + _PERSIST,
    "matching-bowls": _MATCHING + _PERSIST,
    "mismatched-bowls": _MISMATCHED + _PERSIST,
    "stack-on-place": _BLOCKS + "goals = list(zip(blocks, [place] + blocks))\n" + _PERSIST_PILE,
}


def oracle(task: Task, words: Mapping[str, str]) -> str:
    """Return the program that does a task, its instruction's words bound above it."""
    own = task.name.removeprefix(PREFIX)
    body = _ORACLES[own] if own == task.name else _PERSISTENT[own]
    named = {"distance_word" if slot == "distance" else slot: word for slot, word in words.items()}
    return f"{Context.of(named).text}\n{body}"
