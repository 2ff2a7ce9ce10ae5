"""A question to everyone who watches: the fields and buttons of one question, in each browser.

Of a browser's messages that wait, at most 50 ms, only the last one is sent. So a yes clicked
together with the last key takes that key's place, and what would run is an older text than the
user sees. Nobody can tell that from here, so a yes so close to a change is none.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from functools import partial
from html import escape
from typing import Any

from cap.cli.page.chronicle import Chronicle
from cap.engine.settings import Decision

READ_S = 0.7
"""A question is shown for so long before it can be answered: no second click answers it unseen."""
STILL_S = 0.5
"""A yes counts once the program was left alone for so long: ten times what a browser waits."""
ORDER = 1.5
"""Its place in the panel: below the status, above all else."""


class ApprovalRequest:
    """One question. Its buttons are its own, so a click is an answer to it and to no other."""

    def __init__(self, story: Chronicle, message: str, source: str, text: str) -> None:
        """Show nothing yet.

        Args:
            story: Gets notes on answers that do not count.
            message: What is asked.
            source: The program that may be changed; "" if it is about something else.
            text: What the program's field has at first.
        """
        self._story = story
        self._message, self._source, self._text = message, source, text
        self._answers: queue.Queue[tuple[Decision, int]] = queue.Queue()
        self._lock = threading.Lock()
        self._open = self._over = False
        self._shown: list[Any] = []
        """What it shows in the browsers: fields in the panel, and a notice over the scene, which is
        there also where the panel is folded away."""
        self._buttons: list[Any] = []
        self._changed_s: dict[int, float] = {}
        """By browser: when its program was changed last."""

    def show(self, client: Any) -> None:
        """Show it in a browser, with fields that are that browser's alone; not if it is over."""
        with self._lock:
            if self._over:
                return
            self._lay_out(client.gui)
            about = "A program waits for your answer: see the top of the panel."
            self._shown.append(client.add_notification("May it run?", about, color="yellow"))

    def _lay_out(self, gui: Any) -> None:
        with gui.add_folder("May it run?", order=ORDER) as folder:
            gui.add_html(f'<div class="cap">{escape(self._message)}</div>')
            editable = bool(self._source)
            text = gui.add_text("Program", self._text, multiline=True, visible=editable)
            reason = gui.add_text("Why not", "", visible=editable)
            yes = gui.add_button("Yes, run it", color="green", disabled=not self._open)
            no = gui.add_button("No", color="red", disabled=not self._open)
        text.on_update(self._note_change)
        yes.on_click(partial(self._say_yes, text))
        no.on_click(lambda event: self._say(Decision(False, reason.value.strip()), event))
        self._shown.append(folder)
        self._buttons += [yes, no]

    async def _note_change(self, event: Any) -> None:
        """Note when a program was changed, on the thread that hears browsers: in their order."""
        if event.client_id is not None:  # else it was changed below
            self._changed_s[event.client_id] = time.monotonic()

    async def _say_yes(self, text: Any, event: Any) -> None:
        """Take a yes in, unless it may be to another text than the one that is here."""
        if time.monotonic() - self._changed_s.get(event.client_id, -math.inf) < STILL_S:
            self._story.note(
                "a yes came with the last key, which may be lost: the field has the program as it "
                "arrived; look at it, then say yes again"
            )
            known = text.value
            text.value = known[:-1] if known.endswith("\n") else f"{known}\n"  # what is new is sent
            return
        changed = self._source and text.value.strip() not in ("", self._source.strip())
        self._say(Decision(False, edited=text.value) if changed else Decision(True), event)

    def _say(self, decision: Decision, event: Any) -> None:
        """Take the first answer in, if it is time for one."""
        with self._lock:
            if self._open and self._answers.empty():
                self._answers.put((decision, event.client_id))

    def wait(self) -> tuple[Decision, int]:
        """Return the first answer, and the browser it is from."""
        time.sleep(READ_S)
        with self._lock:
            self._open = True
            for button in self._buttons:
                button.disabled = False
        while True:
            with contextlib.suppress(queue.Empty):
                return self._answers.get(timeout=1.0)

    def __enter__(self) -> ApprovalRequest:
        return self

    def __exit__(self, *_: object) -> None:
        """Take no more answers, and remove it."""
        with self._lock:
            self._over, self._open = True, False
            for shown in self._shown:
                shown.remove()
