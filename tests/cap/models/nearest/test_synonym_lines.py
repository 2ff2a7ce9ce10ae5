"""`#:` lines serve `nearest` only: a language model is not sent them."""

from __future__ import annotations

import pytest

from cap.models.base import Request
from cap.models.openai.model import OpenAIModel
from cap.models.settings import ModelSettings
from cap.prompt.prompt import without_synonyms
from tests.fakes.openai_server import FakeServer

PROMPT = "from robot import say\n\n#: greet = welcome\n\n# greet.\nsay('#: hi')\n\n# greet.\n"


@pytest.mark.parametrize("mode", ["chat", "completion"])
def test_a_language_model_is_not_sent_them(mode: str) -> None:
    with FakeServer(lambda prompt, body: "say('x')") as server:
        model = OpenAIModel(
            "vllm/fake", model="fake", settings=ModelSettings(base_url=server.url, mode=mode)
        )
        model.complete(Request(PROMPT))
        (seen,) = server.posts
        sent = seen.body["messages"][-1]["content"] if mode == "chat" else seen.body["prompt"]
        model.close()
    assert sent == without_synonyms(PROMPT)
    assert "greet = welcome" not in sent
    assert "say('#: hi')" in sent
