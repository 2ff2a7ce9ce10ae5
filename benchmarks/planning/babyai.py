"""Picking things up behind locked doors: BabyAI's rooms (minigrid, extra `babyai`) as puzzles.

The rooms are minigrid's own, from its seeds. A skill finds its way by itself: `pick up the red key`
or `toggle the blue door`. A plan is tried in the real environment, turn by turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.planning.puzzles import Part, Puzzle, State
from cap.errors import MissingExtra, install_extra

LEVELS: Mapping[Part, tuple[str, ...]] = {
    "train": ("BabyAI-UnlockPickup-v0", "BabyAI-BlockedUnlockPickup-v0"),
    "test": ("BabyAI-UnlockPickup-v0", "BabyAI-BlockedUnlockPickup-v0"),
    "generalise": ("BabyAI-UnlockPickupDist-v0", "MiniGrid-KeyCorridorS3R1-v0"),
}
_FIRST_SEED: Mapping[Part, int] = {"train": 0, "test": 100_000, "generalise": 200_000}
_WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""As minigrid counts directions."""
Cell = tuple[int, int]
Things = tuple[tuple[Cell, str], ...]
LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE = range(6)


def environment(part: Part, number: int) -> Any:
    """Return one of minigrid's rooms, begun.

    Raises:
        MissingExtra: minigrid is not installed.
    """
    try:
        import gymnasium
        import minigrid  # noqa: F401  (its levels are registered)
    except ImportError:
        raise MissingExtra(f"the domain babyai needs minigrid: {install_extra('babyai')}") from None
    levels = LEVELS[part]
    made = gymnasium.make(levels[number % len(levels)], disable_env_checker=True)
    made.reset(seed=_FIRST_SEED[part] + number)
    return made.unwrapped


def puzzle(part: Part, number: int) -> Puzzle:
    """Return the puzzle of one of minigrid's rooms."""
    made = environment(part, number)
    state, walls = read(made)
    _, _, things, doors = state
    goal = made.mission.replace("a ", "the ", 1) if " a " in made.mission else made.mission
    names = [name for _, name in things]
    target = goal.removeprefix("pick up the ")
    wanted = [name for name in names if target in (name, name.split()[1])]
    moves = [f"pick up the {name}" for name in names]
    moves += [f"toggle the {color} door" for _, color, _ in doors]
    moves += [f"drop the {name}" for name in names]
    colors = tuple(dict.fromkeys(word.split()[0] for word in names))
    colors += tuple(c for _, c, _ in doors if c not in colors)
    blocking = [
        f"The {name} blocks the {color} door."
        for (x, y), color, _ in doors for (a, b), name in things if abs(x - a) + abs(y - b) == 1
    ]  # fmt: skip
    rooms = _rooms(state, walls)
    facts = [f"Room {n} has {', '.join(sorted(inside))}." for n, inside in enumerate(rooms, 1)]
    facts += [f"The {color} door is {how}." for _, color, how in doors]
    opening = " ".join([*facts, *blocking])
    return Puzzle(
        goal, opening, tuple(dict.fromkeys(moves)), state, partial(_after, walls),
        lambda now: now[1] in wanted, colors,
    )  # fmt: skip


def read(
    made: Any,
) -> tuple[tuple[Cell, str, Things, tuple[tuple[Cell, str, str], ...]], frozenset[Cell]]:
    """Return what a room is like: the agent, what it carries, things, doors; and the walls."""
    things, doors, walls = [], [], set()
    for y in range(made.grid.height):
        for x in range(made.grid.width):
            found = made.grid.get(x, y)
            if found is None:
                continue
            if found.type == "wall":
                walls.add((x, y))
            elif found.type == "door":
                how = "locked" if found.is_locked else "open" if found.is_open else "closed"
                doors.append(((x, y), str(found.color), how))
            else:
                things.append(((x, y), f"{found.color} {found.type}"))
    at = (int(made.agent_pos[0]), int(made.agent_pos[1]))
    carried = f"{made.carrying.color} {made.carrying.type}" if made.carrying else ""
    return (at, carried, tuple(things), tuple(doors)), frozenset(walls)


def _rooms(state: Any, walls: frozenset[Cell]) -> list[list[str]]:
    """Return the things of each room, the agent's first, a room being what no door parts."""
    at, _, things, doors = state
    shut = walls | {cell for cell, _, _ in doors}
    left, found = dict(things), []
    for begin in (at, *dict(things)):
        if begin != at and begin not in left:
            continue
        reach = _flood(begin, shut)
        found.append([left.pop(cell) for cell in list(left) if cell in reach])
    return found


def _flood(begin: Cell, blocked: frozenset[Cell]) -> dict[Cell, Cell | None]:
    """Return the cells that can be reached, each with the one before it."""
    came: dict[Cell, Cell | None] = {begin: None}
    waiting = deque([begin])
    while waiting:
        x, y = waiting.popleft()
        for dx, dy in _WAYS:
            cell = (x + dx, y + dy)
            if cell not in came and cell not in blocked:
                came[cell] = (x, y)
                waiting.append(cell)
    return came


def _after(walls: frozenset[Cell], state: State, text: str) -> State | None:
    """Return the room after a skill; None where it cannot be done."""
    at, carried, things, doors = state
    way = way_to(walls, state, text)
    if way is None:
        return None
    path, cell = way
    at = path[-1]
    if text.startswith("pick up"):
        left = tuple(entry for entry in things if entry[0] != cell)
        return (at, dict(things)[cell], left, doors)
    if text.startswith("toggle"):
        changed = tuple(
            (c, color, ("closed" if how == "open" else "open") if c == cell else how)
            for c, color, how in doors
        )
        return (at, carried, things, changed)
    return (at, "", tuple(sorted((*things, (cell, carried)))), doors)


def way_to(walls: frozenset[Cell], state: State, text: str) -> tuple[list[Cell], Cell] | None:
    """Return the cells a skill goes through and the one it then acts on; None if it cannot."""
    at, carried, things, doors = state
    shut = {cell for cell, _, how in doors if how != "open"}
    blocked = walls | shut | {cell for cell, _ in things}
    came = _flood(at, frozenset(blocked))
    if text.startswith("pick up the "):
        name = text.removeprefix("pick up the ")
        cells = [] if carried else [cell for cell, each in things if each == name]
    elif text.startswith("toggle the "):
        color = text.removeprefix("toggle the ").removesuffix(" door")
        cells = [
            cell for cell, each, how in doors
            if each == color and (how != "locked" or carried == f"{color} key")
        ]  # fmt: skip
    elif carried and text == f"drop the {carried}":
        near_door = {(x + dx, y + dy) for (x, y), _, _ in doors for dx, dy in _WAYS}
        free = [c for c in came if c != at and c not in {cell for cell, _, _ in doors}]
        cells = [c for c in free if c not in near_door][:1] or free[:1]
    else:
        return None
    for cell in cells:
        paths = []
        for dx, dy in _WAYS:
            beside: Cell | None = (cell[0] + dx, cell[1] + dy)
            path: list[Cell] = []
            while beside is not None and beside in came:
                path.insert(0, beside)
                beside = came[beside]
            if path and cell not in path:
                paths.append(path)
        if paths:
            return min(paths, key=len), cell
    return None


def turns(made: Any, path: list[Cell], cell: Cell, last: int) -> Iterator[int]:
    """Yield minigrid's own actions for a way and what is done at its end."""
    heading = int(made.agent_dir)
    for begin, end in zip(path, [*path[1:], cell], strict=True):
        wanted = _WAYS.index((end[0] - begin[0], end[1] - begin[1]))
        while heading != wanted:
            right = (wanted - heading) % 4 != 3
            heading = (heading + (1 if right else -1)) % 4
            yield RIGHT if right else LEFT
        if end != cell:
            yield FORWARD
    yield last


def solved_in_minigrid(part: Part, number: int, plan: tuple[str, ...]) -> bool:
    """Try a plan in the real environment: whether the agent carries what it was sent for."""
    made = environment(part, number)
    found = puzzle(part, number)
    for text in plan:
        state, walls = read(made)
        way = way_to(walls, state, text)
        if way is None:
            continue
        last = {"pick": PICKUP, "togg": TOGGLE, "drop": DROP}[text[:4]]
        for turn in turns(made, *way, last):
            made.step_count = 0  # the episode's own limit is for agents that learn
            made.step(turn)
    state, _ = read(made)
    return bool(found.solved(state))
