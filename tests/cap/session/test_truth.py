"""What a turn says is what is so: effects, totals, repairs and orders that change nothing."""

from __future__ import annotations

from typing import Any

import pytest

import cap
from cap.session.session import Session
from tests.fakes.scripted import Scripted


def opened(model: Scripted, robot: str = "ravens", **options: Any) -> Session:
    return Session.open(robot, model, mode="instant", seed=3, **options)


WAIT = "lemon = 'lemon'\nwhile not is_obj_visible('lemon'):\n    wait(1)\n"
BRING = "pick_obj('lemon')\nplace_at_obj('bowl')\n"


def test_what_arrives_and_is_moved_counts_as_moved_and_an_arrival_alone_does_not() -> None:
    things = ["bowl @ table", "lemon @ table after 5 s"]
    with opened(Scripted(WAIT + BRING), "kitchen", objects=things) as session:
        turn = session.run("when you see a lemon, put it in the bowl", expect=["moved"])
    assert (turn.ok, [*turn.moved]) == (True, ["lemon"])
    assert not turn.effect.left_over  # that it was not seen at first
    with opened(Scripted(WAIT), "kitchen", objects=things) as session:
        effect = session.run("wait for the lemon").effect
    assert (effect.newly_seen, "moved" in effect.words) == (("lemon",), False)


@pytest.mark.parametrize(
    ("robot", "idle", "words"),
    [
        ("drawing", "redraw([], [])\n", "erase everything"),
        ("ravens", "print(get_obj_names())\n", "arrange the blocks in a row"),
        ("kitchen", "set_velocity(0.3, 0.0)\n", "drive one metre forward"),
    ],
)
def test_an_order_that_changes_nothing_is_asked_for_once_more_and_is_not_done(
    robot: str, idle: str, words: str
) -> None:
    model = Scripted(idle, idle.replace("\n", "  # again\n"), "say('never')\n")
    with opened(model, robot) as session:
        if robot == "drawing":
            assert session.execute("draw([[0, -0.5], [0.1, -0.5]])").ok
        turn = session.run(words)
        assert turn.failure is not None
        assert (turn.failure.error, len(model.prompts)) == ("NothingChanged", 2)
        assert "nothing changed: everything is where it was" in model.prompts[1]
        model.answers = ["say('I cannot')\n"]
        assert session.run(words).ok  # an answer is enough


HEADERLESS = """from robot import on, lit
rooms = ['a', 'b']
# switch on a.
on('a')
rooms = ['a', 'b']
# which is lit?
ret_val = lit()
rooms = ['a', 'b']
# switch on b.
on('b')
"""


def test_a_prompt_without_a_header_that_acts_and_answers_returns_its_answer() -> None:
    functions = {"on": lambda room: None, "lit": lambda: ["a"]}
    model = Scripted("ret_val = lit()\n")
    lmp = cap.LMP(HEADERLESS, model, functions=functions, variables={"rooms": ["a", "b"]})
    assert lmp("which rooms are lit?") == ["a"]
