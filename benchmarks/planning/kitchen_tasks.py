"""SayCan's 101 instructions in seven families, its drawer tasks, and Inner Monologue's eight."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from benchmarks import task_file
from benchmarks.planning.kitchen_needs import KitchenTask, Need

COKES = ("coke can", "diet coke", "cherry coke")
SODAS = (*COKES, "pepsi", "7up", "lime soda", "grapefruit soda")
DRINKS = (*SODAS, "red bull", "tea", "water bottle")
CHIPS = ("jalapeno chips", "rice chips", "kettle chips", "multigrain chips")
SNACKS = (*CHIPS, "energy bar")
FOOD = (*SNACKS, "apple")
EVERYTHING = (*DRINKS, *FOOD, "sponge")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "cokes": COKES,
    "sodas": SODAS,
    "caffeine": (*COKES, "pepsi", "red bull", "tea"),
    "drinks": DRINKS,
    "chips": CHIPS,
    "snacks": SNACKS,
    "food": FOOD,
    "everything": EVERYTHING,
}
"""What names in a task's `objects` stand for; all others are objects themselves."""


def _spelled_out(need: Need) -> Need:
    names = tuple(name for entry in need.objects for name in GROUPS.get(entry, (entry,)))
    return msgspec.structs.replace(need, objects=names)


TASKS = tuple(
    msgspec.structs.replace(task, needs=tuple(map(_spelled_out, task.needs)))
    for task in task_file.load(Path(__file__).with_suffix(".toml"), KitchenTask)
)


def _of(*families: str) -> tuple[KitchenTask, ...]:
    return tuple(task for task in TASKS if task.family in families)


SAYCAN_FAMILIES = (
    "NL single",
    "NL nouns",
    "NL verbs",
    "Structured language",
    "Embodiment",
    "Crowd sourced",
    "Long horizon",
)
"""In the order of the paper's table."""
FAMILIES: Mapping[str, tuple[KitchenTask, ...]] = {name: _of(name) for name in SAYCAN_FAMILIES}
"""SayCan's tasks by family."""
SAYCAN = _of(*SAYCAN_FAMILIES)
"""The 101."""
DRAWER_TASKS = _of("Drawers")
"""SayCan's with its drawer skills."""
MONOLOGUE = _of("manipulation", "mobile manipulation", "drawers")
"""Inner Monologue's, in three families."""
OWN = _of("own")
"""To try planners by hand."""


def plain(words: str) -> str:
    """Return an instruction without what does not tell instructions apart."""
    text = " ".join(words.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    text = text.removeprefix("how would you ").removeprefix("please ")
    return text.strip(" .?!")


BY_WORDS: Mapping[str, KitchenTask] = {
    plain(task.words): task for task in (*OWN, *MONOLOGUE, *DRAWER_TASKS, *reversed(SAYCAN))
}
"""Every task by its plain words."""
