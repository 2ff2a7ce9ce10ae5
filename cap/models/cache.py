"""A disk cache around any model: the same request is asked once.

One JSON file an answer, named by the request and by whom it went to. Only what would come again
is kept: answers at temperature 0, or with a seed. Failures never are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from cap.errors import UsageError
from cap.files import read_json, write_whole
from cap.models.base import Completion, Mode, Model, Request
from cap.models.replay import request_key
from cap.models.wrapper import Ask, Wrapped

NOTE = "from the cache"


class Cached(Wrapped):
    """A model whose answers are kept in a folder."""

    def __init__(self, model: Model, folder: Path) -> None:
        """Wrap a model.

        Args:
            model: Whom to ask what is not in the cache.
            folder: Where answers are kept; made if need be.

        Raises:
            UsageError: The folder cannot be made.
        """
        super().__init__(model)
        self._folder = folder
        self._lock = threading.Lock()
        self._asking: dict[Path, tuple[threading.Lock, int]] = {}
        """What is being asked just now, and by how many."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror or str(error)
            raise UsageError(
                f"cannot make the cache {folder}: {why}; use another --cache"
            ) from None

    def _through(self, request: Request, ask: Ask) -> Completion:
        if request.temperature > 0 and request.seed is None:
            return ask()
        path = self._path(request_key(request))
        with self._alone(path):
            if (kept := _completion(_read(path))) is not None:
                return replace(kept, requests=0, cost_usd=0.0, notes=(*kept.notes, NOTE))
            completion = ask()
            if not completion.empty:  # it is asked again, and may have more to say then
                _write(path, asdict(completion))
            return completion

    def _through_bare(
        self, mode: Mode, parameters: Mapping[str, Any], ask: Callable[[], Any]
    ) -> Any:
        if parameters.get("temperature") != 0 and "seed" not in parameters:
            return ask()
        path = self._path(json.dumps([mode, parameters], sort_keys=True))
        with self._alone(path):
            kept = _read(path)
            if isinstance(kept, dict) and "body" in kept:
                return kept["body"]
            body = ask()
            _write(path, {"body": body})
            return body

    @contextlib.contextmanager
    def _alone(self, path: Path) -> Iterator[None]:
        """Have those who ask the same at the same time wait for one answer."""
        with self._lock:
            lock, waiting = self._asking.get(path, (threading.Lock(), 0))
            self._asking[path] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, waiting = self._asking[path]
                self._asking[path] = lock, waiting - 1
                if waiting == 1:
                    del self._asking[path]

    def _path(self, key: str) -> Path:
        text = f"{self.identity}\n{key}"
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json"


def _read(path: Path) -> Any:
    """Return what a file holds; None if there is none, or it is damaged."""
    try:
        return read_json(path)
    except (OSError, ValueError, RecursionError):
        return None


def _completion(values: Any) -> Completion | None:
    """Return a kept completion; None if it is damaged."""
    try:
        return msgspec.convert(values, Completion)
    except msgspec.ValidationError:
        return None


def _write(path: Path, values: Mapping[str, Any]) -> None:
    with contextlib.suppress(OSError):  # a full disk costs the cache, not the answer
        write_whole(path, json.dumps(values))
