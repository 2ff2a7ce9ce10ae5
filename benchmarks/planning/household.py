"""A household: its steps in words, its tasks, what each step needs and changes.

A step in words has `the` before every name: `put the plate in the sink`. `House` is what is true,
plain data without a clock; `refusal` says why a step cannot be taken now, and `after` is the house
once it was. Sentences that can be asked and asked for:

    plate in sink      novel on sofa       holding cup       television is on
    fridge is open     cup is clean        milk was drunk    sitting on sofa
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from benchmarks import task_file
from benchmarks.planning.kitchen_tasks import plain
from benchmarks.planning.puzzles import StateWorld
from cap.planners.dialogue import DialogueLine
from cap.planners.loop import DONE, Action
from cap.planners.stand_in_models import Advice, Knowledge


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


@cache
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


class HouseholdTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task."""

    name: str
    """What is to be done, in everyday words."""
    split: Literal["demonstration", "test", "generalise"]
    """What it is for."""
    steps: tuple[str, ...]
    """The reference plan, `done` left out."""
    goals: tuple[str, ...]
    """Sentences that must be true in the end."""


TASKS = task_file.load(Path(__file__).with_name("household_tasks.toml"), HouseholdTask)
BY_WORDS = {plain(task.name): task for task in TASKS}
"""Every task by its plain words."""
DEMONSTRATIONS = tuple(task for task in TASKS if task.split == "demonstration")
TRIED = tuple(task for task in TASKS if task.split != "demonstration")


def lcs(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the longest common subsequence of two plans as a share of the longer one."""
    row = [0] * (len(second) + 1)
    for step in first:
        before = 0
        for at, other in enumerate(second, start=1):
            above = row[at]
            row[at] = before + 1 if step == other else max(above, row[at - 1])
            before = above
    return row[-1] / (max(len(first), len(second)) or 1)


HANDS = 2
"""Things that can be held at a time."""
SCENES = 5
_DEEDS = {"drink": "drunk", "eat": "eaten", "read": "read", "watch": "watched", "lookat": "seen",
          "wipe": "wiped"}  # fmt: skip
_STATES = {"open": ("open", True), "close": ("open", False), "switchon": ("on", True),
           "switchoff": ("on", False)}  # fmt: skip
"""The fact about a thing that a skill makes true, or false."""
_OTHERWISE = {"open": "closed", "on": "off"}
_WHERE = re.compile(r"(.+) (in|on) (.+)")


@dataclass(frozen=True)
class House:
    """What is true."""

    room: str = "bedroom"
    """Where the person who acts is."""
    near: frozenset[str] = frozenset()
    """Things within reach, beside those held."""
    posture: str = ""
    """`sitting on sofa` or `lying on bed`; "" standing."""
    held: tuple[str, ...] = ()
    """What is in the hands."""
    places: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The room or thing each thing is in or on; those that are not here are missing."""
    facts: frozenset[str] = frozenset()
    """Such as `fridge is open`, `television is on`, `cup is clean`, `milk was drunk`."""

    def room_of(self, name: str) -> str:
        """Return the room a thing is in."""
        while name not in ROOMS:
            name = self.room if name in self.held else self.places[name]
        return name

    def hidden(self, name: str) -> str:
        """Return the closed thing that another is in; "" if it can be seen."""
        where = self.places.get(name, "")
        while where and where not in ROOMS and name not in self.held:
            if "door" in OBJECTS[where].can and f"{where} is open" not in self.facts:
                return where
            where = self.places[where]
        return ""

    def holds(self, sentence: str) -> bool:
        """Return whether a sentence is true."""
        if sentence.startswith("holding "):
            return sentence.removeprefix("holding ") in self.held
        if sentence.startswith(("sitting on ", "lying on ")):
            return self.posture == sentence
        match = _WHERE.fullmatch(sentence)
        if match is not None and match[3] in (*OBJECTS, *ROOMS) and " is " not in sentence:
            return self.places.get(match[1]) == match[3]
        if sentence.endswith((" is off", " is closed")):
            name, _, state = sentence.rpartition(" is ")
            return f"{name} is {'on' if state == 'off' else 'open'}" not in self.facts
        return sentence in self.facts


def scene(number: int) -> House:
    """Return one of the houses: the usual one, or one that is otherwise here and there."""
    places = {name: thing.home for name, thing in OBJECTS.items()}
    facts: set[str] = set()
    room = ROOMS[number % len(ROOMS)]
    if number:
        generator = np.random.default_rng([number, 77])
        small = [name for name, thing in OBJECTS.items() if "grab" in thing.can]
        for name in generator.choice(small, 4, replace=False):
            del places[str(name)]
        left = [name for name in small if name in places]
        for name in generator.choice(left, 5, replace=False):
            places[str(name)] = str(generator.choice(["table", "counter", "coffee table", "bed"]))
        for name, thing in OBJECTS.items():
            if "door" in thing.can and generator.random() < 0.3:
                facts.add(f"{name} is open")
            if "switch" in thing.can and generator.random() < 0.3:
                facts.add(f"{name} is on")
    return House(room, places=places, facts=frozenset(facts))


def refusal(house: House, step: Action) -> str:
    """Return why a step cannot be taken now; "" if it can."""
    skill, names = step.skill, step.args
    missing = [name for name in names if name in OBJECTS and name not in house.places]
    if missing:
        return f"there is no {missing[0]} here"
    if skill == "standup":
        return "" if house.posture else "nobody sits or lies"
    if house.posture and skill in ("walk", "find", "sit", "lie"):
        return f"{house.posture}, so one must stand up first"
    name = names[0]
    if skill == "walk":
        return "" if name in ROOMS or not house.hidden(name) else _in(house, name)
    if skill in ("find", "lookat", "watch"):
        if name not in house.held and house.room_of(name) != house.room:
            return f"the {name} is in another room"
        if house.hidden(name):
            return _in(house, name)
        if skill == "watch" and "watch" not in OBJECTS[name].can:
            return f"there is nothing to watch on the {name}"
        off = skill == "watch" and f"{name} is on" not in house.facts
        return f"the {name} is off" if off else ""
    need_in_hand = skill in ("putback", "putin", "drink", "eat", "read", "pour")
    if need_in_hand and name not in house.held:
        return f"the {name} is not in the hand"
    for other in names[1:] if need_in_hand else names:
        if other not in house.near and other not in house.held:
            return f"the {other} is not within reach"
    return _unable(house, skill, names)


def _in(house: House, name: str) -> str:
    return f"the {name} is in the {house.hidden(name)}, which is closed"


def _unable(house: House, skill: str, names: Sequence[str]) -> str:
    """Return what is wrong with things that are in reach."""
    name, can = names[0], OBJECTS[names[0]].can
    traits = {"sit": "sit", "lie": "lie", "drink": "drink", "eat": "eat", "read": "read",
              "open": "door", "close": "door", "switchon": "switch", "switchoff": "switch",
              "wash": "wash", "wipe": "wipe", "grab": "grab"}  # fmt: skip
    if skill in traits and traits[skill] not in can:
        return f"the {name} is nothing to {skill}"
    if skill in _STATES:
        state, wanted = _STATES[skill]
        if skill == "switchon" and "door" in can and f"{name} is open" in house.facts:
            return f"the {name} is open"
        if (f"{name} is {state}" in house.facts) == wanted:
            return f"the {name} is {state if wanted else _OTHERWISE[state]} already"
        return ""
    match skill:
        case "grab":
            if name in house.held:
                return f"the {name} is in the hand already"
            if house.hidden(name):
                return _in(house, name)
            return "both hands are full" if len(house.held) >= HANDS else ""
        case "putback":
            return "" if "surface" in OBJECTS[names[1]].can else f"the {names[1]} is no surface"
        case "putin" | "pour":
            target = OBJECTS[names[1]].can
            if skill == "putin" and "container" not in target:
                return f"nothing goes into the {names[1]}"
            shut = "door" in target and f"{names[1]} is open" not in house.facts
            return f"the {names[1]} is closed" if shut else ""
        case "wash":
            taps = [n for n in house.near if "tap" in OBJECTS[n].can]
            return "" if taps else "there is no water within reach"
        case "wipe":
            cloths = [n for n in house.held if "cloth" in OBJECTS[n].can]
            return "" if cloths else "there is nothing in the hand to wipe with"
    return ""


def after(house: House, step: Action) -> House:
    """Return the house after a step that could be taken."""
    skill, names = step.skill, step.args
    if skill == "standup":
        return replace(house, posture="")
    name = names[0]
    if skill in _STATES:
        state, wanted = _STATES[skill]
        fact = frozenset([f"{name} is {state}"])
        return replace(house, facts=house.facts | fact if wanted else house.facts - fact)
    match skill:
        case "walk":
            if name in ROOMS:
                return replace(house, room=name, near=frozenset())
            moved = replace(house, room=house.room_of(name))
            return replace(moved, near=_around(moved, name))
        case "find":
            return replace(house, near=_around(house, name))
        case "grab":
            return replace(house, held=(*house.held, name), places={**house.places, name: "hand"})
        case "putback" | "putin":
            held = tuple(each for each in house.held if each != name)
            places = {**house.places, name: names[1]}
            return replace(house, held=held, places=places, near=house.near | {name})
        case "sit" | "lie":
            return replace(house, posture=f"{'sitting' if skill == 'sit' else 'lying'} on {name}")
        case "wash":
            return _with(house, f"{name} is clean")
        case "pour":
            return _with(house, f"{name} poured into {names[1]}")
    return _with(house, f"{name} was {_DEEDS[skill]}")


def _with(house: House, fact: str) -> House:
    return replace(house, facts=house.facts | {fact})


def _around(house: House, name: str) -> frozenset[str]:
    """Return what is within reach of who stands at a thing."""
    there = house.places.get(name, "")
    beside = {n for n, where in house.places.items() if where == name}
    return frozenset({name, *beside, *([there] if there in OBJECTS else [])})


def prepared(house: House, plan: Iterable[Action]) -> House:
    """Return the house with all that a plan takes for granted: what a person would see to.

    Things it names are there, where they usually are; what it opens, closes or switches is as it
    must be the first time; and what it takes without opening anything can be seen.
    """
    places, facts = dict(house.places), set(house.facts)
    first: dict[str, bool] = {}
    steps = list(plan)
    for step in steps:
        for name in step.args:
            if name in OBJECTS and (name not in places or "grab" in OBJECTS[name].can):
                places[name] = OBJECTS[name].home
        if step.skill in _STATES:
            state, wanted = _STATES[step.skill]
            first.setdefault(f"{step.args[0]} is {state}", wanted)
    facts = (facts | {fact for fact, wanted in first.items() if not wanted}) - {
        fact for fact, wanted in first.items() if wanted
    }
    opened = {step.args[0] for step in steps if step.skill in ("open", "close")}
    now = replace(house, places=places, facts=frozenset(facts))
    for name in {name for step in steps for name in step.args if name in OBJECTS}:
        within = now.hidden(name)
        target = any(step.skill == "putin" and step.args[1] == name for step in steps)
        if within and within not in opened:
            facts.add(f"{within} is open")
        if target and "door" in OBJECTS[name].can and name not in opened:
            facts.add(f"{name} is open")
    return replace(now, facts=frozenset(facts))


def unexecutable(house: House, plan: Sequence[Action | None]) -> str:
    """Return why a plan cannot be carried out whole; "" if it can."""
    for number, step in enumerate(plan, start=1):
        following = _moved(house, step.text if step else "")
        if isinstance(following, str):
            return f"step {number}: {following}"
        house = following
    return ""


def lacking(task: HouseholdTask, house: House) -> str | None:
    """Return which goals of a task are not true in a house; None if all are."""
    goals = [goal for goal in task.goals if not house.holds(goal)]
    return f"not so: {'; '.join(goals)}" if goals else None


def household_world(house: House) -> StateWorld:
    """Return a house as planners see it."""
    return StateWorld(bank(), house, _moved)


def _moved(house: House, text: str) -> House | str:
    """Return the house after a step in words, or why it cannot be taken."""
    step = parsed(text)
    why = "it is no step" if step is None else refusal(house, step)
    return why if why or step is None else after(house, step)


SYNONYMS: Mapping[str, str] = {
    **{way: usual for usual, ways in SAID.ways.items() for way in ways},
    **{way: usual for usual, ways in SAID.names.items() for way in ways if way != "book"},
}
"""What people say and what it is called here; a translator may know most of it."""
_OTHERS = tuple(sorted({step for task in TASKS for step in task.steps} | {DONE.text}))


class HouseholdKnowledge(Knowledge):
    """Knows the reference plans by the names of their tasks."""

    def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
        """Return the steps that are left of the plan; None for a task it does not know."""
        words = next((line.text for line in lines if line.kind == "person"), "")
        task = BY_WORDS.get(plain(words))
        if task is None:
            return None
        left = list(task.steps)
        for line in lines:
            if line.kind == "step" and left and line.text == left[0]:
                left.pop(0)
        return Advice(
            tuple((step,) for step in (*left, DONE.text)),
            task.goals,
            others=tuple(step for step in _OTHERS if not left or step != left[0]),
        )

    def worded(self, step: str, generator: np.random.Generator) -> str:
        """Return a step in free words: the usual ones now and then."""
        for usual, ways in SAID.ways.items():
            if step.startswith(usual + " "):
                way = str(generator.choice([usual, *ways]))
                step = way + step.removeprefix(usual)
                break
        for usual, ways in SAID.names.items():
            name = rf"\bthe {usual}\b"  # a cupboard is no cup
            if re.search(name, step):
                step = re.sub(name, f"the {generator.choice([usual, *ways])}", step)
        return step
