"""Which model a name means, where it is served, and the key it needs.

nearest              no language model: the closest example of the prompt, rebound
replay/FILE.jsonl    recorded completions
PROVIDER/NAME        an OpenAI-compatible endpoint, see `PROVIDERS`
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cap.config import check_url, is_loopback
from cap.errors import MissingKey, UnknownModel, did_you_mean
from cap.models.base import Mode, Model
from cap.models.budget import FREE, Account, Allowance, Metered, Price
from cap.models.capabilities import abilities_file


@dataclass(frozen=True)
class ModelTerms:
    """On what terms one run asks its model: what is kept, counted and allowed."""

    cache: Path | None = None
    """Folder of answers that need not be asked again; None to ask always."""
    allowance: Allowance = field(default_factory=Allowance)
    """The most the run may use."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Dollars for a million tokens `read` and `written`, by the model's name."""
    account: Account | None = None
    """Where what is used counts, if others share the allowance."""


@dataclass(frozen=True)
class Provider:
    """An OpenAI-compatible endpoint."""

    name: str
    """What stands before the slash."""
    base_url: str
    """Its default address."""
    key_env: str
    """Environment variable its key is read from."""
    needs_key: bool
    """False where it usually runs without; a key that is set is sent all the same."""
    about: str
    """What it is, in a few words."""
    mode: Mode = "chat"
    """How prompts are sent unless the person says otherwise."""
    timeout_s: float = 120.0
    """Longest time for one completion; a local server may load its weights first."""


PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", True, "OpenAI"),
        Provider(
            "openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", True, "OpenRouter"
        ),
        Provider(
            "ollama",
            "http://localhost:11434/v1",
            "OLLAMA_API_KEY",
            False,
            "Ollama on this machine",
            timeout_s=600.0,
        ),
        Provider(
            "vllm",
            "http://localhost:8000/v1",
            "VLLM_API_KEY",
            False,
            "a vLLM server",
            timeout_s=600.0,
        ),
        Provider(
            "llamacpp",
            "http://localhost:8080/v1",
            "LLAMA_API_KEY",
            False,
            "llama.cpp's llama-server",
            timeout_s=600.0,
        ),
        Provider(
            "lmstudio",
            "http://localhost:1234/v1",
            "LM_API_TOKEN",
            False,
            "LM Studio on this machine",
            timeout_s=600.0,
        ),
    )
}
"""The endpoints known by name."""

FORMS = ("nearest", "replay/FILE.jsonl", *(f"{name}/NAME" for name in PROVIDERS))
"""Every form a model's name may take."""


def make_model(
    spec: str,
    *,
    base_url: str | None = None,
    mode: Mode | None = None,
    environ: Mapping[str, str] | None = None,
    record: Path | None = None,
    timeout_s: float | None = None,
    terms: ModelTerms | None = None,
) -> Model:
    """Return the model a name means; nothing is sent anywhere yet.

    Args:
        spec: One of `FORMS`.
        base_url: Address that replaces the provider's default.
        mode: `chat` or `completion`; None for the provider's own.
        environ: Read for keys and `OPENAI_BASE_URL`; the environment itself by default.
        timeout_s: Longest wait for one completion, retries included; None for the provider's own.
        record: JSONL file every completion is appended to, for `replay/FILE.jsonl`.
        terms: What is kept, counted and allowed.

    Raises:
        UsageError: No such model, recording or address; a spend limit without a price.
        MissingKey: The endpoint needs a key and its variable is not set.
    """
    environ = os.environ if environ is None else environ
    spec = spec.strip()
    kind, _, name = spec.partition("/")
    model: Model
    if spec == "nearest":
        from cap.models.nearest import Nearest

        model = Nearest()
    elif kind == "replay" and name:
        from cap.models.replay import Replay

        model = Replay(Path(name))
    elif kind in PROVIDERS and name:
        model = _endpoint(PROVIDERS[kind], name, base_url, mode, environ, timeout_s)
    else:
        raise UnknownModel(_unknown(spec, kind, name))
    model = _metered(model, terms or ModelTerms())
    if record is None:
        return model
    from cap.models.replay import Recorder

    return Recorder(model, record)


def _metered(model: Model, terms: ModelTerms) -> Model:
    """Wrap a model; what comes from the cache is not counted."""
    limits = terms.allowance
    if getattr(model, "endpoint", None) is None:
        bounded = limits.calls is not None or limits.cost_usd is not None
        return Metered(model, limits, FREE, terms.account) if bounded else model
    price = terms.prices.get(model.name)
    known = None if price is None else Price(price["read"], price["written"])
    model = Metered(model, limits, known, terms.account)
    if terms.cache is None:
        return model
    from cap.models.cache import Cached

    return Cached(model, terms.cache)


def list_models() -> tuple[tuple[str, str, str, str], ...]:
    """Return table rows: form, what it is, default address, the key variable it needs."""
    return (
        ("nearest", "no language model: the closest example of the prompt, rebound", "", ""),
        ("replay/FILE.jsonl", "completions recorded with --record FILE.jsonl", "", ""),
        *(
            (
                f"{entry.name}/NAME",
                entry.about,
                entry.base_url,
                entry.key_env if entry.needs_key else "",
            )
            for entry in PROVIDERS.values()
        ),
    )


def _unknown(spec: str, kind: str, name: str) -> str:
    """Say what is wrong with a name and which forms there are."""
    known = ("nearest", "replay", *PROVIDERS)
    if kind in known[1:]:
        hint = f" {kind}/ needs a name after the slash."
    else:
        hint = did_you_mean(kind, known)
    if not hint and kind and not name:
        hint = f" A model's name begins with its provider, such as 'openai/{spec}'."
    return f"unknown model {spec!r}.{hint} Use one of: {', '.join(FORMS)}"


def _endpoint(
    provider: Provider,
    name: str,
    base_url: str | None,
    mode: Mode | None,
    environ: Mapping[str, str],
    timeout_s: float | None,
) -> Model:
    from cap.models.openai.model import OpenAIModel

    if base_url:
        url = check_url(base_url, "--base-url")
    elif provider.name == "openai" and (given := environ.get("OPENAI_BASE_URL", "").strip()):
        url = check_url(given, "OPENAI_BASE_URL")
    else:
        url = provider.base_url
    return OpenAIModel(
        f"{provider.name}/{name}",
        model=name,
        base_url=url,
        api_key=_key(provider, url, environ),
        key_env=provider.key_env,
        mode=mode or provider.mode,
        timeout_s=provider.timeout_s if timeout_s is None else timeout_s,
        abilities_file=abilities_file(environ),
    )


def _key(provider: Provider, url: str, environ: Mapping[str, str]) -> str | None:
    """Return the key to send, None where none is set and none is needed."""
    key = environ.get(provider.key_env, "").strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise MissingKey(
            f"{provider.key_env} holds characters no key has (a space, a line break, an accent); "
            "set it again"
        )
    if not key and provider.needs_key and not is_loopback(url):
        raise MissingKey(
            f"{provider.name} needs a key and {provider.key_env} is not set; set it, "
            "or use `-m nearest`, which needs none"
        )
    return key or None
