"""Figures of the house: `make figures`, or `python -m tests.figures`; `--list` names the places.

Everything is read from the syntax trees of `cap`, `robots` and `benchmarks`, but for the modules,
functions and frames one run passes, which are counted while `cap run ... --mode instant` runs a
second time in one process.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib.metadata
import io
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("cap", "robots", "benchmarks")
LONG_LINES = (60, 80)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """One file of a package."""

    path: Path
    """Relative to the checkout."""
    name: str
    """Dotted."""
    tree: ast.Module
    nodes: list[ast.AST]
    """All of the tree: to walk it takes longer than to count."""
    source: str

    @classmethod
    def of(cls, path: str, source: str) -> Module:
        """Parse one file of a package, its path relative to the checkout."""
        name = ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(source)
        return cls(Path(path), name, tree, list(ast.walk(tree)), source)

    @property
    def package(self) -> str:
        """`cap`, `robots` or `benchmarks`."""
        return self.name.split(".")[0]

    @property
    def entry(self) -> str:
        """The file or folder of its package that it belongs to."""
        return self.path.parts[1].removesuffix(".py")


@dataclass
class Arrows:
    """Imports between the entries of one package, each counted once."""

    eager: set[tuple[str, str]] = field(default_factory=set)
    """When the module loads."""
    lazy: set[tuple[str, str]] = field(default_factory=set)
    """Inside a function only."""
    typing: set[tuple[str, str]] = field(default_factory=set)
    """For the type checker only."""


def modules() -> list[Module]:
    """Read every module of the three packages; none of it is garbage, so none is searched for."""
    gc.disable()
    try:
        return [
            Module.of(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
            for package in PACKAGES
            for path in sorted((ROOT / package).rglob("*.py"))
        ]
    finally:
        gc.freeze()
        gc.enable()


def entries(found: list[Module], package: str) -> list[str]:
    """Return the files and folders of a package that hold code."""
    return sorted({module.entry for module in found if module.package == package})


def _imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Yield each import with when it happens: `eager`, `lazy` or `typing`."""
    ahead: list[tuple[ast.AST, str]] = [(tree, "eager")]
    while ahead:
        node, when = ahead.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, when
        if isinstance(node, Function):
            when = "lazy"
        elif isinstance(node, ast.If) and any(
            getattr(part, "id", None) == "TYPE_CHECKING" for part in ast.walk(node.test)
        ):
            when = "typing"
        ahead += [(child, when) for child in ast.iter_child_nodes(node)]


def arrows(found: list[Module], package: str) -> Arrows:
    """Return which entries of a package import which."""
    known = {module.name: module.entry for module in found if module.package == package}
    drawn = Arrows()
    for module in found:
        if module.package != package:
            continue
        for node, when in _imports(module.tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                target = known.get(name) or known.get(name.rpartition(".")[0])
                if target is not None and target != module.entry:
                    getattr(drawn, when).add((module.entry, target))
    drawn.lazy -= drawn.eager
    drawn.typing -= drawn.eager | drawn.lazy
    return drawn


def functions(found: list[Module]) -> Iterator[tuple[Module, Function, ast.ClassDef | None]]:
    """Yield every function with its module, and its class if it is a method."""
    for module in found:
        owners: dict[int, ast.ClassDef] = {}
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                owners.update({id(entry): node for entry in node.body})
        for node in module.nodes:
            if isinstance(node, Function):
                yield module, node, owners.get(id(node))


def _lines(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def long_functions(found: list[Module], lines: int) -> list[tuple[Module, Function]]:
    """Return the functions over so many lines."""
    return [(module, node) for module, node, _ in functions(found) if _lines(node) > lines]


def twice_named(found: list[Module]) -> dict[str, list[str]]:
    """Return the public class names that stand for several classes, with their files."""
    homes: dict[str, list[str]] = defaultdict(list)
    for module in found:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(module.path))
    return {name: files for name, files in sorted(homes.items()) if len(files) > 1}


@dataclass(frozen=True)
class Passed:
    """The own code that one instruction runs."""

    modules: list[str]
    """Files, relative to the checkout."""
    functions: int
    """Different functions with a name."""
    depth: int
    """Most of its frames on one stack."""


def passed() -> Passed:
    """Return what of `cap` and `robots` one instant run passes, when warm, but for `__main__`."""
    command = importlib.metadata.entry_points(group="console_scripts")["cap"].load()
    roots = tuple(str(ROOT / package) + "/" for package in ("cap", "robots"))
    codes: set[CodeType] = set()
    deepest = 0

    def own(code: CodeType) -> bool:
        return code.co_filename.startswith(roots) and not code.co_filename.endswith("__main__.py")

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal deepest
        if event != "call" or not own(frame.f_code):
            return
        codes.add(frame.f_code)
        depth, above = 0, frame
        while above is not None:
            depth += own(above.f_code)
            above = above.f_back  # type: ignore[assignment]
        deepest = max(deepest, depth)

    words = ["run", "put the red block in the blue bowl", "--mode", "instant"]
    arguments = sys.argv
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        for number in (1, 2):
            if number == 2:
                threading.setprofile(look)
                sys.setprofile(look)
            try:
                sys.argv = ["cap", *words, "--out", f"{folder}/{number}"]
                with contextlib.suppress(SystemExit):
                    command()
            finally:
                sys.setprofile(None)
                threading.setprofile(None)
                sys.argv = arguments
    files = {str(Path(code.co_filename).relative_to(ROOT)) for code in codes}
    named = [code for code in codes if not code.co_name.startswith("<")]
    return Passed(sorted(files), len(named), deepest)


def circles(found: list[Module]) -> dict[str, list[list[str]]]:
    """Return the files of each folder that import each other, at whatever time they do."""
    names = {module.name for module in found}
    imports: dict[str, set[str]] = {name: set() for name in names}
    for module in found:
        for node, _ in _imports(module.tree):
            if isinstance(node, ast.Import):
                asked = [alias.name for alias in node.names]
            else:
                asked = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in asked:
                target = name if name in names else name.rpartition(".")[0]
                package = module.name.rpartition(".")[0]
                if target in names and target.rpartition(".")[0] == package:
                    imports[module.name].add(target)

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        ahead = [*imports[name]]
        while ahead:
            if (one := ahead.pop()) not in seen:
                seen.add(one)
                ahead += imports[one]
        return seen

    after = {name: reached(name) for name in names}
    joined = {
        frozenset(other for other in after[name] if name in after[other])
        for name in names
        if name in after[name]
    }
    listed: dict[str, list[list[str]]] = defaultdict(list)
    for circle in joined:
        folder = min(circle).rpartition(".")[0].replace(".", "/")
        listed[folder].append(sorted(name.rpartition(".")[2] for name in circle))
    return {folder: sorted(listed[folder]) for folder in sorted(listed)}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name every place that is counted")
    given = parser.parse_args()
    found = modules()
    print(f"{'package':12} entries  modules  arrows: eager  lazy  typing")
    for package in PACKAGES:
        own = [module for module in found if module.package == package]
        drawn = arrows(found, package)
        print(
            f"{package:12} {len(entries(found, package)):7}  {len(own):7}"
            f"  {len(drawn.eager):13}  {len(drawn.lazy):4}"
            f"  {len(drawn.typing):6}"
        )
    for lines in LONG_LINES:
        print(f"functions over {lines} lines: {len(long_functions(found, lines))}")
    twice = twice_named(found)
    print(f"public class names borne twice: {len(twice)}")
    run = passed()
    print(
        f"of cap and robots one instant run passes {len(run.modules)} modules and {run.functions}"
        f" functions, {run.depth} frames deep"
    )
    for folder, some in circles(found).items():
        for files in some:
            print(f"files that import each other in {folder}: {', '.join(files)}")
    if given.list:
        places = [
            (str(m.path), n.lineno, f"{_lines(n)} lines: {n.name}")
            for m, n in long_functions(found, LONG_LINES[0])
        ]
        places += [(f, 0, f"class twice: {name}") for name, files in twice.items() for f in files]
        for path, line, what in sorted(set(places)):
            print(f"{path}:{line}: {what}")


if __name__ == "__main__":
    main()
