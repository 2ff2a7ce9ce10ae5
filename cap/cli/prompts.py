"""`cap prompts list|show|check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cap.cli import completion
from cap.cli.options import PATH, CommandGroup, json_option
from cap.cli.output import print_result, show
from cap.errors import MissingExtra, UsageError, did_you_mean
from cap.prompt import released
from cap.robot import registry

if TYPE_CHECKING:
    from cap.prompt.prompt import Prompt


@click.group("prompts", cls=CommandGroup)
def command() -> None:
    """List, show and check prompt files."""


def _groups() -> dict[str, Path]:
    """Return every shipped prompt folder by name."""
    root = registry.prompts_path()
    return {path.name: path for path in sorted(root.iterdir()) if any(path.glob("*.py"))}


@command.command("list")
@json_option
def list_prompts(as_json: bool) -> None:
    """List all shipped prompts and the sizes of their requests to a language model.

    \b
    cap prompts list

    Sizes are in characters, without history; tokens are estimated as characters / 4.
    """  # noqa: D301
    from cap.prompt.prompt import tokens_of
    from cap.validation.prompts import request_chars

    rows = []
    for group, folder in _groups().items():
        prompts = registry.load_prompts(folder)
        try:
            texts = requests(prompts, group if group in registry.robots() else None)
        except MissingExtra:  # of a robot that is not installed, without its docs
            texts = requests(prompts, None)
        sizes = {name: request_chars(text) for name, text in texts.items()}
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


def requests(prompts: Mapping[str, Prompt], robot: str | None) -> dict[str, str]:
    """Return what a language model reads for each prompt's first example, with no history.

    Args:
        prompts: By name.
        robot: Whose docs and facts they show; None where they are no robot's.
    """
    from cap.prompt.prompt import without_synonyms
    from cap.session.session import Session

    shown: dict[str, tuple[str, str]] = {}
    if robot is not None:
        with Session.open(robot, "nearest", mode="instant") as session:
            engine = session.engine
            shown = {name: (engine.context(p).text, engine.docs(p)) for name, p in prompts.items()}
    texts = {}
    for name, prompt in prompts.items():
        words = prompt.examples[0].instruction if prompt.examples else ""
        context, docs = shown.get(name, ("", ""))
        texts[name] = without_synonyms(prompt.render(words, context, docs=docs))
    return texts


@command.command("show")
@click.argument("name", shell_complete=completion.prompts)
@json_option
def show_prompt(name: str, as_json: bool) -> None:
    """Print a prompt, such as ravens/ui or a prompt file, as a language model reads it.

    \b
    cap prompts show ravens/ui
    """  # noqa: D301
    from cap.prompt import prompt as prompts

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
    found = {"prompt": name, "file": str(path), "text": text}
    print_result(found, [text.removesuffix("\n")], as_json)


@command.command("check")
@click.argument("target", required=False, metavar="[ROBOT|FILE|DIR]")
@click.option(
    "--prompts",
    "folder",
    type=PATH,
    metavar="DIR",
    help="Folder with prompt files to check instead of the robot's own.",
)
@click.option(
    "-r",
    "--robot",
    default="ravens",
    show_default=True,
    metavar="NAME",
    help="Robot that a FILE or DIR is for.",
)
@json_option
def check(target: str | None, folder: Path | None, robot: str, as_json: bool) -> int:
    """Run every example in the instant world; exit with code 1 if any fails.

    \b
    cap prompts check ravens
    cap prompts check my_prompts/ui.py -r kitchen

    A request of more than 3,000 tokens (estimated as characters / 4) also counts as a failure.
    Examples in a FILE or DIR are not run, because they may be for another robot; instead, the
    command lists what the names in these examples refer to and reports any errors.
    """  # noqa: D301
    if folder is not None and target is None:
        target = robot
    if target is not None and target not in registry.robots():
        if Path(target).exists():
            return _inspect(Path(target), robot, as_json)
        hint = did_you_mean(target, registry.robots())
        raise UsageError(
            f"unknown robot '{target}', and no file or folder of that name.{hint}"
            " See: cap robots list"
        )
    rows, lines, failed = [], [], False
    for name, count, findings in _checked(target, folder):
        failed |= not all(finding.skipped for finding in findings)
        found = [asdict(finding) for finding in findings]
        rows.append({"prompt": name, "examples": count, "findings": found})
        ran = count - sum(finding.line > 0 for finding in findings)
        lines += [f"{name}: {ran} of {count} examples run", *(f"  {one}" for one in findings)]
    print_result(rows, lines, as_json)
    return int(failed)


def _inspect(path: Path, robot: str, as_json: bool) -> int:
    """Print what the names in prompt files stand for, and their findings."""
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
    serving = released.served(released.files(path), robot) if path.is_dir() else {}
    if all(name == stem for name, stem in serving.items()):  # a folder with names of its own
        serving = {}
    lines = list(_serving_lines(path, robot, serving)) if serving else []
    failed = bool(serving) and "ui" not in serving
    rows = []
    for report in inspect_names(path, primitives, lmps, serving.values()):
        prompt = report.prompt
        count = len(prompt.examples)
        failed |= bool(report.findings) or not count
        rows.append(
            {
                "prompt": str(prompt.path),
                "examples": count,
                "inferred": list(prompt.inferred),
                "generated": report.generated,
                "given": report.given,
                "findings": [asdict(finding) for finding in report.findings],
            }
        )
        kinds = {
            "to be generated": report.generated,
            "to be given by who calls it": report.given,
        }
        lines += [
            f"{prompt.path}: {count} examples",
            *(f"  no header, inferred: {line}" for line in prompt.inferred),
            *(f"  {kind}: {', '.join(found)}" for kind, found in kinds.items() if found),
            *(f"  {finding}" for finding in report.findings),
        ]
        if not count:
            lines.append("  no example in it: a prompt has comments with code below them")
    print_result(rows, lines, as_json)
    return int(failed)


def _serving_lines(folder: Path, robot: str, serving: Mapping[str, str]) -> Iterator[str]:
    """Yield which file serves which LMP of a robot, and what is lacking."""
    files, prompts = released.files(folder), registry.load_prompts(folder, robot)
    called = {name for prompt in prompts.values() for name in {*prompt.called, *prompt.hints}}
    found = {
        f"for robot {robot}": [f"{name}: {files[stem].name}" for name, stem in serving.items()],
        "of other robots, not looked at": [
            path.name for stem, path in files.items() if stem not in serving.values()
        ],
        "not in the folder, generated where they are called": sorted(
            (called & released.LMPS) - serving.keys()
        ),
        "missing": [] if "ui" in serving else ["ui"],
    }
    for what, entries in found.items():
        if entries:
            yield f"{what}: {', '.join(entries)}"


def _checked(robot: str | None, folder: Path | None) -> Iterator[tuple[str, int, list[Any]]]:
    from cap.models.nearest import Nearest
    from cap.validation.prompts import check_robot_prompts

    robots = [robot] if robot else [name for name in registry.robots() if name in _groups()]
    for name in robots:
        for prompt, count, findings in check_robot_prompts(name, Nearest(), folder):
            yield f"{name}/{prompt.name}", count, findings
