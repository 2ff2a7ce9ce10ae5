"""A table as one test: no row hides another, and each that fails is named."""

from __future__ import annotations

import pytest

from tests.rows import rows


def test_each_row_that_fails_is_named_and_fixtures_come_in() -> None:
    @rows(("given", "wanted"), [(1, 2), (2, 2), (3, 4)], ids=["one", "two", "three"])
    def differs(wanted: int, given: int, spare: int) -> None:
        assert given + spare == wanted

    with pytest.raises(ExceptionGroup, match="1 of 3 rows") as raised:
        differs(spare=1)
    assert [failure.__notes__ for failure in raised.value.exceptions] == [["in the row two"]]


def test_what_raised_nothing_is_a_failed_row() -> None:
    @rows("value", ["1", "x"])
    def refused(value: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(value)

    with pytest.raises(BaseExceptionGroup, match="1 of 2 rows"):
        refused()
