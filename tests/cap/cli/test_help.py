"""Help, completion, `--json` and options, as people type them."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from cap.cli.approval import approval, approver
from cap.cli.completion import VARIABLE
from cap.cli.main import cli, run
from cap.cli.options import MOVED, ModelOptions, SessionOptions, load_config, robot_values
from cap.config import SETTINGS
from cap.errors import ConfigError, UsageError
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
    assert "_CAP_COMPLETE=zsh_complete" in cap(["completion", "zsh"]).out
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


# --- options of the robot and of approval, as people type them

PAGE = (Path(__file__).parents[3] / "docs/from-0.1.md").read_text(encoding="utf-8")


@cases(("text", "key", "value"))
def test_a_value_is_read_as_toml_or_as_text(text: str, key: str, value: Any) -> None:
    assert robot_values([text]) == {key: value}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["host"], "not KEY=VALUE"),
        (["=x"], "not KEY=VALUE"),
        (["a b=1"], "not KEY=VALUE"),
        (["a=1", "a.b=2"], "given twice"),
        (["a=1", "a=2"], "given twice"),
    ],
)
def test_what_is_no_option_is_refused(given: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        robot_values(given)


@cases(("approve", "ask", "yes", "simulated", "expected"))
def test_when_a_person_is_asked(
    approve: str | None, ask: bool, yes: bool, simulated: bool, expected: str
) -> None:
    assert approval(approve, ask, yes, simulated) == expected


@pytest.mark.parametrize(
    ("approve", "ask", "yes"),
    [(None, False, True), ("none", False, False), ("each-call", False, True), ("none", True, True)],
)
def test_hardware_never_moves_unasked_by_one_slip(
    approve: str | None, ask: bool, yes: bool
) -> None:
    with pytest.raises(UsageError):
        approval(approve, ask, yes, simulated=False)


def test_hardware_always_has_an_approver() -> None:
    for asks in ("each-call", "none", "each-program"):
        assert approver(asks, simulated=False) is not None
    assert approver("none", simulated=True) is None


def test_the_page_from_0_1_has_the_table_of_moved_options() -> None:
    section = PAGE.partition("## Options that are settings now")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `(--.+?)` \| `(.+?)` \|$", section, re.MULTILINE)) == MOVED


@pytest.mark.parametrize("command", ["run x", "bench run kitchen"])
def test_an_option_that_moved_names_its_new_form(command: str, cap: Cap) -> None:
    for old, new in MOVED.items():
        (line,) = cap([*command.split(), old, "1"], 2).err.splitlines()
        assert line.startswith(f"error: {old} is a setting now: {new}, or ")


@cases(("word", "name", "value"))
def test_set_gives_any_setting(word: str, name: str, value: Any) -> None:
    config = load_config(SessionOptions(settings=(word,)))
    assert (getattr(config, name), config.sources[name]) == (value, "--set")


def test_an_option_comes_before_set() -> None:
    config = load_config(ModelOptions(model="a/b", settings=("model=c/d", "max_cost=2")))
    assert (config.model, config.sources["model"], config.max_cost) == ("a/b", "flag", 2.0)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("temprature=1", "Did you mean 'temperature'"),
        ("min_level=process", "it is an option: --min-level"),
        ("speed=1", "it is an option: --speed"),
        ("verify=maybe", "'words' or 'goal' or 'off'"),
        ("extra_body.api_key=hunter2", "api_key is not allowed"),
    ],
)
def test_what_is_no_setting_is_refused(word: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as found:
        load_config(ModelOptions(settings=(word,)))
    assert "hunter2" not in str(found.value)


@pytest.mark.parametrize("command", ["plan x", "batch b.toml", "bench run kitchen -m oracle"])
def test_a_setting_of_sessions_is_not_dropped_in_silence(command: str, cap: Cap) -> None:
    assert "--set repairs is for run, repl" in cap([*command.split(), "--set", "repairs=1"], 2).err
