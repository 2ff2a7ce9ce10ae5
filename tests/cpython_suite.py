"""CPython's own tests in the sandbox: `python -m tests.cpython_suite [--seed N] [--count N]`.

Draws methods of the test suite of the Python that runs this, from the files that test language,
builtins, containers and a few modules of pure computation. Each method is run by `unittest` twice,
with the same text: in a worker of the sandbox, under the policy that HumanEval's answers have, and
in a new process of this Python. Both outcomes are compared: what passed, was skipped, or which
exceptions it ended with. Methods that need files, processes, threads, sockets or the interpreter's
internals are left out before the draw.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.humaneval.judge import POLICY
from cap.program.scope import Scope
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox

SUITE = Path(sysconfig.get_path("stdlib"), "test")
FILES = """
abc augassign binop bisect bool builtin bytes class cmath collections compare complex contains copy
dataclasses decorators defaultdict deque descr dict dictcomps enum enumerate except_star
exception_group exceptions extcall float format fractions fstring functools generators genericalias
grammar heapq int iter itertools keywordonlyarg list listcomps long math named_expressions opcodes
operator ordered_dict patma positional_only_arg pow property raise range re scope set setcomps
slice statistics string string_literals super syntax tuple types typing unicode unpack_ex userdict
userlist with"""
NEEDS = {
    "files": r"\bopen\(|\bos\.|os_helper|TESTFN|tempfile|__file__|FakePath|tofile|fromfile",
    "processes": r"subprocess|script_helper|assert_python|fork|spawn_python|multiprocessing",
    "threads": r"thread|Barrier|asyncio|async def",
    "sockets": r"socket|urllib",
    "internals": r"_testcapi|_testinternalcapi|cpython_only|refcount|sizeof|check_free_after|"
    r"\bgc\b|gc_collect|settrace|setprofile|\bdis\b|_getframe|bigmem|bigaddrspace|tracemalloc|"
    r"import_helper|import_fresh|\bctypes\b|recursionlimit|infinite_recursion|__builtins__|<locals>",
}
"""What a method needs that its text names so, or that of the decorators above it."""
MESSAGE_CHARS = 160
WALLS = {
    r"(?:No module named|import of module) '([^']+)'": "import of {}",
    r"PermissionError|FileNotFoundError|not permitted|denied": "the kernel's layers",
    r"can't start new thread": "no threads",
    r"MemoryError": "limit of memory",
    r"TimeLimit": "limit of time",
}
"""What an outcome says that a rule of the sandbox made, and the rule."""

DRAW = """
import contextlib, importlib, inspect, json, sys, unittest
found = []
def cases(suite):
    for entry in suite:
        yield from cases(entry) if isinstance(entry, unittest.TestSuite) else [entry]
for name in sys.argv[1:]:
    module = importlib.import_module("test.test_" + name)
    for case in cases(unittest.TestLoader().loadTestsFromModule(module)):
        kind, method = type(case), getattr(case, "_testMethodName", "")
        if kind.__module__ != module.__name__:
            continue  # doctests, and a file that cannot be loaded
        with contextlib.suppress(OSError, TypeError):
            text = inspect.getsource(inspect.unwrap(getattr(kind, method)))
            found.append([module.__name__, kind.__qualname__, method, text])
json.dump(found, sys.stdout)
"""
PROGRAM = """
import builtins, random, sys, types, unittest
from functools import partial
SOURCES, FILE, KIND, METHOD = {given}
own = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
random.seed(0)

def module(name):
    if name not in sys.modules:
        made = sys.modules[name] = types.ModuleType(name)
        made.__package__, made.__file__ = name.rpartition(".")[0], "/" + name + ".py"
        if any(other.startswith(name + ".") for other in SOURCES):
            made.__package__, made.__path__ = name, []
        made.__builtins__ = {{**own, "__import__": find}}
        if name.startswith("test.support"):  # no part of what is tested
            made.__builtins__["__import__"] = partial(find, other=builtins.__import__)
        outer, _, last = name.rpartition(".")
        outer and setattr(module(outer), last, made)
        exec(compile(SOURCES[name], "<" + name + ">", "exec", dont_inherit=True), vars(made))
        if name == "test.support.import_helper":  # a worker loads nothing again: take what is there
            made.import_fresh_module = lambda name, *_, **__: find(name, fromlist=["_"])
    return sys.modules[name]

def find(name, globals=None, locals=None, fromlist=(), level=0, other=own["__import__"]):
    if level and globals.get("__package__") in SOURCES:
        name, level = (globals["__package__"] + "." + name).rstrip("."), 0
    if name not in SOURCES:
        try:
            return other(name, globals, locals, fromlist, level)
        except ModuleNotFoundError:
            if not loading or name == "_testcapi":
                raise
            return Unlisted(name)  # only the methods that use it fail
    found = module(name)
    for part in fromlist or ():
        if name + "." + part in SOURCES:
            module(name + "." + part)
    return found if fromlist else module(name.partition(".")[0])
class Unlisted(types.ModuleType):
    def __getattr__(self, name):
        raise ModuleNotFoundError("No module named '" + self.__name__ + "'")
def note(kind, what):
    seen.append(kind + ": " + " ".join(str(what).split())[:{chars}])
class Outcome(unittest.TestResult):
    addError = addFailure = lambda self, test, error: note(error[0].__name__, error[1])
    addSubTest = lambda self, test, subtest, error: error and note(error[0].__name__, error[1])
    addSkip = lambda self, test, reason: note("skipped", reason)
    addExpectedFailure = lambda self, test, error: note("expected failure", "")
    addUnexpectedSuccess = lambda self, test: note("unexpected success", "")

seen, loading = [], True
try:
    case, loading = module(FILE), False
    for part in KIND.split("."):
        case = getattr(case, part)
    unittest.TestSuite([case(METHOD)]).run(Outcome())
except BaseException as error:
    note("before the method", type(error).__name__ + ": " + str(error))
outcome = sorted(set(seen)) or ["passed"]
"""


class Method(NamedTuple):
    """A test method of the suite."""

    module: str
    kind: str
    name: str
    text: str

    def need(self) -> str:
        """Return what it needs that a program has not, or ""."""
        text = f"{self.kind}\n{self.text}"
        return next((what for what, words in NEEDS.items() if re.search(words, text)), "")

    def program(self, helpers: Mapping[str, str]) -> str:
        """Return the program that runs it and leaves `outcome`."""
        given = used(self.module, helpers), self.module, self.kind, self.name
        return PROGRAM.format(given=repr(given), chars=MESSAGE_CHARS)


def sources() -> dict[str, str]:
    """Return the text of every module of the suite that test files use or are, by its name."""
    found = {}
    for pattern in ("*.py", "support/*.py", "typinganndata/*.py", "test_dataclasses/*.py"):
        for path in SUITE.glob(pattern):
            parts = path.relative_to(SUITE.parent).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            found[name] = path.read_text(encoding="utf-8", errors="replace")
    # It writes a file when it is loaded; the methods that need it are left out.
    found["test.support.os_helper"] = "def __getattr__(name): return None\n"
    return found


def used(module: str, helpers: Mapping[str, str]) -> dict[str, str]:
    """Return a module and those of the suite that its text names, and so on, with their texts."""
    names = [module, "test", "test.support"]
    for name in names:  # grows meanwhile
        words = set(re.findall(r"\w+", helpers[name]))
        for other in helpers:
            last = other.rpartition(".")[2]
            if other not in names and last in words and not last.startswith("test_"):
                names.append(other)
    return {name: helpers[name] for name in names}


def plain(program: str) -> list[str]:
    """Return the outcome in a new process of this Python."""
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-"],
        input=program + "import json\nsys.__stderr__.write('\\n' + json.dumps(outcome))\n",
        env={"PYTHONHASHSEED": "0"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return [f"died: {done.stderr[-MESSAGE_CHARS:]}"]
    return list(json.loads(done.stderr.rpartition("\n")[2]))


def kinds(outcome: list[str]) -> list[str]:
    """Return an outcome without messages, which name addresses and such."""
    return sorted({line.partition(":")[0] for line in outcome})


def rule(outcome: list[str]) -> str:
    """Return the rule of the sandbox that an outcome names, or ""."""
    for words, name in WALLS.items():
        if found := re.search(words, " ".join(outcome)):
            return name.format(*found.groups())
    return ""


def main() -> None:
    """Draw, run and compare; print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    given = parser.parse_args()
    if not SUITE.is_dir():
        raise SystemExit(f"this Python came without its tests, which belong in {SUITE}")
    command = [sys.executable, "-I", "-W", "ignore", "-c", DRAW, *FILES.split()]
    methods = [Method(*entry) for entry in json.loads(subprocess.check_output(command))]
    needs = Counter(method.need() for method in methods)
    fit = [method for method in methods if not method.need()]
    left_out = ", ".join(f"{what} {needs[what]}" for what in NEEDS)
    print(f"{len(methods)} methods, {len(methods) - len(fit)} left out ({left_out})", flush=True)
    helpers = sources()
    counts, both, rules = (Counter[str]() for _ in range(3))
    with Sandbox(limits=Limits(program_s=30.0, stdout_chars=10_000_000), policy=POLICY) as sandbox:
        print(f"Python {sys.version.split()[0]}, level {sandbox.level}, seed {given.seed}")
        for method in random.Random(given.seed).sample(fit, given.count):
            program = method.program(helpers)
            result = sandbox.execute(program, Scope(), returns="outcome")
            here = [str(result.failure)] if result.failure else list(result.value)
            there = plain(program)
            if kinds(here) == kinds(there):
                counts["same"] += 1
                both[", ".join(kinds(there))] += 1
                continue
            verdict = "refused" if rule(here) else "different"
            counts[verdict] += 1
            rules[rule(here)] += 1
            print(f"{verdict}: {method.module}.{method.kind}.{method.name}")
            print(f"    sandbox: {here}\n    CPython: {there}", flush=True)
    print(", ".join(f"{verdict} {counts[verdict]}" for verdict in ("same", "different", "refused")))
    for title, table in (("the same in both", both), ("refused by", rules)):
        print(f"{title}: {', '.join(f'{n} {k}' for k, n in table.most_common() if k) or 'nothing'}")


if __name__ == "__main__":
    main()
