"""The source of a function or class as it is kept: it stands by itself in every later turn.

What its program imported, it imports itself; what making it would look up besides is nothing but
the library's own, so that no later turn can fail to make it, or make another thing of it.
"""

from __future__ import annotations

import ast
import copy
import symtable
from collections.abc import Iterable, Iterator, Mapping

from cap.checker.policy import EVERYWHERE, module_names
from cap.checker.rules import bound_in, bound_names, scope_nodes
from cap.program.scope import Definition

_METHOD_MARKS = ("staticmethod", "classmethod", "property")
_OwnScope = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Kept = ast.FunctionDef | ast.ClassDef


class DefinitionSources:
    """The functions and classes at the top level of one program, and what it imports."""

    def __init__(self, tree: ast.Module) -> None:
        """Look at a program; nothing of it is changed."""
        self._tree = tree
        nodes = sorted(scope_nodes(tree), key=lambda node: getattr(node, "lineno", 0))
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        found = {ast.unparse(node): node for node in imports}.values()  # each once
        single = [entry for node in found for entry in _single_imports(node)]
        self.imported = frozenset(name for name, _ in single)
        """Every name its imports bind."""
        self._late_notes = any(getattr(node, "module", "") == "__future__" for node in found)
        self._rebound = bound_in(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Global):
                self._rebound.update(node.names)
        texts: dict[str, set[str]] = {}
        for name, node in single:
            texts.setdefault(name, set()).add(ast.unparse(node))
        self._imports = {
            name: node
            for name, node in single
            if name not in self._rebound and len(texts[name]) == 1
        }

    def all(self) -> Iterator[tuple[Kept, str]]:
        """Yield each definition that can be made again, with the source that makes it."""
        for node in self._tree.body:
            if not isinstance(node, Kept) or node.decorator_list or needs_values(node):
                continue
            made = copy.deepcopy(node)
            for function in made.body if isinstance(made, ast.ClassDef) else [made]:
                if isinstance(function, ast.FunctionDef):
                    self._complete(function)
            if isinstance(made, ast.ClassDef) and not self._complete_class(made):
                continue
            yield node, ast.unparse(ast.fix_missing_locations(made)) + "\n"

    def _complete(self, function: ast.FunctionDef) -> None:
        """Write the imports a function needs at the beginning of its body, in place.

        Its notes, which are evaluated outside of it, become texts.
        """
        for part in ast.walk(function):
            for name in ("annotation", "returns"):
                if (note := getattr(part, name, None)) is not None and not self._is_library(note):
                    setattr(part, name, _as_text(note))
        if self._imports:
            used = set[str]()
            made = ast.fix_missing_locations(ast.Module([function], []))
            tables = symtable.symtable(ast.unparse(made), "<program>", "exec").get_children()
            for table in tables:  # grows meanwhile
                tables += table.get_children()
                used.update(name.get_name() for name in table.get_symbols() if name.is_global())
            first = 1 if ast.get_docstring(function) is not None else 0
            function.body[first:first] = _chosen(self._imports, used)

    def _complete_class(self, owner: ast.ClassDef) -> bool:
        """Have a class body import what it reads, in place; tell whether that makes it whole."""
        bound, needed = set[str](), set[str]()
        for node in owner.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                bound.add(node.name)
                continue
            if isinstance(node, ast.AnnAssign) and not self._is_library(node.annotation):
                node.annotation = _as_text(node.annotation)
            body = ast.Module([node], [])
            inner, outer = list[_OwnScope](), list[ast.AST]([node])
            for part in outer:  # grows meanwhile
                if isinstance(part, _OwnScope):
                    inner.append(part)
                else:
                    outer += ast.iter_child_nodes(part)
            if any(_names(part) & self.imported for part in inner):  # it sees no name of the class
                return False
            loops = [part for part in inner if not isinstance(part, ast.Lambda)]
            own = {name for part in loops for name in bound_in(part)}
            reads = {name for part in scope_nodes(body) for name in _read(part)} - own
            reads.update(name for part in loops for name in _names(part.generators[0].iter))
            needed.update(name for name in reads - bound if not self._means_library(name))
            bound |= bound_in(body).union(bound_names(node))
        if not needed <= self._imports.keys() - bound:
            return False
        first = 1 if ast.get_docstring(owner) is not None else 0
        if imports := _chosen(self._imports, needed):
            owner.body[first:first] = imports
            names = [ast.Name(name, ast.Del()) for name in self._imports if name in needed]
            owner.body.append(ast.Delete([*names]))
        return True

    def _is_library(self, note: ast.expr) -> bool:
        """Tell whether a note may be evaluated in any turn."""
        return not self._late_notes and all(map(self._means_library, _names(note)))

    def _means_library(self, name: str) -> bool:
        return name in EVERYWHERE and name not in self._rebound and name not in self.imported


def needs_values(node: Kept) -> bool:
    """True if making it again would evaluate more than constants, or call something."""
    if isinstance(node, ast.ClassDef):
        return bool(node.bases or node.keywords) or not all(map(_is_inert, node.body))
    defaults = [*node.args.defaults, *(entry for entry in node.args.kw_defaults if entry)]
    if any(not isinstance(entry, ast.Constant) for entry in defaults):
        return True
    return any(isinstance(inner, ast.Call) for note in _notes(node) for inner in ast.walk(note))


def unmade(definitions: Iterable[Definition], variables: Iterable[str]) -> set[str]:
    """Return the names of kept definitions that cannot be made: what making them reads is lost.

    Args:
        definitions: In the order in which they are made.
        variables: What is there before.
    """
    known, lost = {*EVERYWHERE, *variables}, set[str]()
    for entry in definitions:
        own, read = set[str](), set[str]()
        for node in ast.parse(entry.source).body:
            own.update(bound_names(node))
            read |= _looked_up(node)
        if read <= known | own:
            known.add(entry.name)
        else:
            lost.add(entry.name)
    return lost


def _looked_up(node: ast.stmt) -> set[str]:
    """Return the names that making a function or class looks up outside of it."""
    if isinstance(node, ast.FunctionDef):
        given = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        parts = [*node.decorator_list, *given, *_notes(node)]
        return {name for part in parts for name in _names(part)}
    if not isinstance(node, ast.ClassDef):
        return set()
    found = {name for part in scope_nodes(node) for name in _read(part)}
    own = bound_in(node)
    for entry in node.body:
        found |= _looked_up(entry)
        own.update(bound_names(entry))
    return found - own


def _is_inert(node: ast.stmt) -> bool:
    """Tell whether a statement of a class body calls nothing when the class is made."""
    if isinstance(node, ast.FunctionDef):
        marks = all(isinstance(m, ast.Name) and m.id in _METHOD_MARKS for m in node.decorator_list)
        return marks and not needs_values(node)
    kinds = ast.Assign | ast.AnnAssign | ast.Expr | ast.Pass | ast.Import | ast.ImportFrom
    if not isinstance(node, kinds | ast.Delete):
        return False
    return not any(
        isinstance(part, ast.Call)
        or (isinstance(part, ast.Lambda) and any([*part.args.defaults, *part.args.kw_defaults]))
        for part in ast.walk(node)
    )


def _notes(function: ast.FunctionDef) -> list[ast.expr]:
    """Return the annotations that making a function evaluates."""
    arguments = [entry for entry in ast.walk(function.args) if isinstance(entry, ast.arg)]
    return [*filter(None, (function.returns, *(entry.annotation for entry in arguments)))]


def _single_imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, ast.stmt]]:
    """Yield each name an import binds, with an import of it alone."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], ast.Import([alias])
    elif node.module != "__future__":
        listed = module_names(node.module or "") or ()
        for alias in node.names:
            for name in sorted(listed) if alias.name == "*" else [alias.name]:
                single = ast.ImportFrom(node.module, [ast.alias(name, alias.asname)], 0)
                yield alias.asname or name, single


def _chosen(imports: Mapping[str, ast.stmt], used: set[str]) -> list[ast.stmt]:
    """Return the imports of some names, in their order."""
    return [node for name, node in imports.items() if name in used]


def _as_text(note: ast.expr) -> ast.Constant:
    """Return a note that is not evaluated."""
    return note if isinstance(note, ast.Constant) else ast.Constant(ast.unparse(note))


def _names(node: ast.AST) -> set[str]:
    return {name for part in ast.walk(node) for name in _read(part)}


def _read(node: ast.AST) -> tuple[str, ...]:
    """Return the name a node reads, if it is one."""
    return (node.id,) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else ()
