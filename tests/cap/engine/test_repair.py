"""Repair: what goes back to the model, how often, and what it costs the world."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from cap.engine.answer import Answer, State
from cap.engine.engine import Engine
from cap.engine.repair import note_of
from cap.engine.settings import Decision, EngineSettings, GenerationLimits, Repairs
from cap.errors import ModelUnreachable, NotRecorded
from cap.models.base import Completion, Request
from cap.prompt.prompt import Prompt, parse
from cap.result import Call, Failure
from cap.robot.registry import function_prompt
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from cap.trace.trace import Event, Trace
from robots.ravens import create

UI = parse(
    """# /// cap
# context = ["objects"]
# session = true
# actions = true
# ///
from robot import put_first_on_second, get_obj_pos, say
from lmps import parse_obj_name, move_it
""",
    "ui",
)
NAME = parse(
    """# /// cap
# returns = "ret_val"
# kind = "name"
# context = ["objects"]
# ///
from robot import get_obj_pos
""",
    "parse_obj_name",
)
MOVE = parse(
    """# /// cap
# returns = "ret_val"
# actions = true
# ///
from robot import put_first_on_second
""",
    "move_it",
)
OBJECTS = ["red block", "blue block", "blue bowl"]
PUT = "put_first_on_second('red block', 'blue bowl')\n"


class Scripted:
    """Gives the answers to each instruction one after the other, the last one for ever."""

    name = "scripted"

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = {words: list(_listed(given)) for words, given in answers.items()}
        self.prompts: list[str] = []

    def complete(self, request: Request) -> Completion:
        self.prompts.append(request.prompt)
        asked = request.prompt.rstrip().splitlines()[-1].removeprefix("# ").removesuffix(".")
        given = self.answers[asked]
        answer = given.pop(0) if len(given) > 1 else given[0]
        if isinstance(answer, BaseException):
            raise answer
        return Completion(answer, self.name, 100, 10, cost_usd=0.5)


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


class Body:
    """An engine with a robot, a scripted model, and the events it wrote."""

    def __init__(self, answers: Mapping[str, Any], **options: Any) -> None:
        self.model = Scripted(answers)
        self.robot: Any = create(mode="instant", objects=OBJECTS, seed=1)
        self.robot.simulated = options.pop("simulated", True)
        self.events: list[Event] = []
        trace = Trace()
        trace.listeners.append(self.events.append)
        self.engine = Engine(
            self.robot,
            self.model,
            {prompt.name: prompt for prompt in (UI, NAME, MOVE)},
            function_prompt(),
            sandbox=Sandbox(limits=Limits(program_s=2)),
            trace=trace,
            settings=EngineSettings(**options),
        )

    def run(self, words: str = "go", prompt: Prompt = UI, state: State | None = None) -> Answer:
        return self.engine.run(prompt, words, self.engine.context(prompt), state)

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        return [event.data for event in self.events if event.kind == kind]


Make = Callable[..., Body]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Body] = []

    def body(answers: Mapping[str, Any], **options: Any) -> Body:
        made.append(Body(answers, **options))
        return made[-1]

    yield body
    for entry in made:
        entry.robot.close()


STATIC = {
    "not Python": (PUT + "x = (\n", "syntax", "line 2: not valid Python"),
    "an import": (PUT + "import os\n", "violation", "line 2: "),
    "a primitive rebound": (PUT + "say = 1\n", "violation", "line 2: "),
    "a name nobody has": (PUT + "x = 1\ny = no_such_name\n", "undefined", "line 3: name 'no_such"),
    "a hidden attribute": (PUT + "x = ().__subclasses__\n", "violation", "line 2: "),
    "too many arguments": (PUT + "say('a', 'b')\n", "violation", "line 2: "),
    "an unknown keyword": (PUT + "say(words='a')\n", "violation", "line 2: "),
    "a near miss": (PUT + "get_obj_position('x')\n", "undefined", "line 2: there is no 'get_obj_p"),
    "an attribute": (PUT + "robot.pick('x')\n", "violation", "line 2: robot has no 'pick'"),
    "no such function of numpy": (PUT + "np.no_such(1)\n", "violation", "line 2: "),
    "its own function": ("def f(a): return a\n" + PUT + "f()\n", "violation", "line 3: "),
}


@pytest.mark.parametrize(("wrong", "kind", "reason"), STATIC.values(), ids=STATIC)
def test_a_static_fault_goes_back_with_line_and_reason(
    make: Make, wrong: str, kind: str, reason: str
) -> None:
    body = make({"go": [wrong, "say('done')\n"]})
    answer = body.run()
    assert answer.result.failure is None
    assert answer.attempts == 2
    assert body.robot.spoken == ["done"]
    note = next(line for line in body.model.prompts[1].splitlines() if line.startswith("#! "))
    assert reason in note
    assert note.endswith("write the whole program again, corrected")
    assert answer.program is not None
    assert answer.program.source == "say('done')\n"


@pytest.mark.parametrize(("wrong", "kind", "reason"), STATIC.values(), ids=STATIC)
def test_static_faults_are_bounded_and_leave_the_world_untouched(
    make: Make, wrong: str, kind: str, reason: str
) -> None:
    variants = [f"{wrong}v = {number}\n" for number in range(5)]
    body = make({"go": variants})
    before = body.robot.positions()
    answer = body.run()
    assert answer.result.failure is not None
    assert answer.result.failure.kind == kind
    assert len(body.model.prompts) == answer.attempts == 3
    assert not answer.result.calls
    assert body.robot.positions() == before


def test_the_request_before_a_repair_is_the_start_of_the_repair_s(make: Make) -> None:
    body = make({"go": ["x = (\n", "y = nothing\n", "say('hi')\n"]})
    assert body.run().result.failure is None
    one, two, three = body.model.prompts
    assert two.startswith(one.rstrip("\n"))
    assert three.startswith(two.rstrip("\n"))


def test_every_attempt_is_in_the_trace(make: Make) -> None:
    body = make({"go": ["x = nothing\n", "say('hi')\n"]})
    body.run()
    (repair,) = body.of("repair")
    assert repair["lmp"] == "ui"
    assert repair["attempt"] == 2
    assert repair["source"] == "x = nothing\n"
    assert repair["reason"].startswith("line 1: name 'nothing' is not defined")
    kinds = [event.kind for event in body.events]
    assert kinds.index("repair") < len(kinds) - 1 - kinds[::-1].index("prompt")
    assert len(body.of("completion")) == 2


def test_the_same_program_again_is_not_run_again(make: Make) -> None:
    body = make({"go": PUT + "1 / 0\n"})
    answer = body.run()
    assert answer.result.failure is not None
    assert answer.result.failure.error == "ZeroDivisionError"
    assert [call.name for call in answer.result.calls] == ["put_first_on_second"]
    assert len(body.model.prompts) == answer.attempts == 2


@pytest.mark.parametrize("wrong", ["x = (\n", "import numpy as np\nx = nothing\n"])
def test_the_same_answer_again_ends_it(make: Make, wrong: str) -> None:
    body = make({"go": wrong})
    assert body.run().result.failure is not None
    assert len(body.model.prompts) == 2


@pytest.mark.parametrize(
    "error", [NotRecorded("not in the file"), ModelUnreachable("no answer")], ids=type
)
def test_where_no_repair_can_be_had_the_first_failure_is_told(make: Make, error: Exception) -> None:
    body = make({"go": ["x = nothing\n", error]})
    answer = body.run()
    failure = answer.result.failure
    assert failure is not None
    assert (failure.kind, failure.line) == ("undefined", 1)
    assert failure.message.startswith("name 'nothing' is not defined")
    assert f"a repair was asked for, but {type(error).__name__}: {error}" in failure.message
    assert answer.written == "x = nothing\n"


def test_prose_in_place_of_a_repair_is_no_repair(make: Make) -> None:
    body = make({"go": ["x = nothing\n", "I am sorry, I cannot do that."]})
    failure = body.run().result.failure
    assert failure is not None
    assert failure.kind == "undefined"


def test_a_model_that_cannot_repair_is_not_asked(make: Make) -> None:
    body = make({"go": "x = nothing\n"})
    body.model.repairs = False  # type: ignore[attr-defined]
    assert body.run().attempts == 1
    assert len(body.model.prompts) == 1


def test_a_model_that_cannot_repair_fails_by_its_own_program(make: Make) -> None:
    body = make({"go": "x = nothing\n"})
    body.model.repairs = False  # type: ignore[attr-defined]
    failure = body.run().result.failure
    assert failure is not None
    assert (failure.kind, failure.error, failure.cause) == ("undefined", "UndefinedName", "program")
    assert "example" not in failure.message
    body.model.by_example = True  # type: ignore[attr-defined]
    failure = body.run().result.failure
    assert failure is not None
    assert (failure.error, failure.cause) == ("NoMatch", "model")


def test_no_repairs_where_none_are_allowed(make: Make) -> None:
    body = make({"go": ["x = nothing\n", "say('hi')\n"]}, repairs=Repairs(static=0))
    assert body.run().result.failure is not None
    assert len(body.model.prompts) == 1


def test_what_fails_while_it_runs_goes_back_with_its_calls(make: Make) -> None:
    wrong = "p = get_obj_pos('blue bowl')\n" + PUT + "get_obj_pos('green cup')\n"
    body = make({"go": [wrong, "say('done')\n"]})
    answer = body.run()
    assert answer.result.failure is None
    note = next(line for line in body.model.prompts[1].splitlines() if line.startswith("#! "))
    assert "line 3: NotFound: " in note
    assert "(in `get_obj_pos('green cup')`)" in note
    assert "get_obj_pos('blue bowl') returned array(" in note
    assert "put_first_on_second('red block', 'blue bowl')" in note
    assert "get_obj_pos('green cup') failed: NotFound: " in note
    assert note.endswith(
        "what it did stays done, and p are still set; write a program for what is left to do"
    )


def test_calls_and_output_of_all_attempts_are_in_the_result(make: Make) -> None:
    body = make({"go": ["print('one')\n" + PUT + "1 / 0\n", "print('two')\nsay('done')\n"]})
    answer = body.run()
    assert answer.result.failure is None
    assert [call.name for call in answer.result.calls] == ["put_first_on_second", "say"]
    assert answer.result.stdout == "one\ntwo\n"
    assert answer.program is not None
    assert "1 / 0" not in answer.program.source


def test_an_attempt_that_moved_is_not_undone(make: Make) -> None:
    body = make({"go": [PUT + "1 / 0\n", "say('done')\n"]})
    before = body.robot.positions()
    assert body.run().result.failure is None
    assert body.robot.positions() != before


def test_the_context_is_read_again_after_an_attempt_that_acted(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = make({"go": [PUT + "1 / 0\n", "say(objects[0])\n"]})
    seen = iter([["red block"], ["moved block"]])
    monkeypatch.setattr(body.robot, "context", lambda: {"objects": next(seen)})
    assert body.run().result.failure is None
    assert body.robot.spoken == ["moved block"]
    assert "objects = ['moved block']\n# go.\n" in body.model.prompts[1]
    assert "objects = ['red block']\n# go.\nput_first" in body.model.prompts[1]


def test_a_failed_attempt_changes_no_variable_of_the_next(make: Make) -> None:
    body = make({"go": ["x.append(2)\n1 / 0\n", "say(str(x))\n"]})
    answer = body.run(state=State(variables={"x": [1]}))
    assert answer.result.failure is None
    assert body.robot.spoken == ["[1]"]


def test_runtime_repairs_are_bounded(make: Make) -> None:
    body = make({"go": [f"1 / 0 + {number}\n" for number in range(5)]})
    assert body.run().attempts == 3


def test_static_and_runtime_repairs_are_counted_apart(make: Make) -> None:
    answers = ["x = (\n", "x = nothing\n", "1 / 0\n", "say('done')\n"]
    body = make({"go": answers})
    answer = body.run()
    assert answer.result.failure is None
    assert answer.attempts == 4


def test_on_hardware_nothing_runs_a_second_time_by_itself(make: Make) -> None:
    body = make({"go": ["1 / 0\n", "say('done')\n"]}, simulated=False, approve=lambda text: True)
    failure = body.run().result.failure
    assert failure is not None
    assert failure.error == "ZeroDivisionError"
    assert len(body.model.prompts) == 1


def test_on_hardware_static_faults_are_still_repaired(make: Make) -> None:
    shown: list[str] = []

    def approve(source: str) -> bool:
        shown.append(source)
        return True

    body = make({"go": ["x = nothing\n", "say('hi')\n"]}, simulated=False, approve=approve)
    assert body.run().result.failure is None
    assert shown == ["say('hi')\n"]


def test_a_refused_program_is_not_repaired(make: Make) -> None:
    body = make({"go": ["say('a')\n", "say('b')\n"]}, approve=lambda text: False)
    failure = body.run().result.failure
    assert failure is not None
    assert failure.kind == "refused"
    assert len(body.model.prompts) == 1


def test_a_reason_goes_to_the_model_as_often_as_a_person_gives_one(make: Make) -> None:
    says = [
        Decision(False, reason="too fast"),
        Decision(False, reason="still too fast"),
        Decision(False, reason="slower"),
        Decision(True),
    ]
    programs = [f"say('{word}')\n" for word in "abcd"]
    body = make({"go": programs}, approve=lambda source: says.pop(0), simulated=False)
    answer = body.run()
    assert answer.result.failure is None
    assert body.robot.spoken == ["d"]
    for prompt, reason in zip(
        body.model.prompts[1:], ("too fast", "still too fast", "slower"), strict=True
    ):
        assert f"the user said no: {reason}" in prompt


def test_a_program_that_is_edited_takes_the_same_road(make: Make) -> None:
    shown: list[str] = []

    def approve(source: str) -> Decision:
        shown.append(source)
        return Decision(True) if len(shown) == 2 else Decision(False, edited="say('mine')\n")

    body = make({"go": ["say('a')\n"]}, approve=approve)
    answer = body.run()
    assert answer.result.failure is None
    assert shown == ["say('a')\n", "say('mine')\n"]
    assert body.robot.spoken == ["mine"]
    assert answer.program is not None
    assert answer.program.source == "say('mine')\n"
    assert answer.completion == "say('a')\n"
    assert len(body.model.prompts) == 1


@pytest.mark.parametrize("edited", ["import os\nos.system('x')\n", "say('mine'\n", "say(nobody)\n"])
def test_an_edit_that_fails_the_check_is_asked_again(edited: str, make: Make) -> None:
    shown: list[str] = []

    def approve(source: str) -> Decision:
        shown.append(source)
        return Decision(True) if len(shown) == 2 else Decision(False, edited=edited)

    body = make({"go": ["say('a')\n"]}, approve=approve)
    answer = body.run()
    assert answer.result.failure is None
    assert shown == ["say('a')\n"] * 2
    assert body.robot.spoken == ["a"]
    assert len(body.model.prompts) == 1, "the slip is the person's: no model is asked to mend it"


def test_every_attempt_needs_its_own_approval(make: Make) -> None:
    shown: list[str] = []

    def approve(source: str) -> bool:
        shown.append(source)
        return len(shown) == 1

    body = make({"go": [PUT + "1 / 0\n", "say('b')\n"]}, approve=approve)
    failure = body.run().result.failure
    assert failure is not None
    assert failure.kind == "refused"
    assert body.robot.spoken == []


def test_a_program_without_an_end_is_repaired(make: Make) -> None:
    body = make({"go": ["while True:\n    pass\n", "say('b')\n"]})
    body.engine.sandbox.limits = Limits(program_s=0.5)
    assert body.run().result.failure is None
    assert "the program ran longer than 0.5 s; write the whole program" in body.model.prompts[1]


def test_too_many_calls_are_repaired_and_told_in_few_words(make: Make) -> None:
    body = make({"go": ["while True:\n    get_obj_pos('red block')\n", "say('b')\n"]})
    body.engine.sandbox.limits = Limits(program_s=2, calls=200)
    assert body.run().result.failure is None
    (note,) = [line for line in body.model.prompts[1].splitlines() if line.startswith("#! ")]
    assert "CallLimit: " in note
    assert len(note) < 600


def test_ctrl_c_while_a_repair_is_written_keeps_what_was_done(make: Make) -> None:
    body = make({"go": [PUT + "1 / 0\n", KeyboardInterrupt()]})
    answer = body.run()
    assert answer.result.failure is not None
    assert answer.result.failure.kind == "interrupted"
    assert [call.name for call in answer.result.calls] == ["put_first_on_second"]
    assert answer.program is not None


WRONG_KINDS = ["ret_val = 3\n", "ret_val = (name for name in objects)\n", "other = 1\n"]


@pytest.mark.parametrize("wrong", WRONG_KINDS)
def test_a_nested_program_is_repaired_by_itself(make: Make, wrong: str) -> None:
    answers = {"go": "say(parse_obj_name('it'))\n", "it": [wrong, "ret_val = objects[0]\n"]}
    body = make(answers)
    answer = body.run()
    assert answer.result.failure is None
    assert body.robot.spoken == ["red block"]
    assert answer.attempts == 1
    assert [data["lmp"] for data in body.of("repair")] == ["parse_obj_name"]


def test_a_wrong_kind_of_value_is_repaired_as_often_as_a_static_fault(make: Make) -> None:
    body = make({"it": ["ret_val = 1\n", "ret_val = 2\n", "ret_val = 'x'\n"]})
    answer = body.run("it", NAME)
    assert answer.result.value == "x"
    assert answer.attempts == 3


def test_a_nested_program_that_acts_is_not_run_again(make: Make) -> None:
    answers = {"go": "move_it('it')\n", "it": [PUT + "1 / 0\n", "ret_val = 1\n"]}
    body = make(answers, repairs=Repairs(runtime=1))
    failure = body.run().result.failure
    assert failure is not None
    asked = [text for text in body.model.prompts if text.endswith("# it.\n")]
    assert len(asked) <= 2  # once for each attempt of the program that called it
    assert not [data for data in body.of("repair") if data["lmp"] == "move_it"]


def test_what_everything_took_is_counted(make: Make) -> None:
    answers = {
        "go": ["x = nothing\n", "say(parse_obj_name('it') + get_end(1))\n"],
        "it": "ret_val = 'x'\n",
        "define function: get_end(1)": ["x = 1\n", "def get_end(n):\n    return '!'\n"],
    }
    usage = make(answers).run().usage
    assert (usage.requests, usage.prompt_tokens, usage.completion_tokens) == (5, 500, 50)
    assert usage.cost_usd == pytest.approx(2.5)


def test_the_count_is_of_one_turn(make: Make) -> None:
    body = make({"go": "say('hi')\n"})
    assert [body.run().usage.requests for _ in range(2)] == [1, 1]


@pytest.mark.parametrize(
    "wrong",
    ["x = 1\n", "def f(n):\n    return say(n, n, n)\n", "def f(n):\n    return nothing + n\n"],
)
def test_a_generated_function_is_mended_before_anything_moves(make: Make, wrong: str) -> None:
    right = "def f(n):\n    return say(str(n))\n"
    body = make({"go": PUT + "f(1)\n", "define function: f(1)": [wrong, right]})
    answer = body.run()
    assert answer.result.failure is None
    assert answer.attempts == 1
    (repair,) = body.of("repair")
    assert repair["lmp"] == "define"
    again = body.model.prompts[-1]
    assert f"# define function: f(1).\n{wrong}#! this " in again
    assert "; write the whole function again, corrected\n\n#< It is called by this " in again
    assert again.endswith("\n#< f(1)\n\n# define function: f(1).\n")


@pytest.mark.parametrize(
    "wrong",
    ["x = 1\n", "def f(n):\n    return say(n, n, n)\n", "def f():\n    return 1\n", "Sorry, no."],
)
def test_where_a_function_cannot_be_had_nothing_moves(make: Make, wrong: str) -> None:
    body = make({"go": PUT + "f(1)\n", "define function: f(1)": wrong})
    answer = body.run()
    assert answer.result.failure is not None
    assert answer.result.failure.kind == "generation"
    assert not answer.result.calls
    *_, again = body.model.prompts
    assert "#! the answer for function 'f' " in again, "the program that called is asked for again"
    assert "or another model" not in again
    assert len(body.model.prompts) == 4


def test_a_note_is_bounded_whatever_the_calls_hold() -> None:
    huge = Call("say", ("x" * 10**6, 10**5000), {"a": ["y"] * 10**5}, 0, 0, result="z" * 10**6)
    failure = Failure("raised", "NotFound", "m" * 10**6, 1, robot=True)
    assert len(note_of(failure, "say()\n", [huge] * 40)) < 10_000


def test_a_note_cannot_leave_its_line(make: Make) -> None:
    wrong = "raise ValueError('a\\n# evil.\\nimport os')\n"
    body = make({"go": [wrong, "say('done')\n"]})
    assert body.run().result.failure is None
    assert "\n# evil" not in body.model.prompts[1]


def test_every_action_is_told_and_what_only_looked_is_folded() -> None:
    calls = [
        entry
        for number in range(20)
        for entry in (
            Call("get_obj_pos", (f"block {number % 7}",), {}, 0, 0, result=[0.1, 0.2]),
            Call("put", (f"block {number}",), {}, 0, 0, kind="action"),
        )
    ]
    calls += [Call("get_obj_pos", ("x",), {}, 0, 0, error="NotFound: no 'x'")]
    failure = Failure("raised", "NotFound", "no 'x'", 1, robot=True)
    note = note_of(failure, "...\n", calls)
    assert all(f"put('block {number}')" in note for number in range(20))
    assert note.count("get_obj_pos('block 3')") == 1
    assert "get_obj_pos('x') failed: NotFound" in note


def test_the_same_action_many_times_is_told_once() -> None:
    calls = [
        entry
        for _ in range(500)
        for entry in (
            Call("look", (), {}, 0, 0, result=False),
            Call("set_velocity", (0.2, 0.0), {}, 0, 0, kind="action"),
        )
    ]
    failure = Failure("limit", "CallLimit", "more than 1000 calls", 1)
    note = note_of(failure, "...\n", [Call("pick", ("a",), {}, 0, 0, kind="action"), *calls])
    assert "pick('a'); look() returned False; set_velocity(0.2, 0.0), 500 times; what" in note


def test_only_what_was_done_stays_done() -> None:
    refused = Call("put", ("a",), {}, 0, 0, error="Unreachable: too far", kind="action")
    failure = Failure("raised", "Unreachable", "too far", 1, robot=True)
    assert note_of(failure, "put('a')\n", [refused]).endswith(
        "write the whole program again, corrected; if it cannot be done as asked, say why, and do "
        "nothing less in its place"
    )
    done = Call("put", ("b",), {}, 0, 0, kind="action")
    assert "; what it did stays done; write" in note_of(failure, "put('a')\n", [done, refused])


def test_a_function_that_may_not_be_generated_goes_back_to_the_program(make: Make) -> None:
    budget = GenerationLimits(functions=0)
    body = make({"go": [PUT + "f(1)\n", "say('done')\n"]}, budget=budget)
    assert body.run().result.failure is None
    assert "more than 0 functions to generate" in body.model.prompts[1]


def test_a_function_is_asked_for_with_what_its_program_may_call_and_the_program(make: Make) -> None:
    body = make(
        {"go": "p = f(1)\nsay(str(p))\n", "define function: p = f(1)": "def f(n):\n    return n\n"}
    )
    assert body.run().result.failure is None
    asked = body.model.prompts[1]
    assert "\nput_first_on_second(first, second): " in asked
    assert "\n#< It is called by this program for 'go', which is written already:\n" in asked
    assert asked.index("\nfrom robot import ") < asked.index("\nimport math\n")
    assert "#< p = f(1)\n#< say(str(p))\n\n# define function: p = f(1).\n" in asked
