"""What a program leaves for the next one: its plain data, and its functions as source."""

from __future__ import annotations

from dataclasses import replace

from cap.checker.policy import EVERYWHERE
from cap.engine.answer import Answer, State
from cap.program.scope import Definition
from cap.sandbox.wire import MAX_KEPT_BYTES, MAX_KEPT_VALUES
from cap.session.definition_source import DefinitionSources, unmade


def after_turn(state: State, answer: Answer, number: int) -> State:
    """Return the state a successful program leaves: its data, its functions as source.

    Args:
        state: The state it started from.
        answer: What came of it.
        number: Which turn it was, from 1; told of names that could not be kept.
    """
    assert answer.program is not None
    known = {(entry.name, 0): entry for entry in (*state.definitions, *answer.generated)}
    sources = DefinitionSources(answer.program.tree)
    known |= {
        (node.name, node.lineno): Definition(node.name, source) for node, source in sources.all()
    }
    defined = answer.result.defined
    kept = {name: known[name, line] for name, line in defined.items() if (name, line) in known}
    for name in unmade(kept.values(), answer.result.variables):
        del kept[name]
    lost = [*answer.result.dropped, *(name for name in defined if name not in kept)]
    there = {*kept, *answer.result.variables}
    dropped = {name: why for name, why in state.dropped.items() if name not in there}
    for name in lost:
        why = "was set in turn {} and could not be kept (only plain data and functions can)"
        if name in sources.imported:
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
