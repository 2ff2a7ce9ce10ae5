"""The wheel is small, and in an environment of its own does what the README says."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import README, ROOT, snippets
from tests.test_docs_commands import commands

MOST_BYTES = 3 << 20


def done(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_wheel_in_an_empty_environment_does_what_the_readme_says(tmp_path: Path) -> None:
    build = done(
        sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory",
        str(tmp_path / "dist"), cwd=ROOT,
    )  # fmt: skip
    assert build.returncode == 0, build.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.stat().st_size < MOST_BYTES
    empty = tmp_path / "empty"
    empty.mkdir()
    assert done(sys.executable, "-m", "venv", ".venv", cwd=empty).returncode == 0
    python = str(empty / ".venv" / "bin" / "python")
    installed = done(python, "-m", "pip", "install", "--quiet", f"{wheel}[sim]", cwd=empty)
    if installed.returncode:
        pytest.skip(f"pip cannot install here: {installed.stderr.splitlines()[-1]}")
    lines = [line for line in commands(README) if " -m " not in line and line != "cap repl"]
    assert len(lines) >= 5
    for line in lines:
        words = [str(empty / ".venv" / "bin" / "cap"), *shlex.split(line)[1:]]
        ran = done(*words, cwd=empty)
        assert ran.returncode == 0, f"{line}: {ran.stdout[-500:]}{ran.stderr[-500:]}"
    for snippet in snippets(README):
        ran = done(python, "-c", snippet, cwd=empty)
        assert ran.returncode == 0, ran.stderr
    # What is left out is named with a command for this Python, and no name that no index has.
    told = done(python, "-m", "cap", "bench", "run", "control", "-m", "oracle", cwd=empty)
    assert told.returncode == 2
    assert f"{python} -m pip install 'gymnasium>=1.0'" in told.stderr
