"""The rules as people read them: what each refuses and why, with an example of either side.

The table is the documentation (`cap check --rules`, `docs/check-rules.md`) and is tested as such.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One rule of the check."""

    meaning: str
    """What it refuses."""
    reason: str
    """Why, and what a program writes instead."""
    refuses: str
    """A program it refuses."""
    accepts: str
    """A neighbour that passes every rule."""


RULES: dict[str, Rule] = {
    "CAP101": Rule(
        "syntax that programs may not use (async, await, type parameters)",
        "Only listed kinds of syntax pass, so that what a later Python adds is refused until it "
        "is looked at. Robot calls wait by themselves; write them without `await`.",
        "async def fetch(): pass",
        "def fetch(): pass",
    ),
    "CAP102": Rule(
        "an import of what is not pure computation",
        "Modules read files, open connections and hold other modules. Those that are listed may be "
        "imported: each shows only names of pure computation. An import that binds only names "
        "already in scope is removed, and noted. In a `try` that catches `ImportError` any may "
        "stand, and raises that. A robot's program gets no clock of the machine; "
        "the policy of benchmarks lists `time`, `datetime` and `calendar` besides.",
        "import os",
        "from math import sin, pi",
    ),
    "CAP103": Rule(
        "an attribute with two underscores before and after its name",
        "Such attributes lead from any value to the interpreter. `x._name` and `x.__name` pass: "
        "they are renamed before the program is compiled, so that they reach what the program's "
        "own classes keep, and nothing of a library. So do operators called by name, such as "
        "`x.__len__()`, `super().__init__()`, `__name__`, `__doc__`, an exception's `__cause__`, "
        "and `__class__`, which means `type(x)`. Operators of a class, `__name__` and `__doc__` "
        "may be bound, and `object.__setattr__(x, name, value)` called; when it runs, that takes "
        "what is the program's own, and nothing else. Where another is meant, use an operator, a "
        "builtin function or a method of your own.",
        "().__class__.__base__",
        "kind = (1).__class__.__name__",
    ),
    "CAP104": Rule(
        "a name that begins and ends with two underscores",
        "They stand for the interpreter's own objects. `__name__` may be read, `__all__`, "
        "`__author__`, `__doc__`, `__license__` and `__version__` may be bound, and a class may "
        "bind special methods in its body (`__radd__ = __add__`); call variables and functions "
        "`_name`.",
        "__builtins__['open']",
        "for __ in range(3): _last = 1",
    ),
    "CAP105": Rule(
        "a builtin that reaches beyond the program (exec, eval, open, dir, ...)",
        "They run text, read files, or hand out what objects keep. `getattr`, `hasattr`, "
        "`setattr` and `vars` are there: they keep to the rules of attributes when they run.",
        "open('notes.txt')",
        "opened = True",
    ),
    "CAP106": Rule(
        "binding the name of a primitive, or an attribute of what is provided",
        "A program must not change what its calls mean, for itself or for a later reader. Choose "
        "another name.",
        "pick = print",
        "picked = pick(1)",
    ),
    "CAP107": Rule(
        "a program that is too large or too deep, or becomes so when it is compiled",
        "Reading it must stay cheap, and must not exhaust the stack. The compiler copies a "
        "`finally` body to each way out of its `try`, so nested ones multiply. Write functions and "
        "loops instead.",
        "x = " + "[" * 110 + "]" * 110,
        "x = " + "[" * 50 + "]" * 50,
    ),
    "CAP108": Rule(
        "a format template that reads what the program may not read",
        "`'{0.__dict__}'.format(x)` reads an attribute by its name in a text. Templates in "
        "variables are looked at when they are used. Use an f-string.",
        "'{0.__dict__}'.format(x)",
        "template = '{} and {b:>{width}}'\nx = template.format(1, b=2, width=4)",
    ),
    "CAP109": Rule(
        "what a module, a library class or a group of primitives does not have for programs",
        "Parts of numpy read and write files, map memory, evaluate text and hold other modules; of "
        "what is no fault of that kind, the nearest name that exists is suggested: use that.",
        "np.load('grid.npy')",
        "np.linspace(0, 1, 5)",
    ),
    "CAP110": Rule(
        "a class with a metaclass, keywords or a special method that is not listed",
        "Such classes take part in the interpreter's own machinery. `metaclass=ABCMeta` passes. "
        "Write properties, class methods and decorators instead.",
        "class A(metaclass=B): pass",
        "class A(B):\n    def __len__(self): return 0",
    ),
    "CAP111": Rule(
        "type called with other than one argument",
        "With three arguments it makes classes out of any names: write a class statement.",
        "type('A', (), {})",
        "kinds = [type(x) for x in (1, 'a')]",
    ),
    "CAP112": Rule(
        "an attribute that leads to frames, code, files or memory",
        "From a generator's frame or an array's buffer the whole process can be reached. Everyday "
        "words among them, such as `data`, `base`, `obj` and `resize`, are a program's own once it "
        "binds them: they are renamed like private names.",
        "g.gi_frame",
        "class Node:\n    def __init__(self, data): self.data = data",
    ),
    "CAP113": Rule(
        "a call that cannot fit what it calls",
        "It would fail when it is reached, after the robot has moved. Only what is certain counts: "
        "primitives, and functions that are bound once, outside of a `try` that catches "
        "`TypeError`. Give it the arguments it takes.",
        "def area(width, height): return width * height\narea(2)",
        "def area(width, height=1): return width * height\narea(2)",
    ),
}


def rules_page() -> str:
    """Return the table as the page `docs/check-rules.md`."""
    parts = [_HEAD]
    for name, rule in RULES.items():
        parts.append(f"## {name}: {rule.meaning}\n\n{rule.reason}\n")
        parts.append(f"Refused:\n\n{_code(rule.refuses)}\nAccepted:\n\n{_code(rule.accepts)}")
    return "\n".join(parts)


def _code(source: str) -> str:
    shown = source if len(source) <= 80 else f"{source[:30]}...  # {len(source)} characters in all"
    return f"```python\n{shown}\n```\n"


_HEAD = """# The rules of the check

A program is checked before it runs; nothing of it is executed for that. Only listed kinds of syntax
pass, and each finding names its rule, its place and the remedy. The check is a filter with good
messages. The boundary is the process a program runs in: see [SECURITY.md](../SECURITY.md).

This page is written by `cap check --rules --markdown`.
"""
