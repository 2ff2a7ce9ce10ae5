"""Household tasks: names, reference plans in the usual house, and what must be true in the end.

Each way of doing things (`Drink ...`, `Read ...`) has a demonstration with one thing and tasks
to try with others; two ways have no demonstration at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.planning.household_actions import OBJECTS, ROOMS, action
from benchmarks.planning.kitchen_tasks import plain

Split = Literal["demonstration", "test", "generalise"]


@dataclass(frozen=True)
class HouseholdTask:
    """One task."""

    name: str
    """What is to be done, in everyday words."""
    steps: tuple[str, ...]
    """The reference plan, `done` left out."""
    goals: tuple[str, ...]
    """Sentences that must be true in the end."""
    split: Split
    """What it is for."""


def _get(name: str) -> list[tuple[str, ...]]:
    """Return the steps that get a thing in the hand from where it usually is."""
    home = OBJECTS[name].home
    if home in ROOMS:
        return [("walk", name), ("grab", name)]
    if "door" not in OBJECTS[home].can:
        return [("walk", home), ("grab", name)]
    return [("walk", home), ("open", home), ("find", name), ("grab", name), ("find", home),
            ("close", home)]  # fmt: skip


def _task(
    name: str, steps: Sequence[tuple[str, ...]], goals: Sequence[str], split: Split
) -> HouseholdTask:
    texts = tuple(action(skill, *names).text for skill, *names in steps)
    return HouseholdTask(name, texts, tuple(goals), split)


def _into(name: str, target: str, split: Split) -> HouseholdTask:
    there: list[tuple[str, ...]] = [("walk", target), ("putin", name, target)]
    if "door" in OBJECTS[target].can:
        there = [("walk", target), ("open", target), ("putin", name, target), ("close", target)]
    goals = [f"{name} in {target}"]
    goals += [f"{target} is closed"] if len(there) > 2 else []
    return _task(f"Put the {name} in the {target}", [*_get(name), *there], goals, split)


def _onto(name: str, target: str, split: Split) -> HouseholdTask:
    steps = [*_get(name), ("walk", target), ("putback", name, target)]
    return _task(f"Put the {name} on the {target}", steps, [f"{name} on {target}"], split)


def _read(name: str, split: Split) -> HouseholdTask:
    steps = [*_get(name), ("walk", "sofa"), ("sit", "sofa"), ("read", name)]
    return _task(f"Read the {name}", steps, [f"{name} was read", "sitting on sofa"], split)


def _drink(name: str, split: Split) -> HouseholdTask:
    goals = [f"{name} was drunk", "fridge is closed"]
    return _task(f"Drink the {name}", [*_get(name), ("drink", name)], goals, split)


def _eat(name: str, split: Split) -> HouseholdTask:
    return _task(f"Eat the {name}", [*_get(name), ("eat", name)], [f"{name} was eaten"], split)


def _wash(name: str, split: Split) -> HouseholdTask:
    steps = [*_get(name), ("walk", "sink"), ("wash", name)]
    return _task(f"Wash the {name}", steps, [f"{name} is clean"], split)


def _wipe(name: str, split: Split) -> HouseholdTask:
    steps = [*_get("sponge"), ("walk", name), ("wipe", name)]
    return _task(f"Wipe the {name}", steps, [f"{name} was wiped"], split)


def _turn_on(name: str, split: Split) -> HouseholdTask:
    return _task(f"Turn on the {name}", [("walk", name), ("switchon", name)], [f"{name} is on"],
                 split)  # fmt: skip


def _watch(name: str, seat: str, split: Split) -> HouseholdTask:
    steps = [("walk", name), ("switchon", name), ("find", seat), ("sit", seat), ("watch", name)]
    return _task(f"Watch the {name} on the {seat}", steps,
                 [f"{name} was watched", f"sitting on {seat}"], split)  # fmt: skip


def _launder(name: str, machine: str, split: Split) -> HouseholdTask:
    steps = [*_get(name), ("walk", machine), ("open", machine), ("putin", name, machine),
             ("close", machine), ("switchon", machine)]  # fmt: skip
    return _task(f"Clean the {name} with the {machine}", steps,
                 [f"{name} in {machine}", f"{machine} is on"], split)  # fmt: skip


def _make(name: str, machine: str, split: Split) -> HouseholdTask:
    steps = [*_get(name), ("walk", machine), ("putin", name, machine), ("switchon", machine)]
    return _task(f"Make {name}", steps, [f"{name} in {machine}", f"{machine} is on"], split)


def _rest(name: str, light: str, split: Split) -> HouseholdTask:
    steps = [("walk", light), ("switchon", light), ("switchoff", light), ("walk", name),
             ("lie", name)]  # fmt: skip
    return _task(f"Sleep on the {name}", steps, [f"lying on {name}", f"{light} is off"], split)


TASKS: tuple[HouseholdTask, ...] = (
    _drink("water", "demonstration"), _drink("milk", "test"), _drink("juice", "test"),
    _eat("cheese", "demonstration"), _eat("bread", "demonstration"), _eat("apple", "test"),
    _read("newspaper", "demonstration"), _read("letter", "demonstration"),
    _read("novel", "test"), _read("magazine", "test"),
    _into("bread", "fridge", "demonstration"), _into("plate", "sink", "demonstration"),
    _into("shirt", "laundry basket", "demonstration"),
    _into("newspaper", "trash can", "demonstration"), _into("letter", "trash can", "test"),
    _into("knife", "sink", "test"), _into("towel", "laundry basket", "test"),
    _into("cup", "dishwasher", "test"), _into("phone", "dresser", "test"),
    _onto("magazine", "bed", "demonstration"), _onto("cup", "table", "demonstration"),
    _onto("novel", "nightstand", "test"), _onto("glass", "coffee table", "test"),
    _onto("pillow", "sofa", "test"),
    _wash("plate", "demonstration"), _wash("knife", "demonstration"), _wash("cup", "test"),
    _wash("bowl", "test"),
    _wipe("table", "demonstration"), _wipe("counter", "test"), _wipe("desk", "test"),
    _turn_on("kitchen light", "demonstration"), _turn_on("radio", "test"),
    _turn_on("bathroom light", "test"),
    _watch("television", "sofa", "demonstration"),
    _launder("plate", "dishwasher", "demonstration"), _launder("shirt", "washing machine", "test"),
    _launder("bowl", "dishwasher", "test"),
    _make("coffee", "coffee maker", "generalise"), _rest("bed", "bedroom light", "generalise"),
    _rest("sofa", "living room light", "generalise"),
)  # fmt: skip
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
