"""The papers' own values, in percent of 50 trials, to stand beside ours; none of them is ours.

Code as Policies, Table III and its appendix: CLIPort (with the oracle's word when to stop), the
natural-language planner (not run on what needs coordinates), and CaP itself. Inner Monologue,
Table 1: CLIPort, CLIPort with the oracle's word, and its kinds of feedback, added one by one.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.tabletop.inner_monologue import PREFIX

_CAP_COLUMNS = ("CLIPort", "NL planner", "CaP")
_IM_COLUMNS = ("CLIPort", "CLIPort + oracle", "IM object", "IM + success", "IM + scene")
_CAP: Mapping[tuple[str, str], tuple[float | None, ...]] = {
    ("pick-and-place", "SA-SI"): (88, 98, 100),
    ("stack-blocks", "SA-SI"): (98, 94, 94),
    ("blocks-on-place", "SA-SI"): (96, 46, 92),
    ("blocks-in-bowl", "SA-SI"): (100, 94, 100),
    ("matching-bowls", "SA-SI"): (12, 100, 100),
    ("block-beside-bowl", "SA-SI"): (100, None, 72),
    ("block-by-distance", "SA-SI"): (92, None, 98),
    ("nth-block", "SA-SI"): (100, None, 98),
    ("pick-and-place", "UA-SI"): (12, 98, 100),
    ("stack-blocks", "UA-SI"): (96, 96, 100),
    ("blocks-on-place", "UA-SI"): (0, 58, 100),
    ("blocks-in-bowl", "UA-SI"): (46, 88, 96),
    ("matching-bowls", "UA-SI"): (30, 100, 92),
    ("block-beside-bowl", "UA-SI"): (0, None, 60),
    ("block-by-distance", "UA-SI"): (0, None, 100),
    ("nth-block", "UA-SI"): (0, None, 60),
    ("different-corners", "UA-UI"): (0, 60, 98),
    ("mismatched-bowls", "UA-UI"): (0, 92, 60),
    ("stack-on-place", "UA-UI"): (0, 40, 82),
    ("away-from-bowl", "UA-UI"): (0, None, 38),
    ("corner-by-distance", "UA-UI"): (4, None, 58),
    ("blocks-in-line", "UA-UI"): (0, None, 90),
}
_MONOLOGUE: Mapping[str, tuple[float, ...]] = {
    "pick-and-place": (24, 74, 80, 90, 94),
    "stack-blocks": (2, 32, 4, 10, 26),
    "blocks-on-place": (2, 32, 30, 28, 30),
    "blocks-in-bowl": (32, 94, 52, 46, 56),
    "different-corners": (0, 0, 20, 20, 26),
    "matching-bowls": (0, 0, 56, 70, 82),
    "mismatched-bowls": (0, 0, 62, 76, 86),
    "stack-on-place": (0, 0, 0, 4, 6),
}


def published_rates(task: str, split: str) -> Mapping[str, float]:
    """Return a paper's values for a cell, percent by method; none where it has none."""
    if split == "IM-noise":
        values: tuple[float | None, ...] = _MONOLOGUE[task.removeprefix(PREFIX)]
        columns: tuple[str, ...] = _IM_COLUMNS
    else:
        values, columns = _CAP.get((task, split), ()), _CAP_COLUMNS
    pairs = zip(columns, values, strict=False)
    return {column: value for column, value in pairs if value is not None}
