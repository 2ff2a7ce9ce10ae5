"""Models at a loopback server, with time that moves only by waiting."""

from collections.abc import Iterator
from typing import Any

import pytest

from cap.models.openai.model import OpenAIModel


class Sleeps:
    """Records waits; the clock it gives moves only by them."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)

    def clock(self) -> float:
        return sum(self.waits)


@pytest.fixture
def sleeps() -> Sleeps:
    return Sleeps()


@pytest.fixture
def models() -> Iterator[list[OpenAIModel]]:
    made: list[OpenAIModel] = []
    yield made
    for model in made:
        model.close()


@pytest.fixture
def connect(models: list[OpenAIModel], sleeps: Sleeps) -> Any:
    def make(url: str, **options: Any) -> OpenAIModel:
        defaults = {
            "model": "fake",
            "api_key": "sk-" + "very-secret-0123456789",
            "sleep": sleeps,
            "clock": sleeps.clock,
        }
        models.append(OpenAIModel("openai/fake", base_url=url, **{**defaults, **options}))
        return models[-1]

    return make
