"""`cap models check`: what an endpoint supports."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cap.cli.models import command
from cap.errors import ModelError, PromptCutOff
from cap.models.base import Request
from cap.models.openai.model import Abilities, load_abilities, save_abilities
from cap.models.probe import check
from tests.fakes.openai_server import FakeServer, Fault, error, reply


def full(prompt: str, body: Mapping[str, Any]) -> Any:
    """Answer like a server that can everything."""
    if body.get("echo"):
        tokens = re.findall(r" ?\w,?", prompt)
        told = {"tokens": tokens, "token_logprobs": [None, *[-1.0] * (len(tokens) - 1)]}
        return reply({"choices": [{"text": prompt, "logprobs": told}]})
    if "logprobs" in body:
        count = body["top_logprobs"] if "messages" in body else body["logprobs"]
        if count > 5:
            return error(400, "at most 5 logprobs are allowed")
        top = {f"t{n}": -float(n) for n in range(count)}
        if "messages" not in body:
            return reply({"choices": [{"text": "5", "logprobs": {"top_logprobs": [top]}}]})
        told = [{"token": word, "logprob": value} for word, value in top.items()]
        content = {"content": [{"top_logprobs": told}]}
        return reply({"choices": [{"message": {"content": "5"}, "logprobs": content}]})
    return "5, 6, 7, 8"


def poor(prompt: str, body: Mapping[str, Any]) -> Any:
    """Answer like a server that takes messages and nothing else."""
    if "messages" not in body:
        return error(404, "no such route")
    for name in ("logprobs", "seed", "stop", "temperature"):
        if name in body:
            return error(400, f"Unsupported parameter: {name}", param=name)
    return "5"


def checked(connect: Any, answer: Any, **options: Any) -> Abilities:
    with FakeServer(answer) as server:
        found = check(connect(server.url, **options))
        assert len(server.posts) <= 16
    return found


@pytest.mark.parametrize("mode", ["chat", "completion"])
def test_a_server_that_can_everything(connect: Any, mode: str) -> None:
    found = checked(connect, full, mode=mode)
    assert (found.rung, found.refused, found.pictures) == ("exact", {}, mode == "chat")


@pytest.mark.parametrize("mode", ["chat", "completion"])
@pytest.mark.parametrize(
    ("reads", "counts", "found"),
    [
        (10**6, 10**6, (8192, None)),
        (12_000, 4000, (4000, True)),
        (12_000, 0, (2048, True)),
        (0, 40, (40, True)),
        (0, 0, (None, None)),
    ],
)
def test_a_window_is_found_by_a_word_at_the_top(
    connect: Any, mode: str, reads: int, counts: int, found: Any
) -> None:
    """The server reads the last characters of a prompt, and may count what it read."""

    def short(prompt: str, body: Mapping[str, Any]) -> Any:
        seen = prompt[-reads:] if reads else ""
        if "password" not in prompt:
            return full(prompt, body)
        text = "".join(re.findall(r"password is (\w+)\.", seen)) or "I cannot tell"
        choice = {"text": text} if mode == "completion" else {"message": {"content": text}}
        usage = {"prompt_tokens": min(counts, len(prompt) // 4)} if counts else {}
        return reply({"choices": [choice], "usage": usage})

    with FakeServer(short) as server:
        abilities = check(connect(server.url, mode=mode), widest=8192)
    window, cuts_off = found
    assert abilities.window == (window and pytest.approx(window, rel=0.01))
    assert abilities.cuts_off is cuts_off


@pytest.mark.parametrize("blind", [True, False])
def test_a_server_is_sent_a_picture_to_see_if_it_takes_one(connect: Any, blind: bool) -> None:
    with FakeServer(full, blind=blind) as server:
        found = check(connect(server.url))
    assert (found.pictures, "pictures" in found.refused) == (not blind, blind)


def test_how_many_alternatives_to_a_token_are_given_is_remembered(connect: Any) -> None:
    def no_echo(prompt: str, body: Mapping[str, Any]) -> Any:
        return error(400, "no echo") if body.get("echo") else full(prompt, body)

    with FakeServer(no_echo) as server:
        model = connect(server.url)
        model.learn(logprobs=3)
        found = check(model, widest=0)
        asked = [post.body.get("top_logprobs") for post in server.posts]
    assert (found.rung, found.logprobs, found.window) == ("ranked", None, None)
    assert asked.count(20) == asked.count(5) == 1


def test_a_server_that_refuses_longer_prompts_cuts_nothing_off(connect: Any) -> None:
    def short(prompt: str, body: Mapping[str, Any]) -> Any:
        if len(prompt) > 12_000:
            return error(400, "the maximum context length is 3000 tokens")
        words = re.findall(r"password is (\w+)\.", prompt)
        return words[0] if words else full(prompt, body)

    found = checked(connect, short)
    assert 2000 < (found.window or 0) < 3000
    assert found.cuts_off is False


def test_a_model_that_is_not_there_is_named_with_its_address_and_remedy(connect: Any) -> None:
    with FakeServer(lambda prompt, body: error(404, "gone")) as server:
        with pytest.raises(ModelError, match=r"check --base-url .* the model's name") as caught:
            check(connect(server.url))
        assert server.url in str(caught.value)


def test_a_refused_parameter_is_not_sent_afterwards(connect: Any, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "abilities.json"
    with FakeServer(poor) as server:
        model = connect(server.url, abilities_file=file)
        check(model)
        before = len(server.posts)
        later = connect(server.url, abilities_file=file)
        completion = later.complete(Request("# x.\n", seed=1))
        assert len(server.posts) == before + 1
    assert any("refuses seed" in note for note in completion.notes)


@pytest.mark.parametrize("faults", [[error(401, "no")] * 9, [error(500, "oops")] * 9])
def test_a_server_that_answers_nothing_is_an_error(connect: Any, faults: list[Fault]) -> None:
    with FakeServer(full, faults) as server:
        model = connect(server.url)
        with pytest.raises(ModelError):
            check(model)
        assert len(server.posts) <= 4
    assert model.abilities == Abilities()


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"here": 3}', '{"here": {"window": "yes"}}'])
def test_a_damaged_file_counts_as_unknown(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "abilities.json"
    file.write_text(damage)
    assert load_abilities(file) == {}
    save_abilities(file, "here", Abilities(window=9, refused={"stop": "2030-01-02"}))
    assert load_abilities(file)["here"] == Abilities(window=9, refused={"stop": "2030-01-02"})


def run(tmp_path: Path, *args: str) -> Any:
    environ = {"XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    return CliRunner().invoke(command, ["check", *args], env=environ)


def test_the_command_speaks_to_people(tmp_path: Path) -> None:
    with FakeServer(poor) as server:
        lines = run(tmp_path, "vllm/fake", "--base-url", server.url).output.splitlines()
    assert lines == [
        "alternatives to a token: not known",
        "continuations are compared by: ranked",
        "context window: not known",
        "accepts pictures: yes",
        "refused parameters: seed, temperature",
    ]


def test_a_prompt_that_does_not_fit_is_no_lack_of_a_mode(connect: Any) -> None:
    told = error(400, "maximum context length is 8 tokens", code="context_length_exceeded")
    with (
        FakeServer(lambda prompt, body: told) as server,
        pytest.raises(PromptCutOff, match="/v1 has too small a context window"),
    ):
        check(connect(server.url))
