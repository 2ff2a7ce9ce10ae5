"""Inner Monologue: the model says what comes next, and reads the feedback, line by line."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from cap.models.base import Model, Request
from cap.planners.dialogue import CONTINUE, Dialogue, DialoguePrompt, match, read
from cap.planners.loop import DONE, UNREAD, Action, PlanEpisode, StepOutcome

_LINE_TOKENS = 120


@dataclass
class InnerMonologue:
    """Lets the model write the robot's next line: a goal, a thought, a question, or a step.

    A step that is none there is counts as failed; case, articles and marks do not matter.
    """

    model: Model
    """Writes."""
    prompt: DialoguePrompt
    """The text before the dialogue."""
    name: str = "monologue"

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield steps, and what is said between them, until the model says it is done."""
        words = " ".join(episode.instruction.split())
        prompt = self.prompt.with_questions() if episode.asks else self.prompt
        dialogue = Dialogue(prompt, words, episode.opening)
        actions = episode.world.actions()
        if not actions:
            return "there is no step to choose"
        unread = 0
        while unread < UNREAD:
            request = Request(
                f"{dialogue.text()}Robot", stop=("\n",), max_tokens=_LINE_TOKENS, system=CONTINUE
            )
            text = self.model.complete(request).said()
            text = (
                text.lstrip().removeprefix("Robot") if text.lstrip().startswith("Robot") else text
            )
            written = f"Robot{text}".strip().split("\n")[0]
            if not text.startswith((":", " ")):
                written = f"Robot: {text.strip()}".split("\n")[0]
            episode.trace.event("answer", text=written)
            line = next(iter(read(written)), None)
            if line is None or line.kind not in ("step", "goal", "thought", "question"):
                unread += 1
                continue
            if line.kind == "step":
                found = match(line.text, [action.text for action in actions])
                if found is None:
                    unread += 1
                    dialogue.add("step", line.text, ("Success: no",))
                    continue
                unread = 0
                action = actions[found]
                outcome = yield action
                if action.skill == DONE.skill:
                    return ""
                dialogue.add("step", action.text, outcome.lines)
                continue
            kinds = {"goal": "goal", "thought": "think", "question": "ask"}
            goals = tuple(part.strip() for part in line.text.split(";") if part.strip())
            said = goals if line.kind == "goal" else (line.text,)
            outcome = yield Action(kinds[line.kind], said, line.text)
            dialogue.add(line.kind, line.text, outcome.lines)
        return f"{UNREAD} answers in a row were no step; the last was {written!r}"
