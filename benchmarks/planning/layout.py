"""The tables of the suite `planning`: rows, planners, models, and the papers' values of a cell."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import published, tabletop
from benchmarks.planning import trials
from benchmarks.planning.household_tasks import TRIED, HouseholdTask
from benchmarks.planning.household_world import SCENES
from benchmarks.planning.kitchen_tasks import FAMILIES, MONOLOGUE
from benchmarks.planning.search_trials import COLUMNS, ROWS
from benchmarks.tabletop.inner_monologue import TASKS_IM
from benchmarks.tabletop.suite import CELLS as TABLETOP_CELLS
from benchmarks.tabletop.tasks import SPLITS
from cap.planners.stand_in_models import is_stand_in

PERFECT, NEAREST = "perfect-say", "nearest"
_TABLES: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("tables.toml").read_text(encoding="utf-8")
)
TABLES = tuple(_TABLES)
OFFLINE: Mapping[str, tuple[str, ...]] = {
    name: tuple(table["models"]) for name, table in _TABLES.items()
}
"""Models of a table where none is named."""
USUAL_N: Mapping[str, int] = {name: table["n"] for name, table in _TABLES.items()}
"""Trials of each task where nobody says how many."""
EXAMPLES = (0, 1, 2, 4, 8, 17)
"""SC-5's numbers of examples in the prompt."""
WHOLE_PROMPT = f"{max(EXAMPLES)} examples"
"""SC-5's row of all there are: the only one of models that read none."""
QUALITY_ROWS = ("kitchen", "tabletop")
IN_KITCHEN = ("saycan", "success", "object+success")
FIVE = ("cap", "zero-shot", "saycan", "monologue", "saycanpay")
SEARCHED: Mapping[str, Sequence[str]] = {
    "SP-3": tuple(COLUMNS)[:7],
    "SP-6": tuple(COLUMNS)[7:],
    "SP-11": ("greedy saycan", "greedy saycanpay"),
}
"""Columns of SayCanPay's tables."""


@dataclass(frozen=True)
class PlanningCell:
    """One row and column of a table."""

    task: str
    """The row."""
    planner: str
    """`saycan`, `cap`, `nl`, or Inner Monologue's feedback."""
    model: str
    """The model's name."""
    what: str = ""
    """What is counted, where several things are: `plan` or `execution`, `ended` or `solved`."""
    items: int = 1
    """Different instructions or tasks in it; each trial has the next."""

    @property
    def split(self) -> str:
        """How trials name it, next to the row."""
        return " ".join(word for word in (self.planner, self.model, self.what) if word)


Rows = Sequence[tuple[str, Sequence[str], int]]
"""Each row's name, its planners, and how many different tasks are in it."""


def cells_of(table: str, models: Sequence[str]) -> list[PlanningCell]:
    """Return a table's cells, row by row."""
    return [
        PlanningCell(row, planner, name, what, items)
        for row, planners, items in _rows(table)
        for planner in planners
        for name in _names(table, row, planner, models)
        for what in _counted(table, name)
    ]


def _rows(table: str) -> Rows:
    match table:
        case "SC-4":
            return [(family, ("saycan", "cap"), len(tasks)) for family, tasks in FAMILIES.items()]
        case "SC-5":
            return [(f"{n} examples", ("saycan",), trials.SIMULATED) for n in EXAMPLES]
        case "IM-1":
            planners = ("object", "success", "scene", "cap")
            return [(task.name, planners, 1) for task in TASKS_IM]
        case "IM-3":
            families = [entry.family for entry in MONOLOGUE]
            return [
                (f"{family} {condition}", (*IN_KITCHEN, "cap"), families.count(family))
                for condition in ("calm", "disturbed")
                for family in dict.fromkeys(families)
            ]
        case "NL-1":
            return [
                (split, tuple(trials.METHODS), len(household(split)) * SCENES)
                for split in ("test", "generalise")
            ]
        case "five":
            return [(task.name, FIVE, 1) for task in TASKS_IM]
        case "quality":
            kitchen, tabletop = QUALITY_ROWS
            return [(kitchen, IN_KITCHEN, len(MONOLOGUE)), (tabletop, FIVE, len(TASKS_IM))]
        case "CaP-III":
            every = ("cap", "nl", "saycan", "success")
            return [
                (f"{split} {group}", planners, len(tabletop_tasks(split, group)))
                for split in SPLITS
                for group, planners in (("long-horizon", every), ("spatial-geometric", ("cap",)))
            ]
    return [(row, SEARCHED[table], 1) for row in ROWS]


def _names(table: str, row: str, planner: str, models: Sequence[str]) -> Sequence[str]:
    """Return the models of a planner: those that can do what it asks of them."""
    if planner == "cap" and table in ("five", "quality"):
        return models  # there the stand-ins write programs as well
    if planner in ("cap", "nl"):
        return [name for name in models if not is_stand_in(name)]
    if table == "SC-5" and row != WHOLE_PROMPT:  # the others never read the examples
        return [name for name in models if not is_stand_in(name)]
    if planner == "- dynamic":  # the others never read the example
        return [name for name in models if name == "copy-say" or not is_stand_in(name)]
    if table in SEARCHED and not planner.startswith("greedy "):
        return [name for name in models if name != "uniform-say"]  # it writes and ranks nothing
    if table in ("SC-4", "SC-5"):
        return models
    return [name for name in models if name != NEAREST]  # it writes no dialogue


def _counted(table: str, name: str) -> Sequence[str]:
    if table == "SC-5":
        return ("ended", "solved")
    if table == "SC-4":
        return ("plan",) if name == "uniform-say" else ("plan", "execution")
    return ("",)


def household(split: str) -> list[HouseholdTask]:
    """Return the tasks of a row of NL-1."""
    return [task for task in TRIED if task.split == split]


def tabletop_tasks(split: str, group: str) -> list[str]:
    """Return the tasks of a row of CaP-III."""
    return [
        task
        for (task, where), cell in TABLETOP_CELLS.items()
        if where == split and cell.task.group == group
    ]


def paper(table: str, cell: PlanningCell) -> Mapping[str, float]:
    """Return what the paper has for a cell, by its own methods, percent."""
    if table == "IM-1":
        rates = published.rates(tabletop.__file__, cell.task, "IM-noise")
        wanted = _IM_COLUMNS.get(cell.planner, "")
        return {"InstructGPT 1.3B": rates[wanted]} if wanted in rates else {}
    if table == "CaP-III":
        split, _, group = cell.task.rpartition(" ")
        method = {"cap": "CaP", "nl": "NL planner"}.get(cell.planner, "")
        of_tasks = [
            published.rates(tabletop.__file__, task, split) for task in tabletop_tasks(split, group)
        ]
        found = [rates[method] for rates in of_tasks if method in rates]
        return {f"{method}, Codex": round(sum(found) / len(found), 1)} if found else {}
    row = published.read(__file__).get(table, {}).get(cell.task, {})
    usual = row.get(f"{cell.planner} {cell.what}".strip(), {})
    values: Mapping[str, float] = row.get(f"{cell.planner} {cell.model}", usual)
    return values


_IM_COLUMNS = {"object": "IM object", "success": "IM + success", "scene": "IM + scene"}
"""What Inner Monologue's table calls the planners."""
