"""The notebooks run from a clean kernel, offline, and hold no outputs."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
SAID = {
    "01_language_model_programs": [
        "any(x % 3 == 0 for x in xs)",
        "[-0.3  0.4]",
        "the red block is at [ 0.08 -0.5 ]",
        "def get_obj_bbox_area(obj_name)",
        "['red block', 'blue bowl', 'red bowl']",
        "CAP102 (line 1)",
        "TimeLimit: the program ran longer than 0.5 s",
        "ZeroDivisionError (line 1): division by zero",
    ],
}
"""What a reader must see."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_outputs_are_kept(path: Path) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_shows_what_it_promises(path: Path) -> None:
    with warnings.catch_warnings():
        # Of the kernel's own libraries; the notebook's code runs in another process.
        warnings.simplefilter("ignore")
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.read(path, as_version=4)
        resources = {"metadata": {"path": str(path.parent)}}
        NotebookClient(notebook, timeout=60, resources=resources).execute()
    shown = "".join(_texts(notebook))
    for words in SAID[path.stem]:
        assert words in shown


def _texts(notebook: Any) -> list[str]:
    return [
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    ]
