"""A run as one file to attach to a report: without keys and where this machine keeps it."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

from cap.files import read_bytes

TEXTS = (".json", ".jsonl", ".py", ".md", ".txt", ".toml", ".html")
"""Files whose text is looked through; pictures go as they are."""
_SECRET = re.compile(
    r"\b(?:sk|pk|rk|key|ghp|hf|xai|gsk)[-_][A-Za-z0-9_-]{12,}|(?<=Bearer )[A-Za-z0-9._~+/-]{8,}"
)
"""What keys of providers look like."""


def bundle(folder: Path) -> bytes:
    """Return a run's files as a ZIP archive, without what looks like a key, and the home folder.

    Raises:
        OSError: A file cannot be read.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file() or path.suffix == ".zip":
                continue
            content = read_bytes(path)
            if path.suffix in TEXTS:
                content = _redacted(content.decode("utf-8", "replace")).encode()
            archive.writestr(f"{folder.resolve().name}/{path.relative_to(folder)}", content)
    return data.getvalue()


def _redacted(text: str) -> str:
    home = str(Path.home())
    shown = text.replace(home, "~") if len(home) > 1 else text
    return _SECRET.sub("[removed]", shown)
