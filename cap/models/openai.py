"""Any OpenAI-compatible endpoint, through the official SDK.

Chat mode sends a short system line and the prompt as the user's message; completion mode sends
the bare prompt. A parameter the model refuses is renamed or dropped once, and remembered.
No message or note contains the key.
"""

from __future__ import annotations

import re
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from cap.config import is_loopback, shown_url
from cap.errors import EmptyCompletion, ModelError, ModelUnreachable, did_you_mean
from cap.models.base import Completion, Request
from cap.models.openai_replies import (
    connection_fault,
    read_body,
    read_reply,
    refused_parameter,
    server_words,
    too_slow,
    transient_status,
)
from cap.models.retry import Deadline, Retry, Transient
from cap.prompt import without_synonyms

if TYPE_CHECKING:
    import openai

SYSTEM = (
    "You write robot programs. The user's message is the beginning of a Python file: imports, "
    "then examples, each an instruction in a comment with its code below. Answer only with the "
    "Python code that comes next, under the last comment. No prose, no imports, no fences, and "
    "nothing of the file again."
)
"""What a chat model is told before the prompt."""

MAX_STOPS = 4
"""The most stop strings OpenAI's endpoints take; the caller applies every one on the text."""

REASONING_TOKENS = 4096
"""Added where a model takes `max_completion_tokens`: its unseen reasoning counts against it."""

CONNECT_S = 10.0
"""Longest wait for a connection, in seconds."""

_KEY_SHAPED = re.compile(r"\bsk-[\w*.-]{6,}")
_SHORTEST_KEY = 4  # Shorter words, such as a local server's "x", are no secret.
_NO_KEY = "none"  # The SDK insists on some text; servers without keys ignore it.


class OpenAIModel:
    """One model at one endpoint; safe to call from several threads."""

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        key_env: str = "OPENAI_API_KEY",
        mode: Literal["chat", "completion"] = "chat",
        timeout_s: float = 120.0,
        tries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Describe the endpoint; nothing is sent before the first request.

        Args:
            name: `provider/model`, for traces and messages.
            model: The name the endpoint knows the model by.
            base_url: The endpoint's address, up to and with `/v1`.
            api_key: The key, or None for a server that needs none.
            key_env: Environment variable named in messages about the key.
            mode: `chat` or `completion`.
            timeout_s: Longest time for one completion, retries included.
            tries: How often a busy or broken endpoint is asked.
            sleep: Waits between tries, in seconds.
            clock: Monotonic time, in seconds.
        """
        self.name = name
        self._model = model
        self._base_url = base_url
        self._url = shown_url(base_url)
        self._key = api_key
        self._key_env = key_env
        self._mode = mode
        self._timeout_s = timeout_s
        self._retry = Retry(tries=tries, sleep=sleep)
        self._clock = clock
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None
        self._refused: dict[str, str] = {}

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ModelUnreachable: Nothing answers at the address, or not in time.
            EmptyCompletion: The answer has no text.
            ModelError: The endpoint refuses the request or answers nonsense.
        """
        try:
            body = self._ask(request, Deadline(self._timeout_s, self._clock))
        except Transient as failure:
            kind = ModelUnreachable if failure.unreachable else ModelError
            raise self._error(kind, f": {failure}") from None
        reply = read_reply(body, request)
        if reply.why_empty:
            raise self._error(EmptyCompletion, f" {reply.why_empty}")
        notes = [*self._refused.values()]
        if reply.cut:
            notes.append(f"the completion was cut at its limit of {request.max_tokens} tokens")
        return Completion(
            text=reply.text,
            model=self._plain(reply.model) or self._model,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            notes=tuple(self._plain(note) for note in notes),
        )

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _ask(self, request: Request, deadline: Deadline) -> Any:
        """Send the request, each time without what the model refused, until it is answered."""
        import openai

        while True:
            sent = self._parameters(request)
            try:
                return self._retry.run(partial(self._send, sent, deadline), deadline)
            except openai.APIStatusError as error:
                refused = refused_parameter(error, sent)
                if refused is None:
                    raise self._refusal(error) from None
                self._refused[refused] = self._drop_note(refused)

    def _parameters(self, request: Request) -> dict[str, Any]:
        """Return what to send: the prompt in this mode's form, and the options still accepted."""
        options: dict[str, Any] = {"temperature": request.temperature}
        if request.seed is not None:
            options["seed"] = request.seed
        # A chat model ends its own turn, and may open with the instruction's comment, a fence or
        # its reasoning: cut there by the endpoint, nothing would be left of the program.
        if request.stop and self._mode == "completion":
            options["stop"] = list(request.stop[:MAX_STOPS])
        if self._mode == "chat" and "max_tokens" in self._refused:
            options["max_completion_tokens"] = request.max_tokens + REASONING_TOKENS
        options["max_tokens"] = request.max_tokens
        kept = {name: value for name, value in options.items() if name not in self._refused}
        if self._mode == "completion":
            return {"model": self._model, "prompt": without_synonyms(request.prompt), **kept}
        messages = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": without_synonyms(request.prompt)},
        ]
        return {"model": self._model, "messages": messages, **kept}

    def _send(self, parameters: Mapping[str, Any], deadline: Deadline) -> Any:
        """Send one request and return the decoded answer.

        Raises:
            Transient: The request is not to blame.
            openai.APIStatusError: The endpoint refuses the request.
        """
        import openai

        left_s = max(deadline.left_s(), 0.001)
        connect_s = min(CONNECT_S, left_s)
        client = self._connect()
        endpoint: Any = client.chat.completions if self._mode == "chat" else client.completions
        timeout = openai.Timeout(left_s, connect=connect_s)
        try:
            with endpoint.with_streaming_response.create(timeout=timeout, **parameters) as answer:
                return read_body(answer, deadline)
        except openai.APIStatusError as error:
            if failure := transient_status(error, self._plain):
                raise failure from None
            raise
        except openai.APIConnectionError as error:
            if deadline.left_s() <= 0:
                raise too_slow(deadline) from None
            raise connection_fault(error, connect_s) from None

    def _connect(self) -> openai.OpenAI:
        """Return the SDK's client, made on first use: importing the SDK is slow."""
        with self._lock:
            if self._client is None:
                import openai

                # A proxy meant for the internet cannot reach this machine's own servers.
                http = openai.DefaultHttpxClient(trust_env=not is_loopback(self._base_url))
                weakref.finalize(self, http.close)
                self._client = openai.OpenAI(
                    api_key=self._key or _NO_KEY,
                    base_url=self._base_url,
                    max_retries=0,
                    http_client=http,
                )
            return self._client

    def _drop_note(self, parameter: str) -> str:
        if parameter == "max_tokens" and self._mode == "chat":
            return f"{self.name} refuses max_tokens; max_completion_tokens is sent in its place"
        return f"{self.name} refuses {parameter}; it is no longer sent"

    def _refusal(self, error: openai.APIStatusError) -> ModelError:
        """Return the error for an answer that trying again cannot mend."""
        told = f"{error.status_code}: {server_words(error, self._plain)}"
        if error.status_code in (401, 403):
            what = "does not accept the key" if self._key else "asks for a key"
            remedy = f"set {self._key_env} to a key for that address, or use `-m nearest`"
            return self._error(ModelError, f" {what} ({told}); {remedy}")
        if error.status_code == 404:
            return self._error(ModelError, f": not found ({told}); {self._remedy_404()}")
        return self._error(ModelError, f" refuses the request ({told})")

    def _remedy_404(self) -> str:
        """Say which models there are, where the endpoint tells."""
        import openai

        try:
            listed = self._connect().models.list(timeout=CONNECT_S)
            names = sorted(str(entry.id) for entry in listed.data)
        except (openai.OpenAIError, ValueError, AttributeError, TypeError):
            return "check --base-url (it usually ends in /v1) and the model's name"
        if self._model in names:
            other = "chat" if self._mode == "completion" else "completion"
            return f"it has that model, but perhaps not in {self._mode} mode: try {other} mode"
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        return f"models there: {shown or 'none'}.{did_you_mean(self._model, names)}"

    def _error(self, kind: type[ModelError], what: str) -> ModelError:
        """Return an error that begins with the model and its address."""
        return kind(self._plain(f"{self.name} at {self._url}{what}"))

    def _plain(self, text: str) -> str:
        """Return one line in which no key stands, whoever put it there."""
        if self._key and len(self._key) >= _SHORTEST_KEY:
            text = text.replace(self._key, "[key]")
        text = text.replace(self._base_url, self._url)
        return _KEY_SHAPED.sub("[key]", " ".join(text.split()))
