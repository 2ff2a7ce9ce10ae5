"""Attributes by name: which no program may read, and which its own classes may define."""

from __future__ import annotations

from collections.abc import Container
from functools import cache

from cap.checker.allowlist import SHAPELY_GEOMETRY, names
from cap.program.private_names import PROTOCOL, is_private, leads_out

DATA_MODEL = frozenset(
    names(
        """
        __init__ __repr__ __str__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __bool__
        __len__ __iter__ __next__ __getitem__ __setitem__ __delitem__ __contains__ __call__
        __enter__ __exit__ __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__
        __imul__ __matmul__ __truediv__ __rtruediv__ __floordiv__ __mod__ __pow__ __neg__
        __pos__ __abs__ __invert__ __and__ __or__ __xor__ __int__ __float__ __round__
        __reversed__ __post_init__ __lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__
        __irshift__ __rand__ __iand__ __ror__ __ior__ __rxor__ __ixor__ __rpow__ __ipow__
        __rmatmul__ __imatmul__ __itruediv__ __rfloordiv__ __ifloordiv__ __rmod__ __imod__
        __divmod__ __rdivmod__ __index__ __complex__ __trunc__ __floor__ __ceil__ __format__
        __bytes__ __missing__ __copy__ __deepcopy__ __length_hint__
        """
    )
)
"""The special methods a program's class may define."""
READABLE = DATA_MODEL - {"__init__"} | frozenset(
    names("__name__ __qualname__ __doc__ __cause__ __context__ __suppress_context__ __notes__")
)
"""The special attributes a program may read of anything.

`__init__` of what is made already would make it anew, under those who use it.
"""
SETTABLE = DATA_MODEL | frozenset(
    names("__name__ __qualname__ __doc__ __cause__ __context__ __suppress_context__")
)
"""The special attributes a program may bind of what is its own; looked at when it does."""
BUILTIN_CLASSES = {kind.__name__: kind for kind in (str, list, dict, set, tuple, int, float)}
SHAPELY_CLASSES = frozenset(SHAPELY_GEOMETRY) - {"box"}


def reason_against(name: str, own: Container[str] = ()) -> tuple[str, str] | None:
    """Return the rule and the reason against reading an attribute of that name from anything.

    Args:
        name: The attribute.
        own: Attributes that the program's own classes bind.
    """
    if name.strip("_") == "":
        return None
    if name.startswith("_"):
        if name in READABLE or name in PROTOCOL or is_private(name):
            return None  # a private one has another name when it runs
        instead = _INSTEAD.get(name, "use an operator, a builtin function or your own method")
        return "CAP103", f"attribute '{name}' leads to the interpreter; {instead}"
    if leads_out(name) and name not in own:
        why = "leads to memory, files or frames, where no class of the program binds it"
        return "CAP112", f"'.{name}' {why}; use another name, or a method that computes the value"
    return None


_INSTEAD = {
    "__dict__": "name the attributes you need; your own objects have it, as `self.__dict__`",
    "__init__": "make a new object instead, or call super().__init__()",
    "__new__": "call the class",
    "__traceback__": "use str(error)",
    "__base__": "use issubclass()",
    "__subclasses__": "keep a list of your own classes",
    "__self__": "keep the object itself",
    "__setattr__": "assign the attribute, or use setattr() or object.__setattr__()",
    "__getattribute__": "read the attribute, or use getattr()",
}
"""What a program writes in place of an attribute that it may not read."""


@cache
def class_attributes(name: str) -> frozenset[str]:
    """Return what a library class has, and its instances; nothing if it is none of those listed."""
    if name in BUILTIN_CLASSES:
        kind: type = BUILTIN_CLASSES[name]
    elif name in SHAPELY_CLASSES:
        import shapely.geometry

        kind = getattr(shapely.geometry, name)
    else:
        return frozenset()
    return frozenset(name for name in (*dir(kind), *dir(type(kind))) if name[0] != "_")
