"""Sentences about programs, effects and failures, the same wherever a session is shown.

Text from models, programs and objects comes back printable: no control characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cap.models.base import Usage
from cap.result import Failure, between, plain, unmarked

EventData = Mapping[str, Any]
"""What one event of a trace holds."""
REPEATED_PROGRAM = (
    "the model wrote the same program again: it was not run, and no further one is requested"
)
_BEST = 3
"""How many of a planner's candidates are shown for each step."""
_VISIBILITY = (("no_longer_seen", "no longer seen"), ("newly_seen", "not seen before"))
_WORLD = {
    True: "including the world",
    False: "variables and functions only; the real world stays as it is",
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


def choice_line(data: EventData) -> str:
    """Return which of the programs that were tried is carried out, and why."""
    why, tried = "; ".join(data["why"]), len(data["tried"])
    if data["stopped"]:
        why += f"; requested {tried} of {data['asked']} programs: {data['stopped']}"
    return f"chosen: {data['chosen']}, {clipped(why)}"


Line = tuple[str, str]
"""A sentence, with its style in a terminal."""


def event_lines(kind: str, data: EventData) -> Iterator[Line]:
    """Yield the sentences about an event, each with its style; none for a kind without any."""
    yield from _turn_lines(kind, data)
    yield from _plan_lines(kind, data)
    yield from _session_lines(kind, data)


def _turn_lines(kind: str, data: EventData) -> Iterator[Line]:
    """Yield the sentences about what a turn's program did."""
    match kind:
        case "failure" | "edit_refused":
            if data["message"] is None:
                raise ValueError("a failure without its message")
            parts = ("kind", "error", "message", "line")
            known: dict[str, Any] = {key: data.get(key) for key in parts}
            failure = clipped(str(Failure(**known)))
            refused = "the edited program was refused, so the program is unchanged"
            what = "failed" if kind == "failure" else refused
            yield f"{what}: {failure}", "bold red"
        case "repair":
            yield f"attempt {data['attempt']}: {clipped(data['reason'])}", "yellow"
        case "repeated_program":
            yield REPEATED_PROGRAM, "yellow"
        case "violations":
            for found in data["found"]:
                yield f"check: {found}", "yellow"
        case "moved":
            for name in data["objects"]:
                yield _moved(data, name), "yellow"
        case "effect":
            yield from _effect(data)
        case "changed_since":
            pairs = {**data["moved"], **data["changed"]}
            changes = [f"{name} {_seen(was)} to {_seen(now)}" for name, (was, now) in pairs.items()]
            found = printable(", ".join(changes))
            yield f"changed since {data['since']}, so this step is repeated: {found}", "bold yellow"
        case "rehearsal":
            moved = ", ".join(map(printable, data["moved"])) or "nothing"
            failure = data["failure"] and f"failed: {clipped(data['failure']['message'])}"
            calls = counted(len(data["calls"]), "call")
            seconds = f"{data['sim_s']:.1f} s simulated"
            yield f"rehearsed: {calls}, {seconds}, {failure or f'moved: {moved}'}", "dim"
        case "learned":
            yield from _learned(data)


def _plan_lines(kind: str, data: EventData) -> Iterator[Line]:
    """Yield the sentences about a planner's steps."""
    match kind:
        case "step" | "said":
            if kind == "said":
                yield f"{data['skill']}: {clipped(data['text'])}", "cyan"
            else:
                why = "" if data["ok"] else f": {clipped(data['message']) or 'failed'}"
                yield f"{clipped(data['text'])}{why}", "red" if why else ""
            for line in data["lines"]:
                yield clipped(line), "dim"
        case "candidates":
            best = (f"{one['text']} ({one['score']:.3g})" for one in data["candidates"][:_BEST])
            yield f"compared ({data['rung']}): {', '.join(best)}", "dim"
        case "ended":
            why = f": {data['why']}" if data["why"] else ""
            yield f"ended after {counted(data['steps'], 'step')}, {data['end']}{why}", ""


def _session_lines(kind: str, data: EventData) -> Iterator[Line]:
    """Yield the sentences about rounds, what was undone, pictures, and the session itself."""
    world = _WORLD[data.get("world") is True]
    match kind:
        case "round":
            came = clipped(data["came"]) or "its effect cannot be seen"
            yield f"{came}; round {data['number']}:", "cyan"
        case "rounds_ended":
            yield f"{counted(data['rounds'], 'round')}: {clipped(data['reason'])}", "cyan"
        case "undo":
            count = "the last turn" if data["turns"] == 1 else f"{data['turns']} turns"
            yield f"undone: {count}, {world}", "dim"
        case "redo":
            count = "the turn" if data["turns"] == 1 else f"{data['turns']} turns"
            yield f"redone: {count}, {world}", "dim"
        case "model":
            yield f"now using model {printable(data['name'])}", "dim"
        case "look":
            yield f"the model sees {data['picture']}", "dim"
        case "unseen":
            model = printable(data["model"])
            yield f"{model} does not accept pictures; the request was sent without them", "yellow"
        case "untried":
            yield clipped(data["reason"]), "bold yellow"
        case "held":
            held = clipped(str(data["name"]))
            yield f"in the gripper: {held}; it stays there", "bold yellow"


def _moved(data: EventData, name: str) -> str:
    """Return where a thing went."""
    begin, end = (f"({x:.3f}, {y:.3f}, {z:.3f})" for x, y, z in data["objects"][name])
    way = between(data.get("places", {}).get(name, ("", "")))  # not in an earlier version's trace
    return printable(f"moved {name}{way}: {begin} to {end}")


def _effect(data: EventData) -> Iterator[Line]:
    """Yield what else a turn did."""
    for name, (was, now) in data["changed"].items():
        yield clipped(f"{name}: {_seen(was)} to {_seen(now)}"), "yellow"
    for names, text in _VISIBILITY:  # not in a trace of an earlier version, as `undone`
        for name in data.get(names, ()):
            yield clipped(f"{name}: {text}"), "yellow"
    for line in (*data["left_over"], data.get("undone")):
        if line:
            yield clipped(line), "yellow"
    if data["still"]:
        yield clipped(data["still"]), "bold yellow" if "nothing" in data["words"] else "dim"


def _learned(data: EventData) -> Iterator[Line]:
    """Yield what was learned and what was not."""
    for name, path in data["kept"].items():
        text = f"learned {name} (its example had the same effect again): {path}"
        yield printable(text), "green"
    for name, why in data["left_out"].items():
        yield f"did not learn {printable(name)}: {clipped(why)}", "yellow"
    if data["why"]:
        yield f"nothing to learn: {clipped(data['why'])}", "dim"


def _seen(value: Any) -> str:
    """Return a part of a robot's condition: words as they are."""
    return clipped(unmarked(value)) if isinstance(value, str) else short(value)
