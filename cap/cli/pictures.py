"""Pictures of a run: before, after each turn, after all, and a film of what happened between."""

from __future__ import annotations

import io
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cap.cli.output import writing
from cap.errors import MissingExtra, UsageError, install_extra
from cap.trace.trace import Event

MAX_FRAMES = 900
FILM_PX = 320
PICTURE_PX = 480
TRIED_PX, TRIED_IN_A_ROW, MOST_TRIED = 240, 4, 20
"""Size and number of the pictures of programs that were tried."""
FRAME_EVERY_S = 0.125
FRAME_MS = 60
"""Milliseconds each frame is shown: twice the simulated speed."""
_LOOKED_AT = 40
"""So many of a film's frames, all along it, decide on its colours."""
_COMMON = 128
"""So many of a film's colours are those that fill most of it; the rest are the most various."""


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


def wanted(session: Any, gif: Path | None, pictures: bool) -> Pictures | None:
    """Begin the pictures of a session, if any were asked for."""
    return Pictures(session, gif) if gif is not None or pictures else None


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
        self._turns: list[Path] = []
        self._tried: dict[int, Any] = {}
        """What programs did that were tried in this round, by number."""
        self._round = 1
        if film is not None:
            with writing(film):
                film.parent.mkdir(parents=True, exist_ok=True)
                film.open("ab").close()
        super().__init__(session, FRAME_EVERY_S)
        self._save("before.png")

    def hear(self, event: Event) -> None:
        """Take a small picture of what each program did that was only tried; nobody films those."""
        super().hear(event)
        if event.kind in ("instruction", "round") and not event.depth:
            self._round = event.data.get("number", 1)
        elif event.kind == "trying":
            self._tried.clear()
        elif event.kind == "tried" and hasattr(event.data["robot"], "render"):
            small = event.data["robot"].render(TRIED_PX, TRIED_PX).convert("RGB")
            self._tried[event.data["number"]] = small
        elif event.kind == "samples" and self._tried:
            self._turns.append(self._side_by_side(event.data))

    def _side_by_side(self, data: Mapping[str, Any]) -> Path:
        """Write the pictures of what was tried, the chosen one framed, each with its number."""
        from PIL import Image, ImageDraw

        shown = sorted(self._tried)[:MOST_TRIED]
        wide = min(len(shown), TRIED_IN_A_ROW)
        high = -(-len(shown) // TRIED_IN_A_ROW)
        sheet = Image.new("RGB", (wide * TRIED_PX, high * TRIED_PX), "white")
        draw = ImageDraw.Draw(sheet)
        for place, number in enumerate(shown):
            x, y = (place % TRIED_IN_A_ROW) * TRIED_PX, (place // TRIED_IN_A_ROW) * TRIED_PX
            sheet.paste(self._tried[number], (x, y))
            same = [str(one["number"]) for one in data["tried"] if one["same_as"] == number]
            failed = any(one["failed"] for one in data["tried"] if one["number"] == number)
            label = ", ".join([str(number), *same]) + (" failed" if failed else "")
            draw.rectangle(draw.textbbox((x + 8, y + 6), label, font_size=16), fill="white")
            draw.text((x + 8, y + 6), label, fill="black", font_size=16)
            chosen = number == data["chosen"]
            edge = (x, y, x + TRIED_PX - 1, y + TRIED_PX - 1)
            draw.rectangle(
                edge, outline="#1a7f37" if chosen else "#b0b0b0", width=4 if chosen else 1
            )
        further = "" if self._round == 1 else f"-{self._round}"
        path = self._folder / f"turn-{self._number()}-tried{further}.png"
        sheet.save(path)
        return path

    def _number(self) -> int:
        """Return the number of the turn that goes on."""
        return sum(1 for path in self._turns if "-tried" not in path.stem) + 1

    def turn(self, turn: Any = None) -> None:
        """Keep a picture of how a turn left things."""
        self._turns.append(self._save(f"turn-{self._number()}.png"))

    def finish(self) -> list[Path]:
        """Write the last picture and the GIF; return the files, in order."""
        self.robot.on_frame = None
        paths = [self._folder / "before.png", *self._turns, self._save("after.png")]
        if hasattr(self.robot, "svg"):  # what was drawn, for those who want the lines
            paths.append(self._folder / "after.svg")
            paths[-1].write_text(self.robot.svg(), encoding="utf-8")
        if self._film is not None:
            self._frames.append(_png(self.robot.render(FILM_PX, FILM_PX)))
            if self._film.suffix.lower() == ".mp4":
                write_mp4(self._film, self._frames)
            else:
                durations = [FRAME_MS] * (len(self._frames) - 1) + [1500]
                first, *rest = _in_few_colors(self._frames)
                moving = {"append_images": rest, "duration": durations, "loop": 0}
                first.save(self._film, format="GIF", save_all=True, **moving)
            paths.append(self._film)
        return paths

    def frame(self) -> None:
        """Keep a frame of the film, if there is to be one."""
        if self._film is not None and len(self._frames) < MAX_FRAMES:
            self._frames.append(_png(self.robot.render(FILM_PX, FILM_PX)))

    def _save(self, name: str) -> Path:
        path = self._folder / name
        self.robot.render(PICTURE_PX, PICTURE_PX).save(path)
        return path


def _png(picture: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, format="PNG", compress_level=1)
    return file.getvalue()


def video() -> Any:
    """Return the module that writes videos.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import av
    except ImportError:
        raise MissingExtra(
            f"an MP4 file needs PyAV: {install_extra('video')}; or export a GIF"
        ) from None
    return av


def write_mp4(path: Path, frames: Sequence[bytes]) -> None:
    """Write frames, as PNG, as an MP4 file.

    Raises:
        MissingExtra: What writes them is not installed.
    """
    from PIL import Image

    with video().open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=round(1000 / FRAME_MS))
        stream.width = stream.height = FILM_PX
        stream.pix_fmt = "yuv420p"
        for frame in (*frames, *[frames[-1]] * round(1500 / FRAME_MS)):
            with Image.open(io.BytesIO(frame)) as picture:
                shown = video().VideoFrame.from_image(picture.convert("RGB"))
            container.mux(stream.encode(shown))
        container.mux(stream.encode())


def _in_few_colors(frames: Sequence[bytes]) -> list[Any]:
    """Return a film's frames in one palette, so that a thing has one colour from end to end.

    Half of it are the colours of large areas; the other half are the most various ones, so that a
    small thing keeps its colour however little of the picture it fills.
    """
    from PIL import Image

    def read(frame: bytes) -> Any:
        return Image.open(io.BytesIO(frame)).convert("RGB")

    counts: Counter[tuple[int, int, int]] = Counter()
    for frame in frames[:: -(-len(frames) // _LOOKED_AT)]:
        picture = read(frame)
        counts.update({color: n for n, color in picture.getcolors(picture.width * picture.height)})
    common = [color for color, _ in counts.most_common(_COMMON)]
    rest = list(counts)
    strip = Image.new("RGB", (len(rest), 1))
    strip.putdata(rest)
    various = strip.quantize(256 - _COMMON, method=Image.Quantize.MAXCOVERAGE).getpalette()
    palette = Image.new("P", (1, 1))
    palette.putpalette([*itertools.chain.from_iterable(common), *(various or [])])
    return [read(f).quantize(palette=palette, dither=Image.Dither.NONE) for f in frames]
