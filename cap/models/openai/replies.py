"""Reading what OpenAI-compatible endpoints answer, whatever its shape."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from cap.models.base import MAX_TOKENS, Completion, Ended
from cap.models.openai.redaction import Pieces


def folded(stream: Iterable[Any], pieces: Pieces) -> dict[str, Any]:
    """Return the body that the events of a stream make together; their text is passed on."""
    body: dict[str, Any] = {}
    text = refusal = arguments = ""
    finished = None
    for event in stream:
        body |= {key: event[key] for key in ("model", "usage") if _get(event, key)}
        choice = _first(_get(event, "choices"))
        if choice is None:
            continue
        message = _get(choice, "delta") or _get(choice, "message")
        if piece := content_text(_get(message, "content")) or _text(_get(choice, "text")):
            text += piece
            pieces.add(piece)
        refusal += _text(_get(message, "refusal"))
        call = _first(_get(message, "tool_calls"))
        arguments += _text(_get(_get(call, "function"), "arguments"))
        finished = _text(_get(choice, "finish_reason")) or finished
    calls = [{"function": {"arguments": arguments}}]
    message = {"content": text, "refusal": refusal, "tool_calls": calls}
    return {**body, "choices": [{"message": message, "finish_reason": finished}]}


_CUT = (
    *("length", "max_length", "max_tokens", "model_length", "insufficient_system_resource"),
    *("error", "abort", "aborted", "cancelled", "canceled", "timeout"),
)
"""How servers call an answer that is not all of it, in any case."""
_WITHHELD = (
    *("content_filter", "safety", "recitation"),
    *("prohibited_content", "blocklist", "spii"),
)


def read_reply(body: Any, max_tokens: int = MAX_TOKENS) -> Completion:
    """Return what an answer of either mode says, whatever its shape.

    Args:
        body: The decoded answer.
        max_tokens: The limit it was given.
    """
    choice = _first(_get(body, "choices"))
    message = _get(choice, "message")
    text = content_text(_get(message, "content")) or _text(_get(choice, "text"))
    if code := _called(message):  # of words next to it the reader of programs is the judge
        text = f"{text}\n\n```python\n{code}\n```\n" if text.strip() else code
    usage = _get(body, "usage")
    read, written = (_count(_get(usage, name)) for name in ("prompt_tokens", "completion_tokens"))
    # Some count reasoning in the total alone.
    apart = max(0, _count(_get(usage, "total_tokens")) - read - written) if read else 0
    reasoning = _count(_get(_get(usage, "completion_tokens_details"), "reasoning_tokens"))
    cached = _count(_get(_get(usage, "prompt_tokens_details"), "cached_tokens"))
    cached = cached or _count(_get(usage, "prompt_cache_hit_tokens"))
    reason = _text(_get(choice, "finish_reason")).lower()
    ended: Ended = "withheld" if reason in _WITHHELD else "whole"
    if reason in _CUT or written == max_tokens:  # some servers that cut one call it whole
        ended = "cut"
    return Completion(
        text,
        _text(_get(body, "model")),
        read,
        written + apart,
        ended=ended,
        why_empty="" if text.strip() else _why_empty(body, choice, message, max_tokens),
        cached_tokens=min(cached, read),
        reasoning_tokens=min(max(reasoning, apart), written + apart),
    )


def content_text(content: Any) -> str:
    """Return a message's text, which some endpoints give in parts; reasoning is no part of it."""
    if isinstance(content, list):
        parts = [part for part in content if _get(part, "type") == "text"]
        return "".join(_text(_get(part, "text")) for part in parts)
    return _text(content)


def _called(message: Any) -> str:
    """Return the code in a tool call: some models answer so although no tool was offered."""
    arguments = _get(_get(_first(_get(message, "tool_calls")), "function"), "arguments")
    try:
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return _text(arguments)
    for name in ("code", "program", "python", "source", "input"):
        if text := _text(_get(given, name)):
            return text
    return ""


def _why_empty(body: Any, choice: Any, message: Any, max_tokens: int) -> str:
    """Return why an answer has no text, as far as it says."""
    if choice is None:
        message = _text(_get(_get(body, "error"), "message"))
        return f"answered with an error: {message}" if message else "answered without any choices"
    reason = _get(choice, "finish_reason")
    if refusal := _text(_get(message, "refusal")):
        return f"declines to answer ({refusal}); say the instruction in other words"
    if reason == "content_filter":
        return "withheld its answer (content filter); say the instruction in other words"
    if reason == "length":
        return (
            f"reached its limit of {max_tokens} tokens before writing any text; "
            "raise max_tokens (--set max_tokens=N), or use a model that reasons less"
        )
    return "answered with no text; try again, or use another model"


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _first(values: Any) -> Any:
    """Return the first of several choices or calls; None if there is none."""
    if not (isinstance(values, list) and values):
        return None
    return values[0] if _get(values[0], "index") in (None, 0) else None


def _text(value: Any) -> str:
    """Return a text as it can be sent and written: half a character is shown as a mark."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0
