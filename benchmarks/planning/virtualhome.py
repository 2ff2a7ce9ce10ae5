"""Plans tried in the scenes of a VirtualHome checkout: its files are read, none of it is shipped.

Release v1.0.0 has a scene as a graph of nodes (class, properties, states) and edges (`INSIDE`,
`ON`, `FACING`), the properties of classes, names that stand for others, and where things usually
are. What an action needs and changes is written here after its documentation; a plan is a program
of lines such as `[PUTIN] <plate> (1) <sink> (1)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from benchmarks.planning.household_actions import OBJECTS, ROOMS
from cap.errors import UsageError
from cap.planners.loop import Action

RELEASE = "v1.0.0"
HANDS = 2
MOST_BYTES = 50_000_000
"""No file of a checkout is larger."""
_GRAPHS, _RESOURCES = "example_graphs", "resources"
_REMEDY = f"give the folder of a checkout of VirtualHome's release {RELEASE} (--virtualhome)"
_PROPERTIES = "properties_data.json"
_EQUIVALENT = "class_name_equivalence.json"
_USUAL_PLACES = "object_script_placing.json"
_LINE = re.compile(r"\[(\w+)\]((?: <[^<>]+> \(\d+\))*)")
_NAME = re.compile(r"<([^<>]+)> \((\d+)\)")
_WHERE = re.compile(r"(.+) (in|on) (.+)")
_WATCHED = ("television", "tv", "computer", "laptop")
_OTHER_WORDS: Mapping[str, str] = {
    "apple": "food_apple", "bread": "food_bread", "cheese": "food_cheese",
    "shirt": "clothes_shirt", "socks": "clothes_socks", "counter": "kitchen_counter",
    "laundry basket": "basket_for_clothes", "washbasin": "sink", "remote": "remote_control",
    "letter": "mail", "coffee maker": "coffe_maker", "trash can": "trashcan",
    "kitchen light": "light", "living room light": "light", "bedroom light": "light",
    "bathroom light": "light",
}  # fmt: skip
"""What this project's household calls otherwise than VirtualHome; all its lights are `light`."""


@dataclass(frozen=True)
class ActionRule:
    """What an action is said of, and needs; words of `_lacking`."""

    names: int
    """Things it is said of."""
    needs: str = ""
    """Conditions, with spaces."""
    sets: str = ""
    """The state it gives the first thing."""


ACTION_RULES: Mapping[str, ActionRule] = {
    "WALK": ActionRule(1, "up"),
    "RUN": ActionRule(1, "up"),
    "FIND": ActionRule(1),
    "SIT": ActionRule(1, "near up SITTABLE"),
    "LIE": ActionRule(1, "near up LIEABLE"),
    "STANDUP": ActionRule(0, "down"),
    "SLEEP": ActionRule(0, "down"),
    "WAKEUP": ActionRule(0, "down"),
    "GRAB": ActionRule(1, "near GRABBABLE seen hand"),
    "OPEN": ActionRule(1, "near CAN_OPEN =CLOSED hand", "OPEN"),
    "CLOSE": ActionRule(1, "near CAN_OPEN =OPEN", "CLOSED"),
    "PUTBACK": ActionRule(2, "held near2"),
    "PUTIN": ActionRule(2, "held near2 open2"),
    "PUTOBJBACK": ActionRule(1, "held"),
    "DROP": ActionRule(1, "held"),
    "SWITCHON": ActionRule(1, "near HAS_SWITCH =OFF plugged", "ON"),
    "SWITCHOFF": ActionRule(1, "near HAS_SWITCH =ON", "OFF"),
    "PLUGIN": ActionRule(1, "near HAS_PLUG =PLUGGED_OUT hand", "PLUGGED_IN"),
    "PLUGOUT": ActionRule(1, "near HAS_PLUG =PLUGGED_IN hand", "PLUGGED_OUT"),
    "DRINK": ActionRule(1, "held DRINKABLE/RECIPIENT"),
    "EAT": ActionRule(1, "near EATABLE"),
    "READ": ActionRule(1, "held READABLE"),
    "CUT": ActionRule(1, "near EATABLE CUTTABLE knife"),
    "POUR": ActionRule(2, "held near2 POURABLE/DRINKABLE recipient2"),
    "WASH": ActionRule(1, "near", "CLEAN"),
    "RINSE": ActionRule(1, "near", "CLEAN"),
    "SCRUB": ActionRule(1, "near", "CLEAN"),
    "WIPE": ActionRule(1, "near holding", "CLEAN"),
    "SQUEEZE": ActionRule(1, "near CLOTHES hand"),
    "PUTON": ActionRule(1, "held CLOTHES"),
    "PUTOFF": ActionRule(1, "worn CLOTHES"),
    "TOUCH": ActionRule(1, "near seen"),
    "PUSH": ActionRule(1, "near MOVABLE seen hand"),
    "PULL": ActionRule(1, "near MOVABLE seen hand"),
    "MOVE": ActionRule(1, "near MOVABLE seen hand"),
    "TYPE": ActionRule(1, "near HAS_SWITCH"),
    "GREET": ActionRule(1, "PERSON"),
    "TURNTO": ActionRule(1, "near"),
    "LOOKAT": ActionRule(1, "faced"),
    "POINTAT": ActionRule(1, "faced"),
    "WATCH": ActionRule(1, "here seen screen watching"),
}
_DEEDS = {"DRINK": "drunk", "EAT": "eaten", "READ": "read", "WATCH": "watched", "WIPE": "wiped"}
_OPPOSITE = {"OPEN": "CLOSED", "ON": "OFF", "PLUGGED_IN": "PLUGGED_OUT", "CLEAN": "DIRTY"}
_OPPOSITE |= {value: key for key, value in _OPPOSITE.items()}


class GraphNode(msgspec.Struct):
    """A node as a scene's file has it."""

    id: int
    class_name: str
    properties: list[str]
    states: list[str]
    category: str = ""


class GraphEdge(msgspec.Struct):
    """An edge as a scene's file has it."""

    from_id: int
    relation_type: str
    to_id: int


class GraphScene(msgspec.Struct):
    """A scene's file."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


class UsualPlace(msgspec.Struct):
    """Where a thing may be, as the file of usual places has it."""

    destination: str
    relation: str = "ON"


@dataclass(frozen=True)
class ProgramStep:
    """A line of a program."""

    action: str
    """In capitals."""
    names: tuple[tuple[str, int], ...] = ()
    """Each thing's class and its number."""


@dataclass(frozen=True)
class Checkout:
    """What is read of a checkout."""

    folder: Path
    """Where it is."""
    scenes: tuple[GraphScene, ...]
    """Its scenes, in the order of their names."""
    properties: Mapping[str, Sequence[str]]
    """Of each class of things."""
    equivalent: Mapping[str, Sequence[str]]
    """Classes that a name may stand for."""
    places: Mapping[str, Sequence[UsualPlace]]
    """Where things usually are."""

    def stands_for(self, name: str, kind: str) -> bool:
        """Return whether a name in a program may mean a node of a class."""
        same = name.replace("_", "") == kind.replace("_", "")
        return (
            same or kind in self.equivalent.get(name, ()) or name in self.equivalent.get(kind, ())
        )

    def knows(self, name: str) -> bool:
        """Return whether there is such a class of things, or a room of some scene."""
        known = {*self.properties, *self.equivalent}
        known |= {node.class_name for scene in self.scenes for node in scene.nodes}
        return name in known or any(name.replace("_", "") == k.replace("_", "") for k in known)


_Shape = TypeVar("_Shape")


def _read(path: Path, shape: type[_Shape]) -> _Shape:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} has more than {MOST_BYTES // 1_000_000} MB; {_REMEDY}")
        return msgspec.json.decode(path.read_bytes(), type=shape)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        why = str(error).split("\n")[0]
        raise UsageError(
            f"{path} is not as VirtualHome {RELEASE} has it ({why}); {_REMEDY}"
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {_REMEDY}") from None


def read_checkout(folder: Path) -> Checkout:
    """Read a checkout.

    Raises:
        UsageError: It is missing, empty, another version, or damaged.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; {_REMEDY}")
    if not any(folder.iterdir()):
        raise UsageError(f"the folder {folder} is empty; {_REMEDY}")
    graphs = sorted((folder / _GRAPHS).glob("TrimmedTestScene*_graph.json"))
    graphs = graphs or sorted((folder / _GRAPHS).glob("TestScene*_graph.json"))
    lacking = [] if graphs else [f"{_GRAPHS}/TrimmedTestScene*_graph.json"]
    resources = folder / _RESOURCES
    lacking += [
        f"{_RESOURCES}/{name}"
        for name in (_PROPERTIES, _EQUIVALENT)
        if not (resources / name).is_file()
    ]
    if lacking:
        raise UsageError(
            f"{folder} is no VirtualHome {RELEASE}, or another version: it lacks "
            f"{', '.join(lacking)}; {_REMEDY}"
        )
    scenes = tuple(_read(path, GraphScene) for path in graphs)
    for path, scene in zip(graphs, scenes, strict=True):
        kinds = {node.class_name for node in scene.nodes}
        rooms = [node for node in scene.nodes if node.category == "Rooms"]
        if "character" not in kinds or not rooms:
            raise UsageError(f"{path} has no character in a room to act; {_REMEDY}")
    usual = resources / _USUAL_PLACES
    placing = _read(usual, dict[str, list[UsualPlace]]) if usual.is_file() else {}
    return Checkout(
        folder, scenes, _read(resources / _PROPERTIES, dict[str, list[str]]),
        _read(resources / _EQUIVALENT, dict[str, list[str]]),
        {_plain(name): places for name, places in placing.items()},
    )  # fmt: skip


def _plain(name: str) -> str:
    return name.lower().replace(" ", "_")


def program_step(line: str) -> ProgramStep | None:
    """Return the step of a program's line; None if it is none."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        return None
    names = tuple((_plain(name), int(number)) for name, number in _NAME.findall(match[2]))
    rule = ACTION_RULES.get(match[1].upper())
    return ProgramStep(match[1].upper(), names) if rule and rule.names == len(names) else None


def virtualhome_step(step: Action | None) -> ProgramStep | None:
    """Return one of this project's household steps as VirtualHome words it."""
    if step is None:
        return None
    return ProgramStep(step.skill.upper(), tuple((_word(name), 1) for name in step.args))


def _word(name: str) -> str:
    return _OTHER_WORDS.get(name, _plain(name))


@dataclass
class GraphHouse:
    """One scene while a program runs in it."""

    checkout: Checkout
    """Whose words count."""
    nodes: dict[int, GraphNode]
    """Things and rooms by their number."""
    within: dict[int, set[tuple[str, int]]]
    """What each is `ON` or `INSIDE` of."""
    faces: dict[int, set[int]]
    """What one who sits there looks at."""
    rooms: frozenset[int]
    """Which nodes are rooms."""
    room: int
    """Where the character is."""
    held: list[int] = field(default_factory=list)
    worn: set[int] = field(default_factory=set)
    near: set[int] = field(default_factory=set)
    facing: set[int] = field(default_factory=set)
    seat: int | None = None
    """What the character sits or lies on."""
    posture: str = ""
    """`sitting` or `lying`; "" standing."""
    deeds: set[str] = field(default_factory=set)
    """Such as `milk was drunk`, in VirtualHome's words."""
    meant: dict[tuple[str, int], int] = field(default_factory=dict)
    """The node of each name and number of the program."""

    @classmethod
    def of(cls, checkout: Checkout, scene: GraphScene) -> GraphHouse:
        """Begin in a scene; the scene stays as it is."""
        nodes = {
            node.id: GraphNode(node.id, node.class_name, node.properties, [*node.states],
                               node.category)
            for node in scene.nodes
        }  # fmt: skip
        rooms = frozenset(n for n, node in nodes.items() if node.category == "Rooms")
        within: dict[int, set[tuple[str, int]]] = {n: set() for n in nodes}
        faces: dict[int, set[int]] = {n: set() for n in nodes}
        for edge in scene.edges:
            if edge.from_id in nodes and edge.to_id in nodes:
                if edge.relation_type in ("ON", "INSIDE"):
                    within[edge.from_id].add((edge.relation_type, edge.to_id))
                elif edge.relation_type == "FACING":
                    faces[edge.from_id].add(edge.to_id)
        me = next(n for n, node in nodes.items() if node.class_name == "character")
        house = cls(checkout, nodes, within, faces, rooms, min(rooms))
        house.room = house.room_of(me) or min(rooms)
        return house

    def room_of(self, number: int) -> int | None:
        """Return the room a node is in, by whatever it is in or on; None if none is told."""
        waiting, seen = [number], {number}
        while waiting:
            at = waiting.pop(0)
            if at in self.rooms:
                return at
            following = sorted(other for _, other in self.within[at] if other not in seen)
            waiting += following
            seen.update(following)
        return self.room if number in self.held or number in self.worn else None

    def shut_in(self, number: int) -> int | None:
        """Return the closed thing that a node is inside of."""
        for kind, other in sorted(self.within[number]):
            node = self.nodes[other]
            if kind == "INSIDE" and "CLOSED" in node.states and "CAN_OPEN" in node.properties:
                return other
        return None

    def node(self, name: str, number: int = 1) -> int | None:
        """Return which node a name means from now on: one within reach, or here, or the first."""
        if (name, number) not in self.meant:
            taken = {node for (other, _), node in self.meant.items() if other == name}
            found = [
                n for n, node in self.nodes.items()
                if n not in taken and self.checkout.stands_for(name, node.class_name)
            ]  # fmt: skip
            found.sort(key=lambda n: (n not in self.near, self.room_of(n) != self.room, n))
            if not found:
                return None
            self.meant[name, number] = found[0]
        return self.meant[name, number]

    def refusal(self, step: ProgramStep) -> str:
        """Return why a step cannot be taken now; "" if it can."""
        found = [self.node(*name) for name in step.names]
        for (name, _), number in zip(step.names, found, strict=True):
            if number is None:
                return f"there is no {name} here"
        things = [number for number in found if number is not None]
        rule = ACTION_RULES[step.action]
        return next(
            (why for need in rule.needs.split() if (why := self._lacking(need, things))), ""
        )

    def _lacking(self, need: str, things: Sequence[int]) -> str:
        """Return what is wrong with a condition of a rule; "" if it holds."""
        first = self.nodes[things[0]] if things else None
        other = self.nodes[things[-1]] if things else None
        seated = self.faces.get(self.seat, set()) if self.seat is not None else set()
        match need:
            case "up":
                return "the character must stand up first" if self.posture else ""
            case "down":
                return "" if self.posture else "the character neither sits nor lies"
            case "hand":
                return "both hands are full" if len(self.held) >= HANDS else ""
            case "holding":
                return "" if self.held else "nothing is in the hand to do it with"
            case "knife":
                sharp = any("knife" in self.nodes[n].class_name for n in self.held)
                return "" if sharp else "no knife is in the hand"
        assert first is not None
        assert other is not None
        thing, states = first.class_name, first.states
        held = first.id in self.held
        match need:
            case "near":
                return "" if held or first.id in self.near else f"the {thing} is not within reach"
            case "near2":
                reached = other.id in self.near or other.id in self.held
                return "" if reached else f"the {other.class_name} is not within reach"
            case "held":
                return "" if held else f"the {thing} is not in the hand"
            case "worn":
                return "" if first.id in self.worn else f"the {thing} is not worn"
            case "seen":
                shut = None if held else self.shut_in(first.id)
                where = "" if shut is None else self.nodes[shut].class_name
                return f"the {thing} is in the {where}, which is closed" if where else ""
            case "here":
                here = self.room_of(first.id) == self.room
                return "" if here else f"the {thing} is in another room"
            case "faced" | "watching":  # who stands turns to the screen by themselves
                seen = first.id in self.facing | seated or (need == "watching" and not self.posture)
                return "" if seen else f"the character does not face the {thing}"
            case "screen":
                return "" if thing in _WATCHED else f"the {thing} is nothing to watch"
            case "plugged":
                return f"the {thing} is plugged out" if "PLUGGED_OUT" in states else ""
            case "open2":
                shut2 = "CAN_OPEN" in other.properties and "OPEN" not in other.states
                return f"the {other.class_name} is not open" if shut2 else ""
            case "recipient2":
                takes = "RECIPIENT" in other.properties
                return "" if takes else f"nothing is poured into the {other.class_name}"
        if need.startswith("="):
            return "" if need[1:] in states else f"the {thing} is not {need[1:].lower()}"
        fits = set(need.split("/")) & set(first.properties)
        return "" if fits else f"the {thing} is not {need.lower().replace('/', ' or ')}"

    def take(self, step: ProgramStep) -> None:
        """Take a step that can be taken."""
        things = [n for name in step.names if (n := self.node(*name)) is not None]
        first = things[0] if things else 0
        if step.action in ("WALK", "RUN") or (
            step.action == "FIND" and first not in self.near and not self.posture
        ):
            self.room = self.room_of(first) or self.room
            around = {first} | {at for _, at in self.within[first]}
            around |= {n for n, where in self.within.items() if ("ON", first) in where}
            self.near, self.facing = around | set(self.held), set()
        match step.action:
            case "FIND":
                self.near.add(first)
                self.facing = set()
            case "SIT" | "LIE":
                self.posture = "sitting" if step.action == "SIT" else "lying"
                self.seat = first
            case "STANDUP" | "WAKEUP":
                self.posture, self.seat = "", None
            case "GRAB":
                self.near |= {first} | {at for _, at in self.within[first]}
                self.within[first] = set()
                self.held.append(first)
            case "PUTBACK" | "PUTIN" | "POUR":
                relation = "ON" if step.action == "PUTBACK" else "INSIDE"
                if step.action != "POUR":
                    self.held.remove(first)
                self.within[first] = {(relation, things[1])}
            case "DROP" | "PUTOBJBACK":
                self.held.remove(first)
                self.within[first] = {("INSIDE", self.room)}
            case "PUTON":
                self.held.remove(first)
                self.worn.add(first)
            case "PUTOFF":
                self.worn.remove(first)
                self.held.append(first)
            case "TURNTO":
                self.facing = {first}
        if sets := ACTION_RULES[step.action].sets:
            states = self.nodes[first].states
            states[:] = [each for each in states if each != _OPPOSITE[sets]] + [sets]
        if step.action in _DEEDS:
            self.deeds.add(f"{step.names[0][0]} was {_DEEDS[step.action]}")

    def holds(self, sentence: str) -> bool:
        """Return whether one of this project's household sentences is true."""
        name, _, state = sentence.rpartition(" is ")
        if name:
            number = self.node(_word(name))
            return number is not None and state.upper() in self.nodes[number].states
        name, _, deed = sentence.rpartition(" was ")
        if name:
            return f"{_word(name)} was {deed}" in self.deeds
        for posture in ("sitting", "lying"):
            if sentence.startswith(f"{posture} on "):
                number = self.node(_word(sentence.removeprefix(f"{posture} on ")))
                return self.posture == posture and self.seat == number
        match = _WHERE.fullmatch(sentence)
        if match is None or match[3] not in (*OBJECTS, *ROOMS):
            return False
        thing, place = self.node(_word(match[1])), self.node(_word(match[3]))
        kinds = ("INSIDE",) if match[2] == "in" else ("ON",)
        return thing is not None and any((k, place) in self.within[thing] for k in kinds)


@dataclass(frozen=True)
class ProgramOutcome:
    """What came of a program in a scene."""

    parsed: bool
    """Every line is a step of known actions and things."""
    prepared: bool
    """It runs to its end in the scene made ready for it."""
    bare: bool
    """It runs to its end in the scene as it is."""
    refused: str
    """Why it does not in the scene as it is; "" if it does."""
    house: GraphHouse
    """The scene as it is, after as much of it as could be carried out."""


def try_program(
    checkout: Checkout, number: int, program: Sequence[ProgramStep | None]
) -> ProgramOutcome:
    """Try a program in one of a checkout's scenes, at the three levels."""
    steps = [step for step in program if step is not None]
    known = [all(checkout.knows(name) for name, _ in step.names) for step in steps]
    parsed = bool(program) and len(steps) == len(program) and all(known)
    scene = checkout.scenes[number]
    bare = GraphHouse.of(checkout, scene)
    refused = _carried_out(bare, program) if program else "there is no step"
    ready = GraphHouse.of(checkout, scene)
    _prepare(ready, steps)
    return ProgramOutcome(
        parsed, parsed and not _carried_out(ready, program), parsed and not refused, refused, bare
    )


def _carried_out(house: GraphHouse, program: Sequence[ProgramStep | None]) -> str:
    """Carry a program out to its first step that cannot be taken; return why, "" at the end."""
    for number, step in enumerate(program, start=1):
        why = "it is no step" if step is None else house.refusal(step)
        if why or step is None:
            return f"step {number}: {why}"
        house.take(step)
    return ""


def _prepare(house: GraphHouse, steps: Sequence[ProgramStep]) -> None:
    """Make a scene ready: what a program names is there, and as its first use of it expects."""
    for name, number in dict.fromkeys(name for step in steps for name in step.names):
        if house.node(name, number) is None and name in house.checkout.properties:
            _add(house, name)
    wanted: dict[tuple[int, str], str] = {}
    opened = set()
    for step in steps:
        things = [n for name in step.names if (n := house.node(*name)) is not None]
        rule = ACTION_RULES[step.action]
        for state in (need[1:] for need in rule.needs.split() if need.startswith("=")):
            for thing in things[:1]:
                pair = min(state, _OPPOSITE[state])
                wanted.setdefault((thing, pair), state)
        opened |= set(things) if step.action in ("OPEN", "CLOSE") else set()
        for thing in things:
            states = house.nodes[thing].states
            if "PLUGGED_OUT" in states and step.action == "SWITCHON":
                states[:] = [state for state in states if state != "PLUGGED_OUT"] + ["PLUGGED_IN"]
    for (thing, _), state in wanted.items():
        states = house.nodes[thing].states
        states[:] = [each for each in states if each not in (state, _OPPOSITE[state])] + [state]
    for step in steps:  # what it reaches into and never opens stands open
        things = [n for name in step.names if (n := house.node(*name)) is not None]
        into = [things[1]] if step.action == "PUTIN" and len(things) == 2 else []
        for at in (*map(house.shut_in, things), *into):
            if at is not None and at not in opened and "CAN_OPEN" in house.nodes[at].properties:
                states = house.nodes[at].states
                states[:] = [each for each in states if each != "CLOSED"] + ["OPEN"]


def _add(house: GraphHouse, name: str) -> None:
    """Add a thing where it usually is, or else in the room of the character."""
    number = max(house.nodes) + 1
    properties = [*house.checkout.properties[name]]
    states = ["CLOSED"] if "CAN_OPEN" in properties else []
    states += ["OFF"] if "HAS_SWITCH" in properties else []
    states += ["PLUGGED_IN"] if "HAS_PLUG" in properties else []
    house.nodes[number] = GraphNode(number, name, properties, states)
    house.within[number], house.faces[number] = {("INSIDE", house.room)}, set()
    for place in house.checkout.places.get(name, ()):
        for at, node in sorted(house.nodes.items()):
            if at != number and house.checkout.stands_for(
                _plain(place.destination), node.class_name
            ):
                relation = "INSIDE" if place.relation == "IN" else "ON"
                house.within[number] = {(relation, at)}
                return
