"""Keys and passwords in what an endpoint says: they are replaced by `[key]`.

An endpoint may repeat what it was sent, in its errors and in its answers: as it is, in capitals, or
as JSON or an address has it. The user gets one line, and traces, recordings and caches
hold no key.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote, unquote, urlsplit

from cap.config import shown_url

OnText = Callable[[str], None]
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
            secrets: Its key, and other secrets that are sent.
            query: What follows the question mark: some of it may be keys, by their names.
        """
        self._url, self._shown_url = base_url, shown_url(base_url)
        parts = urlsplit(base_url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        words = [word for secret in secrets for word in (secret, *secret.split())]
        words += [password or user, *(query[name] for name in query if _KEY_NAMED.search(name))]
        words = [w for w in words if len(w) >= _SHORTEST and w.lower() not in _NO_SECRETS]
        if password:
            words.append(base64.b64encode(f"{user}:{password}".encode()).decode())
        self._words = max((len(word.split()) for word in words), default=0)
        """Of the secret that has the most; 0 without secrets."""
        forms = {form for word in words for form in _forms(word)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._forms = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)", re.IGNORECASE)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return self._forms.sub(SHOWN, text)

    def line(self, text: str) -> str:
        """Return one line for a message, without anything that looks like a key."""
        text = self.text(text.replace(self._url, self._shown_url))
        return _KEY_SHAPED.sub(SHOWN, " ".join(text.split()))

    def sure(self, text: str) -> int:
        """Return how much of a text that goes on can hold no beginning of a secret: whole words."""
        if not self._words:
            return len(text)
        ends = [found.end() for found in re.finditer(r"\s", text)]
        return ends[-self._words] if len(ends) >= self._words else 0


class Pieces:
    """Passes a streamed answer's text on without secrets, by whole words."""

    def __init__(self, on_text: OnText, redaction: Redaction) -> None:
        """Keep where it goes, and what does not.

        Args:
            on_text: Called with each piece; with "" when an answer begins again.
            redaction: Knows the secrets.
        """
        self._on_text, self._redaction = on_text, redaction
        self._reported, self._held = False, ""
        self.came = 0
        """How many characters have come since it began."""

    def begin(self) -> None:
        """Note that an answer begins."""
        if self._reported:
            self._on_text("")
        self._reported, self._held, self.came = False, "", 0

    def add(self, text: str) -> None:
        """Pass on what can hold no beginning of a secret."""
        self.came += len(text)
        self._held += text
        self._pass(self._redaction.sure(self._held))

    def end(self) -> None:
        """Pass on the rest."""
        self._pass(len(self._held))

    def _pass(self, size: int) -> None:
        if text := self._redaction.text(self._held[:size]):
            self._reported, self._held = True, self._held[size:]
            self._on_text(text)


def _forms(word: str) -> set[str]:
    """Return how a secret is written in a text, in JSON and in an address."""
    address = quote(word, safe="")
    in_json = json.dumps(word)[1:-1]
    return {word, address, in_json, in_json.replace("/", "\\/")}
