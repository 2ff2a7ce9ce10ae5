"""The seam to language models: a request in, a completion out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Request:
    """One question to a model."""

    prompt: str
    """Hints, examples, history, context and, last, the instruction's comment line."""
    stop: tuple[str, ...] = ()
    """Where the completion ends; backends may apply them, `cap.program` always does."""
    max_tokens: int = 512
    """Longest completion, in tokens."""
    temperature: float = 0.0
    """0 asks for the likeliest completion."""
    seed: int | None = None
    """Sampling seed, for backends that take one."""


@dataclass(frozen=True)
class Completion:
    """What a model answered."""

    text: str
    """The raw text, fences and all."""
    model: str
    """The model's own name."""
    prompt_tokens: int = 0
    """Tokens read, as the backend counts them; 0 where it does not say."""
    completion_tokens: int = 0
    """Tokens written."""
    notes: tuple[str, ...] = ()
    """What the backend did on the way, such as a parameter it had to drop."""


class Model(Protocol):
    """Anything that completes prompts."""

    name: str
    """`provider/model`, as given to `--model` and written in traces."""

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ModelError: No usable answer; the message says why and what to do.
        """
