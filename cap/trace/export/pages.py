"""A run as one HTML file or as Markdown, each from a template.

Texts of models, programs and objects are shown, never interpreted: the environment cuts and escapes
each value that a template prints. The HTML file loads nothing, works offline, and its own policy
lets no script run but the player of the films.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cap.messages import clipped, counted, is_real, printable, usage_line
from cap.trace.export.run_record import RunRecord

MAX_CHARS = 20_000
"""How much of one text is shown."""
MAX_ROWS = 200
"""How many turns, parts of a turn, calls of a program and so on are shown."""
PICTURE_PX = 400
"""Longest edge of a picture in the page."""
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]|!#"} | {"<": "&lt;", ">": "&gt;"})
"""What Markdown would not show as it is."""


def html(run: RunRecord) -> str:
    """Return a run as an HTML page."""
    player = _resource("player.js")
    digest = base64.b64encode(hashlib.sha256(player.encode()).digest()).decode()
    views = json.dumps(run.views[:MAX_ROWS], separators=(",", ":")).replace("<", "\\u003c")
    return (
        environment("cap.trace.export", as_text)
        .get_template("page.html.jinja")
        .render(
            run=run,
            style=Markup(_resource("page.css")),
            player=Markup(player),
            digest=digest,
            views=Markup(views),
            filmed={view["turn"] for view in run.views[:MAX_ROWS]},
            picture=_picture,
        )
    )


def markdown(run: RunRecord) -> str:
    """Return a run as Markdown: for a note, an issue, a lab book."""
    pages = environment("cap.trace.export", _markdown)
    return pages.get_template("page.md.jinja").render(run=run, block=_block)


def _resource(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def environment(package: str, shown: Callable[[Any], Any]) -> Environment:
    """Return the environment of a package's templates.

    Args:
        package: Whose folder has them.
        shown: Prepares each value that is printed.
    """
    made = Environment(
        loader=PackageLoader(package, ""),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"cut": lambda text: clipped(text, MAX_CHARS), "usage": usage_line}
    made.globals |= {"counted": counted, "is_real": is_real, "MAX_ROWS": MAX_ROWS}
    return made


def as_text(value: Any) -> Any:
    """Return text of bounded length, without control characters; jinja2 escapes it."""
    return value if isinstance(value, Markup) else clipped(str(value), MAX_CHARS)


def _markdown(value: Any) -> Markup:
    """Return text in one line that Markdown shows as it is."""
    if isinstance(value, Markup):
        return value
    return Markup(" ".join(as_text(value).split()).translate(_ESCAPED))


def _block(source: str) -> Markup:
    """Return a block of code, with a fence that is longer than any in it."""
    shown = clipped(source.rstrip(), MAX_CHARS)
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", shown)), default=0))
    return Markup(f"{fence}python\n{shown}\n{fence}")


def _picture(path: Path) -> tuple[str, str]:
    """Return a picture as data of a JPEG file, or why it cannot be shown."""
    from PIL import Image

    try:
        with Image.open(path) as opened:
            small = opened.convert("RGB")
        small.thumbnail((PICTURE_PX, PICTURE_PX))
        file = io.BytesIO()
        small.save(file, format="JPEG", quality=80, optimize=True)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        return "", printable(f"{path.name} cannot be shown: {error}")
    return base64.b64encode(file.getvalue()).decode(), ""
