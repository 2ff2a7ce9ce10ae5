"""What lies around a checkout or beside a script is in nobody's way, or is named in one line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SESSION = """
from cap import Session
with Session.open("ravens", mode="instant") as session:
    print(session.run("put the red block in the blue bowl").ok)
"""


def python(folder: Path, *arguments: str, path: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.soak
def test_bytecode_of_an_earlier_layout_changes_nothing(tmp_path: Path) -> None:
    """Files that were there before folders of their names leave their bytecode behind."""
    for package in ("cap", "robots", "benchmarks"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts")
    for name in ("session", "checker", "prompt", "sandbox", "trace", "lmp", "faults"):
        stale = tmp_path / "cap" / "__pycache__" / f"{name}.{sys.implementation.cache_tag}.pyc"
        stale.parent.mkdir(exist_ok=True)
        stale.write_bytes(b"\0" * 64)
        (tmp_path / "cap" / f"{name}.pyc").write_bytes(b"\0" * 64)
    done = python(tmp_path, "-m", "cap", "check", "--rules", path=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = python(tmp_path, "-c", SESSION, path=tmp_path)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_folder_of_ones_own_without_code_is_in_nobodys_way(tmp_path: Path) -> None:
    for package in ("robots", "benchmarks"):
        (tmp_path / package).mkdir()
    (tmp_path / "script.py").write_text(SESSION)
    assert python(tmp_path, "script.py").stdout == "True\n"
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
