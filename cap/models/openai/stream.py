"""Reading a completion while it is written: server-sent events, whatever the server makes of them.

A line `data: {...}` brings a piece, `data: [DONE]` ends it; comments and other fields keep the
connection alive and mean nothing. The pieces are put together into the body that the same answer
has without streaming, so that one reader serves both. What the answer says its content type is
does not count: servers get it wrong, and some answer with one plain body.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from cap.models.openai.errors import Transient, cut
from cap.models.openai.redaction import Redaction
from cap.models.openai.replies import content_text, decoded, pieces_of
from cap.models.openai.retry import Deadline, broken_off

OnText = Callable[[str], None]


class Teller:
    """Passes pieces of text on without secrets, and says so when they begin anew."""

    def __init__(self, on_text: OnText, redaction: Redaction) -> None:
        """Keep whom to tell, and what not."""
        self._on_text = on_text
        self._redaction = redaction
        self._told = False
        self._held = ""
        """What may be the beginning of a secret."""
        self.came = 0
        """How many characters have come since it began."""

    def begin(self) -> None:
        """Note that an answer begins."""
        if self._told:
            self._on_text("")
        self._told, self._held, self.came = False, "", 0

    def __call__(self, piece: str) -> None:
        """Pass one piece on, as far as it is no secret."""
        self.came += len(piece)
        text = self._redaction.text(self._held + piece)
        told = len(text) - self._redaction.held_back(text)
        self._held = text[told:]
        self._tell(text[:told])

    def end(self) -> None:
        """Pass on what was no secret after all."""
        self._tell(self._held)
        self._held = ""

    def _tell(self, text: str) -> None:
        if text:
            self._told = True
            self._on_text(text)


def read_stream(answer: Any, deadline: Deadline, teller: Teller, redaction: Redaction) -> Any:
    """Return the whole answer's body; each piece of its text is told as it comes.

    Args:
        answer: The SDK's open response.
        deadline: Ends the reading.
        teller: Told each piece.
        redaction: Takes keys out of what the endpoint says.

    Raises:
        Transient: It breaks off, goes on too long, or a piece is not JSON.
    """
    whole = _Whole(teller)
    plain: list[bytes] = []
    for line in _lines(answer, deadline):
        field, _, data = line.partition(b":")
        if field != b"data":
            plain += [] if field in _FIELDS else [line]
        elif data.strip() == b"[DONE]":
            whole.finished = whole.finished or ""
            break
        elif data.strip():
            whole.add(data, redaction)
    if whole.finished is not None:
        teller.end()
        return redaction.body(whole.body)
    if not whole.begun and any(map(bytes.strip, plain)):
        return decoded(b"\n".join(plain), redaction)
    raise broken_off(deadline)


_FIELDS = (b"", b"event", b"id", b"retry")
"""What a line that brings nothing begins with; a comment's field has no name."""


class _Whole:
    """The body so far."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._text = ""
        self._refusal = ""
        self._calls: dict[int, str] = {}
        self._choices = False
        self._rest: dict[str, Any] = {}
        self.begun = False
        self.finished: str | None = None

    def add(self, data: bytes, redaction: Redaction) -> None:
        """Take in one piece.

        Raises:
            Transient: It is not JSON, or an error's.
        """
        self.begun = True
        try:
            piece = json.loads(data)
        except (ValueError, RecursionError):
            raise Transient("a piece of the answer is not JSON") from None
        if not isinstance(piece, dict):
            return
        if error := piece.get("error"):
            told = error.get("message") if isinstance(error, dict) else error
            words = cut(redaction.line(str(told)))
            raise Transient(f"answers with an error in the middle: {words}")
        self._rest |= {key: piece[key] for key in ("model", "usage") if piece.get(key)}
        choices = piece.get("choices")
        if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
            return
        choice = choices[0]
        self._choices = True
        for whole_or_part in ("delta", "message"):
            if isinstance(message := choice.get(whole_or_part), dict):
                self._add_text(content_text(message.get("content")))
                self._refusal += content_text(message.get("refusal"))
                self._add_calls(message.get("tool_calls"))
        self._add_text(content_text(choice.get("text")))
        if isinstance(choice.get("finish_reason"), str):
            self.finished = choice["finish_reason"]

    def _add_text(self, text: str) -> None:
        if text:
            self._text += text
            self._on_text(text)

    def _add_calls(self, calls: Any) -> None:
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("arguments"), str):
                index = call.get("index")
                number = index if isinstance(index, int) else 0
                self._calls[number] = self._calls.get(number, "") + function["arguments"]

    @property
    def body(self) -> dict[str, Any]:
        """The body as it would have come in one."""
        if not self._choices:
            return dict(self._rest)
        calls = [{"function": {"arguments": text}} for _, text in sorted(self._calls.items())]
        message = {"content": self._text, "refusal": self._refusal, "tool_calls": calls}
        return {**self._rest, "choices": [{"message": message, "finish_reason": self.finished}]}


def _lines(answer: Any, deadline: Deadline) -> Iterator[bytes]:
    """Yield the lines of an answer as they come, until the deadline."""
    rest = bytearray()
    for piece in pieces_of(answer, deadline):
        rest += piece
        if b"\n" in piece:
            *lines, last = bytes(rest).split(b"\n")
            yield from (line.rstrip(b"\r") for line in lines)
            rest = bytearray(last)
    yield bytes(rest)
