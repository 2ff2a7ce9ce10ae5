"""What stands behind the library names inside a worker; imported by the template only.

Everything a policy may ask for is loaded here, once: a worker that runs a program has no files.
"""

from __future__ import annotations

import abc
import ast
import builtins
import calendar
import copy
import functools
import importlib
import pprint
import random
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from cap.checker.allowlist import (
    BENCHMARK_MODULES,
    ROBOT_MODULES,
    SAFE_BUILTINS,
    TYPING,
    module_names,
)
from cap.checker.attributes import reason_against
from cap.checker.policy import Policy
from cap.checker.rules import rule_violations
from cap.checker.survey import survey
from cap.errors import ROBOT_ERRORS, LMPFailed
from cap.program.private_names import (
    FORMATS,
    FOUND,
    GUARDED,
    KIND,
    LEADS_OUT,
    MARK,
    READ_LATER,
    SPECIAL,
    TEXT,
    TOLD,
    found,
    hidden,
    is_special,
    plain_error,
    rename,
    shown,
)
from cap.sandbox.worker import abstract, hints, library_classes, records, stand_ins
from cap.sandbox.worker.abstract import PROGRAM_NAMES
from cap.sandbox.worker.builtin_function import BuiltinFunction, program_print, shown_as
from cap.sandbox.worker.deep_copy import Memo, deepcopy
from cap.sandbox.worker.dispatch import of_program
from cap.sandbox.worker.enumerations import ENUM
from cap.sandbox.worker.logs import LOGGING, STREAMS
from cap.sandbox.worker.object_dictionary import ObjectDictionary, attributes_of
from cap.sandbox.worker.special_attributes import SpecialAttributes, set_special
from cap.sandbox.worker.streams import BytesIO, StringIO
from cap.sandbox.worker.templates import Formats

Rights = Mapping[str, Sequence[str]]
"""What a policy allows besides: `modules` and `builtins` by name."""
_LATE = ("_strptime", "time")
"""Modules that the C code of `datetime` asks for when first used."""


class Facade:
    """An allow-listed view of a module; it leads nowhere else, and nothing of it is bound again."""

    __slots__ = ("__dict__",)

    def __init__(self, /, **names: Any) -> None:
        vars(self).update(names)
        vars(self).update({hidden(name): value for name, value in names.items()})

    def __getattr__(self, name: str) -> Any:
        module = vars(self).get("__name__", "")
        raise AttributeError(f"module '{module}' has no attribute '{shown(name)}'")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"'{shown(name)}' is provided; keep yours in a name of your own")

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle 'module' object")

    def __mro_entries__(self, bases: Any) -> Any:
        raise TypeError("a module is no class to inherit from")

    def __repr__(self) -> str:
        """Return what a module shows."""
        return f"<module '{self.__dict__.get('__name__', '')}'>"


shown_as(Facade, "builtins", "module")


class _Closed(type):
    """The class of a class that a program may ask about, and not call."""

    def __call__(cls, *given: Any, **_: Any) -> Any:
        if _closed_kinds.get(cls) is types.MethodType:
            return types.MethodType(*given)
        raise TypeError(f"'{cls.__name__}' cannot be called by a program")

    def __setattr__(cls, name: str, value: Any) -> None:
        raise TypeError(f"cannot set '{shown(name)}' attribute of immutable type '{cls.__name__}'")

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _closed_kinds.get(cls, ()))

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, _closed_kinds.get(cls, ()))


shown_as(_Closed, "builtins", "type")
_closed_kinds: dict[type, Any] = {}
"""The classes behind the closed ones; kept here, where no attribute leads."""


_stand_ins: dict[type, type] = {}


def closed(kind: type) -> type:
    """Return the closed stand-in of a class; every caller gets the same one."""
    if kind not in _stand_ins:
        space: dict[str, Any] = {"__module__": kind.__module__, "__slots__": ()}
        space["__class_getitem__"] = classmethod(types.GenericAlias)
        stand_in = _stand_ins[kind] = _Closed(kind.__name__, (), space)
        _closed_kinds[stand_in] = kind
    return _stand_ins[kind]


def kind_of(value: Any) -> type:
    """Stand in for `type(value)`: classes that programs cannot name come back closed.

    The class of classes makes classes of any names, the class of arrays takes any memory for
    objects, the class of functions any code.
    """
    return shown_class(builtins.type(value))


def shown_class(kind: type) -> type:
    """Return a class as programs know it; one that they cannot name comes back closed."""
    if issubclass(kind, Facade):
        kind = Facade
    if kind in _SHOWN_AS:
        shown_as: type = _SHOWN_AS[kind]
        return shown_as
    if kind in _named() or kind.__module__ in PROGRAM_NAMES or issubclass(kind, _open_families()):
        return kind
    return closed(kind)


class _Type:
    """Stand in for `type`: it tells the class of a value, and makes none."""

    __slots__ = ("__name__", "__qualname__")

    def __init__(self) -> None:
        self.__name__ = self.__qualname__ = "type"

    def __call__(self, /, *given: Any, **named: Any) -> Any:
        if len(given) != 1 or named:
            raise TypeError("type takes one argument here; write a class statement instead")
        return kind_of(given[0])

    def __instancecheck__(self, value: Any) -> bool:
        return value is TYPE or isinstance(value, builtins.type)

    def __subclasscheck__(self, kind: Any) -> bool:
        return kind is TYPE or issubclass(kind, builtins.type)

    def __mro_entries__(self, bases: Any) -> Any:
        raise TypeError("a class of classes is not available to programs")

    def __reduce__(self) -> str:
        return self.__name__

    def __getitem__(self, kind: Any) -> Any:
        return hints.Hint("Type", None, (kind,))

    def __or__(self, other: Any) -> Any:
        return hints.either(self, other)

    __ror__ = __or__

    def __repr__(self) -> str:
        return "<class 'type'>"


TYPE: Any = shown_as(_Type, "builtins", "type")()
"""What programs know as `type`."""


class _KindOf:
    """Holds the class of a value: what stands for `x.__class__`."""

    __slots__ = ("kind",)

    def __init__(self, value: Any) -> None:
        self.kind = kind_of(value)


_SHOWN_AS: dict[type, Any] = {
    Facade: closed(types.ModuleType),
    BuiltinFunction: closed(types.BuiltinFunctionType),
    ObjectDictionary: dict,
    Memo: dict,
    _Closed: TYPE,
    _Type: TYPE,
    builtins.type: TYPE,
}
"""What the classes of stand-ins show themselves as."""


@cache
def numeric() -> Any:
    """Return the module of what stands for numpy and shapely; None in a template without them."""
    try:
        from cap.sandbox.worker import numeric
    except ImportError:
        return None
    return numeric


@cache
def _open_families() -> tuple[type, ...]:
    """Return the classes that are told of with all below them."""
    more = numeric().OPEN_FAMILIES if numeric() else ()
    return (BaseException, builtins.type(None), *more)


@cache
def _named() -> frozenset[type]:
    """Return the classes programs can name, but for those that are closed to them."""
    spaces = [vars(facade) for facade in _modules().values()]
    spaces += [_library(), {name: getattr(builtins, name) for name in SAFE_BUILTINS}]
    found = {value for space in spaces for value in space.values() if isinstance(value, type)}
    return frozenset(found - {builtins.type})


def close_library() -> None:
    """Have no program change the classes it can name, nor those of errors and shapes.

    What libraries copy, such as data classes' values, is copied as for programs from here on.
    """
    copy.deepcopy = deepcopy  # type: ignore[assignment]
    open_ones = [*_named(), *_stand_ins.values(), *_open_families()]
    for kind in open_ones:  # grows meanwhile
        if issubclass(kind, _open_families()):
            open_ones += builtins.type.__subclasses__(kind)
    library_classes.close(open_ones)


_closed_kinds[closed(types.ModuleType)] = (types.ModuleType, Facade)
_closed_kinds[closed(types.BuiltinFunctionType)] = (types.BuiltinFunctionType, BuiltinFunction)

# --- modules


class _Random(random.Random):
    """Stand in for `random.Random`: what is given no seed starts from the program's."""

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Start anew."""
        if a is None:
            global _unseeded
            _unseeded += 1
            a = f"{_program_seed} {_unseeded}"
        super().seed(a, version)


shown_as(_Random, "random", "Random")
_program_seed = 0
"""What random numbers start from."""
_unseeded = 0
"""How often they were started without a number: each time they are others."""
_own_random = _Random(0)
"""What stands behind the module `random`; started anew for programs with another seed."""


@cache
def _library() -> dict[str, Any]:
    """Build the library names once, in the template; its forks share them."""
    modules = _modules()
    names: dict[str, Any] = numeric().names(modules) if numeric() else {}
    names["math"] = modules["math"]
    return names | {name: hints.TYPING[name] for name in TYPING}


def _attribute(value: Any, name: Any, *default: Any) -> Any:
    """Return an attribute by its name in data, as a program would read it by a dot."""
    if builtins.type(name) is str and (name == "__init__" or name in READ_LATER):
        return getattr(SpecialAttributes(value), name, *default)
    try:
        _check_name(name)
    except AttributeError:
        if default and not hasattr(value, name):
            return default[0]
        raise
    if name == "__class__":
        return kind_of(value)
    return getattr(Formats(value) if name in FORMATS else value, hidden(name), *default)


def _check_name(name: Any) -> None:
    if builtins.type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{builtins.type(name).__name__}'")
    if name != "__class__" and (finding := reason_against(name, LEADS_OUT)):
        raise AttributeError(finding[1])


def _pprint(value: Any, stream: Any = None, *args: Any, **named: Any) -> None:
    """Stand in for `pprint.pprint`, by the program's own `print`."""
    where = {} if stream is None else {"file": stream}
    program_print()(pprint.pformat(value, *args, **named), **where)


shown_as(_pprint, "pprint", "pprint")
_CALENDAR = ("day_abbr", "day_name", "month_abbr", "month_name")
_CLASSES = ("BuiltinFunctionType", "FunctionType", "GeneratorType", "LambdaType", "MethodType")
_STAND_INS: dict[str, Mapping[str, Any]] = {
    "abc": {"ABCMeta": abstract.ABSTRACT_KIND},
    "calendar": {name: [*getattr(calendar, name)] for name in _CALENDAR},
    "copy": {"deepcopy": deepcopy},
    "collections": {"namedtuple": records.namedtuple},
    "dataclasses": records.DATACLASSES,
    "enum": ENUM,
    "functools": stand_ins.FUNCTOOLS,
    "contextlib": {"redirect_stdout": stand_ins.redirect_stdout},
    "io": {"BytesIO": BytesIO, "StringIO": StringIO},
    "itertools": stand_ins.ITERTOOLS,
    "operator": {
        kind.__name__: BuiltinFunction(kind.__name__, functools.partial(kind, _attribute))
        for kind in (stand_ins.attrgetter, stand_ins.methodcaller)
    },
    "pprint": {"pprint": _pprint},
    "logging": LOGGING,
    "sys": {"setrecursionlimit": stand_ins.set_recursion_limit, **STREAMS},
    "types": {
        "SimpleNamespace": records.SimpleNamespace,
        "ModuleType": closed(types.ModuleType),
        **{name: closed(getattr(types, name)) for name in _CLASSES},
    },
    "typing": hints.TYPING,
}
"""What takes the place of a module's own."""


@cache
def _modules() -> dict[str, Any]:
    """Build every module a policy may list."""
    for name in _LATE:
        importlib.import_module(name)
    modules: dict[str, Any] = {}
    for name in BENCHMARK_MODULES:
        if name == "logging":  # nothing of Python's own is needed
            modules[name] = Facade()
        elif name.partition(".")[0] not in ("numpy", "shapely"):
            module, listed = importlib.import_module(name), module_names(name) or ()
            found = {entry: getattr(module, entry) for entry in listed if hasattr(module, entry)}
            modules[name] = Facade(**found)
    vars(modules["collections"])["abc"] = modules["collections.abc"]
    for name, given in _STAND_INS.items():
        listed = module_names(name) or ()
        vars(modules[name]).update({n: value for n, value in given.items() if n in listed})
    for name in vars(modules["random"]).keys() - {"Random"}:
        vars(modules["random"])[name] = getattr(_own_random, name)
    vars(modules["random"])["Random"] = _Random
    if numeric():
        modules |= numeric().modules()
    for name in ("abc", "collections.abc", "numbers"):
        for value in vars(modules[name]).values():
            if isinstance(value, builtins.type) and builtins.type(value) is abc.ABCMeta:
                value.register = abstract.register  # type: ignore[assignment, method-assign]
    for name, facade in modules.items():
        exported = [entry for entry in vars(facade) if MARK not in entry]
        vars(facade).update(__name__=name, __all__=exported)
    return modules


_ROOM = dict.fromkeys(map(str, range(300)))
"""Makes a small table of names roomy: hashes are the same every time, and so are their clashes."""
_unused_seed = 0
"""What the module `random` starts from, should the program import it."""


def library() -> dict[str, Any]:
    """Return the library names with what they mean."""
    names = dict(_library())
    if not numeric():
        names.update(_ROOM)
        for name in _ROOM:
            del names[name]
    return names


def start_random(seed: int) -> None:
    """Have random numbers start from a seed."""
    global _unused_seed, _program_seed
    if numeric():
        vars(_library()["np"])["random"] = _modules()["numpy.random"] = numeric().Random(seed)
    _unused_seed = _program_seed = seed


# --- builtins


@cache
def _common_builtins() -> dict[str, Any]:
    """Return the builtins every program has; a spare worker makes them before it is needed."""
    names = {name: getattr(builtins, name) for name in SAFE_BUILTINS}
    names |= ROBOT_ERRORS
    names |= {name: BuiltinFunction(name, function) for name, function in _STANDING_IN.items()}
    names |= {"LMPFailed": LMPFailed, "__build_class__": abstract.build_class, "type": TYPE}
    names |= {TOLD: plain_error, FOUND: found, KIND: _KindOf, TEXT: Formats}
    return names | {SPECIAL: SpecialAttributes}


def safe_builtins(
    print_function: Callable[..., None], policy: Rights | None = None
) -> dict[str, Any]:
    """Return the builtins a program sees, with its own `print`; a robot's without a policy."""
    names = dict(_common_builtins())
    names["print"] = BuiltinFunction("print", print_function)
    modules = frozenset(policy["modules"]) if policy else ROBOT_MODULES
    names["__import__"] = functools.partial(_import, modules)
    if policy and "eval" in policy["builtins"]:
        names["eval"] = _eval
    return names


def _import(
    listed: frozenset[str],
    name: str,
    _globals: Any = None,
    _locals: Any = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """Serve the imports a policy lists, and those of C code, which asks its calling frame.

    C code takes the module from the interpreter itself: here it need only not fail.
    """
    if name == "__future__":
        return _FUTURE
    if name in listed and not level:
        global _unused_seed
        if name == "random" and _unused_seed:
            _own_random.seed(_unused_seed)
            _unused_seed = 0
        return _modules().get(name if fromlist else name.partition(".")[0], _NOTHING)
    if (name.partition(".")[0] == "numpy" or name in _LATE) and name in sys.modules:
        return _NOTHING
    raise ModuleNotFoundError(f"No module named '{name}'", name=name)


_NOTHING = Facade()
_FUTURE = Facade(annotations=None)


def _getattr(*given: Any) -> Any:
    if len(given) < 2:
        raise TypeError(f"getattr expected at least 2 arguments, got {len(given)}")
    if len(given) > 3:
        raise TypeError(f"getattr expected at most 3 arguments, got {len(given)}")
    return _attribute(*given)


def _hasattr(*given: Any) -> bool:
    if len(given) != 2:
        raise TypeError(f"hasattr expected 2 arguments, got {len(given)}")
    value, name = given
    if builtins.type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{builtins.type(name).__name__}'")
    return hasattr(value, hidden(name))  # the truth of any name; it hands out nothing


@cache
def _functions() -> tuple[type, ...]:
    """Return the classes of functions that take attributes."""
    return (types.FunctionType, *(numeric().FUNCTIONS if numeric() else ()))


def _setattr(*given: Any) -> None:
    if len(given) != 3:
        raise TypeError(f"setattr expected 3 arguments, got {len(given)}")
    value, name, new = given
    if builtins.type(name) is str and is_special(name):
        return set_special(value, name, new)
    _check_name(name)
    if isinstance(value, builtins.type) and value.__module__ not in PROGRAM_NAMES:
        raise AttributeError(f"'{value.__name__}' is provided; set attributes of your own classes")
    if name in GUARDED:
        return set_special(value, name, new)
    if isinstance(value, _functions()) and of_program(value) is None:
        provided = getattr(value, "__name__", "")
        raise AttributeError(f"'{provided}' is provided; set attributes of your own functions")
    setattr(value, hidden(name), new)


_STANDING_IN = {
    "getattr": _getattr,
    "hasattr": _hasattr,
    "setattr": _setattr,
    "vars": attributes_of,
}
"""What stands for builtins that read or bind attributes by their names."""


def _eval(text: str, names: dict[str, Any] | None = None, own: Any = None) -> Any:
    """Stand in for `eval`: an expression passes the check of its program before it runs."""
    if builtins.type(text) is not str:
        raise TypeError("eval() takes a text here")
    if MARK in text:
        raise ValueError("eval() refuses the text: it holds the character U+E01EF")
    tree = ast.parse(text.strip(" \t"), "<string>", "eval")
    whole = ast.Module([ast.Expr(tree.body)], [])
    policy = Policy.benchmark()
    for violation in rule_violations(survey(whole, policy), policy):
        raise ValueError(f"eval() refuses the text: {violation}")
    rename(tree)
    code = compile(tree, "<eval>", "eval", dont_inherit=True)
    caller = sys._getframe(1)
    if caller.f_builtins.get("eval") is not _eval:  # a library would look up names among its own
        raise TypeError("eval() is called by programs only")
    if own is not None:
        own = _plain_names(own)
    if names is None:
        return eval(code, caller.f_globals, caller.f_locals if own is None else own)
    # Without builtins of its own, Python would give it all of them.
    return eval(code, {**_plain_names(names), "__builtins__": caller.f_builtins}, own)


def _plain_names(given: Any) -> dict[str, Any]:
    """Return the names for `eval` as they are now: none answers for a builtin with a mark."""
    names = dict(given)
    for name in names:
        if builtins.type(name) is not str or MARK in name:
            raise TypeError("eval() takes names that are plain texts")
    return names


shown_as(_eval, "builtins", "eval")
