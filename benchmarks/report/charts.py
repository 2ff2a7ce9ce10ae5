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
_COLORS = {
    "model": "#e15759",
    "program": "#f28e2b",
    "robot": "#76b7b2",
    "task": "#edc948",
    "infrastructure": "#9c755f",
    "recording": "#bab0ac",
}
STYLE: Mapping[str, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "cap",
    "text.parse_math": False,
}
"""Reproducible, and with no meaning for dollar signs in names."""


def draw(cells: Sequence[Cell]) -> dict[str, bytes]:
    """Return SVG images by name: `success` and, if anything failed, `failures`."""
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
        images = {"success": _success(chosen)}
        if any(cell.causes for cell in chosen):
            images["failures"] = _failures(chosen)
    return images


def _success(cells: Sequence[Cell]) -> bytes:
    """Draw rates with their intervals, and the published values beside."""
    figure, axes = _blank(cells, "success, % (bars: Wilson 95 %)")
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
    return as_svg(figure, axes)


def _failures(cells: Sequence[Cell]) -> bytes:
    """Draw what the failures were caused by, in percent of all trials."""
    figure, axes = _blank(cells, "failed, % of trials, by cause")
    left = [0.0] * len(cells)
    for cause, color in _COLORS.items():
        parts = [100 * cell.causes[cause] / cell.n for cell in cells]
        if any(parts):
            axes.barh(range(len(cells)), parts, 0.6, left=left, color=color, label=cause)
        left = [start + part for start, part in zip(left, parts, strict=True)]
    axes.set_xlim(-2, 104)
    return as_svg(figure, axes)


def _blank(cells: Sequence[Cell], title: str) -> tuple[Any, Any]:
    """Return a figure with a place for each cell, the first on top."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 1.4 + _ROW_INCHES * len(cells)), layout="constrained")
    axes = figure.subplots()
    axes.set_yticks(range(len(cells)), [_label(cell) for cell in cells])
    axes.set_ylim(len(cells) - 0.5, -0.5)
    axes.set_xlabel(title)
    return figure, axes


def _label(cell: Cell) -> str:
    words = printable(f"{cell.task} {cell.split}".replace("\n", " "))
    name = words if len(words) <= _LABEL_CHARS else words[: _LABEL_CHARS - 3] + "..."
    return f"{name}  n={cell.n}" + ("" if cell.whole else f" of {cell.asked} so far")


def as_svg(figure: Any, axes: Any) -> bytes:
    """Return a figure as SVG, with its legend below; text is drawn as shapes."""
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
