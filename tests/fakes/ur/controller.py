"""A simulated UR5e controller on loopback, speaking the ports of the real one.

    with FakeController(host="127.0.0.5") as controller:
        ...

Secondary interface (30002): robot state packets and URScript. Realtime interface (30003): URScript
only. RTDE (30004). Dashboard (29999). Robotiq gripper (63352). A person can start one:

    python -m tests.fakes.ur.controller --host 127.0.0.1

What it does not do: physics, joint limits, collisions, a path that ends with a ramp after a stop
(it stops at once), or any script beyond motions, stops, outputs and sleeps.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from robots.arm.motion import PARK
from robots.arm.ur5e import TOOL_LENGTH
from tests.fakes.ur.arm import HOME, Move, RobotMode, SafetyMode, SimulatedArm
from tests.fakes.ur.dashboard import Dashboard
from tests.fakes.ur.packets import state_packet, version_message
from tests.fakes.ur.robotiq import Robotiq
from tests.fakes.ur.rtde_wire import Commands, RtdeClient
from tests.fakes.ur.runner import Runner
from tests.fakes.ur.script import Reader

SECONDARY_PORT, REALTIME_PORT, RTDE_PORT = 30002, 30003, 30004
DASHBOARD_PORT, ROBOTIQ_PORT = 29999, 63352
_numbers = itertools.count(1)
T = TypeVar("T")


def fresh_host() -> str:
    """Return a loopback address nobody else in this process, and hardly another one, uses."""
    pid = os.getpid()
    return f"127.{1 + (pid >> 8) % 250}.{pid % 256}.{next(_numbers) % 250 + 2}"


class FakeController:
    """The controller, its arm and its gripper, in a thread of its own.

    Attributes:
        host: Where it listens.
        moves: Motions it was told to make, in order, also by programs that were stopped.
        programs: URScript it was sent, in order, one entry for each program or line.
    """

    def __init__(
        self,
        host: str | None = None,
        *,
        time_factor: float = 20.0,
        rate_hz: float = 50.0,
        robotiq: bool = True,
        holds: bool = False,
        tool_m: float = 0.0,
        joints: tuple[float, ...] = HOME,
    ) -> None:
        """Prepare it; `with` starts it.

        Args:
            host: A loopback address; a free one if left out. The ports are the real ones.
            time_factor: How much faster than real its arm moves.
            rate_hz: State packets a second on the secondary interface.
            robotiq: Whether the Robotiq gripper's port is open.
            holds: Whether there is something between the fingers when they close.
            tool_m: Tool centre point in front of the flange, metres.
            joints: Where the arm begins, rad.
        """
        self.host = host or fresh_host()
        self._arm = SimulatedArm(time_factor=time_factor, tool_m=tool_m, joints=joints)
        self._runner = Runner(self._arm)
        self._gripper = Robotiq(holds)
        self._dashboard = Dashboard(self._arm)
        self._commands = Commands(self._arm, self._runner)
        self._rate_hz = rate_hz
        self._ports = {
            SECONDARY_PORT: self._secondary,
            REALTIME_PORT: self._scripts,
            RTDE_PORT: self._rtde_client,
            DASHBOARD_PORT: self._dashboard_client,
        }
        if robotiq:
            self._ports[ROBOTIQ_PORT] = self._robotiq_client
        self._frozen = False
        self._hold_loaded: float | None = None
        self._faults: list[Exception] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._servers: list[asyncio.Server] = []
        self._clients: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    # The view from outside.

    @property
    def moves(self) -> list[Move]:
        """Motions received, in order."""
        return list(self._runner.moves)

    @property
    def programs(self) -> list[str]:
        """URScript received, in order."""
        return list(self._runner.programs)

    @property
    def dashboard_commands(self) -> list[str]:
        """What the dashboard was asked, in order."""
        return list(self._dashboard.asked)

    @property
    def tcp_pose(self) -> tuple[float, ...]:
        """Where the tool centre point is now: x, y, z (m), rotation vector (rad)."""
        return self._call(self._state)[0]

    @property
    def joints(self) -> tuple[float, ...]:
        """Where the joints are now, rad."""
        return self._call(self._state)[1]

    @property
    def moving(self) -> bool:
        """Whether the arm moves now."""
        return self._call(self._state)[2]

    @property
    def running(self) -> bool:
        """Whether a program runs, or a control script waits for commands."""
        return self._call(lambda: self._runner.running)

    @property
    def gripper_closed(self) -> bool:
        """Whether the gripper was last told to close, by tool output 0 or by the Robotiq port."""
        return self._arm.outputs.get(("tool", 0), False) or self._gripper.closed

    @property
    def gripper_position(self) -> int:
        """Position that the Robotiq gripper was last told to go to, 0 to 255."""
        return self._gripper.asked

    @property
    def outputs(self) -> dict[tuple[str, int], bool]:
        """Digital outputs that were set, by kind (`tool`, `standard`) and number."""
        return dict(self._arm.outputs)

    @property
    def holds(self) -> bool:
        """Whether there is something between the fingers when they close."""
        return self._gripper.holds

    @holds.setter
    def holds(self, something: bool) -> None:
        self._gripper.holds = something

    @property
    def time_factor(self) -> float:
        """How much faster than real the arm moves; may be set at any time."""
        return self._arm.time_factor

    @time_factor.setter
    def time_factor(self, factor: float) -> None:
        self._call(lambda: setattr(self._arm, "time_factor", factor))

    def hold_motions(self, share: float | None) -> None:
        """Have motions wait after a share of their time; None lets them go on."""
        self._call(lambda: setattr(self._arm, "held_at", share))

    def hold_loaded_motions(self, share: float) -> None:
        """As `hold_motions`, from the moment on that the Robotiq gripper is told to close."""
        self._hold_loaded = share

    def set_plane(self, x_m: float) -> None:
        """Set a safety plane, as on the pendant: the tool may not go beyond it."""
        self._call(lambda: setattr(self._arm, "farthest_x", x_m))

    # Faults.

    def drop_connection(self) -> None:
        """Reset every connection; new ones are accepted. The arm goes on, as a real one does."""
        self._call(self._drop)

    def stop_listening(self) -> None:
        """Close every connection and accept none."""
        self._call(self._close_servers)
        self.drop_connection()

    def freeze_packets(self, frozen: bool = True) -> None:
        """Stop sending states, with the connections open; False goes on."""
        self._frozen = frozen

    def protective_stop(self) -> None:
        """Stop the arm as the safety controller does."""
        self.set_safety("protective_stop")

    def set_safety(self, safety: SafetyMode) -> None:
        """Put the safety controller in a mode; all but `normal` and `reduced` stop the arm."""
        self._call(lambda: self._set_safety(safety))

    def set_mode(self, mode: RobotMode) -> None:
        """Put the arm in a mode; all but `running` stop it."""
        self._call(lambda: self._set_mode(mode))

    def set_remote(self, remote: bool) -> None:
        """Give control to the network or to the pendant."""
        self._call(lambda: setattr(self._arm, "remote", remote))
        self._call(lambda: setattr(self._runner, "deaf", not remote))

    def jam_gripper(self, position: int | None) -> None:
        """Keep the Robotiq gripper's fingers from opening beyond a position, 0 to 255."""
        self._gripper.jammed_at = position

    def stick_gripper(self) -> None:
        """Keep the Robotiq gripper's fingers from moving."""
        self._gripper.stuck = True

    def ignore_scripts(self) -> None:
        """Take scripts and do nothing with them, as some software does in local control."""
        self._call(lambda: setattr(self._runner, "deaf", True))

    # How it runs.

    def __enter__(self) -> FakeController:
        ready = threading.Event()
        failed: list[BaseException] = []

        def serve() -> None:
            try:
                asyncio.run(self._serve(ready))
            except BaseException as error:
                failed.append(error)
                ready.set()

        self._thread = threading.Thread(target=serve, name="fake-controller", daemon=True)
        self._thread.start()
        ready.wait(10.0)
        if failed:
            raise failed[0]
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(10.0)
        assert not self._faults, f"the simulated controller failed: {self._faults}"

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        for port, client in self._ports.items():
            self._servers.append(await self._listen(port, client))
        ticking = asyncio.create_task(self._tick())
        ready.set()
        await self._ended.wait()
        ticking.cancel()
        self._close_servers()
        self._drop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(ticking, *self._tasks, return_exceptions=True)

    async def _listen(
        self,
        port: int,
        client: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]],
    ) -> asyncio.Server:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            self._clients.add(writer)
            try:
                await client(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            except Exception as error:
                self._faults.append(error)
            finally:
                self._clients.discard(writer)
                self._tasks.discard(task)
                writer.close()

        return await asyncio.start_server(serve, self.host, port)

    async def _tick(self) -> None:
        """Let programs go on as the arm arrives."""
        while True:
            self._runner.advance()
            self._commands.advance()
            await asyncio.sleep(0.004)

    # Its ports.

    async def _secondary(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(version_message())
        telling = asyncio.create_task(self._tell(writer))
        self._arm.listeners += 1
        try:
            await self._scripts(reader, writer)
        finally:
            self._arm.listeners -= 1
            telling.cancel()

    async def _scripts(self, reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        scripts = Reader()
        while text := await reader.read(65536):
            for program in scripts.feed(text.decode("latin-1")):
                self._runner.start(program)

    async def _tell(self, writer: asyncio.StreamWriter) -> None:
        while True:
            if not self._frozen:
                self._runner.advance()
                running = self._runner.running
                self._arm.show()
                writer.write(state_packet(self._arm, running=running))
            await asyncio.sleep(1.0 / self._rate_hz)

    async def _dashboard_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(Dashboard.GREETING)
        while line := await reader.readline():
            writer.write(self._dashboard.answer(line.decode().strip()).encode() + b"\n")

    async def _robotiq_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while line := await reader.readline():
            answer = self._gripper.answer(line.decode().strip())
            if self._hold_loaded is not None and self._gripper.closed:
                self._arm.held_at, self._hold_loaded = self._hold_loaded, None
            writer.write(answer.encode())

    async def _rtde_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        client = RtdeClient(self._arm, self._runner, self._commands)
        telling = asyncio.create_task(self._stream(client, writer))
        listens = False
        try:
            while True:
                writer.write(client.answer(*await client.messages(reader)))
                if client.started and client.tells_joints and not listens:
                    listens = True
                    self._arm.listeners += 1
        finally:
            self._arm.listeners -= listens
            self._commands.leave(client)
            telling.cancel()

    async def _stream(self, client: RtdeClient, writer: asyncio.StreamWriter) -> None:
        while True:
            if client.started and not self._frozen:
                writer.write(client.package())
                if client.tells_joints:
                    self._arm.show()
            await asyncio.sleep(client.period_s)

    # What must happen in its thread.

    def _call(self, what: Callable[[], T]) -> T:
        assert self._loop is not None, "the controller has not been started"
        done: list[T] = []
        event = threading.Event()

        def do() -> None:
            done.append(what())
            event.set()

        self._loop.call_soon_threadsafe(do)
        assert event.wait(10.0), "the controller does not answer"
        return done[0]

    def _state(self) -> tuple[tuple[float, ...], tuple[float, ...], bool]:
        self._runner.advance()
        return self._arm.pose, self._arm.joints, self._arm.moving

    def _drop(self) -> None:
        for writer in list(self._clients):
            writer.transport.abort()

    def _close_servers(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()

    def _set_safety(self, safety: SafetyMode) -> None:
        self._arm.safety = safety
        if not self._arm.ready:
            self._runner.kill()

    def _set_mode(self, mode: RobotMode) -> None:
        self._arm.mode = mode
        if not self._arm.ready:
            self._runner.kill()


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description="A simulated UR5e controller on loopback.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--time-factor", type=float, default=1.0, help="faster than real")
    parser.add_argument(
        "--table", action="store_true", help="begin over the table, with a gripper of 0.163 m"
    )
    options = parser.parse_args()
    begin: dict[str, Any] = {"tool_m": TOOL_LENGTH, "joints": PARK.joints()}
    with FakeController(
        options.host,
        time_factor=options.time_factor,
        **(begin if options.table else {}),
    ) as controller:
        print(f"a simulated UR5e listens at {controller.host}; Ctrl-C ends it", flush=True)
        seen = 0
        try:
            while True:
                threading.Event().wait(0.2)
                for text in controller.programs[seen:]:
                    print(text if len(text) < 1000 else f"{text[:30]!r}...", flush=True)
                seen = len(controller.programs)
        except KeyboardInterrupt:
            print("ended")


if __name__ == "__main__":
    main()
