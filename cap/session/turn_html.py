"""A turn as a notebook shows it: the words, the program, what came of it, every call."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from cap.trace.messages import short, shown_call

if TYPE_CHECKING:
    from cap.session.turn import Turn


def turn_html(turn: Turn) -> str:
    """Return a turn as HTML that needs no style or script of its own."""
    parts = [f"<p><b>{escape(turn.instruction)}</b></p>"]
    if turn.program:
        parts.append(f"<pre>{escape(turn.program.strip())}</pre>")
    if turn.calls:
        lines = (
            f"{shown_call(call.name, call.args, call.kwargs)} -> {call.error or short(call.result)}"
            for call in turn.calls
        )
        calls = escape("\n".join(lines))
        count = "1 call" if len(turn.calls) == 1 else f"{len(turn.calls)} calls"
        parts.append(f"<details><summary>{count}</summary><pre>{calls}</pre></details>")
    if turn.stdout:
        parts.append(f"<pre>{escape(turn.stdout.rstrip())}</pre>")
    if turn.value is not None:
        parts.append(f"<p>value: <code>{escape(repr(turn.value))}</code></p>")
    if turn.failure is not None:
        parts.append(f"<p><b>failed</b>: {escape(str(turn.failure))}</p>")
    if turn.effect.line:
        parts.append(f"<p>{escape(turn.effect.line)}</p>")
    return "\n".join(parts)
