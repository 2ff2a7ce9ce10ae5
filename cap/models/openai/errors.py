"""What is said of an endpoint: one line, its remedy, and no key in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cap.config import shown_url
from cap.errors import (
    EndpointFailed,
    MissingExtra,
    ModelError,
    ModelUnreachable,
    did_you_mean,
)
from cap.models.openai.replies import server_words, unknown_model
from cap.models.openai.retry import Transient

if TYPE_CHECKING:
    import openai

_KEY_SHAPED = re.compile(r"\bsk-[\w*.-]{6,}")
_SHORTEST_KEY = 4  # Shorter words, such as a local server's "x", are no secret.


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
            "pip install 'openai>=1.60'"
        ) from None
    return openai


class Refused(ModelError):
    """The endpoint does not take what was sent; another way of asking may do."""


class Words:
    """Makes the errors of one endpoint."""

    def __init__(self, name: str, base_url: str, key: str | None, key_env: str) -> None:
        """Keep what the messages name, and what they must not."""
        self.url = shown_url(base_url)
        self._name = name
        self._base_url = base_url
        self._key = key
        self._key_env = key_env

    def error(self, kind: type[E], what: str) -> E:
        """Return an error that begins with the model and its address."""
        return kind(self.plain(f"{self._name} at {self.url}{what}"))

    def given_up(self, failure: Transient) -> ModelError:
        """Return the error for a failure after all tries."""
        kind = ModelUnreachable if failure.unreachable else EndpointFailed
        return self.error(kind, f": {failure}")

    def refusal(self, error: openai.APIStatusError, remedy_404: Callable[[], str]) -> ModelError:
        """Return the error for an answer that trying again cannot mend.

        Args:
            error: The answer.
            remedy_404: What to do where something is not found; asked only then.
        """
        told = f"{error.status_code}: {server_words(error, self.plain)}"
        if error.status_code in (401, 403):
            what = "does not accept the key" if self._key else "asks for a key"
            remedy = f"set {self._key_env} to a key for that address, or use `-m nearest`"
            return self.error(EndpointFailed, f" {what} ({told}); {remedy}")
        if error.status_code == 402:
            return self.error(EndpointFailed, f" wants to be paid ({told}); add credit there")
        if error.status_code == 404 or unknown_model(error):
            return self.error(EndpointFailed, f": not found ({told}); {remedy_404()}")
        return self.error(ModelError, f" refuses the request ({told})")

    def plain(self, text: str) -> str:
        """Return one line in which no key stands, whoever put it there."""
        if self._key and len(self._key) >= _SHORTEST_KEY:
            text = text.replace(self._key, "[key]")
        text = text.replace(self._base_url, self.url)
        return _KEY_SHAPED.sub("[key]", " ".join(text.split()))


def remedy_404(model: str, mode: str, known: Sequence[str] | None) -> str:
    """Say what to do where a model is not found, by the models the endpoint lists."""
    if known is None:
        return "check --base-url (it usually ends in /v1) and the model's name"
    if model in known:
        other = "chat" if mode == "completion" else "completion"
        return f"it has that model, but perhaps not in {mode} mode: try {other} mode"
    shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    return f"models there: {shown or 'none'}.{did_you_mean(model, known)}"
