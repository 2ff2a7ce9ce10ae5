"""Problem files are read strictly, and no function gets a verdict it has not earned."""

import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from shapely.geometry import LinearRing, LineString, MultiPoint, Point, Polygon, box

from benchmarks.problems.judge import MAX_COORDINATES, difference, examine, judge, unfit
from benchmarks.problems.plain_python import converted
from benchmarks.problems.problem import Case, Mutant, Problem, Tolerance
from benchmarks.problems.problem_file import load
from benchmarks.problems.schema import SCHEMA
from benchmarks.problems.validation import check_problem
from cap.errors import ProblemError
from cap.sandbox.limits import Limits
from tests.rows import rows, table

RING = Polygon(box(0, 0, 4, 4).exterior, [box(1, 1, 3, 3).exterior])
RIGHT = [
    (None, None),
    (True, np.True_),
    (3, 3.0),
    (0.3, 0.1 + 0.2),
    (float("nan"), np.float64("nan")),
    ([1.0, float("inf")], np.array([1.0, np.inf])),
    ("a", np.str_("a")),
    ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]])),
    ({"a": [1.0], "b": None}, {"b": None, "a": (1,)}),
    (np.zeros((0, 2)), []),
    (Point(0, 0), Point(1e-9, 0)),
    (LineString([(0, 0), (1, 0)]), LineString([(1, 0), (0.5, 0), (0, 0)])),
    (box(0, 0, 1, 1), Polygon([(1, 1), (0, 1), (0, 0), (0.5, 0), (1, 0)])),
    (Polygon(), Polygon()),
]
WRONG = [
    (None, False),
    (1, True),
    (1.0, "1.0"),
    (1.0, 1.0 + 1e-5),
    (10_000_000, 10_000_001),
    (1.0, float("nan")),
    (1.0, float("inf")),
    (float("nan"), 1.0),
    (1.0, 10**400),
    (1.0, [1.0]),
    (1.0, np.array(1.0)),
    (1.0, 1.0 + 0j),
    ([1, 2], [1, 2, 3]),
    (np.zeros((2, 1)), np.zeros(2)),
    ([[1, 2], [3, 4]], [1, 2, 3, 4]),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": 1}, {"a": 2}),
    ([1, 2], {1, 2}),
    (Point(0, 0), Point(0, 0.1)),
    (Point(0, 0), Point(0, 0, 1)),
    (Point(0, 0), Point(float("nan"), 0)),
    (Point(0, 0), (0, 0)),
    (box(0, 0, 4, 4), RING),
    (box(0, 0, 1, 1), LinearRing(box(0, 0, 1, 1).exterior)),
    (box(0, 0, 2, 2), Polygon([(0, 0), (2, 2), (2, 0), (0, 2)])),
    (MultiPoint([(0, 0), (1, 1)]), MultiPoint([(0, 0), (0, 0), (1, 1)])),
    (LineString([(0, 0), (1, 0), (0, 1)]), LineString([(1, 0), (0, 0), (0, 1)])),
]


@pytest.mark.parametrize(("expected", "got"), RIGHT, ids=repr)
def test_equal_enough(expected: Any, got: Any) -> None:
    assert difference(expected, got, Tolerance()) is None
    assert unfit(expected) is None


@rows(("expected", "got"), WRONG, ids=repr)
def test_not_equal(expected: Any, got: Any) -> None:
    assert difference(expected, got, Tolerance()) is not None


def test_the_tolerance_is_the_stated_one() -> None:
    loose = Tolerance(abs=0.1, rel=0.01)
    assert difference(100.0, 101.0, loose) is None
    assert difference(100.0, 101.2, loose) is not None
    assert difference(Point(0, 0), Point(0.09, 0), loose) is None
    assert difference(Point(0, 0), Point(0.11, 0), loose) is not None


def test_a_huge_geometry_is_not_even_compared() -> None:
    angles = np.linspace(0, 2 * np.pi, MAX_COORDINATES + 2)[:-1]
    circle = Polygon(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    assert difference(Point(0, 0).buffer(1, 64), circle, Tolerance(0.1, 0.1)) is not None


@pytest.mark.parametrize("value", [{1, 2}, 1j, object(), [lambda: 0], {"a": b"x"}, {(1, 2): 3}])
def test_what_can_be_no_result(value: Any) -> None:
    assert unfit(value) is not None


# --- the file


def changed(tmp_path: Path, before: str, after: str) -> Path:
    assert before in SCHEMA
    path = tmp_path / "mine.toml"
    path.write_text(SCHEMA.replace(before, after, 1))
    return path


def test_the_printed_format_is_a_file_that_works(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SCHEMA)
    (problem,) = load([path]).problems.values()
    finding = check_problem(problem)
    assert (finding.faults, finding.rejected) == ((), 4)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    table(__file__, "problems: a_wrong_file_is_one_clear_error").values(),
)
def test_a_wrong_file_is_one_clear_error(
    before: str, after: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ProblemError) as caught:
        load([changed(tmp_path, before, after)])
    assert words in str(caught.value)
    assert "mine.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


HEAD = "format = 1\n[[problem]]\n"


def only(path: Path, text: str) -> Problem:
    path.write_text(HEAD + text, encoding="utf-8")
    (problem,) = load([path]).problems.values()
    return problem


def test_a_header_and_a_reference_with_cases_are_enough(tmp_path: Path) -> None:
    text = """
        header = "def get_sum(a, b):"
        reference = "lambda a, b: a + b"
        cases = [["1, 2", "3"], ["0.5, 1"]]
    """
    problem = only(tmp_path / "mine.toml", text)
    assert (problem.result, problem.family, problem.mutants) == ("result", "own", ())
    finding = check_problem(problem)
    assert (finding.faults, len(finding.notes)) == ((), 1)
    assert judge(examine(problem, 0), "def get_sum(x, y):\n    return y + x").right
    assert not judge(examine(problem, 0), "def get_sum(x, y):\n    return y - x").right


def test_a_case_may_leave_out_what_has_a_default(tmp_path: Path) -> None:
    text = """
        header = "def get_near(xs, radius=0.5, least=0):"
        result = "near"
        reference = "lambda xs, radius=0.5, least=0: [x for x in xs if least <= x < radius]"
        cases = [
            ["[0.4, 0.6]", "[0.4]"],
            ["[0.4, 0.6], 1", "[0.4, 0.6]"],
            ["[0.4, 0.6], 1, 0.5", "[0.6]"],
        ]
    """
    problem = only(tmp_path / "mine.toml", text)
    assert problem.request == "near = get_near(xs, radius=0.5, least=0)"
    exam = examine(problem, 0)
    right = "def get_near(xs, radius, least):\n    return [x for x in xs if least <= x < radius]"
    assert judge(exam, right).missed == ""
    wrong = "def get_near(xs, radius=0.7, least=0):\n    return [x for x in xs if x < 0.5]"
    assert judge(exam, wrong).passed == 1
    too_many = only(tmp_path / "mine.toml", text.replace("1, 0.5", "1, 0.5, 2"))
    with pytest.raises(ProblemError, match="has 4 entries, not 1 to 3"):
        examine(too_many, 0)


def test_a_problem_may_have_functions_and_scenes_of_its_own(tmp_path: Path) -> None:
    text = """
        header = "def get_count(word):"
        given = "def get_names(): return list(scene)"
        setup = "TWO = ['red cup', 'red box']"
        reference = "def get_count(word): return sum(word in name for name in get_names())"
        [[problem.cases]]
        scene = "TWO"
        arguments = "'red'"
        result = "2"
        [[problem.cases]]
        scene = "['blue box']"
        arguments = "'red'"
        result = "0"
        [[problem]]
        header = "def get_none():"
        reference = "lambda: None"
        cases = [{ arguments = "", result = "None" }]
    """
    (tmp_path / "mine.toml").write_text(HEAD + text)
    first, second = load([tmp_path / "mine.toml"]).problems.values()
    assert judge(examine(first, 0), first.reference).right
    assert not judge(examine(first, 0), "def get_count(word): return 2").right
    assert judge(examine(second, 0), "def get_none(): pass").right


def test_a_reference_with_constants_is_asked_for_as_a_definition(tmp_path: Path) -> None:
    text = """
        header = "def get_scaled(x, more=0):"
        reference = '''
SCALE = 2
def get_scaled(x, more=0):
    return SCALE * x + more
'''
        cases = [["1, 5", "7"]]
    """
    problem = only(tmp_path / "mine.toml", text)
    space: dict[str, Any] = {}
    exec(problem.solution, space)
    assert space["get_scaled"](1, 5) == 7
    assert set(space) == {"__builtins__", "get_scaled"}


# --- out of plain Python


PLAIN = r"""
import math
import pytest

SCALE = 2.0

def double(x):
    return SCALE * x

def get_scaled(xs, start=0.5):
    '''Scale, and add "all".'''
    return sum(map(double, xs)) + start

def get_ends(path, more=0):
    return path[0], path[-1]

def is_long(text):
    return len(text) > 3

assert get_scaled([1, 2], start=1) == 7
assert 6.5 == get_scaled([1, 2])
assert abs(get_scaled([0.1]) - 0.7) < 1e-3
assert is_long("long\n") is True

def test_ends():
    assert get_ends([1, 2, 3]) == (1, 3)
    assert get_ends([1, 2], 4) == pytest.approx((1, 2))
    assert math.isclose(get_scaled([0]), 0.5, rel_tol=0.01)

def check_lengths():
    assert is_long("longer")
    assert not is_long("a")
"""


def test_functions_with_asserts_become_problems(tmp_path: Path) -> None:
    source, made = tmp_path / "mine.py", tmp_path / "mine.toml"
    source.write_text(PLAIN)
    made.write_text(converted(source))
    problems = load([made]).problems
    assert list(problems) == ["get_scaled", "is_long", "get_ends"]
    scaled = problems["get_scaled"]
    assert scaled.header == "def get_scaled(xs, start=0.5):"
    assert scaled.reason == 'Scale, and add "all".'
    assert [case.arguments for case in scaled.cases] == ["[1, 2], 1", "[1, 2]", "[0.1]", "[0]"]
    assert scaled.tolerance == Tolerance()
    assert [case.tolerance for case in scaled.cases[:2]] == [None, None]
    assert scaled.cases[2].tolerance == Tolerance(pytest.approx(1e-3), 0.0)
    assert scaled.cases[3].tolerance == Tolerance(0.0, 0.01)
    assert problems["get_ends"].cases[1].tolerance == Tolerance(1e-12, 1e-6)
    assert [case.result for case in problems["is_long"].cases] == ["True", "True", "False"]
    for problem in problems.values():
        assert check_problem(problem).faults == ()
    right = "def get_scaled(xs, start):\n    return 2 * sum(xs) + start"
    assert judge(examine(scaled, 0), right).right
    assert not judge(examine(scaled, 0), right.replace("2 *", "3 *")).right


@pytest.mark.parametrize(
    ("claim", "case"),
    table(__file__, "problems: every_plain_form_of_an_assert_is_a_case").values(),
)
def test_every_plain_form_of_an_assert_is_a_case(
    claim: str, case: list[str | None], tmp_path: Path
) -> None:
    source, made = tmp_path / "mine.py", tmp_path / "mine.toml"
    source.write_text(
        "import numpy as np\ndef zero(x):\n    return x\ndef none(x):\n    return None\n"
        f"def even(x):\n    return x % 2 == 0\nassert {claim}\n"
    )
    made.write_text(converted(source))
    (problem,) = load([made]).problems.values()
    assert [[one.arguments, one.result] for one in problem.cases] == [case]
    assert check_problem(problem, [0]).cases == 1


FUNCTION = "def f(n):\n    return 1000.0 * n\n\n"


@pytest.mark.parametrize(
    ("claims", "right", "wrong"),
    table(__file__, "problems: each_case_has_the_tolerance_of_its_assert").values(),
)
def test_each_case_has_the_tolerance_of_its_assert(
    claims: list[str], right: list[str], wrong: list[str], tmp_path: Path
) -> None:
    source, made = tmp_path / "mine.py", tmp_path / "mine.toml"
    source.write_text(FUNCTION + "".join(f"assert {claim}\n" for claim in claims))
    made.write_text(converted(source))
    (problem,) = load([made]).problems.values()
    exam = examine(problem, 0)
    for value in right:
        assert judge(exam, f"def f(n):\n    return {value}").missed == ""
    for value in wrong:
        assert not judge(exam, f"def f(n):\n    return {value}").right


def test_every_assert_that_is_refused_is_named(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    claims = ["f(1) > 0", "f(2) == 2000", "f(3) != 0", "abs(f(4) - 4) < EPS", "f(5, n=1) == 1"]
    block = "for i in 1, 2: assert f(i) == 1000 * i\n"
    source.write_text(FUNCTION + "".join(f"assert {claim}\n" for claim in claims) + block)
    with pytest.raises(ProblemError) as caught:
        converted(source)
    told = [re.findall(r"line (\d+): ", line) for line in str(caught.value).splitlines()]
    assert told == [["4"], ["6"], ["7"], ["8"], ["9"]]


@pytest.mark.parametrize(
    ("text", "told"),
    table(__file__, "problems: what_cannot_become_a_problem_is_told").values(),
)
def test_what_cannot_become_a_problem_is_told(text: str | None, told: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ProblemError) as caught:
        converted(path)
    assert told in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_second_problem_of_the_same_name(tmp_path: Path) -> None:
    entry = SCHEMA[SCHEMA.index("[[problem]]") :]
    path = changed(tmp_path, entry, entry + entry)
    with pytest.raises(ProblemError, match="a second problem 'get_highest_point'"):
        load([path])


@pytest.mark.parametrize("data", [b"\xff\xfe", b"", None])
def test_a_file_that_is_none(data: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ProblemError, match="mine"):
        load([path])


# --- verdicts

PROBLEM = Problem(
    header="def get_doubled(values):",
    result="doubled",
    family="numpy",
    generalisation="systematicity",
    reason="for tests",
    reference="def get_doubled(values): return [2 * value for value in values]",
    mutants=(Mutant("nothing", "def get_doubled(values): return []"),),
    cases=(Case("[1, 2]", "[2, 4]"), Case("[0.5]"), Case("[]")),
    random="def arguments(rng): return [rng.uniform(-1, 1, 3).tolist()]",
    random_cases=3,
)
QUICK = Limits(program_s=0.3, memory_bytes=512 << 20)


def problem(**changes: Any) -> Problem:
    return msgspec.structs.replace(PROBLEM, **changes)


HONEST = [
    "def get_doubled(values): return np.asarray(values) * 2",
    "def get_doubled(values): return tuple(value + value for value in values)",
    "def get_doubled(values):\n    print('noise')\n    return [2 * value for value in values]",
    "def helper(value): return 2 * value\n"
    "def get_doubled(values): return list(map(helper, values))",
    # undone before it returns: nobody can tell, so nobody minds
    "def get_doubled(values):\n    values.append(0)\n    values.pop()\n"
    "    return [2 * value for value in values]",
]


@pytest.mark.parametrize("source", HONEST)
def test_what_is_right_passes(source: str) -> None:
    assert judge(examine(PROBLEM, 0), source).missed == ""


RIGHT_ANSWER = "[2 * value for value in values]"
ALWAYS_EQUAL = """
class Same:
    def __eq__(self, other):
        return True
    def __len__(self):
        return 2
    def __iter__(self):
        return iter([2, 4])
"""
HOSTILE = {
    "always equal": f"{ALWAYS_EQUAL}\ndef get_doubled(values): return Same()",
    "always equal inside": f"{ALWAYS_EQUAL}\n"
    "def get_doubled(values): return [Same() for value in values]",
    "own kind of list": "class Mine(list):\n    pass\n"
    f"def get_doubled(values): return Mine({RIGHT_ANSWER})",
    "a generator": "def get_doubled(values): return (2 * value for value in values)",
    "a generator function": "def get_doubled(values):\n    yield from values",
    "a map": "def get_doubled(values): return map(lambda value: 2 * value, values)",
    "an iterator": f"def get_doubled(values): return iter({RIGHT_ANSWER})",
    "a function": "def get_doubled(values): return get_doubled",
    "a set": f"def get_doubled(values): return set({RIGHT_ANSWER})",
    "text": f"def get_doubled(values): return str({RIGHT_ANSWER})",
    "one row too many": f"def get_doubled(values): return [{RIGHT_ANSWER}]",
    "no numbers": "def get_doubled(values): return [float('nan') for value in values]",
    "truth for numbers": "def get_doubled(values): return [True for value in values]",
    "itself inside": "def get_doubled(values):\n    values.append(values)\n    return values",
    "changed arguments": "def get_doubled(values):\n"
    "    for i in range(len(values)):\n        values[i] *= 2\n    return values",
    "emptied arguments": f"def get_doubled(values):\n    found = {RIGHT_ANSWER}\n"
    "    values.clear()\n    return found",
    "an exception": "def get_doubled(values): raise ValueError('no')",
    "leaves": "def get_doubled(values): raise SystemExit(0)",
    "leaves otherwise": "def get_doubled(values): raise BaseException('done')",
    "never ends": "def get_doubled(values):\n    while True:\n        pass",
    "never ends, caught": "def get_doubled(values):\n    while True:\n        try:\n"
    "            while True:\n                pass\n"
    "        except BaseException:\n            pass",
    "no bottom": "def get_doubled(values): return get_doubled(values)",
    "too much memory": "def get_doubled(values): return [0] * 10 ** 10",
    "hands in by itself": "def get_doubled(values):\n    hand_in([2, 4], values)\n"
    "    return [2, 4]",
    "hands in the case": "def get_doubled(values):\n    while next_case():\n        pass",
    "takes the next": "def get_doubled(values):\n    try:\n        next_case()\n"
    "    except ValueError:\n        pass\n    return []",
    "ends the loop": "def get_doubled(values):\n    global run_cases\n    run_cases = None",
    "does not exist": "def get_tripled(values): return values",
    "takes too much": "def get_doubled(values, more): return values",
    "no Python": "def get_doubled(values) return values",
    "an import": f"import os\ndef get_doubled(values): return {RIGHT_ANSWER}",
    "looks up": "def get_doubled(values): return next_case.__self__.expected",
    "nothing": "",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_wrong_fails(name: str) -> None:
    verdict = judge(examine(PROBLEM, 0), HOSTILE[name], QUICK)
    assert not verdict.right
    assert verdict.passed < verdict.cases
    assert verdict.missed


def test_handing_in_is_judged_like_returning() -> None:
    """Results count by what they are; a candidate that runs the loop itself gains nothing."""
    own_loop = (
        "def get_doubled(values):\n"
        f"    found = {RIGHT_ANSWER}\n"
        "    hand_in(found, values)\n"
        "    while (case := next_case()) is not None:\n"
        "        hand_in([0], case[0])\n"
    )
    assert not judge(examine(PROBLEM, 0), own_loop).right


def test_a_call_cannot_reach_another_calls_arguments() -> None:
    keeps = (
        "def get_doubled(values, seen=[]):\n"
        f"    found = {RIGHT_ANSWER}\n"
        "    for earlier in seen:\n        earlier.append(7)\n"
        "    seen.append(values)\n    return found"
    )
    assert judge(examine(PROBLEM, 0), keeps).right


@pytest.mark.inside
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cases": (Case("[1, 2]", "[2, 5]"),)}, "the reference fails: case 1"),
        ({"reference": "def get_doubled(values): return [0.0] + 1 / 0"}, "ZeroDivisionError"),
        (
            {"reference": "def get_doubled(values):\n    while True:\n        pass"},
            "reference fails",
        ),
        ({"reference": "def get_doubled(values): return {1, 2}"}, "a value of type 'set'"),
        ({"reference": "def get_doubled(values): yield 1"}, "generator"),
        ({"reference": "def get_doubled(values):\n    values.append(1)\n    return 0"}, "changed"),
        ({"cases": (Case("[1, 2], 3"),)}, "case 1 has 2 entries, not 1"),
        ({"cases": (Case("{1, 2}"),)}, "holds a value of type 'set'"),
        ({"cases": (Case("nowhere"),)}, "cannot be made"),
        ({"random": "def arguments(rng): return 5"}, "cannot be made"),
        ({"random": "def arguments(rng):\n    while True:\n        pass"}, "cannot be made"),
    ],
)
def test_a_problem_that_is_wrong_itself(
    changes: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.problems.judge.LIMITS", QUICK)
    with pytest.raises(ProblemError, match="problem 'get_doubled'") as caught:
        examine(problem(**{"cases": (Case("[1]"),), "random": "", **changes}), 0)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mutants": (Mutant("right", PROBLEM.reference),) * 4}, "mutant 'right' passes"),
        ({}, "1 mutants; give 4 or more"),
        (
            {"reference": "def get_doubled(values): return None", "cases": (Case("[]"),)},
            "returns nothing passes",
        ),
    ],
)
def test_what_the_check_of_problems_finds(changes: dict[str, Any], words: str) -> None:
    faults = check_problem(problem(**changes), seeds=[0]).faults
    assert any(words in fault for fault in faults)


# --- seeds


def cases(which: Problem, seed: int) -> list[Any]:
    return list(examine.__wrapped__(which, seed).cases)


def test_inputs_come_from_the_seed_alone() -> None:
    first = cases(PROBLEM, 3)
    np.random.seed(1)
    assert cases(PROBLEM, 3) == first
    assert cases(PROBLEM, 4) != first
    assert cases(PROBLEM, 4)[:3] == first[:3]  # the fixed ones


# --- functions that are given

GIVEN = problem(
    header="def get_sum_of(name):",
    result="total",
    reference="def get_sum_of(name): return sum(get_numbers(name))",
    given="def get_numbers(name):\n    if name not in scene:\n"
    "        raise NotFound('no ' + name)\n    return scene[name]",
    cases=(Case("{'a': [1, 2], 'b': [5]}, 'a'", "3"), Case("{'a': [7]}, 'a'", "7")),
    random="",
)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (GIVEN.reference, ""),
        ("def get_sum_of(name):\n    get_numbers(name).append(9)\n"
         "    return sum(get_numbers(name=name))", ""),
        ("def get_sum_of(name): return sum(get_numbers('c'))", "NotFound"),
        ("def get_sum_of(name):\n    try:\n        get_numbers('c')\n"
         "    except NotFound:\n        return sum(get_numbers(name))", ""),
        ("def get_sum_of(name): return sum(scene[name])", "'scene' is not defined"),
        ("def get_sum_of(name): return sum(get_numbers())", "TypeError"),
        ("def get_numbers(name): return [3]\ndef get_sum_of(name): return 3", "get_numbers"),
        ("def get_sum_of(name): return 3", "case 2"),
    ],
)  # fmt: skip
def test_given_functions_answer_from_the_cases_scene(source: str, words: str) -> None:
    missed = judge(examine(GIVEN, 0), source).missed
    assert words in missed
    assert bool(missed) == bool(words)
