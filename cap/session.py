"""A session: one robot, one model, instructions one after the other.

Example:
    with Session.open("ravens", model="nearest", seed=0) as session:
        turn = session.run("put the red block in the blue bowl")

The session keeps what the robot's own LMP (`ui`) left bound: plain data, and functions as source. A
turn that fails changes none of it; what it did to the world stays, and the history says so.
"""

from __future__ import annotations

import ast
import contextlib
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cap import registry
from cap.errors import CapError, PromptError, SandboxError, UsageError
from cap.generate import Budget
from cap.lmp import Answer, Approve, Engine, State, failure_of
from cap.models.base import Model
from cap.program import Program
from cap.prompt import Prompt, Turn, one_line
from cap.result import Call, Failure, Result
from cap.sandbox import Limits, Sandbox
from cap.scope import Definition, Rewindable, Robot
from cap.trace import Trace, plain, versions

TOP = "ui"
"""The prompt that answers a person; every robot has one."""
MOVED_M = 0.005
"""Displacements below this are settling, not motion."""

Positions = Mapping[str, tuple[float, float, float]]


@dataclass(frozen=True)
class TurnResult:
    """What came of one instruction, for a person or a program to read."""

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
    moved: Mapping[str, tuple[tuple[float, float, float], tuple[float, float, float]]]
    """Objects that moved: where from and where to, xyz in metres."""
    stdout: str = ""
    """What the program printed."""

    @property
    def ok(self) -> bool:
        """True if the program ran to its end."""
        return self.failure is None

    def as_json(self) -> dict[str, Any]:
        """Return plain data for `--json`."""
        failure = self.failure
        described = failure and {**vars(failure), "cause": failure.cause}
        return {
            "instruction": self.instruction,
            "program": self.program,
            "value": plain(self.value),
            "calls": plain([vars(call) for call in self.calls]),
            "failure": described,
            "moved": plain(self.moved),
            "stdout": self.stdout,
        }


@dataclass(frozen=True)
class _Checkpoint:
    """Everything a turn may change, as it was before that turn."""

    state: State
    programs: int
    world: Any
    """The robot's snapshot; None where there is none."""


class Session:
    """One robot and one model; a context manager."""

    def __init__(
        self,
        robot: Robot,
        model: Model,
        *,
        prompts: Mapping[str, Prompt] | None = None,
        trace: Trace | None = None,
        seed: int = 0,
        limits: Limits | None = None,
        budget: Budget | None = None,
        approve: Approve | None = None,
    ) -> None:
        """Start a session.

        Args:
            robot: What moves.
            model: What writes programs.
            prompts: By name, with a `ui`; those shipped for the robot by default.
            trace: Where events go; nowhere by default.
            seed: Start of all random numbers inside programs.
            limits: What one program may use.
            budget: How many functions may be generated for one program.
            approve: Shown each complete program before it moves anything.

        Raises:
            UsageError: The robot is real hardware and nothing approves its programs.
            PromptError: There is no `ui` prompt.
        """
        if not robot.simulated and approve is None:
            raise UsageError(f"robot '{robot.name}' is real: its programs need an approval")
        prompts = registry.robot_prompts(robot.name) if prompts is None else prompts
        if TOP not in prompts:
            raise PromptError(f"the prompts of '{robot.name}' have no '{TOP}.py'")
        self.robot = robot
        self.model = model
        self.trace = trace or Trace()
        self.state = State()
        self.turns: list[TurnResult] = []
        self._checkpoints: list[_Checkpoint] = []
        self._closed = False
        self._prompt = prompts[TOP]
        self._sandbox = Sandbox(limits=limits)
        self._sandbox.__enter__()
        self.engine = Engine(
            robot,
            model,
            prompts,
            registry.function_prompt(),
            sandbox=self._sandbox,
            trace=self.trace,
            seed=seed,
            approve=approve,
            budget=budget,
        )
        hashes = {name: prompt.sha256 for name, prompt in prompts.items()}
        self.trace.update(
            robot=robot.name,
            model=model.name,
            seed=seed,
            prompts=hashes,
            limits=self._sandbox.limits,
            sandbox=self._sandbox.layers,
            versions=versions(),
        )

    @classmethod
    def open(
        cls,
        robot: str = "ravens",
        model: str = "nearest",
        *,
        seed: int = 0,
        mode: str = "physics",
        objects: list[str] | None = None,
        base_url: str | None = None,
        runs: Path | None = None,
        **options: Any,
    ) -> Session:
        """Build robot and model by name and start a session.

        Args:
            robot: Registered robot.
            model: `nearest`, `openai/NAME`, `ollama/NAME`, `replay/FILE`, ...
            seed: Of the scene and of random numbers inside programs.
            mode: `physics` or `instant`.
            objects: What stands on the table, by name; the robot's own choice by default.
            base_url: An OpenAI-compatible endpoint.
            runs: Where to make a run folder; None keeps no trace on disk.
            options: Further arguments of `Session`.
        """
        from cap.models.presets import make_model
        from cap.trace import new_run_folder

        backend = make_model(model, base_url=base_url, environ=os.environ)
        body = registry.make_robot(robot, seed=seed, mode=mode, objects=objects)
        folder = new_run_folder(runs, robot, "session") if runs else None
        return cls(body, backend, seed=seed, trace=Trace(folder), **options)

    def __enter__(self) -> Session:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close it; if an exception ends it, the robot is stopped first."""
        if kind is not None:
            self.robot.stop()
        self.close("interrupted" if kind is not None else None)

    def close(self, status: str | None = None) -> None:
        """End the robot and the trace; further calls do nothing.

        Args:
            status: What the trace ends with; `done` or `failed` by the turns if None.
        """
        if self._closed:
            return
        self._closed = True
        self.robot.close()
        failed = any(not turn.ok for turn in self.turns)
        with contextlib.suppress(OSError):
            self.trace.close(status or ("failed" if failed else "done"))

    def run(self, instruction: str) -> TurnResult:
        """Carry out one instruction.

        Raises:
            UsageError: The instruction is empty.
        """
        words = one_line(instruction)
        if not words:
            raise UsageError("the instruction is empty; say what the robot should do")
        context = self.engine.context(self._prompt)
        return self._turn(
            words,
            lambda: self.engine.run(self._prompt, words, context, self.state),
            context,
        )

    def undo(self, turns: int = 1) -> bool:
        """Go back to before the last turn, or before several.

        Variables, functions and history are those of that moment; in simulation the world is too,
        bit for bit. Real hardware stays where it is.

        Args:
            turns: How many turns to take back; those that failed count as well.

        Returns:
            True if the world went back too.

        Raises:
            UsageError: There are not that many turns.
        """
        if not 1 <= turns <= len(self.turns):
            count = len(self.turns)
            raise UsageError(f"cannot undo {turns} turns: there are {count} in this session")
        before = self._checkpoints[-turns]
        del self._checkpoints[-turns:], self.turns[-turns:]
        self.state = before.state
        self.engine.programs = before.programs
        rewindable = isinstance(self.robot, Rewindable)
        if isinstance(self.robot, Rewindable):
            self.robot.restore(before.world)
        self.trace.event("undo", turns=turns, world=rewindable)
        return rewindable

    def execute(self, source: str, name: str = "program") -> TurnResult:
        """Run a program written by a person through the same check and sandbox."""

        def walk() -> Answer:
            try:
                program = Program.parse(source)
            except CapError as error:
                return Answer(Result(failure=failure_of(error)))
            everything = replace(self._prompt, hints=(), name=TOP)
            facts = dict(self.robot.context())
            state = replace(self.state, variables={**facts, **self.state.variables})
            return self.engine.run_program(everything, program, state)

        return self._turn(name, walk, "")

    def _turn(self, words: str, walk: Callable[[], Answer], context: str) -> TurnResult:
        if self._closed:
            raise UsageError("the session is closed; open another")
        self.trace.turn += 1
        self.trace.event("instruction", lmp=TOP, text=words)
        before = dict(self.robot.positions())
        world = self.robot.snapshot() if isinstance(self.robot, Rewindable) else None
        self._checkpoints.append(_Checkpoint(self.state, self.engine.programs, world))
        try:
            answer = walk()
        except KeyboardInterrupt:
            interrupted = Failure("interrupted", "Interrupted", "stopped by Ctrl-C")
            answer = Answer(Result(failure=interrupted))
        except SandboxError as error:
            broken = Failure("protocol", type(error).__name__, str(error))
            answer = Answer(Result(failure=broken))
        failure = answer.result.failure
        if failure is not None and failure.kind == "interrupted":
            self.robot.stop()
        turn = self._finish(words, answer, before)
        self._remember(turn, answer, context)
        return turn

    def _finish(self, words: str, answer: Answer, before: Positions) -> TurnResult:
        result = answer.result
        moved = {
            name: (before[name], after)
            for name, after in self.robot.positions().items()
            if name in before and math.dist(before[name], after) > MOVED_M
        }
        turn = TurnResult(
            instruction=words,
            program=answer.source if answer.program else "",
            value=result.value,
            calls=result.calls,
            failure=result.failure,
            moved=moved,
            stdout=result.stdout,
        )
        if result.stdout:
            self.trace.event("stdout", text=result.stdout)
        self.trace.event("moved", objects=moved)
        if result.failure is not None:
            cause = result.failure.cause
            self.trace.event("failure", **vars(result.failure), cause=cause)
        self.trace.event("done", ok=result.failure is None)
        return turn

    def _remember(self, turn: TurnResult, answer: Answer, context: str) -> None:
        """Keep what a successful program left; keep of a failed one only that it happened."""
        self.turns.append(turn)
        history = self.state.history
        if answer.program is None:
            return
        entry = Turn(turn.instruction, answer.program.source, context, _note(turn))
        self.state = replace(self.state, history=(*history, entry))
        if turn.ok:
            self.state = after_turn(self.state, answer, len(self.turns))


def _note(turn: TurnResult) -> str:
    """Tell later prompts how a turn failed and what it had done by then."""
    if turn.failure is None:
        return ""
    done = [call.name for call in turn.calls if call.error is None and call.kind == "action"]
    acted = f" after {', '.join(done)}" if done else " before anything was done"
    return f"failed{acted}: {turn.failure}"


def after_turn(state: State, answer: Answer, number: int) -> State:
    """Return the state a successful program leaves: its data, its functions as source."""
    assert answer.program is not None
    written = {
        node.name: Definition(node.name, ast.unparse(node) + "\n")
        for node in answer.program.tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.decorator_list
        and not _needs_values(node)
    }
    written |= {entry.name: entry for entry in answer.generated}
    defined = answer.result.defined
    kept = {entry.name: entry for entry in state.definitions if entry.name in defined}
    kept |= {name: written[name] for name in defined if name in written}
    lost = [*answer.result.dropped, *(name for name in defined if name not in kept)]
    reason = f"was set in turn {number} and could not be kept (only plain data and functions can)"
    dropped = {name: why for name, why in state.dropped.items() if name not in kept}
    return replace(
        state,
        variables=answer.result.variables,
        definitions=tuple(kept.values()),
        dropped={**dropped, **dict.fromkeys(lost, reason)},
    )


def _needs_values(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """True if making it again would evaluate more than constants (defaults, bases)."""
    if isinstance(node, ast.ClassDef):
        return bool(node.bases)
    defaults = [*node.args.defaults, *(entry for entry in node.args.kw_defaults if entry)]
    return any(not isinstance(entry, ast.Constant) for entry in defaults)
