"""`cap trace list|show|export`: earlier runs, read from their folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cap.cli.options import PATH, CommandGroup, json_option, option, unasked_config
from cap.cli.output import is_json, print_json, show, writing
from cap.errors import CapError, UsageError
from cap.messages import printable
from cap.trace.export import FORMATS
from cap.trace.reader import UNREADABLE, read_events, read_header


@click.group("trace", cls=CommandGroup)
def command() -> None:
    """List, show and export past runs."""


@command.command("list")
@click.option(
    "-n", "--last", type=click.IntRange(min=1), metavar="N", help="List only the newest N runs."
)
@json_option
def list_traces(last: int | None) -> None:
    """List runs, newest last.

    \b
    cap trace list -n 20
    cap trace list --json
    """  # noqa: D301
    rows: list[dict[str, Any]] = []
    found = sorted(unasked_config().runs.glob("*/run.json"))
    for path in found[-last:] if last else found:
        try:
            header = read_header(path.parent)
        except CapError as error:
            header = {"status": f"damaged: {error}"}
        more = ("robot", "seed", "seconds") if is_json() else ()
        keys = ("status", "model", *more)
        rows.append({"run": str(path.parent), **{key: header.get(key) for key in keys}})
    show(rows)


@command.command("show")
@click.argument("folder", type=PATH, required=False)
@option("verbose", is_flag=True)
@json_option
def show_trace(folder: Path | None, verbose: bool) -> None:
    """Show a run as it appeared in the terminal (default: the newest run).

    \b
    cap trace show
    cap trace show runs/... -v
    """  # noqa: D301
    from rich.console import Console

    from cap.trace.terminal import Live
    from cap.trace.trace import Event

    folder = folder or _newest()
    header = read_header(folder)
    events = read_events(folder)
    if is_json():
        for entry in events:
            print_json(entry)
        return
    live = Live(Console(highlight=False), verbose)
    shown = {key: header.get(key) for key in ("status", "robot", "mode", "model", "seed")}
    click.echo(" ".join(f"{key}={value}" for key, value in shown.items()))
    for number, entry in enumerate(events, start=1):
        if entry["kind"] == UNREADABLE:
            click.echo(f"line {entry['data']['line']} of events.jsonl cannot be read")
            continue
        try:
            live(Event(entry["kind"], entry["turn"], entry["depth"], entry["data"]))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
            odd = f"event {number}, '{entry['kind']}', has an unexpected format; --json shows it"
            click.echo(printable(odd))


@command.command("export")
@click.argument("folder", type=PATH, required=False)
@click.option(
    "--to", type=click.Choice(FORMATS), default="html", show_default=True, help="Output format."
)
@option(
    "out",
    "Output file or, for lerobot, output folder (default: in the run folder).",
    metavar="FILE",
)
@option("robot", "Robot file to use when repeating the run.", metavar="FILE")
@option("robot_options", "Set a robot option when repeating the run; repeatable.", multiple=True)
def export_trace(
    folder: Path | None,
    to: str,
    out: Path | None,
    robot: str | None,
    robot_options: tuple[str, ...],
) -> int:
    """Export a run for viewing or sharing (default: the newest run).

    \b
    cap trace export
    cap trace export runs/... --to gif
    cap trace export runs/... --to zip

    html and md are pages made from the run's records; zip is a single file for bug reports,
    without keys and without the name of your home folder. The other formats repeat the run in
    simulation without a model: gif and mp4 are videos, rrd is a Rerun recording, and lerobot is a
    LeRobot dataset (a folder with one episode per turn). The exit code is 1 if the results differ
    from those of the original run.
    """  # noqa: D301
    folder = folder or _newest()
    out = out or folder / ("lerobot" if to == "lerobot" else f"run.{to}")
    if to in ("html", "md", "zip"):
        from cap.files import write_whole
        from cap.trace.export import bundle, pages
        from cap.trace.export.run_record import RunRecord

        record = RunRecord.read(folder)
        with writing(out):
            if to == "zip":
                content = bundle.bundle(folder)
            else:
                text = pages.html(record) if to == "html" else pages.markdown(record)
                content = text.encode("utf-8", "backslashreplace")
            if out.exists() and not out.is_file():  # such as /dev/stdout, which stays what it is
                out.write_bytes(content)
                return 0
            write_whole(out, content)
        click.echo(str(out))
        return 0
    from cap.cli.film import film_run

    return film_run(folder, out, to, robot, robot_options)


def _newest() -> Path:
    runs: Path = unasked_config().runs
    found = sorted(runs.glob("*/run.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UsageError(f"no runs in {runs}; name a run folder, or run something first")
    return found[-1].parent
