"""The console of a session: what is printed is whole, also where Ctrl-C comes in the middle."""

from __future__ import annotations

from typing import Any

import rich.console
import rich.text

from cap.engine.stop_signals import stop_signals


class SessionConsole(rich.console.Console):
    """A console of rich's that no stop breaks off; one that was shows nothing any more."""

    is_page = False

    def show(self, text: str, style: str = "") -> None:
        """Print text in a style; in a terminal it wraps."""
        self.print(rich.text.Text(text, style=style), soft_wrap=not self.is_terminal)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, and only then be stopped."""
        with stop_signals.held():
            super().print(*objects, **options)

    def control(self, *control: Any) -> None:
        """Move the cursor, and only then be stopped."""
        with stop_signals.held():
            super().control(*control)
