"""What an endpoint can do: a few tiny requests, each for one thing."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from typing import Any

from cap.errors import ModelError, PromptCutOff
from cap.models.base import Request
from cap.models.openai.model import Abilities, OpenAIModel, Refused
from cap.models.openai.replies import read_reply
from cap.prompt.prompt import CHARS_PER_TOKEN

PROMPT = "1, 2, 3, 4,"
MAX_TOKENS = 16
NARROWEST, WIDEST = 2048, 16384
"""Tokens of the shortest and longest prompt its context window is tried with; each is twice the
one before. Requests have at most 3,000, and a session's history as many again."""
_IDLE_LINE = "# Nothing of note stands on this line of the file.\n"


def check(model: OpenAIModel, widest: int = WIDEST) -> Abilities:
    """Find out what a model's endpoint can do, and remember it.

    Args:
        model: Whose endpoint.
        widest: How many tokens of a prompt its window is tried with, at the most.

    Returns:
        What it can do; None where an answer left it open.

    Raises:
        ModelError: It does not answer.
    """
    model.learn(refused={}, rung=None, logprobs=None)
    question = Request(PROMPT, max_tokens=MAX_TOKENS, seed=1)
    model.complete(question)  # it remembers what is refused
    pictures, rung = None, "ranked"
    with contextlib.suppress(ModelError):
        model.complete(replace(question, pictures=(_pixel(),)))
        pictures = model.sees
    with contextlib.suppress(ModelError):
        rung = model.score(PROMPT, [" 5", " 9"]).rung
    window, cuts_off = _window(model, widest)
    model.learn(rung=rung, window=window, cuts_off=cuts_off, pictures=pictures)
    return model.abilities


def _window(model: OpenAIModel, widest: int) -> tuple[int | None, bool | None]:
    """Return how many tokens of a prompt are read, and whether longer ones are cut off.

    A word stands at the beginning of a prompt and is asked for at its end: a server that lost
    the beginning cannot know it. Both are None where even a short prompt is not answered.
    """
    read: int | None = None
    size = NARROWEST
    names = ("max_tokens", "max_completion_tokens") if model.mode == "chat" else ("max_tokens",)
    taken = [name for name in names if name not in model.abilities.refused]
    limit = dict.fromkeys(taken[:1], MAX_TOKENS)
    while size <= widest:
        word = "".join(random.choices("abcdefghjkmnpqrstuvwxyz", k=8))
        begin, end = f"The password is {word}.\n", "\nThe password, which is at the top, is"
        text = begin + _IDLE_LINE * (size * CHARS_PER_TOKEN // len(_IDLE_LINE)) + end
        asked: dict[str, Any] = {"prompt": text}
        if model.mode == "chat":
            said = {"role": "user", "content": f"{text} (say the word alone):"}
            asked = {"messages": [said]}
        try:
            body, _ = model.request(model.mode, {**asked, **limit}, once=True)
        except (Refused, PromptCutOff):
            return read, False  # it says so, and needs no guess
        except ModelError:
            return read, None
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
