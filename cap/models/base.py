"""The seam to language models: a request in, a completion out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol, runtime_checkable

from cap.checker.library_arguments import CheckedValues
from cap.errors import EmptyCompletion, ModelError, UsageError

Mode = Literal["chat", "completion"]
"""How an endpoint is asked: by messages, or by the bare prompt."""


Ended = Literal["whole", "cut", "withheld"]
"""How an answer ended."""
MAX_TOKENS = 1024
"""The longest answer where nothing else is said: some hundred lines of a program."""


@dataclass(frozen=True)
class Request:
    """One question to a model."""

    prompt: str
    """Hints, examples, history, context and, last, the instruction's comment line."""
    stop: tuple[str, ...] = ()
    """Where the completion ends, for a backend that continues the prompt's text."""
    max_tokens: int = MAX_TOKENS
    """Longest completion, in tokens."""
    temperature: float = 0.0
    """0 asks for the likeliest completion."""
    seed: int | None = None
    """Sampling seed, for backends that take one."""
    system: str | None = None
    """The system message of a chat model; None where a program is wanted."""
    further: str = ""
    """More synonyms and examples, for `nearest`: no language model is sent them."""
    pictures: tuple[bytes, ...] = ()
    """What the robot's camera shows, as PNG, for models that see."""


@dataclass(frozen=True)
class ModelSettings(CheckedValues):
    """The user's settings for a model; None for the provider's own."""

    base_url: str | None = None
    """Address of the endpoint, up to and with `/v1`."""
    key_env: str | None = None
    """Environment variable its key is read from."""
    about: str | None = None
    """What it is, in a few words."""
    mode: Mode | None = None
    """`chat` or `completion`."""
    max_tokens: int | None = None
    """Longest answer, in tokens, where nobody says otherwise."""
    temperature: float | None = None
    """Of every request that has none of its own."""
    seed: int | None = None
    """Of every request that has none of its own."""
    reasoning_effort: str | None = None
    """How long it thinks, in its provider's words, such as `low`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """More headers; `$NAME` in a value is read from the environment."""
    query: Mapping[str, str] = field(default_factory=dict)
    """What follows the question mark of the address, such as an `api-version`."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """More fields of each request's body."""
    timeout_s: float | None = None
    """Longest wait for one completion, retries included, in seconds."""
    requests_per_minute: int | None = None
    """Most requests sent in any minute; None for no limit."""
    stream: bool | None = None
    """Whether answers come in pieces; None for where somebody watches."""


@dataclass(frozen=True)
class ScoreRequest:
    """One question about several continuations of a prompt."""

    prompt: str
    """What is before."""
    continuations: tuple[str, ...]
    """What may follow."""


@dataclass(frozen=True)
class Completion:
    """What a model answered."""

    text: str
    """The raw text, fences and all; blank where the model said nothing."""
    model: str
    """The model's own name."""
    prompt_tokens: int = 0
    """Tokens read, as the backend counts them."""
    completion_tokens: int = 0
    """Tokens written, those of unseen reasoning included."""
    cost_usd: float | None = None
    """Its price in dollars; None where no price is known."""
    notes: tuple[str, ...] = ()
    """What the backend did on the way, such as a parameter it had to drop."""
    ended: Ended = "whole"
    """`cut` at its limit of tokens or in part `withheld` by a filter: then its text is not all."""
    continues: bool = False
    """True of a model that continues the prompt's text, and may run on into a next example."""
    remembered: bool = False
    """True of an answer that was given before: it took no request."""
    why_empty: str = ""
    """Why there is no text, and what to do, in one line; "" where there is some."""
    cached_tokens: int = 0
    """Of the tokens read, those that the endpoint had in its own cache."""
    reasoning_tokens: int = 0
    """Of the tokens written, those of reasoning."""
    requests: int = 1
    """Requests sent for it, retries included; 0 of an answer that was kept from an earlier one."""
    estimated: bool = False
    """Nobody counted its tokens: they, and its price, follow from the length of the texts."""

    @property
    def empty(self) -> bool:
        """True if there is no text."""
        return not self.text.strip()

    def said(self) -> str:
        """Return the text.

        Raises:
            EmptyCompletion: There is none.
        """
        if self.empty:
            why = "the model answered with nothing; try again, or use another model with -m"
            raise EmptyCompletion(self.why_empty or why)
        return self.text


class Model(Protocol):
    """Anything that completes prompts."""

    name: str
    """`provider/model`, as given to `--model` and written in traces."""

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ModelError: No usable answer; the message says why and what to do.
        """


@runtime_checkable
class Streams(Protocol):
    """A model that can tell its text while it is written."""

    def stream(self, request: Request, on_text: Callable[[str], None]) -> Completion:
        """Answer one request like `complete`, and hand over each piece of text as it comes.

        Args:
            request: The question.
            on_text: Called with each new piece; a retry after a broken stream starts with `""`.

        Raises:
            ModelError: No usable answer; the message says why and what to do.
        """


@dataclass(frozen=True)
class Usage:
    """What asking a model took; sums of `Completion`s."""

    requests: int = 0
    """Requests sent, retries included."""
    prompt_tokens: int = 0
    """Tokens read."""
    completion_tokens: int = 0
    """Tokens written."""
    cost_usd: float | None = 0.0
    """Price in dollars; None as soon as one completion has no known price."""
    cached_tokens: int = 0
    """Of the tokens read, those that the endpoint had in its own cache."""
    reasoning_tokens: int = 0
    """Of the tokens written, those of reasoning."""
    estimated: bool = False
    """Nobody counted some of the tokens: they, and their price, follow from lengths of texts."""

    @classmethod
    def of(cls, answer: Completion | Scores) -> Usage:
        """Return what one answer took: nothing, if it took no request."""
        if isinstance(answer, Scores):
            return answer.usage
        if not answer.requests:
            return cls()
        return cls(**{entry.name: getattr(answer, entry.name) for entry in fields(cls)})

    @classmethod
    def of_failed(cls, error: ModelError) -> Usage:
        """Return what led to no answer, or to one of no use."""
        return cls(**{"requests": error.requests, **error.took})

    def plus(self, other: Usage) -> Usage:
        """Return the sum."""
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True)
class Scores:
    """How likely each of several continuations is."""

    logprobs: tuple[float, ...]
    """Natural logarithms of probabilities, in the order of the continuations."""
    rung: str
    """How they were found: `exact`, `choice` or `ranked`."""
    notes: tuple[str, ...] = ()
    """What the backend did on the way."""
    usage: Usage = field(default_factory=Usage)
    """What it took to find them."""


@runtime_checkable
class ScoringModel(Protocol):
    """A model that can compare continuations of a prompt."""

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Return how likely each continuation is after the prompt.

        Raises:
            ModelError: No usable answer; the message says why and what to do.
        """


def is_model(value: Any) -> bool:
    """Tell whether a value is a model."""
    return isinstance(getattr(value, "name", None), str) and callable(
        getattr(value, "complete", None)
    )


def require_model(model: Any) -> Model:
    """Return a model that was handed in.

    Raises:
        UsageError: It is none.
    """
    if not is_model(model):
        raise UsageError(
            f"{model!r} is no model; name one, such as 'nearest' or 'openai/gpt-4.1', or give an "
            "object with a `name` and a method `complete(request)`"
        )
    return model  # type: ignore[no-any-return]
