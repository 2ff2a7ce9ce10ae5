"""Which model a name means, where it is served, and the key it needs.

nearest              no language model: the closest example of the prompt, rebound
replay/FILE.jsonl    recorded completions
PROVIDER/NAME        an OpenAI-compatible endpoint: of `PROVIDERS`, or of `[providers.NAME]`
FILE.py              a model of one's own: the file's `create`
PLUGIN or PLUGIN/X   a model that an installed package brings: the entry points `cap.models`
"""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from cap.checker.declared_types import check_fields, require
from cap.config import REFERENCE, asked_of, check_url, check_variable, is_loopback
from cap.errors import CapError, MissingKey, UnknownModel, UsageError, did_you_mean
from cap.models.base import Mode, Model
from cap.models.budget import FREE, Account, Allowance, Budget, Metered, Price
from cap.models.capabilities import abilities_file
from cap.models.settings import ModelSettings
from cap.models.wrapper import Adjusted, OwnModel
from cap.robot.robot_files import is_file, load_module

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
    source: str
    """The page that says so, of which a stored copy was read, and the day of that."""
    tested: str = "not tested"
    """What was asked of the real one."""
    quirks: str = ""
    """What is otherwise than at OpenAI."""
    mode: Mode = "chat"
    """How prompts are sent unless the person says otherwise."""
    timeout_s: float = 120.0
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
    model: Model
    if kind in providers and name:
        provider = providers[kind]
        model = _endpoint(provider, name, _filled(provider, settings, environ), environ, terms)
        if terms.cache is not None:
            from cap.models.cache import Cached

            model = Cached(model, terms.cache)
    else:
        model = _other(spec, kind, name, providers, settings.timeout_s)
        bounded = terms.allowance.calls is not None or terms.allowance.cost_usd is not None
        if kind != "replay" and (bounded or (terms.account is not None and kind != "nearest")):
            price = _price(terms, spec) or (FREE if bounded else None)
            model = Metered(model, terms.allowance, price, terms.account)
    if record is not None:
        from cap.models.replay import Recorder

        model = Recorder(model, record)
    if (settings.temperature, settings.seed, settings.max_tokens) != (None, None, None):
        model = Adjusted(model, settings.temperature, settings.seed, settings.max_tokens)
    return model


def endpoint_warning(model: Model) -> str:
    """Return what a person should know of where a model is asked; "" if there is nothing."""
    endpoint = getattr(model, "endpoint", None)
    url = getattr(endpoint, "url", "")
    if not url.startswith("http://") or is_loopback(url):
        return ""
    return (
        f"{model.name} is asked at {url}, which is another machine, and not by https: prompts and "
        "keys can be read on the way"
    )


def list_models(asked: Mapping[str, Any] | None = None) -> list[dict[str, str]]:
    """Return table rows: form, what it is, default address, the key variable it needs, its source.

    Args:
        asked: The configuration, as `Config.asked` has it.
    """
    nearest = "no language model: the closest example of the prompt, rebound"
    rows = [
        ("nearest", nearest, "", "", "", ""),
        ("replay/FILE.jsonl", "completions recorded with --record FILE.jsonl", "", "", "", ""),
        *(
            (
                f"{entry.name}/NAME",
                entry.about,
                entry.base_url or "yours",
                entry.key_env if entry.needs_key else "",
                entry.tested,
                "; ".join(filter(None, (entry.quirks, entry.source))),
            )
            for entry in _providers(asked or {}).values()
        ),
        ("FILE.py", "a model of your own: the file's function create()", "", "", "", ""),
        *(
            (name, f"brought by {entry.value}", "", "", "", "")
            for name, entry in sorted(_plugins().items())
        ),
    ]
    names = ("model", "what it is", "address", "key", "tested", "quirks and source")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _providers(asked: Mapping[str, Any]) -> dict[str, Provider]:
    """Return the providers there are: those known by name, and those of the configuration."""
    found = dict(PROVIDERS)
    for name, table in asked.get("providers", {}).items():
        if name not in found:
            found[name] = Provider(
                name,
                table.get("base_url", ""),
                f"{name.upper().replace('-', '_')}_API_KEY",
                needs_key=False,
                about=table.get("about", "of your configuration"),
                source="your configuration",
            )
        elif "base_url" in table:
            found[name] = replace(found[name], base_url=table["base_url"])
    return found


def _plugins() -> dict[str, Any]:
    return {entry.name: entry for entry in entry_points(group=MODEL_GROUP)}


def _other(
    spec: str, kind: str, name: str, providers: Mapping[str, Provider], timeout_s: float | None
) -> Model:
    """Return a model that is no endpoint."""
    if spec == "nearest":
        from cap.models.nearest import Nearest

        return Nearest()
    if is_file(spec):
        path = Path(spec).expanduser()
        if not path.exists():
            raise UnknownModel(f"no file {path}; a model's file has a function create()")
        factory = getattr(load_module(path), "create", None)
        if not callable(factory):
            raise UsageError(f"{path} has no function 'create'; it makes the model")
        return _made(factory, (), str(path), timeout_s)
    if kind == "replay" and name:
        from cap.models.replay import Replay

        return Replay(Path(name))
    if (entry := _plugins().get(kind)) is not None:
        try:
            factory = entry.load()
        except CapError:
            raise
        except Exception as error:  # a plug-in may fail in any way
            why = f"{type(error).__name__}: {error}"
            raise UsageError(f"model {kind!r} ({entry.value}) does not load: {why}") from None
        return _made(factory, (name,) if name else (), f"{kind!r} ({entry.value})", timeout_s)
    raise UnknownModel(_unknown(spec, kind, name, providers))


def _made(factory: Any, arguments: tuple[str, ...], where: str, timeout_s: float | None) -> Model:
    """Return what a person's own factory makes, if it is a model."""
    try:
        made: Model = factory(*arguments)
    except CapError:
        raise
    except Exception as error:  # it may fail in any way
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"the model of {where} cannot be made: {why}") from None
    named = isinstance(getattr(made, "name", None), str)
    if not (named and callable(getattr(made, "complete", None))):
        raise UsageError(
            f"what {where} makes is no model; it needs a text `name` and a method "
            "`complete(request)` that returns a Completion"
        )
    return OwnModel(made, where, timeout_s)


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


def _filled(
    provider: Provider, settings: ModelSettings, environ: Mapping[str, str]
) -> ModelSettings:
    """Return settings in which what nobody said is the provider's own."""
    variable = f"{provider.name.upper().replace('-', '_')}_BASE_URL"
    if settings.base_url and settings.base_url != provider.base_url:
        url = check_url(settings.base_url, "--base-url")
    elif given := environ.get(variable, "").strip():
        url = check_url(given, variable)
    elif provider.base_url:
        url = provider.base_url
    else:
        raise UsageError(
            f"{provider.name} has no address of its own: set {variable}, or base_url below a line "
            f"[providers.{provider.name}] of your config.toml"
        )
    bare, _, more = url.partition("#")[0].partition("?")
    return replace(
        settings,
        base_url=bare.rstrip("/"),
        query={**dict(parse_qsl(more, keep_blank_values=True)), **settings.query},
        key_env=settings.key_env or provider.key_env,
        mode=settings.mode or provider.mode,
        timeout_s=provider.timeout_s if settings.timeout_s is None else settings.timeout_s,
    )


def _endpoint(
    provider: Provider,
    name: str,
    settings: ModelSettings,
    environ: Mapping[str, str],
    terms: ModelTerms,
) -> Model:
    from cap.models.openai.model import OpenAIModel
    from cap.models.openai.transport import own_authorities

    own_authorities()  # what the person names must be of use, before anybody is asked
    full = f"{provider.name}/{name}"
    secrets: dict[str, str] = {}
    for what, table in (("header", settings.headers), ("parameter", settings.query)):
        for word, text in table.items():
            where = f"{what} {word}"
            for found in REFERENCE.finditer(text):
                secrets[found[0]] = _variable(found[1] or found[2] or "", where, environ)
            if "$" in text:
                secrets[text] = REFERENCE.sub(lambda found: secrets[found[0]], text)
    allowance = replace(
        terms.allowance,
        per_minute=terms.allowance.per_minute or settings.requests_per_minute,
    )
    return OpenAIModel(
        full,
        model=name,
        settings=settings,
        api_key=_key(provider, settings, environ),
        secrets=secrets,
        budget=Budget(full, allowance, _price(terms, full), terms.account),
        remedy_window=provider.window,
        cuts_off=provider.cuts_off,
        sleep=time.sleep if terms.account is None else terms.account.wait,
        abilities_file=abilities_file(),
    )


def _price(terms: ModelTerms, name: str) -> Price | None:
    price = terms.prices.get(name)
    return None if price is None else Price(**price)


def _variable(variable: str, what: str, environ: Mapping[str, str]) -> str:
    """Return what the variable of a header or parameter holds."""
    value = environ.get(check_variable(variable, f"the {what}"), "").strip()
    if not value:
        raise MissingKey(f"the {what} is read from {variable}, which is not set; set it")
    return value


def _key(provider: Provider, settings: ModelSettings, environ: Mapping[str, str]) -> str | None:
    """Return the key to send, None where none is set and none is needed."""
    variable = check_variable(settings.key_env or provider.key_env, "key_env")
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
