"""Every test runs in a folder and a home of its own, with no key and no setting from outside.

Of a sweep (`pytest.mark.sweep`) a seeded part of the cases runs, and all of them in `make soak`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from benchmarks.runner import Late
    from benchmarks.suite import Outcome, Settings, Trial

# The many processes of the tests read bytecode, where the environment would have each compile all.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As a shell starts what it runs in the background: the tests of Ctrl-C need it to arrive.
    signal.signal(signal.SIGINT, signal.default_int_handler)
for _ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_ignored) is signal.SIG_IGN:  # as under `nohup`: a command would obey that
        signal.signal(_ignored, signal.SIG_DFL)

SHARE = 0.02
"""Of each sweep that names no other `share`, in `make test`; at least one case."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave most cases of each sweep to `make soak`; which ones stay is the same each time."""
    if "soak" in config.option.markexpr.replace("not soak", ""):
        return
    dropped: set[pytest.Item] = set()
    sweeps = [item for item in items if item.get_closest_marker("sweep")]
    for name, cases in groupby(sweeps, key=lambda item: item.nodeid.partition("[")[0]):
        found = list(cases)
        marker = found[0].get_closest_marker("sweep")
        share = marker.kwargs.get("share", SHARE) if marker else SHARE
        kept = random.Random(name).sample(found, max(1, round(share * len(found))))
        dropped |= set(found).difference(kept)
    if dropped:
        config.hook.pytest_deselected(items=list(dropped))
        items[:] = [item for item in items if item not in dropped]


_untouched: list[Path] = []
"""A folder that a test left as it found it, for the next one."""


@pytest.fixture(autouse=True)
def isolated(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """Go to a folder with nothing but a home in it: `tmp_path`, where the test asks for that."""
    own = "tmp_path" in request.fixturenames
    if _untouched and not own:
        folder = _untouched.pop()
    else:
        folder = request.getfixturevalue("tmp_path") if own else tmp_path_factory.mktemp("isolated")
        (folder / "home").mkdir()
    monkeypatch.setenv("TERM", "xterm-256color")  # a gate may run where there is none
    for name in list(os.environ):
        if name.startswith(("CAP_", "OPENAI_", "OPENROUTER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder / "home"))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    yield
    if not own and list(folder.rglob("*")) == [folder / "home"]:
        _untouched.append(folder)


@pytest.fixture
def trials_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run benchmarks' trials in this process: the workers have tests of their own."""
    from benchmarks.suite import Outcome, Settings
    from benchmarks.worker import run_trial
    from cap.trace.trace import plain

    def here(
        trials: Sequence[Trial], settings: Settings, jobs: int, late: Late
    ) -> Generator[tuple[Trial, Outcome], None, None]:
        settings = Settings(**json.loads(json.dumps(asdict(settings))))
        for trial in trials:
            answer = json.dumps(plain(asdict(run_trial(trial, settings))))
            yield trial, Outcome(**json.loads(answer))

    monkeypatch.setattr("benchmarks.runner._here", here)
