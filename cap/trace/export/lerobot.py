"""Episodes as a LeRobot dataset, version 3.0: tables in Parquet, pictures as PNG inside them.

The folder is laid out as `LeRobotDataset` reads it: `meta/info.json` says what each column is,
`meta/stats.json` its mean and spread, `meta/tasks.parquet` the instructions, `meta/episodes/` where
each episode begins and ends, and `data/` has a row for each moment.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cap.errors import MissingExtra, UsageError, install_extra
from cap.robot.view import Placement

if TYPE_CHECKING:
    from PIL.Image import Image

VERSION = "v3.0"
FPS = 10
"""Moments in a simulated second."""
PICTURE_PX = 224
"""Width and height of the pictures."""
STATE, AROUND, PICTURE, ACTION = (
    "observation.state",
    "observation.environment_state",
    "observation.images.scene",
    "action",
)
HAND, BASE = "arm/hand", "robot"
"""What a robot's view calls its hand, and itself where it drives."""
_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
_FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
_FIRST = "chunk-000/file-000.parquet"


@dataclass(frozen=True)
class Moment:
    """What was seen at one moment."""

    state: tuple[float, ...]
    """The robot: see `state_names`."""
    around: tuple[float, ...]
    """Each object's xyz, metres, in the order of their names."""
    picture: bytes
    """The scene, as PNG."""


@dataclass(frozen=True)
class RecordedEpisode:
    """One instruction that was carried out."""

    task: str
    """The instruction."""
    success: bool
    """Whether its program ran to its end and did what was expected of it."""
    moments: Sequence[Moment]
    """From before it to after it; there is one at the least."""


def parquet() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(f"a LeRobot dataset needs pyarrow: {install_extra('lerobot')}") from None
    return pyarrow, pyarrow.parquet


def state_names(placements: Mapping[str, Placement]) -> list[str]:
    """Return what the numbers of a robot's state are: hand, fingers, base, as far as it has them.

    Raises:
        UsageError: Its view shows no hand.
    """
    if HAND not in placements:
        raise UsageError(f"the robot's view() has no '{HAND}', so its state is not known")
    names = [f"hand.{axis}" for axis in _POSE]
    names += ["fingers.gap"] if len(_fingers(placements)) == 2 else []
    return names + ([f"base.{axis}" for axis in _POSE] if BASE in placements else [])


def state_of(placements: Mapping[str, Placement]) -> tuple[float, ...]:
    """Return a robot's state: poses as metres and quaternions, the fingers' distance in metres."""
    fingers = _fingers(placements)
    gap = (math.dist(fingers[0][:3], fingers[1][:3]),) if len(fingers) == 2 else ()
    return (*placements[HAND], *gap, *placements.get(BASE, ()))


def _fingers(placements: Mapping[str, Placement]) -> list[Placement]:
    return [at for name, at in placements.items() if name.startswith(("arm/left_", "arm/right_"))]


def png(picture: Image) -> bytes:
    """Return a picture as PNG."""
    target = io.BytesIO()
    picture.convert("RGB").save(target, "PNG")
    return target.getvalue()


def write(
    folder: Path,
    episodes: Sequence[RecordedEpisode],
    robot: str,
    names: Mapping[str, Sequence[str]],
) -> None:
    """Write a dataset.

    Args:
        folder: Where; it must not be there yet.
        episodes: In order; there is one at the least.
        robot: What kind of robot it is of.
        names: What the numbers of `STATE` and `AROUND` are.

    Raises:
        MissingExtra: pyarrow is not installed.
        UsageError: The folder is there, or cannot be written.
    """
    pa, pq = parquet()
    tasks = list(dict.fromkeys(episode.task for episode in episodes))
    rows = list(_rows(episodes, tasks))
    features = _features(names)
    kinds = {"float32": pa.float32(), "int64": pa.int64(), "bool": pa.bool_()}
    kinds["image"] = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = {key: kinds[one["dtype"]] for key, one in features.items()}
    for key in (STATE, ACTION, AROUND):
        if key in features:
            columns[key] = pa.list_(columns[key], features[key]["shape"][0])
    info = {
        "codebase_version": VERSION,
        "robot_type": robot,
        "total_episodes": len(episodes),
        "total_frames": len(rows),
        "total_tasks": len(tasks),
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": FPS,
        "splits": {"train": f"0:{len(episodes)}"},
        "data_path": f"data/{_FILE}.parquet",
        "video_path": None,
        "features": features,
    }
    try:
        for part in ("meta/episodes/chunk-000", "data/chunk-000"):
            (folder / part).mkdir(parents=True)
        table = pa.Table.from_pylist(rows, pa.schema(columns))
        pq.write_table(table, folder / "data" / _FIRST)
        table = pa.Table.from_pylist(list(_spans(episodes)))
        pq.write_table(table, folder / "meta" / "episodes" / _FIRST)
        pq.write_table(_task_table(pa, tasks), folder / "meta" / "tasks.parquet")
        stats = {key: _stats(key, [row[key] for row in rows]) for key in features}
        for name, found in (("info", info), ("stats", stats)):
            path = folder / "meta" / f"{name}.json"
            path.write_text(json.dumps(found, ensure_ascii=False, indent=4), encoding="utf-8")
    except FileExistsError:
        raise UsageError(f"{folder} is there; name another folder with --out") from None
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}") from None


_SINGLE: Mapping[str, str] = {
    "next.reward": "float32",
    "next.done": "bool",
    "next.success": "bool",
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}
"""Columns of one value, and their kinds."""


def _features(names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return what each column is; there is none of objects where there are none."""
    found: dict[str, Any] = {
        key: {"dtype": "float32", "shape": [len(given)], "names": list(given)}
        for key, given in ((STATE, names[STATE]), (ACTION, names[STATE]), (AROUND, names[AROUND]))
        if given
    }
    sides = ["height", "width", "channels"]
    found[PICTURE] = {"dtype": "image", "shape": [PICTURE_PX, PICTURE_PX, 3], "names": sides}
    found |= {key: {"dtype": kind, "shape": [1], "names": None} for key, kind in _SINGLE.items()}
    return found


def _rows(episodes: Sequence[RecordedEpisode], tasks: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each moment.

    An action is the state of the next moment: where the robot went.
    """
    index = count()
    for number, episode in enumerate(episodes):
        last = len(episode.moments) - 1
        for frame, moment in enumerate(episode.moments):
            done = frame == last
            yield {
                STATE: moment.state,
                ACTION: episode.moments[min(frame + 1, last)].state,
                AROUND: moment.around,
                PICTURE: {"bytes": moment.picture, "path": None},
                "next.reward": float(done and episode.success),
                "next.done": done,
                "next.success": done and episode.success,
                "timestamp": frame / FPS,
                "frame_index": frame,
                "episode_index": number,
                "index": next(index),
                "task_index": tasks.index(episode.task),
            }


def _spans(episodes: Sequence[RecordedEpisode]) -> Iterator[dict[str, Any]]:
    """Yield where each episode begins and ends, and what it was about."""
    begin = 0
    for number, episode in enumerate(episodes):
        end = begin + len(episode.moments)
        yield {
            "episode_index": number,
            "tasks": [episode.task],
            "length": end - begin,
            "success": episode.success,
            "data/chunk_index": 0,
            "data/file_index": 0,
            "dataset_from_index": begin,
            "dataset_to_index": end,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
        }
        begin = end


def _task_table(pa: Any, tasks: Sequence[str]) -> Any:
    """Return the instructions with their numbers; pandas reads the words as the index."""
    table = pa.table({"task_index": list(range(len(tasks))), "task": list(tasks)})
    columns = [
        {
            "name": name,
            "field_name": name,
            "pandas_type": kind,
            "numpy_type": stored,
            "metadata": None,
        }
        for name, kind, stored in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
    ]
    schema = {"index_columns": ["task"], "column_indexes": [], "columns": columns}
    schema["pandas_version"] = "2.0.0"
    return table.replace_schema_metadata({"pandas": json.dumps(schema)})


def _stats(key: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return least, greatest, mean and spread of a column; of pictures by channel, 0 to 1."""
    shape: tuple[int, ...]
    if key == PICTURE:
        from PIL import Image

        some = values[:: max(1, len(values) // 100)]
        pictures = [np.asarray(Image.open(io.BytesIO(one["bytes"]))) for one in some]
        rows, shape, n = np.concatenate(pictures).reshape(-1, 3) / 255.0, (3, 1, 1), len(some)
    else:
        rows = np.asarray(values, np.float64).reshape(len(values), -1)
        shape, n = (rows.shape[1],), len(values)
    found = {"min": rows.min(0), "max": rows.max(0), "mean": rows.mean(0), "std": rows.std(0)}
    return {**{name: one.reshape(shape).tolist() for name, one in found.items()}, "count": [n]}
