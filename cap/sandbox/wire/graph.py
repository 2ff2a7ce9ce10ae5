"""Values with shared parts and cycles as one flat table, and back.

Each object is a node. A container's node is a list: its kind, then the numbers of the nodes it
holds; anything else is its own node. The first node is the value. Mutable containers are made
empty and filled once all exist, so they may hold themselves; tuples and frozen sets are made when
first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from cap.sandbox.wire.errors import NoRoom, WireError
from cap.sandbox.wire.frames import MAX_ELEMENTS, MAX_FRAME_BYTES, MAX_KEPT_BYTES
from cap.sandbox.wire.keys import KeyBudget

MAX_DEPTH = 64
TOO_DEEP = f"a value nested deeper than {MAX_DEPTH} levels cannot cross the sandbox"
TOO_MANY_VALUES = f"more than {MAX_ELEMENTS} values cannot cross the sandbox; use an array"
_MUTABLE: dict[str, Callable[[], Any]] = {"list": list, "dict": dict, "set": set}
_KINDS: dict[type, str] = {
    list: "list",
    dict: "dict",
    set: "set",
    tuple: "tuple",
    frozenset: "frozenset",
}
_HASHED = (dict, set, frozenset)
_MAX_HASHED = 1 << 22
"""Values looked at while keys are hashed."""
_MAX_WALKED = 4 * MAX_ELEMENTS
_MAX_WALKED_DEPTH = 4 * MAX_DEPTH
_UNSHARED = frozenset([type(None), bool, int, float, str, bytes, complex])


def check_depth(value: Any) -> None:
    """Refuse what is nested so deep that reading or showing it would exhaust the stack."""
    for _ in _levels(value):
        pass


def check_size(value: Any) -> None:
    """Refuse what holds more values or keys than the other end reads."""
    if count_values(value) > MAX_ELEMENTS:
        raise WireError(TOO_MANY_VALUES)
    keys = KeyBudget()
    for level in _levels(value):
        for parts in level:
            if type(parts) in _HASHED:
                keys.count(parts)


def count_values(value: Any) -> int:
    """Return how many values one holds: each container, and each of its parts."""
    return sum(
        len(parts) * (2 if type(parts) is dict else 1) + 1
        for level in _levels(value)
        for parts in level
    )


def _levels(value: Any) -> Iterator[list[Collection[Any]]]:
    """Yield the containers of a value, level by level.

    Raises:
        WireError: It is too deep.
    """
    level: list[Collection[Any]] = [[value]]
    for _ in range(MAX_DEPTH + 2):
        level = [
            child
            for parts in level
            for child in ((*parts, *parts.values()) if type(parts) is dict else parts)
            if type(child) in _KINDS
        ]
        if not level:
            return
        yield level
    raise WireError(TOO_DEEP)


def shares_nothing(value: Any) -> bool:
    """Tell, at a glance, that no two parts of a value can be one: as of what a prompt states."""
    if type(value) is not dict:
        return False
    lists = [entry for entry in value.values() if type(entry) not in _UNSHARED]
    return not lists or (
        len(lists) == 1
        and type(lists[0]) is list
        and all(type(entry) in _UNSHARED for entry in lists[0])
    )


class Graph:
    """The table of one frame, filled value by value."""

    def __init__(self, pack: Callable[[Any], bytes]) -> None:
        """Start an empty table.

        Args:
            pack: Raises `WireError` on a leaf that may not cross.
        """
        self.nodes: list[Any] = []
        self._pack = pack
        self._values: list[Any] = []
        self._places: dict[int, int] = {}
        self._keys = KeyBudget()
        self._left = 2 * MAX_ELEMENTS - 1  # each is a node, and a number in its container's
        self._left_bytes = MAX_FRAME_BYTES
        self._steps_left = _MAX_WALKED

    def add(self, value: Any) -> int:
        """Add a value with all it holds; return its node. What cannot cross leaves no trace.

        Raises:
            WireError: Some of it may not cross, or is too deep.
        """
        start, left, keys_left = len(self.nodes), self._left, self._keys.left
        steps_left, left_bytes = self._steps_left, self._left_bytes
        try:
            place = self._place(value)
            self._fill(start)
            self._steps_left = _walked(self.nodes, place, steps_left)
        except WireError:
            self._left, self._keys.left, self._left_bytes = left, keys_left, left_bytes
            del self.nodes[start:], self._values[start:]
            self._places = {key: at for key, at in self._places.items() if at < start}
            raise
        return place

    def add_each(self, variables: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """Add a dictionary without the values that cannot cross, or for which there is no room.

        Returns:
            The names of the first, and of the second.
        """
        table: list[Any] = ["dict"]
        dropped, oversized = [], []
        self._left_bytes = MAX_KEPT_BYTES
        self.nodes.append(table)
        self._values.append(variables)
        for name, value in variables.items():
            try:
                place = self.add(value)
            except NoRoom:
                oversized.append(name)
            except WireError:
                dropped.append(name)
            else:
                table += (self.add(name), place)
        return dropped, oversized

    def _place(self, value: Any) -> int:
        """Return a value's node, a new and empty one at its first sight."""
        shared = type(value) not in _UNSHARED
        if shared and id(value) in self._places:
            return self._places[id(value)]
        place = len(self.nodes)
        self.nodes.append(None)
        self._values.append(value)  # also keeps it alive, and so its id its own
        if shared:
            self._places[id(value)] = place
        return place

    def _fill(self, done: int) -> None:
        """Write the nodes from `done` on, level by level, without recursion."""
        for _ in range(MAX_DEPTH + 1):
            end = len(self.nodes)
            if done == end:
                return
            for place in range(done, end):
                value = self._values[place]
                kind = _KINDS.get(type(value))
                if kind is None:
                    self._left_bytes -= len(self._pack(value))
                    self.nodes[place] = value
                    if self._left_bytes < 0:
                        raise NoRoom("values that are too large to cross the sandbox")
                else:
                    if type(value) in _HASHED:
                        self._keys.count(value)
                    if kind == "dict":
                        value = [part for pair in value.items() for part in pair]
                    self.nodes[place] = node = [kind, *map(self._place, value)]
                    self._left -= len(node) + 1
                if self._left < len(self.nodes):
                    raise WireError(TOO_MANY_VALUES)
            done = end
        raise WireError(TOO_DEEP)


def _walked(
    nodes: list[Any], start: int, left: int, tick: Callable[[], None] = lambda: None
) -> int:
    """Walk a value as whoever shows it will, each shared part again; return what is left of steps.

    Raises:
        WireError: It takes more steps than are left, or goes too deep.
    """
    path, within = [iter((start,))], [-1]
    on_path = {-1}
    while path:
        place = next(path[-1], None)
        if place is None:
            path.pop()
            on_path.remove(within.pop())
            continue
        left -= 1
        node = nodes[place]
        if type(node) is not list or place in on_path:
            continue
        tick()
        if left < 0 or len(path) > _MAX_WALKED_DEPTH:
            raise WireError("a value whose shared parts make it endless to walk")
        path.append(iter(node[1:]))
        within.append(place)
        on_path.add(place)
    return left


def rebuild(
    nodes: list[Any], check_keys: Callable[[list[Any]], None], tick: Callable[[], None]
) -> Any:
    """Return the value of a table.

    Args:
        nodes: As `Graph` made them, or as a hostile worker did.
        check_keys: Raises `WireError` on keys that may not be put into one dictionary or set.
        tick: Called for each part.

    Raises:
        WireError: Not a well-formed table.
    """
    table = _Table(nodes, check_keys, tick)
    _walked(nodes, 0, _MAX_WALKED, tick)
    made = [table.get(place) for place in range(len(nodes))]
    for value, node in zip(made, nodes, strict=True):
        if type(node) is list and node[0] in _MUTABLE:
            if node[0] != "list":
                table.check_keys(node[1:] if node[0] == "set" else node[1::2])
            _fill(value, [made[place] for place in node[1:]])
    return made[0]


def _fill(value: Any, parts: list[Any]) -> None:
    if type(value) is list:
        value.extend(parts)
    elif type(value) is set:
        value.update(parts)
    else:
        value.update(zip(parts[::2], parts[1::2], strict=True))


class _Table:
    """Nodes on their way to values."""

    def __init__(
        self,
        nodes: list[Any],
        check_keys: Callable[[list[Any]], None],
        tick: Callable[[], None],
    ) -> None:
        self._tick = tick
        self.nodes = nodes
        self.made: dict[int, Any] = {}
        self.level = 0
        self._check_keys = check_keys
        self._weights: dict[int, int] = {}
        self._left = _MAX_HASHED
        if not nodes:
            raise WireError("an empty table")
        _check_levels(nodes)

    def get(self, place: int) -> Any:
        """Return a node's value; mutable containers are still empty."""
        if place not in self.made:
            self._tick()
            self.level += 1
            if self.level > 2 * MAX_DEPTH:  # or a tuple that holds itself
                raise WireError(TOO_DEEP)
            self.made[place] = self._make(place, self.nodes[place])
            self.level -= 1
        return self.made[place]

    def check_keys(self, places: list[int]) -> None:
        """Check nodes that become keys: hashing one walks all it holds, each time it is held."""
        self._left -= sum(self._weights.get(place, 1) for place in places)
        if self._left < 0:
            raise WireError("keys that are too large")
        self._check_keys([self.made[place] for place in places])

    def _make(self, place: int, node: Any) -> Any:
        if type(node) is not list:
            return node
        kind, *places = node
        if kind in _MUTABLE:
            return _MUTABLE[kind]()
        parts = list(map(self.get, places))
        self._weights[place] = 1 + sum(self._weights.get(part, 1) for part in places)
        if kind == "frozenset":
            self.check_keys(places)
        if kind == "tuple":
            return tuple(parts)
        if kind == "frozenset":
            return frozenset(parts)
        raise WireError("malformed table")


def _check_levels(nodes: list[Any]) -> None:
    """Check every reference, and that nothing lies deeper than may cross."""
    count = len(nodes)
    for node in nodes:
        if type(node) is list:
            if not node or type(node[0]) is not str:
                raise WireError("malformed table")
            if not all(type(place) is int and 0 <= place < count for place in node[1:]):
                raise WireError("a reference to nothing")
    seen = {0}
    level = [0]
    for _ in range(MAX_DEPTH + 2):  # the dictionary of `add_each` is a level of its own
        if not level:
            break
        found = {place for at in level if type(nodes[at]) is list for place in nodes[at][1:]} - seen
        seen |= found
        level = list(found)
    if level or len(seen) < count:
        raise WireError(TOO_DEEP if level else "a table with loose ends")
