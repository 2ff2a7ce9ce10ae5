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
from cap.program.program import parsed

_Parameter = inspect.Parameter
_MOST_COMPARED = 100_000
"""Parameters and keywords that are compared, call by call; the calls after that are left to run."""


def _misfits(survey: Survey) -> Findings:
    """Yield the calls that fit nothing their name can stand for."""
    if not survey.policy.signatures or "*" in survey.bound:  # a star import may bind anything
        return
    forms: dict[str, list[inspect.Signature]] = {}
    left = _MOST_COMPARED
    for call in survey.all(ast.Call):
        name = _called(call.func, survey)
        if name is None:
            continue
        if name not in forms:
            forms[name] = list(_forms(name, survey))
        if not forms[name]:
            continue
        left -= len(call.keywords) + sum(len(signature.parameters) for signature in forms[name])
        if left < 0:
            return
        if problem := _problem(call, forms[name], survey):
            form = str(forms[name][0]).replace("=Ellipsis", "=...")
            if "?" not in problem:  # without a suggestion
                problem += "; give it the arguments it takes"
            yield call, f"{ast.unparse(call.func)}{form}: {problem}"


CALL_RULE = Rule(
    "a call that cannot fit what it calls",
    "It would fail when it is reached, after the robot has moved. Only what is certain counts: "
    "primitives, and functions that are bound once.",
    "def area(width, height): return width * height\narea(2)",
    "def area(width, height=1): return width * height\narea(2)",
    _misfits,
)


def _called(function: ast.expr, seen: Survey) -> str | None:
    """Return the name a call goes to; `.name` for one of a group of primitives."""
    if isinstance(function, ast.Name):
        return function.id
    if isinstance(function, ast.Attribute):
        group = getattr(function.value, "id", "")
        if function.attr in seen.scope.groups.get(group, ()) and group not in seen.bound:
            return f".{function.attr}"
    return None


def _forms(name: str, seen: Survey) -> Iterator[inspect.Signature]:
    """Yield the form of everything a name can stand for; nothing if one is not known."""
    scope = seen.scope
    if name.startswith("."):
        if (primitive := scope.primitives.get(name[1:])) is not None:
            yield primitive.signature
        return
    own = seen.functions.get(name)
    if seen.bound.get(name, 0) > (own is not None):
        return
    if name in scope.variables or name in scope.groups:
        return
    kept = {entry.name: entry.source for entry in scope.definitions}
    earlier = _kept_signature(name, kept[name]) if name in kept else None
    if name in kept and earlier is None:
        return
    if own is not None:
        yield _signature(own)
    if earlier is not None:
        yield earlier
    if (primitive := scope.primitives.get(name)) is not None:
        yield primitive.signature


@lru_cache(maxsize=256)
def _kept_signature(name: str, source: str) -> inspect.Signature | None:
    """Return the signature of a kept function; None of a class, or one that is decorated."""
    survey = Survey(parsed(source), Policy())
    function = survey.functions.get(name)
    return None if function is None or survey.bound.get(name) != 1 else _signature(function)


def _signature(function: Function) -> inspect.Signature:
    """Return the signature a function will have; defaults are shown as `...`."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    required, positional = len(plain) - len(given.defaults), len(given.posonlyargs)
    parameters = [
        _Parameter(
            entry.arg,
            _Parameter.POSITIONAL_ONLY if number < positional else _Parameter.POSITIONAL_OR_KEYWORD,
            default=_Parameter.empty if number < required else ...,
        )
        for number, entry in enumerate(plain)
    ]
    if given.vararg:
        parameters.append(_Parameter(given.vararg.arg, _Parameter.VAR_POSITIONAL))
    for entry, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        default = _Parameter.empty if value is None else ...
        parameters.append(_Parameter(entry.arg, _Parameter.KEYWORD_ONLY, default=default))
    if given.kwarg:
        parameters.append(_Parameter(given.kwarg.arg, _Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _problem(call: ast.Call, forms: Sequence[inspect.Signature], seen: Survey) -> str | None:
    """Return why a call fits none of some functions: what the first has against it."""
    count, first = len(call.args), None
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
    starred = any(isinstance(entry, ast.Starred) for entry in call.args)
    if starred or len(keywords) < len(call.keywords):
        return None
    for signature in forms:
        if _takes_twice(signature, keywords):
            return None
        try:
            signature.bind(*([None] * count), **dict.fromkeys(keywords))
        except TypeError as error:
            first = first or f"{error}{_meant(signature, keywords, str(error), seen)}"
        else:
            return None
    return first


def _takes_twice(signature: inspect.Signature, keywords: Sequence[str]) -> bool:
    """Tell whether `**others` takes a keyword that a positional-only parameter has as its name."""
    kinds = {entry.kind for entry in signature.parameters.values()}
    only = inspect.Parameter.POSITIONAL_ONLY
    named = (signature.parameters.get(name) for name in keywords)
    return inspect.Parameter.VAR_KEYWORD in kinds and any(
        entry is not None and entry.kind is only for entry in named
    )


def _meant(signature: inspect.Signature, keywords: Sequence[str], error: str, seen: Survey) -> str:
    """Return ". Did you mean 'unit'?" for the first keyword that is no parameter."""
    strange = next((name for name in keywords if name not in signature.parameters), None)
    hint = seen.did_you_mean(strange, signature.parameters) if strange else ""
    if not hint:
        return ""
    return f".{hint}" if f"'{strange}'" in error else f"; there is no '{strange}'.{hint}"
