"""Which model a name means, where it is served, and the key it needs.

nearest              no language model: the closest example of the prompt, rebound
replay/FILE.jsonl    recorded completions
PROVIDER/NAME        an OpenAI-compatible endpoint: of `PROVIDERS`, or of `[providers.NAME]`
FILE.py              a custom model: the file's `create`
PLUGIN or PLUGIN/X   a model that an installed package brings: the entry points `cap.models`
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import entry_points
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from cap.checker.library_arguments import check_fields, require
from cap.config import (
    REFERENCE,
    abilities_file,
    asked_of,
    check_url,
    check_variable,
    is_loopback,
)
from cap.errors import CapError, MissingKey, UnknownModel, UsageError, did_you_mean
from cap.models.base import Model, ModelSettings, is_model
from cap.models.budget import FREE, Account, Allowance, Budget, Price
from cap.models.replay import Cache, Recording, Replay
from cap.models.wrapper import Managed, OwnModel
from cap.robot.registry import is_file, load_module

MODEL_GROUP = "cap.models"
"""The entry points by which an installed package brings models."""


@dataclass(frozen=True)
class ModelTerms:
    """On what terms one run asks its model: what is kept, counted and allowed."""

    cache: Path | None = None
    """Folder of answers that need not be asked again; None to ask always."""
    allowance: Allowance = field(default_factory=Allowance)
    """The most the run may use."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Dollars for a million tokens, by the model's name, as `Price` has them."""
    account: Account | None = None
    """Where what is used counts, if others share the allowance."""


@dataclass(frozen=True)
class Provider:
    """An OpenAI-compatible endpoint."""

    name: str
    """What stands before the slash."""
    base_url: str
    """Its default address; "" where each customer has their own."""
    key_env: str
    """Environment variable its key is read from."""
    needs_key: bool
    """False where it usually runs without; a key that is set is sent all the same."""
    about: str
    """What it is, in a few words."""
    timeout_s: float | None = None
    """Longest time for one completion; a local server may load its weights first."""
    window: str = "use a model with a larger one, or a shorter history"
    """What to do where a prompt does not fit in its context window."""
    cuts_off: bool = False
    """Whether it cuts off longer prompts without a word."""


PROVIDERS: Mapping[str, Provider] = {
    name: Provider(name, **table)
    for name, table in tomllib.loads(
        Path(__file__).with_name("providers.toml").read_text("utf-8")
    ).items()
}
"""The endpoints known by name."""

FORMS = ("nearest", "replay/FILE.jsonl", *(f"{name}/NAME" for name in PROVIDERS), "FILE.py")
"""Every form a model's name may take; and those of installed packages."""


def make_model(
    spec: str,
    *,
    asked: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    record: Path | None = None,
    terms: ModelTerms | None = None,
    **said: Any,
) -> Model:
    """Return the model a name means; nothing is sent anywhere yet.

    Args:
        spec: One of `FORMS`, or an installed package's.
        asked: The configuration, as `Config.asked` has it.
        environ: Read for keys and addresses; the environment itself by default.
        record: JSONL file every completion is appended to, for `replay/FILE.jsonl`.
        terms: What is kept, counted and allowed.
        said: Fields of `ModelSettings`, which come before the configuration's.

    Raises:
        UsageError: No such model, recording or address; a spend limit without a price.
        MissingKey: The endpoint needs a key and its variable is not set.
    """
    require("the model's name", spec, str)
    check_fields("field of a model's settings", ModelSettings, said)
    environ = os.environ if environ is None else environ
    terms = terms or ModelTerms()
    spec = spec.strip()
    kind, _, name = spec.partition("/")
    given = {**asked_of(asked or {}, spec), **{k: v for k, v in said.items() if v is not None}}
    settings = ModelSettings(**given)
    providers = _providers(asked or {})
    cache, usual = None, FREE if terms.allowance.bounded else None
    model: Model
    if kind in providers and name:
        model = _endpoint(providers[kind], name, settings, environ, terms)
        cache = None if terms.cache is None else Cache(terms.cache)
    elif kind == "replay" and name:
        model = Replay(Path(name))
    elif spec == "nearest":
        from cap.models.nearest.nearest import Nearest

        model = Nearest()
        if usual:
            model = OwnModel(model, spec, _budget(spec, terms, usual))
    else:
        where, made = _own(spec, providers)
        counted = usual or terms.account
        model = OwnModel(made, where, _budget(made.name, terms, usual) if counted else None)
    recording = None if record is None else Recording(record)
    managed = settings.temperature, settings.seed, settings.max_tokens, cache, recording
    if all(part is None for part in managed):
        return model
    return Managed(model, settings, cache, recording)


def endpoint_warning(model: Model) -> str:
    """Return what a user should know of where a model is asked; "" if there is nothing."""
    endpoint = getattr(model, "endpoint", None)
    url = getattr(endpoint, "url", "")
    if not url.startswith("http://") or is_loopback(url):
        return ""
    return (
        f"{model.name} is asked at {url}, which is another machine, and not by https: prompts and "
        "keys can be read on the way"
    )


def list_models(asked: Mapping[str, Any] | None = None) -> list[dict[str, str]]:
    """Return table rows: form, what it is, default address, the key variable it needs.

    Args:
        asked: The configuration, as `Config.asked` has it.
    """
    names = ("model", "what it is", "address", "key")
    rows: list[tuple[str, ...]]
    rows = [("nearest", "not a language model; adapts the closest example in the prompt")]
    rows += [("replay/FILE.jsonl", "completions recorded with --record FILE.jsonl")]
    for entry in _providers(asked or {}).values():
        key = entry.key_env if entry.needs_key else ""
        rows.append((f"{entry.name}/NAME", entry.about, entry.base_url or "your own", key))
    rows += [("FILE.py", "your own model, returned by the function create() in the file")]
    rows += [(name, f"provided by {entry.value}") for name, entry in sorted(_plugins().items())]
    return [dict(zip_longest(names, row, fillvalue="")) for row in rows]


def _providers(asked: Mapping[str, Any]) -> dict[str, Provider]:
    """Return the providers there are: those known by name, and those of the configuration."""
    found = dict(PROVIDERS)
    for name, table in asked.get("providers", {}).items():
        variable = f"{name.upper().replace('-', '_')}_API_KEY"
        own = Provider(name, "", variable, needs_key=False, about="of your configuration")
        known = found.get(name, own)
        about, url = table.get("about", known.about), table.get("base_url", known.base_url)
        found[name] = replace(known, about=about, base_url=url)
    return found


def _plugins() -> dict[str, Any]:
    return {entry.name: entry for entry in entry_points(group=MODEL_GROUP)}


def _own(spec: str, providers: Mapping[str, Provider]) -> tuple[str, Model]:
    """Return what made a custom model, for messages, and the model."""
    kind, _, name = spec.partition("/")
    arguments: tuple[str, ...] = ()
    if is_file(spec):
        path = Path(spec).expanduser()
        if not path.exists():
            raise UnknownModel(f"no file {path}; a model's file has a function create()")
        where, factory = str(path), getattr(load_module(path), "create", None)
        if not callable(factory):
            raise UsageError(f"{path} has no function 'create'; it makes the model")
    elif (entry := _plugins().get(kind)) is not None:
        where, arguments = f"{kind!r} ({entry.value})", (name,) if name else ()
        factory = _tried(entry.load, f"model {where} does not load")
    else:
        raise UnknownModel(_unknown(spec, kind, name, providers))
    made = _tried(partial(factory, *arguments), f"the model of {where} cannot be made")
    if not is_model(made):
        raise UsageError(
            f"what {where} makes is no model; it needs a text `name` and a method "
            "`complete(request)` that returns a Completion"
        )
    return where, made


def _budget(
    name: str, terms: ModelTerms, usual: Price | None = None, per_minute: int | None = None
) -> Budget:
    """Return the budget of a model; `usual` is its price where none is set."""
    per_minute = terms.allowance.per_minute or per_minute
    price = Price(**terms.prices[name]) if name in terms.prices else usual
    return Budget(name, replace(terms.allowance, per_minute=per_minute), price, terms.account)


def _tried(make: Callable[[], Any], what: str) -> Any:
    """Return what a user's own code makes, which may fail in any way."""
    try:
        return make()
    except CapError:
        raise
    except Exception as error:  # it may fail in any way
        raise UsageError(f"{what}: {type(error).__name__}: {error}") from None


def _unknown(spec: str, kind: str, name: str, providers: Mapping[str, Provider]) -> str:
    """Say what is wrong with a name and which forms there are."""
    known = ("nearest", "replay", *providers, *_plugins())
    if kind in known[1:]:
        hint = f" {kind}/ needs a name after the slash."
    else:
        hint = did_you_mean(kind, known, likeness=0.65)  # 'nope' is not meant for 'openai'
    if not hint and kind and not name:
        hint = f" A model's name begins with its provider, such as 'openai/{spec}'."
    more = tuple(f"{entry}/NAME" for entry in providers if entry not in PROVIDERS)
    return f"unknown model {spec!r}.{hint} Use one of: {', '.join((*FORMS, *more))}"


def _address(provider: Provider, given: str | None, environ: Mapping[str, str]) -> str:
    """Return where an endpoint is asked: as given, as its variable has it, or its own address."""
    variable = f"{provider.name.upper().replace('-', '_')}_BASE_URL"
    if given and given != provider.base_url:
        return check_url(given, "--base-url")
    if held := environ.get(variable, "").strip():
        return check_url(held, variable)
    if provider.base_url:
        return provider.base_url
    raise UsageError(
        f"{provider.name} has no address of its own: set {variable}, or base_url below a line "
        f"[providers.{provider.name}] of your config.toml"
    )


def _endpoint(
    provider: Provider,
    name: str,
    settings: ModelSettings,
    environ: Mapping[str, str],
    terms: ModelTerms,
) -> Model:
    from cap.models.openai.client import Client
    from cap.models.openai.model import OpenAIModel

    url = _address(provider, settings.base_url, environ)
    bare, _, more = url.partition("#")[0].partition("?")
    settings = replace(
        settings,
        base_url=bare.rstrip("/"),
        query={**dict(parse_qsl(more, keep_blank_values=True)), **settings.query},
        key_env=settings.key_env or provider.key_env,
        timeout_s=settings.timeout_s or provider.timeout_s,
    )
    full = f"{provider.name}/{name}"
    secrets: list[str] = []

    def value(found: re.Match[str]) -> str:
        """Return what a variable holds."""
        name = check_variable(found[1] or found[2] or "", "a header or parameter")
        held = environ.get(name, "").strip()
        if not held:
            raise MissingKey(f"a header or parameter is read from {name}, which is not set; set it")
        secrets.append(held)
        return held

    headers = {name: REFERENCE.sub(value, text) for name, text in settings.headers.items()}
    query = {name: REFERENCE.sub(value, text) for name, text in settings.query.items()}
    key = _key(provider, settings, environ)
    return OpenAIModel(
        full,
        settings,
        Client(settings, key, headers, query, secrets, provider.window),
        budget=_budget(full, terms, per_minute=settings.requests_per_minute),
        cuts_off=provider.cuts_off,
        abilities_file=abilities_file(),
    )


def _key(provider: Provider, settings: ModelSettings, environ: Mapping[str, str]) -> str | None:
    """Return the key to send, None where none is set and none is needed."""
    variable = check_variable(settings.key_env or "", "key_env")
    key = environ.get(variable, "").strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise MissingKey(
            f"{variable} holds characters no key has (a space, a line break, an accent); "
            "set it again"
        )
    if not key and provider.needs_key and not is_loopback(settings.base_url or ""):
        raise MissingKey(
            f"{provider.name} needs a key and {variable} is not set; set it, "
            "or use `-m nearest`, which needs none"
        )
    return key or None
