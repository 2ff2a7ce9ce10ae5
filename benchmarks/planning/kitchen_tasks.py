"""SayCan's 101 instructions in seven families, its drawer tasks, and Inner Monologue's eight.

The instructions are the papers', without `How would you`; what each asks for is this project's own
reading, written as data. Notes in the papers such as `(at table)` are where the robot begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.planning.kitchen_needs import EVERY, YOU, KitchenTask, Need

COKES = ("coke can", "diet coke", "cherry coke")
SODAS = (*COKES, "pepsi", "7up", "lime soda", "grapefruit soda")
CAFFEINE = (*COKES, "pepsi", "red bull", "tea")
DRINKS = (*SODAS, "red bull", "tea", "water bottle")
CHIPS = ("jalapeno chips", "rice chips", "kettle chips", "multigrain chips")
FRUIT = ("apple",)
SNACKS = (*CHIPS, "energy bar")
FOOD = (*SNACKS, *FRUIT)
EVERYTHING = (*DRINKS, *FOOD, "sponge")
_TABLE, _CLOSE, _FAR, _TRASH = "table", "close counter", "far counter", "trash can"


def bring(*objects: str, to: str = YOU, source: str = "", count: int = 1) -> Need:
    """Return the need that objects lie somewhere."""
    return Need("bring", objects, to, source, count)


def hold(*objects: str, source: str = "") -> Need:
    """Return the need that one of some objects is in the gripper."""
    return Need("hold", objects, source=source)


def at(place: str) -> Need:
    """Return the need that the robot is at a place in the end."""
    return Need("at", to=place)


def visit(place: str) -> Need:
    """Return the need that the robot goes to a place, among others."""
    return Need("visit", to=place)


_OPEN, _CLOSED = Need("open"), Need("close")
_PUT_COKE = Need("release", ("coke can",), to=_TABLE)  # where it stands, if nothing is said
_COKE_FAR, _SPONGE_CLOSE = bring("coke can", to=_FAR), bring("sponge", to=_CLOSE)


def _family(name: str, tasks: Sequence[tuple[str, tuple[Need, ...]]]) -> list[KitchenTask]:
    return [KitchenTask(name, words, needs) for words, needs in tasks]


_SINGLE = [
    *(
        KitchenTask("NL single", words, (hold("coke can"),))
        for words in (
            "pick up the coke can",
            "put the coke can in your gripper",
            "grasp the coke can",
            "hold onto the coke can",
            "lift and hold the coke can up",
        )
    ),
    *(
        KitchenTask("NL single", words, (_PUT_COKE,), holding="coke can")
        for words in (
            "put the coke can down",
            "place the coke can on the table",
            "let go of the coke can",
            "release the coke can",
            "place the coke can",
        )
    ),
    *(
        KitchenTask("NL single", f"{verb} the table", (at(_TABLE),), start=_CLOSE)
        for verb in ("move to", "go to", "park at", "come to", "navigate to")
    ),
]
_VERBS = _family(
    "NL verbs",
    (
        ("throw away the apple", (bring("apple", to=_TRASH),)),
        ("bring me a sponge", (bring("sponge"),)),
        ("bring me a coke can", (bring(*COKES),)),
        ("grab me an apple", (bring("apple"),)),
        ("grab me a 7up from the table", (bring("7up", source=_TABLE),)),
        ("deliver the red bull to the close counter", (bring("red bull", to=_CLOSE),)),
        ("throw away the jalapeno chips", (bring("jalapeno chips", to=_TRASH),)),
        ("restock the rice chips on the far counter", (bring("rice chips", to=_FAR),)),
        ("recycle the coke can", (bring(*COKES, to="recycling bin"),)),
        ("throw away the water bottle", (bring("water bottle", to=_TRASH),)),
        ("bring me something hydrating", (bring("water bottle"),)),
        ("put the apple back on the far counter", (bring("apple", to=_FAR),)),
        ("recycle the 7up", (bring("7up", to="recycling bin"),)),
        ("throw away jalapeno chips", (bring("jalapeno chips", to=_TRASH),)),
        ("compost the apple", (bring("apple", to="compost bin"),)),
    ),
)
_NOUNS = [
    KitchenTask(
        "NL nouns",
        "move the sugary drink to the far counter",
        (bring(*SODAS[:1], *SODAS[2:], "red bull", to=_FAR),),
        without=("lime soda",),  # it stands there already
    ),
    *_family(
        "NL nouns",
        (
            ("bring me lime drink", (bring("lime soda"),)),
            ("bring me something to clean the kitchen with", (bring("sponge"),)),
            ("bring me something to eat", (bring(*FOOD),)),
            (
                "put the grapefruit drink on the close counter",
                (bring("grapefruit soda", to=_CLOSE),),
            ),
            (
                "move something with caffeine from the table to the close counter",
                (bring(*CAFFEINE, to=_CLOSE, source=_TABLE),),
            ),
            ("bring me an energy bar", (bring("energy bar"),)),
            ("bring me something to quench my thirst", (bring(*DRINKS),)),
            ("bring me a fruit", (bring(*FRUIT),)),
            ("bring me a fruit from the close counter", (bring(*FRUIT, source=_CLOSE),)),
            (
                "bring me something that is not a fruit from the close counter",
                (bring(*SNACKS, *DRINKS, source=_CLOSE),),
            ),
            ("bring me a soda from the table", (bring(*SODAS, source=_TABLE),)),
            ("bring me a soda", (bring(*SODAS),)),
            ("bring me a bag of chips from close counter", (bring(*CHIPS, source=_CLOSE),)),
            ("bring me a snack", (bring(*FOOD),)),
        ),
    ),
]


def _moves(name: str, target: str, need: Need) -> tuple[str, tuple[Need, ...]]:
    return (f"pick up the {name} and {target}", (need,))


_STRUCTURED = _family(
    "Structured language",
    (
        _moves("apple", "move it to the trash", bring("apple", to=_TRASH)),
        _moves("sponge", "bring it to me", bring("sponge")),
        _moves("coke can", "bring it to me", bring(*COKES)),
        _moves("apple", "bring it to me", bring("apple")),
        _moves("7up", "bring it to me", bring("7up")),
        _moves("red bull", "move it to the close counter", bring("red bull", to=_CLOSE)),
        _moves("jalapeno chips", "move it to the trash", bring("jalapeno chips", to=_TRASH)),
        _moves("rice chips", "move it to the far counter", bring("rice chips", to=_FAR)),
        _moves("coke can", "move it to the trash", bring(*COKES, to=_TRASH)),
        _moves("water bottle", "move it to the trash", bring("water bottle", to=_TRASH)),
        _moves("grapefruit soda", "bring it to me", bring("grapefruit soda")),
        _moves("apple", "move it to the far counter", bring("apple", to=_FAR)),
        _moves("7up", "move it to the trash", bring("7up", to=_TRASH)),
        _moves("jalepeno chips", "move it to the trash", bring("jalapeno chips", to=_TRASH)),
        _moves("apple", "move it to the trash can", bring("apple", to=_TRASH)),
    ),
)
_COKE_WORDS = "put the coke can down on the far counter"
_SPONGE_WORDS = "put the sponge on the close counter"
_BODY = "Embodiment"
_EMBODIMENT = [
    KitchenTask(_BODY, _COKE_WORDS, (_COKE_FAR,), start=YOU),
    KitchenTask(_BODY, _COKE_WORDS, (_COKE_FAR,)),
    KitchenTask(_BODY, _COKE_WORDS, (_COKE_FAR,), holding="coke can"),
    KitchenTask(_BODY, _COKE_WORDS, (_COKE_FAR,), start=_FAR, holding="coke can"),
    KitchenTask(_BODY, _SPONGE_WORDS, (_SPONGE_CLOSE,), start=YOU),
    KitchenTask(_BODY, _SPONGE_WORDS, (_SPONGE_CLOSE,), start=_FAR),
    KitchenTask(_BODY, _SPONGE_WORDS, (_SPONGE_CLOSE,), start=_FAR, holding="sponge"),
    KitchenTask(_BODY, _SPONGE_WORDS, (_SPONGE_CLOSE,), start=_CLOSE, holding="coke can"),
    KitchenTask(_BODY, "pick up the drink from the far counter", (hold(*DRINKS, source=_FAR),)),
    KitchenTask(
        _BODY,
        "I left something on the table, can you throw it away?",
        (bring(*EVERYTHING, to=_TRASH, source=_TABLE),),
        start=_CLOSE,
    ),
    KitchenTask(
        _BODY,
        "I left something on the table or the counter, can you bring it to me?",
        (bring(*EVERYTHING, source=f"{_TABLE}, {_CLOSE}"),),
        start=_FAR,
        without=("coke can", "7up", "sponge", "pepsi", "grapefruit soda"),
    ),
]
_VISIT = (visit(_CLOSE), visit(_FAR), visit(_TABLE))
_CROWD = _family(
    "Crowd sourced",
    (
        ("I opened a pepsi earlier. bring me an open can", (bring("pepsi"),)),
        ("I spilled my coke, can you bring me a replacement?", (bring(*COKES),)),
        ("I spilled my coke, can you bring me something to clean it up?", (bring("sponge"),)),
        (
            "I accidentally dropped that jalapeno chip bag after eating it. Would you mind "
            "throwing it away?",
            (bring("jalapeno chips", to=_TRASH),),
        ),
        ("I like fruits, can you bring me something I'd like?", (bring(*FRUIT),)),
        ("There is a close counter, far counter, and table. visit all the locations", _VISIT),
        (
            "There is a close counter, trash can, and table. visit all the locations",
            (visit(_CLOSE), visit(_TRASH), visit(_TABLE)),
        ),
        ("Redbull is my favorite drink, can I have one please?", (bring("red bull"),)),
        ("Would you bring me a coke can?", (bring(*COKES),)),
        ("Please, move the pepsi to the close counter", (bring("pepsi", to=_CLOSE),)),
        ("Please, move the ppsi to the close cuonter", (bring("pepsi", to=_CLOSE),)),
        ("Can you move the coke can to the far counter?", (bring(*COKES, to=_FAR),)),
        ("Can you move coke can to far counter?", (bring(*COKES, to=_FAR),)),
        ("Would you throw away the bag of chips for me?", (bring(*CHIPS, to=_TRASH),)),
        ("Would you throw away the bag of chpis for me?", (bring(*CHIPS, to=_TRASH),)),
    ),
)
_LONG = "Long horizon"
_MORE_COKES = (("diet coke", "far counter"), ("cherry coke", "table"))
_LONG_HORIZON = [
    *_family(
        _LONG,
        (
            (
                "put an energy bar and water bottle on the table",
                (bring("energy bar", to=_TABLE), bring("water bottle", to=_TABLE)),
            ),
            ("bring me a lime soda and a bag of chips", (bring("lime soda"), bring(*CHIPS))),
            (
                "Can you throw away the apple and bring me a coke",
                (bring("apple", to=_TRASH), bring(*COKES)),
            ),
            ("bring me a 7up can and a tea?", (bring("7up"), bring("tea"))),
        ),
    ),
    KitchenTask(
        _LONG,
        "throw away all the items on the table?",
        (bring(*EVERYTHING, to=_TRASH, source=_TABLE, count=EVERY),),
        without=("pepsi", "grapefruit soda", "sponge"),
    ),
    *_family(
        _LONG,
        (
            (
                "move an multigrain chips to the table and an apple to the far counter?",
                (bring("multigrain chips", to=_TABLE), bring("apple", to=_FAR)),
            ),
            ("bring me two sodas?", (bring(*SODAS, count=2),)),
        ),
    ),
    KitchenTask(
        _LONG,
        "move the lime soda, the sponge, and the water bottle to the table?",
        tuple(bring(name, to=_TABLE) for name in ("lime soda", "sponge", "water bottle")),
        scene=(("sponge", _CLOSE),),
    ),
    KitchenTask(
        _LONG,
        "move three cokes to the trash can?",
        (bring(*COKES, to=_TRASH, count=3),),
        scene=_MORE_COKES,
        without=("lime soda",),
    ),
    KitchenTask(
        _LONG,
        "throw away two cokes?",
        (bring(*COKES, to=_TRASH, count=2),),
        scene=_MORE_COKES,
        without=("lime soda",),
    ),
    *_family(
        _LONG,
        (
            ("bring me two different sodas?", (bring(*SODAS, count=2),)),
            (
                "bring me an apple, a coke, and water bottle?",
                (bring("apple"), bring(*COKES), bring("water bottle")),
            ),
            (
                "I spilled my coke on the table, how would you throw it away and then bring me "
                "something to help clean?",
                (bring("coke can", to=_TRASH), bring("sponge")),
            ),
            (
                "I just worked out, can you bring me a drink and a snack to recover?",
                (bring(*DRINKS), bring(*FOOD)),
            ),
            (
                "bring me a fruit, a soda, and a bag of chips for lunch",
                (bring(*FRUIT), bring(*SODAS), bring(*CHIPS)),
            ),
        ),
    ),
]
SAYCAN: tuple[KitchenTask, ...] = (
    *_SINGLE,
    *_NOUNS,
    *_VERBS,
    *_STRUCTURED,
    *_EMBODIMENT,
    *_CROWD,
    *_LONG_HORIZON,
)
"""The 101, in the order of the paper's table of families."""


def _stow(words: str, *objects: str, count: int = 1) -> KitchenTask:
    return KitchenTask(
        "Drawers", words, (_OPEN, Need("stow", objects, count=count), _CLOSED), start=_CLOSE
    )


DRAWER_TASKS: tuple[KitchenTask, ...] = (
    KitchenTask(
        "Drawers",
        "restock the coke and pepsi into the drawer",
        (_OPEN, Need("stow", COKES), Need("stow", ("pepsi",)), _CLOSED),
    ),
    _stow("hide the 7up in the drawer", "7up"),
    _stow("restock the coke into the drawer", *COKES),
)
"""SayCan's with its drawer skills."""
_MANIPULATION, _MOBILE, _DRAWERS = "manipulation", "mobile manipulation", "drawers"
MONOLOGUE: tuple[KitchenTask, ...] = (
    KitchenTask(_MANIPULATION, "pick up a soda", (hold(*SODAS),), start=_TABLE),
    KitchenTask(
        _MANIPULATION,
        "pick up the jalapeno or kettle chips",
        (hold("jalapeno chips", "kettle chips"),),
        start=_CLOSE,
    ),
    KitchenTask(_MANIPULATION, "pick up a snack", (hold(*FOOD),), start=_CLOSE),
    KitchenTask(_MANIPULATION, "pick up a caffeinated drink", (hold(*CAFFEINE),), start=_TABLE),
    KitchenTask(
        _MOBILE,
        "can you throw away the soda on the table",
        (bring(*SODAS, to=_TRASH, source=_TABLE),),
        start=_CLOSE,
    ),
    KitchenTask(
        _MOBILE,
        "I spilled my coke, can you bring me something to clean it up",
        (bring("sponge"),),
        start=_CLOSE,
    ),
    KitchenTask(_DRAWERS, "leave the top drawer open", (_OPEN,), start=_CLOSE),
    KitchenTask(
        _DRAWERS,
        "put a coke in the top drawer",
        (_OPEN, Need("stow", COKES), _CLOSED),
        start=_TABLE,
    ),
)
"""Inner Monologue's, in three families."""
OWN: tuple[KitchenTask, ...] = (
    KitchenTask("own", "bring me something to clean up the spill", (bring("sponge"),)),
    KitchenTask(
        "own", "bring me a drink", (bring(*DRINKS),), question="which drink would you like?"
    ),
    KitchenTask("own", "throw away the drink", (bring(*DRINKS, to=_TRASH),)),
    KitchenTask("own", "pick up an apple", (hold("apple"),)),
)
"""To try planners by hand."""
FAMILIES: Mapping[str, tuple[KitchenTask, ...]] = {
    family: tuple(task for task in SAYCAN if task.family == family)
    for family in dict.fromkeys(task.family for task in SAYCAN)
}
"""SayCan's tasks by family."""


def plain(words: str) -> str:
    """Return an instruction without what does not tell instructions apart."""
    text = " ".join(words.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    text = text.removeprefix("how would you ").removeprefix("please ")
    return text.strip(" .?!")


BY_WORDS: Mapping[str, KitchenTask] = {
    plain(task.words): task for task in (*OWN, *MONOLOGUE, *DRAWER_TASKS, *reversed(SAYCAN))
}
"""Every task by its plain words."""
