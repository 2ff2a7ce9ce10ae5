"""Every error this software raises on purpose.

Each message says, in one line, what went wrong, where, and the remedy; the command line prints
it without a traceback and exits with the class's `exit_code`.

    CapError (1)
    ├── UsageError (2)              wrong option, name or file from a person
    │   ├── ConfigError
    │   ├── UnknownModel
    │   ├── PromptError             a prompt file that cannot be used
    │   ├── SkillError              a skill file that cannot be used
    │   ├── SavedError              a saved session that cannot be used
    │   ├── ProblemError            a file of benchmark problems that cannot be used
    │   └── MissingExtra            an optional dependency is not installed
    │       └── MissingSimulator    a physics engine: the instant world may stand in
    ├── ProgramError (1)            the program failed
    │   ├── CheckFailed (3)         it was refused before anything ran
    │   ├── GenerationFailed (4)    a function it calls could not be generated
    │   └── LMPFailed               an LMP it called failed
    ├── NotApproved (1)             a person refused a call, which ends its program
    ├── SandboxError (1)            the boundary itself broke
    ├── ModelError (4)              no usable completion
    │   ├── MissingKey
    │   ├── EndpointFailed          the endpoint is to blame, not the model
    │   │   ├── ModelUnreachable
    │   │   └── PromptCutOff        it read only a part of the prompt
    │   ├── EmptyCompletion
    │   ├── NoMatch                 `nearest` declines
    │   │   └── Unranked            a language model chose none of the steps it was shown
    │   ├── SpendLimit              the run has used up its calls or its money
    │   └── NotRecorded             `replay` was asked something new
    └── RobotError (5)              a primitive failed; programs may catch these by name
        ├── NotFound
        ├── Unreachable
        ├── NotGrasped
        ├── Collision
        ├── LimitExceeded
        ├── Timeout
        ├── NotConnected
        └── ProtectiveStop
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cap.result import Failure


class CapError(Exception):
    """Base of every error raised on purpose."""

    exit_code = 1
    line: int | None = None
    """The line of the program that it is about, if it is about one."""
    run: str | None = None
    """The run folder that holds the trace, where there is one."""
    reported = False
    """Whether standard output has its report already, as JSON or as text."""


class UsageError(CapError):
    """A person asked for something that does not exist or cannot be."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration file or value cannot be used."""


class UnknownModel(UsageError):
    """No model is called so."""


class PromptError(UsageError):
    """A prompt file cannot be read or used."""


class SkillError(UsageError):
    """A skill file cannot be read or used."""


class SavedError(UsageError):
    """A saved session cannot be read or used."""


class ProblemError(UsageError):
    """A file of benchmark problems cannot be read or used."""


class MissingExtra(UsageError):
    """An optional dependency is not installed."""


class MissingSimulator(MissingExtra):
    """A physics engine is not installed: a world without dynamics may stand in for it."""


class ProgramError(CapError):
    """A program failed while it was written, completed or executed."""


class CheckFailed(ProgramError):
    """A program was refused by the check; nothing ran."""

    exit_code = 3


class AnswerFault(CheckFailed):
    """A model's answer holds code, but not one whole program."""


class GenerationFailed(ProgramError):
    """A function the program calls and nobody defines could not be generated."""

    exit_code = 4


class LMPFailed(ProgramError):
    """An LMP failed; raised inside the program that called it, or to the person who did."""

    failure: Failure | None = None
    """How, where it came as far as a program."""


class NotApproved(CapError):
    """A person refused a call: its program is over, and cannot catch that."""


class SandboxError(CapError):
    """The sandbox itself could not start or broke its protocol."""


class ModelError(CapError):
    """The model gave no usable completion."""

    exit_code = 4
    requests: int = 0
    """How many requests were sent in vain."""
    took: Mapping[str, Any] = MappingProxyType({})
    """What an answer of no use took all the same: fields of `Usage`."""


class MissingKey(ModelError):
    """The endpoint needs a key and none is set."""


class EndpointFailed(ModelError):
    """The endpoint is to blame: it is down, refuses the key, or has no such model."""


class ModelUnreachable(EndpointFailed):
    """The endpoint did not answer."""


class PromptCutOff(EndpointFailed):
    """The endpoint read only a part of the prompt: its context window is too small."""


ANOTHER = "; try again, or try another model with -m"
"""The remedy where a model's answer is of no use."""


class EmptyCompletion(ModelError):
    """The model answered with nothing, or with no code."""


class NoMatch(ModelError):
    """`nearest` found no example close enough to the instruction."""


class Unranked(NoMatch):
    """A model that was to choose among steps by letter named no letter, although asked twice."""


class SpendLimit(ModelError):
    """The run has used up the calls or the money it may."""


class NotRecorded(ModelError):
    """`replay` holds no completion for this request."""


class RobotError(CapError):
    """A primitive failed; programs may catch these by name."""

    exit_code = 5


class NotFound(RobotError):
    """No object or place of that name."""


class Unreachable(RobotError):
    """The target is outside what the arm can reach or the workspace allows."""


class NotGrasped(RobotError):
    """The gripper closed and holds nothing."""


class Collision(RobotError):
    """The motion hit, or would hit, something."""


class LimitExceeded(RobotError):
    """A speed, force, count or workspace limit was passed."""


class Timeout(RobotError):
    """The motion did not end in its time."""


class NotConnected(RobotError):
    """The robot is not connected."""


class ProtectiveStop(RobotError):
    """The robot stopped to protect itself; a person must release it."""


_KINDS: list[type[RobotError]] = [RobotError, *RobotError.__subclasses__()]
ROBOT_ERRORS = {error.__name__: error for error in _KINDS}
"""The robot errors by name: what a program may catch, and what crosses the sandbox's wire."""


_LONGEST_NAME = 80


def clipped(name: str) -> str:
    """Return a name as messages show it: no longer than a line."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


def did_you_mean(name: str, known: Iterable[str], count: int = 3, likeness: float = 0.51) -> str:
    """Return " Did you mean 'a' or 'b'?" for the names closest to `name`, or "".

    Args:
        name: What was said.
        known: What there is.
        count: How many are named at most.
        likeness: How like it a name must be, from 0 to 1.
    """
    if len(name) > _LONGEST_NAME:
        return ""
    from difflib import get_close_matches  # of use after a mistake only

    close = get_close_matches(name.lower(), list(known), n=count, cutoff=likeness)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""


def misspelt(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'a'?" for a known name that is one edit away, or "".

    Of objects nothing less like is proposed: it would stand in for what is not there.
    """
    found = next((other for other in known if one_edit(name.lower(), other)), None)
    return "" if found is None else f" Did you mean {found!r}?"


def one_edit(one: str, other: str) -> bool:
    """Tell whether at most a letter too many, too few or wrong, or two swapped, part two words."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1])


def pip_install(*requirements: str) -> str:
    """Return the command that installs requirements for the Python that runs this."""
    from importlib.util import find_spec
    from shlex import quote

    named = " ".join(map(quote, requirements))
    if find_spec("pip") is None:  # an environment that uv made
        return f"uv pip install --python {quote(sys.executable)} {named}"
    return f"{quote(sys.executable)} -m pip install {named}"


def install_extra(extra: str) -> str:
    """Return the command that installs what an extra stands for.

    That is the extra of the checkout this runs from; elsewhere the libraries it names, since no
    index has this package.
    """
    from importlib import metadata
    from pathlib import Path

    checkout = Path(__file__).resolve().parents[1]
    if (checkout / "pyproject.toml").exists():
        return pip_install("-e", f"{checkout}[{extra}]")
    needed = metadata.requires("code-as-policies") or []
    ends = f"extra == '{extra}'"
    of_extra = (one for one in needed if one.replace('"', "'").endswith(ends))
    return pip_install(*(one.partition(";")[0].strip() for one in of_extra))


class Stopped(SystemExit):
    """SIGTERM or its like came: no error, and nothing may keep it from ending the process."""


def stop_in(error: BaseException | None) -> BaseException | None:
    """Return the stop that an exception is or was caused by; None if there is none.

    What is raised while a class is made (`__set_name__`) arrives as the cause of a RuntimeError; a
    robot that cannot be closed on the way out fails in the context of the stop.
    """
    left, seen = [error], set[int]()
    while left:
        error = left.pop()
        if isinstance(error, KeyboardInterrupt | Stopped):
            return error
        if error is not None and id(error) not in seen:
            seen.add(id(error))
            left += (error.__context__, error.__cause__)
    return None
