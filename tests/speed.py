"""Speed of two commits in one run: `python -m tests.speed [COMMIT]`, by default a94554f.

What `make speed` and `make sandboxes` measure, of the commit and of the files at hand in turn, so
that both meet the same machine. Times are given as multiples of a fixed loop of plain Python, which
is timed just before and after each; other figures as they are. `--write` keeps the commit's figures
in `speed.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = Path(__file__).with_suffix(".jsonl")
FIRST = "a94554f"
SCRIPTS = ("speed", "sandboxes")
COMMANDS = ("speed", "engine", "sandbox")
"""What a commit has that had `cap bench speed` and so on in place of the scripts."""
OLD_NAMES = {
    "trivial, this sandbox": "trivial program, spare worker ready",
    "seven calls, this sandbox": "program with 7 calls",
    "CPU-bound loop, this sandbox": "CPU-bound loop of 100 ms",
    "numpy-bound, this sandbox": "numpy-bound, 100 ms",
    "cold start to first result, this sandbox": "cold start to first result",
    "past a limit of 0.05 s, this sandbox": "past a limit of 50 ms, p99",
}
"""What such a commit calls a row; the last is the median here."""
SECONDS = {"s": 1.0, "CPU-s": 1.0, "ms": 1e-3}
"""Units of time; what has another unit is no time."""
LOOPS, STEPS = 9, 300_000
COMMAND = """
import json
json.JSONEncoder.default = lambda self, value: value.item()  # one command prints numpy's numbers
from cap.__main__ import main
main()
"""


def loop_s() -> float:
    """Return how long the fixed loop takes, the median of several times."""
    took = []
    for _ in range(LOOPS):
        start_s, number = time.perf_counter(), 1
        for step in range(STEPS):
            number = (number * 31 + step) % 1_000_003
        took.append(time.perf_counter() - start_s)
    return statistics.median(took)


def measured(tree: Path) -> dict[str, float]:
    """Return what is measured with the code of a tree, times in loops."""
    if (tree / "benchmarks" / "measure").is_dir():
        commands = [["-m", f"benchmarks.measure.{name}"] for name in SCRIPTS]
    else:
        commands = [["-c", COMMAND, "bench", name] for name in COMMANDS]
    return {what: value for one in commands for what, value in rows(tree, one).items()}


def rows(tree: Path, command: list[str]) -> dict[str, float]:
    """Return what one command measures."""
    before_s = loop_s()
    done = subprocess.run(
        [sys.executable, "-P", *command, "--json"],
        env={**os.environ, "PYTHONPATH": str(tree), "CAP_PHYSICS": "pybullet"},
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):  # 1: over a limit
        raise SystemExit(f"{command} in {tree} failed:\n{done.stderr}")
    unit_s = (before_s + loop_s()) / 2
    found = {}
    for row in json.loads(done.stdout):
        if "engines" in row:
            own = row["engines"]["cap"]
            found[row["what"]] = own["time_s"] / unit_s
        else:
            scale = SECONDS[row["unit"]] / unit_s if row["unit"] in SECONDS else 1.0
            found[OLD_NAMES.get(row["what"], row["what"])] = row["median"] * scale
    return found


def main() -> None:
    """Measure, and print the medians side by side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", default=FIRST)
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    parser.add_argument("--write", action="store_true", help=f"keep the commit's in {FILE.name}")
    given = parser.parse_args()
    git = ["git", "-C", str(ROOT), "worktree"]
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "tree"
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), given.commit], check=True)
        try:
            for number in range(given.rounds):
                pair = [(given.commit, tree), ("here", ROOT)]
                for name, where in pair if number % 2 == 0 else reversed(pair):
                    for what, value in measured(where).items():
                        values[what][name].append(value)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
    print(f"{given.commit:>12} {'here':>12}  here / {given.commit}; times in loops")
    lines = []
    for what, both in values.items():
        first, here = (
            statistics.median(both[name] or [float("nan")]) for name in (given.commit, "here")
        )
        print(f"{first:12.4g} {here:12.4g} {here / first if first else 1:12.2f}  {what}")
        lines.append(
            json.dumps({"commit": given.commit, "what": what, "value": float(f"{first:.4g}")})
        )
    if given.write:
        FILE.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
