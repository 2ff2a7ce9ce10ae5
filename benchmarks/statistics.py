"""The statistics every benchmark report uses."""

from __future__ import annotations

from math import comb, sqrt

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


def wilson_interval(successes: int, n: int, z: float = Z_95) -> tuple[float, float]:
    """Return the Wilson score interval of a rate, low and high, both in 0..1.

    It stays inside 0..1 and is honest for few trials and for rates of 0 and 1, where the normal
    interval has no width. Source: E. B. Wilson, "Probable inference, the law of succession, and
    statistical inference", Journal of the American Statistical Association 22, 1927. With no
    trial nothing is known: (0, 1).

    Raises:
        ValueError: `successes` is not in 0..n.
    """
    if not 0 <= successes <= n:
        raise ValueError(
            f"{successes} successes of {n} trials is no rate; need 0 <= successes <= n"
        )
    if n == 0:
        return 0.0, 1.0
    rate, weight = successes / n, z * z / n
    centre = (rate + weight / 2) / (1 + weight)
    margin = z / (1 + weight) * sqrt(rate * (1 - rate) / n + weight / (4 * n))
    # At the ends the bound is exactly 0 or 1; rounding must not say otherwise.
    low = 0.0 if successes == 0 else centre - margin
    high = 1.0 if successes == n else centre + margin
    return low, high


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Return the two-sided exact p of McNemar's test: the chance of pairs that differ so unevenly.

    Under no difference each pair that differs is a fair coin. Source: Q. McNemar, "Note on the
    sampling error of the difference between correlated proportions or percentages",
    Psychometrika 12, 1947; exact as the sign test.

    Args:
        only_first: Pairs of which only the first succeeded.
        only_second: Pairs of which only the second did.
    """
    n, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(comb(n, k) for k in range(fewer + 1))
    # One division of whole numbers: no power of 2 is too small for it.
    return min(1.0, 2 * tail / (1 << n))


def paired_difference(
    only_first: int, only_second: int, n: int, z: float = Z_95
) -> tuple[float, float]:
    """Return an interval of the second rate less the first, of the same trials, -1 to 1.

    The adjusted Wald interval of D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval
    for a difference of binomial proportions based on paired data", Journal of Educational and
    Behavioral Statistics 37, 2012: one pair is added to each kind that differs. With no pair
    nothing is known: (-1, 1).
    """
    if n == 0:
        return -1.0, 1.0
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    margin = z * sqrt((first + second - (second - first) ** 2) / (n + 2))
    return max(-1.0, second - first - margin), min(1.0, second - first + margin)
