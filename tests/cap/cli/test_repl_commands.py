"""The REPL's commands, completion and line editor, in this process."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from cap.cli.options import SessionOptions
from cap.cli.output import SessionConsole as Console
from cap.cli.repl.commands import COMMANDS, Commands, scene_map
from cap.cli.repl.line_editor import LineEditor, ReplCompleter
from cap.session.session import Session
from cap.session.skills.store import SkillStore
from cap.trace.terminal import Live
from tests.fakes.openai_server import FakeServer
from tests.rows import rows

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
