"""How a model is asked: declared once, handed on as one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cap.checker.declared_types import check_values
from cap.models.base import Mode


@dataclass(frozen=True)
class ModelSettings:
    """What a person may say of how a model is asked; None for the provider's own."""

    base_url: str | None = None
    """Address of the endpoint, up to and with `/v1`."""
    key_env: str | None = None
    """Environment variable its key is read from."""
    about: str | None = None
    """What it is, in a few words."""
    mode: Mode | None = None
    """`chat` or `completion`."""
    max_tokens: int | None = None
    """Longest answer, in tokens, where nobody says otherwise."""
    temperature: float | None = None
    """Of every request that has none of its own."""
    seed: int | None = None
    """Of every request that has none of its own."""
    reasoning_effort: str | None = None
    """How long it thinks, in its provider's words, such as `low`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """More headers; `$NAME` in a value is read from the environment."""
    query: Mapping[str, str] = field(default_factory=dict)
    """What follows the question mark of the address, such as an `api-version`."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """More fields of each request's body."""
    timeout_s: float | None = None
    """Longest wait for one completion, retries included, in seconds."""
    requests_per_minute: int | None = None
    """Most requests sent in any minute; None for no limit."""
    stream: bool | None = None
    """Whether answers come in pieces; None for where somebody watches."""

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            UsageError: A value is of another kind than its field.
        """
        check_values(self)
