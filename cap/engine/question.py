"""Asking the model for programs: written down, several at a time, and counted.

Requests that do not need each other's answers are sent together. What is written down of them, and
in which order, does not depend on which answer came first.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from cap.errors import AnswerFault, ModelError
from cap.models.base import MAX_TOKENS, Completion, Model, Request, Streams, Usage
from cap.models.concurrency import together
from cap.models.replay import request_key
from cap.program.program import Program
from cap.prompt.prompt import PastTurn, Prompt
from cap.trace.trace import Trace

T = TypeVar("T")
_NEXT_EXAMPLE = "behind the program another example begins; answer this instruction alone"
MOST_ROOM = 16
"""How many times the usual limit of tokens an answer may take at the most."""
ASKED_BEFORE = "asked before in this session; its answer is used again"
"""Note of an answer from memory."""


class CutOff(AnswerFault):
    """An answer that is only a part of what was to be written."""


@dataclass(frozen=True)
class Question:
    """What one program is asked for with."""

    instruction: str
    """The words of its comment line."""
    context: str = ""
    """Assignment lines shown above them."""
    history: tuple[PastTurn, ...] = ()
    """Earlier turns, and earlier attempts at this one, oldest first."""
    hints: tuple[str, ...] = ()
    """Lines that tell what else exists."""
    docs: str = ""
    """What the functions do that its program may call."""
    given: str = ""
    """What else its program has: keyword arguments, the program it is part of."""
    room: int = 1
    """How many times the usual limit of tokens its answer may take."""

    def with_more_room(self) -> Question:
        """Return it for an answer that came to its limit."""
        return replace(self, room=min(4 * self.room, MOST_ROOM))


class Tally(threading.local):
    """Counts completions, each thread its own; an engine shares it with the LMPs it calls."""

    def __init__(self) -> None:
        """Start with none."""
        self._usages: list[Usage] = []

    def add(self, completion: Completion) -> None:
        """Count one more, unless it took no request."""
        if not completion.remembered:
            self._usages.append(Usage.of(completion))

    def mark(self) -> int:
        """Return where the count stands, for `since`."""
        return len(self._usages)

    def since(self, mark: int) -> Usage:
        """Return what the completions after a mark took."""
        return functools.reduce(Usage.plus, self._usages[mark:], Usage())


Memory = dict[Request, Completion]
"""What LMPs that a session's programs call were asked, with answers whose programs ended well."""


class Author:
    """Asks one model for programs."""

    def __init__(
        self,
        model: Model,
        trace: Trace,
        tally: Tally,
        max_tokens: int = MAX_TOKENS,
        memory: Memory | None = None,
    ) -> None:
        """Prepare to ask.

        Args:
            model: Whom.
            trace: Where events go.
            tally: Counts the answers.
            max_tokens: How long an answer may be, in tokens.
            memory: What need not be asked again; None to ask always.
        """
        self.model = model
        self.tally = tally
        self.trace = trace
        self.max_tokens = max_tokens
        self.memory = memory
        self._forgotten: Memory = {}

    @property
    def repairs(self) -> bool:
        """False of a model that cannot mend what it wrote."""
        return bool(getattr(self.model, "repairs", True))

    def remember(self, prompt: Prompt, order: Question, answer: Completion) -> None:
        """Answer the same order so again, if it is of an LMP that a program called.

        A model that draws its answers is asked each time.
        """
        sampled = getattr(self.model, "sampled", False)
        if self.memory is not None and self.trace.depth and not sampled:
            self.memory[self._request(prompt, order)] = answer

    def forget(self) -> None:
        """Ask anew from here on: something failed, or was undone."""
        if self.memory:
            self._forgotten = dict(self.memory)
            self.memory.clear()

    def recall(self) -> None:
        """Take the last `forget` back: the world is again as it was, and the same will be asked."""
        if self.memory is not None:
            self.memory.update(self._forgotten)

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
        answers = self._answers(prompt, requests)
        for request, answer in zip(requests, answers, strict=True):
            if isinstance(answer, Completion):
                self._note(prompt, request, answer)
            else:
                why = {"error": type(answer).__name__, "message": str(answer)}
                self.trace.event("unanswered", lmp=prompt.name, **self._key(request), **why)
        return answers

    def _key(self, request: Request) -> dict[str, str]:
        """Return what a run folder is replayed by; making it takes longer than all else here."""
        return {"key": request_key(request)} if self.trace.folder else {}

    def _answers(
        self, prompt: Prompt, requests: Sequence[Request]
    ) -> list[Completion | ModelError]:
        if len(requests) == 1:
            try:
                return [self._complete(prompt, requests[0])]
            except ModelError as error:
                return [error]
        asks = [functools.partial(self.model.complete, request) for request in requests]
        return together(asks, returned=ModelError)

    def _complete(self, prompt: Prompt, request: Request) -> Completion:
        """Ask on this thread; where somebody watches, the text appears as it is written."""
        if self.memory and self.trace.depth and (known := self.memory.get(request)) is not None:
            free = replace(known, prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
            return replace(free, notes=(*known.notes, ASKED_BEFORE), remembered=True)
        if not self.trace.listeners or not isinstance(self.model, Streams):
            return self.model.complete(request)
        told = functools.partial(self.trace.progress, "text", lmp=prompt.name)
        return self.model.stream(request, lambda piece: told(text=piece))

    def _request(self, prompt: Prompt, order: Question) -> Request:
        text = prompt.render(
            order.instruction, order.context, order.history, order.hints, order.docs, order.given
        )
        return Request(
            prompt=text,
            stop=prompt.header.stop,
            max_tokens=self.max_tokens * order.room,
            further=prompt.further,
        )

    def _note(self, prompt: Prompt, request: Request, completion: Completion) -> None:
        self.tally.add(completion)
        self.trace.event(
            "completion",
            lmp=prompt.name,
            **self._key(request),
            text=completion.text,
            model=completion.model,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            cost_usd=completion.cost_usd,
            notes=completion.notes,
            ended=completion.ended,
            continues=completion.continues,
            remembered=completion.remembered,
            why_empty=completion.why_empty,
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
            "the answer was cut off, at its limit of tokens or by the server, so its end is missing"
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
