"""Record classes whose fields may be private: `dataclass`, `namedtuple` and `NamedTuple`.

The libraries behind them take names of attributes for what a person reads and writes, so private
fields (`cap.program.private_names`) get back here the names their program gave them.
"""

from __future__ import annotations

import collections
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cap.program.private_names import MARK, hidden, is_renamed, is_special, shown
from cap.sandbox.worker.abstract import PROGRAM_NAMES, without_memory
from cap.sandbox.worker.builtin_function import shown_as
from cap.sandbox.worker.templates import Formats

_TUPLE_NAMES = ("_asdict", "_field_defaults", "_fields", "_make", "_replace")


# --- data classes


class _Field(dataclasses.Field[Any]):
    """A field of a data class: `dataclasses` writes code with its name, so that is always one."""

    __slots__ = ("_name",)

    @property
    def name(self) -> Any:
        """What the field is called."""
        return self._name

    @name.setter
    def name(self, name: Any) -> None:
        if name is not None and (type(name) is not str or not name.isidentifier()):
            raise ValueError("a field cannot have that name")
        if name is not None and (is_special(name) or (is_renamed(name) and MARK not in name)):
            raise ValueError(f"a field cannot be called {name!r} here")
        self._name = name


def _copied(field: Any) -> Any:
    """Return a copy of a field, without its name."""
    made = _Field.__new__(_Field)
    made.name = None
    for slot in set(dataclasses.Field.__slots__) - {"name"}:
        setattr(made, slot, getattr(field, slot))
    return made


def field(**options: Any) -> Any:
    """Stand in for `dataclasses.field`."""
    return _copied(dataclasses.field(**options))


def dataclass(kind: type | None = None, /, **options: Any) -> Any:
    """Stand in for `dataclasses.dataclass`."""
    if kind is None:
        return lambda kind, /: dataclass(kind, **options)  # a partial hands out its parts
    if not isinstance(kind, type) or kind.__module__ not in PROGRAM_NAMES:
        raise TypeError("dataclass() takes classes of the program's own")
    notes = dict(vars(kind).get("__annotations__", {}))
    for name, note in notes.items():
        if type(name) is not str or not name.isidentifier():
            raise TypeError("a data class cannot have a field by that name")
        notes[name] = _meant(note)
    options = {name: bool(on) for name, on in options.items()}
    for name, own in {name: _own_field(kind, name) for name in notes}.items():
        if own is not None:  # whoever holds the one that was given could rename it
            setattr(kind, name, own)
    kind.__annotations__ = notes
    text: Any = kind.__doc__
    if not (type(text) is str and text):  # else one is written, of what a base's text evaluates to
        kind.__doc__ = kind.__name__
    made: Any = dataclasses.dataclass(kind, **options)
    _hide_matched(made)
    if any(MARK in name for name in made.__dataclass_fields__):
        _show_names(made.__dict__.get("__init__"))
        _show_names(made.__dict__.get("__repr__"), texts=True)
    if text is None or (type(text) is str and not text):
        if isinstance(made.__init__, types.FunctionType):
            taken = inspect.signature(made.__init__, follow_wrapped=False)
            rest = taken.replace(parameters=[*taken.parameters.values()][1:])
            made.__doc__ = shown(f"{made.__name__}{rest}".replace(" -> None", ""))
        elif made.__init__ is object.__init__:
            made.__doc__ = f"{made.__name__}()"
    else:
        made.__doc__ = text
    return made


_PLAIN_DESCRIPTORS = (
    *(types.FunctionType, property, staticmethod, types.MemberDescriptorType),
    *(types.GetSetDescriptorType, types.MethodDescriptorType, types.WrapperDescriptorType),
)
"""What a class gives away without calling a program."""


def _own_field(kind: type, name: str) -> Any:
    """Return a copy of the field that a class gives as a default, which no program holds.

    A default that the program computes when it is looked at is refused.
    """
    default = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if hasattr(type(default), "__get__") and type(default) not in _PLAIN_DESCRIPTORS:
        raise TypeError(f"the default of the field '{shown(name)}' is computed; give a plain value")
    if type(default) is not _Field:
        return None
    for flag in ("init", "repr", "hash", "compare", "kw_only"):
        value = getattr(default, flag)
        if type(value) is not bool and value is not None and value is not dataclasses.MISSING:
            raise TypeError(f"'{flag}' of the field '{shown(name)}' is neither True nor False")
    return _copied(default)


def _meant(note: Any) -> Any:
    """Return a note, or what `dataclasses` looks for, be it said by a hint or a text."""
    text = repr(note) if type(note).__name__ == "_GenericAlias" else note
    if type(text) is not str:
        return note
    word = text.partition("[")[0].rpartition(".")[2].strip()
    return _LOOKED_FOR.get(word, note)


_LOOKED_FOR = {
    "ClassVar": typing.ClassVar,
    "InitVar": dataclasses.InitVar,
    "KW_ONLY": dataclasses.KW_ONLY,
}
"""What a text in place of a hint may mean to a data class."""


def _show_names(method: Any, *, texts: bool = False) -> None:
    """Have a method that `dataclasses` wrote take names as the program wrote them.

    Args:
        method: What may be that.
        texts: Its texts are to be shown; those of an `__init__` are what it binds.
    """
    function = getattr(method, "__wrapped__", method)
    if not isinstance(function, types.FunctionType) or function.__code__.co_filename != "<string>":
        return
    code = function.__code__
    constants = [
        shown(entry) if texts and type(entry) is str else entry for entry in code.co_consts
    ]
    variables = tuple(map(shown, code.co_varnames))
    function.__code__ = code.replace(co_consts=tuple(constants), co_varnames=variables)
    function.__annotations__ = {
        shown(name): note for name, note in function.__annotations__.items()
    }
    if defaults := function.__kwdefaults__:
        function.__kwdefaults__ = {shown(name): value for name, value in defaults.items()}


def fields(record: Any) -> tuple[Any, ...]:
    """Stand in for `dataclasses.fields`."""
    found = []
    for entry in dataclasses.fields(record):
        found.append(_copied(entry))
        found[-1]._name = shown(entry.name)
    return tuple(found)


def asdict(record: Any, *, dict_factory: Callable[[Any], Any] = dict) -> Any:
    """Stand in for `dataclasses.asdict`."""

    def make(pairs: Iterable[tuple[str, Any]]) -> Any:
        return dict_factory([(shown(name), value) for name, value in pairs])

    return dataclasses.asdict(record, dict_factory=make)


def replace(record: Any, /, **changes: Any) -> Any:
    """Stand in for `dataclasses.replace`."""
    inner = {hidden(name): value for name, value in changes.items()}
    if isinstance(record, type) or not any(MARK in f.name for f in dataclasses.fields(record)):
        return dataclasses.replace(record, **changes)
    for entry in dataclasses.fields(record):
        if entry.init:
            inner.setdefault(entry.name, getattr(record, entry.name))
        elif entry.name in inner:
            name = shown(entry.name)
            raise ValueError(f"field {name} is declared with init=False, it cannot be specified")
    return type(record)(**{shown(name): value for name, value in inner.items()})


for _function in (asdict, dataclass, field, fields, replace):
    shown_as(_function, "dataclasses", _function.__name__)
shown_as(_Field, "dataclasses", "Field")
DATACLASSES: Mapping[str, Any] = {
    "asdict": asdict,
    "astuple": dataclasses.astuple,
    "dataclass": dataclass,
    "field": field,
    "fields": fields,
    "is_dataclass": dataclasses.is_dataclass,
    "replace": replace,
}
"""What stands for each name of `dataclasses`."""


# --- plain namespaces


class SimpleNamespace:
    """Stand in for `types.SimpleNamespace`."""

    def __init__(self, /, *given: Any, **values: Any) -> None:
        """Keep the values, each under the name by which a program reads it."""
        if given:
            raise TypeError("no positional arguments expected")
        if not isinstance(self, SimpleNamespace):
            raise TypeError("SimpleNamespace.__init__() takes a SimpleNamespace")
        for name in values:  # numpy asks objects for their memory
            if type(name) is str and not is_special(name):
                continue
            raise ValueError(f"a namespace cannot have an attribute {str.__repr__(name)} here")
        vars(self).update({hidden(name): value for name, value in values.items()})

    def __eq__(self, other: object) -> bool:
        """Compare the values."""
        return vars(self) == vars(other) if isinstance(other, SimpleNamespace) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return what `types` would show."""
        kind = "namespace" if type(self) is SimpleNamespace else type(self).__name__
        parts = (f"{shown(name)}={value!r}" for name, value in vars(self).items())
        return f"{kind}({', '.join(parts)})"


shown_as(SimpleNamespace, "types", "SimpleNamespace")
without_memory(SimpleNamespace)


# --- named tuples


def namedtuple(
    typename: str, field_names: Any, *, rename: bool = False, defaults: Any = None
) -> type:
    """Stand in for `collections.namedtuple`."""
    return _named_tuple(typename, field_names, rename, defaults, _caller())


def _caller() -> Any:
    """Return what the module is called that called who asks."""
    return sys._getframe(2).f_globals.get("__name__")


def _named_tuple(typename: str, field_names: Any, rename: bool, defaults: Any, module: Any) -> type:
    return _with_tuple_names(
        collections.namedtuple(
            typename, field_names, rename=rename, defaults=defaults, module=module
        )
    )


def _with_tuple_names(kind: Any) -> type:
    """Let programs know the attributes of named tuples that have other names in their code."""
    for name in (*_TUPLE_NAMES, *kind._fields):
        if hidden(name) != name:
            setattr(kind, hidden(name), vars(kind)[name])
    kind.__match_args__ = tuple(map(hidden, kind._fields))  # type: ignore[misc]
    _hide_matched(kind)
    made: type = kind
    return made


_FORMATS: Mapping[str, Any] = {
    "format": property(lambda record: Formats(record).format),
    "format_map": property(lambda record: Formats(record).format_map),
}
"""What patterns take of records whose fields are called like methods of texts."""


def _hide_matched(kind: Any) -> None:
    """Have patterns with this class take `format` of its own objects, not that of a text."""
    matched = vars(kind).get("__match_args__", ())
    for name in _FORMATS.keys() & set(matched):
        setattr(kind, name + MARK, _FORMATS[name])
    marked = tuple(name + MARK if name in _FORMATS else name for name in matched)
    if marked != matched:
        kind.__match_args__ = marked  # type: ignore[misc]


class _TypedTupleKind(typing.NamedTupleMeta):  # type: ignore[name-defined, misc]
    """Makes the classes below `TypedTuple`."""

    def __new__(cls, name: str, bases: Any, space: dict[str, Any]) -> type:
        """Make one, as `typing` does; its fields are called what the program called them."""
        notes = space.get("__annotations__", {})
        fields = [field for field in notes if MARK in field]
        space["__annotations__"] = {shown(field): note for field, note in notes.items()}
        for field in fields:
            if field in space:
                space[shown(field)] = space.pop(field)
        bases = tuple(typing._NamedTuple if base is _base else base for base in bases)  # type: ignore[attr-defined]
        return _with_tuple_names(super().__new__(cls, name, bases, space))


_base: type = type.__new__(_TypedTupleKind, "NamedTuple", (), {})


class TypedTuple:
    """Stand in for `typing.NamedTuple`."""

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        """Return what makes the classes."""
        return (_base,)

    def __call__(self, typename: str, fields: Iterable[tuple[str, Any]] = ()) -> type:
        """Make one of names and kinds."""
        return _named_tuple(typename, [name for name, _ in fields], False, None, _caller())

    def __repr__(self) -> str:
        """Return what `typing` would show."""
        return "<function NamedTuple>"


# --- typed dictionaries


class _TypedDictionaryKind(type):
    """The class of classes below `TypedDict`, which make plain dictionaries."""

    def __call__(cls, *args: Any, **values: Any) -> dict[Any, Any]:
        """Make one."""
        return dict(*args, **values)

    def __instancecheck__(cls, value: Any) -> bool:
        """Refuse to tell, as `typing` does."""
        raise TypeError("TypedDict does not support instance and class checks")

    __subclasscheck__ = __instancecheck__


_dictionary: type = type.__new__(_TypedDictionaryKind, "TypedDict", (dict,), {})


class TypedDictionary:
    """Stand in for `typing.TypedDict`, in class statements alone."""

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        """Return the class to inherit from."""
        return (_dictionary,)

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse to make a class of data."""
        raise TypeError("TypedDict makes no class of data here; write `class A(TypedDict):`")

    def __repr__(self) -> str:
        """Return what `typing` would show."""
        return "<function TypedDict>"


shown_as(_TypedDictionaryKind, "typing", "_TypedDictMeta")
shown_as(TypedDictionary, "typing", "TypedDict")
shown_as(namedtuple, "collections", "namedtuple")
shown_as(TypedTuple, "typing", "NamedTuple")
