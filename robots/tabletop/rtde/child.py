"""The process that `ur_rtde` runs in; `driver` starts it and talks to it in JSON.

It is a process of its own because the library's constructors keep every Python thread waiting for
as long as a controller takes to answer, an answer it does not expect ends the process, and after a
lost connection it connects again and repeats the command by itself. Here the first two cannot
touch the person's program, and the last ends this process instead.

It needs nothing but the standard library and `ur_rtde`. It feeds the controller's watchdog: if it
dies, or the network does, the controller ends the motion.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

_RATE_HZ = 125.0
_TICK_S = 0.05
_LEAST_KICKS_HZ = 4.0
"""The controller ends the motion if it hears from us less often."""
_STOPL_MPS2 = 1.5
_CLOSE_S = 3
_AT_REST_RADPS = 0.005
_PLAYING = 2
_VARIABLES = [
    "timestamp",
    "actual_q",
    "actual_qd",
    "actual_TCP_pose",
    "robot_mode",
    "safety_mode",
    "runtime_state",
    "robot_status_bits",
    "safety_status_bits",
    "actual_digital_output_bits",
]


class Child:
    """The library's three interfaces, and one method for each request."""

    def __init__(self, host: str, answer: Callable[[dict[str, Any]], None]) -> None:
        import rtde_receive

        self._host = host
        self._answer = answer
        self._receive = rtde_receive.RTDEReceiveInterface(host, _RATE_HZ, _VARIABLES)
        self._control: Any = None
        self._io: Any = None
        self._stamp = -1.0
        self._heard_s = 0.0
        self._commanding = threading.Lock()
        threading.Thread(target=self._feed, daemon=True).start()

    def serve(self, requests: socket.socket) -> None:
        """Answer requests until the last, or until the other side is gone."""
        requests.settimeout(_TICK_S)
        while True:
            self._tick()
            try:
                received = requests.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError:  # the other side is gone, and had not read every answer
                return
            request = json.loads(received or b'{"do": "close"}')
            if request["do"] == "close":
                return
            self._reply(request)

    def state(self) -> dict[str, Any]:
        """Return the newest state and its age in seconds.

        Raises:
            ConnectionError: The library says that there is no connection any more.
        """
        self._tick()
        receive = self._receive
        if not receive.isConnected():
            raise ConnectionError("the controller closed the connection")
        return {
            "joints": receive.getActualQ(),
            "tcp_pose": receive.getActualTCPPose(),
            "mode": receive.getRobotMode(),
            "safety": receive.getSafetyMode(),
            "moving": self._moving(),
            "outputs": receive.getActualDigitalOutputBits(),
            "age_s": time.monotonic() - self._heard_s,
        }

    def prepare(self) -> dict[str, Any]:
        """Have the control script run on the controller; nothing moves."""
        try:
            self._prepare()
        except RuntimeError as error:
            raise ConnectionError(f"{error}") from error
        return {}

    def _prepare(self) -> None:
        import rtde_control

        if self._control is None:
            self._control = rtde_control.RTDEControlInterface(self._host)
        elif not self._control.isProgramRunning():
            self._control.reuploadScript()
            _until(self._control.isProgramRunning, 2.0)
        else:
            return
        self._control.setWatchdog(_LEAST_KICKS_HZ)

    def move(self, request: dict[str, Any]) -> dict[str, Any]:
        """Start a motion, if the limits set on the pendant allow its target."""
        target = request["target"]
        if self.allowed({"targets": [target]})["refused"] is not None:
            return {"allowed": False, "started": False}
        started = self._control.moveL(target, request["speed"], request["acceleration"], True)
        return {"allowed": True, "started": bool(started)}

    def allowed(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the number of the first pose that the pendant's limits do not allow."""
        allows = self._control.isPoseWithinSafetyLimits
        for number, target in enumerate(request["targets"]):
            if not (allows(target) or allows(target)):  # a question without an answer reads as no
                return {"refused": number}
        return {"refused": None}

    def stop(self) -> dict[str, Any]:
        """Brake."""
        if self._control is not None and self._control.isProgramRunning():
            self._control.stopL(_STOPL_MPS2, True)
        return {}

    def output(self, request: dict[str, Any]) -> dict[str, Any]:
        """Set a digital output."""
        import rtde_io

        if self._io is None:
            self._io = rtde_io.RTDEIOInterface(self._host)
        setters = {
            "tool": self._io.setToolDigitalOut,
            "standard": self._io.setStandardDigitalOut,
        }
        return {"set": bool(setters[request["kind"]](request["number"], request["on"]))}

    def close(self) -> None:
        """Stop the control script, and with it the arm."""
        with self._commanding:
            if self._control is None or not self._control.isProgramRunning():
                return
            if self._control.getAsyncOperationProgress() >= 0:
                self._control.stopL(_STOPL_MPS2, True)
                _until(lambda: self._control.getAsyncOperationProgress() < 0, 1.0)
            self._control.stopScript()

    def _moving(self) -> bool:
        """Return whether a motion of ours is under way, or any program where our script is not.

        The script's word comes by another connection than joints and pose, and may be ahead of
        them: the speeds tell whether those are of an arm at rest.
        """
        if max(map(abs, self._receive.getActualQd())) > _AT_REST_RADPS:
            return True
        if self._control is not None and self._control.isProgramRunning():
            return bool(self._control.getAsyncOperationProgress() >= 0)
        return bool(self._receive.getRuntimeState() == _PLAYING)

    def _reply(self, request: dict[str, Any]) -> None:
        try:
            reply: dict[str, Any] = {"ok": self._do(request)}
        except ConnectionError as error:
            reply = {"lost": f"{error}"}
        except Exception as error:  # the library says in words alone that nobody is there
            lost = f"{error}".startswith("Timeout connecting")
            reply = {"lost" if lost else "error": f"{error}"}
        self._answer(reply | {"id": request["id"]})

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "state":
            return self.state()
        with self._commanding:
            match request["do"]:
                case "prepare":
                    return self.prepare()
                case "move":
                    return self.move(request)
                case "allowed":
                    return self.allowed(request)
                case "stop":
                    return self.stop()
                case _:
                    return self.output(request)

    def _tick(self) -> None:
        """Note whether the controller has spoken since the last time."""
        stamp = self._receive.getTimestamp()
        if stamp != self._stamp:
            self._stamp, self._heard_s = stamp, time.monotonic()

    def _feed(self) -> None:
        """Feed the controller's watchdog; apart, for the library may wait 4 s to do so."""
        while True:
            with self._commanding:
                if self._control is not None and self._control.isProgramRunning():
                    self._control.kickWatchdog()
            time.sleep(_TICK_S)


def _until(done: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.005)


def _end_when_lost(lines: int, answer: Callable[[dict[str, Any]], None]) -> None:
    """Read what the library prints; end the process where it says the connection is lost."""
    with os.fdopen(lines, errors="replace") as printed:
        for line in printed:
            if "econnect" in line or "Lost connection" in line or "closed the conn" in line:
                answer({"lost": "the connection was lost"})
                os._exit(3)


def main() -> None:
    """Serve one controller: its address is the only argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    owner = socket.socket(fileno=0)

    def answer(message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            owner.send(json.dumps(message).encode())

    read, write = os.pipe()
    os.dup2(write, 1)
    os.dup2(write, 2)
    threading.Thread(target=_end_when_lost, args=(read, answer), daemon=True).start()
    try:
        child = Child(sys.argv[1], answer)
    except Exception as error:
        answer({"lost": f"{error}"})
        os._exit(1)
    answer({"ok": {}})
    child.serve(owner)
    # Where the controller has gone, the library would wait for minutes.
    signal.alarm(_CLOSE_S)
    child.close()
    # The library's destructors wait half a second each, for nothing.
    os._exit(0)


if __name__ == "__main__":
    main()
