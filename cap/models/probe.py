"""What an endpoint can do: a few tiny requests, each for one thing."""

from __future__ import annotations

import random
from datetime import date
from typing import Any

from cap.errors import EndpointFailed, ModelError, ModelUnreachable
from cap.models.base import Mode, Request
from cap.models.capabilities import Abilities
from cap.models.openai.model import OpenAIModel, Refused
from cap.models.openai.replies import read_reply

PROMPT = "1, 2, 3, 4,"
MAX_TOKENS = 16
COUNTED = 30
"""How far it is asked to count where pieces of an answer are awaited."""
NARROWEST, WIDEST = 2048, 16384
"""Tokens of the shortest and longest prompt its context window is tried with; each is twice the
one before. Requests have at most 3,000, and a session's history as many again."""
_CHARS_PER_TOKEN = 4
_IDLE_LINE = "# Nothing of note stands on this line of the file.\n"


def check(model: OpenAIModel, widest: int = WIDEST) -> Abilities:
    """Find out what a model's endpoint can do, and remember it.

    Args:
        model: Whose endpoint.
        widest: How many tokens of a prompt its window is tried with, at the most.

    Returns:
        What it can do; None where an answer left it open.

    Raises:
        ModelError: It answers neither to messages nor to bare prompts.
    """
    probe, day = _Probe(model), date.today().isoformat()
    chat, completions = probe.mode("chat"), probe.mode("completion")
    if not chat and not completions:
        assert probe.last is not None  # each mode failed with an error
        raise probe.last
    mode: Mode = model.mode
    if not (chat if mode == "chat" else completions):
        mode = "chat" if chat else "completion"
    model.learn(refused={}, rung=None, logprobs=None)
    probe.completes(Request(PROMPT, max_tokens=MAX_TOKENS, seed=1))
    seen = probe.completes(Request(PROMPT, max_tokens=MAX_TOKENS, pictures=(_pixel(),)))
    window, cuts_off = probe.window(mode, widest)
    rung = probe.rung()
    model.learn(
        chat=chat,
        completions=completions,
        streaming=probe.streams(),
        seed="seed" not in model.abilities.refused,
        rung=rung,
        window=window,
        cuts_off=cuts_off,
        pictures=seen if model.sees else False,
        checked=day,
    )
    return model.abilities


class _Probe:
    """Asks one endpoint for one thing at a time."""

    def __init__(self, model: OpenAIModel) -> None:
        self._model = model
        self._limit = "max_tokens"
        self.last: ModelError | None = None

    def tried(self, mode: Mode, **more: Any) -> tuple[bool | None, Any]:
        """Send the prompt with some parameter more.

        Returns:
            Whether it is taken, None where that is open, and the answer.

        Raises:
            ModelUnreachable: Nothing answers there.
        """
        sent: dict[str, Any] = {"prompt": PROMPT, "max_tokens": MAX_TOKENS}
        if mode == "chat":
            message = {"role": "user", "content": f"Count on: {PROMPT}"}
            sent = {"messages": [message], self._limit: MAX_TOKENS}
        try:
            body, _ = self._model.request(mode, {**sent, **more}, once=True)
        except ModelUnreachable:
            raise
        except ModelError as error:
            self.last = error
            return (False if isinstance(error, Refused) else None), None
        return True, body

    def mode(self, mode: Mode) -> bool | None:
        """Tell whether one way of asking works."""
        taken, body = self.tried(mode)
        if taken is False and mode == "chat" and self._limit in str(self.last):
            self._limit = "max_completion_tokens"
            taken, body = self.tried(mode)
        if not taken:
            return taken
        if not (isinstance(body, dict) and body.get("choices")):
            why = read_reply(body).why_empty
            where = f"{self._model.name} at {self._model.url}"
            self.last = EndpointFailed(f"{where} {why}; check --base-url (it usually ends in /v1)")
            return False
        return True

    def completes(self, request: Request) -> bool | None:
        """Ask as usual, whereby the model remembers what is refused; None if it fails."""
        try:
            self._model.complete(request)
        except ModelError:
            return None
        return True

    def rung(self) -> str:
        """Return the best way of comparing continuations, by comparing two."""
        try:
            return self._model.score(PROMPT, [" 5", " 9"]).rung
        except ModelError:
            return "ranked"

    def streams(self) -> bool | None:
        """Tell whether the text comes in several pieces; one piece alone shows nothing."""
        pieces: list[str] = []
        question = Request(f"Count from 1 to {COUNTED}.\n{PROMPT}", max_tokens=4 * COUNTED)
        try:
            self._model.stream(question, pieces.append)
        except Refused:
            return False
        except ModelError:
            return None
        return True if len(pieces) > 1 else None

    def window(self, mode: Mode, widest: int) -> tuple[int | None, bool | None]:
        """Return how many tokens of a prompt are read, and whether longer ones are cut off.

        A word stands at the beginning of a prompt and is asked for at its end: a server that lost
        the beginning cannot know it. Both are None where even a short prompt is not answered.
        """
        read: int | None = None
        size = NARROWEST
        while size <= widest:
            word = "".join(random.choices("abcdefghjkmnpqrstuvwxyz", k=8))
            begin, end = f"The password is {word}.\n", "\nThe password, which is at the top, is"
            text = begin + _IDLE_LINE * (size * _CHARS_PER_TOKEN // len(_IDLE_LINE)) + end
            asked: dict[str, Any] = {"prompt": text}
            if mode == "chat":
                said = {"role": "user", "content": f"{text} (say the word alone):"}
                asked = {"messages": [said]}
            taken, body = self.tried(mode, **asked)
            if taken is None:
                return read, None
            if taken is False:
                return read, False  # it says so, and needs no guess
            reply = read_reply(body)
            if word not in reply.text.lower():
                counted = reply.prompt_tokens
                cut = read is not None or 0 < counted < size // 2
                return (counted or read, True) if cut else (None, None)
            read = reply.prompt_tokens or size
            size *= 2
        return read, None


def _pixel() -> bytes:
    """Return a small red picture as PNG."""
    import io

    from PIL import Image

    data = io.BytesIO()
    Image.new("RGB", (16, 16), "red").save(data, "PNG")
    return data.getvalue()
