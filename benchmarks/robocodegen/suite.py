"""The RoboCodeGen suite: one trial is one function, written by a model and judged by its results.

Two by two arms: the prompt's examples call helpers they do not define, or define all in one; and
helpers that an answer lacks are asked for (recursive), or the answer fails (single). A function is
asked for by the engine's own function generation: the program is the loop that calls it once for
each case, and the model fills in what that program lacks. The functions that the prompt shows are
there for an answer to call, in every arm.

Problems are independent of each other. With the option `shared_library` they are not: one trial is
then a pass over all problems, in order, and what was written for one is there for the next.

The paper's values are in percent of its 37 problems; its problems are not these. Of each arm there
is what the released notebook counts for four models, and Table I, which says Flat and Hierarchical;
of the families what the notebook counts for code-davinci-002, where that is known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from pathlib import Path
from typing import Any

from benchmarks import published
from benchmarks.models import MODEL_OPTIONS, FixedAnswer, Meter, check_model_of, model_of
from benchmarks.problems.judge import Verdict, desk, examine, judge
from benchmarks.problems.problem import LIMITS, Problem, ProblemSet
from benchmarks.problems.problem_file import load
from benchmarks.problems.suite import ProblemSuite
from benchmarks.results import cause_of
from benchmarks.samples import GIVEN
from benchmarks.suite import (
    ENDPOINT,
    Outcome,
    Settings,
    Trial,
    check_options,
    program_limits,
)
from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import undefined
from cap.engine.answer import Answer, State
from cap.engine.engine import Engine
from cap.engine.settings import EngineSettings, GenerationLimits
from cap.errors import ProblemError, UsageError
from cap.models.base import Model, Usage
from cap.program.program import Program
from cap.program.scope import Definition
from cap.prompt import prompt as prompts
from cap.prompt.prompt import Header, Prompt
from cap.robot import registry
from cap.sandbox.sandbox import Sandbox
from cap.trace.trace import Trace

LIBRARY = "shared-library"
"""The task of a pass over all problems."""
OTHERS = (
    "37 of this project's own, in the families of the paper's; the published values are for the "
    "paper's 37, which are others: compare arms, not values"
)
"""Note on the published values."""


FILES = ("numpy", "control", "geometry", "scene")
ARMS: Mapping[str, tuple[str, bool]] = {
    "hierarchical-recursive": ("hierarchical", True),
    "flat-recursive": ("flat", True),
    "hierarchical-single": ("hierarchical", False),
    "flat-single": ("flat", False),
}
"""Prompt file and whether missing helpers are generated, by the name of the arm."""
OPTIONS = ("k", "limit_s", "limits", "problems", "shared_library", *MODEL_OPTIONS)
"""What `Settings.options` may hold."""
_REFUSED = re.compile(r"CAP1\d\d line|is refused: ")
"""In the reason why an answer failed: the check refused it."""
_LOOP = Prompt("robocodegen", Header(docs=False), "", (), ())
"""Stands for the program around a function: no model writes it."""


class RoboCodeGenSuite(ProblemSuite):
    """Functions from their headers, in four arms."""

    name = "robocodegen"
    about = "functions from their headers, in four arms"
    arms = tuple(ARMS)

    def __init__(
        self,
        problems: str | Sequence[str] | None = None,
        shared_library: bool = False,
    ) -> None:
        """Read the problems.

        Args:
            problems: Problem files, or one, in place of the shipped ones.
            shared_library: Keep what is written for one problem for those after it.

        Raises:
            ProblemError: The file cannot be used.
        """
        super().__init__()
        self._own = bool(problems)
        self._shared = shared_library
        self._set = problem_set(problems)
        self.version = f"5-{self._set.sha256[:12]}"

    def adjusted(self, options: Mapping[str, Any]) -> RoboCodeGenSuite:
        """Return the suite as options ask for it."""
        return RoboCodeGenSuite(options.get("problems"), bool(options.get("shared_library")))

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with; of a person's own problems, those that are wrong.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
        """
        check_options(settings, OPTIONS)
        program_limits(settings.options.get("limits", {}))
        for file, _ in ARMS.values():
            function_prompt(settings.prompts, file, ())
        check_model_of(settings)

    @property
    def problems(self) -> Mapping[str, Problem]:
        """By name, in the order of the files."""
        return self._set.problems

    def fault(self, name: str) -> str:
        """Return why one of a person's own problems judges nobody: its reference fails."""
        try:
            if self._own:
                examine(self.problems[name], 0)
        except ProblemError as error:
            return str(error)
        return ""

    def conditions(self) -> Mapping[str, str]:
        """Return whose problems these are, and which of them are left out."""
        if not self._own:
            return {"problems": OTHERS, **self.sample_digest}
        own = {"problems": "a person's own; the paper's values do not apply", **self.sample_digest}
        return own | {f"left out, {name}": why for name, why in self.left_out.items()}

    def trials(
        self,
        n: int,
        seed: int,
        tasks: Sequence[str] | None = None,
        splits: Sequence[str] | None = None,
    ) -> tuple[Trial, ...]:
        """Return `n` samples of every problem asked for; all have the same cases, those of `seed`.

        Raises:
            UsageError: No samples or too many, an unknown problem or arm, or a shared library with
                some problems only.
            ProblemError: No problem is left whose reference passes its own test, or one that is
                asked for fails it.
        """
        if self._shared and tasks:
            raise UsageError("a shared library needs all problems, in order; leave out --tasks")
        names, arms = self.chosen(n, tasks, splits)
        return tuple(
            Trial(name, arm, seed, sample)
            for arm in arms
            for name in ([LIBRARY] if self._shared else names)
            for sample in range(n)
        )

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Have one function written and judge it, or one pass of them.

        Raises:
            UsageError: The settings name a model, prompts or problems that do not exist.
            ProblemError: A problem's own reference fails; that is no verdict on a model.
        """
        if trial.split == GIVEN:
            return self._judged(trial, settings)
        if trial.task == LIBRARY:
            fit = {n: one for n, one in self.problems.items() if n not in self.left_out}
            return _run_library(trial, settings, fit)
        return _run_one(trial, settings, self.problems[trial.task], ()).outcome

    def _judged(self, trial: Trial, settings: Settings) -> Outcome:
        """Judge a sample of a file; it stands alone, without what any prompt shows."""
        problem, sample = self.problems[trial.task], self.sample_of(settings.model, trial)
        source = sample.text
        if not sample.whole and not re.search(rf"^def {problem.name}\b", source, re.MULTILINE):
            source = f"{problem.header}\n{source}"
        limit_s = settings.options.get("limit_s", LIMITS.program_s)
        verdict = judge(examine(problem, trial.seed), source, replace(LIMITS, program_s=limit_s))
        return Outcome(
            success=verdict.right,
            cause="" if verdict.right else "program",
            instruction=problem.request,
            program=source,
            failure=verdict.missed,
            cost_usd=0.0,
            extra={**_facts(verdict), "place": sample.place, "line": sample.values},
        )

    def families(self, task: str) -> tuple[str, ...]:
        """Return a problem's family, and its kind of generalisation."""
        if task not in self.problems:
            return ()
        problem = self.problems[task]
        return tuple(filter(None, (problem.family, problem.generalisation)))

    def parts(self, trial: Trial, outcome: Outcome) -> Iterator[tuple[Trial, Outcome]]:
        """Yield the problems of a pass as trials; any other trial as it is.

        A pass that broke counts for each problem.
        """
        if trial.task != LIBRARY:
            yield trial, outcome
            return
        broken = replace(outcome, requests=0, prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
        broken = replace(broken, calls=0, seconds=0.0)
        found = outcome.extra.get("problems", {})
        for name in found or self.problems:
            yield replace(trial, task=name), Outcome(**found[name]) if found else broken

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return the paper's values of an arm, and of its families: for other problems."""
        return {} if self._own else published.rates(__file__, task, split)


def problem_set(paths: str | Sequence[str] | None) -> ProblemSet:
    """Return the problems of files, or the shipped ones; read once, and again once one changes.

    Raises:
        ProblemError: A file cannot be used.
    """
    here = Path(__file__).resolve().parent
    named = [paths] if isinstance(paths, str) else paths
    files = [*map(Path, named)] if named else [here / f"{name}.toml" for name in FILES]
    return _loaded(tuple((file, file.stat().st_mtime_ns if file.exists() else 0) for file in files))


@cache
def _loaded(stamped: tuple[tuple[Path, int], ...]) -> ProblemSet:
    return load([file for file, _ in stamped])


@dataclass(frozen=True)
class _Attempt:
    """How one problem went."""

    outcome: Outcome
    """The verdict."""
    written: tuple[Definition, ...]
    """What the model wrote for it."""


def _run_one(
    trial: Trial, settings: Settings, problem: Problem, library: tuple[Definition, ...]
) -> _Attempt:
    """Have one function written, with what is there already, and judge it."""
    place = desk(examine(problem, trial.seed))
    file, recursive = ARMS[trial.split]
    meter = OneAnswer(_model(settings, problem, trial))
    budget = GenerationLimits() if recursive else GenerationLimits(depth=1)
    engine = Engine(
        place,
        meter,
        {},
        function_prompt(settings.prompts, file, problem.given_names),
        sandbox=Sandbox(limits=replace(LIMITS, **settings.options.get("limits", {}))),
        trace=Trace(),
        settings=EngineSettings(seed=trial.seed, budget=budget),
    )
    known = {entry.name: entry for entry in shown_functions(settings.prompts, file)}
    known |= {entry.name: entry for entry in library}
    for name in (problem.name, *problem.given_names):
        known.pop(name, None)
    state = State(definitions=tuple(known.values()))
    answer = engine.run_program(_LOOP, problem.loop, state)
    verdict = place.verdict(answer.result.failure)
    outcome = _outcome(problem, answer, verdict)
    return _Attempt(meter.settled(outcome), answer.generated)


def _run_library(trial: Trial, settings: Settings, problems: Mapping[str, Problem]) -> Outcome:
    """Have all functions written, one after the other, each with those before it at hand."""
    library: dict[str, Definition] = {}
    outcomes: dict[str, Outcome] = {}
    for name, problem in problems.items():
        attempt = _run_one(trial, settings, problem, tuple(library.values()))
        outcomes[name] = attempt.outcome
        library |= {entry.name: entry for entry in attempt.written}
    ended = list(outcomes.values())
    failed = [outcome for outcome in ended if not outcome.success]
    usage = reduce(Usage.plus, (outcome.usage for outcome in ended), Usage())
    unasked = next((one for one in failed if ENDPOINT in one.extra), None)
    endpoint = {} if unasked is None else {ENDPOINT: unasked.extra[ENDPOINT]}
    outcome = Outcome(
        success=not failed,
        cause=(unasked or failed[0]).cause if failed else "",
        instruction=f"all {len(ended)} problems, in order",
        program="\n\n".join(entry.source for entry in library.values()),
        failure=f"{len(failed)} of {len(ended)} not right" if failed else "",
        calls=sum(outcome.calls for outcome in ended),
        extra={"problems": {name: vars(outcome) for name, outcome in outcomes.items()}, **endpoint},
    )
    return outcome.costing(usage)


def _outcome(problem: Problem, answer: Answer, verdict: Verdict) -> Outcome:
    cause = cause_of(answer.result.failure)
    if cause == "robot":  # a given function refused what is not there: the caller's mistake
        cause = "program"
    return Outcome(
        success=verdict.right,
        cause="" if verdict.right else cause or "task",
        instruction=problem.request,
        program="\n\n".join(entry.source.strip() for entry in (*answer.kept, *answer.generated)),
        failure=verdict.missed,
        calls=sum(call.name in problem.given_names for call in answer.result.calls),
        extra={**_facts(verdict), "functions": [entry.name for entry in answer.generated]},
    )


def _facts(verdict: Verdict) -> dict[str, Any]:
    """Return what an outcome says of a verdict."""
    refused = verdict.missed if _REFUSED.search(verdict.missed) else ""
    return {"passed_cases": verdict.passed, "cases": verdict.cases, "refused": refused}


@cache
def function_prompt(folder: str, file: str, given: tuple[str, ...]) -> Prompt:
    """Return the prompt of an arm; a first line says which functions a problem gives.

    Raises:
        PromptError: The folder has no such prompt.
    """
    shipped = registry.prompts_path() / folder
    prompt = prompts.load((shipped if shipped.is_dir() else Path(folder)) / f"{file}.py")
    if not given:
        return prompt
    return replace(prompt, text=f"from scene import {', '.join(given)}\n{prompt.text}")


@cache
def shown_functions(folder: str, file: str) -> tuple[Definition, ...]:
    """Return the functions that an arm's prompt shows, for answers to call.

    Those of the hierarchical prompt call helpers that nobody shows; the flat prompt has the same
    functions whole, so they are taken from there.

    Raises:
        PromptError: The folder has no such prompts.
    """
    shown = {name for name, _ in _functions(function_prompt(folder, file, ()))}
    whole = dict(_functions(function_prompt(folder, "flat", ())))
    whole = {name: source for name, source in whole.items() if name in shown}
    lacking = [""]
    while lacking:
        names = EVERYWHERE | whole.keys()
        lacking = [name for name, one in whole.items() if undefined(Program.parse(one), names)]
        whole = {name: source for name, source in whole.items() if name not in lacking}
    return tuple(Definition(name, source) for name, source in whole.items())


def _functions(prompt: Prompt) -> Iterator[tuple[str, str]]:
    """Yield the functions of a prompt's examples, each with its source."""
    for entry in prompt.examples:
        for node in Program.parse(entry.code).tree.body:
            if isinstance(node, ast.FunctionDef):
                yield node.name, ast.unparse(node)


# --- models


class OneAnswer(Meter):
    """A model that is counted, and not asked again after an answer that cannot be used."""

    repairs = False


def _model(settings: Settings, problem: Problem, trial: Trial) -> Model:
    if settings.model == "oracle":
        return FixedAnswer("oracle", problem.solution, 0.0)
    if settings.model == "no-op":
        return FixedAnswer("no-op", f"{problem.header}\n    return None\n", 0.0)
    return model_of(settings, trial, {"": problem.solution})
