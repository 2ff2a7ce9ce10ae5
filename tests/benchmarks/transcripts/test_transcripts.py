"""Programs in the paper's style, played word for word with the shipped prompts."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from benchmarks.suite import OWN_PROMPTS, Settings, Trial, suite
from cap.cli.main import run
from cap.errors import UsageError

SESSIONS = Path(__file__).with_name("sessions")


@pytest.mark.usefixtures("trials_here")
@pytest.mark.parametrize("session", sorted(path.name for path in SESSIONS.iterdir()))
def test_every_command_of_a_session_runs(session: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    command = ["bench", "run", "transcripts", "--from", str(SESSIONS / session)]
    assert run([*command, "--mode", "instant", "--out", out]) == 0
    lines = Path(out, "trials.jsonl").read_text().splitlines()
    outcomes = [json.loads(line) for line in lines]
    assert len(outcomes) == len(list((SESSIONS / session).glob("*.txt")))
    for outcome in outcomes:
        assert outcome["success"], (outcome["task"], outcome["failure"])


@pytest.mark.soak
def test_thirty_programs_do_in_physics_what_they_say(tmp_path: Path) -> None:
    thirty, out = Path(__file__).with_name("thirty"), tmp_path / "out"
    command = ["bench", "run", "transcripts", "--from", str(thirty), "-n", "1"]
    assert run([*command, "--mode", "physics", "--out", str(out)]) == 0
    trials = [json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()]
    assert [trial["failure"] for trial in trials if not trial["success"]] == []
    effects = {f"{trial['split']}/{trial['task']}": trial["extra"]["effect"] for trial in trials}
    assert effects == tomllib.loads((thirty / "effects.toml").read_text(encoding="utf-8"))


def test_an_answer_that_is_used_again_is_used(tmp_path: Path) -> None:
    question = "# the nearest block.\nret_val = 'red block'\n"
    (tmp_path / "a.txt").write_text(
        "# say it twice.\nfor _ in range(2):\n    say(parse_obj_name('the nearest block'))\n"
        + question * 2
    )
    found = suite("transcripts", {"from": str(tmp_path)})
    (trial,) = found.trials(1, 0)
    assert found.run(trial, Settings("transcripts", "transcript", "instant", prompts="")).success


def test_what_a_transcript_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        "# put it there.\nput_first_on_second(parse_obj_name('it'), [0, -0.5])\n"
    )
    found = suite("transcripts", {"from": str(tmp_path)})
    settings = Settings("transcripts", "transcript", "instant", prompts="")
    (trial,) = found.trials(1, 0)
    outcome = found.run(trial, settings)
    assert not outcome.success
    assert "the transcript has no answer to 'it'" in outcome.failure


def test_a_folder_without_transcripts_is_refused(tmp_path: Path) -> None:
    assert "transcripts" not in OWN_PROMPTS
    with pytest.raises(UsageError, match=r"no transcripts \(\*\.txt\)"):
        suite("transcripts", {"from": str(tmp_path)})
    with pytest.raises(UsageError, match="needs --from"):
        suite("transcripts").check(Settings("transcripts", "transcript"))
    assert Trial("a", "b", 0).sample == 0
