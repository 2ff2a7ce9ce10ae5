"""Sessions with a scripted model behind an endpoint: the whole text of every request it is sent."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.record import doors
from tests.record.record import Case, Seen
from tests.record.sentences import outcome

SESSIONS = Path(__file__).parent / "sessions.jsonl"
"""Each with the answers to every question, in order; the last again, if it is asked again."""


class Script:
    """The answers of a turn, by the last line of the request; keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: dict[str, list[str]] = {}
        self.sent: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def answer(self, body: dict[str, Any]) -> str:
        with self._lock:
            self.sent.append(body)
            known = self.answers.get(text_of(body["messages"][-1]).rstrip().rpartition("\n")[2], [])
            if "seed" in body:  # one of several that are asked for at the same time
                return known[body["seed"] % len(known)]
            return known.pop(0) if len(known) > 1 else known[0] if known else "pass\n"


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, which may be in pieces."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(piece.get("text", f"<{piece['type']}>") for piece in content)


@contextmanager
def endpoint(script: Script) -> Iterator[str]:
    """Serve a script on loopback as `/v1/chat/completions`; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": script.answer(body)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            read = sum(len(text_of(message)) for message in body["messages"]) // 4
            usage = {"prompt_tokens": read, "completion_tokens": 5, "total_tokens": read + 5}
            reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
            data = json.dumps({**reply, "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def cases() -> Mapping[str, Case]:
    """Return the sessions."""
    found = map(json.loads, SESSIONS.read_text(encoding="utf-8").splitlines())
    return {entry["name"]: partial(_session, entry) for entry in found}


def _session(entry: Mapping[str, Any]) -> Seen:
    script = Script()
    behaviour: dict[str, Any] = {}
    texts: dict[str, str] = {}
    with (
        endpoint(script) as url,
        doors.Session.open(
            entry["robot"],
            "openai/scripted",
            base_url=url,
            seed=entry["seed"],
            objects=entry["objects"],
            mode="instant",
            asked={"stream": False},
            **entry["options"],
        ) as session,
    ):
        for number, turn in enumerate(entry["turns"], 1):
            answers: dict[str, list[str]] = defaultdict(list)
            for question, text in turn["answers"]:
                answers[question].append(text)
            script.answers, script.sent = dict(answers), []
            done = session.run(turn["text"])
            seen = outcome(done)
            script.sent.sort(key=lambda body: json.dumps(body, sort_keys=True))  # some are at once
            behaviour[f"{number}: {turn['text']}"] = {
                **seen.behaviour,
                "attempts": done.attempts,
                "tried": done.tried,
                "requests": [_form(body) for body in script.sent],
            }
            for count, body in enumerate(script.sent, 1):
                whole = [f"({message['role']})\n{text_of(message)}" for message in body["messages"]]
                texts[f"turn {number}, request {count}"] = "\n".join(whole)
    return Seen(behaviour, texts)


def _form(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request without its texts."""
    roles = [message["role"] for message in body["messages"]]
    return {**{key: each for key, each in body.items() if key != "messages"}, "messages": roles}
