"""Keys and passwords in what an endpoint says: they leave the transport as `[key]`.

An endpoint may repeat what it was sent, in its errors and in its answers: as it is, in capitals, as
JSON, an address or a web page has it, in hex or base64, or its end alone. Texts are compared after
all such escapes are read. Reversed or spaced out a secret is not found. Where
one is found, the user gets one line, and traces, recordings and caches hold none.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any
from urllib.parse import unquote, urlsplit

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


_TAIL = 8
"""So many of the last characters of a secret are one as well."""
_ESCAPED = re.compile(
    r"\\+u([0-9a-f]{4})|\\+x([0-9a-f]{2})|\\+([\"'/])|%(?:25)*([0-9a-f]{2})"
    r"|&(?:amp;)*(\#x?[0-9a-f]{1,8}|[a-z]{1,12});",
    re.IGNORECASE,
)
"""One character as JSON, an address or a web page may have it, also packed several times."""
_FOLDED = str.maketrans(f"{ascii_uppercase}+", f"{ascii_lowercase} ")
"""Some show a key in capitals, and an address has a plus for a space."""


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
        self._forms: re.Pattern[str] | None = None
        """Each secret as it is compared, or so much of its end as gives it away."""
        self._chars = ""
        parts = urlsplit(base_url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        words = [word for secret in secrets for word in (secret, *secret.split())]
        words += [password or user, *(query[name] for name in query if _KEY_NAMED.search(name))]
        bare = {word for word in words if len(word) >= _SHORTEST}
        bare = {word for word in bare if word.lower() not in _NO_SECRETS}
        self._words = max((len(word.split()) for word in bare), default=1)
        """Of the secret that has the most."""
        packed = [base64.b64encode, base64.urlsafe_b64encode]
        whole = [word.encode().hex() for word in bare]
        for word in {*bare, *([f"{user}:{password}"] if password else [])}:
            whole += [pack(word.encode()).decode().rstrip("=") for pack in packed]
        forms = {_read(form)[0] for form in whole}
        for word in bare:
            for form in (word, word.encode().decode("latin-1")):
                folded = _read(form)[0]
                if len(word.split()) > 1:
                    forms.add(folded)
                else:
                    forms.add(folded[-_TAIL:])
                    self._chars += folded
        if forms:
            longest = sorted(forms, key=len, reverse=True)
            self._forms = re.compile("|".join(map(re.escape, longest)))

    def text(self, text: str) -> str:
        """Return a text without them, and without what of a secret is before its end."""
        if self._forms is None:
            return text
        folded, starts = _read(text)
        kept, end = [], 0
        for found in self._forms.finditer(folded):
            before = folded[end : found.start()].rstrip(self._chars)
            kept += [text[starts[end] : starts[end + len(before)]], SHOWN]
            end = found.end()
        return "".join([*kept, text[starts[end] :]])

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

    def sure(self, text: str) -> int:
        """Return how much of a text that goes on can hold no beginning of a secret: whole words."""
        if self._forms is None:
            return len(text)
        ends = [found.end() for found in re.finditer(r"\s", text)]
        return ends[-self._words] if len(ends) >= self._words else 0


def _read(text: str) -> tuple[str, Sequence[int]]:
    """Return a text as it is compared, and where each of its characters, and its end, was."""
    if not any(mark in text for mark in "\\%&"):
        return text.translate(_FOLDED), range(len(text) + 1)
    read: list[str] = []
    starts: list[int] = []
    end = 0
    for found in _ESCAPED.finditer(text):
        code, byte, char, percent, entity = found.groups()
        if entity:
            char = html.unescape(f"&{entity};")
        elif not char:
            char = chr(int(code or byte or percent, 16))
        read += [text[end : found.start()], char]
        starts += [*range(end, found.start()), *[found.start()] * len(char)]
        end = found.end()
    return ("".join(read) + text[end:]).translate(_FOLDED), [*starts, *range(end, len(text) + 1)]
