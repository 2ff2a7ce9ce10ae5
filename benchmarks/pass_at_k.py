"""pass@k: how likely at least one of k samples is right, estimated from n samples without bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

KS = (1, 10, 100)
"""The paper's."""


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Return the unbiased estimate `1 - C(n - correct, k) / C(n, k)` for one problem.

    Source: M. Chen et al., "Evaluating large language models trained on code", 2021, equation 1.

    Args:
        n: Samples of the problem.
        correct: Those that passed.
        k: Samples one may try; at most `n`.

    Raises:
        ValueError: `correct` is not in 0..n, or `k` not in 1..n.
    """
    if not 0 <= correct <= n:
        raise ValueError(f"{correct} correct of {n} samples; need 0 <= correct <= n")
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} cannot be estimated from {n} samples; need 1 <= k <= n")
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
