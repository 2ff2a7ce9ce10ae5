"""Every test runs in a folder and a home of its own, with no key and no setting from outside.

Of a sweep (`pytest.mark.sweep`) a seeded part of the cases runs, and all of them in `make soak`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import random
import signal
import sys
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cap.errors import MissingExtra

if TYPE_CHECKING:
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

_HAS_RTDE = importlib.util.find_spec("rtde_control") is not None
_NO_RTDE = "ur_rtde has no wheel for this Python"
SHARE = 0.02
"""Of each sweep that names no other `share`, in `make test`; at least one case."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Skip what needs the driver ur_rtde where this Python has no wheel of it."""
    given = getattr(item, "callspec", None)
    named = [value for value in given.params.values() if isinstance(value, str)] if given else []
    if "ur_rtde" in named and not _HAS_RTDE:
        pytest.skip(_NO_RTDE)
    with _without_rtde():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Do the same for what makes the driver itself."""
    with _without_rtde():
        return (yield)


@contextlib.contextmanager
def _without_rtde() -> Iterator[None]:
    try:
        yield
    except MissingExtra as missing:
        if "ur_rtde" not in str(missing) or _HAS_RTDE:
            raise
        pytest.skip(_NO_RTDE)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without searching for garbage: all of it stays.

    Of several workers each begins its imports elsewhere: what one has compiled, the others read.
    """
    gc.disable()
    worker = getattr(session.config, "workerinput", None)
    if worker and session.config.args == session.config.getini("testpaths"):
        root = Path(__file__).parent
        modules = sorted(root.rglob("test_*.py"))
        first = int(worker["workerid"][2:]) * len(modules) // worker["workercount"]
        for path in modules[first:] + modules[:first]:
            # What cannot be imported is told at its own collection.
            with contextlib.suppress(Exception, pytest.skip.Exception):
                importlib.import_module(
                    ".".join(path.relative_to(root.parent).with_suffix("").parts)
                )
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, None, None]:
    """Leave most cases of each sweep to `make soak`; which ones stay is the same each time.

    What stays out never becomes an item, which takes time. A case named on the command line does.
    """
    yield
    definition, calls = metafunc.definition, metafunc._calls
    chosen = metafunc.config.option.markexpr
    named = any(f"::{definition.name}[" in argument for argument in metafunc.config.args)
    if named or "soak" in chosen.replace("not soak", ""):
        return
    if chosen == "not soak" and definition.get_closest_marker("soak"):
        del calls[1:]  # its first case stands for all that are deselected
    own = definition.get_closest_marker("sweep")
    marks = [own or next((m for m in call.marks if m.name == "sweep"), None) for call in calls]
    sweep = [number for number, mark in enumerate(marks) if mark]
    share = max((mark.kwargs.get("share", SHARE) for mark in marks if mark), default=SHARE)
    size = min(len(sweep), max(1, round(share * len(sweep))))
    kept = random.Random(definition.nodeid).sample(sweep, size)
    calls[:] = [call for number, call in enumerate(calls) if not marks[number] or number in kept]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin the soak with the modules beside this one, whose tests are the longest."""
    if "soak" in config.option.markexpr.replace("not soak", ""):
        items.sort(key=lambda item: item.path.parent != Path(__file__).parent)


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
    from cap.result import plain

    def here(
        trials: Sequence[Trial], settings: Settings, jobs: int, late: list[tuple[Trial, Outcome]]
    ) -> Generator[tuple[Trial, Outcome], None, None]:
        settings = Settings(**json.loads(json.dumps(asdict(settings))))
        for trial in trials:
            answer = json.dumps(plain(asdict(run_trial(trial, settings))))
            yield trial, Outcome(**json.loads(answer))

    monkeypatch.setattr("benchmarks.runner._here", here)
