"""Runs that are killed, resumed and spread over processes come out the same."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import runner
from benchmarks.results import begin, read_lines
from benchmarks.suite import Outcome, Settings, Trial, suite
from cap.cli.main import run as cap
from cap.errors import UsageError
from tests.fakes.workers import children
from tests.rows import table

SETTINGS = Settings("tabletop", "oracle", mode="instant")
TASKS, SPLITS = ["pick-and-place", "im-stack-blocks"], ["SA-SI", "IM-noise"]


def trials(n: int = 3) -> tuple[Trial, ...]:
    return suite("tabletop").trials(n, 0, TASKS, SPLITS)


def finished(folder: Path, jobs: int = 1, n: int = 3, **options: Any) -> list[Any]:
    """Run, and return what came of it, without the times, in the order of the trials."""
    results = begin(folder, suite("tabletop"), SETTINGS, resume=options.pop("resume", False))
    try:
        runner.run(results, trials(n), SETTINGS, jobs=jobs, **options)
    finally:
        results.close()
    return lines(folder)


def lines(folder: Path) -> list[Any]:
    found = [(line.trial, replace(line.outcome, seconds=0.0)) for line in read_lines(folder)]
    return sorted(found, key=lambda entry: (entry[0].task, entry[0].seed))


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    found = finished(tmp_path_factory.mktemp("whole"))
    assert {entry[0] for entry in found} == {*trials()}
    return found


@pytest.mark.usefixtures("trials_here")
def test_a_second_run_into_a_folder_is_refused(expected: list[Any], tmp_path: Path) -> None:
    finished(tmp_path, n=1)
    with pytest.raises(UsageError, match="--resume"):
        finished(tmp_path)
    assert finished(tmp_path, resume=True) == expected


@pytest.mark.usefixtures("trials_here")
def test_a_half_written_line_is_run_again(expected: list[Any], tmp_path: Path) -> None:
    finished(tmp_path)
    path = tmp_path / "trials.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 40])
    assert finished(tmp_path, resume=True) == expected


@pytest.mark.usefixtures("trials_here")
@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"model": "no-op"}, "--model"),
        ({"mode": "physics"}, "--mode"),
        ({"options": {"limits": {"calls": 3}}}, "--limits calls"),
        ({"options": {"problem_file": "other"}}, "--problem-file"),
        ({"options": {"disturbances": {"drop": 0.1}}}, "--disturbances drop"),
    ],
)
def test_another_run_s_folder_is_left_alone(
    other: dict[str, Any], said: str, tmp_path: Path
) -> None:
    finished(tmp_path, n=1)

    def files() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}

    before = files()
    with pytest.raises(UsageError, match=f"a run with another {said}: "):
        begin(tmp_path, suite("tabletop"), replace(SETTINGS, **other), resume=True)
    assert files() == before


@pytest.mark.usefixtures("trials_here")
def test_another_version_s_folder_is_left_alone(tmp_path: Path) -> None:
    finished(tmp_path, n=1)
    header = json.loads((tmp_path / "header.json").read_text())
    (tmp_path / "header.json").write_text(json.dumps({**header, "suite_version": "0"}))
    with pytest.raises(UsageError, match="changed since"):
        finished(tmp_path, resume=True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes in /proc")
def test_a_killed_worker_costs_nothing_but_time(expected: list[Any], tmp_path: Path) -> None:
    struck = threading.Event()

    def strike(trial: Trial, outcome: Outcome) -> None:
        assert trial in [line.trial for line in read_lines(tmp_path)]  # should the run be killed
        if not struck.is_set():
            struck.set()
            for pid in children(os.getpid()):
                with contextlib.suppress(ProcessLookupError, OSError):
                    if "benchmarks.worker" in Path(f"/proc/{pid}/cmdline").read_text():
                        os.kill(pid, signal.SIGKILL)

    assert finished(tmp_path, jobs=2, on_done=strike) == expected
    assert struck.is_set()


def test_a_worker_that_always_dies_is_infrastructure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    outcomes = [outcome for _, outcome in finished(tmp_path, n=1)]
    assert [(outcome.success, outcome.cause) for outcome in outcomes] == [
        (False, "infrastructure")
    ] * 2


@pytest.mark.soak
def test_ray_does_what_one_worker_does(expected: list[Any], tmp_path: Path) -> None:
    pytest.importorskip("ray")
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from pathlib import Path\n"
        "from tests.benchmarks.test_runner import finished\n"
        f"finished(Path({str(tmp_path)!r}), jobs=2, engine='ray')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=100)
    assert lines(tmp_path) == expected


@pytest.mark.parametrize(
    ("arguments", "told"),
    table(__file__, "runner: bad_input_is_one_line").values(),
)
def test_bad_input_is_one_line(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with contextlib.chdir(tmp_path):
        assert cap(["bench", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_worker_whose_run_was_killed_ends_without_a_word() -> None:
    """Nobody reads its answer any more."""
    settings, trial = Settings("drawing", "oracle", mode="instant"), Trial("draw-line", "", 0)
    told = "".join(json.dumps(asdict(one)) + "\n" for one in (settings, trial))
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as worker:
        assert worker.stdout is not None
        worker.stdout.close()
        worker.stdout = None
        _, said = worker.communicate(told.encode(), timeout=120)
    assert (worker.returncode, said) == (0, b"")


def test_a_run_goes_on_in_its_physics_engine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAP_PHYSICS", "pybullet")
    physics = replace(SETTINGS, mode="physics")
    for resume in (False, True):
        begin(tmp_path, suite("tabletop"), physics, resume=resume).close()
    monkeypatch.setenv("CAP_PHYSICS", "mujoco")
    with pytest.raises(UsageError, match="is a run in pybullet; go on with CAP_PHYSICS=pybullet"):
        begin(tmp_path, suite("tabletop"), physics, resume=True)
