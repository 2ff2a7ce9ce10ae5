"""Prompt files: every example executed, or only the names in them looked at.

Executed, every example runs in the instant world, as if a model had written it. One that names a
missing function, raises, returns the wrong kind of value, or has not the effect that its lines
`#= ` and `#? ` state is a finding; so is one whose code repeats a number of its instruction, since
`nearest` could not tell which of them is meant. Nested LMPs are answered by `nearest`, from the
same prompts. On a robot that is real in that mode too, no program that may move it runs unless
somebody approves it.

A line `#= ` has the words in which later prompts show the effect of a turn
(`cap.engine.effect.Effect.line`); a line `#? ` has more of them, which no model is sent. A line has
clauses, parted by semicolons:

    moved red block, blue block     these are elsewhere, in this order, and nothing else is
    moved red block from blue bowl to blue block    the same, with what it was and is in or on
    moved                           something is elsewhere
    nothing moved                   all is as it was
    holds apple; drove; drew; ...   the other words of a turn's effect
    said no mug                     an utterance has these words; `said`: something was said
    changed top drawer              the robot's condition of that name is another
    as named before                 nothing: the program uses names that only earlier turns know

Of files whose robot may be another's nothing is executed: the hints and calls of their examples are
looked up among a robot's primitives, the LMPs beside the file and the libraries; the rest would be
generated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cap.checker.checker import examine
from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import Undefined
from cap.engine.answer import State
from cap.engine.effect import Effect
from cap.engine.engine import Engine
from cap.engine.goal_check import GOAL
from cap.engine.settings import Approve, EngineSettings
from cap.errors import CapError, MissingExtra, NotFound, PromptError
from cap.models.base import Model
from cap.models.nearest.slots import repeated_numbers
from cap.models.openai.model import SYSTEM
from cap.program.program import Program
from cap.program.scope import Primitive, Scope
from cap.prompt import released
from cap.prompt.context import Context
from cap.prompt.docs import primitive_docs
from cap.prompt.examples import RECALLED, Example, without_synonyms
from cap.prompt.prompt import Prompt, load, tokens_of
from cap.robot import registry
from cap.robot.observation import Observation
from cap.robot.protocol import Rewindable, TurnTaking
from cap.sandbox.sandbox import Sandbox
from cap.session.kept_state import after_turn
from cap.trace.trace import Trace

MAX_REQUEST_TOKENS = 3_000
"""The longest request to a language model, before a session's history.

Small local servers have a context of 4,096 tokens: this leaves room for the answer."""
_NOT_EXECUTED = "not executed: "


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
                if file.examples or file is prompt:
                    world = _World(robot, prompts, model, sandbox, approve)
                    findings = list(world.findings(file))
                    if file is prompt:
                        findings += _too_long(prompt, world.docs)
                    yield file, len(file.examples), findings


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

    def findings(self, prompt: Prompt) -> Iterator[PromptFinding]:
        """Run a file's examples in order, and yield what is wrong with them."""
        reason = ""
        try:
            for example in prompt.examples:
                try:
                    if reason and example.follows and prompt.header.session:
                        reason = f"{_NOT_EXECUTED}it goes on from an example that did not run"
                    else:
                        reason = self._run(prompt, example)
                except MissingExtra as missing:
                    reason = f"{_NOT_EXECUTED}{missing}"
                except CapError as error:
                    reason = str(error)
                skipped = reason.startswith(_NOT_EXECUTED)
                if reason:
                    about = prompt.name, example.line, example.instruction
                    yield PromptFinding(*about, reason, skipped)
        finally:
            self.end()

    def _run(self, prompt: Prompt, example: Example) -> str:
        """Run an example and return what is wrong, "" if nothing.

        One that follows another in a session shares its world and state.
        """
        if not example.code.strip():
            return "there is no code under the instruction"
        if repeated := repeated_numbers(example):
            return (
                f"the number {', '.join(repeated)} stands more often in its code than in its words:"
                " name it there once, and write unrelated numbers otherwise"
            )
        facts = Context.read(example.context).facts
        engine = self.engine if example.follows and prompt.header.session else None
        engine = engine or self.begin(prompt, facts.get("objects"))
        robot, before = engine.robot, Observation.of(engine.robot)
        kept = robot.snapshot() if isinstance(robot, Rewindable) else None
        variables = {**self.state.variables, **prompt.header.arguments, **facts}
        known = replace(self.state, variables=variables)
        answer = engine.run_program(prompt, example.code + "\n", known)
        if isinstance(robot, TurnTaking):
            robot.end_turn(example.instruction)
        failure = answer.failure
        if failure is None:
            self.state = after_turn(self.state, answer, number=1)
        elif failure.kind == "refused":
            return f"{_NOT_EXECUTED}it would move a real robot"
        elif (failure.kind, failure.error) != ("value", NotFound.__name__):
            return str(failure)
        after = Observation.of(robot)
        effect = Effect.of(before, after, answer.result)
        wrong = next((why for line in example.effects if (why := missed(line, effect))), "")
        return wrong or (_lost(robot, before, kept) if kept is not None else "")


def _lost(robot: Any, before: Observation, kept: Any) -> str:
    """Return what of an example's effect is still there when its snapshot is restored."""
    now = robot.snapshot()
    robot.restore(kept)
    lost = [name for part in Observation.of(robot).since(before) for name in part]
    robot.restore(now)
    if not lost:
        return ""
    return f"undo does not bring back {', '.join(lost)}; keep it in snapshot() and restore()"


def missed(line: str, effect: Effect) -> str:
    """Return which clause of a line is not so, and why; "" if all are."""
    clauses = [" ".join(clause.split()) for clause in line.split(";")]
    for words in clauses:
        if why := _missed(words, effect):
            return f"stated: {words}; in fact: {why}"
    stated, moved = (
        [one for one in some if one.startswith("moved ")] for some in (clauses, effect.clauses)
    )
    if not stated or stated == moved:
        return ""
    return f"stated: {'; '.join(stated)}; in fact: {'; '.join(moved)}"


def _missed(clause: str, effect: Effect) -> str:
    """Return why a clause is not so, "" if it is."""
    verb, _, rest = clause.partition(" ")
    if clause == RECALLED or clause in effect.clauses or (clause == "moved" and effect.moved):
        return ""
    if verb == "said":
        if any(rest.lower() in words.lower() for words in effect.said):
            return ""
        return f"said {', '.join(map(repr, effect.said)) or 'nothing'}"
    if verb == "changed":
        return "" if rest in effect.changed else f"{rest} is as before"
    return "; ".join(effect.clauses)


def request_chars(text: str) -> int:
    """Return the size of a request with this text, as a language model gets it."""
    return len(SYSTEM) + len(without_synonyms(text))


def _too_long(prompt: Prompt, docs: str) -> list[PromptFinding]:
    """Return the finding that a prompt's longest request exceeds the limit, if it does."""
    asked = (prompt.render(one.instruction, one.context, docs=docs) for one in prompt.examples)
    tokens = tokens_of(max(map(request_chars, asked), default=0))
    if tokens <= MAX_REQUEST_TOKENS:
        return []
    reason = (
        f"its request has about {tokens:,} tokens, and {MAX_REQUEST_TOKENS:,} is the limit: "
        "remove examples, or shorten the docstrings of what it imports"
    )
    return [PromptFinding(prompt.name, 0, "", reason)]


@dataclass(frozen=True)
class PromptReport:
    """One prompt file, looked at."""

    prompt: Prompt
    """The prompt."""
    generated: Sequence[str]
    """Functions nobody has: they are generated when they are called."""
    given: Sequence[str]
    """Values nobody sets: a caller's keyword arguments or an earlier turn must."""
    findings: Sequence[PromptFinding]
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
    known = {*everything, *EVERYWHERE, "robot", "*"}
    generated = [name for name in hints if name not in known]
    generated += [name.name for name in missing if name.calls]
    given = list(dict.fromkeys(one.name for one in missing if one.name not in generated))
    return PromptReport(prompt, list(dict.fromkeys(generated)), given, findings)


def _nested(description: str, context: str = "", **given: Any) -> Any:
    """Stand for an LMP that programs call."""
