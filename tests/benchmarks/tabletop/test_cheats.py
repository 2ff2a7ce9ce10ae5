"""Programs that seem to do what a sentence of the tabletop says; none is taken for it."""

from __future__ import annotations

import pytest

from benchmarks.tabletop.attributes import SEEN, UNSEEN
from benchmarks.tabletop.judge import judge
from benchmarks.tabletop.tasks import TASKS, Task
from benchmarks.tabletop.trial_sampler import prepare
from cap.prompt.context import Context
from cap.session.session import Session
from robots.ravens import create
from tests.benchmarks.cheating import Cheater

BY_NAME = {task.name: task for task in TASKS}
KINDS = """
blocks = [name for name in objects if 'block' in name]
bowls = [name for name in objects if 'bowl' in name]
"""
ALL_TO = KINDS + "for name in {}:\n    put_first_on_second(name, {})\n"
EVERYTHING_TO_THE_MIDDLE = ALL_TO.format("bowls + blocks", "'middle'")
BLOCKS_TO_THE_MIDDLE = ALL_TO.format("blocks", "'middle'")
WORDS = "say('it is done, yes')\n"
POINTED = KINDS + "for name in blocks:\n    point_gripper_to(name)\n"
AN_ELSEWHERE = (
    "places = ['top left corner', 'bottom right corner', 'left side', 'right side']\n"
    "place_ = [p for p in places if p != {}][0]\n"
)
ONE_OF_ALL = KINDS + "put_first_on_second(blocks[0], {})\n"
CHEATS: dict[str, tuple[tuple[str, ...], str]] = {
    "words": (tuple(BY_NAME), WORDS),
    "pointing": (tuple(BY_NAME), POINTED),
    "everything to the middle": (
        tuple(name for name in BY_NAME if name != "stack-blocks"),
        EVERYTHING_TO_THE_MIDDLE,
    ),
    "all blocks to the middle": (
        ("pick-and-place", "blocks-in-bowl", "matching-bowls", "mismatched-bowls"),
        BLOCKS_TO_THE_MIDDLE,
    ),
    "the target to the block": (
        ("pick-and-place",),
        KINDS + "put_first_on_second(target, get_obj_pos(block) + [0.1, 0])\n",
    ),
    "both to a corner": (
        ("pick-and-place",),
        "put_first_on_second(target, 'top left corner')\nput_first_on_second(block, target)\n",
    ),
    "every block on the target": (
        ("pick-and-place",),
        KINDS
        + "for b in [b for b in blocks if b != target]:\n    put_first_on_second(b, target)\n",
    ),
    "the bowl to a corner, then the blocks": (
        ("blocks-in-bowl",),
        "put_first_on_second(bowl, 'top right corner')\n" + ALL_TO.format("blocks", "bowl"),
    ),
    "one block for all": (("blocks-in-bowl",), ONE_OF_ALL.format("bowl")),
    "one block for the pile": (
        ("stack-blocks",),
        KINDS + "put_first_on_second(blocks[0], 'middle')\n",
    ),
    "blocks side by side for a pile": (
        ("stack-blocks", "stack-on-place"),
        KINDS
        + "for i, b in enumerate(blocks):\n    put_first_on_second(b, (-0.12 + 0.08 * i, -0.5))\n",
    ),
    "all blocks in the first bowl": (
        ("matching-bowls", "mismatched-bowls"),
        ALL_TO.format("blocks", "blocks[0].replace('block', 'bowl')"),
    ),
    "every block in its own bowl": (
        ("mismatched-bowls",),
        KINDS + "for b in blocks:\n    put_first_on_second(b, b.replace('block', 'bowl'))\n",
    ),
    "all blocks where one is asked for": (
        ("block-beside-bowl", "block-by-distance", "nth-block"),
        ALL_TO.format("blocks", "place"),
    ),
    "the bowl moved beside another block": (
        ("block-beside-bowl", "block-by-distance"),
        KINDS + "put_first_on_second(bowl, 'middle')\n" + ONE_OF_ALL.format("place"),
    ),
    "another place": (
        ("blocks-on-place", "stack-on-place"),
        AN_ELSEWHERE.format("place") + ALL_TO.format("blocks", "place_"),
    ),
    "one corner for all": (
        ("different-corners",),
        ALL_TO.format("blocks", "'top left corner'"),
    ),
    "sides for corners": (
        ("different-corners",),
        KINDS
        + "for b, s in zip(blocks, ['top side', 'left side', 'right side', 'bottom side']):\n"
        + "    put_first_on_second(b, s)\n",
    ),
    "every corner but the one": (
        ("corner-by-distance",),
        "for corner in ['top left corner', 'bottom right corner', 'middle']:\n"
        "    put_first_on_second(block, corner)\n",
    ),
    "the bowl moved away from the block": (
        ("away-from-bowl",),
        "put_first_on_second(bowl, 'middle')\n",
    ),
    "the other way": (
        ("away-from-bowl",),
        "w = {'left': [1, 0], 'right': [-1, 0], 'top': [0, -1], 'bottom': [0, 1]}[direction]\n"
        "put_first_on_second(block, np.clip(get_obj_pos(bowl) + 0.15 * np.array(w), "
        "[-0.27, -0.77], [0.27, -0.23]))\n",
    ),
    "a pile for a line": (("blocks-in-line",), KINDS + "stack_objects_in_order(blocks)\n"),
    "a triangle for a line": (
        ("blocks-in-line",),
        KINDS
        + "spots = [(-0.15, -0.6), (0, -0.35), (0.15, -0.6), (0, -0.7)]\n"
        + "for b, s in zip(blocks, spots):\n    put_first_on_second(b, s)\n",
    ),
}
ROWS = [(name, task) for name, (tasks, _) in CHEATS.items() for task in tasks]


def missed(task: Task, program: str, seed: int) -> str | None:
    setup = prepare(task, SEEN if task.seen else UNSEEN, "", seed)
    robot = create(seed=setup.scene_seed, mode="instant", objects=setup.objects)
    with Session(robot, Cheater(())) as session:
        turn = session.execute(f"{Context.of(setup.words).text}\n{program}", setup.instruction)
        assert turn.failure is None or turn.failure.robot, turn.failure
        return judge(setup.goal, setup.before, dict(robot.positions()), robot.spoken)


@pytest.mark.sweep(share=0.125)
@pytest.mark.parametrize(("name", "task"), ROWS)
def test_it_is_not_taken_for_what_was_asked(name: str, task: str) -> None:
    for seed in (2, 5, 11):
        assert missed(BY_NAME[task], CHEATS[name][1], seed) is not None, seed
