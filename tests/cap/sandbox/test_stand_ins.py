"""What programs find in place of parts of the library that make classes by data."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import re
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from cap.checker.policy import Policy
from cap.program.private_names import hidden, rename
from cap.sandbox.worker import (
    abstract,
    dispatch,
    enumerations,
    hints,
    namespace,
    records,
    stand_ins,
    streams,
)
from cap.sandbox.worker.builtin_function import BuiltinFunction
from cap.sandbox.worker.enumerations import ENUM
from cap.sandbox.worker.hints import TYPING, Hint
from cap.sandbox.worker.records import DATACLASSES
from cap.sandbox.worker.stand_ins import FUNCTOOLS
from tests.reach import handed_in

ENUMERATIONS = """
class E(Enum):
    A = 1
    B = auto()
    C = 1
    def double(self): return 2 * self.value
class N(IntEnum):
    X = 3
    Y = auto()
class F(Flag):
    R = auto()
    W = auto()
    RW = R | W
class I(IntFlag):
    R = 4
    W = 2
class S(StrEnum):
    P = auto()
    Q = "q"
class Planet(Enum):
    EARTH = (1, 2)
    def __init__(self, mass, radius): self.mass, self.radius = mass, radius
class Text(str, Enum):
    A = "a"
class Lenient(Enum):
    A = 1
    @classmethod
    def _missing_(cls, value): return cls.A
G, H = Enum("G", "a b, c"), IntEnum("H", ["x", "y"])
J, K = Enum("J", {"k": 5}), Enum("K", [("k", 5), ("l", 6)], start=3)
"""
SAID = """
list(E) | E(1) | E["B"].name | E.C is E.A | N.X + 1 | list(N) | f"{N.X} {E.A} {S.P} {F.R} {I.R}"
repr(F.RW) | F.R | F.W | I.R | I.W | I(6) | S.Q.upper() | Planet.EARTH.mass | str(N.X) | repr(N.X)
repr(I.R) | repr(S.P) | [m for m in F] | F(3) | ~F.R | F.R in F.RW | issubclass(IntEnum, Enum)
isinstance(N.X, Enum) | issubclass(E, Flag) | Text.A == "a" | len(E) | f"{Text.A}" | E.A.double()
repr(E) | repr(Enum) | list(G) | G.b.value | G(2) | list(H) | J.k | list(K) | E(9) | E["Z"] | E.Z
setattr(E, "A", 3) | type("E2", (E,), {}) | Lenient(7) | unique(E) | E.A.value | E.A._value_
"""


def answers(names: Mapping[str, Any], defined: str, asked: str) -> list[str]:
    space = {**names, "__name__": "__main__"}
    exec(defined, space)
    found = []
    for line in asked.strip().splitlines():
        for text in line.split(" | "):
            try:
                found.append(f"{text}: {eval(text, space)!r}")
            except Exception as error:
                found.append(f"{text}: {type(error).__name__}: {error}")
    return found


def test_an_enumeration_is_what_python_makes_of_it() -> None:
    assert answers(ENUM, ENUMERATIONS, SAID) == answers(vars(enum), ENUMERATIONS, SAID)


@pytest.mark.parametrize(
    "names",
    [["__call__"], {"__array_interface__": 1}, [("_x", 1)], "a __class__", ["a b"], [3], 3],
)
def test_no_data_gives_it_a_name_that_a_program_could_not_write(names: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        ENUM["Enum"]("E", names)


HINTS = """
List | List[int] | Dict[str, List[int]] | Optional[int] | Optional["A"] | Union[int, str]
Union[int, None] | Union[int, Union[str, int]] | Union[int] | Tuple[int, ...] | Any
Callable[[int], str] | Callable | List["().__class__"] | Literal["a", 1] | Sequence | Iterable[str]
List[int] == List[int] | List[int] == List[str] | hash(List[int]) == hash(List[int])
isinstance([], List) | isinstance((), Sequence) | isinstance(3, Optional[int]) | isinstance(1, Dict)
isinstance([], List[int]) | isinstance(3, Any) | issubclass(list, Sequence)
List() | Dict(a=1) | Deque([1])
Any() | Sequence() | cast("List[int]", 3) | Type[int] | ClassVar[int] | Text
"""


def test_a_hint_is_what_python_makes_of_it() -> None:
    ours, theirs = answers(TYPING, "", HINTS), answers(vars(typing), "", HINTS)
    for mine, its in zip(ours, theirs, strict=True):
        kind = its.split(": ")[1]
        assert mine == its or (kind == "TypeError" and mine.split(": ")[1] == kind)


def test_a_text_in_a_hint_is_kept_and_never_compiled() -> None:
    assert repr(TYPING["List"]["1 +"]) == "typing.List[ForwardRef('1 +')]"
    with pytest.raises(SyntaxError):
        vars(typing)["List"]["1 +"]


def test_no_hint_is_typings_own() -> None:
    assert not [n for n, hint in TYPING.items() if type(hint) in vars(typing).values()]
    assert not hasattr(Hint("List", list), "__dict__")


def test_a_class_may_be_generic_and_below_a_hint() -> None:
    source = (
        "T = TypeVar('T')\nclass Stack(Generic[T]):\n    def top(self): return 1\n"
        "class Mine(List[int]): pass\nclass Row(NamedTuple):\n    a: int\n    b: int = 2\n"
        "P = NamedTuple('P', [('x', int)])"
    )
    asked = (
        "Stack[int]().top() | Mine([1]) | issubclass(Mine, list) | Row(1) | Row(1)._replace(a=3)"
    )
    asked += " | Row._fields | P(x=1) | T"
    plain = answers(TYPING, source, asked.replace("._", ".__getattribute__ and Row(1)._"))
    assert plain[0] == "Stack[int]().top(): 1"
    assert answers(TYPING, source, asked) == answers(vars(typing), source, asked)


def test_a_field_cannot_be_renamed() -> None:
    held = DATACLASSES["field"](default=1)

    @DATACLASSES["dataclass"]
    class Record:
        __module__ = "__main__"
        x: int = held

    for name in ("__class__", "_geom", "data", 'a" + open("b") #', 3):
        for entry in (held, DATACLASSES["fields"](Record)[0]):
            with pytest.raises(ValueError, match="a field cannot"):
                entry.name = name
    held.name = DATACLASSES["fields"](Record)[0].name = "y"
    assert DATACLASSES["asdict"](Record()) == {"x": 1}
    assert dataclasses.is_dataclass(Record)


@pytest.mark.parametrize("hint", [TYPING["ClassVar"], TYPING["ClassVar"][int], "ClassVar[int]"])
def test_what_is_of_the_class_is_no_field(hint: Any) -> None:
    space = {"__annotations__": {"x": int, "n": hint}, "x": 1, "n": 0, "__module__": "__main__"}
    kind = type("A", (), space)
    fields = DATACLASSES["fields"](DATACLASSES["dataclass"](kind))
    assert [field.name for field in fields] == ["x"]


def test_private_fields_have_the_names_their_program_gave_them() -> None:
    make = DATACLASSES["dataclass"](kw_only=True)
    notes = {hidden("_x"): int, "y": int}
    kind = make(type("A", (), {"__annotations__": notes, "y": 2, "__module__": "__main__"}))
    record = kind(_x=1)
    assert repr(record).endswith("A(_x=1, y=2)")
    assert DATACLASSES["asdict"](record) == {"_x": 1, "y": 2}
    assert DATACLASSES["asdict"](DATACLASSES["replace"](record, _x=3)) == {"_x": 3, "y": 2}
    assert [field.name for field in DATACLASSES["fields"](record)] == ["_x", "y"]
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: '_x'"):
        kind()


def test_a_cached_property_keeps_its_name() -> None:
    made = []

    class Thing:
        @FUNCTOOLS["cached_property"]
        def x(self) -> int:
            made.append(1)
            return 3

    thing = Thing()
    assert [thing.x, thing.x, made] == [3, 3, [1]]
    with pytest.raises(AttributeError):
        Thing.x.attrname = "__array_interface__"
    assert hasattr(functools.cached_property(len), "attrname")


OURS = {
    name
    for module in (abstract, dispatch, enumerations, hints, namespace, records, stand_ins, streams)
    for name, value in vars(module).items()
    if name.startswith("_") and getattr(value, "__module__", "").startswith("cap.")
}
WORDS = [
    *OURS,
    "_AbstractKind",
    "_Kind",
    "_Type",
    "Facade",
    "BuiltinFunction",
    "Hint",
    "Rows",
    "stand_ins",
]
INTERNALS = re.compile(rf"cap\.sandbox|\b({'|'.join(WORDS)})\b")
SHOWN = """
repr(print) | repr(getattr) | repr(math) | repr(np.random) | repr(type(np)) | repr(type(print))
repr(type) | repr(type(type)) | type.__name__ | repr(type(int)) | getattr() | hasattr(1)
setattr(1) | print(sep=1) | type() | type(1, 2, 3) | np.nothing | math.nothing | repr(np.r_)
np.random.nothing | np() | math[1]
"""


def texts_of(value: Any) -> Iterator[str]:
    """Yield what a program can have an object say of itself, and of wrong uses of it."""
    kind = namespace.kind_of(value)
    yield from (repr(value), str(value), repr(kind), str(getattr(kind, "__name__", "")))
    yield from (str(getattr(value, name, "")) for name in ("__name__", "__qualname__"))
    for call in (
        lambda: value(),
        lambda: value(*range(7)),
        lambda: value.nothing,
        lambda: value[9],
    ):
        try:
            yield repr(call())
        except BaseException as error:
            yield str(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("policy", [Policy(), Policy.benchmark()], ids=lambda policy: policy.name)
def test_nothing_handed_in_shows_what_stands_behind_it(policy: Policy) -> None:
    given = handed_in(policy)
    for name, value in {**given}.items():
        if isinstance(value, namespace.Facade):
            given |= {f"{name}.{entry}": inner for entry, inner in vars(value).items()}
    told = {
        f"{name}: {text}"
        for name, value in given.items()
        if not name.endswith((".exit", ".seed"))
        for text in texts_of(value)
        if INTERNALS.search(text)
    }
    assert told == set()


def test_a_repr_of_a_builtin_is_what_python_shows() -> None:
    space = {**namespace.library(), **namespace.safe_builtins(print)}
    shown = answers(space, "", SHOWN)
    assert [line for line in shown if INTERNALS.search(line)] == []
    assert shown[0] == "repr(print): '<built-in function print>'"
    assert "repr(type): \"<class 'type'>\"" in shown


def run(source: str) -> dict[str, Any]:
    """Run a source among the names of a program."""
    space = {"__builtins__": namespace.safe_builtins(print), "__name__": "__main__"}
    exec(compile(source, "<program>", "exec", dont_inherit=True), space)
    return space


WRAPPED = """
from functools import wraps
def f(v: int):
    "Says."
    return v
f.calls = 3
@wraps(f)
def g(*given): return f(*given)
said = g.__name__, g.__doc__, g.calls, g(2)
@wraps(len)
def h(v): return 1
"""


def test_wraps_copies_what_a_function_says_of_itself() -> None:
    space = run(WRAPPED)
    assert space["said"] == ("f", "Says.", 3, 2)
    assert (space["h"].__name__, space["h"].__doc__) == ("len", len.__doc__)
    assert (space["h"].__module__, space["g"].__annotations__) == ("__main__", {"v": int})


@pytest.mark.parametrize("wrapper", [ValueError("a"), type("A", (), {}), functools.reduce, run])
def test_wraps_changes_nothing_but_functions_of_the_program(wrapper: Any) -> None:
    with pytest.raises(TypeError, match="a function of the program's own"):
        FUNCTOOLS["wraps"](len)(wrapper)


def test_a_builtin_stays_what_it_is() -> None:
    function = BuiltinFunction("print", print)
    with pytest.raises(AttributeError, match="'print' is provided"):
        FUNCTOOLS["cached_property"].__init__(function, len)
    assert function._function is print


@pytest.mark.parametrize("name", ['a"', "a b", ""])
def test_no_field_has_a_name_that_is_none(name: str) -> None:
    kind = type("A", (), {"__annotations__": {name: int}, "__module__": "__main__"})
    with pytest.raises(TypeError, match="cannot have a field by that name"):
        DATACLASSES["dataclass"](kind)


def test_the_flags_of_a_field_run_no_code_of_the_program() -> None:
    source = (
        "from dataclasses import dataclass, field\n"
        "class Flag:\n    def __bool__(self): return True\n"
        "@dataclass\nclass C:\n    x: int = field(default=2, repr=Flag())\n"
    )
    with pytest.raises(TypeError, match="'repr' of the field 'x' is neither True nor False"):
        run(source)


MATCHED = """
from abc import ABC, ABCMeta
from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple
T = namedtuple("T", ["data", "format", "plain"])
class N(NamedTuple):
    data: int
    format: int
    plain: int
@dataclass
class D(metaclass=ABCMeta):
    data: int
    format: int
    plain: int
said = []
for kind in (T, N, D):
    match kind(1, 2, 3):
        case T(a, b, c) | N(a, b, c) | D(a, b, c): said.append((a, b, c))
"""


def test_patterns_take_fields_that_have_other_names() -> None:
    tree = ast.parse(MATCHED)
    rename(tree)
    space = {"__builtins__": namespace.safe_builtins(print), "__name__": "__main__"}
    exec(compile(tree, "<program>", "exec", dont_inherit=True), space)
    assert space["said"] == [(1, 2, 3)] * 3
    assert type(space["D"]).__name__ == "ABCMeta"
