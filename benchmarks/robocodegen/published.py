"""The paper's own values, in percent of its 37 problems; its problems are not these.

Of each arm what the released notebook counts for four models, and Table I, which says Flat and
Hierarchical; of the families what it counts for code-davinci-002, where it can be told.
"""

from __future__ import annotations

from collections.abc import Mapping

_PROBLEMS = 37
_COUNTS: Mapping[str, Mapping[str, int]] = {
    "hierarchical-recursive": {
        "code-davinci-002": 36,
        "code-cushman-001": 21,
        "text-davinci-002": 31,
        "text-curie-001": 2,
    },
    "flat-recursive": {
        "code-davinci-002": 32,
        "code-cushman-001": 21,
        "text-davinci-002": 28,
        "text-curie-001": 1,
    },
    "hierarchical-single": {
        "code-davinci-002": 26,
        "code-cushman-001": 20,
        "text-davinci-002": 26,
        "text-curie-001": 2,
    },
    "flat-single": {
        "code-davinci-002": 30,
        "code-cushman-001": 22,
        "text-davinci-002": 25,
        "text-curie-001": 1,
    },
}
_TABLE_I: Mapping[str, Mapping[str, float]] = {
    "hierarchical-recursive": {
        "Table I davinci": 95,
        "Table I cushman": 57,
        "Table I GPT-3 175B": 84,
        "Table I GPT-3 6.7B": 5,
    },
    "flat-single": {
        "Table I davinci": 81,
        "Table I cushman": 54,
        "Table I GPT-3 175B": 68,
        "Table I GPT-3 6.7B": 3,
    },
}
_FAMILIES: Mapping[tuple[str, str], tuple[int, int]] = {
    ("numpy", "flat-single"): (15, 16),
    ("control", "flat-single"): (3, 4),
    ("geometry", "flat-single"): (9, 10),
    ("scene", "flat-single"): (3, 7),
    ("numpy", "hierarchical-single"): (14, 16),
    ("control", "hierarchical-single"): (3, 4),
    ("geometry", "hierarchical-single"): (9, 10),
    ("scene", "hierarchical-single"): (0, 7),
    ("control", "hierarchical-recursive"): (4, 4),
    ("scene", "hierarchical-recursive"): (7, 7),
}
"""How many of how many code-davinci-002 solved."""


def published_rates(task: str, split: str) -> Mapping[str, float]:
    """Return the paper's values for all problems of an arm, or for a family of them."""
    if task == "all":
        counted = _COUNTS.get(split, {})
        notebook = {name: round(100 * n / _PROBLEMS, 1) for name, n in counted.items()}
        return {**notebook, **_TABLE_I.get(split, {})}
    solved, n = _FAMILIES.get((task.removeprefix("family: "), split), (0, 0))
    return {"code-davinci-002": round(100 * solved / n, 1)} if n else {}
