"""Options of the robot and of approval, as people type them."""

from __future__ import annotations

from typing import Any

import pytest

from cap.cli.approval import approval, approver
from cap.cli.options import robot_values
from cap.errors import UsageError


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("host=192.168.0.10", "host", "192.168.0.10"),
        ("speed_mps=0.2", "speed_mps", 0.2),
        ("x_m=[-0.3, 0.3]", "x_m", [-0.3, 0.3]),
        ("check=true", "check", True),
        ("port=30002", "port", 30002),
        ("name='a b'", "name", "a b"),
        ("url=http://a/?b=c", "url", "http://a/?b=c"),
        ("empty=", "empty", ""),
        ("lines=1\nevil = 2", "lines", "1\nevil = 2"),
    ],
)
def test_a_value_is_read_as_toml_or_as_text(text: str, key: str, value: Any) -> None:
    assert robot_values([text]) == {key: value}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["host"], "not KEY=VALUE"),
        (["=x"], "not KEY=VALUE"),
        (["a b=1"], "not KEY=VALUE"),
        (["a=1", "a=2"], "given twice"),
    ],
)
def test_what_is_no_option_is_refused(given: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        robot_values(given)


@pytest.mark.parametrize(
    ("approve", "ask", "yes", "simulated", "expected"),
    [
        (None, False, False, True, "none"),
        (None, False, True, True, "none"),
        (None, True, False, True, "each-program"),
        ("each-call", False, False, True, "each-call"),
        (None, False, False, False, "each-program"),
        ("each-call", False, False, False, "each-call"),
        ("none", False, True, False, "none"),
    ],
)
def test_when_a_person_is_asked(
    approve: str | None, ask: bool, yes: bool, simulated: bool, expected: str
) -> None:
    assert approval(approve, ask, yes, simulated) == expected


@pytest.mark.parametrize(
    ("approve", "ask", "yes"),
    [(None, False, True), ("none", False, False), ("each-call", False, True), ("none", True, True)],
)
def test_hardware_never_moves_unasked_by_one_slip(
    approve: str | None, ask: bool, yes: bool
) -> None:
    with pytest.raises(UsageError):
        approval(approve, ask, yes, simulated=False)


def test_hardware_always_has_an_approver() -> None:
    for asks in ("each-call", "none", "each-program"):
        assert approver(asks, simulated=False) is not None
    assert approver("none", simulated=True) is None
