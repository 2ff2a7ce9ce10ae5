"""`cap mcp` through the official client: tools, resources, cancelling, leaving, odd arguments."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.client.client", reason="the extra mcp is not installed")

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from cap.cli.mcp_server import opened
from cap.cli.options import SessionOptions

CAP = [sys.executable, "-m", "cap", "mcp", "--mode", "instant", "--seed", "3"]
RED = "put_first_on_second('red block', 'blue bowl')\n"
ENDLESS = "for number in range(100_000_000):\n    get_obj_names()\n"
OPTIONS = SessionOptions(mode="instant", seed=3)


def done(work: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    """Let an agent work with a server in this process."""

    async def whole() -> None:
        async with opened(replace(OPTIONS, **options)) as (server, _), Client(server) as agent:
            await work(agent)

    asyncio.run(whole())


def value(result: Any) -> Any:
    found = result.structured_content
    return found.get("result", found) if found else result.content[0].text


def test_an_agent_describes_observes_runs_and_undoes() -> None:
    async def work(agent: Client) -> None:
        assert "put_first_on_second(first, second)" in value(await agent.call_tool("describe", {}))
        seen = await agent.call_tool("observe", {})
        before = json.loads(seen.content[0].text)["positions"]["red block"]
        assert seen.content[1].mime_type == "image/png"
        heard: list[str | None] = []

        async def progress(number: float, total: float | None, message: str | None) -> None:
            heard.append(message)

        right = value(await agent.call_tool("check_program", {"source": RED}))
        assert right == {"ok": True, "violations": [], "undefined": []}
        wrong = value(await agent.call_tool("check_program", {"source": "fly()"}))
        assert not wrong["ok"]
        assert "fly" in str(wrong["undefined"])
        ran = await agent.call_tool(
            "run_program", {"source": RED, "expect": ["moved"]}, progress_callback=progress
        )
        assert (value(ran)["failure"], [*value(ran)["moved"]]) == (None, ["red block"])
        assert heard == ["put_first_on_second"]
        tried = value(await agent.call_tool("try_programs", {"sources": [RED, "1 / 0"]}))["tried"]
        assert [turn["failure"] is None for turn in tried] == [True, False]
        back = value(await agent.call_tool("undo", {}))
        assert back["positions"]["red block"] == before
        told = value(await agent.call_tool("instruct", {"words": "put the red block in the bowl"}))
        assert told["usage"]["requests"] == 1

    done(work)
    (run,) = Path("runs").iterdir()
    assert json.loads((run / "session.json").read_text())["turns"]


def test_the_walk_of_the_docs() -> None:
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

    done(work)


def test_what_an_agent_reads() -> None:
    async def work(agent: Client) -> None:
        scene = await agent.read_resource("cap://scene")
        assert "red block" in json.loads(scene.contents[0].text)["positions"]
        prompt = await agent.read_resource("cap://prompts/ui")
        assert prompt.contents[0].text.startswith("import numpy")
        await agent.call_tool("run_program", {"source": "say('hi')"})
        trace = await agent.read_resource("cap://trace")
        kinds = {json.loads(line)["kind"] for line in trace.contents[0].text.splitlines()}
        assert {"program", "call", "done"} <= kinds

    done(work)


def test_a_reply_is_never_longer_than_a_client_takes() -> None:
    line = (
        "draw(np.array([[0.1 * np.cos(a), -0.5 + 0.1 * np.sin(a)] for a in np.linspace(0, 9, N)]))"
    )

    async def work(agent: Client) -> None:
        found = value(await agent.call_tool("run_program", {"source": line.replace("N", "9_000")}))
        assert '"failure": null' in found["cut_off"]
        assert len(json.dumps(found)) < 500_000
        trace = (await agent.read_resource("cap://trace")).contents[0].text
        assert len(trace) <= 300_000
        assert json.loads(trace.splitlines()[0])["kind"]

    done(work, robot="drawing")


async def answered(agent: Client) -> Any:
    """Return the history, as soon as no other call is under way."""
    while (seen := await agent.call_tool("history", {})).is_error:
        await asyncio.sleep(0.05)
    return seen


def test_to_cancel_stops_the_program_and_the_next_call_is_served() -> None:
    async def work(agent: Client) -> None:
        await agent.call_tool("run_program", {"source": RED})
        endless = asyncio.create_task(agent.call_tool("run_program", {"source": ENDLESS}))
        await asyncio.sleep(0.5)
        other = await agent.call_tool("history", {})
        assert "another call is in progress" in other.content[0].text
        endless.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await endless
        after = await answered(agent)
        first, second = value(after)["turns"]
        assert (first["failure"], second["failure"]["kind"]) == (None, "interrupted")

    done(work)


HOSTILE = [
    ("run_program", {"source": 5}, "valid string"),
    ("run_program", {"source": "say('x')", "expect": ["flew"]}, "no effect 'flew'"),
    ("instruct", {"words": "x" * 30_000}, "at most 20000 characters"),
    ("try_programs", {"sources": ["say('x')"] * 9}, "1 to 8 programs"),
]
REFUSED = [
    "import os",
    "open('/etc/passwd')",
    "while True: pass",
]


def test_what_cannot_be_is_a_typed_error_and_nothing_is_lost() -> None:
    async def work(agent: Client) -> None:
        for name, given, told in HOSTILE:
            result = await agent.call_tool(name, given)
            assert result.is_error, (name, given)
            assert told in result.content[0].text, name
        for source in REFUSED:
            turn = value(await agent.call_tool("run_program", {"source": source}))
            assert turn["failure"] is not None, source
        assert value(await agent.call_tool("run_program", {"source": RED}))["failure"] is None

    done(work, settings=("time_limit=0.5",))


def test_a_client_that_vanishes_stops_the_program(tmp_path: Path) -> None:
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


def test_over_http_only_who_has_the_token_is_served(tmp_path: Path) -> None:
    async def work(url: str, token: str) -> None:
        for given in ({}, {"Authorization": "Bearer wrong"}):
            async with httpx2.AsyncClient(headers=given) as stranger:
                assert (await stranger.post(url, json={})).status_code == 401
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as lines,
            Client(streamable_http_client(url, http_client=lines)) as agent,
        ):
            assert value(await agent.call_tool("run_program", {"source": "say('on')"}))["said"]

    command = [*CAP, "--http", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            url = next(line for line in process.stderr if line.startswith("http://127.0.0.1:"))
            token = process.stderr.readline().split()[-1]
            asyncio.run(work(url.strip(), token))
        finally:
            process.terminate()


ROBOT = """from tests.fakes.hardware import TwinnedHardware


def create(seed=0, mode="physics", objects=None, **options):
    return TwinnedHardware(["red block", "blue bowl"], seed)
"""


@pytest.mark.parametrize(("says", "moves"), [(None, False), ("yes", True), ("no", False)])
def test_on_hardware_a_person_at_the_client_decides(says: str | None, moves: bool) -> None:
    from mcp_types import ElicitResult

    Path("robot.py").write_text(ROBOT)
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"run": says == "yes"})

    async def work() -> None:
        prompts = Path(__file__).parents[3] / "prompts" / "ravens"
        options = replace(OPTIONS, robot="robot.py", prompts=prompts)
        person: Any = {} if says is None else {"elicitation_callback": answer}
        async with opened(options) as (server, _), Client(server, **person) as agent:
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
