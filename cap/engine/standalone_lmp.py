"""An LMP as a function: a prompt, a model, and plain Python functions. No robot is needed.

Example:
    area = {"red block": 0.04, "blue bowl": 0.12}
    with LMP(PROMPT, model, functions={"get_area": lambda name: area[name]}) as biggest:
        name = biggest("the bigger of the two", objects=list(area))

It takes the same path as a session's instruction: the program is checked, completed, run in a
sandbox and repaired. Only its functions run in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cap.engine.answer import Answer
from cap.engine.engine import Engine
from cap.engine.lmp import lmp_failed, nested_lmp
from cap.engine.model_request import Tally
from cap.engine.settings import EngineSettings
from cap.errors import UsageError
from cap.models.base import Model, require_model
from cap.models.providers import make_model
from cap.program.scope import Primitive
from cap.prompt.prompt import Prompt, load, one_line, parse
from cap.robot import registry
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from cap.trace.trace import Trace


class LMP:
    """A language model program that is called like a function; a context manager."""

    def __init__(
        self,
        prompt: Prompt | Path | str,
        model: str | Model,
        *,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        variables: Mapping[str, Any] | None = None,
        lmps: Mapping[str, LMP] | None = None,
        name: str | None = None,
        trace: Trace | None = None,
        limits: Limits | None = None,
        seed: int = 0,
    ) -> None:
        """Create an LMP.

        Args:
            prompt: A prompt, its file, or its text; one line that ends in `.py` is a file's name.
            model: What writes programs: a name, as `cap models list` shows them, or a model itself.
            functions: What its programs may call, by name; they get plain data and return it.
            variables: Plain data its programs see, and facts its prompt may ask for as context.
            lmps: Other LMPs its programs may call, by name.
            name: What it is called in traces and messages; the prompt's name by default.
            trace: Where events go; nowhere by default.
            limits: What one program may use.
            seed: Start of all random numbers inside programs.

        Raises:
            UsageError: A name is given twice, or something that cannot be called as a function.
            PromptError: The prompt cannot be read.
            MissingKey: The model needs a key and none is set.
        """
        self.prompt = _prompt(prompt, name)
        self.model = make_model(model) if isinstance(model, str) else require_model(model)
        self.trace = trace or Trace()
        self._functions, self._lmps = functions or {}, lmps or {}
        self._variables, self._limits, self._seed = variables or {}, limits, seed
        _refuse_doubles(self._functions, self._variables, self._lmps)
        self._engine = self._engine_on(self.trace, Tally())

    def __enter__(self) -> LMP:
        """Start loading what runs programs; return itself."""
        self._engine.sandbox.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: programs end with their calls."""

    def __call__(self, instruction: str, context: str = "", **variables: Any) -> Any:
        """Run one instruction and return its value.

        Args:
            instruction: What is wanted, in words.
            context: Assignment lines shown above it; what the prompt asks for by default.
            variables: Further plain data its program sees.

        Raises:
            UsageError: The instruction is empty.
            LMPFailed: There is no value; `failure` has the reason.
        """
        answer = self.run(instruction, context, **variables)
        if answer.failure is not None:
            raise lmp_failed(f"{self.prompt.name}({instruction!r})", answer.failure)
        return answer.result.value

    def run(self, instruction: str, context: str = "", **variables: Any) -> Answer:
        """Run one instruction and return its whole result, also a failure.

        Raises:
            UsageError: The instruction is empty, or a variable has the name of a function.
            PromptError: The prompt asks for context that is not given.
        """
        words = one_line(instruction)
        if not words:
            raise UsageError("the instruction is empty; say what is wanted")
        _refuse_doubles(self._functions, self._lmps, variables)
        given = {**self._variables, **variables}
        with self.trace.begin_turn():
            self.trace.event("instruction", lmp=self.prompt.name, text=words)
            answer = self._engine.answer(self.prompt, words, context, given)
            failure = answer.failure
            if failure is not None:
                self.trace.event("failure", **vars(failure), cause=failure.cause)
            self.trace.event("done", ok=failure is None)
        return answer

    def _engine_on(self, trace: Trace, tally: Tally) -> Engine:
        """Return an engine for this LMP; one for each LMP that calls it, with that one's trace."""
        sandbox = Sandbox(limits=self._limits)
        sandbox.robot_thread.has_robot = False
        found = {name: _primitive(name, function) for name, function in self._functions.items()}
        for name, lmp in self._lmps.items():
            prompt, engine = replace(lmp.prompt, name=name), lmp._engine_on(trace, tally)
            found[name] = nested_lmp(engine, prompt, lmp._variables)
        in_its_place: Any = SimpleNamespace(  # of a robot: nothing moves
            name="functions",
            simulated=True,
            about="",  # their own docstrings say all there is to say
            primitives=lambda: found,
            context=lambda: self._variables,
            stop=lambda: None,
        )
        return Engine(
            in_its_place,
            self.model,
            {},
            registry.function_prompt(),
            sandbox=sandbox,
            trace=trace,
            settings=EngineSettings(seed=self._seed),
            tally=tally,
        )


def _prompt(prompt: Prompt | Path | str, name: str | None) -> Prompt:
    if isinstance(prompt, str) and prompt.endswith(".py") and "\n" not in prompt:
        prompt = Path(prompt)
    if isinstance(prompt, str):
        return parse(prompt, name or "lmp", infer=True)
    loaded = load(prompt) if isinstance(prompt, Path) else prompt
    return replace(loaded, name=name) if name else loaded


def _primitive(name: str, function: Callable[..., Any]) -> Primitive:
    try:
        return Primitive.of(function, "perception", name)
    except (TypeError, ValueError):
        raise UsageError(
            f"'{name}' cannot be given to programs: {function!r} is no function with a known "
            "signature; wrap it in one with `def`"
        ) from None


def _refuse_doubles(*given: Mapping[str, Any]) -> None:
    names = [name for names in given for name in names]
    for name in names:
        if not name.isidentifier() or name.startswith("_"):
            raise UsageError(f"'{name}' is no name a program can use; choose another")
        if names.count(name) > 1:
            raise UsageError(f"'{name}' is given twice, as two different things; rename one")
