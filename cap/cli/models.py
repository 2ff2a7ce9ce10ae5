"""`cap models list`."""

from __future__ import annotations

import click


@click.group("models")
def command() -> None:
    """List the models and endpoints you can name."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def list_models(as_json: bool) -> None:
    """List what `--model` takes."""
    from cap.cli.tables import show
    from cap.models import presets

    names = ("model", "what it is", "address", "key")
    show([dict(zip(names, row, strict=True)) for row in presets.list_models()], as_json)
