"""Which file of a folder serves which LMP, where the files have the original release's names.

There one folder has the prompts of several robots: `tabletop_ui.txt`, `sim_parse_position.txt`,
`mobile_ui.txt`, `draw_ui.txt`, `parse_obj_name.txt`, `fgen.txt`. Programs call each LMP by its name
without the robot's prefix.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

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
LMPS = frozenset(_LMPS.values())
"""Their names in programs."""


def files(folder: Path) -> dict[str, Path]:
    """Return a folder's prompt files by their stems."""
    some = (sorted(folder.glob(f"*{suffix}")) for suffix in SUFFIXES)
    return {path.stem: path for path in next(filter(None, some), [])}


def served(stems: Iterable[str], robot: str) -> dict[str, str]:
    """Return the file (its stem) that serves each LMP.

    Args:
        stems: Of the folder's files.
        robot: Whose prompts are wanted; files of other robots serve nothing.

    Returns:
        The stems by the LMP's name. Files of other names serve LMPs of their own name.
    """
    stems, found = tuple(stems), dict[str, str]()
    candidates: dict[str, list[tuple[int, str]]] = {}
    wanted = _PREFIXES.get(robot, ("",))
    for stem in stems:
        fitting = (prefix for prefix in _ALL if stem.startswith(prefix))
        ways = [prefix for prefix in fitting if stem[len(prefix) :] in _LMPS]
        if not ways and not stem.startswith("fgen"):
            found[stem] = stem
        for prefix in ways:
            if prefix in wanted:
                entry = (wanted.index(prefix), stem)
                candidates.setdefault(_LMPS[stem[len(prefix) :]], []).append(entry)
    found |= {name: min(entries)[1] for name, entries in candidates.items()}
    ours = _FUNCTIONS.get(robot, _FUNCTIONS[""])
    if asks := next((stem for stem in ours if stem in stems), None):
        found["fgen"] = asks
    return dict(sorted(found.items()))
