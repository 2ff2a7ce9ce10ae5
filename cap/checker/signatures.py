"""Calls that cannot fit what they call: too few arguments, too many, a keyword nothing takes.

Only what is certain counts. A name is looked at if the whole program binds it nowhere, or binds it
once, at the top level, to a function; a call with stars, of a decorated function, or of anything
bound a second time is left to run. A call is wrong if it fits no function its name can stand for:
a program may redefine what a session kept. A certain fault counts also where it may never be
reached, and where a handler would catch it. Nothing is executed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from functools import lru_cache

from cap.checker.policy import Policy
from cap.checker.rules import Findings, Function, Rule, Survey
from cap.program.program import Program, ProgramSyntaxError
from cap.program.scope import plain_arguments

_EMPTY = inspect.Parameter.empty
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
_EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD
_STAR = inspect.Parameter.VAR_POSITIONAL
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_STARS = inspect.Parameter.VAR_KEYWORD


_MOST_COMPARED = 100_000
"""Parameters and keywords that are compared, call by call; the calls after that are left to run."""


_Form = tuple[inspect.Signature, tuple[int, int]]
"""What a function can be called with, and how many arguments surely fit by position alone."""


def _misfits(survey: Survey) -> Findings:
    """Yield the calls that fit nothing their name can stand for."""
    if not survey.policy.signatures or "*" in survey.bound:  # a star import may bind anything
        return
    forms: dict[str, list[_Form]] = {}
    left = _MOST_COMPARED
    for call in survey.all(ast.Call):
        name = _called(call.func, survey)
        if name is None:
            continue
        if name not in forms:
            forms[name] = list(_forms(name, survey))
        if not forms[name] or _fits(call, forms[name]) or id(call) in survey.tried["TypeError"]:
            continue
        left -= len(call.keywords) + sum(len(signature.parameters) for signature, _ in forms[name])
        if left < 0:
            return
        if problem := _problem(call, forms[name], survey):
            form = str(forms[name][0][0]).replace("=Ellipsis", "=...")
            if "?" not in problem:  # without a suggestion
                problem += "; give it the arguments it takes"
            yield call, f"{ast.unparse(call.func)}{form}: {problem}"


CALL_RULE = Rule(
    "a call that cannot fit what it calls",
    "It would fail when it is reached, after the robot has moved. Only what is certain counts: "
    "primitives, and functions that are bound once, outside of a `try` that catches `TypeError`.",
    "def area(width, height): return width * height\narea(2)",
    "def area(width, height=1): return width * height\narea(2)",
    _misfits,
)


def _called(function: ast.expr, seen: Survey) -> str | None:
    """Return the name a call goes to; `.name` for one of a group of primitives."""
    if isinstance(function, ast.Name):
        return function.id if function.id[:1] != "_" else None
    if isinstance(function, ast.Attribute):
        group = getattr(function.value, "id", "")
        if function.attr in seen.groups.get(group, ()) and group not in seen.bound:
            return f".{function.attr}"
    return None


def _forms(name: str, seen: Survey) -> Iterator[_Form]:
    """Yield the form of everything a name can stand for; nothing if one is not known."""
    scope = seen.scope
    kept = {entry.name: entry.source for entry in scope.definitions}
    if name.startswith("."):
        if (primitive := scope.primitives.get(name[1:])) is not None:
            yield primitive.signature, primitive.plain_arguments
        return
    own = seen.functions.get(name)
    if seen.bound.get(name, 0) > (own is not None):
        return
    if name in scope.variables or name in scope.groups:
        return
    earlier = _kept_signature(name, kept[name]) if name in kept else None
    if name in kept and earlier is None:
        return
    for signature in (None if own is None else _signature(own), earlier):
        if signature is not None:
            yield signature, plain_arguments(signature)
    if (primitive := scope.primitives.get(name)) is not None:
        yield primitive.signature, primitive.plain_arguments


@lru_cache(maxsize=256)
def _kept_signature(name: str, source: str) -> inspect.Signature | None:
    """Return the signature of a kept function; None of a class, or one that is decorated."""
    try:
        survey = Survey(Program.parse(source).tree, Policy())
    except ProgramSyntaxError:
        return None
    function = survey.functions.get(name)
    return None if function is None or survey.bound.get(name) != 1 else _signature(function)


def _signature(function: Function) -> inspect.Signature:
    """Return the signature a function will have; defaults are shown as `...`."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    required, positional = len(plain) - len(given.defaults), len(given.posonlyargs)
    parameters = [
        inspect.Parameter(
            entry.arg,
            _POSITIONAL if number < positional else _EITHER,
            default=_EMPTY if number < required else ...,
        )
        for number, entry in enumerate(plain)
    ]
    if given.vararg:
        parameters.append(inspect.Parameter(given.vararg.arg, _STAR))
    for entry, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        default = _EMPTY if value is None else ...
        parameters.append(inspect.Parameter(entry.arg, _KEYWORD, default=default))
    if given.kwarg:
        parameters.append(inspect.Parameter(given.kwarg.arg, _STARS))
    return inspect.Signature(parameters)


def _fits(call: ast.Call, forms: Sequence[_Form]) -> bool:
    """Tell at a glance that a call fits: nearly every one of nearly every program."""
    count = len(call.args)
    return not call.keywords and any(least <= count <= most for _, (least, most) in forms)


def _problem(call: ast.Call, forms: Sequence[_Form], seen: Survey) -> str | None:
    """Return why a call fits none of some functions: what the first has against it."""
    count, first = len(call.args), None
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
    starred = any(isinstance(entry, ast.Starred) for entry in call.args)
    if starred or len(keywords) < len(call.keywords):
        return None
    for signature, _ in forms:
        try:
            signature.bind(*([None] * count), **dict.fromkeys(_renamed(signature, keywords)))
        except TypeError as error:
            first = first or f"{error}{_meant(signature, keywords, str(error), seen)}"
        else:
            return None
    return first


def _renamed(signature: inspect.Signature, keywords: Sequence[str]) -> list[str]:
    """Return keywords with other names for those that go to `**` past a positional-only parameter.

    Not every version of `bind` knows that the two may share a name.
    """
    parameters = signature.parameters
    if not any(entry.kind is _STARS for entry in parameters.values()):
        return list(keywords)
    taken = {name for name, entry in parameters.items() if entry.kind is _POSITIONAL}
    return [f"**{name}" if name in taken else name for name in keywords]


def _meant(signature: inspect.Signature, keywords: Sequence[str], error: str, seen: Survey) -> str:
    """Return ". Did you mean 'unit'?" for the first keyword that is no parameter."""
    strange = next((name for name in keywords if name not in signature.parameters), None)
    hint = seen.did_you_mean(strange, signature.parameters) if strange else ""
    if not hint:
        return ""
    return f".{hint}" if f"'{strange}'" in error else f"; there is no '{strange}'.{hint}"
