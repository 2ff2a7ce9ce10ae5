"""`cap robots list|show|new|scene|check|camera`."""

from __future__ import annotations

import contextlib
import datetime
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from cap.cli import completion
from cap.cli.approval import ask_person
from cap.cli.options import FILE, PATH, CommandGroup, json_option, option, robot_values, split_names
from cap.cli.output import print_result, remark, show, writing
from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, Stopped, UsageError
from cap.robot import registry
from cap.robot.protocol import BringUp, Step

if TYPE_CHECKING:
    from robots.perception.hand_eye import Fit, HandEye


@dataclass(frozen=True)
class Checked:
    """The result of a step of a bring-up."""

    title: str
    """Of the step."""
    result: Literal["ok", "failed", "declined", "interrupted", "not done"]
    """`not done` behind a step that failed or was declined."""
    finding: str
    """What was found, or what is wrong and the remedy."""
    question: str = ""
    """What the person was asked, if anything."""
    exit_code: int = 0
    """Of the error it failed with, of what it lacked, or of what interrupted it."""


@click.group("robots", cls=CommandGroup)
def command() -> None:
    """List, show, create and check robots."""


@command.command("list")
@json_option
def list_robots() -> None:
    """List all registered robots.

    \b
    cap robots list --json
    """  # noqa: D301
    rows = [{"robot": entry.name, "from": entry.value} for entry in registry.robots().values()]
    show(rows)


@command.command("show")
@click.argument("name", shell_complete=completion.robots)
@json_option
def show_robot(name: str) -> None:
    """Show a robot's primitives as a model reads them: signatures, units and failures.

    \b
    cap robots show ravens
    """  # noqa: D301
    import inspect
    import textwrap

    robot = registry.make_robot(name, mode="instant")
    about = inspect.getdoc(type(robot)) or ""
    rows, lines = [], [f"{name}: {about}"]
    for p in robot.primitives().values():
        signature = str(p.signature)
        rows.append({"name": p.name, "kind": p.kind, "signature": signature, "doc": p.doc})
        lines += [f"\n{p.name}{signature}    [{p.kind}]", textwrap.indent(p.doc, "    ")]
    robot.close()
    print_result({"robot": name, "about": about, "primitives": rows}, lines)


@command.command("new")
@click.argument("name")
@option("out", "Folder to create (default: NAME).")
def new_robot(name: str, out: Path | None) -> None:
    """Create a working robot to start from: class, prompts, task, oracle and test.

    \b
    cap robots new my_arm
    """  # noqa: D301
    from cap.robot.skeleton import write

    folder = Path(name) if out is None else out
    for path in write(name, folder):
        click.echo(f"wrote {path}")
    click.echo(f'try: cap run "move the red marker to the left" -r {folder / "robot.py"}')


@command.command("scene")
@click.argument("name", shell_complete=completion.robots)
@option("seed", "Seed for the scene.", default=0, show_default=True)
@option("objects")
@option("out", "File to write (default: standard output).", type=FILE, metavar="FILE")
def scene(name: str, seed: int, objects: str | None, out: Path | None) -> None:
    """Write the scene for a seed as TOML; you can edit it and load it with -R scene=FILE.

    \b
    cap robots scene ravens --seed 3 --out scene.toml
    """  # noqa: D301
    chosen = split_names(objects, "--objects", "red block, blue bowl")
    robot: Any = registry.make_robot(name, mode="instant", seed=seed, objects=chosen)
    try:
        if not hasattr(robot, "scene_text"):
            raise UsageError(f"robot '{name}' has no scenes that can be saved")
        begun = f"cap repl -r {shlex.quote(name)} --seed {seed} -R scene="
        text = robot.scene_text(
            f"{name}, seed {seed}, which decides what is not listed: {begun}FILE"
        )
    finally:
        robot.close()
    if out is None:
        click.echo(text, nl=False)
        return
    with writing(out), out.open("x", encoding="utf-8") as file:
        file.write(text)
    click.echo(f"wrote {out}; try: {begun}{shlex.quote(str(out))}")


@command.command("check")
@click.argument("robot", metavar="NAME|FILE", shell_complete=completion.robots)
@option("ask", "Ask before each example that moves a real robot.", is_flag=True)
@option("yes", "Do not ask before examples that move a real robot.", is_flag=True)
@json_option
@option(
    "robot_options",
    "Robot option for bringing up the real robot, such as host=192.168.0.10; repeatable.",
    multiple=True,
)
def check(robot: str, ask: bool, yes: bool, robot_options: tuple[str, ...]) -> int:
    """Check a robot's types, documented units, reproducibility and prompts.

    \b
    cap robots check my_arm/robot.py
    cap robots check tabletop -R host=192.168.0.10

    The exit code is 1 if the check finds errors. FILE is executed, so check only files that you
    trust.
    Without --ask or --yes, examples that would move a real robot (one with simulated = False) are
    skipped, and the output lists them.

    With -R, the command brings up a real robot instead: it guides you through a checklist, from
    read-only steps to the first slow motion, asks before each motion and writes a log,
    bring-up-DATE.md.
    """  # noqa: D301
    from cap.models.providers import make_model
    from cap.validation.robots import check_robot

    if robot_options:
        if ask or yes:
            raise UsageError("a bring-up asks before each motion; leave out --ask and --yes")
        return _bring_up(robot, robot_values(robot_options))
    if ask and yes:
        raise UsageError("--ask and --yes contradict each other; give one of them")
    approve = _shown_and_asked if ask else (lambda source: True) if yes else None
    findings = list(check_robot(robot, make_model("nearest"), approve))
    good = all(finding.skipped for finding in findings)
    lines = [*map(str, findings), *[f"{robot}: no problems found"] * good]
    print_result([vars(finding) for finding in findings], lines)
    return int(not good)


def _bring_up(robot: str, options: dict[str, Any]) -> int:
    """Walk a real robot's checklist with the user, and write down the result of each step.

    Each step rests on those before it, so the first that is not ok ends the checklist.
    """
    began = datetime.datetime.now().astimezone()
    checklist = registry.bring_up(robot, options)
    path = Path(f"bring-up-{began:%Y-%m-%d-%H%M%S}.md")
    listed = ", ".join(f"{name}={value}" for name, value in options.items()) or "none"
    head = f"# Bring-up of {robot}\n\n{began:%Y-%m-%d %H:%M:%S %z}; options: {listed}\n\n"
    with writing(path):
        path.write_text(head, encoding="utf-8")
    checked: list[Checked] = []
    ended = ""
    try:
        for number, step in enumerate(checklist.steps(), 1):
            if ended:
                done = Checked(step.title, "not done", f"after: {ended}")
            else:
                done = _checked_step(step, checklist)
                ended = "" if done.result == "ok" else step.title
            checked.append(done)
            asked = f" (asked: {done.question})" if done.question else ""
            row = f"{number}. {done.title}{asked}: **{done.result}**: {done.finding}\n"
            with writing(path), path.open("a", encoding="utf-8") as file:  # what was done is there
                file.write(row)
            with contextlib.suppress(OSError):  # the terminal may be gone
                click.echo(f"{number:2d} {done.result:8} {done.title}: {done.finding}")
    finally:
        checklist.close()
    with contextlib.suppress(OSError):
        print_result([vars(step) for step in checked], [f"log: {path}"])
    failed = max(step.exit_code for step in checked)
    return failed or int(any(step.result != "ok" for step in checked))


def _checked_step(step: Step, checklist: BringUp) -> Checked:
    """Ask the user, then do a step; return its result."""
    question = step.question
    if question and not sys.stdin.isatty():
        lacks = "it needs a terminal to ask you: run it in one"
        return Checked(step.title, "not done", lacks, question, UsageError.exit_code)
    try:
        if question and not ask_person(question):
            return Checked(step.title, "declined", "the user said no", question)
        return Checked(step.title, "ok", step.do(), question)
    except CapError as error:
        checklist.stop()
        why = f"{type(error).__name__}: {error}"
        return Checked(step.title, "failed", why, question, error.exit_code)
    except (KeyboardInterrupt, Stopped) as stop:
        checklist.stop()
        stop_signals.taken()  # what is left is only to be written down
        code = 130 if isinstance(stop, KeyboardInterrupt) else int(str(stop.code))
        why = "it was interrupted: check that the robot is at rest"
        return Checked(step.title, "interrupted", why, question, code)


def _shown_and_asked(source: str) -> bool:
    """Show an example's program and ask whether it may run."""
    for line in source.splitlines():
        remark(f"  {line}")
    return ask_person("Run this example on the real robot?")


@command.command("camera")
@click.argument("file", type=PATH)
@click.option(
    "--pairs",
    "pairs_file",
    type=PATH,
    metavar="PAIRS",
    help="File with the measured pairs (each a TCP pose and a marker position) against which to "
    "check the calibration.",
)
@click.option(
    "--solve",
    is_flag=True,
    help="Compute the calibration from the pairs and write it to FILE, which must not already "
    "exist.",
)
@click.option("--name", metavar="TEXT", help="With --solve, the camera's name (default: camera).")
@click.option("--serial", metavar="TEXT", help="With --solve, the camera's serial number.")
@click.option(
    "--limit-mm",
    type=click.FloatRange(min=0, min_open=True),
    default=3.0,
    show_default=True,
    metavar="MM",
    help="Maximum median error in millimetres; the maximum error (max_mm) may be up to three times "
    "this limit, and the camera's position error (off_mm) up to twice this limit.",
)
@json_option
def check_camera(
    file: Path,
    pairs_file: Path | None,
    solve: bool,
    name: str | None,
    serial: str | None,
    limit_mm: float,
) -> int:
    """Check a camera's hand-eye calibration; exit with code 1 if the measured pairs do not fit it.

    \b
    cap robots camera camera.toml --pairs pairs.toml
    cap robots camera camera.toml --pairs pairs.toml --solve --name hand
    """  # noqa: D301
    from robots.perception import hand_eye

    fit: Fit | None = None
    if not solve and (name or serial):
        raise click.UsageError("--name and --serial go with --solve")
    if solve:
        if pairs_file is None:
            raise click.UsageError("--solve needs --pairs PAIRS")
        if file.exists():
            raise click.UsageError(f"{file} exists; remove it, or leave out --solve to check it")
        found, fit = _solved(hand_eye.load_pairs(pairs_file), name or "camera", serial)
        if fit.ok(limit_mm):
            file.write_text(found.text(), encoding="utf-8")
    else:
        found = hand_eye.load(file)
        if pairs_file is not None:
            fit = hand_eye.check(found, hand_eye.load_pairs(pairs_file))
    _show(found, fit, limit_mm)
    return int(fit is not None and not fit.ok(limit_mm))


def _solved(pairs: Any, name: str, serial: str | None) -> tuple[HandEye, Fit]:
    from robots.perception import hand_eye

    pose, fit = hand_eye.solve(pairs)
    made = hand_eye.HandEye(
        camera=name,
        mount=pairs.mount,
        pose=pose,
        date=datetime.date.today(),
        method="points",
        serial=serial,
        pairs=len(pairs.pairs),
        residual_median_mm=fit.median_mm,
        residual_max_mm=fit.max_mm,
    )
    return made, fit


_OF_A_FIT = ("median_mm", "max_mm", "off_mm", "gain")


def _show(found: HandEye, fit: Fit | None, limit_mm: float) -> None:
    """Print what the file says and how it fits."""
    from robots.perception.hand_eye import ERROR_LIMITS

    facts: dict[str, Any] = {
        "camera": found.camera,
        "serial": found.serial,
        "mount": found.mount,
        "position_m": [round(float(part), 6) for part in found.pose[:3, 3]],
        "date": found.date.isoformat(),
        "method": found.method,
    }
    if fit is not None:
        facts |= {
            "pairs": len(fit.errors_mm),
            **{name: round(getattr(fit, name), 3) for name in _OF_A_FIT},
            "worst_pair": int(fit.errors_mm.argmax()) + 1,
            "limit_mm": limit_mm,
            "ok": fit.ok(limit_mm),
        }
    lines = [f"{key}: {value}" for key, value in facts.items() if value is not None and key != "ok"]
    if fit is None:
        lines.append(
            "the file is well formed; to check it against measurements, pass --pairs PAIRS"
        )
    elif fit.ok(limit_mm):
        lines.append("ok")
    else:
        most = [f"{times * limit_mm:g}" for times in ERROR_LIMITS.values()]
        lines.append(
            f"refused: median_mm may be {most[0]}, max_mm {most[1]} and off_mm {most[2]}; "
            "measure the worst pair again, or calibrate again"
        )
    print_result(facts, lines)
