"""What is right to do next in the kitchen, by a dialogue alone: the knowledge of the say models.

Every step in the dialogue is believed to have succeeded unless feedback says or shows otherwise. So
without feedback a failure goes unnoticed, as it does for a language model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from benchmarks.planning.kitchen_skills import DRAWER, actions_for, with_article
from benchmarks.planning.kitchen_tasks import (
    BY_WORDS,
    EVERY,
    EVERYTHING,
    YOU,
    KitchenTask,
    Need,
    plain,
)
from cap.planners.dialogue import DialogueLine
from cap.planners.loop import DONE, Action
from cap.planners.stand_in_models import Advice, Knowledge

GIVEN_UP = 2
"""After so many failures with one object another one is taken, where another will do."""
_SCENE = re.compile(r"Scene: there is (.*?)\.?")
_ACTIONS: Mapping[str, Action] = {
    action.text: action for action in actions_for(sorted({*EVERYTHING, "banana", "orange", "cup"}))
}
Stages = list[tuple[str, ...]]


@dataclass
class _Belief:
    """How the kitchen is, as far as a dialogue shows."""

    at: str | None = None
    """The place the robot went to last."""
    near: str | None = None
    """The object it found last."""
    held: str | None = None
    """What it picked up."""
    lying: dict[str, str | None] = field(default_factory=dict)
    """Where it put objects down; None where that is not known."""
    visited: set[str] = field(default_factory=set)
    """Places it went to."""
    opened: bool = False
    """Whether it opened the drawer."""
    closed: bool = False
    """Whether it closed the drawer again."""
    failures: Counter[Action] = field(default_factory=Counter)
    """Failures in the feedback."""
    seen: tuple[str, ...] | None = None
    """Objects that are seen, where feedback names them."""

    def take(self, action: Action, feedback: Sequence[str]) -> None:
        """Believe a step, or what feedback says of it instead."""
        scenes = [match[1] for line in feedback if (match := _SCENE.fullmatch(line))]
        if scenes:
            self.seen = tuple(name.strip() for name in scenes[-1].split(","))
        failed = any(re.search(r"success: no", line, re.I) for line in feedback)
        name = action.args[0] if action.args else ""
        if self.seen is not None and scenes:
            failed = failed or (action.skill == "pick" and name in self.seen)
            failed = failed or (action.skill == "find" and name not in self.seen)
        if failed:
            self.failures[action] += 1
            if action.skill in ("pick", "find") and scenes and name not in (self.seen or ()):
                self.near = None  # it is not here: it must be found again
            return
        match action.skill:
            case "find":
                self.near, self.at = name, None
            case "go" | "bring":
                self.at, self.near = name or YOU, None
                self.visited.add(self.at)
            case "pick":
                self.held = name
                self.lying.pop(name, None)
            case "put":
                self.lying[name] = self.at
                self.held = None
            case "stow":
                self.lying[name] = DRAWER
                self.held = None
            case "open":
                self.opened, self.closed = True, False
            case "close":
                self.opened, self.closed = False, True


class KitchenKnowledge(Knowledge):
    """Knows the tasks' needs, and plans for what is still lacking."""

    def __init__(self, task: KitchenTask | None = None) -> None:
        """Know all tasks by their words; of several with the same words, this one.

        Of how a task begins it knows what the robot holds; that stands in no dialogue.
        """
        self._task = task

    def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
        """Return what is right after the lines of an episode; None for an unknown instruction."""
        task = None
        asked, answer = False, ""
        belief = _Belief(held=(self._task.holding or None) if self._task else None)
        for number, line in enumerate(lines):
            if line.kind == "person":
                known = self._known(line.text)
                if known is not None:
                    task = known
                elif task is not None:
                    answer = line.text
            elif line.kind == "question":
                asked = True
            elif line.kind == "step" and (action := _ACTIONS.get(line.text)) is not None:
                feedback = []
                for later in lines[number + 1 :]:
                    if later.kind != "feedback":
                        break
                    feedback.append(later.text)
                belief.take(action, feedback)
        if task is None:
            return None
        needs = []
        for need in task.needs:  # an answer that names some of the objects leaves those
            named = tuple(name for name in need.objects if name in answer.lower())
            needs.append(msgspec.structs.replace(need, objects=named or need.objects))
        lacking = [need for need in needs if not _met(need, belief)]
        stages: Stages = _stages(lacking[0], belief) if lacking else []
        question = task.question if not asked and not belief.visited and not belief.near else ""
        return Advice((*stages, (DONE.text,)) if not lacking else tuple(stages), (), question)

    def _known(self, words: str) -> KitchenTask | None:
        if self._task is not None and plain(words) == plain(self._task.words):
            return self._task
        return BY_WORDS.get(plain(words))


def _met(need: Need, belief: _Belief) -> bool:
    match need.kind:
        case "hold":
            return belief.held in need.objects
        case "release":
            return need.objects[0] in belief.lying
        case "at":
            return belief.at == need.to
        case "visit":
            return need.to in belief.visited
        case "open":  # once it was open, what comes after it is under way
            return belief.opened or belief.closed
        case "close":
            return belief.closed
    goal = DRAWER if need.kind == "stow" else need.to
    there = [n for n in need.objects if n in belief.lying and belief.lying[n] in (goal, None)]
    return need.count != EVERY and len(there) >= need.count


def _stages(need: Need, belief: _Belief) -> Stages:
    """Return the steps of a need that are still to be taken, each as all that will do."""
    match need.kind:
        case "release":
            return [_each("put down the {}", need.objects)]
        case "at" | "visit":
            return [(f"go to the {need.to}",)]
        case "open" | "close":
            slide = (f"{need.kind} the {DRAWER}",)
            held = [(f"put down the {belief.held}",)] if belief.held else []
            return [*held, *([] if belief.at == "drawers" else [("go to the drawers",)]), slide]
    wanted = _candidates(need, belief)
    taken = [name for name in wanted if name == belief.held]
    stages = _taking(need, belief, wanted) if not taken else []
    names = taken or ([belief.near] if belief.near in wanted else wanted)
    if need.kind == "hold":
        return stages
    if need.kind == "stow":
        there = taken and belief.at == "drawers"
        put = _each("put the {} in the " + DRAWER, names)
        return [*stages, *([] if there else [("go to the drawers",)]), put]
    there = taken and belief.at == need.to
    way = ("bring it to you",) if need.to == YOU else (f"go to the {need.to}",)
    stages += [] if there else [way]
    return [*stages, _each("put down the {}", names)]


def _taking(need: Need, belief: _Belief, wanted: Sequence[str]) -> Stages:
    """Return the steps that get one of some objects into the gripper."""
    if belief.held is not None:
        return [(f"put down the {belief.held}",)]
    places = [place.strip() for place in need.source.split(",") if place.strip()]
    if belief.near in wanted:
        return [(f"pick up the {belief.near}",)]
    here = [name for name in wanted if belief.seen is None or name in belief.seen]
    pick = _each("pick up the {}", wanted)
    if places and len(need.objects) > 1:
        left = [place for place in places if place not in belief.visited]
        if belief.at in places and here:
            more = [(f"go to the {place}",) for place in left]
            return [_each("pick up the {}", here), *more, *_end(need)]
        return [(f"go to the {(left or places)[0]}",), pick]
    if belief.seen is not None and here:  # what is in view is nearest
        return [_each("pick up the {}", here), _each("find {}", wanted, article=True)]
    return [_each("find {}", wanted, article=True), pick]


def _end(need: Need) -> Stages:
    """Return the end as a step that may come, where nobody can know how many objects there are."""
    return [(DONE.text,)] if need.count == EVERY else []


def _candidates(need: Need, belief: _Belief) -> list[str]:
    """Return the objects to try: not those that lie there, nor those that failed too often."""
    goal = DRAWER if need.kind == "stow" else need.to
    done = [n for n, place in belief.lying.items() if place in (goal, None)]
    left = [n for n in need.objects if n not in done]
    failed: Counter[str] = Counter()
    for action, count in belief.failures.items():
        if action.args and action.skill in ("pick", "find"):
            failed[action.args[0]] += count
    fresh = [name for name in left if failed[name] < GIVEN_UP]
    return fresh or left


def _each(form: str, names: Sequence[str | None], *, article: bool = False) -> tuple[str, ...]:
    return tuple(form.format(with_article(name) if article else name) for name in names if name)


def solution_of(task: KitchenTask, most: int = 25) -> tuple[str, ...] | None:
    """Return the steps that solve a task where all of them succeed; None if there is no end."""
    knowledge = KitchenKnowledge(task)
    lines = [DialogueLine("person", task.words)]
    for _ in range(most):
        advice = knowledge.advice(lines)
        assert advice is not None
        step = advice.steps[0][0]
        if step == DONE.text:
            return tuple(line.text for line in lines if line.kind == "step")
        lines.append(DialogueLine("step", step))
    return None
