"""A language model as a zero-shot planner: it writes steps as it likes, each is translated.

    Task: Drink water
    Step 1: Walk to the fridge
    ...

    Task: Drink milk
    Step 1:

With correction each step is sampled, translated to one there is, and put into the prompt before the
next; without it the whole plan is written first. The planner is told nothing of what came of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from cap.models.base import Model, Request
from cap.planners.candidates import Ranking, TranslatedStep
from cap.planners.dialogue import CONTINUE
from cap.planners.episode import PlanEpisode
from cap.planners.saycan import tell
from cap.planners.translation import LetterPieces, Translator
from cap.planners.world import DONE, Action, StepOutcome

SAMPLES = 10
"""Ways of saying the next step that are asked for."""
BETA = 0.3
"""How much the model's own liking counts beside the likeness of the translation."""
CUTOFF = 0.3
"""Where the best candidate scores less than this, the plan ends: nothing here is meant."""
REPEATED = 0.5
"""Taken off where a step would be the one before it once more."""
TEMPERATURE = 0.6
_STEP_TOKENS = 32
_PLAN_TOKENS = 400
_LINE = re.compile(r"(?:step )?(?:\d+)\s*[:.)]\s*", re.I)


@dataclass(frozen=True)
class PlanExample:
    """A task with its plan."""

    task: str
    """Its name."""
    steps: tuple[str, ...]
    """In words."""

    def text(self, steps: Sequence[str] | None = None) -> str:
        """Return it as a prompt has it."""
        shown = self.steps if steps is None else steps
        lines = [f"Step {number}: {step}" for number, step in enumerate(shown, start=1)]
        return "\n".join([f"Task: {self.task}", *lines])


@dataclass
class ZeroShot:
    """Lets the model write a plan in its own words, and carries out what it most likely means."""

    model: Model
    """Who writes."""
    examples: Sequence[PlanExample]
    """Plans that may stand in the prompt; the first is the fixed one."""
    translator: Translator
    """To the texts of the world's steps, in the world's order."""
    translates: bool = True
    """Whether words that are no step are taken for the nearest one."""
    corrects: bool = True
    """Whether each step is translated before the next is written."""
    dynamic: bool = True
    """Whether the example is the one whose task is most like this one."""
    samples: int = SAMPLES
    """Ways of saying the next step, with correction."""
    beta: float = BETA
    """Weight of the model's liking."""
    cutoff: float = CUTOFF
    """Least score of a step."""
    seed: int = 0
    """Of the first sample."""
    name: str = "zero-shot"

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield the steps of the plan, whatever came of those before."""
        actions = episode.world.actions()
        if not actions:
            return "there is no step to choose"
        example = self.example(episode.instruction)
        episode.trace.event("example", task=example.task)
        opening = "".join(f"{line}\n\n" for line in episode.opening)
        before = opening + (f"{example.text()}\n\n" if example.steps else "")
        if self.translates and self.corrects:
            return (yield from self._step_by_step(episode, before, actions))
        prompt = f"{before}Task: {episode.instruction}\nStep 1:"
        request = Request(
            prompt,
            stop=("\n\n", "\nTask:"),
            max_tokens=_PLAN_TOKENS,
            seed=self.seed,
            system=CONTINUE,
        )
        written = self.model.complete(request).text.split("\n\n")[0]
        said = [_LINE.sub("", line, count=1).strip() for line in written.splitlines()]
        episode.trace.event("answer", text=written)
        texts = {action.text.lower(): action for action in actions}
        for step in [step for step in said if step]:
            action = texts.get(step.lower().rstrip("."), Action("unread", (), step))
            if self.translates:
                ((number, _),) = self.translator.nearest(step)
                action = actions[number]
            if action.skill == DONE.skill:
                break
            yield action
        return ""

    def example(self, task: str) -> PlanExample:
        """Return the example for a task."""
        if not self.examples:
            return PlanExample("", ())
        if not self.dynamic:
            return self.examples[0]
        tasks = LetterPieces([example.task for example in self.examples])
        ((number, _),) = tasks.nearest(task)
        return self.examples[number]

    def _step_by_step(
        self, episode: PlanEpisode, before: str, actions: Sequence[Action]
    ) -> Generator[Action, StepOutcome, str]:
        taken: list[str] = []
        task = PlanExample(episode.instruction, ())
        while True:
            prompt = f"{before}{task.text(taken)}\nStep {len(taken) + 1}:"
            said = self._said(prompt)
            if sum(not words for words in said) > len(said) / 2:
                return ""  # most samples end the plan here
            ranking = self._ranked(said, actions, taken)
            tell(episode, ranking)
            if ranking.stuck:
                return "" if taken else ranking.stuck
            action = ranking.candidates[0].action
            if action.skill == DONE.skill:
                return ""
            yield action
            taken.append(action.text)

    def _said(self, prompt: str) -> list[str]:
        """Return samples of the next step, "" where the plan ends there."""
        found = []
        for number in range(self.samples):
            request = Request(
                prompt,
                stop=("\n",),
                max_tokens=_STEP_TOKENS,
                temperature=TEMPERATURE,
                seed=self.seed + number,
                system=CONTINUE,
            )
            text = self.model.complete(request).text.strip().split("\n")[0]
            ended = not text or text.lower().startswith("task:")
            found.append("" if ended else _LINE.sub("", text, count=1).strip())
        return found

    def _ranked(
        self, said: Sequence[str], actions: Sequence[Action], taken: Sequence[str]
    ) -> Ranking:
        """Return the steps that may be meant, by likeness and by how often they were said.

        The model's liking is the logarithm of the share of samples, of which it knows no better.
        """
        liked = Counter(words for words in said if words)
        best: dict[int, TranslatedStep] = {}
        for words, count in liked.items():
            ((number, likeness),) = self.translator.nearest(words)
            again = bool(taken) and actions[number].text == taken[-1]
            share = count / len(said)
            step = TranslatedStep(
                actions[number], words, likeness, share, self.beta, REPEATED if again else 0.0
            )
            if number not in best or step.score > best[number].score:
                best[number] = step
        found = sorted(best.values(), key=lambda step: -step.score)
        if not found:
            return Ranking((), "translated", (), "there is no step to choose")
        high = found[0].score
        stuck = f"the likeliest step scores {high:.2f}, less than {self.cutoff:g}"
        stuck = "" if high >= self.cutoff else stuck
        return Ranking(tuple(found), "translated", (stuck,) if stuck else (), stuck)
