"""A real llama.cpp server with a tiny model of random weights: `python -m tests.fakes.llama ...`.

Its vocabulary is characters, so a character is about a token, and its answers mean nothing. Needs
the packages gguf and xllamacpp, which `make soak` installs.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

WIDTH, LAYERS, HEADS, HIDDEN = 64, 2, 4, 128
LONGEST = 65536
CHAT = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"


def write_model(path: Path) -> None:
    """Write the model, about half a megabyte."""
    import gguf
    import numpy as np

    marks = [(b"<unk>", 2), (b"<s>", 3), (b"</s>", 3)]
    octets = [(f"<0x{number:02X}>".encode(), 6) for number in range(256)]
    letters = [("\u2581".encode() if c == 32 else bytes([c]), 1) for c in range(32, 127)]
    tokens = [*marks, *octets, *letters]
    rng = np.random.default_rng(0)

    def weights(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) * 0.08).astype(np.float32)

    file = gguf.GGUFWriter(str(path), "llama")
    file.add_name("tiny-random")
    file.add_context_length(LONGEST)
    file.add_embedding_length(WIDTH)
    file.add_block_count(LAYERS)
    file.add_feed_forward_length(HIDDEN)
    file.add_head_count(HEADS)
    file.add_head_count_kv(HEADS)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_dimension_count(WIDTH // HEADS)
    file.add_file_type(0)
    file.add_vocab_size(len(tokens))
    file.add_tokenizer_model("llama")
    file.add_token_list([text for text, _ in tokens])
    file.add_token_types([kind for _, kind in tokens])
    scores = [0.0 if kind != 1 else -float(number) for number, (_, kind) in enumerate(tokens)]
    file.add_token_scores(scores)
    for number, add in enumerate(
        (file.add_unk_token_id, file.add_bos_token_id, file.add_eos_token_id)
    ):
        add(number)
    file.add_chat_template(CHAT)
    file.add_tensor("token_embd.weight", weights(len(tokens), WIDTH))
    file.add_tensor("output.weight", weights(len(tokens), WIDTH))
    file.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            file.add_tensor(f"blk.{layer}.{name}.weight", np.ones(WIDTH, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            file.add_tensor(f"blk.{layer}.{name}.weight", weights(WIDTH, WIDTH))
        for name in ("ffn_gate", "ffn_up"):
            file.add_tensor(f"blk.{layer}.{name}.weight", weights(HIDDEN, WIDTH))
        file.add_tensor(f"blk.{layer}.ffn_down.weight", weights(WIDTH, HIDDEN))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


@contextlib.contextmanager
def serving(model: Path, context: int) -> Iterator[str]:
    """Serve a model in a process of its own; yield the address to give as `base_url`."""
    command = [sys.executable, "-m", "tests.fakes.llama", str(model), str(context)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = next(line for line in server.stdout if line.startswith("http")).strip()
            _wait(f"{address}/health")
            yield f"{address}/v1"
        finally:
            server.kill()


def _wait(url: str) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=10) as answer:
            if json.load(answer).get("status") == "ok":
                return
        time.sleep(0.1)
    raise TimeoutError(url)


def main() -> None:
    """Serve until standard input ends."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.port = sys.argv[1], 0
    parameters.n_ctx, parameters.n_parallel = int(sys.argv[2]), 1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
