"""The engine: one instruction walks from prompt to result, and so does every LMP it calls.

    prompt -> completion -> program -> check -> generated functions -> sandbox -> value

An LMP called from inside a program is a primitive whose body, here in the parent, walks the same
road with a worker of its own while the outer program waits.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cap.checker.checker import Examination, examine
from cap.engine.answer import Answer, Approve, EngineRobot, State
from cap.engine.approval import Gate
from cap.engine.attempts import Attempts, interrupted
from cap.engine.best_of import BestOf
from cap.engine.effect import WorldView
from cap.engine.failures import explain, failure_of, unfit
from cap.engine.function_generation import Generation, kept_for, refused
from cap.engine.goal import GOAL, GoalCheck
from cap.engine.idle_program import did_nothing
from cap.engine.literal import assignments
from cap.engine.memory import Memory
from cap.engine.nested_lmp import NestedLMP
from cap.engine.question import Author, CutOff, Question, Tally, program_of
from cap.engine.rehearsal import Rehearsal
from cap.engine.repair import ANSWER_AGAIN, Repairs, acted, bent, blamed, failed_turn, sort_of, told
from cap.engine.return_kinds import kind_error
from cap.engine.settings import EngineSettings
from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, NotFound, RobotError
from cap.models.base import Completion, Model
from cap.program.program import Program
from cap.program.scope import Definition, Primitive, Scope
from cap.prompt.context import Context
from cap.prompt.docs import imports, primitive_docs
from cap.prompt.given import told_values
from cap.prompt.prompt import PastTurn, Prompt, one_line
from cap.result import Call, Failure, Result
from cap.robot import robot_facts
from cap.robot.protocol import Rewindable
from cap.sandbox.limits import Listeners
from cap.sandbox.sandbox import Sandbox
from cap.trace.trace import Trace

_NO_TRIALS = (
    "can neither go back to a snapshot of its world nor be rehearsed in a twin, so no program can "
    "be tried: one is written and carried out"
)
LOOK_PX = 480
"""Width and height of the picture a model is sent."""

__all__ = ["Answer", "Approve", "Engine", "EngineRobot", "State", "failure_of"]


def unhinted(prompt: Prompt) -> Prompt:
    """Return a prompt whose programs see every primitive and LMP: for those a person wrote."""
    return replace(prompt, hints=())


def hinted(prompt: Prompt, scope: Scope) -> Mapping[str, Primitive]:
    """Return the functions a prompt's model reads about: those its hints name, else all."""
    if scope.groups or not prompt.hints:
        return scope.primitives
    return {name: scope.primitives[name] for name in prompt.hints if name in scope.primitives}


def _plurals(name: object) -> tuple[str, ...]:
    """Return what several things of a kind are called by one thing's name: `blocks`, `boxes`."""
    noun = str(name).split(" ")[-1]
    return f"{noun}s", f"{noun}es"


RETURNED = "ret_val"
"""What programs of the original prompts answer in: read wherever the prompt's own is not set."""


@dataclass
class Objection:
    """An LMP's answer that could not be used, and what came of the next one."""

    reason: str
    turn: PastTurn
    """The answer with the reason, as the LMP is shown it."""
    points: Any
    bent: str = ""
    """How the next answer's points differ."""


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
        """Set up the road.

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
        tokens, heed = settings.budget.answer_tokens, self._heed_stop
        self.author = Author(model, trace, self.tally, tokens, memory, heed)
        self._function_prompt = function_prompt
        self._docs: dict[tuple[object, ...], str] = {}
        self._asked: dict[tuple[str, str], tuple[Context, Answer]] = {}
        """What LMPs answered in this turn, by LMP and words, with the context they were shown."""
        self._objections: dict[tuple[str, str], Objection] = {}
        """Those of their answers that could not be used."""
        own = {name: self.gate.asking(entry) for name, entry in robot.primitives().items()}
        self._primitives = {**own, **self._lmp_primitives()}
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
        world: Any = None,
        expect: Sequence[str] = (),
        seen: tuple[bytes, ...] = (),
        view: WorldView | None = None,
        moved_before: Sequence[str] = (),
        goal: GoalCheck | None = None,
    ) -> Answer:
        """Have a program written for an instruction and run it; repair it if need be.

        Args:
            prompt: The LMP.
            instruction: The person's words, or a program's.
            context: The facts shown above them; none by default.
            state: What a session remembers.
            fixed: The context is the caller's own; else an attempt that acted before it failed
                has the facts in it read again.
            world: A snapshot of a simulated robot's world as it is now: a program that fails while
                it runs goes back there before it is repaired. None leaves the world as it is.
            expect: The effect by which one of several programs is chosen, in words of
                `cap.result.EFFECTS`.
            seen: Earlier pictures of the scene, sent before the present one.
            view: The world before the turn: an order that leaves it so is not done.
            moved_before: What the turn before it moved, for "the other one".
            goal: The instruction's goal check, if it was asked for before.
        """
        mark, shown, state = self.tally.mark(), context or Context(), state or State()
        outermost = not self.trace.depth
        if outermost:
            self._asked, self._objections = {}, {}
        objection = self._objections.get((prompt.name, instruction))
        history = state.history if objection is None else (*state.history, objection.turn)
        robot, goes_back = self.robot, world is not None and self.robot.simulated
        order = Question(
            *(instruction, shown, history, state.hints, self.docs(prompt), state.given),
            pictures=(*seen, *self.look()) if outermost else (),
        )
        sampling, best_of = self.settings.sampling, None
        tries = outermost and sampling.samples > 1 and self._can_try(world)
        if goal is None and outermost and (sampling.verify == GOAL or (tries and sampling.goal)):
            try:
                goal = self.goal_check(instruction, view)
            except RobotError as error:
                return Answer(Result(failure=replace(failure_of(error), robot=True)))
        if tries:
            present = world if self.robot.simulated else None
            best_of = BestOf(self, prompt, order, state, expect, present, goal, moved_before)
        answer = Attempts(
            self,
            prompt,
            order,
            state,
            left=self.repairs if outermost else self.repairs.nested(prompt.header.actions),
            fixed=fixed,
            rewindable=robot if goes_back and isinstance(robot, Rewindable) else None,
            world=world,
            best_of=best_of,
            view=view if self.author.repairs else None,
            moved_before=moved_before,
            goal=goal if sampling.verify == GOAL and view is not None else None,
        ).run()
        answer = answer if best_of is None else best_of.judged(answer)
        if not outermost and answer.program is not None:
            self._asked[prompt.name, instruction] = (shown, answer)
        if objection is not None and answer.result.failure is None:
            objection.bent = bent(objection.points, answer.result.value)
        if outermost:
            differ = {words: each.bent for (_, words), each in self._objections.items()}
            bends = (f"{words!r}, asked for again: {how}" for words, how in differ.items() if how)
            answer = replace(answer, bent=tuple(bends))
        return replace(answer, usage=self.tally.since(mark), by_lmp=self.tally.by_lmp(mark))

    def _can_try(self, world: Any) -> bool:
        """Tell whether programs can be tried in the present world, and write down if not."""
        rewinds = world is not None and isinstance(self.robot, Rewindable) and self.robot.simulated
        if rewinds or self.gate.rehearsal is not None:
            return True
        told = f"robot '{getattr(self.robot, 'name', '?')}' {_NO_TRIALS}"
        self.trace.event("untried", reason=told)
        return False

    def goal_check(self, words: str, view: WorldView | None = None) -> GoalCheck | None:
        """Have an instruction's goal check written; None for a robot that has no prompt for it.

        Args:
            words: The instruction.
            view: The world as it is, where it was looked at.

        Raises:
            RobotError: The world cannot be seen.
        """
        if GOAL not in self.prompts:
            return None
        return GoalCheck(self, words, view or WorldView.of(self.robot))

    def objection(self, prompt: Prompt, description: str) -> str:
        """Return why an LMP's first answer to these words could not be used; "" if it could."""
        found = self._objections.get((prompt.name, description))
        return "" if found is None else found.reason

    def use_model(self, model: Model) -> None:
        """Have another model write programs from here on."""
        tokens, memory = self.settings.budget.answer_tokens, self.author.memory
        self.model = model
        self.author = Author(model, self.trace, self.tally, tokens, memory, self._heed_stop)

    def _heed_stop(self) -> None:
        """End the wait for a model as that for the robot ends."""
        self.sandbox.robot_thread.heed_stop()

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
        scope = self.scope(prompt, state)
        examined = examine(program, scope, self.sandbox.policy)
        answer = self._walk(prompt, examined, scope, state)
        if answer.result.failure is not None:
            self.author.forget()
        return replace(answer, usage=self.tally.since(mark), by_lmp=self.tally.by_lmp(mark))

    def object_to_points(self, calls: Sequence[Call]) -> bool:
        """Note that an LMP's points could not be used, for when it is asked again.

        Returns:
            True if it is the first time: the program itself may stay as it is.
        """
        call = blamed(calls)
        if call is None or not call.args:
            return False
        key = call.name, str(call.args[0])
        if key not in self._asked or key in self._objections:
            return False
        context, answer = self._asked[key]
        reason = told(calls[-1])
        note = f"{reason}; {ANSWER_AGAIN.format(returns=self.prompts[key[0]].header.returns)}"
        turn = failed_turn(key[1], context.text, answer.written, note)
        self._objections[key] = Objection(reason, turn, call.result)
        if self.author.memory is not None:
            self.author.memory.recall()
        return True

    def attempt(
        self,
        prompt: Prompt,
        order: Question,
        state: State,
        before: str | None = None,
        again: Answer | None = None,
        given: Completion | None = None,
    ) -> Answer | None:
        """Ask the model once, and run what it wrote; None if it wrote the same as before.

        Args:
            prompt: Whose program is asked for.
            order: With what.
            state: What a session remembers.
            before: The program of the attempt before.
            again: An attempt whose program is run again, and not asked for.
            given: The model's answer, where it was asked before.
        """
        text = ""
        try:
            if again is not None:
                assert again.program is not None
                text, program = again.completion, again.program
            else:
                completion = given or self.author.ask(prompt, order)
                text = completion.text
                program = program_of(completion, prompt)
        except CapError as error:
            refused = Answer(Result(failure=failure_of(error)), completion=text)
            self.author.forget()
            same = text and text == before and not isinstance(error, CutOff)
            return None if same else refused
        state = replace(state, variables={**state.variables, **order.context.facts})
        scope = self.scope(prompt, state)
        examined = examine(program, scope, self.sandbox.policy)
        if examined.program.source == before and again is None:
            return None
        walked = self._walk(prompt, examined, scope, state, order.instruction)
        answer = replace(walked, completion=text)
        failure = answer.result.failure
        tells = prompt.header.actions and prompt.header.returns is None and not state.goes_on
        if failure is None and tells:
            failure = did_nothing(answer.result, state, self._answered_in, order.instruction)
            answer = replace(answer, result=replace(answer.result, failure=failure))
        asked = again is None and given is None
        if failure is None and before is None and asked and answer.program is examined.program:
            self.author.prove(prompt, order, completion)
        elif failure is not None:
            self.author.forget()
        if failure is None or failure.kind != "undefined" or not self.author.by_example:
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
            word = self.gate.word(prompt, answer, partial(self._in_twin, prompt, answer, state))
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

    def _in_twin(
        self, prompt: Prompt, answer: Answer, state: State, twin: EngineRobot, trace: Trace
    ) -> Result:
        """Carry a program out on a twin of the robot, as it would be here."""
        assert answer.program is not None
        engine = self.copy_for(twin, trace)
        scope = engine.scope(prompt, state)
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
        for other in self.prompts.values():  # the twin is told of the robot's own functions
            self.docs(other)
        engine._docs = self._docs
        return engine

    def scope(self, prompt: Prompt, state: State | None = None) -> Scope:
        """Return what a prompt's programs may use.

        That is every function of the robot, actions if it has the right to act, and of the LMPs
        those that its hints name or its examples call.
        """
        state = state or State()
        itself = prompt.name if prompt.name in self.prompts else None
        allowed = {
            name: primitive
            for name, primitive in self._primitives.items()
            if (primitive.kind != "action" or prompt.header.actions) and name != itself
        }
        groups = {"robot": tuple(allowed)} if "robot" in prompt.hints else {}
        named = {*prompt.hints, *prompt.called}
        seen = {
            name: primitive
            for name, primitive in allowed.items()
            if primitive.kind != "lmp" or name in named
        }
        return Scope(
            primitives=allowed if groups or not prompt.hints else seen,
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
            shown = hinted(prompt, scope)
            self._docs[key] = primitive_docs(about, shown, scope.groups)
        return self._docs[key]

    def context(self, prompt: Prompt, given: Mapping[str, Any] | None = None) -> Context:
        """Return the context a prompt asks for, from the robot as it is now.

        Args:
            prompt: What asks.
            given: Facts by name that come before the robot's own.

        Raises:
            PromptError: It asks for a fact nobody knows.
        """
        if not prompt.header.context:
            return Context()
        return prompt.context_of({**robot_facts.facts(self.robot), **(given or {})})

    def _lmp_primitives(self) -> dict[str, Primitive]:
        """Return every prompt that returns a value as a function programs may call."""
        return {
            name: NestedLMP(self, prompt).primitive()
            for name, prompt in self.prompts.items()
            if prompt.header.returns is not None and name != GOAL
        }

    def answer(
        self, prompt: Prompt, description: str, context: str, variables: Mapping[str, Any]
    ) -> Answer:
        """Run an LMP for a caller: context as given, or what its prompt asks for.

        Raises:
            PromptError: It asks for a fact nobody knows.
        """
        shown = Context.read(context) if context else self.context(prompt, variables)
        names = shown.facts.get(prompt.header.exact, ())
        words = one_line(description).removeprefix("all ").removeprefix("the ")
        if words in names and isinstance(names, list | tuple):  # nobody need be asked
            return Answer(Result(words))
        if "names" in prompt.header.kind and isinstance(names, list | tuple):
            alike = [name for name in names if words in _plurals(name)]
            if alike or names == []:  # all of a kind, or nothing is there, of whatever kind
                return Answer(Result(alike))
        told = {name: value for name, value in variables.items() if name not in shown.facts}
        state = State(variables=variables, given=told_values(told))
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
        calls: list[Call] = []
        lines: list[int] = []
        printed: list[str] = []
        listeners = Listeners(
            partial(self._called, calls, lines),
            partial(self._tell_line, lines) if self.trace.listeners else None,
            partial(self._tell_printed, printed),
        )
        execute = partial(
            self.sandbox.execute,
            program,
            scope,
            returns=returns,
            keep=header.session,
            seed=int.from_bytes(seed, "little"),
            listeners=listeners,
            robot=self.robot,
        )
        try:
            result = execute()
            lost = result.failure if result.failure and result.failure.kind == "killed" else None
            if lost is not None and not acted(calls):  # nothing was done: once more
                self.trace.event("run_again", lmp=prompt.name, reason=str(lost))
                printed.clear()
                result = execute()
        except KeyboardInterrupt:
            if self.trace.depth:  # the outer program ends as well
                raise
            stop_signals.taken()
            return Result(failure=interrupted(), calls=tuple(calls))
        if rest := result.stdout[sum(map(len, printed)) :]:
            self._tell_printed(printed, rest)
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

    def _called(self, calls: list[Call], lines: list[int], call: Call) -> None:
        """Take down one call: also of a program that is stopped before it has a result."""
        calls.append(call)
        at = {"line": lines[-1]} if lines else {}
        self.trace.event("call", **vars(call), **at)

    def _tell_printed(self, printed: list[str], text: str) -> None:
        """Tell who watches what the program prints; the turn's own event has all of it."""
        printed.append(text)
        self.trace.progress("printed", text=text)

    def _tell_line(self, lines: list[int], line: int) -> None:
        """Tell who watches which line of the program runs."""
        lines[:] = [line]
        self.trace.progress("line", number=line)
