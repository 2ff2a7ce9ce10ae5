"""A robot to begin with: class, prompts, a task with its oracle, and a test, as files."""

from __future__ import annotations

import keyword
import shutil
import sys
from pathlib import Path
from string import Template

from cap.errors import UsageError
from cap.robot import registry

_LIBRARIES = ("benchmarks", "cap", "numpy", "openai", "pybullet", "robots", "shapely", "tests")
_HERE = Path(__file__).parent
_FILES = {
    "robot.py": "robot.py",
    "tasks.py": "tasks.py",
    "test_robot.py": "test_robot.py",
    "ui.py": "prompts/ui.py",
    "parse_obj_name.py": "prompts/parse_obj_name.py",
}
"""Where each template goes."""


def _taken(name: str) -> bool:
    """Tell whether a name stands for something else already; a folder of it would hide a module."""
    if keyword.iskeyword(name) or keyword.issoftkeyword(name) or name in registry.robots():
        return True
    return name in sys.stdlib_module_names or name in _LIBRARIES


def write(name: str, folder: Path) -> list[Path]:
    """Write a new robot's files.

    Args:
        name: What the robot is called: a lower-case identifier.
        folder: Made; nothing may be there.

    Raises:
        UsageError: It is no name or is taken, or the folder is there already or cannot be written.
    """
    if not name.isidentifier() or name != name.lower() or name.startswith("_"):
        raise UsageError(f"'{name}' is no robot's name; use small letters, digits and _")
    if _taken(name):
        raise UsageError(
            f"'{name}' is taken: a word of Python, a module or a robot; choose another name"
        )
    if folder.exists():
        raise UsageError(f"{folder} is there already; choose another name or --out")
    title = name.replace("_", " ").capitalize()
    words = {"name": name, "title": title, "classname": title.title().replace(" ", "") + "Robot"}
    texts = {
        folder / target: (_HERE / f"{template}.txt").read_text(encoding="utf-8")
        for template, target in _FILES.items()
    }
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(text).substitute(words), encoding="utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)  # half a robot is none
        why = error.strerror or str(error)
        raise UsageError(
            f"cannot write the robot into {folder}: {why}; use another --out"
        ) from None
    return list(texts)
