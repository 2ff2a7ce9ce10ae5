"""The paper's worked examples give the right values, from recorded completions."""

from pathlib import Path
from typing import Any

import pytest

from cap.models.replay import Replay
from tests.paper.record import (
    NOTEBOOK_RECORDING,
    RECORDING,
    record_examples,
    record_notebook,
)
from tests.paper.worked import EXAMPLES, Worked


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example(example: Worked) -> None:
    assert_same(example.run(Replay(RECORDING)), example.expected)


def assert_same(value: Any, expected: Any) -> None:
    """Compare, numbers to the last few bits."""
    if isinstance(expected, dict):
        assert value.keys() == expected.keys()
        for name, entry in expected.items():
            assert_same(value[name], entry)
    elif isinstance(expected, list) and isinstance(expected[0], list):
        for row, entry in zip(value, expected, strict=True):
            assert_same(row, entry)
    else:
        assert value == (expected if isinstance(expected, str) else pytest.approx(expected))


@pytest.mark.parametrize(
    ("write", "kept"),
    [(record_examples, RECORDING), (record_notebook, NOTEBOOK_RECORDING)],
    ids=["examples", "notebook"],
)
def test_a_recording_is_what_is_transcribed(write: Any, kept: Path, tmp_path: Path) -> None:
    write(tmp_path / "again.jsonl")
    again = (tmp_path / "again.jsonl").read_text(encoding="utf-8")
    assert again == kept.read_text(encoding="utf-8"), "run: python -m tests.paper.record"
