"""What a planner chose among, as a picture: stacked bars for each step, as in SayCan's figures."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cap.errors import MissingExtra, UsageError, install_extra
from cap.messages import printable

BARS = 5
"""Candidates drawn for each step, the best first."""
MOST_STEPS = 20
_COLORS = {
    "say": "#4e79a7",
    "can": "#e8a03c",
    "pay": "#8a63a8",
    "likeness": "#3d9a9a",
    "share": "#4e79a7",
}
_MEANINGS = {
    "say": "the model",
    "can": "the affordance",
    "pay": "what it is worth",
    "likeness": "of its words and the step",
    "share": "of its samples",
}
_CHOSEN = "#2f7d4f"
_ROW_INCHES, _HEAD_INCHES = 0.26, 0.42


def draw_scores(moments: Sequence[Mapping[str, Any]], path: Path, title: str) -> None:
    """Draw what was chosen among at each step: what scores are made of, stacked; the score beside.

    Args:
        moments: The data of a trace's `candidates` events.
        path: A PNG or SVG file.
        title: The person's words.

    Raises:
        MissingExtra: matplotlib is not installed.
        UsageError: There is nothing to draw, or the file cannot be written.
    """
    shown = [moment for moment in moments if moment["candidates"]][:MOST_STEPS]
    if not shown:
        raise UsageError("there is nothing to draw: no step was chosen among candidates")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra(
            f"pictures of scores need matplotlib: {install_extra('report')}"
        ) from None
    every = [entry for moment in shown for entry in moment["candidates"]]
    parts = [part for part in _COLORS if any(part in entry for entry in every)]
    counts = [min(BARS, len(moment["candidates"])) for moment in shown]
    height = sum(_ROW_INCHES * count + _HEAD_INCHES for count in counts) + 1.1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about glyphs that a font has not
        figure = Figure(figsize=(8.4, height), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(len(shown), 1, squeeze=False, height_ratios=counts)[:, 0]
        for number, (axes, moment) in enumerate(zip(panels, shown, strict=True), start=1):
            _panel(axes, number, moment, parts)
        beside = "likeness + beta log(share) - penalty" if "likeness" in parts else "their product"
        stacked = f"{', '.join(parts)} stacked" if len(parts) > 1 else parts[0]
        panels[-1].set_xlabel(f"{stacked}; beside: {beside}", fontsize=8)
        figure.suptitle(printable(title), fontsize=10, parse_math=False)
        figure.legend(*_keys(parts), loc="outside lower center", ncols=3, frameon=False)
        try:
            figure.savefig(path, dpi=110)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def _panel(axes: Any, number: int, moment: Mapping[str, Any], parts: Sequence[str]) -> None:
    """Draw the candidates of one step, and mark the one that was taken, if one was."""
    candidates = moment["candidates"][:BARS]
    taken = [entry["text"] == moment["chosen"] for entry in candidates]
    rows = range(len(candidates))
    ends = [0.0] * len(candidates)
    for part in parts:
        widths = [max(0.0, entry.get(part, 0.0)) for entry in candidates]
        axes.barh(rows, widths, 0.72, left=ends, color=_COLORS[part])
        ends = [end + width for end, width in zip(ends, widths, strict=True)]
    for row, entry in enumerate(candidates):
        color = _CHOSEN if taken[row] else "#555555"
        weight = "bold" if taken[row] else "normal"
        size = abs(entry["score"])
        score = f"{entry['score']:.3f}" if size >= 0.0005 else f"{entry['score']:.0e}"
        axes.text(
            ends[row] + 0.02, row, score, va="center", fontsize=7.5, color=color, fontweight=weight
        )
    axes.set_yticks(rows, [printable(entry["text"]) for entry in candidates], fontsize=8)
    for label, chosen in zip(axes.get_yticklabels(), taken, strict=True):
        label.set_parse_math(False)
        if chosen:
            label.set_color(_CHOSEN)
            label.set_fontweight("bold")
    axes.invert_yaxis()
    axes.set_xlim(0, len(parts) + 0.25)
    none = "" if any(taken) else ": none of them was taken"
    axes.set_title(f"step {number}{none}", loc="left", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _keys(parts: Sequence[str]) -> tuple[list[Any], list[str]]:
    from matplotlib.patches import Patch

    keys = [f"{part}: {_MEANINGS[part]}" for part in parts]
    return [Patch(color=_COLORS[part]) for part in parts], keys
