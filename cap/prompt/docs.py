"""What a model reads about a robot: a compact block, made from the docstrings of its primitives.

It is above a prompt file's text and describes only what that prompt imports: the frames and
sizes of the robot's world, then a line for each function with its parameters, units and failures.
`cap robots show` prints the same docstrings in full.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping, Sequence

from cap.program.scope import Primitive

_SECTION = re.compile(r"^(Args|Returns|Raises):[ \t]*$", re.MULTILINE)


def primitive_docs(
    about: str, primitives: Mapping[str, Primitive], groups: Mapping[str, Sequence[str]]
) -> str:
    """Return what stands above a prompt's text; "" if there is nothing to tell.

    Args:
        about: What the robot says of itself and its world.
        primitives: What programs of the prompt may call.
        groups: Objects whose attributes some of them are.
    """
    owners = {name: f"{group}." for group, names in groups.items() for name in names}
    said: set[str] = set()
    lines = [owners.get(one.name, "") + described(one, said) for one in primitives.values()]
    paragraphs = _paragraphs(about)
    if not (paragraphs or lines):
        return ""
    text = "\n".join([*paragraphs, "", *lines]).strip()
    return '"""' + re.sub(r"(?m)^#", " #", text.replace('"""', "'''")) + '\n"""'


def imports(primitives: Mapping[str, Primitive]) -> str:
    """Return the lines that name what a function may call that is written for a program."""
    lmps = [name for name, primitive in primitives.items() if primitive.kind == "lmp"]
    names = {"robot": [name for name in primitives if name not in lmps], "lmps": lmps}
    return "\n".join(f"from {of} import {', '.join(some)}" for of, some in names.items() if some)


def described(primitive: Primitive, said: set[str]) -> str:
    """Return one function in one line: how it is called, what it does and takes, how it fails.

    Args:
        primitive: The function.
        said: What functions before it take and how they fail, to the letter; not shown again.
    """
    body, *sections = _SECTION.split(primitive.doc)
    there = dict(zip(sections[::2], sections[1::2], strict=True))
    parts = _paragraphs(body)
    for entry in _entries(there.get("Args", "")):
        if entry not in said:
            parts.append(entry if entry.endswith((".", "!", "?")) else f"{entry}.")
        said.add(entry)
    if value := " ".join(_paragraphs(there.get("Returns", ""))):
        parts.append(f"Returns {value[0].lower()}{value[1:]}")
    raised = _entries(there.get("Raises", ""))
    if raised:
        errors = [entry.partition(":")[0] if entry in said else entry for entry in raised]
        parts.append(f"Raises {'; '.join(entry.rstrip('.') for entry in errors)}.")
        said.update(raised)
    called = call_of(primitive, typed="Args" not in there, returns="Returns" not in there)
    return f"{called}: {' '.join(parts)}" if parts else called


def call_of(primitive: Primitive, *, typed: bool = False, returns: bool = False) -> str:
    """Return how a function is called, such as `goto_pos(pos, speed=0.25)`.

    Args:
        primitive: The function.
        typed: With the kinds of its parameters.
        returns: With the kind of its value.
    """
    shown = []
    for entry in primitive.signature.parameters.values():
        if primitive.kind == "lmp" and entry.name != "description":
            continue  # its facts are in the context; its other arguments are in its docs
        kind = entry.annotation if typed and primitive.kind != "lmp" else entry.empty
        shown.append(str(entry.replace(annotation=kind)).replace("'", ""))
    value = primitive.signature.return_annotation
    known = (
        returns and primitive.kind != "lmp" and value not in (inspect.Signature.empty, None, "None")
    )
    arrow = f" -> {inspect.formatannotation(value)}".replace("'", "") if known else ""
    return f"{primitive.name}({', '.join(shown)}){arrow}"


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def _entries(section: str) -> list[str]:
    """Return the entries of an indented section: each begins where the first one does."""
    lines = [line for line in section.split("\n") if line.strip()]
    dedented = textwrap.dedent("\n".join(lines)).split("\n")
    return _paragraphs("\n".join(line if line[:1] == " " else f"\n{line}" for line in dedented))
