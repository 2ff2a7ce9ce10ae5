"""Several requests to models at the same time."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=Exception)
MOST_AT_ONCE = 8
"""How many requests are under way at the same time; the model may hold some of them back."""


_LOOK_S = 0.05
"""Between two looks at whether the wait is to end."""


def together(
    work: Sequence[Callable[[], T]],
    most: int = MOST_AT_ONCE,
    *,
    returned: type[E] | tuple[()] = (),
    heed: Callable[[], None] | None = None,
) -> list[T | E]:
    """Do several things at the same time; return the outcomes, in the order of the work.

    The threads are daemons, not a pool's: after Ctrl-C a request may still be waiting for its
    answer, and the end of the process must not wait for it.

    Args:
        work: What to do.
        most: How many at the same time.
        returned: What is returned in its place where one raises it.
        heed: Called while it waits, again and again; what it raises ends the wait.

    Raises:
        Exception: Whatever else one of them raised; those not yet begun are dropped.
    """
    waiting, over = iter(range(len(work))), threading.Event()
    done: queue.SimpleQueue[tuple[int, T | BaseException]] = queue.SimpleQueue()

    def serve() -> None:
        for number in waiting:
            if over.is_set():
                return
            try:
                done.put((number, work[number]()))
            except BaseException as error:  # the waiting thread raises it
                done.put((number, error))

    for _ in range(min(most, len(work))):
        threading.Thread(target=serve, name="cap-model", daemon=True).start()
    outcomes: dict[int, T | E] = {}
    try:
        while len(outcomes) < len(work):
            if heed is not None:
                heed()
            with contextlib.suppress(queue.Empty):
                number, outcome = done.get(timeout=None if heed is None else _LOOK_S)
                if isinstance(outcome, BaseException) and not isinstance(outcome, returned):
                    raise outcome
                outcomes[number] = outcome
    finally:
        over.set()
    return [outcomes[number] for number in range(len(work))]
