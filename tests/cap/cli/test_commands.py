"""The other commands: exec, check, prompts, robots, models, trace, info, bench, help."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from cap.cli.main import run
from cap.cli.output import show
from cap.config import SETTINGS
from cap.sandbox.sandbox import Sandbox
from tests.cap.conftest import Cap

Capture = pytest.CaptureFixture[str]


def write(text: str | bytes, name: str = "program.py") -> str:
    data = text.encode() if isinstance(text, str) else text
    Path(name).write_bytes(data)
    return name


@pytest.mark.parametrize(
    ("command", "file", "code", "message"),
    [
        ("exec", "/dev/zero", 2, "not a plain file"),
        ("check", "fifo", 2, "not a plain file"),
        ("exec", "huge.py", 3, "huge.py is too long"),
    ],
)
def test_a_file_that_is_no_program_is_refused_in_one_line(
    command: str, file: str, code: int, message: str, capsys: Capture
) -> None:
    """Whatever it is, little of it is read, and none of it copied."""
    os.mkfifo("fifo")
    with open("huge.py", "wb") as huge:
        huge.truncate(300 << 20)
    tracemalloc.start()
    assert run([command, file]) == code
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    shown = capsys.readouterr()
    assert message in shown.err
    assert (shown.out + shown.err).count("\n") == 1
    assert peak < 16 << 20
    assert not Path("runs").exists() or not list(Path("runs").rglob("events.jsonl"))


def test_a_program_may_come_from_standard_input(cap: Cap, monkeypatch: pytest.MonkeyPatch) -> None:
    for command, said in ((["exec", "-", "--mode", "instant"], "hello"), (["check", "-"], "ok")):
        typed = io.BytesIO(b"\xef\xbb\xbfsay('hello')\n")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed))
        assert said in cap(command).out


@pytest.mark.inside
@pytest.mark.parametrize("level", ["kernel", "process"])
def test_a_weak_sandbox_is_said_once(level: str, cap: Cap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandbox, "level", property(lambda self: level))
    shown = cap(["exec", write("say('a')\nsay('b')\n"), "--mode", "instant"]).out
    assert shown.count("sandbox: only level 'process' is available here") == (level == "process")


def test_check_names_a_misspelt_function_as_a_run_does(cap: Cap) -> None:
    source = "x = 1\ny = get_object_pos('red block')\nsay(pick_best(y))\n"
    found = json.loads(cap(["check", write(source), "--json"], 3).out)
    (violation,) = found["violations"]
    assert (violation["rule"], violation["line"], violation["column"]) == ("undefined", 2, 5)
    assert "there is get_obj_pos(" in violation["reason"]
    assert found["to_generate"] == ["pick_best"]
    assert "there is get_obj_pos(" in cap(["exec", write(source), "--mode", "instant"], 3).out


def test_prompts_list_and_show(cap: Cap) -> None:
    rows = json.loads(cap(["prompts", "list", "--json"]).out)
    assert {"ravens/ui", "functions/define"} <= {row["prompt"] for row in rows}
    shown = cap(["prompts", "show", "ravens/ui"]).out
    assert shown.startswith('"""A UR5e ')
    assert "\nput_first_on_second(first, second): " in shown
    assert '\n"""\nimport numpy as np\n' in shown
    assert "\n#: " not in shown
    assert "/// cap" not in shown
    assert "Did you mean 'ravens/ui'" in cap(["prompts", "show", "ravens/uii"], 2).err


def test_robots_list_and_show(cap: Cap) -> None:
    assert {"robot": "ravens", "from": "robots.ravens:create"} in json.loads(
        cap(["robots", "list", "--json"]).out
    )
    shown = cap(["robots", "show", "ravens"]).out
    assert "put_first_on_second(first" in shown
    assert "metres" in shown
    assert run(["robots", "show", "raven"]) == 2


def test_trace_list_and_show_what_was_run(cap: Cap, capsys: Capture) -> None:
    run(["run", "put the red block in the blue bowl", "--mode", "instant"])
    first = capsys.readouterr().out
    (row,) = json.loads(cap(["trace", "list", "--json"]).out)
    assert (row["status"], row["model"]) == ("done", "nearest")
    assert "moved red block" in first
    assert "moved red block" in cap(["trace", "show", row["run"]]).out


def test_info_tells_settings_and_hides_keys(cap: Cap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("CAP_MODEL", "openai/x")
    shown = cap(["info", "--json"]).out
    assert "sk-secret" not in shown
    found = json.loads(shown)
    assert found["keys"]["OPENAI_API_KEY"] == "set"
    model = found["settings"]["model"]
    assert (model["value"], model["source"]) == ("openai/x", "CAP_MODEL")
    assert list(found["settings"]) == list(SETTINGS)
    assert found["settings"]["mode"]["default"] == "physics"
    assert found["robots"]["ravens"] == "ok"


def test_a_folders_cap_toml_cannot_redirect_an_endpoint(
    cap: Cap, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("cap.toml").write_text('[providers.openai]\nbase_url = "http://evil.example/v1"\n')
    assert "providers ignored" in cap(["run", "stack all the blocks", "--mode", "instant"]).err


def test_help_is_fast_because_it_imports_nothing_heavy() -> None:
    code = (
        "import sys; from cap.cli.main import run; run(['--help']); "
        "heavy = {'numpy', 'openai', 'shapely', 'pybullet', 'rich', 'prompt_toolkit', 'PIL'}; "
        "early = heavy & set(sys.modules); import cap.models.openai.model; "
        "sys.exit(', '.join(early | {'openai'} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


ROWS = [{"task": "hexagon", "first %": 0, "second %": 0.0, "why": "", "words": "so " * 60}] * 2


def test_a_pipe_gets_one_line_for_each_row(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    show(ROWS)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["task", "first", "%", "second", "%", "why", "words"]
    assert [line.split()[:4] for line in lines] == [["hexagon", "0", "0.0", "so"]] * 2


PRINTING = """
from robots.ravens import create as ravens

print("loaded")
PROMPTS = "ravens"


def create(**options):
    print("made")
    return ravens(**options)
"""


@pytest.mark.parametrize(
    "words", [("robots", "show", "{}"), ("run", "say hello", "--mode", "instant", "-r", "{}")]
)
def test_what_a_persons_file_prints_does_not_spoil_json(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "arm.py"
    path.write_text(PRINTING)
    before = sys.stdout
    run([*(word.format(path) for word in words), "--json"])
    assert sys.stdout is before
    told = capsys.readouterr()
    assert json.loads(told.out)
    assert {"loaded", "made"} <= set(told.err.splitlines())
