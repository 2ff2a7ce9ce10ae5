"""Private names: what programs write as `x._name`, renamed before a program is compiled.

Every library keeps its inner parts behind one underscore. A program's own classes do the same, and
by looking at a program nobody can tell which of the two `x._name` means. So each such attribute
gets a name that no library object has: its own, with a mark that no library uses at its end. What a
program's classes bind under it, all of the program finds; what a library keeps, no program does.
The same is done to everyday words by which libraries lead out of a program, such as an array's
`data`, and to a generator's `gi_frame` and its like.

The mark is a character that is not drawn. What a program prints or raises is shown without it.
Python's own renaming of `__name` inside a class is done here as well, before the mark is put.
Two attributes get a stand-in on the same walk: `x.__class__` means `type(x)`, and `x.format` of a
text is a method that reads no attribute a program may not read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

MARK = "\U000e01ef"
"""The last variation selector: part of a name to Python, and of no name that anybody wrote."""
TOLD = f"told{MARK}"
"""A builtin that handlers of programs with private names call: see `plain_error`."""
KIND = f"kind{MARK}"
"""A builtin that holds a value's class as its `kind`, in place of `x.__class__`."""
TEXT = f"text{MARK}"
"""A builtin that gives a text safe methods `format` and `format_map`, and any other value back."""
LEADS_OUT = frozenset(
    [
        *("base", "bit_generator", "capsule", "cffi", "co_cellvars", "co_code", "co_consts"),
        *("co_filename", "co_freevars", "co_lines", "co_names", "co_positions", "co_varnames"),
        *("ctypes", "data", "dump", "dumps", "f_back", "f_builtins", "f_code", "f_generator"),
        *("f_globals", "f_lasti", "f_lineno", "f_locals", "f_trace", "f_trace_lines"),
        *("f_trace_opcodes", "func_code", "func_globals", "getfield", "mro", "obj", "resize"),
        *("setfield", "setflags", "tofile", "with_traceback", "writeable"),
    ]
)
"""Attributes by which library objects lead to memory, files, frames or code."""
_LEADS_OUT_PREFIXES = ("gi_", "cr_", "ag_", "tb_")
FORMATS = ("format", "format_map")
"""Methods of a text that read attributes of what they are given."""
_READING_FIELD = re.compile(r"\{[^{}:!]*[.\[]")
PROTOCOL = frozenset(["_generate_next_value_", "_ignore_", "_missing_", "_name_", "_value_"])
"""What an enumeration looks for by these very names; harmless on everything else."""
_MAY_BE_PRIVATE = re.compile(r"_(?<!\w_)(?!_\w*__\b)_*[^\W_]|__class__")
_WORD = rf"(?:{'|'.join(sorted([*LEADS_OUT, *FORMATS]))}|(?:gi|cr|ag|tb)_\w+)\b"
_DOTTED_WORD = re.compile(rf"\.[\s\\]*{_WORD}")
"""Such a word as an attribute."""
_FIRST_WORD = re.compile(rf"\n[ \t\f\\]*{_WORD}")
"""Such a word at the beginning of a line, where an attribute may stand after a comment."""
_BARE_WORD = re.compile(rf"\b{_WORD}")
TABLES = ("__slots__", "__match_args__")
"""What a class binds to texts that are names of attributes."""


def is_special(name: str) -> bool:
    """Tell whether a name has the form of a special method's."""
    return name.startswith("__") and name.endswith("__")


def is_private(name: str) -> bool:
    """Tell whether a name begins with an underscore, and is neither special nor a throw-away."""
    if name[:1] != "_" or is_special(name) or name in PROTOCOL:
        return False
    return bool(name.strip("_"))


def leads_out(name: str) -> bool:
    """Tell whether library objects lead out of a program by an attribute of that name."""
    return name in LEADS_OUT or name.startswith(_LEADS_OUT_PREFIXES)


def is_renamed(name: str) -> bool:
    """Tell whether an attribute of that name has another one in the compiled program."""
    return is_private(name) if name[:1] == "_" else leads_out(name)


def hidden(name: str, owner: str = "") -> str:
    """Return what an attribute is called in the compiled program.

    Args:
        name: As written.
        owner: The class in whose body it is written, whose name goes before two underscores.
    """
    if not is_renamed(name):
        return name
    owner = owner.lstrip("_")
    inner = f"_{owner}{name}" if owner and name.startswith("__") else name
    return inner + MARK


def shown(text: str) -> str:
    """Return a text as its program would know it."""
    return text.replace(MARK, "") if MARK in text else text


def plain_error(error: BaseException) -> None:
    """Write the names in an exception's message as the program does, in place."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            plain_error(inner)
        return
    args = tuple(shown(entry) if type(entry) is str else entry for entry in error.args)
    if args != error.args:
        error.args = args
    if isinstance(error, AttributeError) and type(error.name) is str:
        error.name = shown(error.name)


def may_hold_private_names(source: str) -> bool:
    """Tell, without parsing, whether a source may need renaming; letters may be disguised."""
    if _MAY_BE_PRIVATE.search(source) or not source.isascii() or _DOTTED_WORD.search(source):
        return True
    if "#" in source and _FIRST_WORD.search(source):
        return True
    binds = "class" in source or "case" in source  # without a dot
    return binds and _BARE_WORD.search(source) is not None


def rename(tree: ast.AST) -> bool:
    """Rename the private attributes of a program, in place; tell whether there were any."""
    renamed = False
    handlers: list[ast.ExceptHandler] = []
    classes: list[tuple[list[Any], str]] = [([tree], "")]
    for nodes, owner in classes:  # grows meanwhile
        for node in nodes:  # so does this one
            kind = type(node)
            if kind is ast.Attribute:
                name = node.attr
                nodes.append(node.value)
                if is_renamed(name):
                    node.attr, renamed = hidden(name, owner), True
                elif name == "__class__" and type(node.ctx) is ast.Load:
                    node.attr, node.value = "kind", _called(KIND, node.value)
                elif name in FORMATS and type(node.ctx) is ast.Load and _may_read(node.value):
                    node.value = _called(TEXT, node.value)
                continue
            if kind is ast.ClassDef:
                node.body = _Body(node).statements()
                classes.append(([*node.body], node.name))
                nodes += _evaluated(node)
                continue
            if kind is ast.MatchClass:
                node.kwd_attrs = [hidden(name) for name in node.kwd_attrs]
            elif kind is ast.ExceptHandler and node.name:
                handlers.append(node)
            for name in _PARTS.get(kind) or node._fields:
                value = getattr(node, name)
                if type(value) is list:
                    nodes += [part for part in value if type(part) not in _LEAVES]
                elif type(value) not in _LEAVES and isinstance(value, ast.AST):
                    nodes.append(value)
    if renamed:
        for handler in handlers:
            handler.body.insert(0, _told(handler))
    return renamed


_PARTS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Call: ("func", "args", "keywords"),
    ast.Assign: ("targets", "value"),
    ast.FunctionDef: ("body", "args", "decorator_list", "returns"),
    ast.Subscript: ("value", "slice"),
    ast.BinOp: ("left", "right"),
    ast.Compare: ("left", "comparators"),
    ast.List: ("elts",),
    ast.Tuple: ("elts",),
}
"""Where the commonest nodes have others below them."""
_LEAVES = frozenset([ast.Name, ast.Constant, ast.Load, ast.Store, type(None), str])
"""What has nothing below it."""


def _told(handler: ast.ExceptHandler) -> ast.stmt:
    """Return the statement that has a handler's exception written in plain names."""
    first = handler.body[0]
    error = ast.copy_location(ast.Name(handler.name or "", ast.Load()), first)
    return ast.copy_location(ast.Expr(_called(TOLD, error)), first)


def _called(function: str, value: ast.expr) -> ast.Call:
    """Return a call of one of these builtins with one value."""
    name = ast.copy_location(ast.Name(function, ast.Load()), value)
    return ast.copy_location(ast.Call(name, [value], []), value)


def _may_read(template: ast.expr) -> bool:
    """Tell whether fields of a template may read attributes: those of a literal text seldom do."""
    text = template.value if isinstance(template, ast.Constant) else None
    return type(text) is not str or _READING_FIELD.search(text) is not None


_OWN_SCOPE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Body:
    """The body of a class: names bound there are attributes, and so are renamed like them."""

    def __init__(self, owner: ast.ClassDef) -> None:
        self._owner = owner
        self._bound: set[str] = set()
        """Private names bound so far; any other stands for one outside the class."""
        self._outer = {
            name
            for node in owner.body
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        }

    def statements(self) -> list[ast.stmt]:
        """Return its statements, renamed."""
        return self._renamed(self._owner.body)

    def _renamed(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        return [made for node in body for made in self._statement(node)]

    def _statement(self, node: ast.stmt) -> Iterator[ast.stmt]:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            self._table(node, targets[0])
            for part in (node.value, getattr(node, "annotation", None)):
                if part is not None:  # it is evaluated before anything is bound
                    self._names(part)
            self._bind(targets)
            for target in targets:
                self._names(target)
            yield node
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            if self._bound:
                for part in _evaluated(node):
                    self._names(part)
            yield node
            if is_renamed(node.name) and node.name not in self._outer:
                yield from self._moved(node)
        else:
            self._bind([node])
            for name, value in ast.iter_fields(node):
                if name in ("body", "orelse", "finalbody"):
                    setattr(node, name, self._renamed(value))
                elif name in ("handlers", "cases"):
                    for part in value:
                        self._names_but_body(part)
                        part.body = self._renamed(part.body)
                else:
                    for part in value if isinstance(value, list) else [value]:
                        if isinstance(part, ast.AST):
                            self._names(part)
            yield node

    def _names_but_body(self, part: ast.AST) -> None:
        for name, value in ast.iter_fields(part):
            if name != "body" and isinstance(value, ast.AST):
                self._names(value)

    def _moved(self, node: ast.FunctionDef | ast.ClassDef) -> Iterator[ast.stmt]:
        """Yield what gives a method its other name, so that it still calls itself by its own."""
        self._bound.add(node.name)
        new = ast.Name(hidden(node.name, self._owner.name), ast.Store())
        for made in (
            ast.Assign([new], ast.Name(node.name, ast.Load())),
            ast.Delete([ast.Name(node.name, ast.Del())]),
        ):
            yield ast.fix_missing_locations(ast.copy_location(made, node))

    def _bind(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            for part in _in_scope(node):
                if not isinstance(part, ast.Name) or isinstance(part.ctx, ast.Load):
                    continue
                if is_renamed(part.id) and part.id not in self._outer:
                    self._bound.add(part.id)

    def _names(self, node: ast.AST) -> None:
        """Rename what an expression reads or binds of the class's own."""
        self._bind(part for part in _in_scope(node) if isinstance(part, ast.NamedExpr))
        if self._bound:
            for part in _in_scope(node):
                if isinstance(part, ast.Name) and part.id in self._bound:
                    part.id = hidden(part.id, self._owner.name)

    def _table(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, target: ast.expr) -> None:
        """Rename the texts in `__slots__` and `__match_args__`."""
        if not isinstance(target, ast.Name) or target.id not in TABLES or node.value is None:
            return
        owner = self._owner.name if target.id == "__slots__" else ""
        for part in ast.walk(node.value):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                part.value = hidden(part.value, owner)


def _evaluated(node: ast.FunctionDef | ast.ClassDef) -> list[ast.AST]:
    """Return what making a function or class evaluates in the scope around it."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    given = node.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    notes = [node.returns, *(part.annotation for part in arguments if part)]
    return [*node.decorator_list, *filter(None, (*given.defaults, *given.kw_defaults, *notes))]


def _in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement or expression that belong to the scope it stands in."""
    stack = [node]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, _OWN_SCOPE):
            if isinstance(part, ast.Lambda):
                stack += [*part.args.defaults, *filter(None, part.args.kw_defaults)]
            else:
                stack.append(part.generators[0].iter)
        elif isinstance(part, ast.FunctionDef | ast.ClassDef):
            stack += _evaluated(part)
        else:
            stack += ast.iter_child_nodes(part)
