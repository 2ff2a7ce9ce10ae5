"""An LMP as a function that programs call: it walks the engine's road again, one level deeper."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cap.engine.failures import lmp_failed
from cap.errors import LMPFailed, NotFound, PromptError
from cap.program.scope import Primitive
from cap.prompt.prompt import Prompt

if TYPE_CHECKING:
    from cap.engine.engine import Engine

MAX_NESTING = 6
"""How deep LMPs may call LMPs."""


class NestedLMP:
    """One LMP of an engine, called by the programs of others."""

    def __init__(
        self,
        engine: Engine,
        prompt: Prompt,
        variables: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Take what it runs with.

        Args:
            engine: Has its programs written and runs them.
            prompt: The LMP.
            variables: Plain data its programs see besides their keyword arguments.
        """
        self.engine = engine
        self.prompt = prompt
        self.variables = variables

    def primitive(self) -> Primitive:
        """Return it as programs see it."""
        said = self.prompt.header.doc
        kinds = " or ".join(kind for kind in self.prompt.header.kind if kind != "any")
        doc = said or (f"Return {kinds} for a description." if kinds else "")
        return Primitive(self.prompt.name, self, "lmp", inspect.signature(self), doc)

    def __call__(self, description: str, context: str = "", **given: Any) -> Any:
        """Answer a program that waits for the value.

        Raises:
            TypeError: The description is no text, or it takes no such keyword.
            NotFound: The LMP says that there is none.
            LMPFailed: There is no value; `failure` tells why.
        """
        if not isinstance(description, str) or not isinstance(context, str):
            raise TypeError(f"{self.prompt.name}() takes a description in words (a string)")
        takes = self.prompt.header.arguments
        if takes and (unknown := given.keys() - takes.keys()):
            raise TypeError(
                f"{self.prompt.name}() takes no {sorted(unknown)[0]!r}: use {', '.join(takes)}"
            )
        called = f"{self.prompt.name}({description!r})"
        trace = self.engine.trace
        if trace.depth >= MAX_NESTING:
            raise LMPFailed(f"{called}: LMPs call each other too deep")
        variables = {**self.variables, **given}
        with trace.nested():
            trace.event("instruction", lmp=self.prompt.name, text=description)
            try:
                answer = self.engine.answer(self.prompt, description, context, variables)
            except PromptError as error:
                raise LMPFailed(f"{called}: {error}") from None
        failure = answer.result.failure
        if failure is not None and failure.error == NotFound.__name__ and not failure.robot:
            if reason := self.engine.objection(self.prompt, description):
                raise LMPFailed(f"{called}: nothing that can be done fits these words: {reason}")
            raise NotFound(f"{called}: {failure.message}")
        if failure is not None:
            raise lmp_failed(called, failure)
        return answer.result.value
