"""The dictionary of an object, as its program knows it: `x.__dict__` and `vars(x)`.

In the object's own, private names have other names, and whoever writes into it gives the object
attributes that no class could have. This one shows each attribute under the name in the program,
as it is at the moment, and sets attributes by the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cap.program.private_names import MARK, hidden, is_renamed, is_special, shown
from cap.sandbox.worker.abstract import PROGRAM_NAMES
from cap.sandbox.worker.builtin_function import shown_as
from cap.sandbox.worker.deep_copy import deepcopy


class ObjectDictionary(dict[str, Any]):
    """The attributes of an object of a program's own class."""

    __slots__ = ("_attributes",)

    def __init__(self, value: Any) -> None:
        """Take the object's own dictionary; raise what Python does where it has none."""
        if isinstance(value, type) or type(value).__module__ not in PROGRAM_NAMES:
            raise AttributeError("attribute '__dict__' is there for objects of your own classes")
        self._attributes = value.__dict__
        self._read()

    def _read(self) -> None:
        """Take the attributes as they are now, but for those that a library keeps there."""
        now = {
            shown(name): value
            for name, value in self._attributes.items()
            if MARK in name or not is_renamed(name)
        }
        here = dict(dict.items(self))
        if [*now] != [*here] or any(now[name] is not here[name] for name in now):
            dict.clear(self)
            dict.update(self, now)

    def _write(self, before: dict[str, Any]) -> None:
        """Give the object the attributes as they are here."""
        for name in dict.keys(self):
            own = type(name) is str and not (
                is_special(name) and dict.get(self, name) is not before.get(name, self)
            )
            if not own:
                raise AttributeError(f"an object cannot have an attribute {name!r} here")
        for name in before.keys() - dict.keys(self):
            del self._attributes[hidden(name)]
        for name, value in dict.items(self):
            self._attributes[hidden(name)] = value

    def __copy__(self) -> dict[str, Any]:
        """Return a plain one."""
        return dict(self)

    def __deepcopy__(self, memo: Any) -> dict[str, Any]:
        """Return a plain one of copies."""
        return deepcopy(dict(self), memo)  # type: ignore[no-any-return]


def _reading(name: str) -> Callable[..., Any]:
    def method(self: ObjectDictionary, /, *args: Any) -> Any:
        self._read()
        return getattr(dict, name)(self, *args)

    method.__name__ = name
    return method


def _writing(name: str) -> Callable[..., Any]:
    def method(self: ObjectDictionary, /, *args: Any, **named: Any) -> Any:
        self._read()
        before = dict(dict.items(self))
        found = getattr(dict, name)(self, *args, **named)
        self._write(before)
        return found

    method.__name__ = name
    return method


for _name in (
    *("__contains__", "__eq__", "__getitem__", "__iter__", "__len__", "__ne__", "__or__"),
    *("__repr__", "__reversed__", "__ror__", "copy", "get", "items", "keys", "values"),
):
    setattr(ObjectDictionary, _name, _reading(_name))
for _name in (
    *("__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault"),
    "update",
):
    setattr(ObjectDictionary, _name, _writing(_name))
shown_as(ObjectDictionary, "builtins", "dict")


def attributes_of(*given: Any) -> ObjectDictionary:
    """Stand in for `vars`."""
    if len(given) != 1:
        raise TypeError(f"vars() takes one argument here, and got {len(given)}")
    if not hasattr(given[0], "__dict__"):
        raise TypeError("vars() argument must have __dict__ attribute")
    return ObjectDictionary(given[0])
