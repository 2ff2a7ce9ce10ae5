"""Everyday sentences with `nearest`: the verdict where a benchmark judges them, else the effect."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.record import doors
from tests.record.record import Case, Seen
from tests.record.values import plain, steady

SENTENCES = Path(__file__).parent / "everyday.jsonl"
COLOURS = {
    "usual": ("red blue green yellow", "red blue green yellow"),
    "other": ("pink cyan brown gray", "orange purple gray pink"),
}
"""The blocks and the bowls of each scene."""


def judged() -> Mapping[str, Case]:
    """Return the sentences that a benchmark judges."""
    return {key: partial(_verdict, verdict) for key, verdict in doors.everyday().items()}


def _verdict(verdict: Callable[[], str]) -> Seen:
    return Seen(verdict())


def cases() -> Mapping[str, Case]:
    """Return the other sets: what the last sentence of each short session does."""
    found: dict[str, Case] = {}
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        key = f"{entry['set']}/{entry['scene']}: {' / '.join(entry['turns'])}"
        found[key] = partial(_session, entry["scene"], entry["turns"])
    return found


def _session(scene: str, turns: list[str]) -> Seen:
    blocks, bowls = (words.split() for words in COLOURS[scene])
    objects = [*(f"{colour} block" for colour in blocks), *(f"{colour} bowl" for colour in bowls)]
    with doors.Session.open("ravens", "nearest", objects=objects, mode="instant") as session:
        done = [session.run(words) for words in turns]
    return outcome(done[-1])


def outcome(turn: doors.Turn) -> Seen:
    """Return what a turn did."""
    failure = turn.failure
    behaviour: dict[str, Any] = {"verdict": "done" if failure is None else "failed"}
    if failure is not None:
        behaviour |= {"kind": failure.kind, "error": failure.error}
        if failure.error == "NoMatch":
            behaviour["verdict"] = "declined"
    behaviour["effect"] = list(turn.effect.words)
    behaviour["at"] = {name: plain(pair[1]) for name, pair in turn.moved.items()}
    behaviour["said"] = list(turn.effect.said)
    behaviour["changed"] = {name: plain(pair[1]) for name, pair in turn.effect.changed.items()}
    behaviour = {key: value for key, value in behaviour.items() if value}
    wording = {"effect": turn.effect.line, "failure": steady(failure.message) if failure else ""}
    return Seen(behaviour, {key: value for key, value in wording.items() if value} or None)
