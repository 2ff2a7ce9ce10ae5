import inspect
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cap.checker.checker import Policy, Violation, examine
from cap.errors import CapError
from cap.program.program import Program
from cap.program.scope import Definition, Primitive, Scope
from tests.fakes.programs import programs
from tests.rows import rows

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


FAULTY = {
    "too few": ("get_pos()", "get_pos(name: str) -> list[float]: missing a required argument"),
    "too many": ("get_pos('a', 'b')", "too many positional arguments"),
    "a keyword in another's place": ("get_pos(nmae='a')", "; there is no 'nmae'. Did you mean"),
    "unknown keyword": ("get_pos(nmae='a')", "Did you mean 'name'?"),
    "keyword besides": ("get_pos('a', unit='m')", "unexpected keyword argument 'unit'"),
    "twice": ("get_pos('a', name='b')", "multiple values for argument 'name'"),
    "keyword only by position": ("place('a', [0, 0], 1)", "too many positional arguments"),
    "an LMP without words": ("ask()", "missing a required argument: 'description'"),
    "in a function": ("def f():\n    return get_pos()\nf()", "get_pos"),
    "in a lambda": ("sorted([], key=lambda x: get_pos())", "get_pos"),
    "in a comprehension": ("[get_pos(a, 1) for a in 'ab']", "get_pos"),
    "in an f-string": ("f'{get_pos()}'", "get_pos"),
    "as a keyword's value": ("ask('a', at=get_pos())", "get_pos"),
    "as a decorator": ("@get_pos()\ndef f(): pass", "get_pos"),
    "as a default": ("def f(a=get_pos()): pass", "get_pos"),
    "in a match": ("match get_pos():\n    case [1 | 2]: pass", "get_pos"),
    "in a guard": ("match 1:\n    case 1 if get_pos(): pass", "get_pos"),
    "in a handler": ("try:\n    pass\nexcept OSError:\n    get_pos()", "get_pos"),
    "one of a group": ("robot.get_pos()", "robot.get_pos(name: str)"),
    "the program's own": ("def f(a, *, unit): pass\nf(1, units=2)", "f(a, *, unit): missing"),
    "its own, defaults": ("def f(a, b=1): pass\nf(1, 2, 3)", "f(a, b=...): too many"),
    "before it is defined": ("def g(): return f()\ndef f(a): pass", "f(a): missing"),
    "its own recursion": ("def f(a):\n    return f()", "f(a): missing"),
    "a lambda of its own": ("f = lambda a: a\nf()", "f(a): missing"),
    "a kept definition": ("shift()", "shift(pt, by=...): missing"),
    "kept and redefined": ("def shift(pt, by): pass\nshift(1, 2, 3)", "too many"),
    "numpy": ("np.no_such([1])", "numpy has no 'no_such'"),
    "numpy in full": ("numpy.aray([1])", "Did you mean 'array'"),
    "a submodule": ("np.linalg.nrom([1])", "numpy.linalg has no 'nrom'"),
    "not called": ("f = math.cosinus", "math has no 'cosinus'"),
    "affinity": ("affinity.rotat(1)", "affinity has no 'rotat'"),
    "one not in the group": ("robot.plcae('a')", "robot has no 'plcae'"),
    "numpy in a function": ("def f(x):\n    return np.no_such(x)", "numpy"),
}


@rows(("source", "reason"), FAULTY.values(), ids=FAULTY)
def test_what_cannot_be_is_one_fault(source: str, reason: str) -> None:
    (fault,) = faults(source)
    assert reason in fault.reason
    assert "\n" not in fault.reason


SOUND = {
    "fits": "get_pos('a')\nget_pos(name='a')\nplace('a', at=[0], speed=2)\nask('a', b=1)",
    "stars": "get_pos(*names)\nget_pos(**more)\nget_pos(1, *names)\nget_pos(a=1, **more)",
    "rebound": "get_pos = len\nget_pos()",
    "a parameter": "def f(get_pos): return get_pos()",
    "a loop variable": "for get_pos in []: get_pos()",
    "an exception": "try:\n    pass\nexcept OSError as get_pos:\n    get_pos()",
    "a capture": "match 1:\n    case get_pos: get_pos()",
    "an import of something else": "from a import get_pos as get, b as get_pos\nget_pos()",
    "anything imported": "from a import *\nget_pos()",
    "defined twice": "def f(a): pass\ndef f(a, b): pass\nf(1)\nf(1, 2)",
    "defined in a branch": "if seen:\n    def f(a): pass\nelse:\n    def f(): pass\nf()",
    "defined and assigned": "def f(a): pass\nf = len\nf()",
    "decorated": "@d\ndef f(a): pass\nf()",
    "a class": "class A:\n    def __init__(self, a): pass\nA()",
    "a method of the name": "class A:\n    def f(self, a): pass\ndef f(): pass\nA().f(1)",
    "nested": "def g():\n    def f(a): pass\n    f(1)\ndef f(): pass\nf()",
    "a kept class": "Cup(1, 2)",
    "a kept decorated one": "wrapped()",
    "kept, bound again inside": "twice()",
    "kept and redefined, the old form": "shift(1)\ndef shift(a, b, c): pass\nshift(1, 2, 3)",
    "an unknown function": "f()",
    "a library function": "rotate()",
    "a method": "seen.get_pos()",
    "numpy": "np.array(np.linalg.norm([1]) * np.pi)\nnp.random.rand(2)\nmath.pi",
    "an array": "np.array([1]).no_such",
    "a property": "Point(0, 0).x\nPoint(0, 0).buffer(1).no_such",
    "a method of a class": "str.upper('a')\ndict.fromkeys('ab')\nPoint.buffer\nint.mro()",
    "a program's class": "class Point:\n    pass\nPoint().centre",
    "of a group": "robot.place('a', at=[0, 0])",
    "stored": "Point.centre = 1",
}


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
