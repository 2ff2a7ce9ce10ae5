"""`cap repl` through a terminal, a pipe and in this process: its commands and its questions."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from cap.cli.approval import ask_for_program, ask_person
from cap.cli.main import run
from cap.cli.options import SessionOptions
from cap.cli.output import SessionConsole as Console
from cap.cli.repl.commands import COMMANDS, Commands, scene_map
from cap.cli.repl.line_editor import LineEditor, ReplCompleter
from cap.session.session import Session
from cap.session.skills.store import SkillStore
from cap.trace.reader import read_events
from cap.trace.terminal import Live
from tests.cap.conftest import python
from tests.fakes.openai_server import FakeServer
from tests.fakes.terminal import PROMPT, Terminal
from tests.rows import rows

COMMAND = [sys.executable, "-m", "cap", "repl", "--mode", "instant"]


def piped(
    lines: str, *more: str, before: str = "", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a REPL that is fed by a pipe; `before` is what a shell does first."""
    command = ["sh", "-c", f'{before}\nexec "$@"', "sh", *COMMAND, *more]
    return subprocess.run(
        command,
        input=lines,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env={**os.environ, **settings},
    )


Fed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def fed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Fed:
    """Feed lines to a REPL in this process; its exit code, output and errors."""

    def feed(*lines: str, more: Sequence[str] = ()) -> tuple[int, str, str]:
        data = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
        return run(["repl", "--mode", "instant", *more]), *capsys.readouterr()

    return feed


def test_lines_from_a_pipe(fed: Fed) -> None:
    words = "put the red block in the blue bowl"
    code, out, error = fed("/help", words, "pour the coffee", "/nothing", "/code 1")
    assert code == 1
    assert "moved red block" in out
    assert "NoMatch" in out
    assert error == "error: no command /nothing. /help lists all commands\n"
    assert out.count("put_first_on_second(moved[0], 'blue bowl')") == 2
    assert fed(words, "/undo")[0] == 0


def test_it_is_never_the_thing_before_the_one_that_could_not_be_had(fed: Fed) -> None:
    lines = ["pick up the apple", "put it down", "pick up the unicorn", "put it on the desk"]
    lines += ["put it in the bowl", "pick up the cup", "put it down"]
    code, out, _ = fed(*lines, more=["-r", "kitchen"])
    assert out.count("moved apple to table") == 1
    for unclear in ("put it on the desk", "put it in the bowl"):
        assert f"failed, so it is not clear what '{unclear}' refers to; name the object" in out
    assert "moved cup to table" in out
    assert code == 1


def test_a_failed_drawing_changes_no_later_one(fed: Fed) -> None:
    lines = ["make it bigger", "draw a hexagon", "draw a haus", "draw a square", "make it bigger"]
    out = fed(*lines, more=["-r", "drawing"])[1]
    assert "list index out of range; shapes is empty: there is nothing yet to refer to" in out
    assert out.count("\n  failed: ") == 2
    assert out.count("\n  ink: ") == 3


def test_a_saved_session_in_one_sitting(fed: Fed) -> None:
    lines = ["put the red block in the blue bowl", "/save there.json", "/load there.json"]
    code, out, error = fed(*lines, "undo that")
    assert (out.count("left: runs/"), out.count("run: runs/")) == (1, 1)
    assert "moved red block from blue bowl: (0.150, -0.302, 0.024) to (0.174, -0.480, 0.020)" in out
    assert (code, error) == (0, "")
    statuses = [json.loads(path.read_text())["status"] for path in Path("runs").glob("*/run.json")]
    assert statuses == ["done"] * 2


def test_nearest_says_what_is_not_there_and_what_to_type(fed: Fed) -> None:
    here = "red block, green block, blue block, yellow block, red bowl, green bowl"
    said = {
        "put the purple block in the red bowl": f"no 'purple block' here; objects here: {here}",
        "put the red blok in the red bowl": "Did you mean 'red block'?",
        "put the big block in the red bowl": "cannot match 'big' in 'the big block'; objects here:",
        "put the red block in the bottom corner": "'in the bottom corner'; say it in other words",
        "mvoe the green block 5 cm to the left": "mean 'move the green block 5 cm to the left'",
        "pikc up the red block": "Did you mean 'pick up the red block'?",
        "wash the blue bowl": "say one of these",
    }
    out = fed(*said)[1]
    for words, message in said.items():
        assert message in out.partition(f"\n{words}\n")[2].partition("\n\n")[0]
    offers = re.findall(r"'([^']*)'", out.rpartition("it follows ")[2].partition("; say one")[0])
    assert len(offers) == 3
    assert fed(*offers)[0] == 0


@pytest.mark.parametrize("robot", ["ravens", "drawing"])
def test_examples_stand_alone_and_are_understood(fed: Fed, robot: str) -> None:
    out = fed("/examples", more=["-r", robot])[1]
    examples = [line.strip() for line in out.split("\n") if line.startswith("  ")]
    assert len(examples) > 4
    assert not re.search(r"\b(it|that|again|bin|undo|cut)\b", " ".join(examples))
    alone = [line for words in examples for line in (words, "/undo")]
    assert fed(*alone, more=["-r", robot])[0] == 0


def test_the_way_back_to_a_session_is_said(fed: Fed, tmp_path: Path) -> None:
    assert run(["robots", "new", "my_arm"]) == 0
    Path("wrong.py").write_text("names = ['a']\nsay(names[5])\n")
    lines = ["put the red block in the blue bowl", "/save here.json", "/save nothing"]
    _, out, error = fed("/scene", *lines, "/load wrong.py", "/quit")
    assert "saved: here.json; to continue the session: /load here.json" in out
    assert "has no function 'nothing'. It has: none yet; to save the session: /save" in error
    assert "IndexError (line 2): list index out of range\n  line 2: say(names[5])\n" in out
    assert out.splitlines()[-1].startswith("to continue: cap repl --resume runs/")
    _, out, error = fed("undo that", "/load here.json", more=["-r", "my_arm/robot.py"])
    assert "  here: /undo undoes the last turn" in out
    assert "'my_arm' must be closed first: /quit, then: cap repl --resume here.json" in error


def test_a_session_that_was_saved_in_another_mode_says_so(fed: Fed) -> None:
    pytest.importorskip("pybullet")
    fed("/save here.json")
    code, out, _ = fed("/load here.json", more=["--mode", "physics"])
    assert out.count("note: the saved session's mode is instant; it replaces physics") == 1
    assert code == 0


def test_a_full_disk_in_mid_session_is_said() -> None:
    lines = ["put the red block in the blue bowl", "/undo"] * 4
    done = piped("\n".join([*lines, ""]), "--out", "here", before="ulimit -f 16")
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 1
    assert len(read_events(Path("here"))) > 8


@pytest.mark.sweep(share=0.3)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_without_any_terminal_it_ends_by_itself(closed: str) -> None:
    done = piped("/scene\n", before=f"exec {closed}")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_whoever_stops_reading_ends_it() -> None:
    lines = "\n".join(["put the red block in the blue bowl", "undo that"] * 8)
    shell = ["bash", "-c", '"$@" | head -n 1', "bash", *COMMAND, "--out", "here"]
    done = subprocess.run(shell, input=lines, capture_output=True, text=True, timeout=100)
    assert "Traceback" not in done.stderr
    assert json.loads(Path("here/run.json").read_text())["status"] != "running"


def test_a_terminal_that_closes_ends_the_session(tmp_path: Path) -> None:
    with Terminal([*COMMAND, "--out", str(tmp_path / "run")]) as screen:
        screen.wait_for(PROMPT)
        os.close(screen.master)
        screen.master = os.open(os.devnull, os.O_RDWR)
        assert screen.process.wait(timeout=30) == 128 + signal.SIGHUP
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    assert header["status"] == "interrupted"


# --- questions at a terminal: what was typed before one is no answer to it


@pytest.fixture
def terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A person's end of a terminal; a no is typed as soon as a question was prepared."""
    person, ours = pty.openpty()
    flush = termios.tcflush

    def flushed(stream: object, queue: int) -> None:
        flush(ours, queue)
        os.write(person, getattr(request, "param", b"n\n\n"))

    monkeypatch.setattr(termios, "tcflush", flushed)
    with os.fdopen(ours) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield person
    os.close(person)


QUESTIONS = pytest.mark.parametrize(
    "asked",
    [
        lambda: ask_person("Move?"),
        lambda: ask_for_program("put_first_on_second('red block', 'blue bowl')").allowed,
    ],
    ids=["a call", "a program"],
)


@QUESTIONS
def test_what_was_typed_ahead_approves_nothing(terminal: int, asked: Callable[[], bool]) -> None:
    os.write(terminal, b"y\ny\n")
    assert asked() is False


@pytest.mark.parametrize(
    ("terminal", "allowed"),
    [(b"y\n", True), (b"Yes\n", True), (b"no\n\n", False), (b"yep\nn\n\n", False)],
    indirect=["terminal"],
)
def test_a_whole_word_is_an_answer(terminal: int, allowed: bool) -> None:
    assert ask_for_program("say('hi')").allowed is allowed


@QUESTIONS
@pytest.mark.parametrize("terminal", [b"\x04"], indirect=True)
def test_ctrl_d_at_a_question_is_a_no(
    terminal: int, asked: Callable[[], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked() is False
    assert "assuming no" in capsys.readouterr().err


ASKED = "[y/N]: "


def at_terminal(*command: str) -> Terminal:
    """Run a command on the instant table at a terminal."""
    table = ["-r", "ravens", "--mode", "instant", "--objects", "red block, blue bowl"]
    return Terminal([sys.executable, "-m", "cap", *command, *table, "--approve", "each-call"])


def test_a_yes_after_ctrl_c_answers_no_question_of_before() -> None:
    words = "put the red block in the blue bowl\r"
    with at_terminal("repl") as terminal:
        terminal.wait_for("Ctrl-D leaves", PROMPT)
        terminal.type(words)
        terminal.wait_for("e(dit): ")
        terminal.type("y\r")
        terminal.wait_for(ASKED)
        terminal.type("\x03")
        terminal.wait_for("stopped by Ctrl-C", PROMPT)
        terminal.says("y", "cannot match 'y'")  # an instruction, as anything typed here
        terminal.type(words)
        terminal.wait_for("e(dit): ")
        terminal.type("y\r")
        terminal.wait_for(ASKED)
        terminal.type("y\r")
        terminal.wait_for("moved red block", PROMPT)
        terminal.type("/quit\r")
        assert terminal.ended() == 0


EDITED = """
from cap.cli.approval import edited
from cap.engine.stop_signals import stop_signals
with stop_signals:
    print(edited("x = 1\\n"))
"""


def test_an_editor_that_takes_ctrl_c_for_itself_is_waited_for(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\ntrap '' INT\nkill -INT $PPID\nsleep 0.2\necho 'x = 2' > $1\n")
    editor.chmod(0o755)
    done = python(EDITED, env={**os.environ, "VISUAL": str(editor)})
    assert (done.returncode, done.stdout) == (0, "('x = 2\\n', '')\n"), done.stderr


# --- the REPL's commands, completion and line editor, in this process

MOVE = "put the red block in the blue bowl"


OPTIONS = SessionOptions(mode="instant")


class Talk:
    """A session's commands, and what they say in a terminal of some width."""

    def __init__(self, session: Session, width: int = 100) -> None:
        self.out = io.StringIO()
        console = Console(file=self.out, force_terminal=True, color_system=None, width=width)
        session.trace.listeners.append(Live(console, echo=False))
        self.opening: Any = None
        self.commands = Commands(session, OPTIONS, console, self.begin)

    def begin(self, options: SessionOptions, path: Path | None) -> None:
        """Note which session is to be begun."""
        self.opening = options, path

    def __call__(self, line: str) -> str:
        """Return what is said of one line that comes to what it asks for."""
        assert self.commands.obey(line), self.out.getvalue()
        return self.said()

    def refused(self, line: str) -> str:
        """Return what is said of one that does not."""
        assert not self.commands.obey(line)
        return self.said()

    def said(self) -> str:
        lines = self.out.getvalue().split("\n")
        self.out.seek(0)
        self.out.truncate()
        return "\n".join(line.rpartition("\r\x1b[2K")[2] for line in lines)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    skills = SkillStore(tmp_path / "skills")
    with Session.open("ravens", mode="instant", runs=tmp_path / "runs", skills=skills) as opened:
        yield opened


@pytest.fixture
def talk(session: Session) -> Talk:
    return Talk(session)


def test_every_command_has_its_place_and_its_line_of_help(talk: Talk) -> None:
    told = " ".join(talk("/help").split())
    for name, (_, about) in COMMANDS.items():
        assert f"/{name}" in told
        assert about in told


def test_a_person_is_greeted_with_the_scene_and_what_to_say(talk: Talk) -> None:
    talk.commands.greet()
    told = talk.said()
    assert "robot ravens (instant), model nearest" in told
    assert "a red block  b green block" in told
    tries = [line.removeprefix("try: ") for line in told.split("\n") if line.startswith("try: ")]
    assert len(tries) == 2
    for words in tries:
        assert "moved" in talk(words)


def test_what_a_turn_was_can_be_looked_at(talk: Talk, tmp_path: Path) -> None:
    assert "there are no turns yet" in talk.refused("/code")
    talk(MOVE)
    assert "put_first_on_second(moved[0], 'blue bowl')" in talk("/code")
    assert "there is no turn 2; the last one is 1" in talk.refused("/code 2")
    assert "/code takes a number of 1 or more, not 'x'" in talk.refused("/code x")
    assert "it did not fail; moved red block to blue bowl" in talk("/why")
    assert talk("/prompt").strip().endswith(f"# {MOVE}.")
    (program := tmp_path / "hello.py").write_text("say('hello')\n")
    talk(f"/load {program}")
    assert talk("/prompt").strip().endswith(f"# {MOVE}.")  # what it was asked with last
    assert "from robot import get_obj_pos" in talk("/prompt all")
    scope = talk("/scope")
    assert "put_first_on_second(first: Place, second: Place) -> Array  acts" in scope
    assert "context: str = ''" in scope
    assert "moved = ['red block']" in scope
    assert "costs nothing" in talk("/cost")
    assert "/prompt takes no argument or all, not 'bogus'" in talk.refused("/prompt bogus")


def test_turns_of_the_session_that_is_gone_on_with_are_said_to_be_its_own(
    session: Session, tmp_path: Path
) -> None:
    talk = Talk(session)
    talk(MOVE)
    talk.refused("pour the coffee")
    with Session.resume(session.save(tmp_path / "kept.json"), runs=tmp_path / "later") as later:
        after = Talk(later, width=400)
        told = f"2 turns of {tmp_path}/kept.json are known; undo does not reach them"
        after.commands.greet()
        assert told in after.said()
        assert told in after.refused("/undo")
        assert "no model has been used in this session yet" in after("/prompt")
        for line in ("/code", "/why", "/code 2"):
            assert told in after.refused(line)


def test_why_tells_the_line_the_calls_and_what_stays_done(talk: Talk, tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    wrong = "put_first_on_second('red block', 'green cup')\n"
    tried = f"    try:\n        {wrong}    except Exception:\n        pass\n"
    file.write_text(f"for i in range(40):\n    say('on')\n{tried}{wrong}")
    talk.refused(f"/load {file}")
    told = " ".join(talk("/why").split())
    assert "line 7: put_first_on_second('red block', 'green cup')" in told
    assert "put_first_on_second: NotFound" in told
    assert "not undone: say x 40" in told


def test_undo_and_redo(talk: Talk, session: Session) -> None:
    talk(MOVE)
    there = session.robot.positions()
    told = talk("/undo")
    assert "undone: the last turn, including the world" in told
    assert f"undone: {MOVE}" in told
    assert session.robot.positions() != there
    told = talk("/redo")
    assert "redone: the turn, including the world" in told
    assert f"redone: {MOVE}" in told
    assert session.robot.positions() == there
    assert "nothing was undone since" in talk.refused("/redo")
    assert "cannot undo 3 turns" in talk.refused("/undo 3")
    assert "/undo takes a number" in talk.refused("/undo -1")


def test_a_scene_is_told_with_map_and_places(talk: Talk, tmp_path: Path) -> None:
    assert "red block: (0.174, -0.480, 0.020)" in talk("/scene")
    told = talk("/look").replace("\n", "")
    picture = Path(told.removeprefix("picture: "))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_scene_that_cannot_be_seen_ends_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("no camera")

    talk = Talk(session)
    with monkeypatch.context() as patch:
        for name in ("positions", "context", "render"):
            patch.setattr(session.robot, name, broken)
        talk.commands.greet()
        assert "the scene cannot be seen: robot 'ravens': positions() failed" in talk.said()
        assert "positions() failed" in talk.refused("/scene")
        assert completed(session, "put the red bl") == []
        assert "positions() failed" in talk.refused(MOVE)
    assert "moved red block" in talk(MOVE)


def test_functions_are_kept_and_the_session_too(talk: Talk, tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text("def twice(x):\n    return 2 * x\nsay(str(twice(2)))\n")
    assert 'robot says: "4"' in talk(f"/load {program}")
    assert "twice  program" in talk("/scope")
    assert "saved as" in talk("/save twice")
    assert "name a function" in talk.refused("/save")
    assert "no function 'nothing'" in talk.refused("/save nothing")
    saved = tmp_path / "mine.json"
    assert "saved:" in talk(f"/save {saved}")
    assert json.loads(saved.read_text())["format"] == "cap session"
    (other := tmp_path / "list.json").write_text("[1]")
    assert "is no saved session" in " ".join(talk.refused(f"/save {other}").split())
    assert other.read_text() == "[1]"
    talk(f"/load {saved}")
    assert talk.opening == (replace(OPTIONS, mode=None), saved)
    assert "no file" in talk.refused(f"/load {tmp_path}/nowhere.py")


@pytest.mark.parametrize(
    ("script", "ran", "told"),
    [
        ("echo \"say('edited')\" > $1", True, 'robot says: "edited"'),
        ("touch $1", True, "the program is unchanged, so nothing ran"),
        ("echo 'import os' > $1", False, "CAP102"),
        ("exit 3", False, "set EDITOR to an editor that works"),
    ],
)
def test_edit_opens_the_last_program_and_runs_what_comes_of_it(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, ran: bool, told: str
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\nsleep 0.01\n{script}\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    talk(MOVE)
    said = talk("/edit") if ran else talk.refused("/edit")
    assert told in " ".join(said.split())
    assert "the one shown" not in said


def test_another_model_takes_over_and_a_wrong_one_does_not(session: Session) -> None:
    talk = Talk(session)
    talk(MOVE)
    with FakeServer(lambda prompt, body: "say(moved[0])") as server:
        talk(f"/model vllm/fake {server.url}")
        assert 'robot says: "red block"' in talk("what was that?")
        assert "1 request, " in talk("/cost")  # the other was of `nearest`
        talk("/model vllm/other")
        assert "not found (404: no model other)" in talk.refused("what was that?")  # same address
    assert "unknown model" in talk.refused("/model nosuch")
    assert session.model.name == "vllm/other"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/sceen", "no command /sceen. Did you mean 'scene'"),
        ("/\x1b[31m", "no command /\\x1b[31m"),
        ("pour the coffee", "here: /model NAME switches to another model"),
        ("/model vllm/x notaurl", "is not an http(s) address"),
        ("/quit now", "/quit takes no arguments, so leave out 'now'"),
        ("/undo", "error: nothing to undo"),
        ("/save put_first_on_second", "'put_first_on_second' is the robot's own"),
        ("/load /etc/passwd", "/etc/passwd is not a saved session"),
        ("/help undo", "/help takes no arguments"),
    ],
)
def test_what_cannot_be_done_is_said_and_the_session_lives(
    talk: Talk, line: str, told: str
) -> None:
    assert told in " ".join(talk.refused(line).split())
    talk(MOVE)


def test_every_way_out_is_one(talk: Talk) -> None:
    for line in ("/quit", "quit", "exit", "/exit", "/q", "/QUIT"):
        talk.commands.ended = False
        talk(line)
        assert talk.commands.ended


@pytest.mark.parametrize("width", [20, 80])
def test_nothing_is_wider_than_the_terminal(session: Session, width: int) -> None:
    talk = Talk(session, width)
    talk.commands.greet()
    talk("put the blocks in the bowls with matching colors")
    for name in COMMANDS:
        if name not in ("edit", "load", "quit", "save"):
            talk.commands.obey(f"/{name}")
    long = [line for line in talk.said().split("\n") if len(line) > width]
    assert long == []


@rows("width", range(1, 201))
def test_a_map_fits_every_width_and_shows_everything(width: int) -> None:
    places = {f"block {n}": (0.1 * n, -0.05 * n * n, 0.0) for n in range(12)}
    rows = scene_map(places, width)
    assert all(len(row) <= max(width - 2, 10) for row in rows)
    if rows:
        grid = "".join(row for row in rows if set(row) <= {".", *"abcdefghijkl"})
        assert sorted(grid.replace(".", "")) == sorted("abcdefghijkl"[: len(places)])


def completed(session: Session, line: str) -> list[str]:
    """Return what a line may become by Tab."""
    found = ReplCompleter(session).get_completions(Document(line), CompleteEvent(False, True))
    return [line[: len(line) + one.start_position] + one.text for one in found]


def test_tab_completes_commands_names_and_files(session: Session, tmp_path: Path) -> None:
    assert completed(session, "/sc") == ["/scene", "/scope"]
    said = "put the red block in the blue bowl"
    assert completed(session, "put the red bl") == ["put the red block", said]
    assert completed(session, "put the Red B") == ["put the red block", "put the red bowl", said]
    assert completed(session, "")[0] == said
    assert completed(session, "call put_f") == ["call put_first_on_second"]
    assert completed(session, "what is xyz") == []
    assert "/model ollama/" in completed(session, "/model o")
    (tmp_path / "session one").mkdir()
    (tmp_path / "program.py").touch()
    assert completed(session, f"/load {tmp_path}/pro") == [f"/load {tmp_path}/program.py"]
    assert completed(session, f"/load {tmp_path}/ses") == [f"/load {tmp_path}/session one"]


def test_a_skill_completes_and_so_does_what_may_become_one(session: Session) -> None:
    session.execute("def tower(names):\n    return names\nx = 1")
    assert completed(session, "build the tow") == ["build the tower"]
    assert completed(session, "/save to") == ["/save tower"]


Typing = Callable[[str], list[str | None]]


@pytest.fixture
def typing(tmp_path: Path) -> Typing:
    """Type at a prompt whose history is in one file; what was read, input by input."""

    def type_keys(keys: str, history: Path = tmp_path / "data" / "history") -> list[str | None]:
        with create_pipe_input() as keyboard:
            keyboard.send_text(keys)
            with create_app_session(input=keyboard, output=DummyOutput()):
                editor = LineEditor(history)
                read: list[str | None] = []
                while not read or read[-1] is not None:
                    read.append(editor.read(None))
        return read[:-1]

    return type_keys


def test_enter_sends_alt_enter_and_a_paste_make_lines(typing: Typing) -> None:
    assert typing("one\r\x04") == ["one"]
    assert typing("one\x1b\rtwo\r\x04") == ["one\ntwo"]
    assert typing("\x1b[200~one\ntwo\x1b[201~ three\r\x04") == ["one\ntwo three"]
    assert typing("half\x03whole\r\x04") == ["", "whole"]


def test_what_was_typed_is_there_in_the_next_session(typing: Typing, tmp_path: Path) -> None:
    typing("first\rsecond\x1b\rline\r\x04")
    assert typing("\x1b[A\x1b[A\x1b[A\r\x04") == ["first"]
    assert (tmp_path / "data" / "history").stat().st_mode & 0o777 == 0o600


def test_a_history_that_cannot_be_kept_is_said_once(
    typing: Typing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for history in (tmp_path / "file" / "history", tmp_path):
        assert typing("hello\rthere\r\x04", history) == ["hello", "there"]
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"note: what you type is not kept in {history}: ")


def test_another_model_has_only_what_is_left_of_the_budget(talk: Talk) -> None:
    talk.commands.options = replace(OPTIONS, settings=("max_calls=2",))
    talk(MOVE)
    with FakeServer(lambda prompt, body: "say('hello')") as server:
        talk(f"/model vllm/fake {server.url}")
        assert "hello" in talk("greet me")
        assert "SpendLimit" in talk.refused("greet me again")
