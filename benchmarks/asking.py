"""Whom a trial asks: a model by name, counted; and the options every suite takes."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from benchmarks.suites import Settings
from cap.errors import ModelError, UsageError, did_you_mean
from cap.models.base import Completion, Model, Request, Usage
from cap.models.presets import make_model
from cap.sandbox import Limits

MODEL_OPTIONS = ("base_url", "limits", "model_mode", "timeout_s")
"""What `Settings.options` may hold for the model and its programs."""


class Meter:
    """A model that keeps count of what it was asked."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.requests = 0
        """Questions, unanswered ones too."""
        self.usage = Usage()
        """What the answers took."""
        self._model = model
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Completion:
        """Hand the request on and count it."""
        with self._lock:
            self.requests += 1
        completion = self._model.complete(request)
        with self._lock:
            self.usage = self.usage.plus(completion)
        return completion


class Nobody:
    """Stands where a baseline has no model."""

    name = "nobody"

    def complete(self, request: Request) -> Completion:
        """Refuse.

        Raises:
            ModelError: Always.
        """
        raise ModelError("a baseline asks no model; its program may not call LMPs")


def model_of(settings: Settings) -> Model:
    """Return the model of some settings, the same one within a process.

    Raises:
        UsageError: No such model.
        MissingKey: It needs a key and none is set.
    """
    options = settings.options
    return made(
        settings.model,
        options.get("base_url"),
        options.get("model_mode"),
        options.get("timeout_s"),
    )


@cache
def made(spec: str, base_url: Any, mode: Any, timeout_s: Any) -> Model:
    """Return a model by its name and how to reach it, made once for each process."""
    return make_model(spec, base_url=base_url, mode=mode, timeout_s=timeout_s, environ=os.environ)


def limits_of(given: Mapping[str, Any], usual: Limits | None = None) -> Limits:
    """Return the limits of every program.

    Raises:
        UsageError: A limit of that name does not exist.
    """
    known_or_refused("limit", list(given), [entry.name for entry in fields(Limits)])
    return Limits(**{**vars(usual or Limits()), **given})


def check_options(settings: Settings, known: Sequence[str] = MODEL_OPTIONS) -> None:
    """Refuse options a suite does not take.

    Raises:
        UsageError: With those it takes.
    """
    if unknown := sorted(set(settings.options) - set(known)):
        raise UsageError(f"unknown options {unknown}; known: {', '.join(known)}")


def known_or_refused(what: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    """Refuse a name that is not known.

    Raises:
        UsageError: With the nearest names and all of them.
    """
    for name in given or ():
        if name not in known:
            listed = ", ".join(dict.fromkeys(known))
            hint = did_you_mean(name, dict.fromkeys(known))
            raise UsageError(f"unknown {what} '{name}'.{hint} Known: {listed}")


def chosen(
    cells: Sequence[tuple[str, str]],
    n: int,
    tasks: Sequence[str] | None,
    splits: Sequence[str] | None,
) -> list[tuple[str, str]]:
    """Return the cells asked for, in their order.

    Raises:
        UsageError: No trials are asked for, or an unknown task or split, or none that is in both.
    """
    if n < 1:
        raise UsageError(f"cannot run {n} trials; ask for 1 or more with -n")
    known_or_refused("task", tasks, [task for task, _ in cells])
    known_or_refused("split", splits, [split for _, split in cells])
    found = [
        (task, split)
        for task, split in cells
        if (not tasks or task in tasks) and (not splits or split in splits)
    ]
    if not found:
        raise UsageError(f"none of the tasks {tasks} is in the splits {splits}")
    return found
