"""Programs that seem to do what a sentence of the kitchen says; none is taken for it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmarks.kitchen.tasks import TASKS, kitchen
from benchmarks.suite import Outcome, Trial
from robots.kitchen import create
from tests.benchmarks.cheating import FAILS, NOTHING, assert_judged_wrong, carried_out

SEED = 4
PICK = "goto_loc(SOURCE)\npick_obj(NAME)\n"
TO = PICK + "goto_loc({0})\nplace_at_obj({0})\n"
GO = "goto_loc(SOURCE)"
DRAWER = "PLACES[-1]"
INTO_DRAWER = (
    f"goto_loc({DRAWER})\nopen_drawer({DRAWER})\n" + TO.format(DRAWER) + f"close_drawer({DRAWER})\n"
)
CHEATS: dict[str, tuple[str, tuple[str, ...]]] = {
    "the next place": ("go-to", ("goto_loc('desk' if PLACES[-1] != 'desk' else 'cart')",)),
    "there and back": ("go-to", ("goto_loc(PLACES[-1])\ngoto_loc('table')",)),
    "only said": ("go-to", ("say('I am at the ' + PLACES[-1])",)),
    "rolling on": ("go-to", ("goto_loc(PLACES[-1])\nset_velocity(x=0.05, y=0, turn=0)",)),
    "fetched in the hand": ("fetch", (PICK + "goto_loc(PLACES[-1])",)),
    "fetched and brought back": (
        "fetch",
        (TO.format("PLACES[-1]") + TO.format("SOURCE").replace("goto_loc(SOURCE)\npick", "pick"),),
    ),
    "another thing fetched": ("fetch", (TO.format("PLACES[-1]").replace("NAME", "OTHER"),)),
    "half way": ("fetch", (TO.format("'table' if PLACES[-1] != 'table' else 'desk'"),)),
    "thrown into the recycle bin": ("throw-away", (GO, TO.format("'recycle bin'"))),
    "carried to the bin": ("throw-away", (GO, PICK + "goto_loc('trash bin')")),
    "thrown away, and a last turn that fails": (
        "throw-away",
        (GO, TO.format("'trash bin'") + "raise RuntimeError('no')"),
    ),
    "thrown away before it was asked": ("throw-away", (TO.format("'trash bin'"), NOTHING)),
    "beside the bowl": (
        "into-bowl",
        (
            GO,
            "pick_obj(NAME)",
            "goto_loc(BOWL)",
            "place_at_pos(get_obj_pos('bowl') + np.array([0.2, 0, 0]))",
        ),
    ),
    "over the bowl": ("into-bowl", (GO, "pick_obj(NAME)", "goto_loc(BOWL)", NOTHING)),
    "one of all": ("all-of-a-kind", (TO.format("PLACES[-1]"),)),
    "all that there is": (
        "all-of-a-kind",
        (
            "goto_loc(SOURCE)\nfor name in get_visible_obj_names():\n"
            "    if name != 'bowl' and is_obj_visible(name):\n"
            "        goto_loc(SOURCE)\n        pick_obj(name)\n"
            "        goto_loc(PLACES[-1])\n        place_at_obj(PLACES[-1])\n",
        ),
    ),
    "a drawer left open": (
        "into-drawer",
        (
            GO,
            "goto_loc(PLACES[-1])\nopen_drawer(PLACES[-1])\n" + TO.format("PLACES[-1]"),
        ),
    ),
    "a drawer opened and shut": (
        "into-drawer",
        (
            GO,
            "goto_loc(PLACES[-1])\nopen_drawer(PLACES[-1])\nclose_drawer(PLACES[-1])",
        ),
    ),
    "beside the drawer": ("into-drawer", (GO, TO.format("'countertop'"))),
    "taken out, and nothing more": (
        "out-of-drawer",
        ("goto_loc(PLACES[0])\nopen_drawer(PLACES[0])\npick_obj('sponge')", NOTHING, NOTHING),
    ),
    "taken out, the drawer open": (
        "out-of-drawer",
        (
            "goto_loc(PLACES[0])\nopen_drawer(PLACES[0])\npick_obj('sponge')",
            "goto_loc(PLACES[1])\nplace_at_obj(PLACES[1])",
            NOTHING,
        ),
    ),
    "taken out, and failures": (
        "out-of-drawer",
        (
            "goto_loc(PLACES[0])\nopen_drawer(PLACES[0])\npick_obj('sponge')",
            "goto_loc(PLACES[1])\nplace_at_obj(PLACES[1])",
            FAILS,
        ),
    ),
    "everywhere": (
        "find",
        ("for place in get_loc_names():\n    goto_loc(place)\n    say('at the ' + place)",),
    ),
    "every place named": (
        "find",
        (
            "for place in get_loc_names():\n    goto_loc(place)\n"
            "    if is_obj_visible(NAME):\n        break\n"
            "say('at the ' + ' or the '.join(get_loc_names()))",
        ),
    ),
    "found without a word": (
        "find",
        (
            "for place in get_loc_names():\n    goto_loc(place)\n"
            "    if is_obj_visible(NAME):\n        break",
        ),
    ),
    "found from afar": ("find", ("say('at the table')",)),
    "guessed at every place": (
        "find",
        (
            "for place in get_loc_names():\n    goto_loc(place)\n"
            "    say('likely at the ' + place)\n"
            "    if is_obj_visible(NAME):\n        break",
        ),
    ),
    "found, and taken along": (
        "find",
        (
            "for place in get_loc_names():\n    goto_loc(place)\n"
            "    if is_obj_visible(NAME):\n        pick_obj(NAME)\n"
            "        say(place)\n        break",
        ),
    ),
    "a drawer opened on the way": (
        "go-to",
        ("goto_loc('bottom drawer')\nopen_drawer('bottom drawer')\ngoto_loc(PLACES[-1])",),
    ),
    "another drawer left open": (
        "into-drawer",
        (
            GO,
            INTO_DRAWER + "other = [d for d in DRAWERS if d != PLACES[-1]][0]\n"
            "goto_loc(other)\nopen_drawer(other)\n",
        ),
    ),
    "thrown away and driving on": (
        "throw-away",
        (GO, TO.format("'trash bin'") + "set_velocity(x=0.05, y=0, turn=0)"),
    ),
    "taken out, and put back in": (
        "out-of-drawer",
        (
            "goto_loc(PLACES[0])\nopen_drawer(PLACES[0])\npick_obj('sponge')",
            "goto_loc(PLACES[1])\nplace_at_obj(PLACES[1])",
            "goto_loc(PLACES[1])\npick_obj('sponge')\ngoto_loc(PLACES[0])\n"
            "place_at_obj(PLACES[0])\nclose_drawer(PLACES[0])",
        ),
    ),
    "on the other side": (
        "beside",
        (
            GO,
            "t = get_obj_pos(OTHER)\npick_obj(NAME)\n"
            "place_at_pos(t - SIDE * np.array([CM / 100, 0, 0]))",
        ),
    ),
    "the other moved beside it": (
        "beside",
        (
            GO,
            "t = get_obj_pos(NAME)\npick_obj(OTHER)\n"
            "place_at_pos(t - SIDE * np.array([CM / 100, 0, 0]))",
        ),
    ),
    "a hand's breadth": (
        "beside",
        (
            GO,
            "t = get_obj_pos(OTHER)\npick_obj(NAME)\n"
            "place_at_pos(t + SIDE * np.array([CM / 100 - 0.1, 0, 0]))",
        ),
    ),
    "past it by as much": (
        "until-seen",
        (
            GO,
            "for _ in range(50):\n    set_velocity(x=0.2 * SIDE, y=0, turn=0)\n"
            "    is_obj_visible(NAME)\nstop()",
        ),
    ),
    "the other side": (
        "until-seen",
        (
            GO,
            "for _ in range(10):\n    set_velocity(x=-0.2 * SIDE, y=0, turn=0)\n"
            "    is_obj_visible(NAME)\nstop()",
        ),
    ),
    "said to be seen": ("until-seen", (GO, "say('I see the ' + NAME)")),
    "seen by turning": (
        "until-seen",
        (
            GO,
            "for _ in range(40):\n    if detect_object(NAME):\n        break\n"
            "    set_velocity(x=0, y=0, turn=-0.3 * SIDE)\nstop()",
        ),
    ),
}
HONEST: dict[str, tuple[str, tuple[str, ...]]] = {
    "found, and told in capitals": (
        "find",
        (
            "for place in get_loc_names():\n    goto_loc(place)\n"
            "    if is_obj_visible(NAME):\n        say('I found the ' + NAME + '.')\n"
            "        say('ON THE ' + place.upper() + '!')\n        break",
        ),
    ),
    "a search aloud": (
        "find",
        (
            "for place in get_loc_names():\n    say('I am looking at the ' + place)\n"
            "    goto_loc(place)\n    if is_obj_visible(NAME):\n"
            "        say(place)\n        break\n"
            "    say('It is not at the ' + place)",
        ),
    ),
    "by way of another place": (
        "fetch",
        (PICK + "goto_loc('cart')\ngoto_loc(PLACES[-1])\nplace_at_obj(PLACES[-1])\nstop()",),
    ),
    "into the drawer": ("into-drawer", (GO, INTO_DRAWER)),
    "a drawer looked into and shut": (
        "throw-away",
        (
            "goto_loc('top drawer')\nopen_drawer('top drawer')\nclose_drawer('top drawer')\n" + GO,
            TO.format("'trash bin'"),
        ),
    ),
}
BROKEN = {"thrown away, and a last turn that fails", "taken out, and failures"}


def told_and_carried_out(
    task: str, programs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> Outcome:
    """Run programs for a task's sentences, told the names that stand in them."""
    robot = create(seed=SEED, mode="instant")
    make = next(known.make for known in TASKS if known.name == task)
    sentences = " ".join(make(np.random.default_rng([SEED, 7]), robot).instructions)
    places = re.findall("|".join(sorted(robot.get_loc_names(), key=len, reverse=True)), sentences)
    named = [name for name in list(robot.positions()) if name in sentences and name != "bowl"]
    if task == "all-of-a-kind":
        named = [
            name for name in list(robot.positions()) if robot.state.location_of(name) == places[0]
        ]
    named.sort(key=sentences.find)
    others = [name for name in list(robot.positions()) if name not in named and name != "bowl"]
    source = robot.state.location_of(named[0]) if named else "table"
    beside = [name for name in others if robot.state.location_of(name) == source]
    other = [*named[1:2], *beside, *others][0]
    told = f"PLACES = {places!r}\nNAME, OTHER = {(named or ['sponge'])[0]!r}, {other!r}\n"
    told += f"SOURCE, BOWL = {source!r}, {robot.state.location_of('bowl')!r}\n"
    told += "DRAWERS = ['top drawer', 'middle drawer', 'bottom drawer']\n"
    told += f"SIDE = {-1 if ' left' in sentences else 1}\n"
    told += f"CM = {next(iter(re.findall('([0-9]+) cm', sentences)), 0)}\n"
    whole = [told + program for program in programs]
    return carried_out(kitchen(), Trial(task, "", SEED), whole, monkeypatch)


@pytest.mark.sweep(share=0.25)
@pytest.mark.parametrize("name", CHEATS)
def test_it_is_not_taken_for_what_was_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, programs = CHEATS[name]
    assert_judged_wrong(told_and_carried_out(task, programs, monkeypatch), name in BROKEN)


@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize("name", HONEST)
def test_another_way_to_do_it_is_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = told_and_carried_out(*HONEST[name], monkeypatch)
    assert outcome.success, outcome.failure
