from pathlib import Path

import pytest

from cap.errors import ConfigError, MissingKey, UsageError
from cap.models.base import Request
from cap.models.providers import FORMS, PROVIDERS, list_models, make_model
from cap.models.replay import Recorder, Replay
from tests.fakes.openai_server import FakeServer, by_instruction

REQUEST = Request("# greet.\n")
ANSWER = by_instruction({"# greet.": "say('hello')"})
KEYLESS = sorted(name for name, provider in PROVIDERS.items() if not provider.needs_key)
KEYED = sorted(set(PROVIDERS) - set(KEYLESS))


def sent_key(spec: str, environ: dict[str, str]) -> str:
    """Return the key a loopback server is sent."""
    with FakeServer(ANSWER, models=[spec.partition("/")[2]]) as server:
        model = make_model(spec, base_url=server.url, environ=environ)
        assert model.complete(REQUEST).text == "say('hello')"
    return server.posts[0].headers["authorization"].removeprefix("Bearer ")


@pytest.mark.parametrize("provider", KEYED)
def test_a_missing_key_names_its_variable_and_the_way_without(provider: str) -> None:
    with pytest.raises(MissingKey, match=rf"{PROVIDERS[provider].key_env} .*-m nearest"):
        make_model(f"{provider}/some-model", environ={PROVIDERS[provider].key_env: "  "})


@pytest.mark.parametrize("provider", KEYLESS)
def test_local_providers_need_no_key_and_get_nobody_elses(provider: str) -> None:
    key = sent_key(f"{provider}/m", {"OPENAI_API_KEY": "sk-elsewhere", "OPENROUTER_API_KEY": "x"})
    assert key not in ("sk-elsewhere", "x")


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_a_providers_own_key_is_sent(provider: str) -> None:
    assert sent_key(f"{provider}/m", {PROVIDERS[provider].key_env: " mine\n"}) == "mine"


def test_a_loopback_address_needs_no_key() -> None:
    assert sent_key("openai/m", {})


def test_an_address_elsewhere_does_need_one() -> None:
    with pytest.raises(MissingKey):
        make_model("openai/m", base_url="https://example.org/v1", environ={})


def test_a_model_name_may_contain_slashes_and_colons() -> None:
    assert sent_key("vllm/org/model:7b", {"VLLM_API_KEY": "mine"}) == "mine"


def test_openai_base_url_holds_for_openai_and_the_flag_wins() -> None:
    with FakeServer(ANSWER, models=["m"]) as server, FakeServer(ANSWER, models=["m"]) as other:
        environ = {"OPENAI_BASE_URL": server.url}
        for base_url in (None, other.url):
            model = make_model("openai/m", base_url=base_url, environ=environ)
            model.complete(REQUEST)
    assert (len(server.posts), len(other.posts)) == (1, 1)


def test_openai_base_url_does_not_redirect_other_providers() -> None:
    with pytest.raises(MissingKey, match="OPENROUTER_API_KEY"):
        make_model("openrouter/m", environ={"OPENAI_BASE_URL": "http://localhost:1/v1"})


def test_the_mode_can_be_chosen() -> None:
    with FakeServer(ANSWER, models=["m"]) as server:
        model = make_model("vllm/m", base_url=server.url, mode="completion", environ={})
        model.complete(REQUEST)
    assert server.posts[0].path == "/v1/completions"


@pytest.mark.parametrize("key", ["sk-a b", "sk-a\nb", "sk-é"])
def test_a_key_that_cannot_be_one_is_refused_unseen(key: str) -> None:
    with pytest.raises(MissingKey, match="OPENAI_API_KEY holds") as raised:
        make_model("openai/m", environ={"OPENAI_API_KEY": key})
    assert key not in str(raised.value)


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("neerest", "Did you mean 'nearest'"),
        ("opena/gpt", "Did you mean 'openai'"),
        ("gpt-4o", "'openai/gpt-4o'"),
        ("openai", "openai/ needs a name"),
        ("openai/", "openai/ needs a name"),
        ("replay", "replay/ needs a name"),
        ("", "unknown model ''"),
    ],
)
def test_an_unknown_model_says_how_to_name_one(spec: str, hint: str) -> None:
    with pytest.raises(UsageError, match="Use one of: nearest, ") as raised:
        make_model(spec, environ={})
    assert hint in str(raised.value)
    assert all(form in str(raised.value) for form in FORMS)


def test_a_wrong_address_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match="--base-url: 'localhost:8000'"):
        make_model("vllm/m", base_url="localhost:8000", environ={})


def test_replay_takes_a_path_with_slashes(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "session.jsonl"
    file.parent.mkdir()
    file.touch()
    model = make_model(f"replay/{file}", environ={})
    assert isinstance(model, Replay)
    assert model.name == f"replay/{file}"


def test_record_wraps_any_model(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    with FakeServer(ANSWER, models=["m"]) as server:
        model = make_model("vllm/m", base_url=server.url, environ={}, record=file)
        assert isinstance(model, Recorder)
        assert model.name == "vllm/m"
        model.complete(REQUEST)
    assert make_model(f"replay/{file}", environ={}).complete(REQUEST).text == "say('hello')"


def test_the_table_has_every_form_and_shows_which_key_each_needs() -> None:
    rows = {row[0]: row for row in list_models()}
    assert tuple(rows) == FORMS
    assert rows["openrouter/NAME"][2:] == ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY")
    assert rows["ollama/NAME"][2:] == ("http://localhost:11434/v1", "")
