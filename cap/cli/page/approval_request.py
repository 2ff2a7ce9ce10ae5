"""A question to everyone who watches: the fields and buttons of one question, in each browser."""

from __future__ import annotations

import queue
import threading
import time
from html import escape
from typing import Any

from cap.engine.settings import Decision

READ_S = 0.7
"""A question is shown for so long before it can be answered: no second click answers it unseen."""
ORDER = 1.5
"""Its place in the panel: below the status, above all else."""


class ApprovalRequest:
    """One question. Its buttons are its own, so a click is an answer to it and to no other."""

    def __init__(self, message: str, source: str, text: str) -> None:
        """Show nothing yet.

        Args:
            message: What is asked.
            source: The program that may be changed; "" if it is about something else.
            text: What the program's field has at first.
        """
        self._message, self._source, self._text = message, source, text
        self._answers: queue.Queue[tuple[Decision, int]] = queue.Queue()
        self._lock = threading.Lock()
        self._open = False
        """Whether it has been shown for long enough to be answered."""
        self._shown: list[Any] = []
        """What it shows in the browsers: fields in the panel, and a notice over the scene, which is
        there also where the panel is folded away."""
        self._buttons: list[Any] = []

    def show(self, client: Any) -> None:
        """Show it in a browser, with fields that are that browser's alone."""
        gui, editable = client.gui, bool(self._source)
        with self._lock:
            with gui.add_folder("May it run?", order=ORDER) as folder:
                gui.add_html(f'<div class="cap">{escape(self._message)}</div>')
                text = gui.add_text("Program", self._text, multiline=True, visible=editable)
                reason = gui.add_text("Why not", "", visible=editable)
                yes = gui.add_button("Yes, run it", color="green", disabled=not self._open)
                no = gui.add_button("No", color="red", disabled=not self._open)
            about = "A program waits for your answer: see the top of the panel."
            notice = client.add_notification("May it run?", about, color="yellow")
            self._shown += [folder, notice]
            self._buttons += [yes, no]
        yes.on_click(lambda event: self._say(self._yes(text.value), event))
        no.on_click(lambda event: self._say(Decision(False, reason.value.strip()), event))

    def _yes(self, text: str) -> Decision:
        """Return what a yes says: to the program as it was shown, or to a changed one."""
        changed = self._source and text.strip() not in ("", self._source.strip())
        return Decision(False, edited=text) if changed else Decision(True)

    def _say(self, decision: Decision, event: Any) -> None:
        """Take an answer in, if it is time for one; the first counts."""
        if self._open:
            self._answers.put((decision, event.client_id))

    def wait(self) -> tuple[Decision, int]:
        """Return the first answer, and the browser it is from."""
        time.sleep(READ_S)
        with self._lock:
            self._open = True
            for button in self._buttons:
                button.disabled = False
        return self._answers.get()

    def close(self) -> None:
        """Remove it from the browsers."""
        for shown in self._shown:
            shown.remove()
