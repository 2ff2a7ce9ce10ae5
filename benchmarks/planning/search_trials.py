"""SayCanPay's trials: a puzzle, a way of scoring and searching, and what the plan comes to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

from benchmarks.planning import babyai
from benchmarks.planning.puzzle_domains import DOMAINS, puzzle, trained
from benchmarks.planning.puzzles import Part, Puzzle, PuzzleKnowledge, puzzle_world
from benchmarks.planning.trials import MakeModel, TrialResult
from cap.planners.dialogue import DialoguePrompt
from cap.planners.loop import Feedback, run_episode
from cap.planners.saycanpay import BEAMS, CANDIDATES, Method, SayCanPay
from cap.robot import registry

PARTS: tuple[Part, ...] = ("test", "generalise")
ROWS = tuple(f"{domain} {part}" for domain in DOMAINS for part in PARTS)
STEPS = 20


@cache
def puzzle_prompt(domain: str) -> DialoguePrompt:
    """Return what stands before the dialogue: one training problem of each kind, with its plan."""
    return DialoguePrompt.load(registry.prompts_path() / "planners" / f"{domain}.toml")


def puzzle_trial(row: str, column: str, number: int, make_model: MakeModel) -> TrialResult:
    """Plan one puzzle and try the plan.

    Args:
        row: One of `ROWS`.
        column: How it is planned: `greedy-token`, `greedy SCORES`, `beam SCORES` or `N beams`;
            SCORES is `say`, `saycan` or `saycanpay`.
        number: Which puzzle.
        make_model: Makes the model.
    """
    domain, _, named = row.partition(" ")
    part: Part = "generalise" if named == "generalise" else "test"
    found = puzzle(domain, part, number)
    method, _, scores = column.partition(" ")
    beams = BEAMS
    if scores == "beams":
        method, scores, beams = "beam", "saycanpay", int(method)
    learned = trained(domain) if scores.startswith("saycan") else None
    world = puzzle_world(found)
    model = make_model(PuzzleKnowledge(found))
    planner = SayCanPay(
        model, puzzle_prompt(domain),
        learned.can if learned else None,
        learned.pay if learned and scores == "saycanpay" else None,
        cast(Method, method), found.names, beams,
        # Who says everything alike proposes every step.
        len(found.moves) + 1 if model.name == "uniform-say" else CANDIDATES,
        seed=number,
    )  # fmt: skip
    episode = run_episode(found.goal, world, planner, Feedback(opening_text=found.opening),
                          max_steps=STEPS)  # fmt: skip
    solved = found.solved(world.state)
    if domain == "babyai":
        solved = babyai.solved_in_minigrid(part, number, episode.plan)
    missed = None if solved else f"not so: {found.goal}"
    ended = solved and episode.end == "done"
    return TrialResult(found.goal, episode, missed, lengths(found, episode.plan, ended=ended))


def lengths(found: Puzzle, plan: Sequence[str], *, ended: bool) -> dict[str, float]:
    """Return how long a plan is against the same problem's shortest one.

    `optimal`: it reached the goal and is as short, all of it; `optimal until`: it reached the goal
    as soon, whatever came then; `relative`: the shortest one's length as a share of its own.
    """
    shortest = len(found.plan(found.start) or ())
    states = [found.start, *found.states(plan)]
    reached = next((n for n, state in enumerate(states) if found.solved(state)), None)
    return {
        "optimal": float(ended and len(plan) <= shortest),
        "optimal until": float(reached is not None and reached <= shortest),
        "relative": (shortest + 1) / (len(plan) + 1) if ended else 0.0,
        "steps": float(len(plan)),
    }
