"""The statistics every benchmark report uses."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from math import atan, comb, cos, pi, prod, sin, sqrt
from typing import Any

KS = (1, 10, 100)
"""The paper's."""


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Return the unbiased estimate `1 - C(n - correct, k) / C(n, k)` for one problem.

    Source: M. Chen et al., "Evaluating large language models trained on code", 2021, equation 1.

    Args:
        n: Samples of the problem.
        correct: Those that passed.
        k: Samples one may try; 1 to `n`.
    """
    # The quotient as a product: no large numbers. A factor of 0 is where k wrong ones are not left.
    return 1.0 - prod(max(0.0, 1.0 - k / i) for i in range(n - correct + 1, n + 1))


def mean_pass_at_k(
    counts: Mapping[Any, tuple[int, int]], ks: Sequence[int] = KS
) -> dict[int, float]:
    """Return the mean over problems, for every k that each problem has samples enough for.

    Args:
        counts: Samples and correct ones, by problem.
        ks: The k asked for.
    """
    fewest = min((n for n, _ in counts.values()), default=0)
    return {
        k: sum(pass_at_k(n, correct, k) for n, correct in counts.values()) / len(counts)
        for k in ks
        if k <= fewest
    }


Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


def wilson_interval(successes: int, n: int) -> tuple[float, float]:
    """Return the Wilson score interval of a rate, low and high, both in 0..1.

    It stays inside 0..1 and is honest for few trials and for rates of 0 and 1, where the normal
    interval has no width. Source: E. B. Wilson, "Probable inference, the law of succession, and
    statistical inference", Journal of the American Statistical Association 22, 1927. With no
    trial nothing is known: (0, 1).
    """
    if n == 0:
        return 0.0, 1.0
    return _score_interval(successes / n, n)


def _score_interval(rate: float, n: float) -> tuple[float, float]:
    """Return Wilson's interval of a rate of `n` trials, which need not be a whole number."""
    z = Z_95
    weight = z * z / n
    centre = (rate + weight / 2) / (1 + weight)
    margin = z / (1 + weight) * sqrt(rate * (1 - rate) / n + weight / (4 * n))
    # At the ends the bound is exactly 0 or 1; rounding must not say otherwise.
    return 0.0 if rate == 0 else centre - margin, 1.0 if rate == 1 else centre + margin


def clustered_interval(clusters: Collection[tuple[int, int]]) -> tuple[float, float]:
    """Return the 95 % interval of a rate whose trials come in clusters, as samples do.

    Trials of one cluster are alike, so there are fewer independent ones than trials: Wilson's
    interval of the effective number, which is what gives the rate's variance between clusters, and
    never more than there are. It shrinks by (z / t)^2, t of Student for the few clusters that tell
    the variance; Korn and Graubard have the t of all trials for z, which is a little narrower.
    Where all trials ended the same, nobody knows how alike they are, and each cluster counts once.
    Of fewer than two clusters nothing is known of others: (0, 1). Sources: E. L. Korn and B. I.
    Graubard, "Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data", Survey Methodology 24, 1998; with Wilson's interval, N. Dean and M.
    Pagano, "Evaluating confidence interval methods for binomial proportions in clustered surveys",
    Journal of Survey Statistics and Methodology 3, 2015.

    Args:
        clusters: Of each, the trials and those that succeeded.
    """
    m, n = len(clusters), sum(trials for trials, _ in clusters)
    if m < 2:
        return 0.0, 1.0
    rate = sum(won for _, won in clusters) / n
    squares = sum((won - rate * trials) ** 2 for trials, won in clusters)
    variance = m / (m - 1) * squares / n**2
    binomial = rate * (1 - rate)
    if binomial == 0:
        effective = float(m)
    else:
        effective = min(float(n), binomial / variance) if variance > 0 else float(n)
    return _score_interval(rate, effective * (Z_95 / student_t_95(m - 1)) ** 2)


def clustered_difference(clusters: Collection[tuple[int, int]]) -> tuple[float, float]:
    """Return the 95 % interval of a mean of paired differences that come in clusters, -1 to 1.

    The mean with its standard error between clusters, and Student's t. Source: E. Miller, "Adding
    error bars to evals: a statistical approach to language model evaluations", 2024. Of fewer than
    two clusters nothing is known: (-1, 1).

    Args:
        clusters: Of each, the pairs and the sum of their differences.
    """
    m, n = len(clusters), sum(pairs for pairs, _ in clusters)
    if m < 2:
        return -1.0, 1.0
    mean = sum(differences for _, differences in clusters) / n
    squares = sum((differences - mean * pairs) ** 2 for pairs, differences in clusters)
    margin = student_t_95(m - 1) * sqrt(m / (m - 1) * squares) / n
    return max(-1.0, mean - margin), min(1.0, mean + margin)


@cache
def student_t_95(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's distribution.

    By halving, with the closed form of its integral for whole degrees of freedom: M. Abramowitz and
    I. A. Stegun, "Handbook of mathematical functions", 1964, 26.7.3 and 26.7.4; from 200 degrees on
    26.7.5, the first terms of the expansion.
    """
    if freedom >= 200:
        z = Z_95
        first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
        return z + first / freedom + second / freedom**2
    odd = freedom % 2
    low, high = 0.0, 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        angle = atan(middle / sqrt(freedom))
        term = cos(angle) if odd else 1.0
        total = 0.0
        for k in range(odd + 1, freedom, 2):
            total += term
            term *= cos(angle) ** 2 * k / (k + 1)
        inside = 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total
        low, high = (middle, high) if inside < 0.95 else (low, middle)
    return (low + high) / 2


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


def paired_difference(only_first: int, only_second: int, n: int) -> tuple[float, float]:
    """Return an interval of the second rate less the first, of the same trials, -1 to 1.

    The adjusted Wald interval of D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval
    for a difference of binomial proportions based on paired data", Journal of Educational and
    Behavioral Statistics 37, 2012: one pair is added to each kind that differs. With no pair
    nothing is known: (-1, 1).
    """
    if n == 0:
        return -1.0, 1.0
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    margin = Z_95 * sqrt((first + second - (second - first) ** 2) / (n + 2))
    return max(-1.0, second - first - margin), min(1.0, second - first + margin)


def percent(interval: tuple[float, float] | None) -> str:
    """Return an interval of a rate in percent; "" for none."""
    return "" if interval is None else "{:.1f}-{:.1f}".format(*(100 * end for end in interval))
