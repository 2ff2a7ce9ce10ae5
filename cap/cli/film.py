"""Pictures and films of a run: PNG, GIF, MP4, and files for Rerun and LeRobot."""

from __future__ import annotations

import importlib
import io
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cap.cli.options import SessionOptions
from cap.cli.output import remark, writing
from cap.cli.session import differing, replayed
from cap.errors import MissingExtra, UsageError, install_extra
from cap.messages import shown_call
from cap.robot.view import Shape, Viewable, lathe_mesh
from cap.trace.export import lerobot
from cap.trace.trace import Event

MAX_FRAMES = 900
FILM_PX = 320
PICTURE_PX = 480
_FILM_EVERY_S = 0.125
"""Simulated seconds between two frames of a film."""
FRAME_MS = 60
"""Milliseconds each frame is shown: twice the simulated speed."""
LAST_MS = 1500
"""Milliseconds the last frame is shown."""
_SAMPLED = 40
"""How many of a film's frames, all along it, decide on its colours."""
FRAME_EVERY_S = 0.05
"""Simulated seconds between two moments of a Rerun file."""
CAMERA_EVERY = 10
"""Every so many of them have a picture."""
CAMERA_PX = 320


class Film:
    """Sees a simulated robot while it moves, and not while programs are only tried."""

    def __init__(self, session: Any, frame_every_s: float) -> None:
        """Watch a session from here on; its first frame is how it begins.

        Args:
            session: Whose.
            frame_every_s: Simulated seconds between two frames.
        """
        self.robot: Any = session.robot
        session.trace.listeners.append(self.hear)
        self.robot.frame_every_s = frame_every_s
        self.robot.on_frame = self.frame
        self.frame()

    def hear(self, event: Event) -> None:
        """Take in one event of the trace."""
        if event.kind in ("trying", "tried_all"):
            self.robot.on_frame = self.frame if event.kind == "tried_all" else None

    def frame(self) -> None:
        """Keep what is seen at this moment."""
        raise NotImplementedError


class Pictures(Film):
    """Takes pictures of a session's turns, and films it."""

    def __init__(self, session: Any, film: Path | None) -> None:
        """Begin.

        Args:
            session: Its run folder gets the pictures.
            film: The file of the film, GIF or MP4; None for pictures only.

        Raises:
            UsageError: The film cannot be written, or the robot makes no pictures.
        """
        name = session.robot.name
        if not hasattr(session.robot, "render"):
            raise UsageError(f"robot '{name}' cannot render pictures; leave out --gif/--pictures")
        self._folder: Path = session.trace.folder
        self._film = film
        self._frames: list[bytes] = []
        """As PNG: a film's colours are chosen when all of it is there."""
        if film is not None:
            with writing(film):
                film.parent.mkdir(parents=True, exist_ok=True)
                film.open("ab").close()
        super().__init__(session, _FILM_EVERY_S)
        self._paths = [self._save("before.png")]

    def frame(self) -> None:
        """Keep a frame of the film, if there is to be one."""
        if self._film is not None and len(self._frames) < MAX_FRAMES:
            self._frames.append(lerobot.png(self.robot.render(FILM_PX, FILM_PX)))

    def turn(self, turn: Any = None) -> None:
        """Keep a picture of how a turn left things."""
        self._paths.append(self._save(f"turn-{len(self._paths)}.png"))

    def finish(self) -> list[Path]:
        """Write the last picture and the film; return the files, in order."""
        self.robot.on_frame = None
        paths = [*self._paths, self._save("after.png")]
        if hasattr(self.robot, "svg"):  # what was drawn, as lines
            paths.append(self._folder / "after.svg")
            paths[-1].write_text(self.robot.svg(), encoding="utf-8")
        if self._film is not None:
            self._frames.append(lerobot.png(self.robot.render(FILM_PX, FILM_PX)))
            write = _write_mp4 if self._film.suffix.lower() == ".mp4" else _write_gif
            write(self._film, self._frames)
            paths.append(self._film)
        return paths

    def _save(self, name: str) -> Path:
        path = self._folder / name
        self.robot.render(PICTURE_PX, PICTURE_PX).save(path)
        return path


_NEEDED = {
    "mp4": ("av", "an MP4 file needs PyAV", "video"),
    "rrd": ("rerun", "a file for Rerun needs its SDK", "rerun"),
    "lerobot": ("pyarrow", "a LeRobot dataset needs pyarrow", "lerobot"),
}
"""What writes a format: a package, its name, and the extra that installs it."""


def _library(to: str) -> Any:
    """Return the package that writes a format.

    Raises:
        MissingExtra: It is not installed.
    """
    package, what, extra = _NEEDED[to]
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingExtra(f"{what}: {install_extra(extra)}") from None


def _opened(frame: bytes) -> Any:
    """Return a frame as a picture."""
    from PIL import Image

    return Image.open(io.BytesIO(frame)).convert("RGB")


def _write_mp4(path: Path, frames: Sequence[bytes]) -> None:
    """Write frames, as PNG, as an MP4 file."""
    av = _library("mp4")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=round(1000 / FRAME_MS))
        stream.width = stream.height = FILM_PX
        stream.pix_fmt = "yuv420p"
        for frame in (*frames, *[frames[-1]] * round(LAST_MS / FRAME_MS)):
            container.mux(stream.encode(av.VideoFrame.from_image(_opened(frame))))
        container.mux(stream.encode())


def _write_gif(path: Path, frames: Sequence[bytes]) -> None:
    """Write frames, as PNG, as a GIF in one palette: a thing has one colour from end to end."""
    from PIL import Image

    sampled = frames[:: -(-len(frames) // _SAMPLED)]
    sheet = Image.new("RGB", (FILM_PX, FILM_PX * len(sampled)))
    for number, frame in enumerate(sampled):
        sheet.paste(_opened(frame), (0, FILM_PX * number))
    # The octree keeps the colour of small things, however little of the picture they fill.
    palette = sheet.quantize(method=Image.Quantize.FASTOCTREE)
    plain = Image.Dither.NONE
    first, *rest = (_opened(frame).quantize(palette=palette, dither=plain) for frame in frames)
    durations = [FRAME_MS] * len(rest) + [LAST_MS]
    first.save(path, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)


def film_run(
    folder: Path, out: Path, to: str, robot: str | None, robot_options: tuple[str, ...]
) -> int:
    """Repeat a run and write what is seen; exit code 1 if it came out differently.

    Args:
        folder: The run.
        out: The file; of a LeRobot dataset the folder.
        to: `gif`, `mp4`, `rrd` or `lerobot`.
        robot: The file of the run's robot, where it is none of the registered ones.
        robot_options: The robot's own, as `-R` takes them.

    Raises:
        MissingExtra: What writes the format is not installed.
        UsageError: The run cannot be repeated, or the robot cannot be drawn.
    """
    if to in _NEEDED:
        _library(to)  # what is missing is named before the run is repeated
    if to == "lerobot" and out.exists():
        raise UsageError(f"{out} is there; name another folder with --out")
    with tempfile.TemporaryDirectory() as place:
        again, made = Path(place) / "run", Path(place) / f"film.{to}"
        options = SessionOptions(out=again, robot=robot, robot_options=robot_options)
        with replayed(options, folder) as (session, steps):
            kinds: dict[str, Any] = {"rrd": RerunFile, "lerobot": Dataset}
            film = kinds.get(to, Pictures)(session, made)
            other = differing(steps, film)
            film.finish()
        with writing(out):
            (shutil.copytree if made.is_dir() else shutil.copyfile)(made, out)
    for text in other:
        remark(f"result differs from the run: {text}")
    click.echo(str(out))
    return 1 if other else 0


class RerunFile(Film):
    """Writes a session for Rerun: arm, objects, ink, camera, and calls as text, on one timeline."""

    def __init__(self, session: Any, path: Path) -> None:
        """Begin a file."""
        if not isinstance(session.robot, Viewable):
            raise UsageError(f"robot '{session.robot.name}' cannot be drawn in three dimensions")
        self._sdk = _library("rrd")
        self._stream = self._sdk.RecordingStream("cap", recording_id=session.trace.folder.name)
        self._stream.save(str(path))
        self._stream.log("world", self._sdk.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        self._known: set[str] = set()
        self._frames, self._inked = 0, False
        super().__init__(session, FRAME_EVERY_S)

    def turn(self, turn: Any = None) -> None:
        """Show how a turn left things."""
        self.frame()

    def finish(self) -> None:
        """Write the end, and close the file."""
        self.robot.on_frame = None
        self.frame()
        self._stream.flush()
        self._stream.disconnect()

    def hear(self, event: Event) -> None:
        """Write an instruction, a program, a call or a failure as text."""
        super().hear(event)
        kind, data, text, level = event.kind, event.data, "", "ERROR"
        self._set_time()
        if kind == "program":
            code = f"```python\n{data['source']}\n```"
            document = self._sdk.TextDocument(code, media_type="text/markdown")
            self._stream.log("program", document)
        elif kind == "instruction":
            text, level = str(data["text"]), "INFO"
        elif kind == "failure":
            text = str(data["message"])
        elif kind == "call":
            text = shown_call(data["name"], data["args"], data["kwargs"])
            if data["error"] is None:
                level = "DEBUG"
            else:
                text += f": {data['error']}"
        if text:
            self._stream.log("calls", self._sdk.TextLog(text, level=level))

    def _set_time(self) -> None:
        """Set the moment of what is written next, on the thread that writes it."""
        self._stream.set_time("simulated", duration=FRAME_EVERY_S * self._frames)

    def frame(self) -> None:
        """Write where everything is at this moment."""
        sdk, stream = self._sdk, self._stream
        self._frames += 1
        self._set_time()
        view = self.robot.view()
        if new := view.placements.keys() - self._known:
            self._known |= new
            for name, shapes in self.robot.shapes().items():
                for number, shape in enumerate(shapes if name in new else ()):
                    place, solid = _archetypes(sdk, shape)
                    own = [*_path(name), str(number)]
                    stream.log(own, place, static=True)
                    stream.log([*own, "solid"], solid, static=True)
        for name, place in view.placements.items():
            turn = sdk.Quaternion(xyzw=place[3:])
            stream.log(_path(name), sdk.Transform3D(translation=place[:3], quaternion=turn))
        self._inked = self._inked or bool(view.lines)
        if self._inked:
            strips, colors = [one.points for one in view.lines], [one.color for one in view.lines]
            stream.log(["world", "lines"], sdk.LineStrips3D(strips, colors=colors, radii=0.002))
        if self._frames % CAMERA_EVERY == 1:
            picture = self.robot.render(CAMERA_PX, CAMERA_PX)
            stream.log("camera", sdk.Image(picture).compress(jpeg_quality=80))


class Dataset(Film):
    """Writes a session as a LeRobot dataset: an episode for each turn."""

    def __init__(self, session: Any, path: Path) -> None:
        """Begin.

        Raises:
            UsageError: The robot cannot be drawn in three dimensions, or shows no hand.
        """
        robot = session.robot
        self._path = path
        if not isinstance(robot, Viewable) or not hasattr(robot, "render"):
            raise UsageError(f"robot '{robot.name}' cannot be drawn in three dimensions")
        placements = robot.view().placements
        self._where = {
            name: placements[name][:3] for name in placements if name.startswith("objects/")
        }
        """Where each object was seen last: those that are there when it begins."""
        names = [name.removeprefix("objects/") for name in self._where]
        self._names = {
            lerobot.STATE: lerobot.state_names(placements),
            lerobot.AROUND: [f"{name}.{axis}" for name in names for axis in "xyz"],
        }
        self._episodes: list[lerobot.RecordedEpisode] = []
        self._moments: list[lerobot.Moment] = []
        super().__init__(session, 1.0 / lerobot.FPS)

    def turn(self, turn: Any = None) -> None:
        """End an episode with its turn; what was no turn leaves none."""
        self.frame()
        if turn is not None:
            self._episodes.append(lerobot.RecordedEpisode(turn.instruction, turn.ok, self._moments))
        self._moments = self._moments[-1:]

    def finish(self) -> None:
        """Write the dataset.

        Raises:
            UsageError: There is no turn in the run.
        """
        self.robot.on_frame = None
        if not self._episodes:
            raise UsageError("the run has no turn that ended, so there is no episode in it")
        lerobot.write(self._path, self._episodes, self.robot.name, self._names)

    def frame(self) -> None:
        """Keep what is seen at this moment."""
        placements = self.robot.view().placements
        self._where = {name: placements.get(name, at)[:3] for name, at in self._where.items()}
        around = tuple(number for at in self._where.values() for number in at)
        picture = lerobot.png(self.robot.render(lerobot.PICTURE_PX, lerobot.PICTURE_PX))
        self._moments.append(lerobot.Moment(lerobot.state_of(placements), around, picture))


def _path(name: str) -> list[str]:
    return ["world", *name.split("/")]


def _archetypes(sdk: Any, shape: Shape) -> tuple[Any, Any]:
    """Return where a shape is in its body, and what Rerun draws for it."""
    place = sdk.Transform3D(translation=shape.at[:3], quaternion=sdk.Quaternion(xyzw=shape.at[3:]))
    if shape.kind == "box":
        solid: Any = sdk.Boxes3D(sizes=[shape.size], colors=[shape.color], fill_mode="solid")
    elif shape.kind == "cylinder":
        radius, height = shape.size
        solid = sdk.Cylinders3D(
            radii=[radius], lengths=[height], colors=[shape.color], fill_mode="solid"
        )
    else:
        vertices, faces = lathe_mesh(shape.profile)
        solid = sdk.Mesh3D(
            vertex_positions=vertices,
            triangle_indices=faces,
            vertex_colors=[shape.color] * len(vertices),
        )
    return place, solid
