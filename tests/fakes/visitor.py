"""A browser without a browser: it speaks viser's protocol to a page that is served."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

WAIT_S = 60.0
"""How long anything may take; nothing here is a measurement."""


class Served:
    """`cap serve` in a process of its own."""

    def __init__(self, *arguments: str, cwd: Path) -> None:
        command = [sys.executable, "-m", "cap", "serve", "--port", "0", *arguments]
        self.process = subprocess.Popen(
            command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout is not None
        self.told = ""
        for line in self.process.stdout:
            self.told += line
            if found := re.search(r"open http://(\S+)/\?token=(\S+)", line):
                self.host, self.token = found.groups()
                return
        raise AssertionError(f"no link: {self.told}")

    @property
    def link(self) -> str:
        return f"http://{self.host}/?token={self.token}"

    def end(self, number: int = signal.SIGTERM) -> int:
        """Tell it to end, if it has not; return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.told += self.process.communicate(timeout=WAIT_S)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode


@contextmanager
def served(*arguments: str, cwd: Path) -> Iterator[Served]:
    """Serve a page, and end it; a test that needs one is skipped without its extras."""
    pytest.importorskip("viser", reason="the extra 'web' is not installed")
    pytest.importorskip("mujoco", reason="the extra 'sim' is not installed")
    page = Served(*arguments, cwd=cwd)
    try:
        yield page
    finally:
        page.end()


class Visitor:
    """Sees what a browser would be sent, and presses what a person would."""

    def __init__(self, page: Served) -> None:
        import viser
        from websockets.sync.client import connect

        self._socket = connect(
            f"ws://{page.host}/?token={page.token}",
            subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
            max_size=None,
            compression=None,
            open_timeout=WAIT_S,
        )
        self.elements: dict[str, dict[str, Any]] = {}
        """By uuid: what the panel holds."""
        self.notices: dict[str, str] = {}
        """Titles of the notices over the scene, by uuid."""
        self.positions: dict[str, tuple[float, ...]] = {}
        """Of each body that was moved."""
        self.arrivals: list[tuple[float, str]] = []
        """When a position came, and of what."""
        camera = {"wxyz": [1, 0, 0, 0], "position": [1, 1, 1], "look_at": [0, 0, 0]}
        camera |= {"fov": 1.0, "near": 0.01, "far": 100.0, "up_direction": [0, 0, 1]}
        self._send("ViewerCameraMessage", **camera, image_height=600, image_width=800)

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _send(self, kind: str, **values: Any) -> None:
        import msgspec

        self._socket.send(msgspec.msgpack.encode({"type": kind, **values}))

    def hear(self, seconds: float = 0.2) -> bool:
        """Take in what comes next; False if nothing does."""
        import msgspec
        import zstandard

        try:
            frame = self._socket.recv(timeout=seconds)
        except TimeoutError:
            return False
        assert isinstance(frame, bytes)
        size = int.from_bytes(frame[8:16], "little")
        inner = zstandard.ZstdDecompressor().decompress(frame[16 : 16 + size])
        for message in msgspec.msgpack.decode(inner)["messages"]:
            kind = message["type"]
            if kind.startswith("Gui") and "props" in message:
                self.elements[message["uuid"]] = {"kind": kind, **message["props"]}
                self.elements[message["uuid"]]["value"] = message.get("value")
            elif kind == "GuiUpdateMessage":
                self.elements.setdefault(message["uuid"], {}).update(message["updates"])
            elif kind == "NotificationShowMessage":
                self.notices[message["uuid"]] = message["props"]["title"]
            elif kind == "RemoveNotificationMessage":
                self.notices.pop(message["uuid"], None)
            elif kind == "GuiRemoveMessage":
                self.elements.pop(message["uuid"], None)
            elif kind == "SetPositionMessage":
                self.positions[message["name"]] = tuple(message["position"])
                self.arrivals.append((time.monotonic(), message["name"]))
        return True

    def until(self, condition: Callable[[Visitor], Any], seconds: float = WAIT_S) -> Any:
        """Take in what comes until something is so; return it."""
        last_s = time.monotonic() + seconds
        while not (found := condition(self)):
            assert time.monotonic() < last_s, self.text
            self.hear()
        return found

    @property
    def text(self) -> str:
        """All that the panel tells, without its marks."""
        contents = [str(one.get("content", "")) for one in self.elements.values()]
        contents = [content for content in contents if not content.startswith("<style>")]
        return re.sub(r"<[^>]+>", " ", "\n".join(contents))

    def element(self, label: str) -> str:
        """Return the uuid of the element with a label; of several, the newest."""

        return str(
            self.until(
                lambda self: next(
                    (u for u in reversed(self.elements) if self.elements[u].get("label") == label),
                    "",
                )
            )
        )

    def field(self, label: str) -> str:
        """Return what stands in a field."""
        return str(self.elements[self.element(label)].get("value") or "")

    def write(self, label: str, text: str) -> None:
        """Type into a field."""
        uuid = self.element(label)
        self._send("GuiUpdateMessage", uuid=uuid, updates={"value": text})

    def press(self, label: str) -> None:
        """Press a button, once it can be pressed."""
        self.until(lambda self: not self.elements[self.element(label)].get("disabled"))
        self.click(self.element(label))

    def click(self, uuid: str) -> None:
        """Click on a button, as it is."""
        self._send("GuiUpdateMessage", uuid=uuid, updates={"value": True})

    def ask(self, words: str) -> None:
        """Type an instruction, and Enter."""
        self.write("Instruction", f"{words}\n")
