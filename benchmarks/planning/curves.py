"""Success against how often the model is right, a curve for each planner, as SVG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.report.charts import STYLE, as_svg
from benchmarks.report.tables import CellTally

Curve = Mapping[float, CellTally]
"""The result of the trials, by the probability that the model says what is right."""
_COLORS = ("#4e79a7", "#e8a03c", "#2f7d4f", "#b6322b", "#8a63a8", "#5c5c58", "#76b7b2")
_MARKERS = "osD^vP*"


def draw_curves(curves: Mapping[tuple[str, str], Curve]) -> bytes:
    """Draw a panel for each row, and in it a curve for each planner with Wilson's intervals.

    Args:
        curves: By row and planner, in the order in which they are drawn.
    """
    import matplotlib
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys(row for row, _ in curves))
    planners = list(dict.fromkeys(planner for _, planner in curves))
    style: dict[Any, Any] = dict(STYLE)
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(1.0 + 4.2 * len(rows), 4.2), layout="constrained")
        panels = figure.subplots(1, len(rows), squeeze=False, sharey=True)[0]
        for axes, row in zip(panels, rows, strict=True):
            for number, planner in enumerate(planners):
                if (row, planner) not in curves:
                    continue
                curve = curves[row, planner]
                shift = 0.006 * (number - (len(planners) - 1) / 2)  # bars side by side
                places = sorted(curve)
                rates = [100 * curve[p].successes / curve[p].n for p in places]
                ends = [[100 * end for end in curve[p].interval] for p in places]
                below = [max(0.0, rate - low) for rate, (low, _) in zip(rates, ends, strict=True)]
                above = [max(0.0, high - rate) for rate, (_, high) in zip(rates, ends, strict=True)]
                axes.errorbar([p + shift for p in places], rates, yerr=[below, above],
                              color=_COLORS[number % 7], marker=_MARKERS[number % 7],
                              markersize=4, linewidth=1.3, elinewidth=0.7)  # fmt: skip
            axes.set_title(row, loc="left", fontsize=10)
            axes.set_xlabel("probability that the model says what is right")
            axes.set_ylim(-2, 104)
        panels[0].set_ylabel("success, % (bars: Wilson 95 %)")
        for number, planner in enumerate(planners):
            panels[0].plot([], [], marker=_MARKERS[number % 7], color=_COLORS[number % 7],
                           label=planner)  # fmt: skip
        return as_svg(figure, panels[0])
