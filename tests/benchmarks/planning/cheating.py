"""Plans that look like a task's solution and are none: no judge may take one of them for done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.planning.kitchen_skills import PLACES, with_article
from benchmarks.planning.kitchen_tasks import USUAL, KitchenTask

Plan = Sequence[str]
DRAWER = ("go to the drawers", "open the top drawer")
_BINS = ("compost bin", "recycling bin")


def fetch(name: str, *then: str) -> list[str]:
    """The steps that get an object into the gripper, and some more."""
    return [f"find {with_article(name)}", f"pick up the {name}", *then]


def cheats(task: KitchenTask, solved: Plan) -> Mapping[str, Plan]:
    """Eight plans that leave a task undone, or do what nobody asked for besides."""
    solution = list(solved)
    if task.needs[-1].kind == "bring" and solution[-1].startswith("go to"):
        solution.pop()  # it looked whether anything was left
    wanted = {name for need in task.needs for name in need.objects}
    sources = ", ".join(need.source for need in task.needs)
    there = {name: place for place, names in USUAL.items() for name in names} | dict(task.scene)
    others = [n for n in there if n not in (task.holding, *task.without)]
    unwanted = [n for n in others if n not in wanted]
    other = (unwanted or [n for n in others if there[n] not in sources])[0]
    rid = [f"put down the {task.holding}"] if task.holding else []
    goals = {need.to for need in task.needs}
    dump = next(place for place in _BINS if place not in goals)
    tour = [f"go to the {place}" for place in PLACES if place != dump] + ["bring it to you"]
    moved = [name for name in wanted if any(name in step for step in solution)]
    swapped = solution
    for name in moved:
        swapped = [step.replace(name, other) for step in swapped]
    holds = task.needs[-1].kind == "hold"
    slides = any(need.kind in ("open", "close") for need in task.needs)
    besides = fetch(other, "bring it to you", f"put down the {other}")
    return {
        "nothing": [],
        "a tour that passes by": [*tour, f"go to the {dump}"],
        "all but the last step": solution[:-1],
        "with another object": swapped if swapped != solution else [*rid, *besides],
        "another object as well": [*rid, *besides, *solution],
        "another one thrown away": [*rid, *fetch(other, "go to the trash can"),
                                    f"put down the {other}", *solution],
        "another one in hand": [*rid, *solution[: -1 if holds else None], *fetch(other)],
        "and the drawer left otherwise": [
            *rid, *([] if slides else [*DRAWER]), *solution[: -1 if slides else None]
        ],
    }  # fmt: skip
