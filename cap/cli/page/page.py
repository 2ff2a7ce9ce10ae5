"""`cap serve`, the live page: everyone with the link sees the robot and steers the session.

Instructions wait in a line; the main thread takes them, as the terminal's session does, so a stop
walks the road of Ctrl-C. Two browsers see and steer the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from cap.cli.options import Command, SessionOptions, with_options
from cap.cli.page import access as page_access
from cap.cli.page.chronicle import ASKS, Chronicle
from cap.cli.page.scene import SceneDrawer
from cap.cli.repl.commands import Commands
from cap.cli.session import resumed, say_end, watch
from cap.engine.settings import Decision
from cap.engine.stop_signals import BY_CTRL_C, stop_signals
from cap.errors import RobotError
from cap.robot.view import Viewable
from cap.sandbox.client import shared_template
from cap.trace.trace import Event

PORT = 8093
FRAMES_PER_S = 30
"""Pictures of the scene that are sent each second, at most."""
TOLD_EVERY_S = 0.1
"""How often conversation, program and calls are brought up to date, and a robot that reports no
motion itself."""
_SHORTEST_S = 1 / 60
"""Simulated seconds between two moments that are shown, at least."""
_LEAVE_S = 0.2
"""How long the last words have to leave."""
_HINT = "Enter runs it"
READ_S = 0.7
"""A question is shown for so long before it can be answered: no second click answers it unseen."""
SETTLE_S = 0.5
"""What was taken leaves the field once nothing was typed for so long."""
_ON_ITS_WAY_S = 2.0
"""So long after an instruction left the field, text that still begins with it may come."""


@dataclass(frozen=True)
class ServeOptions(SessionOptions):
    """Those of a session, and of the page."""

    port: int = PORT
    speed: float = 2.0
    resume: Path | None = None


@click.command("serve", cls=Command)
@with_options(ServeOptions)
def command(options: ServeOptions) -> int:
    """Watch and control the robot in a browser on this machine.

    \b
    cap serve
    cap serve -r kitchen --port 0 --speed 1

    The printed link contains a token that is required to watch or control the robot. Ctrl-C
    stops the running program; if no program is running, it stops the server.
    """  # noqa: D301
    shared_template().start()  # it loads while viser does
    with (
        opened(options.port, options.speed) as (page, link),
        resumed(options, options.resume, ["serve"], page) as (session, now),
    ):
        watch(session, now)
        click.echo(f"open {link}")
        page.run(session, now)
        say_end(session)
    return 0


@contextlib.contextmanager
def opened(port: int, speed: float, *, watching: bool = False) -> Iterator[tuple[LivePage, str]]:
    """Yield a page and its link.

    Args:
        port: On this machine; 0 for any that is free.
        speed: Simulated seconds a second, at most; 0 as fast as it goes.
        watching: Another program gives the instructions: browsers see them, and may stop.

    Raises:
        MissingExtra: viser is not installed.
        UsageError: The port cannot be used.
    """
    access = page_access.Access()
    with page_access.open_socket(port) as listening:
        server = page_access.start(listening, access, "cap")
        number = listening.getsockname()[1]
        try:
            page = LivePage(server, speed, watching=watching)
            yield page, f"http://{page_access.HOST}:{number}/?token={access.token}"
        finally:
            page_access.stop(server)


class InstructionField:
    """What is typed as an instruction in one browser, and when it is whole.

    A browser sends what is in a field at most every 50 ms, and of its messages that wait only the
    last one. So Enter is not a separate message, which would drop the last letters: it is a line
    break in the text, and a reader of the break has read all that comes before it.
    """

    text = ""
    """What is in the field."""
    taken = ""
    """Its beginning that was taken."""
    _left, _left_s = "", 0.0
    """What left the field last, and when."""

    def typed(self, text: str) -> str:
        """Return the instruction that is complete with this text; "" if none is.

        Enter behind the last word, or within what was typed before, takes all that is there; other
        line breaks come from a paste, and are spaces.

        Args:
            text: All that is in the field.
        """
        before, self.text = self.text[len(self.taken) :], text
        longer = len(text) > len(self._left) and text.startswith(self._left)
        if self._left and longer and time.monotonic() - self._left_s < _ON_ITS_WAY_S:
            self.taken = self._left  # it was typed before the browser knew
        self._left = ""
        if not text.startswith(self.taken):
            self.taken = ""
        rest = text[len(self.taken) :]
        within = "\n" in rest and rest.replace("\n", "", 1) == before
        words = " ".join((before if within else rest).split())
        longer = rest.endswith("\n") and len(rest) > len(before)
        if not words or not (within or longer):
            return ""
        self.taken = text
        return words

    def settled(self) -> str:
        """Take out what was taken; return what then is to be in the field."""
        self._left, self._left_s = self.taken, time.monotonic()
        self.text, self.taken = self.text[len(self.taken) :], ""
        return self.text


class ApprovalRequest:
    """A question to everyone who watches, in each browser.

    Its buttons are its own, so a click is an answer to it and to no other.
    """

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
            with gui.add_folder("May it run?", order=1.5) as folder:
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


class LivePage:
    """A session in a browser."""

    def __init__(self, server: Any, speed: float, *, watching: bool = False) -> None:
        """Lay the page out; `run` or `showing` gives it a session.

        Args:
            server: Where.
            speed: Simulated seconds a second, at most; 0 as fast as it goes.
            watching: Somebody else gives the instructions: browsers see them, and may stop.
        """
        self._server, self._watching = server, watching
        self._speed = speed
        self._scene = SceneDrawer(server)
        self.story = Chronicle()
        self._waiting: deque[str] = deque()
        """Instructions and slash commands."""
        self._commands: Any = None
        self._session: Any = None
        self._busy = False
        self._stopping = False
        self._lock = threading.Lock()
        """Held while a stop is asked for, and while a turn begins or ends: it is of one only."""
        self._arrived = threading.Condition(self._lock)
        self._browsers: dict[int, Any] = {}
        self._question: ApprovalRequest | None = None
        """The one that is open."""
        self._showing = threading.RLock()
        """Held while a browser comes or leaves, and while a question does."""
        self._edit = self._refused = ""
        """The program that somebody wrote in another's place, and why it may not run."""
        self._approved_by: int | None = None
        self._rehearses = False
        """Whether the twin is shown, and not the robot."""
        self._due_s = self._sent_s = 0.0
        self._closed = threading.Event()
        self._lay_out()

    def _lay_out(self) -> None:
        gui = self._server.gui
        gui.main_panel.dock_right()
        css = files("cap.cli.page").joinpath("page.css").read_text(encoding="utf-8")
        gui.add_html(f"<style>{css}</style>", order=0)
        status = gui.add_html("", order=1)
        self._stop_button = gui.add_button(
            "Stop", color="red", icon="hand-stop", disabled=True, order=3
        )
        self._stop_button.on_click(lambda _: self.stop("stopped on the page"))
        self._undo_button = gui.add_button("Undo", icon="arrow-back-up", disabled=True, order=4)
        self._undo_button.on_click(lambda _: self._wait_in_line("/undo"))
        self._places = [status]
        for order, title in enumerate(("Conversation", "Program", "Calls"), start=5):
            with gui.add_folder(title, order=order):
                self._places.append(gui.add_html(""))
        self._server.on_client_connect(self._came)
        self._server.on_client_disconnect(lambda client: self._left(client.client_id))

    # What browsers ask for, on their threads.

    def _came(self, client: Any) -> None:
        """Give a browser fields of its own: what is typed in one is not seen in another."""
        gui = client.gui
        if self._watching:
            return
        with self._showing:
            field = gui.add_text("Instruction", "", multiline=True, hint=_HINT, order=2)
            typed = InstructionField()
            field.on_update(partial(self._typed, typed))  # awaited: in the order they came
            self._browsers[client.client_id] = client
            if self._question is not None:
                self._question.show(client)

    async def _typed(self, typed: InstructionField, event: Any) -> None:
        """Take in what is in a field, on the thread that hears browsers: none is missed."""
        if event.client_id is None:  # it was changed below
            return
        text = event.target.value
        if words := typed.typed(text):
            self._wait_in_line(words)
        await asyncio.sleep(SETTLE_S)
        if typed.taken and typed.text == text:
            event.target.value = typed.settled()

    def _wait_in_line(self, line: str) -> None:
        with self._arrived:
            self._waiting.append(line)
            self._arrived.notify()
            self._tell_waiting()

    def _tell_waiting(self) -> None:
        """Tell what waits for a turn to end; the lock is held."""
        self.story.wait_for(list(self._waiting) if self._busy else [])

    def stop(self, why: str) -> None:
        """End the program that runs, as Ctrl-C does; the robot at once."""
        if self._watching and self._session is not None:
            self._session.stop()
            self.story.show(why, "yellow")
            return
        with self._lock:
            if not self._busy or self._stopping:
                return
            self._stopping = True
            stop_signals.why = why
            signal.raise_signal(signal.SIGINT)  # first: else the program fails, and is repaired
            self._session.robot.stop()
            self.story.show(why, "yellow")

    def _left(self, client: int) -> None:
        """Stop a real robot whose motion was approved by the one who left; nothing else."""
        with self._showing:
            self._browsers.pop(client, None)
        if self._session is None or self._session.robot.simulated:
            return
        if client == self._approved_by:
            self.stop("stopped: the browser that approved this motion has left")

    # What the session asks of people, on its thread.

    def approve(self, source: str) -> Decision:
        """Have somebody look at a program before it runs."""
        message, text = "This program is to run. Change it here if it should be different.", source
        if self._refused:
            message = (
                f"A change was refused: {self._refused}. It stays in the field, to be fixed; an "
                "empty field is a yes to the program below."
            )
            text = self._edit
        elif self._edit:
            message = "The change passed the check. This is what runs now, after one more yes."
        decision = self._asking(message, source, text)
        self._edit, self._refused = decision.edited or "", ""
        return decision

    def allow(self, call: str) -> bool:
        """Have somebody look at one call before it moves the robot."""
        return self._asking(f"It is to call {call}", "", "").allowed

    def _asking(self, message: str, source: str, text: str) -> Decision:
        self._approved_by = None
        question = ApprovalRequest(message, source, text)
        try:
            with self._showing:
                self._question = question
                for browser in self._browsers.values():
                    question.show(browser)
            self.story.say(ASKS)
            decision, client = question.wait()
        finally:
            with self._showing:
                self._question = None
                question.close()
        if decision.allowed:
            self._approved_by = client  # first: if it leaves from now on, it stops the robot
            with self._showing:
                left = client not in self._browsers
            if left and not self._session.robot.simulated:
                why = "the browser that approved this motion has left, so the motion is refused"
                self.story.show(why, "yellow")
                return Decision(False)
        return decision

    # The session, on the main thread.

    def run(self, session: Any, options: SessionOptions) -> None:
        """Run what browsers ask for, one after the other, until Ctrl-C."""
        with self.showing(session):
            self._commands = Commands(session, options, self.story)
            self._commands.suggest()
            while True:
                try:
                    self._run_next()
                except KeyboardInterrupt:
                    stop_signals.taken()
                    if not self._stopping:
                        return
                    self.set_busy(False)  # a stop that came just as its turn ended
                    self._drop_waiting()
                finally:
                    self._stopping = False
                    stop_signals.why = BY_CTRL_C

    @contextlib.contextmanager
    def showing(self, session: Any) -> Iterator[None]:
        """Show a session, whatever runs its turns."""
        self._session = session
        session.trace.listeners.append(self.story)
        session.trace.listeners.append(self._watch_twin)
        if isinstance(session.robot, Viewable):
            self._scene.look_at(session.robot.view())
            self._scene.show(session.robot)
        hooked = self._hook(session.robot)
        thread = threading.Thread(target=self._tell, args=(hooked,), name="cap-page", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._closed.set()
            if hooked:
                session.robot.on_frame = None
            thread.join(timeout=2.0)
            self.story.say("the session is over: the server was ended in its terminal")
            self.tell()
            self._stop_button.disabled = self._undo_button.disabled = True
            self._server.flush()
            time.sleep(_LEAVE_S)

    def _run_next(self) -> None:
        """Do what was asked for first; nothing if for a while nothing is."""
        with self._arrived:
            if not self._waiting:
                self._arrived.wait(1.0)
            if not self._waiting:
                return
            stop_signals.begun()
            self._busy = True  # from now on a stop is of this one
            line = self._waiting.popleft()
            self._tell_waiting()
        self.set_busy(True)
        try:
            if line.startswith("/"):
                self.story.command(line)
            if not self._commands.obey(line):
                self._drop_waiting()
        finally:
            self._approved_by = None
            self._edit = self._refused = ""
            self.set_busy(False)
            self._show_robot()

    def _drop_waiting(self) -> None:
        """Drop what waits, and show it."""
        with self._lock:
            dropped = list(self._waiting)
            self._waiting.clear()
            self._tell_waiting()
        for left in dropped:
            self.story.show(f"this is not run after that: {left}", "yellow")

    def set_busy(self, busy: bool) -> None:
        """Say whether a turn is under way."""
        with self._lock:
            self._busy = busy
        self._stop_button.disabled = not busy
        self._undo_button.disabled = busy or self._watching or not self._session.turns

    # What moves.

    def _show_robot(self) -> None:
        """Show the robot as it is, if it can be seen just now."""
        if isinstance(self._session.robot, Viewable):
            with contextlib.suppress(RobotError):
                self._scene.show(self._session.robot)

    def _hook(self, robot: Any) -> bool:
        """Have a simulated robot shown as it moves; False if it reports no motion."""
        if not hasattr(robot, "on_frame") or not hasattr(robot, "view"):
            return False
        robot.frame_every_s = max(_SHORTEST_S, (self._speed or 1.0) / FRAMES_PER_S)
        robot.on_frame = lambda: self._frame(robot)
        return True

    def _frame(self, robot: Any) -> None:
        """Show a moment of a motion, when it is time to; on the thread that moves the robot."""
        now_s = time.monotonic()
        if robot.mode == "physics" and self._speed and not self._stopping:
            step_s = robot.frame_every_s / self._speed
            self._due_s = max(self._due_s + step_s, now_s - step_s)
            if self._due_s > now_s:
                time.sleep(self._due_s - now_s)
            self._scene.show(robot, moving=True)
            return
        if now_s - self._sent_s > TOLD_EVERY_S:  # a picture more often would slow the motion down
            self._scene.show(robot, moving=True)
            self._sent_s = time.monotonic()

    def _watch_twin(self, event: Event) -> None:
        """Show a rehearsal in the twin, and afterwards the robot itself again."""
        if event.kind == "rehearsing":
            self._rehearses = True
            self._hook(event.data["robot"])
        elif event.kind == "edit_refused":
            self._refused = str(event.data["message"])
        elif self._rehearses:
            self._rehearses = False
            self._show_robot()

    def _tell(self, hooked: bool) -> None:
        """Bring the panel up to date, and the scene of a robot that reports no motion itself."""
        while not self._closed.wait(TOLD_EVERY_S):
            self.tell()
            if not hooked and self._busy and not self._rehearses:
                self._show_robot()

    def tell(self) -> None:
        """Bring what is shown up to date now."""
        news = self.story.news()
        for place, text in zip(self._places, news or (), strict=False):
            if place.content != (content := f'<div class="cap">{text}</div>'):
                place.content = content
