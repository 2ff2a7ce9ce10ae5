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
import inspect
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cap.checker.checker import Examination, examine
from cap.engine.answer import (
    Answer,
    EngineRobot,
    State,
    failed_attempt,
    joined,
    unanswered,
    with_note,
)
from cap.engine.approval import Gate, Rehearsal
from cap.engine.doubts import (
    DOUBTED,
    UNCHANGED,
    did_nothing,
    doubts,
    explained,
    left_as_it_was,
)
from cap.engine.effect import Effect
from cap.engine.function_generation import Generation, kept_for, refused
from cap.engine.goal import GOAL, NOT_SO, GoalCheck, TrialTrace, stage
from cap.engine.question import Author, CutOff, Memory, Question, Tally, program_of
from cap.engine.repair import (
    acted,
    explain,
    failed_turn,
    failure_of,
    lmp_failed,
    note_of,
    reason_of,
    sort_of,
    unfit,
)
from cap.engine.settings import EngineSettings, Repairs
from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, LMPFailed, ModelError, NotFound, PromptError, RobotError
from cap.models.base import Completion, Model
from cap.program.program import AnsweredInWords, Program
from cap.program.scope import Definition, Primitive, Scope
from cap.prompt.context import Context, assignments, value_lines
from cap.prompt.docs import imports, primitive_docs
from cap.prompt.prompt import Prompt, kind_error, one_line
from cap.result import Call, Failure, Result, plain
from cap.robot import observation
from cap.robot.observation import Observation
from cap.sandbox.limits import Listeners
from cap.sandbox.sandbox import Sandbox
from cap.trace.trace import Trace

if TYPE_CHECKING:
    from cap.engine.best_of import BestOf

MAX_NESTING = 6
"""How deep LMPs may call each other."""
LOOK_PX = 480
"""Width and height of the picture a model is sent."""
GROUP = "robot"
"""The object whose attributes a robot's functions are as well, as some of the paper's programs call
them: `robot.say('hi')`."""
RETURNED = "ret_val"
"""The variable that programs of the original prompts answer in, read where the prompt's own is not
set."""
_NO_TRIALS = (
    "can neither go back to a snapshot of its world nor be rehearsed in a twin, so no program can "
    "be tried: one is written and run"
)


def unhinted(prompt: Prompt) -> Prompt:
    """Return a prompt whose programs see every primitive and LMP: for a user's own programs."""
    return replace(prompt, hints=())


def hinted(prompt: Prompt, scope: Scope) -> Mapping[str, Primitive]:
    """Return the functions a prompt's model reads about: those its hints name, else all."""
    if GROUP in prompt.hints or not prompt.hints:
        return scope.primitives
    return {name: scope.primitives[name] for name in prompt.hints if name in scope.primitives}


def interrupted() -> Failure:
    """Return the failure of a program that a user stopped, with how."""
    return Failure("interrupted", "Interrupted", stop_signals.why)


@dataclass
class Rules:
    """How the attempts at one instruction are judged, and how many there may be."""

    words: str
    """The instruction."""
    before: Observation | None
    """What the effect is compared with; None if it is not compared."""
    moved_before: Mapping[str, Any]
    """What the turn before moved."""
    goal: GoalCheck | None
    """The goal check that judges each attempt as well; None for none."""
    left: Repairs
    """How many repairs are left."""
    settled: bool
    """The program was chosen among several, or has been doubted: doubts repair it no more."""


class Engine:
    """Runs the LMPs of one robot with one model."""

    def __init__(
        self,
        robot: EngineRobot,
        model: Model,
        prompts: Mapping[str, Prompt],
        function_prompt: Prompt,
        *,
        sandbox: Sandbox,
        trace: Trace,
        settings: EngineSettings | None = None,
        tally: Tally | None = None,
        rehearsal: Rehearsal | None = None,
        memory: Memory | None = None,
    ) -> None:
        """Set up the pipeline.

        Args:
            robot: Whose functions programs may call.
            model: What writes programs.
            prompts: The LMPs, by name.
            function_prompt: Asks for one function.
            sandbox: Where programs run.
            trace: Where events go.
            settings: How programs are written, approved and repaired.
            tally: Counts completions, also those of other engines that share it.
            rehearsal: Has each program run in a twin of the robot first.
            memory: Answers that need not be asked for again; None to ask always.
        """
        self.settings = settings = settings or EngineSettings()
        self.robot = robot
        self.model = model
        self.prompts = prompts
        self.sandbox = sandbox
        self.trace = trace
        self.gate = Gate(robot, trace, settings.approve, settings.allow, rehearsal)
        usual = Repairs(runtime=Repairs.runtime if robot.simulated else 0)
        self.repairs = settings.repairs or usual
        self.seed = settings.seed
        self.programs = 0
        """Programs run so far; each has random numbers of its own, by its number."""
        self.tally = tally or Tally()
        self.author = self._author(model, memory)
        self._function_prompt = function_prompt
        self._docs: dict[tuple[object, ...], str] = {}
        own = {name: self.gate.asking(entry) for name, entry in robot.primitives().items()}
        lmps = {
            name: NestedLMP(self, prompt).primitive()
            for name, prompt in prompts.items()
            if prompt.header.returns is not None and name != GOAL
        }
        self._primitives = {**own, **lmps}
        returned = (prompt.header.returns for prompt in prompts.values())
        self._answered_in = dict.fromkeys(name for name in returned if name is not None)

    def run(
        self,
        prompt: Prompt,
        instruction: str,
        context: Context | None = None,
        state: State | None = None,
        *,
        fixed: bool = False,
        before: Observation | None = None,
        compared: bool = True,
        expect: Sequence[str] = (),
        moved_before: Mapping[str, Any] = MappingProxyType({}),
        goal: GoalCheck | None = None,
    ) -> Answer:
        """Have a program written for an instruction and run it; repair it if need be.

        Args:
            prompt: The LMP.
            instruction: The person's words, or a program's.
            context: The facts shown above them; none by default.
            state: What a session remembers.
            fixed: The context is the caller's own, and not read again after an attempt that acted.
            before: The world before the turn; where it can, it is restored before a repair.
            compared: Whether what changed since then is compared with the instruction.
            expect: The effect by which one of several programs is chosen (`cap.result.EFFECTS`).
            moved_before: What the turn before it moved, for "the other one".
            goal: The instruction's goal check, if it was asked for before.
        """
        mark, outermost = self.tally.mark(), not self.trace.depth
        state, sampling = state or State(), self.settings.sampling
        question = Question(
            *(instruction, context or Context(), state.history, state.hints, self.docs(prompt)),
            given=state.given,
            pictures=self.look() if outermost else (),
        )
        world = before.world if before is not None and self.robot.simulated else None
        tries = outermost and sampling.samples > 1 and self._can_try(world)
        if goal is None and outermost and (sampling.verify == GOAL or (tries and sampling.goal)):
            try:
                goal = self.goal_check(instruction, before)
            except RobotError as error:
                return Answer(Result(failure=replace(failure_of(error), robot=True)))
        rules = Rules(
            instruction,
            before if compared and self.author.repairs else None,
            moved_before,
            goal if sampling.verify == GOAL and before is not None and compared else None,
            self.repairs if outermost else self.repairs.nested(prompt.header.actions),
            settled=tries,
        )
        best_of = None
        if tries:
            best_of = self._best_of(prompt, question, state, world, goal, expect, moved_before)
        answer, undone = self._judged(rules, self._first(prompt, question, state, best_of)), None
        while self._to_be_repaired(rules, prompt, answer):
            try:
                back = answer.ran and acted(answer.last_calls) and world is not None
                if back:
                    undone = answer, self._rewound(world)
                    answer = replace(answer, back=True)
                elif acted(answer.last_calls):
                    state = _left_by(state, answer)
                question = self._asked_again(prompt, question, answer, fixed)
                after = self.attempt(prompt, question, state, answer.written)
            except KeyboardInterrupt:
                answer = replace(answer, result=replace(answer.result, failure=self._ended()))
                break
            if after is None:
                self.trace.event("repeated_program", lmp=prompt.name)
                answer = replace(answer, attempts=answer.attempts + 1)
                break
            if unanswered(after):
                answer = with_note(answer, after)
                break
            answer = joined(answer, self._judged(rules, after), instruction)
            undone = None if after.ran else undone
        if answer.result.failure is not None:
            answer = self._with_its_world(rules, answer, world, undone)
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

    def _first(
        self, prompt: Prompt, question: Question, state: State, best_of: BestOf | None
    ) -> Answer:
        """Return the first attempt; of several programs that were tried, the chosen one's."""
        given = None
        if best_of is not None:
            tried = best_of.run()
            if tried.program is None:
                return tried
            given = best_of.chosen
        answer = self.attempt(prompt, question, state, given=given)
        assert answer is not None
        return answer

    def _best_of(
        self,
        prompt: Prompt,
        question: Question,
        state: State,
        world: Any,
        goal: GoalCheck | None,
        expect: Sequence[str],
        moved_before: Mapping[str, Any],
    ) -> BestOf:
        """Return what tries several programs in the present world."""
        from cap.engine.best_of import BestOf

        stage_here = partial(stage, self.robot, self.gate.rehearsal, world)
        run_on = partial(self._run_on, prompt, question, state)
        return BestOf(
            *(self.author, prompt, question, self.settings.sampling, stage_here, run_on),
            *(goal, expect, moved_before),
        )

    def _with_its_world(
        self, rules: Rules, answer: Answer, world: Any, undone: tuple[Answer, Any] | None
    ) -> Answer:
        """Leave the world as the last failed program that ran left it, or undo that too.

        Args:
            rules: How many repairs there might be.
            answer: The last attempt, which failed.
            world: The world before the first of them.
            undone: The program whose motions are undone, with the world that it had left.
        """
        failed = answer.result.failure
        if rules.left.undo and world is not None:
            if answer.ran:
                self._rewound(world)
            answer = replace(answer, back=True)
        elif undone is not None:
            last, its_world = undone
            self._rewound(its_world)
            stays = () if answer.ran else (failed_attempt(last, rules.words),)
            answer = replace(answer, back=False, failed=(*answer.failed, *stays))
        if failed is not None and failed.error == DOUBTED:  # it is what the model insists on
            answer = replace(answer, result=replace(answer.result, failure=None))
        return answer

    def _run_on(
        self, prompt: Prompt, question: Question, state: State, robot: Any, given: Completion
    ) -> Answer:
        """Run an answer's program on another robot; only its requests are recorded."""
        engine = self.copy_for(robot, TrialTrace(self.trace))
        answer = engine.attempt(prompt, question, state, given=given)
        assert answer is not None
        return answer

    def _can_try(self, world: Any) -> bool:
        """Return whether programs can be tried in the present world; record it if not."""
        if world is not None or self.gate.rehearsal is not None:
            return True
        reason = f"robot '{getattr(self.robot, 'name', '?')}' {_NO_TRIALS}"
        self.trace.event("untried", reason=reason)
        return False

    def goal_check(self, words: str, before: Observation | None = None) -> GoalCheck | None:
        """Have an instruction's goal check written; None for a robot that has no prompt for it.

        Args:
            words: The instruction.
            before: The world as it is, where it was looked at.

        Raises:
            RobotError: The world cannot be seen.
        """
        if GOAL not in self.prompts:
            return None
        prompt, robot = self.prompts[GOAL], self.robot
        prompt = replace(prompt, header=replace(prompt.header, actions=False))
        before = before or Observation.of(robot, world=True)
        known = {
            "before": {name: list(xyz) for name, xyz in before.positions.items()},
            "drawn_before": plain(getattr(robot, "strokes", None)),
            "robot_before": before.condition.get("robot"),
        }
        state = State(variables={name: v for name, v in known.items() if v is not None})
        try:
            question = Question(words, self.context(prompt), docs=self.docs(prompt))
            completion = self.author.ask(prompt, question)
        except (ModelError, PromptError) as error:
            return GoalCheck(None, f"there is no goal check: {str(error).partition('; ')[0]}")

        def run(there: Any) -> Result:
            return self._run_on(prompt, question, state, there, completion).result

        check = GoalCheck(run)
        with stage(robot, self.gate.rehearsal, before.world if robot.simulated else None) as there:
            check.begin(there)
        return check

    def use_model(self, model: Model) -> None:
        """Have another model write programs from here on."""
        self.model = model
        self.author = self._author(model, self.author.memory)

    def _author(self, model: Model, memory: Memory | None) -> Author:
        heed: Callable[[], None] = self.sandbox.robot_thread.heed_stop
        tokens = self.settings.budget.answer_tokens
        return Author(model, self.trace, self.tally, tokens, memory, heed)

    def look(self) -> tuple[bytes, ...]:
        """Return a picture of the scene for the model, kept in the trace; none if it sees none."""
        if not (self.settings.look and getattr(self.model, "sees", True)):
            return ()
        data = io.BytesIO()
        robot: Any = self.robot
        robot.render(LOOK_PX, LOOK_PX).save(data, "PNG")
        self.trace.picture(data.getvalue())
        return (data.getvalue(),)

    def run_program(self, prompt: Prompt, program: Program, state: State) -> Answer:
        """Check, complete and run a program in a prompt's scope; it is not repaired."""
        mark = self.tally.mark()
        scope = self.scope(prompt, state, program)
        answer = self._walk(prompt, examine(program, scope, self.sandbox.policy), scope, state)
        if answer.result.failure is not None:
            self.author.forget()
        return replace(answer, usage=self.tally.since(mark), by_lmp=self.tally.by_lmp(mark))

    def attempt(
        self,
        prompt: Prompt,
        question: Question,
        state: State,
        before: str | None = None,
        given: Completion | None = None,
    ) -> Answer | None:
        """Ask the model once, and run what it wrote; None if it wrote the same as before.

        Args:
            prompt: Whose program is asked for.
            question: With what.
            state: What a session remembers.
            before: The program of the attempt before.
            given: The model's answer, where it was asked before.
        """
        text = ""
        try:
            completion = given or self.author.ask(prompt, question)
            text = completion.text
            program = program_of(completion, prompt)
        except CapError as error:
            self.author.forget()
            same = text and text == before and not isinstance(error, CutOff)
            return None if same else Answer(Result(failure=failure_of(error)), completion=text)
        state = replace(state, variables={**state.variables, **question.context.facts})
        scope = self.scope(prompt, state, program)
        examined = examine(program, scope, self.sandbox.policy)
        if examined.program.source == before:
            return None
        answer = self._walk(prompt, examined, scope, state, question.instruction)
        failure = answer.result.failure
        answers_user = prompt.header.actions and prompt.header.returns is None
        if failure is None and answers_user and not state.goes_on:
            failure = did_nothing(answer.result, state, self._answered_in, question.instruction)
        if failure is not None:
            self.author.forget()
            if failure.kind == "undefined" and self.author.by_example:
                failure = unfit(failure)
        elif before is None and given is None and answer.program is examined.program:
            self.author.prove(prompt, question, completion)
        return replace(answer, completion=text, result=replace(answer.result, failure=failure))

    def _walk(
        self, prompt: Prompt, examined: Examination, scope: Scope, state: State, words: str = ""
    ) -> Answer:
        """Complete a program, have it approved, and run it.

        Args:
            prompt: Whose program it is.
            examined: The program, as the check sees it.
            scope: What it may use.
            state: What a session remembers.
            words: The instruction it was written for; "" of a user's own program.
        """
        program = examined.program
        try:
            generated = self._generate(prompt, examined, scope, state, words)
        except CapError as error:
            failed = Answer(Result(failure=failure_of(error)), program)
            self._show(prompt, failed, state)
            return failed
        answer = Answer(Result(), program, generated, tuple(kept_for(program, scope, generated)))
        while True:
            self._show(prompt, answer, state)
            passage = self.gate.passage(
                prompt, answer, partial(self._in_twin, prompt, answer, state)
            )
            if not passage.edited:
                break
            edited = self._edited(prompt, passage.edited, scope, state)
            failure = edited.result.failure
            if failure is None or sort_of(failure, (), edited.ran) != "static":
                return edited
            self.trace.event("edit_refused", **vars(failure))  # it may be edited once more
        if passage.refused is not None:
            return replace(answer, result=Result(failure=passage.refused))
        if generated:
            scope = replace(scope, definitions=(*scope.definitions, *generated))
        return replace(
            answer, result=self._execute(prompt, program, scope, state.dropped), ran=True
        )

    def _edited(self, prompt: Prompt, source: str, scope: Scope, state: State) -> Answer:
        """Check and run what a user wrote in a program's place; it is shown to them again."""
        try:
            examined = examine(Program.parse(source), scope, self.sandbox.policy)
        except CapError as error:
            return Answer(Result(failure=failure_of(error)))
        return self._walk(prompt, examined, scope, state)

    def _generate(
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
        hidden = f"is not available to '{prompt.name}' programs"
        unavailable = {name: f"'{name}' {hidden}" for name in self._primitives}
        unavailable |= {name: f"'{name}' {reason}" for name, reason in state.dropped.items()}
        docs = self.docs(prompt)
        generation = Generation(
            self.author,
            self._function_prompt,
            scope,
            self.sandbox.policy,
            limits=self.settings.budget,
            unavailable=unavailable,
            docs=f"{docs}\n{imports(hinted(prompt, scope))}" if docs else "",
            words=words,
            known=self.author.memory.functions if self.author.memory is not None else {},
        )
        written = generation.run(examined.program)
        if self.author.memory is not None:
            self.author.memory.functions |= {one.name: Program.parse(one.source) for one in written}
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

    def _in_twin(
        self, prompt: Prompt, answer: Answer, state: State, twin: EngineRobot, trace: Trace
    ) -> Result:
        """Run a program on a twin of the robot, as it would run here."""
        assert answer.program is not None
        engine = self.copy_for(twin, trace)
        scope = engine.scope(prompt, state, answer.program)
        scope = replace(scope, definitions=(*scope.definitions, *answer.generated))
        return engine._execute(prompt, answer.program, scope, state.dropped)

    def copy_for(self, robot: EngineRobot, trace: Trace) -> Engine:
        """Return an engine like this one, at the same point, for another robot."""
        settings = replace(self.settings, approve=None, allow=None, repairs=self.repairs)
        engine = Engine(
            robot,
            self.model,
            self.prompts,
            self._function_prompt,
            sandbox=self.sandbox,
            trace=trace,
            settings=replace(settings, seed=self.seed),
            tally=self.tally,
            memory=self.author.memory,
        )
        engine.programs = self.programs
        for other in self.prompts.values():  # the twin's prompts describe the robot's own functions
            self.docs(other)
        engine._docs = self._docs
        return engine

    def _judged(self, rules: Rules, answer: Answer) -> Answer:
        """Return an attempt with its doubts; as failed if it can still be repaired.

        An order that changed nothing has failed in any case.
        """
        before = rules.before
        compared = before is not None and bool(before.positions or before.condition)
        if not answer.ran or answer.result.failure or not (compared or rules.goal):
            return answer
        try:
            now = Observation.of(self.robot)
        except RobotError:  # the session reports it when it looks at the world
            return answer
        effect = Effect.of(before or now, now, answer.result)
        failure, found = None, list[str]()
        if compared and before is not None:
            failure = left_as_it_was(rules.words, effect)
            if failure is None and self.settings.sampling.verify != "off":
                found += doubts(rules.words, before, now, effect, rules.moved_before)
        if failure is None and rules.goal is not None:
            verdict = rules.goal.says(self.robot)
            found += [NOT_SO] if verdict is False else []
            denied = rules.goal.denial(verdict)
            answer = replace(answer, accepted=verdict is True, denied=denied)
        if found and not rules.settled and rules.left.runtime and not explained(effect):
            rules.settled = True
            doubt = "; ".join([*found, f"it did this: {effect.detail}", "do all that was asked"])
            failure = Failure("value", DOUBTED, doubt)
        answer = replace(answer, doubts=tuple(found), seen=None if failure else now)
        return replace(answer, result=replace(answer.result, failure=failure))

    def _to_be_repaired(self, rules: Rules, prompt: Prompt, answer: Answer) -> bool:
        """Return whether one more attempt is to be made, and count it."""
        failure = answer.result.failure
        if failure is None or not self.author.repairs:
            return False
        sort = sort_of(failure, answer.last_calls, answer.ran)
        if not rules.left.left(sort):
            return False
        rules.left = rules.left.without(sort)
        if failure.error in (AnsweredInWords.__name__, UNCHANGED):  # these are said once
            runtime = 0 if failure.error == UNCHANGED else rules.left.runtime
            rules.left = replace(rules.left, static=0, runtime=runtime)
        self.trace.event(
            "repair",
            lmp=prompt.name,
            attempt=answer.attempts + 1,
            reason=reason_of(failure),
            source=answer.shown,
        )
        return True

    def _asked_again(
        self, prompt: Prompt, question: Question, answer: Answer, fixed: bool
    ) -> Question:
        """Return the question after a failed attempt: with its program, and why it failed."""
        failure, calls = answer.result.failure, answer.last_calls
        assert failure is not None
        kept = [name for name in answer.result.variables if name not in question.context.facts]
        note = note_of(
            *(failure, answer.shown, calls, prompt.header.returns), back=answer.back, kept=kept
        )
        turn = failed_turn(question.instruction, question.context.text, answer.shown, note)
        question = replace(question, history=(*question.history, turn))
        if failure.error == CutOff.__name__:
            question = question.with_more_room()
        if acted(calls) and not answer.back and not fixed:
            now = self.context(prompt)
            context = Context.of({**question.context.facts, **now.facts})
            pictures = self.look() if question.pictures else ()
            question = replace(question, context=context, pictures=pictures)
        return question

    def _rewound(self, world: Any) -> Any:
        """Restore a snapshot of the world; return a snapshot of how it was."""
        robot: Any = self.robot
        left = robot.snapshot()
        robot.restore(world)
        self.trace.event("rewound")
        return left

    def scope(
        self, prompt: Prompt, state: State | None = None, program: Program | None = None
    ) -> Scope:
        """Return what a prompt's programs may use.

        That is every function of the robot, actions if it has the right to act, and of the LMPs
        those that its hints name or its examples call.

        Args:
            prompt: The prompt.
            state: What a session remembers.
            program: The program, which may call functions as attributes of `robot`.
        """
        state = state or State()
        itself = prompt.name if prompt.name in self.prompts else None
        allowed = {
            name: primitive
            for name, primitive in self._primitives.items()
            if (primitive.kind != "action" or prompt.header.actions) and name != itself
        }
        named = {*prompt.hints, *prompt.called}
        seen = {
            name: primitive
            for name, primitive in allowed.items()
            if primitive.kind != "lmp" or name in named
        }
        shown = allowed if GROUP in prompt.hints or not prompt.hints else seen
        grouped = GROUP in prompt.hints
        if program is not None and GROUP not in state.variables and not program.sets(GROUP):
            grouped = grouped or f"{GROUP}." in program.source
        return Scope(
            primitives=shown,
            variables=state.variables,
            definitions=state.definitions,
            groups={GROUP: tuple(shown)} if grouped else {},
        )

    def docs(self, prompt: Prompt) -> str:
        """Return the docs of the functions a prompt's programs may call, for its model."""
        if not prompt.header.docs:
            return ""
        key = prompt.name, prompt.hints, prompt.header.actions
        if key not in self._docs:
            scope = self.scope(prompt)
            about = observation.about(self.robot)
            self._docs[key] = primitive_docs(about, hinted(prompt, scope), scope.groups)
        return self._docs[key]

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
        names = shown.facts.get(prompt.header.exact, ())
        words = one_line(description).removeprefix("all ").removeprefix("the ")
        if isinstance(names, list | tuple):  # a name, or all of a kind: no request is needed
            if words in names:
                return Answer(Result(words))
            ends = {name: str(name).split(" ")[-1] for name in names}
            alike = [name for name, noun in ends.items() if words in (f"{noun}s", f"{noun}es")]
            if "names" in prompt.header.kind and (alike or names == []):
                return Answer(Result(alike))
        left = {name: value for name, value in variables.items() if name not in shown.facts}
        state = State(variables=variables, given=value_lines(left))
        return self.run(prompt, description, shown, state, fixed=bool(context))

    def _execute(
        self, prompt: Prompt, program: Program, scope: Scope, dropped: Mapping[str, str]
    ) -> Result:
        header, returns = prompt.header, prompt.header.returns
        answers = returns is not None or bool(prompt.inferred)
        if answers and program.sets(RETURNED) and not program.sets(returns or ""):
            returns = RETURNED
        self.programs += 1
        seed = hashlib.blake2s(f"{self.seed} {self.programs}".encode(), digest_size=4).digest()
        progress = _Progress(self.trace)
        execute = partial(
            self.sandbox.execute,
            program,
            scope,
            returns=returns,
            keep=header.session,
            seed=int.from_bytes(seed, "little"),
            listeners=Listeners(
                progress.called, progress.line if self.trace.listeners else None, progress.printed
            ),
            robot=self.robot,
        )
        try:
            result = execute()
            lost = result.failure is not None and result.failure.kind == "killed"
            if lost and not acted(progress.calls):  # nothing was done yet
                self.trace.event("run_again", lmp=prompt.name, reason=str(result.failure))
                progress.chars = 0
                result = execute()
        except KeyboardInterrupt:
            return Result(failure=self._ended(), calls=tuple(progress.calls))
        if rest := result.stdout[progress.chars :]:
            progress.printed(rest)
        if result.failure is not None and header.session:
            return replace(result, failure=explain(result.failure, dropped))
        if result.failure is None and header.returns is not None:
            wrong = kind_error(result.value, header.kind)
            if (
                wrong is not None and result.value is None
            ):  # None is how the prompts say that there is none
                return replace(result, failure=Failure("value", NotFound.__name__, "there is none"))
            if wrong is not None:
                failure = Failure("value", "WrongKind", f"'{header.returns}': {wrong}")
                return replace(result, failure=failure)
        return result


def _left_by(state: State, answer: Answer) -> State:
    """Return a state with what a failed program set, where its world stays as well."""
    definitions = tuple(dict.fromkeys((*state.definitions, *answer.generated)))
    variables = {**state.variables, **answer.result.variables}
    return replace(state, variables=variables, definitions=definitions)


class _Progress:
    """What a program did so far, also of one that is stopped before its end."""

    def __init__(self, trace: Trace) -> None:
        self.calls: list[Call] = []
        self.chars = 0
        """How many characters of its output were reported; the turn's own event has all."""
        self._trace = trace
        self._at: dict[str, int] = {}

    def called(self, call: Call) -> None:
        """Record one call, with its line where that is known."""
        self.calls.append(call)
        self._trace.event("call", **vars(call), **self._at)

    def printed(self, text: str) -> None:
        """Report what the program prints to listeners."""
        self.chars += len(text)
        self._trace.progress("printed", text=text)

    def line(self, number: int) -> None:
        """Report which line of the program runs to listeners."""
        self._at = {"line": number}
        self._trace.progress("line", number=number)


class NestedLMP:
    """One LMP of an engine, as a function that the programs of others call."""

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
            variables: Plain data its programs see in addition to their keyword arguments.
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
        """Return the value to the program that waits for it.

        Raises:
            TypeError: The description is no text, or it takes no such keyword.
            NotFound: The LMP says that there is none.
            LMPFailed: There is no value; `failure` has the reason.
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
            raise NotFound(f"{called}: {failure.message}")
        if failure is not None:
            raise lmp_failed(called, failure)
        return answer.result.value
