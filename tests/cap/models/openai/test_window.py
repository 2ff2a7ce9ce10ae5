"""What is taken for a prompt that a server cut off without a word."""

import pytest

from cap.models.openai.model import Window


def test_a_growing_history_that_is_read_as_the_same_number_of_tokens_is_cut_off() -> None:
    window = Window()
    assert [window.cuts(chars, tokens) for chars, tokens in GROWING] == [False] * 4 + [True]
    assert not window.cuts(9000, 2500)  # shorter ones are read whole all the same


GROWING = [(12_000, 3000), (13_000, 3300), (13_400, 3300), (13_500, 3301), (14_000, 3300)]


@pytest.mark.parametrize(
    ("window", "chars", "tokens", "cut"),
    [
        (Window(), 1900, 10, False),
        (Window(), 30_000, 0, False),  # nobody says
        (Window(), 30_000, 4096, True),
        (Window(), 17_000, 4096, False),  # may well be all of it
        (Window(unsaid=True), 17_000, 4096, True),
        (Window(unsaid=True), 12_000, 4096, False),
        (Window(8000), 24_000, 8000, True),
        (Window(8000), 24_000, 7000, False),
    ],
)
def test_what_is_taken_for_cut_off(window: Window, chars: int, tokens: int, cut: bool) -> None:
    assert window.cuts(chars, tokens) is cut


def test_prompts_that_are_much_alike_are_no_sign_of_a_cut() -> None:
    window = Window(unsaid=True)
    assert not any(window.cuts(11_500 + number, 2900 + number % 2) for number in range(200))
    assert not window.cuts(40_000, 9000)
    assert not window.cuts(17_000, 4096)  # a longer one was read whole
