"""What endpoints can do, as far as it was tried; kept in a file under the person's cache folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cap.models.atomic_file import write_whole


@dataclass(frozen=True)
class Abilities:
    """What one model at one endpoint can do; None where nobody tried."""

    chat: bool | None = None
    """Takes messages."""
    completions: bool | None = None
    """Takes bare prompts."""
    streaming: bool | None = None
    """Tells its text while it is written."""
    stop: bool | None = None
    """Ends at stop strings."""
    seed: bool | None = None
    """Takes a seed; whether it heeds it, one request cannot tell."""
    logprobs: int | None = None
    """How many alternatives it gives for each token; 0 if none."""
    echo: bool | None = None
    """Gives the log-probabilities of a prompt's own tokens."""
    rung: str | None = None
    """The best way of comparing continuations, as in `Scores.rung`."""
    refused: tuple[str, ...] = ()
    """Parameters it does not take."""
    latency_s: float | None = None
    """How long the shortest answer took, in seconds."""
    checked: str | None = None
    """When it was checked, as `cap models check` does; a date."""


_TYPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("chat", "completions", "streaming", "stop", "seed", "echo"), bool),
    "logprobs": int,
    "rung": str,
    "latency_s": (int, float),
    "checked": str,
}
"""Of the entries of a file that have one value."""


class AbilitiesFile:
    """The abilities of every endpoint that was tried, by its identity; one JSON file."""

    def __init__(self, path: Path) -> None:
        """Name the file; it need not exist."""
        self._path = path

    def load(self, identity: str) -> Abilities:
        """Return what is known; what cannot be read or has the wrong type counts as unknown."""
        values = self._all().get(identity)
        if not isinstance(values, dict):
            return Abilities()
        known = {
            name: values[name]
            for name, kind in _TYPES.items()
            if isinstance(values.get(name), kind)
        }
        refused = values.get("refused")
        names = refused if isinstance(refused, list) else []
        return Abilities(**known, refused=tuple(name for name in names if isinstance(name, str)))

    def save(self, identity: str, abilities: Abilities) -> None:
        """Keep what is known; where the file cannot be written, it is found out again."""
        entries = {**self._all(), identity: asdict(abilities)}
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(entries, indent=1, sort_keys=True) + "\n")

    def _all(self) -> dict[str, Any]:
        try:
            values = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}


def abilities_file(environ: Mapping[str, str]) -> AbilitiesFile | None:
    """Return the person's own file; None where there is no home to keep it in."""
    cache, home = Path(environ.get("XDG_CACHE_HOME", "")), environ.get("HOME", "")
    if cache.is_absolute():
        return AbilitiesFile(cache / "cap" / "abilities.json")
    return AbilitiesFile(Path(home) / ".cache" / "cap" / "abilities.json") if home else None
