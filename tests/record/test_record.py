"""A seeded thirtieth of the record, and how it is compared."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.record import record
from tests.record.parts import PARTS
from tests.record.record import Change, Found, Seen, Skipped

SHARE = 30
"""One of so many cases of each part runs in `make test`; at least one."""


@pytest.mark.parametrize("name", PARTS)
def test_behaviour_and_wording_are_as_recorded(name: str) -> None:
    part, found = PARTS[name], Found()
    keys = sorted(part.cases())
    drawn = random.Random(name).sample(keys, max(1, len(keys) // SHARE))
    for key in drawn:
        seen = record.try_case(name, key)
        if isinstance(seen, Skipped):
            found.skipped[key] = seen.reason
        else:
            found.seen[key] = seen
    changed, _ = record.changes([part], {name: found}, only=drawn)
    assert [c for c in changed if c.kind in record.COMPARED] == []


OLD = {"a": {"at": [0.1, 0.2], "text": "one\ntwo", "n": 1}, "b": True}
PART = next(iter(PARTS.values()))


def compared(new: record.Values, tolerance: float = 0.0) -> list[tuple[str, tuple[str, ...]]]:
    found = record.compare(PART, "behaviour", OLD, new, tolerance, sorted({*OLD, *new}))
    return [(change.key, change.lines) for change in found]


def test_a_change_is_shown_line_by_line() -> None:
    assert compared(OLD) == []
    new = {"a": {"at": [0.1, 0.2001], "text": "one\n2", "n": True}, "c": 1}
    assert compared(new) == [
        ("a", ("at[1]: 0.2 -> 0.2001", "text @@ -2 +2 @@", "text -two", "text +2", "n: 1 -> true")),
        ("b", ("- gone",)),
        ("c", ("+ new",)),
    ]
    assert compared({**OLD, "a": {**OLD["a"], "at": [0.1, 0.2001]}}, 1e-4) == []  # type: ignore[dict-item]
    assert compared({**OLD, "a": {**OLD["a"], "at": [0.1, 0.2002]}}, 1e-4) != []  # type: ignore[dict-item]


def test_what_is_written_is_read_back(tmp_path: record.Path) -> None:
    text = "\n".join(f"line {number}" for number in range(20))
    values = {"b": text, "a": {"one": text, "two": f"{text}\nmore"}, "c": {"at": [1, 2.5]}, "d": ""}
    record.write(tmp_path / "part.jsonl", values)
    assert record.read(tmp_path / "part.jsonl") == values
    assert (tmp_path / "part.jsonl").read_text().count("line 19") == 1


def test_a_reason_serves_for_one_change_alone() -> None:
    text = "# a comment\nexamples-*: nearest/*: fewer examples\nruns: *: shorter [recorded: 3]\n"
    given = record.reasons(text)
    change = Change("examples-ravens", "behaviour", "nearest/ui: stack it", ("- gone",))
    assert record.accepted(change, given) == "examples-*: nearest/*: fewer examples"
    assert record.accepted(replace(change, part="runs"), given) is None
    with pytest.raises(SystemExit, match="not `part: key: reason`"):
        record.reasons("runs: *")


def test_another_processor_is_compared_more_loosely(
    tmp_path: record.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "DATA", tmp_path)
    record.write(tmp_path / "behaviour" / "physics-x-1.jsonl", {"a": [0.1]})
    part = record.Part("physics-x-2", dict, 1e-3, "physics-x-*", 5e-3)
    for value, as_recorded in ((0.104, True), (0.106, False)):
        changed, remarks = record.changes([part], {part.name: Found({"a": Seen([value])})})
        assert (changed == []) == as_recorded
        assert "compared with physics-x-1, numbers to 0.005" in remarks[0]
