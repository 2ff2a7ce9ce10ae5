"""The result of one instruction of a session, and what it leaves for the next one.

A program leaves its plain data, and its functions as source. A function is kept so that it stands
by itself in every later turn: what its program imported, it imports itself, and its annotations are
texts. So making it again reads nothing of what later turns may have set.
"""

from __future__ import annotations

import ast
import copy
import symtable
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cap.checker.policy import EVERYWHERE
from cap.checker.rules import scope_nodes
from cap.engine.answer import NOTHING, Answer, State
from cap.engine.effect import Effect
from cap.models.base import Usage
from cap.program.scope import Definition
from cap.result import ByValue, Call, Failure, folded, plain
from cap.robot.observation import Moved
from cap.sandbox.wire import MAX_KEPT_BYTES, MAX_KEPT_VALUES
from cap.trace.trace import Trace

_LISTS = ("no_longer_seen", "newly_seen", "said", "left_over", "doubts", "undone")
"""What of an effect is printed as a list."""


@dataclass(frozen=True, eq=False, repr=False)
class Turn(ByValue):
    """The result of one instruction, for a person or a program to read.

    Turns are compared by what is in them, and can be pickled.
    """

    instruction: str
    """The person's words."""
    program: str
    """The complete program, generated functions first; "" if there was none."""
    value: Any
    """The value the prompt returns, or None."""
    calls: tuple[Call, ...]
    """Every call of the program, in order."""
    failure: Failure | None
    """Why it failed, or None."""
    effect: Effect
    """What it did to the world, what was said, what was left over."""
    stdout: str = ""
    """What the program printed."""
    attempts: int = 1
    """Programs the model was asked for, repairs included."""
    usage: Usage = NOTHING
    """What the model took for all of it."""
    by_lmp: Mapping[str, Usage] = field(default_factory=dict)
    """The same for each LMP, function generation among them."""
    tried: int = 0
    """Programs that were tried before one was run; 0 if none was tried."""
    done: tuple[Call, ...] = ()
    """The actions of the last attempt that are done and stay done."""
    back: bool = False
    """True if what the last attempt did in the world was undone."""
    written: str = ""
    """The last program by itself, whose lines its failure counts."""

    @classmethod
    def of(cls, words: str, answer: Answer, effect: Effect) -> Turn:
        """Describe an answer.

        Args:
            words: The person's words.
            answer: What the engine made of them.
            effect: What it did in the world.
        """
        result = answer.result
        return cls(
            instruction=words,
            program=answer.source if answer.program else "",
            value=result.value,
            calls=result.calls,
            failure=result.failure,
            effect=effect,
            stdout=result.stdout,
            attempts=answer.attempts,
            usage=answer.usage,
            by_lmp=answer.by_lmp,
            tried=answer.tried,
            done=answer.done,
            back=answer.back,
            written=answer.program.source if answer.program else "",
        )

    @property
    def ok(self) -> bool:
        """True if the program ran to its end, and did what was expected of it."""
        return self.failure is None

    @property
    def moved(self) -> Moved:
        """Objects that moved: where from and where to, xyz in metres."""
        return self.effect.moved

    @property
    def prompt_effect(self) -> str:
        """Its effect as later prompts show it; "" of a failure that did nothing."""
        idle = self.failure is not None and self.effect.still and not self.effect.said
        return "" if idle else self.effect.line

    @property
    def note(self) -> str:
        """Its failure as later prompts show it, with what was done by then; "" of success."""
        if self.failure is None:
            return ""
        acted = " before anything was done"
        if self.done:
            acted = f" after {', '.join(folded(call.name for call in self.done))}, which stays done"
        if self.back:
            acted = ", and what it did was undone"
        if self.failure.kind == "killed":
            return f"its process was lost{acted}; nothing is known to be wrong with the program"
        return f"failed{acted}: {self.failure}"

    def __repr__(self) -> str:
        """Return the turn as one line: the words, and the result."""
        came = "ok" if self.failure is None else str(self.failure)
        did = self.effect.line
        return f"<Turn {self.instruction!r}: {came}{f'; {did}' if did else ''}>"

    def as_json(self) -> dict[str, Any]:
        """Return plain data that `json.dumps` takes, as `--json` prints it."""
        failure = self.failure
        described = failure and {**vars(failure), "cause": failure.cause}
        return {
            "instruction": self.instruction,
            "program": self.program,
            "value": plain(self.value),
            "calls": plain([vars(call) for call in self.calls]),
            "failure": described,
            "effect": list(self.effect.words),
            "moved": plain(self.moved),
            "changed": plain(self.effect.changed),
            **{name: list(getattr(self.effect, name)) for name in _LISTS},
            "stdout": self.stdout,
            "attempts": self.attempts,
            "tried": self.tried,
            "usage": dict(vars(self.usage)),
            "usage_by_lmp": {name: dict(vars(usage)) for name, usage in self.by_lmp.items()},
        }

    def record(self, trace: Trace, model: str) -> None:
        """Record how the turn ended.

        Args:
            trace: Where.
            model: The name of what wrote its program.
        """
        if self.stdout:
            trace.event("stdout", text=self.stdout)
        places = {"places": self.effect.places} if self.effect.places else {}
        trace.event("moved", objects=self.moved, **places)
        trace.event(
            "effect",
            words=self.effect.words,
            changed=self.effect.changes,
            no_longer_seen=self.effect.no_longer_seen,
            newly_seen=self.effect.newly_seen,
            left_over=(
                *(f"done, but: {line}" for line in self.effect.doubts),
                *self.effect.left_over,
            ),
            undone=self.effect.undone_line,
            still=self.effect.stillness,
        )
        if self.failure is not None:
            trace.event("failure", **vars(self.failure), cause=self.failure.cause)
        cost = {"attempts": self.attempts, "usage": self.usage, "by_lmp": self.by_lmp}
        cost["model"] = model
        trace.event("done", ok=self.ok, value=self.value, **cost)


def unmet(effect: Effect, expected: Sequence[str]) -> Failure | None:
    """Return the failure of a turn that did not have the effect it was to have; None if it had.

    Args:
        effect: What it did.
        expected: Words of `cap.result.EFFECTS`.
    """
    lacking = [word for word in expected if word not in effect.words]
    if not lacking:
        return None
    came = effect.words or [f"{name} is no longer seen" for name in effect.no_longer_seen]
    came = came or [f"{name} was not seen before" for name in effect.newly_seen]
    message = f"expected: {', '.join(lacking)}; the effect was: {', '.join(came)}"
    return Failure("effect", "Unexpected", message)


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
