"""A model that answers each instruction line with the completion it was given."""

from __future__ import annotations

from collections.abc import Mapping

from cap.errors import NoMatch
from cap.models.base import Completion, Request


class Scripted:
    """Remembers the prompts; an instruction it does not know it declines."""

    name = "scripted"

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.answers = answers
        self.prompts: list[str] = []

    def complete(self, request: Request) -> Completion:
        self.prompts.append(request.prompt)
        asked = request.prompt.rstrip().splitlines()[-1].removeprefix("# ").removesuffix(".")
        if asked not in self.answers:
            raise NoMatch(f"nothing for {asked!r}")
        return Completion(self.answers[asked], self.name, 10, 5, cost_usd=0.25)
