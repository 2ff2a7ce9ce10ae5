"""RTDE on the wire: versions, recipes and data packages, and the registers a control script uses.

`ur_rtde` uploads a script of its own by the secondary interface; it then takes commands from input
registers and tells its state in output registers. The script is not interpreted here: `Commands`
does what it does, for the commands that matter (numbers as in that script, 1.6.5).
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Iterator

from tests.fakes.ur.arm import MODE_NUMBERS, SAFETY_NUMBERS, Move, SimulatedArm
from tests.fakes.ur.runner import Runner

_VERSION = (5, 11, 1, 108318)
_CODES = {
    "INT32": "i",
    "UINT32": "I",
    "UINT64": "Q",
    "UINT8": "B",
    "BOOL": "?",
    "DOUBLE": "d",
    "VECTOR3D": "3d",
    "VECTOR6D": "6d",
    "VECTOR6INT32": "6i",
    "VECTOR6UINT32": "6I",
}
_TYPES = {
    "timestamp": "DOUBLE",
    "actual_q": "VECTOR6D",
    "actual_qd": "VECTOR6D",
    "actual_TCP_pose": "VECTOR6D",
    "actual_TCP_speed": "VECTOR6D",
    "robot_mode": "INT32",
    "safety_mode": "INT32",
    "runtime_state": "UINT32",
    "robot_status_bits": "UINT32",
    "safety_status_bits": "UINT32",
    "actual_digital_output_bits": "UINT64",
    "standard_digital_output_mask": "UINT8",
    "standard_digital_output": "UINT8",
    "configurable_digital_output_mask": "UINT8",
    "configurable_digital_output": "UINT8",
    "tool_digital_output_mask": "UINT8",
    "tool_digital_output": "UINT8",
    "standard_analog_output_mask": "UINT8",
    "standard_analog_output_type": "UINT8",
    "standard_analog_output_0": "DOUBLE",
    "standard_analog_output_1": "DOUBLE",
    "speed_slider_mask": "UINT32",
    "speed_slider_fraction": "DOUBLE",
    "external_force_torque": "VECTOR6D",
}
_PATIENCE = 100
"""The watchdog waits for so many times its period while whoever feeds it is connected."""
_STOPPED, _PLAYING = 1, 2
_READY, _DONE = 1, 2


def type_of(name: str) -> str:
    """Return the type of a variable as RTDE names it."""
    if "_int_register_" in name:
        return "INT32"
    if "_double_register_" in name:
        return "DOUBLE"
    return _TYPES.get(name, "NOT_FOUND")


class Commands:
    """What the uploaded control script does with its registers."""

    def __init__(self, arm: SimulatedArm, runner: Runner) -> None:
        self._arm = arm
        self._runner = runner
        self._state = 0
        self._waits = False
        self._inputs: dict[str, float] = {}
        self._operation = 0
        self._alone = False
        self._answer = False
        self._least_hz = 0.0
        self._fed_s = 0.0
        self._fed_by: object | None = None

    def read(self, name: str) -> float:
        """Return an output register."""
        if name == "output_int_register_0":
            return float(self._state)
        if name == "output_int_register_1":
            return float(self._answer)
        if name == "output_int_register_2":
            return float(self._operation << 24 | self._alone << 15)
        return 0.0

    def leave(self, connection: object) -> None:
        """Note that a connection has ended."""
        if self._fed_by is connection:
            self._fed_by = None

    def write(self, values: dict[str, float], connection: object) -> None:
        """Take input registers and outputs that came by a connection."""
        self._inputs |= values
        if "input_int_register_0" in values:
            self._fed_s, self._fed_by = time.monotonic(), connection
        for kind in ("standard", "tool", "configurable"):
            mask = int(values.get(f"{kind}_digital_output_mask", 0))
            for number in range(8):
                if mask >> number & 1:
                    on = bool(int(values[f"{kind}_digital_output"]) >> number & 1)
                    self._arm.outputs[kind, number] = on
        self.advance()

    def advance(self) -> None:
        """Go on as far as the script comes by now."""
        if self._least_hz:
            unfed_s = (time.monotonic() - self._fed_s) * self._least_hz
            # A slow machine may starve the one that feeds it; one that has gone feeds it no more.
            if unfed_s > (1.0 if self._fed_by is None else _PATIENCE):
                self._runner.kill()
        if not self._runner.controlled:
            self._state, self._waits, self._alone, self._least_hz = 0, False, False, 0.0
            return
        self._alone = self._alone and self._arm.moving
        command = int(self._inputs.get("input_int_register_0", 0))
        if self._waits:
            if not self._arm.moving:
                self._state, self._waits = _DONE, False
        elif self._state == 0 or (self._state == _DONE and command == 0):
            self._state = _READY
        if self._state == _READY and command:
            self._take(command)

    def _take(self, command: int) -> None:
        if command == 255:
            self._runner.kill()
            self._state = 0
            return
        if command in (1, 3):
            self._move("movej" if command == 1 else "movel")
        elif command in (33, 34):
            self._arm.halt()
        elif command in (36, 37):
            self._answer = command == 37 or self._arm.reaches(self._doubles()[:6])
        elif command == 35:
            self._least_hz = self._inputs["input_double_register_0"]
        self._state = 0 if self._waits else _DONE

    def _doubles(self) -> list[float]:
        return [self._inputs.get(f"input_double_register_{n}", 0.0) for n in range(8)]

    def _move(self, kind: str) -> None:
        numbers = self._doubles()
        self._runner.move(
            Move(
                "movej" if kind == "movej" else "movel",
                tuple(numbers[:6]),
                speed=numbers[6],
                acceleration=numbers[7],
            )
        )
        self._alone = bool(self._inputs.get("input_int_register_1", 0))
        self._waits = not self._alone
        self._operation = (self._operation + self._alone) % 128


class RtdeClient:
    """One connection: its recipes, and the packages sent to it."""

    def __init__(self, arm: SimulatedArm, runner: Runner, commands: Commands) -> None:
        self._arm = arm
        self._runner = runner
        self._commands = commands
        self._outputs: list[tuple[str, struct.Struct]] = []
        self._recipes: list[list[str]] = []
        self.period_s = 0.008
        """Seconds between packages."""
        self.started = False
        """Whether packages were asked for."""

    async def messages(self, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        """Return the next message's type and body."""
        size, kind = struct.unpack("!HB", await reader.readexactly(3))
        return kind, await reader.readexactly(size - 3)

    def answer(self, kind: int, body: bytes) -> bytes:
        """Return the answer to a message, or nothing."""
        match chr(kind):
            case "V":
                return _message("V", struct.pack("!B", 1))
            case "v":
                return _message("v", struct.pack("!4I", *_VERSION))
            case "O":
                (frequency,) = struct.unpack("!d", body[:8])
                self.period_s = 1.0 / frequency
                names = _names(body[8:])
                self._outputs = [(n, struct.Struct(f"!{_CODES[type_of(n)]}")) for n in names]
                return _message("O", b"\x01" + _types(names))
            case "I":
                self._recipes.append(_names(body))
                number = struct.pack("!B", len(self._recipes))
                return _message("I", number + _types(self._recipes[-1]))
            case "S" | "P":
                self.started = chr(kind) == "S"
                return _message(chr(kind), b"\x01")
            case "U":
                if body[0] <= len(self._recipes):  # of a connection before this one it knows none
                    self._commands.write(dict(self._inputs(body)), self)
                return b""
        return b""

    @property
    def tells_joints(self) -> bool:
        """Whether its packages hold the joints: the library's control connection has them not."""
        return any(name == "actual_q" for name, _ in self._outputs)

    def package(self) -> bytes:
        """Return a data package with the outputs asked for."""
        self._runner.advance()
        self._commands.advance()
        body = b"".join(self._value(name, form) for name, form in self._outputs)
        return _message("U", b"\x01" + body)

    def _inputs(self, body: bytes) -> Iterator[tuple[str, float]]:
        offset = 1
        for name in self._recipes[body[0] - 1]:
            code = f"!{_CODES[type_of(name)]}"
            values = struct.unpack_from(code, body, offset)
            offset += struct.calcsize(code)
            yield name, values[0]

    def _value(self, name: str, form: struct.Struct) -> bytes:
        if name.startswith("output_double_"):
            return form.pack(self._commands.read(name))
        if name.startswith("output_"):
            return form.pack(int(self._commands.read(name)))
        if name == "actual_q":
            return form.pack(*self._arm.joints)
        if name == "actual_qd":
            return form.pack(*self._arm.joint_speeds)
        if name == "actual_TCP_pose":
            return form.pack(*self._arm.pose)
        if name == "timestamp":
            return form.pack(self._arm.advance())
        if form.format[-1] in "iIQB":
            return form.pack(self._number(name))
        return bytes(form.size)

    def _number(self, name: str) -> int:
        powered = self._arm.mode in ("idle", "running")
        numbers = {
            "robot_mode": MODE_NUMBERS[self._arm.mode],
            "safety_mode": SAFETY_NUMBERS[self._arm.safety],
            "runtime_state": _PLAYING if self._runner.running else _STOPPED,
            "robot_status_bits": powered | self._runner.running << 1,
            "safety_status_bits": _safety_bits(self._arm.safety),
            "actual_digital_output_bits": self._arm.output_bits,
        }
        return numbers.get(name, 0)


def _safety_bits(safety: str) -> int:
    bits = {
        "normal": 0,
        "reduced": 1,
        "protective_stop": 2,
        "safeguard_stop": 4,
        "emergency_stop": 6,
        "fault": 9,
    }
    stopped = safety not in ("normal", "reduced")
    emergency = safety == "emergency_stop"
    return 1 << bits[safety] | emergency << 7 | stopped << 10


def _names(text: bytes) -> list[str]:
    """Return the names in a list that may end with a comma."""
    return [name for name in text.decode().split(",") if name]


def _types(names: list[str]) -> bytes:
    return ",".join(type_of(name) for name in names).encode()


def _message(kind: str, body: bytes) -> bytes:
    return struct.pack("!HB", 3 + len(body), ord(kind)) + body
