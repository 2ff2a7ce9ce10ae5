"""What a program leaves for the next one: its plain data, and its functions as source."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from cap.checker.allowlist import EVERYWHERE, module_names
from cap.checker.survey import bound_names
from cap.engine.answer import Answer, State
from cap.scope import Definition

_METHOD_MARKS = ("staticmethod", "classmethod", "property")


def after_turn(state: State, answer: Answer, number: int) -> State:
    """Return the state a successful program leaves: its data, its functions as source.

    Args:
        state: The state it started from.
        answer: What came of it.
        number: Which turn it was, from 1; told of names that could not be kept.
    """
    assert answer.program is not None
    known = {(entry.name, 0): entry for entry in (*state.definitions, *answer.generated)}
    imports = _imports(answer.program.tree)
    known |= {
        (node.name, node.lineno): Definition(node.name, _source(node, imports))
        for node in answer.program.tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.decorator_list
        and not needs_values(node)
    }
    defined = answer.result.defined
    kept = {name: known[name, line] for name, line in defined.items() if (name, line) in known}
    lost = [*answer.result.dropped, *(name for name in defined if name not in kept)]
    reasons = {
        name: f"was imported in turn {number} only; import it again"
        if name in imports
        else f"was set in turn {number} and {_why_lost(name)}"
        for name in lost
    }
    dropped = {name: why for name, why in state.dropped.items() if name not in kept}
    return replace(
        state,
        variables=answer.result.variables,
        definitions=tuple(kept.values()),
        dropped={**dropped, **reasons},
    )


def _imports(tree: ast.Module) -> dict[str, ast.stmt]:
    """Return the import that binds each name a program imports, where nothing else binds it."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) and node.names[0].name != "*":
            for alias in node.names:
                kind = type(node)(**{**vars(node), "names": [alias]})
                found[alias.asname or alias.name.partition(".")[0]] = kind
        elif isinstance(node, ast.ImportFrom):
            for name in module_names(node.module or "") or ():
                found[name] = ast.ImportFrom(node.module, [ast.alias(name)], 0)
    if found:
        bound = Counter(name for node in ast.walk(tree) for name in bound_names(node))
        found = {name: node for name, node in found.items() if bound[name] <= 1}
    return found


def _source(node: ast.FunctionDef | ast.ClassDef, imports: Mapping[str, ast.stmt]) -> str:
    """Return a definition's source, with the imports it needs inside its functions."""
    if imports:
        node = copy.deepcopy(node)
        functions = node.body if isinstance(node, ast.ClassDef) else [node]
        for function in functions:
            if isinstance(function, ast.FunctionDef):
                _import_inside(function, imports)
    return ast.unparse(ast.fix_missing_locations(node)) + "\n"


def _import_inside(function: ast.FunctionDef, imports: Mapping[str, ast.stmt]) -> None:
    """Write the imports a function needs at the beginning of its body, in place.

    Its notes, which are evaluated outside of it, become texts.
    """
    for part in ast.walk(function):
        for name in ("annotation", "returns"):
            if (note := getattr(part, name, None)) is not None and imports.keys() & _names(note):
                setattr(part, name, ast.Constant(ast.unparse(note)))
    used = imports.keys() & _names(function)
    first = 1 if ast.get_docstring(function) is not None else 0
    function.body[first:first] = [imports[name] for name in imports if name in used]


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _why_lost(name: str) -> str:
    """Return why a name is not there in later turns."""
    if name in EVERYWHERE:
        return "was not kept: it means the library's own again; choose another name"
    return "could not be kept (only plain data and functions can)"


def needs_values(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """True if making it again would evaluate more than constants, or call something."""
    if isinstance(node, ast.ClassDef):
        return bool(node.bases or node.keywords) or not all(map(_is_inert, node.body))
    defaults = [*node.args.defaults, *(entry for entry in node.args.kw_defaults if entry)]
    if any(not isinstance(entry, ast.Constant) for entry in defaults):
        return True
    arguments = [entry for entry in ast.walk(node.args) if isinstance(entry, ast.arg)]
    notes = [node.returns, *(entry.annotation for entry in arguments)]  # making it evaluates them
    return any(isinstance(inner, ast.Call) for note in notes if note for inner in ast.walk(note))


def _is_inert(node: ast.stmt) -> bool:
    """Tell whether a statement of a class body calls nothing when the class is made."""
    if isinstance(node, ast.FunctionDef):
        marks = all(isinstance(m, ast.Name) and m.id in _METHOD_MARKS for m in node.decorator_list)
        return marks and not needs_values(node)
    plain = isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr | ast.Pass)
    return plain and not any(isinstance(inner, ast.Call) for inner in ast.walk(node))
