"""Sentences about programs, effects and failures, the same wherever a session is shown.

Text from models, programs and objects comes back printable: no control characters.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from typing import Any

from cap.models.base import Usage
from cap.result import Failure, between, plain, unmarked

REPEATED_PROGRAM = "the same program again: it was not run, and no other is asked for"
_VISIBILITY = (("no_longer_seen", "no longer seen"), ("newly_seen", "not seen before"))
_WORLD = {
    True: "the world too",
    False: "its variables and functions; the real world stays as it is",
}


def printable(text: str) -> str:
    """Return text that cannot steer a terminal: control characters are shown, not sent."""
    return "".join(
        char if char.isprintable() or char == "\n" else f"\\x{ord(char):02x}" for char in text
    )


def clipped(text: str, limit: int = 1000) -> str:
    """Return printable text of bounded length; the trace has the rest."""
    more = len(text) - limit
    shown = printable(text[:limit])
    return shown if more <= 0 else f"{shown}… ({more} more characters in the trace)"


def short(value: Any, width: int = 60) -> str:
    """Return a value in one line, numbers to a tenth of a millimetre."""
    text = printable(_brief(plain(value)))
    if len(text) <= width:
        return text
    cut = text[: width - 1]
    if isinstance(plain(value), list | dict) and ", " in cut:  # no number is cut in two
        cut = f"{cut.rpartition(', ')[0]}, "
    return f"{cut}…"


def shown_call(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], width: int = 60) -> str:
    """Return one call as a line of text, each argument in so many characters at most."""
    given = [short(value, width) for value in args]
    given += [f"{key}={short(value, width)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(given)})"


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{0.0 if abs(value) < 1e-12 else value:.4g}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_brief, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_brief(entry)}" for key, entry in value.items()) + "}"
    return repr(value)


def counted(count: int, what: str) -> str:
    """Return how many there are of something: `1 call`, `2 calls`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def is_real(model: str) -> bool:
    """Tell whether a model, by its name, is a language model that was asked just now."""
    return model.split("/")[0] not in ("nearest", "replay")


def usage_line(usage: Usage | Mapping[str, Any]) -> str:
    """Return what a model took as one line: requests, tokens read and written, price if known.

    What is estimated has a `~` before it.
    """
    known = usage if isinstance(usage, Mapping) else vars(usage)
    requests, cost = known["requests"], known["cost_usd"]
    line = counted(requests, "request")
    about = "~" if known.get("estimated") else ""
    line += f", {about}{known['prompt_tokens']} + {about}{known['completion_tokens']} tokens"
    unpriced = cost is None or not (cost or known["prompt_tokens"] or known["completion_tokens"])
    return line if unpriced else f"{line}, {about}${cost:.4f}"


def tried_line(one: Mapping[str, Any], most: int = 300) -> str:
    """Return what a program did that was tried, and what the goal check says of it, in a line.

    Args:
        one: The program, as the event has it.
        most: How long the line may be, about.
    """
    judged = {True: "  goal: yes", False: "  goal: no"}.get(one["goal"], "")
    judged += "" if one["expected"] else "  not as expected"
    same = f"  (as {one['same_as']})" if one["same_as"] else ""
    came, rest = printable(one["came"].replace("\n", " ")), f"{same}{judged}"
    room = max(20, most - len(rest) - 4)
    came = came if len(came) <= room else f"{came[: room - 1]}…"
    return f"{one['number']}  {came}{rest}"


def choice_line(data: Mapping[str, Any]) -> str:
    """Return which of the programs that were tried is carried out, and why."""
    why, tried = "; ".join(data["why"]), len(data["tried"])
    if data["stopped"]:
        why += f"; asked for {tried} of {data['asked']}: {data['stopped']}"
    return f"chosen: {data['chosen']}, {clipped(why)}"


def learned_lines(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was learned and what was not, each with what it is: learned, left or nothing."""
    same = "whose example did the same again"
    found = [
        ("learned", f"learned {printable(name)}, {same}: {printable(path)}")
        for name, path in data["kept"].items()
    ]
    found += [
        ("left", f"not learned, {printable(name)}: {clipped(why)}")
        for name, why in data["left_out"].items()
    ]
    return found + ([("nothing", f"nothing to learn: {clipped(data['why'])}")] * bool(data["why"]))


def moved_lines(data: Mapping[str, Any]) -> list[str]:
    """Return where each thing went, one a line."""
    places = data.get("places", {})  # not in a trace of an earlier version
    lines = []
    for name, (before, after) in data["objects"].items():
        begin, end = (f"({x:.3f}, {y:.3f}, {z:.3f})" for x, y, z in (before, after))
        way = between(places.get(name, ("", "")))
        lines.append(printable(f"moved {name}{way}: {begin} to {end}"))
    return lines


def effect_lines(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what else a turn did, each line with its style."""
    lines = [
        f"{printable(name)}: {_seen(was)} to {_seen(now)}"
        for name, (was, now) in data["changed"].items()
    ]
    for names, text in _VISIBILITY:  # not in a trace of an earlier version, as `undone`
        lines += [f"{printable(name)}: {text}" for name in data.get(names, ())]
    lines += [clipped(line) for line in (*data["left_over"], data.get("undone")) if line]
    styled = [(line, "yellow") for line in lines]
    if data["still"]:
        style = "bold yellow" if "nothing" in data["words"] else "dim"
        styled.append((clipped(data["still"]), style))
    return styled


def rehearsal_line(data: Mapping[str, Any]) -> str:
    """Return the result of a rehearsal."""
    moved = ", ".join(map(printable, data["moved"])) or "nothing"
    failure = data["failure"]
    came = f"moved: {moved}" if failure is None else f"failed: {clipped(failure['message'])}"
    calls = counted(len(data["calls"]), "call")
    return f"rehearsed: {calls}, {data['sim_s']:.1f} s simulated, {came}"


def changed_since(data: Mapping[str, Any]) -> str:
    """Return what changed between the rehearsal or approval and the run."""
    pairs = {**data["moved"], **data["changed"]}
    changes = [f"{name} {_seen(was)} to {_seen(now)}" for name, (was, now) in pairs.items()]
    return f"changed since {data['since']}, so once more: {printable(', '.join(changes))}"


def event_line(kind: str, data: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the line for an event that has one, and its style; None of any other."""
    world = _WORLD[data.get("world") is True]
    match kind:
        case "failure" | "edit_refused":
            parts = ("kind", "error", "message", "line")
            known: dict[str, Any] = {key: data.get(key) for key in parts}
            refused = "the edited program is refused, so it is as before"
            what = "failed" if kind == "failure" else refused
            return f"{what}: {clipped(str(Failure(**known)))}", "bold red"
        case "repair":
            return f"attempt {data['attempt']}: {clipped(data['reason'])}", "yellow"
        case "run_again":
            return f"run again: {data['reason']}", "yellow"
        case "repeated_program":
            return REPEATED_PROGRAM, "yellow"
        case "round":
            came = clipped(data["came"]) or "its effect cannot be seen"
            return f"{came}; round {data['number']}:", "cyan"
        case "rounds_ended":
            return f"{counted(data['rounds'], 'round')}: {clipped(data['reason'])}", "cyan"
        case "undo":
            count = "the last turn" if data["turns"] == 1 else f"{data['turns']} turns"
            return f"undone: {count}, {world}", "dim"
        case "undo_round":
            are = "is" if data["rounds"] == 1 else "are"
            left = f"{counted(data['rounds'], 'round')} {are} left"
            return f"undone: the last round, {world}; {left}", "dim"
        case "redo":
            count = "the turn" if data["turns"] == 1 else f"{data['turns']} turns"
            return f"redone: {count}, {world}", "dim"
        case "model":
            return f"model: {printable(data['name'])} from now on", "dim"
        case "look":
            return f"the model sees {data['picture']}", "dim"
        case "unseen":
            return f"{printable(data['model'])} takes no pictures; it was asked without", "yellow"
        case "untried":
            return clipped(data["reason"]), "bold yellow"
        case "held":
            return f"in the gripper: {clipped(str(data['name']))}; it stays there", "bold yellow"
        case "unwritten":
            where, why = printable(data["folder"]), data["why"]
            if why is None:
                return f"{where} can be written again, and nothing is missing", "dim"
            line = f"{where} cannot be written: {why}; make room there, until then all is kept"
            if why == os.strerror(errno.ENOENT):
                line = f"{where} was removed; what goes on from here is kept"
            return f"{line} in memory", "bold yellow"
    return None


def _seen(value: Any) -> str:
    """Return a part of a robot's condition: words as they are."""
    return clipped(unmarked(value)) if isinstance(value, str) else short(value)
