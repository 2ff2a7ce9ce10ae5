"""SayCanPay: whole plans by what a model says, what can be done, and what it pays in the end.

Greedy-Token has the model write each step and takes the nearest there is; Greedy-Action takes the
best of some candidates at each step; Beam-Action keeps the best few plans, and of those that have
ended the one with the best mean score. It plans first, then acts, and gets no feedback.

Can and Pay are learned from expert trajectories, by texts alone (scikit-learn, extra `planning`).
Names that stand for any other of their kind are replaced by the order in which goal and opening
name them, so that a colour that was never seen is like any other. Of the steps so far what counts
is what was done last with each thing. Crosses of these are hashed; Can is a logistic regression
whose probabilities are calibrated on trajectories held out, Pay a ridge regression.
"""

from __future__ import annotations

import importlib
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

import numpy as np

from cap.errors import MissingExtra, install_extra
from cap.models.base import Model, Request
from cap.planners.dialogue import CONTINUE, Dialogue, DialoguePrompt, read
from cap.planners.loop import DONE, Action, PlanEpisode, Ranking, StepOutcome
from cap.planners.saycan import say, scored
from cap.planners.zero_shot import EditDistance

WIDTH = 1 << 18
"""Columns that features are hashed into."""
HELD_OUT = 5
"""One trajectory of this many is for calibration."""
LEAST = 1e-3
"""No probability and no payoff is smaller."""
_PARTS = re.compile(r"(.+?) (?:to|in|on|into) (?:the |a )?(.+)")


@dataclass(frozen=True)
class PlanContext:
    """What a step would come after."""

    goal: str
    """What is asked for."""
    opening: str
    """How it was at first."""
    steps: tuple[str, ...]
    """The steps so far."""
    names: tuple[str, ...] = ()
    """Words that stand for any other of their kind."""


@dataclass(frozen=True)
class LabelledStep:
    """One step that could come next somewhere, with what is known of it."""

    context: PlanContext
    """Where."""
    step: str
    """Which."""
    can: bool
    """Whether it can be done there."""
    pay: float
    """What it pays: the discounted end for the expert's step, 0 for any other."""
    trajectory: int = 0
    """Of which trajectory it is."""


def renamer(context: PlanContext) -> Callable[[str], str]:
    """Return what replaces names in a text by their place in goal and opening: `<g1 o2>`.

    A name that is in neither stays as it is.
    """
    if not context.names:
        return str.lower
    longest = sorted(context.names, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b", re.I)

    def order(text: str) -> dict[str, int]:
        found = dict.fromkeys((match[0].lower() for match in pattern.finditer(text)), 0)
        counts: Counter[str] = Counter()
        for name in found:  # rods are counted apart from disks, so that a disk more shifts no rod
            counts[_kind(name)] += 1
            found[name] = counts[_kind(name)]
        return found

    goal, opening = order(context.goal), order(context.opening)
    marks = {
        name: f"<{_kind(name)}g{goal.get(name, 0)} o{opening.get(name, 0)}>"
        for name in {**goal, **opening}
    }
    return lambda text: pattern.sub(lambda m: marks.get(m[0].lower(), m[0]), text.lower())


def _kind(name: str) -> str:
    """Return what numbered names share, `rod ` of `rod 1`; "" for others."""
    return re.sub(r"\d+$", "", name) if name[-1:].isdigit() else ""


def features(context: PlanContext, options: Sequence[str]) -> list[list[str]]:
    """Return what each of some steps is like after others, as words to be hashed."""
    rename = renamer(context)
    goal, opening = rename(context.goal), rename(context.opening)
    steps = [rename(each) for each in context.steps]
    last = steps[-1] if steps else ""
    latest: dict[str, tuple[str, str]] = {}
    for match in re.finditer(r"the ([^.,]+?) is (?:in|on) the ([^.,]+)", opening):
        latest[match[1]] = ("is", match[2])
    for each in steps:
        verb, thing, where = _parsed(each)
        latest[thing] = (verb, where)
    state = ";".join(f"{name}={how}" for name, how in sorted(latest.items()))
    marks = re.findall(r"<[^<>]*g[1-9][^>]*>", goal)
    named = ",".join(str(opening.count(mark)) for mark in marks)
    reached = ",".join(
        str(sum(mark in f"{name} {at}" for name, (_, at) in latest.items())) for mark in marks
    )
    plain_last, plain_state = _without_numbers(last), _without_numbers(state)
    relations = _TextRelations.read(goal, opening, steps)
    found = []
    for step in options:
        action = rename(step)
        verb, thing, where = _parsed(action)
        there = sorted(name for name, (_, at) in latest.items() if where and at == where)
        plain_action, own = _without_numbers(action), f"{latest.get(thing, '')}"
        found.append([
        f"a {action}", f"a# {plain_action}", f"ga {goal}|{action}", f"ga# {goal}|{plain_action}",
        f"goa {goal}|{opening}|{action}", f"la {last}|{action}", f"la# {plain_last}|{plain_action}",
        f"gla {goal}|{last}|{action}", f"own {own}|{action}",
            f"own# {_without_numbers(own)}|{verb}",
        f"there {bool(there)}|{verb}|{own == ''}", f"there {bool(there)}|{plain_action}",
        f"thing there {thing in there}|{verb}", f"again {step in context.steps}|{verb}",
        f"state {goal}|{opening}|{state}|{action}", f"state# {goal}|{plain_state}|"
        f"{plain_action}", f"count {named}|{reached}|{plain_action}",
        f"count {named}|{reached}|{verb}|{bool(there)}|{_without_numbers(own)}",
        f"n {len(steps)}|{goal}|{plain_action}", f"goal {thing and thing in goal}|{verb}|"
        f"{where and where in goal}",
        *relations.words(verb, thing, where),
        *(f"s {name}={how}|{action}" for name, how in latest.items()),
        *(f"sg {goal}|{name}={how}|{action}" for name, how in latest.items()),
    ])  # fmt: skip
    return found


@dataclass(frozen=True)
class _TextRelations:
    """Relations between things, read from opening and steps, whatever their number."""

    goal: str
    above: Mapping[str, frozenset[str]]
    """What is on top of each thing, all the way up."""
    places: Mapping[str, str]
    """Where each thing was put last, or was at first."""
    rooms: Mapping[str, int]
    """The number of the room each thing is in."""
    states: Mapping[str, str]
    """Of doors: `locked`, `closed`, `open`."""
    held: str
    """What was picked up and not put down."""

    @classmethod
    def read(cls, goal: str, opening: str, steps: Sequence[str]) -> _TextRelations:
        """Read texts whose names were replaced."""
        below = dict(re.findall(r"the ([^.,]+?) is on top of the ([^.,;]+)", opening))
        above: dict[str, frozenset[str]] = {}
        for name in {*below, *below.values()}:
            over = [each for each in below if each != name]
            reach = {each for each in over if name in _way_down(each, below)}
            above[name] = frozenset(reach)
        base = re.search(r"all are on ([^.;]+)", opening)
        places = dict.fromkeys(above, base[1]) if base else {}
        rooms = {
            thing.strip(): int(number)
            for number, inside in re.findall(r"room (\d+) has ([^.]*)\.", opening)
            for thing in inside.split(",")
        }
        states = dict(re.findall(r"the ([^.,]+?) is (locked|closed|open)\.", opening))
        held = ""
        for step in steps:
            verb, thing, where = _parsed(step)
            if where:
                places[thing] = where
            elif verb == "toggle":
                states[thing] = "closed" if states.get(thing) == "open" else "open"
            elif verb == "pick up":
                held = thing
                rooms[thing] = 1
            elif verb == "drop":
                held = ""
        return cls(goal, above, places, rooms, states, held)

    def words(self, verb: str, thing: str, where: str) -> list[str]:
        """Return what they say of a step, as words to be hashed."""
        found = []
        if self.above:
            over = [each for each in self.above.get(thing, ()) if self.at(each) == self.at(thing)]
            there = [each for each in self.above.get(thing, ()) if self.at(each) == where]
            aim = next((name for name in self.above if name in self.goal), "")
            blocking = [
                each for each in self.above.get(aim, ())
                if self.at(each) == self.at(aim) or self.at(each) in self.goal
            ]  # fmt: skip
            free = f"{bool(over)}|{bool(there)}|{self.at(thing) == where}"
            done = aim and self.at(aim) in self.goal
            found += [f"free {free}", f"free {free}|{thing == aim}|{where in self.goal}|{verb}"]
            found += [f"aim {done}|{len(blocking)}|{free}|{thing == aim}|{where in self.goal}|"
                      f"{thing in blocking}|{verb}"]  # fmt: skip
        if self.rooms:
            shut = sum(state != "open" for state in self.states.values())
            behind = self.rooms.get(thing, 1) - 1 > len(self.states) - shut
            state = self.states.get(thing, "")
            key = bool(self.held) and self.held.split(" key")[0] == thing.split(" door")[0]
            key = key and self.held.endswith(" key")
            got = bool(self.held) and self.held in self.goal
            means = f"{behind}|{state}|{bool(self.held)}|{key}|{thing == self.held}|{verb}"
            wanted = bool(thing) and (thing in self.goal or thing.split(" ")[-1] in self.goal)
            found += [f"means {means}", f"means {means}|{wanted}|{shut > 0}|{got}"]
            kind = thing.split(" ")[-1]
            lock = any(how == "locked" for how in self.states.values())
            found += [f"locked {lock}|{means}|{kind}|{wanted}"]
        return found

    def at(self, thing: str) -> str:
        """Return where a thing is; "" if that is not known."""
        return self.places.get(thing, "")


def _way_down(name: str, below: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    while name in below and below[name] not in found:
        name = below[name]
        found.append(name)
    return found


def _parsed(text: str) -> tuple[str, str, str]:
    """Return the verb of a step, what it is done to, and where."""
    match = _PARTS.fullmatch(text)
    left, where = (match[1], match[2]) if match else (text, "")
    verb, _, thing = left.partition(" the ")
    return verb, thing, where


def _without_numbers(text: str) -> str:
    return re.sub(r" \d+\b", "", text)


@dataclass(frozen=True)
class TrainedScores:
    """Can and Pay as they were learned."""

    can: Callable[[PlanContext, Sequence[str]], list[float]]
    """Probability that each of some steps can be done."""
    pay: Callable[[PlanContext, Sequence[str]], list[float]]
    """What each of some steps pays, 0 to 1."""


def require_learning() -> None:
    """Refuse to learn where scikit-learn is not installed.

    Raises:
        MissingExtra: With the line that installs it.
    """
    try:
        importlib.import_module("sklearn")
    except ImportError:
        install = install_extra("planning")
        raise MissingExtra(f"learned Can and Pay need scikit-learn: {install}") from None


def train(rows: Sequence[LabelledStep]) -> TrainedScores:
    """Learn Can and Pay from trajectories, at least `HELD_OUT`; the same rows give the same.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    require_learning()
    from sklearn.feature_extraction import FeatureHasher
    from sklearn.linear_model import LogisticRegression, Ridge

    held = [n for n, row in enumerate(rows) if row.trajectory % HELD_OUT == HELD_OUT - 1]
    kept = [n for n, row in enumerate(rows) if row.trajectory % HELD_OUT != HELD_OUT - 1]
    hasher = FeatureHasher(WIDTH, input_type="string", alternate_sign=False)
    words = [
        each
        for context, together in groupby(rows, key=lambda row: row.context)
        for each in features(context, [row.step for row in together])
    ]
    table = hasher.transform(words)
    labels = [int(row.can) for row in rows]
    pays = Ridge(alpha=0.3, solver="sparse_cg", tol=1e-4)
    pays.fit(table[kept], [rows[n].pay for n in kept])
    cans = LogisticRegression(C=10.0, solver="liblinear", random_state=0)
    cans.fit(table[kept], [labels[n] for n in kept])

    def margins(rows: Any) -> Any:
        return cans.decision_function(rows).reshape(-1, 1)

    calibrated = LogisticRegression(C=1e3).fit(margins(table[held]), [labels[n] for n in held])

    def can(context: PlanContext, steps: Sequence[str]) -> list[float]:
        chances = calibrated.predict_proba(margins(hasher.transform(features(context, steps))))
        return [max(LEAST, float(value)) for value in chances[:, 1]]

    def pay(context: PlanContext, steps: Sequence[str]) -> list[float]:
        found = pays.predict(hasher.transform(features(context, steps)))
        return [min(1.0, max(LEAST, float(value))) for value in found]

    return TrainedScores(can, pay)


CANDIDATES = 6
"""Steps that the model proposes; others are not compared."""
BEAMS = 3
ALIKE = 2
"""Logarithms of scores that are the same to so many decimals are alike: Can is no better known."""
_LINE_TOKENS = 60

Method = Literal["greedy-token", "greedy", "beam"]
Scorer = Callable[[PlanContext, Sequence[str]], list[float]]
"""Of several steps after others, each 0 to 1."""


@dataclass(frozen=True)
class PartialPlan:
    """A plan on the way."""

    steps: tuple[Action, ...] = ()
    """So far, `done` included."""
    scores: tuple[float, ...] = ()
    """The logarithm of each step's score."""

    @property
    def ended(self) -> bool:
        """Whether its last step is `done`."""
        return bool(self.steps) and self.steps[-1].skill == DONE.skill


def mean_score(scores: Sequence[float]) -> float:
    """Return the score of a plan: the mean of its steps'."""
    return math.fsum(scores) / len(scores) if scores else 0.0


@dataclass
class SayCanPay:
    """Plans by search, then acts."""

    model: Model
    """Says how likely each step is."""
    prompt: DialoguePrompt
    """The text before the dialogue."""
    can: Scorer | None = None
    """How likely each step can be done; None where that does not count."""
    pay: Scorer | None = None
    """What each step pays; None where that does not count."""
    method: Method = "greedy"
    """How it searches."""
    names: tuple[str, ...] = ()
    """Words that stand for any other of their kind."""
    beams: int = BEAMS
    """Plans that are kept, with `beam`."""
    candidates: int = CANDIDATES
    """Steps that the model proposes."""
    seed: int = 0
    """Of the order of steps that score alike."""
    name: str = "saycanpay"

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        """Yield the steps of the plan, whatever their outcomes."""
        actions = episode.world.actions()
        if not actions:
            return "there is no step to choose"
        if self.method == "greedy-token":
            plan = self._written(episode, actions)
        else:
            plan = self._searched(episode, actions)
        for action in plan.steps:  # noqa: UP028  (a tuple is sent no outcomes)
            yield action
        return "" if plan.ended else f"no plan of {episode.max_steps} steps ends"

    def _written(self, episode: PlanEpisode, actions: Sequence[Action]) -> PartialPlan:
        """Return the plan a model writes step by step, each the nearest there is."""
        nearest = EditDistance([action.text for action in actions])
        plan = PartialPlan()
        while not plan.ended and len(plan.steps) <= episode.max_steps:
            text = f"{self._dialogue(episode, plan).text()}Robot"
            request = Request(text, stop=("\n",), max_tokens=_LINE_TOKENS, system=CONTINUE)
            said = self.model.complete(request).said().strip().split("\n")[0]
            line = next(iter(read(f"Robot{said}" if said.startswith(":") else said)), None)
            words = line.text if line is not None else said
            ((number, likeness),) = nearest.nearest(words)
            plan = replace(plan, steps=(*plan.steps, actions[number]))
            episode.trace.event("answer", text=said, taken=actions[number].text, like=likeness)
        return plan

    def _searched(self, episode: PlanEpisode, actions: Sequence[Action]) -> PartialPlan:
        """Return the best plan: of one beam the greedy one."""
        beams = self.beams if self.method == "beam" else 1
        kept = [PartialPlan()]
        seen: dict[tuple[Action, ...], Ranking] = {}
        while not all(plan.ended for plan in kept):
            following = [plan for plan in kept if plan.ended]
            for plan in kept:
                if plan.ended or len(plan.steps) > episode.max_steps:
                    continue
                ranking = self.ranked(episode, plan, actions)
                seen[plan.steps] = ranking
                following += [
                    PartialPlan((*plan.steps, each.action), (*plan.scores, each.log_score))
                    for each in ranking.candidates[:beams]
                ]
            if not following:
                break
            kept = sorted(following, key=lambda plan: -mean_score(plan.scores))[:beams]
        best = next((plan for plan in kept if plan.ended), kept[0])
        for steps, ranking in seen.items():
            number = len(steps)
            leads = best.steps[:number] == steps and number < len(best.steps)
            taken = leads and number < episode.max_steps
            chosen = best.steps[number].text if taken else None
            kind = "candidates" if leads else "considered"
            episode.record(ranking, number + 1, chosen, kind)
        return best

    def ranked(self, episode: PlanEpisode, plan: PartialPlan, actions: Sequence[Action]) -> Ranking:
        """Return the candidates after a plan's steps, the best first."""
        scores = say(self.model, self._dialogue(episode, plan), actions)
        opening = " ".join(episode.opening)
        steps = tuple(action.text for action in plan.steps)
        moment = zlib.crc32("\n".join(steps).encode())
        drawn = np.random.default_rng([self.seed, moment]).permutation(len(actions)).tolist()
        chosen = sorted(drawn, key=lambda n: -round(scores.logprobs[n], 9))
        chosen = [n for n in chosen if math.isfinite(scores.logprobs[n])][: self.candidates]
        context = PlanContext(episode.instruction, opening, steps, self.names)
        texts = [actions[n].text for n in chosen]
        none: list[float | None] = [None] * len(texts)
        cans = self.can(context, texts) if self.can else none
        pays = self.pay(context, texts) if self.pay else none
        found = [
            scored(actions[n], scores.logprobs[n], can, pay)
            for n, can, pay in zip(chosen, cans, pays, strict=True)
        ]
        found.sort(key=lambda each: -round(each.log_score, ALIKE))
        return Ranking(tuple(found), scores.rung, scores.notes)

    def _dialogue(self, episode: PlanEpisode, plan: PartialPlan) -> Dialogue:
        found = Dialogue(self.prompt, episode.instruction, episode.opening)
        for action in plan.steps:
            found.add("step", action.text)
        return found
