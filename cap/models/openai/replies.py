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
    text = refusal = arguments = finished = ""
    for event in stream:
        body |= {key: event[key] for key in ("model", "usage") if _get(event, key)}
        choice = _get(event, "choices", 0)
        message = _get(choice, "delta") or _get(choice, "message")
        if piece := content_text(_get(message, "content")) or _text(choice, "text"):
            text += piece
            pieces.add(piece)
        refusal += _text(message, "refusal")
        arguments += _text(message, "tool_calls", 0, "function", "arguments")
        finished = _text(choice, "finish_reason") or finished
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
    choice, usage = _get(body, "choices", 0), _get(body, "usage")
    text = content_text(_get(choice, "message", "content")) or _text(choice, "text")
    if code := _called(choice):  # the reader of programs chooses between it and words next to it
        text = f"{text}\n\n```python\n{code}\n```\n" if text.strip() else code
    read, written = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    # Some count reasoning in the total alone.
    apart = max(0, _count(usage, "total_tokens") - read - written) if read else 0
    reasoning = _count(usage, "completion_tokens_details", "reasoning_tokens")
    cached = _count(usage, "prompt_tokens_details", "cached_tokens")
    cached = cached or _count(usage, "prompt_cache_hit_tokens")
    reason = _text(choice, "finish_reason").lower()
    ended: Ended = "withheld" if reason in _WITHHELD else "whole"
    if reason in _CUT or written == max_tokens:  # some servers that cut one call it whole
        ended = "cut"
    return Completion(
        text,
        _text(body, "model"),
        read,
        written + apart,
        ended=ended,
        why_empty="" if text.strip() else _why_empty(body, choice, max_tokens),
        cached_tokens=min(cached, read),
        reasoning_tokens=min(max(reasoning, apart), written + apart),
    )


def content_text(content: Any) -> str:
    """Return a message's text, which some endpoints give in parts; reasoning is no part of it."""
    if isinstance(content, list):
        return "".join(_text(part, "text") for part in content if _get(part, "type") == "text")
    return _text(content)


def _called(choice: Any) -> str:
    """Return the code in a tool call: some models answer so although no tool was offered."""
    given = _get(choice, "message", "tool_calls", 0, "function", "arguments")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return _text(given)
    names = ("code", "program", "python", "source", "input")
    return next(filter(None, (_text(given, name) for name in names)), "")


def _why_empty(body: Any, choice: Any, max_tokens: int) -> str:
    """Return why an answer has no text, as far as it says."""
    if choice is None:
        message = _text(body, "error", "message")
        return f"answered with an error: {message}" if message else "answered without any choices"
    reason = _get(choice, "finish_reason")
    if refusal := _text(choice, "message", "refusal"):
        return f"declines to answer ({refusal}); say the instruction in other words"
    if reason == "content_filter":
        return "withheld its answer (content filter); say the instruction in other words"
    if reason == "length":
        return (
            f"reached its limit of {max_tokens} tokens before writing any text; "
            "raise max_tokens (--set max_tokens=N), or use a model that reasons less"
        )
    return "answered with no text; try again, or use another model"


def _get(value: Any, *path: str | int) -> Any:
    """Return what JSON has at a path of names and first items (0); None if it has nothing there."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            first = value[0] if isinstance(value, list) and value else None
            value = first if _get(first, "index") in (None, 0) else None
    return value


def _text(value: Any, *path: str | int) -> str:
    """Return a text as it can be sent and written: half a character is shown as a mark."""
    found = _get(value, *path)
    if not isinstance(found, str):
        return ""
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(value: Any, *path: str) -> int:
    found = _get(value, *path)
    return found if type(found) is int and found > 0 else 0
