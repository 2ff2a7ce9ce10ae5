"""From what a program is given it reaches nothing but computation."""

from __future__ import annotations

import enum
import functools
import types
import typing
from dataclasses import make_dataclass
from typing import Any

import numpy as np
import pytest

from cap.checker.policy import Policy
from cap.program import private_names
from cap.sandbox.worker import records
from tests.reach import handed_in, settable, ways_out

POLICIES = {"robot": Policy(), "benchmark": Policy.benchmark()}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_nothing_handed_in_leads_out(policy: Policy) -> None:
    assert ways_out(handed_in(policy), depth=2) == []


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_nothing_handed_in_leads_out_by_longer_roads(policy: Policy) -> None:
    assert ways_out(handed_in(policy), depth=6) == []


HARMLESS_TO_BIND = {
    "words of an error": (
        *("args", "code", "end_lineno", "end_offset", "errno", "filename", "filename2", "lineno"),
        *("msg", "name", "offset", "path", "print_file_and_line", "strerror", "text", "value"),
    ),
    "what an array holds, and how it is laid out within its own memory": ("flat", "real", "shape"),
    "numbers of a polynomial": ("c", "coef", "coefficients", "coeffs"),
    "how rows are put together, all of it in Python": (
        *("axis", "maketuple", "matrix", "ndmin", "sparse", "trans1d"),
    ),
    "how decimals are rounded, each looked at when it is bound": (
        *("Emax", "Emin", "capitals", "clamp", "prec", "rounding"),
    ),
    "a field of a data class; `name` takes what a program could have written": (
        *("compare", "default", "default_factory", "hash", "init", "kw_only", "metadata", "name"),
        *("repr", "type"),
    ),
    "what a program could have given when it made the object": ("fieldnames", "level", "propagate"),
}
"""Attributes of the library's objects that a program may bind, by the reason."""


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_nothing_handed_in_takes_an_attribute_that_memory_hangs_on(policy: Policy) -> None:
    known = {name for names in HARMLESS_TO_BIND.values() for name in names}
    found = settable(handed_in(policy), depth=2)
    assert {road: name for name, road in found.items() if name.split(".")[-1] not in known} == {}


def test_a_hole_that_is_bound_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was when any program bound an array's strides, or its type under an iterator."""
    monkeypatch.setattr(private_names, "GUARDED", frozenset())
    found = settable({"hole": np.zeros(3)}, depth=0)
    assert {"ndarray.dtype", "ndarray.strides"} <= found.keys()


def test_the_walk_meets_much() -> None:
    space = handed_in(POLICIES["benchmark"])
    assert len(space) > 150
    assert {"np", "List", "import enum", "getattr", "Point"} <= space.keys()


HOLES: dict[str, tuple[Any, str]] = {
    "a hint that compiles": (typing.List, "typing's own"),  # noqa: UP006
    "the same, by what it does": (lambda *a: vars(typing)["Set"][a[0]], "a text is compiled"),
    "an enumeration by data": (enum.Enum, "a class with special methods by data"),
    "one with numbers": (enum.IntFlag, "a class with special methods by data"),
    "records by data": (make_dataclass, "a class with special methods by data"),
    "classes by data": (type, "the class of classes"),
    "arrays": (np.ndarray, "the class of arrays"),
    "files": (lambda *a: np.load(str(a[0])), "open happens"),
    "a module": (np.lib, "a module"),
    "memory": ([memoryview(b"a")], "raw memory"),
    "a builtin": ({"a": eval}, "eval()"),
    "a frame": ([(x for x in [1]).gi_frame], "a frame"),
    "code": ([(lambda: 1).__code__], "a code object"),
    "a cached property": (functools.cached_property(len), "set any name"),
    "a plain object": (types.SimpleNamespace, "a class of others"),
    "an object by data": (lambda **a: types.SimpleNamespace(**a), "special attributes by data"),
    "a setter": ([object().__setattr__], "sets any attribute"),
    "a partial": ([functools.partial(records.dataclass, frozen=True)], "hands out its parts"),
    "a template": (["{0.x}".format], "a text's own format"),
}


@pytest.mark.sweep(share=0.125)
@pytest.mark.parametrize("name", HOLES)
def test_a_hole_is_found(name: str) -> None:
    """As it was when `typing` and `enum` were handed in as they are."""
    value, what = HOLES[name]
    found = ways_out({**handed_in(POLICIES["robot"]), "hole": value}, depth=2)
    assert any("hole" in road and what in road for road in found), found
