"""What docs/ says is so: Python runs and passes the type checks, links lead somewhere.

Its commands are in `test_docs_commands.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from cap.config import SETTINGS
from cap.prompt.prompt import Header
from cap.sandbox.limits import Limits
from robots.tabletop.bring_up import TabletopBringUp

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
INDEX = (DOCS / "README.md").read_text(encoding="utf-8")
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = {f"docs/{name}": page for name, page in PAGES.items()} | {
    name: (ROOT / f"{name}.md").read_text(encoding="utf-8")
    for name in ("README", "SECURITY", "CONTRIBUTING", "CHANGELOG")
}
"""All that people read about the project."""
DIALECT = re.compile(
    r"\b(?:told|tells|teller|anew|whoever|unheard|came of|of one's own|(?:take|put)s? back)\b",
    re.IGNORECASE,
)
"""Words for which plain English has others."""


def snippets(page: str) -> Iterator[str]:
    """Yield a page's pieces of Python that are programs of a person's own, not a robot's."""
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        if not block.startswith("# /// cap"):
            yield block


CHECKED = {
    f"{name}_{number}": block
    for name, page in {**PAGES, "README": README}.items()
    for number, block in enumerate(snippets(page), 1)
}
CHECKED |= {
    f"walk_{path.stem}": path.read_text(encoding="utf-8") for path in (DOCS / "walks").rglob("*.py")
}


@pytest.fixture
def snippets_folder() -> Path:
    """Return a folder with every piece of Python, each in a file of its own."""
    assert len(CHECKED) >= 12
    folder = Path("snippets")
    folder.mkdir()
    for name, block in CHECKED.items():
        (folder / f"{name.replace('-', '_')}.py").write_text(block)
    return folder


def type_errors(*command: str) -> str:
    """Run a type checker; return what it says, nothing if it found nothing."""
    words = [sys.executable, "-m", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_every_snippet_passes_mypy(snippets_folder: Path) -> None:
    options = ("--strict", "--config-file", str(ROOT / "pyproject.toml"))
    assert type_errors("mypy", *options, str(snippets_folder)) == ""


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_every_snippet_passes_pyright(snippets_folder: Path) -> None:
    pytest.importorskip("basedpyright")
    # As pyright has it, where basedpyright would warn of more.
    Path("pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    options = ("--level", "error", "--pythonpath", sys.executable)
    assert type_errors("basedpyright", *options) == ""
    (snippets_folder / "wrong.py").write_text("from cap import Limits\n\nLimits(program_s='ten')\n")
    assert "wrong.py:3:18" in type_errors("basedpyright", *options)


@pytest.mark.sweep(share=0.1)
@pytest.mark.parametrize("name", [name for name in CHECKED if not name.startswith("walk_")])
def test_every_snippet_runs(name: str) -> None:
    exec(compile(CHECKED[name], name, "exec"), {"__name__": name})


def test_the_pages_are_short() -> None:
    """Without the page of those who come from an earlier version."""
    assert sum(len(page.split()) for name, page in PAGES.items() if name != "from-0.1") <= 16_000


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_is_written_in_dialect(name: str) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", TEXTS[name], flags=re.DOTALL)
    assert DIALECT.findall(prose) == []


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    for name, page in PAGES.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", page):
            if target.startswith("http"):
                continue
            file, _, heading = target.partition("#")
            path = DOCS / file if file else DOCS / f"{name}.md"
            assert path.exists(), f"{name}: {target}"
            if heading:
                titles = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
                slugs = [
                    re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles
                ]
                assert heading in slugs, f"{name}: {target}"


def test_every_page_is_in_the_index() -> None:
    assert "docs/README.md" in README
    for name in PAGES.keys() - {"README"}:
        assert f"]({name}.md)" in INDEX, name


def test_every_message_of_the_troubleshooting_page_is_said_somewhere() -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for folder in ("cap", "robots", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    ]
    # As messages are written: without quotes, and with NAME for what is put in.
    text = re.sub(r"\{[^{}]*\}", "NAME", " ".join(sources))
    text = re.sub(r"""["']\s+f?["']""", "", " ".join(text.split()))
    text = re.sub(r"""["']""", "", text)
    rows = re.findall(r"^- `([^`]+)`[^:]*:", PAGES["troubleshooting"], re.MULTILINE)
    assert len(rows) > 20
    for message in rows:
        if message == "externally-managed-environment":
            continue
        words = re.sub(r"""["']""", "", message)
        for part in re.split(r"NAME|\bui\b|\brobots\b|OPENAI_API_KEY", words):
            assert part.strip(" ;,") in text, message


def test_the_tables_name_every_setting_header_limit_and_step() -> None:
    for setting in SETTINGS:
        assert re.search(rf"`\[?{setting}(\.NAME)?\]?`", PAGES["configuration"]), setting
    for entry in fields(Header):
        assert re.search(rf"^- `{entry.name} = ", PAGES["prompts"], re.MULTILINE), entry.name
    defaults = vars(Limits())
    for name in ("program_s", "calls_s", "sim_s", "memory_bytes", "stdout_chars"):
        assert f"`{name}`" in PAGES["sandbox"], name
    assert (defaults["program_s"], defaults["calls_s"], defaults["sim_s"]) == (10, 600, 3600)
    source = Path(sys.modules[TabletopBringUp.__module__].__file__ or "").read_text()
    for step in re.findall(r'Step\(\s*"([^"]+)"', source):
        assert re.search(rf"^\d+\. {re.escape(step)}", PAGES["tabletop"], re.MULTILINE), step
