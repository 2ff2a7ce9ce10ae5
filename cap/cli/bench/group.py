"""`cap bench`: its commands, the list of suites, and the function-writing problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cap.cli.bench.report import compare, report
from cap.cli.bench.run import oracle, run, score
from cap.cli.options import PATH, CommandGroup, json_option
from cap.cli.output import PAGE, is_json, remark, show
from cap.errors import CapError, MissingExtra, UsageError


@click.group("bench", cls=CommandGroup)
def command() -> None:
    """Run benchmarks and compare models.

    \b
    cap bench list
    cap bench run tabletop -m nearest -n 1 --mode instant
    """  # noqa: D301


for _command in (run, oracle, score, report, compare):
    command.add_command(_command)


@command.command("list")
@json_option
def list_suites() -> None:
    """List the suites for cap bench run and cap bench oracle.

    \b
    cap bench list
    """  # noqa: D301
    from benchmarks.suite import names, suite

    rows = []
    for name in names():
        try:
            found = suite(name)
            try:
                cells = found.cells()
            except MissingExtra:  # what its tasks are is in a package that is not there
                cells = ()
        except CapError as error:
            remark(f"warning: {error}; it is left out")
            continue
        splits = [split for split in dict.fromkeys(split for _, split in cells) if split]
        rows.append(
            {
                "suite": name,
                "tasks": len({task for task, _ in cells}) or None,
                "what": found.about,
                "splits": splits if is_json() else ", ".join(splits),
            }
        )
    show(rows, columns=PAGE)
    if not is_json():
        click.echo("Your own suite is a folder or a Python file; see docs/benchmarks.md")


@command.command("problems")
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE]...")
@click.option(
    "--from",
    "plain",
    type=PATH,
    metavar="FILE.py",
    help="Convert Python functions with asserts into a problem file and print it.",
)
@click.option("--schema", is_flag=True, help="Print the format as a working example file.")
@click.option(
    "--check",
    is_flag=True,
    help="Check that every reference solution passes its tests and that every mutant (a "
    "deliberately wrong solution) fails; exit with code 1 if any problem is unsuitable.",
)
@json_option
def list_problems(files: tuple[Path, ...], plain: Path | None, schema: bool, check: bool) -> int:
    """List the problems in the given files (default: RoboCodeGen's).

    \b
    cap bench problems --check
    cap bench problems --schema
    """  # noqa: D301
    from benchmarks.problems.plain_python import converted
    from benchmarks.problems.schema import SCHEMA
    from benchmarks.robocodegen.suite import problem_set

    if is_json() and (schema or plain is not None):
        raise UsageError("--schema and --from print a file as it is; leave out --json")
    if schema:
        click.echo(SCHEMA, nl=False)
        return 0
    if plain is not None:
        click.echo(converted(plain))
        return 0
    found = problem_set([str(file) for file in files])
    if check:
        return _check(found)
    rows = [
        {
            "problem": problem.name,
            "family": problem.family,
            "generalisation": problem.generalisation,
            "reason": problem.reason,
            "parameters": ", ".join(problem.parameters),
            "cases": len(problem.cases) + (problem.random_cases if problem.random else 0),
            "mutants": len(problem.mutants),
        }
        for problem in found.problems.values()
    ]
    show(rows, columns=PAGE)
    return 0


def _check(found: Any) -> int:
    """Try every problem, and tell what is wrong with each that is not fit."""
    from benchmarks.problems.validation import check_problem

    findings = [check_problem(problem) for problem in found.problems.values()]
    rows = [
        {
            "problem": finding.problem.name,
            "cases": finding.cases,
            "mutants rejected": f"{finding.rejected}/{len(finding.problem.mutants)}",
            **({"faults": list(finding.faults)} if is_json() else {}),
        }
        for finding in findings
    ]
    show(rows, columns=PAGE)
    faulty = [finding for finding in findings if finding.faults]
    for finding in findings:
        for note in finding.notes:
            remark(f"note: {finding.problem.name}: {note}")
    for finding in faulty:
        for fault in finding.faults:
            remark(f"{finding.problem.name}: {fault}")
    remark(f"{len(findings) - len(faulty)} of {len(findings)} problems are suitable")
    return 1 if faulty else 0
