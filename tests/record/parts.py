"""The parts of the record, by name; each has a file of its own for what it has seen."""

from __future__ import annotations

from functools import partial

from tests.record import (
    commands,
    counters,
    examples,
    programs,
    requests,
    runs,
    sentences,
    tasks,
)
from tests.record.record import Part

INSTANT_M = 1e-4
PHYSICS_M, ELSEWHERE_M = 1e-3, 5e-3
"""Positions in physics, on a processor that the record has and on another one."""

_ALL = [
    Part("everyday", sentences.judged),
    Part("sentences", sentences.cases, INSTANT_M),
    *(
        Part(f"examples-{folder}", partial(examples.cases, folder), INSTANT_M)
        for folder in examples.FOLDERS
    ),
    *(Part(f"tasks-{suite}", partial(tasks.cases, suite), INSTANT_M) for suite in tasks.SUITES),
    *(
        Part(
            f"physics-{engine}-{tasks.engine_version(engine)}-{tasks.processor()}",
            partial(tasks.in_physics, engine),
            PHYSICS_M,
            f"physics-{engine}-*",
            ELSEWHERE_M,
        )
        for engine in tasks.ENGINES
    ),
    Part("harmless", programs.harmless),
    Part("hostile", programs.hostile),
    Part("commands", commands.cases, INSTANT_M),
    Part("runs", runs.cases, INSTANT_M),
    Part("exports", runs.exports),
    Part("requests", requests.cases),
    Part("counters", counters.cases),
]
PARTS = {part.name: part for part in _ALL}
