"""A robot to begin with: class, prompts, a task with its oracle, and a test, as files."""

from __future__ import annotations

from pathlib import Path
from string import Template

from cap.errors import UsageError

_HERE = Path(__file__).parent
_FILES = {
    "robot.py": "robot.py",
    "tasks.py": "tasks.py",
    "test_robot.py": "test_robot.py",
    "ui.py": "prompts/ui.py",
    "parse_obj_name.py": "prompts/parse_obj_name.py",
}
"""Where each template goes."""


def write(name: str, folder: Path) -> list[Path]:
    """Write a new robot's files.

    Args:
        name: What the robot is called: a lower-case identifier.
        folder: Made; nothing may be there.

    Raises:
        UsageError: No such name, or the folder is there already.
    """
    if not name.isidentifier() or name != name.lower() or name.startswith("_"):
        raise UsageError(f"'{name}' is no robot's name; use small letters, digits and _")
    if folder.exists():
        raise UsageError(f"{folder} is there already; choose another name or --out")
    title = name.replace("_", " ").capitalize()
    words = {"name": name, "title": title, "classname": title.title().replace(" ", "") + "Robot"}
    paths = []
    for template, target in _FILES.items():
        text = (_HERE / f"{template}.txt").read_text(encoding="utf-8")
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(words), encoding="utf-8")
        paths.append(path)
    return paths
