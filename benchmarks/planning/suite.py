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

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.models import MODEL_OPTIONS, Meter, model_for, seed_of
from benchmarks.planning import trials
from benchmarks.planning.babyai import environment
from benchmarks.planning.household_world import SCENES
from benchmarks.planning.kitchen_tasks import FAMILIES, MONOLOGUE
from benchmarks.planning.layout import (
    OFFLINE,
    PERFECT,
    SEARCHED,
    TABLES,
    USUAL_N,
    PlanningCell,
    cells_of,
    household,
    paper,
    tabletop_tasks,
)
from benchmarks.planning.search_trials import puzzle_trial
from benchmarks.planning.trials import MakeModel, TrialResult, household_translator
from benchmarks.report.tables import Cell
from benchmarks.results import read_header, read_lines
from benchmarks.statistics import paired_difference
from benchmarks.suite import (
    BASELINES,
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_options,
)
from benchmarks.tabletop.attributes import EVERY
from benchmarks.tabletop.inner_monologue import NOISE, TASKS_IM
from benchmarks.tabletop.suite import CELLS as TABLETOP_CELLS
from benchmarks.tabletop.suite import TabletopSuite
from benchmarks.tabletop.trial_sampler import prepare
from cap.errors import UsageError, did_you_mean
from cap.models.base import Model
from cap.planners.saycanpay import require_learning
from cap.planners.stand_in_models import Knowledge, StandIn, is_stand_in, what_it_knows

OPTIONS = ("table", "models", *MODEL_OPTIONS)
"""What `Settings.options` may hold."""
_PAIRED = "less greedy say, paired, 95 %"


class PlanningSuite(BaseSuite):
    """One table of planners."""

    name = "planning"
    version = "1"
    about = "planners side by side, step by step: SayCan's and Inner Monologue's tables"
    judged = "Success is judged on the world; a planner must also say that it is done."
    takes = ("mode",)
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
        self.models = tuple(models) or OFFLINE[table]
        if table == "IM-1":
            self.judged = f"{PlanningSuite.judged} {_SCENE}"
        if table == "NL-1":
            self.judged = f"{PlanningSuite.judged} {_EXAMPLE}"
        if table == "SC-5":
            self.judged = f"{PlanningSuite.judged} {_EXAMPLES}"
        self.usual_n = USUAL_N[table]
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
        start_s = time.perf_counter()
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

        if self.table == "NL-1":
            result = self._in_house(cell, trial.seed, make_model)
        elif self.table in SEARCHED:
            result = puzzle_trial(cell.task, cell.planner, trial.seed, make_model)
        else:
            result = _carry_out(self.table, cell, trial.seed, settings.mode, make_model)
        outcome = _outcome(cell, result, time.perf_counter() - start_s)
        return meters[-1].settled(outcome)

    def _in_house(self, cell: PlanningCell, seed: int, make_model: MakeModel) -> TrialResult:
        """Run the trial of a cell of NL-1 with a number: task after task, each in every house."""
        item, again = seed % cell.items, seed // cell.items
        task = household(cell.task)[item // SCENES]
        return trials.household_trial(
            task, item % SCENES, again, make_model, method=cell.planner
        )  # fmt: skip

    def model_of(self, split: str) -> str:
        """Return the column itself: planners, and models, have no common rate."""
        return split

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """What each model that is no language model knows, a line each."""
        return tuple(f"{name} {known}" for name in self.models if (known := what_it_knows(name)))

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return the paper's values of a cell, percent, labelled as its own."""
        cell = self._cells.get((task, split))
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

    def summary(self, folder: Path) -> list[dict[str, Any]]:
        """Return the table: a line for each row and column, and each column's total."""
        options = read_header(folder)["settings"]["options"]
        found = self.adjusted(options)
        tallies: dict[tuple[str, str], Cell] = {}
        rungs: dict[tuple[str, str], str] = {}
        for line in read_lines(folder):
            for task in (line.trial.task, "total"):
                key = (task, line.trial.split)
                tallies.setdefault(key, Cell()).add(line)
                rungs[key] = str(line.outcome.extra.get("rung") or rungs.get(key, ""))
        paired = _paired(folder, found._cells) if found.table == "SP-3" else {}
        rows = [(key, cell) for key, cell in found._cells.items() if key in tallies]
        rows += [
            (key, PlanningCell("total", cell.planner, cell.model, cell.what))
            for key, cell in {("total", c.split): c for _, c in rows}.items()
        ]
        return [
            {
                "table": found.table,
                "row": cell.task,
                "planner": cell.planner,
                "model": cell.model,
                "model is": what_it_knows(cell.model),
                "rung": rungs[key],
                "counted": cell.what or "success",
                "%, 95 %": tallies[key].rate,
                "n": tallies[key].n,
                **_means(tallies[key]),
                **({_PAIRED: paired.get(key, "")} if paired else {}),
                "the paper's, another model and robot, %": ", ".join(
                    f"{name} {value:g}" for name, value in paper(found.table, cell).items()
                ),
            }
            for key, cell in rows
        ]


_SCENE = (
    "In the world without dynamics only a pile whose middle is off its foot falls over, so that "
    "scene feedback says more than success feedback in the rows of piles alone; with --mode "
    "physics a pile may also be pushed over."
)


_EXAMPLE = (
    "Stand-ins other than copy-say never read the example in the prompt: they have no cells in "
    "'- dynamic'."
)


_EXAMPLES = (
    "Stand-ins never read the examples in the prompt: they have one row, that of the whole prompt. "
    "`ended` and `solved` are two readings of the same plans and are not added up."
)


def _carry_out(
    table: str, cell: PlanningCell, seed: int, mode: str, make_model: MakeModel
) -> TrialResult:
    """Run the trial of a cell with a number: of its instructions the next, in the next scene."""
    item, again = seed % cell.items, seed // cell.items
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
    noise: Mapping[str, float] = {}
    if table in ("IM-1", "five", "quality"):
        own = (
            TASKS_IM[item]
            if table == "quality"
            else next(entry for entry in TASKS_IM if entry.name == cell.task)
        )
        noise = NOISE if table == "IM-1" else {}  # there the model alone is at fault
        setup = prepare(own, EVERY, "IM-noise" if noise else "IM", again)
    else:
        split, _, group = cell.task.rpartition(" ")
        name = tabletop_tasks(split, group)[item]
        found = TABLETOP_CELLS[name, split]
        setup = prepare(found.task, found.attributes, split, again)
    return trials.tabletop_trial(
        setup, noise, make_model, planner=cell.planner, mode=mode, seed=seed
    )


def _outcome(cell: PlanningCell, result: TrialResult, seconds: float) -> Outcome:
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
        seconds=seconds,
        extra={
            "end": episode.end,
            "missed": result.missed,
            "rung": result.rung,
            **({"measured": dict(result.measured)} if result.measured else {}),
        },
    )


def _paired(
    folder: Path, cells: Mapping[tuple[str, str], PlanningCell]
) -> dict[tuple[str, str], str]:
    """Return each column's success less that of scoring by say alone, on the same problems."""
    found: dict[tuple[str, str, str], dict[int, int]] = {}
    for line in read_lines(folder):
        cell = cells.get((line.trial.task, line.trial.split))
        if cell is not None:
            of = found.setdefault((cell.task, cell.planner, cell.model), {})
            of[line.trial.seed] = int(line.outcome.success)
    differs: dict[tuple[str, str], str] = {}
    for key, cell in cells.items():
        ours = found.get((cell.task, cell.planner, cell.model), {})
        theirs = found.get((cell.task, "greedy say", cell.model), {})
        differences = [ours[seed] - theirs[seed] for seed in ours if seed in theirs]
        if differences and cell.planner != "greedy say":
            n = len(differences)
            low, high = paired_difference(differences.count(-1), differences.count(1), n)
            mean = sum(differences) / n
            differs[key] = f"{100 * mean:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
    return differs


def _means(tally: Cell) -> dict[str, str]:
    """Return the means of what was measured: shares in percent, anything else as it is."""
    found = {}
    for name, values in tally.measured.items():
        known = [value for value in values if value is not None]
        if not known:
            found[name] = ""
        elif name == "steps":
            found[name] = f"{sum(known) / len(known):.1f}"
        else:
            found[f"{name} %"] = f"{100 * sum(known) / len(known):.1f}"
    return found
