"""Models at a loopback server, with time that moves only by waiting."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from cap.models.base import ModelSettings
from cap.models.openai.client import Client
from cap.models.openai.model import OpenAIModel

KEY = "sk-" + "very-secret-0123zyxw"
SAID = tuple(entry.name for entry in fields(ModelSettings))


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
        said = {key: options.pop(key) for key in SAID if key in options}
        settings = ModelSettings(**{"base_url": url, **said})
        client = Client(settings, options.pop("api_key", KEY), {}, {})
        defaults = {"sleep": sleeps, "clock": sleeps.clock}
        models.append(OpenAIModel("openai/fake", settings, client, **{**defaults, **options}))
        return models[-1]

    return make
