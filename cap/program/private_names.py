"""Private names: what programs write as `x._name`, renamed before a program is compiled.

Every library keeps its inner parts behind one underscore. A program's own classes do the same, and
by looking at a program nobody can tell which of the two `x._name` means. So each such attribute
gets a name that no library object has: its own, with a mark that no library uses at its end. What a
program's classes bind under it, all of the program finds; what a library keeps, no program does.
The same is done to everyday words by which libraries lead out of a program, such as an array's
`data`, and to a generator's `gi_frame` and its like.

The mark is a character that is not drawn. What a program prints or raises is shown without it.
Python's own renaming of `__name` inside a class is done here as well, before the mark is put.
Some attributes get a stand-in on the same walk: `x.__class__` means `type(x)`, `x.format` of a text
is a method that reads no attribute a program may not read, and what special attributes are bound
to, such as `f.__name__`, is looked at when it runs.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Container, Iterable, Iterator
from typing import Any

MARK = "\U000e01ef"
"""The last variation selector: part of a name to Python, and of no name that anybody wrote."""
TOLD = f"told{MARK}"
"""A builtin that handlers in programs with private names call: see `plain_error`."""
KIND = f"kind{MARK}"
"""A builtin that holds a value's class as its `kind`, in place of `x.__class__`."""
TEXT = f"text{MARK}"
"""A builtin that gives a text safe methods `format` and `format_map`, and any other value back."""
SPECIAL = f"special{MARK}"
"""A builtin that gives a value's special attributes to be bound, and the few that lead further."""
FOUND = f"found{MARK}"
"""A builtin that looks up a private name for the body of a class: see `found`."""
LEADS_OUT = frozenset(
    [
        *("base", "bit_generator", "capsule", "cffi", "co_cellvars", "co_code", "co_consts"),
        *("co_filename", "co_freevars", "co_lines", "co_names", "co_positions", "co_varnames"),
        *(
            "ctypes",
            "data",
            "dump",
            "dumps",
            "fields",
            "f_back",
            "f_builtins",
            "f_code",
            "f_generator",
        ),
        *("f_globals", "f_lasti", "f_lineno", "f_locals", "f_trace", "f_trace_lines"),
        *(
            "f_trace_opcodes",
            "func_code",
            "func_globals",
            "getfield",
            "groupindex",
            "obj",
            "resize",
        ),
        *("setfield", "setflags", "tofile", "with_traceback", "writeable"),
    ]
)
"""Attributes by which library objects lead to memory, files, frames or code."""
_LEADS_OUT_PREFIXES = ("gi_", "cr_", "ag_", "tb_")
GUARDED = frozenset(["dtype", "strides"])
"""What a program may read of anything and bind of its own alone.

Strides of an array of objects make the numbers beside them objects; a wider dtype has an array's
iterator read and write past its end.
"""
FORMATS = ("format", "format_map")
"""Methods of a text that read attributes of what they are given."""
_READING_FIELD = re.compile(r"\{[^{}:!]*[.\[]")
PROTOCOL = frozenset(["_generate_next_value_", "_ignore_", "_missing_", "_name_", "_value_"])
"""What an enumeration looks for by these very names; harmless on everything else."""
_MAY_BE_PRIVATE = re.compile(
    r"_(?<!\w_)(?!_\w*__\b)_*[^\W_]|__class__|__setattr__|__wrapped__|__annotations__|__members__|__dict__"
    r"|(?<!super\(\))\.[\s\\]*__init__|\.[\s\\]*__\w+__(?![\w(])"
)
_WORD = rf"(?:{'|'.join(sorted([*LEADS_OUT, *FORMATS, *GUARDED, 'mro']))}|(?:gi|cr|ag|tb)_\w+)\b"
_DOTTED_WORD = re.compile(rf"\.[\s\\]*{_WORD}")
"""Such a word as an attribute."""
_FIRST_WORD = re.compile(rf"\n[ \t\f\\]*(?:{_WORD}|__\w+__)")
"""Such a word at the beginning of a line, where an attribute may stand after a comment."""
_BARE_WORD = re.compile(rf"\b{_WORD}")
TABLES = ("__slots__", "__match_args__")
"""What a class binds to texts that are names of attributes."""


READ_LATER = frozenset(
    [
        *("__annotations__", "__bases__", "__dict__", "__members__", "__module__", "__mro__"),
        *("__setattr__", "__wrapped__", "mro"),
    ]
)
"""Special attributes that are looked at when they are read; `mro` of a class is one of them."""


def is_special(name: str) -> bool:
    """Tell whether a name has the form of a special method's."""
    return name.startswith("__") and name.endswith("__") and name.strip("_") != ""


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

    Raises:
        AttributeError: It has the mark already: that is no name that a program may hold as data.
    """
    if MARK in name:
        raise AttributeError("no name of an attribute holds the character U+E01EF")
    if not is_renamed(name):
        return name
    owner = owner.lstrip("_")
    inner = f"_{owner}{name}" if owner and name.startswith("__") else name
    return inner + MARK


def shown(text: str) -> str:
    """Return a text as its program would know it."""
    return text.replace(MARK, "") if MARK in text else text


def plain_error(*given: object) -> None:
    """Write the names in the messages of exceptions as the program does, in place.

    Args:
        given: Exceptions, with those in them and before them; anything else stays as it is.
    """
    errors = [entry for entry in given if isinstance(entry, BaseException)]
    seen = {*map(id, errors)}
    for error in errors:  # grows meanwhile
        inner = [error.__context__, error.__cause__]
        if isinstance(error, BaseExceptionGroup):
            inner += error.exceptions
        for entry in inner:
            if entry is not None and id(entry) not in seen:
                seen.add(id(entry))
                errors.append(entry)
        args = tuple(shown(entry) if type(entry) is str else entry for entry in error.args)
        if args != error.args and not isinstance(error, BaseExceptionGroup):
            error.args = args
        if isinstance(error, AttributeError) and type(error.name) is str:
            error.name = shown(error.name)


def found(name: str) -> Any:
    """Return what a private name means in the body of the class that calls this.

    Args:
        name: As the class binds it; among the globals it is what was written.
    """
    frame, plain = sys._getframe(1), shown(name)
    if name in frame.f_locals:
        return frame.f_locals[name]
    if not is_renamed(plain) or plain not in frame.f_globals:
        error = NameError(f"name '{plain}' is not defined")
        error.name = plain
        raise error
    return frame.f_globals[plain]


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
    exits: list[ast.FunctionDef] = []
    classes: list[tuple[list[Any], str]] = [([tree], "")]
    special: list[ast.Attribute] = []
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
                elif is_special(name) or name in READ_LATER:
                    special.append(node)
                elif name in GUARDED and type(node.ctx) is ast.Store:
                    node.value = _called(SPECIAL, node.value)
                continue
            if kind is ast.AugAssign and getattr(node.target, "attr", "") in FORMATS:
                node.target.value = _called(TEXT, node.target.value)  # it reads before it binds
            if kind is ast.ClassDef:
                node.body = _ClassBody(node).statements()
                classes.append(([*node.body], node.name))
                nodes += _evaluated(node)
                continue
            if kind is ast.MatchClass:
                node.kwd_attrs = [hidden(name) for name in node.kwd_attrs]
            elif kind is ast.ExceptHandler and node.name:
                handlers.append(node)
            elif kind is ast.FunctionDef and node.name == "__exit__":
                exits.append(node)
            for name in _PARTS.get(kind) or node._fields:
                value = getattr(node, name)
                if type(value) is list:
                    nodes += [part for part in value if type(part) not in _LEAVES]
                elif type(value) not in _LEAVES and isinstance(value, ast.AST):
                    nodes.append(value)
    bases = base_names(ast.walk(tree)) if special else ()
    for node in special:
        if is_judged_later(node, bases):
            node.value = _called(SPECIAL, node.value)
    if renamed:
        for handler in handlers:
            error = ast.Name(handler.name or "", ast.Load())
            handler.body.insert(0, _told(error, handler.body[0]))
        for method in exits:
            if (value := _given_to_exit(method)) is not None:
                after_text = int(ast.get_docstring(method, clean=False) is not None)
                method.body.insert(after_text, _told(value, method.body[0]))
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


def base_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that classes of a program, given by all its nodes, have as bases."""
    return frozenset(
        base.id
        for node in nodes
        if type(node) is ast.ClassDef
        for base in node.bases
        if isinstance(base, ast.Name)
    )


def is_judged_later(node: ast.Attribute, bases: Container[str]) -> bool:
    """Tell whether a special attribute is looked at when it runs; the check judges the others.

    Args:
        node: It.
        bases: Names that classes of the program have as bases: `Base.__init__(self)` stays.
    """
    value = node.value
    name = value.func if isinstance(value, ast.Call) else value
    of = name.id if isinstance(name, ast.Name) else ""
    if type(node.ctx) is not ast.Load or node.attr in READ_LATER:
        return True
    inherited = of == "super" if value is not name else of == "object" or of in bases
    return node.attr == "__init__" and not inherited


def _given_to_exit(method: ast.FunctionDef) -> ast.expr | None:
    """Return what the exception is called that a method `__exit__` is given, if anything."""
    given = [*method.args.posonlyargs, *method.args.args]
    if len(given) > 2:
        return ast.Name(given[2].arg, ast.Load())
    rest = method.args.vararg
    return None if rest is None else ast.Starred(ast.Name(rest.arg, ast.Load()), ast.Load())


def _told(value: ast.expr, first: ast.stmt) -> ast.stmt:
    """Return the statement that has an exception written in plain names, before another one."""
    told = ast.Expr(_called(TOLD, ast.copy_location(value, first)))
    return ast.fix_missing_locations(ast.copy_location(told, first))


def _called(function: str, value: ast.expr) -> ast.Call:
    """Return a call of one of these builtins with one value."""
    name = ast.copy_location(ast.Name(function, ast.Load()), value)
    return ast.copy_location(ast.Call(name, [value], []), value)


def _may_read(template: ast.expr) -> bool:
    """Tell whether fields of a template may read attributes: those of a literal text seldom do."""
    text = template.value if isinstance(template, ast.Constant) else None
    return type(text) is not str or _READING_FIELD.search(text) is not None


_OWN_SCOPE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _ClassBody(ast.NodeTransformer):
    """The body of a class: names bound there are attributes, and so are renamed like them.

    Python looks such a name up in the class first, and then among the program's globals.
    """

    def __init__(self, owner: ast.ClassDef) -> None:
        """Look for the names its body binds, wherever it does."""
        self._owner = owner
        parts = [part for node in owner.body for part in _in_scope(node)]
        outer = {
            name
            for part in parts
            if isinstance(part, ast.Global | ast.Nonlocal)
            for name in part.names
        }
        bound = {
            str(getattr(part, _BINDING_FIELDS[type(part)]))
            for part in parts
            if type(part) in _BINDING_FIELDS and not isinstance(getattr(part, "ctx", 0), ast.Load)
        }
        bound.update(_alias_name(part) for part in parts if isinstance(part, ast.alias))
        self._bound = {name for name in bound - outer if is_renamed(name)}
        self._tables = not bound.isdisjoint(TABLES)

    def statements(self) -> list[ast.stmt]:
        """Return its statements, renamed."""
        if self._bound or self._tables:
            self._visit_parts(self._owner, ["body"])
        return self._owner.body

    def _visit_parts(self, node: ast.AST, fields: Iterable[str]) -> None:
        """Rename what is in some fields of a node."""
        for name in fields:
            value = getattr(node, name)
            if isinstance(value, list):
                made = [self.visit(part) if part is not None else None for part in value]
                value = [part for one in made for part in (one if isinstance(one, list) else [one])]
                setattr(node, name, value)
            elif value is not None:
                setattr(node, name, self.visit(value))

    def _hidden(self, name: str) -> str:
        return hidden(name, self._owner.name) if name in self._bound else name

    def visit(self, node: ast.AST) -> Any:
        """Return what takes the place of a node: itself, another expression, or statements."""
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            tables = {part.id for part in targets if isinstance(part, ast.Name)} & {*TABLES}
            owner = self._owner.name if "__slots__" in tables else ""
            for part in ast.walk(node.value) if tables else ():
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    part.value = hidden(part.value, owner)
        match node:
            case ast.Name():
                return self._name(node)
            case ast.AugAssign():
                target, fetched = node.target, list[ast.stmt]()
                if isinstance(target, ast.Name) and target.id in self._bound:  # from wherever it is
                    value = self._name(ast.copy_location(ast.Name(target.id, ast.Load()), target))
                    name = ast.copy_location(ast.Name(target.id, ast.Store()), target)
                    made = ast.Assign([self._name(name)], value)
                    fetched.append(ast.copy_location(made, node))
                self.generic_visit(node)
                return [*fetched, node]
            case ast.FunctionDef() | ast.ClassDef():
                return self._definition(node)
            case ast.Lambda():  # its body is no part of the class
                self._visit_parts(node.args, ["defaults", "kw_defaults"])
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():  # likewise
                self._visit_parts(node.generators[0], ["iter"])
            case ast.alias():
                if _alias_name(node) in self._bound:
                    node.asname = self._hidden(_alias_name(node))
            case _:
                field = _BINDING_FIELDS.get(type(node))
                if field is not None and (name := getattr(node, field)) is not None:
                    setattr(node, field, self._hidden(name))
                self.generic_visit(node)
        return node

    def _name(self, node: ast.Name) -> ast.expr:
        """Rename what is bound; look up what is read."""
        if node.id not in self._bound:
            return node
        if isinstance(node.ctx, ast.Load):
            return _called(FOUND, ast.copy_location(ast.Constant(self._hidden(node.id)), node))
        node.id = self._hidden(node.id)
        return node

    def _definition(self, node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
        """Give a method its other name once it is made, so that it calls itself by its own."""
        evaluated = ("bases", "keywords") if isinstance(node, ast.ClassDef) else ("args", "returns")
        self._visit_parts(node, ["decorator_list", *evaluated])
        if node.name not in self._bound:
            return [node]
        new = ast.Name(self._hidden(node.name), ast.Store())
        moved = [
            ast.Assign([new], ast.Name(node.name, ast.Load())),
            ast.Delete([ast.Name(node.name, ast.Del())]),
        ]
        return [node, *(ast.fix_missing_locations(ast.copy_location(m, node)) for m in moved)]


_BINDING_FIELDS: dict[type[ast.AST], str] = {
    **{ast.Name: "id", ast.FunctionDef: "name", ast.ClassDef: "name", ast.MatchAs: "name"},
    **{ast.MatchStar: "name", ast.MatchMapping: "rest", ast.ExceptHandler: "name"},
}
"""Where a node has the name that it binds."""


def _alias_name(node: ast.alias) -> str:
    """Return the name that a part of an import binds."""
    return node.asname or node.name.partition(".")[0]


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
