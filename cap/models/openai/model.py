"""Any OpenAI-compatible endpoint, through the official SDK.

Chat mode sends a short system line and the prompt as the user's message; completion mode sends
the bare prompt. A parameter the model refuses is renamed or dropped once, and remembered.
No message or note contains the key.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cap.errors import EndpointFailed, ModelError
from cap.models.base import Completion, Mode, Request, Scores
from cap.models.capabilities import Abilities, AbilitiesFile
from cap.models.openai.errors import (
    EndpointErrors,
    Refused,
    Transient,
    refused_parameter,
    remedy_404,
    sdk,
    server_words,
)
from cap.models.openai.replies import read_reply
from cap.models.openai.retry import Deadline, Retry
from cap.models.openai.stream import OnText, Teller
from cap.models.openai.transport import Transport
from cap.prompt.prompt import without_synonyms

if TYPE_CHECKING:
    import openai

SYSTEM = (
    "You write robot programs. The user's message is the beginning of a Python file: what the "
    "functions do, imports, then examples, each an instruction in a comment with its code below. "
    "Lines #= tell what came of a program, lines #! how one failed, lines #< what is given. "
    "Answer only with the Python code that comes next, under the last comment. No prose, no "
    "imports, no fences, and nothing of the file again."
)
"""What a chat model is told before the prompt, unless the request says otherwise."""

MAX_STOPS = 4
"""The most stop strings OpenAI's endpoints take; the caller applies every one on the text."""

REASONING_TOKENS = 4096
"""Added where a model takes `max_completion_tokens`: its unseen reasoning counts against it."""

_WAYS_REFUSED = (400, 404, 405, 415, 422, 501)
"""Statuses that say that an endpoint has no such way of asking."""


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
        mode: Mode = "chat",
        timeout_s: float = 120.0,
        tries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        abilities_file: AbilitiesFile | None = None,
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
            abilities_file: What it knows of the endpoint holds; what is learned is kept there.
        """
        self.name = name
        self.model = model
        self.mode = mode
        """How prompts are sent."""
        self._errors = EndpointErrors(name, base_url, api_key, key_env)
        self._transport = Transport(base_url, api_key, self._errors.plain)
        self._timeout_s = timeout_s
        self._retry = Retry(tries=tries, sleep=sleep)
        self._clock = clock
        self._file = abilities_file
        self.abilities = (
            Abilities() if abilities_file is None else abilities_file.load(self.identity)
        )
        """What is known of the endpoint."""
        self._refused = {entry: self._drop_note(entry) for entry in self.abilities.refused}

    @property
    def endpoint(self) -> OpenAIModel:
        """Itself: what a wrapper finds at its heart."""
        return self

    @property
    def identity(self) -> str:
        """What decides its answers besides the request: for a cache."""
        told = hashlib.sha256(SYSTEM.encode()).hexdigest()[:12] if self.mode == "chat" else ""
        return f"{self.name} {self._errors.url} {self.mode} {told}".rstrip()

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ModelUnreachable: Nothing answers at the address, or not in time.
            ModelError: The endpoint refuses the request or answers nonsense.
        """
        return self._complete(request, None)

    def stream(self, request: Request, on_text: OnText) -> Completion:
        """Answer one request like `complete`; each piece of its text is told as it comes.

        Args:
            request: The question.
            on_text: Told each piece; `""` when an answer broke off and begins anew.

        Raises:
            ModelError: As for `complete`.
        """
        return self._complete(request, Teller(on_text))

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Return how likely each continuation is, by the best way this endpoint offers.

        Raises:
            ModelError: No usable answer.
        """
        from cap.models.scorers.scorer import score

        return score(self, prompt, continuations)

    def request(self, mode: Mode, parameters: Mapping[str, Any], *, once: bool = False) -> Any:
        """Send one request as it is and return the decoded answer; nothing is dropped or renamed.

        Args:
            mode: `chat` or `completion`.
            parameters: All but the model's name.
            once: Do not try again.

        Raises:
            Refused: The endpoint does not take a parameter, or has no such mode.
            ModelError: No usable answer.
        """
        openai = sdk()

        deadline = Deadline(self._timeout_s, self._clock)
        send = partial(self._transport.send, mode, {"model": self.model, **parameters}, deadline)
        try:
            return send() if once else self._retry.run(send, deadline)
        except Transient as failure:
            raise self._errors.given_up(failure) from None
        except openai.APIStatusError as error:
            if error.status_code in _WAYS_REFUSED:
                raise Refused(server_words(error, self._errors.plain)) from None
            raise self._refusal(error) from None

    def unusable(self, why: Refused) -> EndpointFailed:
        """Return the error of an endpoint that takes no way of asking: where, and what to do."""
        known = self._transport.models()
        remedy = remedy_404(self.model, self.mode, known)
        if known and self.model in known:
            remedy = "it lists that model, but serves it in neither mode; use another"
        return self._errors.error(EndpointFailed, f" takes no request ({why}); {remedy}")

    def learn(self, **known: Any) -> None:
        """Remember something about the endpoint: fields of `Abilities`."""
        self.abilities = replace(self.abilities, **known)
        if self._file is not None:
            self._file.save(self.identity, self.abilities)

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._transport.close()

    def _complete(self, request: Request, teller: Teller | None) -> Completion:
        try:
            body = self._ask(request, Deadline(self._timeout_s, self._clock), teller)
        except Transient as failure:
            raise self._errors.given_up(failure) from None
        reply = read_reply(body, request)
        notes = [*self._refused.values()]
        if reply.ended == "cut" and not reply.why_empty:
            notes.append(f"the completion was cut at its limit of {request.max_tokens} tokens")
        return Completion(
            text=reply.text,
            model=self._errors.plain(reply.model) or self.model,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            notes=tuple(self._errors.plain(note) for note in notes),
            ended=reply.ended,
            continues=self.mode == "completion",
            why_empty=reply.why_empty and self._errors.told(f" {reply.why_empty}"),
        )

    def _ask(self, request: Request, deadline: Deadline, teller: Teller | None) -> Any:
        """Send the request, each time without what the model refused, until it is answered."""
        openai = sdk()

        while True:
            sent = self._parameters(request)
            if teller is not None:
                sent |= {"stream": True}
                if "stream_options" not in self._refused:
                    sent |= {"stream_options": {"include_usage": True}}
            try:
                send = partial(self._transport.send, self.mode, sent, deadline, teller)
                return self._retry.run(send, deadline)
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
        if request.stop and self.mode == "completion":
            options["stop"] = list(request.stop[:MAX_STOPS])
        if self.mode == "chat" and "max_tokens" in self._refused:
            options["max_completion_tokens"] = request.max_tokens + REASONING_TOKENS
        options["max_tokens"] = request.max_tokens
        kept = {name: value for name, value in options.items() if name not in self._refused}
        if self.mode == "completion":
            return {"model": self.model, "prompt": without_synonyms(request.prompt), **kept}
        messages = [
            {"role": "system", "content": request.system or SYSTEM},
            {"role": "user", "content": without_synonyms(request.prompt)},
        ]
        return {"model": self.model, "messages": messages, **kept}

    def _drop_note(self, parameter: str) -> str:
        if parameter == "max_tokens" and self.mode == "chat":
            return f"{self.name} refuses max_tokens; max_completion_tokens is sent in its place"
        return f"{self.name} refuses {parameter}; it is no longer sent"

    def _refusal(self, error: openai.APIStatusError) -> ModelError:
        return self._errors.refusal(
            error, lambda: remedy_404(self.model, self.mode, self._transport.models())
        )
