"""What can go wrong between parent and worker, and the exceptions that cross by name."""

from __future__ import annotations

from cap.errors import ROBOT_ERRORS, LMPFailed

MESSAGE_CHARS = 2000
"""The longest exception message that crosses."""

RAISABLE: dict[str, type[Exception]] = {
    **ROBOT_ERRORS,
    **{error.__name__: error for error in (LMPFailed, TypeError, ValueError, IndexError, KeyError)},
}
"""The exceptions a primitive may raise inside a program, by name."""


class WireError(Exception):
    """A value that may not cross, or a frame that cannot be read."""


class NoRoom(WireError):
    """A variable for which there is no room among those that stay between turns."""


class PeerClosed(Exception):
    """The other end closed the pipe."""


class DeadlinePassed(Exception):
    """No whole frame arrived in time."""


def text(words: str) -> str:
    """Return words without what is not text (lone surrogates), which could not cross."""
    return words.encode("utf-8", "replace").decode()


def one_line(message: str, most_chars: int = MESSAGE_CHARS) -> str:
    """Return an exception's message as it crosses, either way."""
    return text(" ".join(message.split())[:most_chars])
