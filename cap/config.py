"""Settings and where each came from: defaults < home file < folder file < environment < flags.

The home file is `config.toml` in the person's configuration folder. The folder file, `./cap.toml`,
may have come with somebody else's folder: all but a few harmless settings count there only once
the person has confirmed them. API keys belong in environment variables and are refused in every
file.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from cap.errors import ConfigError, did_you_mean
from cap.files import read_toml, shown
from cap.robot.registry import is_file

CHOICES = {
    "mode": ("physics", "instant"),
    "model_mode": ("chat", "completion"),
    "choose_by": ("agreement", "goal", "both", "judge"),
    "verify": ("words", "goal", "off"),
}
"""Settings that take one of a few words."""

ENVIRONMENT = {
    "CAP_MODEL": "model",
    "CAP_ROBOT": "robot",
    "CAP_RUNS": "runs",
    "CAP_MODE": "mode",
    "CAP_MODEL_MODE": "model_mode",
    "CAP_CACHE": "cache",
    "CAP_SKILLS": "skills",
}
"""Environment variables and the setting each gives; an empty one counts as unset."""

FOLDER_MAY_SET = ("robot", "mode", "runs", "repairs")
"""What `./cap.toml` may set unasked: a registered robot, and runs inside that folder."""

_FOLDERS = ("runs", "cache", "skills")
_LEAST = {
    "max_calls": 0,
    "concurrency": 1,
    "repairs": 0,
    "runtime_repairs": 0,
    "max_tokens": 1,
    "max_functions": 0,
    "model_seed": 0,
    "requests_per_minute": 1,
    "try_tokens": 1,
}
"""Settings that are whole numbers, and the least each may be."""
LONGEST_S = 86400.0
"""Longest time a program may be given: a day, seconds."""
_RANGES = {
    "max_cost": (0.0, math.inf, "a number of dollars, 0 or more"),
    "temperature": (0.0, 2.0, "a number from 0 to 2"),
    "model_timeout": (0.1, math.inf, "a number of seconds, 0.1 or more"),
    "time_limit": (0.01, LONGEST_S, "a number of seconds from 0.01 to 86400, a day"),
    "calls_time": (0.01, LONGEST_S, "a number of seconds from 0.01 to 86400, a day"),
    "try_time": (0.1, math.inf, "a number of seconds, 0.1 or more"),
}
"""Settings that are numbers: least, most, and how that is said."""
_PRICED = ("read", "written", "cached", "reasoning")
"""What a price may tell; the first two it must."""

_SECRET = re.compile(
    r"(^|[_-])(api[_-]?keys?|token|secrets?|passwords?|authorization)$", re.IGNORECASE
)
_KEPT_AWAY = re.compile(r"([A-Za-z]{1,16} )?\$")
"""How a value begins that is no secret itself: `$NAME`, or `Bearer $NAME`."""
REFERENCE = re.compile(r"\$(?:\{([^{}]*)\}|([\w.-]*))")
"""A variable in a value: `$NAME` or `${NAME}`."""


def setting(default: Any, about: str) -> Any:
    """Declare a field as a setting that files and `--set` may give, with what it is."""
    if isinstance(default, dict):
        return field(default_factory=dict, metadata={"about": about})
    return field(default=default, metadata={"about": about})


@dataclass(frozen=True)
class Config:
    """Every setting of one run."""

    model: str = setting("nearest", "model to use, as for -m (PROVIDER/MODEL or nearest)")
    robot: str = setting("ravens", "robot to use, as for -r")
    mode: str = setting("physics", "simulation mode: physics or instant")
    runs: Path = setting(Path("runs"), "parent folder of the run folders")
    robots: Mapping[str, Mapping[str, Any]] = setting(
        {}, "robots.NAME.KEY: an option of the robot NAME, as for -R"
    )
    skills: Path | None = setting(None, "folder for saved functions")
    cache: Path | None = setting(None, "folder for cached model answers")
    providers: Mapping[str, Mapping[str, Any]] = setting(
        {}, "providers.NAME.KEY: a setting of a custom or built-in provider"
    )
    model_mode: str | None = setting(
        None, "API mode: chat or completion (default: the provider's own)"
    )
    max_tokens: int | None = setting(
        None, "maximum tokens per answer (default: 1024, increased if an answer is cut off)"
    )
    temperature: float | None = setting(None, "sampling temperature, from 0 to 2 (default: 0)")
    model_seed: int | None = setting(None, "sampling seed for the model")
    reasoning_effort: str | None = setting(None, "reasoning effort, such as low")
    headers: Mapping[str, str] = setting(
        {},
        "headers.NAME: an extra HTTP header; $VARIABLE in a value is read from the environment",
    )
    extra_body: Mapping[str, Any] = setting({}, "extra_body.KEY: an additional request field")
    model_timeout: float | None = setting(
        None, "timeout per completion in seconds, including retries (default: the provider's own)"
    )
    stream: bool | None = setting(
        None, "whether to stream answers (default: only for live display)"
    )
    requests_per_minute: int | None = setting(None, "maximum number of requests per minute")
    concurrency: int = setting(8, "maximum number of concurrent requests")
    max_calls: int | None = setting(None, "maximum number of requests per run, including retries")
    max_cost: float | None = setting(
        None, "maximum cost per run in dollars; requires the model's price"
    )
    prices: Mapping[str, Mapping[str, float]] = setting(
        {},
        'prices."MODEL".read, .written, .cached or .reasoning: '
        "a price in dollars per million tokens",
    )
    time_limit: float = setting(10.0, "time limit for a program's own code, in seconds")
    calls_time: float = setting(600.0, "time limit for all calls that a program makes, in seconds")
    repairs: int | None = setting(
        None, "maximum number of repairs to a program before it runs (default: 2)"
    )
    runtime_repairs: int | None = setting(
        None, "maximum number of repairs to a program after it fails (default: 2; on hardware: 0)"
    )
    undo_failed: bool = setting(False, "whether to undo a failed turn (simulation only)")
    max_functions: int = setting(16, "maximum number of functions generated per program")
    choose_by: str = setting(
        "both",
        "how to choose among several programs: agreement (the most common effect), "
        "goal (a check written by the model) or both; in suites, also judge (the suite's own "
        "judge, as an upper bound)",
    )
    verify: str = setting(
        "words",
        "how to verify a turn's effect: words (compare it with the instruction), goal (also run a "
        "check written by the model) or off",
    )
    try_tokens: int | None = setting(
        None, "number of tokens after which no further program is tried"
    )
    try_time: float | None = setting(
        None, "number of seconds after which no further program is tried"
    )
    base_url: str | None = None
    """Address of the chosen model's provider in place of its own; from the command line alone, a
    file says it in `[providers.NAME]`."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each setting came from: `default`, a file, an environment variable, `flag` (an option)
    or `--set`."""
    warnings: tuple[str, ...] = ()
    """One line for each entry that was ignored."""

    def asked(self) -> dict[str, Any]:
        """Return how models are asked, as plain data: for `asked_of`."""
        given = {name: getattr(self, name) for name in _ASKED if self.sources[name] != "default"}
        from_file = {name for name in given if self.sources[name].endswith(".toml")}
        of = self.model.partition("/")[0]
        return {
            "usual": {_ASKED[name]: given[name] for name in sorted(from_file)},
            "said": {_ASKED[name]: value for name, value in given.items() if name not in from_file},
            "providers": {name: dict(table) for name, table in self.providers.items()},
            "base_url": {} if self.base_url is None else {of: self.base_url},
        }


_ASKED = {
    "model_mode": "mode",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "model_seed": "seed",
    "reasoning_effort": "reasoning_effort",
    "headers": "headers",
    "extra_body": "extra_body",
    "model_timeout": "timeout_s",
    "requests_per_minute": "requests_per_minute",
    "stream": "stream",
}
"""How a model is asked: the settings, and what each is called in a provider's table."""

PROVIDER_KEYS = ("base_url", "key_env", "about", "query", *_ASKED.values())
"""What a table `[providers.NAME]` may hold."""

SETTINGS = {
    entry.name: str(entry.metadata["about"])
    for entry in fields(Config)
    if "about" in entry.metadata
}
"""The settings a configuration file and `--set` may give, and what each is."""
OPTIONS_ALONE = ("approve", "rehearse", "min_level", "speed", "dry_run", "base_url")
"""What no file may decide: an option says it, each time."""


def asked_of(asked: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return how one model is asked.

    What was said now comes before its provider's table, and that before the rest of the files.

    Args:
        asked: As `Config.asked` has it.
        model: Its name; what stands before the slash is its provider.
    """
    provider = model.partition("/")[0]
    table = asked.get("providers", {}).get(provider, {})
    said = asked.get("said", {})
    found = {**asked.get("usual", {}), **table, **said}
    for name in ("headers", "extra_body"):  # what is said now is added, and comes first
        before = table.get(name, asked.get("usual", {}).get(name))
        if name in said and before:
            fold = str.lower if name == "headers" else str
            again = set(map(fold, said[name]))
            kept = {key: value for key, value in before.items() if fold(key) not in again}
            found[name] = {**kept, **said[name]}
    if provider in asked.get("base_url", {}):
        found["base_url"] = asked["base_url"][provider]
    return found


def refuse(question: str) -> bool:
    """Confirm nothing: what a program with nobody to ask passes to `load`."""
    return False


def config_file() -> Path:
    """Return the person's own file of settings."""
    from platformdirs import user_config_path

    return user_config_path("cap", appauthor=False) / "config.toml"


def data_folder() -> Path:
    """Return the folder of what the person keeps."""
    from platformdirs import user_data_path

    return user_data_path("cap", appauthor=False)


def skills_folder(settings: Config) -> Path:
    """Return the folder of kept functions: the one that is set, or under the person's data."""
    return data_folder() / "skills" if settings.skills is None else Path(settings.skills)


def abilities_file() -> Path:
    """Return the file that caches what endpoints can do."""
    from platformdirs import user_cache_path

    return user_cache_path("cap", appauthor=False) / "abilities.json"


def load(
    environ: Mapping[str, str],
    cwd: Path,
    confirm: Callable[[str], bool] = refuse,
    flags: Mapping[str, Any] = MappingProxyType({}),
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Config:
    """Read every source and return the settings that hold.

    Args:
        environ: Environment variables.
        cwd: The current folder, whose `cap.toml` is read.
        confirm: Asked once for each risky entry of `cap.toml`; False ignores the entry.
        flags: Settings that options of the command line give, by name; None counts as not given.
        settings: Those that `--set` gives; an option comes before them.

    Raises:
        ConfigError: A file or value cannot be used; names the file or variable and the setting.
    """
    values: dict[str, Any] = {}
    sources = dict.fromkeys((*SETTINGS, "base_url"), "default")
    warnings: list[str] = []

    def take(name: str, value: Any, source: str) -> None:
        value = _checked(name, value, source)
        if isinstance(value, dict):
            value = {**values.get(name, {}), **value}
        values[name] = value
        sources[name] = source

    personal = config_file()
    for name, value in _read(personal).items():
        take(name, value, str(personal))
    local = cwd / "cap.toml"
    for name, value in _read(local).items():
        danger = _danger(name, value, cwd)
        if danger and not confirm(_question(local, name, value, danger)):
            warnings.append(
                f"{local}: {name} ignored, since {danger}; to use it, set it in {personal}"
            )
        else:
            take(name, value, str(local))
    for variable, name in ENVIRONMENT.items():
        if text := environ.get(variable, "").strip():
            take(name, text, variable)
    _refuse_secrets({**settings, "headers": {}}, "--set")  # which have a check of their own
    for name, value in settings.items():
        take(name, value, "--set")
    for name, value in flags.items():
        if value is not None:
            try:
                take(name, value, "flag")
            except ConfigError as error:
                said = f"--{name.replace('_', '-')}"
                raise ConfigError(str(error).replace(f"flag: {name}", said, 1)) from None
    return Config(**values, sources=sources, warnings=tuple(warnings))


def check_url(url: str, where: str) -> str:
    """Return an endpoint address without its last slash.

    Raises:
        ConfigError: It is not an http or https address; the message names `where` it was given.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or re.search(r"\s|[^\x20-\x7e]", url):
        example = "http://localhost:8000/v1"
        raise ConfigError(
            f"{where}: {shown_url(url)!r} is not an http(s) address; write it as {example}"
        )
    return url.rstrip("/")


def check_variable(name: str, where: str) -> str:
    """Return the name of an environment variable.

    Raises:
        ConfigError: It is none, or looks like a key itself, and is not repeated then.
    """
    long_word = len(name) >= 16 and re.search(r"\d", name) is not None
    key_like = long_word and (name != name.upper() or "_" not in name)
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) and not key_like:
        return name
    raise ConfigError(
        f"{where} must name an environment variable, such as WORK_KEY; the value looks "
        "like the key itself: keep the key in the variable"
    )


def shown_url(url: str) -> str:
    """Return an address as it may be shown: no user, password, query or fragment.

    Everything before the last @ goes, also where it is no proper address: better a host too few
    than a password too many.
    """
    bare = re.sub(r"^(\w+://)?.*@", r"\1", url, flags=re.DOTALL)
    return re.split(r"[?#]", bare, maxsplit=1)[0]


def is_loopback(url: str) -> bool:
    """Return whether an address names this very machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _read(path: Path) -> Mapping[str, Any]:
    """Return a file's settings, {} where there is no file."""
    if not os.path.lexists(path):
        return {}
    table = read_toml(path, "configuration")
    _refuse_secrets(table.values, str(path))
    for key in table.values:
        if key == "base_url":
            raise table.wrong(
                key, "base_url belongs to a provider: write it below a line [providers.NAME]"
            )
        if key not in SETTINGS:
            raise table.wrong(key, _unknown(key))
    return table.values


def _unknown(name: str) -> str:
    """Return what to do about a setting that does not exist."""
    if name in OPTIONS_ALONE:
        return f"{name} is not a setting; it is an option: --{name.replace('_', '-')}"
    hint = did_you_mean(name, SETTINGS) or " cap info --config lists all"
    return f"unknown setting {name!r}.{hint}"


def _refuse_secrets(values: Mapping[str, Any], where: str, inside: str = "") -> None:
    """Refuse keys and passwords at any depth, without repeating them."""
    for key, value in values.items():
        if _SECRET.search(key) and not (isinstance(value, str) and _KEPT_AWAY.match(value)):
            raise ConfigError(
                f"{where}: {inside}{key} is not allowed there; remove it and use an environment "
                "variable, such as OPENAI_API_KEY"
            )
        if isinstance(value, Mapping):
            _refuse_secrets(value, where, f"{inside}{key}.")


def _checked(name: str, value: Any, source: str) -> Any:
    """Return one setting's value in its own type."""
    if name not in SETTINGS and name != "base_url":
        raise ConfigError(f"{source}: {_unknown(name)}")
    if name == "robots":
        if isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values()):
            return dict(value)
        raise ConfigError(f"{source}: robots must be tables [robots.NAME] of options")
    if name == "providers":
        return _checked_providers(value, source)
    if name == "prices":
        return _checked_prices(value, source)
    return _checked_value(name, value, f"{source}: {name}")


def _checked_value(kind: str, value: Any, where: str) -> Any:
    """Return a value of the kind that a setting has.

    Args:
        kind: The setting's name.
        value: What was given.
        where: Where, for the message.
    """
    if kind in _LEAST:
        if type(value) is int and value >= _LEAST[kind]:
            return value
        raise ConfigError(
            f"{where} must be a whole number, {_LEAST[kind]} or more, not {shown(value)}"
        )
    if kind in _RANGES:
        least, most, words = _RANGES[kind]
        if type(value) in (int, float) and math.isfinite(value) and least <= value <= most:
            return float(value)
        raise ConfigError(f"{where} must be {words}, not {shown(value)}")
    if kind in ("stream", "undo_failed"):
        if isinstance(value, bool):
            return value
        raise ConfigError(f"{where} must be true or false, not {shown(value)}")
    if kind == "headers":
        return _checked_headers(value, where)
    if kind == "extra_body":
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            value = None
        if isinstance(value, Mapping):
            return dict(value)
        raise ConfigError(f"{where} must be fields of a JSON object, such as {{ top_k = 20 }}")
    if isinstance(value, Path):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{where} must be text in quotes, not {shown(value)}")
    if kind in CHOICES and value not in CHOICES[kind]:
        words = " or ".join(map(repr, CHOICES[kind]))
        raise ConfigError(f"{where} must be {words}, not {value!r}")
    if kind == "base_url":
        return check_url(value, where)
    if kind == "key_env":
        return check_variable(value, where)
    return Path(value).expanduser() if kind in _FOLDERS else value


def _checked_headers(value: Any, where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, text in value.items() if isinstance(value, Mapping) else [("", None)]:
        named = re.fullmatch(r"[\w-]+", name, re.ASCII)
        if not (named and isinstance(text, str) and text.isascii() and text.isprintable()):
            example = '{ "X-Team" = "arms" }'
            raise ConfigError(
                f"{where} must be names with text in ASCII, such as {example}; wrong: {name!r}"
            )
        if _SECRET.search(name) and not _KEPT_AWAY.match(text):
            raise ConfigError(
                f"{where}: {name} looks like a key; keep it in an environment variable and write "
                f"its name after a $, such as '$GATEWAY_KEY'"
            )
        found[name] = text
    return found


def _checked_providers(value: Any, source: str) -> dict[str, dict[str, Any]]:
    """Return providers' tables, each entry in its own type."""
    kinds = {short: name for name, short in _ASKED.items()} | {"query": "headers"}
    found: dict[str, dict[str, Any]] = {}
    for provider, table in value.items() if isinstance(value, Mapping) else [("", value)]:
        if not (re.fullmatch(r"[a-z][a-z0-9_-]*", provider) and isinstance(table, Mapping)):
            raise ConfigError(
                f"{source}: providers must be tables, each below a line [providers.NAME], its name "
                f"in lowercase letters; wrong: {provider!r}"
            )
        where = f"{source}: providers.{provider}"
        for key in table:
            if key not in PROVIDER_KEYS:
                known = did_you_mean(key, PROVIDER_KEYS) or f" Known: {', '.join(PROVIDER_KEYS)}."
                raise ConfigError(f"{where}: unknown key {key!r}.{known}")
        found[provider] = {
            key: _checked_value(kinds.get(str(key), str(key)), entry, f"{where}.{key}")
            for key, entry in table.items()
        }
    return found


def _checked_prices(value: Any, source: str) -> dict[str, dict[str, float]]:
    prices = {}
    for model, price in value.items() if isinstance(value, Mapping) else [("", value)]:
        known = isinstance(price, Mapping) and set(_PRICED[:2]) <= set(price) <= set(_PRICED)
        numbers = known and all(type(each) in (int, float) for each in price.values())
        if not numbers or not all(math.isfinite(each) and each >= 0 for each in price.values()):
            raise ConfigError(
                f"{source}: prices must be dollars per million tokens, each like [prices] "
                f'"openai/NAME" = {{ read = 0.4, written = 1.6 }}, plus cached and reasoning '
                f"if they differ; wrong: {model!r}"
            )
        prices[model] = {part: float(each) for part, each in price.items()}
    return prices


_DANGERS = {
    "robot": "it executes that file",
    "runs": "it writes outside this folder",
    "model": "it chooses the model that writes the programs and reads the prompts",
    "providers": "it decides where prompts and keys are sent",
    "robots": "it decides which machine moves",
    "cache": "it decides which answers pass as the model's",
    "skills": "it decides which functions programs may call",
    "runtime_repairs": "it decides how often a robot retries after a failure",
    **dict.fromkeys(
        ("max_cost", "max_calls", "max_functions", "max_tokens", "prices", "reasoning_effort"),
        "it decides how much may be spent",
    ),
    **dict.fromkeys(
        ("choose_by", "try_tokens", "try_time", "verify"),
        "it decides how many requests are sent, and which program runs",
    ),
    **dict.fromkeys(("time_limit", "calls_time"), "it decides how long a program may run"),
    "undo_failed": "it decides what is undone",
}
"""Why a folder's file may not set something alone; of the rest, that it says how a model is
asked."""


def _danger(name: str, value: Any, cwd: Path) -> str:
    """Return why a folder's file may not set this alone, or ""."""
    harmless = name in FOLDER_MAY_SET
    if name == "robot" and isinstance(value, str) and is_file(value):
        harmless = False
    if name == "runs" and isinstance(value, str):
        target = (cwd / Path(value).expanduser()).resolve()
        harmless = target.is_relative_to(cwd.resolve())
    return "" if harmless else _DANGERS.get(name, "it decides how a model is asked")


def _question(path: Path, name: str, value: Any, danger: str) -> str:
    shown = shown_url(value) if isinstance(value, str) else value
    return f"{path} sets {name} = {shown!r}, and {danger}. Use it?"
