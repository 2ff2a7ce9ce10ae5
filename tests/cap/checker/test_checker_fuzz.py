"""The check under random and hostile sources: it never raises, runs nothing, passes no poison."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from cap.checker.allowlist import BENCHMARK_MODULES, module_names
from cap.checker.attributes import class_attributes
from hypothesis import given, settings
from hypothesis import strategies as st

from cap.checker.checker import Policy, check
from cap.errors import CheckFailed
from cap.program.program import MAX_SOURCE_CHARS, Program, ProgramSyntaxError
from cap.sandbox.sandbox import Sandbox
from tests.corpus.attacks import ATTACKS
from tests.corpus.harmless import HARMLESS
from tests.fakes.audit import listening

FIXED = settings(max_examples=150, derandomize=True, database=None, deadline=None)
RESERVED = frozenset({"pick", "look", "robot"})
SHORT = 2000
"""Characters of the longest source that is worth taking apart."""


def parsed(sources: list[str]) -> list[ast.Module]:
    found = []
    for source in sources:
        try:
            found.append(Program.parse(source).tree)
        except ProgramSyntaxError:
            continue
    return found


GOOD = parsed([source for source, _ in HARMLESS.values()])
BAD = parsed([attack.source for attack in ATTACKS if len(attack.source) < SHORT])
NODES = [node for tree in [*GOOD, *BAD] for node in ast.walk(tree)]
EXPRESSIONS = [node for node in NODES if isinstance(node, ast.expr)]
STATEMENTS = [node for node in NODES if isinstance(node, ast.stmt)]

# --- nothing is ever executed

_ACTS = ("exec", "open", "import", "os.", "socket.", "subprocess.", "ctypes.", "pickle.")


@contextmanager
def watched() -> Iterator[list[str]]:
    """Collect what the interpreter is made to do."""
    acts: list[str] = []
    with listening(lambda event, _: acts.append(event) if event.startswith(_ACTS) else None):
        yield acts


def test_the_watch_sees_what_is_executed() -> None:
    with watched() as acts:
        exec("import os")
    assert "exec" in acts


@pytest.mark.parametrize("policy", [Policy(), Policy.benchmark()], ids=lambda policy: policy.name)
def test_a_check_executes_nothing(policy: Policy) -> None:
    for module in BENCHMARK_MODULES:  # numpy loads some of its own modules late
        module_names(module)
    class_attributes("Point")  # shapely is loaded when it is first asked for
    with watched() as acts:
        found = [check(tree, policy, RESERVED) for tree in [*GOOD, *BAD]]
    assert acts == []
    assert sum(map(bool, found)) > len(BAD) / 2


# --- it never raises

WORDS = """
x f np math robot pick self _ __class__ __init__ _x eval type super gi_frame data def class return
yield lambda for in if else while try except finally with as import from global nonlocal match case
del async await raise assert not is and or . , : ; = := ( ) [ ] { } * ** @ + - -> | < == ... 1 0x1
1j 'a' f'{x}' b'a' \\ '{0.a}' f'{x!r:{y}}' \u0437 \uff3f \0 \ud800
"""
TOKENS = st.sampled_from([*WORDS.split(), "\n", "\n    ", "\n        "])


@FIXED
@given(st.lists(TOKENS, max_size=30))
def test_token_soup_is_refused_or_checked(tokens: list[str]) -> None:
    try:
        program = Program.parse(" ".join(tokens))
    except CheckFailed:
        return
    for violation in check(program, None, RESERVED):
        assert violation.line >= 1


@FIXED
@given(st.one_of(st.text(max_size=60), st.binary(max_size=60)))
def test_any_text_or_bytes_is_refused_or_checked(source: str | bytes) -> None:
    try:
        program = Program.parse(source)
    except CheckFailed:
        return
    check(program, None, RESERVED)


@FIXED
@given(st.randoms(use_true_random=False), st.sampled_from(STATEMENTS), st.integers(1, 6))
def test_a_tree_no_parser_made_is_checked(random: Any, statement: ast.stmt, swaps: int) -> None:
    tree = _copy(ast.Module([statement], []))
    for _ in range(swaps):
        owner = random.choice([node for node in ast.walk(tree) if node._fields])
        name = random.choice(owner._fields)
        new: Any = _copy(random.choice(EXPRESSIONS if random.random() < 0.7 else STATEMENTS))
        old = getattr(owner, name, None)
        if isinstance(old, ast.AST):
            setattr(owner, name, new)
        elif isinstance(old, list) and old:
            old[random.randrange(len(old))] = new
    for policy in (Policy(), Policy.benchmark()):
        check(tree, policy, RESERVED)


# --- poison stays poison wherever it stands

POISONS = [
    "x.__base__",
    "(lambda: eval)()",
    "[open][0]",
    "__builtins__",
    "x.gi_frame",
    "f'{x.__globals__}'",
    "'{0.__dict__}'.format(x)",
    "np.load('a')",
    "type('A', (), {})",
    "(pick := 1)",
    "x.tofile",
    "exec",
]


@FIXED
@given(
    st.sampled_from(GOOD),
    st.sampled_from(POISONS),
    st.integers(min_value=0, max_value=10**6),
)
def test_a_poisoned_expression_is_found_anywhere(tree: ast.Module, poison: str, at: int) -> None:
    grafted = _copy(tree)
    places = list(_places(grafted))
    if not places:
        return
    owner, name, index = places[at % len(places)]
    new = ast.parse(poison, mode="eval").body
    if index is None:
        setattr(owner, name, new)
    else:
        getattr(owner, name)[index] = new
    assert check(tree, None, RESERVED) == [] or "import" in ast.unparse(tree)
    assert check(grafted, None, RESERVED) != []


def _places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield every place of an expression that is read, not bound."""
    for owner in ast.walk(tree):
        for name, value in ast.iter_fields(owner):
            if _is_read(value):
                yield owner, name, None
            for index, entry in enumerate(value if isinstance(value, list) else []):
                if _is_read(entry):
                    yield owner, name, index


def _is_read(node: object) -> bool:
    return isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _copy(node: Any) -> Any:
    """Return a deep copy; much quicker than `copy.deepcopy`."""
    if isinstance(node, list):
        return [_copy(entry) for entry in node]
    if not isinstance(node, ast.AST):
        return node
    new = type(node)(**{name: _copy(value) for name, value in ast.iter_fields(node)})
    return ast.copy_location(new, node)


# --- hostile sources, through the front door

HOSTILE: dict[str, Any] = {
    "null bytes": "x = 1\0",
    "null bytes as bytes": b"x = 1\0",
    "a megabyte of brackets": "[" * 10**6,
    "a megabyte of closed brackets": "[" * 500_000 + "]" * 500_000,
    "as many brackets as may be": "(" * MAX_SOURCE_CHARS,
    "invalid UTF-8": b"x = '\xff\xfe'",
    "cut UTF-8": "x = 'é'".encode()[:-2],
    "UTF-16": "x = 1".encode("utf-16"),
    "ten megabytes": "x = 1\n" * 1_700_000,
    "ten megabytes of bytes": b"x = 1\n" * 1_700_000,
    "ten megabytes of one name": "x" * 10_000_000,
    "surrogates": "x = '\ud800'",
    "not text": 42,
    "nothing": None,
    "a list": ["x = 1"],
    "minus signs": "x = " + "-" * 60_000 + "1",
    "attributes": "x" + ".a" * 30_000,
    "calls": "f" + "()" * 30_000,
    "a long sum": "x = " + "1+" * 30_000 + "1",
    "lambdas": "x = " + "lambda:" * 9_000 + "1",
    "comparisons": "x = " + "1<" * 30_000 + "1",
    "decorators": "@f\n" * 20_000 + "def g(): pass",
    "conditions": "if x: pass\n" + "elif x: pass\n" * 4_500,
    "indentation": "".join(" " * n + "if x:\n" for n in range(120)) + " " * 120 + "x",
    "many small statements": "x=1\n" * 16_000,
    "digits": "x = " + "9" * 60_000,
    "a long name": "open" + "._" + "x" * 60_000,
    "an open text": "x = '''" + "a" * 60_000,
    "f-strings in f-strings": "x = " + "f'{" * 10_000,
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


@pytest.mark.sweep(share=0.34)
@pytest.mark.timeout(20)
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_source_is_a_typed_failure_in_no_time(sandbox: Sandbox, source: Any) -> None:
    begin_s = time.process_time()
    failure = sandbox.run(source).failure
    assert time.process_time() - begin_s < 1  # the processor's, so that a busy machine is no fault
    assert failure is not None
    assert failure.kind in ("syntax", "violation")
    assert 0 < len(failure.message) < 500
    assert sandbox.run(b"ret = 1", "ret").value == 1


@pytest.mark.parametrize("kind", [ast.Import, ast.ImportFrom])
def test_an_import_of_what_is_no_name_is_refused(kind: Any) -> None:
    node = kind(names=[ast.Constant(1)], lineno=1, col_offset=0)
    for policy in (Policy(), Policy.benchmark()):
        assert check(ast.Module([node], []), policy, RESERVED)
