from collections.abc import Callable, Mapping

import pytest

from cap.errors import GenerationFailed
from cap.generate import Budget, UndefinedName, generate
from cap.names import Undefined
from cap.program import Program
from cap.scope import Definition

KNOWN = ("print", "sorted", "get_obj_names")


class Writer:
    """A model that answers from a table and remembers what it was asked."""

    def __init__(self, answers: Mapping[str, str] | Callable[[str], str]) -> None:
        self.answers = answers if callable(answers) else answers.__getitem__
        self.asked: list[Undefined] = []

    def __call__(self, entry: Undefined) -> Program:
        self.asked.append(entry)
        return Program.parse(self.answers(entry.name))

    @property
    def names(self) -> list[str]:
        return [entry.name for entry in self.asked]


def run(
    source: str, answers: Mapping[str, str] | Callable[[str], str], budget: Budget | None = None
) -> tuple[tuple[Definition, ...], Writer]:
    writer = Writer(answers)
    return generate(Program.parse(source), KNOWN, writer, budget=budget), writer


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
    with pytest.raises(GenerationFailed, match="the answer for 'g' also defines"):
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
    "a call beside it": ("def f(): return 1\nf()\n", "statements outside"),
    "a variable beside it": ("Y = 1\ndef f(): return Y\n", "statements outside"),
    "a lambda": ("f = lambda: 1\n", "defines no function"),
    "inside a block": ("if True:\n    def f(): return 1\n", "defines no function"),
}


@pytest.mark.parametrize(("answer", "message"), WRONG.values(), ids=WRONG)
def test_an_answer_that_is_not_the_function_fails(answer: str, message: str) -> None:
    with pytest.raises(GenerationFailed, match=message):
        run("x = f()\n", {"f": answer})


def test_a_docstring_beside_the_function_is_harmless() -> None:
    generated, _ = run("x = f()\n", {"f": '"""Helpers."""\npass\ndef f(): return 1\n'})
    assert [entry.name for entry in generated] == ["f"]


def ever_deeper(name: str) -> str:
    return f"def {name}():\n    return {name}x()\n"


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_ever_deeper_helpers_end_with_the_chain(depth: int) -> None:
    writer = Writer(ever_deeper)
    with pytest.raises(GenerationFailed, match=r": fx+ <- (fx+ <- )*f$"):
        generate(Program.parse("f()\n"), (), writer, budget=Budget(depth=depth))
    assert len(writer.asked) == depth


@pytest.mark.parametrize(("count", "passes"), [(3, True), (4, False)])
def test_the_number_of_functions_is_bounded_before_any_is_asked_for(
    count: int, passes: bool
) -> None:
    writer = Writer(lambda name: f"def {name}(): return 1\n")
    program = Program.parse("".join(f"f{i}()\n" for i in range(count)))
    if passes:
        assert len(generate(program, (), writer, budget=Budget(functions=3))) == 3
    else:
        with pytest.raises(GenerationFailed, match="more than 3 functions"):
            generate(program, (), writer, budget=Budget(functions=3))
        assert writer.asked == []


def test_a_name_that_is_only_read_is_an_error_with_line_and_likely_names() -> None:
    with pytest.raises(UndefinedName, match="'get_obj_names'") as caught:
        run("x = 1\ny = get_obj_nams\n", {})
    assert caught.value.line == 2


def test_a_name_that_is_unavailable_is_never_asked_for() -> None:
    writer = Writer({})
    with pytest.raises(UndefinedName, match="not for you") as caught:
        generate(
            Program.parse("x = 1\nput(1)\n"),
            (),
            writer,
            unavailable=lambda name: "not for you" if name == "put" else None,
        )
    assert caught.value.line == 2
    assert writer.asked == []


def test_the_order_of_requests_is_that_of_the_calls() -> None:
    source = "z()\na()\nm()\n"
    _, writer = run(source, lambda name: f"def {name}(): return 1\n")
    assert writer.names == ["z", "a", "m"]
