"""What the package says of itself: citation, classifiers, platforms."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text()
    said = dict(re.findall(r"^([a-z-]+): *(\S.*)$", text, re.MULTILINE))
    assert said["cff-version"] == "1.2.0"
    assert {"message", "title", "type"} <= set(said)
    assert "\nauthors:\n  - name: " in text
    assert said["version"] == PROJECT["version"]
    assert said["license"] == PROJECT["license"]
    assert said["abstract"].strip('"') == PROJECT["description"]


def test_classifiers_and_the_platform_table_agree() -> None:
    """A system that is claimed is one where the sandbox starts."""
    rows = re.findall(
        r"^\| ([^|]+) \| (`[a-z+-]+`|none) \|", (ROOT / "SECURITY.md").read_text(), re.MULTILINE
    )
    levels = dict(rows)
    starts = " ".join(name for name, level in levels.items() if level != "none")
    claimed = [entry for entry in PROJECT["classifiers"] if entry.startswith("Operating System")]
    assert claimed == ["Operating System :: POSIX", "Operating System :: POSIX :: Linux"]
    assert "Linux" in starts
    assert "other Unix" in starts
    assert levels["Windows"] == "none"
