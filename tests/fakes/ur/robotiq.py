"""The simulated Robotiq gripper: the ASCII protocol of its socket."""

from __future__ import annotations

_OPEN, _CLOSED = 3, 230
_CLEARANCE = 20
"""What they hold is narrower than they were open around it by so many positions."""


class Robotiq:
    """Fingers that move a third of the way at each look, and stop at what they hold."""

    jammed_at: int | None = None
    """Position beyond which something keeps them from opening."""

    def __init__(self, holds: bool) -> None:
        self.holds = holds
        self.stuck = False
        self._touch = 120
        self._variables = {"ACT": 0, "GTO": 0, "POS": _OPEN, "PRE": 0, "SPE": 0, "FOR": 0}

    @property
    def asked(self) -> int:
        """Position it was last told to go to."""
        return self._variables["PRE"]

    @property
    def closed(self) -> bool:
        """Whether it was last told to close."""
        return self._variables["PRE"] > 127

    def answer(self, line: str) -> str:
        """Return the answer to `SET name value ...` or `GET name`."""
        words = line.split()
        if words[:1] == ["SET"] and len(words) % 2 == 1:
            for name, value in zip(words[1::2], words[2::2], strict=True):
                self._variables["PRE" if name == "POS" else name] = int(value)
            if self._variables["PRE"] < _CLOSED:
                self._touch = min(_CLOSED - 1, max(_OPEN, self._variables["PRE"]) + _CLEARANCE)
            return "ack"
        if words[:1] == ["GET"] and len(words) == 2:
            return f"{words[1]} {self._value(words[1])}"
        return "?"

    def _value(self, name: str) -> int:
        if name in ("OBJ", "POS"):
            self._move()
        if name == "STA":
            return 3 if self._variables["ACT"] else 0
        if name == "OBJ":
            return self._object()
        return self._variables.get(name, 0)

    def _goal(self) -> int:
        wanted = min(_CLOSED, max(_OPEN, self._variables["PRE"]))
        if self.jammed_at is not None and wanted < self.jammed_at:
            return self.jammed_at
        return min(wanted, self._touch) if self.holds and wanted == _CLOSED else wanted

    def _move(self) -> None:
        if self._variables["ACT"] and self._variables["GTO"] and not self.stuck:
            left = self._goal() - self._variables["POS"]
            self._variables["POS"] += max(-90, min(90, left))

    def _object(self) -> int:
        """Return 0 moving, 1 or 2 stopped by an object while opening or closing, 3 there."""
        if self._variables["POS"] != self._goal():
            return 0
        if self.jammed_at is not None and self._variables["POS"] == self.jammed_at:
            return 1
        return 2 if self.holds and self._goal() == self._touch else 3
