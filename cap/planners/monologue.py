"""Inner Monologue: the model says what comes next, and reads the feedback, line by line."""

from __future__ import annotations

from dataclasses import dataclass

from cap.models.base import Model
from cap.planners.dialogue import Dialogue, DialoguePrompt, match, next_robot_line
from cap.planners.loop import DONE, UNREAD, Action, PlanEpisode

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

    def act(self, episode: PlanEpisode) -> str:
        """Take steps, and say things between them, until the model says it is done."""
        dialogue = Dialogue.begin(self.prompt, episode)
        actions = episode.world.actions()
        texts = [action.text for action in actions]
        unread = 0
        while unread < UNREAD:
            written, line = next_robot_line(self.model, dialogue.text())
            episode.trace.event("answer", text=written)
            if line is not None and line.kind in _SAID:
                said = line.text.split(";") if line.kind == "goal" else [line.text]
                parts = tuple(part.strip() for part in said if part.strip())
                lines = episode.say(Action(_SAID[line.kind], parts, line.text))
                dialogue.add(line.kind, line.text, lines)
                continue
            step = line.text if line is not None and line.kind == "step" else ""
            number = match(step, texts)
            if number is None:
                unread += 1
                if step:
                    dialogue.add("step", step, ("Success: no",))
                continue
            unread = 0
            if actions[number] == DONE:
                return ""
            outcome = episode.step(actions[number])
            dialogue.add("step", texts[number], outcome.lines)
        return f"{UNREAD} answers in a row were no step; the last was {written!r}"
