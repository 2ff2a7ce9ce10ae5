"""The worked examples of sections III.B and III.C of "Code as Policies", ready to run.

Each has a prompt of this project's own writing in the paper's form, the paper's instruction, and
the completion the paper prints for it, transcribed by hand. `python -m tests.paper.record` runs
all of them and writes `recording.jsonl`, from which the tests replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cap import LMP
from cap.models.base import Model

OBJECTS = ["red block", "blue bowl", "blue block", "red bowl"]


class Table:
    """Where things are and how large: the example's world, with the functions programs call."""

    def __init__(
        self, places: Mapping[str, tuple[float, float]], boxes: Mapping[str, float] | None = None
    ) -> None:
        """Put things on a table.

        Args:
            places: xy of each object, metres.
            boxes: Edge of each object's bounding square, metres.
        """
        self.places = {name: np.array(place, dtype=float) for name, place in places.items()}
        self.edges = dict(boxes or {})
        self.moves: list[str] = []

    def get_obj_names(self) -> list[str]:
        """Return the names of all objects."""
        return list(self.places)

    def get_pos(self, name: str) -> Any:
        """Return an object's xy, metres."""
        return self.places[name]

    def get_obj_bbox_xyxy(self, name: str) -> Any:
        """Return min x, min y, max x, max y of an object, metres."""
        (x, y), half = self.places[name], self.edges[name] / 2
        return np.array([x - half, y - half, x + half, y + half])

    def put_first_on_second(self, first: str, second: Any) -> None:
        """Put an object on another, or at an xy."""
        self.moves.append(first)
        target = self.places[second] if isinstance(second, str) else np.asarray(second)
        self.places[first] = np.array(target, dtype=float)

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """What programs may call."""
        return {
            name: getattr(self, name)
            for name in ("get_obj_names", "get_pos", "get_obj_bbox_xyxy", "put_first_on_second")
        }


RETURNS = '# /// cap\n# returns = "ret_val"\n# ///\n'
LISTS = f"""{RETURNS}
# get the variable a.
ret_val = a

# the length of the list xs.
ret_val = len(xs)
"""
POINTS = f"""{RETURNS}import numpy as np

# move all points in pts_np down.
ret_val = pts_np + [0, -0.3]

# the top most point in pts_np.
ret_val = pts_np[np.argmax(pts_np[:, 1]), :]
"""
TABLETOP = """import numpy as np
from utils import get_pos, put_first_on_second, parse_obj

objs = ['green bowl', 'yellow block', 'green block']
# put the yellow block on the green bowl.
put_first_on_second('yellow block', 'green bowl')

# move the green block up a little.
target_pos = get_pos('green block') + [0, 0.1]
put_first_on_second('green block', target_pos)
"""
PARSE_OBJ = f"""{RETURNS}import numpy as np
from utils import get_pos, get_obj_bbox_xyxy

objs = ['green bowl', 'yellow block', 'green block', 'yellow bowl']
# the blocks.
ret_val = ['yellow block', 'green block']

# lemon-colored block.
ret_val = 'yellow block'

# the other block.
ret_val = 'green block'

# the top most bowl.
bowl_names = ['green bowl', 'yellow bowl']
bowl_positions = np.array([get_pos(name) for name in bowl_names])
ret_val = bowl_names[np.argmax(bowl_positions[:, 1])]
"""
COLORS = "objs = ['blue bowl', 'red block', 'red bowl', 'blue block']"
SEEN = f"objs = {OBJECTS!r}"

AREA_TH = """def get_objs_bigger_than_area_th(obj_names, bbox_area_th):
    return [name for name in obj_names
            if get_obj_bbox_area(name) > bbox_area_th]
"""
AREA = """def get_obj_bbox_area(obj_name):
    x1, y1, x2, y2 = get_obj_bbox_xyxy(obj_name)
    return (x2 - x1) * (y2 - y1)
"""
WHILE_LEFT = """while get_pos('red block')[0] < get_pos('blue bowl')[0]:
    target_pos = get_pos('red block') + [0.05, 0]
    put_first_on_second('red block', target_pos)
"""
LEFT_MOST = """block_names = ['red block', 'blue block']
block_positions = np.array([get_pos(name) for name in block_names])
left_block_name = block_names[np.argmin(block_positions[:, 0])]
ret_val = left_block_name
"""
WHILE_LEFT_MOST = """block_name = parse_obj('the left most block')
while block_name == 'red block':
    target_pos = get_pos(block_name) + [0.3, 0]
    put_first_on_second(block_name, target_pos)
    block_name = parse_obj('the left most block')
"""
BIG_LEFT = "blocks with area bigger than 0.2 that are left of the red bowl"
WHILE_BIG = f"""block_names = parse_obj('{BIG_LEFT}')
while len(block_names) > 0:
    for block_name in block_names:
        target_pos = get_pos(block_name) + np.array([0.1, 0])
        put_first_on_second(block_name, target_pos)
    block_names = parse_obj('{BIG_LEFT}')
"""
PARSE_BIG = """block_names = ['red block', 'blue block']
red_bowl_pos = get_pos('red bowl')
use_block_names = [name for name in block_names if get_pos(name)[0] < red_bowl_pos[0]]
use_block_names = get_objs_bigger_than_area_th(use_block_names, 0.2)
ret_val = use_block_names
"""
STACK = """empty_bowl_name = parse_obj('empty bowl')
block_names = parse_obj('blocks')
obj_names = [empty_bowl_name] + block_names
stack_objs_in_order(obj_names=obj_names)
"""
STACK_IN_ORDER = """def stack_objs_in_order(obj_names):
    for i in range(len(obj_names) - 1):
        put_first_on_second(obj_names[i + 1], obj_names[i])
"""


def _table() -> Table:
    return Table(
        {
            "red block": (-0.22, -0.5),
            "blue bowl": (0.0, -0.4),
            "blue block": (0.05, -0.6),
            "red bowl": (0.2, -0.5),
        },
        {"red block": 0.5, "blue bowl": 0.6, "blue block": 0.2, "red bowl": 0.6},
    )


@dataclass(frozen=True)
class Worked:
    """One example of the paper."""

    name: str
    """What it shows."""
    prompt: str
    """The prompt's text."""
    instruction: str
    """The comment, as the paper has it."""
    completions: Mapping[str, str]
    """What the model writes, by the end of the request's last line."""
    expected: Any
    """The value, or where the things named are at the end."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """What the program finds."""
    context: str = ""
    """Context lines."""
    calls_parse_obj: bool = False
    """It is composed with the `parse_obj` LMP."""

    def run(self, model: Model) -> Any:
        """Run it; return the program's value, or where the things in `expected` are."""
        table = _table()
        lmps = {}
        if self.calls_parse_obj:
            lmps = {"parse_obj": LMP(PARSE_OBJ, model, functions=_sight(table), name="parse_obj")}
        functions = table.functions if "utils" in self.prompt else {}
        with LMP(self.prompt, model, functions=functions, lmps=lmps, name="top") as lmp:
            value = lmp(self.instruction, self.context, **self.variables)
        if isinstance(self.expected, dict):
            return {name: table.places[name].round(6).tolist() for name in self.expected}
        return value.tolist() if isinstance(value, np.ndarray) else value


def _sight(table: Table) -> dict[str, Callable[..., Any]]:
    return {name: table.functions[name] for name in ("get_pos", "get_obj_bbox_xyxy")}


POINT_SET = np.array([[0.2, 0.1], [-0.3, 0.4], [0.1, -0.2]])


def _lists(name: str, instruction: str, code: str, expected: Any, **variables: Any) -> Worked:
    return Worked(name, LISTS, instruction, {instruction: code}, expected, variables)


def _points(name: str, instruction: str, code: str, expected: Any) -> Worked:
    given = {"pts_np": POINT_SET, "pt_np": np.array([0.15, 0.15])}
    return Worked(name, POINTS, instruction, {instruction: code}, expected, given)


def _objects(name: str, instruction: str, code: str, expected: Any) -> Worked:
    return Worked(name, PARSE_OBJ, instruction, {instruction: code}, expected, {}, COLORS)


def _moves(name: str, instruction: str, code: str, expected: Any) -> Worked:
    return Worked(name, TABLETOP, instruction, {instruction: code}, expected, {}, SEEN)


EXAMPLES = (
    _lists("sum", "find the sum of variables a and b", "ret_val = a + b", 5, a=2, b=3),
    _lists(
        "divisible",
        "see if any number is divisible by 3 in a list called xs",
        "ret_val = any(x % 3 == 0 for x in xs)",
        True,
        xs=[1, 4, 9],
    ),
    _points(
        "move right",
        "move all points in pts_np toward the right",
        "ret_val = pts_np + [0.3, 0]",
        [[0.5, 0.1], [0.0, 0.4], [0.4, -0.2]],
    ),
    _points("move up", "move a pt_np toward the top", "ret_val = pt_np + [0, 0.3]", [0.15, 0.45]),
    _points(
        "left most point",
        "get the left most point in pts_np",
        "ret_val = pts_np[np.argmin(pts_np[:, 0]), :]",
        [-0.3, 0.4],
    ),
    _points("center", "get the center of pts_np", "ret_val = np.mean(pts_np, axis=0)", [0.0, 0.1]),
    _points(
        "closest point",
        "the closest point in pts_np to pt_np",
        "ret_val = pts_np[np.argmin(np.sum((pts_np - pt_np)**2, axis=1))]",
        [0.2, 0.1],
    ),
    _objects(
        "category", "the bowls", "ret_val = ['blue bowl', 'red bowl']", ["blue bowl", "red bowl"]
    ),
    _objects("description", "sea-colored block", "ret_val = 'blue block'", "blue block"),
    _objects("past context", "the other block", "ret_val = 'red block'", "red block"),
    _moves(
        "perception and control",
        "move the purple bowl toward the left".replace("purple", "red"),
        "place = get_pos('red bowl') + [-0.3, 0]\nput_first_on_second('red bowl', place)",
        {"red bowl": [-0.1, -0.5]},
    ),
    _moves(
        "a bit",
        "move the red block a bit to the right",
        "place = get_pos('red block') + [0.1, 0]\nput_first_on_second('red block', place)",
        {"red block": [-0.12, -0.5]},
    ),
    _moves(
        "same color",
        "put the blue block on the bowl with the same color",
        "put_first_on_second('blue block', 'blue bowl')",
        {"blue block": [0.0, -0.4]},
    ),
    _moves(
        "while loop",
        "while the red block is to the left of the blue bowl, move it to the right 5cm at a time",
        WHILE_LEFT,
        {"red block": [0.03, -0.5]},
    ),
    Worked(
        "composition",
        TABLETOP,
        "while the left most block is the red block, move it toward the right",
        {
            "move it toward the right": WHILE_LEFT_MOST,
            "the left most block": LEFT_MOST,
        },
        {"red block": [0.08, -0.5]},
        {},
        SEEN,
        calls_parse_obj=True,
    ),
    Worked(
        "generation",
        f"{RETURNS}from utils import get_obj_names, get_obj_bbox_xyxy\n",
        "the objects with an area bigger than 0.2",
        {
            "bigger than 0.2": "ret_val = get_objs_bigger_than_area_th(get_obj_names(), 0.2)",
            "get_objs_bigger_than_area_th(get_obj_names(), 0.2)": AREA_TH,
            "get_obj_bbox_area(name)": AREA,
        },
        ["red block", "blue bowl", "red bowl"],
    ),
    Worked(
        "policy with a generated function",
        TABLETOP,
        "stack the blocks in the empty bowl",
        {
            "stack the blocks in the empty bowl": STACK,
            "# empty bowl": "ret_val = 'blue bowl'",
            "# blocks": "ret_val = ['red block', 'blue block']",
            "stack_objs_in_order(obj_names=obj_names)": STACK_IN_ORDER,
        },
        {"red block": [0.0, -0.4], "blue block": [0.0, -0.4]},
        {},
        SEEN,
        calls_parse_obj=True,
    ),
    Worked(
        "everything together",
        TABLETOP,
        "while there are blocks with area bigger than 0.2 that are left of the red bowl, "
        "move them toward the right",
        {
            "move them toward the right": WHILE_BIG,
            BIG_LEFT: PARSE_BIG,
            "get_objs_bigger_than_area_th(use_block_names, 0.2)": AREA_TH,
            "get_obj_bbox_area(name)": AREA,
        },
        {"red block": [0.28, -0.5], "blue block": [0.05, -0.6]},
        {},
        SEEN,
        calls_parse_obj=True,
    ),
)
"""In the paper's order."""
