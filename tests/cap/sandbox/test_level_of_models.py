"""Whose programs run where no kernel layer holds: this software's own, and no other's."""

from __future__ import annotations

from pathlib import Path

import pytest

from cap.sandbox.limits import FOREIGN_LEVEL, SHIPPED_RECORDINGS, weakest_level

RECORDINGS = sorted((Path(__file__).parents[3] / "notebooks" / "recordings").glob("*.jsonl"))


def test_shipped_recordings_run_anywhere_and_others_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAP_MIN_LEVEL", raising=False)
    assert len(RECORDINGS) == len(SHIPPED_RECORDINGS)
    for path in RECORDINGS:
        assert weakest_level(f"replay/{path}") is None
        assert weakest_level(f"replay/{path}", simulated=False) == FOREIGN_LEVEL
        other = tmp_path / path.name
        other.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        assert weakest_level(f"replay/{other}") == FOREIGN_LEVEL
    assert weakest_level("replay/nowhere.jsonl") == FOREIGN_LEVEL
    assert weakest_level("nearest") is None
