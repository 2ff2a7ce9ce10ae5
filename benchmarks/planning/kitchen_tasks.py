"""SayCan's 101 instructions in seven families, its drawer tasks, and Inner Monologue's eight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks import task_file
from benchmarks.planning.kitchen_needs import KitchenTask


class KitchenTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `kitchen_tasks.toml` holds."""

    groups: dict[str, tuple[str, ...]]
    """What names in a task's `objects` stand for, also in groups after it."""
    task: tuple[KitchenTask, ...]


_FILE = task_file.load_whole(Path(__file__).with_suffix(".toml"), KitchenTable)


def _spelled_out(names: Sequence[str]) -> tuple[str, ...]:
    """Return names with those of groups in their place."""
    spelled = [_spelled_out(_FILE.groups[n]) if n in _FILE.groups else (n,) for n in names]
    return tuple(name for part in spelled for name in part)


EVERYTHING = _spelled_out(["everything"])
TASKS = tuple(
    msgspec.structs.replace(
        task,
        needs=tuple(
            msgspec.structs.replace(need, objects=_spelled_out(need.objects)) for need in task.needs
        ),
    )
    for task in _FILE.task
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
