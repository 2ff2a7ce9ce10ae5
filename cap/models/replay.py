"""Recordings and the cache: completions given again, keyed by the request.

A recording is a JSONL file, one completion a line:

    {"key": "...", "prompt_end": "...", "text": "...", "model": "...", "usage": {...}}

`key` is the SHA-256 of the request; `prompt_end` is for people; `usage` holds `prompt_tokens`,
`completion_tokens`, `cost_usd` if a price was known, `estimated` if the tokens were not counted,
and `requests` where more or fewer than one were sent. A line with `error`, an error's name, says
that the model gave no completion then, or its endpoint failed, and why in `text`. A line with
`scores` holds a comparison of continuations.

What was asked several times is answered in the order it was recorded, and after the last answer
with that one again. `of` names the part of a run, such as a trial: each has an order of its own.
An answer with `any_prompt`, as those of a run's folder have it, also serves a request that only
ends in the same line: the prompts may have changed since. `take` separates one recording into the
file from the next; where a key is in several, the last one counts, so recording again into the same
file corrects it.

The cache is a folder with one JSON file an answer, named by the question and by the model. Only
what would come again is kept: answers at temperature 0, or with a seed. Failures never are.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import secrets
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from cap import errors
from cap.errors import ModelError, NotRecorded, UsageError
from cap.files import parsed_json, read_json, read_text, write_whole
from cap.models.base import Completion, Ended, Request, ScoreRequest, Scores, Usage

NOTE = "from the cache"
SHOWN_LINES = 6
"""How many of a prompt's last lines a recording shows."""

_ANY = "*"
"""Any part of a run."""
Answer = Completion | ModelError | Scores
A = TypeVar("A", bound=Completion | Scores)

_ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, ModelError)
}


def request_key(asked: Request | ScoreRequest) -> str:
    """Return the SHA-256, in hex, of a question's canonical JSON: everything but the model."""
    parts: dict[str, Any] = {"prompt": asked.prompt}
    if isinstance(asked, ScoreRequest):
        parts["continuations"] = list(asked.continuations)
    else:
        parts |= {
            "stop": list(asked.stop),
            "max_tokens": asked.max_tokens,
            "temperature": float(asked.temperature),
            "seed": asked.seed,
        }
        if asked.system is not None:
            parts["system"] = asked.system
        if asked.pictures:
            parts["pictures"] = [hashlib.sha256(png).hexdigest() for png in asked.pictures]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Took(msgspec.Struct, omit_defaults=True):
    """What an answer took; fields of `Usage`."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    requests: int = 1
    estimated: bool = False


class Entry(msgspec.Struct, omit_defaults=True):
    """One line of a recording."""

    key: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    """Of the request."""
    prompt_end: str
    """The last lines of the prompt."""
    text: str | None = None
    """The completion, or why there was none."""
    model: str = ""
    usage: Took = msgspec.field(default_factory=Took)
    error: str = ""
    scores: tuple[float, ...] | None = None
    rung: str = ""
    ended: Ended = "whole"
    continues: bool = False
    why_empty: str = ""
    of: str = ""
    """The part of the run it was asked in, "" for none."""
    take: str = ""
    """Which recording into the file it is of."""
    any_prompt: bool = False
    """Whether it also answers a request that ends alike, for when the prompts have changed."""

    @property
    def line(self) -> str:
        """The last line of the prompt."""
        return _last_line(self.prompt_end)

    @property
    def answer(self) -> Answer:
        """What was answered.

        Raises:
            ValueError: It has no answer.
        """
        if self.scores is not None:
            return Scores(self.scores, self.rung)
        if self.text is None:
            raise ValueError("it holds no answer")
        took = msgspec.structs.asdict(self.usage)
        if self.error:
            error = _ERRORS.get(self.error, ModelError)(self.text)
            error.requests = took["requests"]
            error.took = took if self.usage.prompt_tokens else {}
            return error
        return Completion(
            self.text,
            self.model,
            **took,
            ended=self.ended,
            continues=self.continues,
            why_empty=self.why_empty,
        )


def read_entry(line: str, where: str) -> Entry:
    """Return one line of a recording.

    Raises:
        UsageError: It is none; the message begins with `where`.
    """
    try:
        entry = msgspec.convert(parsed_json(line), Entry)
        _ = entry.answer
    except ValueError as error:
        raise UsageError(f"{where}: {error}; remove or record it again") from None
    return entry


class Replay:
    """A model that answers from a recording, and nothing else; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Read the recording.

        Raises:
            UsageError: It cannot be read, or a line is not a recorded completion; with the line.
        """
        self.name = f"replay/{path}"
        self._path = path
        lines = enumerate(_lines(path), start=1)
        entries = [read_entry(line, f"{path}, line {n}") for n, line in lines if line.strip()]
        takes = {(entry.of, entry.key): entry.take for entry in entries}
        self._instructions = {entry.line for entry in entries}
        self._answers: dict[tuple[str, str], list[Answer]] = defaultdict(list)
        """By part of the run and key; of any part, by key or by the last line of the prompt."""
        for entry in entries:
            if entry.take == takes[entry.of, entry.key]:
                self._answers[entry.of, entry.key].append(entry.answer)
                self._answers[_ANY, entry.key].append(entry.answer)
            if entry.any_prompt:
                self._answers[_ANY, entry.line].append(entry.answer)
        self._label = ""
        self._begin()

    def scoped(self, label: str) -> Replay:
        """Return the same for one part of a run, whose answers begin again."""
        other = copy.copy(self)
        other._label = label
        other._begin()
        return other

    def complete(self, request: Request) -> Completion:
        """Return the recorded completion.

        Raises:
            NotRecorded: This very request was never recorded.
            ModelError: It was, and there was no completion then either.
        """
        return self._next(request, Completion)

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Return the recorded comparison.

        Raises:
            NotRecorded: This one was never recorded.
            ModelError: It was, and there were no scores then either.
        """
        return self._next(ScoreRequest(prompt, tuple(continuations)), Scores)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._given: dict[tuple[str, str], int] = defaultdict(int)
        """How many of the answers of a part and key were given."""

    def _next(self, asked: Request | ScoreRequest, kind: type[A]) -> A:
        """Return the next answer to a question, or else to a prompt that ends alike."""
        key, line = request_key(asked), _last_line(asked.prompt)
        places = [(self._label, key), ("", key), (_ANY, line)]
        if not self._label:
            places.insert(2, (_ANY, key))
        place = next((place for place in places if place in self._answers), None)
        if place is not None:
            with self._lock:
                number = self._given[place]
                self._given[place] += 1
            answers = self._answers[place]
            found = answers[min(number, len(answers) - 1)]
            if isinstance(found, ModelError):
                raise copy.copy(found)
            if isinstance(found, kind):
                return found
        shown = line if len(line) <= 120 else line[:117] + "..."
        changed = (
            " (it is recorded, but after other text or with other options: the prompt changed)"
        )
        raise NotRecorded(
            f"{self._path} holds no completion for {shown!r}"
            f"{changed if line in self._instructions else ''}; record it "
            f"with a model that can answer: -m PROVIDER/NAME --record {self._path}"
        )


class Recording:
    """A file that answers are appended to; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Open the file for appending; its folder is made if need be.

        Raises:
            UsageError: The file cannot be written.
        """
        self._path = path
        self._lock = threading.Lock()
        self._of = ""
        """The part of the run."""
        self._append("")
        self._take = secrets.token_hex(4) if path.stat().st_size else ""

    def scoped(self, label: str) -> Recording:
        """Return the same for one part of a run; where it is run again, that is what counts."""
        other = copy.copy(self)
        other._take = secrets.token_hex(4)
        other._of = label
        return other

    def write(self, asked: Request | ScoreRequest, answer: Answer) -> None:
        """Append one answer, or a failure.

        Raises:
            UsageError: The file cannot be written.
        """
        key = request_key(asked)
        end = "\n".join(asked.prompt.rstrip().splitlines()[-SHOWN_LINES:])
        entry = Entry(key, end, **_recorded(answer), take=self._take, of=self._of)
        self._append(json.dumps(msgspec.to_builtins(entry)) + "\n")

    def _append(self, line: str) -> None:
        """Append with a single write, so that no other writer's line can come between."""
        try:
            with self._lock:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("ab", buffering=0) as file:
                    file.write(line.encode())
        except OSError as error:
            raise UsageError(
                f"cannot write the recording {self._path}: {error.strerror or error}; "
                "choose another file for --record"
            ) from None


def _recorded(answer: Answer) -> dict[str, Any]:
    """Return the fields of an `Entry` that hold an answer."""
    if isinstance(answer, Scores):
        return {"scores": answer.logprobs, "rung": answer.rung}
    if isinstance(answer, ModelError):
        took: Usage | Completion = Usage.of_failed(answer)
        found: dict[str, Any] = {"error": type(answer).__name__, "text": str(answer)}
    else:
        took, fields = answer, ("text", "model", "ended", "continues", "why_empty")
        found = {name: getattr(answer, name) for name in fields}
    return {"usage": msgspec.convert(took, Took, from_attributes=True), **found}


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path).split("\n")
    except FileNotFoundError:
        raise UsageError(
            f"no recording {path}; make one with -m PROVIDER/NAME --record {path}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the recording {path}: {error}") from None


def _last_line(prompt: str) -> str:
    return next(iter(prompt.rstrip().splitlines()[-1:]), "")


class Cache:
    """A folder of answers; safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        """Open the folder; it is made if need be.

        Raises:
            UsageError: It cannot be made.
        """
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror or str(error)
            raise UsageError(
                f"cannot make the cache {folder}: {why}; choose another: --set cache=DIR"
            ) from None

    def answer(self, model: str, asked: Request | ScoreRequest, ask: Callable[[], A]) -> A:
        """Return the answer that is kept, or else ask for it and keep it.

        Args:
            model: What decides its answers, except the question.
            asked: The question.
            ask: Asks it.
        """
        if isinstance(asked, Request) and asked.temperature > 0 and asked.seed is None:
            return ask()
        name = hashlib.sha256(f"{model}\n{request_key(asked)}".encode()).hexdigest()
        path = self._folder / f"{name}.json"
        kept: A | None = _read(path, Completion if isinstance(asked, Request) else Scores)
        if kept is not None:
            return kept
        answer = ask()
        if not (isinstance(answer, Completion) and answer.empty):  # it may say more next time
            with contextlib.suppress(OSError):  # a full disk costs the cache, not the answer
                write_whole(path, json.dumps(asdict(answer)))
        return answer


def _read(path: Path, kind: type[Any]) -> Any:
    """Return a kept answer, which takes nothing; None if there is none, or it is damaged."""
    try:
        kept: Completion | Scores = msgspec.convert(read_json(path), kind)
    except (OSError, ValueError):
        return None
    notes = (*kept.notes, NOTE)
    if isinstance(kept, Completion):
        return replace(kept, notes=notes, requests=0, cost_usd=0.0)
    return replace(kept, notes=notes, usage=Usage())
