"""A small endpoint with a latency of its own, for measuring what the engine adds to a model's.

It answers requests for functions with ones that call further functions, so that a program grows a
tree: `f(n)` needs `f_0` and `f_1`, and so on down to the leaves.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TREE: Mapping[str, Sequence[str]] = {
    "a": ("a_left", "a_right"),
    "b": ("b_left", "b_right"),
    "a_left": ("a_leaf",),
    "b_right": ("b_leaf",),
    "a_right": (),
    "b_left": (),
    "a_leaf": (),
    "b_leaf": (),
}
"""Eight functions over three levels: what each calls."""
PROGRAM = "ret_val = a(1) + b(1)\n"
"""The program that needs them."""
VALUE = 4
"""What it comes to: each leaf and childless function returns 1."""
_ASKED = re.compile(r"# define function: (?:\w+ = )?(\w+)\(")


def answer(prompt: str) -> str:
    """Return what the endpoint writes for the last line of a prompt."""
    asked = _ASKED.match(prompt.rstrip().splitlines()[-1])
    if asked is None:
        return PROGRAM
    calls = [f"{name}(n)" for name in TREE[asked[1]]]
    return f"def {asked[1]}(n):\n    return {' + '.join(calls) or 1}\n"


class Endpoint(ThreadingHTTPServer):
    """Answers completions after a fixed time, each on a thread of its own."""

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, latency_s: float) -> None:
        """Listen on a free port of the loopback interface."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.latency_s = latency_s


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Endpoint

    def do_POST(self) -> None:
        """Answer one completion request."""
        length = int(self.headers.get("Content-Length", 0))
        prompt = json.loads(self.rfile.read(length))["prompt"]
        time.sleep(self.server.latency_s)
        reply = {
            "id": "1",
            "object": "text_completion",
            "created": 0,
            "model": "tree",
            "choices": [{"index": 0, "text": answer(prompt), "finish_reason": "stop"}],
            "usage": {"prompt_tokens": len(prompt) // 4 + 1, "completion_tokens": 1},
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the table is all that is printed."""


@contextmanager
def serving(latency_s: float) -> Iterator[str]:
    """Run an endpoint for as long as the block lasts; yield its address, for `--base-url`.

    It is a process of its own, as any endpoint: its work must not take turns with the engine's.
    """
    command = [sys.executable, "-I", __file__, str(latency_s)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.stdin.close()


def main(latency_s: float) -> None:
    """Tell the port, and serve until the input ends, as it does when the parent is gone."""
    endpoint = Endpoint(latency_s)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    sys.stdout.write(f"{endpoint.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(float(sys.argv[1]))
