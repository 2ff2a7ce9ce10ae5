"""What endpoints can do, as far as it was tried; kept in a file under the person's cache folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from cap.config import cache_folder
from cap.files import read_json, write_whole


@dataclass(frozen=True)
class Abilities:
    """What one model at one endpoint can do; None where nobody tried."""

    chat: bool | None = None
    """Takes messages."""
    completions: bool | None = None
    """Takes bare prompts."""
    streaming: bool | None = None
    """Reports its text while it is written."""
    seed: bool | None = None
    """Takes a seed; whether it heeds it, one request cannot tell."""
    logprobs: int | None = None
    """How many alternatives it gives for each token; 0 if none."""
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
    checked: str | None = None
    """When it was checked, as `cap models check` does; a date."""


class AbilitiesFile:
    """The abilities of every endpoint that was tried, by its identity; one JSON file."""

    def __init__(self, path: Path) -> None:
        """Name the file; it need not exist."""
        self._path = path

    def load(self, identity: str) -> Abilities:
        """Return what is known; what cannot be read or has the wrong type counts as unknown."""
        try:
            return msgspec.convert(self._all().get(identity, {}), Abilities)
        except msgspec.ValidationError:
            return Abilities()

    def save(self, identity: str, abilities: Abilities) -> None:
        """Keep what is known; where the file cannot be written, it is found out again."""
        entries = {**self._all(), identity: asdict(abilities)}
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(entries, indent=1, sort_keys=True) + "\n")

    def _all(self) -> dict[str, Any]:
        try:
            values = read_json(self._path)
        except (OSError, ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}


def abilities_file() -> AbilitiesFile:
    """Return the person's own file."""
    return AbilitiesFile(cache_folder() / "abilities.json")
