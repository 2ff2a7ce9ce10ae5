"""Plain English: words that the project does not use, in product code and documentation."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = re.compile(
    r"\b(?:told|tells|teller|anew|whoever|unheard|taken_here|same_again|came of|of one's own"
    r"|take back|put back)\b",
    re.IGNORECASE,
)
ALLOWED = {
    ("cap/planners/stand_in_models.py", "told"),  # in the seeds of version 0.1
    ("docs/from-0.1.md", "same_again"),  # the old name of an event
    ("cap/engine/sentence.py", "put back"),  # what users say
}


def test_the_dialect_is_gone() -> None:
    files = [
        path for name in ("cap", "robots", "benchmarks") for path in (ROOT / name).rglob("*.py")
    ]
    files += [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]
    found = [
        (str(path.relative_to(ROOT)), match[0].lower())
        for path in files
        for match in WORDS.finditer(path.read_text(encoding="utf-8"))
    ]
    assert [place for place in found if place not in ALLOWED] == []
