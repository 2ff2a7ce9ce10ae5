"""Enumerations that no data can give special methods to.

`Enum("E", names)` makes a class of any names at all, such as those by which numpy asks an object
for its memory. Here the names are those a program could have written in a class.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from cap.program.private_names import MARK, shown
from cap.sandbox.worker.abstract import without_memory
from cap.sandbox.worker.builtin_function import shown_as

_LOOKS_UP_MANY = sys.version_info >= (3, 12)
"""Python takes several values for one, of an enumeration with any members."""


class _Kind(enum.EnumMeta):
    """The class of a program's enumerations."""

    def __new__(cls, name: str, bases: Any, space: Any, **more: Any) -> Any:
        """Make one; its members say their names as the program wrote them."""
        made: Any = super().__new__(cls, name, bases, space, **more)
        if any(MARK in member for member in made._member_map_):
            made._member_names_[:] = map(shown, made._member_names_)
            for member, value in [*made._member_map_.items()]:
                del made._member_map_[member]
                made._member_map_[shown(member)] = value
                value._name_ = shown(value._name_)
        return made

    def __call__(cls, value: Any, *more: Any, **named: Any) -> Any:
        """Return a member by its value, or a class by the names of its members."""
        full = cls._member_map_ if _LOOKS_UP_MANY else cls._member_names_
        if full or not (more or "names" in named):
            return super().__call__(value, *more, **named)
        names = named.pop("names") if "names" in named else more[0]
        options = {name: entry for name, entry in named.items() if name in ("start", "type")}
        options["module"] = sys._getframe(1).f_globals.get("__name__")
        return super().__call__(_harmless(value), _members(names), **options)

    def __instancecheck__(cls, value: Any) -> bool:
        """Tell whether a value is a member; `IntEnum`'s are also `Enum`'s."""
        return type.__instancecheck__(_library_kinds.get(cls, cls), value)

    def __subclasscheck__(cls, kind: Any) -> bool:
        """Tell whether a class is an enumeration of this kind."""
        return type.__subclasscheck__(_library_kinds.get(cls, cls), kind)


shown_as(_Kind, "enum", "EnumType")
_library_kinds: dict[Any, Any] = {}
"""What each class here stands for."""


def _members(names: Any) -> list[Any]:
    """Return what a class is to be made of, if a program could have written it."""
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    if isinstance(names, Mapping):
        names = names.items()
    if not isinstance(names, Iterable):
        raise TypeError("the names of an enumeration are a text or a list of texts")
    members: list[Any] = []
    for entry in names:
        if isinstance(entry, str):
            members.append(_harmless(entry))
        else:
            name, value = entry
            members.append((_harmless(name), value))
    return members


def _harmless(name: Any) -> str:
    if type(name) is not str or not name.isidentifier() or name.startswith("_"):
        raise ValueError(f"an enumeration cannot have a member called {str(name)[:80]!r} here")
    return name


def _stand_in(kind: Any) -> Any:
    """Return a class to inherit from in place of one of the library's."""
    space = _Kind.__prepare__(kind.__name__, (kind,))
    space["__module__"] = "enum"
    made = _Kind(kind.__name__, (kind,), space)
    _library_kinds[made] = kind
    without_memory(made)
    return made


_KINDS = (enum.Enum, enum.Flag, enum.IntEnum, enum.IntFlag, enum.StrEnum)
ENUM: Mapping[str, Any] = {
    **{kind.__name__: _stand_in(kind) for kind in _KINDS},
    "auto": enum.auto,
    "unique": enum.unique,
}
"""What stands for each name of `enum`."""
