"""An OpenAI-compatible server on loopback, with faults on demand.

    with FakeServer(lambda prompt, body: "say('hello')") as server:
        make_model("openai/fake", base_url=server.url)

It speaks `/v1/completions`, `/v1/chat/completions` and `/v1/models`, and keeps what it was sent.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Fault:
    """What is answered in place of a completion, once."""

    status: int = 200
    """HTTP status."""
    body: bytes = b""
    """Body, as it is."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """More headers."""
    drop: bool = False
    """Close the connection without a word."""
    hang: bool = False
    """Answer nothing until the server closes."""
    drip: bool = False
    """Send spaces, one at a time, until the client has gone."""
    chunks: Sequence[bytes] = ()
    """Body in pieces, each sent when the one before is out; in place of `body`."""
    then: Literal["end", "drop", "hang", "repeat"] = "end"
    """What comes after the chunks: the last of them again and again, for `repeat`."""
    wait_s: float = 0.0
    """Wait before the first byte, in seconds."""


CERTIFICATE = Path(__file__).with_name("loopback.pem")
"""Of 127.0.0.1, for a hundred years, with its key; good for nothing else."""
CHARS_PER_TOKEN = 4


def tokens(text: str) -> int:
    """Count a text as the server does."""
    return -(-len(text) // CHARS_PER_TOKEN)


Answer = Callable[[str, Mapping[str, Any]], str | Fault]
"""Given the prompt's text (the user's message in chat mode) and the body: the completion."""


def error(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Fault:
    """Return an error in OpenAI's form."""
    told = {"message": message, "type": "invalid_request_error", "code": code, "param": param}
    return Fault(status, json.dumps({"error": told}).encode(), headers or {})


def reply(body: Any) -> Fault:
    """Return any JSON with status 200."""
    return Fault(body=json.dumps(body).encode())


def event(piece: Any) -> bytes:
    """Return one server-sent event."""
    return b"data: " + json.dumps(piece).encode() + b"\n\n"


def delta(text: str | None = None, finish: str | None = None, **more: Any) -> bytes:
    """Return the event of one piece of a chat's answer."""
    message: dict[str, Any] = {} if text is None else {"content": text}
    return event({"choices": [{"delta": {**message, **more}, "finish_reason": finish}]})


def stream(
    *chunks: bytes, then: Literal["end", "drop", "hang", "repeat"] = "end", wait_s: float = 0.0
) -> Fault:
    """Return a streamed answer."""
    headers = {"Content-Type": "text/event-stream"}
    return Fault(headers=headers, chunks=chunks, then=then, wait_s=wait_s)


def fault(row: Mapping[str, Any]) -> Fault:
    """Return a fault as data describes it.

    `error` is OpenAI's form with that message, `json` any JSON, `text` a body as it is, `events` a
    stream: each JSON or, of text, as it is. The rest is as in `Fault`.
    """
    given = dict(row)
    if "error" in given:
        return error(given.pop("status"), given.pop("error"), **given)
    if "json" in given:
        given["body"] = json.dumps(given.pop("json")).encode()
    if "text" in given:
        given["body"] = given.pop("text").encode()
    if "events" in given:
        events = given.pop("events")
        given.setdefault("headers", {"Content-Type": "text/event-stream"})
        given["chunks"] = [one.encode() if isinstance(one, str) else event(one) for one in events]
    elif "chunks" in given:
        given["chunks"] = [chunk.encode() for chunk in given["chunks"]]
    return Fault(**given)


KEEP_ALIVE = b": still here\n\n"
DONE = b"data: [DONE]\n\n"
DROP = Fault(drop=True)
HANG = Fault(hang=True)
DRIP = Fault(drip=True)


@dataclass(frozen=True)
class Seen:
    """One request the server was sent."""

    path: str
    """Path, with `/v1`."""
    headers: Mapping[str, str]
    """Headers, names in lower case."""
    body: Mapping[str, Any]
    """Decoded body; empty for GET."""


class FakeServer:
    """The server; a context manager that ends with no thread or socket left."""

    def __init__(
        self,
        answer: Answer,
        faults: Sequence[Fault] = (),
        refuses: Collection[str] = (),
        models: Sequence[str] = ("fake",),
        window: int | None = None,
        blind: bool = False,
        tls: bool = False,
    ) -> None:
        """Open a port on 127.0.0.1.

        Args:
            answer: Gives the completions; a LookupError from it becomes a 404.
            faults: Answered first, one for each POST.
            refuses: Parameters refused with a 400 whenever they are sent.
            models: Names served; another name is a 404.
            window: Tokens of a prompt that are read; what is before is lost without a word.
            blind: Refuses pictures.
            tls: Speaks https, with a certificate that nobody vouches for.
        """
        self.answer = answer
        self.faults = list(faults)
        self.refuses = tuple(refuses)
        self.models = tuple(models)
        self.window = window
        self.blind = blind
        self.seen: list[Seen] = []
        self.broken: list[BaseException] = []
        self.closing = threading.Event()
        self._http = _Http(self)
        self._scheme = "http"
        if tls:
            self._scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The address to give as `base_url`."""
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def posts(self) -> list[Seen]:
        """The requests for completions, in the order they came."""
        return [seen for seen in self.seen if seen.body]

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        if self.broken:
            raise self.broken[0]


class _Http(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, fake: FakeServer) -> None:
        self.fake = fake
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        import sys

        problem = sys.exc_info()[1]
        if problem is not None and not isinstance(problem, ConnectionError | ssl.SSLError):
            self.fake.broken.append(problem)


class _Handler(BaseHTTPRequestHandler):
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        fake = self.server.fake
        fake.seen.append(Seen(self.path, self._headers(), {}))
        if self.path != "/v1/models":
            self._send(error(404, f"no route {self.path}"))
            return
        data = [
            {"id": name, "object": "model", "created": 0, "owned_by": "x"} for name in fake.models
        ]
        self._send(reply({"object": "list", "data": data}))

    def do_POST(self) -> None:
        fake = self.server.fake
        size = int(self.headers["Content-Length"])
        sent = self.rfile.read(size)
        if len(sent) < size:  # whoever asked has gone
            return
        body = json.loads(sent)
        fake.seen.append(Seen(self.path, self._headers(), body))
        self._send(fake.faults.pop(0) if fake.faults else self._completion(body))

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _completion(self, body: Mapping[str, Any]) -> Fault:
        fake = self.server.fake
        route = self.path.partition("?")[0]
        if route not in ("/v1/completions", "/v1/chat/completions"):
            return error(404, f"no route {self.path}")
        if body["model"] not in fake.models:
            return error(404, f"no model {body['model']}", code="model_not_found")
        for name in fake.refuses:
            if name in body:
                told = f"Unsupported parameter: '{name}' is not supported with this model."
                return error(400, told, code="unsupported_parameter", param=name)
        chat = route.endswith("chat/completions")
        prompt = body["messages"][-1]["content"] if chat else body["prompt"]
        if isinstance(prompt, list):  # parts: a text, and pictures
            if fake.blind:
                return error(400, "content must be a string: this model takes no image input")
            prompt = "".join(part.get("text", "") for part in prompt)
        kept = prompt if fake.window is None else prompt[-CHARS_PER_TOKEN * fake.window :]
        try:
            answered = fake.answer(kept, body)
        except LookupError as problem:
            return error(404, f"no completion: {problem}")
        if isinstance(answered, Fault):
            return answered
        text = _cut(answered, body.get("stop") or ())
        choice = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        read, written = tokens(prompt), tokens(text)
        if fake.window is not None:
            read = min(read, fake.window)
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
        head = {"id": "fake-1", "created": 0, "model": body["model"]}
        if body.get("stream"):
            return stream(*_events(text, chat, head, body, usage))
        kind = "chat.completion" if chat else "text_completion"
        choices = [{"index": 0, "finish_reason": "stop", **choice}]
        return reply({**head, "object": kind, "choices": choices, "usage": usage})

    def _send_chunks(self, fault: Fault) -> None:
        """Send a body in pieces, and end it or not."""
        closing = self.server.fake.closing

        def send(chunk: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))

        for chunk in fault.chunks:
            send(chunk)
        while fault.then == "repeat" and not closing.wait(0.001):
            send(fault.chunks[-1])
        if fault.then == "hang":
            closing.wait(30.0)
        if fault.then == "end":
            send(b"")

    def _send(self, fault: Fault) -> None:
        self.server.fake.closing.wait(fault.wait_s)
        if fault.hang:
            self.server.fake.closing.wait(30.0)
        if fault.drop or fault.hang:
            return
        if fault.chunks:
            self.protocol_version = "HTTP/1.1"  # 1.0 has no chunks
        self.send_response(fault.status)
        headers = {"Content-Type": "application/json", **fault.headers}
        if fault.chunks:
            headers |= {"Transfer-Encoding": "chunked", "Connection": "close"}
        elif not fault.drip:
            headers.setdefault("Content-Length", str(len(fault.body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if fault.chunks:
            self._send_chunks(fault)
            return
        self.wfile.write(fault.body)
        while fault.drip and not self.server.fake.closing.is_set():
            self.wfile.write(b" ")


def _events(
    text: str, chat: bool, head: Mapping[str, Any], body: Mapping[str, Any], usage: Any
) -> list[bytes]:
    """Return a completion word by word, as servers stream it."""
    words = re.findall(r"\S+\s*|^\s+", text)
    pieces = [({"delta": {"content": word}} if chat else {"text": word}) for word in words]
    events = [event({**head, "choices": [{"index": 0, **piece}]}) for piece in pieces]
    rest: dict[str, Any] = {"delta": {}} if chat else {"text": ""}
    last = {"index": 0, "finish_reason": "stop", **rest}
    events.append(event({**head, "choices": [last]}))
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append(event({**head, "choices": [], "usage": usage}))
    return [*events, DONE]


def _cut(text: str, stops: Sequence[str]) -> str:
    """End a completion at its first stop string, as the real endpoints do."""
    ends = [text.index(stop) for stop in stops if stop in text]
    return text[: min(ends)] if ends else text


def by_instruction(completions: Mapping[str, str]) -> Answer:
    """Answer by the prompt's last line."""
    return lambda prompt, body: completions[prompt.rstrip().splitlines()[-1]]


def from_recording(path: Path) -> Answer:
    """Answer with the completions of a recording, by the last lines of the prompt."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    ends: dict[str, str] = {entry["prompt_end"]: entry["text"] for entry in entries}

    def answer(prompt: str, body: Mapping[str, Any]) -> str:
        prompt = prompt.rstrip()
        found = [end for end in ends if prompt.endswith(end)]
        if not found:
            raise LookupError(prompt.splitlines()[-1])
        return ends[max(found, key=len)]

    return answer
