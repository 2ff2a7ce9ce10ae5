"""`cap mcp` through the official client: tools, resources, cancelling, leaving, odd arguments."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.client.client", reason="the extra mcp is not installed")

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

CAP = [sys.executable, "-m", "cap", "mcp", "--mode", "instant", "--seed", "3"]
RED = "put_first_on_second('red block', 'blue bowl')\n"
ENDLESS = "for number in range(100_000_000):\n    get_obj_names()\n"


@contextlib.asynccontextmanager
async def client(folder: Path, *more: str) -> AsyncIterator[Client]:
    command, *given = [*CAP, *more]
    server = StdioServerParameters(command=command, args=given, cwd=folder)
    async with Client(stdio_client(server)) as opened:
        yield opened


def done(folder: Path, work: Callable[[Client], Awaitable[None]], *more: str) -> None:
    async def whole() -> None:
        async with client(folder, *more) as opened:
            await work(opened)

    asyncio.run(whole())


def value(result: Any) -> Any:
    found = result.structured_content
    return found.get("result", found) if found else result.content[0].text


def test_an_agent_describes_observes_runs_and_undoes(tmp_path: Path) -> None:
    async def work(agent: Client) -> None:
        tools = {tool.name for tool in (await agent.list_tools()).tools}
        assert {"describe", "observe", "run_program", "try_programs", "undo", "history"} <= tools
        assert "put_first_on_second(first, second)" in value(await agent.call_tool("describe", {}))
        seen = await agent.call_tool("observe", {})
        before = json.loads(seen.content[0].text)["positions"]["red block"]
        assert seen.content[1].mime_type == "image/png"
        heard: list[str | None] = []

        async def progress(number: float, total: float | None, message: str | None) -> None:
            heard.append(message)

        ran = await agent.call_tool(
            "run_program", {"source": RED, "expect": ["moved"]}, progress_callback=progress
        )
        assert (value(ran)["failure"], [*value(ran)["moved"]]) == (None, ["red block"])
        assert heard == ["put_first_on_second"]
        tried = value(
            await agent.call_tool("try_programs", {"sources": [RED, "1 / 0", "say('x')"]})
        )
        assert [turn["failure"] and turn["failure"]["error"] for turn in tried["tried"]] == [
            None,
            "ZeroDivisionError",
            None,
        ]
        assert len(value(await agent.call_tool("history", {}))["turns"]) == 1
        back = value(await agent.call_tool("undo", {}))
        assert back["positions"]["red block"] == before
        assert value(await agent.call_tool("redo", {}))["turns_left"] == 1
        told = value(await agent.call_tool("instruct", {"words": "put the red block in the bowl"}))
        assert told["usage"]["requests"] == 1
        kept = await agent.call_tool("keep_skill", {"name": "nothing"})
        assert kept.is_error

    done(tmp_path, work)
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "session.json").read_text())["turns"]


def test_the_walk_of_the_docs(tmp_path: Path) -> None:
    docs = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")
    steps = [json.loads(line) for line in docs.split("```jsonl\n")[1].split("```")[0].splitlines()]

    async def work(agent: Client) -> None:
        known = {tool.name for tool in (await agent.list_tools()).tools}
        assert known - {name for name, _ in steps} == {"instruct", "keep_skill"}
        for name, given in steps:
            result = await agent.call_tool(name, given)
            assert not result.is_error, (name, result.content)
            if name == "run_program":
                assert value(result)["failure"] is None

    done(tmp_path, work)


def test_what_an_agent_reads(tmp_path: Path) -> None:
    async def work(agent: Client) -> None:
        scene = await agent.read_resource("cap://scene")
        assert "red block" in json.loads(scene.contents[0].text)["positions"]
        prompt = await agent.read_resource("cap://prompts/ui")
        assert prompt.contents[0].text.startswith("import numpy")
        await agent.call_tool("run_program", {"source": "say('hi')"})
        trace = await agent.read_resource("cap://trace")
        kinds = {json.loads(line)["kind"] for line in trace.contents[0].text.splitlines()}
        assert {"program", "call", "done"} <= kinds
        asked = await agent.get_prompt("write_program", {"instruction": "stack the blocks"})
        assert asked.messages[0].content.text.endswith("# stack the blocks.\n")

    done(tmp_path, work)


def test_a_check_names_faults_and_what_is_undefined_with_what_to_do(tmp_path: Path) -> None:
    async def work(agent: Client) -> None:
        async def checked(source: str) -> Any:
            return value(await agent.call_tool("check_program", {"source": source}))

        (fault,) = (await checked("put_first_on_second('a')"))["violations"]
        assert (fault["rule"], fault["line"]) == ("CAP113", 1)
        found = await checked("x = get_obj_nams()\ny = zzz\nz = objects\n")
        rules = [(fault["rule"], fault["line"]) for fault in found["violations"]]
        assert sorted(rules) == [("undefined", 1), ("undefined", 2)]
        told = [fault["reason"] for fault in found["violations"]]
        assert any("there is get_obj_names()" in reason for reason in told)
        assert (await checked("unheard_of()"))["undefined"] == ["unheard_of"]
        (fault,) = (await checked("x = 1\ny = ("))["violations"]
        assert (fault["rule"], fault["line"]) == ("syntax", 2)

    done(tmp_path, work)


def test_a_reply_is_never_longer_than_a_client_takes(tmp_path: Path) -> None:
    line = (
        "draw(np.array([[0.1 * np.cos(a), -0.5 + 0.1 * np.sin(a)] for a in np.linspace(0, 9, N)]))"
    )

    async def work(agent: Client) -> None:
        for source in (line.replace("N", "9_000"), "for n in range(5_000):\n    get_obj_names()\n"):
            found = value(await agent.call_tool("run_program", {"source": source}))
            assert found["failure"] is None
            assert len(json.dumps(found)) < 500_000
        trace = (await agent.read_resource("cap://trace")).contents[0].text
        assert len(trace) <= 400_000
        assert json.loads(trace.splitlines()[0])["kind"]
        assert len(json.dumps(value(await agent.call_tool("history", {})))) < 500_000

    done(tmp_path, work, "-r", "drawing")


def test_the_session_is_seen_as_a_film(tmp_path: Path) -> None:
    async def work(agent: Client) -> None:
        await agent.call_tool("run_program", {"source": RED})
        film = (await agent.read_resource("cap://film")).contents[0]
        assert base64.b64decode(film.blob).startswith(b"GIF8")
        assert value(await agent.call_tool("history", {}))["turns"]  # and the session goes on

    done(tmp_path, work)


def test_people_watch_in_a_browser_and_may_stop(tmp_path: Path) -> None:
    """The page is in another process: its link is on standard error, and it answers."""
    pytest.importorskip("viser", reason="the extra web is not installed")
    server = subprocess.Popen(
        [*CAP, "--page", "0"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        link = next(line for line in server.stderr if line.startswith("open "))
        url = link.split()[1]
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(url) as page:
            assert page.status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(url.partition("?")[0])
    finally:
        server.communicate(timeout=30)
    assert server.returncode == 0


def test_to_cancel_stops_the_program_and_the_next_call_is_served(tmp_path: Path) -> None:
    async def work(agent: Client) -> None:
        await agent.call_tool("run_program", {"source": RED})
        endless = asyncio.create_task(agent.call_tool("run_program", {"source": ENDLESS}))
        for _ in range(600):
            if endless.done():  # the history was asked for first, and this was refused
                endless = asyncio.create_task(agent.call_tool("run_program", {"source": ENDLESS}))
            other = await agent.call_tool("history", {})
            if other.is_error:
                break
            await asyncio.sleep(0.05)
        assert "another call is in progress" in other.content[0].text
        endless.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await endless
        for _ in range(200):
            if not (after := await agent.call_tool("history", {})).is_error:
                break
            await asyncio.sleep(0.05)
        first, second = value(after)["turns"]
        assert (first["failure"], second["failure"]["kind"]) == (None, "interrupted")

    done(tmp_path, work)


HOSTILE = [
    ("run_program", {"source": 5}, "valid string"),
    ("run_program", {}, "required"),
    ("run_program", {"source": "say('x')", "expect": ["flew"]}, "no effect 'flew'"),
    ("instruct", {"words": "x" * 30_000}, "at most 20000 characters"),
    ("try_programs", {"sources": ["say('x')"] * 9}, "1 to 8 programs"),
    ("undo", {"turns": 3}, "nothing"),
    ("redo", {}, "nothing"),
    ("no_such_tool", {}, "no_such_tool"),
]
REFUSED = [
    "import os",
    "open('/etc/passwd')",
    "().__class__.__base__.__subclasses__()",
    "__import__('os')",
    "while True: pass",
]


def test_what_cannot_be_is_a_typed_error_and_nothing_is_lost(tmp_path: Path) -> None:
    async def work(agent: Client) -> None:
        for name, given, told in HOSTILE:
            result = await agent.call_tool(name, given)
            text = result.content[0].text if result.content else ""
            assert result.is_error or not value(result).get("world_put_back", True), (name, given)
            assert told in text or name in ("undo", "redo"), (name, text)
        for source in REFUSED:
            turn = value(await agent.call_tool("run_program", {"source": source}))
            assert turn["failure"] is not None, source
        assert value(await agent.call_tool("run_program", {"source": RED}))["failure"] is None

    done(tmp_path, work, "--set", "time_limit=2")


def test_a_client_that_vanishes_stops_the_program_and_the_session_is_saved(tmp_path: Path) -> None:
    version = {"protocolVersion": "2025-11-25", "capabilities": {}}
    version["clientInfo"] = {"name": "test", "version": "1"}  # type: ignore[dict-item]
    call = {"name": "run_program", "arguments": {"source": RED + ENDLESS}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": version},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(CAP, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        for message in messages:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
        folder = tmp_path / process.stderr.readline().decode().removeprefix("run: ").strip()
        while '"put_first_on_second"' not in (folder / "events.jsonl").read_text():
            assert process.poll() is None
        process.stdin.close()
        assert process.wait(60.0) == 0
    saved = json.loads((folder / "session.json").read_text())
    assert saved["turns"] == 1


@contextlib.contextmanager
def over_http(folder: Path) -> Iterator[tuple[str, str]]:
    command = [*CAP, "--http", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        url = token = ""
        while not token:
            line = process.stderr.readline()
            assert line
            url = line.strip() if line.startswith("http://") else url
            token = (re.findall(r"Bearer (\S+)", line) or [""])[0]
        try:
            yield url, token
        finally:
            process.terminate()
            process.wait(60.0)


def test_over_http_only_who_has_the_token_is_served(tmp_path: Path) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async def work(url: str, token: str) -> None:
        for given in ({}, {"Authorization": "Bearer wrong"}):
            async with httpx2.AsyncClient(headers=given) as stranger:
                assert (await stranger.post(url, json={})).status_code == 401
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as one,
            httpx2.AsyncClient(headers=headers) as two,
            Client(streamable_http_client(url, http_client=one)) as first,
            Client(streamable_http_client(url, http_client=two)) as second,
        ):
            assert value(await first.call_tool("run_program", {"source": RED}))["failure"] is None
            assert len(value(await second.call_tool("history", {}))["turns"]) == 1

    with over_http(tmp_path) as (url, token):
        assert url.startswith("http://127.0.0.1:")
        asyncio.run(work(url, token))


def test_over_http_a_client_that_vanishes_stops_the_robot_and_the_session_stays(
    tmp_path: Path,
) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async def work(url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        begun = asyncio.Event()

        async def progress(number: float, total: float | None, message: str | None) -> None:
            begun.set()

        async def vanishing() -> None:
            async with (
                httpx2.AsyncClient(headers=headers) as lines,
                Client(streamable_http_client(url, http_client=lines)) as agent,
            ):
                await agent.call_tool(
                    "run_program", {"source": RED + ENDLESS}, progress_callback=progress
                )

        call = asyncio.create_task(vanishing())
        await asyncio.wait_for(begun.wait(), 30.0)
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
        async with (
            httpx2.AsyncClient(headers=headers) as lines,
            Client(streamable_http_client(url, http_client=lines)) as agent,
        ):
            for _ in range(600):
                if not (seen := await agent.call_tool("history", {})).is_error:
                    break
                await asyncio.sleep(0.05)
            (turn,) = value(seen)["turns"]
            assert turn["failure"]["kind"] == "interrupted"
            assert value(await agent.call_tool("run_program", {"source": "say('on')"}))["said"]

    with over_http(tmp_path) as (url, token):
        asyncio.run(work(url, token))


ROBOT = """from tests.fakes.hardware import TwinnedHardware


def create(seed=0, mode="physics", objects=None, **options):
    return TwinnedHardware(["red block", "blue bowl"], seed)
"""


@pytest.mark.parametrize(("says", "moves"), [(None, False), ("yes", True), ("no", False)])
def test_on_hardware_a_person_at_the_client_decides(
    tmp_path: Path, says: str | None, moves: bool
) -> None:
    from mcp_types import ElicitResult

    (tmp_path / "robot.py").write_text(ROBOT)
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"run": says == "yes"})

    async def work() -> None:
        prompts = Path(__file__).parents[3] / "prompts" / "ravens"
        given = [*CAP[1:4], "-r", "robot.py", "--prompts", str(prompts)]
        environment = {"PYTHONPATH": str(Path(__file__).parents[3])}
        server = StdioServerParameters(command=CAP[0], args=given, cwd=tmp_path, env=environment)
        person = {} if says is None else {"elicitation_callback": answer}
        async with Client(stdio_client(server), **person) as agent:
            if says is None:
                with pytest.raises(MCPError, match="elicitation"):
                    await agent.call_tool("run_program", {"source": RED})
                return
            turn = value(await agent.call_tool("run_program", {"source": RED}))
            told = value(await agent.call_tool("instruct", {"words": "put the red block away"}))
            tried = await agent.call_tool("try_programs", {"sources": [RED]})
        assert (turn["failure"] is None, bool(turn["moved"])) == (moves, moves)
        assert told["failure"] is not None
        assert "real hardware cannot return to a snapshot" in tried.content[0].text

    asyncio.run(work())
    assert len(asked) == (says is not None)
    assert all(RED.strip() in message for message in asked)
