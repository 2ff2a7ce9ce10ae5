"""The house is as CONTRIBUTING draws it: every folder on the map, imports one way, names once."""

from __future__ import annotations

import ast
import re

import pytest

from tests import figures

PAGE = (figures.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = [re.findall(r"`([^`]+)`|\| ([^`|]+) \|", line) for line in PAGE.splitlines()]
MAP = re.findall(r"^\| `([\w./]+)` \| ([^|]+) \|$", PAGE, re.MULTILINE)
CHANGES = re.findall(r"^\| ([^|`]+(?:`run`)?) \| `([\w./]+)` \| `(\w+)` \|$", PAGE, re.MULTILINE)
ROAD = re.findall(r"-> (cap/[\w./]+)", PAGE)
MOST_ENTRIES = 19


@pytest.fixture(scope="module")
def modules() -> list[figures.Module]:
    return figures.modules()


def test_every_folder_is_on_the_map_and_nothing_else(modules: list[figures.Module]) -> None:
    folders = {f"{module.path.parent}/" for module in modules} - {"cap/", "robots/"}
    files = {str(m.path) for m in modules if m.path.parent.name == "cap"} - {"cap/__init__.py"}
    drawn = {path for path, _ in MAP} - {"prompts/", "tests/"}
    assert drawn == folders | files
    for path, words in MAP:
        assert (figures.ROOT / path).exists(), path
        assert 10 < len(words) < 130, path


def test_the_road_leads_over_files_that_are_there() -> None:
    assert len(ROAD) >= 12
    assert [path for path in ROAD if not (figures.ROOT / path).exists()] == []


def test_every_everyday_change_has_its_place() -> None:
    assert len(CHANGES) == 20
    for what, path, name in CHANGES:
        source = (figures.ROOT / path).read_text(encoding="utf-8")
        bound = {
            getattr(node, "name", None) or getattr(node, "id", None)
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        }
        assert name in bound, f"{what}: {path} binds no {name}"


def test_imports_between_the_entries_of_cap_run_one_way(modules: list[figures.Module]) -> None:
    """In the order of the map; imports inside functions and for types only count as well."""
    order = [path.removeprefix("cap/").rstrip("/") for path, _ in MAP if path.startswith("cap/")]
    order = [path.removesuffix(".py") for path in order if "/" not in path]
    places = {name: place for place, name in enumerate(order)}
    drawn = figures.arrows(modules, "cap")
    for importer, imported in drawn.eager | drawn.lazy | drawn.typing:
        if importer != "__init__":
            assert places[imported] < places[importer], f"{importer} imports {imported}"


def test_below_the_command_line_cap_knows_no_robot_and_no_benchmark(
    modules: list[figures.Module],
) -> None:
    for module in modules:
        if module.package == "cap" and module.entry != "cli":
            for node in module.nodes:
                name = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
                assert (name or "").split(".")[0] not in ("robots", "benchmarks"), module.name


def test_a_broad_except_says_why_it_is_broad(modules: list[figures.Module]) -> None:
    broad = re.compile(r"except (?:Base)?Exception\b|suppress\((?:Base)?Exception\b")
    for module in modules:
        if module.package == "cap":
            for number, line in enumerate(module.source.split("\n"), start=1):
                if broad.search(line) and not line.lstrip().startswith(('"', "#")):
                    assert "  # " in line, f"{module.path}:{number}: {line.strip()}"


def test_robots_know_little_of_cap(modules: list[figures.Module]) -> None:
    known = {
        "cap.errors",
        "cap.program.scope",
        "cap.robot.protocol",
        "cap.robot.view",
        "cap.files",
    }
    for module in modules:
        if module.package == "robots":
            for node in module.nodes:
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cap"):
                    assert node.module in known, module.name


def test_no_public_class_name_stands_for_two_classes(modules: list[figures.Module]) -> None:
    assert figures.twice_named(modules) == {}


def test_the_figures_stay_where_they_are(modules: list[figures.Module]) -> None:
    assert len(figures.entries(modules, "cap")) <= MOST_ENTRIES
    assert figures.long_functions(modules, 80) == []


def test_no_files_of_a_folder_import_each_other(modules: list[figures.Module]) -> None:
    assert dict(figures.circles(modules)) == {}


def test_what_is_borne_twice_is_found() -> None:
    """The counting itself: a class of one name in two files."""
    first = figures.Module.of("cap/a.py", "class Same: pass\n")
    second = figures.Module.of("cap/b/c.py", "from cap import a\nclass Same: pass\n")
    both = [first, second]
    assert list(figures.twice_named(both)) == ["Same"]
    assert figures.entries(both, "cap") == ["a", "b"]
    assert figures.arrows(both, "cap").eager == {("b", "a")}
