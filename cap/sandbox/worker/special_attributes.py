"""Special attributes that a program binds, with some others, and the few that lead further.

By looking at `x.__name__ = ...` nobody can tell what `x` is. A program's own functions, classes and
objects take names and texts, its own classes take special methods as in a `class` statement, and
what is provided takes nothing.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

from cap.checker.attributes import DATA_MODEL, SETTABLE
from cap.program.private_names import GUARDED, hidden, is_special, shown
from cap.sandbox.worker.abstract import PROGRAM_NAMES
from cap.sandbox.worker.builtin_function import BuiltinFunction
from cap.sandbox.worker.dispatch import is_of_program, of_program
from cap.sandbox.worker.object_dictionary import ObjectDictionary

_TEXTS = ("__name__", "__qualname__", "__doc__")


class SpecialAttributes:
    """What stands before a special attribute that is bound, and before those in `_READ`."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        """Keep the object whose attribute is meant."""
        object.__setattr__(self, "_value", value)

    def __getattribute__(self, name: str) -> Any:
        """Return an attribute."""
        value = object.__getattribute__(self, "_value")
        if name in _READ:
            return _READ[name](value)
        if name not in SETTABLE and name not in GUARDED:
            raise AttributeError(f"attribute '{name}' leads to the interpreter")
        return getattr(value, name)

    def __setattr__(self, name: str, new: Any) -> None:
        """Bind one."""
        set_special(object.__getattribute__(self, "_value"), name, new)

    def __delattr__(self, name: str) -> None:
        """Refuse to unbind one."""
        raise AttributeError(f"attribute '{name}' may be read only; define it in a class")


def set_special(value: Any, name: str, new: Any) -> None:
    """Bind a special attribute of what is a program's own."""
    kind = value if isinstance(value, type) else type(value)
    own = is_of_program(value) or kind.__module__ in PROGRAM_NAMES
    if name in _TEXTS and own:
        if type(new) is not str and not (new is None and name == "__doc__"):
            raise TypeError(f"{name} must be set to a string object")
    elif name in SETTABLE - DATA_MODEL and isinstance(value, BaseException):
        pass  # the interpreter takes none but other exceptions
    elif name == "mro" and own:
        pass  # a word like others, but for what a class has under it
    elif name in GUARDED:
        if type(getattr(kind, name, None)) is types.GetSetDescriptorType:
            raise AttributeError(f"attribute '{name}' may be read only; make a new array")
    elif name not in DATA_MODEL or not own or kind is not value:
        raise AttributeError(f"attribute '{name}' may be read only; define it in a class")
    setattr(value, name, new)


def _initializer(value: Any) -> Any:
    """Return `__init__` of a program's own class, or of an object of one.

    That of another would make anew what its users rely on.
    """
    kind = value if isinstance(value, type) else type(value)
    found = kind.__init__  # type: ignore[misc]
    plain = is_of_program(found) or type(found) is types.WrapperDescriptorType
    if kind.__module__ not in PROGRAM_NAMES or not plain:
        raise AttributeError("attribute '__init__' leads to the interpreter; make a new object")
    return value.__init__


def _wrapped(function: Any) -> Any:
    """Return the program's own function that a decorator was put before."""
    found = function.__wrapped__
    if not is_of_program(found) and type(found).__module__ not in PROGRAM_NAMES:
        raise AttributeError("attribute '__wrapped__' leads to the library's own")
    return found


def _annotations(thing: Any) -> dict[str, Any]:
    """Return the hints in a function or class of the program's, each under the name in it."""
    own = isinstance(thing, type) and thing.__module__ in PROGRAM_NAMES
    if not own and not is_of_program(thing):
        raise AttributeError("attribute '__annotations__' is there for your own functions")
    return {shown(name): hint for name, hint in thing.__annotations__.items()}


def _members(kind: Any) -> Any:
    """Return the members of an enumeration by their names, the other names of some among them."""
    if not isinstance(kind, enum.EnumMeta):
        raise AttributeError("attribute '__members__' is there for enumerations")
    return types.MappingProxyType(dict(kind.__members__))


def _setter(owner: Any) -> Callable[..., None]:
    """Return `object.__setattr__`, or that of `super()`: it sets what a frozen class protects.

    Neither is a `partial`, which hands out what it is made of.
    """
    if type(owner) is super:
        inherited: Any = owner
        bind, value = inherited.__setattr__, inherited.__self__
        return lambda name, new, /: _set_plainly(bind, value, name, new)
    if owner is object:
        return lambda value, name, new, /: _set_plainly(
            functools.partial(object.__setattr__, value), value, name, new
        )
    raise AttributeError("attribute '__setattr__' leads to the interpreter; use setattr()")


def _set_plainly(bind: Callable[[str, Any], None], value: Any, name: Any, new: Any, /) -> None:
    """Set an attribute of an object of the program's own class."""
    if type(value).__module__ not in PROGRAM_NAMES:
        raise TypeError(f"can't apply this __setattr__ to {type(value).__name__} object")
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")
    if is_special(name):
        raise AttributeError(f"attribute '{name}' may be read only; define it in a class")
    bind(hidden(name), new)


def _module(thing: Any) -> str:
    """Return the name of the module of a class, or of what is the program's own: a text."""
    if isinstance(thing, type):
        return str(thing.__module__)
    if (own := of_program(thing)) is None:
        raise AttributeError("attribute '__module__' is there for your own functions and classes")
    return str(own.__module__ if is_of_program(own) else type(own).__module__)


def _classes(name: str) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads the classes that a class inherits from, each as `type` shows it."""

    def read(kind: Any) -> tuple[Any, ...]:
        from cap.sandbox.worker.namespace import shown_class

        if not isinstance(kind, type):
            raise AttributeError(f"'{type(kind).__name__}' object has no attribute '{name}'")
        return tuple(map(shown_class, type.__dict__[name].__get__(kind)))

    return read


def _mro(thing: Any) -> Any:
    """Return `mro` of a class, however it was reached, or what a program has under that name."""
    found = thing.mro
    if not (isinstance(found, types.BuiltinMethodType) and found.__name__ == "mro"):
        return found
    kind = found.__self__  # not `thing`: a hint such as `list[int]` hands out the method of `list`
    return BuiltinFunction("mro", lambda: [*_READ["__mro__"](kind)])


_READ: Mapping[str, Callable[[Any], Any]] = {
    "__init__": _initializer,
    "__dict__": ObjectDictionary,
    "__setattr__": _setter,
    "__wrapped__": _wrapped,
    "__annotations__": _annotations,
    "__members__": _members,
    "__module__": _module,
    "__mro__": _classes("__mro__"),
    "__bases__": _classes("__bases__"),
    "mro": _mro,
}
"""What reads the attributes that lead further."""
