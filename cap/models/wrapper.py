"""Around a model: what a wrapper passes on, so that each says only what it adds."""

from __future__ import annotations

import copy
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from cap.errors import CapError, EndpointFailed, ModelError, Stopped
from cap.models.base import (
    Completion,
    Mode,
    Model,
    Request,
    Scores,
    ScoringModel,
    Streams,
    Usage,
)
from cap.models.estimates import believed, estimate

if TYPE_CHECKING:
    from cap.models.openai.model import OpenAIModel

Ask = Callable[[], Completion]
T = TypeVar("T")

MOST_USD = 1000.0
"""No answer costs more: a model of one's own that says so is not believed."""


class Wrapped:
    """A model that goes through another; a subclass says what happens on the way."""

    def __init__(self, model: Model) -> None:
        """Wrap a model."""
        self._model = model
        self.name = model.name
        self.repairs: bool = getattr(model, "repairs", True)
        """False if it is useless to ask it to mend what it wrote."""
        self.by_example: bool = getattr(model, "by_example", False)
        """True if its programs are those of examples, bound to other words."""
        self.sampled: bool = getattr(model, "sampled", False)
        """True if it is asked at a temperature, whatever the requests say."""
        self.max_tokens: int | None = getattr(model, "max_tokens", None)
        """Longest answer where nobody says otherwise, in tokens; None if it does not matter."""

    @property
    def sees(self) -> bool:
        """False if pictures are lost on it."""
        return bool(getattr(self._model, "sees", True))

    @property
    def endpoint(self) -> OpenAIModel | None:
        """The endpoint behind it all, if there is one."""
        found: OpenAIModel | None = getattr(self._model, "endpoint", None)
        return found

    @property
    def identity(self) -> str:
        """What decides its answers besides the request."""
        return str(getattr(self._model, "identity", self.name))

    def complete(self, request: Request) -> Completion:
        """Answer one request."""
        return self._through(request, partial(self._model.complete, request))

    def stream(self, request: Request, on_text: Callable[[str], None]) -> Completion:
        """Answer one request, its text told as it comes; at once where the model cannot stream."""
        told = False

        def tell(piece: str) -> None:
            nonlocal told
            told = True
            on_text(piece)

        model = self._model
        if isinstance(model, Streams):
            completion = self._through(request, partial(model.stream, request, tell))
        else:
            completion = self._through(request, partial(model.complete, request))
        if not told:
            on_text(completion.text)
        return completion

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Compare continuations, by the best way there is.

        Raises:
            ModelError: No usable answer.
        """
        from cap.models.scorers.ranked import ranked
        from cap.models.scorers.scorer import score

        if self.endpoint is None and isinstance(self._model, ScoringModel):
            return self._model.score(prompt, continuations)
        if self.endpoint is None:
            return ranked(self, prompt, continuations)
        return score(self, prompt, continuations)  # each of its requests comes by here

    def request(self, mode: Mode, parameters: Mapping[str, Any], *, once: bool = False) -> Any:
        """Send one request to the endpoint, as it is.

        Raises:
            ModelError: There is none, or no usable answer.
        """
        if self.endpoint is None:
            raise ModelError(f"{self.name} is no endpoint; choose another model")
        model: Any = self._model
        return self._through_bare(
            mode, parameters, partial(model.request, mode, parameters, once=once)
        )

    def unheard(self, prompt: str, written: int) -> Usage:
        """Return what a request took, by estimate, that was stopped: so many tokens had come."""
        if self.endpoint is not None:
            return self.endpoint.unheard(prompt, written)
        return Usage(1, estimate(len(prompt)), written, None, estimated=True)

    def scoped(self, label: str) -> Wrapped:
        """Return the same for one part of a run: recordings keep the parts apart."""
        other = copy.copy(self)
        if (scoped := getattr(self._model, "scoped", None)) is not None:
            other._model = scoped(label)
        return other

    def close(self) -> None:
        """Let go of connections, if the model has any."""
        if close := getattr(self._model, "close", None):
            close()

    def _through(self, request: Request, ask: Ask) -> Completion:
        """Answer a request by asking, or otherwise."""
        return ask()

    def _through_bare(
        self, mode: Mode, parameters: Mapping[str, Any], ask: Callable[[], Any]
    ) -> Any:
        """Answer a bare request by asking, or otherwise."""
        return ask()


class OwnModel(Wrapped):
    """A model that a person wrote or installed: whatever it does wrong is told in one line."""

    def __init__(self, model: Model, where: str, timeout_s: float | None = None) -> None:
        """Wrap a model.

        Args:
            model: Whom to ask.
            where: What made it, for messages.
            timeout_s: Longest wait for one answer, seconds; None for no limit.
        """
        super().__init__(model)
        self._where = where
        self._timeout_s = timeout_s

    def stream(self, request: Request, on_text: Callable[[str], None]) -> Completion:
        """Answer one request, its text told as it comes; nothing is told after its end."""
        over = False

        def tell(piece: str) -> None:
            if not over:
                on_text(piece)

        try:
            return super().stream(request, tell)
        finally:
            over = True

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Compare continuations, by its own means if it has any.

        Raises:
            ModelError: No usable answer.
        """
        if self.endpoint is None and isinstance(self._model, ScoringModel):
            return self._guarded(partial(self._model.score, prompt, continuations))
        return super().score(prompt, continuations)

    def _through(self, request: Request, ask: Ask) -> Completion:
        """Answer a request by asking.

        Raises:
            EndpointFailed: It raised something else, tried to end the process, or gave no answer.
        """
        answer: Any = self._guarded(ask)  # whatever it gives
        if isinstance(answer, Completion) and isinstance(answer.text, str):
            cost: Any = answer.cost_usd
            known = type(cost) in (int, float) and 0 <= cost <= MOST_USD
            return believed(request.prompt, replace(answer, cost_usd=cost if known else None))
        given = answer.text if isinstance(answer, Completion) else answer
        kind = type(given).__name__
        part = " as its text" if isinstance(answer, Completion) else ""
        raise EndpointFailed(
            f"the model of {self._where} gave a value of type '{kind}'{part}; "
            "`complete` returns a Completion with a text"
        )

    def _guarded(self, ask: Callable[[], T]) -> T:
        """Ask, and say in one line what went wrong."""
        try:
            return ask() if self._timeout_s is None else self._in_time(ask, self._timeout_s)
        except (CapError, Stopped):
            raise
        except (Exception, SystemExit) as error:  # it may fail in any way
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            line = "" if trace is None else f", line {trace.tb_lineno}"
            why = f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
            raise EndpointFailed(f"the model of {self._where} failed{line}: {why}") from None

    def _in_time(self, ask: Callable[[], T], timeout_s: float) -> T:
        """Ask on another thread, which is left behind if it takes too long."""
        answered: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

        def work() -> None:
            try:
                answered.put((ask(), None))
            except BaseException as error:  # the waiting thread raises it
                answered.put((None, error))

        threading.Thread(target=work, name="cap-own-model", daemon=True).start()
        try:
            answer, error = answered.get(timeout=timeout_s)
        except queue.Empty:
            raise EndpointFailed(
                f"the model of {self._where} gave no answer within {timeout_s:g} s; make it "
                "faster, or give it longer (--model-timeout)"
            ) from None
        if error is not None:
            raise error
        return cast(T, answer)


class Adjusted(Wrapped):
    """A model whose requests have a temperature, a seed and a limit of a person's choice."""

    def __init__(
        self,
        model: Model,
        temperature: float | None = None,
        seed: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        """Wrap a model; what is None stays as it is.

        Args:
            model: Whom to ask.
            temperature: Of requests at 0: others draw on purpose.
            seed: Of requests that have none; sent where the model takes one.
            max_tokens: Of whoever asks for a whole answer and has no limit in mind.
        """
        super().__init__(model)
        self._temperature, self._seed = temperature, seed
        self.sampled = self.sampled or bool(temperature)
        self.max_tokens = max_tokens or self.max_tokens

    def complete(self, request: Request) -> Completion:
        """Answer one request, asked that way."""
        return self._model.complete(self._adjusted(request))

    def stream(self, request: Request, on_text: Callable[[str], None]) -> Completion:
        """Answer one request, asked that way, its text told as it comes."""
        return super().stream(self._adjusted(request), on_text)

    def _adjusted(self, request: Request) -> Request:
        temperature = request.temperature or self._temperature or 0.0
        seed = self._seed if request.seed is None else request.seed
        return replace(request, temperature=temperature, seed=seed)
