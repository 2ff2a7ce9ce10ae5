"""Random programs of everything Python has, for property tests.

What is undefined in them is plain to see for the symbol tables too: nothing is unreachable, no
condition is constant, and no annotation stands where it is not evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "d", "e")
FREE = ("u", "v")
"""Names no program binds."""
PARAMETERS = ("p", "q")


@dataclass(frozen=True)
class _Place:
    """Where a statement stands."""

    depth: int = 0
    """How deep in other statements."""
    function: bool = False
    """In a function."""
    loop: bool = False
    """In a loop."""
    owned: tuple[str, ...] = field(default_factory=tuple)
    """Names an enclosing function is sure to bind."""

    def inner(self) -> _Place:
        return replace(self, depth=self.depth + 1)


class _Writer:
    """Writes one program, each choice drawn."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.number: Callable[[int], int] = lambda below: draw(st.integers(0, below - 1))

    def one(self, *choices: str) -> str:
        return choices[self.number(len(choices))]

    def name(self) -> str:
        return self.one(*NAMES)

    def read(self) -> str:
        return self.one(*NAMES, *FREE, *PARAMETERS)

    def condition(self) -> str:
        return self.one(
            self.read(), f"not {self.read()}", f"{self.read()} < {self.read()}", f"{self.read()}(1)"
        )

    def call(self, depth: int) -> str:
        function = self.one(*FREE, *FREE, *NAMES, "len", f"{self.read()}.m", f"{self.read()}[0]")
        given = [self.expression(depth + 1) for _ in range(self.number(3))]
        if not self.number(4):
            given.append(f"*{self.read()}")
        if not self.number(3):
            given.append(f"k={self.expression(depth + 1)}")
        if not self.number(5):
            given.append(f"**{self.read()}")
        return f"{function}({', '.join(given)})"

    def expression(self, depth: int = 0) -> str:
        kind = self.number(4 if depth > 2 else 19)
        if kind < 3:
            return self.read()
        if kind < 4:
            return self.one("1", "'s'", "None", "[]")
        if kind < 9:
            return self.call(depth)
        below = depth + 1
        return [
            lambda: f"({self.expression(below)} + {self.expression(below)})",
            lambda: f"({self.condition()} and {self.expression(below)})",
            lambda: (
                f"({self.expression(below)} if {self.condition()} else {self.expression(below)})"
            ),
            lambda: f"(lambda {self.parameters(below)}: {self.expression(below)})",
            lambda: self.comprehension(below),
            lambda: f"({self.name()} := {self.expression(below)})",
            lambda: f"f'{{{self.read()}!r:>{{{self.read()}}}}}'",
            lambda: f"[{self.expression(below)}, *{self.read()}]",
            lambda: f"{{{self.expression(below)}: {self.expression(below)}, **{self.read()}}}",
            lambda: f"{self.read()}[{self.expression(below)}:{self.read()}]",
        ][kind - 9]()

    def comprehension(self, depth: int) -> str:
        # No walrus in what is iterated over, nor one that binds the iterated name: Python has none.
        target = self.one("i", "(i, j)", "i, *j")
        loops = f"for {target} in {self.read()}"
        if not self.number(3):
            loops += f" if {self.condition()}"
        if not self.number(3):
            loops += f" for {self.one('k', self.name())} in {self.one('i', self.read())}"
        item = self.one("i", self.read(), f"{self.read()}(i)", self.call(depth + 2))
        left, right = self.one("[]", "()", "{}")
        body = f"i: {item}" if left == "{" and self.number(2) else item
        return f"{left}{body} {loops}{right}"

    def parameters(self, depth: int, hints: bool = False) -> str:
        first = self.one(*NAMES, "p")
        hint = f": {self.read()}" if hints and self.number(2) else ""
        default = f"={self.expression(depth + 1)}" if self.number(2) else ""
        parts = [f"{first}{hint}{default}"]
        parts += [self.one("/", "*rest", "*", "q=1")] if self.number(2) else []
        if parts[-1] == "*":
            parts.append(f"z{hint}{default}")
        parts += ["**more"] * (not self.number(4))
        return ", ".join(parts)

    def block(self, place: _Place, last: str = "") -> str:
        lines = [self.statement(place.inner()) for _ in range(1 + self.number(2))]
        lines += [last] if last else []
        return "".join(f"    {line}\n" for entry in lines for line in entry.split("\n") if line)

    def target(self) -> str:
        name, other = self.name(), self.read()
        return self.one(
            *(name, f"{name}, r", f"({name}, [r, *s])", f"{other}.m", f"{other}[{self.read()}]")
        )

    def statement(self, place: _Place) -> str:
        kind = self.number(10 if place.depth > 2 else 19)
        if kind < 10:
            return self.line(place, kind)
        return [
            self.function,
            self.function,
            self.kind,
            self.branch,
            self.loop,
            self.endless,
            self.handler,
            self.manager,
            self.cases,
        ][kind - 10](place)

    def line(self, place: _Place, kind: int) -> str:
        value = self.expression()
        if kind == 0:
            return value
        if kind < 4:
            return f"{self.target()} = {value}"
        if kind == 4:
            return f"{self.name()} = {self.name()} = {value}"
        if kind == 5:
            return f"{self.name()} += {value}"
        if kind == 6:
            return f"del {self.one(self.name(), f'{self.read()}.m', f'{self.read()}[0]')}"
        if kind == 7:
            return self.one(
                *(f"import {self.name()}", f"import x.y as {self.name()}"),
                *(f"from x import y as {self.name()}", f"import {self.name()}.z"),
            )
        if kind == 8:
            hint = "" if place.function else f": {self.read()}"
            return f"{self.name()}{hint} = {value}"
        return f"assert {self.condition()}, {value}"

    def function(self, place: _Place) -> str:
        header = "".join(
            f"@{self.one(self.read(), self.call(1))}\n" for _ in range(self.number(4) // 3)
        )
        given = self.parameters(1, hints=True)
        arrow = f" -> {self.read()}" if self.number(2) else ""
        opening = ""
        if not self.number(4):
            opening = f"    global {self.one('g', 'h')}\n"
        elif place.owned and not self.number(2):
            opening = f"    nonlocal {place.owned[0]}\n"
        own = "" if opening else "    w = 1\n"
        # A name that is global here, or belongs to another function, is not one to be nonlocal.
        inner = _Place(place.depth, True, False, () if opening else ("w",))
        ending = self.one(f"return {self.expression()}", f"yield {self.read()}", "w = g = h = 1")
        body = self.block(inner, ending)
        return f"{header}def {self.name()}({given}){arrow}:\n{opening}{own}{body}"

    def kind(self, place: _Place) -> str:
        method = _Place(place.depth + 1, function=True)
        bases = self.one("", f"({self.read()})", f"({self.read()}, k={self.read()})")
        body = "    y = 1\n    def m(self, x=y):\n" + "".join(
            f"    {line}\n" for line in self.block(method).split("\n") if line
        )
        return f"class {self.name()}{bases}:\n{body}    z = {self.expression(1)}\n"

    def branch(self, place: _Place) -> str:
        last = self.one("break", "continue") if place.loop and not self.number(2) else ""
        text = f"if {self.condition()}:\n{self.block(place, last)}"
        if not last and self.number(2):
            text += f"elif {self.condition()}:\n{self.block(place)}else:\n{self.block(place)}"
        return text

    def loop(self, place: _Place) -> str:
        body = self.block(replace(place, loop=True))
        return f"for {self.target()} in {self.expression(1)}:\n{body}"

    def endless(self, place: _Place) -> str:
        return f"while {self.condition()}:\n{self.block(replace(place, loop=True))}"

    def handler(self, place: _Place) -> str:
        ending = self.one("", f"else:\n{self.block(place)}", f"finally:\n{self.block(place)}")
        named = self.one("", f" as {self.name()}")
        except_ = self.one(f"except {self.read()}{named}", f"except* {self.read()}{named}")
        return (
            f"try:\n{self.block(place)}{except_}:\n{self.block(replace(place, loop=False))}{ending}"
        )

    def manager(self, place: _Place) -> str:
        bound = self.one("", f" as {self.target()}")
        return f"with {self.call(1)}{bound}, {self.read()}:\n{self.block(place)}"

    def cases(self, place: _Place) -> str:
        name = self.name()
        pattern = self.one(
            *(f"[{name}, *_]", f"{{'k': {name}, **r}}", f"{self.read()}({name}, k=1)"),
            *(f"1 | 2 as {name}", f"{self.read()}.m", name),
        )
        guard = f" if {self.condition()}" if self.number(2) else ""
        body = "".join(f"    {line}\n" for line in self.block(place).split("\n") if line)
        return f"match {self.expression(1)}:\n    case {pattern}{guard}:\n{body}"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Return the source of a program; the compiler may still refuse one in a few."""
    writer = _Writer(draw)
    return "\n".join(writer.statement(_Place()) for _ in range(1 + writer.number(4))) + "\n"
