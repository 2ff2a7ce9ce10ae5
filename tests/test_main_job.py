"""The main job, end to end: sentences move blocks, judged on the world's state.

The same session runs with `nearest` in both worlds, and through an OpenAI-compatible server that
serves recorded completions, in chat and in completion mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from cap.models.base import ModelSettings
from cap.models.nearest.nearest import Nearest
from cap.models.openai.client import Client
from cap.models.openai.model import OpenAIModel
from cap.models.replay import Recording, Replay
from cap.models.wrapper import Managed
from cap.session.session import Session
from cap.session.turn import Turn
from robots.ravens import create
from robots.ravens.robot import RavensRobot
from tests.fakes.openai_server import FakeServer, from_recording

World = Mapping[str, tuple[float, float, float]]
Judge = Callable[[World, World, list[World], list[str]], bool]
"""Given the world before and after, every earlier one, and what was said: is it as asked?"""

BLOCKS = [f"{color} block" for color in ("red", "green", "blue", "yellow")]
TOLERANCE_M = 0.02


def xy(world: World, name: str) -> np.ndarray:
    return np.array(world[name][:2])


def near(world: World, name: str, target: object, tolerance_m: float = TOLERANCE_M) -> bool:
    return bool(np.linalg.norm(xy(world, name) - np.asarray(target)) < tolerance_m)


def left_of_the_blue_bowl(before: World, after: World, _: list[World], __: list[str]) -> bool:
    offset = xy(after, "red block") - xy(after, "blue bowl")
    return bool(-0.2 < offset[0] < -0.07 and abs(offset[1]) < TOLERANCE_M)


def second_from_left_in_green_bowl(
    before: World, after: World, _: list[World], __: list[str]
) -> bool:
    second = sorted(BLOCKS, key=lambda name: before[name][0])[1]
    return near(after, second, xy(after, "green bowl"), 0.04)


def in_a_horizontal_line(before: World, after: World, _: list[World], __: list[str]) -> bool:
    x, y = np.array([after[name][:2] for name in BLOCKS]).T
    return bool(np.ptp(y) < TOLERANCE_M and np.diff(np.sort(x)).min() > 0.04)


def in_one_stack(before: World, after: World, _: list[World], __: list[str]) -> bool:
    points = np.array([after[name] for name in BLOCKS])
    heights = np.sort(points[:, 2])
    return bool(np.ptp(points[:, :2], axis=0).max() < 0.02 and np.diff(heights).min() > 0.035)


def says_how_many(before: World, after: World, _: list[World], said: list[str]) -> bool:
    count = sum(after[name][0] < after["red bowl"][0] for name in BLOCKS)
    return said[-1] == str(count) and before == after


def in_matching_bowls(before: World, after: World, _: list[World], __: list[str]) -> bool:
    pairs = [(name, name.replace("block", "bowl")) for name in BLOCKS]
    return all(near(after, block, xy(after, bowl), 0.04) for block, bowl in pairs)


SESSION: list[tuple[str, Judge]] = [
    ("put the red block a bit to the left of the blue bowl", left_of_the_blue_bowl),
    ("now move it to the top right corner", lambda b, a, *_: near(a, "red block", (0.25, -0.25))),
    ("undo that", lambda b, a, past, _: near(a, "red block", xy(past[1], "red block"))),
    ("put the second block from the left in the green bowl", second_from_left_in_green_bowl),
    ("arrange the blocks in a horizontal line", in_a_horizontal_line),
    ("stack all the blocks", in_one_stack),
    ("how many blocks are to the left of the red bowl?", says_how_many),
    ("put the blocks in the bowls with matching colors", in_matching_bowls),
    ("undo that", in_one_stack),
]


def run_session(session: Session) -> list[Turn]:
    """Carry out the session and judge every turn on the world."""
    robot = session.robot
    assert isinstance(robot, RavensRobot)
    past: list[World] = [dict(robot.positions())]
    turns = []
    for words, as_asked in SESSION:
        turns.append(session.run(words))
        assert turns[-1].failure is None, f"{words}: {turns[-1].failure}"
        after = dict(robot.positions())
        assert as_asked(past[-1], after, past, robot.spoken), (words, after)
        past.append(after)
    return turns


def test_the_session_with_nearest_in_physics() -> None:
    with Session(create(mode="physics", seed=0), Nearest()) as session:
        run_session(session)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    """The session with `nearest` in the instant world: its recording, and how the world ends."""
    path = tmp_path_factory.mktemp("main_job") / "session.jsonl"
    model = Managed(Nearest(), recording=Recording(path))
    with Session(create(mode="instant", seed=0), model) as session:
        run_session(session)
        return path, session.robot.positions()


@pytest.mark.parametrize("mode", ["chat", "completion"])
def test_the_session_through_a_server(recorded: tuple[Path, World], mode: str) -> None:
    with FakeServer(from_recording(recorded[0])) as server:
        settings = ModelSettings(base_url=server.url, mode=mode)
        model = OpenAIModel("vllm/fake", settings, Client(settings, None, {}, {}))
        with Session(create(mode="instant", seed=0), model) as session:
            run_session(session)
        route = "chat/completions" if mode == "chat" else "completions"
        assert len(server.posts) > len(SESSION)
        assert {seen.path for seen in server.posts} == {f"/v1/{route}"}
        model.close()


def test_the_session_replayed_without_a_model_gives_the_same_world(
    recorded: tuple[Path, World],
) -> None:
    path, world = recorded
    with Session(create(mode="instant", seed=0), Replay(path)) as session:
        run_session(session)
        assert session.robot.positions() == world
