import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cap.errors import ConfigError, EndpointFailed, MissingKey, ModelError, UsageError
from cap.models.base import Request
from cap.models.providers import FORMS, PROVIDERS, endpoint_warning, list_models, make_model
from tests.fakes.openai_server import FakeServer, by_instruction, error

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
    environ = {PROVIDERS[provider].key_env: "  ", "AZURE_BASE_URL": "https://a.example/openai/v1"}
    with pytest.raises(MissingKey, match=rf"{PROVIDERS[provider].key_env} .*-m nearest"):
        make_model(f"{provider}/some-model", environ=environ)


@pytest.mark.parametrize("provider", KEYLESS)
def test_local_providers_need_no_key_and_get_nobody_elses(provider: str) -> None:
    key = sent_key(f"{provider}/m", {"OPENAI_API_KEY": "sk-elsewhere", "OPENROUTER_API_KEY": "x"})
    assert key not in ("sk-elsewhere", "x")


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_a_providers_own_key_is_sent(provider: str) -> None:
    assert sent_key(f"{provider}/m", {PROVIDERS[provider].key_env: " mine\n"}) == "mine"


def test_an_address_elsewhere_does_need_one() -> None:
    with pytest.raises(MissingKey):
        make_model("openai/m", base_url="https://example.org/v1", environ={})


def test_openai_base_url_holds_for_openai_and_the_flag_wins() -> None:
    with FakeServer(ANSWER, models=["m"]) as server, FakeServer(ANSWER, models=["m"]) as other:
        environ = {"OPENAI_BASE_URL": server.url}
        for base_url in (None, other.url):
            model = make_model("openai/m", base_url=base_url, environ=environ)
            model.complete(REQUEST)
    assert (len(server.posts), len(other.posts)) == (1, 1)


@pytest.mark.parametrize("key", ["sk-a b", "sk-a\nb", "sk-é"])
def test_a_key_that_cannot_be_one_is_refused_unseen(key: str) -> None:
    with pytest.raises(MissingKey, match="OPENAI_API_KEY holds") as raised:
        make_model("openai/m", environ={"OPENAI_API_KEY": key})
    assert key not in str(raised.value)


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("neerest", "Did you mean 'nearest'"),
        ("nope/x", "unknown model 'nope/x'. Use one of: "),
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


def test_the_table_has_every_form_and_shows_which_key_each_needs() -> None:
    rows = {row["model"]: row for row in list_models()}
    assert set(FORMS) <= set(rows)
    router, local = rows["openrouter/NAME"], rows["ollama/NAME"]
    assert router["address"] == "https://openrouter.ai/api/v1"
    assert (router["key"], local["key"]) == ("OPENROUTER_API_KEY", "")


def test_an_address_belongs_to_its_provider() -> None:
    asked = {"providers": {"openai": {"base_url": "http://127.0.0.1:9/v1"}}}
    with pytest.raises(MissingKey, match="OPENROUTER_API_KEY"):
        make_model("openrouter/m", asked=asked, environ={})
    with FakeServer(ANSWER, models=["m"]) as server:
        asked["providers"]["openai"]["base_url"] = server.url
        environ = {"OPENAI_API_KEY": "mine", "OPENROUTER_API_KEY": "theirs"}
        make_model("openai/m", asked=asked, environ=environ).complete(REQUEST)
    assert server.posts[0].headers["authorization"] == "Bearer mine"


def test_a_provider_of_ones_own_is_a_table() -> None:
    with FakeServer(ANSWER, models=["m"]) as server:
        table = {
            "base_url": server.url,
            "key_env": "GATEWAY_KEY",
            "mode": "completion",
            "headers": {"X-Team": "arms", "X-Api-Key": "$OTHER_KEY"},
            "query": {"api-version": "2", "code": "$OTHER_KEY"},
            "extra_body": {"top_k": 20},
        }
        environ = {"GATEWAY_KEY": "sesame", "OTHER_KEY": "hidden"}
        model = make_model("work/m", asked={"providers": {"work": table}}, environ=environ)
        assert model.complete(REQUEST).text == "say('hello')"
    (seen,) = server.posts
    assert seen.path == "/v1/completions?api-version=2&code=hidden"
    assert seen.headers["authorization"] == "Bearer sesame"
    assert (seen.headers["x-team"], seen.headers["x-api-key"]) == ("arms", "hidden")
    assert seen.body["top_k"] == 20
    assert "work/NAME" in {row["model"] for row in list_models({"providers": {"work": table}})}


@pytest.mark.parametrize("more", ["?api-version=1&a=b", "/?api-version=1&a=b#top"])
def test_an_address_may_have_parameters(more: str) -> None:
    with FakeServer(ANSWER, models=["m"]) as server:
        query = {"api-version": "2"}
        model = make_model("vllm/m", base_url=server.url + more, query=query, environ={})
        assert model.complete(REQUEST).text == "say('hello')"
    assert server.posts[0].path == "/v1/chat/completions?api-version=2&a=b"


@pytest.mark.parametrize(
    "key", ["sk-0123456789", "gsk_0123456789abcdefgh", "AKIAIOSFODNN7EXAMPLE", "a1b2c3d4e5f6a7b8"]
)
def test_a_key_in_place_of_its_variables_name_is_refused_and_not_shown(key: str) -> None:
    tables = {"key_env": key}, {"headers": {"X-Api-Key": f"${key}"}}, {"query": {"k": f"${key}"}}
    for table in tables:
        asked = {"providers": {"work": {"base_url": "http://127.0.0.1:9/v1", **table}}}
        with pytest.raises(ConfigError, match="must name an environment variable") as raised:
            make_model("work/m", asked=asked, environ={})
        assert key not in str(raised.value)
        assert "\n" not in str(raised.value)


def test_a_header_whose_variable_is_not_set_is_named() -> None:
    table = {"base_url": "http://127.0.0.1:9/v1", "headers": {"X-Api-Key": "$OTHER_KEY"}}
    with pytest.raises(MissingKey, match="is read from OTHER_KEY, which is not set"):
        make_model("work/m", asked={"providers": {"work": table}}, environ={})


@pytest.mark.parametrize("text", ["Bearer $OTHER_KEY!", "$OTHER_KEY;$OTHER_KEY", "a${OTHER_KEY}b"])
def test_a_variable_within_a_value_is_read_as_well(text: str) -> None:
    whole = text.replace("${OTHER_KEY}", "hidden-7").replace("$OTHER_KEY", "hidden-7")
    told = error(400, f"no {whole}, no hidden-7")
    with FakeServer(ANSWER, [told]) as server:
        table = {"base_url": server.url, "headers": {"X-Api-Key": text}, "query": {"k": text}}
        asked = {"providers": {"work": table}}
        model = make_model("work/m", asked=asked, environ={"OTHER_KEY": "hidden-7"})
        with pytest.raises(ModelError) as raised:
            model.complete(REQUEST)
    assert server.posts[0].headers["x-api-key"] == whole
    assert parse_qs(urlsplit(server.posts[0].path).query)["k"] == [whole]
    assert "hidden" not in str(raised.value)


def test_what_is_said_now_adds_to_the_providers_table() -> None:
    with FakeServer(ANSWER, models=["m"]) as server:
        table = {"base_url": server.url, "extra_body": {"top_k": 20, "min_p": 0.1}}
        table |= {"headers": {"X-Team": "arms", "X-Site": "here"}}
        said = {"extra_body": {"top_k": 5, "n": 1}, "headers": {"x-team": "legs"}}
        make_model(
            "work/m", asked={"providers": {"work": table}, "said": said}, environ={}
        ).complete(REQUEST)
    (seen,) = server.posts
    assert {name: seen.body[name] for name in ("top_k", "min_p", "n")} == {
        "top_k": 5,
        "min_p": 0.1,
        "n": 1,
    }
    assert (seen.headers["x-team"], seen.headers["x-site"]) == ("legs", "here")


OWN = """
from cap.models.base import Completion

class Parrot:
    name = "parrot"

    def complete(self, request):
        return Completion(request.prompt, self.name)

def create():
    return Parrot()
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1", "has no function 'create'; it makes the model"),
        ("def create(): return 3", "makes is no model; it needs a text `name`"),
        (
            "class A:\n    def complete(self, request): return None\ndef create(): return A()",
            "makes is no model; it needs a text `name`",
        ),
        ("def create(): raise ValueError('no weights')", "cannot be made: ValueError: no weights"),
    ],
)
def test_a_file_that_makes_no_model_says_why(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(told)) as raised:
        make_model(str(file), environ={})
    assert "own.py" in str(raised.value)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError('no\\nweights')", "failed, line 5: ValueError: no weights"),
        ("raise SystemExit(0)", "failed, line 5: SystemExit: 0"),
        ("return 'text'", "gave a value of type 'str'; `complete` returns a Completion with"),
        (
            "return Completion(None, model='own')",
            "'Completion'; `complete` returns a Completion with a",
        ),
    ],
)
def test_a_model_of_ones_own_fails_in_one_line(tmp_path: Path, body: str, told: str) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from cap.models.base import Completion\nclass Own:\n    name = 'own'\n"
        f"    def complete(self, request):\n        {body}\ndef create():\n    return Own()\n"
    )
    with pytest.raises(EndpointFailed, match=re.escape(told)) as raised:
        make_model(str(file), environ={}).complete(REQUEST)
    assert "own.py" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_package_brings_models_by_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plugged.py").write_text(OWN.replace("def create()", "def create(name='')"))
    folder = tmp_path / "plugged-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[cap.models]\nparrot = plugged:create\n")
    monkeypatch.syspath_prepend(tmp_path)
    for spec in ("parrot", "parrot/grey"):
        assert make_model(spec, environ={}).name == "parrot"
    assert "parrot" in {row["model"] for row in list_models()}


def test_plain_http_to_another_machine_is_warned_about() -> None:
    for url, warned in (
        ("http://192.168.0.7:8000/v1", True),
        ("https://gpu.example/v1", False),
        ("http://localhost:8000/v1", False),
    ):
        warning = endpoint_warning(make_model("vllm/m", base_url=url, environ={}))
        assert (url in warning) is warned
        assert bool(warning) is warned
    assert endpoint_warning(make_model("nearest", environ={})) == ""


def test_settings_hold_for_every_kind_of_model_and_a_request_of_its_own_wins() -> None:
    asked = {"usual": {"temperature": 0.4, "seed": 3, "max_tokens": 77}}
    with FakeServer(ANSWER, models=["m"]) as server:
        said = {"base_url": server.url, "reasoning_effort": "low"}
        model = make_model("vllm/m", asked=asked, environ={}, **said)
        model.complete(REQUEST)
        model.complete(replace(REQUEST, temperature=0.9, seed=1))
    first, second = (post.body for post in server.posts)
    assert (first["temperature"], first["seed"], first["reasoning_effort"]) == (0.4, 3, "low")
    assert (second["temperature"], second["seed"]) == (0.9, 1)
    assert model.max_tokens == 77  # type: ignore[attr-defined]


def test_openai_base_url_does_not_redirect_other_providers() -> None:
    with pytest.raises(MissingKey, match="OPENROUTER_API_KEY"):
        make_model("openrouter/m", environ={"OPENAI_BASE_URL": "http://localhost:1/v1"})


def test_a_wrong_address_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match="--base-url: 'localhost:8000'"):
        make_model("vllm/m", base_url="localhost:8000", environ={})


def test_a_dollar_that_names_nothing_is_refused() -> None:
    for text in ("a $ b", "a $5", "${}", "Bearer $sk-0123456789"):
        table = {"base_url": "http://127.0.0.1:9/v1", "headers": {"X-Team": text}}
        with pytest.raises(ConfigError, match="a header or parameter must name an env"):
            make_model("work/m", asked={"providers": {"work": table}}, environ={})


def test_a_provider_without_an_address_says_how_to_give_one() -> None:
    with pytest.raises(UsageError, match=r"set AZURE_BASE_URL, or base_url .*\[providers.azure\]"):
        make_model("azure/m", environ={"AZURE_OPENAI_API_KEY": "x"})


def test_the_address_of_a_known_provider_may_be_configured() -> None:
    table = {"base_url": "http://127.0.0.1:9/elsewhere", "about": "the lab's"}
    asked = {"providers": {"vllm": table}}
    model: Any = make_model("vllm/m", asked=asked, environ={})
    assert model.endpoint.url == "http://127.0.0.1:9/elsewhere"
    (row,) = (row for row in list_models(asked) if row["model"] == "vllm/NAME")
    assert (row["address"], row["what it is"]) == (table["base_url"], table["about"])
    environ = {"VLLM_BASE_URL": "http://127.0.0.1:9/now"}
    model = make_model("vllm/m", asked=asked, environ=environ)
    assert model.endpoint.url == "http://127.0.0.1:9/now"
