"""Against a real llama.cpp server: what it offers is used, and its window is no guess."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from cap.errors import NoMatch, PromptCutOff
from cap.models.base import Request
from cap.models.providers import make_model
from tests.fakes import llama

pytestmark = pytest.mark.soak
LONG = "# nothing of note\n" * 200
LETTERS_ALONE = {"logit_bias": {str(token): -100 for token in range(3 + 256)}}
"""Keeps the model from its marks and from single bytes, which may be no characters."""


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("gguf", "xllamacpp"):
        pytest.importorskip(package, reason=f"no {package}: make soak installs it")
    path = tmp_path_factory.mktemp("llama") / "tiny.gguf"
    llama.write_model(path)
    return path


@pytest.fixture(scope="module")
def url(model_file: Path) -> Iterator[str]:
    with llama.serving(model_file, 32768) as address:
        yield address


def made(url: str, **said: Any) -> Any:
    return make_model("llamacpp/tiny.gguf", base_url=url, environ={}, **said)


@pytest.mark.parametrize("mode", ["chat", "completion"])
def test_both_modes_answer_and_are_counted(url: str, mode: str) -> None:
    model = made(url, mode=mode, extra_body=LETTERS_ALONE)
    pieces: list[str] = []
    whole = model.complete(Request("# greet.\n", max_tokens=24))
    streamed = model.stream(Request("# greet.\n", max_tokens=24), pieces.append)
    model.close()
    assert whole.text == streamed.text == "".join(pieces)
    assert len(pieces) > 1
    assert whole.completion_tokens == 24
    assert whole.prompt_tokens >= len("# greet.\n")
    assert whole.ended == "cut"


def test_a_stop_string_ends_a_completion(url: str) -> None:
    model = made(url, mode="completion")
    text = model.complete(Request("abc", max_tokens=40)).text
    stop = next(letter for letter in text if letter.isascii() and letter.isprintable())
    stopped = model.complete(Request("abc", stop=(stop,), max_tokens=40))
    assert stop not in stopped.text
    assert stopped.completion_tokens < 40
    model.close()


def test_a_window_that_is_too_small_is_an_error_with_its_remedy(model_file: Path) -> None:
    with llama.serving(model_file, 1024) as url:
        model = made(url)
        with pytest.raises(PromptCutOff, match=r"too small a context window.*--ctx-size"):
            model.complete(Request(LONG, max_tokens=4))
        model.close()


def test_letters_are_compared_too(url: str) -> None:
    model = made(url)
    model.endpoint.abilities = model.endpoint.abilities.__class__(rung="choice")
    rung = ""
    with contextlib.suppress(NoMatch):  # its random letters may be neither a choice nor a ranking
        rung = model.score("Robot: ", ["done", "not yet"]).rung
    model.close()
    assert rung in ("", "choice", "ranked")


@pytest.mark.timeout(400)  # prompts of thousands of tokens, on whatever processor there is
def test_the_commands_speak_with_it(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["llamacpp/tiny.gguf", "--base-url", url]
    run(["models", "check", *asked])
    told = capsys.readouterr().out
    for line in ("accepts pictures: no", "continuations are compared by: "):
        assert line in told
    said = [
        "--mode",
        "instant",
        "--set",
        "max_tokens=16",
        "--set",
        "repairs=0",
    ]  # one request is enough
    code = run(["run", "say it", "-m", *asked, *said])
    shown = capsys.readouterr()
    assert code in (1, 3, 4)  # random letters are no program
    assert "Traceback" not in shown.out + shown.err
