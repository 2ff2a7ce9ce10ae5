"""What is said of an endpoint that does not answer: one line, its remedy, and no key in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cap.config import shown_url
from cap.errors import (
    EndpointFailed,
    MissingExtra,
    ModelError,
    ModelUnreachable,
    PromptCutOff,
    did_you_mean,
    pip_install,
)
from cap.models.openai.redaction import Redaction

if TYPE_CHECKING:
    import openai

_DROPPABLE = (
    "stream_options",
    "stop",
    "temperature",
    "seed",
    "reasoning_effort",
    "max_tokens",
    "max_completion_tokens",
)
_REFUSAL = re.compile(
    r"support|permitted|allowed|unknown|unrecogni[sz]ed|unexpected|invalid|extra", re.IGNORECASE
)

_PICTURES = re.compile(
    r"image|vision|multi-?modal|content\b.*\b(string|str|list|array)|mmproj", re.IGNORECASE
)
"""What endpoints speak of where they cannot take a picture."""
_TOO_LONG = re.compile(
    r"context_length_exceeded|context (size|length|window)|maximum context|too many tokens"
    r"|prompt is too long|exceeds? the (available|maximum)",
    re.IGNORECASE,
)
"""How endpoints say that a prompt does not fit."""

E = TypeVar("E", bound=ModelError)


def sdk() -> Any:
    """Import the SDK, which is slow.

    Raises:
        MissingExtra: It is not there, or does not load.
    """
    try:
        import openai
    except ImportError as error:
        raise MissingExtra(
            f"models at an endpoint need the package openai, which does not load ({error}): "
            + pip_install("openai>=1.60")
        ) from None
    return openai


class Refused(ModelError):
    """The endpoint does not take what was sent; another way of asking may do."""


class Transient(Exception):
    """A try failed, and the request is not to blame; a signal between modules, never shown."""

    def __init__(
        self,
        message: str,
        *,
        again: bool = True,
        after_s: float | None = None,
        unreachable: bool = False,
    ) -> None:
        """Describe the failure.

        Args:
            message: What happened, without a subject.
            again: False where another try is known to be useless.
            after_s: Seconds the endpoint asks to wait, if it says.
            unreachable: True if no answer came at all.
        """
        super().__init__(message)
        self.again = again
        self.after_s = after_s
        self.unreachable = unreachable
        self.came: int | None = None
        """Characters that had come of an answer that may have to be paid; None where none has."""


class EndpointErrors:
    """Makes the errors of one endpoint."""

    def __init__(
        self, name: str, url: str, key_env: str, keyed: bool, redaction: Redaction
    ) -> None:
        """Keep what the messages name, and what takes out what they must not.

        Args:
            name: The model's.
            url: Its address, as it may be shown.
            key_env: The variable its key is read from.
            keyed: Whether there is one.
            redaction: Knows the secrets.
        """
        self._name, self._url = name, url
        self._key_env, self._keyed = key_env, keyed
        self._redaction = redaction

    def error(self, kind: type[E], what: str) -> E:
        """Return an error that begins with the model and its address."""
        return kind(self.told(what))

    def told(self, what: str) -> str:
        """Return one line that begins with the model and its address."""
        return self._redaction.line(f"{self._name} at {self._url}{what}")

    def given_up(self, failure: Transient) -> ModelError:
        """Return the error for a failure after all tries."""
        kind = ModelUnreachable if failure.unreachable else EndpointFailed
        return self.error(kind, f": {failure}")

    def refusal(
        self,
        error: openai.APIStatusError,
        remedy_404: Callable[[], str],
        remedy_window: str,
    ) -> ModelError:
        """Return the error for an answer that trying again cannot mend.

        Args:
            error: The answer.
            remedy_404: What to do where something is not found; asked only then.
            remedy_window: What to do where the prompt is too long.
        """
        told = status_told(error, self._redaction)
        if 300 <= error.status_code < 400:
            elsewhere = shown_url(error.response.headers.get("location", "another address"))
            return self.error(
                EndpointFailed,
                f" answers {error.status_code}: it leads to {elsewhere}, and neither prompt nor "
                "key is sent on; set the address that answers itself (--base-url)",
            )
        if error.status_code in (401, 403):
            what = "does not accept the key" if self._keyed else "asks for a key"
            remedy = f"set {self._key_env} to a key for that address, or use `-m nearest`"
            return self.error(EndpointFailed, f" {what} ({told}); {remedy}")
        if error.status_code == 402:
            return self.error(EndpointFailed, f" wants to be paid ({told}); add credit there")
        if error.status_code == 404 or error_code(error) == "model_not_found":
            return self.error(EndpointFailed, f": not found ({told}); {remedy_404()}")
        return self.too_long(told, remedy_window) or self.error(
            ModelError, f" refuses the request ({told})"
        )

    def too_long(self, told: str, remedy_window: str) -> ModelError | None:
        """Return the error for a prompt that does not fit, if the endpoint's words say so."""
        if not _TOO_LONG.search(told):
            return None
        return self.error(
            PromptCutOff, f" has too small a context window ({told}); {remedy_window}"
        )


def remedy_404(model: str, mode: str, known: Sequence[str] | None) -> str:
    """Say what to do where a model is not found, by the models the endpoint lists."""
    if known is None:
        return "check --base-url (it usually ends in /v1) and the model's name"
    if model in known:
        other = "chat" if mode == "completion" else "completion"
        return f"it has that model, but perhaps not in {mode} mode: try {other} mode"
    shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    return f"models there: {shown or 'none'}.{did_you_mean(model, known)}"


def server_words(error: openai.APIStatusError, redaction: Redaction) -> str:
    """Return an endpoint's own message, cut to fit a line once no key is in it."""
    return cut(redaction.line(_message(error)).rstrip("."))


def status_told(error: openai.APIStatusError, redaction: Redaction) -> str:
    """Return an answer's status with what it says, if it says more."""
    words = server_words(error, redaction)
    return f"{error.status_code}: {words}" if words else str(error.status_code)


def cut(words: str) -> str:
    """Return words cut to fit a line."""
    return words if len(words) <= 300 else words[:300] + "..."


def refused_parameter(error: openai.APIStatusError, sent: Mapping[str, Any]) -> str | None:
    """Return the optional parameter a 400 or 422 refuses, None if it refuses something else."""
    if error.status_code not in (400, 422):
        return None
    candidates = [name for name in _DROPPABLE if name in sent]
    named = error.body.get("param") if isinstance(error.body, dict) else None
    if isinstance(named, str) and named:
        return named if named in candidates else None
    words = _message(error)
    if error_code(error) == "context_length_exceeded" or not _REFUSAL.search(words):
        return None
    return next((name for name in candidates if re.search(rf"\b{name}\b", words)), None)


def refuses_pictures(error: openai.APIStatusError) -> bool:
    """Tell whether an answer is about the pictures that were sent along."""
    words = _message(error)
    return error.status_code in (400, 404, 415, 422, 500) and bool(_PICTURES.search(words))


def error_code(error: openai.APIStatusError) -> str:
    """Return the word an error body has for its kind; "" if it has none."""
    body = error.body if isinstance(error.body, dict) else {}
    codes = [code for code in (body.get("code"), body.get("type")) if isinstance(code, str)]
    return next(filter(None, codes), "")


def _message(error: openai.APIStatusError) -> str:
    """Return the message of an error body; the SDK has taken off its `error` envelope."""
    body: Mapping[str, Any] = error.body if isinstance(error.body, dict) else {}
    told = body.get("message") or body.get("error") or body.get("detail") or error.message
    if told == f"Error code: {error.status_code}":  # the SDK's own, where there is no JSON
        return ""
    return told if isinstance(told, str) else json.dumps(told)
