# /// cap
# docs = false
# stop = ["\ndef ", "\nif __name__", "\n# end of function"]
# ///
from typing import List


def get_rms(values: List[float]) -> float:
    """ Return the root mean square of a list of numbers.
    >>> get_rms([3.0, -3.0, 3.0])
    3.0
    """
    return sum(value ** 2 for value in values) ** 0.5 / len(values) ** 0.5
# end of function


def get_widest_gap(positions: List[float]) -> float:
    """ Return how far the two neighbours are apart that are the farthest apart, once the
    positions are in order.
    >>> get_widest_gap([7.0, 1.0, 2.0])
    5.0
    """
    ordered = sorted(positions)
    gaps = [right - left for left, right in zip(ordered, ordered[1:])]
    return max(gaps)
# end of function
