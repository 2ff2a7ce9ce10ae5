"""What is counted: every request as it is sent, every token that is told, every cent."""

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cap.errors import ModelError, SpendLimit
from cap.models.base import Completion, Request, Usage
from cap.models.budget import Account, Allowance, Budget, Price
from cap.models.providers import ModelTerms, make_model
from tests.fakes.openai_server import (
    DONE,
    DROP,
    HANG,
    KEEP_ALIVE,
    FakeServer,
    Fault,
    delta,
    error,
    event,
    reply,
    stream,
)

PRICE = {"read": 2.0, "written": 8.0, "cached": 0.5, "reasoning": 6.0}
THREADS = 10


def made(url: str, **terms: Any) -> Any:
    return make_model("vllm/fake", base_url=url, environ={}, terms=ModelTerms(**terms))


class Ledger:
    """An endpoint that answers at random and keeps books of its own."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()

    def answer(self, prompt: str, body: Any) -> Fault:
        with self._lock:
            draw = self._random
            self.counts["requests"] += 1
            if draw.random() < 0.1:
                return error(500, "busy", headers={"retry-after-ms": "1"})
            read, written = draw.randrange(1, 3000), draw.randrange(1, 900)
            cached, reasoning = draw.randrange(read), draw.randrange(written)
            shape = draw.choice(["plain", "empty", "filtered", "reasoning", "deepseek", "beside"])
        usage: dict[str, Any] = {"prompt_tokens": read, "completion_tokens": written}
        if shape == "deepseek":
            usage["prompt_cache_hit_tokens"] = cached
        elif shape == "beside":  # as some do: reasoning stands in the total alone
            usage |= {"completion_tokens": written - reasoning, "total_tokens": read + written}
            cached = 0
        else:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        if shape != "beside":
            usage["completion_tokens_details"] = {"reasoning_tokens": reasoning}
        with self._lock:
            self.counts["answered"] += 1
            self.counts["prompt_tokens"] += read
            self.counts["completion_tokens"] += written
            self.counts["cached_tokens"] += cached
            self.counts["reasoning_tokens"] += reasoning
        text = None if shape in ("empty", "reasoning") else "say('x')"
        finish = {"filtered": "content_filter", "reasoning": "length"}.get(shape, "stop")
        if body.get("stream"):
            last = event({"choices": [], "usage": usage})
            return stream(delta(text), delta(None, finish), last, DONE)
        return reply(
            {"choices": [{"message": {"content": text}, "finish_reason": finish}], "usage": usage}
        )

    def cost_usd(self) -> float:
        n = self.counts
        plain = n["prompt_tokens"] - n["cached_tokens"], n["completion_tokens"]
        return (
            plain[0] * 2.0
            + n["cached_tokens"] * 0.5
            + (plain[1] - n["reasoning_tokens"]) * 8.0
            + n["reasoning_tokens"] * 6.0
        ) / 1e6


@pytest.mark.parametrize("questions", [100, pytest.param(1000, marks=pytest.mark.soak)])
def test_mixed_answers_cost_what_an_independent_count_says(questions: int) -> None:
    books = Ledger(7)
    with FakeServer(books.answer) as server:
        model = made(server.url, prices={"vllm/fake": PRICE})

        def ask(number: int) -> Completion | ModelError:
            request = Request(f"# say {number}.\n", max_tokens=1000)
            try:
                if number % 2:
                    return model.complete(request)  # type: ignore[no-any-return]
                return model.stream(request, lambda text: None)  # type: ignore[no-any-return]
            except ModelError as failed:
                return failed

        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(ask, range(questions)))
        model.close()
    used = model.usage
    told = [answer for answer in answers if isinstance(answer, Completion)]
    assert len(told) == books.counts["answered"] >= 0.95 * questions
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"):
        assert getattr(used, name) == books.counts[name], name
    assert used.cost_usd == pytest.approx(books.cost_usd(), rel=1e-9)
    assert sum(answer.cost_usd or 0.0 for answer in told) == pytest.approx(books.cost_usd())
    assert sum(answer.requests for answer in answers) == books.counts["requests"]
    assert len(server.posts) == books.counts["requests"] > questions


@pytest.mark.parametrize("calls", [1, 7])
def test_no_more_requests_are_sent_than_may_be_retries_included(calls: int) -> None:
    faults = [error(500, "busy", headers={"retry-after-ms": "1"})] * 3
    with FakeServer(lambda prompt, body: "say(1)", faults) as server:
        model = made(server.url, allowance=Allowance(calls=calls))

        def ask(number: int) -> bool:
            try:
                return bool(model.complete(Request(f"# say {number}.\n")))
            except ModelError:
                return False

        with ThreadPoolExecutor(THREADS) as pool:
            answered = sum(pool.map(ask, range(30)))
        model.close()
    assert len(server.posts) == calls
    assert answered <= calls


def test_a_refused_parameter_costs_a_request_and_so_does_a_failure() -> None:
    with FakeServer(lambda prompt, body: "say(1)", refuses=["temperature"]) as server:
        model = made(server.url)
        assert model.complete(Request("# a.\n")).requests == 2
        assert model.complete(Request("# b.\n")).requests == 1
        server.faults += [error(400, "no")]
        with pytest.raises(ModelError) as failed:
            model.complete(Request("# c.\n"))
        model.close()
    assert failed.value.requests == 1
    assert len(server.posts) == 4


def test_the_cost_is_passed_by_requests_under_way_alone_and_it_says_so() -> None:
    every = threading.Barrier(8, timeout=20.0)

    def answer(prompt: str, body: Any) -> Fault:
        every.wait()  # eight are under way at once
        usage = {"prompt_tokens": 0, "completion_tokens": 100}
        return reply({"choices": [{"message": {"content": "say(1)"}}], "usage": usage})

    with FakeServer(answer) as server:
        price = {"vllm/fake": {"read": 0.0, "written": 10.0}}
        model = made(server.url, prices=price, allowance=Allowance(cost_usd=0.001, at_once=8))

        def ask(number: int) -> str:
            try:
                return str(model.complete(Request(f"# say {number}.\n")).text)
            except SpendLimit as error:
                return str(error)

        with ThreadPoolExecutor(THREADS) as pool:
            told = [*pool.map(ask, range(20)), ask(20)]
        model.close()
    assert len(server.posts) == 8
    assert told.count("say(1)") == 8
    assert "has cost $0.0080, the limit of this run is $0.001, passed by $0.0070: what" in told[-1]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.sent: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def test_no_minute_has_more_requests_than_may_be() -> None:
    clock = Clock()
    budget = Budget("x", Allowance(per_minute=3), sleep=clock.sleep, clock=clock)
    for number in range(10):
        with budget.sending():
            clock.sent.append(clock.now)
        clock.now += 7.0 * (number % 2)
    for at in clock.sent:
        assert sum(at <= other < at + 60.0 for other in clock.sent) <= 3


def test_a_wait_of_our_own_is_not_the_endpoints(connect: Any, sleeps: Any) -> None:
    allowance = Allowance(per_minute=1)
    budget = Budget("openai/fake", allowance, sleep=sleeps, clock=sleeps.clock)
    with FakeServer(lambda prompt, body: "say(1)") as server:
        model = connect(server.url, budget=budget, timeout_s=10.0)
        assert [model.complete(Request("# a.\n")).text for _ in range(3)] == ["say(1)"] * 3
    assert sleeps.waits == [60.0, 60.0]


def test_what_a_shared_account_counts_holds_for_both() -> None:
    account = Account()
    one, other = (Budget(name, Allowance(calls=2), account=account) for name in "ab")
    for budget in (one, other):
        with budget.sending():
            pass
    with pytest.raises(SpendLimit, match="b was sent 2 requests"), other.sending():
        pass


LOST = {
    "broken JSON": [Fault(body=b'{"choices": [')],
    "a stream that breaks off": [stream(delta("say('hello')"), then="drop")],
    "an error in the middle": [stream(delta("say('he"), event({"error": {"message": "no"}}))],
    "silence": [HANG],
    "an endless answer": [stream(KEEP_ALIVE, then="hang")],
}
PAID = Price(2.0, 8.0)
UNPAID = {
    "busy": error(503, "busy", headers={"retry-after-ms": "1"}),
    "refused": error(400, "no"),
    "no answer": DROP,
    "half an error": Fault(500, b'{"error"', {"Content-Length": "900"}),
}


@pytest.mark.parametrize("fault", LOST)
def test_what_broke_off_may_have_been_paid_for(
    connect: Any, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cap.models.openai.model.TRIES", 1)
    account = Account()
    budget = Budget("openai/fake", Allowance(cost_usd=1.0), Price(2.0, 8.0), account)
    request = Request("# say it.\n" * 40, max_tokens=50)
    with FakeServer(lambda prompt, body: "", LOST[fault] * 4) as server:
        made = connect(server.url, budget=budget, timeout_s=0.3, clock=time.monotonic)
        with pytest.raises(ModelError) as failed:
            made.stream(request, len) if LOST[fault][0].chunks else made.complete(request)
    took = Usage.of_failed(failed.value)
    assert (took.requests, took.prompt_tokens, took.estimated) == (1, 100, True)
    assert 0 <= took.completion_tokens <= 50
    assert took.completion_tokens or fault in ("silence", "an endless answer")
    assert fault != "a stream that breaks off" or took.completion_tokens == 3
    assert took.cost_usd == pytest.approx((100 * 2.0 + took.completion_tokens * 8.0) / 1e6)
    paid: list[float] = []
    account.begin(lambda requests, cost_usd: paid.append(cost_usd))
    assert paid == [budget.usage.cost_usd] == [took.cost_usd]


def test_a_request_that_is_stopped_is_paid_by_estimate(connect: Any) -> None:
    budget = Budget("openai/fake", Allowance(cost_usd=1.0), Price(2.0, 8.0))
    request = Request("# say it.\n" * 40)

    def pressed(text: str) -> None:
        raise KeyboardInterrupt

    with FakeServer(lambda prompt, body: "say(1)") as server:
        made = connect(server.url, budget=budget)
        with pytest.raises(KeyboardInterrupt):
            made.stream(request, pressed)
    took = made.cancelled_usage(request.prompt, budget.usage.completion_tokens)
    assert (took.requests, took.prompt_tokens, took.estimated) == (1, 100, True)
    assert took.completion_tokens > 0
    assert budget.usage.cost_usd == took.cost_usd


@pytest.mark.parametrize("fault", UNPAID)
def test_what_was_refused_costs_nothing(connect: Any, fault: str) -> None:
    budget = Budget("openai/fake", Allowance(cost_usd=1.0), Price(2.0, 8.0))
    with FakeServer(lambda prompt, body: "", [UNPAID[fault]] * 4) as server:
        with pytest.raises(ModelError) as failed:
            connect(server.url, budget=budget).complete(Request("# a.\n"))
        assert Usage.of_failed(failed.value) == Usage(len(server.posts))


def test_tries_that_broke_off_are_part_of_what_the_answer_took(connect: Any) -> None:
    budget = Budget("openai/fake", Allowance(), Price(2.0, 8.0))
    with FakeServer(lambda prompt, body: "say(1)", LOST["broken JSON"]) as server:
        told = connect(server.url, budget=budget).complete(Request("# a.\n" * 8))
    assert (told.requests, told.estimated) == (2, True)
    assert told.prompt_tokens > 10  # what the server says it read, and the prompt of the first try
    assert budget.usage == Usage.of(told)
