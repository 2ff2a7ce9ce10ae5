"""Keys and passwords in what an endpoint says: they leave the transport as `[key]`.

An endpoint may repeat what it was sent, in its errors and in its answers: as it is, as it stands
in an address, or as basic authorisation has it. Who sends a key is told in one line, and traces,
recordings and caches hold none.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from cap.config import shown_url

SHOWN = "[key]"
_SHORTEST = 4
"""Shorter words, such as a local server's "x", are no secret."""
_NO_SECRETS = frozenset(
    (
        *("bearer", "basic", "dummy", "empty", "fake", "key", "local", "lm-studio", "llama"),
        *("llamacpp", "none", "no-key", "not-needed", "null", "ollama", "openai", "test", "token"),
        *("sk-no-key-required", "vllm"),
    )
)
"""What people give a server that wants some key and looks at none."""
_KEY_SHAPED = re.compile(r"\bsk-[\w*.-]{6,}")
_KEY_NAMED = re.compile(r"key|token|secret|pass|auth|sig|code|credential", re.IGNORECASE)
"""Names of parameters whose values are secrets."""


class Redaction:
    """The secrets of one endpoint, in every form in which it may repeat them."""

    def __init__(self, base_url: str, secrets: Iterable[str], query: Mapping[str, str]) -> None:
        """Gather them.

        Args:
            base_url: Its address, which may hold a user and a password.
            secrets: Its key, and what else is sent and is nobody's business.
            query: What follows the question mark: some of it may be keys, by their names.
        """
        self._shown = {base_url: shown_url(base_url)}
        parts = urlsplit(base_url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        words = [word for secret in secrets for word in (secret, *secret.split())]
        words += [password or user, *(query[name] for name in query if _KEY_NAMED.search(name))]
        bare = {word for word in words if len(word) >= _SHORTEST}
        bare = {word for word in bare if word.lower() not in _NO_SECRETS}
        packed = {*bare, *({f"{user}:{password}"} if password else ())}
        # As it is, as addresses have it, and as base64 does.
        written = (str, quote, quote_plus, partial(quote, safe=""))
        forms = {write(word) for word in bare for write in written}
        for pack in (base64.b64encode, base64.urlsafe_b64encode):
            forms |= {pack(word.encode()).decode().rstrip("=") for word in packed}
        self._longest = max(map(len, forms), default=0)
        any_form = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
        any_form = re.sub("%([0-9A-F]{2})", r"%(?i:\1)", any_form)
        self._forms = re.compile(any_form) if forms else None
        self._lower = [form.lower() for form in forms]

    def text(self, text: str) -> str:
        """Return a text without them."""
        return text if self._forms is None else self._forms.sub(SHOWN, text)

    def line(self, text: str) -> str:
        """Return one line for a message, in which nothing stands either that looks like a key."""
        for url, shown in self._shown.items():
            text = text.replace(url, shown)
        return _KEY_SHAPED.sub(SHOWN, " ".join(self.text(text).split()))

    def body(self, value: Any) -> Any:
        """Return what JSON said without them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.body(each) for each in value]
        if isinstance(value, dict):
            return {self.text(key): self.body(each) for key, each in value.items()}
        return value

    def held_back(self, text: str) -> int:
        """Return how many characters at the end of a text may be the beginning of a secret."""
        end = text[-self._longest :].lower() if self._longest else ""
        begins = (n for n in range(len(end)) if any(f.startswith(end[n:]) for f in self._lower))
        return len(end) - next(begins, len(end))
