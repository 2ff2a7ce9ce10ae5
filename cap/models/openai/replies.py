"""What OpenAI-compatible endpoints answer, right and wrong, in plain terms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from cap.models.base import Request
from cap.models.openai.retry import Deadline, Transient

if TYPE_CHECKING:
    import openai

MAX_ANSWER_BYTES = 16_000_000
"""An answer longer than this is no completion."""

CleanText = Callable[[str], str]
"""Takes keys and line breaks out of a text."""

_DROPPABLE = (
    "stream_options",
    "stop",
    "temperature",
    "seed",
    "max_tokens",
    "max_completion_tokens",
)
_REFUSAL = re.compile(
    r"support|permitted|allowed|unknown|unrecogni[sz]ed|unexpected|invalid|extra", re.IGNORECASE
)
_AGAIN = (408, 409, 429)


@dataclass(frozen=True)
class Reply:
    """One decoded answer."""

    text: str
    """The completion; "" if there is none."""
    why_empty: str
    """Why there is none, as far as the answer tells."""
    cut: bool
    """True if it ended at the token limit."""
    model: str
    """The model's name as the endpoint gives it; "" if it does not."""
    prompt_tokens: int
    """Tokens read; 0 if it does not say."""
    completion_tokens: int
    """Tokens written; 0 if it does not say."""


def read_reply(body: Any, request: Request) -> Reply:
    """Read an answer of either mode, whatever its shape."""
    choices = _get(body, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = _get(choice, "message")
    text = content_text(_get(message, "content")) or _text(_get(choice, "text")) or _called(message)
    usage = _get(body, "usage")
    return Reply(
        text=text,
        why_empty="" if text.strip() else _why_empty(body, choice, message, request),
        cut=_get(choice, "finish_reason") == "length",
        model=_text(_get(body, "model")),
        prompt_tokens=_count(_get(usage, "prompt_tokens")),
        completion_tokens=_count(_get(usage, "completion_tokens")),
    )


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


def read_body(answer: Any, deadline: Deadline) -> Any:
    """Return an answer's decoded JSON, read in pieces so that a dripping one ends in time.

    Raises:
        Transient: It breaks off, goes on too long, or is not JSON.
    """
    return decoded(b"".join(pieces_of(answer, deadline)))


def pieces_of(answer: Any, deadline: Deadline) -> Iterator[bytes]:
    """Yield an answer's bytes as they come.

    Raises:
        Transient: It breaks off or goes on too long.
    """
    size = 0
    pieces = answer.iter_bytes()
    while True:
        try:
            piece = next(pieces, None)
        except Exception:
            # The SDK does not wrap what its HTTP library raises here, and that library's name
            # differs between releases of the SDK.
            raise broken_off(deadline) from None
        if deadline.left_s() <= 0:
            raise too_slow(deadline)
        if piece is None:
            return
        size += len(piece)
        if size > MAX_ANSWER_BYTES:
            raise Transient(f"the answer is longer than {MAX_ANSWER_BYTES} bytes", again=False)
        yield piece


def decoded(content: bytes) -> Any:
    """Return what JSON says.

    Raises:
        Transient: It is not JSON.
    """
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Transient(
            "the answer is not JSON; check that the address is an OpenAI-compatible endpoint "
            "(it usually ends in /v1)",
            again=not content.lstrip().startswith(b"<"),  # a web page will be one next time too
        ) from None


def too_slow(deadline: Deadline) -> Transient:
    """Return the failure of an answer that did not come in time."""
    return Transient(
        f"no whole answer within {deadline.length_s:g} s; try again once the model is loaded, "
        "or use a smaller one",
        again=False,
        unreachable=True,
    )


def broken_off(deadline: Deadline) -> Transient:
    """Return the failure of an answer that ended before its end: too late, or by the other side."""
    if deadline.left_s() <= 0:
        return too_slow(deadline)
    return Transient("the connection broke in the middle of the answer")


def server_words(error: openai.APIStatusError, clean: CleanText) -> str:
    """Return an endpoint's own message, cut to fit a line once `clean` took any key out."""
    words = clean(_message(error)).rstrip(".")
    return words if len(words) <= 300 else words[:300] + "..."


def refused_parameter(error: openai.APIStatusError, sent: Mapping[str, Any]) -> str | None:
    """Return the optional parameter a 400 or 422 refuses, None if it refuses something else."""
    if error.status_code not in (400, 422):
        return None
    candidates = [name for name in _DROPPABLE if name in sent]
    named = _get(error.body, "param")
    if isinstance(named, str) and named:
        return named if named in candidates else None
    words = _message(error)
    if _code(error) == "context_length_exceeded" or not _REFUSAL.search(words):
        return None
    return next((name for name in candidates if re.search(rf"\b{name}\b", words)), None)


def unknown_model(error: openai.APIStatusError) -> bool:
    """Tell whether an endpoint says, with whatever status, that it has no such model."""
    return _code(error) == "model_not_found"


def transient_status(error: openai.APIStatusError, clean: CleanText) -> Transient | None:
    """Return the failure for a status that may differ next time, None for one that will not."""
    status = error.status_code
    if status not in _AGAIN and status < 500:
        return None
    line = f"answers {status}: {server_words(error, clean)}"
    if _code(error) == "insufficient_quota":
        return Transient(f"{line}; the account's quota is used up", again=False)
    return Transient(line, after_s=retry_after_s(error.response.headers))


def connection_fault(error: openai.APIConnectionError, connect_s: float) -> Transient:
    """Say why no answer came; an address that refuses or is unknown stays so."""
    kinds = {type(cause).__name__ for cause in _causes(error)}
    if "ConnectionRefusedError" in kinds:
        return Transient(
            "nothing answers there; start the server or set --base-url",
            again=False,
            unreachable=True,
        )
    if "gaierror" in kinds:
        return Transient(
            "no such host; check --base-url and the network", again=False, unreachable=True
        )
    if "ConnectTimeout" in kinds:
        what = f"no connection within {connect_s:g} s"
    else:
        what = "the connection broke before an answer came"
    return Transient(f"{what}; check the server and --base-url", unreachable=True)


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
            "use a model that reasons less"
        )
    return "answered with no text; try again, or use another model"


def _message(error: openai.APIStatusError) -> str:
    """Return the message of an error body; the SDK has taken off its `error` envelope."""
    body = error.body
    told = _get(body, "message") or _get(body, "error") or _get(body, "detail") or error.message
    return told if isinstance(told, str) else json.dumps(told)


def _code(error: openai.APIStatusError) -> str:
    return _text(_get(error.body, "code")) or _text(_get(error.body, "type"))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait; None where it does not say.

    It says so in seconds or as a date, and that is meant by its own clock.
    """
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        until, now = _date(text), _date(headers.get("date", "")) or datetime.now(UTC)
        return max((until - now).total_seconds(), 0.0) if until is not None else None
    return seconds if 0.0 <= seconds < float("inf") else None


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
