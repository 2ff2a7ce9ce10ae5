"""The `cap` command, and `python -m cap`: signals are looked after before anything is loaded."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # loads nothing else, unlike `signal`
import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

HANG_UP = 129


def main() -> NoReturn:
    """Run the command line; a signal ends it with its own code from the first moment on."""
    code: int | str | None
    if hasattr(_signal, "pthread_kill"):  # Windows ends a process in its own way
        for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT):
            if _signal.getsignal(number) != _signal.SIG_IGN:
                _signal.signal(number, end)
    try:
        from cap.engine.stop_signals import stop_signals

        with stop_signals:
            from cap.cli.main import run

            code = run()
    except KeyboardInterrupt:  # while it was loading, or leaving
        sys.stderr.write("interrupted\n")
        code = 130
    except SystemExit as stop:
        code = stop.code
    finally:
        # Where an interrupt has passed an exec (dataclasses have one), Python would end by the
        # signal although it was caught; another exec makes it forget.
        exec("")
    # Where one of them cannot be flushed, Python would end by a code of its own.
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except (AttributeError, ValueError):
            pass
        except OSError as error:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
            if error.errno == errno.EIO:  # the terminal was closed, and its signal is yet to come
                code = HANG_UP
    sys.exit(code)


def end(number: int, _: object) -> NoReturn:
    """End at once: the work has not begun, or is done."""
    if number == _signal.SIGINT:
        os.write(2, b"interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
