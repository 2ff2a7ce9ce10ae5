"""The live page: whoever has the link sees the robot and steers the session.

Instructions wait in a line; the main thread takes them, as the terminal's session does, so a stop
walks the road of Ctrl-C. Two browsers see and steer the same.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import threading
import time
from dataclasses import dataclass
from typing import Any, Literal

from cap.cli.page.chronicle import Chronicle
from cap.cli.page.scene import SceneDrawer
from cap.engine.answer import Decision
from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, RobotError
from cap.robot.view import Viewable
from cap.trace.trace import Event

FRAMES_PER_S = 30
"""Pictures of the scene that are sent each second, at most."""
TOLD_EVERY_S = 0.1
"""How often conversation, program and calls are brought up to date."""
_SHORTEST_S = 1 / 60
"""Simulated seconds between two moments that are shown, at least."""
_LOOK_EVERY_S = 0.1
"""How often a robot that tells of no motion itself is looked at."""


@dataclass(frozen=True)
class _Order:
    """What a person asks for."""

    kind: Literal["run", "undo"]
    words: str = ""


class LivePage:
    """A session in a browser."""

    def __init__(self, server: Any, speed: float) -> None:
        """Lay the page out; `begin` gives it a session.

        Args:
            server: Where.
            speed: Simulated seconds a second, at most; 0 as fast as it goes.
        """
        self._server = server
        self._speed = speed
        self._scene = SceneDrawer(server)
        self.story = Chronicle()
        self._orders: queue.Queue[_Order] = queue.Queue()
        self._answers: queue.Queue[tuple[Decision, int | None]] = queue.Queue()
        self._session: Any = None
        self._busy = False
        self._stopping = False
        self._lock = threading.Lock()
        """Held while a stop is asked for, and while a turn ends: a stop is of one turn only."""
        self._approved_by: int | None = None
        self._rehearses = False
        """Whether the twin is shown, and not the robot."""
        self._due_s = self._sent_s = 0.0
        self._closed = threading.Event()
        self._lay_out()

    def _lay_out(self) -> None:
        gui = self._server.gui
        gui.main_panel.dock_right()
        self._status = gui.add_html("")
        with gui.add_form(None) as form:
            self._words = gui.add_text("Instruction", "")
            self._run_button = gui.add_button("Run", icon="player-play")
        form.on_submit(lambda _: self._ask_for_run())
        self._run_button.on_click(lambda _: form.submit())
        self._stop_button = gui.add_button("Stop", color="red", icon="hand-stop", disabled=True)
        self._stop_button.on_click(lambda _: self.stop("stopped from the page"))
        self._undo_button = gui.add_button("Undo", icon="arrow-back-up", disabled=True)
        self._undo_button.on_click(lambda _: self._orders.put(_Order("undo")))
        with gui.add_folder("May it run?", visible=False) as self._question:
            self._asked = gui.add_html("")
            self._edited = gui.add_text("Program", "", multiline=True)
            self._reason = gui.add_text("Why not", "")
            yes = gui.add_button("Yes, run it", color="green")
            no = gui.add_button("No", color="red")
        yes.on_click(lambda event: self._answer(True, event.client_id))
        no.on_click(lambda event: self._answer(False, event.client_id))
        with gui.add_folder("Program"):
            self._program = gui.add_html("")
        with gui.add_folder("Calls", expand_by_default=True):
            self._calls = gui.add_html("")
        with gui.add_folder("Conversation"):
            self._turns = gui.add_html("")
        names = gui.add_checkbox("Names of the objects", True)
        names.on_update(lambda _: self._scene.name_objects(names.value))
        self._server.on_client_disconnect(lambda client: self._left(client.client_id))

    # What browsers ask for, on their threads.

    def _ask_for_run(self) -> None:
        words = self._words.value.strip()
        if words:
            self._words.value = ""
            self._orders.put(_Order("run", words))
            if self._busy:
                self.story.note(f"waits: {words}")

    def stop(self, why: str) -> None:
        """End the program that runs, as Ctrl-C does; the robot at once. From any thread."""
        with self._lock:
            if self._session is None or not self._busy or self._stopping:
                return
            self._stopping = True
            signal.raise_signal(signal.SIGINT)  # first: else the program fails, and is mended
            self._session.robot.stop()
            self.story.note(why)

    def _answer(self, allowed: bool, client: int | None) -> None:
        edited, shown = self._edited.value, self._shown_source
        if allowed and edited.strip() and edited.strip() != shown.strip():
            decision = Decision(False, edited=edited)
        else:
            decision = Decision(allowed, "" if allowed else self._reason.value.strip())
        self._answers.put((decision, client))

    def _left(self, client: int) -> None:
        """Stop a real robot whose motion was approved by the one who left; nothing else."""
        if self._session is None or self._session.robot.simulated:
            return
        if client == self._approved_by:
            self.stop("stopped: the browser that approved this motion has left")

    # What the session asks of people, on its thread.

    _shown_source = ""

    def approve(self, source: str) -> Decision:
        """Have somebody look at a program before it runs."""
        return self._asking("This program is to run. Change it, if it should be otherwise.", source)

    def allow(self, call: str) -> bool:
        """Have somebody look at one call before it moves the robot."""
        return self._asking(f"It is to call {call}", "").allowed

    def _asking(self, told: str, source: str) -> Decision:
        from html import escape

        self._approved_by = None
        while not self._answers.empty():  # it was meant for something else
            self._answers.get_nowait()
        self._shown_source = source
        self._asked.content = f'<div style="padding:0 .8em">{escape(told)}</div>'
        self._edited.value, self._edited.visible = source, bool(source)
        self._reason.value, self._reason.visible = "", bool(source)
        self._question.visible = True
        self.story.say("waiting for your word")
        try:
            while True:
                with contextlib.suppress(queue.Empty):
                    decision, client = self._answers.get(timeout=1.0)
                    break
        finally:
            self._question.visible = False
        if decision.allowed:
            self._approved_by = client
        return decision

    # The session, on the main thread.

    def run(self, session: Any) -> None:
        """Carry out what browsers ask for, one after the other, until Ctrl-C."""
        self._session = session
        session.trace.listeners.append(self.story)
        session.trace.listeners.append(self._watch_twin)
        robot = session.robot
        if isinstance(robot, Viewable):
            self._scene.look_at(robot.view())
            self._scene.show(robot)
        hooked = self._hook(robot)
        threads = [threading.Thread(target=self._tell, name="cap-page", daemon=True)]
        if isinstance(robot, Viewable) and not hooked:
            threads.append(threading.Thread(target=self._look, name="cap-look", daemon=True))
        for thread in threads:
            thread.start()
        try:
            while True:
                try:
                    order = self._orders.get(timeout=1.0)
                    self._carry_out(order)
                except queue.Empty:
                    continue
                except KeyboardInterrupt:
                    stop_signals.taken()
                    if not self._stopping:
                        return
                    self._set_busy(False)  # a stop that came just as its turn ended
                finally:
                    self._stopping = False
        finally:
            self._closed.set()
            if hooked:
                session.robot.on_frame = None
            for thread in threads:
                thread.join(timeout=2.0)

    def _carry_out(self, order: _Order) -> None:
        """Do one thing that was asked for."""
        self._set_busy(True)
        try:
            if order.kind == "undo":
                self._session.undo()
            else:
                self._session.run(order.words)
        except CapError as error:
            self.story.note(str(error))
        except OSError as error:  # such as a full disk
            where = error.filename or self._session.trace.folder
            why = f"cannot write {where}: {error.strerror or error}"
            self.story.note(f"{why}; make room there, the session goes on")
        finally:
            self._approved_by = None
            self._set_busy(False)
            if isinstance(self._session.robot, Viewable):
                with contextlib.suppress(RobotError):  # it can no longer be seen
                    self._scene.show(self._session.robot)

    def _set_busy(self, busy: bool) -> None:
        with self._lock:
            self._busy = busy
        self._stop_button.disabled = not busy
        self._undo_button.disabled = busy or not self._session.turns

    # What moves.

    def _hook(self, robot: Any) -> bool:
        """Have a simulated robot shown as it moves; False if it tells of no motion."""
        if not hasattr(robot, "on_frame") or not hasattr(robot, "view"):
            return False
        robot.frame_every_s = max(_SHORTEST_S, (self._speed or 1.0) / FRAMES_PER_S)
        robot.on_frame = lambda: self._frame(robot)
        return True

    def _frame(self, robot: Any) -> None:
        """Show a moment of a motion, when it is time to; on the thread that moves the robot."""
        now_s = time.monotonic()
        if self._speed and robot.mode == "physics":
            step_s = robot.frame_every_s / self._speed
            self._due_s = max(self._due_s + step_s, now_s - step_s)
            if self._due_s > now_s:
                time.sleep(self._due_s - now_s)
        elif now_s - self._sent_s < 1 / FRAMES_PER_S:
            return
        self._sent_s = time.monotonic()
        self._scene.show(robot, moving=True)

    def _watch_twin(self, event: Event) -> None:
        """Show a rehearsal in the twin, and afterwards the robot itself again."""
        if event.kind == "rehearsing":
            self._rehearses = True
            self._hook(event.data["robot"])
        elif self._rehearses and isinstance(self._session.robot, Viewable):
            self._rehearses = False
            with contextlib.suppress(RobotError):  # it can no longer be seen
                self._scene.show(self._session.robot)

    def _look(self) -> None:
        """Show a robot that tells of no motion itself, again and again while it is busy."""
        while not self._closed.wait(_LOOK_EVERY_S):
            if self._busy and not self._rehearses:
                with contextlib.suppress(RobotError):  # the controller is not heard just now
                    self._scene.show(self._session.robot)

    def _tell(self) -> None:
        """Bring conversation, program and calls up to date."""
        while not self._closed.wait(TOLD_EVERY_S):
            self.tell()

    def tell(self) -> None:
        """Bring what is told up to date now."""
        news = self.story.news()
        if news is not None:
            places = (self._status, self._program, self._calls, self._turns)
            for place, text in zip(places, news, strict=True):
                if place.content != (content := f'<div style="padding:0 .8em">{text}</div>'):
                    place.content = content
