"""Format templates that read no attribute a program may not read: `text.format(...)`."""

from __future__ import annotations

import functools
import itertools
import re
from _string import formatter_field_name_split  # type: ignore[import-not-found]
from collections.abc import Iterator, Mapping
from string import Formatter
from types import BuiltinMethodType
from typing import Any

from cap.checker.attributes import reason_against
from cap.program.private_names import LEADS_OUT, hidden
from cap.sandbox.worker.builtin_function import BuiltinFunction

_PARSE = Formatter().parse
_TELLS_CLASSES = re.compile(r"\.(?:__class__|mro)\b")
_DEPTH = 2
"""How deep Python lets fields stand in fields."""


class Formats:
    """What stands before `.format` and `.format_map` in a compiled program."""

    __slots__ = ("_value",)
    _value: Any

    def __init__(self, value: Any) -> None:
        """Keep the object whose attribute is asked for."""
        object.__setattr__(self, "_value", value)

    def __setattr__(self, name: str, new: Any) -> None:
        """Bind its attribute, as `x.format += 1` does."""
        setattr(self._value, name, new)

    @property
    def format(self) -> Any:
        """What it has under that name; of a text, a method that reads no forbidden attribute."""
        return _harmless(self._value.format)

    @property
    def format_map(self) -> Any:
        """The same with the values in a mapping."""
        return _harmless(self._value.format_map)


def _harmless(method: Any) -> Any:
    """Return a method as it is, but for the two of texts, however they were reached."""
    if isinstance(method, BuiltinMethodType) and isinstance(method.__self__, str):
        stand_in = _format if method.__name__ == "format" else _format_map
        return BuiltinFunction(method.__name__, functools.partial(stand_in, method.__self__))
    if method is str.format or method is str.format_map:
        return BuiltinFunction(method.__name__, _format if method is str.format else _format_map)
    return method


class _ClassFormatter(Formatter):
    """Formats a template that tells the class of a value, or those that one inherits from."""

    def __init__(self) -> None:
        """Begin with the first field."""
        self._numbers = itertools.count()

    def parse(self, format_string: Any) -> Any:
        """Yield the parts of a template; a field without a number gets the next."""
        for literal, field, spec, conversion in super().parse(format_string):
            if field is not None and field[:1] in ("", ".", "["):
                field = f"{next(self._numbers)}{field}"
            yield literal, field, spec, conversion

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        """Return what a field stands for, read by the rules."""
        from cap.sandbox.worker.namespace import kind_of
        from cap.sandbox.worker.special_attributes import SpecialAttributes

        first, steps = formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, step in steps:
            if is_attribute and step == "__class__":
                value = kind_of(value)
            elif is_attribute and step == "mro":
                value = SpecialAttributes(value).mro
            else:
                value = getattr(value, _attribute(step)) if is_attribute else value[step]
        return value, first


def _format(template: str, /, *args: Any, **named: Any) -> str:
    if _TELLS_CLASSES.search(str.__str__(template)):
        return _ClassFormatter().vformat(str.__str__(template), args, named)
    return str.format(_checked(template), *args, **named)


def _format_map(template: str, values: Mapping[str, Any], /) -> str:
    if _TELLS_CLASSES.search(str.__str__(template)):
        return _ClassFormatter().vformat(str.__str__(template), (), values)
    return str.format_map(_checked(template), values)


def _checked(template: str) -> str:
    """Return a template with the attributes in its fields named as in the compiled program."""
    parts = [*_parts(template, _DEPTH)]
    return "".join(parts)


def _parts(template: str, depth: int) -> Iterator[str]:
    for literal, field, spec, conversion in _PARSE(template):
        yield literal.replace("{", "{{").replace("}", "}}")
        if field is None:
            continue
        first, steps = formatter_field_name_split(field)
        name = str(first) if field[:1].isdigit() or first != "" else ""
        for is_attribute, step in steps:
            name += f".{_attribute(step)}" if is_attribute else f"[{step}]"
        yield "{" + name + (f"!{conversion}" if conversion else "")
        if spec:
            yield ":"
            yield from _parts(spec, depth - 1) if depth else (spec,)
        yield "}"


def _attribute(name: str) -> str:
    if finding := reason_against(name, LEADS_OUT):
        raise AttributeError(finding[1])
    return hidden(name)
