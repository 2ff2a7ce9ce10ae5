"""The tabletop tasks as a Gymnasium environment: an action is a program, or an instruction.

An episode is one trial of the suite `tabletop`: `reset(seed=n)` is the trial of that seed, scene,
words and goal. A step runs a program through check and sandbox, or lets a model write one for an
instruction. The reward is 1 once the task's judge finds the world as it was asked for, and the
episode ends there; else it is 0. A failure of a program is no error: it is in the next
observation, and the episode goes on.
"""

from __future__ import annotations

import string
from collections import UserDict
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from gymnasium import Env, spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from benchmarks.tabletop.judge import judge
from benchmarks.tabletop.oracles import oracle
from benchmarks.tabletop.suite import CELLS
from benchmarks.tabletop.trial_sampler import Setup, prepare
from cap.checker.library_arguments import require
from cap.errors import UsageError, did_you_mean
from cap.models.base import Model
from cap.robot import registry
from cap.session.session import Session
from cap.session.settings import SessionSettings
from robots.ravens import create

MOST_STEPS = 5
"""Steps of an episode, unless `gymnasium.make(..., max_episode_steps=N)` says otherwise."""
MOST_OBJECTS = 12
"""Rows of `positions`; no task has more objects."""
MOST_CHARS = 4000
"""Of an action, and of each text of an observation."""
_CHARSET = frozenset(string.printable) - frozenset("\r\x0b\x0c")
_FARTHEST_M = 2.0
_MOST_PIXELS = 2048
"""Width and height of a picture."""

Observation = dict[str, Any]


class RavensEnvironment(Env[Observation, str]):
    """One tabletop task on the robot `ravens`.

    Observation: `instruction`, the task in words; `objects`, the names, with commas; `positions`,
    where each is, xyz in metres, in the order of the names, 0 in the rows after them; `feedback`,
    the result of the last action; `image`, the table from above, unless it is left out.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012  Gymnasium's form

    def __init__(
        self,
        task: str = "pick-and-place",
        split: str | None = None,
        action: Literal["program", "instruction"] = "program",
        model: str | Model = "nearest",
        mode: str = "instant",
        image: int = 120,
        render_mode: str | None = None,
    ) -> None:
        """Name what is to be done.

        Args:
            task: A task of the suite `tabletop`.
            split: One of the task's; by default the first it has.
            action: What an action is: Python, or words that `model` writes a program for.
            model: By name, or a model itself; programs ask it too where they call an LMP.
            mode: `instant` or `physics`.
            image: Width and height of the pictures in observations; 0 leaves them out.
            render_mode: `rgb_array`, or None.

        Raises:
            UsageError: There is no such task, split, kind of action or model, or no such picture.
        """
        splits = [known for name, known in CELLS if name == task]
        if not splits:
            names = list(dict.fromkeys(name for name, _ in CELLS))
            hint = did_you_mean(str(task), names) or f" Known: {', '.join(names)}"
            raise UsageError(f"no task '{task}'.{hint}")
        if split is not None and split not in splits:
            raise UsageError(f"task '{task}' has no split '{split}'; it has {', '.join(splits)}")
        if action not in ("program", "instruction"):
            raise UsageError(f"no action '{action}'; it is 'program' or 'instruction'")
        if type(image) is not int or not 0 <= image <= _MOST_PIXELS:
            raise UsageError(f"image is {image!r}; it is a width in pixels, 0 to {_MOST_PIXELS}")
        self.task, self.split, self.render_mode = task, split or splits[0], render_mode
        self._cell = CELLS[self.task, self.split]
        self._by_words, self._mode, self._image = action == "instruction", mode, image
        if isinstance(model, str):
            from cap.models.providers import make_model

            model = make_model(model)
        self._model = model
        self._prompts = registry.robot_prompts("ravens")
        self._session: Session | None = None
        self._setup: Setup | None = None
        self._over = False
        text = spaces.Text(MOST_CHARS, min_length=0, charset=_CHARSET)
        self.action_space = spaces.Text(MOST_CHARS, min_length=1, charset=_CHARSET)
        seen: dict[str, spaces.Space[Any]] = {
            "instruction": text,
            "objects": text,
            "positions": spaces.Box(-_FARTHEST_M, _FARTHEST_M, (MOST_OBJECTS, 3), np.float64),
            "feedback": text,
        }
        if image:
            seen["image"] = spaces.Box(0, 255, (image, image, 3), np.uint8)
        self.observation_space = spaces.Dict(seen)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: The trial's, as `cap bench run tabletop --seed` has it; drawn if None.
            options: None are known.

        Raises:
            UsageError: An option was given.
        """
        if options:
            raise UsageError(
                f"reset() has no options and was given {options!r:.80}; say what is to be done to "
                "gymnasium.make(), and which trial with seed="
            )
        super().reset(seed=seed)
        trial = int(self.np_random.integers(2**31)) if seed is None else seed
        self.close()
        self._over = False
        setup = prepare(self._cell.task, self._cell.attributes, self.split, trial)
        robot = create(
            seed=setup.scene_seed,
            mode=self._mode,
            objects=setup.objects,
            disturbances=dict(self._cell.noise),
        )
        settings = SessionSettings(seed=trial, prompts=self._prompts)
        self._setup, self._session = setup, Session(robot, self._model, settings)
        return self._observation(""), {"task": self.task, "split": self.split, "seed": trial}

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out a program or an instruction.

        Raises:
            UsageError: No episode has begun, or the action is no text.
            ResetNeeded: The episode is over.
        """
        session, setup = self._running()
        if self._over:
            raise ResetNeeded("the episode is over: its task is done; call reset() first")
        require("the action", action, str)
        if self._by_words:
            words = action if action.strip() else "nothing"
            turn = session.run(words)
        else:
            turn = session.execute(action, setup.instruction)
        robot: Any = session.robot
        missed = judge(setup.goal, setup.before, robot.positions(), robot.spoken)
        result = "" if turn.failure is None else str(turn.failure)
        feedback = "\n".join(filter(None, (turn.stdout.rstrip(), result or turn.effect.line)))
        self._over = done = missed is None
        # Vector environments merge the dictionaries of all environments, entry by entry; a turn
        # is one value of one environment, whatever it holds.
        info = {"success": done, "missed": missed, "turn": UserDict(turn.as_json())}
        return self._observation(feedback), float(done), done, False, info

    def oracle(self) -> str:
        """Return the program by which a person solved this episode's task.

        Raises:
            UsageError: No episode has begun.
        """
        return oracle(self._cell.task, self._running()[1].words)

    def render(self) -> NDArray[np.uint8] | None:
        """Return the table from above, 480 by 480 pixels, if `render_mode` is `rgb_array`."""
        return self._picture(480) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """End the episode and its robot."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _running(self) -> tuple[Session, Setup]:
        if self._session is None or self._setup is None:
            raise UsageError("no episode has begun; call reset() first")
        return self._session, self._setup

    def _observation(self, feedback: str) -> Observation:
        session, setup = self._running()
        where: Mapping[str, tuple[float, float, float]] = session.robot.positions()
        rows = np.zeros((MOST_OBJECTS, 3))
        rows[: len(where)] = list(where.values())
        seen = {
            "instruction": _shown(setup.instruction),
            "objects": _shown(", ".join(where)),
            "positions": np.clip(rows, -_FARTHEST_M, _FARTHEST_M),
            "feedback": _shown(feedback),
        }
        if self._image:
            seen["image"] = self._picture(self._image)
        return seen

    def _picture(self, size: int) -> NDArray[np.uint8]:
        robot: Any = self._running()[0].robot
        return np.asarray(robot.render(size, size).convert("RGB"), np.uint8)


def _shown(text: str) -> str:
    """Return a text as the space of texts holds it."""
    return "".join(char if char in _CHARSET else "?" for char in text)[:MOST_CHARS]
