"""Settings and where each came from: defaults < home file < folder file < environment < flags.

The home file is `~/.config/cap/config.toml` (or under `XDG_CONFIG_HOME`). The folder file,
`./cap.toml`, may have come with somebody else's folder: what decides where prompts, keys or
motion go counts there only once the person has confirmed it. API keys belong in environment
variables and are refused in every file.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from cap.errors import ConfigError, did_you_mean
from cap.robot.robot_files import is_file

CHOICES = {"mode": ("physics", "instant"), "model_mode": ("chat", "completion")}
"""Settings that take one of a few words."""

ENVIRONMENT = {
    "CAP_MODEL": "model",
    "CAP_ROBOT": "robot",
    "CAP_RUNS": "runs",
    "CAP_MODE": "mode",
    "CAP_BASE_URL": "base_url",
    "CAP_MODEL_MODE": "model_mode",
    "CAP_CACHE": "cache",
    "CAP_SKILLS": "skills",
}
"""Environment variables and the setting each gives; an empty one counts as unset."""

_TABLES = ("robots", "prices")
_FOLDERS = ("runs", "cache", "skills")
_COUNTS = {
    "max_calls": 0,
    "concurrency": 1,
    "repairs": 0,
    "runtime_repairs": 0,
    "max_tokens": 1,
    "max_functions": 0,
}
"""Settings that are whole numbers, and the least each may be."""

_SECRET = re.compile(r"(^|[_-])(api[_-]?key|token|secret|password)s?$", re.IGNORECASE)
_TOML_PLACE = re.compile(r"^(?P<what>.*) \(at (?:line (?P<line>\d+), .*|end of document)\)$", re.S)


@dataclass(frozen=True)
class Config:
    """Every setting of one run."""

    model: str = "nearest"
    """`provider/model`, as `--model` takes it."""
    robot: str = "ravens"
    """Registry name of the robot."""
    base_url: str | None = None
    """Address of the model's endpoint; None for the provider's own."""
    model_mode: str | None = None
    """`chat` or `completion`; None for the provider's own."""
    runs: Path = Path("runs")
    """Folder the runs are written to; relative to the current one."""
    mode: str = "physics"
    """`physics` or `instant`, for simulated robots."""
    robots: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options for each robot by its name, such as `host`: the tables `[robots.NAME]`."""
    cache: Path | None = None
    """Folder of models' answers that need not be asked again; None to ask always."""
    skills: Path | None = None
    """Folder of kept functions; None for the one under the person's data folder."""
    max_cost: float | None = None
    """Dollars a run may spend on its model; None for no limit. Needs the model's price."""
    max_calls: int | None = None
    """Requests a run may send to its model; None for no limit."""
    concurrency: int = 8
    """Requests under way at the same time."""
    repairs: int | None = None
    """How often a program may be written again before it runs; None for the engine's own."""
    runtime_repairs: int | None = None
    """The same for what fails while it runs."""
    max_tokens: int = 1024
    """Longest answer of the model, in tokens; one that is cut there is asked again with more."""
    max_functions: int = 16
    """How many functions may be generated for one program."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Dollars for a million tokens `read` and `written`, by the model's name: `[prices]`."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each setting came from: `default`, a file, an environment variable or `flag`."""
    warnings: tuple[str, ...] = ()
    """One line for each entry that was ignored."""


SETTINGS = tuple(
    entry.name for entry in fields(Config) if entry.name not in ("sources", "warnings")
)
"""Names a configuration file may set."""


def refuse(question: str) -> bool:
    """Confirm nothing: what a program with nobody to ask passes to `load`."""
    return False


def load(
    environ: Mapping[str, str],
    cwd: Path,
    home: Path,
    confirm: Callable[[str], bool] = refuse,
    flags: Mapping[str, Any] = MappingProxyType({}),
) -> Config:
    """Read every source and return the settings that hold.

    Args:
        environ: Environment variables.
        cwd: The current folder, whose `cap.toml` is read.
        home: The person's home folder.
        confirm: Asked once for each risky entry of `cap.toml`; False ignores the entry.
        flags: Settings from the command line by name; None counts as not given.

    Raises:
        ConfigError: A file or value cannot be used; names the file or variable and the setting.
    """
    values: dict[str, Any] = {}
    sources = dict.fromkeys(SETTINGS, "default")
    warnings: list[str] = []

    def take(name: str, value: Any, source: str) -> None:
        value = _checked(name, value, source)
        if name in _TABLES:
            value = {**values.get(name, {}), **value}
        values[name] = value
        sources[name] = source

    personal = _config_home(environ, home) / "cap" / "config.toml"
    for name, value in _read(personal).items():
        take(name, value, str(personal))
    local = cwd / "cap.toml"
    for name, value in _read(local).items():
        danger = _danger(name, value, cwd)
        if danger and not confirm(_question(local, name, value, danger)):
            warnings.append(_ignored(local, name, danger, personal))
        else:
            take(name, value, str(local))
    for variable, name in ENVIRONMENT.items():
        if text := environ.get(variable, "").strip():
            take(name, text, variable)
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


def _config_home(environ: Mapping[str, str], home: Path) -> Path:
    """Return the folder of personal settings; XDG says a relative value is to be ignored."""
    given = Path(environ.get("XDG_CONFIG_HOME", ""))
    return given if given.is_absolute() else home / ".config"


def _read(path: Path) -> dict[str, Any]:
    """Return a file's settings, {} where there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}; correct or remove it") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _TOML_PLACE.match(str(error))
        what = match["what"] if match else str(error)
        line = (match and match["line"]) or str(max(1, len(text.splitlines())))
        raise ConfigError(f"{path}, line {line}: not valid TOML: {what}") from None
    _refuse_secrets(values, path)
    for key in values:
        if key not in SETTINGS:
            hint = did_you_mean(key, SETTINGS) or f" Known: {', '.join(SETTINGS)}."
            raise ConfigError(f"{path}: unknown setting {key!r}.{hint}")
    return values


def _refuse_secrets(values: Mapping[str, Any], path: Path, inside: str = "") -> None:
    """Refuse keys and passwords at any depth, without repeating them."""
    for key, value in values.items():
        if _SECRET.search(key):
            raise ConfigError(
                f"{path}: {inside}{key} may not stand in a configuration file; remove it and use "
                "an environment variable, such as OPENAI_API_KEY"
            )
        if isinstance(value, Mapping):
            _refuse_secrets(value, path, f"{inside}{key}.")


def _checked(name: str, value: Any, source: str) -> Any:
    """Return one setting's value in its own type."""
    if name not in SETTINGS:
        raise ConfigError(f"{source}: unknown setting {name!r}.{did_you_mean(name, SETTINGS)}")
    if name == "robots":
        if isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values()):
            return value
        raise ConfigError(f"{source}: robots must be tables [robots.NAME] of options")
    if name == "prices":
        return _checked_prices(value, source)
    if name in _COUNTS or name == "max_cost":
        return _checked_number(name, value, source)
    if isinstance(value, Path):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{source}: {name} must be text in quotes, not {value!r}")
    if name in CHOICES and value not in CHOICES[name]:
        words = " or ".join(map(repr, CHOICES[name]))
        raise ConfigError(f"{source}: {name} must be {words}, not {value!r}")
    if name == "base_url":
        return check_url(value, f"{source}: base_url")
    return Path(value).expanduser() if name in _FOLDERS else value


def _checked_number(name: str, value: Any, source: str) -> float | int:
    least = _COUNTS.get(name)
    kinds = (int, float) if least is None else (int,)
    if type(value) in kinds and math.isfinite(value) and value >= (least or 0):
        return float(value) if least is None else int(value)
    kind = "a number of dollars, 0" if least is None else f"a whole number, {least}"
    raise ConfigError(f"{source}: {name} must be {kind} or more, not {value!r}")


def _checked_prices(value: Any, source: str) -> dict[str, dict[str, float]]:
    prices = {}
    for model, price in value.items() if isinstance(value, Mapping) else [("", value)]:
        known = isinstance(price, Mapping) and set(price) == {"read", "written"}
        if not known or not all(_is_price(each) for each in price.values()):
            raise ConfigError(
                f"{source}: prices must be dollars for a million tokens, each like "
                f'[prices] "openai/NAME" = {{ read = 0.4, written = 1.6 }}; wrong: {model!r}'
            )
        prices[model] = {part: float(each) for part, each in price.items()}
    return prices


def _is_price(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


def _danger(name: str, value: Any, cwd: Path) -> str:
    """Return why a folder's file may not set this alone, or ""."""
    if name == "base_url":
        return "it decides where prompts and keys are sent"
    if name == "robots":
        return "it decides which machine moves"
    if name == "robot" and isinstance(value, str) and is_file(value):
        return "it executes that file"
    if name in ("max_cost", "max_calls", "max_functions", "prices"):
        return "it decides what may be spent"
    if name == "cache":
        return "it decides which answers are taken for the model's own"
    if name == "skills":
        return "it decides which functions programs may call"
    if name == "runtime_repairs":
        return "it decides what a machine tries again"
    if name == "runs" and isinstance(value, str):
        target = (cwd / Path(value).expanduser()).resolve()
        if not target.is_relative_to(cwd.resolve()):
            return "it writes outside this folder"
    return ""


def _question(path: Path, name: str, value: Any, danger: str) -> str:
    shown = shown_url(value) if isinstance(value, str) else value
    return f"{path} sets {name} = {shown!r}, and {danger}. Use it?"


def _ignored(path: Path, name: str, danger: str, personal: Path) -> str:
    return f"{path}: {name} ignored, since {danger}; to use it, set it in {personal}"
