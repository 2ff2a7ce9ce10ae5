"""What a program leaves for later turns: its plain data, and its functions as source.

A function is kept so that it stands by itself in every later turn: what its program imported, it
imports itself, and its annotations are texts. So making it again reads nothing of what later turns
may have set. Classes, decorated functions and those whose defaults are no constants do not stay.
"""

from __future__ import annotations

import ast
import copy
import symtable
from dataclasses import replace

from cap.checker.policy import EVERYWHERE
from cap.checker.rules import scope_nodes
from cap.engine.answer import Answer, State
from cap.program.scope import Definition
from cap.sandbox.wire import MAX_KEPT_BYTES, MAX_KEPT_VALUES


def after_turn(state: State, answer: Answer, number: int) -> State:
    """Return the state a successful program leaves: its data, its functions as source.

    Args:
        state: The state it started from.
        answer: Its result.
        number: Which turn it was, from 1; messages about names that could not be kept have it.
    """
    assert answer.program is not None
    tree = answer.program.tree
    imports = _imports(tree)
    known = {(entry.name, 0): entry for entry in (*state.definitions, *answer.generated)}
    known |= {
        (node.name, node.lineno): Definition(node.name, _source(node, imports))
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not needs_values(node)
    }
    defined = answer.result.defined
    kept = {name: known[name, line] for name, line in defined.items() if (name, line) in known}
    lost = [*answer.result.dropped, *(name for name in defined if name not in kept)]
    there = {*kept, *answer.result.variables}
    dropped = {name: why for name, why in state.dropped.items() if name not in there}
    for name in lost:
        why = "was set in turn {} and could not be kept (only plain data and functions can)"
        if name in imports:
            why = "was imported in turn {} only; import it again"
        elif name in EVERYWHERE:
            why = "was set in turn {} and was not kept: it means the library's own again; "
            why += "choose another name"
        dropped[name] = why.format(number)
    room = f"at most {MAX_KEPT_BYTES >> 20} MiB and {MAX_KEPT_VALUES} values stay between turns"
    for name in answer.result.oversized:
        dropped[name] = f"was too large to be kept after turn {number}: {room}"
    return replace(
        state,
        variables=answer.result.variables,
        definitions=tuple(kept.values()),
        dropped=dropped,
    )


def needs_values(function: ast.FunctionDef) -> bool:
    """True if making it again would evaluate more than constants, or call something."""
    arguments, notes = function.args, [function.returns] if function.returns else []
    defaults = [*arguments.defaults, *(entry for entry in arguments.kw_defaults if entry)]
    nodes = (node for part in (arguments, *notes) for node in ast.walk(part))
    calls = any(isinstance(node, ast.Call) for node in nodes)
    constant = all(isinstance(entry, ast.Constant) for entry in defaults)
    return calls or not constant or bool(function.decorator_list)


def _source(function: ast.FunctionDef, imports: dict[str, ast.stmt]) -> str:
    """Return the source that makes a function again, with the imports it needs."""
    made = copy.deepcopy(function)
    for part in ast.walk(made):
        for name in ("annotation", "returns"):
            note = getattr(part, name, None)
            if isinstance(note, ast.expr) and not isinstance(note, ast.Constant):
                setattr(part, name, ast.Constant(ast.unparse(note)))
    used = set[str]()
    tables = [symtable.symtable(ast.unparse(made), "<program>", "exec")]
    for table in tables:  # grows meanwhile
        tables += table.get_children()
        used.update(name.get_name() for name in table.get_symbols() if name.is_global())
    first = 1 if ast.get_docstring(made) is not None else 0
    made.body[first:first] = [one for name, one in imports.items() if name in used]
    return ast.unparse(ast.fix_missing_locations(made)) + "\n"


def _imports(tree: ast.Module) -> dict[str, ast.stmt]:
    """Return every name that a program imports, with an import of it alone."""
    found: dict[str, ast.stmt] = {}
    for node in sorted(scope_nodes(tree), key=lambda node: getattr(node, "lineno", 0)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = ast.Import([alias])
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                found[alias.asname or alias.name] = ast.ImportFrom(node.module, [alias], 0)
    return found
