"""The intervals of reports."""

import pytest

from benchmarks.statistics import (
    Z_95,
    clustered_difference,
    clustered_interval,
    mcnemar_exact,
    student_t_95,
    wilson_interval,
)


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


# Student's table, two-sided 5 %.
@pytest.mark.parametrize(
    ("freedom", "t"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (9, 2.2622), (30, 2.0423), (120, 1.9799)],
)
def test_students_quantiles_are_those_of_the_tables(freedom: int, t: float) -> None:
    assert student_t_95(freedom) == pytest.approx(t, abs=5e-5)
    assert student_t_95(199) == pytest.approx(student_t_95(200), abs=1e-4)


def test_samples_that_are_all_alike_count_once() -> None:
    """Ten problems of twenty samples, each of them right twenty times or never."""
    clusters = [(20, 20)] * 4 + [(20, 0)] * 6
    low, high = clustered_interval(clusters)
    pooled_low, pooled_high = wilson_interval(80, 200)
    ten_low, ten_high = wilson_interval(4, 10)
    assert low < ten_low < pooled_low
    assert pooled_high < ten_high < high
    # By hand: variance 10 / 9 * 960 / 200^2, so 9 trials, and 9 (1.95996 / 2.26216)^2 = 6.756.
    assert (low, high) == pytest.approx((0.1391, 0.7334), abs=1e-4)


def test_one_cluster_tells_nothing_of_others() -> None:
    assert clustered_interval([(50, 20)]) == (0.0, 1.0)
    assert clustered_difference([(50, 20)]) == (-1.0, 1.0)


def test_a_difference_is_as_sure_as_its_problems_are_many() -> None:
    """By hand: mean 3 / 12, margin 4.3027 (3 / 2 * 2)^0.5 / 12."""
    found = clustered_difference([(4, 2), (4, 0), (4, 1)])
    assert found == pytest.approx((0.25 - 0.62104, 0.25 + 0.62104), abs=1e-4)


def test_what_all_ended_the_same_counts_each_problem_once() -> None:
    low, high = clustered_interval([(30, 0)] * 10)
    assert low == 0.0
    assert high > wilson_interval(0, 10)[1]
    assert clustered_interval([(30, 30)] * 10) == pytest.approx((1 - high, 1.0))


# By hand: the share of all ways in which n coins fall that are no likelier than this one.
@pytest.mark.parametrize(
    ("first", "second", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 5, 1.0), (0, 6, 2 / 64), (12, 3, 2 * 576 / 2**15)],
)
def test_mcnemar_is_the_exact_two_sided_sign_test(first: int, second: int, p: float) -> None:
    assert mcnemar_exact(first, second) == mcnemar_exact(second, first) == pytest.approx(p)
