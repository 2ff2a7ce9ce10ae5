"""A run as one HTML file: it works offline, on a phone and in dark mode.

All text of models, programs and objects in it is shown, never interpreted: it is escaped, and the
page's own policy lets no script run but the player of the view from above.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Iterator
from html import escape
from importlib import resources
from pathlib import Path

from cap.trace.export.run_record import (
    CalledRow,
    ChoiceRecord,
    ProgramRecord,
    RunRecord,
    TurnRecord,
)
from cap.trace.terminal import counted, is_real, printable, usage_line

PICTURE_PX = 400
"""Longest edge of a picture in the page."""
MOST_CHARS = 20_000
"""How much of one text is shown."""
MOST_CALLS = 200
"""How many rows of calls of one program are shown."""
_KINDS = {"failure": "bad", "check": "warn", "repair": "warn"}


def text_of(run: RunRecord) -> str:
    """Return the run as an HTML page."""
    own = resources.files("cap.trace.export")
    style, script = (own.joinpath(name).read_text("utf-8") for name in ("page.css", "player.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'"
    )
    views = json.dumps(run.views, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    name = escape(printable(run.folder.resolve().name))
    seen = bool(run.views)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{name}</title>\n<style>\n{style}</style>\n</head>\n<body>",
            f"<h1>{name}</h1>",
            *_facts(run),
            '<main class="seen">' if seen else "<main>",
            *(_WORLD if seen else ()),
            "<section>",
            *(line for turn in run.turns for line in _turn(turn, len(run.turns))),
            "</section>\n</main>",
            *([f'<script type="application/json" id="views">{views}</script>'] if seen else ()),
            *([f"<script>{script}</script>"] if seen else ()),
            "</body>\n</html>\n",
        ]
    )


_WORLD = (
    '<section class="world"><canvas id="world" role="img" aria-label="the world from above">'
    "</canvas>",
    '<div class="player"><button id="play">▶ Play</button>'
    '<input id="moment" type="range" min="0" max="0" value="0" aria-label="moment"></div>',
    '<div id="told" class="dim"></div></section>',
)


def _facts(run: RunRecord) -> Iterator[str]:
    """Yield what was run, how it ended and what it took."""
    header = run.header
    facts = {key: header.get(key) for key in ("status", "robot", "mode", "model", "seed")}
    told = [
        f"{key} <b>{_text(str(value))}</b>" for key, value in facts.items() if value is not None
    ]
    done = sum(turn.ok is True for turn in run.turns)
    told.append(f"<b>{done} of {len(run.turns)}</b> turns done")
    model_s, robot_s = (sum(getattr(t, k) for t in run.turns) for k in ("model_s", "robot_s"))
    told.append(f"model <b>{model_s:.1f} s</b>, robot <b>{robot_s:.1f} s</b>")
    if is_real(str(header.get("model", ""))):
        tokens = [sum(turn.usage.get(key, 0) for turn in run.turns) for key in _TOKENS]
        told.append(f"<b>{tokens[0]} + {tokens[1]}</b> tokens")
    yield f'<p class="facts">{" · ".join(told)}</p>'
    parts = [part for turn in run.turns for part in turn.parts]
    if any(isinstance(part, ProgramRecord) and part.lines for part in parts):
        yield f'<p class="dim legend">{_LEGEND}</p>'
    for kind, count in run.unknown.items():
        are = "is" if count == 1 else "are"
        events = f"{counted(count, 'event')} of kind '{kind}'"
        text = f"{events} {are} damaged or of another version: not told"
        yield f'<p class="warn">{_text(text)}</p>'
    if not run.turns:
        yield '<p class="dim">No turn was begun.</p>'
    if run.begins is not None:
        yield "".join(_figure(run.begins, "before"))


_LEGEND = (
    'In a program <span class="ran">a line marked so</span> called something of the robot '
    "or another program; lines that only compute run unmarked. "
    '<span class="failed">A line marked so</span> failed.'
)
_TOKENS = ("prompt_tokens", "completion_tokens")


def _turn(turn: TurnRecord, count: int) -> Iterator[str]:
    ok = {True: ("ok", "✓"), False: ("bad", "✗"), None: ("warn", "…")}[turn.ok]
    opened = " open" if count == 1 or turn.ok is False else ""
    undone = " undone" if turn.undone else ""
    yield f'<details class="turn{undone}" data-turn="{turn.number}"{opened}><summary>'
    yield f'<span class="{ok[0]}">{ok[1]}</span><b>{turn.number}. {_text(turn.instruction)}</b>'
    yield f'<span class="dim">{max(0.0, turn.end_s - turn.begin_s):.1f} s</span></summary>'
    yield '<div class="body">'
    for part in turn.parts:
        if isinstance(part, ProgramRecord):
            yield from _program(part)
        elif isinstance(part, ChoiceRecord):
            yield from _choice(part)
        elif part[0] == "round":
            yield f'<h3 class="round">round {_text(part[1])}</h3>'
        else:
            kind, text = part
            yield f'<p class="note {_KINDS.get(kind, "")}">{_text(kind)}: {_text(text)}</p>'
    if turn.ok is None:
        yield '<p class="note warn">the turn was not finished</p>'
    if turn.undone:
        yield '<p class="note dim">undone</p>'
    took = f"model {turn.model_s:.2f} s, robot {turn.robot_s:.2f} s"
    if all(key in turn.usage for key in ("requests", "cost_usd", *_TOKENS)):
        took += f"; {usage_line(turn.usage)}"
    yield f'<p class="dim">{_text(took)}</p>'
    for picture in turn.pictures:
        yield from _figure(picture, picture.stem)
    yield "</div></details>"


def _program(program: ProgramRecord) -> Iterator[str]:
    """Yield a program with its calls; what a nested LMP wrote is folded."""
    if program.depth:
        yield f'<details class="nested"><summary>{_text(program.lmp)}</summary>'
    for name, source in program.generated:
        yield f"<details><summary>generated {_text(name)}</summary>{_code(source)}</details>"
    if program.source:
        yield _code(program.source, program.lines, program.failed_line)
    if program.calls:
        yield '<ul class="calls">'
        yield from map(_call, program.calls[:MOST_CALLS])
        if (more := len(program.calls) - MOST_CALLS) > 0:
            yield f'<li class="dim">… and {more} more</li>'
        yield "</ul>"
    if program.depth:
        yield "</details>"


def _choice(choice: ChoiceRecord) -> Iterator[str]:
    """Yield what was tried, each with its program folded, and why one was chosen."""
    yield '<div class="tried"><p class="dim">tried in the world as it was:</p>'
    for tried in choice.tried:
        kind = "bad" if tried.failed else "" if tried.alike else "dim"
        name, mark = ("chosen", " ✓") if tried.chosen else ("other", "")
        told = f'<summary class="{kind}">{_text(tried.told)}{mark}</summary>'
        code = _code(tried.source) if tried.source else '<p class="dim">the same program</p>'
        yield f'<details class="{name}">{told}{code}</details>'
    yield f"<p><b>{_text(choice.why)}</b></p></div>"


def _call(row: CalledRow) -> str:
    times = f" <b>× {row.count}</b>" if row.count > 1 and row.alike else ""
    came = f' <span class="bad">{_text(row.error)}</span>' if row.error else ""
    came += f' <span class="ok">= {_text(row.result)}</span>' if row.result else ""
    dim = ' class="dim"' if row.kind == "perception" and not row.error else ""
    seconds = f'<span class="dim">{row.seconds:.2f} s</span>'
    return f"<li{dim}>→ {_text(row.text)}{times}{came}{_text(row.more)} {seconds}</li>"


def _code(source: str, ran: set[int] | None = None, failed: int | None = None) -> str:
    """Return a program with its lines numbered, and those marked that called something."""
    rows = []
    for number, line in enumerate(_clipped(source.rstrip("\n")).split("\n"), start=1):
        mark = "ran" if number in (ran or ()) else ""
        mark = "failed" if number == failed else mark
        kind = f' class="{mark}"' if mark else ""
        rows.append(f'<span data-n="{number}"{kind}>{escape(printable(line))}</span>')
    return f"<pre>{''.join(rows)}</pre>"


def _figure(picture: Path, caption: str) -> Iterator[str]:
    """Yield a picture as JPEG inside the page; one that cannot be read is named."""
    from PIL import Image

    try:
        with Image.open(picture) as opened:
            small = opened.convert("RGB")
        small.thumbnail((PICTURE_PX, PICTURE_PX))
        file = io.BytesIO()
        small.save(file, format="JPEG", quality=80, optimize=True)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        yield f'<p class="warn">{_text(f"{picture.name} cannot be shown: {error}")}</p>'
        return
    data = base64.b64encode(file.getvalue()).decode()
    yield (
        f'<figure><img loading="lazy" alt="{_text(caption)}" src="data:image/jpeg;base64,{data}">'
        f"<figcaption>{_text(caption)}</figcaption></figure>"
    )


def _clipped(text: str) -> str:
    more = len(text) - MOST_CHARS
    return text if more <= 0 else f"{text[:MOST_CHARS]}… ({more} more characters in the trace)"


def _text(text: str) -> str:
    return escape(printable(_clipped(text)))
