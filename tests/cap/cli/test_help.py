"""The help of every command, completion of what is typed, and `--json` where there is a list."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from benchmarks.suite import names
from cap.cli.completion import VARIABLE
from cap.cli.main import cli, run
from cap.config import SETTINGS
from tests.cap.cli.conftest import Cap
from tests.rows import cases

Capture = pytest.CaptureFixture[str]


def leaves(
    group: click.Group = cli, path: tuple[str, ...] = ("cap",)
) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group, info_name=path[-1])
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


LEAVES = dict(leaves())


@pytest.mark.parametrize("path", LEAVES)
def test_examples_in_the_help_can_be_typed(path: str) -> None:
    """Each is of that command, and parses: a flag that is gone would not."""
    found = [
        line.partition("   ")[0]  # what stands behind it is a remark
        for text in (LEAVES[path].help, LEAVES[path].epilog)
        for line in map(str.strip, (text or "").splitlines())
        if line.startswith("cap ")
    ]
    if path not in ("cap completion",):
        assert found
    for line in found:
        words = shlex.split(line.partition(" < ")[0].partition(" | ")[0])
        command, context = cli, click.Context(cli, info_name="cap")
        del words[0]
        while isinstance(command, click.Group):
            name = words.pop(0)
            command = command.get_command(context, name)
        assert command is LEAVES[path]
        command.make_context("cap", words)


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("path", ["cap", "cap bench", "cap trace", *LEAVES])
def test_no_line_of_a_help_is_cut_and_none_is_wider_than_the_terminal(
    path: str, columns: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = path.split()[1:]
    more = "--help-all" if path in LEAVES and getattr(LEAVES[path], "is_long", False) else "--help"

    def shown(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        assert run([*words, more]) == 0
        return capsys.readouterr().out

    found = shown(columns)
    # An example is one line, to be copied; the terminal itself wraps it.
    lines = [line for line in found.splitlines() if "cap " not in line]
    assert max(map(len, lines)) <= columns
    assert "".join(found.split()) == "".join(shown(200).split())


@pytest.mark.parametrize("command", ["run", "repl", "serve", "plan", "batch", "exec", "mcp"])
def test_the_help_is_short_and_names_the_way_to_all_of_it(command: str, cap: Cap) -> None:
    text, _, options = cap([command, "--help"]).out.partition("Options:")
    assert 8 < len(re.findall(r"^  (?:-\w, )?--[\w-]+", options, re.MULTILINE)) <= 12
    assert "--help-all" in options
    assert "--set KEY=VALUE" in options
    assert len(re.findall(rf"^  cap {command}\b", text, re.MULTILINE)) <= 2


def test_options_stand_in_sections_with_the_settings_behind(cap: Cap) -> None:
    shown = cap(["run", "--help-all"]).out
    assert re.findall(r"^(\S[\w ,.-]*):$", shown, re.MULTILINE) == [
        "Robot and world",
        "Model",
        "Programs",
        "Approval",
        "Output",
        "Options",
        "Settings for --set and cap.toml",
    ]
    assert all(re.search(rf"^  {name} ", shown, re.MULTILINE) for name in SETTINGS)


@pytest.mark.parametrize("command", ["run", "oracle", "score"])
def test_the_help_of_a_suites_command_names_the_suites(command: str, cap: Cap) -> None:
    shown = " ".join(cap(["bench", command, "--help"]).out.partition("Suites:")[2].split())
    assert shown.startswith(", ".join(names()))


def test_help_of_a_command(cap: Cap) -> None:
    shown = cap(["help", "bench", "run"]).out
    assert cap(["bench", "run", "--help"]).out == shown
    assert cap(["help"]).out.startswith("Usage: cap [OPTIONS]")
    assert run(["help", "bench", "rn"]) == 2
    assert "Did you mean 'check'" in cap(["help", "chek"], 2).err
    assert "Did you mean" not in cap(["frobnicate"], 2).err


@cases(("words", "expected"))
def test_tab_completes(words: str, expected: list[str]) -> None:
    before, _, last = words.removeprefix("cap ").rpartition(" ")
    found = ShellComplete(cli, {}, "cap", VARIABLE).get_completions(shlex.split(before), last)
    assert [item.value for item in found] == expected


def test_a_script_for_each_shell(cap: Cap, monkeypatch: pytest.MonkeyPatch) -> None:
    for shell in ("bash", "zsh", "fish"):
        shown = cap(["completion", shell]).out
        assert f"_CAP_COMPLETE={shell}_complete" in shown
        monkeypatch.setenv("SHELL", f"/bin/{shell}")
        assert cap(["completion"]).out == shown
    monkeypatch.setenv("SHELL", "/bin/sh")
    assert "cap completion bash or zsh or fish" in cap(["completion"], 2).err
    assert run(["completion", "tcsh"]) == 2


def lines(capsys: Capture, *arguments: str, code: int = 0) -> object:
    assert run(list(arguments)) == code
    return json.loads(capsys.readouterr().out)


def test_a_check_as_json(capsys: Capture) -> None:
    with open("program.py", "w", encoding="utf-8") as file:
        file.write("x = 1\ny = (x.__globals__)\n")
    (found,) = lines(capsys, "check", "program.py", "--json", code=3)["violations"]
    assert (found["rule"], found["line"], found["column"]) == ("CAP103", 2, 6)
    assert "__globals__" in found["reason"]


TELL_JSON = {
    path: command
    for path, command in LEAVES.items()
    if any("--json" in param.opts and not getattr(param, "hidden", 0) for param in command.params)
}


def error_of(cap: Cap, *arguments: str) -> tuple[str, str]:
    """Run what fails; return what standard output says of it, which is nothing else."""
    told = cap(list(arguments), 2)
    assert told.err
    found = json.loads(told.out)
    return found["error"], found["message"]


@pytest.mark.parametrize("path", TELL_JSON)
def test_a_usage_error_is_told_as_json(path: str, cap: Cap) -> None:
    words = path.split()[1:]
    name, message = error_of(cap, *words, "--json", "--frobnicate")
    assert (name, message[:30]) == ("NoSuchOption", "No such option '--frobnicate'.")
    required = [param for param in TELL_JSON[path].params if param.required]
    if required:
        assert error_of(cap, *words, "--json")[0] == "MissingParameter"
    given = ["x"] * len(required)
    if not any(param.nargs == -1 for param in TELL_JSON[path].params):
        extra = [*given, *["x"] * sum(isinstance(param, click.Argument) for param in required)]
        assert error_of(cap, *words, *extra, "x", "x", "--json")[0] == "UsageError"
    for param in TELL_JSON[path].params:
        if isinstance(param.type, click.Choice | click.IntRange | click.FloatRange):
            bad = error_of(cap, *words, *given, param.opts[0], "no-such", "--json")
            assert bad[0] == "BadParameter"
            assert "'no-such' is not" in bad[1]


@cases(("line", "error", "message"))
def test_what_cannot_be_is_told_as_json(line: str, error: str, message: str, cap: Cap) -> None:
    name, said = error_of(cap, *line.split(), "--json")
    assert name == error
    assert message in said


def test_instructions_may_come_from_standard_input(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = io.TextIOWrapper(io.BytesIO("say hello\n\nsay “good bye”\n".encode()))
    monkeypatch.setattr(sys, "stdin", typed)
    found = lines(capsys, "run", "-", "--mode", "instant", "--json", code=4)
    assert [turn["instruction"] for turn in found["turns"]][:1] == ["say hello"]
    assert not typed.closed  # whoever is asked something later reads on
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
    assert run(["run", "-"]) == 2
    assert "say what the robot should do" in capsys.readouterr().err


def test_a_list_of_runs_leaves_out_columns_before_it_is_no_table(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        folder = Path("runs") / f"20260101-00000{len(name)}_{name}_{'x' * 40}"
        folder.mkdir(parents=True)
        header = {"status": "done", "robot": "ravens", "model": "nearest", "seed": 3, "pid": 1}
        (folder / "run.json").write_text(json.dumps({"format_version": 1, **header}))
    assert len(lines(capsys, "trace", "list", "--json")) == 3
    (row,) = lines(capsys, "trace", "list", "-n", "1", "--json")
    assert "three" in row["run"]
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    for columns, expected in ((200, "seed"), (80, "status")):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert run(["trace", "list"]) == 0
        shown = capsys.readouterr().out.splitlines()
        assert len(shown) == 4
        assert expected in shown[0]
    assert "seed" not in shown[0]
