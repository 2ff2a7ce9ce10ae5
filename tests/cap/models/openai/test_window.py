"""What is taken for a prompt that a server cut off without a word."""

from typing import Any

import pytest

from cap.models.openai.model import is_cut_off


@pytest.mark.parametrize(
    ("known", "chars", "tokens", "cut"),
    [
        ({}, 1999, 10, False),
        ({}, 2000, 10, True),
        ({}, 30_000, 0, False),  # nobody says
        ({}, 30_000, 4096, True),
        ({}, 17_000, 4096, False),  # may well be all of it
        ({"unsaid": True}, 17_000, 4096, True),
        ({"unsaid": True}, 17_000, 4094, False),
        ({"unsaid": True}, 12_000, 4096, False),
        ({"window": 8000}, 24_000, 8000, True),
        ({"window": 8000}, 24_000, 7000, False),
    ],
)
def test_what_is_taken_for_cut_off(
    known: dict[str, Any], chars: int, tokens: int, cut: bool
) -> None:
    assert is_cut_off(chars, tokens, **known) is cut
