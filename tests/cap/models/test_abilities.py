"""What an endpoint can: how it compares continuations, and what `cap models check` finds out."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cap.cli.models import command
from cap.errors import ModelError, ModelUnreachable, NoMatch, PromptCutOff
from cap.models.base import Request
from cap.models.openai.model import Abilities, load_abilities, save_abilities
from cap.models.probe import check
from cap.models.scorers import FIRST
from tests.fakes.openai_server import FakeServer, Fault, error, reply

PROMPT = "Human: a drink, please.\nRobot:"
OPTIONS = (" find a water", " find a cola", " done")
WEIGHTS = {" find a water": 0.6, " find a cola": 0.3, " done": 0.1}
NO_ECHO = error(400, "Setting 'echo' and 'logprobs' at the same time is not supported")
NO_LOGPROBS = error(400, "logprobs are not supported with this model")


def words(text: str) -> list[str]:
    """Split like a tokenizer that joins a blank to the word after it."""
    return re.findall(r" ?[\w,.:]+|\n| +", text)


def logprob(word: str) -> float:
    return -float(len(word)) - 0.25


def echoing(split: Any = words, mark: str = "", legacy_echo: bool = True) -> Any:
    """Return the answers of a server that gives the log-probabilities of prompts."""

    def answer(prompt: str, body: Mapping[str, Any]) -> Fault:
        assert body["echo"] is True
        tokens = ([mark] if mark else []) + split(prompt) + [" written"]
        told: dict[str, Any] = {
            "tokens": tokens,
            "token_logprobs": [None, *map(logprob, tokens[1:])],
        }
        text = prompt + " written" if legacy_echo else " written"
        return reply({"choices": [{"text": text, "logprobs": told}]})

    return answer


def letters(seen: list[str] | None = None, most: int = 20, weights: Any = None) -> Any:
    """Return the answers of a chat that prefers options by weight, and favours the letter A."""
    weights = weights or WEIGHTS

    def answer(prompt: str, body: Mapping[str, Any]) -> Fault:
        assert body["temperature"] == 0.0
        if body["top_logprobs"] > most:
            return error(400, f"at most {most} logprobs are allowed")
        if seen is not None:
            seen.append(prompt)
        options = re.findall(r"^([A-Z])\) (.*)$", prompt, re.M)
        weight = {label: weights[f" {text}"] for label, text in options}
        weight["A"] *= 1.5
        whole = max(1.0, sum(weight.values()))
        top = sorted(weight, key=lambda label: -weight[label])[:most]
        told = [{"token": label, "logprob": math.log(weight[label] / whole * 0.5)} for label in top]
        told += [{"token": "The", "logprob": -20.0}] * (len(told) < most)
        message = {
            "message": {"content": top[0]},
            "logprobs": {"content": [{"top_logprobs": told}]},
        }
        return reply({"choices": [message]})

    return answer


def answers(completions: Any, chat: Any) -> Any:
    """Answer bare prompts in one way, messages in another."""
    return lambda prompt, body: (chat if "messages" in body else completions)(prompt, body)


def refuses(fault: Fault) -> Any:
    return lambda prompt, body: fault


def score(connect: Any, answer: Any, options: Sequence[str] = OPTIONS, **more: Any) -> Any:
    with FakeServer(answer) as server:
        return connect(server.url, **more).score(PROMPT, options)


@pytest.mark.parametrize("server", [echoing(), echoing(mark="<s>")])
def test_exact_scores_are_the_sums_over_the_continuations_tokens(connect: Any, server: Any) -> None:
    scores = score(connect, server)
    assert scores.rung == "exact"
    assert scores.logprobs == tuple(sum(map(logprob, words(option))) for option in OPTIONS)
    assert scores.notes == ()


def test_a_token_across_the_boundary_counts_for_all(connect: Any) -> None:
    scores = score(connect, echoing(split=split_joined))
    joined = sum(map(logprob, [": find", " a", " water"]))
    alone = sum(map(logprob, [":", " done"]))
    assert scores.logprobs[0] == joined
    assert scores.logprobs[2] == alone


def split_joined(text: str) -> list[str]:
    """Split like a tokenizer that joins the colon to `find`, and to nothing else."""
    return re.findall(r": find| ?[\w,.]+|:|\n| +", text)


@pytest.mark.parametrize(
    "odd",
    [
        echoing(legacy_echo=False),
        refuses(reply({"choices": [{"text": " x", "logprobs": None}]})),
        refuses(
            reply(
                {
                    "choices": [
                        {
                            "text": PROMPT + " find",
                            "logprobs": {"tokens": ["Human"], "token_logprobs": [-1.0]},
                        }
                    ]
                }
            )
        ),
        refuses(error(500, "logits_all is off")),
        refuses(error(404, "no such route")),
    ],
)
def test_where_there_are_no_exact_scores_a_choice_is_asked(connect: Any, odd: Any) -> None:
    scores = score(connect, answers(odd, letters()))
    assert scores.rung == "choice"
    assert scores.notes[0].startswith("no exact scores")


def test_a_choice_gives_shares_without_favour_to_a_letter(connect: Any) -> None:
    seen: list[str] = []
    scores = score(connect, answers(refuses(NO_ECHO), letters(seen)))
    shares = [math.exp(value) for value in scores.logprobs]
    assert math.isclose(sum(shares), 1.0)
    assert shares[0] > shares[1] > shares[2]
    assert len(seen) == 2
    assert "A) find a water\nB) find a cola\nC) done" in seen[0]
    assert "A) done\nB) find a cola\nC) find a water" in seen[1]


def test_more_options_than_letters_told_are_compared_in_groups(connect: Any) -> None:
    weights = {f" option {n}": float(n + 1) for n in range(23)}
    seen: list[str] = []
    chat = letters(seen, most=5, weights=weights)
    scores = score(connect, answers(refuses(NO_ECHO), chat), list(weights))
    assert math.isclose(sum(map(math.exp, scores.logprobs)), 1.0)
    assert scores.logprobs.index(max(scores.logprobs)) == 22
    assert all(len(re.findall(r"^[A-Z]\) ", prompt, re.M)) <= 5 for prompt in seen)
    assert len(seen) < 20


def test_a_letter_that_is_not_told_is_bounded_below(connect: Any) -> None:
    def two(prompt: str, body: Mapping[str, Any]) -> Fault:
        told = [
            {"token": " A", "logprob": -0.2},
            {"token": "b)", "logprob": -9.0},
            {"token": "B", "logprob": -2.0},
            {"token": "Well", "logprob": -4.0},
        ]
        return reply({"choices": [{"logprobs": {"content": [{"top_logprobs": told}]}}]})

    scores = score(connect, answers(refuses(NO_ECHO), two))
    assert all(math.isfinite(value) for value in scores.logprobs)
    assert math.isclose(sum(map(math.exp, scores.logprobs)), 1.0)


@pytest.mark.parametrize("mode", ["chat", "completion"])
@pytest.mark.parametrize(
    ("said", "places"),
    [
        ("B, A, C", [1, 0, 2]),
        ("b a", [1, 0, None]),
        ("1. C\n2. B", [None, 1, 0]),
        ("B) find a cola\nA) find a water", [1, 0, None]),
        ("C, C, Z", [None, None, None]),
        ("Answer: C\nC", [None, None, 0]),
    ],
)
def test_without_log_probabilities_the_likeliest_are_ranked_by_one_request(
    connect: Any, mode: str, said: str, places: list[int | None]
) -> None:
    def answer(prompt: str, body: Mapping[str, Any]) -> Any:
        return NO_LOGPROBS if "logprobs" in body else said

    with FakeServer(answer) as server:
        model = connect(server.url, mode=mode)
        if not any(place is not None for place in places):
            with pytest.raises(NoMatch, match="the model ranked no step"):
                model.score(PROMPT, OPTIONS)
            return
        scores = model.score(PROMPT, OPTIONS)
        asked = [post.body for post in server.posts if "likeliest" in str(post.body)]
    assert scores.rung == "ranked"
    shares = [math.exp(value) for value in scores.logprobs]
    for share, place in zip(shares, places, strict=True):
        expected = 0.0 if place is None else FIRST * (1 - FIRST) ** place
        assert share == pytest.approx(expected)
    assert "the model only ranks" in scores.notes[-1]
    assert len(asked) == 1
    if mode == "chat":
        system, user = (message["content"] for message in asked[0]["messages"])
        assert "letters" in system
        assert "ython" not in system
        assert "A) find a water\nB) find a cola\nC) done" in user
    else:  # a chat model ends its own turn
        assert asked[0]["stop"] == ["\n\n"]


def test_at_most_five_of_many_are_ranked(connect: Any) -> None:
    many = [f" option {number}" for number in range(60)]
    with FakeServer(lambda p, b: NO_LOGPROBS if "logprobs" in b else "BH, AA, A") as server:
        scores = connect(server.url).score(PROMPT, many)
        prompt = server.posts[-1].body["messages"][-1]["content"]
    assert "the 5 likeliest" in prompt
    assert "BH) option 59" in prompt
    best = sorted(range(60), key=lambda number: -scores.logprobs[number])[:3]
    assert best == [59, 26, 0]


def test_one_answer_in_prose_changes_nothing_for_later_ones(connect: Any) -> None:
    prose = []

    def chat(prompt: str, body: Mapping[str, Any]) -> Any:
        if "logprobs" not in body:
            return "B"
        if prose:
            tops = [{"token": prose.pop(), "logprob": -1.0}, {"token": "I", "logprob": -2.0}]
            return reply({"choices": [{"logprobs": {"content": [{"top_logprobs": tops}]}}]})
        return letters()(prompt, body)

    with FakeServer(answers(refuses(NO_ECHO), chat)) as server:
        model = connect(server.url)
        assert model.score(PROMPT, OPTIONS).rung == "choice"
        prose.append("The")
        scores = model.score(PROMPT, OPTIONS)
        assert (scores.rung, scores.notes[0]) == (
            "ranked",
            "no choice scores: none of its likely answers is a letter",
        )
        assert model.score(PROMPT, OPTIONS).rung == "choice"


def test_every_request_of_a_comparison_counts(connect: Any) -> None:
    with FakeServer(answers(refuses(NO_ECHO), letters(most=5))) as server:
        scores = connect(server.url).score(PROMPT, OPTIONS)
        assert scores.usage.requests == len(server.posts) == 4  # exact, too wide, two orders


def test_which_way_works_is_remembered(connect: Any, tmp_path: Any) -> None:
    file = tmp_path / "abilities.json"
    with FakeServer(answers(refuses(NO_ECHO), letters())) as server:
        for _ in range(2):
            model = connect(server.url, abilities_file=file)
            assert model.score(PROMPT, OPTIONS).rung == "choice"
    assert [("echo" in post.body) for post in server.posts].count(True) == 1


def test_a_server_in_trouble_is_not_remembered_as_one_that_cannot(connect: Any) -> None:
    with FakeServer(answers(refuses(error(503, "busy")), letters())) as server:
        model = connect(server.url)
        assert model.score(PROMPT, OPTIONS).rung == "choice"
    assert model.abilities.rung is None


def test_nobody_there_is_no_reason_to_ask_otherwise(connect: Any) -> None:
    with FakeServer(echoing()) as server:
        url = server.url
    with pytest.raises(ModelUnreachable):
        connect(url).score(PROMPT, OPTIONS)


def test_when_nothing_works_there_is_one_failure(connect: Any) -> None:
    with FakeServer(refuses(error(400, "no"))) as server:
        with pytest.raises(ModelError, match="refuses the request") as failed:
            connect(server.url).score(PROMPT, OPTIONS)
        assert failed.value.requests == len(server.posts)
        # Token ids, two ways of tokens and one of choices are tried before a ranking is asked for.
        assert len(server.posts) <= 5


# --- `cap models check`: what an endpoint supports


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
