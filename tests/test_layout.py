"""What lies around a checkout or beside a script is in nobody's way, or is named in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_folder_of_ones_own_without_code_is_in_nobodys_way(tmp_path: Path) -> None:
    for package in ("robots", "benchmarks"):
        (tmp_path / package).mkdir()
    assert python(tmp_path, "-m", "cap", "bench", "problems").returncode == 0


@pytest.mark.sweep(share=0.25)
@pytest.mark.parametrize("package", ["robots", "benchmarks"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "put the red block in the blue bowl", "--mode", "instant"),
        ("bench", "oracle", "tabletop", "-n", "1", "--mode", "instant"),
        ("batch", "--example"),
        ("bench", "problems"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_package_of_ones_own_is_named_in_one_line(
    tmp_path: Path, package: str, arguments: tuple[str, ...]
) -> None:
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    done = python(tmp_path, "-m", "cap", *arguments)
    assert "Traceback" not in done.stderr
    needed = {"run": ("robots",), "oracle": ("robots", "benchmarks")}
    assert done.returncode or package not in needed.get(arguments[0], ())
    if done.returncode:
        assert f"package '{package}' is hidden by {tmp_path / package}" in done.stderr
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
