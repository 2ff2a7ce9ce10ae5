"""A tabletop that passes for a real one: it cannot go back, but may have a twin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robots.ravens import create


class Hardware:
    """A tabletop behind the face of a robot that keeps no snapshots."""

    name = "real"
    simulated = False

    def __init__(self, objects: Sequence[str], seed: int = 0) -> None:
        self.objects = objects
        self.table = create(mode="instant", objects=objects, seed=seed)
        self.stopped = 0

    def primitives(self) -> Any:
        return self.table.primitives()

    def context(self) -> Any:
        return self.table.context()

    def positions(self) -> Any:
        return self.table.positions()

    def stop(self) -> None:
        self.stopped += 1

    def close(self) -> None:
        self.table.close()


class TwinnedHardware(Hardware):
    """With a twin in the scene as it is."""

    def __init__(self, objects: Sequence[str], seed: int = 0) -> None:
        super().__init__(objects, seed)
        self.twins: list[Any] = []

    def twin(self) -> Any:
        twin = create(mode="instant", objects=self.objects)
        twin.restore(self.table.snapshot())
        self.twins.append(twin)
        return twin
