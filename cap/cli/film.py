"""A run repeated in simulation to be filmed: as GIF, as MP4, for Rerun or LeRobot."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import click

from cap.cli.options import SessionOptions
from cap.cli.output import writing
from cap.cli.pictures import Film, Pictures, video
from cap.cli.resume import replayed
from cap.errors import MissingExtra, UsageError, install_extra
from cap.messages import printable, shown_call
from cap.robot.view import Shape, Viewable, lathe_mesh
from cap.trace.export import lerobot
from cap.trace.trace import Event

FRAME_EVERY_S = 0.05
"""Simulated seconds between two moments of a Rerun file."""
CAMERA_EVERY = 10
"""Every so many of them have a picture."""
CAMERA_PX = 320
DATASET_PX = 224
"""Width and height of a dataset's pictures."""


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
    if to == "mp4":
        video()
    elif to == "rrd":
        _rerun()
    elif to == "lerobot":
        lerobot.parquet()
        if out.exists():
            raise UsageError(f"{out} is there; name another folder with --out")
    other = []
    with tempfile.TemporaryDirectory() as place:
        again, made = Path(place) / "run", Path(place) / f"film.{to}"
        options = SessionOptions(out=again, robot=robot, robot_options=robot_options)
        with replayed(options, folder) as (session, steps):
            kinds: dict[str, Any] = {"rrd": RerunFile, "lerobot": Dataset}
            film = kinds.get(to, Pictures)(session, made)
            for entry in steps:
                film.turn(entry.turn)
                other += [] if entry.same else [entry.step.text]
            film.finish()
        with writing(out):
            (shutil.copytree if made.is_dir() else shutil.copyfile)(made, out)
    for text in other:
        click.echo(f"result differs from the run: {printable(text)}", err=True)
    click.echo(str(out))
    return 1 if other else 0


def _rerun() -> Any:
    """Return the module that writes files for Rerun.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import rerun
    except ImportError:
        raise MissingExtra(f"a file for Rerun needs its SDK: {install_extra('rerun')}") from None
    return rerun


class RerunFile(Film):
    """Writes a session for Rerun: arm, objects, ink, camera, and calls as text, on one timeline."""

    def __init__(self, session: Any, path: Path) -> None:
        """Begin a file."""
        if not isinstance(session.robot, Viewable):
            raise UsageError(f"robot '{session.robot.name}' cannot be drawn in three dimensions")
        self._sdk = _rerun()
        self._stream = self._sdk.RecordingStream("cap", recording_id=session.trace.folder.name)
        self._stream.save(str(path))
        self._stream.log("world", self._sdk.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        self._known: set[str] = set()
        self._lines = 0
        self._frames = 0
        self._moment_s = self._rest_s = 0.0
        """What the timeline shows, now and when nothing moved last; it never goes back."""
        self._last_s = 0.0
        """What the world's clock showed then; within a motion it stands still."""
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
        data, sdk = event.data, self._sdk
        self._stream.set_time("simulated", duration=self._moment_s)  # each thread has its own
        if event.kind == "instruction":
            self._stream.log("calls", sdk.TextLog(str(data["text"]), level="INFO"))
        elif event.kind == "program":
            code = f"```python\n{data['source']}\n```"
            self._stream.log("program", sdk.TextDocument(code, media_type="text/markdown"))
        elif event.kind == "call":
            level = "DEBUG" if data["error"] is None else "ERROR"
            text = shown_call(data["name"], data["args"], data["kwargs"])
            came = "" if data["error"] is None else f": {data['error']}"
            self._stream.log("calls", sdk.TextLog(text + came, level=level))
        elif event.kind == "failure":
            self._stream.log("calls", sdk.TextLog(str(data["message"]), level="ERROR"))

    def frame(self) -> None:
        """Write where everything is at this moment."""
        now_s = float(getattr(self.robot, "sim_time_s", 0.0))
        self._moment_s += FRAME_EVERY_S
        if now_s != self._last_s:
            self._moment_s = max(self._moment_s, self._rest_s + now_s - self._last_s)
            self._last_s, self._rest_s = now_s, self._moment_s
        sdk, stream = self._sdk, self._stream
        stream.set_time("simulated", duration=self._moment_s)
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
        if view.lines or self._lines:
            strips = [line.points for line in view.lines]
            colors = [line.color for line in view.lines]
            stream.log(["world", "lines"], sdk.LineStrips3D(strips, colors=colors, radii=0.002))
        self._lines = len(view.lines)
        if self._frames % CAMERA_EVERY == 0:
            picture = self.robot.render(CAMERA_PX, CAMERA_PX)
            stream.log("camera", sdk.Image(picture).compress(jpeg_quality=80))
        self._frames += 1


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
        lerobot.write(self._path, self._episodes, self.robot.name, self._names, DATASET_PX)

    def frame(self) -> None:
        """Keep what is seen at this moment."""
        placements = self.robot.view().placements
        self._where = {name: placements.get(name, at)[:3] for name, at in self._where.items()}
        around = tuple(number for at in self._where.values() for number in at)
        picture = lerobot.png(self.robot.render(DATASET_PX, DATASET_PX))
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
