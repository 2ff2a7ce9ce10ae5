"""The least that a fresh process for every program can cost: nothing is checked, nothing held.

One process has the libraries loaded and forks; mostly one child is ready. A program goes over as
text, calls and values as pickles. What this takes is the floor
under every sandbox of this kind.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

_SIZE = struct.Struct("<I")


class FreshProcess:
    """Runs each program in a child of its own."""

    def __init__(self, host: Mapping[str, Callable[..., Any]], *, spare: bool = True) -> None:
        """Start the process that forks.

        Args:
            host: What programs may call.
            spare: Have the next child forked ahead of its program.
        """
        self._host = host
        self._spare = spare
        self._theirs, self._requests = os.pipe()
        self._answers, self._told = os.pipe()
        orders, self._orders = os.pipe()
        if os.fork() == 0:
            os.close(self._orders)
            self._serve(orders)
        if spare:
            self._order()

    def _order(self) -> None:
        """Have a child forked."""
        os.write(self._orders, b"+")

    def run(self, source: str) -> Any:
        """Return the `ret` of a program."""
        if not self._spare:
            self._order()
        send(self._requests, source)
        while (message := receive(self._answers))[0] == "call":
            _, name, args = message
            send(self._requests, self._host[name](*args))
        if self._spare:
            self._order()
        if message[0] == "error":
            raise RuntimeError(message[1])
        return message[1]

    def _serve(self, orders: int) -> NoReturn:
        """Fork a child for each order."""
        import numpy  # noqa: F401  (as every program finds it)
        import shapely.geometry  # noqa: F401

        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended
        while os.read(orders, 1):
            if os.fork() == 0:
                try:
                    send(self._told, ["value", self._value()])
                except Exception as error:
                    send(self._told, ["error", repr(error)])
                os._exit(0)
        os._exit(0)

    def _value(self) -> Any:
        """Return the `ret` of the one program that a child runs."""
        source = receive(self._theirs)
        space: dict[str, Any] = {name: self._proxy(name) for name in self._host}
        exec(compile(source, "<program>", "exec", dont_inherit=True), space)
        return space["ret"]

    def _proxy(self, name: str) -> Callable[..., Any]:
        """Return what stands for a function of the host in a child."""

        def call(*args: Any) -> Any:
            send(self._told, ["call", name, args])
            return receive(self._theirs)

        return call


def send(descriptor: int, value: Any) -> None:
    """Write a value to a pipe."""
    data = pickle.dumps(value)
    os.write(descriptor, _SIZE.pack(len(data)) + data)


def receive(descriptor: int) -> Any:
    """Read a value from a pipe."""
    (size,) = _SIZE.unpack(os.read(descriptor, _SIZE.size))
    return pickle.loads(os.read(descriptor, size))
