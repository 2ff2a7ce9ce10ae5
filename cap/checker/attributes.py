"""Attributes by name: which no program may read, and which its own classes may define."""

from __future__ import annotations

from collections.abc import Container
from functools import cache

from cap.checker.allowlist import SHAPELY_GEOMETRY, names
from cap.program.private_names import PROTOCOL, is_private

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
        __bytes__ __missing__ __copy__ __length_hint__
        """
    )
)
"""The special methods a program's class may define."""
OWN_ONLY = frozenset(["base", "data"])
"""Of an array they are its memory; of a program's own class, everyday words."""
_LEADS_OUT = frozenset(
    names(
        """
        f_back f_builtins f_code f_globals f_lasti f_lineno f_locals f_trace f_trace_lines
        f_trace_opcodes f_generator func_code func_globals co_code co_consts co_names co_varnames
        co_filename co_freevars co_cellvars co_lines co_positions bit_generator capsule cffi ctypes
        dump dumps tofile getfield setfield setflags writeable resize mro obj with_traceback
        """
    )
)
_LEADS_OUT_PREFIXES = ("gi_", "cr_", "ag_", "tb_")
BUILTIN_CLASSES = {kind.__name__: kind for kind in (str, list, dict, set, tuple, int, float)}
SHAPELY_CLASSES = frozenset(SHAPELY_GEOMETRY) - {"box"}


def reason_against(name: str, own: Container[str] = ()) -> tuple[str, str] | None:
    """Return the rule and the reason against reading an attribute of that name from anything.

    Args:
        name: The attribute.
        own: Attributes that the program's own classes bind.
    """
    if name.startswith("_"):
        if name == "__name__" or name in PROTOCOL or is_private(name):
            return None  # a private one has another name when it runs
        return "CAP103", f"attribute '{name}' leads to the interpreter"
    if name in ("format", "format_map"):
        return "CAP108", f"'.{name}' is allowed on a literal of plain fields only; use an f-string"
    if name in _LEADS_OUT or name.startswith(_LEADS_OUT_PREFIXES):
        return "CAP112", f"'.{name}' is not available to programs"
    if name in OWN_ONLY and name not in own:
        return "CAP112", f"'.{name}' is available only where a class of the program binds it"
    return None


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
