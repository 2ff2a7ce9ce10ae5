"""Prompt files: every example executed, or only the names in them looked at.

Executed, every example runs in the instant world, as if a model had written it. One that names a
missing function, raises, returns the wrong kind of value, or has not the effect that its lines
`#= ` state is a finding; so is one whose code repeats a number of its instruction, since `nearest`
could not tell which of them is meant. Nested LMPs are answered by `nearest`, from the same prompts.
On a robot that is real in that mode too, no program that may move it runs unless somebody approves
it.

Of files whose robot may be another's nothing is executed: the hints and calls of their examples are
looked up among a robot's primitives, the LMPs beside the file and the libraries; the rest would be
generated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from cap.checker.checker import examine
from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import Undefined
from cap.engine.answer import State
from cap.engine.effect import Effect
from cap.engine.engine import Engine
from cap.engine.goal import GOAL
from cap.engine.settings import Approve, EngineSettings
from cap.errors import CapError, MissingExtra, NoMatch, NotFound, PromptError
from cap.models.base import Completion, Model, Request
from cap.models.nearest import Nearest
from cap.models.nearest.slots import repeated_numbers
from cap.models.openai.model import SYSTEM
from cap.program.program import Program
from cap.program.scope import Primitive, Scope
from cap.prompt import released
from cap.prompt.context import Context
from cap.prompt.docs import primitive_docs
from cap.prompt.examples import Example
from cap.prompt.prompt import MAX_REQUEST_TOKENS, Prompt, load, tokens_of, without_synonyms
from cap.result import Failure
from cap.robot import registry
from cap.robot.observation import Observation
from cap.robot.protocol import Rewindable, TurnTaking
from cap.sandbox.sandbox import Sandbox
from cap.session.state import after_turn
from cap.trace.trace import Trace
from cap.validation.example_effects import Seen, missed


@dataclass(frozen=True)
class PromptFinding:
    """One example that does not work."""

    prompt: str
    """Prompt file's stem."""
    line: int
    """Line of the instruction comment; 0 of what concerns the whole file."""
    instruction: str
    """The example's words."""
    reason: str
    """What happened."""
    skipped: bool = False
    """True if it was not executed: it would move a real robot, or that robot is not installed."""

    def __str__(self) -> str:
        """Return it as one line."""
        where = f" line {self.line}: '{self.instruction}'" if self.line else ""
        return f"{self.prompt}.py{where}: {self.reason}"


def check_robot_prompts(
    robot: str, model: Model, folder: Path | None = None, approve: Approve | None = None
) -> Iterator[tuple[Prompt, int, list[PromptFinding]]]:
    """Execute every example of a robot's prompts; yield prompt, number of examples, findings.

    Args:
        robot: A registered name, or a file with a `create` function.
        model: Answers the LMPs that examples call.
        folder: Prompts to check instead of the robot's own.
        approve: Shown each program that may move a real robot; by default none of them runs.
    """
    prompts = registry.robot_prompts(robot, folder)
    with Sandbox() as sandbox:
        for prompt in prompts.values():
            for file in (prompt, prompt.beside):
                if not file.examples and file is not prompt:
                    continue
                with _Runner(robot, file, prompts, model, sandbox, approve or _nobody) as runner:
                    findings = [one for example in file.examples if (one := runner.run(example))]
                    findings += runner.too_long() if file is prompt else []
                if runner.forgotten:
                    findings.append(PromptFinding(file.name, 0, "", runner.forgotten))
                yield file, len(file.examples), findings


def _nobody(source: str) -> bool:
    """Approve no program."""
    return False


@dataclass
class _Runner:
    """Runs a prompt's examples in order; one that follows another shares its world and state."""

    robot: str
    prompt: Prompt
    prompts: Mapping[str, Prompt]
    model: Model
    sandbox: Sandbox
    approve: Approve
    forgotten: str = ""
    """What a snapshot of the robot does not bring back, as a sentence."""
    _functions: Prompt = field(default_factory=registry.function_prompt)
    _engine: Engine | None = None
    _first: Any = None
    """The snapshot of the scene's first state."""
    _begun: Observation | None = None
    """What was seen then."""
    _state: State = field(default_factory=State)
    _broken: PromptFinding | None = None
    """The first example of the session at hand that did not run."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end_scene()

    def run(self, example: Example) -> PromptFinding | None:
        """Execute one example; return what is wrong with it, or None."""
        # One that follows another shares its world and state.
        goes_on = self._engine is not None and example.follows and self.prompt.header.session
        finding = partial(PromptFinding, self.prompt.name, example.line, example.instruction)
        if not goes_on:
            self._broken = None
        try:
            found = self._run(example, goes_on)
        except MissingExtra as missing:
            return finding(f"not executed: {missing}", True)
        except CapError as error:
            found = str(error)
        if found is None:
            return None
        reason, skipped = str(found), isinstance(found, Failure) and found.kind == "refused"
        if skipped:
            reason = "not executed: it would move a real robot"
        elif (before := self._broken) is not None:
            skipped = before.skipped
            reason += f" (it goes on from the example in line {before.line}, which did not run)"
        self._broken = self._broken or finding(reason, skipped)
        return finding(reason, skipped)

    def _run(self, example: Example, goes_on: bool) -> str | Failure | None:
        if not example.code.strip():
            return "there is no code under the instruction"
        if repeated := repeated_numbers(example):
            return (
                f"the number {', '.join(repeated)} stands more often in its code than in its words:"
                " name it there once, and write unrelated numbers otherwise"
            )
        facts = Context.read(example.context).facts
        if not goes_on:
            self._begin_scene(facts.get("objects"))
        assert self._engine is not None
        state = self._state
        variables = {**state.variables, **self.prompt.header.arguments, **facts}
        program = Program.parse(example.code + "\n")
        robot, before = self._engine.robot, Observation.of(self._engine.robot)
        answer = self._engine.run_program(self.prompt, program, replace(state, variables=variables))
        if isinstance(robot, TurnTaking):
            robot.end_turn(example.instruction)
        failure = answer.result.failure
        if failure is not None and (failure.kind, failure.error) != ("value", NotFound.__name__):
            return failure
        if failure is None:  # else it says that there is none, and leaves nothing
            self._state = after_turn(state, answer, number=1)
        after = Observation.of(robot)
        seen = Seen(robot, before, after, Effect.of(before, after, answer.result))
        return next((why for line in example.effects if (why := missed(line, seen))), None)

    def chars(self, example: Example) -> int:
        """Return the size of the request that an example would answer."""
        assert self._engine is not None
        return _chars(self.prompt, example, self._engine.docs(self.prompt))

    def too_long(self) -> list[PromptFinding]:
        """Return the finding that the prompt's request exceeds the limit, if it does."""
        return _too_long(self.prompt, self._engine.docs(self.prompt) if self._engine else "")

    def _begin_scene(self, objects: Any) -> None:
        """Make a robot among the objects that an example's context names; None: its own choice."""
        self._end_scene()
        robot = registry.make_robot(self.robot, mode="instant", objects=objects)
        self._begun = Observation.of(robot)
        self._first = robot.snapshot() if isinstance(robot, Rewindable) else None
        self._engine = Engine(
            robot,
            self.model,
            self.prompts,
            self._functions,
            sandbox=self.sandbox,
            trace=Trace(),
            settings=EngineSettings(approve=None if robot.simulated else self.approve),
        )
        self._state = State(variables=dict(self.prompt.header.initial))

    def _end_scene(self) -> None:
        """Close the robot; note what does not come back with its first state."""
        if self._engine is None or self._begun is None:
            return
        robot = self._engine.robot
        if isinstance(robot, Rewindable):
            robot.restore(self._first)
            if names := [
                name for part in Observation.of(robot).since(self._begun) for name in part
            ]:
                lost = ", ".join(names)
                self.forgotten = f"restore() does not bring back {lost}; keep it in snapshot()"
        robot.close()
        self._engine = None


def _chars(prompt: Prompt, example: Example, docs: str) -> int:
    """Return the size of the request that an example would answer."""
    asked = prompt.render(example.instruction, example.context, docs=docs)
    return len(SYSTEM) + len(without_synonyms(asked))


def _too_long(prompt: Prompt, docs: str) -> list[PromptFinding]:
    """Return the finding that a prompt's longest request exceeds the limit, if it does."""
    chars = max((_chars(prompt, one, docs) for one in prompt.examples), default=0)
    if (tokens := tokens_of(chars)) <= MAX_REQUEST_TOKENS:
        return []
    reason = (
        f"its request has about {tokens:,} tokens, and {MAX_REQUEST_TOKENS:,} is the limit: "
        "remove examples, or shorten the docstrings of what it imports"
    )
    return [PromptFinding(prompt.name, 0, "", reason)]


def requests(prompts: Mapping[str, Prompt], robot: str | None) -> dict[str, str]:
    """Return what a language model reads for each prompt's first example, with no history.

    Args:
        prompts: By name.
        robot: Whose docs and facts they show; None where they are no robot's.
    """
    shown = dict.fromkeys(prompts, ("", ""))
    if robot is not None:
        functions = registry.function_prompt()
        body = registry.make_robot(robot, mode="instant")
        with Sandbox() as sandbox:
            engine = Engine(body, Nearest(), prompts, functions, sandbox=sandbox, trace=Trace())
            for name, prompt in prompts.items():
                shown[name] = engine.context(prompt).text, engine.docs(prompt)
        body.close()
    texts = {}
    for name, prompt in prompts.items():
        words = prompt.examples[0].instruction if prompt.examples else ""
        context, docs = shown[name]
        texts[name] = without_synonyms(prompt.render(words, context, docs=docs))
    return texts


def request_chars(prompts: Mapping[str, Prompt], robot: str | None) -> dict[str, int]:
    """Return the size of each prompt's request, by name, with the system message."""
    return {name: len(SYSTEM) + len(text) for name, text in requests(prompts, robot).items()}


@dataclass(frozen=True)
class InstructionCost:
    """What carrying out one of a prompt's examples asks of a language model, with no history."""

    instruction: str
    """The example's words."""
    requests: int
    """The program's own, and one for each LMP it calls, and they call."""
    chars: int
    """Of all these requests: the system message, docs, facts and examples."""


def instruction_costs(robot: str) -> list[InstructionCost]:
    """Run the examples a person's words are answered by; return what each would ask of a model.

    Args:
        robot: A registered name, or a file with a `create` function.
    """
    prompts = registry.robot_prompts(robot)
    meter, top = _Meter(), prompts["ui"]
    costs: list[InstructionCost] = []
    with Sandbox() as sandbox, _Runner(robot, top, prompts, meter, sandbox, _nobody) as runner:
        for example in top.examples:
            meter.sizes = []
            runner.run(example)
            sizes = [runner.chars(example), *meter.sizes]
            costs.append(InstructionCost(example.instruction, len(sizes), sum(sizes)))
    return costs


class _Meter(Nearest):
    """The offline model, with the size of each request as a language model would get it."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def complete(self, request: Request) -> Completion:
        self.sizes.append(len(SYSTEM) + len(without_synonyms(request.prompt)))
        try:  # by what a language model reads as well, as far as that serves
            return super().complete(replace(request, further=""))
        except NoMatch:
            return super().complete(request)


@dataclass(frozen=True)
class PromptReport:
    """One prompt file, looked at."""

    prompt: Prompt
    """The prompt."""
    names: Mapping[str, tuple[str, ...]]
    """Its names by what they stand for: primitives of the `robot`, other prompts (`lmps`), what
    every program has (`library`), functions nobody has (`generated` when called), and values
    nobody sets (`given` by a caller's keyword arguments or an earlier turn)."""
    findings: tuple[PromptFinding, ...]
    """What in its examples cannot be."""


def prompt_files(path: Path) -> list[Path]:
    """Return the prompt files at a path: itself, or those of a folder.

    Raises:
        PromptError: There is none.
    """
    found = list(released.files(path).values()) if path.is_dir() else [path]
    if not found:
        kinds = ", ".join(f"*{suffix}" for suffix in released.SUFFIXES)
        raise PromptError(f"no prompt files ({kinds}) in {path}")
    return found


def inspect_names(
    path: Path,
    primitives: Mapping[str, Primitive],
    lmps: Iterable[str],
    stems: Collection[str] = (),
) -> Iterator[PromptReport]:
    """Look at the prompt files at a path, one after another.

    Args:
        path: A file or a folder.
        primitives: The robot's functions.
        lmps: Names of the robot's own LMPs.
        stems: The files to look at, by their stems; all by default.

    Raises:
        PromptError: One cannot be read.
    """
    prompts = [load(file) for file in prompt_files(path) if not stems or file.stem in stems]
    known = {*lmps, *(prompt.name for prompt in prompts)} - {GOAL}  # no program calls that
    for prompt in prompts:
        yield _report(prompt, primitives, known - {prompt.name})


def _report(prompt: Prompt, primitives: Mapping[str, Primitive], lmps: set[str]) -> PromptReport:
    header, hints = prompt.header, [name for name in prompt.hints if name != "*"]
    everything = {name: Primitive.of(_nested, "lmp", name) for name in lmps} | {**primitives}
    groups = {"robot": tuple(everything)} if "robot" in prompt.hints else {}
    scope = Scope(primitives=everything, groups=groups)
    findings: list[PromptFinding] = []
    missing: list[Undefined] = []
    bound: set[str] = set()
    for example in prompt.examples:
        variables = {**header.initial, **header.arguments, **dict.fromkeys(bound)}
        try:
            variables |= Context.read(example.context).facts
            program = Program.parse(example.code + "\n")
            examined = examine(program, replace(scope, variables=variables))
            reasons = [str(found) for found in examined.violations]
            sets = _set_by(examined.program)
            if not examined.program.tree.body:
                reasons.insert(0, "there is no code under the instruction")
            elif header.returns and header.returns not in sets:
                reasons.append(f"it does not set '{header.returns}'")
            missing += examined.undefined
            bound |= sets if header.session or header.prefix else set()
        except CapError as error:
            reasons = [str(error)]
        findings += [
            PromptFinding(prompt.name, example.line, example.instruction, why) for why in reasons
        ]
    offered = {
        name: primitive
        for name, primitive in everything.items()
        if (groups or not prompt.hints or name in prompt.hints)
        and (primitive.kind != "action" or header.actions)
    }
    findings += _too_long(prompt, primitive_docs("", offered, groups) if header.docs else "")
    called = [entry.name for entry in missing if entry.calls]
    unknown = [name for name in hints if name not in {*primitives, *lmps, *EVERYWHERE}]
    generated = dict.fromkeys([*unknown, *called])
    names = {
        "robot": (name for name in hints if name in primitives),
        "lmps": (name for name in hints if name in lmps and name not in primitives),
        "library": (name for name in hints if name in EVERYWHERE),
        "generated": generated,
        "given": dict.fromkeys(entry.name for entry in missing if entry.name not in generated),
    }
    kinds = {kind: tuple(found) for kind, found in names.items()}
    return PromptReport(prompt, kinds, tuple(findings))


def _nested(description: str, context: str = "", **given: Any) -> Any:
    """Stand for an LMP that programs call."""


def _set_by(program: Program) -> set[str]:
    """Return the names a program's top level sets."""
    return {s.get_name() for s in program.table.get_symbols() if s.is_assigned() or s.is_imported()}
