"""Whatever a person writes: the file is used, or refused in one line that says where."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cap.errors import ConfigError
from robots.perception import SceneFile
from robots.perception.calibration.file import load
from robots.perception.calibration.pairs import load_pairs

PAGE = Path(__file__).parents[3] / "docs" / "perception.md"
PIECES = [
    *("[", "]", "{", "}", '"', "'", "=", ",", ".", "-", "#", "\n", "\r", "\t", "\x00", "\\u"),
    *(
        "nan",
        "inf",
        "1e999",
        "1" + "0" * 400,
        "9" * 5000,
        "0x" + "f" * 9000,
        "true",
        "2026-11-20",
        "[[objects]]",
        "[pairs]",
        "ä",
    ),
]


def spoilt(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(text))
        end = start + rng.choice([0, 1, 1, 5, 20])
        text = text[:start] + rng.choice(PIECES) + text[end:]
    return text


@pytest.mark.parametrize(
    ("number", "read"),
    [(0, SceneFile), (1, load), (2, load_pairs)],
    ids=["scene", "camera", "pairs"],
)
def test_a_spoilt_file_is_used_or_refused(number: int, read: Callable[[Path], Any]) -> None:
    shown = PAGE.read_text(encoding="utf-8").split("```toml\n")[number + 1].split("```")[0]
    rng, path = random.Random(number), Path("file.toml")
    refusals = []
    for _ in range(120):
        path.write_text(spoilt(shown, rng), encoding="utf-8", newline="")
        try:
            read(path)
        except ConfigError as error:
            refusals.append(str(error))
    assert 20 < len(refusals) < 120
    assert all(text.startswith(("file.toml, line ", "file.toml: ")) for text in refusals)
    assert not any("\n" in text for text in refusals)
    assert max(map(len, refusals)) < 400
