"""`cap robots camera FILE`: check a camera's calibration file, or make it from measured pairs."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cap.cli.options import PATH, json_option
from cap.cli.output import print_result

if TYPE_CHECKING:
    from robots.perception.calibration.file import HandEye
    from robots.perception.calibration.hand_eye import Fit


@click.command("camera")
@click.argument("file", type=PATH)
@click.option(
    "--pairs",
    "pairs_file",
    type=PATH,
    metavar="PAIRS",
    help="File with the measured pairs (each a TCP pose and a marker position) against which to "
    "check the calibration.",
)
@click.option(
    "--solve",
    is_flag=True,
    help="Compute the calibration from the pairs and write it to FILE, which must not already "
    "exist.",
)
@click.option("--name", metavar="TEXT", help="With --solve, the camera's name.")
@click.option("--serial", metavar="TEXT", help="With --solve, the camera's serial number.")
@click.option(
    "--limit-mm",
    type=click.FloatRange(min=0, min_open=True),
    default=3.0,
    show_default=True,
    metavar="MM",
    help="Maximum median error in millimetres; the maximum error (max_mm) may be up to three times "
    "this limit, and the camera's position error (off_mm) up to twice this limit.",
)
@json_option
def command(
    file: Path,
    pairs_file: Path | None,
    solve: bool,
    name: str | None,
    serial: str | None,
    limit_mm: float,
    as_json: bool,
) -> int:
    """Check a camera's hand-eye calibration; exit with code 1 if the measured pairs do not fit it.

    \b
    cap robots camera camera.toml --pairs pairs.toml
    cap robots camera camera.toml --pairs pairs.toml --solve --name hand
    """  # noqa: D301
    from robots.perception.calibration import hand_eye
    from robots.perception.calibration.file import load
    from robots.perception.calibration.pairs import load_pairs

    if solve and pairs_file is None:
        raise click.UsageError("--solve needs --pairs PAIRS")
    if not solve and (name is not None or serial is not None):
        raise click.UsageError("--name and --serial go with --solve")
    if solve and file.exists():
        raise click.UsageError(f"{file} exists; remove it, or leave out --solve to check it")
    pairs = load_pairs(pairs_file) if pairs_file is not None else None
    fit: Fit | None = None
    if solve and pairs is not None:
        found, fit = _solved(pairs, name or "camera", serial)
        if fit.ok(limit_mm):
            file.write_text(found.text(), encoding="utf-8")
    else:
        found = load(file)
        if pairs is not None:
            fit = hand_eye.check(found, pairs)
    _show(found, fit, limit_mm, as_json)
    return int(fit is not None and not fit.ok(limit_mm))


def _solved(pairs: Any, name: str, serial: str | None) -> tuple[HandEye, Fit]:
    from robots.perception.calibration import hand_eye
    from robots.perception.calibration.file import HandEye

    pose, fit = hand_eye.solve(pairs)
    made = HandEye(
        camera=name,
        mount=pairs.mount,
        pose=pose,
        date=datetime.date.today(),
        method="points",
        serial=serial,
        pairs=len(pairs.pairs),
        residual_median_mm=fit.median_mm,
        residual_max_mm=fit.max_mm,
    )
    return made, fit


def _show(found: HandEye, fit: Fit | None, limit_mm: float, as_json: bool) -> None:
    """Print what the file says and how it fits."""
    facts: dict[str, Any] = {
        "camera": found.camera,
        "serial": found.serial,
        "mount": found.mount,
        "position_m": [round(float(part), 6) for part in found.pose[:3, 3]],
        "date": found.date.isoformat(),
        "method": found.method,
    }
    if fit is not None:
        facts |= {
            "pairs": len(fit.errors_mm),
            "median_mm": round(fit.median_mm, 3),
            "max_mm": round(fit.max_mm, 3),
            "off_mm": round(fit.off_mm, 3),
            "worst_pair": int(fit.errors_mm.argmax()) + 1,
            "gain": round(fit.gain, 3),
            "limit_mm": limit_mm,
            "ok": fit.ok(limit_mm),
        }
    lines = [f"{key}: {value}" for key, value in facts.items() if value is not None and key != "ok"]
    if fit is None:
        lines.append(
            "the file is well formed; to check it against measurements, pass --pairs PAIRS"
        )
    elif fit.ok(limit_mm):
        lines.append("ok")
    else:
        lines.append(
            f"refused: median_mm may be {limit_mm:g}, max_mm {3 * limit_mm:g} and off_mm "
            f"{2 * limit_mm:g}; measure the worst pair again, or calibrate again"
        )
    print_result(facts, lines, as_json)
