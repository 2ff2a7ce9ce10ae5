#!/usr/bin/env bash
# A researcher gives the simulated arm a primitive, an example of it, a task and the task's oracle.
set -euo pipefail
mkdir swapper && cd swapper
cat > robot.py <<'END'
"""The tabletop robot, which can also swap two objects."""
from robots.base import action
from robots.ravens import RavensRobot
from robots.ravens.world import TabletopWorld
from robots.table.object_names import DEFAULT_NAMES


class Swapper(RavensRobot):
    """A UR5e at a table with blocks and bowls."""
    @action
    def swap(self, first: str, second: str) -> None:
        """Exchange the places of two objects.

        Args:
            first: An object's name.
            second: Another one's.
        """
        self.arrange_objects({first: second, second: first})


def create(*, seed=0, mode="instant", objects=None):
    return Swapper(objects or DEFAULT_NAMES, seed, "instant", TabletopWorld)
END
cp -r "$(python -c 'from cap.robot import registry; print(registry.prompts_path() / "ravens")')" prompts
sed -i 's/^from robot import point_gripper_to, say$/&, swap/' prompts/ui.py
cat >> prompts/ui.py <<'END'

objects = ['blue block', 'gray block', 'green bowl']
# swap the blue block and the gray block.
swap('blue block', 'gray block')
#= moved gray block, blue block
END
cat > tasks.py <<'END'
from math import dist
from benchmarks.robot_suite import RobotCase, RobotSuite, RobotTask


def swapped(rng, robot):
    one, other = rng.choice([name for name in robot.get_obj_names() if "block" in name], 2, False)
    before = robot.positions()[one]

    def missed(robot):
        far = dist(robot.positions()[other][:2], before[:2])
        return None if far < 0.02 else f"the {other} is {far:.2f} m from where the {one} was"

    return RobotCase((f"swap the {one} and the {other}",), f"swap('{one}', '{other}')", missed)


def suite():
    return RobotSuite("swapping", "1", "robot.py", [RobotTask("swap", swapped)])
END
cap robots check robot.py
for model in oracle no-op nearest; do
    cap bench run tasks.py -m "$model" -n 3 --jobs 1 --out "$model"
done
