"""A question to everyone who watches: the fields and buttons of one question, in each browser.

Of a browser's messages that wait, at most 50 ms, only the last one is sent. So a yes clicked
together with the last key takes that key's place, and what would run is an older text than the
person sees. Nobody can tell that from here, so a yes so close to a change is none.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections.abc import Mapping
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

    def __init__(
        self, story: Chronicle, message: str, source: str, kept: Mapping[int, str]
    ) -> None:
        """Show nothing yet.

        Args:
            story: Gets answers that come when the question is over.
            message: What is asked.
            source: The program that may be changed; "" if it is about something else.
            kept: By browser: what a person wrote in the program's place before, to be fixed.
        """
        self._story = story
        self._message = message
        self._source = source
        self._kept = kept
        self._answers: queue.Queue[tuple[Decision, int]] = queue.Queue()
        self._lock = threading.Lock()
        self._open = False
        self._over = False
        self.folders: list[Any] = []
        """What it shows in the browsers; hidden when it is over, for who removes it to remove."""
        self._notices: list[Any] = []
        """A notice over the scene of each browser, also where the panel is folded away."""
        self._buttons: list[Any] = []
        self._changed_s: dict[int, float] = {}
        """By browser: when its program was changed last."""

    def show(self, client: Any) -> None:
        """Show it in a browser, with fields that are that browser's alone; not if it is over."""
        gui, mine = client.gui, self._kept.get(client.client_id, "")
        with self._lock:
            if self._over:
                return
            self._lay_out(gui, mine)
            self._notices.append(
                client.add_notification(
                    "May it run?",
                    "A program waits for your answer: see the top of the panel.",
                    color="yellow",
                )
            )

    def _lay_out(self, gui: Any, mine: str) -> None:
        with gui.add_folder("May it run?", order=ORDER) as folder:
            gui.add_html(f'<div class="cap">{escape(self._message)}</div>')
            shown = bool(self._source)
            text = gui.add_text("Program", mine or self._source, multiline=True, visible=shown)
            reason = gui.add_text("Why not", "", visible=shown)
            disabled = not self._open
            yes = gui.add_button("Yes, run it", color="green", disabled=disabled)
            no = gui.add_button("No", color="red", disabled=disabled)
            text.on_update(self._note_change)
            yes.on_click(partial(self._say_yes, text))
            no.on_click(lambda event: self._say(False, reason.value, event.client_id))
            self.folders.append(folder)
            self._buttons += [yes, no]

    async def _note_change(self, event: Any) -> None:
        """Note when a program was changed, on the thread that hears browsers: in their order."""
        if event.client_id is not None:  # else it was changed below
            self._changed_s[event.client_id] = time.monotonic()

    async def _say_yes(self, text: Any, event: Any) -> None:
        """Take a yes in, unless it may be to another text than the one that is here."""
        changed_s = self._changed_s.get(event.client_id, -math.inf)
        if time.monotonic() - changed_s >= STILL_S:
            self._say(True, text.value, event.client_id)
            return
        self._story.note(
            "a yes came with the last key, which may be lost: the field has the program as it "
            "arrived; look at it, then say yes again"
        )
        known = text.value
        text.value = known[:-1] if known.endswith("\n") else f"{known}\n"  # what is new is sent

    def wait(self) -> tuple[Decision, int]:
        """Return the first answer, and the browser it is from."""
        time.sleep(READ_S)
        with self._lock:
            self._open = True
            for button in self._buttons:
                button.disabled = False
        while True:
            with contextlib.suppress(queue.Empty):
                decision, client = self._answers.get(timeout=1.0)
                if self._changed_s.keys() - {client}:
                    self._story.note("what was typed in the program in another browser is not used")
                return decision, client

    def __enter__(self) -> ApprovalRequest:
        return self

    def __exit__(self, *_: object) -> None:
        """Take no more answers, and hide it; a click on the way is reported."""
        with self._lock:
            self._over, self._open = True, False
            for folder in self.folders:
                folder.visible = False
            for button in self._buttons:
                button.disabled = True
            for notice in self._notices:
                notice.remove()

    def _say(self, allowed: bool, text: str, client: int) -> None:
        """Take an answer in.

        Args:
            allowed: Whether it was a yes: to the program as it is, or as it was changed.
            text: With a yes what stands in the program's field, else the reason.
            client: The browser.
        """
        changed = allowed and self._source and text.strip() not in ("", self._source.strip())
        decision = Decision(False, edited=text) if changed else Decision(allowed)
        if not allowed:
            decision = Decision(False, text.strip())
        with self._lock:
            if self._open and self._answers.empty():
                self._answers.put((decision, client))
                return
            late = self._over or self._open
        when = "came late: that question is over" if late else "came before it could be read"
        self._story.note(f"an answer {when}; it counts for nothing")
