"""Models around models: the cache, the meter, and what passes through both."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cap.errors import EmptyCompletion, SpendLimit, UsageError
from cap.messages import usage_line
from cap.models.base import Completion, Model, Request, Scores, ScoringModel, Streams, Usage
from cap.models.budget import ESTIMATED, FREE, Allowance, Budget, Price
from cap.models.providers import ModelTerms, make_model
from cap.models.replay import NOTE, Cache, Recording
from cap.models.wrapper import Managed, OwnModel
from tests.fakes.openai_server import FakeServer, error

REQUEST = Request("# greet.\n", seed=1)
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
    assert model.stream(REQUEST, pieces.append).text == "".join(pieces) == inner.text
    assert len(pieces) > 1
    assert model.score("x", ["a", "b"]) == Scores((0.0, 0.0), "exact")
    model.close()
    assert inner.closed


@KINDS
def test_a_model_that_cannot_stream_tells_its_text_at_once(kind: str, tmp_path: Path) -> None:
    inner, pieces = Fixed(), list[str]()
    around(kind, inner, tmp_path).stream(REQUEST, pieces.append)
    assert pieces == [inner.text]


@KINDS
def test_a_model_that_cannot_compare_is_asked_for_a_ranking(kind: str, tmp_path: Path) -> None:
    scores = around(kind, Fixed("A, B"), tmp_path).score("x", ["done", "not yet"])
    assert scores.rung == "ranked"
    assert scores.logprobs[0] > scores.logprobs[1]


def test_the_same_request_is_asked_once(tmp_path: Path) -> None:
    inner = Fixed()
    first = cached(inner, tmp_path).complete(REQUEST)
    again = cached(inner, tmp_path).complete(REQUEST)
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
        model.complete(REQUEST)
    assert model.complete(REQUEST).notes == ()


def test_an_empty_answer_is_counted_and_not_kept(tmp_path: Path) -> None:
    inner = Fixed(" \n", tokens=(1000, 100))
    within, budget = metered(inner, Allowance(cost_usd=0.005), PRICE)
    model = cached(within, tmp_path / "cache")
    assert model.complete(REQUEST).empty
    assert model.complete(REQUEST).empty
    assert (budget.usage.requests, budget.usage.completion_tokens) == (2, 200)
    assert budget.usage.cost_usd == pytest.approx(0.006)
    assert list((tmp_path / "cache").iterdir()) == []
    with pytest.raises(SpendLimit):
        model.complete(REQUEST)


@pytest.mark.parametrize(
    "damage",
    [b"{", b"\xff\xfe", b"[]", b'{"text": 3, "model": "x"}', b"[" * 100_000],
)
def test_a_damaged_file_is_asked_anew_and_mended(tmp_path: Path, damage: bytes) -> None:
    inner = Fixed()
    model = cached(inner, tmp_path / "cache")
    model.complete(REQUEST)
    (file,) = (tmp_path / "cache").iterdir()
    file.write_bytes(damage)
    assert model.complete(REQUEST).text == inner.text
    assert model.complete(REQUEST).notes == (NOTE,)
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
            metered(inner, allowance, FREE)[0].complete(REQUEST)
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
    model.complete(REQUEST)
    model.stream(REQUEST, pieces.append)
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
    assert model.complete(REQUEST).text


def test_without_a_price_the_cost_is_not_known() -> None:
    model, budget = metered(Fixed())
    assert model.complete(REQUEST).cost_usd is None
    assert budget.usage.cost_usd is None


def test_limits_hold_for_models_that_cost_nothing() -> None:
    terms = ModelTerms(allowance=Allowance(calls=0, cost_usd=1.0))
    with pytest.raises(SpendLimit):
        make_model("nearest", environ={}, terms=terms).complete(REQUEST)
