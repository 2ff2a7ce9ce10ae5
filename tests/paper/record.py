"""Write the recordings anew: `python -m tests.paper.record`.

The completions are the paper's, transcribed by hand in `worked.py`; a recording keys them by the
exact request, so it is written again whenever a prompt changes. The notebook's is made by running
its cells with the transcript in the model's place.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cap.models.base import Completion, Request
from cap.models.replay import Recording
from cap.models.wrapper import Managed
from tests.paper.worked import EXAMPLES

RECORDING = Path(__file__).with_name("recording.jsonl")
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NOTEBOOK = NOTEBOOKS / "01_language_model_programs.ipynb"
NOTEBOOK_RECORDING = NOTEBOOKS / "recordings" / "01.jsonl"


class Transcript:
    """A model that answers with transcribed completions, by the end of the request."""

    name = "transcript"

    def __init__(self, completions: Mapping[str, str]) -> None:
        self._completions = completions

    def complete(self, request: Request) -> Completion:
        """Answer one request."""
        line = request.prompt.rstrip().splitlines()[-1].rstrip(".")
        ends = [end for end in self._completions if line.endswith(end)]
        if not ends:
            raise LookupError(f"nothing is transcribed for {line!r}")
        text = self._completions[max(ends, key=len)]
        return Completion(text.rstrip() + "\n", model="code-davinci-002 (transcribed)")


def record_examples(path: Path) -> None:
    """Run every example and write down its completions."""

    def run(beside: Path) -> None:
        recording = Recording(beside)
        for example in EXAMPLES:
            example.run(Managed(Transcript(example.completions), recording=recording))

    _record(path, run)


def record_notebook(path: Path) -> None:
    """Run the notebook's cells and write down the completions they ask for."""
    everything = {end: text for example in EXAMPLES for end, text in example.completions.items()}
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    first, *sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]

    def run(beside: Path) -> None:
        space: dict[str, Any] = {"__name__": "notebook"}
        exec(first.partition("model =")[0], space)
        space["model"] = Managed(Transcript(everything), recording=Recording(beside))
        with contextlib.redirect_stdout(io.StringIO()):
            for source in sources:
                exec(source, space)

    _record(path, run)


def _record(path: Path, run: Callable[[Path], None]) -> None:
    """Record beside, then keep each request once."""
    with tempfile.TemporaryDirectory() as folder:
        beside = Path(folder) / "recording.jsonl"
        run(beside)
        lines = dict.fromkeys(beside.read_text(encoding="utf-8").splitlines())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    record_examples(RECORDING)
    record_notebook(NOTEBOOK_RECORDING)
