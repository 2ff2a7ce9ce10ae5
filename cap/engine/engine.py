"""The engine: the pipeline from prompt to result, for an instruction and every LMP it calls.

    prompt -> completion -> program -> check -> generated functions -> approval -> sandbox -> effect

`Engine.run` is the loop: it asks, runs the program through the pipeline, judges the result, and
asks again with the reason as long as a repair is left. A program that failed while it ran is undone
where the world can be restored, and asked for again as a whole; elsewhere what it did stays, with
what it set, and a program for the rest is asked for. An LMP called from inside a program is a
function whose body, here in the parent, enters the same loop with a worker of its own while the
program waits.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any

from cap.checker.checker import Examination, examine
from cap.checker.undefined import undefined
from cap.engine.answer import Answer, Instruction, State, failed_attempt, joined, with_failure
from cap.engine.approval import Gate, Rehearsal, TrialTrace, stage
from cap.engine.doubts.doubts import (
    DOUBTED,
    did_nothing,
    doubts,
    explained,
    left_as_it_was,
)
from cap.engine.effect import Effect
from cap.engine.function_generation import Generation, refused
from cap.engine.goal_check import GOAL, NOT_SO, GoalCheck
from cap.engine.lmp import RETURNED, hinted, named_exactly, nested_lmp, of_kind, scope_of
from cap.engine.model_request import LOOK_PX, Author, CutOff, Memory, Question, Tally, program_of
from cap.engine.repair import (
    MESSAGE_CHARS,
    acted,
    asked_again,
    explain,
    failure_of,
    left_by,
    next_repair,
    reason_of,
    repairs_left,
    sort_of,
    unfit,
)
from cap.engine.settings import HARDWARE_REPAIRS, EngineSettings, Repairs
from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, ModelError, PromptError, RobotError
from cap.models.base import Completion, Model
from cap.program.program import Program
from cap.program.scope import Definition, Scope
from cap.prompt.context import Context, assignments, cut, value_lines
from cap.prompt.docs import imports, primitive_docs
from cap.prompt.prompt import Prompt
from cap.result import Call, Failure, Result, plain
from cap.robot import observation
from cap.robot.observation import Observation
from cap.robot.protocol import Robot
from cap.sandbox.limits import Listeners
from cap.sandbox.sandbox import Sandbox
from cap.trace.trace import Trace

_DID_CHARS = 60
"""How much is shown at least of what a doubted program did."""
_NO_TRIALS = (
    "can neither go back to a snapshot of its world nor be rehearsed in a twin, so no program can "
    "be tried: one is written and run"
)


def interrupted() -> Failure:
    """Return the failure of a program that a user stopped, with how."""
    return Failure("interrupted", "Interrupted", stop_signals.why)


class RepeatedProgram(Exception):
    """A repair is the same program again."""


@dataclass(eq=False, repr=False)
class Engine:
    """Runs the LMPs of one robot with one model."""

    robot: Robot
    """Whose functions programs may call."""
    model: Model
    """What writes programs."""
    prompts: Mapping[str, Prompt]
    """The LMPs, by name."""
    function_prompt: Prompt
    """Asks for one function."""
    _: KW_ONLY
    sandbox: Sandbox
    """Where programs run."""
    trace: Trace
    """Where events go."""
    settings: EngineSettings = field(default_factory=EngineSettings)
    """How programs are written, approved and repaired."""
    tally: Tally = field(default_factory=Tally)
    """Counts completions, also those of other engines that share it."""
    rehearsal: Rehearsal | None = None
    """Has each program run in a twin of the robot first."""
    memory: Memory | None = None
    """Answers that need not be asked for again; None to ask always."""
    programs: int = 0
    """Programs run so far; each has random numbers of its own, by its number."""
    known_docs: dict[tuple[object, ...], str] = field(default_factory=dict)
    """What the functions do that a prompt's programs may call, of the prompts that were shown."""

    def __post_init__(self) -> None:
        """Set up the pipeline."""
        settings, robot = self.settings, self.robot
        self.gate = Gate(robot, self.trace, settings.approve, settings.allow, self.rehearsal)
        self.seed = settings.seed
        self.repairs = settings.repairs or (Repairs() if robot.simulated else HARDWARE_REPAIRS)
        heed: Callable[[], None] = self.sandbox.robot_thread.heed_stop
        self.author = Author(self.model, self.trace, self.tally, self.memory, heed)
        self.primitives = {
            **{name: self.gate.asking(entry) for name, entry in robot.primitives().items()},
            **{
                name: nested_lmp(self, prompt, {})
                for name, prompt in self.prompts.items()
                if prompt.header.returns is not None and name != GOAL
            },
        }

    scope = scope_of
    """What a prompt's programs may use."""

    def use_model(self, model: Model) -> None:
        """Have another model write programs from here on."""
        self.model = self.author.model = model

    def copy_for(self, robot: Robot, trace: Trace) -> Engine:
        """Return an engine like this one, at the same point, for another robot."""
        for prompt in self.prompts.values():  # a twin's prompts describe the robot's own functions
            self.docs(prompt)
        settings = replace(
            self.settings, seed=self.seed, approve=None, allow=None, repairs=self.repairs
        )
        return replace(self, robot=robot, trace=trace, settings=settings, rehearsal=None)

    def run(self, asked: Instruction) -> Answer:
        """Have a program written for an instruction and run it; repair it if need be."""
        mark, outermost = self.tally.mark(), not self.trace.depth
        prompt, state, sampling = asked.prompt, asked.state, self.settings.sampling
        question = Question(
            *(prompt, asked.words, asked.context, state.history, state.hints, self.docs(prompt)),
            given=state.given,
            pictures=self.look() if outermost else (),
        )
        before, best_of, given = asked.before, None, None
        world = before.world if before is not None and self.robot.simulated else None
        tries = outermost and sampling.samples > 1
        if tries and world is None and self.rehearsal is None:
            self.trace.event("untried", reason=f"robot '{self.robot.name}' {_NO_TRIALS}")
            tries = False
        wanted = sampling.verify == GOAL or (tries and sampling.goal)
        if before is not None and outermost and wanted:
            try:
                asked = replace(asked, goal=asked.goal or self.goal_check(asked.words, before))
            except RobotError as error:
                return Answer(Result(failure=replace(failure_of(error), robot=True)))
        left = repairs_left(self.repairs, nested_acts=not outermost and prompt.header.actions)
        if tries:
            from cap.engine.best_of import BestOf

            stage_here = partial(stage, self.robot, self.rehearsal, world)
            run_on = partial(self._run_on, question, state)
            best_of = BestOf(self.author, asked, question, sampling, stage_here, run_on)
            answer = best_of.run()
            given = best_of.chosen
        if best_of is None or answer.program is not None:
            answer = self._attempt(question, state, given=given)
        doubted = tries  # a program that was chosen, or has been doubted, is doubted no more
        answer, undone = self._judged(asked, answer, not doubted and left["runtime"] > 0), None
        while self.author.repairs and (failure := next_repair(left, answer)) is not None:
            doubted = doubted or failure.error == DOUBTED
            reason, number = reason_of(failure), answer.attempts + 1
            self.trace.event(
                "repair", lmp=prompt.name, attempt=number, reason=reason, source=answer.shown
            )
            try:
                did = acted(answer.last_calls)
                if did and answer.ran and world is not None:
                    undone = answer, self._rewound(world)
                    answer = replace(answer, back=True)
                question = asked_again(question, answer)
                if did and not answer.back:
                    state = left_by(state, answer)
                    if not asked.fixed:
                        now = self.context(prompt)
                        context = Context.of({**question.context.facts, **now.facts})
                        pictures = self.look() if question.pictures else ()
                        question = replace(question, context=context, pictures=pictures)
                after = self._attempt(question, state, answer.written)
            except KeyboardInterrupt:
                answer = with_failure(answer, self._ended())
                break
            except RepeatedProgram:
                self.trace.event("repeated_program", lmp=prompt.name)
                answer = replace(answer, attempts=number)
                break
            why = after.failure
            if why is not None and why.kind == "model" and not after.ran:  # it gave no program
                message = f"{failure.message}; a repair was asked for, but {why.error}: "
                message += why.message
                answer = replace(answer, attempts=number)
                answer = with_failure(answer, replace(failure, message=message))
                break
            after = self._judged(asked, after, not doubted and left["runtime"] > 0)
            answer = _repaired(answer, after, asked.words)
            undone = None if after.ran else undone
        if answer.failure is not None:
            answer = self._left_in_its_world(answer, world, undone, asked.words)
        answer = answer if best_of is None else best_of.judged(answer)
        return replace(answer, usage=self.tally.since(mark), by_lmp=self.tally.by_lmp(mark))

    def _ended(self) -> Failure:
        """Return the failure of what a user stopped, while the interrupt is dealt with.

        Raises:
            KeyboardInterrupt: It is part of another program, which ends as well.
        """
        if self.trace.depth:
            raise
        stop_signals.taken()
        return interrupted()

    def _left_in_its_world(
        self,
        answer: Answer,
        world: Any,
        undone: tuple[Answer, Any] | None,
        words: str,
    ) -> Answer:
        """Leave the world as the last failed program that ran left it, or undo that too.

        Args:
            answer: The last attempt, which failed.
            world: The world before the first of them.
            undone: The program whose motions are undone, with the world that it had left.
            words: The instruction.
        """
        if self.repairs.undo and world is not None:
            if answer.ran:
                self._rewound(world)
            answer = replace(answer, back=True)
        elif undone is not None:
            last, its_world = undone
            self._rewound(its_world)
            stays = () if answer.ran else (failed_attempt(last, words),)
            answer = replace(answer, back=False, failed=(*answer.failed, *stays))
        failed = answer.failure
        insisted = failed is not None and failed.error == DOUBTED
        return with_failure(answer, None) if insisted else answer

    def _run_on(self, question: Question, state: State, robot: Any, given: Completion) -> Answer:
        """Run an answer's program on another robot; only its requests are recorded."""
        engine = self.copy_for(robot, TrialTrace(self.trace))
        return engine._attempt(question, state, given=given)

    def goal_check(self, words: str, before: Observation) -> GoalCheck | None:
        """Have an instruction's goal check written; None for a robot that has no prompt for it.

        Args:
            words: The instruction.
            before: The world as it is.

        Raises:
            RobotError: The world cannot be seen.
        """
        if GOAL not in self.prompts:
            return None
        prompt, robot = self.prompts[GOAL], self.robot
        prompt = replace(prompt, header=replace(prompt.header, actions=False))
        known = {
            "before": {name: list(xyz) for name, xyz in before.positions.items()},
            "drawn_before": plain(getattr(robot, "strokes", None)),
            "robot_before": before.condition.get("robot"),
        }
        state = State(variables={name: v for name, v in known.items() if v is not None})
        try:
            question = Question(prompt, words, self.context(prompt), docs=self.docs(prompt))
            completion = self.author.ask(question)
        except (ModelError, PromptError) as error:
            return GoalCheck(None, f"there is no goal check: {str(error).partition('; ')[0]}")
        check = GoalCheck(lambda there: self._run_on(question, state, there, completion).result)
        with stage(robot, self.rehearsal, before.world if robot.simulated else None) as there:
            check.begin(there)
        return check

    def look(self) -> tuple[bytes, ...]:
        """Return a picture of the scene for the model, kept in the trace; none if it sees none."""
        if not (self.settings.look and getattr(self.model, "sees", True)):
            return ()
        data = io.BytesIO()
        robot: Any = self.robot
        robot.render(LOOK_PX, LOOK_PX).save(data, "PNG")
        self.trace.picture(data.getvalue())
        return (data.getvalue(),)

    def run_program(self, prompt: Prompt, source: str, state: State) -> Answer:
        """Check, complete and run a program in a prompt's scope; it is not repaired."""
        mark = self.tally.mark()
        try:
            program = Program.parse(source)
        except CapError as error:
            return Answer(Result(failure=failure_of(error)))
        answer = self._complete(prompt, program, state)
        if answer.failure is not None:
            self.author.forget()
        return replace(answer, usage=self.tally.since(mark), by_lmp=self.tally.by_lmp(mark))

    def _attempt(
        self,
        question: Question,
        state: State,
        before: str | None = None,
        given: Completion | None = None,
    ) -> Answer:
        """Ask the model once, and run what it wrote.

        Args:
            question: With what.
            state: What a session remembers.
            before: The program of the attempt before.
            given: The model's answer, where it was asked before.

        Raises:
            RepeatedProgram: It wrote the same as before.
        """
        text, prompt = "", question.prompt
        try:
            completion = given or self.author.ask(question)
            text = completion.text
            program = program_of(completion, prompt)
        except CapError as error:
            self.author.forget()
            if text and text == before and not isinstance(error, CutOff):
                raise RepeatedProgram from None
            return Answer(Result(failure=failure_of(error)), completion=text)
        state = replace(state, variables={**state.variables, **question.context.facts})
        answer = self._complete(prompt, program, state, question.instruction, before)
        failure = answer.failure
        answers_user = prompt.header.actions and prompt.header.returns is None
        if failure is None and answers_user and not state.goes_on:
            returned = (other.header.returns for other in self.prompts.values())
            unread = dict.fromkeys(name for name in returned if name is not None)
            failure = did_nothing(answer.result, state, unread, question.instruction)
        if failure is not None:
            self.author.forget()
            if failure.kind == "undefined" and getattr(self.model, "by_example", False):
                failure = unfit(failure)
        else:
            self.author.prove(question, completion)
        return with_failure(replace(answer, completion=text), failure)

    def _complete(
        self,
        prompt: Prompt,
        program: Program,
        state: State,
        words: str = "",
        before: str | None = None,
    ) -> Answer:
        """Check and complete a program, have it approved, and run it.

        Args:
            prompt: Whose program it is.
            program: The program.
            state: What a session remembers.
            words: The instruction; "" of a user's own program.
            before: The program of the attempt before.

        Raises:
            RepeatedProgram: It is the same as before.
        """
        scope = self.scope(prompt, state, program)
        examined = examine(program, scope, self.sandbox.policy)
        program = examined.program
        if program.source == before:
            raise RepeatedProgram
        try:
            generated = self._generated(prompt, examined, scope, state, words)
        except CapError as error:
            failed = Answer(Result(failure=failure_of(error)), program)
            self._show(prompt, failed, state)
            return failed
        answer = Answer(Result(), program, generated, tuple(_kept_for(program, scope, generated)))
        complete = replace(scope, definitions=(*scope.definitions, *generated))

        def rehearse(twin: Robot, trace: Trace) -> Result:
            engine = self.copy_for(twin, trace)
            own = engine.scope(prompt, state, program)
            own = replace(own, definitions=complete.definitions)
            return engine._execute(prompt, program, own, state.dropped)

        while True:
            self._show(prompt, answer, state)
            passage = self.gate.passage(prompt, answer, rehearse)
            if passage.refused is not None:
                return with_failure(answer, passage.refused)
            if not passage.edited:
                result = self._execute(prompt, program, complete, state.dropped)
                return replace(answer, result=result, ran=True)
            # What the user wrote in its place is checked, and shown to them again.
            edited = self.run_program(prompt, passage.edited, state)
            failure = edited.failure
            if failure is None or sort_of(edited) != "static":
                return edited
            self.trace.event("edit_refused", **vars(failure))  # it may be edited once more

    def _generated(
        self, prompt: Prompt, examined: Examination, scope: Scope, state: State, words: str
    ) -> tuple[Definition, ...]:
        """Return the functions a program lacks, unless the program itself is refused.

        Raises:
            CheckFailed: The program is refused; nothing was asked for.
            GenerationFailed: A function cannot be had.
            ModelError: The model gave no answer.
        """
        if examined.violations:
            raise refused(examined, self.trace)
        if not examined.undefined:  # the usual case
            return ()
        memory, docs = self.author.memory, self.docs(prompt)
        hidden = f"is not available to '{prompt.name}' programs"
        reasons = {**dict.fromkeys(self.primitives, hidden), **state.dropped}
        written = Generation(
            self.author,
            self.function_prompt,
            scope,
            self.sandbox.policy,
            self.settings.budget,
            {name: f"'{name}' {reason}" for name, reason in reasons.items()},
            docs=f"{docs}\n{imports(hinted(prompt, scope))}" if docs else "",
            words=words,
            known={} if memory is None else memory.functions,
        ).run(examined.program)
        if memory is not None:
            memory.functions |= {one.name: Program.parse(one.source) for one in written}
        return written

    def _show(self, prompt: Prompt, answer: Answer, state: State) -> None:
        """Record a complete program, also one that was refused.

        Its file can be run alone: what it reads of earlier turns is at its top.
        """
        assert answer.program is not None
        source = answer.source
        if self.trace.folder is not None:
            facts = prompt.header.context  # a later run of the file gets these from its own robot
            kept = {name: v for name, v in state.variables.items() if name not in facts}
            source = assignments(source, kept) + source
        path = self.trace.program(prompt.name, source)
        self.trace.event(
            "program",
            lmp=prompt.name,
            source=answer.program.source,
            generated=[(entry.name, entry.source) for entry in answer.generated],
            notes=answer.program.notes,
            path=path.name if path else None,
        )

    def _judged(self, asked: Instruction, answer: Answer, repairs: bool) -> Answer:
        """Return an attempt with its doubts; as failed if it can still be repaired.

        An order that changed nothing has failed in any case.

        Args:
            asked: What was asked for.
            answer: The attempt.
            repairs: Whether doubts are a reason for a repair.
        """
        before, verify = asked.before, self.settings.sampling.verify
        goal = asked.goal if verify == GOAL else None
        if before is None or not asked.compared or not answer.ran or answer.failure:
            return answer
        compared = self.author.repairs and bool(before.positions or before.condition)
        if not (compared or goal):
            return answer
        try:
            now = Observation.of(self.robot)
        except RobotError:  # the session reports it when it looks at the world
            return answer
        effect = Effect.of(before if compared else now, now, answer.result)
        failure, found = None, list[str]()
        if compared:
            failure = left_as_it_was(asked.words, effect)
            if failure is None and verify != "off":
                found += doubts(asked.words, before, now, effect, asked.moved_before)
        if failure is None and goal is not None:
            verdict = goal.says(self.robot)
            found += [NOT_SO] if verdict is False else []
            answer = replace(answer, accepted=verdict is True, denied=goal.denial(verdict))
        if found and repairs and not explained(effect):
            ask = "do all that was asked, or write the program again if it did"
            room = MESSAGE_CHARS - len("; ".join([*found, "it did this: ; ", ask]))
            did = cut(effect.detail, max(room, _DID_CHARS))
            doubt = "; ".join([*found, f"it did this: {did}", ask])
            failure = Failure("value", DOUBTED, doubt)
        answer = replace(answer, doubts=tuple(found), seen=None if failure else now)
        return with_failure(answer, failure)

    def _rewound(self, world: Any) -> Any:
        """Restore a snapshot of the world; return a snapshot of how it was."""
        robot: Any = self.robot
        left = robot.snapshot()
        robot.restore(world)
        self.trace.event("rewound")
        return left

    def docs(self, prompt: Prompt) -> str:
        """Return the docs of the functions a prompt's programs may call, for its model."""
        if not prompt.header.docs:
            return ""
        key = prompt.name, prompt.hints, prompt.header.actions
        if key not in self.known_docs:
            scope = self.scope(prompt)
            about = observation.about(self.robot)
            self.known_docs[key] = primitive_docs(about, hinted(prompt, scope), scope.groups)
        return self.known_docs[key]

    def context(self, prompt: Prompt, given: Mapping[str, Any] | None = None) -> Context:
        """Return the context a prompt asks for, from the robot as it is now.

        Args:
            prompt: What asks.
            given: Facts by name that come before the robot's own.

        Raises:
            PromptError: It asks for a fact that does not exist.
        """
        if not prompt.header.context:
            return Context()
        return prompt.context_of({**observation.facts(self.robot), **(given or {})})

    def answer(
        self, prompt: Prompt, description: str, context: str, variables: Mapping[str, Any]
    ) -> Answer:
        """Run an LMP for a caller, with the given context or the one its prompt asks for.

        Raises:
            PromptError: It asks for a fact that does not exist.
        """
        shown = Context.read(context) if context else self.context(prompt, variables)
        named = named_exactly(prompt.header, description, shown.facts)
        if named is not None:  # no request is needed
            return Answer(Result(named))
        left = {name: value for name, value in variables.items() if name not in shown.facts}
        state = State(variables=variables, given=value_lines(left))
        return self.run(Instruction(prompt, description, shown, state, fixed=bool(context)))

    def _execute(
        self, prompt: Prompt, program: Program, scope: Scope, dropped: Mapping[str, str]
    ) -> Result:
        header, returns = prompt.header, prompt.header.returns
        answers = returns is not None or bool(prompt.inferred)
        if answers and program.sets(RETURNED) and not program.sets(returns or ""):
            returns = RETURNED
        self.programs += 1
        seed = hashlib.blake2s(f"{self.seed} {self.programs}".encode(), digest_size=4).digest()
        trace, calls, at, reported = self.trace, list[Call](), dict[str, int](), 0

        def called(call: Call) -> None:
            calls.append(call)
            trace.event("call", **vars(call), **at)

        def runs(number: int) -> None:
            at["line"] = number
            trace.progress("line", number=number)

        def printed(text: str) -> None:
            nonlocal reported
            reported += len(text)
            trace.progress("printed", text=text)

        try:
            result = self.sandbox.execute(
                program,
                scope,
                returns=returns,
                keep=header.session,
                seed=int.from_bytes(seed, "little"),
                listeners=Listeners(called, runs if trace.listeners else None, printed),
                robot=self.robot,
            )
        except KeyboardInterrupt:
            return Result(failure=self._ended(), calls=tuple(calls))
        if rest := result.stdout[reported:]:
            printed(rest)
        if result.failure is None:
            return of_kind(result, header)
        if header.session:
            why = explain(result.failure, program, scope.variables, dropped)
            return replace(result, failure=why)
        return result


def _kept_for(program: Program, scope: Scope, written: Iterable[Definition]) -> list[Definition]:
    """Return the definitions of a scope that a program uses, by way of others too, in order."""
    kept = {entry.name: entry for entry in scope.definitions}
    if not kept:
        return []
    used: set[str] = set()
    ahead = [program, *(Program.parse(entry.source) for entry in written)]
    while ahead:
        for entry in undefined(ahead.pop(), ()):
            if entry.name in kept and entry.name not in used:
                used.add(entry.name)
                ahead.append(Program.parse(kept[entry.name].source))
    return [entry for name, entry in kept.items() if name in used]


def _repaired(before: Answer, after: Answer, words: str) -> Answer:
    """Return the later of two attempts at an instruction, with what the earlier one did."""
    failed = (*before.failed, failed_attempt(before, words)) if before.done else before.failed
    generated = after.generated if before.back else (*before.generated, *after.generated)
    return replace(joined(before, after), failed=failed, generated=generated)
