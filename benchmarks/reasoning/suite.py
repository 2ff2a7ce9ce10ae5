"""The reasoning suite: questions about a scene, answered in language or by a program.

Trial number `seed` of a cell asks question `seed` modulo 30, in a scene of that seed: 30 trials ask
every question once. All three arms are asked the same questions in the same scenes. Success is a
right answer (`answers`); else `model` gave no answer that can be read, `program` failed, or all
went well and the answer is wrong (`task`). An answer that cannot be read is malformed, in words as
in a program, and is sent back.

The first two send a prompt to a model and read its text. The third is an LMP: its program runs in
the sandbox and asks the scene for positions, and what it leaves is the answer. A text that is no
answer goes back once with the reason, as a program that is none does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import published
from benchmarks.models import MODEL_OPTIONS, FixedAnswer, Meter, check_model_of, model_of, seed_of
from benchmarks.reasoning.answers import Malformed, as_text, read_names, read_points, wrong
from benchmarks.reasoning.questions import QUESTIONS, PosedQuestion, put
from benchmarks.suite import (
    REPAIRED,
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_options,
    load_prompts,
    program_limits,
)
from cap.engine.standalone_lmp import LMP
from cap.errors import ModelError, NotFound
from cap.models.base import Model, Request
from cap.prompt.context import Context
from cap.prompt.prompt import PastTurn, Prompt
from cap.result import Failure, plain
from cap.sandbox.limits import Limits

SYSTEM = (
    "The user's message is a list of questions about objects on a table: each in a comment, with "
    "its answer below. Positions are (x, y) in metres; x points right, y points up. Answer only "
    "the last question, in the form of the answers before it, in words and numbers. Write no "
    "program."
)
"""The system message of a chat model that is to answer in language."""
MAX_TOKENS = 1024
"""Of an answer in language: steps take room."""
_WRONG_KIND = "WrongKind"
"""What the engine calls the failure of a program whose value is not of the kind asked for."""
LMPS = {"object": "parse_obj_name", "position": "parse_position"}
"""The prompt that answers each kind of question with a program."""


@dataclass(frozen=True)
class Response:
    """The result of asking once."""

    text: str
    """The program, or the text of the answer."""
    missed: str = ""
    """What is wrong, or ""."""
    cause: str = ""
    """Who is to blame for that, or ""."""
    calls: int = 0
    """Calls of primitives."""
    malformed: bool = False
    """There was no answer of the kind asked for."""
    sent_back: bool = False
    """It is the second one: the first could not be used."""


def right_answer(asked: PosedQuestion, arm: str) -> str:
    """Return the right answer in the form of an arm."""
    return asked.program if arm == "lmp" else f"answer = {as_text(asked.question, asked.answer)!r}"


def fixed_answer(name: str, asked: PosedQuestion, arm: str) -> FixedAnswer | None:
    """Return what stands in a model's place: the oracle, or one that says nothing; else None."""
    if name == "no-op":
        return FixedAnswer("fixed", "pass" if arm == "lmp" else "I cannot say.")
    return FixedAnswer("fixed", right_answer(asked, arm)) if name == "oracle" else None


def in_words(asked: PosedQuestion, model: Model, prompt: Prompt, *, repairs: bool) -> Response:
    """Ask for an answer in language, once more if it is none, and compare it.

    Args:
        asked: The question.
        model: Whom to ask.
        prompt: With examples of answers.
        repairs: Whether an answer that cannot be read is sent back.
    """
    scene = asked.scene
    facts = {"objects": scene.objects, "positions": dict(scene.positions)}
    context = Context.of(facts).text
    response = Response("")
    history: list[PastTurn] = []
    for _ in range(2 if repairs else 1):
        text = prompt.render(asked.words, context, history)
        request = Request(text, prompt.header.stop, max_tokens=MAX_TOKENS, system=SYSTEM)
        try:
            text = model.complete(request).said().strip()
        except ModelError as error:
            why = f"{type(error).__name__}: {error}"
            return Response("", why, "model", sent_back=bool(history))
        # Up to the first stop string after something was said.
        text = text[
            : min((at for at in map(text.find, prompt.header.stop) if at > 0), default=None)
        ]
        try:
            if asked.question.kind == "object":
                given: Any = read_names(text, scene.objects, asked.words)
            else:
                given = read_points(text, asked.words)
        except Malformed as error:
            why = f"malformed answer: {error}"
            response = Response(text, why, "model", malformed=True, sent_back=bool(history))
            history = [PastTurn(asked.words, text, context, note=f"{error}; answer it once more")]
        else:
            return _compared(asked, given, Response(text, sent_back=bool(history)))
    return response


def in_code(
    asked: PosedQuestion, model: Model, prompts: Mapping[str, Prompt], *, seed: int, limits: Limits
) -> Response:
    """Ask for a program that finds the answer, run it, and compare what it found."""
    scene = asked.scene

    def get_obj_pos(name: str) -> Any:
        """Return where an object is: x and y in metres, shape (2,)."""
        if name not in scene.positions:
            raise NotFound(f"no object {name!r}; there are {', '.join(scene.objects)}")
        return scene.at(name)

    shared: dict[str, Any] = {
        "functions": {"get_obj_pos": get_obj_pos},
        "variables": {"objects": scene.objects},
        "seed": seed,
        "limits": limits,
    }
    lmps = {"parse_obj_name": LMP(prompts["parse_obj_name"], model, **shared)}
    if asked.question.kind == "object":
        lmp = lmps["parse_obj_name"]
    else:
        lmp = LMP(prompts["parse_position"], model, lmps=lmps, **shared)
    with lmp:
        answer = lmp.run(asked.words)
    source = answer.source if answer.program else answer.completion
    response = Response(source, calls=len(answer.result.calls), sent_back=answer.attempts > 1)
    if (failure := answer.result.failure) is None:
        return _compared(asked, answer.result.value, response)
    # A value of another kind, or an answer that is no program.
    malformed = failure.error == _WRONG_KIND or (not answer.program and bool(answer.completion))
    return replace(response, missed=str(failure), cause=_blamed(failure), malformed=malformed)


def _compared(asked: PosedQuestion, given: Any, reply: Response) -> Response:
    missed = wrong(asked.question, asked.answer, given)
    return reply if missed is None else replace(reply, missed=missed, cause="task")


def _blamed(failure: Failure) -> str:
    """Return who is to blame: there is no robot here, so what a primitive refuses is a mistake."""
    return "program" if failure.robot else str(failure.cause)


TASKS = {
    f"{kind}-selection": [question for question in QUESTIONS if question.kind == kind]
    for kind in ("object", "position")
}
"""The questions of each task."""
ARMS = ("direct", "step-by-step", "lmp")
"""The splits."""
OPTIONS = ("limits", *MODEL_OPTIONS)
"""What `Settings.options` may hold."""


class ReasoningSuite(BaseSuite):
    """Two tasks under three arms."""

    name = "reasoning"
    about = "questions about a scene, in words and by program"
    version = "7"
    takes = ("prompts",)

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        check_options(settings, OPTIONS)
        program_limits(settings.options.get("limits", {}))
        check_model_of(settings)
        load_prompts(settings.prompts, tuple(LMPS.values()))

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every task under every arm."""
        return tuple((task, arm) for task in TASKS for arm in ARMS)

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Ask one question once.

        Raises:
            UsageError: The settings name a model or prompts that do not exist.
            MissingKey: The model needs a key and none is set.
        """
        questions = TASKS[trial.task]
        asked = put(questions[trial.seed % len(questions)], trial.seed)
        fixed = fixed_answer(settings.model, asked, trial.split)
        known = {"": right_answer(asked, trial.split)}
        meter = Meter(fixed or model_of(settings, trial, known, asked.scene.objects))
        reply = _ask(asked, trial, settings, meter)
        extra = _evidence(asked)
        extra |= {"malformed": True} if reply.malformed else {}
        extra |= {REPAIRED: True} if reply.sent_back else {}
        outcome = Outcome(
            success=not reply.cause,
            cause=reply.cause,
            instruction=asked.words,
            program=reply.text,
            failure=reply.missed,
            calls=reply.calls,
            extra=extra,
        )
        return meter.settled(outcome)

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return the paper's value for a cell, in percent of its own questions."""
        return published.rates(__file__, task, split)


def _ask(asked: PosedQuestion, trial: Trial, settings: Settings, meter: Meter) -> Response:
    kind = asked.question.kind
    if trial.split != "lmp":
        folder = f"{settings.prompts}-{trial.split}"
        repairs = bool(getattr(meter, "repairs", True))
        return in_words(asked, meter, load_prompts(folder, (kind,))[kind], repairs=repairs)
    prompts = load_prompts(settings.prompts, tuple(LMPS.values()))
    seed = seed_of(trial)
    limits = program_limits(settings.options.get("limits", {}))
    return in_code(asked, meter, prompts, seed=seed, limits=limits)


def _evidence(asked: PosedQuestion) -> dict[str, Any]:
    """Return what a reader needs to check the verdict."""
    return {
        "question": asked.question.name,
        "right": plain(asked.answer),
        "scene": {name: list(where) for name, where in asked.scene.positions.items()},
    }
