"""Models around models: recordings, the cache, the meter, and what passes through all of them."""

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cap.errors import (
    EmptyCompletion,
    EndpointFailed,
    ModelError,
    ModelUnreachable,
    NoMatch,
    NotRecorded,
    PromptCutOff,
    SpendLimit,
    UsageError,
)
from cap.messages import usage_line
from cap.models.base import Completion, Model, Request, Scores, ScoringModel, Streams, Usage
from cap.models.budget import ESTIMATED, FREE, Allowance, Budget, Price
from cap.models.providers import ModelTerms, make_model
from cap.models.replay import NOTE, Cache, Recording, Replay, request_key
from cap.models.wrapper import Managed, OwnModel
from tests.fakes.openai_server import FakeServer, error

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


# --- models around models: the cache, the meter, and what passes through both

GREET = Request("# greet.\n", seed=1)
PRICE = Price(read=2.0, written=10.0, cached=0.5, reasoning=90.0)


class Fixed:
    """Answers everything with one text."""

    name = "fake/fixed"
    repairs = False

    def __init__(self, text: str = "say('hello')", tokens: tuple[int, int] = (1000, 100)) -> None:
        self.text = text
        self.tokens = tokens
        self.asked: list[Request] = []
        self.closed = False

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(self.text, "fixed", *self.tokens)

    def close(self) -> None:
        self.closed = True


class Full(Fixed):
    """Streams and compares as well."""

    def stream(self, request: Request, on_text: Callable[[str], None]) -> Completion:
        for letter in self.text:
            on_text(letter)
        return self.complete(request)

    def score(self, prompt: str, continuations: Any) -> Scores:
        return Scores((0.0,) * len(continuations), "exact")


def cached(model: Model, folder: Path) -> Managed:
    return Managed(model, cache=Cache(folder))


def metered(model: Model, allowance: Allowance | None = None, price: Price | None = None) -> Any:
    """Return a model with a budget of its own, and the budget."""
    budget = Budget(model.name, allowance, price)
    return OwnModel(model, "a test", budget=budget), budget


def around(kind: str, model: Model, folder: Path) -> Any:
    if kind == "own":
        return metered(model)[0]
    return Managed(model, cache=Cache(folder), recording=Recording(folder / "r.jsonl"))


KINDS = pytest.mark.parametrize("kind", ["own", "managed"])


@KINDS
def test_a_wrapper_passes_everything_through(kind: str, tmp_path: Path) -> None:
    inner, pieces = Full(), list[str]()
    model = around(kind, inner, tmp_path)
    assert (model.name, model.repairs) == (inner.name, False)
    assert isinstance(model, Streams)
    assert isinstance(model, ScoringModel)
    assert model.stream(GREET, pieces.append).text == "".join(pieces) == inner.text
    assert len(pieces) > 1
    assert model.score("x", ["a", "b"]) == Scores((0.0, 0.0), "exact")
    model.close()
    assert inner.closed


@KINDS
def test_a_model_that_cannot_stream_tells_its_text_at_once(kind: str, tmp_path: Path) -> None:
    inner, pieces = Fixed(), list[str]()
    around(kind, inner, tmp_path).stream(GREET, pieces.append)
    assert pieces == [inner.text]


@KINDS
def test_a_model_that_cannot_compare_is_asked_for_a_ranking(kind: str, tmp_path: Path) -> None:
    scores = around(kind, Fixed("A, B"), tmp_path).score("x", ["done", "not yet"])
    assert scores.rung == "ranked"
    assert scores.logprobs[0] > scores.logprobs[1]


def test_the_same_request_is_asked_once(tmp_path: Path) -> None:
    inner = Fixed()
    first = cached(inner, tmp_path).complete(GREET)
    again = cached(inner, tmp_path).complete(GREET)
    assert len(inner.asked) == 1
    assert again == replace(first, cost_usd=0.0, requests=0, notes=(NOTE,))


def made(url: str, mode: Any, folder: Path, **more: Any) -> Model:
    terms = ModelTerms(cache=folder, **more)
    return make_model("vllm/fake", base_url=url, mode=mode, environ={}, terms=terms)


def test_what_would_not_come_again_is_not_kept(tmp_path: Path) -> None:
    inner = Fixed()
    model = cached(inner, tmp_path / "cache")
    for _ in range(2):
        model.complete(Request("# greet.\n", temperature=0.7))
    assert len(inner.asked) == 2
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    class Once(Fixed):
        def complete(self, request: Request) -> Completion:
            if not self.asked:
                self.asked.append(request)
                raise EmptyCompletion("nothing")
            return super().complete(request)

    model = cached(Once(), tmp_path)
    with pytest.raises(EmptyCompletion):
        model.complete(GREET)
    assert model.complete(GREET).notes == ()


def test_an_empty_answer_is_counted_and_not_kept(tmp_path: Path) -> None:
    inner = Fixed(" \n", tokens=(1000, 100))
    within, budget = metered(inner, Allowance(cost_usd=0.005), PRICE)
    model = cached(within, tmp_path / "cache")
    assert model.complete(GREET).empty
    assert model.complete(GREET).empty
    assert (budget.usage.requests, budget.usage.completion_tokens) == (2, 200)
    assert budget.usage.cost_usd == pytest.approx(0.006)
    assert list((tmp_path / "cache").iterdir()) == []
    with pytest.raises(SpendLimit):
        model.complete(GREET)


@pytest.mark.parametrize(
    "damage",
    [b"{", b"\xff\xfe", b"[]", b'{"text": 3, "model": "x"}', b"[" * 100_000],
)
def test_a_damaged_file_is_asked_anew_and_mended(tmp_path: Path, damage: bytes) -> None:
    inner = Fixed()
    model = cached(inner, tmp_path / "cache")
    model.complete(GREET)
    (file,) = (tmp_path / "cache").iterdir()
    file.write_bytes(damage)
    assert model.complete(GREET).text == inner.text
    assert model.complete(GREET).notes == (NOTE,)
    assert len(inner.asked) == 2
    assert list((tmp_path / "cache").iterdir()) == [file]


def test_comparisons_are_kept_as_well_and_counted_once(tmp_path: Path) -> None:
    def answer(prompt: str, body: Any) -> Any:
        return error(400, "no echo") if "echo" in body or "logprobs" in body else "A, B"

    with FakeServer(answer) as server:
        for _ in range(2):
            model: Any = made(server.url, "chat", tmp_path)
            scores = model.score("Robot:", ["done", "not yet"])
        asked = [post for post in server.posts if "likeliest" in str(post.body)]
    assert scores.rung == "ranked"
    assert len(asked) == 1


def test_tokens_nobody_counted_are_estimated_for_the_price_and_it_says_so() -> None:
    completion = metered(Fixed("x" * 9, tokens=(0, 0)), price=PRICE)[0].complete(Request("y" * 8))
    assert completion.cost_usd == pytest.approx((2 * 2.0 + 3 * 10.0) / 1e6)
    assert completion.notes == (ESTIMATED,)
    assert (completion.prompt_tokens, completion.completion_tokens) == (2, 3)
    assert usage_line(Usage.of(completion)) == "1 request, ~2 + ~3 tokens, ~$0.0000"


def test_no_money_and_no_calls_ask_nothing() -> None:
    for allowance in (Allowance(calls=0), Allowance(cost_usd=0.0)):
        inner = Fixed()
        with pytest.raises(SpendLimit):
            metered(inner, allowance, FREE)[0].complete(GREET)
        assert inner.asked == []


def test_a_spend_limit_without_a_price_is_refused_with_the_line_to_add() -> None:
    with pytest.raises(UsageError, match=r'\[prices\] "fake/fixed" = \{ read = ') as raised:
        metered(Fixed(), Allowance(cost_usd=1.0))
    assert "\n" not in str(raised.value)


def test_the_requests_of_a_comparison_count(tmp_path: Path) -> None:
    answer = {"choices": [{"text": "x", "logprobs": None}], "usage": {"prompt_tokens": 5}}
    with FakeServer(lambda p, b: json.dumps(answer)) as server:
        terms = ModelTerms(allowance=Allowance(calls=2))
        model: Any = make_model("vllm/fake", base_url=server.url, environ={}, terms=terms)
        with pytest.raises(SpendLimit):
            model.score("Robot:", ["done", "not yet"])
        assert len(server.posts) == 2


def test_an_answer_that_is_there_is_told_at_once_when_streamed(tmp_path: Path) -> None:
    pieces: list[str] = []
    model = cached(Full(), tmp_path)
    model.complete(GREET)
    model.stream(GREET, pieces.append)
    assert pieces == [Full().text]


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        UsageError, match=r"cannot make the cache .*choose another: --set cache=DIR"
    ):
        Cache(tmp_path / "file")


def test_a_cache_that_is_gone_costs_no_answer(tmp_path: Path) -> None:
    model = cached(Fixed(), tmp_path / "cache")
    (tmp_path / "cache").rmdir()
    assert model.complete(GREET).text


def test_without_a_price_the_cost_is_not_known() -> None:
    model, budget = metered(Fixed())
    assert model.complete(GREET).cost_usd is None
    assert budget.usage.cost_usd is None


def test_limits_hold_for_models_that_cost_nothing() -> None:
    terms = ModelTerms(allowance=Allowance(calls=0, cost_usd=1.0))
    with pytest.raises(SpendLimit):
        make_model("nearest", environ={}, terms=terms).complete(GREET)
