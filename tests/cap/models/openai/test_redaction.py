"""What an endpoint repeats of the secrets it was sent goes no further, in whichever form."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from cap.cli.main import run
from cap.errors import ModelError
from cap.models.base import Request
from cap.models.openai.redaction import Pieces, Redaction
from tests.fakes.openai_server import DONE, FakeServer, delta, error, reply, stream

KEY = "wk/SECRET+work=55555"
PASSWORD = "hunter/2 hunter"
ADDRESS = f"https://me:{quote(PASSWORD, safe='')}@gpu.example/v1"
SECRETS = Redaction(ADDRESS, [KEY, "Bearer gate-way-9"], {"sig": "querySECRET", "api": "2026"})
BASIC = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
FORMS = {
    "the key": KEY,
    "the key in an address": quote(KEY, safe=""),
    "in small letters": quote(KEY, safe="").replace("%2F", "%2f"),
    "the password": PASSWORD,
    "the password in an address": quote(PASSWORD, safe=""),
    "basic authorisation": BASIC,
    "a header": "gate-way-9",
    "a parameter": "querySECRET",
    "the key in capitals": KEY.upper(),
    "the key in JSON": KEY.replace("/", "\\/"),
    "the key in an address, all small": quote(KEY, safe="").lower(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_a_secret_is_found(form: str) -> None:
    told = f"x{form}y"
    assert "[key]" in SECRETS.text(told)
    assert form not in SECRETS.text(told)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_form_of_a_secret_is_told_in_pieces(form: str) -> None:
    pieces: list[str] = []
    passed = Pieces(pieces.append, SECRETS)
    passed.begin()
    for char in f"say('{form}')":
        passed.add(char)
    passed.end()
    assert "".join(pieces) == "say('[key]')"


@pytest.mark.parametrize("word", ["ollama", "none", "lm-studio", "x"])
def test_what_a_keyless_server_is_given_is_no_secret(word: str) -> None:
    redaction = Redaction("http://127.0.0.1/v1", [word], {})
    assert redaction.line(f"{word} at the box") == f"{word} at the box"


def test_an_answer_and_its_pieces_have_no_secret(connect: Any) -> None:
    pieces: list[str] = []
    parts = [delta(each) for each in ("say('wk/SEC", "RET+wo", "rk=55555", "')\n# wk/S", "o")]
    with FakeServer(lambda prompt, body: f"say('{KEY}')", [stream(*parts, DONE)]) as server:
        model = connect(server.url, api_key=KEY)
        streamed = model.stream(Request("# a.\n"), pieces.append)
        plain = model.complete(Request("# a.\n"))
    assert streamed.text == "".join(pieces) == "say('[key]')\n# wk/So"
    assert plain.text == "say('[key]')"
    assert len(pieces) == 2


@pytest.mark.usefixtures("trials_here")
@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize("how", ["stream=true", "stream=false"])
def test_no_secret_of_an_address_is_left_anywhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer(lambda prompt, body: f"say({' '.join(FORMS.values())!r})") as server:
        netloc = urlsplit(server.url).netloc
        url = f"http://me:{quote(PASSWORD, safe='')}@{netloc}/v1?sig=querySECRET"
        server.faults += [error(500, " ".join(FORMS.values()))]
        asked = ["-m", "openai/fake", "--base-url", url, "--set", how, "--set", "model_timeout=20"]
        run(["run", "say it", *asked, "--set", "cache=kept", "--record", "r.jsonl", "--json"])
        server.faults += [error(400, " ".join(FORMS.values()))]
        run(["run", "say it", *asked])
        suite = ["bench", "run", "tabletop", "-n", "1", "--mode", "instant", "--jobs", "1"]
        run([*suite, "--tasks", "pick-and-place", "--split", "SA-SI", *asked, "--out", "bench"])
        assert server.posts
        assert {post.path.partition("?")[2] for post in server.posts} == {"sig=querySECRET"}
    shown = capsys.readouterr()
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".png"]
    assert Path("bench/header.json") in [path.relative_to(tmp_path) for path in kept]
    for where, text in [("screen", shown.out + shown.err), *((p, p.read_text()) for p in kept)]:
        for name, form in FORMS.items():
            if name != "a header":  # it is none of this endpoint's
                assert form not in str(text), (where, name)


def test_a_message_that_is_cut_does_not_show_half_a_key(connect: Any) -> None:
    told = "x" * 290 + KEY
    for fault in (error(400, told), reply({"error": {"message": told}})):
        with FakeServer(lambda prompt, body: "say(1)", [fault]) as server:
            try:
                said = connect(server.url, api_key=KEY).complete(Request("# a.\n")).why_empty
            except ModelError as failed:
                said = str(failed)
        assert "wk/S" not in said


def test_what_only_resembles_a_secret_is_left() -> None:
    for told in ("k=55555", "wk/SECRET+wor", "100 % & more \\o/ &lt;b&gt; %41", "a" * 40):
        assert SECRETS.text(told) == told
