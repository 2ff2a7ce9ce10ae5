"""Any OpenAI-compatible endpoint, through the official SDK.

Chat mode sends a short system line and the prompt as the user's message; completion mode sends
the bare prompt. A parameter the model refuses is renamed or dropped once, and remembered.
No message or note contains the key.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cap.config import shown_url
from cap.errors import EndpointFailed, ModelError, PromptCutOff
from cap.models.base import MAX_TOKENS, Completion, Mode, Request, Scores, Usage
from cap.models.budget import Budget
from cap.models.capabilities import Abilities, AbilitiesFile
from cap.models.estimates import estimate
from cap.models.openai.errors import (
    EndpointErrors,
    Refused,
    Transient,
    refused_parameter,
    refuses_pictures,
    remedy_404,
    server_words,
)
from cap.models.openai.redaction import Redaction
from cap.models.openai.replies import Reply, read_reply
from cap.models.openai.retry import Deadline, Retry
from cap.models.openai.stream import OnText, Teller
from cap.models.openai.transport import Transport
from cap.models.openai.window import Window
from cap.models.settings import ModelSettings
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


REMEDY_WINDOW = "give it a larger one, or a shorter history"
"""What to do where a prompt does not fit."""

E = TypeVar("E", bound=ModelError)


@dataclass
class Exchange:
    """One question and all the requests it takes."""

    deadline: Deadline
    """When it must be answered."""
    prompt: str
    """What is asked, for estimates."""
    sent: int = 0
    """Requests so far."""
    lost: Usage = field(default_factory=Usage)
    """What tries took that broke off, by estimate."""

    def failed(self, error: E, paid: Completion | None = None) -> E:
        """Return the error that ends it, with how many requests it took, and what was answered."""
        error.requests = self.sent
        if paid is not None:
            error.took = vars(Usage.of(paid))
        elif self.lost != Usage():
            error.took = vars(replace(self.lost, requests=self.sent))
        return error


class OpenAIModel:
    """One model at one endpoint; safe to call from several threads."""

    def __init__(
        self,
        name: str,
        *,
        model: str,
        settings: ModelSettings | None = None,
        api_key: str | None = None,
        secrets: Mapping[str, str] | None = None,
        budget: Budget | None = None,
        remedy_window: str = REMEDY_WINDOW,
        cuts_off: bool = False,
        tries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        abilities_file: AbilitiesFile | None = None,
        today: Callable[[], date] = date.today,
    ) -> None:
        """Describe the endpoint; nothing is sent before the first request.

        Args:
            name: `provider/model`, for traces and messages.
            model: The name the endpoint knows the model by.
            settings: Its address, and how it is asked.
            api_key: The key, or None for a server that needs none.
            secrets: What headers and parameters that begin with a `$` stand for.
            budget: Lets requests out, and counts them; without limits by default.
            remedy_window: What to do where its context window is too small.
            cuts_off: Whether its kind is known to cut off longer prompts without a word.
            tries: How often a busy or broken endpoint is asked.
            sleep: Waits between tries, in seconds.
            clock: Monotonic time, in seconds.
            abilities_file: What it knows of the endpoint holds; what is learned is kept there.
            today: The day it is.
        """
        settings = settings or ModelSettings()
        url = settings.base_url or "https://api.openai.com/v1"
        key_env = settings.key_env or "OPENAI_API_KEY"
        self.name, self.model = name, model
        self.mode: Mode = settings.mode or "chat"
        """How prompts are sent."""
        self._settings = settings
        self.url = shown_url(url)
        """Where it is asked."""
        secrets = secrets or {}
        headers = {name: secrets.get(text, text) for name, text in settings.headers.items()}
        query = {name: secrets.get(text, text) for name, text in settings.query.items()}
        self._redaction = Redaction(url, [api_key or "", *secrets.values()], query)
        self._errors = EndpointErrors(name, self.url, key_env, bool(api_key), self._redaction)
        self._transport = Transport(url, api_key, self._redaction, headers, query)
        self._budget = budget or Budget(name)
        self._remedy_window = remedy_window
        self._timeout_s = 120.0 if settings.timeout_s is None else settings.timeout_s
        self._retry = Retry(tries=tries, sleep=sleep)
        self._clock, self._today, self._file = clock, today, abilities_file
        self.place = f"{name} {self.url} {self.mode}"
        """What is learned holds for this."""
        self.abilities = Abilities() if abilities_file is None else abilities_file.load(self.place)
        """What is known of the endpoint."""
        self._refused = dict(self.abilities.refused)
        self._window = Window(self.abilities.window if self.abilities.cuts_off else None, cuts_off)

    @property
    def endpoint(self) -> OpenAIModel:
        """Itself: what a wrapper finds at its heart."""
        return self

    @property
    def sees(self) -> bool:
        """False if it is known to take no pictures."""
        return self.mode == "chat" and "pictures" not in self._refused

    @property
    def usage(self) -> Usage:
        """What its answers took so far."""
        return self._budget.usage

    def taken_here(self) -> Usage:
        """Return what the last answer took that came on this thread; once only."""
        return self._budget.taken_here()

    def unheard(self, prompt: str, written: int) -> Usage:
        """Return what a request took, by estimate, that was stopped: so many tokens had come."""
        return self._budget.unheard(prompt, written)

    @property
    def identity(self) -> str:
        """What decides its answers besides the request: for a cache."""
        settings = self._settings
        more = [settings.reasoning_effort, settings.extra_body, settings.query, settings.headers]
        told = SYSTEM if self.mode == "chat" else ""
        if any(more):
            told += json.dumps([dict(each) if isinstance(each, Mapping) else each for each in more])
        digest = hashlib.sha256(told.encode()).hexdigest()[:12] if told else ""
        return f"{self.place} {digest}".rstrip()

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ModelUnreachable: Nothing answers at the address, or not in time.
            ModelError: The endpoint refuses the request or answers nonsense.
        """
        return self._complete(
            request, Teller(_nobody, self._redaction) if self._settings.stream else None
        )

    def stream(self, request: Request, on_text: OnText) -> Completion:
        """Answer one request like `complete`; each piece of its text is told as it comes.

        Args:
            request: The question.
            on_text: Told each piece; `""` when an answer broke off and begins anew.

        Raises:
            ModelError: As for `complete`.
        """
        if self._settings.stream is False:
            completion = self._complete(request, None)
            on_text(completion.text)
            return completion
        return self._complete(request, Teller(on_text, self._redaction))

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
        openai = self._transport.open()
        texts = str(parameters.get("prompt") or parameters.get("messages"))
        exchange = Exchange(Deadline(self._timeout_s, self._clock), texts)
        send = partial(self._send, mode, {"model": self.model, **parameters}, exchange)
        try:
            body = send() if once else self._retry.run(send, exchange.deadline)
        except Transient as failure:
            raise exchange.failed(self._errors.given_up(failure)) from None
        except openai.APIStatusError as error:
            if error.status_code in _WAYS_REFUSED or refuses_pictures(error):
                told = Refused(server_words(error, self._redaction))
                raise exchange.failed(told) from None
            raise exchange.failed(self._refusal(error)) from None
        self._counted(read_reply(body, Request("")), exchange)
        return body

    def tokens(self, text: str) -> list[int] | None:
        """Return the numbers of a text's tokens, as llama.cpp tells them; None where none are."""
        told = self._transport.post_beside("tokenize", {"content": text, "add_special": True})
        found = told.get("tokens") if isinstance(told, dict) else None
        numbers = isinstance(found, list) and all(type(number) is int for number in found)
        return found if numbers else None

    def unusable(self, why: Refused) -> ModelError:
        """Return the error of an endpoint that takes no way of asking: where, and what to do."""
        if (too_long := self._errors.too_long(str(why), self._remedy_window)) is not None:
            return too_long
        known = self._transport.models()
        remedy = remedy_404(self.model, self.mode, known)
        if known and self.model in known:
            remedy = "it lists that model, but serves it in neither mode; use another"
        return self._errors.error(EndpointFailed, f" takes no request ({why}); {remedy}")

    def learn(self, **known: Any) -> None:
        """Remember something about the endpoint: fields of `Abilities`."""
        self.abilities = replace(self.abilities, **known)
        if self._file is not None:
            self._file.save(self.place, self.abilities)

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._transport.close()

    def _complete(self, request: Request, teller: Teller | None) -> Completion:
        openai = self._transport.open()
        prompt = without_synonyms(request.prompt)
        exchange = Exchange(Deadline(self._timeout_s, self._clock), prompt)
        try:
            body = self._ask(request, exchange, teller, openai)
        except Transient as failure:
            raise exchange.failed(self._errors.given_up(failure)) from None
        except ModelError as error:
            raise exchange.failed(error) from None
        reply = read_reply(body, request)
        completion = self._counted(reply, exchange)
        sent = len(prompt) + len(self._system(request))
        if self._window.cuts(sent, reply.prompt_tokens):
            read = reply.prompt_tokens
            what = f" read only {read} tokens of a prompt of {sent} characters: its beginning is "
            told = f"{what}cut off, since its context window is too small; {self._remedy_window}"
            raise exchange.failed(self._errors.error(PromptCutOff, told), completion)
        notes = list(completion.notes)
        for parameter, seen in list(self._refused.items()):
            if parameter != "pictures":
                renamed = parameter == "max_tokens" and self.mode == "chat"
                now = "max_completion_tokens is sent instead" if renamed else "it is no longer sent"
                notes.append(f"{self.name} refuses {parameter} (seen {seen}); {now}")
            elif request.pictures:
                notes.append(f"{self.name} takes no pictures (seen {seen}): it was asked without")
        if reply.ended == "cut" and not reply.why_empty:
            notes.append(f"the completion was cut at its limit of {request.max_tokens} tokens")
        return replace(
            completion,
            notes=tuple(self._redaction.line(note) for note in notes),
            ended=reply.ended,
            continues=self.mode == "completion",
            why_empty=reply.why_empty and self._errors.told(f" {reply.why_empty}"),
        )

    def _counted(self, reply: Reply, exchange: Exchange) -> Completion:
        """Return an answer, counted and paid, whether or not there is a text in it."""
        completion = Completion(
            text=reply.text,
            model=self._redaction.line(reply.model) or self.model,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens,
            reasoning_tokens=reply.reasoning_tokens,
            requests=exchange.sent,
        )
        lost = None if exchange.lost == Usage() else exchange.lost
        return self._budget.count(exchange.prompt, completion, lost)

    def _ask(self, request: Request, exchange: Exchange, teller: Teller | None, openai: Any) -> Any:
        """Send the request, each time without what the model refused, until it is answered."""
        while True:
            sent = self._parameters(request)
            if teller is not None:
                sent |= {"stream": True}
                if "stream_options" not in self._refused:
                    sent |= {"stream_options": {"include_usage": True}}
            try:
                send = partial(self._send, self.mode, sent, exchange, teller)
                return self._retry.run(send, exchange.deadline)
            except openai.APIStatusError as error:
                refused = refused_parameter(error, sent)
                if refused is None and request.pictures and refuses_pictures(error):
                    refused = "pictures" if "pictures" not in self._refused else None
                if refused is None:
                    raise self._refusal(error) from None
                self._refused[refused] = self._today().isoformat()
                self.learn(refused={**self.abilities.refused, **self._refused})

    def _send(
        self,
        mode: Mode,
        parameters: Mapping[str, Any],
        exchange: Exchange,
        teller: Teller | None = None,
    ) -> Any:
        """Send a request once, when the budget lets it out."""
        if self._settings.extra_body:
            parameters = {**parameters, "extra_body": dict(self._settings.extra_body)}
        deadline, begun_s = exchange.deadline, self._clock()
        with self._budget.sending():
            deadline.put_off(self._clock() - begun_s)
            exchange.sent += 1
            try:
                return self._transport.send(mode, parameters, deadline, teller)
            except Transient as failure:
                if failure.came is not None:
                    limits = map(parameters.get, ("max_tokens", "max_completion_tokens"))
                    most = max((n for n in limits if isinstance(n, int)), default=MAX_TOKENS)
                    written = min(estimate(failure.came), most)
                    exchange.lost = exchange.lost.plus(self._budget.lose(exchange.prompt, written))
                raise
            except KeyboardInterrupt:  # the endpoint has read it, and may have begun to answer
                self._budget.lose(exchange.prompt, estimate(0 if teller is None else teller.came))
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
        if self.mode == "chat" and "max_tokens" in self._refused:
            options["max_completion_tokens"] = request.max_tokens + REASONING_TOKENS
        if self.mode == "chat" and self._settings.reasoning_effort is not None:
            options["reasoning_effort"] = self._settings.reasoning_effort
        options["max_tokens"] = request.max_tokens
        kept = {name: value for name, value in options.items() if name not in self._refused}
        text = without_synonyms(request.prompt)
        if self.mode == "completion":
            return {"model": self.model, "prompt": text, **kept}
        content: Any = text
        if request.pictures and "pictures" not in self._refused:
            content = [{"type": "text", "text": text}, *map(picture_part, request.pictures)]
        messages = [
            {"role": "system", "content": self._system(request)},
            {"role": "user", "content": content},
        ]
        return {"model": self.model, "messages": messages, **kept}

    def _system(self, request: Request) -> str:
        return "" if self.mode == "completion" else request.system or SYSTEM

    def _refusal(self, error: openai.APIStatusError) -> ModelError:
        return self._errors.refusal(
            error,
            lambda: remedy_404(self.model, self.mode, self._transport.models()),
            self._remedy_window,
        )


def picture_part(png: bytes) -> dict[str, Any]:
    """Return a picture as a part of a message."""
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _nobody(piece: str) -> None:
    """Hear a piece of an answer that nobody watches."""
