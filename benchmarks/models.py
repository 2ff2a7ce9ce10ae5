"""The model of a run's settings: built once in each process, its budget shared by all of them.

`Settings.options` may hold, for the model:

    asked                             how models are asked, as `cap.config.Config.asked` has it; at
                                      a temperature above 0 each trial and sample has its seed
    cache                             folder of answers that need not be asked again
    record                            file every completion is appended to, by trial
    max_calls, max_cost               the budget of the run; dollars
    concurrency, requests_per_minute  of this process; requests at the same time, and in a minute
    prices                            dollars for a million tokens, by the model's name
    ledger                            the file in which the run's processes count what they use
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.ledger import Ledger, ledger
from benchmarks.noisy_oracle import NoisyOracle, is_noisy
from benchmarks.results import RECORDING
from benchmarks.samples import SAMPLES
from benchmarks.suite import BASELINES, ENDPOINT, Outcome, Settings, Trial
from cap.config import asked_of
from cap.errors import EndpointFailed, ModelError, NotRecorded, SpendLimit, UnknownModel
from cap.models.base import Completion, Model, Request, ScoreRequest, Usage
from cap.models.budget import Allowance
from cap.models.providers import ModelTerms, make_model
from cap.models.wrapper import A, Wrapped

MODEL_OPTIONS = (
    "asked",
    "cache",
    "concurrency",
    "ledger",
    "max_calls",
    "max_cost",
    "prices",
    "record",
    "requests_per_minute",
)


class FixedAnswer:
    """A model that gives one answer and is not asked again."""

    repairs = False

    def __init__(self, name: str, text: str, cost_usd: float | None = None) -> None:
        self.name = name
        self._completion = Completion(text, name, cost_usd=cost_usd)

    def complete(self, request: Request) -> Completion:
        """Return the answer."""
        return self._completion


class NoModel:
    """Stands where a baseline has no model."""

    name = "nobody"

    def complete(self, request: Request) -> Completion:
        """Refuse.

        Raises:
            ModelError: Always.
        """
        raise ModelError("a baseline asks no model; its program may not call LMPs")


class SampledModel(Wrapped):
    """A model asked at a temperature, with a seed of the trial's own."""

    def __init__(self, model: Model, temperature: float, seed: int) -> None:
        """Wrap a model; the temperature is the API's, the seed is sent where it is taken."""
        super().__init__(model)
        self._changed: dict[str, Any] = {"temperature": temperature, "seed": seed}
        self.sampled = True

    def _adjusted(self, request: Request) -> Request:
        return replace(request, **self._changed)


class Meter(Wrapped):
    """A model that keeps count of what it was asked, and of what kept it from being asked."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.usage = Usage()
        """What it took: requests as they were sent, and the tokens of every answer."""
        self.unasked: ModelError | None = None
        """Why it could last not be asked, if not by its fault: endpoint, budget, recording."""
        self._lock = threading.Lock()

    @property
    def requests(self) -> int:
        """Requests sent, retries included."""
        return self.usage.requests

    def _through(self, asked: Request | ScoreRequest, ask: Callable[[], A]) -> A:
        try:
            answer = ask()
        except ModelError as error:
            self._count(Usage.of_failed(error))
            if isinstance(error, EndpointFailed | SpendLimit | NotRecorded):
                self.unasked = error
            raise
        self._count(Usage.of(answer))
        return answer

    def _count(self, usage: Usage) -> None:
        with self._lock:
            self.usage = self.usage.plus(usage)

    def settled(self, outcome: Outcome) -> Outcome:
        """Return a trial's outcome with what the model took for it.

        What the endpoint or a recording lacked is not the model's fault.
        """
        outcome = outcome.costing(self.usage)
        if outcome.success or not isinstance(self.unasked, EndpointFailed | NotRecorded):
            return outcome
        why = str(self.unasked)
        failure = f"{type(self.unasked).__name__}: {why}"
        if isinstance(self.unasked, NotRecorded):
            return replace(outcome, cause=RECORDING, failure=failure)
        extra = {**outcome.extra, ENDPOINT: why}
        return replace(outcome, cause="infrastructure", failure=failure, extra=extra)


def model_for(spec: str, options: Mapping[str, Any], trial: Trial | None = None) -> Model:
    """Return a model by its name, as a run's options have it.

    Args:
        spec: As `make_model` takes it.
        options: The settings' options; those not of a model are left alone.
        trial: Whose samples are drawn, at a temperature above 0.

    Raises:
        UsageError: No such model, or a spend limit without a price.
        MissingKey: It needs a key and none is set.
    """
    given = {name: options[name] for name in MODEL_OPTIONS if options.get(name) is not None}
    settings = asked_of(given.get("asked", {}), spec)
    temperature = settings.get("temperature")
    if spec.startswith("nl:"):
        raise UnknownModel(f"{spec!r} plans in sentences; only the suite 'tabletop' takes it")
    model = _made(spec, json.dumps(given, sort_keys=True))
    if trial is not None and (scoped := getattr(model, "scoped", None)) is not None:
        model = scoped(f"{trial.task} {trial.split} {trial.seed} {trial.sample}")
    if not temperature:
        return model
    seed = settings.get("seed") or 0
    return SampledModel(model, temperature, seed + (seed_of(trial) if trial else 0))


def seed_of(trial: Trial) -> int:
    """Return the seed of a trial's random choices: another for each sample."""
    return trial.seed + 1_000_003 * trial.sample


def draw_of(settings: Settings, trial: Trial | None) -> str:
    """Return what a noisy oracle draws by: all that a suite's trials differ by."""
    parts = () if trial is None else (trial.task, trial.split, str(trial.seed), str(trial.sample))
    return " ".join((settings.suite, *parts))


def model_of(
    settings: Settings,
    trial: Trial | None = None,
    programs: Mapping[str, str] | None = None,
    names: Sequence[str] = (),
) -> Model:
    """Return the model of some settings, or what stands in its place.

    Args:
        settings: What the run is asked for.
        trial: Whose samples are drawn.
        programs: The right programs by instruction, as far as a noisy oracle is to know them.
        names: What things are called that its mutants may confuse.

    Raises:
        UsageError: It does not exist.
        MissingKey: It needs a key and none is set.
    """
    if settings.model in BASELINES or settings.model.startswith(SAMPLES):
        return NoModel()
    if is_noisy(settings.model):
        return NoisyOracle(settings.model, draw_of(settings, trial), programs, names)
    return model_for(settings.model, settings.options, trial)


def check_model_of(settings: Settings) -> None:
    """Refuse a model that cannot be had, before the first trial; nothing is counted.

    Raises:
        UsageError: It does not exist.
        MissingKey: It needs a key and none is set.
    """
    model_of(replace(settings, options={**settings.options, "ledger": None}))


def account_of(options: Mapping[str, Any]) -> Ledger | None:
    """Return the account that a run's processes share, if they do."""
    path = options.get("ledger")
    return None if path is None else ledger(str(path))


@cache
def _made(spec: str, given: str) -> Model:
    options = json.loads(given)
    allowance = Allowance(
        options.get("max_calls"),
        options.get("max_cost"),
        options.get("concurrency", 8),
        options.get("requests_per_minute"),
    )
    folder, record = options.get("cache"), options.get("record")
    terms = ModelTerms(
        cache=None if folder is None else Path(folder),
        allowance=allowance,
        prices=options.get("prices", {}),
        account=account_of(options),
    )
    return make_model(
        spec,
        asked=options.get("asked", {}),
        record=None if record is None else Path(record),
        terms=terms,
    )
