"""Inner Monologue: the model says what comes next, and reads the feedback, line by line."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from cap.models.base import Model
from cap.planners.dialogue import Dialogue, DialoguePrompt, match, next_line, read
from cap.planners.loop import DONE, UNREAD, Action, PlanEpisode, StepOutcome

_LINE_TOKENS = 120
_SAID = {"goal": "goal", "thought": "think", "question": "ask"}
"""What lines of a dialogue are as actions."""


@dataclass
class InnerMonologue:
    """Lets the model write the robot's next line: a goal, a thought, a question, or a step.

    A step that is none there is counts as failed; case, articles and marks do not matter.
    """

    model: Model
    """Writes."""
    prompt: DialoguePrompt
    """The text before the dialogue."""

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield steps, and what is said between them, until the model says it is done."""
        words = " ".join(episode.instruction.split())
        prompt = self.prompt.with_questions() if episode.asks else self.prompt
        dialogue = Dialogue(prompt, words, episode.opening)
        actions = episode.world.actions()
        if not actions:
            return "there is no step to choose"
        texts = [action.text for action in actions]
        unread = 0
        while unread < UNREAD:
            written = self._written(f"{dialogue.text()}Robot")
            episode.trace.event("answer", text=written)
            line = next(iter(read(written)), None)
            if line is not None and line.kind in _SAID:
                said = [line.text] if line.kind != "goal" else line.text.split(";")
                parts = tuple(part.strip() for part in said if part.strip())
                outcome = yield Action(_SAID[line.kind], parts, line.text)
                dialogue.add(line.kind, line.text, outcome.lines)
                continue
            number = match(line.text, texts) if line is not None and line.kind == "step" else None
            if line is None or number is None:
                unread += 1
                if line is not None and line.kind == "step":
                    dialogue.add("step", line.text, ("Success: no",))
                continue
            unread = 0
            outcome = yield actions[number]
            if actions[number].skill == DONE.skill:
                return ""
            dialogue.add("step", texts[number], outcome.lines)
        return f"{UNREAD} answers in a row were no step; the last was {written!r}"

    def _written(self, prompt: str) -> str:
        """Return the line a model writes after a prompt that ends in `Robot`."""
        text = next_line(self.model, prompt, _LINE_TOKENS).removeprefix("Robot").lstrip()
        named = text.startswith((":", *(kind for kind in _SAID)))
        return f"Robot{'' if text[:1] == ':' else ' ' if named else ': '}{text}"
