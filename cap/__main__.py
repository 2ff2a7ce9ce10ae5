"""The `cap` command, and `python -m cap`: nothing is loaded before Ctrl-C is looked after."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C ends it with code 130 from the first moment on."""
    try:
        from cap.cli.main import main as start

        start()
    except KeyboardInterrupt:  # while it was loading, or leaving
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    finally:
        # Where an interrupt has passed an exec (dataclasses have one), Python would end by the
        # signal although it was caught; another exec makes it forget.
        exec("")


if __name__ == "__main__":
    main()
