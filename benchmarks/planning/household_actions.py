"""Household steps: their words, and back from words to steps.

A step in words has `the` before every name: `put the plate in the sink`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks import task_file
from cap.planners.loop import DONE, Action


class HouseWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said in the house."""

    skills: dict[str, str]
    """Each skill as a sentence."""
    ways: dict[str, list[str]]
    """Other words for doing things, by the usual ones."""
    names: dict[str, list[str]]
    """Other names of things, by the usual ones."""


SAID = task_file.load_whole(Path(__file__).with_name("household_words.toml"), HouseWords)
WORDS: Mapping[str, str] = SAID.skills
_PATTERNS = {
    skill: re.compile(re.escape(words).replace(r"\{\}", "(.+)")) for skill, words in WORDS.items()
}


class HouseObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of thing, of which a house has one at most."""

    name: str
    """What it is called."""
    home: str
    """The room, or the object it usually is on or in."""
    can: frozenset[str]
    """Of `grab`, `surface`, `container`, `door`, `switch`, `sit`, `lie`, `drink`, `eat`, `read`,
    `wash`, `wipe`, `watch`, `tap`, `cloth`."""


ROOMS = ("kitchen", "living room", "bedroom", "bathroom")
OBJECTS: Mapping[str, HouseObject] = {
    thing.name: thing
    for thing in task_file.load(Path(__file__).with_name("household_things.jsonl"), HouseObject)
}
"""Everything a house may have."""


def action(skill: str, *names: str) -> Action:
    """Return a step."""
    return Action(skill, names, WORDS[skill].format(*names))


def bank() -> tuple[Action, ...]:
    """Return every step that can be said of a house, `done` last."""
    having = {
        trait: [thing.name for thing in OBJECTS.values() if trait in thing.can]
        for trait in ("grab", "surface", "container")
    }
    found = [action("walk", name) for name in (*ROOMS, *OBJECTS)]
    for skill in WORDS:
        if skill == "standup":
            found.append(action(skill))
        elif skill in ("putback", "putin", "pour"):
            targets = having["surface" if skill == "putback" else "container"]
            if skill == "pour":
                targets = ["cup", "glass", "bowl", "coffee maker", "sink"]
            found += [action(skill, a, b) for a in having["grab"] for b in targets if a != b]
        elif skill != "walk":
            found += [action(skill, name) for name in OBJECTS]
    return (*found, DONE)


def parsed(text: str) -> Action | None:
    """Return the step that words say exactly; None if they say none."""
    words = " ".join(text.lower().split()).rstrip(".")
    for skill, pattern in _PATTERNS.items():
        match = pattern.fullmatch(words)
        if match is None:
            continue
        names = [name.removeprefix("the ") for name in match.groups()]
        if all(name in OBJECTS or (skill == "walk" and name in ROOMS) for name in names):
            return action(skill, *names)
    return None


def plan_of(texts: Sequence[str]) -> list[Action | None]:
    """Return the steps of a plan in words, None for what is no step."""
    return [parsed(text) for text in texts if text != DONE.text]
