"""The host that hostile programs attack, which notes what reached it."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cap.program.scope import Scope

SECRET = "the-secret-of-this-machine"


class Host:
    """A folder with a secret, a TCP and an abstract socket, and a signal handler."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o777)
        self.folder = folder
        self.secret = folder / "secret"
        self.secret.write_text(SECRET)
        self.target = folder / "written"
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.sockets = [self.server]
        self.abstract = f"cap-canary-{os.getpid()}"
        if sys.platform == "linux":
            abstract = socket.socket(socket.AF_UNIX)
            abstract.bind("\0" + self.abstract)
            abstract.listen()
            self.sockets.append(abstract)
        for opened in self.sockets:
            opened.setblocking(False)
        self.signals: list[int] = []

    def scope(self) -> Scope:
        """Return what a program needs to know to attack this host."""
        return Scope(
            variables={
                "target": str(self.target),
                "victim": str(self.secret),
                "port": self.port,
                "abstract": self.abstract,
                "parent": os.getpid(),
            }
        )

    def marks(self) -> list[str]:
        """Return what was done to the host."""
        found = sorted(path.name for path in self.folder.iterdir() if path != self.secret)
        found += ["a signal"] if self.signals else []
        if not self.secret.exists() or self.secret.read_text() != SECRET:
            found.append("the secret was changed")
        for opened in self.sockets:
            try:
                opened.accept()[0].close()
                found.append("a connection")
            except BlockingIOError:
                pass
        return found


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """Return a host that nothing has reached."""
    host = Host(tmp_path / "host")
    before = signal.signal(signal.SIGUSR1, lambda *_: host.signals.append(1))
    yield host
    signal.signal(signal.SIGUSR1, before)
    for opened in host.sockets:
        opened.close()
