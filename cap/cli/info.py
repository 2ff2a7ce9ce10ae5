"""`cap info`: what to paste in an issue."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import click
from packaging.requirements import Requirement

from cap import config
from cap.cli.options import json_option, unasked_config
from cap.cli.output import PAGE, is_json, print_json, remark, show
from cap.errors import SandboxError, install_extra
from cap.robot import registry


@click.command("info")
@click.option(
    "--config",
    "only_config",
    is_flag=True,
    help="Show only the configuration: its files and all settings, each with its value, default "
    "and source.",
)
@json_option
def command(only_config: bool) -> None:
    """Show versions, settings, robots, API key status and sandbox layers.

    \b
    cap info
    cap info --config --json
    """  # noqa: D301
    found: dict[str, Any] = {} if only_config else _environment()
    found |= {"files": _files(), "settings": _settings()}
    if is_json():
        print_json(found)
        return
    settings = found.pop("settings")
    for title, values in found.items():
        click.echo(f"{title}:")
        for name, value in values.items():
            click.echo(f"  {name}: {value}")
    click.echo("settings for --set KEY=VALUE and the files:")
    shown = ("value", "default", "source")
    rows = [{"setting": key, **{of: row[of] for of in shown}} for key, row in settings.items()]
    show(rows, columns=PAGE)


def _settings() -> dict[str, dict[str, str]]:
    """Return every setting with its value, its default, where it comes from and what it is."""
    settings, usual = unasked_config(), config.Config()
    for warning in settings.warnings:
        remark(f"warning: {warning}")
    return {
        name: {
            "value": _shown(getattr(settings, name)),
            "default": _shown(getattr(usual, name)),
            "source": settings.sources[name],
            "about": about,
        }
        for name, about in config.SETTINGS.items()
    }


def _files() -> dict[str, str]:
    """Return where settings, kept functions and answers are, and what a folder's file may set."""
    personal, local = config.config_file(), Path.cwd() / "cap.toml"
    return {
        "your settings": f"{personal}{'' if personal.exists() else ' (does not exist)'}",
        "folder settings": f"{local}{'' if local.exists() else ' (does not exist)'}",
        "a folder may set": f"{', '.join(config.FOLDER_MAY_SET)}; the rest needs your approval",
        "saved functions": str(config.skills_folder(unasked_config())),
        "endpoint capabilities": str(config.abilities_file()),
        "environment": ", ".join(config.ENVIRONMENT),
    }


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value in (None, {}) else str(value)


def _environment() -> dict[str, Any]:
    from cap.models.providers import PROVIDERS
    from cap.trace.trace import versions

    extras = _extras()
    robots = {
        entry.name: registry.shadowed(entry.module.split(".")[0])
        or ("ok" if extras.get(entry.name, "installed") == "installed" else "needs its extra")
        for entry in registry.robots().values()
    }
    keys = {
        p.key_env: "set" if os.environ.get(p.key_env) else "not set" for p in PROVIDERS.values()
    }
    return {
        "versions": versions(),
        "extras": extras,
        "robots": robots,
        "keys": keys,
        "sandbox": _sandbox(),
        "prompts": {"folder": str(registry.prompts_path())},
    }


def _extras() -> dict[str, str]:
    """Return of each extra whether it is installed, and what installs it on this Python."""
    about = metadata.metadata("code-as-policies")
    needs = [Requirement(line) for line in about.get_all("Requires-Dist") or ()]
    shown = {}
    for extra in sorted(set(about.get_all("Provides-Extra") or ()) - {"dev", "soak"}):
        here = [need for need in needs if need.marker and need.marker.evaluate({"extra": extra})]
        if not here:
            shown[extra] = f"none for Python {sys.version_info[0]}.{sys.version_info[1]} here"
        else:
            shown[extra] = "installed" if all(map(_installed, here)) else install_extra(extra)
    return shown


def _installed(need: Requirement) -> bool:
    try:
        return metadata.version(need.name) in need.specifier
    except metadata.PackageNotFoundError:
        return False


def _sandbox() -> dict[str, str]:
    """Return the level, the layers that were seen to hold, and why others do not."""
    from cap.sandbox.client import shared_template

    try:
        report = shared_template().report()
    except SandboxError as error:
        return {"level": f"none: {error}"}
    missing = {f"without {name}": reason for name, reason in report.missing.items()}
    return {"level": report.level, "layers": ", ".join(report.layers), **missing}
