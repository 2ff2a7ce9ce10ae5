"""`cap completion SHELL`: the script that has Tab complete commands, options and their values.

What a word may be is looked up when Tab is pressed: robots, models, suites and prompts by name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
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


def _robot_names() -> Iterable[str]:
    from cap.robot import registry

    return registry.robots()


def _suite_names() -> Iterable[str]:
    from benchmarks.suite import names

    return names()


def _completes(names: Callable[[], Iterable[str]]) -> Callable[..., list[CompletionItem]]:
    """Return what completes a word: the names that begin so, or else files, such as the user's."""

    def complete(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in names() if name.startswith(typed)]
        return found or [CompletionItem(typed, type="file")]

    return complete


robots, models = _completes(_robot_names), _completes(model_names)
suites, prompts = _completes(_suite_names), _completes(prompt_names)
