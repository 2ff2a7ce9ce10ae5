"""What an endpoint's answer says of itself: its text, and whether that is all of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cap.models.base import Completion
from cap.models.openai.replies import read_reply


def reply(message: dict[str, Any], reason: Any = "stop") -> Completion:
    return read_reply({"choices": [{"message": message, "finish_reason": reason}]})


@pytest.mark.parametrize(
    ("reason", "ended"),
    [
        ("stop", "whole"),
        ("tool_calls", "whole"),
        (None, "whole"),
        ("length", "cut"),
        ("max_tokens", "cut"),
        ("abort", "cut"),
        ("error", "cut"),
        ("content_filter", "withheld"),
        ("SAFETY", "withheld"),
    ],
)
def test_servers_tell_in_their_own_words_how_an_answer_ended(reason: Any, ended: str) -> None:
    assert reply({"content": "say('a')"}, reason).ended == ended


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (r'"a \ud83d"', "a \ufffd"),
        (r'"a \udc00 b"', "a \ufffd b"),
        (r'"a \ud83d\ude00"', "a \U0001f600"),
    ],
)
def test_half_a_character_is_a_mark(sent: str, text: str) -> None:
    found = reply({"content": json.loads(sent)}).text
    assert found == text
    found.encode()


def test_code_in_a_tool_call_stands_beside_the_text() -> None:
    call = {"function": {"name": "run", "arguments": json.dumps({"code": "say('b')"})}}
    assert reply({"content": None, "tool_calls": [call]}).text == "say('b')"
    both = reply({"content": "Here it is.", "tool_calls": [call]}).text
    assert both == "Here it is.\n\n```python\nsay('b')\n```\n"


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 3, "prompt_cache_hit_tokens": 4}, (3, 0, 3, 0)),
        ({"completion_tokens": 5, "total_tokens": 20}, (0, 5, 0, 0)),
        ({"prompt_tokens": -1, "completion_tokens": 2.5, "total_tokens": None}, (0, 0, 0, 0)),
        ("none", (0, 0, 0, 0)),
    ],
)
def test_tokens_are_counted_as_servers_report_them(usage: Any, counts: tuple[int, ...]) -> None:
    found = read_reply({"choices": [{"text": "x"}], "usage": usage})
    tokens = found.prompt_tokens, found.completion_tokens
    assert (*tokens, found.cached_tokens, found.reasoning_tokens) == counts
