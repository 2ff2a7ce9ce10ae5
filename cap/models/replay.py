"""Recordings: completions given again, keyed by the request.

A recording is a JSONL file, one completion a line:

    {"key": "...", "prompt_end": "...", "text": "...", "model": "...", "usage": {...}}

`key` is the SHA-256 of the request; `prompt_end` is for people; `usage` holds `prompt_tokens`,
`completion_tokens`, `cost_usd` if a price was known, `estimated` if nobody counted the tokens, and
`requests` where more or fewer than one were sent. A line with `error`, an error's name, says that
the model gave no completion then, or its endpoint failed, and why in `text`. A line with `scores`
holds a comparison of continuations.

What was asked several times is answered in the order it was recorded, and after the last answer
with that one again. `of` names the part of a run, such as a trial: each has an order of its own.
An answer with `any_prompt`, as those of a run's folder have it, also serves a request that only
ends in the same line: the prompts may have changed since. `take` tells one recording into the file
from the next; where a key stands in several, the last one holds, so recording again into the same
file corrects it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import secrets
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from cap.errors import ModelError, NotRecorded, SpendLimit, UsageError
from cap.files import parsed_json, read_text
from cap.models.base import Completion, Ended, Model, Request, Scores, Usage
from cap.models.wrapper import Ask, Wrapped

SHOWN_LINES = 6
"""How many of a prompt's last lines a recording shows."""
_TOOK = ("prompt_tokens", "completion_tokens", "cost_usd", "estimated")
"""What a failure keeps of what it took, besides its requests."""
_TOLD = ("ended", "continues", "why_empty")
_USUAL = Completion("", "")
_KEY = re.compile(r'"key": "([0-9a-f]{64})"')


def request_key(request: Request) -> str:
    """Return the SHA-256, in hex, of a request's canonical JSON: everything but the model."""
    parts: dict[str, Any] = {
        "prompt": request.prompt,
        "stop": list(request.stop),
        "max_tokens": request.max_tokens,
        "temperature": float(request.temperature),
        "seed": request.seed,
    }
    if request.system is not None:
        parts["system"] = request.system
    if request.pictures:
        parts["pictures"] = [hashlib.sha256(png).hexdigest() for png in request.pictures]
    return _digest(parts)


def scores_key(prompt: str, continuations: Sequence[str]) -> str:
    """Return the SHA-256, in hex, of a comparison."""
    return _digest({"prompt": prompt, "continuations": list(continuations)})


def _digest(parts: dict[str, Any]) -> str:
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


Answer = Completion | ModelError | Scores


@dataclass(frozen=True)
class Entry:
    """One line of a recording."""

    key: str
    """Of the request."""
    of: str
    """The part of the run it was asked in, "" for none."""
    take: str
    """Which recording into the file it is of."""
    prompt_end: str
    """The last lines of the prompt."""
    answer: Answer
    """What was answered."""
    any_prompt: bool = False
    """Whether it also answers a request that ends alike, for when the prompts have changed."""


class Replay:
    """A model that answers from a recording, and nothing else; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Read the recording.

        Raises:
            UsageError: It cannot be read, or a line is not a recorded completion; with the line.
        """
        self.name = f"replay/{path}"
        self._path = path
        self._instructions: set[str] = set()
        self._answers: dict[tuple[str, str], list[Answer]] = {}
        """By part of the run and key."""
        self._anywhere: dict[str, list[Answer]] = defaultdict(list)
        self._alike: dict[str, list[Answer]] = defaultdict(list)
        """By the last line of the prompt."""
        takes: dict[tuple[str, str], str] = {}
        for number, line in enumerate(_lines(path), start=1):
            if not line.strip():
                continue
            entry = read_entry(line, f"{path}, line {number}")
            place = entry.of, entry.key
            if takes.get(place) != entry.take:
                takes[place], self._answers[place] = entry.take, []
            self._answers[place].append(entry.answer)
            self._instructions.add(_last_line(entry.prompt_end))
            if entry.any_prompt:
                self._alike[_last_line(entry.prompt_end)].append(entry.answer)
        for (_, key), answers in self._answers.items():
            self._anywhere[key] += answers
        self._parts = any(of for of, _ in self._answers)
        self._label = ""
        self._begin()

    def scoped(self, label: str) -> Replay:
        """Return the same for one part of a run, whose answers begin anew."""
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
        found = self._next(request_key(request), _last_line(request.prompt))
        if isinstance(found, Completion):
            return found
        raise NotRecorded(self._missing(_last_line(request.prompt)))

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Return the recorded comparison.

        Raises:
            NotRecorded: This one was never recorded.
            ModelError: It was, and there were no scores then either.
        """
        found = self._next(scores_key(prompt, continuations))
        if isinstance(found, Scores):
            return found
        raise NotRecorded(self._missing(_last_line(prompt)))

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._given: dict[str, int] = defaultdict(int)
        """How many of a key's answers were given."""

    def _next(self, key: str, line: str = "") -> Answer | None:
        answers = self._answers.get((self._label, key)) or self._answers.get(("", key))
        if not (self._label and self._parts):  # what knows no parts serves any of them
            answers = answers or self._anywhere.get(key)
        if not answers:
            key, answers = line, self._alike.get(line)
        if not answers:
            return None
        with self._lock:
            number = self._given[key]
            self._given[key] += 1
        found = answers[min(number, len(answers) - 1)]
        if isinstance(found, ModelError):
            raise copy.copy(found)
        return found

    def _missing(self, line: str) -> str:
        shown = line if len(line) <= 120 else line[:117] + "..."
        why = ""
        if line in self._instructions:
            why = (
                " (it is recorded, but after other text or with other options: the prompt changed)"
            )
        remedy = f"record it with a model that can answer: -m PROVIDER/NAME --record {self._path}"
        return f"{self._path} holds no completion for {shown!r}{why}; {remedy}"


def recording_warning(path: Path | None) -> str:
    """Return what a person should know who records into a file that others answers are in."""
    if path is None or not path.is_file():
        return ""
    if not (answers := sum(bool(_KEY.search(line)) for line in _lines(path))):
        return ""
    return (
        f"{path} holds {answers} answer{'s' * (answers != 1)} of earlier runs, which stay; where "
        "the same is asked again the new ones hold. Name another file for this run alone"
    )


class Recorder(Wrapped):
    """Any model, with each of its answers appended to a recording."""

    def __init__(self, model: Model, path: Path) -> None:
        """Open the recording for appending; its folder is made if need be.

        Raises:
            UsageError: The file cannot be written.
        """
        super().__init__(model)
        self._path = path
        self._lock = threading.Lock()
        self._of: dict[str, str] = {}
        """The part of the run."""
        self._take = secrets.token_hex(4)
        self._append("")
        self._before = {match[1] for line in _lines(path) if (match := _KEY.search(line))}
        """The keys of earlier recordings into the file."""

    def scoped(self, label: str) -> Wrapped:
        """Return the same for one part of a run; where it is run again, that is what holds."""
        other = super().scoped(label)
        assert isinstance(other, Recorder)
        other._take = secrets.token_hex(4)
        other._of = {"of": label, "take": other._take}
        return other

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Compare continuations, and record how.

        Raises:
            ModelError: No usable answer.
        """
        try:
            scores = super().score(prompt, continuations)
        except (SpendLimit, NotRecorded):
            raise  # nothing was asked
        except ModelError as error:
            self._write(scores_key(prompt, continuations), prompt, _failure(error))
            raise
        told = {"scores": scores.logprobs, "rung": scores.rung, "notes": scores.notes}
        self._write(scores_key(prompt, continuations), prompt, told)
        return scores

    def _through(self, request: Request, ask: Ask) -> Completion:
        try:
            completion = ask()
        except (SpendLimit, NotRecorded):
            raise  # nothing was asked
        except ModelError as error:
            self._write(request_key(request), request.prompt, _failure(error))
            raise
        usage = {name: getattr(completion, name) for name in (*_TOOK, "requests")}
        told = {name: getattr(completion, name) for name in _TOLD}
        unusual = {name: value for name, value in told.items() if value != getattr(_USUAL, name)}
        answer = {"text": completion.text, "model": completion.model, **unusual}
        answer["usage"] = {
            name: value
            for name, value in usage.items()
            if name in _TOOK[:2] or value != getattr(_USUAL, name)
        }
        self._write(request_key(request), request.prompt, answer)
        return completion

    def _write(self, key: str, prompt: str, told: dict[str, Any]) -> None:
        take = {"take": self._take} if key in self._before else {}
        entry = {"key": key, "prompt_end": _end(prompt), **told, **take, **self._of}
        self._append(json.dumps(entry) + "\n")

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


def _failure(error: ModelError) -> dict[str, Any]:
    """Return a line's part for a question that led to no answer, or to one of no use."""
    took = Usage.of_failed(error)
    usage: dict[str, Any] = {"requests": took.requests}
    if error.took:
        usage |= {name: getattr(took, name) for name in _TOOK}
    return {"error": type(error).__name__, "text": str(error), "usage": usage}


def _kinds(kind: type[ModelError]) -> Iterator[type[ModelError]]:
    """Yield a kind of error and all that are of it."""
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)


_ERRORS = {kind.__name__: kind for kind in _kinds(ModelError)}


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path).split("\n")
    except FileNotFoundError:
        raise UsageError(
            f"no recording {path}; make one with -m PROVIDER/NAME --record {path}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the recording {path}: {error}") from None


class _Used(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int = 0
    cost_usd: float | None = None
    estimated: bool = False
    requests: int = 1


class _Line(msgspec.Struct):
    """What may stand in a line."""

    key: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    prompt_end: str
    text: str | None = None
    model: str | None = None
    usage: _Used | None = None
    error: str | None = None
    scores: tuple[float, ...] | None = None
    rung: str = ""
    ended: Ended = "whole"
    continues: bool = False
    why_empty: str = ""
    of: str = ""
    take: str = ""
    any_prompt: bool = False


def read_entry(line: str, where: str) -> Entry:
    """Return one line of a recording.

    Raises:
        UsageError: It is none; the message begins with `where`.
    """
    try:
        read = msgspec.convert(parsed_json(line), _Line)
        if read.scores is None and (read.text is None or (read.error or read.model) is None):
            raise ValueError("it holds no answer")
    except ValueError as error:
        raise UsageError(f"{where}: {error}; remove or record it again") from None
    answer = _answer(read)
    return Entry(read.key, read.of, read.take, read.prompt_end, answer, read.any_prompt)


def _answer(line: _Line) -> Answer:
    """Return what a line holds."""
    if line.scores is not None:
        return Scores(line.scores, line.rung)
    used, text = line.usage or _Used(), line.text or ""
    took = Usage(
        used.requests,
        used.prompt_tokens or 0,
        used.completion_tokens,
        used.cost_usd,
        estimated=used.estimated,
    )
    if line.error is not None:
        error = _ERRORS.get(line.error, ModelError)(text)
        error.requests = used.requests
        error.took = vars(took) if used.prompt_tokens is not None else {}
        return error
    return Completion(
        text,
        line.model or "",
        took.prompt_tokens,
        took.completion_tokens,
        took.cost_usd,
        ended=line.ended,
        continues=line.continues,
        why_empty=line.why_empty,
        requests=took.requests,
        estimated=took.estimated,
    )


def _end(prompt: str) -> str:
    return "\n".join(prompt.rstrip().splitlines()[-SHOWN_LINES:])


def _last_line(prompt: str) -> str:
    return next(iter(prompt.rstrip().splitlines()[-1:]), "")
