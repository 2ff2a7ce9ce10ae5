"""What docs/ says is so: commands run, Python passes the type checks, links lead somewhere.

In `make test` every command is parsed as the command line parses it; `make soak` runs them, page by
page in their order, and mypy and pyright over each piece of Python.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click
import pytest

from cap.cli.main import cli, run
from cap.config import SETTINGS
from cap.prompt.prompt import Header
from cap.sandbox.limits import Limits
from robots.tabletop.bring_up import TabletopBringUp
from tests.fakes.openai_server import FakeServer

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
README = (ROOT / "README.md").read_text(encoding="utf-8")

NOT_RUN = {
    "serve": "serves a page until it is stopped; tests/cap/cli/test_page.py runs it",
    "plan": "tests/cap/cli/test_plan.py runs it",
    "robots camera": "needs a camera's pairs; tests/cap/cli/test_camera.py runs it",
    "-R host": "needs an arm; tests/cap/cli/test_tabletop.py and test_bring_up.py run it",
    "models check": "needs a server; tests/cap/models/test_probe.py runs it",
    "humaneval": "hundreds of problems; tests/benchmarks/humaneval runs it",
    "robocodegen": "hundreds of problems; tests/benchmarks/robocodegen runs it",
    "bench problems": "the same",
    "bench run planning": "a paper's table; tests/benchmarks/planning runs it",
    "--ray-address": "needs a cluster",
}
"""What a command says that is parsed alone, and why."""
SHORTER = (
    ("-n 20", "-n 2"),
    ("-n 5", "-n 2"),
    ("--jobs 4", "--jobs 2"),
    ("--out published", "-n 1 --mode instant --tasks pick-and-place --out published"),
    ("--out again", "-n 1 --mode instant --tasks pick-and-place --out again"),
    ("kitchen -m", "kitchen -n 1 --tasks go-to -m"),
)
"""So that a page takes seconds; what is asked is the same."""


def commands(page: str) -> list[str]:
    """Return the lines of a page's shell blocks that call `cap`."""
    blocks = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines()]
    parts = [part.strip() for line in lines for part in re.split(r"\s#\s| && ", line)]
    return [
        part.removeprefix(".venv/bin/") for part in parts if re.match(r"(\.venv/bin/)?cap ", part)
    ]


def words_of(line: str) -> tuple[list[str], Path | None]:
    """Return a command's words, and the file its output goes to."""
    said, _, target = line.partition(" > ")
    return shlex.split(said)[1:], Path(target) if target else None


@pytest.fixture
def files() -> None:
    """Make what the pages' commands speak of."""
    Path("docs").mkdir()
    shutil.copy(DOCS / "scene.toml", "docs/scene.toml")
    Path("program.py").write_text("say('hello')\n")
    for name in (
        "samples.jsonl",
        "mbpp.jsonl",
        "pairs.toml",
        "fresh.toml",
        "camera.toml",
        "mine.py",
    ):
        Path(name).touch()
    for name in ("mine.toml", "sessions.toml", "example.toml"):
        Path(name).write_text(
            '[[sessions]]\nrobot = "ravens"\nmode = "instant"\n'
            'instructions = ["put the red block in the blue bowl"]\n'
        )
    shutil.copytree(ROOT / "prompts" / "ravens", "my_prompts")
    shutil.copytree(ROOT / "prompts" / "ravens-seen", "prompts/ravens-seen")
    for name in ("out", "other", "runs", "cluster"):
        Path(name).mkdir()


def test_every_command_is_one(files: None) -> None:
    found = [(name, line) for name in PAGES for line in commands(PAGES[name])]
    found += [("README", line) for line in commands(README)]
    assert len(found) > 80
    for name, line in found:
        context: click.Context | None = None
        command: click.Command | None = cli
        words, _ = words_of(line)
        try:
            while isinstance(command, click.Group):
                context = command.make_context(command.name, list(words), parent=context)
                rest = [*context._protected_args, *context.args]
                _, command, words = command.resolve_command(context, rest)
            assert command is not None
            command.make_context(command.name, list(words), parent=context)
        except click.ClickException as error:
            raise AssertionError(f"{name}: {line}: {error.format_message()}") from None


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("files", "trials_here")
@pytest.mark.parametrize("name", [name for name in PAGES if commands(PAGES[name])])
def test_a_page_s_commands_run_in_their_order(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    for folder in ("out", "other", "runs", "cluster"):
        Path(folder).rmdir()
    if name == "benchmarks":  # what `compare` compares with
        assert (
            run(
                [
                    "bench",
                    "run",
                    "drawing",
                    "-m",
                    "no-op",
                    "-n",
                    "1",
                    "--mode",
                    "instant",
                    "--out",
                    "other",
                ]
            )
            == 0
        )
    for line in commands(PAGES[name]):
        if any(said in line for said in NOT_RUN):
            continue
        for long, short in SHORTER:
            line = line.replace(long, short)
        words, target = words_of(line)
        model = words[words.index("-m") + 1] if "-m" in words else ""
        provider, _, of = model.partition("/")
        with FakeServer(lambda prompt, body: "say('done')", models=[of]) as server:
            monkeypatch.setenv(f"{provider.upper() or 'NO'}_BASE_URL", server.url)
            code = run(words)
        told = capsys.readouterr()
        # A made-up answer, and a batch whose expectations it does not meet, fail honestly.
        expected = (0, 1) if of or words[0] == "batch" else (0,)
        assert code in expected, f"{line}: {code}: {told.out[-600:]}{told.err[-600:]}"
        if target is not None:
            target.write_text(told.out)


def snippets(page: str) -> Iterator[str]:
    """Yield a page's pieces of Python that are programs of a person's own, not a robot's."""
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        if not block.startswith("# /// cap"):
            yield block


CHECKED = {
    f"{name}_{number}": block
    for name, page in {**PAGES, "README": README}.items()
    if name != "check-rules"  # what the check refuses, and what to write instead
    for number, block in enumerate(snippets(page), 1)
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
@pytest.mark.parametrize("name", [name for name in CHECKED if "perception" not in name])
def test_every_snippet_runs(name: str) -> None:
    exec(compile(CHECKED[name], name, "exec"), {"__name__": name})


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


def test_every_page_is_in_the_readme() -> None:
    for name in PAGES:
        assert f"docs/{name}.md" in README, name


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
    rows = re.findall(r"^\| `([^`]+)`[^|]*\|", PAGES["troubleshooting"], re.MULTILINE)
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
        assert re.search(rf"^\| `{entry.name} = ", PAGES["prompts"], re.MULTILINE), entry.name
    defaults = vars(Limits())
    for name in ("program_s", "calls_s", "sim_s", "memory_bytes", "stdout_chars"):
        assert f"`{name}`" in PAGES["sandbox"], name
    assert (defaults["program_s"], defaults["calls_s"], defaults["sim_s"]) == (10, 600, 3600)
    source = Path(sys.modules[TabletopBringUp.__module__].__file__ or "").read_text()
    for step in re.findall(r'Step\(\s*"([^"]+)"', source):
        assert re.search(rf"^\| \d+\. {re.escape(step)} \|", PAGES["tabletop"], re.MULTILINE), step
