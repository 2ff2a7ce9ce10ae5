"""The live page: who may see it, what it shows, and how it runs a session."""

import contextlib
import http.client
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from email.message import Message
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap.cli.main import run
from cap.cli.page.access import Access
from cap.cli.page.chronicle import Chronicle
from cap.cli.page.page import InstructionField
from cap.errors import install_extra
from cap.trace.trace import Event
from robots.arm.motion import PARK
from tests.cap.conftest import Cap
from tests.fakes.ur.controller import FakeController
from tests.fakes.visitor import Served, Visitor, served
from tests.rows import cases

Capture = pytest.CaptureFixture[str]


class Headers:
    """As websockets has them: each may come several times."""

    def __init__(self, *pairs: tuple[str, str]) -> None:
        self._pairs = pairs

    def get_all(self, name: str) -> list[str]:
        return [value for key, value in self._pairs if key.lower() == name.lower()]


class Request:
    def __init__(self, path: str, *pairs: tuple[str, str]) -> None:
        self.path, self.headers = path, Headers(*pairs)


def access() -> Access:
    made = Access()
    made.token, made.secret = "secret", "kept"
    return made


@cases(("path", "pairs"))
def test_who_has_the_link_may_pass(path: str, pairs: list[tuple[str, str]]) -> None:
    assert access().refusal(Request(path, *pairs)) == ""


@cases(("path", "pairs", "why"))
def test_nobody_else_may(path: str, pairs: list[tuple[str, str]], why: str) -> None:
    assert why in access().refusal(Request(path, *pairs))


@cases(("texts", "taken"))
def test_only_what_is_whole_is_carried_out(texts: list[str], taken: list[str]) -> None:
    field = InstructionField()
    assert [words for text in texts if (words := field.typed(text))] == taken


def test_what_was_taken_leaves_the_field_and_what_is_typed_on_stays() -> None:
    field = InstructionField()
    field.typed("go home\n")
    field.typed("go home\nthen ")
    assert field.settled() == "then "
    assert field.typed("then stop\n") == "then stop"
    assert field.settled() == ""
    assert field.typed("then stop\n") == "then stop"  # pasted: asked for again


def test_what_a_browser_sends_before_it_knows_that_it_was_taken_is_not_taken_again() -> None:
    field = InstructionField()
    assert field.typed("go home\n") == "go home"
    assert field.settled() == ""
    assert field.typed("go home\nst") == ""  # on its way
    assert field.typed("stop\n") == "stop"


NASTY = "<img src=x onerror=alert(1)>\x1b[2J"
CALL = {"args": [], "kwargs": {}, "duration_s": 0.5, "kind": "action", "result": None}


def shown(*events: tuple[str, dict[str, Any]]) -> tuple[str, ...]:
    """Return what the panel shows of one turn: status, conversation, program, calls."""
    story = Chronicle()
    story(Event("instruction", 1, 0, {"lmp": "ui", "text": "go"}))
    for kind, data in events:
        if kind == "call":
            data = {**CALL, "error": None, **data}
        story(Event(kind, 1, 0, data))
    news = story.news()
    assert news is not None
    assert story.news() is None
    return news


def test_text_of_others_is_shown_never_interpreted() -> None:
    news = shown(
        ("instruction", {"lmp": NASTY, "text": NASTY}),
        ("prompt", {"model": NASTY}),
        ("text", {"text": NASTY}),
        ("program", {"lmp": "ui", "source": f"{NASTY}\n{NASTY}", "generated": [(NASTY, NASTY)]}),
        ("line", {"number": 1}),
        ("call", {"name": NASTY, "args": [NASTY], "result": NASTY}),
        ("call", {"name": NASTY, "error": NASTY}),
        ("call", {"name": "say", "args": [NASTY]}),
        ("stdout", {"text": NASTY}),
        ("moved", {"objects": {NASTY: 0}}),
        ("failure", {"error": NASTY, "message": NASTY}),
    )
    for html in news:
        assert "<img" not in html
        assert "\x1b" not in html
    assert "onerror" in "".join(news)


def test_calls_in_a_row_are_one_line_and_the_running_line_is_marked() -> None:
    status, _, program, calls = shown(
        ("program", {"lmp": "ui", "source": "a()\nb()\n", "generated": []}),
        ("line", {"number": 2}),
        *[("call", {"name": "b"})] * 125,
    )
    assert "running line 2" in status
    assert re.search(r"▶ <[^>]+>  2</span>  b\(\)", program)
    assert "&nbsp; <" in program
    assert "× 125" in calls
    assert "62.50 s" in calls


def test_calls_with_arrays_are_shown() -> None:
    points = [np.full((3, 2), number) for number in (1.0, 1.0, 2.0)]
    events = [("call", {"name": "draw", "args": (one,), "result": one}) for one in points]
    assert "<b>× 2</b>" in shown(*events)[3]


def test_without_its_extra_the_page_names_it(monkeypatch: pytest.MonkeyPatch, cap: Cap) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    told = cap(["serve"], 2).err
    assert install_extra("web") in told
    assert told.count("\n") == 1


def test_a_port_in_use_is_named(capsys: Capture) -> None:
    pytest.importorskip("viser", reason="the extra 'web' is not installed")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run(["serve", "--port", str(port)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"cannot listen on port {port}" in told
    assert "0 for any that is free" in told


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("page")
    with served("--mode", "instant", "--out", "run", cwd=folder) as page:
        yield page


def answered(page: Served, path: str, **headers: str) -> tuple[int, Message, bytes]:
    name, port = page.host.split(":")
    with contextlib.closing(http.client.HTTPConnection(name, int(port), timeout=60)) as connection:
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as response:
            return response.status, response.headers, response.read()


UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def test_the_link_leaves_a_cookie_and_shows_the_page(page: Served) -> None:
    status, headers, body = answered(page, f"/?token={page.token}")
    assert status == 200
    assert b'location.replace(matchMedia("(prefers-color-scheme: dark)")' in body
    cookie = headers["Set-Cookie"]
    assert page.token not in cookie
    assert answered(page, "/", Cookie=f"{cookie.split('=')[0]}={page.token}")[0] == 403
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    status, headers, body = answered(page, "/", Cookie=cookie.split(";")[0])
    assert status == 200
    assert b"<html" in body
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("upgrade", [False, True], ids=["page", "websocket"])
@pytest.mark.parametrize(
    ("token", "headers"),
    [
        ("", {}),
        ("wrong", {}),
        ("right", {"Origin": "http://evil.example"}),
        ("right", {"Host": "evil.example"}),
        ("right", {"Host": "127.0.0.1.evil.example", "Origin": "http://127.0.0.1.evil.example"}),
    ],
    ids=["no token", "wrong token", "foreign origin", "rebound name", "rebound to itself"],
)
def test_others_get_neither_page_nor_socket(
    page: Served, token: str, headers: dict[str, str], upgrade: bool
) -> None:
    given = {"right": page.token}.get(token, token)
    more = UPGRADE if upgrade else {}
    status, _, body = answered(page, f"/?token={given}", **headers, **more)
    assert status == 403
    assert body.count(b"\n") == 1


def test_an_instruction_is_carried_out_and_undone_and_all_browsers_see_it(page: Served) -> None:
    with Visitor(page) as first, Visitor(page) as second:
        for visitor in (first, second):
            visitor.until(lambda v: "ready" in v.text)
        begin = first.until(lambda v: v.positions.get("/objects/red block"))
        first.ask("put the red block in the blue bowl")
        for visitor in (first, second):
            visitor.until(lambda v: "moved red block" in v.text)
            end = visitor.until(
                lambda v: (
                    v.positions["/objects/red block"] != begin and v.positions["/objects/red block"]
                )
            )
            bowl = visitor.positions["/objects/blue bowl"]
            assert abs(end[0] - bowl[0]) < 0.03
            assert abs(end[1] - bowl[1]) < 0.03
            assert "put_first_on_second" in visitor.text
        second.press("Undo")
        for visitor in (first, second):
            visitor.until(lambda v: v.positions["/objects/red block"] == begin)
            visitor.until(lambda v: "undone" in v.text)


def test_the_commands_of_the_terminal_are_the_page_s_but_for_files_and_addresses(
    page: Served,
) -> None:
    with Visitor(page) as visitor:
        visitor.until(lambda v: "try: put the red block in the blue bowl" in v.text)
        visitor.ask("put the red block in the blue bowl")
        visitor.until(lambda v: "✓ 1." in v.text)
        for line, told in (
            ("/why", "it did not fail"),
            ("/scene", "red block: ("),
            ("/model openai/x http://evil.example", "/model works only in the terminal"),
            ("/edit", "/edit works only in the terminal"),
            ("/load run", "/load works only in the terminal"),
            ("/save kept.json", "to save the session to a file, use the terminal"),
            ("/undo", "undone: put the red block in the blue bowl"),
            ("/undo 2", "nothing to undo"),
        ):
            visitor.ask(line)
            visitor.until(lambda v, told=told: told in v.text)
            assert f"› {line}" in visitor.text


@pytest.mark.soak
def test_a_stop_ends_the_program_the_robot_and_what_waits(tmp_path: Path) -> None:
    with served("--speed", "0.1", "--out", "run", cwd=tmp_path) as page:
        with Visitor(page) as visitor:
            visitor.until(lambda v: "/arm/hand" in v.positions)
            begin = visitor.positions["/arm/hand"]
            visitor.ask("stack all the blocks")
            visitor.until(lambda v: v.positions["/arm/hand"] != begin)
            visitor.until(lambda v: "running line" in v.text)
            visitor.ask("put the red block in the blue bowl")
            visitor.until(lambda v: "waits: put the red block in the blue bowl" in v.text)
        with Visitor(page) as again:  # a browser that leaves stops nothing
            again.until(lambda v: "running line" in v.text)
            again.press("Stop")  # anybody who sees it may stop it
            again.until(lambda v: "this is not run after that: put the red block" in v.text)
            again.until(
                lambda v: "ready" in v.text and "Interrupted: stopped on the page" in v.text
            )
            time.sleep(1.0)
            assert page.end(signal.SIGINT) == 0  # nothing runs, so Ctrl-C is the end
            again.until(lambda v: "the session is over" in v.text)
    assert "run: run" in page.told
    assert "Traceback" not in page.told


SCENE = """
[[objects]]
name = "red block"
position_m = [0.10, -0.45, 0.02]
[[objects]]
name = "blue bowl"
position_m = [-0.12, -0.50, 0.018]
"""


DRY = ("-r", "tabletop", "--dry-run", "--objects", "red block,green block,blue bowl")
ASKED = "waiting for your answer: may it run?"
PICK = "It is to call put_first_on_second"


@pytest.mark.soak
def test_an_answer_is_to_the_question_it_was_shown_with(tmp_path: Path) -> None:
    with (
        served(*DRY, "--approve", "each-call", "--out", "run", cwd=tmp_path) as page,
        Visitor(page) as visitor,
        Visitor(page) as other,
    ):
        visitor.ask("put the red block in the blue bowl")
        for browser in (visitor, other):
            browser.until(lambda v: ASKED in v.text)
        late = other.element("Yes, run it")
        visitor.press("Yes, run it")
        visitor.until(lambda v: PICK in v.text)
        other.click(late)
        other.until(lambda v: PICK in v.text and ASKED in v.text)
        other.press("No")
        visitor.until(lambda v: "NotApproved" in v.text and "ready" in v.text)


@pytest.mark.soak
def test_a_program_can_be_changed_and_what_is_refused_stays_in_the_field(tmp_path: Path) -> None:
    with (
        served(*DRY, "--ask", "--out", "run", cwd=tmp_path) as page,
        Visitor(page) as visitor,
    ):
        visitor.ask("put the red block in the blue bowl")
        visitor.until(lambda v: ASKED in v.text and v.field("Program"))
        visitor.until(lambda v: v.elements[v.element("Yes, run it")]["disabled"] is False)
        visitor.write("Program", "import os")
        visitor.press("Yes, run it")
        visitor.until(lambda v: "A change was refused" in v.text)
        visitor.until(lambda v: v.field("Program").strip() == "import os")
        visitor.write("Program", "say('mine')")
        visitor.press("Yes, run it")
        visitor.until(lambda v: v.text.count("rehearsed:") == 3 and ASKED in v.text)
        visitor.until(lambda v: v.elements[v.element("Yes, run it")]["disabled"] is False)
        visitor.press("Yes, run it")
        visitor.until(lambda v: "robot says: “mine”" in v.text and "ready" in v.text)


@pytest.fixture
def real(tmp_path: Path) -> Iterator[tuple[FakeController, Served]]:
    """The page of a real arm's driver, at a controller on loopback that takes its time."""
    (tmp_path / "scene.toml").write_text(SCENE)
    with FakeController(
        time_factor=1.0, rate_hz=125.0, tool_m=0.163, joints=PARK.joints(), holds=True
    ) as arm:
        options = {"host": arm.host, "driver": "urx", "scene": "scene.toml", "gripper": "robotiq"}
        given = [word for key, value in options.items() for word in ("-R", f"{key}={value}")]
        with served("-r", "tabletop", *given, "--out", "run", cwd=tmp_path) as page:
            yield arm, page


@pytest.mark.soak
def test_a_real_arm_moves_when_somebody_allows_it_and_not_before(
    real: tuple[FakeController, Served],
) -> None:
    controller, page = real
    with Visitor(page) as visitor:
        visitor.ask("put the red block in the blue bowl")
        visitor.until(lambda v: ASKED in v.text)
        assert "rehearsed" in visitor.text
        if find_spec("pybullet"):  # the twin was seen to move
            assert sum(name == "/arm/hand" for _, name in visitor.arrivals) > 10
        begin = controller.joints
        visitor.write("Why not", "not now")
        visitor.press("No")
        visitor.until(lambda v: "not now" in v.text)
        visitor.until(lambda v: "ready" in v.text and not v.notices)
        assert controller.joints == begin
        visitor.ask("put the red block in the blue bowl")
        visitor.until(lambda v: ASKED in v.text)
        was = visitor.positions["/arm/hand"]
        visitor.press("Yes, run it")
        visitor.until(lambda v: "running line" in v.text)
        visitor.until(lambda v: v.positions["/arm/hand"] != was)  # as the controller says
        visitor.press("Stop")
        visitor.until(lambda v: "stopped on the page" in v.text and "ready" in v.text)
    assert controller.joints != begin


@pytest.mark.soak
@pytest.mark.parametrize("who", ["who allowed it", "somebody else"])
def test_a_browser_that_leaves_stops_the_motion_it_allowed_and_no_other(
    real: tuple[FakeController, Served], who: str
) -> None:
    controller, page = real
    controller.hold_motions(0.5)  # it is under way for as long as it takes
    with Visitor(page) as stays:
        with Visitor(page) as leaves:
            stays.ask("put the red block in the blue bowl")
            allows = leaves if who == "who allowed it" else stays
            for visitor in (stays, leaves):
                visitor.until(lambda v: ASKED in v.text)
            allows.press("Yes, run it")
            leaves.until(lambda v: "running line" in v.text)
        if who == "who allowed it":
            stays.until(lambda v: "has left" in v.text)
            stays.until(lambda v: "Interrupted" in v.text and "ready" in v.text)
        else:
            controller.hold_motions(None)
            stays.until(lambda v: "moved red block" in v.text)
            assert "has left" not in stays.text
