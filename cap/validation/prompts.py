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
from pathlib import Path
from typing import Any

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
from cap.robot import registry
from cap.robot.observation import Observation
from cap.robot.protocol import TurnTaking
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
                world = _World(robot, prompts, model, sandbox, approve)
                findings = [found for _, found in _walk(file, world) if found]
                if file is prompt:
                    findings += _too_long(prompt, world.docs)
                yield file, len(file.examples), findings


_NOT_EXECUTED = "not executed: "


@dataclass
class _World:
    """Where the examples of one file run: a new robot for each scene."""

    robot: str
    prompts: Mapping[str, Prompt]
    model: Model
    sandbox: Sandbox
    approve: Approve | None = None
    engine: Engine | None = None
    state: State = field(default_factory=State)
    docs: str = ""
    """What the file's requests show of the robot's primitives."""

    def begin(self, prompt: Prompt, objects: Any = None) -> Engine:
        """Make a robot among the objects that an example's context names; None: its own choice."""
        self.end()
        robot = registry.make_robot(self.robot, mode="instant", objects=objects)
        approve = None if robot.simulated else self.approve or (lambda source: False)
        self.engine = Engine(
            robot,
            self.model,
            self.prompts,
            registry.function_prompt(),
            sandbox=self.sandbox,
            trace=Trace(),
            settings=EngineSettings(approve=approve),
        )
        self.state = State(variables=dict(prompt.header.initial))
        self.docs = self.engine.docs(prompt)
        return self.engine

    def end(self) -> None:
        """Close the robot, if there is one."""
        if self.engine is not None:
            self.engine.robot.close()
            self.engine = None

    def run(self, prompt: Prompt, example: Example, engine: Engine | None) -> str:
        """Run an example, in a new scene without an engine; return what is wrong, "" if nothing."""
        if not example.code.strip():
            return "there is no code under the instruction"
        if repeated := repeated_numbers(example):
            return (
                f"the number {', '.join(repeated)} stands more often in its code than in its words:"
                " name it there once, and write unrelated numbers otherwise"
            )
        facts = Context.read(example.context).facts
        engine = engine or self.begin(prompt, facts.get("objects"))
        robot, before = engine.robot, Observation.of(engine.robot)
        variables = {**self.state.variables, **prompt.header.arguments, **facts}
        known = replace(self.state, variables=variables)
        answer = engine.run_program(prompt, Program.parse(example.code + "\n"), known)
        if isinstance(robot, TurnTaking):
            robot.end_turn(example.instruction)
        failure = answer.result.failure
        if failure is None:
            self.state = after_turn(self.state, answer, number=1)
        elif failure.kind == "refused":
            return f"{_NOT_EXECUTED}it would move a real robot"
        elif (failure.kind, failure.error) != ("value", NotFound.__name__):
            return str(failure)
        after = Observation.of(robot)
        seen = Seen(robot, before, after, Effect.of(before, after, answer.result))
        return next((why for line in example.effects if (why := missed(line, seen))), "")


def _walk(prompt: Prompt, world: _World) -> Iterator[tuple[Example, PromptFinding | None]]:
    """Run a file's examples in order; yield each with what is wrong.

    One that follows another in a session shares its world and state.
    """
    broken: PromptFinding | None = None
    try:
        for example in prompt.examples:
            goes_on = example.follows and prompt.header.session
            engine = world.engine if goes_on else None
            try:
                reason = world.run(prompt, example, engine)
            except MissingExtra as missing:
                reason = f"{_NOT_EXECUTED}{missing}"
            except CapError as error:
                reason = str(error)
            skipped = reason.startswith(_NOT_EXECUTED)
            if engine is None:
                broken = None
            elif reason and broken is not None:
                skipped = broken.skipped
                reason += f" (it goes on from the example in line {broken.line}, which did not run)"
            about = prompt.name, example.line, example.instruction
            found = PromptFinding(*about, reason, skipped) if reason else None
            broken = broken or found
            yield example, found
    finally:
        world.end()


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
    shown: dict[str, tuple[str, str]] = {}
    if robot is not None:
        with Sandbox() as sandbox:
            world = _World(robot, prompts, Nearest(), sandbox)
            engine = world.begin(next(iter(prompts.values())))
            shown = {name: (engine.context(p).text, engine.docs(p)) for name, p in prompts.items()}
            world.end()
    texts = {}
    for name, prompt in prompts.items():
        words = prompt.examples[0].instruction if prompt.examples else ""
        context, docs = shown.get(name, ("", ""))
        texts[name] = without_synonyms(prompt.render(words, context, docs=docs))
    return texts


def request_chars(prompts: Mapping[str, Prompt], robot: str | None) -> dict[str, int]:
    """Return the size of each prompt's request, by name, with the system message."""
    return {name: len(SYSTEM) + len(text) for name, text in requests(prompts, robot).items()}


def instruction_costs(robot: str) -> Iterator[dict[str, Any]]:
    """Run the examples a person's words are answered by; yield what each would ask of a model.

    Yields for each its instruction, the number of requests (the program's own, and one for each
    LMP it calls, and they call), and the characters and tokens of all of them, with no history.

    Args:
        robot: A registered name, or a file with a `create` function.
    """
    prompts = registry.robot_prompts(robot)
    meter = _Meter()
    with Sandbox() as sandbox:
        world = _World(robot, prompts, meter, sandbox)
        for example, _ in _walk(prompts["ui"], world):
            sizes = [_chars(prompts["ui"], example, world.docs), *meter.sizes]
            meter.sizes.clear()
            yield {
                "instruction": example.instruction,
                "requests": len(sizes),
                "characters": sum(sizes),
                "tokens": tokens_of(sum(sizes)),
            }


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
        PromptError: One cannot be read, or there is none.
    """
    files = released.files(path).values() if path.is_dir() else [path]
    if not files:
        kinds = ", ".join(f"*{suffix}" for suffix in released.SUFFIXES)
        raise PromptError(f"no prompt files ({kinds}) in {path}")
    prompts = [load(file) for file in files if not stems or file.stem in stems]
    known = {*lmps, *(prompt.name for prompt in prompts)} - {GOAL}  # no program calls that
    for prompt in prompts:
        yield _report(prompt, primitives, known - {prompt.name})


def _report(prompt: Prompt, primitives: Mapping[str, Primitive], lmps: set[str]) -> PromptReport:
    header, hints = prompt.header, prompt.hints
    everything = {name: Primitive.of(_nested, "lmp", name) for name in lmps} | {**primitives}
    groups = {"robot": tuple(everything)} if "robot" in hints else {}
    findings: list[PromptFinding] = []
    missing: list[Undefined] = []
    variables: dict[str, Any] = {**header.initial, **header.arguments}
    for example in prompt.examples:
        try:
            facts = Context.read(example.context).facts
            scope = Scope(primitives=everything, groups=groups, variables={**variables, **facts})
            examined = examine(Program.parse(example.code + "\n"), scope)
            reasons = [str(found) for found in examined.violations]
            symbols = examined.program.table.get_symbols()
            sets = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
            if not examined.program.tree.body:
                reasons.insert(0, "there is no code under the instruction")
            elif header.returns and header.returns not in sets:
                reasons.append(f"it does not set '{header.returns}'")
            missing += examined.undefined
            if header.session or header.prefix:
                variables |= dict.fromkeys(sets - variables.keys())
        except CapError as error:
            reasons = [str(error)]
        about = prompt.name, example.line, example.instruction
        findings += [PromptFinding(*about, reason) for reason in reasons]
    offered = {
        name: primitive
        for name, primitive in everything.items()
        if (groups or not hints or name in hints) and (primitive.kind != "action" or header.actions)
    }
    findings += _too_long(prompt, primitive_docs("", offered, groups) if header.docs else "")
    kinds = {
        "robot": [name for name in hints if name in primitives],
        "lmps": [name for name in hints if name in lmps and name not in primitives],
        "library": [name for name in hints if name in EVERYWHERE],
    }
    sorted_names = {"*"}.union(*kinds.values())
    kinds["generated"] = [name for name in hints if name not in sorted_names]
    kinds["generated"] += [entry.name for entry in missing if entry.calls]
    kinds["given"] = [each.name for each in missing if each.name not in kinds["generated"]]
    names = {kind: tuple(dict.fromkeys(found)) for kind, found in kinds.items()}
    return PromptReport(prompt, names, tuple(findings))


def _nested(description: str, context: str = "", **given: Any) -> Any:
    """Stand for an LMP that programs call."""
