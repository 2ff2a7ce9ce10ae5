"""The command line: exit codes, JSON and what is printed, each command in a folder of its own."""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.record import doors
from tests.record.record import Case, Seen
from tests.record.values import parted, plain, steady

COMMANDS = Path(__file__).parent / "commands.txt"
FILES = Path(__file__).parent / "files"


def cases() -> Mapping[str, Case]:
    """Return the commands."""
    lines = COMMANDS.read_text(encoding="utf-8").splitlines()
    return {line: partial(_commands, line) for line in lines if line and not line.startswith("#")}


def _commands(line: str) -> Seen:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        behaviour: dict[str, Any] = {}
        wording: dict[str, str] = {}
        for number, step in enumerate(line.split(" && "), 1):
            command, _, given = step.partition(" < ")
            text = (folder / given).read_text(encoding="utf-8") if given else ""
            seen, words = ran(folder, doors.translated(shlex.split(command)[1:]), text)
            behaviour[f"{number}"] = seen
            wording |= {f"{number} {name}": each for name, each in words.items()}
            if seen["exit code"]:
                break
    return Seen(behaviour, wording)


def ran(
    folder: Path, arguments: list[str], given: str = ""
) -> tuple[dict[str, Any], dict[str, str]]:
    """Run a command; return its exit code with its JSON, and its texts."""
    done = doors.run_cap(folder, *arguments, given=given)
    behaviour: dict[str, Any] = {"exit code": done.returncode}
    wording: dict[str, str] = {}
    found = _json(done.stdout)
    places = (folder, doors.ROOT)
    if found is None:
        wording["out"] = steady(done.stdout, *places)
    else:
        behaviour["json"], words = parted(plain(found), *places)
        wording["json"] = json.dumps(words, indent=1) if words else ""
    wording["err"] = steady(done.stderr, *places)
    return behaviour, {name: text for name, text in wording.items() if text}


def _json(text: str) -> Any:
    """Return what JSON a text is: one value, or one a line; None if it is none."""
    for pieces in ([text], text.splitlines()):
        try:
            found = [json.loads(piece) for piece in pieces]
        except ValueError:
            continue
        return found[0] if len(found) == 1 else found
    return None
