"""Plans in a checkout of VirtualHome: files of the same shapes, and folders that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.planning.household_actions import parsed
from benchmarks.planning.suite import PlanningSuite
from benchmarks.planning.virtualhome import (
    ACTION_RULES,
    Checkout,
    GraphHouse,
    program_step,
    read_checkout,
    try_program,
    virtualhome_step,
)
from benchmarks.suite import Settings
from cap.cli.main import cli
from cap.errors import UsageError

PROPERTIES = {
    "bench": ["SITTABLE", "LIEABLE", "SURFACES"],
    "lamp": ["HAS_SWITCH", "HAS_PLUG"],
    "tv_set": ["HAS_SWITCH"],
    "television": ["HAS_SWITCH", "LOOKABLE"],
    "chest": ["CAN_OPEN", "CONTAINERS"],
    "shelf": ["SURFACES"],
    "mug": ["GRABBABLE", "RECIPIENT"],
    "tea": ["GRABBABLE", "DRINKABLE", "POURABLE"],
    "hat": ["GRABBABLE", "CLOTHES"],
    "pear": ["GRABBABLE", "EATABLE", "CUTTABLE"],
    "bread_knife": ["GRABBABLE"],
}


def node(number: int, kind: str, *states: str, category: str = "Things") -> dict[str, Any]:
    properties = PROPERTIES.get(kind, [])
    return {"id": number, "class_name": kind, "category": category, "properties": properties,
            "states": list(states)}  # fmt: skip


def edge(one: int, relation: str, other: int) -> dict[str, Any]:
    return {"from_id": one, "relation_type": relation, "to_id": other}


SCENE = {
    "nodes": [
        node(1, "parlour", category="Rooms"), node(2, "pantry", category="Rooms"),
        node(3, "character", category="Characters"), node(4, "bench"), node(5, "shelf"),
        node(6, "chest", "CLOSED"), node(7, "television", "OFF"), node(8, "mug"),
        node(9, "tea"), node(10, "lamp", "OFF", "PLUGGED_OUT"), node(11, "pear"),
    ],
    "edges": [
        edge(3, "INSIDE", 1), edge(4, "INSIDE", 1), edge(7, "INSIDE", 1), edge(5, "INSIDE", 2),
        edge(6, "INSIDE", 2), edge(8, "ON", 5), edge(9, "INSIDE", 6), edge(10, "INSIDE", 1),
        edge(11, "ON", 5), edge(4, "FACING", 7), edge(8, "CLOSE", 11),
    ],
}  # fmt: skip


def write(folder: Path, name: str, content: Any) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "checkout"
    for number in (1, 2):
        write(found, f"example_graphs/TrimmedTestScene{number}_graph.json", SCENE)
    write(found, "resources/properties_data.json", PROPERTIES)
    write(found, "resources/class_name_equivalence.json", {"tv_set": ["television"]})
    places = [{"destination": "Attic", "relation": "IN", "room": None},
              {"destination": "Shelf", "relation": "ON", "room": None}]  # fmt: skip
    write(found, "resources/object_script_placing.json", {"Bread Knife": places})
    return found


@pytest.fixture
def checkout(folder: Path) -> Checkout:
    return read_checkout(folder)


def tried(checkout: Checkout, *lines: str) -> tuple[bool, bool, bool, str]:
    outcome = try_program(checkout, 0, [program_step(line) for line in lines])
    return outcome.parsed, outcome.prepared, outcome.bare, outcome.refused


def test_a_plan_is_executable_as_the_house_is(checkout: Checkout) -> None:
    program = ["[WALK] <chest> (1)", "[OPEN] <chest> (1)", "[GRAB] <tea> (1)",
               "[FIND] <mug> (1)", "[POUR] <tea> (1) <mug> (1)", "[DRINK] <tea> (1)"]  # fmt: skip
    assert tried(checkout, *program) == (True, False, False, "step 3: the tea is not within reach")
    program.insert(2, "[FIND] <tea> (1)")
    assert tried(checkout, *program) == (True, True, True, "")
    house = try_program(checkout, 0, [program_step(line) for line in program]).house
    assert house.holds("tea was drunk")
    assert not house.holds("mug was drunk")
    assert [n.states for n in checkout.scenes[0].nodes if n.id == 6] == [["CLOSED"]]  # as it was


@pytest.mark.parametrize(
    ("lines", "levels", "why"),
    [
        (["[WALK] <mug> (1)", "[FLY] <mug> (1)"], (0, 0, 0), "step 2: it is no step"),
        (["[WALK] <unicorn> (1)"], (0, 0, 0), "there is no unicorn here"),
        (["[WALK] <bread_knife> (1)", "[GRAB] <bread_knife> (1)"], (1, 1, 0), "no bread_knife"),
        (["[WALK] <tea> (1)", "[GRAB] <tea> (1)"], (1, 1, 0), "chest, which is closed"),
        (["[WALK] <chest> (1)", "[CLOSE] <chest> (1)"], (1, 1, 0), "the chest is not open"),
        (["[WALK] <lamp> (1)", "[SWITCHON] <lamp> (1)"], (1, 1, 0), "the lamp is plugged out"),
        (["[WALK] <lamp> (1)", "[PLUGIN] <lamp> (1)", "[SWITCHON] <lamp> (1)"], (1, 1, 1), ""),
        (["[WALK] <bench> (1)", "[GRAB] <bench> (1)"], (1, 0, 0), "the bench is not grabbable"),
        (["[SIT] <bench> (1)"], (1, 0, 0), "the bench is not within reach"),
        (["[WALK] <bench> (1)", "[SIT] <bench> (1)", "[WATCH] <tv_set> (1)"], (1, 1, 1), ""),
        (["[WALK] <bench> (1)", "[SIT] <bench> (1)", "[WALK] <mug> (1)"], (1, 0, 0), "stand up"),
        (["[WALK] <mug> (1)", "[WATCH] <television> (1)"], (1, 0, 0), "in another room"),
        (["[STANDUP]"], (1, 0, 0), "neither sits nor lies"),
        (["[WALK] <pear> (1)", "[CUT] <pear> (1)"], (1, 0, 0), "no knife is in the hand"),
        (["[LOOKAT] <lamp> (1)"], (1, 0, 0), "does not face the lamp"),
        (["[WALK] <lamp> (1)", "[TURNTO] <lamp> (1)", "[LOOKAT] <lamp> (1)"], (1, 1, 1), ""),
        (["[WALK] <mug> (1)", "[GRAB] <mug> (1)", "[PUTIN] <mug> (1) <chest> (1)"],
         (1, 0, 0), "the chest is not within reach"),
        (["[WALK] <mug> (1)", "[GRAB] <mug> (1)", "[WALK] <chest> (1)",
          "[PUTIN] <mug> (1) <chest> (1)"], (1, 1, 0), "the chest is not open"),
        (["[WALK] <mug> (1)", "[GRAB] <mug> (1)", "[GRAB] <pear> (1)", "[WALK] <chest> (1)",
          "[OPEN] <chest> (1)"], (1, 0, 0), "step 3: the pear is not within reach"),
        (["[WALK] <shelf> (1)", "[GRAB] <mug> (1)", "[GRAB] <pear> (1)", "[WALK] <chest> (1)",
          "[OPEN] <chest> (1)"], (1, 0, 0), "both hands are full"),
        ([], (0, 0, 0), "there is no step"),
    ],
)  # fmt: skip
def test_what_a_step_lacks_is_told_at_each_level(
    checkout: Checkout, lines: list[str], levels: tuple[int, int, int], why: str
) -> None:
    *found, refused = tried(checkout, *lines)
    assert tuple(map(int, found)) == levels, refused
    assert why in refused
    assert bool(refused) == bool(why)


def test_every_action_can_be_asked_for_and_none_ends_in_a_traceback(checkout: Checkout) -> None:
    for action, rule in ACTION_RULES.items():
        for kind in PROPERTIES:
            line = " ".join([f"[{action}]", *[f"<{kind}> (1)"] * rule.names])
            near = [f"[WALK] <{kind}> (1)", f"[GRAB] <{kind}> (1)", line]
            parsed_, *_ = tried(checkout, *near)
            assert parsed_


@pytest.mark.parametrize("line", ["", "[GRAB]", "[GRAB] mug", "[STANDUP] <mug> (1)", "grab mug"])
def test_what_is_no_line_of_a_program_is_no_step(line: str) -> None:
    assert program_step(line) is None


def test_this_projects_steps_are_worded_as_virtualhome_does(checkout: Checkout) -> None:
    step = virtualhome_step(parsed("put the apple in the trash can"))
    assert step == program_step("[PUTIN] <food_apple> (1) <trashcan> (1)")
    assert virtualhome_step(None) is None
    house = GraphHouse.of(checkout, checkout.scenes[0])
    assert house.holds("television is off")
    assert not house.holds("sitting on sofa")
    assert not house.holds("novel on sofa")


def emptied(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def newer(folder: Path) -> None:
    (folder / "example_graphs").rename(folder / "elsewhere")
    (folder / "resources/properties_data.json").unlink()


def damaged(folder: Path) -> None:
    write(folder, "example_graphs/TrimmedTestScene2_graph.json", '{"nodes": [{"id": 1}')


def reshaped(folder: Path) -> None:
    scene = {"nodes": [{"id": "one", "class_name": "mug"}], "edges": []}
    write(folder, "example_graphs/TrimmedTestScene2_graph.json", scene)


def unpeopled(folder: Path) -> None:
    write(folder, "example_graphs/TrimmedTestScene1_graph.json", {"nodes": [], "edges": []})


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: folder.rename(folder.with_name("gone")), "there is no folder"),
        (emptied, "is empty"),
        (newer, "another version: it lacks example_graphs/TrimmedTestScene*_graph.json, reso"),
        (damaged, "TrimmedTestScene2_graph.json is not as VirtualHome v1.0.0 has it"),
        (reshaped, "Expected `int`, got `str` - at `$.nodes[0].id`"),
        (unpeopled, "no character in a room"),
    ],
)  # fmt: skip
def test_a_folder_that_is_no_checkout_is_told_in_one_line(
    folder: Path, spoil: Any, words: str
) -> None:
    spoil(folder)
    with pytest.raises(UsageError) as caught:
        read_checkout(folder)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "--virtualhome" in str(caught.value)
    command = ["bench", "run", "planning", "--table", "NL-1", "--virtualhome", str(folder)]
    result = CliRunner().invoke(cli, command)
    assert isinstance(result.exception, UsageError)
    assert words in str(result.exception)


def test_the_table_is_made_in_the_scenes_of_a_checkout(folder: Path) -> None:
    found = PlanningSuite("NL-1", ("perfect-say",), str(folder))
    trials = found.trials(1, 0, ["generalise"], ["zero-shot perfect-say"])
    assert len(trials) == 3 * 2  # tasks, scenes
    outcome = found.run(trials[0], Settings("planning", "offline", "instant"))
    measured = outcome.extra["measured"]
    assert (measured["parsed"], measured["lcs"]) == (0.0, 1.0)  # it has no coffee
    assert not outcome.success
    with pytest.raises(UsageError, match="use --table NL-1"):
        PlanningSuite("SP-3", virtualhome=str(folder))
