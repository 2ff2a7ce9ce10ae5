"""The shared tasks: the same words for every robot, each judged on its world."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from shapely.geometry import LineString, MultiLineString

from benchmarks.drawing import judge
from benchmarks.embodiments.judge import Figure, Placement, differs, misplaced
from benchmarks.embodiments.robots import EMBODIMENTS, Embodiment
from benchmarks.embodiments.suite import TASKS, EmbodimentSuite, missed, oracle, prepare
from benchmarks.suite import Settings, Trial
from cap.errors import UsageError

SUITE = EmbodimentSuite()
TRACING = [body for body in EMBODIMENTS if body.act]
MIDDLE = np.array([0.0, -0.5])


def circle(center: np.ndarray, radius: float) -> Figure:
    return Figure(judge.circle(center, radius))


def line(start: np.ndarray, end: np.ndarray, spare_m: float = 0.0) -> Figure:
    return Figure(np.stack([start, end]), spare_m=spare_m)


def regular(center: np.ndarray, radius: float, corners: int) -> Figure:
    return Figure(judge.regular(center, radius, corners), symmetry=corners)


def settings(model: str, mode: str = "instant") -> Settings:
    return Settings(suite="embodiments", model=model, mode=mode)


@pytest.mark.sweep(share=0.125)
@pytest.mark.parametrize(("task", "robot"), SUITE.cells())
def test_the_oracle_solves_it_and_doing_nothing_does_not(task: str, robot: str) -> None:
    trial = Trial(task, robot, 3)
    solved = SUITE.run(trial, settings("oracle"))
    assert solved.success, solved.failure
    assert not SUITE.run(trial, settings("no-op")).success


@pytest.mark.parametrize(
    ("task", "robot"),
    [
        ("circle-and-square", "ravens"),
        ("circle-and-square", "drawing"),
        ("in-and-out", "kitchen"),
        ("beside-a-block", "tabletop"),
    ],
)
def test_the_arms_solve_one_too(task: str, robot: str) -> None:
    pytest.importorskip("mujoco")
    outcome = SUITE.run(Trial(task, robot, 0), settings("oracle", "physics"))
    assert outcome.success, outcome.failure


def test_every_robot_is_told_the_same_words() -> None:
    told = {
        (trial.task, trial.seed, SUITE.wish(trial).instructions) for trial in SUITE.trials(5, 0)
    }
    assert len(told) == 5 * len(TASKS)
    assert len({words for _, _, words in told}) > 2 * len(TASKS)


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(
    ("task", "robot"),
    [cell for cell in SUITE.cells() if cell[0] in ("circle-and-square", "in-and-out")],
)
def test_a_session_of_instructions_is_judged_at_its_end(task: str, robot: str) -> None:
    outcome = SUITE.run(Trial(task, robot, 1), settings("nearest"))
    assert outcome.success, outcome.failure
    assert outcome.instruction.count(";") == 1


def judged(robot: str, task: str, program: str) -> str | None:
    """Return what is missed after a program in the scene of a trial."""
    (body,) = [body for body in EMBODIMENTS if body.robot == robot]
    trial = Trial(task, robot, 0)
    wish = SUITE.wish(trial)
    seed, figures = prepare(body, wish, trial.seed)
    made: Any = body.make(seed, "instant")
    before = made.positions()
    scope = {name: entry.function for name, entry in made.primitives().items()}
    exec(program, {**scope, "np": np})
    found = missed(body, wish, figures, before, made)
    made.close()
    return found


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("body", TRACING, ids=lambda body: body.robot)
@pytest.mark.parametrize(
    "change",
    ["pts = pts + [0.007, 0]", "pts = pts[:5]", "pts = 1.2 * pts - 0.2 * pts.mean(axis=0)"],
    ids=["place", "part", "size"],
)
def test_size_place_and_shape_count(body: Embodiment, change: str) -> None:
    (right,) = oracle(body, "trace", SUITE.wish(Trial("hexagon", body.robot, 0)))
    assert judged(body.robot, "hexagon", right) is None
    wrong = right.replace(body.act, f"{change}\n{body.act}")
    assert judged(body.robot, "hexagon", wrong) is not None
    assert judged(body.robot, "hexagon", right.replace(", 6)", ", 64)")) is not None


def test_the_gripper_may_go_to_the_beginning_first_but_must_end_with_the_figure() -> None:
    (program,) = oracle(EMBODIMENTS[0], "trace", SUITE.wish(Trial("hexagon", "ravens", 0)))
    assert judged("ravens", "hexagon", f"goto_pos((-0.2, -0.7))\n{program}") is None
    side_by_side = program.replace("follow_traj(pts)", "for p in pts:\n    goto_pos(p)")
    assert judged("ravens", "hexagon", side_by_side) is None
    assert judged("ravens", "hexagon", f"{program}goto_pos((-0.2, -0.7))\n") is not None


def trace(*paths: np.ndarray) -> MultiLineString:
    return MultiLineString([path.tolist() for path in paths])


def test_a_line_between_things_may_end_beside_them_but_not_far_from_them() -> None:
    wanted = [line(MIDDLE, MIDDLE + np.array([0.2, 0.0]), 0.06)]
    for low, high, right in [
        (0.0, 0.2, True),
        (0.05, 0.15, True),
        (-0.03, 0.21, False),
        (0.08, 0.2, False),
        (0.0, 0.1, False),
        (-0.1, 0.2, False),
    ]:
        found = differs(trace(MIDDLE + np.array([[low, 0], [high, 0]])), wanted)
        assert (found is None) == right, (low, high, found)
    bent = trace(MIDDLE + np.array([[0, 0], [0.1, 0.02], [0.2, 0]]))
    assert differs(bent, wanted) is not None


def dotted(path: np.ndarray, every_m: float = 0.006, long_m: float = 0.0006) -> list[np.ndarray]:
    """Return little strokes along a path."""
    found = []
    for a, b in itertools.pairwise(path):
        reach = float(np.linalg.norm(b - a))
        for s in np.arange(0, reach, every_m):
            found.append(np.stack([a + (b - a) * s / reach, a + (b - a) * (s + long_m) / reach]))
    return found


@pytest.mark.parametrize(
    "wanted",
    [
        line(MIDDLE, MIDDLE + np.array([0.2, 0.0])),
        line(MIDDLE, MIDDLE + np.array([0.24, 0.0]), 0.06),
        circle(MIDDLE, 0.06),
        regular(MIDDLE, 0.08, 3),
    ],
    ids=["line", "line between things", "circle", "triangle"],
)
def test_neither_dots_nor_ways_to_and_fro_are_a_figure(wanted: Figure) -> None:
    path = wanted.path
    assert differs(trace(path), [wanted]) is None
    assert "drawn" in (differs(trace(*dotted(path)), [wanted]) or "")
    whole = LineString(path)
    places = np.linspace(0, 1, 240)
    points = np.array([whole.interpolate(s, normalized=True).coords[0] for s in places])
    to_and_fro = points + np.outer(0.004 * (-1.0) ** np.arange(240), [0.6, 0.8])
    assert "cm are drawn" in (differs(trace(to_and_fro), [wanted]) or "")


def test_polygons_may_be_turned_each_for_itself() -> None:
    hexagon, square = regular(MIDDLE, 0.08, 6), regular(MIDDLE + np.array([0.15, 0.0]), 0.05, 4)

    def turned(figure: Figure, angle: float) -> np.ndarray:
        center = figure.path[:-1].mean(axis=0)
        c, s = np.cos(angle), np.sin(angle)
        return np.asarray(center + (figure.path - center) @ np.array([[c, s], [-s, c]]))

    assert differs(trace(turned(hexagon, 0.3), turned(square, 0.7)), [hexagon, square]) is None
    assert differs(trace(turned(hexagon, 0.3)), [hexagon, square]) is not None
    assert differs(trace(hexagon.path, square.path), [hexagon]) is not None
    assert differs(trace(circle(MIDDLE, 0.08).path), [hexagon]) is not None
    assert differs(MultiLineString([]), [hexagon]) is not None


def test_places_are_judged_by_all_that_was_asked_and_what_should_have_stayed() -> None:
    before = {"ball": (0.0, 0.0, 0.02), "box": (0.3, 0.0, 0.02), "bowl": (0.0, 0.3, 0.02)}

    def found(relation: Any, others: tuple[str, ...], ball: tuple[float, ...], **rest: Any) -> str:
        now = {**before, "ball": ball, **rest}
        wanted = [Placement("ball", relation, others)]
        return misplaced(wanted, before, now, lambda name: 0.1 if name == "bowl" else 0.02) or ""

    assert not found("in", ("bowl",), (0.0, 0.35, 0.03))
    assert found("in", ("bowl",), (0.0, 0.19, 0.03)) == "the ball is not in the bowl"
    assert not found("beside", ("bowl",), (0.0, 0.17, 0.02))
    assert "not beside" in found("beside", ("bowl",), (0.0, 0.25, 0.02))
    assert "not beside" in found("beside", ("bowl",), (0.0, 0.03, 0.02))
    assert "not beside" in found("beside", ("box",), (0.25, 0.0, 0.06))
    assert not found("between", ("box", "bowl"), (0.15, 0.16, 0.02))
    assert "not between" in found("between", ("box", "bowl"), (0.2, 0.2, 0.02))
    assert "the box moved" in found("in", ("bowl",), (0.0, 0.3, 0.03), box=(0.3, 0.1, 0.02))


def test_prompts_cannot_be_chosen() -> None:
    with pytest.raises(UsageError, match="prompts of its own"):
        SUITE.check(Settings(suite="embodiments", model="oracle", mode="instant", prompts="ravens"))


def test_an_answer_s_own_program_holds_nothing_that_a_mutant_may_break_unseen() -> None:
    (program,) = oracle(EMBODIMENTS[0], "look", SUITE.wish(Trial("is-it-seen", "ravens", 0)))
    assert "seen()" in program
    assert "bowl" not in program
    assert "put_in" not in program
