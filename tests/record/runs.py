"""Run folders that an earlier version wrote: what resuming, replaying, showing, exporting gives.

The folders are in `runs.jsonl`, a line for each file. `python -m tests.record.runs` writes it with
the version at hand; it is not written again, so that later versions are tried on what an earlier
one wrote.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.record import doors
from tests.record.commands import FILES, ran
from tests.record.record import Case, Seen, Skipped

RUNS = Path(__file__).parent / "runs.jsonl"
PUT = "put the red block in the blue bowl"
ERRAND = ["--objects", "apple, orange, bowl, cup @ desk", "--seed", "2"]
SORTED = ["--objects", "red block, blue block, red bowl, blue bowl"]
MADE: Mapping[str, tuple[list[str], str]] = {
    "plain": (["run", PUT, "now move it to the top right corner"], ""),
    "failing": (["run", PUT, "put it there", "-m", "model.py", "--set", "runtime_repairs=0"], ""),
    "repaired": (["run", "put it where it belongs", "-m", "model.py"], ""),
    "undone": (["repl", "--seed", "1"], f"{PUT}\nstack all the blocks\n/undo 2\n/redo\n{PUT}\n"),
    "undone-by-words": (["run", PUT, "undo that"], ""),
    "sampled": (["run", "tidy up", "-m", "model.py", "--samples", "3"], ""),
    "dry-run": (["run", PUT, "--dry-run"], ""),
    "generated": (["run", "sort the blocks", "-m", "model.py", *SORTED], ""),
    "kitchen": (
        ["run", "put the fruit in the bowl", "open the top drawer", "-r", "kitchen", *ERRAND],
        "",
    ),
    "kitchen-own-scene": (["run", "open the top drawer", "-r", "kitchen"], ""),
    "drawing": (["run", "draw a hexagon around the middle", "-r", "drawing"], ""),
    "planned": (["plan", "bring me something to clean up the spill"], ""),
    "batch": (["batch", "batch.toml", "--quiet", "--jobs", "1"], ""),
}
"""The folders by name: the command that wrote each, and its standard input."""
SESSIONS = [name for name in MADE if name not in ("planned", "batch")]
FILMED = ("plain", "undone", "kitchen", "drawing")
LIBRARIES = {"gif": "PIL", "mp4": "av", "rrd": "rerun", "lerobot": "pyarrow"}
"""What reads each export."""


@cache
def _written() -> Mapping[str, Mapping[str, str]]:
    """Return the text of each folder's files."""
    found: dict[str, dict[str, str]] = {}
    for line in RUNS.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        found.setdefault(entry["run"], {})[entry["file"]] = entry["text"]
    return found


def unpack(name: str, folder: Path) -> None:
    """Write a run folder as the earlier version did, with what it names beside it."""
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    for file, text in _written()[name].items():
        path = folder / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def cases() -> Mapping[str, Case]:
    """Return what is done with each folder."""
    found: dict[str, Case] = {}
    for name in MADE:
        todo = {"show": ["trace", "show", name], "events": ["trace", "show", name, "--json"]}
        if name in SESSIONS:
            last = "go to the desk" if name.startswith("kitchen") else "undo that"
            todo["resume"] = ["run", last, "--resume", name, "--json"]
            todo["replay"] = ["run", "--replay", name, "--json"]
        elif name == "batch":
            todo = {
                "resume": ["batch", "batch.toml", "--resume", "--out", name, "--json", "--quiet"],
                "report": ["bench", "report", name, "--json"],
            }
        for what, arguments in todo.items():
            found[f"{name}: {what}"] = partial(_done, name, arguments)
    return found


def _done(name: str, arguments: list[str]) -> Seen:
    with tempfile.TemporaryDirectory() as place:
        unpack(name, Path(place))
        return Seen(*ran(Path(place), arguments))


def exports() -> Mapping[str, Case]:
    """Return the exports: HTML and Markdown of every folder, films and data sets of some."""
    found: dict[str, Case] = {
        f"{name}: {to}": partial(_page, name, to) for name in SESSIONS for to in ("html", "md")
    }
    found["batch: report"] = _report
    for name in FILMED:
        for to, library in LIBRARIES.items():
            found[f"{name}: {to}"] = partial(_film, name, to, library)
    return found


def _page(name: str, to: str) -> Seen:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        unpack(name, folder)
        behaviour, wording = ran(folder, ["trace", "export", name, "--to", to, "--out", "page"])
        return Seen(behaviour, {**wording, to: _text(folder / "page", folder)})


def _report() -> Seen:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        unpack("batch", folder)
        behaviour, wording = ran(folder, ["bench", "report", "batch"])
        pages = {
            name: _text(folder / "batch" / f"report.{name}", folder) for name in ("html", "md")
        }
        return Seen(behaviour, wording | pages)


def _text(path: Path, folder: Path) -> str:
    """Return a page's text, without the drawings in it."""
    import re

    from tests.record.values import steady

    if not path.exists():
        return "<no file>"
    text = steady(path.read_text(encoding="utf-8"), folder, doors.ROOT)
    text = re.sub(r"<svg.*?</svg>", "<svg>", text, flags=re.DOTALL)
    return re.sub(r"data:[\w/+;=-]+,[\w+/=%.-]+", "<data>", text)


def _film(name: str, to: str, library: str) -> Seen | Skipped:
    if find_spec(library) is None:
        return Skipped(f"{library} is not installed")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        unpack(name, folder)
        behaviour, wording = ran(folder, ["trace", "export", name, "--to", to, "--out", f"x.{to}"])
        path = folder / f"x.{to}"
        behaviour["holds"] = _READERS[to](path) if path.exists() else None
        return Seen(behaviour, wording)


def _gif(path: Path) -> Any:
    from PIL import Image

    with Image.open(path) as film:
        return {"pictures": getattr(film, "n_frames", 1), "size": list(film.size)}


def _mp4(path: Path) -> Any:
    import av

    with av.open(str(path)) as film:
        frames = list(film.decode(video=0))
    return {"pictures": len(frames), "size": [frames[0].width, frames[0].height]}


def _rrd(path: Path) -> Any:
    from rerun.chunk import RrdReader

    chunks = RrdReader(path).stream().to_chunks()
    return {"entities": sorted({str(chunk.entity_path) for chunk in chunks})}


def _lerobot(path: Path) -> Any:
    from pyarrow import parquet

    info = json.loads((path / "meta/info.json").read_text(encoding="utf-8"))
    tables = {
        str(file.relative_to(path)): parquet.read_table(file) for file in path.rglob("*.parquet")
    }
    shapes = {name: [table.num_rows, *table.column_names] for name, table in tables.items()}
    return {
        "info": {key: info[key] for key in sorted(info)},
        "tables": dict(sorted(shapes.items())),
    }


_READERS = {"gif": _gif, "mp4": _mp4, "rrd": _rrd, "lerobot": _lerobot}


def write() -> None:
    """Write the run folders with the version at hand."""
    lines = []
    for name, (arguments, given) in MADE.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            shutil.copytree(FILES, folder, dirs_exist_ok=True)
            instant = [] if "--dry-run" in arguments or name == "batch" else ["--mode", "instant"]
            done = doors.run_cap(folder, *arguments, *instant, "--out", name, given=given)
            print(f"{name}: exit code {done.returncode}")
            for path in sorted((folder / name).rglob("*")):
                if path.is_file() and path.suffix not in (".html", ".png", ".svg"):
                    text = path.read_text(encoding="utf-8").replace(str(folder), "/home/me")
                    file = str(path.relative_to(folder / name))
                    lines.append(json.dumps({"run": name, "file": file, "text": text}))
    RUNS.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    write()
