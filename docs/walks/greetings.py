"""A suite in Python: one task, its oracle program and its judge."""

from typing import Any

import numpy as np

from benchmarks.robot_suite import RobotCase, RobotSuite, RobotTask


def hello(rng: np.random.Generator, robot: Any) -> RobotCase:
    name = str(rng.choice(robot.get_obj_names()))

    def missed(robot: Any) -> str | None:
        return None if f"hello {name}" in robot.spoken else f"it did not greet the {name}"

    return RobotCase((f"say hello to the {name}",), f"say('hello {name}')", missed)


def suite() -> RobotSuite:
    return RobotSuite("greetings", "1", "ravens", [RobotTask("hello", hello)])
