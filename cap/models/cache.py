"""A disk cache of answers: a question that was answered is not sent again.

One JSON file an answer, named by the question and by the model. Only what would come again is kept:
answers at temperature 0, or with a seed. Failures never are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from cap.errors import UsageError
from cap.files import read_json, write_whole
from cap.models.base import Completion, Request, ScoreRequest, Scores, Usage
from cap.models.replay import request_key

A = TypeVar("A", bound=Completion | Scores)
NOTE = "from the cache"


class Cache:
    """A folder of answers; safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        """Open the folder; it is made if need be.

        Raises:
            UsageError: It cannot be made.
        """
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror or str(error)
            raise UsageError(
                f"cannot make the cache {folder}: {why}; choose another: --set cache=DIR"
            ) from None

    def answer(self, model: str, asked: Request | ScoreRequest, ask: Callable[[], A]) -> A:
        """Return the answer that is kept, or else ask for it and keep it.

        Args:
            model: What decides its answers, except the question.
            asked: The question.
            ask: Asks it.
        """
        if isinstance(asked, Request) and asked.temperature > 0 and asked.seed is None:
            return ask()
        name = hashlib.sha256(f"{model}\n{request_key(asked)}".encode()).hexdigest()
        path = self._folder / f"{name}.json"
        kept: A | None = _read(path, Completion if isinstance(asked, Request) else Scores)
        if kept is not None:
            return kept
        answer = ask()
        if not (isinstance(answer, Completion) and answer.empty):  # it may say more next time
            with contextlib.suppress(OSError):  # a full disk costs the cache, not the answer
                write_whole(path, json.dumps(asdict(answer)))
        return answer


def _read(path: Path, kind: type[Any]) -> Any:
    """Return a kept answer, which takes nothing; None if there is none, or it is damaged."""
    try:
        kept: Completion | Scores = msgspec.convert(read_json(path), kind)
    except (OSError, ValueError):
        return None
    notes = (*kept.notes, NOTE)
    if isinstance(kept, Completion):
        return replace(kept, notes=notes, requests=0, cost_usd=0.0)
    return replace(kept, notes=notes, usage=Usage())
