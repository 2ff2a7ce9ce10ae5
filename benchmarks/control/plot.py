"""Pictures of a results folder's episodes: how far each was off, and where the first one went."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.control.tasks import CAUGHT_M, MOST_TRACKING_M, SETTLED_M, TASKS
from benchmarks.results import read_lines
from cap.errors import MissingExtra, UsageError, install_extra

_MOST = 20
"""Episodes in one picture; the first ones."""
_ALLOWED_M = {"impedance": SETTLED_M, "tracking": MOST_TRACKING_M, "moving-target": CAUGHT_M}
_COLORS = {True: "#4e79a7", False: "#e15759"}


def draw(folder: Path) -> list[Path]:
    """Draw one SVG for each task that has episodes; return the files.

    Raises:
        MissingExtra: matplotlib is not installed.
        UsageError: There is no episode, or the folder cannot be written.
    """
    lines = [line for line in read_lines(folder) if "series" in line.outcome.extra]
    if not lines:
        raise UsageError(f"{folder} holds no episode to draw")
    try:
        matplotlib = importlib.import_module("matplotlib")
        figures = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise MissingExtra(f"plots need matplotlib; run: {install_extra('report')}") from None
    written = []
    for task in TASKS:
        episodes = [line for line in lines if line.trial.task == task][:_MOST]
        if not episodes:
            continue
        figure = figures.Figure(figsize=(7, 6), layout="constrained")
        figure.suptitle(f"{task}: {len(episodes)} episodes, those that missed in red")
        first = episodes[0].outcome.extra["series"]
        axes = figure.subplots(2 if "path_m" in first else 1, squeeze=False)[:, 0]
        for line in episodes:
            series, color = line.outcome.extra["series"], _COLORS[line.outcome.success]
            times, off = ("step", "theta_rad") if task == "cartpole" else ("time_s", "error_m")
            axes[0].plot(series[times], _floats(series[off]), color=color, linewidth=0.9)
        axes[0].set_xlabel("step of 0.02 s" if task == "cartpole" else "time in s")
        axes[0].set_ylabel("pole angle, rad" if task == "cartpole" else "m off")
        if task in _ALLOWED_M:
            axes[0].axhline(_ALLOWED_M[task], color="gray", linestyle="--")
        if "path_m" in first:
            for x, y, radius in first.get("obstacles_m", ()):
                turn = np.linspace(0, 2 * np.pi, 60)
                axes[1].fill(x + radius * np.cos(turn), y + radius * np.sin(turn), color="#c9c9c4")
            axes[1].plot(*map(_floats, first["goal_m"]), "--", marker="+", color="gray")
            axes[1].plot(*map(_floats, first["path_m"]), color="#4e79a7")
            axes[1].set_aspect("equal")
            axes[1].set_xlabel(f"metres; dashed: the goal; seed {episodes[0].trial.seed}")
        written.append(folder / f"{task}.svg")
        try:
            # Without a date the same episodes give the same bytes.
            with matplotlib.rc_context({"svg.hashsalt": "cap"}):
                figure.savefig(written[-1], metadata={"Date": None})
        except OSError as error:
            raise UsageError(f"cannot write {written[-1]}: {error.strerror or error}") from None
    return written


def _floats(values: Any) -> Any:
    """Return a curve with gaps where a value was not finite."""
    return np.array([np.nan if value is None else value for value in values])
