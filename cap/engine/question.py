"""Asking the model for programs: written down, several at a time, and counted.

Requests that do not need each other's answers are sent together. What is written down of them, and
in which order, does not depend on which answer came first.
"""

from __future__ import annotations

import contextvars
import functools
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from cap.engine.memory import Memory
from cap.errors import AnswerFault, ModelError
from cap.models.base import MAX_TOKENS, Completion, Model, Request, Streams, Usage
from cap.models.concurrency import together
from cap.models.estimates import estimate
from cap.models.replay import request_key
from cap.models.wrapper import OwnModel, Wrapped
from cap.program.program import Program
from cap.prompt.context import Context
from cap.prompt.prompt import PastTurn, Prompt
from cap.trace.trace import Trace

T = TypeVar("T")
_NEXT_EXAMPLE = "behind the program another example begins; answer this instruction alone"
SAMPLE_TEMPERATURE = 0.8
"""Of further answers to the same question, where the model is asked at none of its own."""
MOST_ROOM = 16
"""How many times the usual limit of tokens an answer may take at the most."""


class CutOff(AnswerFault):
    """An answer that is only a part of what was to be written."""


@dataclass(frozen=True)
class Question:
    """What one program is asked for with."""

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

    def add(self, completion: Completion, lmp: str = "") -> None:
        """Count one more, unless it took no request."""
        if not completion.remembered:
            self._usages.append((lmp, Usage.of(completion)))

    def add_failed(self, usage: Usage, lmp: str = "") -> None:
        """Count requests that led to no answer, or to one of no use, or that were stopped."""
        if usage.requests:
            self._usages.append((lmp, usage))

    def mark(self) -> int:
        """Return where the count stands, for `since`."""
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


class Author:
    """Asks one model for programs."""

    def __init__(
        self,
        model: Model,
        trace: Trace,
        tally: Tally,
        max_tokens: int | None = None,
        memory: Memory | None = None,
        heed: Callable[[], None] | None = None,
    ) -> None:
        """Prepare to ask.

        Args:
            model: Whom.
            trace: Where events go.
            tally: Counts the answers.
            max_tokens: How long an answer may be, in tokens; None for the model's own limit.
            memory: What need not be asked again; None to ask always.
            heed: Raises what ends the wait for an answer, if somebody asked for that.
        """
        self.model = model
        self._heed = heed
        self.tally = tally
        self.trace = trace
        self.max_tokens = max_tokens or getattr(model, "max_tokens", None) or MAX_TOKENS
        self.memory = memory

    @property
    def _asked(self) -> Wrapped:
        """The model, so that whatever one of a person's own does wrong is told in one line."""
        if isinstance(self.model, Wrapped):
            return self.model
        return OwnModel(self.model, type(self.model).__name__)

    @property
    def repairs(self) -> bool:
        """False of a model that cannot mend what it wrote."""
        return bool(getattr(self.model, "repairs", True))

    @property
    def by_example(self) -> bool:
        """True of a model whose programs are those of examples: it made up no name."""
        return bool(getattr(self.model, "by_example", False))

    def prove(self, prompt: Prompt, order: Question, answer: Completion) -> None:
        """Answer the same order so again, if it is of an LMP that a program called.

        A model that draws its answers is asked each time.
        """
        sampled = getattr(self.model, "sampled", False)
        if self.memory is not None and self.trace.depth and not sampled:
            self.memory.prove(self._request(prompt, order), answer)

    def forget(self) -> None:
        """Ask anew from here on: something failed."""
        if self.memory is not None:
            self.memory.forget()

    def ask(self, prompt: Prompt, order: Question) -> Completion:
        """Return the answer to one order.

        Raises:
            ModelError: There is none.
        """
        (answer,) = self.ask_all(prompt, [order])
        if isinstance(answer, ModelError):
            raise answer
        return answer

    def ask_all(self, prompt: Prompt, orders: Sequence[Question]) -> list[Completion | ModelError]:
        """Return the answers to orders that do not depend on each other, in their order.

        An empty one is asked for once more, with more room if it came to its limit.
        """
        answers = self._ask_once(prompt, orders)
        empty = {
            number: orders[number].with_more_room() if answer.ended == "cut" else orders[number]
            for number, answer in enumerate(answers)
            if isinstance(answer, Completion) and answer.empty
        }
        again = self._ask_once(prompt, [*empty.values()]) if empty else []
        for number, answer in zip(empty, again, strict=True):
            answers[number] = answer
        return answers

    def _ask_once(
        self, prompt: Prompt, orders: Sequence[Question]
    ) -> list[Completion | ModelError]:
        requests = [self._request(prompt, order) for order in orders]
        for order, request in zip(orders, requests, strict=True):
            self.trace.event(
                "prompt",
                lmp=prompt.name,
                sha256=prompt.sha256,
                model=self.model.name,
                tail=request.prompt.removeprefix(prompt.head(order.docs)).strip(),
            )
        begin_s = time.monotonic()
        answers = self._answers(prompt, requests)
        duration_s = time.monotonic() - begin_s
        for request, answer in zip(requests, answers, strict=True):
            if isinstance(answer, Completion):
                if self.memory is not None:
                    self.memory.hear(request, answer)
                self._note(prompt, request, answer, duration_s)
            else:
                self.tally.add_failed(Usage.of_failed(answer), prompt.name)
                why = {"error": type(answer).__name__, "message": str(answer)}
                told = {**self._key(request), **why, **answer.took, "duration_s": duration_s}
                self.trace.event("unanswered", lmp=prompt.name, **told)
            duration_s = 0.0  # they were asked all at once
        return answers

    def _key(self, request: Request) -> dict[str, str]:
        """Return what a run folder is replayed by; making it takes longer than all else here."""
        return {"key": request_key(request)} if self.trace.keyed else {}

    def _answers(
        self, prompt: Prompt, requests: Sequence[Request]
    ) -> list[Completion | ModelError]:
        """Return the answers to requests: from memory, or asked for all at once."""
        found: dict[int, Completion | ModelError] = {}
        for number, request in enumerate(requests):
            nested = self.trace.depth > 0
            known = None if self.memory is None else self.memory.get(request, nested)
            if known is not None:
                found[number] = known
        asked = [number for number in range(len(requests)) if number not in found]
        if len(asked) == 1:
            (number,) = asked
            try:
                found[number] = self._complete(prompt, requests[number])
            except ModelError as error:
                found[number] = error
        elif asked:
            asks = [functools.partial(self._asked.complete, requests[at]) for at in asked]
            try:
                answers = together(asks, returned=ModelError, heed=self._heed)
            except KeyboardInterrupt:
                for at in asked:
                    unheard = self._asked.unheard(requests[at].prompt, 0)
                    self.tally.add_failed(unheard, prompt.name)
                raise
            found |= zip(asked, answers, strict=True)
        return [found[number] for number in range(len(requests))]

    def _complete(self, prompt: Prompt, request: Request) -> Completion:
        """Ask; where somebody watches, the text appears as it is written.

        Off the main thread, where no Ctrl-C comes, the request has a thread of its own, and a stop
        leaves it behind.
        """
        over, came = False, 0

        def tell(piece: str) -> None:
            nonlocal came
            came = came + len(piece) if piece else 0
            if not over:
                self.trace.progress("text", lmp=prompt.name, text=piece)

        ask = functools.partial(self._asked.complete, request)
        if self.trace.listeners and isinstance(self.model, Streams):
            ask = functools.partial(self._asked.stream, request, tell)
        try:
            if self._heed is None or threading.current_thread() is threading.main_thread():
                return ask()
            context = contextvars.copy_context()
            (answer,) = together([functools.partial(context.run, ask)], heed=self._heed)
            return answer
        except KeyboardInterrupt:
            unheard = self._asked.unheard(request.prompt, estimate(came))
            self.tally.add_failed(unheard, prompt.name)
            raise
        finally:
            over = True

    def _request(self, prompt: Prompt, order: Question) -> Request:
        text = prompt.render(
            order.instruction,
            order.context.text,
            order.history,
            order.hints,
            order.docs,
            order.given,
        )
        drawn = bool(order.sample) and not getattr(self.model, "sampled", False)
        return Request(
            prompt=text,
            stop=prompt.header.stop,
            max_tokens=self.max_tokens * order.room,
            temperature=SAMPLE_TEMPERATURE if drawn else 0.0,
            seed=order.sample or None,
            further=prompt.further,
            pictures=order.pictures,
        )

    def _note(
        self, prompt: Prompt, request: Request, completion: Completion, duration_s: float
    ) -> None:
        """Count an answer and write it down.

        Args:
            prompt: Who asked.
            request: What was asked.
            completion: The answer.
            duration_s: How long it took; of several at once, the first has it all.
        """
        self.tally.add(completion, prompt.name)
        if request.pictures and not getattr(self.model, "sees", True):  # it has just refused them
            self.trace.event("unseen", model=self.model.name)
        self.trace.event(
            "completion",
            lmp=prompt.name,
            **self._key(request),
            text=completion.text,
            model=completion.model,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            cost_usd=completion.cost_usd,
            estimated=completion.estimated,
            notes=completion.notes,
            ended=completion.ended,
            continues=completion.continues,
            remembered=completion.remembered,
            why_empty=completion.why_empty,
            duration_s=duration_s,
        )


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
            "missing; allow more with --max-tokens, or ask for less at a time"
        )
    if completion.ended == "withheld":
        raise CutOff("the endpoint's content filter withheld a part of the answer")
    if completion.continues:
        return Program.from_completion(text, prompt.header.stop)
    program = Program.from_completion(text)
    comments = re.findall(r"\n\n(# [^\n]+)\n(?=[^\n#])", program.source)
    if any(f"\n{comment}\n" in prompt.text for comment in comments):
        raise AnswerFault(_NEXT_EXAMPLE)
    for mark in prompt.header.stop:
        _, begun, rest = program.source.partition(mark)
        if begun and mark.strip("# \n") and re.match(r"[^\n]*\n# ", rest):
            raise AnswerFault(_NEXT_EXAMPLE)
    return program
