"""Harmless programs by what they give, hostile ones by what they do not reach."""

from __future__ import annotations

import os
import random
import re
import socket
import tempfile
import time
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from tests.corpus.attacks import ATTACKS, Attack
from tests.corpus.harmless import HARMLESS
from tests.corpus.python_programs import PROGRAMS
from tests.record import doors
from tests.record.record import Case, Seen, Skipped
from tests.record.values import plain, steady

HARMLESS_COUNT, HOSTILE_COUNT = 300, 400
SECRET = "the-secret-of-this-machine"
SECONDS, HASTY_SECONDS = 10.0, 0.05
"""What a program may take; little where it may have no end but its limit."""
FREE_SECONDS = 3.0
"""The parent has its answer so long after the limit at the latest."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def pick(name: Any) -> Any:
    """Return what it was given."""
    return name


def look() -> int:
    """Return 1."""
    return 1


SCOPE = doors.scope_of((pick, look), "robot")


@cache
def _sandbox(seconds: float) -> doors.Sandbox:
    limits = doors.Limits(program_s=seconds, memory_bytes=256 << 20, stdout_chars=10_000, calls=500)
    return doors.Sandbox(SCOPE, limits=limits)


def harmless() -> Mapping[str, Case]:
    """Return the harmless programs: all of the table, and ordinary Python drawn with a seed."""
    found: dict[str, Case] = {key: partial(_gives, source) for key, (source, _) in HARMLESS.items()}
    drawn = random.Random("harmless").sample(sorted(PROGRAMS), HARMLESS_COUNT - len(found))
    return found | {f"python: {key}": partial(_prints, PROGRAMS[key]) for key in drawn}


def _gives(source: str) -> Seen:
    result = _sandbox(SECONDS).run(source, "ret")
    if result.failure is None:
        shown = f"{type(result.value).__name__}: {plain(result.value, 9)!r}"
        return Seen({"value": _ADDRESS.sub("", shown), "printed": result.stdout})
    failure = result.failure
    return Seen({"kind": failure.kind, "error": failure.error}, steady(failure.message))


def _prints(source: str) -> Seen:
    """Run a program whose variables tell what it does: they are printed at its end."""
    names = sorted(set(re.findall(r"^([A-Za-z]\w*)(?: = |\b.* = )", source, re.MULTILINE)))
    return _gives(f"{source}\nret = [{', '.join(f'str({name})' for name in names)}]\n")


def hostile() -> Mapping[str, Case]:
    """Return attacks, drawn with a seed: with the check, then without it."""
    drawn = random.Random("hostile").sample(range(len(ATTACKS)), HOSTILE_COUNT)
    if "seccomp" not in _sandbox(SECONDS).layers:
        return {ATTACKS[number].id: _unprotected for number in drawn}
    return {ATTACKS[number].id: partial(_attack, ATTACKS[number]) for number in sorted(drawn)}


def _unprotected() -> Skipped:
    return Skipped("this system has no kernel layer that holds what no check has seen")


def _attack(attack: Attack) -> Seen:
    seconds = HASTY_SECONDS if "timeout" in attack.ends else SECONDS
    sandbox = _sandbox(seconds)
    with tempfile.TemporaryDirectory() as place, socket.socket() as listener:
        folder = Path(place)
        folder.chmod(0o777)
        (folder / "secret").write_text(SECRET)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        source = attack.source.replace("$W", str(folder / "written"))
        source = source.replace("$R", str(folder / "secret"))
        source = source.replace("$P", str(listener.getsockname()[1]))
        behaviour: dict[str, Any] = {}
        kinds: dict[str, str] = {}
        for how in ("checked", "unchecked"):
            before = dict(os.environ), os.getcwd()
            start_s = time.monotonic()
            try:
                checked = how == "checked"
                result = (
                    sandbox.run(source, "ret")
                    if checked
                    else doors.unchecked(sandbox, source, SCOPE)
                )
                failure, shown = result.failure, repr(result)
                kinds[how] = failure.kind if failure else "value"
            except Exception as error:  # what the parser refuses is raised without the check
                shown, kinds[how] = "", type(error).__name__
            took_s = time.monotonic() - start_s
            reached = sorted(path.name for path in folder.iterdir() if path.name != "secret")
            reached += ["the secret was changed"] * ((folder / "secret").read_text() != SECRET)
            reached += ["the secret"] * (SECRET in shown)
            reached += ["this process"] * ((dict(os.environ), os.getcwd()) != before)
            try:
                listener.accept()[0].close()
                reached.append("a connection")
            except BlockingIOError:
                pass
            free = took_s <= seconds + FREE_SECONDS
            behaviour[how] = {"reached": reached, "parent free in time": free}
        behaviour["answers afterwards"] = sandbox.run("ret = look() + 1", "ret").value
    return Seen(behaviour, shown=kinds)
