"""Charts of a report, drawn by matplotlib (extra `report`) as SVG; none where it is missing."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.report.tables import Cell
from cap.messages import printable

MOST_CELLS = 80
"""With more cells than these, only whole splits are drawn."""
_ROW_INCHES = 0.3
_LABEL_CHARS = 40
STYLE: Mapping[str, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "cap",
    "text.parse_math": False,
}
"""Reproducible, and with no meaning for dollar signs in names."""


def draw(cells: Sequence[Cell]) -> dict[str, bytes]:
    """Return SVG images by name: `success`, the rates with their intervals."""
    try:
        import matplotlib
    except ImportError:
        return {}
    single = [cell for cell in cells if cell.task != "all"]
    chosen = single if len(single) <= MOST_CELLS else [cell for cell in cells if cell.task == "all"]
    chosen = chosen[:MOST_CELLS]
    style: dict[Any, Any] = dict(STYLE)
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about glyphs that a font has not
        return {"success": _success(chosen)}


def _success(cells: Sequence[Cell]) -> bytes:
    """Draw rates with their intervals, and the published values beside."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 1.4 + _ROW_INCHES * len(cells)), layout="constrained")
    axes = figure.subplots()
    axes.set_yticks(range(len(cells)), [_label(cell) for cell in cells])
    axes.set_ylim(len(cells) - 0.5, -0.5)  # the first on top
    axes.set_xlabel("success, % (bars: Wilson 95 %)")
    places = range(len(cells))
    rates = [100 * cell.successes / cell.n for cell in cells]
    ends = [[100 * end for end in cell.interval] for cell in cells]
    below = [max(0.0, rate - low) for rate, (low, _) in zip(rates, ends, strict=True)]
    above = [max(0.0, high - rate) for rate, (_, high) in zip(rates, ends, strict=True)]
    axes.barh(places, rates, 0.6, color="#a9c6e3", label="measured here", zorder=1)
    axes.errorbar(rates, places, xerr=[below, above], fmt="none", ecolor="#222", zorder=2)
    methods = dict.fromkeys(name for cell in cells for name in cell.published)
    for marker, method in zip("ovs^D*XP<>", methods, strict=False):
        points = [
            (cell.published[method], place)
            for place, cell in enumerate(cells)
            if method in cell.published
        ]
        x, y = zip(*points, strict=True)
        label = f"published: {method}"
        axes.scatter(x, y, marker=marker, s=22, facecolors="none", edgecolors="#b6322b")
        axes.scatter([], [], marker=marker, facecolors="none", edgecolors="#b6322b", label=label)
    axes.set_xlim(-2, 104)
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def _label(cell: Cell) -> str:
    words = printable(f"{cell.task} {cell.split}".replace("\n", " "))
    name = words if len(words) <= _LABEL_CHARS else words[: _LABEL_CHARS - 3] + "..."
    return f"{name}  n={cell.n}" + ("" if cell.whole else f" of {cell.asked} so far")
