"""Reading what OpenAI-compatible endpoints answer, whatever its shape."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cap.models.base import Ended, Request
from cap.models.openai.errors import Transient
from cap.models.openai.redaction import Redaction
from cap.models.openai.retry import Deadline, broken_off, too_slow

MAX_ANSWER_BYTES = 16_000_000
"""An answer longer than this is no completion."""
_STEP_BYTES = 65536


@dataclass(frozen=True)
class Reply:
    """One decoded answer."""

    text: str
    """The completion; "" if there is none."""
    why_empty: str
    """Why there is none, as far as the answer tells."""
    ended: Ended
    """How it ended."""
    model: str
    """The model's name as the endpoint gives it; "" if it does not."""
    prompt_tokens: int
    """Tokens read; 0 if it does not say."""
    completion_tokens: int
    """Tokens written, unseen reasoning included; 0 if it does not say."""
    cached_tokens: int
    """Of those read."""
    reasoning_tokens: int
    """Of those written."""


_CUT = (
    *("length", "max_length", "max_tokens", "model_length", "insufficient_system_resource"),
    *("error", "abort", "aborted", "cancelled", "canceled", "timeout"),
)
"""How servers call an answer that is not all of it, in any case."""
_WITHHELD = (
    *("content_filter", "safety", "recitation"),
    *("prohibited_content", "blocklist", "spii"),
)


def read_reply(body: Any, request: Request) -> Reply:
    """Read an answer of either mode, whatever its shape."""
    choices = _get(body, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = _get(choice, "message")
    text = content_text(_get(message, "content")) or _text(_get(choice, "text"))
    if code := _called(message):  # of words beside it the reader of programs is the judge
        text = f"{text}\n\n```python\n{code}\n```\n" if text.strip() else code
    usage = _get(body, "usage")
    read, written = (_count(_get(usage, name)) for name in ("prompt_tokens", "completion_tokens"))
    # Some count reasoning in the total alone.
    beside = max(0, _count(_get(usage, "total_tokens")) - read - written) if read else 0
    reasoning = _count(_get(_get(usage, "completion_tokens_details"), "reasoning_tokens"))
    cached = _count(_get(_get(usage, "prompt_tokens_details"), "cached_tokens"))
    cached = cached or _count(_get(usage, "prompt_cache_hit_tokens"))
    return Reply(
        text=text,
        why_empty="" if text.strip() else _why_empty(body, choice, message, request),
        ended=_ended(_get(choice, "finish_reason"), usage, request),
        model=_text(_get(body, "model")),
        prompt_tokens=read,
        completion_tokens=written + beside,
        cached_tokens=min(cached, read),
        reasoning_tokens=min(max(reasoning, beside), written + beside),
    )


def _ended(reason: Any, usage: Any, request: Request) -> Ended:
    """Tell how an answer ended; some servers that cut one call it whole."""
    told = _text(reason).lower()
    if told in _CUT or _count(_get(usage, "completion_tokens")) == request.max_tokens:
        return "cut"
    return "withheld" if told in _WITHHELD else "whole"


def content_text(content: Any) -> str:
    """Return a message's text, which some endpoints give in parts; reasoning is no part of it."""
    if isinstance(content, list):
        parts = [part for part in content if _get(part, "type") == "text"]
        return "".join(_text(_get(part, "text")) for part in parts)
    return _text(content)


def _called(message: Any) -> str:
    """Return the code in a tool call: some models answer so although no tool was offered."""
    calls = _get(message, "tool_calls")
    arguments = (
        _get(_get(calls[0], "function"), "arguments") if isinstance(calls, list) and calls else None
    )
    try:
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return _text(arguments)
    for name in ("code", "program", "python", "source", "input"):
        if text := _text(_get(given, name)):
            return text
    return ""


def pieces_of(answer: Any, deadline: Deadline) -> Iterator[bytes]:
    """Yield an answer's bytes as they come, so that a dripping one ends in time.

    Raises:
        Transient: It breaks off, goes on too long, or cannot be unpacked.
    """
    response = answer.http_response
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "deflate"):
        raise Transient(f"the answer is packed as {encoding}, unasked", again=False)
    size = 0
    pieces = _unpacked(response.iter_raw(), packed=encoding in ("gzip", "deflate"))
    while True:
        try:
            piece = next(pieces, None)
        except zlib.error:
            raise Transient(f"the answer is not {encoding}, as it says it is") from None
        except Exception:  # the SDK does not wrap what its HTTP library raises here, and that
            # library's name differs between releases of the SDK.
            raise broken_off(deadline) from None
        if deadline.left_s() <= 0:
            raise too_slow(deadline)
        if piece is None:
            return
        size += len(piece)
        if size > MAX_ANSWER_BYTES:
            raise Transient(f"the answer is longer than {MAX_ANSWER_BYTES} bytes", again=False)
        yield piece


def _unpacked(pieces: Iterator[bytes], packed: bool) -> Iterator[bytes]:
    """Unpack pieces in steps that fit in memory, whatever they grow to."""
    if not packed:
        yield from pieces
        return
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip and deflate alike
    for piece in pieces:
        while piece:
            yield unpacker.decompress(piece, _STEP_BYTES)
            piece = unpacker.unconsumed_tail


def decoded(content: bytes, redaction: Redaction) -> Any:
    """Return what JSON says, without secrets.

    Raises:
        Transient: It is not JSON.
    """
    try:
        return redaction.body(json.loads(content))
    except (ValueError, RecursionError):
        raise Transient(
            "the answer is not JSON; check that the address is an OpenAI-compatible endpoint "
            "(it usually ends in /v1)",
            again=not content.lstrip().startswith(b"<"),  # a web page will be one next time too
        ) from None


def _why_empty(body: Any, choice: Any, message: Any, request: Request) -> str:
    """Say why an answer has no text, as far as it tells."""
    if choice is None:
        told = _text(_get(_get(body, "error"), "message"))
        return f"answered with an error: {told}" if told else "answered without any choices"
    reason = _get(choice, "finish_reason")
    if refusal := _text(_get(message, "refusal")):
        return f"declines to answer ({refusal}); say the instruction in other words"
    if reason == "content_filter":
        return "withheld its answer (content filter); say the instruction in other words"
    if reason == "length":
        return (
            f"reached its limit of {request.max_tokens} tokens before writing any text; "
            "raise max_tokens (--max-tokens), or use a model that reasons less"
        )
    return "answered with no text; try again, or use another model"


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _text(value: Any) -> str:
    """Return a text as it can be sent and written: half a character is shown as a mark."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0
