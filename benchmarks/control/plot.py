"""Pictures of a results folder's episodes: what moved where, and how far it was off."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.control.arm import JUMP_STEP, STEP_S
from benchmarks.control.tasks import CAUGHT_M, MOST_RMS_M, MOST_TRACKING_M, SETTLED_M
from benchmarks.results import Line, read_lines
from cap.errors import MissingExtra, UsageError, install_extra

_MOST = 20
"""Episodes in one picture; the first ones."""
_PLANES = 6
"""Episodes of which each has a plane of its own."""
_DONE, _MISSED = "#4e79a7", "#e15759"


def draw(folder: Path) -> list[Path]:
    """Draw one SVG for each task that has episodes; return the files.

    Raises:
        MissingExtra: matplotlib is not installed.
        UsageError: There is no episode, or the folder cannot be written.
    """
    lines = [line for line in read_lines(folder) if "series" in line.outcome.extra]
    if not lines:
        raise UsageError(f"{folder} holds no episode to draw")
    figures = _figures()
    written = []
    for task, paint in _PAINTERS.items():
        if episodes := [line for line in lines if line.trial.task == task][:_MOST]:
            figure = figures.Figure(figsize=(7, 6), layout="constrained")
            paint(figure, episodes)
            figure.suptitle(f"{task}: {len(episodes)} episodes, those that missed in red")
            written.append(_saved(figure, folder / f"{task}.svg"))
    return written


def _saved(figure: Any, path: Path) -> Path:
    try:
        # Without a date the same episodes give the same bytes.
        figure.savefig(path, metadata={"Date": None})
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def _figures() -> Any:
    try:
        matplotlib = importlib.import_module("matplotlib")
        figures = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise MissingExtra(f"plots need matplotlib; run: {install_extra('report')}") from None
    matplotlib.rcParams["svg.hashsalt"] = "cap"
    return figures


def _cartpole(figure: Any, episodes: Sequence[Line]) -> None:
    angle, place = figure.subplots(2, sharex=True)
    for line in episodes:
        series = line.outcome.extra["series"]
        angle.plot(series["step"], np.degrees(_floats(series["theta_rad"])), **_style(line))
        place.plot(series["step"], _floats(series["x_m"]), **_style(line))
    angle.set_ylabel("pole angle, degrees")
    place.set_ylabel("cart, m from the middle")
    place.set_xlabel("step of 0.02 s")


def _impedance(figure: Any, episodes: Sequence[Line]) -> None:
    error, path = figure.subplots(2, sharex=True)
    for line in episodes:
        series = line.outcome.extra["series"]
        error.plot(series["time_s"], 1000 * _floats(series["error_m"]), **_style(line))
    error.axvline(JUMP_STEP * STEP_S, color="gray", linestyle=":", linewidth=1)
    error.axhline(1000 * SETTLED_M, color="gray", linestyle="--", linewidth=1)
    error.set_ylabel("distance from the goal, mm")
    error.set_title(
        f"dotted: the jump; dashed: settled; on the way {1000 * MOST_RMS_M:g} mm RMS are allowed",
        fontsize="small",
    )
    series = episodes[0].outcome.extra["series"]
    for axis, goal, tip in zip("xyz", series["goal_m"], series["tip_m"], strict=True):
        (drawn,) = path.plot(series["time_s"], _floats(tip), label=axis)
        path.plot(series["time_s"], _floats(goal), color=drawn.get_color(), linestyle="--")
    path.set_ylabel("m; dashed: the goal")
    path.set_xlabel(f"time in s; lower half: seed {episodes[0].trial.seed}")
    path.legend()


def _following(figure: Any, episodes: Sequence[Line]) -> None:
    """Draw how far each robot was off, and where the first one drove."""
    error, plane = figure.subplots(2, height_ratios=[1, 2])
    for line in episodes:
        series = line.outcome.extra["series"]
        error.plot(series["time_s"], 100 * _floats(series["error_m"]), **_style(line))
    most_m = MOST_TRACKING_M if episodes[0].trial.task == "tracking" else CAUGHT_M
    error.axhline(100 * most_m, color="gray", linestyle="--", linewidth=1)
    error.set_ylabel("cm off; dashed: allowed")
    error.set_xlabel("time in s")
    series = episodes[0].outcome.extra["series"]
    plane.plot(*map(_floats, series["goal_m"]), color="gray", linestyle="--", label="goal")
    plane.plot(*map(_floats, series["path_m"]), **_style(episodes[0]), label="robot")
    plane.set_aspect("equal")
    plane.set_xlabel(f"metres; seed {episodes[0].trial.seed}")
    plane.legend()


def _avoidance(figure: Any, episodes: Sequence[Line]) -> None:
    """Draw the first robots among their obstacles."""
    patches = importlib.import_module("matplotlib.patches")
    shown = episodes[:_PLANES]
    axes = figure.subplots(2, -(-len(shown) // 2), squeeze=False).flat
    for plane, line in zip(axes, shown, strict=False):
        series = line.outcome.extra["series"]
        for x, y, radius in series["obstacles_m"]:
            plane.add_patch(patches.Circle((x, y), radius, color="#c9c9c4"))
        plane.plot(*map(_floats, series["path_m"]), **_style(line))
        plane.plot(series["goal_m"][0][0], series["goal_m"][1][0], "+", color="black")
        plane.set_aspect("equal")
        plane.set_title(f"seed {line.trial.seed}", fontsize="small")
    for plane in list(axes):
        if not plane.has_data():
            plane.set_axis_off()


def _style(line: Line) -> dict[str, Any]:
    color = _DONE if line.outcome.success else _MISSED
    return {"color": color, "linewidth": 0.9, "alpha": 0.7}


def _floats(values: Sequence[float | None]) -> np.ndarray[Any, Any]:
    """Return a curve with gaps where a value was not finite."""
    return np.array([np.nan if value is None else value for value in values])


_PAINTERS: dict[str, Callable[[Any, Sequence[Line]], None]] = {
    "cartpole": _cartpole,
    "impedance": _impedance,
    "tracking": _following,
    "moving-target": _following,
    "avoidance": _avoidance,
}
