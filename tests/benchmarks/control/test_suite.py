"""The control suite: what is measured, what passes, and who is to blame where it does not."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.control.suite import LIMITS, ControlSuite
from benchmarks.control.tasks import TASKS
from benchmarks.control.worlds import PUSHES, CartPole
from benchmarks.suite import OWN_PROMPTS, Outcome, Settings, Trial
from cap.cli.main import run as cap
from cap.errors import ModelError, PromptError, UsageError
from cap.robot.registry import load_prompts, prompts_path
from cap.session.session import Session
from cap.session.settings import SessionSettings
from tests.fakes.scripted import Scripted

pytest.importorskip("gymnasium")

SUITE = ControlSuite()
ORACLE = Settings("control", "oracle", prompts=OWN_PROMPTS["control"])
CARTPOLE = Trial("cartpole", "", 3)


@pytest.fixture
def writing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a trial whose model writes a given program."""

    def run(trial: Trial, *answer: Any, **options: Any) -> Outcome:
        monkeypatch.setattr("benchmarks.models.model_for", lambda *_: Scripted(*answer))
        return SUITE.run(trial, replace(ORACLE, model="scripted", options=options))

    return run


@pytest.fixture
def cart() -> Iterator[CartPole]:
    cart = CartPole(0)
    yield cart
    cart.close()


@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize("seed", [0, 1, 2, 1000])
def test_the_cartpole_s_oracle_keeps_the_pole_up(seed: int) -> None:
    outcome = SUITE.run(replace(CARTPOLE, seed=seed), ORACLE)
    assert (outcome.failure, outcome.success) == ("", True)
    assert outcome.extra["measured"]["upright_steps"] == PUSHES
    assert outcome.calls == 2 * PUSHES + 1 + PUSHES


@pytest.mark.parametrize(
    "law", ["1", "0", "theta < 0", "theta > 0", "-theta - 0.5 * theta_dot > 0", "x > 0"]
)
def test_wrong_laws_let_the_pole_fall(writing: Any, law: str) -> None:
    program = (
        "while not is_done():\n"
        "    x, x_dot, theta, theta_dot = get_state()\n"
        f"    push(1 if {law} else 0)\n"
    )
    outcome = writing(CARTPOLE, program)
    assert (outcome.success, outcome.cause) == (False, "task")
    steps = outcome.extra["measured"]["upright_steps"]
    assert 0 < steps < PUSHES
    assert f"upright for {steps} steps" in outcome.failure


@pytest.mark.parametrize(
    "direction", ["2", "-1", "0.5", "'left'", "None", "float('nan')", "[1]", "1j", "10**400"]
)
def test_a_push_that_is_no_direction_is_the_program_s_mistake(writing: Any, direction: str) -> None:
    outcome = writing(CARTPOLE, f"push({direction})\n")
    assert (outcome.success, outcome.cause, outcome.extra["measured"]["upright_steps"]) == (
        False,
        "program",
        0,
    )


@pytest.mark.parametrize("program", ["while True:\n    get_state()\n", "while True:\n    pass\n"])
def test_a_program_that_never_pushes_is_ended(writing: Any, program: str) -> None:
    outcome = writing(CARTPOLE, program, limits={"calls": 500, "program_s": 0.3})
    assert (outcome.success, outcome.cause) == (False, "program")


@pytest.mark.parametrize(
    ("answer", "cause"),
    [(ModelError("out of order"), "model"), ("push(", "program"), ("", "model")],
)
def test_a_model_without_a_program_is_to_blame(writing: Any, answer: Any, cause: str) -> None:
    outcome = writing(CARTPOLE, answer)
    assert (outcome.success, outcome.cause) == (False, cause)


def test_the_world_decides_not_the_program_s_end(writing: Any) -> None:
    law = "x, v, angle, turn = get_state()\n    push(1 if angle + 0.4 * turn > 0 else 0)\n"
    outcome = writing(CARTPOLE, f"while True:\n    {law}")
    assert outcome.success
    assert outcome.failure.startswith("LimitExceeded")


def test_an_undefined_law_is_generated_and_used(writing: Any) -> None:
    loop = "    direction = pd_law(s[2], s[3])\n    push(direction)\n"
    law = "def pd_law(angle, speed):\n    return 1 if angle + 0.5 * speed > 0 else 0\n"
    outcome = writing(CARTPOLE, "while not is_done():\n    s = get_state()\n" + loop, law)
    assert (outcome.failure, outcome.success, outcome.requests) == ("", True, 2)
    assert "def pd_law" in outcome.program


@pytest.mark.sweep(share=0.25)
@pytest.mark.parametrize(
    "task",
    [name if name != "impedance" else pytest.param(name, marks=pytest.mark.soak) for name in TASKS],
)
def test_every_example_of_the_prompts_runs(task: str) -> None:
    prompt = load_prompts(prompts_path() / "control")[task]
    assert prompt.examples
    for example in prompt.examples:
        prompts = {"ui": replace(prompt, name="ui")}
        settings = SessionSettings(prompts=prompts, limits=LIMITS)
        with Session(TASKS[task].robot(0), Scripted(""), settings) as session:
            turn = session.execute(example.code)
            assert turn.failure is None, example.instruction
            assert any(call.kind == "action" for call in turn.calls)
            assert TASKS[task].judge(session.robot).missed is not None, "an example solves the task"


@pytest.mark.parametrize("task", TASKS)
def test_no_instruction_stands_in_a_prompt(task: str) -> None:
    prompt = load_prompts(prompts_path() / "control")[task]
    asked = {TASKS[task].instruction(seed) for seed in range(10)}
    assert len(asked) == 3
    assert asked.isdisjoint(example.instruction for example in prompt.examples)


def test_trials_and_cells() -> None:
    names = ("cartpole", "impedance", "tracking", "moving-target", "avoidance")
    assert SUITE.cells() == tuple((name, "") for name in names)
    assert SUITE.trials(2, 7, ["cartpole"]) == (
        Trial("cartpole", "", 7),
        Trial("cartpole", "", 8),
    )


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"options": {"limit": {}}}, UsageError),
        ({"options": {"limits": {"call": 3}}}, UsageError),
        ({"prompts": "reasoning"}, PromptError),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        SUITE.check(replace(ORACLE, **changes))


@pytest.mark.usefixtures("trials_here")
@pytest.mark.parametrize(
    ("changes", "code", "told"),
    [
        (["--tasks", "cartpole"], 2, "pip install"),
        (["-m", "vllm/"], 2, "unknown model"),
        (["-m", "openai/x"], 4, "OPENAI_API_KEY"),
        (["--prompts", "nowhere"], 2, "nowhere"),
        (["--tasks", "impedance"], 0, ""),
        (["--tasks", "impedance", "--mode", "physics"], 2, "takes no --mode"),
    ],
)
def test_what_no_episode_could_run_with_is_refused_before_the_first(
    changes: list[str],
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    asked = ["bench", "run", "control", "-m", "no-op", "-n", "1", "--out", "out", *changes]
    assert cap(asked) == code
    assert told in capsys.readouterr().err
    assert Path("out").exists() == (code == 0)
