"""What the model is asked for: functions that nobody defined, and every request as it is sent."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

import cap
from cap.checker.policy import Policy
from cap.engine.function_generation import Generation, Wanted
from cap.engine.model_request import Author, Question, Tally, program_of
from cap.engine.settings import GenerationLimits
from cap.errors import CapError, EmptyCompletion, GenerationFailed, ModelError, ModelUnreachable
from cap.models.base import Completion, Request, Usage
from cap.models.concurrency import together
from cap.models.replay import Recording, Replay, request_key
from cap.models.wrapper import Managed
from cap.program.program import Program
from cap.program.scope import Definition, Scope
from cap.prompt.prompt import parse
from cap.trace.reader import read_events
from cap.trace.trace import Event, Trace
from tests.fakes.scripted import Scripted, listened
from tests.rows import table

KNOWN = Scope(variables={"get_obj_names": None})


class Asked:
    """In an author's place: a model that mends, or not, and a count of tokens."""

    def __init__(self, repairs: bool) -> None:
        self.repairs = repairs
        self.tally = Tally()
        self.trace = Trace()


class Writer(Generation):
    """Has functions written by a table, and remembers what was asked for."""

    def __init__(
        self,
        answers: Mapping[str, Any] | Callable[[str], str],
        *,
        again: bool = False,
        tokens: int = 0,
        **options: Any,
    ) -> None:
        prompt = parse("# f().\ndef f(): return 1\n", "define", infer=True)
        super().__init__(cast(Author, Asked(again)), prompt, KNOWN, Policy(), **options)
        self.answers = answers if callable(answers) else self._next
        self.table = {} if callable(answers) else dict(answers)
        self.tokens = tokens
        self.waves: list[list[Wanted]] = []

    def _next(self, name: str) -> str | CapError:
        """Several answers under one name are given one after the other."""
        answer = self.table[name]
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]  # type: ignore[no-any-return]
        return answer  # type: ignore[no-any-return]

    def write(self, wanted: Sequence[Wanted]) -> list[Program | CapError]:
        self.waves.append(list(wanted))
        for _ in wanted:
            self.author.tally.add(Usage.of(Completion("", "table", 0, self.tokens)))
        return [self._program(self.answers(entry.name)) for entry in wanted]

    def _program(self, answer: str | CapError) -> Program | CapError:
        if isinstance(answer, CapError):
            return answer
        try:
            return Program.parse(answer)
        except CapError as error:
            return error

    @property
    def asked(self) -> list[Wanted]:
        return [entry for wave in self.waves for entry in wave]

    @property
    def names(self) -> list[str]:
        return [entry.name for entry in self.asked]


def run(
    source: str, answers: Mapping[str, Any] | Callable[[str], str], **options: Any
) -> tuple[tuple[Definition, ...], Writer]:
    writer = Writer(answers, **options)
    return writer.run(Program.parse(source)), writer


GENERATED = table(__file__, "generated")
"""Programs, the answers for their functions, and what is asked for and made of them."""


@pytest.mark.parametrize("case", GENERATED.values(), ids=GENERATED)
def test_what_a_program_calls_and_nobody_defines_is_written(case: Mapping[str, Any]) -> None:
    generated, writer = run(case["source"], case["answers"], again=True)
    names = [entry.name for entry in generated]
    assert {*writer.names} <= {*names}
    if "waves" in case:
        assert [[entry.name for entry in wave] for wave in writer.waves] == case["waves"]
    if "generated" in case:
        assert names == case["generated"]
    if "sources" in case:
        assert generated == tuple(
            Definition(name, source, "generated")
            for name, source in zip(names, case["sources"], strict=True)
        )
    if "requests" in case:
        assert [entry.request for entry in writer.asked] == case["requests"]
    for name, calls in case.get("calls", {}).items():
        (asked,) = (entry for entry in writer.asked if entry.name == name)
        assert [site.text for site in asked.calls] == calls
    if "value" in case:
        space: dict[str, Any] = {}
        exec("".join(entry.source for entry in generated) + case["source"], space)
        assert space["x"] == case["value"]
    assert case.get("reason", "") in (writer.asked[-1].reason if writer.asked else "")


@pytest.mark.parametrize("helper", ["sorted", "area"])
def test_an_answer_may_not_replace_what_is_already_there(helper: str) -> None:
    source = "def area(x): return x\nn = f(area(1))\n"
    answer = f"def {helper}(x): return 0\ndef f(x): return {helper}(x)\n"
    with pytest.raises(GenerationFailed, match=f"also defines .*{helper}"):
        run(source, {"f": answer})


WRONG = table(__file__, "no function")


@pytest.mark.parametrize(("answer", "message"), WRONG.values(), ids=WRONG)
def test_an_answer_that_is_not_the_function_fails(answer: str, message: str) -> None:
    with pytest.raises(GenerationFailed, match=message):
        run("x = f()\n", {"f": answer})


def ever_deeper(name: str) -> str:
    return f"def {name}():\n    return {name}x()\n"


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_ever_deeper_helpers_end_with_the_chain(depth: int) -> None:
    writer = Writer(ever_deeper, limits=GenerationLimits(depth=depth))
    with pytest.raises(GenerationFailed, match=r": fx+$"):
        writer.run(Program.parse("f()\n"))
    assert len(writer.asked) == depth


@pytest.mark.parametrize(("count", "passes"), [(3, True), (4, False)])
def test_the_number_of_functions_is_bounded_before_any_is_asked_for(
    count: int, passes: bool
) -> None:
    limits = GenerationLimits(functions=3)
    writer = Writer(lambda name: f"def {name}(): return 1\n", limits=limits)
    program = Program.parse("".join(f"x = f{i}()\n" for i in range(count)))
    if passes:
        assert len(writer.run(program)) == 3
    else:
        with pytest.raises(GenerationFailed, match="more than 3 functions"):
            writer.run(program)
        assert writer.asked == []


RIGHT = "def f(a):\n    return a\n"
AGAIN = table(__file__, "asked again")


@pytest.mark.parametrize(("wrong", "reason"), AGAIN.values(), ids=AGAIN)
def test_an_answer_that_cannot_be_used_is_asked_for_once_more(wrong: str, reason: str) -> None:
    generated, writer = run("x = f(2)\n", {"f": [wrong, RIGHT]}, again=True)
    assert [entry.source for entry in generated] == [RIGHT]
    first, second = writer.asked
    assert first.reason == ""
    assert reason in second.reason
    assert second.request == first.request == "x = f(2)"
    assert second.failed in ("", wrong)
    writer = Writer({"f": wrong}, again=True)
    with pytest.raises(GenerationFailed, match="function 'f'"):
        writer.run(Program.parse("x = f(2)\n"))
    assert len(writer.asked) == 2
    with pytest.raises(GenerationFailed):
        run("x = f(2)\n", {"f": [wrong, RIGHT]}, again=False)


def test_what_an_answer_does_besides_defining_is_removed() -> None:
    answer = (
        "ADDED = np.array([1])\ndef f(x):\n    return x + ADDED[0]\n\n"
        "assert f(1) == 2\nx = f(2)\nprint(x)\nwhile not f(0):\n    act(1)\n"
        "if __name__ == '__main__':\n    f(3)\n"
    )
    acted = list[int]()
    model = Scripted({"it": "ret_val = f(1)\n", "define function: ret_val = f(1)": answer})
    lmp = cap.LMP(
        '# /// cap\n# returns = "ret_val"\n# ///\n', model, functions={"act": acted.append}
    )
    answered = lmp.run("it")
    assert answered.result.value == 2
    (generated,) = answered.generated
    assert generated.source == answer.partition("assert")[0].strip() + "\n"
    assert (acted, answered.result.stdout) == ([], "")


# --- asking the model: several requests at a time, what is written down, what is counted

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
