"""`cap skills list|show|check|remove|path`: functions that sessions kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from cap.cli.options import PATH, CommandGroup, ModelOptions, json_option, load_config, option
from cap.cli.output import print_result, show
from cap.cli.session import model_for
from cap.config import skills_folder
from cap.errors import SkillError
from cap.session.skills.skill_check import check_all, set_aside
from cap.session.skills.store import SkillStore, render

_folder_option = click.option(
    "--skills",
    "folder",
    type=PATH,
    metavar="DIR",
    help="Folder to use instead of the configured one.",
)


@click.group("skills", cls=CommandGroup)
def command() -> None:
    """List, show, check and remove saved functions."""


def _store(folder: Path | None) -> Any:
    return SkillStore(skills_folder(load_config(ModelOptions(), skills=folder)))


@command.command("list")
@_folder_option
@json_option
def list_skills(folder: Path | None) -> None:
    """List all skills, including damaged ones.

    \b
    cap skills list
    """  # noqa: D301
    store = _store(folder)
    aside = set_aside(store, ())
    show([_row(store, name, aside.get(name, "")) for name in store.names()])


def _row(store: Any, name: str, aside: str) -> dict[str, Any]:
    try:
        skill = store.get(name)
    except SkillError as error:
        return {"skill": name, "signature": "", "about": f"damaged: {error}", "needs": ""}
    needs = ", ".join(skill.calls)
    about = aside or skill.doc or skill.instruction
    return {"skill": name, "signature": skill.signature, "about": about, "needs": needs}


@command.command("show")
@click.argument("name")
@_folder_option
@json_option
def show_skill(name: str, folder: Path | None) -> None:
    """Print a skill file.

    \b
    cap skills show get_biggest
    """  # noqa: D301
    skill = _store(folder).get(name)
    found = msgspec.structs.asdict(skill)
    print_result(found, [render(skill).removesuffix("\n")])


@command.command("check")
@_folder_option
@option("robot", "Check only the skills of this robot (name or file).")
@option("model", "Model that answers LMP calls (default: the recorded answers are reused).")
@option("prompts", "Folder with prompt files to use instead of the shipped ones.")
@json_option
def check(folder: Path | None, robot: str | None, model: str | None, prompts: Path | None) -> int:
    """Run each skill's example; exit with code 1 if any fails.

    A skill whose example fails is disabled: sessions do not use it until its example passes again.

    \b
    cap skills check -r ravens
    """  # noqa: D301
    given = None
    if model is not None:
        given = model_for(load_config(ModelOptions(model=model)))
    found = check_all(_store(folder), robot, given, prompts)
    show([{"skill": one.skill, "came": one.came, "why": one.reason} for one in found])
    return int(any(one.came in ("set aside", "not run") for one in found))


@command.command("remove")
@click.argument("name")
@_folder_option
def remove_skill(name: str, folder: Path | None) -> None:
    """Delete a skill file.

    \b
    cap skills remove get_biggest
    """  # noqa: D301
    click.echo(f"removed {_store(folder).remove(name)}")
