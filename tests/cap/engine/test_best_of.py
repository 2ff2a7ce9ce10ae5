"""Best of several: programs are tried in the world as it is, and the right one is carried out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cap.engine.settings import MOST_SAMPLES, Decision, Sampling
from cap.errors import UsageError
from cap.models.base import Completion, Request
from cap.models.budget import Allowance, Budget
from cap.models.wrapper import OwnModel
from cap.robot import snapshots
from cap.session.replay import recorded
from cap.session.session import Session
from cap.trace.trace import Event, Trace
from robots.ravens import create
from tests.fakes.hardware import Hardware, TwinnedHardware
from tests.fakes.scripted import (
    PROMPTS,
    WITH_GOAL,
    Scripted,
    instruction_of,
    listened,
    table_session,
)

OBJECTS = ("red block", "blue block", "blue bowl", "green bowl")
RIGHT = "put_first_on_second('red block', 'blue bowl')\n"
ALSO = "target = 'blue bowl'\nput_first_on_second('red block', target)\n"
WRONG = "put_first_on_second('blue block', 'blue bowl')\n"
GREEN = "put_first_on_second('red block', 'green bowl')\n"
RAISES = "put_first_on_second('red block', 'blue bowl')\nraise ValueError('no')\n"
SEES = "near = np.linalg.norm(get_obj_pos('red block') - get_obj_pos('blue bowl')) < 0.05\n"
IN_BOWL = f"{SEES}ret_val = bool(near)\n"
WORDS = "put the red block in the blue bowl"


class Drawn(Scripted):
    """Answers an instruction by the sample's seed, a goal check and an LMP always the same."""

    def __init__(self, answers: Sequence[str], goal: str = IN_BOWL, words: str = WORDS) -> None:
        super().__init__(goal=goal)
        self.drawn, self.words = answers, words

    def complete(self, request: Request) -> Completion:
        self.answers = ["ret_val = 'blue bowl'\n"]
        if instruction_of(request) == self.words:
            text = self.drawn[(request.seed or 0) % len(self.drawn)]
            self.answers = [Completion(text, self.name, 100, 20)]
        return super().complete(request)

    @property
    def times(self) -> int:
        """How many programs for the instruction were asked for."""
        return self.asked.count(WORDS)


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
    packed = repr(snapshots.pack(robot.snapshot(), snapshots.kind_of(robot)))
    return hashlib.sha256(packed.encode()).hexdigest()


def choice_of(events: list[Event]) -> Mapping[str, Any]:
    (event,) = (event for event in events if event.kind == "samples")
    return event.data


def test_what_most_programs_do_is_carried_out_however_they_say_it() -> None:
    with session_of(Drawn([WRONG, RIGHT, GREEN, ALSO])) as session:
        events = listened(session)
        turn = session.run(WORDS)
        assert turn.ok
        assert list(turn.moved) == ["red block"]
        assert session.robot.positions()["red block"][:2] == pytest.approx(
            session.robot.positions()["blue bowl"][:2], abs=0.02
        )
        data = choice_of(events)
    assert (data["chosen"], data["why"]) == (2, ["2 of 4 did this"])
    assert [one["came"] for one in data["tried"]] == [
        "moved blue block to blue bowl",
        "moved red block to blue bowl",
        "moved red block to green bowl",
        "moved red block to blue bowl",
    ]
    assert (turn.tried, turn.attempts) == (4, 1)


def test_what_programs_say_breaks_up_no_agreement_on_what_they_do() -> None:
    said = [f"{RIGHT}say('it is in, {number}')\n" for number in range(2)]
    printed = f"{ALSO}print('done')\n"
    with session_of(Drawn([WRONG, *said, WRONG, printed]), samples=5) as session:
        events = listened(session)
        assert list(session.run(WORDS).moved) == ["red block"]
        assert choice_of(events)["why"] == ["3 of 5 did this"]
    answers = ["print('two')\n", "say('two')\n", "print('three')\n", "print('three')\n"]
    asked = "say how many there are"
    with session_of(Drawn(answers, words=asked)) as session:
        assert session.run(asked).stdout == "three\n"


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


def test_the_same_seed_makes_the_same_choice_and_the_same_world() -> None:
    ends = []
    for _ in range(2):
        with session_of(Drawn([WRONG, GREEN, RIGHT, ALSO]), seed=5) as session:
            events = listened(session)
            session.run(WORDS)
            ends.append((choice_of(events), digest(session.robot)))
    assert ends[0] == ends[1]


def test_no_more_is_asked_for_than_it_takes() -> None:
    model = Drawn([RIGHT, ALSO, RIGHT, WRONG, WRONG, WRONG, WRONG, WRONG])
    with session_of(model, samples=5) as session:
        events = listened(session)
        session.run(WORDS)
    assert model.times == 3
    assert "no other effect can overtake it with 2 more" in choice_of(events)["stopped"]


def test_further_answers_are_drawn_each_with_its_seed() -> None:
    model = Drawn([RIGHT, WRONG])
    with session_of(model, samples=2) as session:
        session.run(WORDS)
    asked = [(request.temperature, request.seed) for request in model.requests]
    assert asked == [(0.0, None), (0.8, 1)]


def test_what_was_expected_comes_before_what_most_do() -> None:
    says = "say('done')\n"
    with session_of(Drawn([says, says, RIGHT]), samples=3) as session:
        assert session.run(WORDS, ["moved"]).ok


def test_a_goal_check_comes_before_what_most_do() -> None:
    with session_of(Drawn([WRONG, WRONG, WRONG, RIGHT]), goal=True) as session:
        events = listened(session)
        assert list(session.run(WORDS).moved) == ["red block"]
    data = choice_of(events)
    assert [one["goal"] for one in data["tried"]] == [False, False, False, True]
    assert "the goal check accepts it" in data["why"]


@pytest.mark.parametrize(
    ("goal", "told_of"),
    [
        ("ret_val = True\n", "satisfied before anything is done"),
        ("ret_val = 1 / 0 > 1\n", "cannot be used: ZeroDivisionError"),
        (f"{RIGHT}ret_val = True\n", "'put_first_on_second' is not available to 'goal' programs"),
        ("say('yes')\nret_val = False\n", "'say' is not available to 'goal' programs"),
        ("ret_val = 'yes'\n", "cannot be used: WrongKind"),
        ("I would look.", "cannot be used"),
    ],
)
def test_a_goal_check_of_no_use_decides_nothing_and_is_told_of(goal: str, told_of: str) -> None:
    model = Drawn([WRONG, RIGHT, ALSO, WRONG], goal)
    with session_of(model, goal=True, samples=3) as session:
        events = listened(session)
        assert list(session.run(WORDS).moved) == ["red block"]
    assert told_of in " ".join(choice_of(events)["why"])


def test_a_goal_check_is_no_function_that_programs_call() -> None:
    with session_of(Drawn([RIGHT]), goal=True) as session:
        assert "goal" not in session.engine.scope(session.engine.prompts["ui"]).names()


def test_if_all_fail_the_first_is_repaired_from_a_world_that_is_as_it_was() -> None:
    with session_of(Drawn([RAISES])) as session:
        before = session.robot.positions()
        events = listened(session)
        turn = session.run(WORDS)
        assert not turn.ok
        assert "every program failed" in choice_of(events)["why"][0]
        assert sum(event.kind == "repair" for event in events) == 1  # the same again: no third
        session.undo()
        assert session.robot.positions() == before


def test_if_all_change_nothing_that_is_said() -> None:
    still = "spot = get_obj_pos('red block')\n"
    with session_of(Drawn([still])) as session:
        events = listened(session)
        assert session.run(WORDS).effect.still
    assert "all of them change nothing" in choice_of(events)["why"]


def test_answers_that_are_no_programs_are_failures_like_others() -> None:
    with session_of(Drawn(["No.", "I cannot.", RIGHT, "Sorry."])) as session:
        assert list(session.run(WORDS).moved) == ["red block"]


def test_what_an_lmp_answered_while_programs_were_tried_is_not_asked_again(tmp_path: Path) -> None:
    nested = "put_first_on_second('red block', parse_obj_name('the bowl that is blue'))\n"
    model = Drawn([nested, f"{nested}\n"])
    with session_of(model, samples=2, trace=Trace(tmp_path)) as session:
        assert session.run(WORDS).ok
    assert len(model.requests) == model.times + 1
    assert len(recorded(tmp_path)) == 3


def test_without_agreement_the_first_that_the_goal_check_accepts_is_carried_out() -> None:
    model = Drawn([WRONG, GREEN, RIGHT, ALSO])
    with session_of(model, goal=True, agreement=False) as session:
        assert list(session.run(WORDS).moved) == ["red block"]
    assert model.times == 3 + 1  # and the goal check
    alone = Drawn([RAISES, WRONG, RIGHT, RIGHT])
    with session_of(alone, agreement=False) as session:
        events = listened(session)
        session.run(WORDS)
    assert alone.times == 2
    assert choice_of(events)["stopped"] == "nothing else decides"


def test_a_callers_own_check_ends_the_search() -> None:
    model = Drawn([WRONG, GREEN, RIGHT, WRONG])

    def judge(robot: Any) -> bool:
        return bool(robot.positions()["red block"][1] < -0.5)

    with session_of(model, judge=judge) as session:
        assert session.run(WORDS).ok
        assert judge(session.robot)
    assert model.times < 4


@pytest.mark.parametrize(
    ("budget", "most"), [({"max_tokens": 100}, 1), ({"max_tokens": 300}, 3), ({"max_s": 0.0}, 4)]
)
def test_a_budget_ends_the_search_and_bounds_each_wave(budget: dict[str, float], most: int) -> None:
    model = Drawn([WRONG, RIGHT, GREEN, RIGHT])
    with session_of(model, samples=MOST_SAMPLES, **budget) as session:
        session.run(WORDS)
    assert model.times == most


def test_programs_that_a_spend_limit_kept_from_being_asked_for_were_not_tried() -> None:
    drawn = Drawn([WRONG, RIGHT, GREEN, RIGHT])
    model = OwnModel(drawn, "drawn", budget=Budget("drawn", Allowance(calls=3)))
    with session_of(model, samples=6) as session:  # type: ignore[arg-type]
        events = listened(session)
        assert session.run(WORDS).tried == 3
    data = choice_of(events)
    assert len(data["tried"]) == 3
    assert "the limit of this run" in data["stopped"]


class Faulty(Drawn):
    """Raises an error of its own for one of its answers."""

    def complete(self, request: Request) -> Completion:
        answer = super().complete(request)
        if answer.text == RAISES:
            raise RuntimeError("boom")
        return answer


def test_an_exception_of_a_model_costs_one_program_and_not_the_turn() -> None:
    with session_of(Faulty([WRONG, RIGHT, RAISES, ALSO])) as session:
        events = listened(session)
        assert list(session.run(WORDS).moved) == ["red block"]
    came = choice_of(events)["tried"][2]["came"]
    assert came.startswith("failed: EndpointFailed: the model of Faulty failed")
    assert came.endswith("RuntimeError: boom")
    with session_of(Faulty([RAISES])) as session:
        failure = session.run(WORDS).failure
    assert failure is not None
    assert failure.kind == "model"


def test_a_callers_check_that_raises_is_told_and_leaves_the_world_as_it_was() -> None:
    with session_of(Drawn([RIGHT]), judge=lambda robot: 1 / 0) as session:  # type: ignore[arg-type]
        before = digest(session.robot)
        with pytest.raises(UsageError, match=r"judge=.*failed: ZeroDivisionError"):
            session.run(WORDS)
        assert digest(session.robot) == before


@pytest.mark.parametrize("wrong", ["4", None, 2.5, True])
def test_numbers_of_programs_and_rounds_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"samples is .* whole number"):
        session_of(Drawn([RIGHT]), samples=wrong)
    with pytest.raises(UsageError, match="rounds"):
        session_of(Drawn([RIGHT]), samples=1, rounds=wrong)


def test_a_hundred_are_asked_for_and_no_more() -> None:
    many = [f"No, for the reason {n}." for n in range(100)]
    with session_of(Drawn(many), samples=MOST_SAMPLES) as session:
        assert session.run(WORDS).tried == 100
    with pytest.raises(UsageError, match="cannot try 101 programs; ask for 1 to 100"):
        session_of(Drawn(many), samples=101)


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
