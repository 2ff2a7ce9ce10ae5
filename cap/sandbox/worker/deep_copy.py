"""Deep copies whose memo leads to nothing but the program's own objects.

Python's own keeps in the memo all that a copy is made of, such as the dictionary that becomes an
object's own, and hands the memo to each `__deepcopy__`; whatever stands in it, it takes for a copy.
Here a memo shows the copies of a program's own objects, and answers for these alone.
"""

from __future__ import annotations

import copyreg
import types
import weakref
from typing import Any

from cap.sandbox.worker.abstract import PROGRAM_NAMES
from cap.sandbox.worker.builtin_function import shown_as

_ITSELF: frozenset[type] = frozenset(
    [
        *(type(None), type(...), type(NotImplemented), int, float, bool, complex, bytes, str),
        *(types.CodeType, range, types.BuiltinFunctionType, types.FunctionType, property),
        weakref.ref,
    ]
)
"""Classes whose objects are their own copies."""


class Memo(dict[int, Any]):
    """What a program is given as `memo`."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        """Begin with nothing."""
        self._made: dict[int, tuple[Any, Any]] = {}
        """What was copied, each with its copy, by its number."""

    def __copy__(self) -> dict[int, Any]:
        """Return a plain one."""
        return dict(self)

    def __deepcopy__(self, memo: Any) -> dict[int, Any]:
        """Return a plain one of copies."""
        return deepcopy(dict(self), memo)  # type: ignore[no-any-return]


shown_as(Memo, "builtins", "dict")


def deepcopy(x: Any, memo: Any = None) -> Any:
    """Stand in for `copy.deepcopy`."""
    kind = type(x)
    if kind in _ITSELF or issubclass(kind, type):
        return x
    if type(memo) is not Memo:
        return _with_dictionary(x, memo)
    if kind.__module__ in PROGRAM_NAMES and dict.__contains__(memo, id(x)):
        return dict.__getitem__(memo, id(x))
    if id(x) in memo._made:
        return memo._made[id(x)][1]
    made = _copied(x, memo)
    if made is not x:
        _keep(x, made, memo)
    return made


def _with_dictionary(x: Any, given: Any) -> Any:
    """Return a copy by a memo that is a dictionary of the program's own, or none."""
    memo = Memo()
    if given is None:
        return deepcopy(x, memo)
    if not issubclass(type(given), dict):
        raise TypeError("the memo of deepcopy() is a dictionary here")
    dict.update(memo, given)
    made = deepcopy(x, memo)
    # What was copied lives as long as the dictionary, so that its number stays its own.
    kept = [entry for entry, _ in memo._made.values() if type(entry).__module__ in PROGRAM_NAMES]
    before = dict.get(given, id(given))
    dict.update(given, memo)
    dict.__setitem__(given, id(given), [*(before if type(before) is list else ()), *kept])
    return made


def _keep(x: Any, made: Any, memo: Memo) -> None:
    """Note a copy, and show it to the program if it wrote the class."""
    memo._made[id(x)] = x, made
    if type(x).__module__ in PROGRAM_NAMES:
        dict.__setitem__(memo, id(x), made)


def _copied(x: Any, memo: Memo) -> Any:
    if type(x) is list:
        made: Any = []
        memo._made[id(x)] = x, made
        for entry in x:
            made.append(deepcopy(entry, memo))
        return made
    if type(x) is dict:
        made = {}
        memo._made[id(x)] = x, made
        for key, value in x.items():
            made[deepcopy(key, memo)] = deepcopy(value, memo)
        return made
    if type(x) is tuple:
        entries = [deepcopy(entry, memo) for entry in x]
        if id(x) in memo._made:  # it holds itself
            return memo._made[id(x)][1]
        same = all(entry is given for entry, given in zip(entries, x, strict=True))
        return x if same else tuple(entries)
    if type(x) is types.MethodType:
        return types.MethodType(x.__func__, deepcopy(x.__self__, memo))
    if (copier := getattr(type(x), "__deepcopy__", None)) is not None:
        return copier(x, memo)
    if (reduce := copyreg.dispatch_table.get(type(x))) is not None:
        recipe: Any = reduce(x)
    else:
        kind: Any = type(x)  # not the object, which may bear any attribute
        recipe = kind.__reduce_ex__(x, 4)
    return x if isinstance(recipe, str) else _rebuilt(x, memo, *recipe)


def _rebuilt(
    x: Any,
    memo: Memo,
    make: Any,
    args: Any,
    state: Any = None,
    entries: Any = None,
    items: Any = None,
) -> Any:
    """Return an object made by the recipe by which `copy` and `pickle` make one like `x`."""
    made = make(*[deepcopy(arg, memo) for arg in args])
    _keep(x, made, memo)
    if state is not None:
        state = deepcopy(state, memo)
        if hasattr(type(made), "__setstate__"):
            type(made).__setstate__(made, state)
        else:
            slots = None
            if isinstance(state, tuple) and len(state) == 2:
                state, slots = state
            if state is not None:
                made.__dict__.update(state)
            for name, value in (slots or {}).items():
                setattr(made, name, value)
    for entry in entries or ():
        made.append(deepcopy(entry, memo))
    for key, value in items or ():
        made[deepcopy(key, memo)] = deepcopy(value, memo)
    return made


shown_as(deepcopy, "copy", "deepcopy")
