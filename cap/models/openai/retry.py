"""The retry policy: which failures are tried again, how often, how soon and how long."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar

from cap.models.openai.errors import Transient, error_code, refuses_pictures, status_told
from cap.models.openai.redaction import Redaction

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

FIRST_WAIT_S = 0.5
"""Wait before the second try, in seconds; it doubles each time."""

_OF_ANOTHER_HOST = (62, 64)
"""What OpenSSL calls a certificate whose host or address is not the one that was asked."""
_AGAIN = (408, 409, 429)
"""Statuses below 500 that may differ next time."""


class Deadline:
    """A point in monotonic time."""

    def __init__(self, length_s: float, clock: Callable[[], float]) -> None:
        """Start now and end after `length_s` seconds of `clock`."""
        self.length_s = length_s
        self.clock = clock
        self._end_s = clock() + length_s

    def left_s(self) -> float:
        """Return the seconds left; 0 or less once it has passed."""
        return self._end_s - self.clock()

    def put_off(self, seconds: float) -> None:
        """End later: for waits that are our own, not the endpoint's."""
        self._end_s += seconds


@dataclass(frozen=True)
class Retry:
    """How often and how long to try."""

    tries: int
    """Most tries, the first included."""
    sleep: Callable[[float], None]
    """Waits, in seconds."""

    def run(self, once: Callable[[], T], deadline: Deadline) -> T:
        """Return the first success.

        Raises:
            Transient: The last try's, or the first that is useless to repeat; its message then
                says how many tries were made, or that the wait asked for is too long.
        """
        wait_s = FIRST_WAIT_S
        for attempt in range(1, self.tries + 1):
            try:
                return once()
            except Transient as failure:
                last = failure
            if not last.again:
                break
            if attempt == self.tries:
                last = _same(last, f"{last} ({self.tries} tries)")
                break
            pause_s = max(wait_s, last.after_s or 0.0)
            if pause_s >= deadline.left_s():
                last = _too_long(last, attempt, deadline)
                break
            self.sleep(pause_s)
            wait_s *= 2
        raise last


def _too_long(failure: Transient, tries: int, deadline: Deadline) -> Transient:
    """Add why there is no further try: the endpoint asks for too long a wait, or ours would be."""
    tried = f"{tries} tries; " if tries > 1 else ""
    if failure.after_s is None or failure.after_s < deadline.left_s():
        next_try = f"the next try would be past {deadline.length_s:g} s"
        return _same(failure, f"{failure} ({tried}{next_try})")
    wait = f"it asks to wait {failure.after_s:g} s, past the limit of {deadline.length_s:g} s"
    return _same(failure, f"{failure}; {wait}; {tried}try again later")


def _same(failure: Transient, message: str) -> Transient:
    return Transient(message, again=False, unreachable=failure.unreachable)


def transient_status(error: openai.APIStatusError, redaction: Redaction) -> Transient | None:
    """Return the failure for a status that may differ next time, None for one that will not."""
    status = error.status_code
    if (status not in _AGAIN and status < 500) or refuses_pictures(error):
        return None
    line = f"answers {status_told(error, redaction)}"
    if error_code(error) == "insufficient_quota":
        return Transient(f"{line}; the account's quota is used up", again=False)
    return Transient(line, after_s=retry_after_s(error.response.headers))


def connection_fault(error: openai.APIConnectionError, connect_s: float, proxies: str) -> Transient:
    """Say why no answer came; an address that refuses or is unknown stays so.

    Args:
        error: What the SDK raised.
        connect_s: How long a connection was waited for, in seconds.
        proxies: The variables that name a proxy in between, "" if there is none.
    """
    causes = _causes(error)
    kinds = {type(cause).__name__ for cause in causes}
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            told = cause.verify_message.rstrip(".")
            if cause.verify_code in _OF_ANOTHER_HOST:
                return _for_good(
                    f"its certificate is of another host ({told}); write the name that stands in "
                    "the certificate in --base-url, and see that nobody stands in between"
                )
            return _for_good(
                f"its certificate is not trusted ({told}); if it is "
                "your own, name the PEM file of its authority in SSL_CERT_FILE"
            )
        if isinstance(cause, ssl.SSLError) and cause.reason == "WRONG_VERSION_NUMBER":
            return _for_good("nobody speaks TLS there; write http:// in its address")
    by = f" by the proxy of {proxies}" if proxies else ""
    if "ProxyError" in kinds:
        return _for_good(f"the proxy of {proxies or 'the environment'} refuses ({causes[1]})")
    if "ConnectionRefusedError" in kinds:
        return _for_good(f"nothing answers there{by}; start the server or set --base-url")
    if "gaierror" in kinds:
        return _for_good(f"no such host{by}; check --base-url and the network")
    if "ConnectTimeout" in kinds:
        what = f"no connection within {connect_s:g} s{by}"
    else:
        what = f"the connection broke before an answer came{by}"
    return Transient(f"{what}; check the server and --base-url", unreachable=True)


def reached(error: openai.APIConnectionError) -> bool:
    """Tell whether there was a connection, so that a request may have gone out."""
    return not {"ConnectTimeout", "ConnectError"} & {type(each).__name__ for each in _causes(error)}


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error and what led to it."""
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _for_good(message: str) -> Transient:
    return Transient(message, again=False, unreachable=True)


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


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait; None where it does not say.

    It says so in milliseconds, in seconds or as a date, and that is meant by its own clock.
    """
    with contextlib.suppress(ValueError):
        milliseconds = float(headers.get("retry-after-ms", ""))
        if 0.0 <= milliseconds < float("inf"):
            return milliseconds / 1000
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
