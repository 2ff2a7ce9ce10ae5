"""`cap completion SHELL`: the script that has Tab complete commands, options and their values.

What a word may be is looked up when Tab is pressed: robots, models, suites and prompts by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from cap.errors import UsageError

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_CAP_COMPLETE"
"""Environment variable by which a shell asks for completions, or for its script."""


@click.command("completion")
@click.argument("shell", required=False, type=click.Choice(SHELLS))
def command(shell: str | None) -> int:
    """Print the completion script for a shell (default: the one in $SHELL).

    \b
    eval "$(cap completion bash)"             in ~/.bashrc
    eval "$(cap completion zsh)"              in ~/.zshrc, after compinit
    cap completion fish | source              in ~/.config/fish/config.fish
    """  # noqa: D301  (the backspace is click's mark for lines to leave alone)
    found = get_completion_class(shell or Path(os.environ.get("SHELL", "")).name)
    if found is None:
        raise UsageError(f"name the shell: cap completion {' or '.join(SHELLS)}")
    cli = click.get_current_context().find_root().command
    click.echo(found(cli, {}, "cap", VARIABLE).source())
    return 0


def model_names() -> list[str]:
    """Return the models that need no name, and the beginnings of the others: their providers."""
    from cap.models.providers import PROVIDERS

    return ["nearest", "replay/", *(f"{name}/" for name in PROVIDERS)]


def prompt_names() -> list[str]:
    """Return the shipped prompts: folder and name."""
    from cap.robot import registry

    files = sorted(registry.prompts_path().glob("*/*.py"))
    return [f"{path.parent.name}/{path.stem}" for path in files]


def robots(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the robots that begin so; or files, for the user's own robot."""
    from cap.robot import registry

    return _beginning(typed, registry.robots()) or [CompletionItem(typed, type="file")]


def models(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the models and providers that begin so."""
    return _beginning(typed, model_names())


def suites(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the suites that begin so; or files, for the user's own suite."""
    from benchmarks.suite import names

    return _beginning(typed, names()) or [CompletionItem(typed, type="file")]


def prompts(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the shipped prompts that begin so; or files."""
    return _beginning(typed, prompt_names()) or [CompletionItem(typed, type="file")]


def _beginning(typed: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(typed)]
