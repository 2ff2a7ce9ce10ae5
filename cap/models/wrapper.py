"""Around a model: what a wrapper passes on, and the two that every run needs.

`OwnModel` is around a model that is no endpoint: its mistakes become one line, its requests count.
`Managed` is around any model: how it is asked, its cache and its recording.
"""

from __future__ import annotations

import contextlib
import copy
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from cap.errors import CapError, EndpointFailed, ModelError, NotRecorded, SpendLimit, Stopped
from cap.models.base import (
    Completion,
    Model,
    ModelSettings,
    Request,
    ScoreRequest,
    Scores,
    ScoringModel,
    Streams,
    Usage,
)
from cap.models.budget import Budget
from cap.models.replay import Cache, Recording
from cap.prompt.prompt import tokens_of

A = TypeVar("A", bound=Completion | Scores)


class Wrapped:
    """A model that goes through another; a subclass says what happens on the way."""

    def __init__(self, model: Model) -> None:
        """Wrap a model."""
        self._model = self._ranker = model
        self.name = model.name

    def __getattr__(self, name: str) -> Any:
        """Return what only the model has, such as its `endpoint` or that it `sees`."""
        if name.startswith("_"):  # of a copy that is not filled yet
            raise AttributeError(name)
        return getattr(self._model, name)

    @property
    def compares(self) -> bool:
        """True if it compares by its own means, not by being asked for a ranking."""
        return bool(getattr(self._model, "compares", isinstance(self._model, ScoringModel)))

    def complete(self, request: Request) -> Completion:
        """Answer one request."""
        request = self._adjusted(request)
        return self._through(request, partial(self._model.complete, request))

    def stream(self, request: Request, on_text: Callable[[str], None]) -> Completion:
        """Answer one request and hand over its text as it comes, or at once if it does not."""
        request, reported = self._adjusted(request), False

        def report(piece: str) -> None:
            nonlocal reported
            reported = True
            on_text(piece)

        ask = partial(self._model.complete, request)
        if isinstance(self._model, Streams):
            ask = partial(self._model.stream, request, report)
        completion = self._through(request, ask)
        if not reported:
            on_text(completion.text)
        return completion

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Compare continuations, by the best way there is.

        Raises:
            ModelError: No usable answer.
        """
        from cap.models.scorers import ranked

        model = self._model
        way = model.score if isinstance(model, ScoringModel) else partial(ranked, self._ranker)
        comparison = ScoreRequest(prompt, tuple(continuations))
        return self._through(comparison, partial(way, prompt, continuations))

    def cancelled_usage(self, prompt: str, written: int) -> Usage:
        """Return what a request took, by estimate, that was stopped: so many tokens had come."""
        if cancelled := getattr(self._model, "cancelled_usage", None):
            usage: Usage = cancelled(prompt, written)
            return usage
        return Usage(1, tokens_of(len(prompt)), written, None, estimated=True)

    def scoped(self, label: str) -> Wrapped:
        """Return the same for one part of a run: recordings keep the parts apart."""
        other = copy.copy(self)
        if (scoped := getattr(self._model, "scoped", None)) is not None:
            other._model = scoped(label)
        return other

    def close(self) -> None:
        """Close connections, if the model has any."""
        if close := getattr(self._model, "close", None):
            close()

    def _adjusted(self, request: Request) -> Request:
        """Return the request that is asked."""
        return request

    def _through(self, asked: Request | ScoreRequest, ask: Callable[[], A]) -> A:
        """Answer a question by asking, or in another way."""
        return ask()


class OwnModel(Wrapped):
    """A model that is no endpoint, such as one that a user wrote or installed.

    Whatever it does wrong is one line, and its requests count against a budget.
    """

    def __init__(self, model: Model, where: str, budget: Budget | None = None) -> None:
        """Wrap a model.

        Args:
            model: Whom to ask.
            where: What made it, for messages.
            budget: Lets requests out, and counts them; None where nothing is counted.
        """
        super().__init__(model)
        self._ranker = self  # the request of a ranking counts
        self._where, self._budget = where, budget

    def _through(self, asked: Request | ScoreRequest, ask: Callable[[], A]) -> A:
        """Answer a request by asking.

        Raises:
            EndpointFailed: It raised something else, tried to end the process, or gave no answer.
        """
        if isinstance(asked, ScoreRequest):
            return self._guarded(ask)
        budget = self._budget
        with contextlib.nullcontext() if budget is None else budget.sending():
            answer: Any = self._guarded(ask)
        if not (isinstance(answer, Completion) and isinstance(answer.text, str)):
            raise EndpointFailed(
                f"the model of {self._where} gave a value of type '{type(answer).__name__}'; "
                "`complete` returns a Completion with a text"
            )
        return answer if budget is None else budget.count(asked.prompt, answer)  # type: ignore[return-value]

    def _guarded(self, ask: Callable[[], A]) -> A:
        """Ask, and say in one line what went wrong."""
        try:
            return ask()
        except (CapError, Stopped):
            raise
        except (Exception, SystemExit) as error:  # it may fail in any way
            line = traceback.extract_tb(error.__traceback__)[-1].lineno
            why = f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
            raise EndpointFailed(f"the model of {self._where} failed, line {line}: {why}") from None


class Managed(Wrapped):
    """A model as a run asks it: by the user's settings, from a cache, recorded."""

    def __init__(
        self,
        model: Model,
        settings: ModelSettings | None = None,
        cache: Cache | None = None,
        recording: Recording | None = None,
    ) -> None:
        """Wrap a model; what is None is left out.

        Args:
            model: Whom to ask.
            settings: Temperature of requests at 0 (others are drawn on purpose), seed of those
                that have none, and limit of those that have none in mind.
            cache: Answers that need not be asked again.
            recording: Where answers and failures are written down.
        """
        super().__init__(model)
        self._settings = settings or ModelSettings()
        self._cache, self._recording = cache, recording
        self.sampled = getattr(model, "sampled", False) or bool(self._settings.temperature)
        self.max_tokens = self._settings.max_tokens or getattr(model, "max_tokens", None)

    def scoped(self, label: str) -> Wrapped:
        """Return the same for one part of a run; where it is run again, that is what counts."""
        other = super().scoped(label)
        assert isinstance(other, Managed)
        if self._recording is not None:
            other._recording = self._recording.scoped(label)
        return other

    def _adjusted(self, request: Request) -> Request:
        temperature = request.temperature or self._settings.temperature or 0.0
        seed = self._settings.seed if request.seed is None else request.seed
        return replace(request, temperature=temperature, seed=seed)

    def _through(self, asked: Request | ScoreRequest, ask: Callable[[], A]) -> A:
        if self._cache is not None:
            identity = getattr(self._model, "identity", self.name)
            ask = partial(self._cache.answer, identity, asked, ask)
        if self._recording is None:
            return ask()
        try:
            answer = ask()
        except (SpendLimit, NotRecorded):
            raise  # nothing was asked
        except ModelError as error:
            self._recording.write(asked, error)
            raise
        self._recording.write(asked, answer)
        return answer
