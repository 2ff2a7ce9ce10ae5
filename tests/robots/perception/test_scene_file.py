"""A file that says what is where: what it may hold, and what a wrong one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from cap.errors import ConfigError
from robots.perception import Detection, listed
from tests.rows import rows, table

SCENE = """\
# metres
[[objects]]
name = "red block"
position_m = [0.10, -0.45, 0.02]

[[objects]]
name = "blue bowl"
position_m = [-0.12, -0.5, 0.018]
yaw_rad = 0.5
size_m = [0.122, 0.122, 0.036]
"""


def written(text: str) -> Path:
    path = Path("scene.toml")
    path.write_text(text, encoding="utf-8")
    return path


def test_objects_are_seen_as_listed() -> None:
    assert listed(written(SCENE)) == (
        Detection("red block", (0.10, -0.45, 0.02)),
        Detection("blue bowl", (-0.12, -0.5, 0.018), 0.5, size_m=(0.122, 0.122, 0.036)),
    )


def test_a_file_may_list_nothing_but_must_be_there() -> None:
    assert listed(written("")) == ()
    with pytest.raises(ConfigError, match=r"line 11: not valid TOML"):
        listed(written(SCENE + "[[objects"))
    Path("scene.toml").unlink()
    with pytest.raises(ConfigError, match="cannot read the scene file"):
        listed("scene.toml")


@rows(
    ("old", "new", "line", "says"),
    table(__file__, "what_is_wrong_is_told_with_its_line").values(),
)
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, line: int, says: str) -> None:
    assert SCENE.count(old) == 1
    with pytest.raises(ConfigError) as caught:
        listed(written(SCENE.replace(old, new)))
    text = str(caught.value)
    assert f"scene.toml, line {line}: " in text
    assert says in text
    assert "\n" not in text


@pytest.mark.parametrize("data", [b"\xff\xfe[", b"#" * 1_000_001])
def test_what_is_no_text_of_a_sensible_size_is_refused(data: bytes) -> None:
    Path("scene.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=r"UTF-8|larger"):
        listed("scene.toml")
