"""SayCan: the step with the greatest product of what the model says and what the robot can do."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from cap.models.base import Model, Request, ScoringModel
from cap.planners.affordances import TERMINATE, Affordance, of_world
from cap.planners.candidates import Ranking, rank
from cap.planners.dialogue import CONTINUE, Dialogue, DialoguePrompt
from cap.planners.episode import PlanEpisode
from cap.planners.world import DONE, Action, StepOutcome

_EXPLANATION_TOKENS = 80


@dataclass
class SayCan:
    """Chooses by say and can, step by step; of outcomes it learns what feedback says, if any does.

    With feedback this is Inner Monologue's kitchen planner, as the lines stand in the dialogue.
    """

    model: Model
    """Who says how likely each step is."""
    prompt: DialoguePrompt
    """What stands before the dialogue."""
    affordance: Affordance = of_world
    """Of each step; those whose effect is there are capped by the usual one."""
    terminate: float = TERMINATE
    """Affordance of ending."""
    explains: bool = False
    """Whether the model first explains what the person wants, and scores with that in view."""
    name: str = "saycan"

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield steps until ending is the best of them; return why it is stuck, or ""."""
        words = " ".join(episode.instruction.split())
        dialogue = Dialogue(self.prompt, words, episode.opening, self.explains)
        if self.explains:
            before = f"{dialogue.text()}Explanation:"
            request = Request(before, stop=("\n",), max_tokens=_EXPLANATION_TOKENS, system=CONTINUE)
            said = self.model.complete(request).said()
            dialogue.add("explanation", said.strip().split("\n")[0])
            episode.trace.event("explanation", text=dialogue.lines[-1].text)
        if episode.asks:
            yield from self._question(dialogue)
        while True:
            ranking = rank(
                self.model, dialogue, episode.world, self.affordance, terminate=self.terminate
            )
            tell(episode, ranking)
            if ranking.stuck:
                return ranking.stuck
            best = ranking.candidates[0]
            outcome = yield best.action
            if best.action.skill == DONE.skill:
                return ""
            dialogue.add("step", best.action.text, outcome.lines)
            if episode.asks:
                yield from self._question(dialogue)

    def _question(self, dialogue: Dialogue) -> Generator[Action, StepOutcome, None]:
        """Let the model ask the person something, if it rather would than go on."""
        if (question := asked(self.model, dialogue)) is not None:
            outcome = yield Action("ask", (question,), question)
            dialogue.add("question", question, outcome.lines)


ON, ASK = " and continue", " and ask:"
"""What may follow a step where somebody answers questions."""


def asked(model: Model, dialogue: Dialogue) -> str | None:
    """Return what a model asks before the next step, None if it goes on.

    Raises:
        ModelError: No usable answer.
    """
    if not isinstance(model, ScoringModel):
        return None
    text = f"{dialogue.text().rstrip()}\nRobot:"
    on, ask = model.score(text, (ON, ASK)).logprobs
    if not ask > on:
        return None
    request = Request(f"{text}{ASK}", stop=("\n",), max_tokens=_EXPLANATION_TOKENS, system=CONTINUE)
    return " ".join(model.complete(request).said().split())


def tell(episode: PlanEpisode, ranking: Ranking) -> None:
    """Write down all candidates of one moment, the best first, and which of them is taken."""
    chosen = None if ranking.stuck else ranking.candidates[0].action.text
    tell_planned(episode, ranking, len(episode.outcomes) + 1, chosen)


def tell_planned(
    episode: PlanEpisode,
    ranking: Ranking,
    step: int,
    chosen: str | None,
    kind: str = "candidates",
) -> None:
    """Write down all candidates of a moment that may come.

    Args:
        episode: Where they are told of.
        ranking: The candidates.
        step: Of which step they are.
        chosen: The one that is taken; None if none is.
        kind: `considered` for moments that no plan leads to in the end.
    """
    episode.rung = ranking.rung
    episode.trace.event(
        kind,
        step=step,
        rung=ranking.rung,
        notes=ranking.notes,
        chosen=chosen,
        candidates=[candidate.as_json for candidate in ranking.candidates],
    )
