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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np

from cap.errors import MissingExtra, install_extra
from cap.models.base import Model
from cap.planners.dialogue import Dialogue, DialoguePrompt, next_robot_line
from cap.planners.loop import DONE, Candidate, PlanEpisode, Ranking
from cap.planners.saycan import say, scored
from cap.planners.zero_shot import by_letters

WIDTH = 1 << 18
"""Columns that features are hashed into."""
HELD_OUT = 5
"""One trajectory of this many is for calibration."""
LEAST = 1e-3
"""No probability and no payoff is smaller."""
_PARTS = re.compile(r"(.+?) (?:to|in|on|into) (?:the |a )?(.+)")
_IS_IN = re.compile(r"the ([^.,]+?) is (?:in|on) the ([^.,]+)")


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
        found: dict[str, int] = {}
        for name in map(str.lower, pattern.findall(text)):
            # Rods are counted apart from disks: a disk more shifts no rod.
            alike = [each for each in found if _kind(each) == _kind(name)]
            found.setdefault(name, len(alike) + 1)
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
    latest = {thing: ("is", at) for thing, at in _IS_IN.findall(opening)}
    latest |= {thing: (verb, where) for verb, thing, where in map(_parsed, steps)}
    state = ";".join(f"{name}={how}" for name, how in sorted(latest.items()))
    marks = re.findall(r"<[^<>]*g[1-9][^>]*>", goal)
    places = [f"{name} {at}" for name, (_, at) in latest.items()]
    named = ",".join(str(opening.count(mark)) for mark in marks)
    reached = ",".join(str(sum(mark in place for place in places)) for mark in marks)
    last = steps[-1] if steps else ""
    last_plain, state_plain = _without_numbers(last), _without_numbers(state)
    things = _Things(goal, opening, steps)
    found = []
    for step in options:
        action = rename(step)
        plain = _without_numbers(action)
        verb, thing, where = _parsed(action)
        own = f"{latest.get(thing, '')}"
        own_plain = _without_numbers(own)
        there = [name for name, (_, at) in latest.items() if where and at == where]
        wanted, there_wanted = thing and thing in goal, where and where in goal
        found.append([
            f"a {action}", f"a# {plain}", f"ga {goal}|{action}", f"ga# {goal}|{plain}",
            f"goa {goal}|{opening}|{action}", f"la {last}|{action}", f"la# {last_plain}|{plain}",
            f"gla {goal}|{last}|{action}", f"own {own}|{action}", f"own# {own_plain}|{verb}",
            f"there {bool(there)}|{verb}|{own == ''}", f"there {bool(there)}|{plain}",
            f"thing there {thing in there}|{verb}", f"again {step in context.steps}|{verb}",
            f"state {goal}|{opening}|{state}|{action}", f"state# {goal}|{state_plain}|{plain}",
            f"count {named}|{reached}|{plain}",
            f"count {named}|{reached}|{verb}|{bool(there)}|{own_plain}",
            f"n {len(steps)}|{goal}|{plain}", f"goal {wanted}|{verb}|{there_wanted}",
            *things.stacked(verb, thing, where), *things.behind_doors(verb, thing),
            *(f"s {name}={how}|{action}" for name, how in latest.items()),
            *(f"sg {goal}|{name}={how}|{action}" for name, how in latest.items()),
        ])  # fmt: skip
    return found


class _Things:
    """How things are related, read from opening and steps, whatever their number."""

    def __init__(self, goal: str, opening: str, steps: Sequence[str]) -> None:
        """Read texts whose names were replaced."""
        self._goal = goal
        below = dict(re.findall(r"the ([^.,]+?) is on top of the ([^.,;]+)", opening))
        self._above: dict[str, set[str]] = {name: set() for name in {*below, *below.values()}}
        """What is on top of each thing, all the way up."""
        for name in below:
            under = below[name]
            while under:
                self._above[under].add(name)
                under = below.get(under, "")
        base = re.search(r"all are on ([^.;]+)", opening)
        self._places = dict.fromkeys(self._above, base[1]) if base else {}
        """Where each thing was put last, or was at first."""
        self._rooms = {
            thing.strip(): int(number)
            for number, inside in re.findall(r"room (\d+) has ([^.]*)\.", opening)
            for thing in inside.split(",")
        }
        """The number of the room each thing is in."""
        self._doors = dict(re.findall(r"the ([^.,]+?) is (locked|closed|open)\.", opening))
        self._held = ""
        """What was picked up and not put down."""
        for verb, thing, where in map(_parsed, steps):
            if where:
                self._places[thing] = where
            elif verb == "toggle":
                self._doors[thing] = "closed" if self._doors.get(thing) == "open" else "open"
            elif verb == "pick up":
                self._held = thing
                self._rooms[thing] = 1
            elif verb == "drop":
                self._held = ""

    def stacked(self, verb: str, thing: str, where: str) -> list[str]:
        """Return what a step is like where things are on each other, as words to be hashed."""
        if not self._above:
            return []
        at = self._places.get
        over = [at(each, "") for each in self._above.get(thing, ())]
        aim = next((name for name in self._above if name in self._goal), "")
        done = aim and at(aim, "") in self._goal
        blocking = [
            each for each in self._above.get(aim, ())
            if at(each, "") == at(aim, "") or at(each, "") in self._goal
        ]  # fmt: skip
        free = f"{at(thing, '') in over}|{where in over}|{at(thing, '') == where}"
        fits = f"{free}|{thing == aim}|{where in self._goal}"
        return [
            f"free {free}", f"free {fits}|{verb}",
            f"aim {done}|{len(blocking)}|{fits}|{thing in blocking}|{verb}",
        ]  # fmt: skip

    def behind_doors(self, verb: str, thing: str) -> list[str]:
        """Return what a step is like where there are rooms, as words to be hashed."""
        if not self._rooms:
            return []
        doors, held, goal = self._doors, self._held, self._goal
        shut = sum(state != "open" for state in doors.values())
        behind = self._rooms.get(thing, 1) - 1 > len(doors) - shut
        color = held.partition(" key")[0]
        fits = held.endswith(" key") and color == thing.split(" door")[0]
        means = f"{behind}|{doors.get(thing, '')}|{bool(held)}|{fits}|{thing == held}|{verb}"
        kind = thing.split(" ")[-1]
        wanted = bool(thing) and (thing in goal or kind in goal)
        got = bool(held) and held in goal
        return [
            f"means {means}", f"means {means}|{wanted}|{shut > 0}|{got}",
            f"locked {'locked' in doors.values()}|{means}|{kind}|{wanted}",
        ]  # fmt: skip


def _parsed(text: str) -> tuple[str, str, str]:
    """Return the verb of a step, what it is done to, and where."""
    match = _PARTS.fullmatch(text)
    left, where = (match[1], match[2]) if match else (text, "")
    verb, _, thing = left.partition(" the ")
    return verb, thing, where


def _without_numbers(text: str) -> str:
    return re.sub(r" \d+\b", "", text)


Scorer = Callable[[PlanContext, Sequence[str]], list[float]]
"""Of several steps after others, each 0 to 1."""


@dataclass(frozen=True)
class TrainedScores:
    """Can and Pay as they were learned."""

    can: Scorer
    """Probability that each of some steps can be done."""
    pay: Scorer
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

    hasher = FeatureHasher(WIDTH, input_type="string", alternate_sign=False)
    words: list[list[str]] = []
    for context, together in groupby(rows, key=lambda row: row.context):
        words += features(context, [row.step for row in together])
    table = hasher.transform(words)
    can_be, paid = np.array([row.can for row in rows]), np.array([row.pay for row in rows])
    held = np.array([row.trajectory % HELD_OUT == HELD_OUT - 1 for row in rows])
    pays = Ridge(alpha=0.3, solver="sparse_cg", tol=1e-4).fit(table[~held], paid[~held])
    cans = LogisticRegression(C=10.0, solver="liblinear", random_state=0)
    cans.fit(table[~held], can_be[~held])

    def margins(table: Any) -> Any:
        return cans.decision_function(table).reshape(-1, 1)

    calibrated = LogisticRegression(C=1e3).fit(margins(table[held]), can_be[held])

    def scorer(predict: Callable[[Any], Any]) -> Scorer:
        def score(context: PlanContext, steps: Sequence[str]) -> list[float]:
            found = predict(hasher.transform(features(context, steps)))
            return np.clip(found, LEAST, 1.0).tolist()  # type: ignore[no-any-return]

        return score

    can = scorer(lambda table: calibrated.predict_proba(margins(table))[:, 1])
    return TrainedScores(can, scorer(pays.predict))


CANDIDATES = 6
"""Steps that the model proposes; others are not compared."""
BEAMS = 3
ALIKE = 2
"""Logarithms of scores that are the same to so many decimals are alike: Can is no better known."""

Method = Literal["greedy-token", "greedy", "beam"]


@dataclass(frozen=True)
class PlannedStep:
    """A step of a plan, and what it was chosen among."""

    chosen: Candidate
    """The step."""
    ranking: Ranking
    """All candidates there."""


Plan = tuple[PlannedStep, ...]
"""A plan on the way: its steps so far, `done` included."""


def has_ended(plan: Plan) -> bool:
    """Return whether a plan's last step is `done`."""
    return bool(plan) and plan[-1].chosen.action == DONE


def mean_score(plan: Plan) -> float:
    """Return the mean of the logarithms of a plan's scores."""
    return math.fsum(step.chosen.log_score for step in plan) / len(plan)


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

    def act(self, episode: PlanEpisode) -> str:
        """Take the steps of the plan, whatever their outcomes."""
        if self.method == "greedy-token":
            return self._write(episode)
        for step in self._searched(episode):
            action = episode.choose(step.ranking, step.chosen)
            if action == DONE:
                return ""
            episode.step(step.chosen.action)
        return f"no plan of {episode.max_steps} steps ends"

    def _write(self, episode: PlanEpisode) -> str:
        """Have the model write step by step, and take the nearest there is."""
        actions = episode.world.actions()
        nearest = by_letters([action.text for action in actions], {})
        dialogue = Dialogue.begin(self.prompt, episode)
        while True:
            written, line = next_robot_line(self.model, dialogue.text())
            number, likeness = nearest(line.text if line is not None else written)
            action = actions[number]
            episode.trace.event("answer", text=written, taken=action.text, like=likeness)
            if action == DONE:
                return ""
            episode.step(action)
            dialogue.add("step", action.text)

    def _searched(self, episode: PlanEpisode) -> Plan:
        """Return the best plan: of one beam the greedy one."""
        beams = self.beams if self.method == "beam" else 1
        kept: list[Plan] = [()]
        for _ in range(episode.max_steps + 1):
            following = [plan for plan in kept if has_ended(plan)]
            for plan in kept:
                if not has_ended(plan):
                    ranking = self._ranked(episode, [step.chosen.action.text for step in plan])
                    best = ranking.candidates[:beams]
                    following += [(*plan, PlannedStep(each, ranking)) for each in best]
            kept = sorted(following, key=mean_score, reverse=True)[:beams] or kept
        return next(filter(has_ended, kept), kept[0])

    def _ranked(self, episode: PlanEpisode, steps: Sequence[str]) -> Ranking:
        """Return the candidates after some steps, the best first."""
        dialogue = Dialogue.begin(self.prompt, episode)
        for step in steps:
            dialogue.add("step", step)
        actions = episode.world.actions()
        scores = say(self.model, dialogue, actions)
        moment = zlib.crc32("\n".join(steps).encode())
        drawn = np.random.default_rng([self.seed, moment]).permutation(len(actions)).tolist()
        said = [n for n in drawn if math.isfinite(scores.logprobs[n])]
        chosen = sorted(said, key=lambda n: -round(scores.logprobs[n], 9))[: self.candidates]
        opening = " ".join(episode.opening)
        context = PlanContext(episode.instruction, opening, tuple(steps), self.names)
        texts = [actions[n].text for n in chosen]
        unknown: list[None] = [None] * len(texts)
        cans = self.can(context, texts) if self.can else unknown
        pays = self.pay(context, texts) if self.pay else unknown
        found = [
            scored(actions[n], scores.logprobs[n], can, pay)
            for n, can, pay in zip(chosen, cans, pays, strict=True)
        ]
        found.sort(key=lambda each: -round(each.log_score, ALIKE))
        return Ranking(tuple(found), scores.rung, scores.notes)
