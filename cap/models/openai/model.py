"""Any OpenAI-compatible endpoint, through the official SDK.

Chat mode sends a short system line and the prompt as the user's message; completion mode sends
the bare prompt. A parameter the model refuses is renamed or dropped once, and remembered.
No message or note contains the key.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from cap.config import shown_url
from cap.errors import ModelError, PromptCutOff
from cap.files import write_whole
from cap.models.base import MAX_TOKENS, Completion, Mode, ModelSettings, Request, Scores, Usage
from cap.models.budget import Budget
from cap.models.openai.client import TIMEOUT_S, TRIES, Client, Exchange, RequestFailed, retried
from cap.models.openai.redaction import OnText, Pieces
from cap.models.openai.replies import read_reply
from cap.prompt.examples import without_synonyms
from cap.prompt.prompt import tokens_of

SYSTEM = (
    "You write robot programs. The user's message is the beginning of a Python file: what the "
    "functions do, imports, then examples, each an instruction in a comment with its code below. "
    "Lines #= show the effect of a program, lines #! how one failed, lines #< what is given. "
    "Answer only with the Python code that comes next, under the last comment. No prose, no "
    "imports, no fences, and nothing of the file again."
)
"""The system message of a chat model, unless the request has another."""

MAX_STOPS = 4
"""The most stop strings OpenAI's endpoints take; the caller applies every one on the text."""

REASONING_TOKENS = 4096
"""Added where a model takes `max_completion_tokens`: its unseen reasoning counts against it."""

_DROPPABLE = (
    "stream_options",
    "stop",
    "temperature",
    "seed",
    "reasoning_effort",
    "max_tokens",
    "max_completion_tokens",
)

LONG_CHARS = 2000
"""Shorter prompts fit everywhere."""
MOST_CHARS_PER_TOKEN = 7.0
"""Programs and English have three to five; a prompt that seems to have more was not read whole."""
USUAL_CHARS_PER_TOKEN = 3.9
"""Where prompts are cut off unsaid, one that fills a usual window to the brim is from here on."""
USUAL_WINDOWS = tuple(2**power for power in range(11, 18))


@dataclass(frozen=True)
class Abilities:
    """What one model at one endpoint can do; None where nobody tried."""

    logprobs: int | None = None
    """How many alternatives it gives for each token."""
    rung: str | None = None
    """The best way of comparing continuations, as in `Scores.rung`."""
    window: int | None = None
    """How many tokens of a prompt it is seen to read; more, unless it `cuts_off` there."""
    cuts_off: bool | None = None
    """Whether it reads a part of longer prompts, without a word."""
    pictures: bool | None = None
    """Takes a picture with the prompt; whether it looks at it, one request cannot tell."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Parameters it does not take, and the day each was refused."""


def load_abilities(path: Path) -> dict[str, Abilities]:
    """Return what is known of every endpoint, by its place; a damaged file counts as none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Abilities])
    except (OSError, ValueError):
        return {}


def save_abilities(path: Path, place: str, abilities: Abilities) -> None:
    """Keep what is known; where the file cannot be written, it is found out again."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, msgspec.json.encode({**load_abilities(path), place: abilities}))


class Refused(ModelError):
    """The endpoint does not take what was sent; another way of asking may do."""


def is_cut_off(chars: int, tokens: int, window: int | None = None, unsaid: bool = False) -> bool:
    """Tell whether a server lost the beginning of a prompt, by the tokens it says it read.

    Some servers cut off what does not fit in their context window, without a word: then the model
    has lost the hints and half of the examples, and writes worse programs.

    Args:
        chars: How long the prompt was.
        tokens: How much of it was read; 0 where nobody says.
        window: How many of a longer prompt are read, where a check saw it cut off.
        unsaid: Whether this kind of server is known to cut off without a word.
    """
    if not tokens or chars < LONG_CHARS:
        return False
    if chars > MOST_CHARS_PER_TOKEN * tokens or (window is not None and tokens >= window - 1):
        return True
    full = any(0 <= usual - tokens <= 1 for usual in USUAL_WINDOWS)
    return unsaid and full and chars > USUAL_CHARS_PER_TOKEN * tokens


class OpenAIModel:
    """One model at one endpoint; safe to call from several threads."""

    def __init__(
        self,
        name: str,
        settings: ModelSettings,
        client: Client,
        *,
        budget: Budget | None = None,
        cuts_off: bool = False,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        abilities_file: Path | None = None,
    ) -> None:
        """Describe the endpoint; nothing is sent before the first request.

        Args:
            name: `provider/model`: the endpoint knows the model by the second part.
            settings: Its address, and how it is asked.
            client: Its connections.
            budget: Lets requests out, and counts them; without limits by default.
            cuts_off: Whether its kind is known to cut off longer prompts without a word.
            sleep: Waits between tries, in seconds.
            clock: Monotonic time, in seconds.
            abilities_file: What it knows of the endpoint holds; what is learned is kept there.
        """
        self.name, self.model = name, name.partition("/")[2]
        self.mode: Mode = settings.mode or "chat"
        """How prompts are sent."""
        self._settings, self._client, self._redaction = settings, client, client.redaction
        self.url = shown_url(settings.base_url or "")
        """Where it is asked."""
        self._budget = budget or Budget(name)
        self._timeout_s = settings.timeout_s or TIMEOUT_S
        self._sleep, self._clock, self._file = sleep, clock, abilities_file
        self.place = f"{name} {self.url} {self.mode}"
        """What is learned holds for this."""
        self.abilities = Abilities()
        """What is known of the endpoint."""
        if abilities_file is not None:
            self.abilities = load_abilities(abilities_file).get(self.place, self.abilities)
        self._cuts_off = cuts_off

    @property
    def endpoint(self) -> OpenAIModel:
        """Itself: what a wrapper finds at its heart."""
        return self

    @property
    def sees(self) -> bool:
        """False if it is known to take no pictures."""
        return self.mode == "chat" and "pictures" not in self.abilities.refused

    @property
    def usage(self) -> Usage:
        """What its answers took so far."""
        return self._budget.usage

    def cancelled_usage(self, prompt: str, written: int) -> Usage:
        """Return what a request took, by estimate, that was stopped: so many tokens had come."""
        return self._budget.cancelled_usage(prompt, written)

    @property
    def identity(self) -> str:
        """What decides its answers besides the request: for a cache."""
        settings = self._settings
        more = [settings.reasoning_effort, settings.extra_body, settings.query, settings.headers]
        sent = SYSTEM if self.mode == "chat" else ""
        if any(more):
            sent += json.dumps(more)
        digest = hashlib.sha256(sent.encode()).hexdigest()[:12] if sent else ""
        return f"{self.place} {digest}".rstrip()

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ModelUnreachable: Nothing answers at the address, or not in time.
            ModelError: The endpoint refuses the request or answers nonsense.
        """
        return self._complete(request, (lambda piece: None) if self._settings.stream else None)

    def stream(self, request: Request, on_text: OnText) -> Completion:
        """Answer one request like `complete`, and hand over its text as it comes.

        Args:
            request: The question.
            on_text: Called with each piece; with `""` when an answer broke off and begins again.

        Raises:
            ModelError: As for `complete`.
        """
        if self._settings.stream is False:
            completion = self._complete(request, None)
            on_text(completion.text)
            return completion
        return self._complete(request, on_text)

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Return how likely each continuation is, by the best way this endpoint offers.

        Raises:
            ModelError: No usable answer.
        """
        from cap.models.scorers import score

        return score(self, prompt, continuations)

    def request(
        self, mode: Mode, parameters: Mapping[str, Any], *, once: bool = False
    ) -> tuple[Any, Usage]:
        """Send one request as it is; nothing is dropped or renamed.

        Args:
            mode: `chat` or `completion`.
            parameters: All but the model's name.
            once: Do not try again.

        Returns:
            The decoded answer, and what it took.

        Raises:
            Refused: The endpoint does not take a parameter, or has no such mode.
            ModelError: No usable answer.
        """
        exchange = self._begun(str(parameters.get("prompt") or parameters.get("messages")))
        send = partial(self._send, mode, {"model": self.model, **parameters}, exchange)
        try:
            body = retried(send, exchange, 1 if once else TRIES, self._sleep)
        except RequestFailed as failure:
            other_way = failure.status not in (0, 401, 403) and failure.kind is not PromptCutOff
            kind = Refused if other_way else failure.kind
            raise exchange.failed(self._error(kind, failure.message)) from None
        return body, Usage.of(self._counted(read_reply(body), exchange))

    def learn(self, **known: Any) -> None:
        """Remember something about the endpoint: fields of `Abilities`."""
        before, self.abilities = self.abilities, replace(self.abilities, **known)
        if self._file is not None and self.abilities != before:
            save_abilities(self._file, self.place, self.abilities)

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._client.close()

    def _begun(self, prompt: str) -> Exchange:
        self._client.open()  # its import is slow, and not the endpoint's fault
        return Exchange(prompt, self._timeout_s, self._clock)

    def _complete(self, request: Request, on_text: OnText | None) -> Completion:
        prompt = without_synonyms(request.prompt)
        exchange = self._begun(prompt)
        pieces = None if on_text is None else Pieces(on_text, self._redaction)
        try:
            body = self._ask(request, exchange, pieces)
        except ModelError as error:
            raise exchange.failed(error) from None
        reply = read_reply(body, request.max_tokens)
        completion = self._counted(reply, exchange)
        sent, read = len(prompt) + len(self._system(request)), reply.prompt_tokens
        window = self.abilities.window if self.abilities.cuts_off else None
        if is_cut_off(sent, read, window, self._cuts_off):
            what = f" read only {read} tokens of a prompt of {sent} characters: its beginning is "
            what += f"cut off, since its context window is too small; {self._client.remedy_window}"
            raise exchange.failed(self._error(PromptCutOff, what), completion)
        notes = (
            f"{self.name} refuses {parameter} (seen {seen}): it is left out"
            for parameter, seen in self.abilities.refused.items()
            if parameter != "pictures" or request.pictures
        )
        return replace(
            completion,
            notes=(*completion.notes, *map(self._redaction.line, notes)),
            continues=self.mode == "completion",
            why_empty=completion.why_empty and self._line(f" {completion.why_empty}"),
        )

    def _counted(self, reply: Completion, exchange: Exchange) -> Completion:
        """Return an answer without secrets, counted and paid, whether or not there is a text."""
        completion = replace(
            reply,
            text=self._redaction.text(reply.text),
            model=self._redaction.line(reply.model) or self.model,
            requests=exchange.sent,
        )
        return self._budget.count(exchange.prompt, completion, exchange.lost)

    def _ask(self, request: Request, exchange: Exchange, pieces: Pieces | None) -> Any:
        """Send the request, each time without what the model refused, until it is answered."""
        while True:
            sent = self._parameters(request)
            if pieces is not None:
                sent |= {"stream": True}
                if "stream_options" not in self.abilities.refused:
                    sent |= {"stream_options": {"include_usage": True}}
            try:
                send = partial(self._send, self.mode, sent, exchange, pieces)
                return retried(send, exchange, TRIES, self._sleep)
            except RequestFailed as failure:
                refused = self._refused_in(failure, sent, request)
                if refused is None:
                    raise self._error(failure.kind, failure.message) from None
                today = date.today().isoformat()
                self.learn(refused={**self.abilities.refused, refused: today})

    def _refused_in(
        self, failure: RequestFailed, sent: Mapping[str, Any], request: Request
    ) -> str | None:
        """Return the optional parameter that was refused, None if it was something else."""
        found = [name for name in _DROPPABLE if name in sent]
        if failure.parameter:
            found = [name for name in found if name == failure.parameter]
        elif failure.kind is PromptCutOff:
            found = []
        else:
            found = [name for name in found if re.search(rf"\b{name}\b", failure.words)]
        if found and failure.status in (400, 422):
            return found[0]
        return "pictures" if request.pictures and self.sees and failure.of_pictures else None

    def _send(
        self,
        mode: Mode,
        parameters: Mapping[str, Any],
        exchange: Exchange,
        pieces: Pieces | None = None,
    ) -> Any:
        """Send a request once, when the budget lets it out."""
        begun_s = self._clock()
        with self._budget.sending():
            exchange.put_off(self._clock() - begun_s)
            exchange.sent += 1
            try:
                body = {**parameters, **self._settings.extra_body}
                return self._client.send(mode, body, exchange, pieces)
            except (RequestFailed, KeyboardInterrupt) as ended:  # what came may have to be paid
                if exchange.came is not None or isinstance(ended, KeyboardInterrupt):
                    came = (exchange.came if pieces is None else pieces.came) or 0
                    limits = map(parameters.get, ("max_tokens", "max_completion_tokens"))
                    most = max((n for n in limits if isinstance(n, int)), default=MAX_TOKENS)
                    written = min(tokens_of(came), most)
                    exchange.lost = exchange.lost.plus(self._budget.lose(exchange.prompt, written))
                raise

    def _parameters(self, request: Request) -> dict[str, Any]:
        """Return what to send: the prompt in this mode's form, and the options still accepted."""
        options: dict[str, Any] = {"temperature": request.temperature}
        if request.seed is not None:
            options["seed"] = request.seed
        # A chat model ends its own turn, and may open with the instruction's comment, a fence or
        # its reasoning: cut there by the endpoint, nothing would be left of the program.
        if request.stop and self.mode == "completion":
            options["stop"] = list(request.stop[:MAX_STOPS])
        if self.mode == "chat" and "max_tokens" in self.abilities.refused:
            options["max_completion_tokens"] = request.max_tokens + REASONING_TOKENS
        if self.mode == "chat" and self._settings.reasoning_effort is not None:
            options["reasoning_effort"] = self._settings.reasoning_effort
        options["max_tokens"] = request.max_tokens
        kept = {
            name: value for name, value in options.items() if name not in self.abilities.refused
        }
        text = without_synonyms(request.prompt)
        if self.mode == "completion":
            return {"model": self.model, "prompt": text, **kept}
        content: Any = text
        if request.pictures and self.sees:
            urls = (f"data:image/png;base64,{b64encode(png).decode()}" for png in request.pictures)
            pictures = ({"type": "image_url", "image_url": {"url": url}} for url in urls)
            content = [{"type": "text", "text": text}, *pictures]
        messages = [
            {"role": "system", "content": self._system(request)},
            {"role": "user", "content": content},
        ]
        return {"model": self.model, "messages": messages, **kept}

    def _system(self, request: Request) -> str:
        return "" if self.mode == "completion" else request.system or SYSTEM

    def _error(self, kind: type[ModelError], what: str) -> ModelError:
        return kind(self._line(what))

    def _line(self, what: str) -> str:
        """Return one line that begins with the model and its address."""
        return self._redaction.line(f"{self.name} at {self.url}{what}")
