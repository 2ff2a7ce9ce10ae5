"""The prompts of the suite hold nothing that the splits call unseen."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

import msgspec
import pytest

from benchmarks.tabletop.tasks import EVERY, SEEN, TASKS, UNSEEN
from cap.robot import registry

SYNONYMS = (
    *("grey", "magenta", "violet", "teal", "front", "lower", "lowest", "rightmost", "below"),
    *("furthest", "far", "third", "fourth", "3rd", "4th", "slanted", "diagonally"),
)
UNSEEN_WORDS = (
    *(words.removesuffix(" from") for kind in msgspec.structs.astuple(UNSEEN) for words in kind),
    *SYNONYMS,
)
SLOTS = {
    "block": "{color} block",
    "bowl": "{color} bowl",
    "target": "{color} (?:block|bowl)",
    "place": "(?:{places})",
    "direction": "(?:{directions})",
    "distance": "(?:closest to|nearest to|farthest from|furthest from)",
    "magnitude": "(?:a little|a bit|a lot|far)",
    "ordinal": "(?:{ordinals})",
    "line": "(?:horizontal|vertical|diagonal|straight)",
}
CORES = (r"different corner", r"\bmismatch", r"other colou?r", r"\bline\b", r"\brow\b")
"""What no wording of an unseen instruction does without, where there is such a thing."""
SUITE_PROMPTS = ("ravens-seen", "ravens-nl")


@cache
def texts(folder: str) -> dict[str, str]:
    """Return everything a model can read of a prompt folder: whole files, and function prompts."""
    names = [*(registry.prompts_path() / folder).rglob("*.py")]
    names += [*(registry.prompts_path() / "functions").glob("*.py")]
    return {str(path): path.read_text().lower() for path in names}


def unseen_words(text: str) -> set[str]:
    """Return the unseen attributes in a text; `right` is seen in `top right corner` only."""
    bare = text.replace("top right corner", "").replace("_", " ")
    return {word for word in UNSEEN_WORDS if re.search(rf"\b{word}\b", bare)}


def templates() -> Iterator[re.Pattern[str]]:
    """Yield a pattern for each unseen instruction, whatever its attributes."""
    parts = {
        "color": "(?:" + "|".join(EVERY.colors) + ")",
        "places": "|".join(EVERY.places),
        "directions": "|".join(EVERY.directions),
        "ordinals": "|".join(EVERY.ordinals),
    }
    slots = {name: pattern.format(**parts) for name, pattern in SLOTS.items()}
    for task in TASKS:
        if not task.seen:
            words = task.template.lower().format(**slots)
            yield re.compile(
                words.replace("put ", "(?:put|place) ").replace("all the", "(?:all )?the")
            )


def unseen_instructions(lines: Iterable[str]) -> list[str]:
    """Return the comment lines that give an unseen instruction; a function's name is none."""
    said = [line for line in lines if re.match("#(?! define function)", line)]
    patterns = [*templates(), *map(re.compile, CORES)]
    return [line for line in said if any(pattern.search(line) for pattern in patterns)]


@pytest.mark.parametrize("folder", SUITE_PROMPTS)
def test_no_unseen_attribute(folder: str) -> None:
    found = {name: unseen_words(text) for name, text in texts(folder).items()}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("folder", SUITE_PROMPTS)
def test_no_unseen_instruction(folder: str) -> None:
    lines = [line for text in texts(folder).values() for line in text.splitlines()]
    assert unseen_instructions(lines) == []


def test_seen_words_are_there() -> None:
    """The prompts are no trick: every seen word that a seen instruction needs is in them."""
    text = " ".join(texts("ravens-seen").values())
    needed = (*SEEN.colors, *SEEN.places, *SEEN.directions, "closest", *SEEN.ordinals)
    assert [word for word in needed if word not in text] == []
