import inspect
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cap.checker.checker import Policy, Violation, examine
from cap.errors import CapError
from cap.program.program import Program
from cap.program.scope import Definition, Primitive, Scope
from tests.fakes.programs import programs
from tests.rows import rows, table

FIXED = settings(max_examples=150, derandomize=True, database=None, deadline=None)


def get_pos(name: str) -> list[float]:
    return [0.0, 0.0]


def place(obj: str, at: list[float], *, speed: float = 1.0) -> None:
    pass


def ask(description: str, context: str = "", **given: Any) -> None:
    pass


SCOPE = Scope(
    primitives={f.__name__: Primitive.of(f, "action") for f in (get_pos, place, ask)},
    variables={"seen": 1},
    definitions=(
        Definition("shift", "def shift(pt, by=0):\n    return pt"),
        Definition("Cup", "class Cup:\n    pass"),
        Definition("wrapped", "@staticmethod\ndef wrapped(a): return a"),
        Definition("twice", "def twice(twice): return twice"),
    ),
    groups={"robot": ("get_pos", "place")},
)


def faults(source: str, scope: Scope = SCOPE) -> tuple[Violation, ...]:
    found = examine(Program.parse(source), scope).violations
    return tuple(entry for entry in found if entry.rule in ("CAP109", "CAP113"))


FAULTY = table(__file__, "FAULTY")


@rows(("source", "reason"), FAULTY.values(), ids=FAULTY)
def test_what_cannot_be_is_one_fault(source: str, reason: str) -> None:
    (fault,) = faults(source)
    assert reason in fault.reason
    assert "\n" not in fault.reason


SOUND = table(__file__, "SOUND")


@rows("source", SOUND.values(), ids=SOUND)
def test_what_may_be_is_no_fault(source: str) -> None:
    assert faults(source) == ()


def test_a_variable_may_have_the_name_of_a_library() -> None:
    scope = Scope(variables={"np": 1, "get_pos": 2})
    assert faults("np.no_such\nget_pos()", scope) == ()


def test_a_library_that_is_not_in_scope_is_not_looked_at() -> None:
    program = Program.parse("Point.centre")
    assert examine(program, policy=Policy(library=False)).violations == ()


def test_faults_come_in_order_of_line() -> None:
    found = faults("np.no_such\nget_pos()\nmath.foo\nget_pos(\n    1, 2)\n")
    assert [fault.line for fault in found] == [1, 2, 3, 4]


# --- against Python itself

NAMES = ("a", "b", "c", "d")


@st.composite
def parameters(draw: st.DrawFn) -> str:
    """Return a parameter list that Python accepts."""
    names = draw(st.permutations(NAMES))[: draw(st.integers(0, 4))]
    plain = draw(st.integers(0, len(names)))
    defaults = draw(st.integers(0, plain))
    parts = [
        f"{name}=0" if number >= plain - defaults else name
        for number, name in enumerate(names[:plain])
    ]
    if names[plain:]:
        parts.append(draw(st.sampled_from(["*", "*rest"])))
        parts += [name + draw(st.sampled_from(["", "=0"])) for name in names[plain:]]
    elif draw(st.booleans()):
        parts.append("*rest")
    return ", ".join(parts + ["**more"] * draw(st.booleans()))


@st.composite
def arguments(draw: st.DrawFn) -> str:
    keywords = draw(st.lists(st.sampled_from([*NAMES, "e", "rest"]), unique=True, max_size=4))
    return ", ".join(["1"] * draw(st.integers(0, 4)) + [f"{name}=1" for name in keywords])


def accepted(function: Any, given: str) -> bool:
    try:
        eval(f"function({given})", {"function": function})
    except TypeError:
        return False
    return True


def function_of(header: str) -> Any:
    space: dict[str, Any] = {}
    exec(f"def f({header}): pass", space)
    return space["f"]


@FIXED
@given(parameters(), arguments())
def test_a_call_of_the_programs_own_function_is_judged_as_python_does(
    header: str, given: str
) -> None:
    found = faults(f"def f({header}): pass\nf({given})\n", Scope())
    assert (not found) == accepted(function_of(header), given)


@FIXED
@given(parameters(), arguments())
def test_a_call_of_a_kept_function_is_judged_as_python_does(header: str, given: str) -> None:
    scope = Scope(definitions=[Definition("f", f"def f({header}): pass")])
    assert (not faults(f"f({given})\n", scope)) == accepted(function_of(header), given)


@FIXED
@given(parameters(), arguments())
def test_a_call_that_fits_a_primitive_is_no_fault(header: str, given: str) -> None:
    function = function_of(header)
    scope = Scope(primitives={"f": Primitive.of(function, "action")})
    fits = accepted(inspect.signature(function).bind, given)
    found = faults(f"f({given})\n", scope)
    assert not (found and fits)
    assert found or accepted(function, given)


WORDS = st.sampled_from(
    [
        *("def", "f", "(", ")", ":", "get_pos", "robot", "np", ".", "linalg", ",", "=", "1", "*"),
        *("**", "lambda", "x", "\n", "class", "A", "[", "]", "for", "in", "if", "while", "with"),
        *("as", "match", "case", "_", "{}", "@", "del", "global", "import", "from", "\n    "),
    ]
)


@settings(FIXED, max_examples=60, suppress_health_check=list(HealthCheck))
@given(programs())
def test_any_program_is_looked_at_without_a_crash(source: str) -> None:
    scope = Scope(
        primitives={name: Primitive.of(get_pos, "action") for name in "um"},
        definitions=[Definition("v", "def v(a): pass"), Definition("a", "def a(): pass")],
        groups={"p": ("m",), "b": ("m",)},
    )
    for fault in faults(source, scope):
        assert 1 <= fault.line <= source.count("\n")


@settings(FIXED, max_examples=400)
@given(st.lists(WORDS, max_size=14).map(" ".join))
def test_whatever_parses_is_looked_at_without_a_crash(source: str) -> None:
    try:
        program = Program.parse(source)
    except CapError:
        return
    examine(program, SCOPE)
