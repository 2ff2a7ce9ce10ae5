"""Function generation: what is asked for, when, with which calls, and what answers are taken."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytest

from cap.checker.policy import Policy
from cap.engine.function_generation import Generation, UndefinedName, Wanted
from cap.engine.question import Author, Tally
from cap.engine.settings import GenerationLimits
from cap.errors import ANOTHER, CapError, GenerationFailed, ModelUnreachable
from cap.models.base import Completion
from cap.program.program import AnsweredInWords, Program
from cap.program.scope import Definition, Scope
from cap.prompt.prompt import parse
from cap.trace.trace import Trace

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
            self.author.tally.add(Completion("", "table", 0, self.tokens))
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


def test_a_complete_program_asks_for_nothing() -> None:
    generated, writer = run("def f(): return 1\nx = f()\nprint(x)\n", {})
    assert generated == ()
    assert writer.asked == []


def test_what_is_called_is_written_and_kept_as_source() -> None:
    generated, _ = run("x = f(1)\n", {"f": "\ndef f(a):\n    return a\n\n\n"})
    assert generated == (Definition("f", "def f(a):\n    return a\n", "generated"),)


def test_a_function_is_asked_for_with_all_its_call_sites() -> None:
    _, writer = run("a = f(1)\nb = f(2, unit='m')\n", {"f": "def f(a, unit=''): return a\n"})
    assert [[site.text for site in entry.calls] for entry in writer.asked] == [
        ["a = f(1)", "b = f(2, unit='m')"]
    ]


def test_helpers_come_before_their_callers() -> None:
    answers = {
        "f": "def f(): return g()\n",
        "g": "def g(a=h()): return a\n",
        "h": "def h(): return 1\n",
    }
    generated, _ = run("x = f()\n", answers)
    assert [entry.name for entry in generated] == ["h", "g", "f"]
    space: dict[str, object] = {}
    for entry in generated:
        exec(entry.source, space)
    exec("x = f()", space)
    assert space["x"] == 1


def test_a_recursive_function_is_asked_for_once() -> None:
    _, writer = run("x = f(3)\n", {"f": "def f(n): return n and f(n - 1)\n"})
    assert writer.names == ["f"]


def test_mutual_recursion_ends() -> None:
    answers = {"f": "def f(n): return n and g(n - 1)\n", "g": "def g(n): return n and f(n - 1)\n"}
    _, writer = run("x = f(3)\n", answers)
    assert writer.names == ["f", "g"]


def test_a_helper_of_two_parents_is_asked_for_once_with_both_sites() -> None:
    answers = {
        "f": "def f(): return h(1)\n",
        "g": "def g(): return h(2)\n",
        "h": "def h(n): return n\n",
    }
    generated, writer = run("x = f() + g()\n", answers)
    assert writer.names == ["f", "g", "h"]
    assert [site.text for site in writer.asked[2].calls] == ["h(1)", "h(2)"]
    assert [entry.name for entry in generated] == ["h", "f", "g"]


def test_siblings_of_one_wave_may_call_each_other() -> None:
    answers = {"f": "def f(): return 1\n", "g": "def g(): return f()\n"}
    _, writer = run("x = f() + g()\n", answers)
    assert writer.names == ["f", "g"]


def test_a_helper_written_with_its_caller_is_not_asked_for_again() -> None:
    answers = {"f": "def h(): return 1\n\ndef f(): return h() + g()\n", "g": "def g(): return h()"}
    generated, writer = run("x = f()\n", answers)
    assert writer.names == ["f", "g"]
    assert [entry.name for entry in generated] == ["g", "f"]
    assert "def h" in generated[-1].source


def test_a_generated_function_may_call_the_programs_own() -> None:
    source = "def area(x): return x\nn = biggest(area(1))\n"
    _, writer = run(source, {"biggest": "def biggest(x): return area(x)\n"})
    assert writer.names == ["biggest"]


@pytest.mark.parametrize("helper", ["sorted", "area"])
def test_an_answer_may_not_replace_what_is_already_there(helper: str) -> None:
    source = "def area(x): return x\nn = f(area(1))\n"
    answer = f"def {helper}(x): return 0\ndef f(x): return {helper}(x)\n"
    with pytest.raises(GenerationFailed, match=f"also defines .*{helper}"):
        run(source, {"f": answer})


def test_two_answers_may_not_bring_helpers_of_one_name() -> None:
    answers = {
        "f": "def h(): return 1\ndef f(): return h()\n",
        "g": "def h(): return 2\ndef g(): return h()\n",
    }
    with pytest.raises(GenerationFailed, match="answer for function 'g' also defines"):
        run("x = f() + g()\n", answers)


NOT_GENERATED = {
    "local function": "def f(a):\n    def g(): return a\n    return g()\nf(1)\n",
    "parameter": "def f(key): return key(1)\nf(sorted)\n",
    "lambda": "f = lambda a: a\nf(1)\n",
    "class": "class A:\n    def m(self): return 1\nA().m()\n",
    "loop variable": "for f in [sorted]:\n    f([])\n",
    "known": "get_obj_names()\n",
    "defined later": "def f(): return g()\ndef g(): return 1\nf()\n",
    "global": "def f():\n    global g\n    g = sorted\nf()\ng([])\n",
    "caught": "try:\n    pass\nexcept sorted as f:\n    f()\n",
}


@pytest.mark.parametrize("source", NOT_GENERATED.values(), ids=NOT_GENERATED)
def test_what_the_program_binds_is_never_asked_for(source: str) -> None:
    _, writer = run(source, {})
    assert writer.asked == []


WRONG = {
    "another name": ("def other(): return 1\n", "defines other"),
    "no function": ("x = 1\n", "defines no function"),
    "a loop beside it": ("def f(): return 1\nfor x in [1]: f()\n", "statements outside"),
    "inside a block": ("if True:\n    def f(): return 1\n", "defines no function"),
}


@pytest.mark.parametrize(("answer", "message"), WRONG.values(), ids=WRONG)
def test_an_answer_that_is_not_the_function_fails(answer: str, message: str) -> None:
    with pytest.raises(GenerationFailed, match=message):
        run("x = f()\n", {"f": answer})


BESIDE = {
    "a docstring": '"""Helpers."""\npass\ndef f(): return 1\n',
    "a constant": "Y = 1\ndef f(): return Y\n",
    "a table": "Y = {}\nY.update({1: 2})\ndef f(): return Y[1]\n",
    "a lambda": "f = lambda: 1\n",
}


@pytest.mark.parametrize("answer", BESIDE.values(), ids=BESIDE)
def test_what_stands_beside_the_function_is_harmless(answer: str) -> None:
    generated, _ = run("x = f()\n", {"f": answer})
    assert "f" in [entry.name for entry in generated]


def ever_deeper(name: str) -> str:
    return f"def {name}():\n    return {name}x()\n"


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_ever_deeper_helpers_end_with_the_chain(depth: int) -> None:
    writer = Writer(ever_deeper, limits=GenerationLimits(depth=depth))
    with pytest.raises(GenerationFailed, match=r": fx+ <- (fx+ <- )*f$"):
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


def test_a_name_that_is_only_read_is_an_error_with_line_and_likely_names() -> None:
    with pytest.raises(UndefinedName, match="'get_obj_names'") as caught:
        run("x = 1\ny = get_obj_nams\n", {})
    assert caught.value.line == 2


def test_a_name_that_is_unavailable_is_never_asked_for() -> None:
    writer = Writer({}, unavailable={"put": "not for you"})
    with pytest.raises(UndefinedName, match="not for you") as caught:
        writer.run(Program.parse("x = 1\nput(1)\n"))
    assert caught.value.line == 2
    assert writer.asked == []


def test_the_order_of_requests_is_that_of_the_calls() -> None:
    source = "x = z()\ny = a()\nm(x)\n"
    _, writer = run(source, lambda name: f"def {name}(*given): return print(1)\n")
    assert writer.names == ["z", "a", "m"]


def test_a_wave_is_asked_for_at_once() -> None:
    answers = {
        "f": "def f(): return h(1)\n",
        "g": "def g(): return k(2)\n",
        "h": "def h(n): return n\n",
        "k": "def k(n): return n\n",
    }
    _, writer = run("x = f() + g()\n", answers)
    assert [[entry.name for entry in wave] for wave in writer.waves] == [["f", "g"], ["h", "k"]]


RIGHT = "def f(a):\n    return a\n"
MENDED = {
    "no function": ("x = 1\n", "this defines no function"),
    "another name": ("def g(a): return a\n", "this defines g"),
    "more than functions": (RIGHT + "while f(0): f(1)\n", "this has statements outside functions"),
    "not Python": ("def f(a:\n", "line 1: not valid Python"),
    "a name nobody has": ("def f(a): return a + nothing\n", "line 1: name 'nothing'"),
    "too few parameters": ("def f(): return 1\n", "does not fit the call x = f(2)"),
    "a wrong call": ("def f(a): return f(a, 1)\n", "has faults: line 1: f(a): "),
}


@pytest.mark.parametrize(("wrong", "reason"), MENDED.values(), ids=MENDED)
def test_an_answer_that_cannot_be_used_is_asked_for_once_more(wrong: str, reason: str) -> None:
    generated, writer = run("x = f(2)\n", {"f": [wrong, RIGHT]}, again=True)
    assert [entry.source for entry in generated] == [RIGHT]
    first, second = writer.asked
    assert first.reason == ""
    assert reason in second.reason
    assert second.request == first.request == "x = f(2)"


@pytest.mark.parametrize(("wrong", "reason"), MENDED.values(), ids=MENDED)
def test_a_second_answer_that_cannot_be_used_fails(wrong: str, reason: str) -> None:
    writer = Writer({"f": wrong}, again=True)
    with pytest.raises(GenerationFailed, match="function 'f'"):
        writer.run(Program.parse("x = f(2)\n"))
    assert len(writer.asked) == 2, reason


IDLE, DOES = "def put_away(p):\n    return p\n", "def put_away(p):\n    p.append(1)\n"


def test_the_remedy_is_told_once() -> None:
    prose = AnsweredInWords(f"the model answered with prose: 'I cannot'{ANOTHER}")
    with pytest.raises(GenerationFailed, match="answered with prose") as failed:
        Writer({"put_away": prose}, again=True).run(Program.parse("put_away([1])\n"))
    assert str(failed.value).count(ANOTHER) == 1


def test_it_may_do_nothing_where_its_value_is_used_once() -> None:
    generated, _ = run("put_away([1])\nx = put_away([2])\n", {"put_away": IDLE}, again=True)
    assert [entry.source for entry in generated] == [IDLE]


def test_the_failed_program_goes_back_with_the_reason() -> None:
    _, writer = run("x = f(2)\n", {"f": ["def g(a): return a\n", RIGHT]}, again=True)
    failed = writer.asked[1].failed
    assert failed is not None
    assert failed.source == "def g(a): return a\n"


def test_only_what_failed_is_asked_for_again() -> None:
    answers = {"f": RIGHT, "g": ["x = 1\n", "def g(): return 1\n"]}
    _, writer = run("x = f(2) + g()\n", answers, again=True)
    assert writer.names == ["f", "g", "g"]


def test_a_later_call_of_a_written_function_is_mended_at_the_caller() -> None:
    answers = {
        "f": "def f(a): return g(a)\n",
        "g": ["def g(a): return f(a, 1)\n", "def g(a): return a and f(a - 1)\n"],
    }
    generated, writer = run("x = f(2)\n", answers, again=True)
    assert writer.names == ["f", "g", "g"]
    assert "line 1: f(a): " in writer.asked[2].reason
    assert "f(a - 1)" in generated[0].source


def test_siblings_of_one_wave_are_held_to_each_other() -> None:
    answers = {"f": RIGHT, "g": ["def g(): return f()\n", "def g(): return f(1)\n"]}
    _, writer = run("x = f(2) + g()\n", answers, again=True)
    assert writer.names == ["f", "g", "g"]


def test_a_model_that_fails_is_not_asked_again() -> None:
    writer = Writer({"f": ModelUnreachable("no answer")}, again=True)
    with pytest.raises(ModelUnreachable):
        writer.run(Program.parse("f()\n"))
    assert writer.names == ["f"]


def test_a_model_that_cannot_mend_is_asked_once() -> None:
    with pytest.raises(GenerationFailed):
        run("f()\n", {"f": ["x = 1\n", "def f(): return 1\n"]}, again=False)


PASSED = {
    "x = map(area_of, get_obj_names())\n": "area_of(item); map(area_of, get_obj_names())",
    "x = map(area_of, [1], [2])\n": "area_of(item1, item2); map(area_of, [1], [2])",
    "x = sorted([], key=area_of)\n": "area_of(item); sorted([], key=area_of)",
    "x = []\nx.sort(key=area_of)\n": "area_of(item); x.sort(key=area_of)",
    "get_obj_names(match_fn=area_of)\n": "area_of(*items); get_obj_names(match_fn=area_of)",
    "x = area_of(1)\ny = map(area_of, [2])\n": "x = area_of(1); area_of(item); map(area_of, [2])",
}


@pytest.mark.parametrize(("source", "request_text"), PASSED.items())
def test_a_function_passed_as_a_value_is_written(source: str, request_text: str) -> None:
    _, writer = run(source, {"area_of": "def area_of(*a): return a\n"})
    assert [entry.request for entry in writer.asked] == [request_text]


@pytest.mark.parametrize(
    "source",
    [
        "x = area_of\n",
        "x = list(area_of)\n",
        "x = [area_of]\n",
        "x = map(sorted, area_of)\n",
        "x = sorted(area_of)\n",
        "get_obj_names(area_of)\n",
        "get_obj_names(color=area_of)\n",
        "x = area_of.width\n",
        "x = area_of[0]\n",
    ],
)
def test_any_other_name_that_is_read_is_a_fault(source: str) -> None:
    with pytest.raises(UndefinedName, match="'area_of' is not defined"):
        run(source, {})


def test_what_is_passed_to_a_function_that_is_written_itself() -> None:
    answers = {
        "count": "def count(xs, key): return key(xs)\n",
        "kind_of": "def kind_of(x): return x\n",
    }
    _, writer = run("n = count([1], key=kind_of)\n", answers)
    assert writer.names == ["count", "kind_of"]


def test_methods_of_what_comes_back_are_never_asked_for() -> None:
    _, writer = run("x = get_obj_names()\nx.sort_by_size()\nget_obj_names().first()\n", {})
    assert writer.asked == []


def test_tokens_are_bounded_and_the_chain_is_named() -> None:
    writer = Writer(ever_deeper, limits=GenerationLimits(tokens=150), tokens=100)
    with pytest.raises(GenerationFailed, match=r"200 tokens \(limit 150\): fxx <- fx <- f$"):
        writer.run(Program.parse("f()\n"))
    assert writer.names == ["f", "fx"]


def test_no_second_answer_beyond_the_tokens() -> None:
    limits = GenerationLimits(tokens=10)
    writer = Writer({"f": "x = 1\n"}, again=True, limits=limits, tokens=10)
    with pytest.raises(GenerationFailed, match="tokens"):
        writer.run(Program.parse("f()\n"))
    assert writer.names == ["f"]


def test_what_a_definition_needs_at_once_comes_before_it() -> None:
    answers = {"f": "def f(a=g()): return a\n", "g": "def g(): return 2\n"}
    generated, _ = run("x = f() + g()\n", answers)
    space: dict[str, Any] = {}
    exec("".join(entry.source for entry in generated) + "x = f() + g()\n", space)
    assert space["x"] == 4


def test_mutual_recursion_runs_as_one_file() -> None:
    answers = {
        "even": "def even(n): return n == 0 or odd(n - 1)\n",
        "odd": "def odd(n): return n != 0 and even(n - 1)\n",
    }
    generated, _ = run("x = even(10)\n", answers)
    space: dict[str, Any] = {}
    exec("".join(entry.source for entry in generated) + "x = even(10)\n", space)
    assert space["x"] is True


def test_a_call_in_a_generator_is_held_to_its_form_only() -> None:
    source = "def gen():\n    y = f((yield), *[], unit='m', **{})\n"
    answers = {"f": "def f(*args, **kwargs): return args\n"}
    generated, _ = run(source, answers)
    assert [entry.name for entry in generated] == ["f"]
