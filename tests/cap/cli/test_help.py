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

from cap.cli.completion import VARIABLE
from cap.cli.main import cli, run
from cap.config import SETTINGS
from tests.cap.conftest import Cap
from tests.rows import cases, rows

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


@rows("path", LEAVES)
def test_examples_in_the_help_can_be_typed(path: str) -> None:
    """Each is of that command, and parses: a flag that is gone would not."""
    found = [
        line.partition("   ")[0]  # what stands behind it is a remark
        for text in (LEAVES[path].help, LEAVES[path].epilog)
        for line in map(str.strip, (text or "").splitlines())
        if line.startswith("cap ")
    ]
    assert found or path == "cap completion"
    for line in found:
        words = shlex.split(line.partition(" < ")[0].partition(" | ")[0])
        command, context = cli, click.Context(cli, info_name="cap")
        del words[0]
        while isinstance(command, click.Group):
            name = words.pop(0)
            command = command.get_command(context, name)
        assert command is LEAVES[path]
        command.make_context("cap", words)


@rows("path", ["cap", "cap bench", "cap trace", *LEAVES])
def test_no_line_of_a_help_is_cut_and_none_is_wider_than_the_terminal(
    path: str, cap: Cap, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "--help-all" if getattr(LEAVES.get(path), "is_long", False) else "--help"
    shown = []
    for columns in (40, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        shown.append(cap([*path.split()[1:], more]).out)
        # An example is one line, to be copied; the terminal itself wraps it.
        lines = [line for line in shown[-1].splitlines() if "cap " not in line]
        assert max(map(len, lines)) <= columns
    assert "".join(shown[0].split()) == "".join(shown[1].split())


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
        assert f"_CAP_COMPLETE={shell}_complete" in cap(["completion", shell]).out
    monkeypatch.setenv("SHELL", "/bin/fish")
    assert "fish_complete" in cap(["completion"]).out
    monkeypatch.setenv("SHELL", "/bin/sh")
    assert "cap completion bash or zsh or fish" in cap(["completion"], 2).err


def lines(capsys: Capture, *arguments: str, code: int = 0) -> object:
    assert run(list(arguments)) == code
    return json.loads(capsys.readouterr().out)


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


@rows("path", TELL_JSON)
def test_a_usage_error_is_told_as_json(path: str, cap: Cap) -> None:
    words = path.split()[1:]
    name, message = error_of(cap, *words, "--json", "--frobnicate")
    assert (name, message[:30]) == ("NoSuchOption", "No such option '--frobnicate'.")
    required = [param for param in TELL_JSON[path].params if param.required]
    if required:
        assert error_of(cap, *words, "--json")[0] == "MissingParameter"
    for param in TELL_JSON[path].params:
        if isinstance(param.type, click.Choice | click.IntRange | click.FloatRange):
            given = ["x"] * len(required)
            bad = error_of(cap, *words, *given, param.opts[0], "no-such", "--json")
            assert bad[0] == "BadParameter"


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


def test_a_list_of_runs_is_a_table_in_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        folder = Path("runs") / f"20260101-00000{len(name)}_{name}_{'x' * 30}"
        folder.mkdir(parents=True)
        header = {"status": "done", "robot": "ravens", "model": "nearest", "seed": 3, "pid": 1}
        (folder / "run.json").write_text(json.dumps({"format_version": 1, **header}))
    (row,) = lines(capsys, "trace", "list", "-n", "1", "--json")
    assert "three" in row["run"]
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["trace", "list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 4
    assert "status" in shown[0]
    assert "seed" not in shown[0]
