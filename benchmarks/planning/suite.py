"""The suite `planning`: SayCan's and Inner Monologue's tables, and Code as Policies' beside them.

SC-4      seven families in the kitchen: the plan with perfect skills, its execution with others
SC-5      the language-based simulator, by the number of examples in the prompt
IM-1      eight tabletop tasks under Inner Monologue's noise, by feedback
IM-3      its three kitchen families, calm and disturbed, by feedback
CaP-III   Code as Policies' tabletop table, by planner
NL-1      the zero-shot planner in the house: executability at three levels, and without its parts
SP-3      SayCanPay: Greedy-Token, Greedy-Action and Beam-Action by say, can and pay
SP-6      SayCanPay with one, two and three beams
SP-11     SayCan and SayCanPay with other models, and with one whose candidates hold the right step
five      five systems on the same tabletop tasks
quality   how much each planner needs of its model: stand-ins that are right with 0.3 to 1
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import published, tabletop
from benchmarks.models import MODEL_OPTIONS, Meter, model_for, seed_of
from benchmarks.planning import trials
from benchmarks.planning.babyai import environment
from benchmarks.planning.household import SCENES, TRIED, HouseholdTask
from benchmarks.planning.kitchen_tasks import FAMILIES, MONOLOGUE
from benchmarks.planning.search_trials import ROWS, puzzle_trial
from benchmarks.planning.trials import MakeModel, TrialResult, household_translator
from benchmarks.report.tables import ALL
from benchmarks.suite import (
    BASELINES,
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_options,
)
from benchmarks.tabletop.inner_monologue import TASKS_IM
from benchmarks.tabletop.suite import CELLS as TABLETOP_CELLS
from benchmarks.tabletop.suite import TabletopSuite
from benchmarks.tabletop.tasks import SPLITS
from benchmarks.tabletop.trial_sampler import prepare
from cap.errors import UsageError, did_you_mean
from cap.models.base import Model
from cap.planners.saycanpay import require_learning
from cap.planners.stand_in_models import Knowledge, StandIn, is_stand_in, what_it_knows

PERFECT, NEAREST = "perfect-say", "nearest"
_TABLES: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("tables.toml").read_text(encoding="utf-8")
)
TABLES = tuple(_TABLES)
SEARCHED = ("SP-3", "SP-6", "SP-11")
"""SayCanPay's tables."""
EXAMPLES = (0, 1, 2, 4, 8, 17)
"""SC-5's numbers of examples in the prompt."""
WHOLE_PROMPT = f"{max(EXAMPLES)} examples"
"""SC-5's row of all there are: the only one of models that read none."""
IN_KITCHEN = ("saycan", "success", "object+success")


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
    planners = _TABLES[table]["planners"]
    match table:
        case "SC-4":
            return [(family, planners, len(tasks)) for family, tasks in FAMILIES.items()]
        case "SC-5":
            return [(f"{n} examples", planners, trials.SIMULATED) for n in EXAMPLES]
        case "IM-1" | "five":
            return [(task.name, planners, 1) for task in TASKS_IM]
        case "IM-3":
            families = Counter(entry.family for entry in MONOLOGUE)
            return [
                (f"{family} {condition}", planners, count)
                for condition in ("calm", "disturbed")
                for family, count in families.items()
            ]
        case "NL-1":
            return [
                (split, planners, len(household(split)) * SCENES)
                for split in ("test", "generalise")
            ]
        case "quality":
            return [
                ("kitchen", IN_KITCHEN, len(MONOLOGUE)),
                ("tabletop", planners, len(TASKS_IM)),
            ]
        case "CaP-III":
            return [
                (f"{split} {group}", columns, len(tabletop_tasks(split, group)))
                for split in SPLITS
                for group, columns in (("long-horizon", planners), ("spatial-geometric", ["cap"]))
            ]
    return [(row, planners, 1) for row in ROWS]


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


OPTIONS = ("table", "models", *MODEL_OPTIONS)
"""What `Settings.options` may hold."""


class PlanningSuite(BaseSuite):
    """One table of planners."""

    name = "planning"
    version = "1"
    about = "planners side by side, step by step: SayCan's and Inner Monologue's tables"
    judged = "Success is judged on the world; a planner must also say that it is done."
    takes = ("mode",)
    shares = ("parsed", "prepared", "bare", "lcs", "optimal", "optimal until", "relative")
    usual_mode = "instant"

    def __init__(
        self,
        table: str = "SC-4",
        models: Sequence[str] = (),
    ) -> None:
        """Lay out a table.

        Raises:
            UsageError: There is no table of that name.
        """
        if table not in TABLES:
            raise UsageError(
                f"no table {table!r}.{did_you_mean(table, TABLES)} Use one of: {', '.join(TABLES)}"
            )
        self.table = table
        layout = _TABLES[table]
        self.models = tuple(models or layout["models"])
        self.judged = f"{PlanningSuite.judged} {layout.get('note', '')}".strip()
        self.usual_n = layout["n"]
        cells = cells_of(table, self.models)
        self._cells = {(cell.task, cell.split): cell for cell in cells}

    def adjusted(self, options: Mapping[str, Any]) -> PlanningSuite:
        """Return the suite with the table and the models of some options."""
        return PlanningSuite(options.get("table", "SC-4"), options.get("models", ()))

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with.

        Raises:
            UsageError: An option or a model that does not exist.
            MissingKey: A model needs a key and none is set.
        """
        check_options(settings, OPTIONS)
        if {settings.model, *self.models} & set(BASELINES):
            raise UsageError(
                f"the suite 'planning' has no programs of its own; {PERFECT} is its upper row, "
                "uniform-say its lowest: leave -m out, or name one of them"
            )
        options = {**settings.options, "ledger": None}
        for name in self.models:
            if is_stand_in(name):
                StandIn(name, Knowledge())
            else:
                model_for(name, options)

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every row and column."""
        return tuple(self._cells)

    def trials(
        self,
        n: int,
        seed: int,
        tasks: Sequence[str] | None = None,
        splits: Sequence[str] | None = None,
    ) -> tuple[Trial, ...]:
        """Return `n` trials of every instruction of the cells asked for.

        Raises:
            UsageError: No trials, or an unknown row or column.
        """
        found = []
        for trial in super().trials(n, seed, tasks, splits):
            items = self._cells[trial.task, trial.split].items
            first = trial.seed * items
            found += [replace(trial, seed=number) for number in range(first, first + items)]
        return tuple(found)

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out one trial."""
        cell = self._cells[trial.task, trial.split]
        if cell.planner in ("cap", "nl") and self.table == "CaP-III":  # as the suite `tabletop`
            split, _, group = trial.task.rpartition(" ")
            name = tabletop_tasks(split, group)[trial.seed % cell.items]
            model = f"nl:{cell.model}" if cell.planner == "nl" else cell.model
            given = {key: own for key, own in settings.options.items() if key in MODEL_OPTIONS}
            same = Trial(name, split, trial.seed // cell.items, trial.sample)
            return TabletopSuite().run(
                same, Settings("tabletop", model, settings.mode, options=given)
            )
        meters: list[Meter] = []

        def make_model(knowledge: Knowledge) -> Model:
            if is_stand_in(cell.model):
                meters.append(Meter(StandIn(cell.model, knowledge, seed_of(trial))))
            else:
                meters.append(Meter(model_for(cell.model, settings.options, trial)))
            return meters[-1]

        result = _carry_out(self.table, cell, trial.seed, settings.mode, make_model)
        return meters[-1].settled(_outcome(cell, result))

    def model_of(self, split: str) -> str:
        """Return the column itself: planners, and models, have no common rate."""
        return split

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """What each model that is no language model knows, a line each."""
        return tuple(f"{name} {known}" for name in self.models if (known := what_it_knows(name)))

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return the paper's values of a cell or of a column as a whole, percent."""
        cell = self._cells.get((task, split))
        if task == ALL:
            columns = [each for each in self._cells.values() if each.split == split]
            cell = replace(columns[0], task="total") if columns else None
        return {} if cell is None else paper(self.table, cell)

    def require(self, trials: Sequence[Trial]) -> None:
        """Refuse trials for which an extra is not installed.

        Raises:
            MissingExtra: With the line that installs it.
        """
        if any("saycanpay" in trial.split for trial in trials):
            require_learning()
        if self.table == "NL-1":
            household_translator()
        if self.table in SEARCHED:
            if any(trial.task.startswith("babyai") for trial in trials):
                environment("test", 0)
            require_learning()


def _carry_out(
    table: str, cell: PlanningCell, seed: int, mode: str, make_model: MakeModel
) -> TrialResult:
    """Run the trial of a cell with a number: of its instructions the next, in the next scene."""
    item, again = seed % cell.items, seed // cell.items
    if table in SEARCHED:
        return puzzle_trial(cell.task, cell.planner, seed, make_model)
    if table == "NL-1":  # task after task, each in every house
        house_task = household(cell.task)[item // SCENES]
        return trials.household_trial(
            house_task, item % SCENES, again, make_model, method=cell.planner
        )
    if table == "SC-4":
        task = FAMILIES[cell.task][item]
        return trials.kitchen_trial(
            task, seed, make_model, planner=cell.planner,
            stochastic=cell.what == "execution", mode=mode,
        )  # fmt: skip
    if table == "SC-5":
        count = int(cell.task.split()[0])
        return trials.simulator_trial(
            item, count, make_model, ends=cell.what == "ended", seed=again
        )
    if table == "IM-3" or cell.task == "kitchen":
        family, _, condition = cell.task.rpartition(" ")
        task = [entry for entry in MONOLOGUE if family in ("", entry.family)][item]
        return trials.kitchen_trial(
            task, again, make_model, planner="cap" if cell.planner == "cap" else "saycan",
            feedback=trials.kitchen_feedback(cell.planner), stochastic=True,
            disturbed=condition == "disturbed", mode=mode,
        )  # fmt: skip
    split, _, group = cell.task.rpartition(" ")
    if table == "CaP-III":
        name = tabletop_tasks(split, group)[item]
    else:
        name = TASKS_IM[item].name if table == "quality" else cell.task
        split = "IM-noise" if table == "IM-1" else "IM"  # without noise the model alone is at fault
    found = TABLETOP_CELLS[name, split]
    setup = prepare(found.task, found.attributes, split, again)
    return trials.tabletop_trial(
        setup, found.noise, make_model, planner=cell.planner, mode=mode, seed=seed
    )


def _outcome(cell: PlanningCell, result: TrialResult) -> Outcome:
    """Return the verdict; a planner must also say that it is done, a program only end."""
    episode = result.episode
    ended = episode.end == "done" or cell.planner == "cap"
    success = result.missed is None and ended
    causes = {"model": "model", "done": "task"}
    why = episode.why or result.missed or ""
    return Outcome(
        success=success,
        cause="" if success else causes.get(episode.end, "program"),
        instruction=result.instruction,
        program="\n".join(episode.plan),
        failure="" if success else why,
        calls=len(episode.outcomes),
        extra={
            "end": episode.end,
            "missed": result.missed,
            "rung": result.episode.rung,
            **({"measured": dict(result.measured)} if result.measured else {}),
        },
    )
