"""Best of several: programs are tried in the world as it is, and the right one is carried out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cap.engine.settings import Decision, Sampling
from cap.errors import UsageError
from cap.models.budget import Allowance, Budget
from cap.models.wrapper import OwnModel
from cap.robot import observation
from cap.session.replay import recorded
from cap.session.session import Session
from cap.trace.trace import Event, Trace
from robots.ravens import create
from tests.fakes.hardware import Hardware, TwinnedHardware
from tests.fakes.scripted import (
    PROMPTS,
    WITH_GOAL,
    Drawn,
    Scripted,
    listened,
    table_session,
)

OBJECTS = ("red block", "blue block", "blue bowl", "green bowl")
RIGHT = "put_first_on_second('red block', 'blue bowl')\n"
ALSO = "target = 'blue bowl'\nput_first_on_second('red block', target)\n"
WRONG = "put_first_on_second('blue block', 'blue bowl')\n"
GREEN = "put_first_on_second('red block', 'green bowl')\n"
WORDS = "put the red block in the blue bowl"


def session_of(
    model: Drawn, robot: Any = None, *, goal: bool = False, samples: int = 4, **options: Any
) -> Session:
    sampling = {name: options.pop(name) for name in SAMPLING if name in options}
    return table_session(
        model,
        robot=robot or create(mode="instant", objects=OBJECTS, seed=1),
        prompts=WITH_GOAL if goal else PROMPTS,
        sampling=Sampling(samples, **sampling),
        **options,
    )


SAMPLING = ("agreement", "judge", "max_tokens", "max_s")


def digest(robot: Any) -> str:
    packed = repr(observation.pack(robot.snapshot(), observation.kind_of(robot)))
    return hashlib.sha256(packed.encode()).hexdigest()


def choice_of(events: list[Event]) -> Mapping[str, Any]:
    (event,) = (event for event in events if event.kind == "samples")
    return event.data


def test_the_world_is_undisturbed_while_programs_are_tried() -> None:
    robot = create(mode="physics", objects=OBJECTS, seed=1)
    seen: list[str] = []

    def approve(source: str) -> Decision:
        seen.append(digest(robot))
        return Decision(False)

    model = Drawn([WRONG, RIGHT, GREEN, ALSO])
    with session_of(model, robot, approve=approve) as session:
        before = digest(robot)
        session.run(WORDS)
        assert seen == [before]
        assert digest(robot) == before


def test_further_answers_are_drawn_each_with_its_seed() -> None:
    model = Drawn([RIGHT, WRONG])
    with session_of(model, samples=2) as session:
        session.run(WORDS)
    asked = [(request.temperature, request.seed) for request in model.requests]
    assert asked == [(0.0, None), (0.8, 1)]


def test_what_an_lmp_answered_while_programs_were_tried_is_not_asked_again(tmp_path: Path) -> None:
    nested = "put_first_on_second('red block', parse_obj_name('the bowl that is blue'))\n"
    model = Drawn([nested, f"{nested}\n"])
    with session_of(model, samples=2, trace=Trace(tmp_path)) as session:
        assert session.run(WORDS).ok
    assert len(model.requests) == model.times + 1
    assert len(recorded(tmp_path)) == 3


def test_a_callers_own_check_ends_the_search() -> None:
    model = Drawn([WRONG, GREEN, RIGHT, WRONG])

    def judge(robot: Any) -> bool:
        return bool(robot.positions()["red block"][1] < -0.5)

    with session_of(model, judge=judge) as session:
        assert session.run(WORDS).ok
        assert judge(session.robot)
    assert model.times < 4


def test_programs_that_a_spend_limit_kept_from_being_asked_for_were_not_tried() -> None:
    drawn = Drawn([WRONG, RIGHT, GREEN, RIGHT])
    model = OwnModel(drawn, "drawn", budget=Budget("drawn", Allowance(calls=3)))
    with session_of(model, samples=6) as session:  # type: ignore[arg-type]
        events = listened(session)
        assert session.run(WORDS).tried == 3
    data = choice_of(events)
    assert len(data["tried"]) == 3
    assert "the limit of this run" in data["stopped"]


def test_a_callers_check_that_raises_is_told_and_leaves_the_world_as_it_was() -> None:
    with session_of(Drawn([RIGHT]), judge=lambda robot: 1 / 0) as session:  # type: ignore[arg-type]
        before = digest(session.robot)
        with pytest.raises(UsageError, match=r"judge=.*failed: ZeroDivisionError"):
            session.run(WORDS)
        assert digest(session.robot) == before


def test_a_robot_that_cannot_go_back_carries_out_one_program_and_says_so() -> None:
    model, robot = Drawn([RIGHT, WRONG]), Hardware(OBJECTS, seed=1)
    robot.simulated = True
    with session_of(model, robot) as session:
        events = listened(session)
        assert session.run(WORDS).ok
    (event,) = (event for event in events if event.kind == "untried")
    assert "can neither go back to a snapshot of its world nor be" in event.data["reason"]
    assert model.times == 1


def test_hardware_tries_in_its_twin_and_the_chosen_program_is_still_shown() -> None:
    robot, shown = TwinnedHardware(OBJECTS, seed=1), list[str]()

    def approve(source: str) -> Decision:
        shown.append(source)
        assert robot.positions()["red block"] == before
        return Decision(True)

    before = robot.positions()["red block"]
    with session_of(
        Drawn([WRONG, RIGHT, ALSO]), robot, samples=3, approve=approve, min_level="process"
    ) as session:
        assert list(session.run(WORDS).moved) == ["red block"]
    assert shown == [RIGHT]
    assert len(robot.twins) >= 4  # one for each trial, and one to rehearse the chosen one


# --- the goal check of a single turn: `--verify goal`

TABLE = ["red block", "blue block", "red bowl"]
TIDY = "tidy the red block away"
AWAY = "put_first_on_second('red block', 'red bowl')\n"
BLUE = "put_first_on_second('blue block', 'middle')\n"
ASIDE = "put_first_on_second('red block', 'middle')\n"
IN_BOWL = (
    "apart = np.linalg.norm(get_obj_pos('red block') - get_obj_pos('red bowl'))\n"
    "ret_val = bool(apart < 0.05)\n"
)


def opened(model: Scripted, samples: int = 1, **options: Any) -> Session:
    sampling = {"verify": "goal", "samples": samples}
    given = {"mode": "instant", "seed": 1, "objects": TABLE, "sampling": sampling, **options}
    return Session.open("ravens", model, **given)


def test_among_ties_the_check_and_then_the_named_things_decide() -> None:
    """Each program does something else; without a check the words alone decide."""
    with opened(Scripted(ASIDE, AWAY, goal=IN_BOWL), samples=2) as session:
        assert session.run(TIDY).effect.doubts == ()
    with opened(Scripted(BLUE, ASIDE, goal="ret_val = None\n"), samples=2) as session:
        assert list(session.run("move the red block somewhere").moved) == ["red block"]
