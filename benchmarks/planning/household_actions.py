"""Household steps: their words, and back from words to steps.

A step in words has `the` before every name: `put the plate in the sink`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cap.planners.loop import DONE, Action

WORDS: Mapping[str, str] = {
    "walk": "walk to the {}",
    "find": "find the {}",
    "grab": "grab the {}",
    "putback": "put the {} on the {}",
    "putin": "put the {} in the {}",
    "open": "open the {}",
    "close": "close the {}",
    "switchon": "switch on the {}",
    "switchoff": "switch off the {}",
    "sit": "sit on the {}",
    "lie": "lie on the {}",
    "standup": "stand up",
    "drink": "drink the {}",
    "eat": "eat the {}",
    "read": "read the {}",
    "wash": "wash the {}",
    "wipe": "wipe the {}",
    "pour": "pour the {} into the {}",
    "watch": "watch the {}",
    "lookat": "look at the {}",
}
"""Each of the twenty skills as a sentence."""

_PATTERNS = {
    skill: re.compile(re.escape(words).replace(r"\{\}", "(.+)")) for skill, words in WORDS.items()
}


@dataclass(frozen=True)
class HouseObject:
    """One kind of thing, of which a house has one at most."""

    name: str
    """What it is called."""
    home: str
    """The room, or the object it usually is on or in."""
    can: frozenset[str]
    """Of `grab`, `surface`, `container`, `door`, `switch`, `sit`, `lie`, `drink`, `eat`, `read`,
    `wash`, `wipe`, `watch`, `tap`, `cloth`."""


def _things(home: str, **kinds: str) -> list[HouseObject]:
    return [
        HouseObject(name.replace("_", " "), home, frozenset(can.split()))
        for name, can in kinds.items()
    ]


ROOMS = ("kitchen", "living room", "bedroom", "bathroom")
OBJECTS: Mapping[str, HouseObject] = {
    thing.name: thing
    for thing in (
        *_things(
            "kitchen", fridge="container door", cupboard="container door", sink="container tap",
            counter="surface wipe", stove="surface switch wipe", table="surface wipe",
            chair="sit surface", dishwasher="container door switch", trash_can="container",
            coffee_maker="switch container", microwave="container door switch",
            kitchen_light="switch",
        ),
        *_things(
            "living room", sofa="sit lie surface", television="switch watch",
            coffee_table="surface wipe", bookshelf="surface", desk="surface wipe",
            computer="switch watch", living_room_light="switch",
        ),
        *_things(
            "bedroom", bed="sit lie surface", nightstand="surface wipe", dresser="container door",
            laundry_basket="container", bedroom_light="switch", radio="switch",
        ),
        *_things(
            "bathroom", bathtub="container sit", washbasin="surface tap wipe",
            washing_machine="container door switch", bathroom_cabinet="container door",
            bathroom_light="switch",
        ),
        *_things("fridge", milk="grab drink", juice="grab drink", apple="grab eat wash",
                 cheese="grab eat", water="grab drink"),
        *_things("cupboard", plate="grab wash", cup="grab wash", glass="grab wash",
                 bowl="grab wash", coffee="grab"),
        *_things("counter", sponge="grab cloth", bread="grab eat", knife="grab wash"),
        *_things("bookshelf", novel="grab read", magazine="grab read"),
        *_things("coffee table", newspaper="grab read", remote="grab"),
        *_things("desk", letter="grab read", pen="grab"),
        *_things("dresser", shirt="grab", towel="grab cloth", socks="grab"),
        *_things("nightstand", pillow="grab", phone="grab"),
        *_things("bathroom cabinet", toothbrush="grab wash", soap="grab"),
    )
}  # fmt: skip
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
