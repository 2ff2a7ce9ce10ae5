"""The slash commands of a session, in the terminal and on the page, and instructions between."""

from __future__ import annotations

import functools
import re
import string
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from cap.cli.approval import edited
from cap.cli.options import SessionOptions, load_config
from cap.cli.output import remark
from cap.cli.run import failed_line, read_source
from cap.cli.session import model_for, real_usage
from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, RobotError, UsageError, did_you_mean
from cap.messages import printable, short, usage_line
from cap.models.base import Usage
from cap.prompt.examples import first_instructions
from cap.result import folded
from cap.robot import observation
from cap.robot.observation import Observation
from cap.robot.protocol import Xyz
from cap.session import session_file
from cap.trace.export.lerobot import png
from cap.trace.trace import Event

COMMANDS = {
    "help": ("", "list the commands"),
    "examples": ("", "list example instructions for this scene"),
    "scene": ("", "show the objects and their positions"),
    "look": ("", "save a picture of the scene"),
    "code": ("[TURN]", "show the last program, or the program of a turn"),
    "edit": ("", "edit the last program in $EDITOR and run it"),
    "why": ("", "explain the result of the last turn"),
    "prompt": ("[all]", "show the model's prompt; all: include hints and examples"),
    "scope": ("", "list the functions and variables a program may use"),
    "undo": ("[TURNS]", "undo the last turn, or several; in simulation, restore the world"),
    "redo": ("", "redo the turns that were undone"),
    "save": ("FUNCTION | FILE.json", "save a function as a skill, or the session for /load"),
    "load": ("FILE.json | DIR | FILE.py", "continue a saved session, or run a program file"),
    "model": ("[NAME [URL]]", "show the model, or switch to another one (at URL)"),
    "cost": ("", "show the model's usage so far, including undone turns"),
    "quit": ("", "leave the session (or press Ctrl-D)"),
}
"""Every command: what it takes, and what it does."""
_LEAVE = ("quit", "exit", "/quit", "/exit", "/q")
_TERMINAL_ONLY = ("edit", "load", "model", "quit")
"""What the page does not offer: who has its link need not be who may choose files and addresses."""
LOOK_PX = 640
_QUOTED = re.compile(r"(: |-> )'([^']*)'")
"""An annotation as a signature shows it that is text."""
MOST_COLUMNS, MOST_ROWS = 48, 12
"""Of the map of a scene, in characters."""
_LEAST_COLUMNS = 8
_HARD_SPACE = "\N{NO-BREAK SPACE}"
"""Keeps a thing and its name in one line."""
_MARKS = string.ascii_lowercase + string.ascii_uppercase


class Commands:
    """Obeys what is typed in one session."""

    def __init__(
        self,
        session: Any,
        options: SessionOptions,
        screen: Any,
        begin: Any = None,
    ) -> None:
        """Take over a session.

        Args:
            session: Whose.
            options: How it was opened.
            screen: Shows what is said (`show`): a `SessionConsole`, or the page's `Chronicle`.
            begin: Puts another session in this one's place: takes its options, and the saved
                session that it goes on with, or None. Not needed on the page.
        """
        self.session, self.options, self.screen, self.begin = session, options, screen, begin
        self.tail = ""
        """What the model was asked with at last, below the prompt's own text."""
        self.repairs: list[str] = []
        """Why programs of the last turn were written again."""
        self.instruction = ""
        """Of the last turn."""
        session.trace.listeners.append(self._hear)
        self.draft = ""
        """A program that was edited and did not run."""
        self.looks = 0
        self.ended = False
        """True once the person has asked to leave."""

    def _hear(self, event: Event) -> None:
        """Remember what a turn's result does not say; say what to do about a trouble."""
        kind, data = event.kind, event.data
        if event.depth:
            return
        if kind == "instruction":
            self.repairs, self.instruction = [], data["text"]
        elif kind == "prompt" and data["lmp"] == "ui":
            self.tail = data["tail"]
        elif kind == "repair":
            self.repairs.append(data["reason"])
        elif kind == "failure" and "undo" in self.instruction.lower().split():
            self.tell("  here: /undo undoes the last turn", "yellow")
        elif kind == "failure" and "-m" in data["message"].split() and not self.screen.is_page:
            self.tell("  here: /model NAME switches to another model", "yellow")

    def obey(self, line: str) -> bool:
        """Run one line; return whether it came to what was asked for."""
        try:
            with stop_signals.heard():
                return self._run("/help" if line in ("help", "?") else line)
        except CapError as error:
            self.session.trace.progress("done")  # wipes what was going on
            self.refuse(str(error))
        except BrokenPipeError:
            raise
        except OSError as error:  # the session lives on
            where = f"{error.filename}: " if error.filename else ""
            self.refuse(f"{where}{error.strerror or error}")
        except KeyboardInterrupt:
            self.session.robot.stop()
            self.tell(stop_signals.why, "red")
            stop_signals.taken()
        return False

    def _run(self, line: str) -> bool:
        """Do what a line says; return whether it came to what was asked for."""
        if line.lower() in _LEAVE and not self.screen.is_page:
            self.ended = True
            return True
        if not line.startswith("/"):
            return not line or bool(self.session.run(line).ok)
        name, _, given = line[1:].partition(" ")
        command, given = name.lower(), given.strip()
        if command not in COMMANDS:
            hint = did_you_mean(command, COMMANDS)
            raise UsageError(f"no command /{printable(name)}.{hint} /help lists all commands")
        if self.screen.is_page and command in _TERMINAL_ONLY:
            raise UsageError(f"/{command} works only in the terminal: cap repl")
        if given and not COMMANDS[command][0]:
            raise UsageError(f"/{command} takes no arguments, so leave out {given!r}")
        done = getattr(self, f"do_{command}")(given)
        return done is None or bool(done)

    def tell(self, text: str, style: str = "") -> None:
        """Say something; in a terminal it wraps."""
        self.screen.show(printable(text), style)

    def refuse(self, why: str) -> None:
        """Say what went wrong: of a pipe on standard error."""
        if self.screen.is_terminal:
            self.tell(f"error: {why}", "red")
        else:
            remark(f"error: {why}")

    def greet(self) -> None:
        """Say who is there, what the scene is and what could be said."""
        session = self.session
        mode = getattr(session.robot, "mode", None)
        robot = f"{session.robot.name} ({mode})" if mode else session.robot.name
        self.tell(f"robot {robot}, model {session.model.name}")
        if session.earlier:
            self.tell(session.earlier_turns)
        if not self.screen.is_terminal:
            self.tell("/help lists commands, /quit leaves")
            return
        try:
            places = Observation.of(session.robot).positions
            for row in scene_map(places, self.screen.width) or [", ".join(places)]:
                self.tell(f"  {row}")
            self.suggest()
        except CapError as error:
            self.tell(f"the scene cannot be seen: {error}", "yellow")
        self.tell("Tab completes, /help lists commands, Ctrl-D leaves", "dim")

    def suggest(self) -> None:
        """Name sentences to try with the objects there are."""
        for sentence in self._to_try()[:2]:
            self.tell(f"try: {sentence}", "bold")

    def _to_try(self) -> list[str]:
        things = observation.facts(self.session.robot).get("objects", [])
        prompt = self.session.prompt
        return first_instructions((*prompt.examples, *prompt.beside.examples), things)

    def do_help(self, given: str) -> None:
        """List the commands."""
        wide = self.screen.width >= 100 or not self.screen.is_terminal
        self.tell("Type an instruction. Ctrl-C stops the program and the robot, not the session.")
        self.tell("Each line is one instruction; separate several with Alt-Enter, or paste them.")
        for name, (takes, about) in COMMANDS.items():
            if self.screen.is_page and name in _TERMINAL_ONLY:
                continue
            usage = f"/{name} {takes}".rstrip()
            self.tell(f"  {usage:<38} {about}" if wide else f"{usage}\n    {about}")

    def do_examples(self, given: str) -> None:
        """List instructions that can be given right away."""
        for sentence in self._to_try() or ["no example fits this scene; /scene shows it"]:
            self.tell(f"  {sentence}")

    def do_scene(self, given: str) -> None:
        """Show the map, and where everything is."""
        robot = self.session.robot
        seen = Observation.of(robot)
        places, about = seen.positions, seen.whereabouts
        for row in scene_map(places, self.screen.width):
            self.tell(f"  {row}")
        for name, (x, y, z) in places.items():
            where = f", {about[name]}" if about.get(name) else ""
            self.tell(f"  {name}: ({x:.3f}, {y:.3f}, {z:.3f}){where}")
        for name, value in seen.condition.items():
            self.tell(f"  {name}: {value if isinstance(value, str) else short(value)}", "dim")

    def do_look(self, given: str) -> None:
        """Write a picture of the scene into the run folder."""
        robot = self.session.robot
        if not hasattr(robot, "render"):
            raise UsageError(
                f"robot '{robot.name}' cannot render pictures; /scene describes the scene in words"
            )
        try:
            picture = png(robot.render(LOOK_PX, LOOK_PX))
        except Exception as error:  # a person's own code may fail in any way
            reason = f"{type(error).__name__}: {error}"
            raise RobotError(f"robot '{robot.name}' render() failed: {reason}") from None
        self.looks += 1
        path = self.session.trace.keep(f"scene-{self.looks:02d}.png", picture)
        self.tell(f"picture: {path}")

    def do_code(self, given: str) -> None:
        """Show a program."""
        self.tell(self._turn(given).program or "this turn has no program")

    def do_edit(self, given: str) -> bool | None:
        """Have the user change the last program, and run the result."""
        if not sys.stdin.isatty():
            raise UsageError("/edit needs a terminal")
        last = self.session.turns[-1].program if self.session.turns else ""
        text, wrong = edited(self.draft or last)
        self.draft = text if wrong else ""
        if wrong:
            raise UsageError(f"{wrong}; /edit opens it again")
        if text.strip() in ("", last.strip()):
            self.tell(f"the program is {'unchanged' if text.strip() else 'empty'}, so nothing ran")
            return None
        return self._execute(text, "the edited program", "/edit opens it again")

    def _execute(self, source: str, name: str, again: str) -> bool:
        """Run the user's own program; where it fails, say what to type."""
        turn = self.session.execute(source, name)
        if turn.failure is not None:
            if line := failed_line(turn):
                self.tell(f"  {line}")
            self.tell(
                f"  {again}; /scope lists what a program may use, /why gives details", "yellow"
            )
        return bool(turn.ok)

    def do_why(self, given: str) -> None:
        """Say why the last turn came out as it did."""
        turn = self._turn("")
        self.tell(f"{turn.instruction}:")
        for number, reason in enumerate(self.repairs, start=1):
            self.tell(f"  attempt {number}: {reason}", "yellow")
        failure = turn.failure
        if failure is None:
            self.tell(f"  it did not fail; {turn.prompt_effect or 'it did nothing'}")
        else:
            self.tell(f"  {failure}", "red")
            if line := failed_line(turn):
                self.tell(f"  {line}")
            calls = folded(f"{call.name}: {call.error}" for call in turn.calls if call.error)
            self.tell(f"  failed calls: {'; '.join(calls) or 'none'}")
            done = ", ".join(folded(call.name for call in turn.done))
            self.tell(f"  completed before the failure, and not undone: {done or 'nothing'}")
            self.tell(f"  cause: {failure.cause}", "dim")

    def do_prompt(self, given: str) -> None:
        """Show what the model was asked with."""
        if given.lower() not in ("", "all"):
            raise UsageError(f"/prompt takes no argument or all, not {given!r}")
        prompt = self.session.prompt
        head = prompt.head(self.session.engine.docs(prompt))
        above = f"{len(head)} characters of functions, hints and examples; /prompt all shows them"
        self.tell(head if given else f"({above})", "" if given else "dim")
        self.tell(self.tail or "(no model has been used in this session yet)")

    def do_scope(self, given: str) -> None:
        """Show what a program may use."""
        session = self.session
        scope = session.engine.scope(session.prompt, session.state)
        for kind, what in (("perception", "looks"), ("action", "acts"), ("lmp", "asks a model")):
            for name, entry in scope.primitives.items():
                if entry.kind == kind:
                    signature = _QUOTED.sub(r"\1\2", str(entry.signature))
                    self.tell(f"  {name}{signature}  {what}")
        for kept in session.state.definitions:
            self.tell(f"  {kept.name}  {kept.origin}")
        for name, value in session.state.variables.items():
            self.tell(f"  {name} = {short(value)}")
        for name, why in session.state.dropped.items():
            self.tell(f"  '{name}' {why}", "dim")

    def do_undo(self, given: str) -> None:
        """Go back, and name the turns; the trace's listener reports how far the world goes back."""
        count = _count(given, "/undo")
        gone = self.session.turns[-count:]
        self.session.undo(count)
        for turn in gone:
            self.tell(f"  undone: {turn.instruction}")

    def do_redo(self, given: str) -> None:
        """Redo what was undone, and name the turns."""
        count = len(self.session.turns)
        self.session.redo()
        for turn in self.session.turns[count:]:
            self.tell(f"  redone: {turn.instruction}")

    def do_save(self, given: str) -> None:
        """Keep a function, or the session."""
        names = given.split()
        if given.endswith(".json") and self.screen.is_page:
            raise UsageError("to save the session to a file, use the terminal: cap repl")
        if given.endswith(".json"):
            path = self.session.save(Path(given).expanduser())
            self.tell(f"saved: {path}; to continue the session: /load {path}")
        elif len(names) == 1:
            try:
                path = self.session.save_skill(given)
            except UsageError as error:
                if self.screen.is_page or "has no function" not in str(error):
                    raise
                raise UsageError(f"{error}; to save the session: /save {given}.json") from None
            self.tell(f"saved as {path}; later sessions with this robot can call {given}")
        else:
            raise UsageError(
                "name a function: /save FUNCTION; /scope lists them. The "
                f"session is in {self.session.trace.folder}; /save FILE.json copies it"
            )

    def do_load(self, given: str) -> bool | None:
        """Run a program file, or ask for a saved session to be gone on with."""
        path = Path(given).expanduser()
        if not given:
            raise UsageError(
                "name a file: /load runs/... continues a session, /load FILE.py runs it"
            )
        if path.suffix == ".py":
            return self._execute(read_source(path), path.name, f"change {path}, then: /load {path}")
        kept = session_file.read(path)
        robot = self.session.robot
        if not robot.simulated or kept.robot != robot.name:
            first = f"robot '{robot.name}' must be closed first"
            raise UsageError(f"{first}: /quit, then: cap repl --resume {path}")
        mode = getattr(robot, "mode", None)
        self.begin(replace(self.options, objects=None, mode=None, out=None), path)
        if mode != kept.mode and not self.options.dry_run:
            self.tell(f"note: the saved session's mode is {kept.mode}; it replaces {mode}")
        return None

    def do_model(self, given: str) -> None:
        """Say which model writes programs, or have another one write them."""
        session = self.session
        if not given:
            self.tell(f"{session.model.name}; to switch: /model NAME (see cap models list)")
            return
        name, _, url = given.partition(" ")
        asked = replace(self.options, model=name)
        if url or name.split("/")[0] != session.model.name.split("/")[0]:
            asked = replace(asked, base_url=url.strip() or None)  # one is that of a provider
        settings = load_config(asked)
        spent = session.usage
        left = {
            "max_calls": _less(settings.max_calls, spent.requests),
            "max_cost": _less(settings.max_cost, spent.cost_usd or 0.0),
        }
        session.use_model(model_for(replace(settings, **left), asked.record))
        self.options = asked

    def do_cost(self, given: str) -> None:
        """Say what the model took, in all and for each LMP."""
        session = self.session
        by_lmp = real_usage(session)
        if not by_lmp:
            self.tell(f"{session.model.name} costs nothing: no language model was used")
            return
        self.tell(usage_line(functools.reduce(Usage.plus, by_lmp.values())))
        for name, usage in by_lmp.items():
            self.tell(f"  {name}: {usage_line(usage)}", "dim")

    def _turn(self, given: str) -> Any:
        """Return a turn by its number, the last one if none is given."""
        turns = self.session.turns
        number = _count(given, "/code") if given else len(turns)
        if not turns:
            earlier = f"; {self.session.earlier_turns}" if self.session.earlier else ""
            raise UsageError(f"there are no turns yet{earlier}")
        if number > len(turns):
            raise UsageError(f"there is no turn {number}; the last one is {len(turns)}")
        return turns[number - 1]


def _count(given: str, command: str) -> int:
    """Return a number from 1 on; 1 if none is given."""
    if not given:
        return 1
    if not (given.isascii() and given.isdigit() and 0 < int(given) < 10**6):
        raise UsageError(f"{command} takes a number of 1 or more, not {given!r}")
    return int(given)


def _less(limit: Any, spent: float) -> Any:
    """Return what is left of a limit; None where there is none."""
    return None if limit is None else max(0, limit - spent)


def scene_map(places: Mapping[str, Xyz], width: int) -> list[str]:
    """Return lines that show where things are, seen from above; none of one thing or none.

    Things that share a place stand side by side.

    Args:
        places: Where each is, xyz in metres.
        width: Of the terminal, in characters.
    """
    columns = min(width - 4, MOST_COLUMNS)
    if not 2 <= len(places) <= len(_MARKS) or columns < _LEAST_COLUMNS:
        return []
    spots = np.array([place[:2] for place in places.values()])
    spots -= spots.min(axis=0)
    span_x, span_y = np.maximum(spots.max(axis=0), 0.01)
    # A character is twice as high as it is wide.
    per_m = min((columns - 1) / span_x, 2 * (MOST_ROWS - 1) / span_y)
    cells = np.rint(spots * (per_m, per_m / 2)).astype(int)
    columns, rows = cells.max(axis=0) + 1
    columns = max(columns, min(len(places), _LEAST_COLUMNS))
    grid = [["."] * columns for _ in range(rows)]
    for mark, (column, row) in zip(_MARKS, cells, strict=False):
        line = grid[-1 - row]
        if free := [at for at in range(columns) if line[at] == "."]:
            line[min(free, key=lambda at: abs(at - column))] = mark
    entries = (f"{mark} {name}" for mark, name in zip(_MARKS, places, strict=False))
    legend = "  ".join(entry.replace(" ", _HARD_SPACE) for entry in entries)
    lines = wrap(legend, width - 4, break_long_words=False, break_on_hyphens=False)
    return [*map("".join, grid), *(line.replace(_HARD_SPACE, " ") for line in lines)]
