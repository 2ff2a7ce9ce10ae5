"""What endpoints can do, as far as it was tried; kept in a file under the person's cache folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from cap.files import read_json, write_whole


@dataclass(frozen=True)
class Abilities:
    """What one model at one endpoint can do; None where nobody tried."""

    logprobs: int | None = None
    """How many alternatives it gives for each token."""
    rung: str | None = None
    """The best way of comparing continuations, as in `Scores.rung`."""
    window: int | None = None
    """How many tokens of a prompt it is seen to read; more, unless it `cuts_off` there."""
    cuts_off: bool | None = None
    """Whether it reads a part of longer prompts, without a word."""
    pictures: bool | None = None
    """Takes a picture with the prompt; whether it looks at it, one request cannot tell."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Parameters it does not take, and the day each was refused."""


def load(path: Path, place: str) -> Abilities:
    """Return what a file has of an endpoint; what cannot be read or is damaged counts as unknown.

    Args:
        path: The file of all endpoints; it need not exist.
        place: Which of them: model, address and mode.
    """
    try:
        return msgspec.convert(_read(path).get(place, {}), Abilities)
    except msgspec.ValidationError:
        return Abilities()


def save(path: Path, place: str, abilities: Abilities) -> None:
    """Keep what is known; where the file cannot be written, it is found out again."""
    entries = {**_read(path), place: asdict(abilities)}
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(entries, indent=1, sort_keys=True) + "\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        values = read_json(path)
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
