"""Asking the model: several requests at a time, what is written down, what is counted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cap
from cap.engine.model_request import Author, Question, Tally, program_of
from cap.errors import EmptyCompletion, ModelError, ModelUnreachable
from cap.models.base import Completion, Request, Usage
from cap.models.concurrency import together
from cap.models.replay import Recording, Replay, request_key
from cap.models.wrapper import Managed
from cap.prompt.prompt import parse
from cap.trace.reader import read_events
from cap.trace.trace import Event, Trace
from tests.fakes.scripted import Scripted, listened

PROMPT = parse("# one.\nx = 1\n", "p")
LONG_S = 30.0
"""Longer than any test waits when things are right."""


def test_results_are_in_the_order_of_the_work() -> None:
    later = threading.Event()

    def first() -> int:
        assert later.wait(LONG_S)
        return 1

    def second() -> int:
        later.set()
        return 2

    assert together([first, second]) == [1, 2]


def test_no_more_than_so_many_at_once() -> None:
    lock, under_way, most = threading.Lock(), 0, 0
    pairs = threading.Barrier(2)

    def work() -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        pairs.wait(LONG_S)
        with lock:
            under_way -= 1

    together([work] * 6, most=2)
    assert most == 2


def test_a_model_error_is_returned_in_its_place() -> None:
    def fail() -> int:
        raise ModelUnreachable("no answer")

    first, second = together([fail, lambda: 2], returned=ModelError)
    assert isinstance(first, ModelUnreachable)
    assert second == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_anything_else_ends_it_without_waiting_for_the_others(error: type[BaseException]) -> None:
    held = threading.Event()

    def hang() -> None:
        assert held.wait(LONG_S)

    def fail() -> None:
        raise error

    with pytest.raises(error):
        together([hang, fail], most=2)
    held.set()


def author(model: Any) -> tuple[Author, list[Event]]:
    trace = Trace()
    return Author(model, trace, Tally()), listened(trace)


def test_a_request_is_written_down_with_its_hints_and_its_answer_with_its_key(
    tmp_path: Path,
) -> None:
    trace, question = Trace(tmp_path), Question(PROMPT, "0", hints=("from skills import turn",))
    Author(Scripted("a"), trace, Tally()).ask(question)
    trace.close("done")
    request = Request(PROMPT.render("0", hints=question.hints), stop=PROMPT.header.stop)
    asked, answered = read_events(tmp_path)
    assert asked["data"]["tail"] == "from skills import turn\n\n# 0."
    assert answered["data"]["key"] == request_key(request)


EMPTY = Completion("\n", "scripted", 100, 10, 0.5, why_empty="it says nothing")
CUT = replace(EMPTY, ended="cut", why_empty="it reached its limit; raise max_tokens")
WHOLE = Completion("x = 1", "scripted", 100, 5, 0.25)


def test_an_empty_answer_is_asked_for_once_more_and_counts() -> None:
    model = Scripted(EMPTY, WHOLE)
    asking, events = author(model)
    assert asking.ask(Question(PROMPT, "go")).text == "x = 1"
    assert model.requests[0] == model.requests[1]
    assert asking.tally.since(0) == Usage(2, 200, 15, 0.75)
    told = [event.data["why_empty"] for event in events if event.kind == "completion"]
    assert told == ["it says nothing", ""]


def test_only_the_empty_answers_of_a_wave_are_asked_for_again() -> None:
    asking, _ = author(Scripted(WHOLE, EMPTY, WHOLE))
    answers = asking.ask_all([Question(PROMPT, "a"), Question(PROMPT, "b")])
    assert [answer.text for answer in answers if isinstance(answer, Completion)] == ["x = 1"] * 2
    assert asking.tally.since(0).requests == 3


def test_an_empty_answer_that_reached_its_limit_has_more_room_then() -> None:
    model = Scripted(CUT, WHOLE)
    asking, _ = author(model)
    assert asking.ask(Question(PROMPT, "go")).text == "x = 1"
    first, second = model.requests
    assert second == replace(first, max_tokens=4 * first.max_tokens)


@pytest.mark.parametrize("answer", [EMPTY, CUT, Completion("", "scripted")])
def test_an_answer_that_stays_empty_is_a_failure_that_says_why(answer: Completion) -> None:
    asking, _ = author(Scripted(answer))
    found = asking.ask(Question(PROMPT, "go"))
    assert asking.tally.since(0).requests == 2
    with pytest.raises(EmptyCompletion, match=answer.why_empty or "answered with nothing; try"):
        program_of(found, PROMPT)


class Streaming(Scripted):
    """Hands over its text piece by piece."""

    def stream(self, request: Request, on_text: Callable[[str], None]) -> Completion:
        for piece in ("x ", "= 1"):
            on_text(piece)
        return Completion("x = 1", self.name)


def test_text_appears_as_it_is_written_where_somebody_watches() -> None:
    work, events = author(Streaming("whole"))
    assert work.ask(Question(PROMPT, "0")).text == "x = 1"
    pieces = [event.data for event in events if event.kind == "text"]
    assert pieces == [{"lmp": "p", "text": "x "}, {"lmp": "p", "text": "= 1"}]
    unwatched = Author(Streaming("whole"), Trace(), Tally())
    assert unwatched.ask(Question(PROMPT, "0")).text == "whole"


SUM = '# /// cap\n# returns = "ret_val"\n# ///\n'
TREE = {
    "it": "ret_val = a(1) + b(2)\n",
    "define function: a(1)": "def a(n):\n    return shared(n, n)\n",
    "define function: b(2)": "def b(n):\n    return shared(n, 0) + own(n)\n",
    "define function: shared(n, n); shared(n, 0)": "def shared(x, y):\n    return x + y\n",
    "define function: own(n)": "def own(n):\n    return n * 10\n",
}


def test_a_recorded_tree_replays_without_the_model(tmp_path: Path) -> None:
    path = tmp_path / "tree.jsonl"
    recorded = cap.LMP(SUM, Managed(Scripted(TREE), recording=Recording(path))).run("it")
    assert recorded.result.value == 24
    for _ in range(5):
        replayed = cap.LMP(SUM, Replay(path)).run("it")
        assert replayed.result.value == 24
        assert replayed.source == recorded.source
