"""What the page on perception shows is what the code reads."""

from __future__ import annotations

import re
from pathlib import Path

from robots.perception import listed
from robots.perception.hand_eye import load, load_pairs

PAGE = Path(__file__).parents[3] / "docs" / "perception.md"


def blocks(language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert found
    return [str(block) for block in found]


def test_the_files_shown_are_read() -> None:
    scene, camera, pairs = (Path(name) for name in ("scene.toml", "camera.toml", "pairs.toml"))
    for path, text in zip((scene, camera, pairs), blocks("toml"), strict=True):
        path.write_text(text, encoding="utf-8")
    assert [seen.name for seen in listed(scene)] == ["red block"]
    assert load(camera).serial == "832112070255"
    assert len(load_pairs(pairs).pairs) == 1
