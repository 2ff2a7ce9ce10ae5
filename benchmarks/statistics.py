"""The statistics every benchmark report uses."""

from __future__ import annotations

from math import sqrt

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
