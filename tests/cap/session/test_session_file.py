"""Sessions written down, resumed and replayed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from cap.cli.main import run
from cap.errors import CapError, SavedError, UsageError
from cap.models.replay import Replay
from cap.robot import observation
from cap.robot.observation import NotPlain, pack, unpack
from cap.session import session_file
from cap.session.replay import ready, recording, replay, steps
from cap.session.session import Session
from cap.trace.trace import Trace
from tests.cap.conftest import Cap, Open
from tests.fakes.scripted import PROMPTS, Scripted, model_of
from tests.fakes.scripted import snapshot as world
from tests.rows import table

ANSWERS = {
    "bowl": "x = [1, np.array([1.5])]\ny = x\nput_first_on_second('red block', 'blue bowl')",
    "keep": "def half(v):\n    return v / 2\n\npairs = zip([1], [2])",
    "more": "x.append(float(np.random.uniform()))\nput_first_on_second('blue block', [0.1, -0.4])",
    "tell": "say(str((len(y), half(4))))",
    "pairs": "list(pairs)",
    "fail": "put_first_on_second('blue block', 'middle')\n1 / 0",
    "double": "say(str(get_double(4)))",
    "define function: get_double(4)": "def get_double(x):\n    return 2 * x\n",
}


@pytest.fixture
def begin(open_session: Open) -> Open:
    """Open a session that is written to a folder, if one is named."""
    return lambda folder=None, **options: open_session(
        ANSWERS, seed=4, trace=Trace(folder), **options
    )


@pytest.fixture
def resume() -> Iterator[Open]:
    made: list[Session] = []

    def make(path: Path, **options: Any) -> Session:
        made.append(Session.resume(path, Scripted(ANSWERS), prompts=PROMPTS, **options))
        return made[-1]

    yield make
    for session in made:
        session.close()


def do(session: Session, *instructions: str) -> Session:
    for words in instructions:
        session.run(words)
    return session


@pytest.mark.parametrize("mode", ["instant", "physics"])
def test_a_resumed_session_goes_on_with_the_bits_of_one_that_never_stopped(
    tmp_path: Path, begin: Open, resume: Open, mode: str
) -> None:
    first = do(begin(mode=mode), "bowl", "keep")
    first.save(tmp_path / "kept.json")
    second = resume(tmp_path / "kept.json")
    assert world(second) == world(first)
    for session in (first, second):
        do(session, "more", "tell")
    assert world(second) == world(first)
    assert world(second)[1] == ("(2, 2.0)",)
    assert second.state.history == first.state.history
    assert second.state.variables["x"][2] == first.state.variables["x"][2]
    assert model_of(second).prompts == model_of(first).prompts[2:]
    failure = second.run("pairs").failure
    assert failure is not None
    assert "'pairs' was set in turn 2 and could not be kept" in failure.message


def test_a_run_folder_holds_the_last_finished_turn_at_any_moment(
    tmp_path: Path, begin: Open, resume: Open
) -> None:
    first = do(begin(tmp_path / "run"), "bowl")
    after_one = world(first)
    original, states = first.engine.run, []

    def watched(*args: Any, **options: Any) -> Any:
        states.append(session_file.read(tmp_path / "run"))
        return original(*args, **options)

    first.engine.run = watched  # type: ignore[method-assign]
    do(first, "more")
    assert states[0].turns == 1
    assert session_file.read(tmp_path / "run").turns == 2
    assert not list((tmp_path / "run").glob("*.part"))
    session_file.write(states[0], tmp_path / "run" / "session.json")
    assert world(resume(tmp_path / "run")) == after_one


def test_an_undone_turn_is_not_resumed(tmp_path: Path, begin: Open, resume: Open) -> None:
    first = do(begin(tmp_path / "run"), "bowl", "more")
    first.undo()
    second = resume(tmp_path / "run")
    assert world(second) == world(first)
    assert len(second.state.history) == 1
    with pytest.raises(UsageError, match="nothing to undo"):
        second.undo()


def test_a_session_that_has_begun_cannot_become_another(tmp_path: Path, begin: Open) -> None:
    session = do(begin(tmp_path / "run"), "bowl")
    with pytest.raises(UsageError, match="has begun"):
        session.restore(session_file.read(tmp_path / "run"))


DAMAGES = table(__file__, "damaged sessions")
"""Where a saved session is changed, and what is put there, if anything."""


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("change", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_or_foreign_file_is_one_line(
    tmp_path: Path, begin: Open, change: list[Any]
) -> None:
    path = do(begin(), "bowl", "keep").save(tmp_path / "kept.json")
    whole = part = json.loads(path.read_text())
    (*places, last), *put = change
    for place in places:
        part = part[place]
    del part[last]
    if put:
        (part[last],) = put
    path.write_text(json.dumps(whole))
    before = world(later := begin())
    with pytest.raises(SavedError) as caught:
        later.restore(session_file.read(path))
    assert "\n" not in str(caught.value)
    assert world(later) == before
    assert later.state.variables == {}


OLD = json.dumps({"format": session_file.FORMAT, "version": session_file.VERSION - 1})


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", "[" * 100_000, OLD])
def test_a_file_that_is_no_session(tmp_path: Path, text: str) -> None:
    (tmp_path / "session.json").write_text(text)
    remedy = "begin a new session$" if text == OLD else ""
    with pytest.raises(SavedError, match=rf"session\.json.*{remedy}"):
        session_file.read(tmp_path)
    with pytest.raises(SavedError, match="no saved session at"):
        session_file.read(tmp_path / "nothing")


def open_replay(folder: Path, **options: Any) -> Session:
    """Open a session that begins as a run did and is answered from it."""
    with recording(folder) as path:
        model = Replay(path)
    session = Session.resume(folder / session_file.START, model, **options)
    return ready(session, session_file.read(folder, session_file.START), folder)


def test_a_replay_gives_the_positions_and_values_of_the_run(tmp_path: Path, begin: Open) -> None:
    first = do(begin(tmp_path / "run"), "bowl", "keep", "more", "double", "unknown", "fail")
    first.undo()
    first.execute("put_first_on_second('blue block', 'blue bowl')\nz = 1\n", "mine")
    first.close()
    todo = steps(tmp_path / "run")
    assert [step.kind for step in todo] == ["run"] * 6 + ["undo", "execute"]
    with open_replay(tmp_path / "run", prompts=PROMPTS) as session:
        done = list(replay(session, todo))
        assert [entry.same for entry in done] == [True] * 8
        assert world(session) == world(first)
        assert session.state.variables["x"][2] == first.state.variables["x"][2]
        assert session.model.name == f"replay/{tmp_path / 'run'}"


def test_nothing_is_replayed_on_hardware(tmp_path: Path, begin: Open) -> None:
    do(begin(tmp_path / "run"), "bowl")
    real = begin()
    real.robot.simulated = False
    with pytest.raises(UsageError, match="replayed in simulation"):
        ready(real, session_file.read(tmp_path / "run", session_file.START), tmp_path / "run")


@dataclass(frozen=True)
class Inner:
    xs: tuple[float, ...]
    pair: tuple[str, int]


@dataclass(frozen=True)
class Outer:
    inner: Inner
    maybe: Inner | None
    kind: Literal["a", "b"]
    table: Mapping[str, list[Inner]]
    array: np.ndarray


def outer() -> Outer:
    inner = Inner((0.1, float("inf"), -0.0), ("x", 3))
    return Outer(inner, None, "b", {"k": [inner, inner]}, np.arange(3.0))


def test_a_snapshot_survives_the_file_bit_for_bit() -> None:
    from cap.sandbox.wire import decode, encode

    back = unpack(decode(encode(pack(outer(), Outer))), Outer)
    assert type(back) is Outer
    assert repr(back) == repr(outer())


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (outer(), Inner),
        ((outer(),), tuple[Any, ...]),
        ([1], tuple[int, ...]),
        (Outer(Inner((1.0,), ("x", 3)), None, "c", {}, np.zeros(1)), Outer),  # type: ignore[arg-type]
    ],
)
def test_what_the_annotation_does_not_say_is_not_written(value: Any, kind: Any) -> None:
    with pytest.raises(NotPlain):
        pack(value, kind)


@pytest.mark.inside
def test_a_world_that_cannot_be_written_is_said_to_be_lost(
    tmp_path: Path, begin: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observation, "kind_of", lambda robot: Any)
    session = do(begin(), "bowl")
    kept = session_file.read(session.save(tmp_path / "kept.json"))
    assert kept.world is None
    assert "the world of 'ravens' cannot be written down" in kept.world_lost
    assert not begin().restore(kept)


# --- files that come from somebody else: nothing in them is executed, and none of them hangs

PUT = "put the red block in the blue bowl"
ROBOT = """
from pathlib import Path
Path({mark!r}).touch()
from robots.ravens import create
PROMPTS = "ravens"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run with one turn."""
    made = tmp_path / "made"
    assert run(["run", PUT, "--mode", "instant", "--out", str(made)]) == 0
    return made


def point_at(folder: Path, robot: dict[str, Any]) -> None:
    for name in ("session.json", "start.json"):
        values = json.loads((folder / name).read_text())
        values["robot"] |= robot
        (folder / name).write_text(json.dumps(values))


@pytest.mark.parametrize("field", ["name", "file"])
def test_a_run_folder_from_somebody_else_executes_no_file(
    folder: Path, tmp_path: Path, field: str, cap: Cap
) -> None:
    mark = tmp_path / "executed"
    own = folder / "robot.py"
    own.write_text(ROBOT.format(mark=str(mark)))
    point_at(folder, {field: str(own)})
    for command in (
        ["run", PUT, "--resume", str(folder)],
        ["run", "--replay", str(folder)],
        ["trace", "export", str(folder), "--to", "gif"],
    ):
        assert "add -r " in cap(command, 2).err
    with pytest.raises(CapError, match="executes no file"):
        Session.resume(folder)
    assert not mark.exists()


def test_a_robot_of_your_own_goes_on_where_you_name_its_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = folder / "robot.py"
    own.write_text(ROBOT.format(mark=str(tmp_path / "executed")))
    point_at(folder, {"file": str(own)})
    assert run(["run", PUT, "--resume", str(folder), "-r", str(own)]) in (0, 1)
    assert (tmp_path / "executed").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["session.json", "start.json", "run.json", "events.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_file_without_an_end_is_refused(folder: Path, name: str, kind: str, cap: Cap) -> None:
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    commands = {
        "session.json": ["run", PUT, "--resume", str(folder)],
        "start.json": ["run", "--replay", str(folder)],
        "run.json": ["trace", "show", str(folder)],
        "events.jsonl": ["trace", "show", str(folder)],
    }
    error = cap(commands[name], 2).err.strip()
    assert "not a plain file" in error
    assert "\n" not in error


def test_a_huge_seed_in_a_saved_session_is_refused(folder: Path) -> None:
    values = json.loads((folder / "session.json").read_text())
    sys.set_int_max_str_digits(0)
    (folder / "session.json").write_text(
        json.dumps({**values, "seed": 7}).replace('"seed": 7', f'"seed": {10**400}')
    )
    sys.set_int_max_str_digits(4300)
    with pytest.raises(CapError, match="damaged"):
        Session.resume(folder)
