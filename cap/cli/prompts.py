"""`cap prompts list|show|check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from cap.cli import completion
from cap.cli.json_output import print_json
from cap.cli.options import CommandGroup, json_option
from cap.errors import MissingExtra, UsageError, did_you_mean


@click.group("prompts", cls=CommandGroup)
def command() -> None:
    """List, show and check prompt files."""


def _groups() -> dict[str, Path]:
    """Return every shipped prompt folder by name."""
    from cap.robot import registry

    root = registry.prompts_path()
    return {path.name: path for path in sorted(root.iterdir()) if any(path.glob("*.py"))}


@command.command("list")
@click.option("-r", "--robot", metavar="NAME", help="What its instructions ask of a model instead.")
@json_option
def list_prompts(robot: str | None, as_json: bool) -> None:
    """List every shipped prompt, with the size of its request to a language model.

    \b
    cap prompts list
    cap prompts list -r kitchen --json

    With a robot: its examples of instructions, with the size of all requests of each. Sizes are
    characters, with no history; tokens are characters / 4.
    """  # noqa: D301
    from cap.cli.tables import show
    from cap.prompt.prompt import tokens_of
    from cap.robot import registry
    from cap.validation.prompts import instruction_costs, request_chars

    if robot is not None:
        costs = [
            {
                "instruction": cost.instruction,
                "requests": cost.requests,
                "characters": cost.chars,
                "tokens": tokens_of(cost.chars),
            }
            for cost in instruction_costs(robot)
        ]
        show(costs, as_json)
        return
    rows = []
    for group, folder in _groups().items():
        prompts = registry.load_prompts(folder)
        try:
            sizes = request_chars(prompts, group if group in registry.robots() else None)
        except MissingExtra:  # of a robot that is not installed, without its docs
            sizes = request_chars(prompts, None)
        rows += [
            {
                "prompt": f"{group}/{name}",
                "examples": len(prompt.examples),
                "nearest": len(prompt.beside.examples),
                "characters": sizes[name],
                "tokens": tokens_of(sizes[name]),
                "returns": " or ".join(prompt.header.kind) if prompt.header.returns else "",
                "session": prompt.header.session,
            }
            for name, prompt in prompts.items()
        ]
    show(rows, as_json)


@command.command("show")
@click.argument("name", shell_complete=completion.prompts)
@json_option
def show_prompt(name: str, as_json: bool) -> None:
    """Print what a language model reads for `ravens/ui`, say; or the prompt in a file.

    \b
    cap prompts show ravens/ui
    """  # noqa: D301
    from cap.prompt import prompt as prompts
    from cap.robot import registry
    from cap.validation.prompts import requests

    path = Path(name)
    if path.suffix != ".py":
        path = registry.prompts_path() / f"{name}.py"
        if not path.is_file():
            known = [
                f"{group}/{file.stem}" for group, f in _groups().items() for file in f.glob("*.py")
            ]
            raise UsageError(
                f"no prompt '{name}'.{did_you_mean(name, known)} See: cap prompts list"
            )
        robot = path.parent.name if path.parent.name in registry.robots() else None
        text = requests(registry.load_prompts(path.parent), robot)[path.stem]
    else:
        text = prompts.without_synonyms(prompts.load(path).text)
    if as_json:
        found = {"prompt": name, "file": str(path), "text": text}
        print_json(found)
    else:
        click.echo(text, nl=False)


@command.command("check")
@click.argument("target", required=False, metavar="[ROBOT|FILE|DIR]")
@click.option("--prompts", "folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("-r", "--robot", default="ravens", show_default=True, help="Whose names a FILE uses.")
@json_option
def check(target: str | None, folder: Path | None, robot: str, as_json: bool) -> int:
    """Execute every example in the instant world; exit code 1 if one fails.

    \b
    cap prompts check ravens
    cap prompts check my_prompts/ui.py -r kitchen

    A request longer than a language model's limit is a finding too. Examples of a FILE or DIR of
    prompts are not executed, since they may be another robot's: the command lists what their names
    stand for, and what in them cannot be.
    """  # noqa: D301
    from cap.robot import registry

    if folder is not None and target is None:
        target = robot
    if target is not None and target not in registry.robots():
        if Path(target).exists():
            return _look(Path(target), robot, as_json)
        hint = did_you_mean(target, registry.robots())
        raise UsageError(
            f"unknown robot '{target}', and no file or folder of that name.{hint}"
            " See: cap robots list"
        )
    failed, rows = 0, []
    for name, count, findings in _checked(target, folder):
        failed += sum(not finding.skipped for finding in findings)
        if as_json:
            found = [asdict(finding) for finding in findings]
            rows.append({"prompt": name, "examples": count, "findings": found})
            continue
        ran = count - sum(finding.line > 0 for finding in findings)
        click.echo(f"{name}: {ran} of {count} examples run")
        for finding in findings:
            click.echo(f"  {finding}")
    if as_json:
        print_json(rows)
    return 1 if failed else 0


def _look(path: Path, robot: str, as_json: bool) -> int:
    """Print what the names in prompt files stand for, and their findings."""
    from cap.robot import registry
    from cap.validation.prompts import inspect_names

    body = registry.make_robot(robot, mode="instant")
    try:
        primitives = body.primitives()
    finally:
        body.close()
    folder = path if path.is_dir() else path.parent
    own = folder.parent / "robot.py"  # as `cap robots new` lays them out
    if folder.name == "prompts" and own.is_file() and robot != str(own):
        note = f"note: these stand beside a robot and are judged by the names of {robot}"
        click.echo(f"{note}; for the robot's own add -r {own}", err=True)
    lmps = [name for name, p in registry.robot_prompts(robot).items() if p.header.returns]
    failed, rows = 0, []
    serving = _serving(path, robot) if path.is_dir() else {}
    if serving and not as_json:
        failed += _print_serving(path, robot, serving)
    for report in inspect_names(path, primitives, lmps, serving.values()):
        failed += len(report.findings) + (not report.prompt.examples)
        if as_json:
            found = [asdict(finding) for finding in report.findings]
            count, inferred = len(report.prompt.examples), list(report.prompt.inferred)
            rows.append(
                {
                    "prompt": str(report.prompt.path),
                    "examples": count,
                    "inferred": inferred,
                    "names": report.names,
                    "findings": found,
                }
            )
            continue
        click.echo(f"{report.prompt.path}: {len(report.prompt.examples)} examples")
        for line in report.prompt.inferred:
            click.echo(f"  no header, inferred: {_plain(line)}")
        words = {
            "robot": f"of robot {robot}",
            "lmps": "LMPs",
            "library": "of the library",
            "generated": "to be generated",
            "given": "to be given by who calls it",
        }
        for kind, names in report.names.items():
            if names:
                click.echo(f"  {words[kind]}: {_plain(', '.join(names))}")
        for finding in report.findings:
            click.echo(f"  {_plain(str(finding))}")
        if not report.prompt.examples:
            click.echo("  no example in it: a prompt has comments with code below them")
    if as_json:
        print_json(rows)
    return 1 if failed else 0


def _serving(folder: Path, robot: str) -> dict[str, str]:
    """Return the stem of the file that serves each LMP; {} of a folder with names of its own."""
    from cap.prompt import released

    serving = released.served(released.files(folder), robot)
    return serving if any(name != stem for name, stem in serving.items()) else {}


def _print_serving(folder: Path, robot: str, serving: Mapping[str, str]) -> int:
    """Print which file serves which LMP of a robot; return how many LMPs it cannot do without."""
    from cap.prompt import released
    from cap.robot import registry

    files, prompts = released.files(folder), registry.load_prompts(folder, robot)
    idle = [path.name for stem, path in files.items() if stem not in serving.values()]
    called = {name for prompt in prompts.values() for name in {*prompt.called, *prompt.hints}}
    absent = sorted((called & released.LMPS) - serving.keys())
    lacking = [] if "ui" in serving else ["ui"]
    for words, entries in (
        (f"for robot {robot}", [f"{name}: {files[stem].name}" for name, stem in serving.items()]),
        ("of other robots, not looked at", idle),
        ("not in the folder, generated where they are called", absent),
        ("missing", lacking),
    ):
        if entries:
            click.echo(f"{words}: {_plain(', '.join(entries))}")
    return len(lacking)


def _plain(text: str) -> str:
    """Return what a prompt file says, without characters that steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


def _checked(robot: str | None, folder: Path | None) -> Iterator[tuple[str, int, list[Any]]]:
    from cap.models.nearest import Nearest
    from cap.robot import registry
    from cap.validation.prompts import check_robot_prompts

    robots = [robot] if robot else [name for name in registry.robots() if name in _groups()]
    for name in robots:
        for prompt, count, findings in check_robot_prompts(name, Nearest(), folder):
            yield f"{name}/{prompt.name}", count, findings
