"""Plays published programs through a scripted model, and says how each ended.

A folder is a session, each of its text files a command: first the instruction as a comment and its
program, then one block for each nested answer and each generated function, in the order of the
calls. `world.toml` beside them may name `robot`, `seed` and `objects`. A folder of folders is one
session after the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.results import cause_of
from benchmarks.suite import BaseSuite, Outcome, Settings, Trial, check_options
from cap.engine.settings import Repairs
from cap.errors import NoMatch, UsageError
from cap.files import read_text, read_toml
from cap.models.base import Completion, Request
from cap.prompt.prompt import Prompt
from cap.robot import registry
from cap.session.session import Session
from cap.session.settings import SessionSettings

VERSION = "1"
_WORLD = "world.toml"
_FUNCTION = re.compile(r"define function: (?:\w+ = )?(\w+)\(")
_CONTEXT = re.compile(r"(?:objects|locations) = \[.*\]\s*\Z")


@dataclass(frozen=True)
class Block:
    """One answer."""

    words: str
    """What it answers: the comment's words without a full stop."""
    code: str
    """The answer."""


def blocks(text: str) -> list[Block]:
    """Return the blocks of a transcript: each begins with a comment line."""
    head, *parts = re.split(r"(?m)^# ?(?=\S)", text.replace("\r\n", "\n"))
    if head.strip() and not _CONTEXT.fullmatch(head.strip()):
        raise UsageError("it does not begin with its instruction as a comment")
    found = [part.partition("\n") for part in parts]
    return [
        Block(_words(line), _CONTEXT.sub("", code).strip("\n") + "\n") for line, _, code in found
    ]


def _words(line: str) -> str:
    return " ".join(line.split()).rstrip(".")


@dataclass
class Transcript:
    """A model that answers what is asked with the blocks of a transcript, in their order."""

    left: list[Block] = field(default_factory=list)
    """Those not given yet."""
    given: list[Block] = field(default_factory=list)
    """Those that were."""
    name: str = "transcript"
    endpoint: str | None = None
    repairs: bool = False

    def complete(self, request: Request) -> Completion:
        """Answer with the block of the words that are asked.

        Raises:
            NoMatch: There is none.
        """
        asked = _words(request.prompt.rstrip().splitlines()[-1].removeprefix("# "))
        wanted = _FUNCTION.match(asked)
        for number, block in enumerate(self.left):
            if block.words == asked or (wanted and f"def {wanted[1]}(" in block.code):
                self.given.append(self.left.pop(number))
                return Completion(block.code, self.name, cost_usd=0.0)
        raise NoMatch(f"the transcript has no answer to {asked!r}")


@dataclass(frozen=True)
class Folder:
    """One session."""

    robot: str
    """Whose."""
    seed: int
    """Of its world."""
    objects: tuple[str, ...] | None
    """What stands there; None for the robot's own."""
    files: tuple[Path, ...]
    """Its commands."""

    @classmethod
    def read(cls, path: Path) -> Folder:
        """Read a session's folder.

        Raises:
            UsageError: Its `world.toml` says what cannot be.
        """
        values: Mapping[str, Any] = {}
        if (path / _WORLD).is_file():
            file = read_toml(path / _WORLD, "world")
            file.refuse_unknown(("robot", "seed", "objects"))
            values = file.values
        objects = values.get("objects")
        listed = None if objects is None else tuple(map(str, objects))
        files = tuple(sorted(path.glob("*.txt")))
        return cls(str(values.get("robot", "ravens")), int(values.get("seed", 0)), listed, files)


_OF_A_KIND = re.compile(r"(?:all )?(?:the )?\w+", re.IGNORECASE)
"""Descriptions that an LMP may answer from the scene alone, such as `the blocks`."""


def _asking(prompt: Prompt) -> Prompt:
    """Return a prompt whose LMP is asked for every description."""
    return replace(prompt, header=replace(prompt.header, exact=""))


class TranscriptSuite(BaseSuite):
    """Each command of each session of a folder."""

    name = "transcripts"
    about = "published programs, played through the engine"
    version = VERSION
    judged = (
        "A command is done if its program ran to its end and each of its answers was used; the "
        "world is not judged."
    )
    usual_n = 1
    takes = ("mode", "prompts")

    def __init__(self, root: Path | None = None) -> None:
        """Find the sessions of a folder; None for a suite that only has its name."""
        self._folders: dict[str, Folder] = {}
        if root is None:
            return
        if not root.is_dir():
            raise UsageError(f"no folder {root}; name one of transcripts with --from")
        inner = sorted(path for path in root.iterdir() if path.is_dir())
        for path in [root, *inner]:
            if (folder := Folder.read(path)).files:
                self._folders[path.name] = folder
        if not self._folders:
            raise UsageError(f"no transcripts (*.txt) in {root}")

    def adjusted(self, options: Mapping[str, Any]) -> BaseSuite:
        """Return the suite of the folder that `from` names."""
        return TranscriptSuite(Path(options["from"])) if "from" in options else self

    def check(self, settings: Settings) -> None:
        """Refuse settings without a folder, or other options.

        Raises:
            UsageError: There are such.
        """
        check_options(settings, ("from", "asked", "limits"))
        if not self._folders:
            raise UsageError("the suite 'transcripts' needs --from FOLDER")

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every command of every session."""
        return tuple(
            (path.stem, name) for name, folder in self._folders.items() for path in folder.files
        )

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out the commands of a session up to one, in a world of its own."""
        folder, model = self._folders[trial.split], Transcript()
        names = [path.stem for path in folder.files]
        path = Path(settings.prompts) if settings.prompts else None
        given = {} if folder.objects is None else {"objects": list(folder.objects)}
        robot = registry.make_robot(
            folder.robot, seed=folder.seed + trial.seed, mode=settings.mode, **given
        )
        prompts = registry.robot_prompts(folder.robot, path)
        commands = [blocks(read_text(file)) for file in folder.files[: names.index(trial.task) + 1]]
        if any(_OF_A_KIND.fullmatch(one.words) for _, *answers in commands for one in answers):
            prompts = {name: _asking(prompt) for name, prompt in prompts.items()}
        chosen = SessionSettings(
            prompts=prompts,
            repairs=Repairs(0, 0),
            seed=trial.seed,
        )
        with Session(robot, model, chosen) as session:
            for model.left in commands:
                first = model.left[0]
                turn = session.run(first.words)
        # The engine asks the same question once: a block that repeats its answer is used too.
        left = [block for block in model.left if block not in model.given]
        unused = ", ".join(repr(block.words) for block in left)
        failure = str(turn.failure or (unused and f"not asked for: {unused}"))
        return Outcome(
            success=turn.ok and not unused,
            cause=cause_of(turn.failure) or ("program" if unused else ""),
            instruction=first.words,
            program=turn.program or "",
            failure=failure,
            calls=len(turn.calls),
            cost_usd=0.0,
            extra={"effect": turn.effect.line if turn.effect else ""},
        )
