"""Whatever an endpoint does, there is the right program or one clear failure.

`faults.jsonl` has what it does, and what comes of it: the program is `right` all the same, the
request `failed`, or the completion is `empty`; `match` is found in what is said. `{KEY}` stands for
the key that was sent.
"""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from cap.errors import ModelError
from cap.models.base import Completion, Request
from cap.program.extraction import program_in
from tests.cap.models.conftest import KEY
from tests.fakes.openai_server import HANG, FakeServer, delta, fault, stream

REQUEST = Request("from env import say\n\n# greet.\n", stop=("\n# ", "\nobjects = ["))
SOURCE = "say('hello')"
LINES = Path(__file__).with_name("faults.jsonl").read_text(encoding="utf-8").splitlines()
ROWS = [json.loads(line.replace("{KEY}", KEY)) for line in LINES]
CASES = [
    pytest.param(row, how, id=f"{row['name']}, {how}")
    for row in ROWS
    for how in ("at once", "streamed")
    if row.get("how", how) == how
]
HOW = pytest.mark.parametrize("how", ["at once", "streamed"])


def says(prompt: str, body: Any) -> str:
    return SOURCE


def ask(model: Any, how: str) -> Completion:
    if how == "at once":
        return model.complete(REQUEST)  # type: ignore[no-any-return]
    pieces: list[str] = []
    completion: Completion = model.stream(REQUEST, pieces.append)
    last = len(pieces) - pieces[::-1].index("") if "" in pieces else 0
    assert "".join(pieces[last:]) in ("", completion.text)  # some answer in one
    return completion


@pytest.mark.sweep(share=0.25)
@pytest.mark.parametrize(("row", "how"), CASES)
def test_there_is_the_right_program_or_one_clear_failure(
    connect: Any, sleeps: Any, row: dict[str, Any], how: str
) -> None:
    faults = [fault(entry) for entry in row["faults"]] * row.get("times", 1)
    with FakeServer(says, faults) as server:
        try:
            completion = ask(connect(server.url, **row.get("settings", {})), how)
            outcome, words = "right", completion.why_empty
            if completion.empty:
                outcome = "empty"
        except ModelError as error:
            outcome, words = "failed", str(error)
    assert outcome == row["outcome"]
    assert len(server.posts) <= row.get("posts", 4)
    assert sleeps.waits == row.get("waits", sleeps.waits)
    if outcome == "right":
        said: list[str] = []
        exec(program_in(completion.text, REQUEST.stop).source, {"say": said.append})
        assert said == ["hello"]
        return
    assert re.search(row["match"], words), words
    assert server.url in words
    for unwanted in ("\n", KEY, KEY[-4:]):
        assert unwanted not in words


@HOW
@pytest.mark.parametrize("then", ["hang", "drip", "stall", "repeat"])
def test_what_never_ends_ends_with_the_deadline(connect: Any, how: str, then: Any) -> None:
    endless = {"hang": HANG, "drip": fault({"drip": True})}.get(then)
    if endless is None:
        endless = stream(delta("say( "), then="hang" if then == "stall" else then)
    begun = time.monotonic()
    with FakeServer(says, [endless]) as server:
        model = connect(server.url, timeout_s=0.2, clock=time.monotonic)
        with pytest.raises(ModelError, match=r"no whole answer within 0\.2 s|longer than"):
            ask(model, how)
    assert time.monotonic() - begun < 20.0  # the server itself would hold us for 30 s


@pytest.mark.inside
@HOW
def test_an_endless_answer_is_not_kept(
    connect: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("cap.models.openai.client.MAX_ANSWER_BYTES", 10_000)
    huge = stream(delta("x" * 1000), then="repeat")
    with FakeServer(says, [huge]) as server, pytest.raises(ModelError, match="longer than 10000"):
        ask(connect(server.url), how)
