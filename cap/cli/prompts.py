"""`cap prompts list|show|check`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from cap.cli import completion
from cap.cli.options import CommandGroup, json_option, option
from cap.cli.output import print_result, remark, show
from cap.errors import MissingExtra, UsageError, did_you_mean
from cap.models.nearest.nearest import Nearest
from cap.prompt import released
from cap.prompt.examples import without_synonyms
from cap.prompt.prompt import Prompt, load, tokens_of
from cap.robot import registry
from cap.session.session import Session
from cap.validation.prompts import check_robot_prompts, inspect_names, request_chars


@click.group("prompts", cls=CommandGroup)
def command() -> None:
    """List, show and check prompt files."""


def _groups() -> dict[str, Path]:
    """Return every shipped prompt folder by name."""
    root = registry.prompts_path()
    return {path.name: path for path in sorted(root.iterdir()) if any(path.glob("*.py"))}


@command.command("list")
@json_option
def list_prompts() -> None:
    """List all shipped prompts and the sizes of their requests to a language model.

    \b
    cap prompts list

    Sizes are in characters, without history; tokens are estimated as characters / 4.
    """  # noqa: D301
    rows = []
    for group, folder in _groups().items():
        prompts = registry.load_prompts(folder)
        sizes = {name: request_chars(text) for name, text in requests(prompts, group).items()}
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
    show(rows)


def requests(prompts: Mapping[str, Prompt], group: str) -> dict[str, str]:
    """Return what a language model reads for each prompt's first example, with no history.

    Args:
        prompts: By name.
        group: Their folder: that of a robot, whose docs and facts they show, or another one.
    """
    shown: dict[str, tuple[str, str]] = {}
    if group in registry.robots():
        # What a robot that is not installed would show is left out.
        with suppress(MissingExtra), Session.open(group, "nearest", mode="instant") as session:
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
def show_prompt(name: str) -> None:
    """Print a prompt, such as ravens/ui or a prompt file, as a language model reads it.

    \b
    cap prompts show ravens/ui
    """  # noqa: D301
    path = Path(name)
    if path.suffix != ".py":
        path = registry.prompts_path() / f"{name}.py"
        if not path.is_file():
            hint = did_you_mean(name, completion.prompt_names())
            raise UsageError(f"no prompt '{name}'.{hint} See: cap prompts list")
        text = requests(registry.load_prompts(path.parent), path.parent.name)[path.stem]
    else:
        text = without_synonyms(load(path).text)
    found = {"prompt": name, "file": str(path), "text": text}
    print_result(found, [text.removesuffix("\n")])


@command.command("check")
@click.argument("target", required=False, metavar="[ROBOT|FILE|DIR]")
@option("prompts", "Folder with prompt files to check instead of the robot's own.")
@option("robot", "Robot that a FILE or DIR is for.", default="ravens", show_default=True)
@json_option
def check(target: str | None, prompts: Path | None, robot: str) -> int:
    """Run every example in the instant world; exit with code 1 if any fails.

    \b
    cap prompts check ravens
    cap prompts check my_prompts/ui.py -r kitchen

    A request of more than 3,000 tokens (estimated as characters / 4) also counts as a failure.
    Examples in a FILE or DIR are not run, because they may be for another robot; instead, the
    command lists what the names in these examples refer to and reports any errors.
    """  # noqa: D301
    if prompts is not None and target is None:
        target = robot
    if target is not None and target not in registry.robots():
        if Path(target).exists():
            return _inspect(Path(target), robot)
        hint = did_you_mean(target, registry.robots())
        raise UsageError(
            f"unknown robot '{target}', and no file or folder of that name.{hint}"
            " See: cap robots list"
        )
    rows, lines, failed = [], [], False
    for group in [target] if target else [name for name in registry.robots() if name in _groups()]:
        for prompt, count, findings in check_robot_prompts(group, Nearest(), prompts):
            name = f"{group}/{prompt.name}"
            failed |= not all(finding.skipped for finding in findings)
            found = [asdict(finding) for finding in findings]
            rows.append({"prompt": name, "examples": count, "findings": found})
            ran = count - sum(finding.line > 0 for finding in findings)
            lines += [f"{name}: {ran} of {count} examples run", *(f"  {one}" for one in findings)]
    print_result(rows, lines)
    return int(failed)


def _inspect(path: Path, robot: str) -> int:
    """Print what the names in prompt files stand for, and their findings."""
    body = registry.make_robot(robot, mode="instant")
    try:
        primitives = body.primitives()
    finally:
        body.close()
    folder = path if path.is_dir() else path.parent
    own = folder.parent / "robot.py"  # as `cap robots new` lays them out
    if folder.name == "prompts" and own.is_file() and robot != str(own):
        note = f"note: these stand beside a robot and are judged by the names of {robot}"
        remark(f"{note}; for the robot's own add -r {own}")
    lmps = [name for name, p in registry.robot_prompts(robot).items() if p.header.returns]
    serving = released.served(released.files(path), robot) if path.is_dir() else {}
    if all(name == stem for name, stem in serving.items()):  # a folder with names of its own
        serving = {}
    lines = [f"{name}: {stem}" for name, stem in serving.items()]
    if failed := bool(serving) and "ui" not in serving:
        lines.append(f"ui: no file is for robot {robot}")
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
        names = {
            "to be generated": report.generated,
            "to be given by who calls it": report.given,
        }
        about = [
            *(f"no header, inferred: {line}" for line in prompt.inferred),
            *(f"{kind}: {', '.join(found)}" for kind, found in names.items() if found),
            *map(str, report.findings),
        ]
        if not count:
            about.append("no example in it: a prompt has comments with code below them")
        lines += [f"{prompt.path}: {count} examples", *(f"  {line}" for line in about)]
    print_result(rows, lines)
    return int(failed)
