"""Trials that say nothing of a model: a crash in a person's own code, an answer never recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.models import Meter
from benchmarks.results import read_lines
from cap.cli.main import run as cap
from cap.models.replay import request_key
from cap.robot.skeleton import write

here = pytest.mark.usefixtures("trials_here")
OWN = ["bench", "run", "my_arm/tasks.py", "-m", "oracle", "-n", "2", "--jobs", "1", "--out", "out"]


def with_crash(where: str) -> int:
    """Write a robot with tasks of which a part crashes; return that part's line."""
    write("my_arm", Path("my_arm"))
    path = Path("my_arm/tasks.py")
    lines = path.read_text().splitlines()
    old = "error = np.linalg.norm" if where == "judge" else "x, y = robot.get_obj_pos(name)"
    number = next(place for place, line in enumerate(lines, 1) if old in line)
    indent = lines[number - 1][: -len(lines[number - 1].lstrip())]
    lines.insert(number - 1, f"{indent}raise KeyError('oops')")
    path.write_text("\n".join(lines) + "\n")
    return number


@here
@pytest.mark.parametrize(("where", "function"), [("judge", "missed"), ("task", "_left")])
def test_a_crash_of_a_persons_own_code_names_file_and_line(
    where: str, function: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = with_crash(where)
    assert cap(OWN) == 1
    told = f"KeyError: 'oops' ({Path('my_arm/tasks.py').resolve()}, line {line}, in {function})"
    assert told in capsys.readouterr().err
    ended = [one.outcome for one in read_lines(Path("out"))]
    assert [(one.cause, one.failure) for one in ended] == [("infrastructure", told)] * 2
    assert told in Path("out/report.html").read_text().replace("&#39;", "'")


REPLAY = ["bench", "run", "tabletop", "-m", "replay/rec.jsonl", "--mode", "instant", "--jobs", "1"]
REPLAY += ["--tasks", "stack-blocks", "--split", "SA-SI", "--out", "out"]


@here
def test_what_was_never_recorded_is_a_cause_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rec.jsonl").write_text("")
    assert cap([*REPLAY, "-n", "4"]) == 1
    assert [line.outcome.cause for line in read_lines(Path("out"))] == ["recording"] * 4
    screen = capsys.readouterr()
    assert "4 of 4 trials asked for what the recording does not hold" in screen.err
    assert "model 4" not in screen.out


@pytest.mark.inside
@here
def test_a_recording_that_is_completed_is_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("rec.jsonl").write_text("")
    asked = []
    through = Meter._through

    def heard(self: Meter, request: object, ask: object) -> object:
        asked.append(request)
        return through(self, request, ask)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Meter, "_through", heard)
        assert cap([*REPLAY, "-n", "1"]) == 1
    line = {"key": request_key(asked[0]), "prompt_end": "", "text": "say('no')", "model": "m"}
    line["usage"] = {"prompt_tokens": 1, "completion_tokens": 1}
    Path("rec.jsonl").write_text(json.dumps(line) + "\n")
    from benchmarks.models import _made

    _made.cache_clear()
    assert cap([*REPLAY, "-n", "1", "--resume"]) == 0
    assert [line.outcome.cause for line in read_lines(Path("out"))] == ["task"]


@here
def test_a_batch_does_not_take_a_missing_recording_for_the_failure_it_expects() -> None:
    session = {"robot": "ravens", "mode": "instant", "model": "replay/rec.jsonl"}
    step = {"text": "levitate", "expect": {"fails": True}}
    Path("b.jsonl").write_text(json.dumps({**session, "instructions": [step]}) + "\n")
    Path("rec.jsonl").write_text("")
    assert cap(["batch", "b.jsonl", "--out", "out", "--jobs", "1"]) == 1
    assert [line.outcome.cause for line in read_lines(Path("out"))] == ["recording"]
