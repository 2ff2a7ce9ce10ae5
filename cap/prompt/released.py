"""Prompt files of the original release: which file serves which LMP, and what a header would say.

There one folder has the prompts of several robots: `tabletop_ui.txt`, `sim_parse_position.txt`,
`mobile_ui.txt`, `draw_ui.txt`, `parse_obj_name.txt`, `fgen.txt`. Programs call each LMP by its name
without the robot's prefix. The files have no header: hints are imports from any module, context
lines stand above the first instruction, and examples follow each other with or without blank lines
between. What a header would say is read off the examples.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from cap.prompt.examples import Example

SUFFIXES = (".py", ".txt")
"""Of prompt files; a folder that has some of the first kind has its prompts in those."""
_PREFIXES = {
    "ravens": ("sim_tabletop_", "sim_", "tabletop_", ""),
    "tabletop": ("tabletop_", "", "sim_tabletop_", "sim_"),
    "drawing": ("draw_", ""),
    "kitchen": ("mobile_", ""),
}
"""What the names of a robot's files begin with, the best first."""
_ALL = tuple(dict.fromkeys(prefix for some in _PREFIXES.values() for prefix in some))
_FUNCTIONS = {"kitchen": ("fgen_simple", "fgen"), "": ("fgen", "fgen_simple")}
"""What asks for functions, the best first: of a mobile robot in three dimensions."""
_LMPS = {
    **{name: name for name in ("ui", "parse_obj_name", "parse_position", "parse_question")},
    **{name: name for name in ("parse_loc_name", "parse_shape_pts", "parse_traj")},
    **{name: name for name in ("transform_shape_pts", "transform_traj")},
    "parse_pos": "parse_position",
}
"""The LMPs of the release, by the names of their files without a prefix."""
_MOST = 2 / 3
"""The share of examples that must set a variable last for it to be what they return."""
_PREFIX = re.compile(r"^# ((?:define|write) function: )", re.MULTILINE)
_TITLE = re.compile(r"(?:import|from) ")


def files(folder: Path) -> dict[str, Path]:
    """Return a folder's prompt files by their stems."""
    some = (sorted(folder.glob(f"*{suffix}")) for suffix in SUFFIXES)
    return {path.stem: path for path in next(filter(None, some), [])}


def served(stems: Collection[str], robot: str) -> dict[str, str]:
    """Return the file (its stem) that serves each LMP.

    Args:
        stems: Of the folder's files.
        robot: Whose prompts are wanted; files of other robots serve nothing.

    Returns:
        The stems by the LMP's name. Files of other names serve LMPs of their own name.
    """
    found = dict[str, str]()
    for stem in stems:
        fitting = [prefix for prefix in _ALL if stem.startswith(prefix)]
        if not any(stem[len(prefix) :] in _LMPS for prefix in fitting) and stem[:4] != "fgen":
            found[stem] = stem
    for prefix in reversed(_PREFIXES.get(robot, ("",))):  # the best comes last
        for stem in sorted(stems, reverse=True):  # of two for one LMP, the first by name
            if stem.startswith(prefix) and (name := _LMPS.get(stem[len(prefix) :])):
                found[name] = stem
    ours = _FUNCTIONS.get(robot, _FUNCTIONS[""])
    if asks := next((stem for stem in ours if stem in stems), None):
        found["fgen"] = asks
    return dict(sorted(found.items()))


def prefix_of(text: str) -> str:
    """Return what the instructions of a prompt for functions begin with, or ""."""
    found = Counter(_PREFIX.findall(text))
    return found.most_common(1)[0][0] if found else ""


def is_title(code: str) -> bool:
    """Tell whether a comment is a heading: imports stand under it, and nothing else."""
    lines = [line for line in code.split("\n") if line.strip()]
    return bool(lines) and all(map(_TITLE.match, lines))


def infer(examples: Sequence[Example], prefix: str) -> dict[str, Any]:
    """Read off the examples what a header would say, by the names of its keys.

    What they return is the variable that nearly all set last, the context what all context lines
    set. Those that return nothing can only be for acting, and keep their variables.

    Args:
        examples: The examples.
        prefix: What their instructions begin with.
    """
    shown = [[line for line in one.context.split("\n") if line] for one in examples]
    begins = dict.fromkeys(line[: line.index(" = ") + 4] for lines in shown for line in lines)
    named = [dict.fromkeys(line.partition(" = ")[0] for line in lines) for lines in shown if lines]
    common = [name for name in named[0] if all(name in other for other in named)] if named else []
    returns = None if prefix else _returned([one.code for one in examples])
    acts = bool(examples) and returns is None and not prefix
    return {
        "returns": returns,
        "context": tuple(common),
        "session": acts,
        "actions": acts,
        "stop": ("\n# ", *(f"\n{begin}" for begin in begins)),
        "prefix": prefix,
    }


def _returned(codes: Sequence[str]) -> str | None:
    last = [_last_set(code) for code in codes if code.strip()]
    (name, times), *_ = Counter(last).most_common(1) or [(None, 0)]
    return name if name and times >= _MOST * len(last) else None


def _last_set(code: str) -> str | None:
    """Return the variable that a program sets last."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return None
    while body:
        match body[-1]:
            case ast.Assign(targets=[ast.Name(id=name)]):
                return name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                return name
            case ast.If(body=inner) | ast.For(body=inner) | ast.While(body=inner):
                body = inner
            case ast.With(body=inner) | ast.Try(body=inner):
                body = inner
            case _:
                return None
    return None
