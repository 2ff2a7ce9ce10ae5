import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cap.errors import (
    EndpointFailed,
    ModelError,
    ModelUnreachable,
    NoMatch,
    NotRecorded,
    PromptCutOff,
    SpendLimit,
    UsageError,
)
from cap.models.base import Completion, Request, Scores, Usage
from cap.models.replay import Recording, Replay, request_key
from cap.models.wrapper import Managed

REQUEST = Request("import numpy as np\n\nobjects = ['a']\n# move the a.\n", stop=("\n# ",))


class Echo:
    """Answers with its count and the prompt's length."""

    name = "echo"

    def __init__(self) -> None:
        self.count = 0

    def complete(self, request: Request) -> Completion:
        self.count += 1
        return Completion(f"x = {self.count}", "echo-1", len(request.prompt), 3)


def recorder(model: Any, path: Path) -> Managed:
    return Managed(model, recording=Recording(path))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "new" / "folder" / "session.jsonl"


def test_what_was_recorded_is_replayed(file: Path) -> None:
    text = "say('Grüße\u2028 \\n')\n"
    given = Completion(text, "m", 11, 5)

    class Fixed(Echo):
        def complete(self, request: Request) -> Completion:
            return given

    assert recorder(Fixed(), file).complete(REQUEST) == given
    assert Replay(file).complete(REQUEST) == given


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "x" + REQUEST.prompt},
        {"stop": ()},
        {"stop": ("\n# ", "\n")},
        {"max_tokens": 513},
        {"temperature": 0.5},
        {"seed": 0},
        {"system": "Answer in words."},
    ],
)
def test_every_part_of_a_request_is_part_of_its_key(change: dict[str, object]) -> None:
    assert request_key(replace(REQUEST, **change)) != request_key(REQUEST)  # type: ignore[arg-type]


def test_keys_do_not_change_between_releases() -> None:
    request = Request("# a.\n", stop=("\n",), max_tokens=1, temperature=0.0, seed=2)
    canonical = '{"max_tokens":1,"prompt":"# a.\\n","seed":2,"stop":["\\n"],"temperature":0.0}'
    assert request_key(request) == hashlib.sha256(canonical.encode()).hexdigest()


def test_the_later_recording_of_a_request_holds(file: Path) -> None:
    recorder(Echo(), file).complete(REQUEST)
    echo = Echo()
    echo.count = 10
    recorder(echo, file).complete(REQUEST)
    assert Replay(file).complete(REQUEST).text == "x = 11"


def test_an_unseen_request_shows_its_instruction_and_how_to_record(file: Path) -> None:
    recorder(Echo(), file).complete(REQUEST)
    with pytest.raises(NotRecorded) as raised:
        Replay(file).complete(Request("# jump.\n"))
    message = str(raised.value)
    assert "'# jump.'" in message
    assert f"--record {file}" in message
    assert "prompt changed" not in message
    assert "\n" not in message


@pytest.mark.parametrize("change", [{"prompt": "y\n\n# move the a.\n"}, {"max_tokens": 9}])
def test_a_known_instruction_after_another_prompt_says_so(
    file: Path, change: dict[str, object]
) -> None:
    recorder(Echo(), file).complete(REQUEST)
    with pytest.raises(NotRecorded, match="the prompt changed"):
        Replay(file).complete(replace(REQUEST, **change))  # type: ignore[arg-type]


class Fails(Echo):
    def __init__(self, error: ModelError) -> None:
        self.error = error

    def complete(self, request: Request) -> Completion:
        raise self.error

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        raise self.error


@pytest.mark.parametrize("kind", [NoMatch, EndpointFailed, ModelUnreachable, PromptCutOff])
def test_what_failed_fails_again_and_took_as_much(file: Path, kind: type[ModelError]) -> None:
    error = kind("no use")
    error.requests = 4
    if kind is PromptCutOff:
        error.took = vars(Usage(4, 700, 20, 0.25, estimated=True))
    with pytest.raises(kind):
        recorder(Fails(error), file).complete(REQUEST)
    with pytest.raises(ModelError, match="no use") as again:
        Replay(file).complete(REQUEST)
    assert type(again.value) is kind
    assert Usage.of_failed(again.value) == Usage.of_failed(error)


@pytest.mark.parametrize("kind", [SpendLimit, NotRecorded])
def test_what_was_never_asked_is_not_recorded(file: Path, kind: type[ModelError]) -> None:
    with pytest.raises(kind):
        recorder(Fails(kind("no more")), file).complete(REQUEST)
    assert file.read_bytes() == b""


def test_threads_do_not_mix_their_lines(file: Path) -> None:
    recording = recorder(Echo(), file)

    def work(first: int) -> None:
        for seed in range(first, first + 25):
            recording.complete(Request("x" * 10_000, seed=seed))

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 25, 50, 75)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    replayed = Replay(file)
    assert all(replayed.complete(Request("x" * 10_000, seed=seed)).text for seed in range(100))


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("{", "Expecting property name"),
        ("[1]", "Expected `object`"),
        (json.dumps({"key": "0" * 64, "model": "m", "prompt_end": ""}), "it holds no answer"),
    ],
)
def test_a_bad_line_names_file_and_line(file: Path, bad: str, told: str) -> None:
    recorder(Echo(), file).complete(REQUEST)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"\n{bad}\n")
    with pytest.raises(UsageError, match=r"session\.jsonl, line 3: ") as raised:
        Replay(file)
    assert told in str(raised.value)


def test_a_line_needs_no_more_than_a_key_and_an_answer(file: Path) -> None:
    file.parent.mkdir(parents=True)
    head = {"key": request_key(REQUEST), "prompt_end": "# move the a."}
    file.write_text(json.dumps({**head, "text": "x = 1", "model": "m"}))
    assert Replay(file).complete(REQUEST) == Completion("x = 1", "m")
    file.write_text(json.dumps({**head, "text": "no use", "error": "NoMatch"}))
    with pytest.raises(NoMatch, match="no use") as failed:
        Replay(file).complete(REQUEST)
    assert Usage.of_failed(failed.value) == Usage(1)


def test_a_recording_that_cannot_be_written_is_refused_before_the_model_is_asked(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="choose another file for --record"):
        recorder(Echo(), tmp_path)


def test_a_recording_holds_only_what_it_says(file: Path) -> None:
    recorder(Echo(), file).complete(REQUEST)
    entry = json.loads(file.read_text(encoding="utf-8"))
    assert set(entry) == {"key", "prompt_end", "text", "model", "usage"}
    assert entry["prompt_end"].endswith("objects = ['a']\n# move the a.")


def test_what_was_asked_twice_is_answered_in_order_and_then_as_last(file: Path) -> None:
    recording = recorder(Echo(), file)
    recorded = [recording.complete(REQUEST).text for _ in range(3)]
    replay = Replay(file)
    assert [replay.complete(REQUEST).text for _ in range(4)] == [*recorded, recorded[-1]]
    assert Replay(file).complete(REQUEST).text == recorded[0]


def test_each_part_of_a_run_has_an_order_of_its_own(file: Path) -> None:
    recording = recorder(Echo(), file)
    first, second = recording.scoped("trial 1"), recording.scoped("trial 2")
    recorded = [part.complete(REQUEST).text for part in (first, second, first, second)]
    replay = Replay(file)
    again, other = replay.scoped("trial 2"), replay.scoped("trial 1")
    assert [again.complete(REQUEST).text for _ in range(2)] == [recorded[1], recorded[3]]
    assert [other.complete(REQUEST).text for _ in range(2)] == [recorded[0], recorded[2]]
    assert replay.complete(REQUEST).text == recorded[0]
    with pytest.raises(NotRecorded):
        replay.scoped("another").complete(REQUEST)


def test_a_part_that_is_run_again_is_what_holds(file: Path) -> None:
    recording = recorder(Echo(), file)
    broken, whole = recording.scoped("trial 1"), recording.scoped("trial 1")
    broken.complete(REQUEST)
    recorded = [whole.complete(REQUEST).text for _ in range(2)]
    replay = Replay(file).scoped("trial 1")
    assert [replay.complete(REQUEST).text for _ in range(2)] == recorded


def test_comparisons_are_recorded_and_given_again(file: Path) -> None:
    class Compares(Echo):
        def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
            return Scores((-0.5, -1.5), "exact")

    recorder(Compares(), file).score("Robot:", ["a", "b"])
    assert Replay(file).score("Robot:", ["a", "b"]) == Scores((-0.5, -1.5), "exact")
    with pytest.raises(NotRecorded):
        Replay(file).score("Robot:", ["a", "c"])
