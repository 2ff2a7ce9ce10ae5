"""The Wilson interval."""

import pytest

from benchmarks.statistics import Z_95, wilson_interval


# 0 of 10: z^2 / (n + z^2) by hand; 8 of 10 and 81 of 263: figures in common use
# (R's prop.test without continuity correction; Newcombe 1998, table I).
@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 10, 0.0, Z_95**2 / (10 + Z_95**2)),
        (8, 10, 0.4902, 0.9433),
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_known_values(successes: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_no_trial_says_nothing() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("n", [1, 7, 98, 1000])
def test_ends_are_exact_and_mirror(n: int) -> None:
    low, high = wilson_interval(0, n)
    mirrored_low, mirrored_high = wilson_interval(n, n)
    assert (low, mirrored_high) == (0.0, 1.0)
    assert mirrored_low == pytest.approx(1 - high)
    assert high < 1


def test_a_wider_level_gives_a_wider_interval() -> None:
    low, high = wilson_interval(5, 20)
    wide_low, wide_high = wilson_interval(5, 20, z=3.0)
    assert wide_low < low < 0.25 < high < wide_high


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="need 0 <= successes <= n"):
        wilson_interval(successes, n)
