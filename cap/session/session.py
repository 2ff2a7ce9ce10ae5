"""A session: one robot, one model, instructions one after the other.

Example:
    with Session.open("ravens", model="nearest", seed=0) as session:
        turn = session.run("put the red block in the blue bowl")

The session keeps what the robot's own LMP (`ui`) left bound: plain data, and functions as source. A
turn that fails changes none of it; what it did to the world stays, and the history says so. In a
run folder the session is written down after each turn, and `Session.resume` goes on from there.
What programs ask an LMP twice in the same words and context is answered from memory, until
something fails or is undone.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cap.checker.library_arguments import require
from cap.engine.answer import NOTHING, Answer, Instruction, State, with_failure
from cap.engine.approval import Rehearsal
from cap.engine.effect import HELD, NOTHING_HELD, Effect
from cap.engine.engine import Engine, interrupted
from cap.engine.lmp import unhinted
from cap.engine.model_request import Memory
from cap.engine.settings import MOST_SAMPLES
from cap.engine.stop_signals import BY_CTRL_C, stop_signals
from cap.errors import (
    PromptError,
    RobotError,
    SandboxError,
    SavedError,
    Stopped,
    UsageError,
)
from cap.models.base import Model, Usage, require_model
from cap.program.scope import Definition
from cap.prompt.context import Context
from cap.prompt.prompt import PastTurn, Prompt, one_line, within
from cap.result import EFFECTS, Failure, Result
from cap.robot import observation, registry
from cap.robot.observation import Observation
from cap.robot.protocol import Rehearsable, Rewindable, Robot, TurnTaking
from cap.robot.registry import path_of
from cap.robot.view import Viewable, ViewLog
from cap.sandbox.limits import HARDWARE_ACTIONS, Limits, weakest_level
from cap.sandbox.sandbox import Sandbox
from cap.session import session_file
from cap.session.kept_state import after_turn
from cap.session.rounds import MOST_ROUNDS, run_rounds
from cap.session.session_file import SavedRobot, SavedSampling, SavedSession, SavedVariables
from cap.session.settings import SessionSettings, as_path
from cap.session.skills.learning import learn_from
from cap.session.skills.store import Offer, Skill, SkillStore
from cap.session.turn import Turn, unmet
from cap.trace.trace import Trace, status_after, versions

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

TOP = "ui"
"""The prompt that answers the user; every robot has one."""
_BY_CALLER = "stopped by the caller"
_LAST_S = 20.0
"""A turn that is stopped may take so long to end."""
_LOOK_S = 0.01
"""Between two looks at whether it has."""


@dataclass(frozen=True)
class Checkpoint:
    """All that a turn may change, as it was between two turns."""

    state: State
    """Variables, kept functions, history."""
    programs: int
    """Programs run so far: each has random numbers of its own, by its number."""
    origins: Mapping[str, str]
    """The instruction each kept function was written for, by name."""
    seen: Observation
    """The robot's world, with its snapshot where there is one."""


@dataclass(frozen=True)
class Finished:
    """A turn, with the session before and after it: what undo and redo go back to."""

    turn: Turn
    before: Checkpoint
    after: Checkpoint


class Session:
    """One robot and one model; a context manager."""

    usage: Usage = NOTHING
    """What the model took for all turns of this process, also those undone."""
    took: Mapping[tuple[str, str], Usage] = {}
    """The same for each model's name and LMP, also of a model that was stopped."""
    earlier: int = 0
    """Turns before those, in the session this one goes on from."""
    earlier_run: str = ""
    """Where that session is written down, if that is known."""
    origins: Mapping[str, str]
    """The instruction each kept function was written for, by name."""
    damaged_skills: Mapping[str, str] = {}
    """Skills that are left out since their file cannot be used: file, line and remedy, by name."""
    skills: SkillStore | None = None
    """Where functions are kept for later sessions."""
    _thread: ThreadPoolExecutor | None = None
    """Where `arun` runs turns."""
    _turns_thread: int | None = None
    """The thread of the turn that runs; None if none does."""
    _closed = False

    def __init__(self, robot: Robot, model: Model, settings: SessionSettings | None = None) -> None:
        """Start a session.

        Args:
            robot: What moves.
            model: What writes programs.
            settings: How it runs, and what it keeps.

        Raises:
            SandboxError: The sandbox is weaker here.
            UsageError: The robot is real hardware and nothing approves its programs.
            PromptError: There is no `ui` prompt.
        """
        require_model(model)
        settings = _sound(settings or SessionSettings(), robot)
        twin = isinstance(robot, Rehearsable) and settings.rehearse is not False
        rehearsal = Rehearsal(robot) if twin else None  # type: ignore[arg-type]
        given = settings.prompts
        prompts = registry.robot_prompts(robot.name) if given is None else given
        self.prompt, self._function_prompt = _outermost(robot.name, prompts)
        self.robot, self.robot_file = robot, settings.robot_file
        self.model = model
        self.trace = settings.trace or Trace()
        self.origins, self.history_tokens = {}, settings.history_tokens
        self.rounds, self.learn = settings.rounds, settings.learn
        self._past: list[Finished] = []
        self._undone: list[list[Finished]] = []
        self._view_log = ViewLog()
        self.state = State(variables=dict(self.prompt.header.initial))
        level = settings.min_level or weakest_level(model.name, simulated=robot.simulated)
        limits = settings.limits or Limits()
        if not robot.simulated or isinstance(robot, Rehearsable):
            # What takes too long in the rehearsal would do so on the robot.
            limits = replace(
                limits,
                sim_s=min(limits.sim_s, limits.calls_s),
                actions=min(limits.actions, HARDWARE_ACTIONS),
            )
        self._sandbox = Sandbox(limits=limits, min_level=level).__enter__()
        tries = settings.sampling.samples > 1
        self.memory = Memory(rehearses=rehearsal is not None or tries)
        self.engine = Engine(
            robot,
            model,
            prompts,
            self._function_prompt,
            sandbox=self._sandbox,
            trace=self.trace,
            settings=settings,
            rehearsal=rehearsal,
            memory=self.memory,
        )
        self._describe(prompts, settings.seed)
        if settings.skills is not None:
            self.use_skills(settings.skills)

    def _describe(self, prompts: Mapping[str, Prompt], seed: int) -> None:
        """Record what the session runs, and with what."""
        file = {} if self.robot_file is None else {"robot_file": str(self.robot_file)}
        self.trace.update(
            robot=self.robot.name,
            **file,
            model=self.model.name,
            seed=seed,
            prompts={name: prompt.sha256 for name, prompt in prompts.items()},
            limits=self._sandbox.limits,
            sandbox=self._sandbox.layers,
            **({"engine": engine} if (engine := getattr(self.robot, "engine", None)) else {}),
            versions=versions(),
        )

    @classmethod
    def open(
        cls,
        robot: str = "ravens",
        model: str | Model = "nearest",
        *,
        seed: int = 0,
        mode: str = "physics",
        objects: Sequence[str] | str | None = None,
        robot_options: Mapping[str, Any] | None = None,
        base_url: str | None = None,
        asked: Mapping[str, Any] | None = None,
        runs: Path | str | None = None,
        **options: Any,
    ) -> Session:
        """Build robot and model by name and start a session.

        Args:
            robot: Registered robot, or a file with a `create` function.
            model: `nearest`, `openai/NAME`, `ollama/NAME`, `replay/FILE`, ...; or a model itself.
            seed: Of the scene and of random numbers inside programs.
            mode: `physics` or `instant`.
            objects: What stands on the table, by name, or as text with commas; the robot's own
                choice by default.
            robot_options: The robot's own options, such as `{"host": "192.168.0.10"}`: what `-R`
                takes on the command line.
            base_url: Address of the model's provider, in place of its own.
            asked: How the model is asked: fields of `ModelSettings`, such as `temperature`.
            runs: Where to make a run folder; None keeps no trace on disk.
            options: Further fields of `SessionSettings`; folders (`prompts`, `skills`) may be text,
                and groups (`limits`, `repairs`, `sampling`, `budget`) mappings of their fields.

        Raises:
            UsageError: Something of it does not exist, or cannot be.
            MissingKey: The model needs a key and none is set.
            RobotError: The robot could not be made.
        """
        from cap.models.providers import make_model
        from cap.trace.trace import new_run_folder

        robot = str(robot)
        require("asked", asked, Mapping[str, Any] | None)
        if isinstance(objects, str):
            objects = [name.strip() for name in objects.split(",") if name.strip()]
        own = registry.own_options(robot_options or {})
        backend = model
        if isinstance(backend, str):
            backend = make_model(backend, **{"base_url": base_url, **(asked or {})})
        require_model(backend)
        folder = None if runs is None else as_path("runs", runs)
        body = registry.make_robot(robot, seed=seed, mode=mode, objects=objects, **own)
        try:
            settings = SessionSettings.of(robot, seed, {"robot_file": path_of(robot), **options})
            if folder is not None:
                settings = replace(settings, trace=Trace(new_run_folder(folder, robot, "session")))
            return cls(body, backend, settings)
        except BaseException:  # also Ctrl-C: nothing else would close it
            body.close()
            raise

    @classmethod
    def resume(
        cls, path: Path | str | SavedSession, model: str | Model = "nearest", **options: Any
    ) -> Session:
        """Go on with a saved session where its last finished turn left it, with its own skills.

        Args:
            path: A run folder, a file that `save` wrote, or what was read of one.
            model: As `open` takes it.
            options: Further arguments of `open`; seed and objects are the saved ones, and so is a
                registered robot. A robot from a file must be named: that file is executed.

        Raises:
            SavedError: It cannot be read, is not of this robot, or its robot is not named.
        """
        kept, from_run = path, ""
        if not isinstance(kept, SavedSession):
            from_run = str(kept)
            kept = session_file.read(as_path("the saved session", kept))
        robot = options.pop("robot", None)
        robot = robot or kept.registered_robot()
        mode = "instant" if kept.mode == session_file.DRY_RUN else kept.mode
        given: dict[str, Any] = {"mode": mode} if mode else {}
        if options.get("mode", mode) == "physics":
            asked = options.pop("robot_options", {})
            given["robot_options"] = {**asked, **kept.engine_option(robot)}
        objects = None if kept.objects is None else list(kept.objects)
        options = {**given, **options, "seed": kept.seed, "objects": objects}
        session = cls.open(robot, model, **options)
        try:
            session.restore(kept)
            session.earlier_run = from_run
        except BaseException:  # also Ctrl-C: nothing else would close it
            session.close("error")
            raise
        return session

    def __enter__(self) -> Session:
        """Return itself."""
        self._require_open()
        return self

    def __repr__(self) -> str:
        """Return robot, model and turns."""
        turns = f"{len(self.turns)} turn{'' if len(self.turns) == 1 else 's'}"
        closed = ", closed" if self._closed else ""
        return f"<Session {self.robot.name}, {self.model.name}: {turns}{closed}>"

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Close it; if an exception ends it, the robot is stopped first."""
        if error is None:
            self.close()
            return
        self.robot.stop()
        self.report_held()
        with contextlib.suppress(OSError):  # the error that ends it says more than a full disk
            self.close(status_after(error))

    def close(self, status: str | None = None) -> None:
        """End the turn that runs, the robot and the trace; further calls do nothing.

        Args:
            status: What the trace ends with; if None, by the turns: done, failed or interrupted.

        Raises:
            OSError: Not all of the trace could be written.
        """
        if self._closed:
            return
        self._closed = True
        if self._thread is not None:
            self._thread.shutdown(wait=False)
        if self._turns_thread not in (None, threading.get_ident()):
            self._stop_turn()
            last_s = time.monotonic() + _LAST_S
            while self._turns_thread is not None and time.monotonic() < last_s:
                time.sleep(_LOOK_S)
        try:
            self.robot.close()
        except BaseException as error:  # the trace has its status
            with contextlib.suppress(OSError):  # a full disk
                self.trace.close(status_after(error))
            raise
        last = self.turns[-1].failure if self.turns else None
        if status is None and last is not None and last.kind == "interrupted":
            status = "interrupted"
        failed = any(not turn.ok for turn in self.turns)
        self.trace.close(status or ("failed" if failed else "done"))

    def run(self, instruction: str, expect: Sequence[str] = ()) -> Turn:
        """Run one instruction.

        Args:
            instruction: What the robot should do, in words.
            expect: The effect it must have, in words of `cap.result.EFFECTS`; a turn
                without it has failed.

        Raises:
            UsageError: The instruction is empty.
        """
        words = one_line(instruction)
        if not words:
            raise UsageError("the instruction is empty; say what the robot should do")
        return self._turn(words, None, expect)

    async def arun(self, instruction: str, expect: Sequence[str] = ()) -> Turn:
        """Run one instruction on a thread of the session, as `run` does.

        Several are run one after the other. Where the task is cancelled, the robot is
        stopped and the turn ended, as by Ctrl-C, before this returns; listeners, and the approval,
        are called on that thread.
        """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "cap-session")
        job = self._thread.submit(self.run, instruction, expect)
        turn = asyncio.wrap_future(job)
        try:
            return await asyncio.shield(turn)
        except asyncio.CancelledError:
            if not job.cancel():  # it runs
                self._stop_turn()
                await asyncio.wait([turn])
                self._sandbox.robot_thread.stop_asked = False
                if not turn.cancelled():
                    turn.exception()  # it is looked at: the session has the turn
            raise

    def stop(self) -> None:
        """End the turn that runs, as Ctrl-C does, and stop the robot; from any thread."""
        if self._turns_thread is not None:
            self._stop_turn()

    def _stop_turn(self) -> None:
        stop_signals.why = _BY_CALLER
        self._sandbox.robot_thread.stop()
        self.robot.stop()

    def undo(self, turns: int = 1) -> bool:
        """Go back to before the last turn, or before several.

        Variables, functions and history are those of that moment; in simulation the world is too,
        bit for bit. Real hardware stays where it is.

        Args:
            turns: How many turns to undo; those that failed count as well.

        Returns:
            True if the world went back too.

        Raises:
            UsageError: There are not that many turns.
        """
        self._require_open()
        if not 1 <= turns <= len(self.turns):
            there = f"cannot undo {turns} turns; this session has {len(self.turns)}"
            message = there if self.turns else "nothing to undo"
            raise UsageError(f"{message}; {self.earlier_turns}" if self.earlier else message)
        undone = self._past[-turns:]
        del self._past[-turns:]
        self._undone.append(undone)
        return self._go_to(undone[0].before, "undo", turns)

    def redo(self) -> bool:
        """Redo what the last undo undid; only until the next turn.

        Returns:
            True if the world went there too.

        Raises:
            UsageError: Nothing was undone since the last turn.
        """
        self._require_open()
        if not self._undone:
            raise UsageError(
                "nothing was undone since the last turn, so nothing can be redone; a turn that "
                "undid another is undone like any other"
            )
        undone = self._undone.pop()
        self._past += undone
        return self._go_to(undone[-1].after, "redo", len(undone))

    def _checkpoint(self, seen: Observation) -> Checkpoint:
        return Checkpoint(self.state, self.engine.programs, self.origins, seen)

    def _go_to(self, kept: Checkpoint, event: str, turns: int) -> bool:
        """Put the session back to a checkpoint; return whether its world went there as well."""
        rewound = isinstance(self.robot, Rewindable)
        if isinstance(self.robot, Rewindable):
            self.robot.restore(kept.seen.world)
        self.state, self.origins = kept.state, kept.origins
        self.engine.programs = kept.programs
        self.memory.forget()
        self._keep(session_file.LATEST, kept.seen)
        self.trace.event(event, turns=turns, world=rewound)
        self._record_view()
        return rewound

    @property
    def turns(self) -> list[Turn]:
        """Those of this process, without those undone."""
        return [entry.turn for entry in self._past]

    def use_model(self, model: Model) -> None:
        """Have another model write programs from the next turn on."""
        self.model = require_model(model)
        self.engine.use_model(model)
        self.memory.forget()
        self.trace.update(model=model.name)
        self.trace.event("model", name=model.name, repairs=self.engine.author.repairs)

    @property
    def earlier_turns(self) -> str:
        """A sentence on the turns before those of this process, and what undo does with them."""
        owner = self.earlier_run or "the session that this one goes on from"
        known, them = f"{self.earlier} turns of {owner} are known", "them"
        if self.earlier == 1:
            known, them = f"1 turn of {owner} is known", "it"
        return f"{known}; undo does not reach {them}; the instruction 'undo that' may undo {them}"

    @property
    def reserved(self) -> frozenset[str]:
        """The names of the robot's own: primitives and LMPs."""
        return frozenset([*self.robot.primitives(), *self.engine.prompts, "robot"])

    def save(self, path: Path | str) -> Path:
        """Write the session down, for `resume`; return the file.

        Args:
            path: The file, or a folder that is to hold it.

        Raises:
            SavedError: It cannot be written there.
        """
        self._require_open()
        path = as_path("the file", path)
        path = path / session_file.LATEST if path.is_dir() else path
        session_file.write(self._saved(Observation.of(self.robot, world=True)), path)
        return path

    def restore(self, kept: SavedSession) -> bool:
        """Become a saved session; only before the first turn.

        Returns:
            True if the world came back too.

        Raises:
            SavedError: It is of another robot, or holds a name of this robot's own.
            UsageError: The session has begun already.
        """
        if self.turns or self.trace.turn:
            raise UsageError("a session that has begun cannot become another; open a new one")
        if kept.robot != self.robot.name:
            raise SavedError(f"the session was saved with robot '{kept.robot}'; use that one")
        bound = [*kept.state.variables, *(entry.name for entry in kept.state.definitions)]
        if clash := sorted(self.reserved.intersection(bound)):
            raise SavedError(f"the saved session sets {clash[0]!r}, a name of the robot's own")
        rewound = session_file.put_world(self.robot, kept)
        self.state, self.origins, self.earlier = kept.state, kept.origins, kept.turns
        self.trace.turn, self.history_tokens = kept.turns, kept.history_tokens
        self.engine.programs, self.engine.seed = kept.programs, kept.seed
        self.trace.event("resumed", turns=kept.turns, world=rewound)
        return rewound

    def use_skills(self, store: SkillStore | Path | str) -> Offer:
        """Offer a folder's skills to programs, and keep further ones there.

        Those whose robot, prompts or source have changed are run against their examples first. A
        damaged file is left out, also a skill that is set aside; `damaged_skills` has the reason.

        Raises:
            UsageError: The session has begun already.
        """
        if self.turns:
            raise UsageError("skills are offered before the first turn; open another session")
        if not isinstance(store, SkillStore):
            store = SkillStore(as_path("the folder of skills", store))
        aside: Mapping[str, str] = {}
        if store.names():
            from cap.session.skills.skill_check import CheckedRobot, check_skills, set_aside

            robot, name = self.robot, self.robot.name
            own = CheckedRobot(robot, self.engine.prompts, self.robot_file)
            checks = check_skills(
                store, lambda kept: own if kept.before.robot == name else None, changed_only=True
            )
            aside = set_aside(store, checks)
        offer = store.offer(self.engine.scope(self.prompt), self.reserved, aside)
        self.skills, self.damaged_skills = store, offer.damaged
        self.state = replace(
            self.state,
            hints=tuple(skill.hint for skill in offer.skills),
            definitions=tuple(skill.definition for skill in offer.skills),
        )
        if offer.skills or offer.left_out or offer.damaged:
            names = [skill.name for skill in offer.skills]
            left_out = {**offer.left_out, **offer.damaged}
            self.trace.event("skills", offered=names, left_out=left_out)
        return offer

    def save_skill(self, name: str) -> Path:
        """Keep a function of this session, with the functions it needs; return its file.

        Args:
            name: A function that a program of this session defined, or that was generated for one.

        Raises:
            UsageError: There is none, its name is taken, or it cannot stand without the session.
        """
        if self.skills is None:
            raise UsageError("the session has no folder for skills; open it with skills=...")

        def described(definition: Definition) -> Skill:
            generated = definition.origin == "generated"
            return Skill(
                name=definition.name,
                source=definition.source,
                robot=self.robot.name,
                instruction=self.origins.get(definition.name, ""),
                model=self.model.name,
                prompt_sha256=(self._function_prompt if generated else self.prompt).sha256,
                date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            )

        return self.skills.keep(self.state, name, self.reserved, described)

    def execute(self, source: str, name: str = "program", expect: Sequence[str] = ()) -> Turn:
        """Run a user's own program through the same check and sandbox.

        Args:
            source: Python.
            name: What the turn is called.
            expect: The effect it must have, as `run` takes it.
        """
        return self._turn(name, source, expect)

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError("the session is closed; open another")

    def _turn(self, words: str, source: str | None, expect: Sequence[str]) -> Turn:
        """Run one turn; the robot is observed once before and once after it.

        Args:
            words: The instruction, or the name of the program.
            source: The user's own program; None if the model is to write one.
            expect: The effect it must have.
        """
        self._require_open()
        expect = (expect,) if isinstance(expect, str) else expect
        if unknown := [word for word in expect if word not in EFFECTS]:
            raise UsageError(f"no effect {unknown[0]!r}; there are {', '.join(EFFECTS)}")
        thread = threading.get_ident()
        if self._turns_thread is not None:
            raise UsageError("a turn is running; wait for its end, or stop() it")
        self._turns_thread = thread  # no call comes between, so neither another turn nor a stop
        try:
            before = self._checkpoint(Observation.of(self.robot, world=True))
            saved = None if self.learn is None or source is not None else self._saved(before.seen)
            if self.trace.turn == self.earlier:
                self._keep(session_file.START, before.seen)
                self._record_view()
            turn, answer = self._run_turn(words, source, tuple(expect), before)
            if saved is not None and turn.ok:
                learn_from(self, saved, turn, answer, expect)
                self._keep(session_file.LATEST, self._past[-1].after.seen)
            return turn
        finally:
            self._sandbox.robot_thread.stop_asked = False
            if stop_signals.why == _BY_CALLER:
                stop_signals.why = BY_CTRL_C
            self._turns_thread = None

    def _run_turn(
        self, words: str, source: str | None, expect: Sequence[str], before: Checkpoint
    ) -> tuple[Turn, Answer]:
        """Have the program written, if it is not given, run it, and keep the turn."""
        facts = before.seen.facts
        elsewhere = one_line(str(facts.get("elsewhere", "")))
        asked = Instruction(
            self.prompt,
            words,
            Context() if source is not None else self.prompt.context_of(facts),
            replace(self.state, given=f"Seen elsewhere: {elsewhere}." if elsewhere else ""),
            before.seen,
            expect=expect,
            moved_before=self._past[-1].turn.moved if self._past else {},
        )
        tally, mark = self.engine.tally, self.engine.tally.mark()
        unforeseen = None
        with stop_signals.held():  # a turn is kept and recorded as a whole, or not at all
            self.trace.turn += 1
            self._undone.clear()
            given = {} if source is None else {"source": source}
            self.trace.event("instruction", lmp=TOP, text=words, **given)
            self.memory.of_turn.clear()
            try:
                with stop_signals.released():
                    if source is not None:  # it may use every name, and reads the robot's facts
                        state = replace(self.state, variables={**facts, **self.state.variables})
                        answer = self.engine.run_program(unhinted(self.prompt), source, state)
                    elif self.rounds > 1:
                        answer = run_rounds(self.engine, asked, self.trace.turn, self.rounds)
                    else:
                        answer = self.engine.run(asked)
            except (Exception, KeyboardInterrupt, Stopped) as error:  # it may have moved something
                if isinstance(error, KeyboardInterrupt):
                    stop_signals.taken()
                elif not isinstance(error, SandboxError):
                    unforeseen = error
                failed = Result(failure=_broken_off(error))
                answer = Answer(failed, usage=tally.since(mark), by_lmp=tally.by_lmp(mark))
            turn = self._end_turn(asked, before, answer)
        if not turn.ok:
            self.report_held()
        if unforeseen is not None:
            raise unforeseen
        return turn, answer

    def _end_turn(self, asked: Instruction, begun: Checkpoint, answer: Answer) -> Turn:
        """Look at the result of a turn, keep it and record it.

        Where the world can no longer be seen, nothing is known to have moved, and that fails.

        Args:
            asked: The instruction, or the name of the program; what it must do.
            begun: The session before it.
            answer: What the engine made of it.
        """
        missed: Failure | None
        try:
            after = answer.seen or Observation.of(self.robot)
            effect = Effect.of(begun.seen, after, answer.result, answer.earlier_calls)
            effect = replace(effect, doubts=answer.doubts)
            missed = unmet(effect, asked.expect)
        except RobotError as error:
            message = f"its effect cannot be seen: {error}"
            missed = Failure("raised", type(error).__name__, message, robot=True)
            after = replace(begun.seen, facts={})
            effect = replace(Effect.of(begun.seen, after, answer.result), unseen=True)
        answer = with_failure(answer, answer.failure or missed)
        if answer.failure is not None:
            self.robot.stop()
        if isinstance(self.robot, TurnTaking):
            effect = replace(effect, undone=tuple(self.robot.end_turn(asked.words)))
        after = after.with_world(self.robot)
        turn = Turn.of(asked.words, answer, effect)
        self._remember(turn, answer, asked.context)
        self._past.append(Finished(turn, begun, self._checkpoint(after)))
        self._keep(session_file.LATEST, after)
        self._record_view()
        turn.record(self.trace, self.model.name)
        return turn

    def _record_view(self) -> None:
        """Record what the world looks like, as far as that is new."""
        if self.trace.folder is not None and isinstance(self.robot, Viewable):
            with contextlib.suppress(RobotError):  # a real one can no longer be seen
                if news := self._view_log.news(self.robot):
                    self.trace.event("view", **news)

    def report_held(self) -> None:
        """Report what a real robot still holds after a stop."""
        if not self.robot.simulated:
            with contextlib.suppress(RobotError, OSError):  # its terminal may be gone as well
                held = observation.condition(self.robot).get(HELD, NOTHING_HELD)
                if held != NOTHING_HELD:
                    self.trace.event("held", name=held)

    def _remember(self, turn: Turn, answer: Answer, context: Context) -> None:
        """Keep what a successful program left; keep of a failed one only that it happened."""
        self.usage = self.usage.plus(turn.usage)
        for lmp, usage in turn.by_lmp.items():
            of = self.model.name, lmp
            self.took = {**self.took, of: self.took.get(of, NOTHING).plus(usage)}
        code = answer.program.source if answer.program else ""
        code = "\n".join([*answer.earlier, code])
        entry = PastTurn(turn.instruction, code, context.text, turn.prompt_effect, turn.note)
        before = self.state
        history = within((*before.history, *answer.failed, entry), self.history_tokens)
        self.state = replace(before, history=history)
        if turn.ok:
            found = answer.found or before
            found = replace(found, history=history, given="", goes_on=False)
            self.state = after_turn(found, answer, self.earlier + len(self._past) + 1)
            written = set(self.state.definitions) - set(before.definitions)
            new = {entry.name: turn.instruction for entry in written}
            self.origins = {**self.origins, **new}

    def _saved(self, seen: Observation) -> SavedSession:
        """Describe the session as it is now.

        Args:
            seen: The world as it is, with its snapshot.
        """
        robot, engine, state = self.robot, self.engine, self.state
        # A real robot is not made by a mode; what it sees, in its dry run too, is not its own.
        mode = getattr(robot, "mode", None)
        asked = mode is None or mode in session_file.WORLDS
        objects = seen.facts.get("objects") if asked else None
        world, lost = session_file.packed_world(robot, seen.world)
        sampling = engine.settings.sampling
        return SavedSession(
            body=SavedRobot(
                name=robot.name,
                mode=mode if asked or mode == session_file.DRY_RUN else None,
                objects=None if objects is None else tuple(objects),
                engine=getattr(robot, "engine", None),
                file=None if self.robot_file is None else str(self.robot_file),
            ),
            seed=engine.seed,
            programs=engine.programs,
            turns=self.earlier + len(self._past),
            variables=SavedVariables.of(state.variables),
            definitions=state.definitions,
            history=state.history,
            dropped=dict(state.dropped),
            hints=state.hints,
            origins=dict(self.origins),
            history_tokens=self.history_tokens,
            repairs=engine.repairs,
            model_repairs=engine.author.repairs,
            sampling=SavedSampling(sampling.samples, sampling.agreement, sampling.goal),
            rounds=self.rounds,
            world=world,
            world_lost=lost,
        )

    def _keep(self, name: str, seen: Observation) -> None:
        """Write the session into its run folder, if it has one."""
        if self.trace.folder is not None:
            self.trace.keep(name, session_file.render(self._saved(seen)))


def _broken_off(error: BaseException) -> Failure:
    """Return the failure of a turn that an exception ended."""
    if isinstance(error, Stopped):
        name = signal.Signals(int(str(error.code)) - 128).name
        return replace(interrupted(), message=f"stopped by {name}")
    if isinstance(error, KeyboardInterrupt):
        return interrupted()
    return Failure("protocol", type(error).__name__, str(error))


def _sound(settings: SessionSettings, robot: Robot) -> SessionSettings:
    """Return checked settings; a session that learns asks for goal checks.

    Raises:
        UsageError: They are beyond their bounds, or lack what they need.
    """
    if settings.learn is not None:
        if settings.skills is None:
            raise UsageError("a session that learns needs a folder for skills: skills=...")
        settings = replace(settings, sampling=replace(settings.sampling, verify="goal"))
    samples, rounds = settings.sampling.samples, settings.rounds
    if not 1 <= samples <= MOST_SAMPLES:
        raise UsageError(f"cannot try {samples!r} programs; ask for 1 to {MOST_SAMPLES}")
    if not 1 <= rounds <= MOST_ROUNDS:
        raise UsageError(f"cannot go {rounds!r} rounds; ask for 1 to {MOST_ROUNDS}")
    if not robot.simulated and settings.approve is None:
        raise UsageError(f"robot '{robot.name}' is real: its programs need an approval")
    if settings.rehearse and not isinstance(robot, Rehearsable):
        raise UsageError(f"robot '{robot.name}' has no simulated twin to rehearse in")
    return settings


def _outermost(robot: str, prompts: Mapping[str, Prompt]) -> tuple[Prompt, Prompt]:
    """Return the prompt that answers the user, and the one that asks for functions.

    Raises:
        PromptError: There is no prompt that answers the user.
    """
    if TOP not in prompts:
        raise PromptError(f"the prompts of '{robot}' have no '{TOP}.py'")
    own = (prompt for prompt in prompts.values() if prompt.header.prefix)
    return prompts[TOP], next(own, None) or registry.function_prompt()
