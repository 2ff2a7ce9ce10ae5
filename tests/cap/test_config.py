from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cap.config import (
    ENVIRONMENT,
    FOLDER_MAY_SET,
    SETTINGS,
    Config,
    asked_of,
    check_url,
    is_loopback,
    load,
    shown_url,
)
from cap.errors import ConfigError


class Folders:
    """The home of every test, and a current folder, to put files in."""

    def __init__(self, root: Path) -> None:
        self.cwd = root / "work"
        self.personal = root / "home" / ".config" / "cap" / "config.toml"
        self.local = self.cwd / "cap.toml"
        self.personal.parent.mkdir(parents=True)
        self.cwd.mkdir()

    def load(self, environ: dict[str, str] | None = None, **more: Any) -> Config:
        return load(environ or {}, self.cwd, **more)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def yes(question: str) -> bool:
    return True


def test_without_any_source_the_defaults_hold(folders: Folders) -> None:
    config = folders.load()
    assert (config.model, config.robot, config.mode) == ("nearest", "ravens", "physics")
    assert config.runs == Path("runs")
    assert config.asked() == {"usual": {}, "said": {}, "providers": {}, "base_url": {}}
    assert config.sources == dict.fromkeys((*SETTINGS, "base_url"), "default")


def test_each_source_wins_over_the_one_before(folders: Folders) -> None:
    steps: list[tuple[str, Callable[[], None]]] = [
        (str(folders.personal), lambda: _write(folders.personal, 'robot = "a"')),
        (str(folders.local), lambda: _write(folders.local, 'robot = "b"')),
    ]
    for expected, step in steps:
        step()
        assert folders.load().sources["robot"] == expected
    config = folders.load({"CAP_MODEL": "c"})
    assert (config.model, config.sources["model"]) == ("c", "CAP_MODEL")
    config = folders.load({"CAP_MODEL": "c"}, flags={"model": "d", "robot": None})
    assert (config.model, config.sources["model"]) == ("d", "flag")
    assert config.sources["robot"] == str(folders.local)


def test_every_variable_gives_its_setting(folders: Folders) -> None:
    environ = {
        "CAP_MODEL": "replay/x.jsonl",
        "CAP_ROBOT": "drawing",
        "CAP_RUNS": "elsewhere",
        "CAP_MODE": "instant",
        "CAP_MODEL_MODE": "completion",
        "CAP_CACHE": "answers",
        "CAP_SKILLS": "~/skills",
    }
    assert set(environ) == set(ENVIRONMENT)
    config = folders.load(environ)
    assert (config.model, config.robot, config.mode) == ("replay/x.jsonl", "drawing", "instant")
    assert (config.runs, config.model_mode) == (Path("elsewhere"), "completion")
    assert (config.cache, config.skills) == (Path("answers"), Path("~/skills").expanduser())
    assert all(config.sources[name] == variable for variable, name in ENVIRONMENT.items())


def test_an_empty_variable_counts_as_unset(folders: Folders) -> None:
    assert folders.load({"CAP_MODEL": " "}).sources["model"] == "default"


def test_xdg_config_home_moves_the_personal_file(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "xdg" / "cap" / "config.toml"
    moved.parent.mkdir(parents=True)
    _write(moved, 'robot = "kitchen"')
    _write(folders.personal, 'robot = "drawing"')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert folders.load().robot == "kitchen"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert folders.load().robot == "drawing"


RISKY = [
    ("model", 'model = "replay/evil.example.jsonl"'),
    ("model", 'model = "openai/else"'),
    ("model", 'model = "else.py"'),
    ("model_mode", 'model_mode = "completion" # else'),
    ("providers", '[providers.openai]\nbase_url = "http://evil.example/v1"'),
    ("headers", 'headers = { "X-Else" = "else" }'),
    ("extra_body", 'extra_body = { model = "else" }'),
    ("reasoning_effort", 'reasoning_effort = "else"'),
    ("robot", 'robot = "./else.py"'),
    ("robots", '[robots.tabletop]\nhost = "10.0.0.7"'),
    ("runs", 'runs = "../elsewhere"'),
    ("runs", 'runs = "/var/elsewhere"'),
    ("cache", 'cache = "else"'),
    ("skills", 'skills = "else"'),
    ("verify", 'verify = "off" # else'),
    ("choose_by", 'choose_by = "goal"'),
    ("time_limit", "time_limit = 86399.0"),
    ("prices", '[prices]\n"else/x" = { read = 0, written = 0 }'),
]


@pytest.mark.parametrize(("name", "text"), RISKY)
def test_a_folders_file_sets_nothing_risky_unconfirmed(
    folders: Folders, name: str, text: str
) -> None:
    _write(folders.local, text)
    config = folders.load()
    assert getattr(config, name) == getattr(Config(), name)
    assert config.sources[name] == "default"
    assert len(config.warnings) == 1
    assert f"{folders.local}: {name} ignored" in config.warnings[0]
    assert "\n" not in config.warnings[0]


@pytest.mark.parametrize(("name", "text"), RISKY)
def test_a_confirmed_entry_holds_and_the_question_shows_it(
    folders: Folders, name: str, text: str
) -> None:
    _write(folders.local, text)
    questions: list[str] = []

    def confirm(question: str) -> bool:
        questions.append(question)
        return True

    config = folders.load(confirm=confirm)
    assert config.sources[name] == str(folders.local)
    assert config.warnings == ()
    assert len(questions) == 1
    shown = ("evil.example", "10.0.0.7", "else", "completion", "off", "goal", "86399")
    assert any(word in questions[0] for word in shown)


def test_the_personal_file_may_set_them_without_a_question(folders: Folders) -> None:
    text = (
        '[providers.vllm]\nbase_url = "http://gpu:8000/v1/"\n[robots.tabletop]\nhost = "10.0.0.7"'
    )
    _write(folders.personal, text)
    config = folders.load()
    assert config.providers == {"vllm": {"base_url": "http://gpu:8000/v1"}}
    assert config.robots == {"tabletop": {"host": "10.0.0.7"}}
    assert config.warnings == ()


def test_a_link_does_not_lead_runs_out_of_the_folder(folders: Folders, tmp_path: Path) -> None:
    (folders.cwd / "inside").symlink_to(tmp_path)
    _write(folders.local, 'runs = "inside/runs"')
    assert folders.load().runs == Path("runs")


def test_the_robot_tables_of_both_files_add_up(folders: Folders) -> None:
    _write(folders.personal, '[robots.tabletop]\nhost = "10.0.0.7"')
    _write(folders.local, "[robots.drawing]\nspeed_mps = 0.1")
    assert set(folders.load(confirm=yes).robots) == {"tabletop", "drawing"}


@pytest.mark.parametrize("name", ["max_cost", "max_calls", "runtime_repairs", "max_functions"])
def test_a_folders_file_cannot_raise_what_a_run_may_do(folders: Folders, name: str) -> None:
    _write(folders.personal, f"{name} = 1")
    _write(folders.local, f"{name} = 1000")
    config = folders.load()
    assert getattr(config, name) == 1
    assert f"{name} ignored" in config.warnings[0]


def test_the_prices_of_both_files_add_up(folders: Folders) -> None:
    _write(folders.personal, '[prices]\n"openai/x" = { read = 1, written = 2 }')
    _write(folders.local, '[prices]\n"openai/y" = { read = 0.5, written = 2 }')
    prices = folders.load(confirm=yes).prices
    assert prices["openai/x"] == {"read": 1.0, "written": 2.0}
    assert prices["openai/y"]["read"] == 0.5


@pytest.mark.parametrize("where", ["personal", "local"])
@pytest.mark.parametrize(
    "text",
    [
        'api_key = "sk-secret"',
        'OPENAI_API_KEY = "sk-secret"',
        '[robots.tabletop]\npassword = "sk-secret"',
        '[models.openai]\napi-key = "sk-secret"',
    ],
)
def test_no_file_may_hold_a_key(folders: Folders, where: str, text: str) -> None:
    path: Path = getattr(folders, where)
    _write(path, text)
    with pytest.raises(ConfigError, match="environment variable") as raised:
        folders.load(confirm=yes)
    assert str(path) in str(raised.value)
    assert "sk-secret" not in str(raised.value)


def test_an_unknown_setting_names_file_key_and_what_was_meant(folders: Folders) -> None:
    _write(folders.local, 'modle = "nearest"')
    with pytest.raises(ConfigError, match=r"cap\.toml, line 1: unknown setting 'modle'.*'model'"):
        folders.load()


@pytest.mark.parametrize(
    ("text", "line"), [('a = 1\nmodel = "x\nb = 2', 2), ("model = ", 1), ('model = """\n\n', 2)]
)
def test_bad_toml_names_file_and_line(folders: Folders, text: str, line: int) -> None:
    _write(folders.personal, text)
    with pytest.raises(ConfigError, match=rf"config\.toml, line {line}: not valid TOML") as raised:
        folders.load()
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_text_is_named(folders: Folders) -> None:
    folders.local.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"cap\.toml: the configuration is not UTF-8 text"):
        folders.load()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model = 3", "model must be text in quotes, not 3"),
        ('mode = "fast"', "mode must be 'physics' or 'instant', not 'fast'"),
        ('base_url = "gpu:8000"', "base_url belongs to a provider"),
        ('[providers.vllm]\nbase_url = "gpu:8000"', "is not an http(s) address"),
        (
            "[providers.vllm]\nbase = 3",
            "providers.vllm: unknown key 'base'. Did you mean 'base_url'",
        ),
        ("[providers.vllm]\ntemperature = 3", "providers.vllm.temperature must be a number from 0"),
        ('[providers.work]\nkey_env = "sk-0123456789"', "providers.work.key_env must name an env"),
        ("[providers.vLLM]", "its name in lowercase letters; wrong: 'vLLM'"),
        ("stream = 1", "stream must be true or false, not 1"),
        ("headers = { X = 3 }", "headers must be names with text"),
        ('headers = { "X" = "\u00e9" }', "headers must be names with text in ASCII"),
        ("extra_body = 3", "extra_body must be fields of a JSON object"),
        ("temperature = 2.5", "temperature must be a number from 0 to 2, not 2.5"),
        ("model_timeout = 0", "model_timeout must be a number of seconds"),
        ("model_seed = -1", "model_seed must be a whole number, 0 or more"),
        ("robots = 3", "robots must be tables"),
        ("max_cost = -1", "max_cost must be a number of dollars, 0 or more, not -1"),
        ("max_cost = nan", "max_cost must be a number of dollars"),
        ("max_cost = true", "max_cost must be a number of dollars"),
        ("max_calls = 1.5", "max_calls must be a whole number, 0 or more"),
        ("concurrency = 0", "concurrency must be a whole number, 1 or more"),
        ("prices = 3", "prices must be dollars per million tokens"),
        ('[prices]\n"openai/x" = { read = 1 }', "wrong: 'openai/x'"),
        ('[prices]\n"openai/x" = { read = -1, written = 1 }', "wrong: 'openai/x'"),
    ],
)
def test_a_wrong_value_names_its_file(folders: Folders, text: str, told: str) -> None:
    _write(folders.personal, text)
    with pytest.raises(ConfigError) as raised:
        folders.load()
    assert str(raised.value).startswith(str(folders.personal))
    assert told in str(raised.value)


def test_a_wrong_variable_or_flag_is_named(folders: Folders) -> None:
    with pytest.raises(ConfigError, match="CAP_MODE: mode must be"):
        folders.load({"CAP_MODE": "fast"})
    with pytest.raises(ConfigError, match="--mode must be"):
        folders.load(flags={"mode": "fast"})


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000", "ftp://x/v1", "http://", "http://x:y/v1", "http://a b/", "http://[x"],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="--base-url"):
        check_url(url, "--base-url")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://me:pass@host:8000/v1", "http://host:8000/v1"),
        ("https://host/v1?key=pass#pass", "https://host/v1"),
        ("me:pass@host/v1", "host/v1"),
        ("http://me:p/ass@host", "http://host"),
        ("http://me:p?ass@host", "http://host"),
    ],
)
def test_a_shown_address_has_no_credentials(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.3.2.1/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://localhost.example.org/v1", False),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://192.168.0.2/v1", False),
    ],
)
def test_only_this_machine_is_loopback(url: str, loopback: bool) -> None:
    assert is_loopback(url) is loopback


def test_all_that_a_folders_file_may_set_unasked_is_listed(folders: Folders) -> None:
    _write(folders.local, 'robot = "drawing"\nmode = "instant"\nruns = "out"\nrepairs = 1')
    config = folders.load()
    assert config.warnings == ()
    assert {name for name in SETTINGS if config.sources[name] != "default"} == set(FOLDER_MAY_SET)


def test_an_answers_length_may_stand_in_a_file(folders: Folders) -> None:
    _write(folders.personal, "max_tokens = 2048\n[providers.vllm]\nmax_tokens = 4096")
    asked = folders.load().asked()
    assert asked_of(asked, "openai/x") == {"max_tokens": 2048}
    assert asked_of(asked, "vllm/x") == {"max_tokens": 4096}


def test_what_is_said_now_comes_before_a_providers_table_and_that_before_the_rest(
    folders: Folders,
) -> None:
    _write(folders.personal, "temperature = 0.1\n[providers.vllm]\ntemperature = 0.2")
    assert asked_of(folders.load().asked(), "vllm/x")["temperature"] == 0.2
    config = folders.load(flags={"temperature": 0.3, "model": "vllm/x"})
    assert asked_of(config.asked(), "vllm/x")["temperature"] == 0.3


def test_an_address_on_the_command_line_is_of_the_named_models_provider_alone(
    folders: Folders,
) -> None:
    flags = {"model": "openai/x", "base_url": "http://gpu:8000/v1"}
    asked = folders.load(flags=flags).asked()
    assert asked_of(asked, "openai/y") == {"base_url": "http://gpu:8000/v1"}
    assert asked_of(asked, "openrouter/y") == {}


def test_a_header_that_looks_like_a_key_is_read_from_the_environment(folders: Folders) -> None:
    _write(folders.personal, 'headers = { "X-Api-Key" = "$GATEWAY_KEY" }')
    assert folders.load().headers == {"X-Api-Key": "$GATEWAY_KEY"}
    with pytest.raises(ConfigError, match=r"X-Api-Key looks like a key.*'\$GATEWAY_KEY'") as raised:
        folders.load(flags={"headers": {"X-Api-Key": "hunter2"}})
    assert "hunter2" not in str(raised.value)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
