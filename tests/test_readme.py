"""The README is true: its commands run, its links lead somewhere."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

from cap.cli.main import COMMANDS, run
from tests.fakes.openai_server import FakeServer

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
JOINED = [re.sub(r"\\\n +", "", block) for block in BLOCKS]
LINES = [line.split("   #")[0].strip() for block in JOINED for line in block.splitlines()]
CAP = [line.removeprefix(".venv/bin/cap ") for line in LINES if line.startswith(".venv/bin/cap ")]

LONG = "bench problems --check", " --gif "
"""Commands of ten seconds and more; `.ci/run` films with `make demo` too."""


@pytest.mark.usefixtures("trials_here")
@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=[pytest.mark.soak] if any(map(line.count, LONG)) else [])
        for line in CAP
    ],
)
def test_every_command_in_the_readme_runs(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("/quit\n"))  # for `repl`
    words = shlex.split(line)
    model = words[words.index("-m") + 1] if "-m" in words else "nearest"
    name = model.partition("/")[2]
    with FakeServer(lambda prompt, body: "say('done')", models=[name]) as server:
        monkeypatch.setenv(f"{model.partition('/')[0].upper()}_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
        assert run(words) == 0
        assert bool(server.posts) == (model != "nearest")


def test_the_library_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    (session,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(session, "README.md", "exec"), {})
    shown = capsys.readouterr().out
    assert "True ('moved',) ['red block', 'green block', 'blue block', 'yellow block']" in shown


def test_every_command_is_in_the_list() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^- `cap (\w+)", page, re.MULTILINE))
    assert listed == set(COMMANDS)


def test_every_link_leads_to_a_file() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_make_targets_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in LINES:
        if line.startswith("make "):
            assert re.search(rf"^{line.split()[1]}:", makefile, re.MULTILINE)


def test_it_fits_two_screens() -> None:
    assert len(README.split()) <= 900
