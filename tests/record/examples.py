"""Every example of the shipped prompts, run as a program in the instant world: its effect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from tests.record import doors
from tests.record.record import Case, Seen
from tests.record.sentences import outcome
from tests.record.values import DIGITS

FOLDERS = {
    "drawing": "drawing",
    "functions": "ravens",
    "humaneval": "ravens",
    "kitchen": "kitchen",
    "ravens": "ravens",
    "ravens-seen": "ravens",
    "reasoning": "ravens",
    "robocodegen": "ravens",
}
"""The folders of prompts whose examples are programs for a robot, and which one runs them."""
_NUMBER = re.compile(r"-?\d+\.\d*(?:e-?\d+)?")


def cases(folder: str) -> Mapping[str, Case]:
    """Return the examples; those that go on from one another are one session."""
    found: dict[str, Case] = {}
    for path in sorted((doors.PROMPTS / folder).glob("*.py")):
        prompt = doors.load(path)
        for name, some in (("", prompt.examples), ("nearest/", prompt.beside.examples)):
            sessions: list[list[Any]] = []
            for example in some:
                if example.follows and prompt.header.session and sessions:
                    sessions[-1].append(example)
                else:
                    sessions.append([example])
            for examples in sessions:
                key = stem = f"{name}{prompt.name}: {examples[0].instruction}"
                number = 1
                while key in found:
                    number += 1
                    key = f"{stem} ({number})"
                found[key] = partial(_session, folder, prompt, examples)
    return found


def _session(folder: str, prompt: doors.Prompt, examples: list[Any]) -> Seen:
    robot, header = FOLDERS[folder], prompt.header
    options: dict[str, Any] = {}
    if folder.startswith("ravens"):
        options["prompts"] = doors.PROMPTS / folder
    facts: dict[str, Any] = {}
    exec(examples[0].context, {}, facts)  # the prompt's own lines, such as `objects = [...]`
    if isinstance(facts.get("objects"), list) and folder != "reasoning":
        options["objects"] = facts["objects"]
    behaviour, wording = {}, {}
    with doors.Session.open(robot, "nearest", mode="instant", **options) as session:
        for number, example in enumerate(examples, 1):
            given = "".join(f"{name} = {value!r}\n" for name, value in header.arguments.items())
            if number == 1:
                given += "".join(f"{name} = {value!r}\n" for name, value in header.initial.items())
            ending = f"\nprint({header.returns})\n" if header.returns else "\n"
            # Under its words, by which a robot's `undo_turns` knows the turns that it takes back.
            turn = session.execute(given + example.code + ending, example.instruction)
            seen = outcome(turn)
            key = f"{number}: {example.instruction}"
            behaviour[key] = {**seen.behaviour, **_printed(turn.stdout)}
            wording[key] = seen.wording
    return Seen(behaviour, wording)


def _printed(text: str) -> dict[str, Any]:
    """Return what a program printed: the text, and apart from it the numbers with a point."""
    numbers = [round(float(number) + 0.0, DIGITS) for number in _NUMBER.findall(text)]
    words = " ".join(_NUMBER.sub("#", text).split()).replace("[ ", "[").replace(" ]", "]")
    return {"printed": words, "numbers": numbers} if words else {}
