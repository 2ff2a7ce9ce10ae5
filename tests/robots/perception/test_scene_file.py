"""A file that says what is where: what it may hold, and what a wrong one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from cap.errors import ConfigError
from robots.perception import Detection, SceneFile
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
    assert SceneFile(written(SCENE)).observe() == (
        Detection("red block", (0.10, -0.45, 0.02)),
        Detection("blue bowl", (-0.12, -0.5, 0.018), 0.5, size_m=(0.122, 0.122, 0.036)),
    )


def test_it_is_read_again_at_each_look() -> None:
    eyes = SceneFile(written(SCENE))
    written(SCENE.replace("0.10", "0.20"))
    assert eyes.observe()[0].position == (0.20, -0.45, 0.02)
    written("")
    assert eyes.observe() == ()
    written(SCENE + "[[objects")
    with pytest.raises(ConfigError, match=r"line 11: not valid TOML"):
        eyes.observe()
    Path("scene.toml").unlink()
    with pytest.raises(ConfigError, match="cannot read the scene file"):
        eyes.observe()


@rows(
    ("old", "new", "line", "says"),
    table(__file__, "what_is_wrong_is_told_with_its_line").values(),
)
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, line: int, says: str) -> None:
    assert SCENE.count(old) == 1
    with pytest.raises(ConfigError) as caught:
        SceneFile(written(SCENE.replace(old, new)))
    text = str(caught.value)
    assert f"scene.toml, line {line}: " in text
    assert says in text
    assert "\n" not in text


@pytest.mark.parametrize("data", [b"\xff\xfe[", b"#" * 1_000_001])
def test_what_is_no_text_of_a_sensible_size_is_refused(data: bytes) -> None:
    Path("scene.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=r"UTF-8|larger"):
        SceneFile("scene.toml")
