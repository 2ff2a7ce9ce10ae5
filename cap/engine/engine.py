"""The engine: one instruction walks from prompt to result, and so does every LMP it calls.

    prompt -> completion -> program -> check -> generated functions -> sandbox -> value

An LMP called from inside a program is a primitive whose body, here in the parent, walks the same
road with a worker of its own while the outer program waits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cap.checker.checker import Examination, examine
from cap.engine.answer import (
    Answer,
    Approve,
    EngineRobot,
    State,
    joined,
    told_attempt,
    unanswered,
    with_note,
)
from cap.engine.approval import Allow, Gate
from cap.engine.failures import explain, failure_of, lmp_failed, unfit
from cap.engine.generation import Generation, GenerationLimits, kept_for, refused
from cap.engine.literal import assignments
from cap.engine.question import Author, CutOff, Memory, Question, Tally, program_of
from cap.engine.rehearsal import Rehearsal, Rehearse
from cap.engine.repair import (
    ANSWER_AGAIN,
    Repairs,
    acted,
    blamed,
    failed_turn,
    note_of,
    reason_of,
    sort_of,
    told,
)
from cap.engine.return_kinds import kind_error
from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, LMPFailed, NotFound, PromptError
from cap.models.base import Model
from cap.program.program import AnsweredInWords, Program
from cap.prompt.docs import primitive_docs
from cap.prompt.given import told_values
from cap.prompt.prompt import PastTurn, Prompt, one_line, parse_context, render_context
from cap.result import Call, Failure, Result
from cap.robot import robot_facts
from cap.robot.protocol import Rewindable
from cap.sandbox.sandbox import Sandbox
from cap.scope import Definition, Primitive, Scope
from cap.trace.trace import Trace

__all__ = ["Answer", "Approve", "Engine", "EngineRobot", "State", "failure_of"]

MAX_NESTING = 6
"""How deep LMPs may call LMPs."""
INTERRUPTED = Failure("interrupted", "Interrupted", "stopped by Ctrl-C")


def unhinted(prompt: Prompt) -> Prompt:
    """Return a prompt whose programs see every primitive and LMP: for those a person wrote."""
    return replace(prompt, hints=())


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
        seed: int = 0,
        approve: Approve | None = None,
        budget: GenerationLimits | None = None,
        repairs: Repairs | None = None,
        tally: Tally | None = None,
        rehearsal: Rehearsal | None = None,
        allow: Allow | None = None,
        memory: Memory | None = None,
    ) -> None:
        """Set up the road.

        Args:
            robot: Whose functions programs may call.
            model: What writes programs.
            prompts: The LMPs, by name.
            function_prompt: Asks for one function.
            sandbox: Where programs run.
            trace: Where events go.
            seed: Start of all random numbers inside programs.
            approve: Shown each complete program before it moves anything.
            budget: How many functions may be generated for one program.
            repairs: How often a program may be written again; on hardware by default never for
                what fails while it runs.
            tally: Counts completions, also those of other engines that share it.
            rehearsal: Has each program run in a twin of the robot first.
            allow: Shown each call that moves the robot before it does.
            memory: Answers that LMPs a program calls need not ask for again; until something
                fails, all that went well.
        """
        self.robot = robot
        self.model = model
        self.prompts = prompts
        self.sandbox = sandbox
        self.trace = trace
        self.gate = Gate(robot, trace, approve, allow, rehearsal)
        self.repairs = repairs or Repairs(runtime=Repairs.runtime if robot.simulated else 0)
        self.seed = seed
        self.programs = 0
        """Programs run so far; each has random numbers of its own, by its number."""
        self.tally = tally or Tally()
        limits = budget or GenerationLimits()
        self.author = Author(model, trace, self.tally, limits.answer_tokens, memory)
        self._function_prompt = function_prompt
        self._docs: dict[tuple[object, ...], str] = {}
        self._asked: dict[tuple[str, str], tuple[str, Answer]] = {}
        """What LMPs answered in this turn, by LMP and words, with the context they were shown."""
        self._objections: dict[tuple[str, str], tuple[PastTurn, ...]] = {}
        """Those of their answers that could not be used, each with the reason."""
        self._budget = budget
        own = {name: self.gate.asking(entry) for name, entry in robot.primitives().items()}
        self._primitives = {**own, **self._lmp_primitives()}

    def run(
        self,
        prompt: Prompt,
        instruction: str,
        context: str = "",
        state: State | None = None,
        *,
        fixed: bool = False,
        world: Any = None,
    ) -> Answer:
        """Have a program written for an instruction and run it; repair it if need be.

        Args:
            prompt: The LMP.
            instruction: The person's words, or a program's.
            context: Assignment lines shown above them.
            state: What a session remembers.
            fixed: The context is the caller's own; else an attempt that acted before it failed
                has the facts in it read again.
            world: A snapshot of a simulated robot's world as it is now: a program that fails while
                it runs goes back there before it is repaired. None leaves the world as it is.
        """
        mark = self.tally.mark()
        answer = self._attempts(prompt, instruction, context, state or State(), fixed, world)
        return replace(answer, usage=self.tally.since(mark))

    def run_program(self, prompt: Prompt, program: Program, state: State) -> Answer:
        """Check, complete and run a program in a prompt's scope; it is not repaired."""
        mark = self.tally.mark()
        scope = self.scope(prompt, state)
        examined = examine(program, scope, self.sandbox.policy)
        answer = self._walk(prompt, examined, scope, state)
        if answer.result.failure is not None:
            self.author.forget()
        return replace(answer, usage=self.tally.since(mark))

    def _attempts(
        self, prompt: Prompt, instruction: str, context: str, state: State, fixed: bool, world: Any
    ) -> Answer:
        """Try, and try again as long as a repair is left and changes something."""
        outermost = not self.trace.depth
        left = self.repairs if outermost else self.repairs.nested(prompt.header.actions)
        if outermost:
            self._asked, self._objections = {}, {}
        history = (*state.history, *self._objections.get((prompt.name, instruction), ()))
        order = Question(instruction, context, history, state.hints, self.docs(prompt), state.given)
        answer = self._attempt(prompt, order, state)
        assert answer is not None
        ended: tuple[Answer, Any] | None = None  # a failed attempt that ran, and its world
        while (failure := answer.result.failure) is not None and self.author.repairs:
            calls = answer.last_calls
            sort = sort_of(failure, calls, answer.ran)
            if sort is None or not left.allow(sort):
                break
            left = left.without(sort)
            if failure.error == AnsweredInWords.__name__:  # told once how to speak
                left = replace(left, static=0)
            self._announce(prompt, answer, failure)
            same = None
            try:
                if answer.ran and acted(calls) and self._rewinds(world):
                    ended = answer, self.robot.snapshot()  # type: ignore[attr-defined]
                    self._rewind(world)
                    answer = replace(answer, back=True)
                    same = answer if self._object(calls) else None
                elif acted(calls):
                    state = replace(
                        state,
                        variables={**state.variables, **answer.result.variables},
                        definitions=tuple(dict.fromkeys((*state.definitions, *answer.generated))),
                    )
                if same is None:
                    order = self._again(prompt, order, answer, fixed)
                after = self._attempt(prompt, order, state, answer.written, same)
            except KeyboardInterrupt:
                if self.trace.depth:
                    raise
                stop_signals.taken()
                answer = replace(answer, result=replace(answer.result, failure=INTERRUPTED))
                break
            if after is None:
                answer = replace(answer, attempts=answer.attempts + 1)
                break
            if unanswered(after):
                answer = with_note(answer, after)
                break
            answer = joined(answer, after, instruction)
            ended = None if after.ran else ended
        if not outermost and answer.program is not None:
            self._asked[prompt.name, instruction] = (context, answer)
        if answer.result.failure is None or not self._rewinds(world):
            return answer
        return self._left(answer, ended, world, instruction)

    def _again(self, prompt: Prompt, order: Question, answer: Answer, fixed: bool) -> Question:
        """Return the question after a failed attempt: with its program, and why it failed."""
        failure, calls = answer.result.failure, answer.last_calls
        assert failure is not None
        facts = parse_context(order.context)
        kept = [name for name in answer.result.variables if name not in facts]
        note = note_of(
            failure, answer.shown, calls, prompt.header.returns, back=answer.back, kept=kept
        )
        turn = failed_turn(order.instruction, order.context, answer.shown, note)
        order = replace(order, history=(*order.history, turn))
        if failure.error == CutOff.__name__:
            order = order.with_more_room()
        if acted(calls) and not answer.back and not fixed:
            order = replace(order, context=self._reread(prompt, order.context))
        return order

    def _left(
        self, answer: Answer, ended: tuple[Answer, Any] | None, world: Any, words: str
    ) -> Answer:
        """Leave the world as the last failed program that ran left it, or take that back too."""
        if self.repairs.undo:
            if answer.ran:
                self._rewind(world)
            return replace(answer, back=True)
        if ended is None:
            return answer
        failed, its_world = ended
        self._rewind(its_world)
        if answer.ran:  # it is that program, and no other followed
            return replace(answer, back=False)
        return replace(answer, failed=(*answer.failed, told_attempt(failed, words)))

    def _rewinds(self, world: Any) -> bool:
        """Tell whether a world can be put back."""
        simulated = self.robot.simulated and isinstance(self.robot, Rewindable)
        return world is not None and simulated

    def _rewind(self, world: Any) -> None:
        """Put the world back to a snapshot of it."""
        assert isinstance(self.robot, Rewindable)
        self.robot.restore(world)
        self.trace.event("rewound")

    def _object(self, calls: Sequence[Call]) -> bool:
        """Note that an LMP's points could not be used, for when it is asked again.

        Returns:
            True if it is the first time: the program itself may stay as it is.
        """
        call = blamed(calls)
        key = (call.name, str(call.args[0])) if call is not None and call.args else None
        if key is None or key not in self._asked or key in self._objections:
            return False
        context, answer = self._asked[key]
        note = f"{told(calls[-1])}; {ANSWER_AGAIN}"
        self._objections[key] = (failed_turn(key[1], context, answer.written, note),)
        self.author.recall()
        return True

    def _announce(self, prompt: Prompt, answer: Answer, failure: Failure) -> None:
        """Write down that a program is about to be repaired, and why."""
        self.trace.event(
            "repair",
            lmp=prompt.name,
            attempt=answer.attempts + 1,
            reason=reason_of(failure),
            source=answer.shown,
        )

    def _attempt(
        self,
        prompt: Prompt,
        order: Question,
        state: State,
        before: str | None = None,
        again: Answer | None = None,
    ) -> Answer | None:
        """Ask the model once, and run what it wrote; None if it wrote the same as before.

        Args:
            prompt: Whose program is asked for.
            order: With what.
            state: What a session remembers.
            before: The program of the attempt before.
            again: An attempt whose program is run again, and not asked for.
        """
        text = ""
        try:
            facts = parse_context(order.context)
            if again is None:
                completion = self.author.ask(prompt, order)
                text = completion.text
                program = program_of(completion, prompt)
            else:
                assert again.program is not None
                text, program = again.completion, again.program
        except CapError as error:
            refused = Answer(Result(failure=failure_of(error)), completion=text)
            self.author.forget()
            same = text and text == before and not isinstance(error, CutOff)
            return None if same else refused
        state = replace(state, variables={**state.variables, **facts})
        scope = self.scope(prompt, state)
        examined = examine(program, scope, self.sandbox.policy)
        if examined.program.source == before and again is None:
            return None
        walked = self._walk(prompt, examined, scope, state, order.instruction)
        answer = replace(walked, completion=text)
        failure = answer.result.failure
        if failure is None and before is None and answer.program is examined.program:
            self.author.remember(prompt, order, completion)
        elif failure is not None:
            self.author.forget()
        if failure is None or failure.kind != "undefined" or self.author.repairs:
            return answer
        return replace(answer, result=replace(answer.result, failure=unfit(failure)))

    def _walk(
        self, prompt: Prompt, examined: Examination, scope: Scope, state: State, words: str = ""
    ) -> Answer:
        """Take a program the rest of the way: complete it, have it approved, run it.

        Args:
            prompt: Whose program it is.
            examined: The program, as the check sees it.
            scope: What it may use.
            state: What a session remembers.
            words: The instruction it was written for; "" of a person's own.
        """
        program = examined.program
        try:
            generated = self._generate(prompt, examined, scope, state, words)
        except CapError as error:
            failed = Answer(Result(failure=failure_of(error)), program)
            return self._show(prompt, failed, state)
        complete = Answer(Result(), program, generated, tuple(kept_for(program, scope, generated)))
        while True:
            answer = self._show(prompt, complete, state)
            word = self.gate.word(prompt, answer, self._in_twin(prompt, answer, state))
            if not isinstance(word, str):
                break
            edited = self._edited(prompt, word, scope, state)
            failure = edited.result.failure
            if failure is None or sort_of(failure, (), edited.ran) != "static":
                return edited
            self.trace.event("edit_refused", **vars(failure))  # it may be edited once more
        if word is not None:
            return replace(answer, result=Result(failure=word))
        if generated:
            scope = replace(scope, definitions=(*scope.definitions, *generated))
        result = self._execute(prompt, program, scope, state.dropped)
        return replace(answer, result=result, ran=True)

    def _edited(self, prompt: Prompt, source: str, scope: Scope, state: State) -> Answer:
        """Take what a person wrote in a program's place the same way; they are asked again."""
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
        generation = Generation(
            self.author,
            self._function_prompt,
            scope,
            self.sandbox.policy,
            limits=self._budget,
            unavailable=unavailable,
            docs=self.docs(prompt),
            words=words,
        )
        return generation.run(examined.program)

    def _show(self, prompt: Prompt, answer: Answer, state: State) -> Answer:
        """Write down a complete program, also one that was refused, and show it.

        Its file can be run alone: what it reads of earlier turns stands at its top.
        """
        assert answer.program is not None
        source = answer.source
        if self.trace.folder is not None:
            facts = prompt.header.context  # whoever runs the file is told these anew
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
        return answer

    def _in_twin(self, prompt: Prompt, answer: Answer, state: State) -> Rehearse:
        """Return what carries a program out on a twin, as it would be here."""

        def rehearse(twin: EngineRobot, trace: Trace) -> Result:
            assert answer.program is not None
            engine = self._copy(twin, trace)
            scope = engine.scope(prompt, state)
            scope = replace(scope, definitions=(*scope.definitions, *answer.generated))
            return engine._execute(prompt, answer.program, scope, state.dropped)

        return rehearse

    def _copy(self, robot: EngineRobot, trace: Trace) -> Engine:
        """Return an engine like this one, at the same point, for another robot."""
        engine = Engine(
            robot,
            self.model,
            self.prompts,
            self._function_prompt,
            sandbox=self.sandbox,
            trace=trace,
            seed=self.seed,
            budget=self._budget,
            repairs=self.repairs,
            tally=self.tally,
            memory=self.author.memory,
        )
        engine.programs = self.programs
        for other in self.prompts.values():  # the twin is told of the robot's own functions
            self.docs(other)
        engine._docs = self._docs
        return engine

    def scope(self, prompt: Prompt, state: State | None = None) -> Scope:
        """Return what a prompt's programs may use: what its hints name, and no more."""
        state = state or State()
        itself = prompt.name if prompt.name in self.prompts else None
        allowed = {
            name: primitive
            for name, primitive in self._primitives.items()
            if (primitive.kind != "action" or prompt.header.actions) and name != itself
        }
        groups = {"robot": tuple(allowed)} if "robot" in prompt.hints else {}
        hinted = {name: allowed[name] for name in prompt.hints if name in allowed}
        return Scope(
            primitives=allowed if groups or not prompt.hints else hinted,
            variables=state.variables,
            definitions=state.definitions,
            groups=groups,
        )

    def docs(self, prompt: Prompt) -> str:
        """Return what the functions do that a prompt's programs may call, for its model to read."""
        if not prompt.header.docs:
            return ""
        key = prompt.name, prompt.hints, prompt.header.actions
        if key not in self._docs:
            scope = self.scope(prompt)
            about = robot_facts.about(self.robot)
            self._docs[key] = primitive_docs(about, scope.primitives, scope.groups)
        return self._docs[key]

    def context(self, prompt: Prompt, given: Mapping[str, Any] | None = None) -> str:
        """Return the context lines a prompt asks for, from the robot as it is now.

        Args:
            prompt: What asks.
            given: Facts by name that come before the robot's own.

        Raises:
            PromptError: It asks for a fact nobody knows.
        """
        if not prompt.header.context:
            return ""
        facts = {**robot_facts.facts(self.robot), **(given or {})}
        if lacking := [name for name in prompt.header.context if name not in facts]:
            raise PromptError(
                f"prompt '{prompt.name}' asks for context {lacking}, which nobody gives; "
                f"known: {sorted(facts)}"
            )
        return render_context({name: facts[name] for name in prompt.header.context})

    def _reread(self, prompt: Prompt, context: str) -> str:
        """Return context lines with the facts a prompt asks for as they are now."""
        now = parse_context(self.context(prompt, {}))
        return render_context({**parse_context(context), **now}) if now else context

    def _lmp_primitives(self) -> dict[str, Primitive]:
        """Return every prompt that returns a value as a function programs may call."""
        return {
            name: Primitive.of(self.caller(prompt), "lmp", name)
            for name, prompt in self.prompts.items()
            if prompt.header.returns is not None
        }

    def caller(
        self, prompt: Prompt, variables: Mapping[str, Any] | None = None
    ) -> Callable[..., Any]:
        """Return an LMP as a function for other programs.

        Args:
            prompt: The LMP.
            variables: Plain data its programs see besides their keyword arguments.
        """

        def call(description: str, context: str = "", **given: Any) -> Any:
            if not isinstance(description, str) or not isinstance(context, str):
                raise TypeError(f"{prompt.name}() takes a description in words (a string)")
            return self._nested(prompt, description, context, {**(variables or {}), **given})

        said = prompt.header.doc
        kinds = " or ".join(kind for kind in prompt.header.kind if kind != "any")
        call.__doc__ = said or (f"Return {kinds} for a description." if kinds else "")
        return call

    def answer(
        self, prompt: Prompt, description: str, context: str, variables: Mapping[str, Any]
    ) -> Answer:
        """Run an LMP for a caller: context as given, or what its prompt asks for.

        Raises:
            PromptError: It asks for a fact nobody knows.
        """
        shown = context or self.context(prompt, variables)
        facts = parse_context(shown)
        names = facts.get(prompt.header.exact, ())
        words = one_line(description).removeprefix("the ")
        if words in names and isinstance(names, list | tuple):  # nobody need be asked
            return Answer(Result(words))
        told = {name: value for name, value in variables.items() if name not in facts}
        state = State(variables=variables, given=told_values(told))
        return self.run(prompt, description, shown, state, fixed=bool(context))

    def _nested(
        self, prompt: Prompt, description: str, context: str, variables: Mapping[str, Any]
    ) -> Any:
        called = f"{prompt.name}({description!r})"
        if self.trace.depth >= MAX_NESTING:
            raise LMPFailed(f"{called}: LMPs call each other too deep")
        with self.trace.nested():
            self.trace.event("instruction", lmp=prompt.name, text=description)
            try:
                answer = self.answer(prompt, description, context, variables)
            except PromptError as error:
                raise LMPFailed(f"{called}: {error}") from None
        failure = answer.result.failure
        if failure is not None and failure.error == NotFound.__name__ and not failure.robot:
            raise NotFound(f"{called}: {failure.message}")
        if failure is not None:
            raise lmp_failed(called, failure)
        return answer.result.value

    def _execute(
        self, prompt: Prompt, program: Program, scope: Scope, dropped: Mapping[str, str]
    ) -> Result:
        header = prompt.header
        self.programs += 1
        seed = hashlib.blake2s(f"{self.seed} {self.programs}".encode(), digest_size=4).digest()
        calls: list[Call] = []

        def on_call(call: Call) -> None:
            calls.append(call)
            self.trace.event("call", **vars(call))

        try:
            result = self.sandbox.execute(
                program,
                scope,
                returns=header.returns,
                keep=header.session,
                seed=int.from_bytes(seed, "little"),
                on_call=on_call,
                robot=self.robot,
            )
        except KeyboardInterrupt:
            if self.trace.depth:  # the outer program ends as well
                raise
            stop_signals.taken()
            return Result(failure=INTERRUPTED, calls=tuple(calls))
        if result.failure is not None and header.session:
            return replace(result, failure=explain(result.failure, dropped))
        if result.failure is None and header.returns is not None:
            wrong = kind_error(result.value, header.kind)
            if wrong is not None and result.value is None:  # said on purpose, by the prompts' form
                return replace(result, failure=Failure("value", NotFound.__name__, "there is none"))
            if wrong is not None:
                failure = Failure("value", "WrongKind", f"'{header.returns}': {wrong}")
                return replace(result, failure=failure)
        return result
