"""Asking the model for programs: recorded, several at a time, and counted.

Requests that do not need each other's answers are sent together. What is recorded of them, and in
which order, does not depend on which answer came first.
"""

from __future__ import annotations

import contextvars
import functools
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cap.errors import AnswerFault, ModelError
from cap.models.base import MAX_TOKENS, Completion, Model, Request, Streams, Usage
from cap.models.concurrency import together
from cap.models.replay import request_key
from cap.models.wrapper import OwnModel, Wrapped
from cap.program.extraction import program_in
from cap.program.program import Program
from cap.prompt.context import Context
from cap.prompt.prompt import PastTurn, Prompt, tokens_of
from cap.trace.trace import Trace

_NEXT_EXAMPLE = "behind the program another example begins; answer this instruction alone"
LOOK_PX = 480
"""Width and height of the picture a model is sent."""
MOST_ROOM = 16
"""How many times the usual limit of tokens an answer may take at the most."""
_RECORDED = (
    *("text", "model", "prompt_tokens", "completion_tokens", "cost_usd", "estimated", "notes"),
    *("ended", "continues", "remembered", "why_empty"),
)
"""Fields of a completion that are recorded."""
ASKED_BEFORE = "asked before in this session; its answer is used again"
"""Note of an answer to an LMP that was called before."""
REHEARSED = "from the rehearsal"
"""Note of an answer that was given in the same turn."""


class CutOff(AnswerFault):
    """An answer that is only a part of what was to be written."""


@dataclass(frozen=True)
class Question:
    """What one program is asked for with."""

    prompt: Prompt
    """Whose program it is to be."""
    instruction: str
    """The words of its comment line."""
    context: Context = field(default_factory=Context)
    """Facts shown above them."""
    history: tuple[PastTurn, ...] = ()
    """Earlier turns, and earlier attempts at this one, oldest first."""
    hints: tuple[str, ...] = ()
    """Lines that tell what else exists."""
    docs: str = ""
    """What the functions do that its program may call."""
    given: str = ""
    """What else its program has: keyword arguments, the program it is part of."""
    pictures: tuple[bytes, ...] = ()
    """What the robot's camera shows, as PNG."""
    sample: int = 0
    """Which of several answers is wanted; the first is the usual one, the others are drawn."""
    temperature: float = 0.0
    """The temperature of one that is drawn; `best_of` sets it."""
    room: int = 1
    """How many times the usual limit of tokens its answer may take."""

    def with_more_room(self) -> Question:
        """Return it for an answer that came to its limit."""
        return replace(self, room=min(4 * self.room, MOST_ROOM))


class Tally(threading.local):
    """Counts completions, each thread its own; an engine shares it with the LMPs it calls."""

    def __init__(self) -> None:
        """Start with none."""
        self._usages: list[tuple[str, Usage]] = []
        """What each answer took, with the LMP it was for."""

    def add(self, usage: Usage, lmp: str = "") -> None:
        """Count requests for an LMP, also those that were stopped or failed."""
        if usage.requests:
            self._usages.append((lmp, usage))

    def mark(self) -> int:
        """Return where the count is, for `since`."""
        return len(self._usages)

    def since(self, mark: int) -> Usage:
        """Return what the completions after a mark took."""
        return functools.reduce(Usage.plus, self.by_lmp(mark).values(), Usage())

    def by_lmp(self, mark: int) -> dict[str, Usage]:
        """Return what they took for each LMP."""
        found: dict[str, Usage] = {}
        for lmp, usage in self._usages[mark:]:
            found[lmp] = found.get(lmp, Usage()).plus(usage)
        return found


@dataclass
class Memory:
    """What was answered, by request.

    An LMP that programs call gets the answer it got before, as long as all has gone well since.
    Where programs are rehearsed every answer holds for its whole turn: the run that follows a
    rehearsal does what was seen there, as long as it asks the very same.
    """

    rehearses: bool = False
    """Whether programs run in a twin before they run on the robot."""
    of_turn: dict[Request, Completion] = field(default_factory=dict)
    """Answers of this turn, where programs are rehearsed."""
    proven: dict[Request, Completion] = field(default_factory=dict)
    """Answers to LMPs that programs called, whose own programs ended well."""
    functions: dict[str, Program] = field(default_factory=dict)
    """Functions generated since the last failure, by name: all LMPs share them."""

    def get(self, request: Request, nested: bool) -> Completion | None:
        """Return the answer to a request, at no cost; None if it is to be asked.

        Args:
            request: What would be asked.
            nested: Whether an LMP asks that a program called.
        """
        known, note = self.of_turn.get(request), REHEARSED
        if known is None and nested:
            known, note = self.proven.get(request), ASKED_BEFORE
        if known is None:
            return None
        free = replace(known, prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
        return replace(free, notes=(*known.notes, note), remembered=True)

    def remember(self, request: Request, answer: Completion) -> None:
        """Remember an answer; an empty one is asked for again."""
        if self.rehearses and not (answer.empty or answer.remembered):
            self.of_turn[request] = answer

    def forget(self) -> None:
        """Have LMPs asked again from here on: something failed, or was undone."""
        self.functions.clear()
        self.proven.clear()


@dataclass
class Author:
    """Asks one model for programs."""

    model: Model
    """The model; one that was taken over is set here."""
    trace: Trace
    """Where events go."""
    tally: Tally
    """Counts the answers."""
    memory: Memory | None = None
    """What need not be asked again; None to ask always."""
    heed: Callable[[], None] | None = None
    """Raises what ends the wait for an answer, if a stop was requested."""

    @property
    def repairs(self) -> bool:
        """False of a model that cannot repair what it wrote."""
        return bool(getattr(self.model, "repairs", True))

    def prove(self, question: Question, answer: Completion) -> None:
        """Give this answer to the same question again, if an LMP that a program called asks it.

        A model that draws its answers is asked each time.
        """
        sampled = getattr(self.model, "sampled", False)
        if self.memory is not None and self.trace.depth and not sampled:
            self.memory.proven[self._request(question)] = answer

    def forget(self) -> None:
        """Ask again from here on: something failed."""
        if self.memory is not None:
            self.memory.forget()

    def ask(self, question: Question) -> Completion:
        """Return the answer to one question.

        Raises:
            ModelError: There is none.
        """
        (answer,) = self.ask_all([question])
        if isinstance(answer, ModelError):
            raise answer
        return answer

    def ask_all(self, questions: Sequence[Question]) -> list[Completion | ModelError]:
        """Return the answers to questions that do not depend on each other, in their order.

        An empty one is asked for once more, with more room if it came to its limit.
        """
        answers = self._once(questions)
        again = {
            number: questions[number].with_more_room() if one.ended == "cut" else questions[number]
            for number, one in enumerate(answers)
            if isinstance(one, Completion) and one.empty
        }
        if again:
            for number, answer in zip(again, self._once([*again.values()]), strict=True):
                answers[number] = answer
        return answers

    def _once(self, questions: Sequence[Question]) -> list[Completion | ModelError]:
        """Ask questions at the same time, each once, and record and count the answers.

        The text of a single one is reported as it is written, where there are listeners. Off the
        main thread, where no Ctrl-C comes, a request has a thread of its own, and a stop leaves it.
        """
        lmp, requests = questions[0].prompt.name, [*map(self._request, questions)]
        for question, request in zip(questions, requests, strict=True):
            prompt = question.prompt
            tail = request.prompt.removeprefix(prompt.head(question.docs)).strip()
            about = {"sha256": prompt.sha256, "model": self.model.name, "tail": tail}
            self.trace.event("prompt", lmp=prompt.name, **about)
        memory, nested, begin_s = self.memory, self.trace.depth > 0, time.monotonic()
        known = [memory.get(one, nested) if memory else None for one in requests]
        left = [request for request, one in zip(requests, known, strict=True) if one is None]
        over, received, single = False, 0, len(left) == 1

        def report(piece: str) -> None:
            nonlocal received
            received = received + len(piece) if piece else 0
            if not over:
                self.trace.progress("text", lmp=lmp, text=piece)

        model: Any = self.model
        if not isinstance(model, Wrapped):  # an error of a user's own becomes one line
            model = OwnModel(model, type(model).__name__)
        asks = [functools.partial(model.complete, request) for request in left]
        if single and self.trace.listeners and isinstance(self.model, Streams):
            asks = [functools.partial(model.stream, left[0], report)]
        asked: list[Completion | ModelError]
        try:
            if not single:
                asked = together(asks, returned=ModelError, heed=self.heed)
            elif self.heed is None or threading.current_thread() is threading.main_thread():
                asked = [asks[0]()]
            else:
                asks = [functools.partial(contextvars.copy_context().run, asks[0])]
                asked = together(asks, returned=ModelError, heed=self.heed)
        except ModelError as error:
            asked = [error]
        except KeyboardInterrupt:
            for request in left:
                lost = model.cancelled_usage(request.prompt, tokens_of(received) if single else 0)
                self.tally.add(lost, lmp)
            raise
        finally:
            over = True
        duration_s, came = time.monotonic() - begin_s, iter(asked)
        answers = [next(came) if one is None else one for one in known]
        for request, answer in zip(requests, answers, strict=True):
            self._note(lmp, request, answer, duration_s)
            duration_s = 0.0  # they were asked all at once: the first has it all
        return answers

    def _request(self, question: Question) -> Request:
        prompt, model = question.prompt, self.model
        text = prompt.render(
            question.instruction,
            question.context.text,
            question.history,
            question.hints,
            question.docs,
            question.given,
        )
        drawn = bool(question.sample) and not getattr(model, "sampled", False)
        limit = getattr(model, "max_tokens", None) or MAX_TOKENS
        return Request(
            prompt=text,
            stop=prompt.header.stop,
            max_tokens=limit * question.room,
            temperature=question.temperature if drawn else 0.0,
            seed=question.sample or None,
            further=prompt.further,
            pictures=question.pictures,
        )

    def _note(
        self, lmp: str, request: Request, answer: Completion | ModelError, duration_s: float
    ) -> None:
        """Count an answer and record it.

        Args:
            lmp: The LMP that asked.
            request: What was asked.
            answer: What came.
            duration_s: How long it took.
        """
        # What a run folder is replayed by; making it takes longer than all else here.
        key = {"key": request_key(request)} if self.trace.keyed else {}
        if isinstance(answer, ModelError):
            self.tally.add(Usage.of_failed(answer), lmp)
            why = {"error": type(answer).__name__, "message": str(answer)}
            found = {**key, **why, **answer.took, "duration_s": duration_s}
            self.trace.event("unanswered", lmp=lmp, **found)
            return
        if self.memory is not None:
            self.memory.remember(request, answer)
        if not answer.remembered:
            self.tally.add(Usage.of(answer), lmp)
        if request.pictures and not getattr(self.model, "sees", True):  # it has just refused them
            self.trace.event("unseen", model=self.model.name)
        fields = {name: getattr(answer, name) for name in _RECORDED}
        self.trace.event("completion", lmp=lmp, **key, **fields, duration_s=duration_s)


def program_of(completion: Completion, prompt: Prompt) -> Program:
    """Return the program in an answer: all of it, or an error that says what is wrong.

    Raises:
        CutOff: The answer is not all that was to be written.
        AnswerFault: It holds several programs, changes to one, or code beside a block of code.
        EmptyCompletion: It holds no code.
        ProgramSyntaxError: Its code is not valid Python.
    """
    text = completion.said()
    if completion.ended == "cut":
        raise CutOff(
            "the answer was cut off, at its limit of tokens or by the server, so its end is "
            "missing; allow more with --set max_tokens=N, or ask for less at a time"
        )
    if completion.ended == "withheld":
        raise CutOff("the endpoint's content filter withheld a part of the answer")
    if completion.continues:
        return program_in(text, prompt.header.stop)
    program = program_in(text)
    comments = re.findall(r"\n\n(# [^\n]+)\n(?=[^\n#])", program.source)
    if any(f"\n{comment}\n" in prompt.text for comment in comments):
        raise AnswerFault(_NEXT_EXAMPLE)
    for mark in prompt.header.stop:
        _, begun, rest = program.source.partition(mark)
        if begun and mark.strip("# \n") and re.match(r"[^\n]*\n# ", rest):
            raise AnswerFault(_NEXT_EXAMPLE)
    return program
