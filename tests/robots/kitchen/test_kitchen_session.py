"""Sessions on the kitchen robot with the offline model, judged on the world."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cap.sandbox.limits import Limits
from cap.session.session import Session
from robots.kitchen import KitchenRobot
from tests.fakes.scripted import Scripted

ROW = ["apple @ countertop", "banana @ countertop", "orange @ countertop"]


@pytest.fixture
def row(mode: str) -> Iterator[Session]:
    with Session.open("kitchen", model="nearest", seed=30, mode=mode, objects=ROW) as made:
        yield made


def say(session: Session, words: str) -> KitchenRobot:
    turn = session.run(words)
    assert turn.ok, f"{words}: {turn.failure}"
    return robot_of(session)


def robot_of(session: Session) -> KitchenRobot:
    assert isinstance(session.robot, KitchenRobot)
    return session.robot


def test_the_papers_reactive_sentences(row: Session) -> None:
    robot = say(row, "go to the countertop")
    start, began_s = robot.state.base, robot.sim_time_s

    say(row, "move rightwards until you see the apple")
    seen = robot.state.base
    first_mps = (seen.x - start.x) / (robot.sim_time_s - began_s)
    assert seen.x > start.x + 0.2
    assert seen.y == pytest.approx(start.y)
    assert abs(seen.x - robot.positions()["apple"][0]) < 0.4
    assert robot.detect_object("apple")
    assert robot.state.velocity == (0.0, 0.0, 0.0)

    began_s = robot.sim_time_s
    say(row, "do it again but faster, to the left, and with a banana")
    then_mps = (seen.x - robot.state.base.x) / (robot.sim_time_s - began_s)
    assert robot.state.base.x < start.x - 0.2
    assert robot.detect_object("banana")
    assert then_mps > 1.5 * first_mps

    say(row, "tell me why you stopped")
    assert robot.spoken == ["I stopped because I saw a banana"]
    say(row, "why did you stop moving?")
    assert robot.spoken[-1] == robot.spoken[0]


@pytest.mark.parametrize(
    ("limits", "kind"),
    [(Limits(calls=100), "CallLimit"), (Limits(sim_s=30.0), "SimTimeLimit")],
)
def test_looking_for_what_is_not_there_ends_with_the_budget(limits: Limits, kind: str) -> None:
    with Session.open(
        "kitchen", model="nearest", seed=3, mode="instant", objects=ROW, limits=limits
    ) as session:
        turn = session.run("turn left until you see the lemon")
        assert turn.failure is not None
        assert turn.failure.error == kind
        assert robot_of(session).state.velocity == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("angle", [0.0, 1.0])
def test_forward_and_left_are_the_robots_own_whatever_says_them(angle: float) -> None:
    with Session.open("kitchen", model="nearest", seed=0, mode="instant") as session:
        robot = robot_of(session)
        for words, right, ahead in (
            ("move forward by 20 cm", 0.0, 0.2),
            ("move backwards by 10 cm", 0.0, -0.1),
            ("move to the left by 20 cm", -0.2, 0.0),
            ("move to the right by 10 cm", 0.1, 0.0),
        ):
            robot.goto_pos([-1.0, -2.0], angle=angle)
            goal = robot.state.base.world(right, ahead)
            say(session, words)
            assert robot.state.base.xy == pytest.approx(goal, abs=0.001)
        robot.goto_pos([-1.0, -2.0], angle=angle)
        say(session, "move to the front of the room by 10 cm")
        assert robot.state.base.xy == pytest.approx((-1.0, -2.1), abs=0.001)


def test_a_model_is_told_what_was_seen_elsewhere_once_with_its_instruction() -> None:
    look = "goto_loc('desk')\ngoto_loc('cart')\nsay('so')"
    model = Scripted({"look around": look, "go on": "say('yes')", "and now?": "say('no')"})
    objects = ["apple @ table", "cup @ desk"]
    with Session.open("kitchen", model, mode="instant", objects=objects) as session:
        for words in model.answers:
            assert session.run(words).ok
    first, second, third = model.prompts
    assert "Seen elsewhere" not in first
    told = "\n\n#< Seen elsewhere: table: apple; desk: cup.\n\nobjects = []\nat = 'cart'\n# "
    assert second.endswith(f"{told}go on.\n")
    assert third.endswith(f"{told}and now?.\n") or third.endswith(f"{told}and now?\n")
    assert third.count("Seen elsewhere") == 1
