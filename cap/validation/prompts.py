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

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cap.checker.checker import examine
from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import Undefined, undefined
from cap.engine.answer import State
from cap.engine.effect import Effect
from cap.engine.engine import Engine
from cap.engine.goal import GOAL
from cap.engine.repair import UndefinedName
from cap.engine.settings import Approve, EngineSettings
from cap.errors import CapError, MissingExtra, NoMatch, NotFound, PromptError, RobotError
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
from cap.robot.protocol import Rewindable, Robot, TurnTaking
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
    scenes = _Scenes(robot)
    try:
        with Sandbox() as sandbox:
            files = [each for prompt in prompts.values() for each in (prompt, prompt.beside)]
            for prompt in files:
                if not prompt.examples and prompt.name not in prompts:
                    continue
                runner = _Runner(scenes, prompt, prompts, model, sandbox, approve or _nobody)
                findings = [found for example in prompt.examples if (found := runner.run(example))]
                if prompt.name in prompts and prompt is prompts[prompt.name]:
                    findings += runner.too_long()
                yield prompt, len(prompt.examples), findings
        try:
            scenes.check_restore()
        except RobotError as error:
            last = next(iter(prompts.values()))
            yield last, 0, [PromptFinding(last.name, 0, "", str(error))]
    finally:
        scenes.close()


def _nobody(source: str) -> bool:
    return False


class _Scenes:
    """A robot for each set of objects that examples name, restored to its first state each time."""

    def __init__(self, robot: str) -> None:
        self._robot = robot
        self._made: dict[str, tuple[Robot, Any, Observation]] = {}

    def robot(self, objects: Any) -> Robot:
        """Return a robot in its first state among objects; None stands for its own choice."""
        key = repr(objects)
        if key in self._made:
            robot, first, seen = self._made[key]
            if isinstance(robot, Rewindable):
                _restore(robot, first, seen)
                return robot
            robot.close()
        robot = registry.make_robot(self._robot, mode="instant", objects=objects)
        first = robot.snapshot() if isinstance(robot, Rewindable) else None
        self._made[key] = robot, first, Observation.of(robot)
        return robot

    def check_restore(self) -> None:
        """Restore every robot's first state once more.

        Raises:
            RobotError: One is not in that state then.
        """
        for robot, first, seen in self._made.values():
            if isinstance(robot, Rewindable):
                _restore(robot, first, seen)

    def close(self) -> None:
        for robot, _, _ in self._made.values():
            robot.close()


def _restore(robot: Rewindable, first: Any, seen: Observation) -> None:
    """Restore a robot's first state.

    Raises:
        RobotError: Something that programs change is not as it was.
    """
    robot.restore(first)
    moved, changed = Observation.of(robot).since(seen)
    if names := [*moved, *changed]:
        raise RobotError(f"restore() does not bring back {', '.join(names)}; keep it in snapshot()")


class _Runner:
    """Runs a prompt's examples in order; one that follows another shares its world and state."""

    def __init__(
        self,
        scenes: _Scenes,
        prompt: Prompt,
        prompts: Mapping[str, Prompt],
        model: Model,
        sandbox: Sandbox,
        approve: Approve,
    ) -> None:
        self._scenes = scenes
        self._prompt = prompt
        self._prompts = prompts
        self._model = model
        self._sandbox = sandbox
        self._approve = approve
        self._function_prompt = registry.function_prompt()
        self._engine: Engine | None = None
        self._state = State()
        self._broken: PromptFinding | None = None
        """The first example of the session at hand that did not run."""

    def run(self, example: Example) -> PromptFinding | None:
        """Execute one example; return what is wrong with it, or None."""
        if not self._goes_on(example):
            self._broken = None
        try:
            found = self._run(example)
        except MissingExtra as missing:
            why = f"not executed: {missing}"
            return PromptFinding(self._prompt.name, example.line, example.instruction, why, True)
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
        finding = PromptFinding(
            self._prompt.name, example.line, example.instruction, reason, skipped
        )
        self._broken = self._broken or finding
        return finding

    def _goes_on(self, example: Example) -> bool:
        """Tell whether an example shares the world and state of the one before."""
        return self._engine is not None and example.follows and self._prompt.header.session

    def _run(self, example: Example) -> str | Failure | None:
        if not example.code.strip():
            return "there is no code under the instruction"
        if repeated := repeated_numbers(example):
            return (
                f"the number {', '.join(repeated)} stands more often in its code than in its words:"
                " name it there once, and write unrelated numbers otherwise"
            )
        facts = Context.read(example.context).facts
        if not self._goes_on(example):
            self._start(facts)
        assert self._engine is not None
        state = self._state
        variables = {**state.variables, **self._prompt.header.arguments, **facts}
        program = Program.parse(example.code + "\n")
        robot, before = self._engine.robot, Observation.of(self._engine.robot)
        answer = self._engine.run_program(
            self._prompt, program, replace(state, variables=variables)
        )
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

    def request_chars(self, example: Example) -> int:
        """Return the size of the request that an example would answer."""
        assert self._engine is not None
        return _request_chars(self._prompt, example, self._engine.docs(self._prompt))

    def too_long(self) -> list[PromptFinding]:
        """Return the finding that the prompt's request exceeds the limit, if it does."""
        return _too_long(self._prompt, self._engine.docs(self._prompt) if self._engine else "")

    def _start(self, facts: Mapping[str, Any]) -> None:
        """Build a fresh scene with the objects the example's context names."""
        robot = self._scenes.robot(facts.get("objects"))
        self._engine = Engine(
            robot,
            self._model,
            self._prompts,
            self._function_prompt,
            sandbox=self._sandbox,
            trace=Trace(),
            settings=EngineSettings(approve=None if robot.simulated else self._approve),
        )
        self._state = State(variables=dict(self._prompt.header.initial))


def _request_chars(prompt: Prompt, example: Example, docs: str) -> int:
    asked = prompt.render(example.instruction, example.context, docs=docs)
    return len(SYSTEM) + len(without_synonyms(asked))


def _too_long(prompt: Prompt, docs: str) -> list[PromptFinding]:
    """Return the finding that a prompt's longest request exceeds the limit, if it does."""
    chars = max((_request_chars(prompt, one, docs) for one in prompt.examples), default=0)
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
    texts = {}
    docs, facts = dict[str, str](), dict[str, str]()
    if robot is not None:
        body = registry.make_robot(robot, mode="instant")
        with Sandbox() as sandbox:
            engine = Engine(
                body, Nearest(), prompts, registry.function_prompt(), sandbox=sandbox, trace=Trace()
            )
            docs = {name: engine.docs(prompt) for name, prompt in prompts.items()}
            facts = {name: engine.context(prompt).text for name, prompt in prompts.items()}
        body.close()
    for name, prompt in prompts.items():
        words = prompt.examples[0].instruction if prompt.examples else ""
        asked = prompt.render(words, facts.get(name, ""), docs=docs.get(name, ""))
        texts[name] = without_synonyms(asked)
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
    scenes, meter, top = _Scenes(robot), _Meter(), prompts["ui"]
    costs: list[InstructionCost] = []
    try:
        with Sandbox() as sandbox:
            runner = _Runner(scenes, top, prompts, meter, sandbox, _nobody)
            for example in top.examples:
                meter.sizes = []
                runner.run(example)
                sizes = [runner.request_chars(example), *meter.sizes]
                costs.append(InstructionCost(example.instruction, len(sizes), sum(sizes)))
    finally:
        scenes.close()
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


def check_function_prompt(prompt: Prompt, known: frozenset[str]) -> list[PromptFinding]:
    """Check that each example defines what it was asked for and calls only what exists.

    Args:
        prompt: The function-generation prompt; its examples may call each other.
        known: Names every program has.
    """
    findings: list[PromptFinding] = []
    defined: set[str] = set()
    for example in prompt.examples:
        try:
            program = Program.parse(example.code + "\n")
            asked = ast.parse(example.instruction).body[0]  # `total = get_total(xs)`
            call = asked.value if isinstance(asked, ast.Assign | ast.Expr) else None
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
                raise UndefinedName(f"'{example.instruction}' is no call of a function")
            name = call.func.id
            own = {getattr(node, "name", "") for node in program.tree.body}
            missing = [entry.name for entry in undefined(program, known | defined | own)]
            reason = "" if name in own else f"does not define '{name}'"
        except (CapError, SyntaxError) as error:
            missing, reason, own = [], str(error), set()
        defined |= own
        if missing:
            reason = f"calls what no example defines before it: {', '.join(missing)}"
        if reason:
            findings.append(PromptFinding(prompt.name, example.line, example.instruction, reason))
    return findings + _too_long(prompt, "")


@dataclass(frozen=True)
class PromptNames:
    """The names of a prompt, by what they stand for."""

    robot: tuple[str, ...]
    """Primitives of the robot."""
    lmps: tuple[str, ...]
    """Other prompts."""
    library: tuple[str, ...]
    """What every program has."""
    generated: tuple[str, ...]
    """Functions nobody has; they are generated when called."""
    given: tuple[str, ...]
    """Values nobody sets: a caller's keyword arguments, or an earlier turn's variables."""


@dataclass(frozen=True)
class PromptReport:
    """One prompt file, looked at."""

    prompt: Prompt
    """The prompt."""
    names: PromptNames
    """Its names."""
    findings: tuple[PromptFinding, ...]
    """What in its examples cannot be."""


def prompt_files(path: Path) -> list[Path]:
    """Return the prompt files at a path: itself, or those of a folder.

    Raises:
        PromptError: There is none.
    """
    if not path.is_dir():
        return [path]
    found = list(released.files(path).values())
    if not found:
        raise PromptError(
            f"no prompt files ({', '.join(f'*{s}' for s in released.SUFFIXES)}) in {path}"
        )
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
    files = [entry for entry in prompt_files(path) if not stems or entry.stem in stems]
    prompts = [load(entry) for entry in files]
    known = frozenset([*lmps, *(prompt.name for prompt in prompts)]) - {GOAL}  # no program calls it
    for prompt in prompts:
        yield _report(prompt, primitives, known - {prompt.name})


def _report(
    prompt: Prompt, primitives: Mapping[str, Primitive], lmps: frozenset[str]
) -> PromptReport:
    nested = {name: Primitive.of(_nested, "lmp", name) for name in lmps}
    everything = {**nested, **primitives}
    groups = {"robot": tuple(everything)} if "robot" in prompt.hints else {}
    scope = Scope(primitives=everything, groups=groups)
    offered = {
        name: primitive
        for name, primitive in everything.items()
        if (groups or not prompt.hints or name in prompt.hints)
        and (primitive.kind != "action" or prompt.header.actions)
    }
    docs = primitive_docs("", offered, groups) if prompt.header.docs else ""
    findings: list[PromptFinding] = []
    missing: list[Undefined] = []
    bound: set[str] = set()
    header = prompt.header
    for example in prompt.examples:
        variables = {**header.initial, **header.arguments, **dict.fromkeys(bound)}
        try:
            variables |= Context.read(example.context).facts
            program = Program.parse(example.code + "\n")
        except CapError as error:
            findings.append(_finding(prompt, example, str(error)))
            continue
        examined = examine(program, replace(scope, variables=variables))
        program = examined.program
        reasons = [str(found) for found in examined.violations]
        if not program.tree.body:
            reasons.insert(0, "there is no code under the instruction")
        elif header.returns and header.returns not in _set_by(program):
            reasons.append(f"it does not set '{header.returns}'")
        findings += [_finding(prompt, example, reason) for reason in reasons]
        missing += examined.undefined
        if header.session or header.prefix:
            bound |= _set_by(program)
    findings += _too_long(prompt, docs)
    return PromptReport(prompt, _names(prompt, primitives, lmps, missing), tuple(findings))


def _nested(description: str, context: str = "", **given: Any) -> Any:
    """Stand for an LMP that programs call."""


def _set_by(program: Program) -> set[str]:
    """Return the names a program's top level sets."""
    return {s.get_name() for s in program.table.get_symbols() if s.is_assigned() or s.is_imported()}


def _finding(prompt: Prompt, example: Example, reason: str) -> PromptFinding:
    return PromptFinding(prompt.name, example.line, example.instruction, reason)


def _names(
    prompt: Prompt,
    primitives: Mapping[str, Primitive],
    lmps: frozenset[str],
    missing: Iterable[Undefined],
) -> PromptNames:
    """Sort a prompt's hints, and what its examples lack, by what they stand for."""
    missing = list(missing)
    called = {entry.name for entry in missing if entry.calls}
    hints = [name for name in prompt.hints if name != "*"]
    nowhere = [name for name in hints if name not in primitives and name not in lmps | EVERYWHERE]
    return PromptNames(
        robot=tuple(name for name in hints if name in primitives),
        lmps=tuple(name for name in hints if name in lmps and name not in primitives),
        library=tuple(name for name in hints if name in EVERYWHERE),
        generated=tuple(dict.fromkeys([*nowhere, *(e.name for e in missing if e.name in called)])),
        given=tuple(
            dict.fromkeys(entry.name for entry in missing if entry.name not in {*called, *nowhere})
        ),
    )
