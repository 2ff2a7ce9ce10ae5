"""The notebooks run from a clean kernel, offline, and are stored with what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks import NOTEBOOKS, executed

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
SAID = {
    "01_language_model_programs": [
        "any(x % 3 == 0 for x in xs)",
        "[-0.3  0.4]",
        "the red block is at [ 0.08 -0.5 ]",
        "def get_obj_bbox_area(obj_name)",
        "['red block', 'blue bowl', 'red bowl']",
        "CAP102 line 1: 'import os' is not allowed",
        "TimeLimit: the program ran longer than 0.5 s",
        "ZeroDivisionError (line 1): division by zero",
    ],
    "02_a_session_on_the_tabletop": [
        "moved yellow block to yellow bowl",
        "effect: moved red block from blue bowl",
        "False | NotFound (line 1): no object or place named 'purple bowl'",
        "programs asked for: 3",
    ],
    "03_a_robot_of_your_own": [
        "a bit darker: set_level(max(get_level() - 0.2, 0.0))  ->  lamp is blue at 80%",
        "two turns back: {'lamp': 'white at 100%'}",
        "Did you mean 'red'?",
    ],
    "04_functions_and_skills": [
        "# Generated function.\ndef line_points(count, gap)",
        "('line_points', 'put_in_line')",
        "effect: moved blue block, red block, green block",
        "True ('all is tidy',)",
    ],
    "05_benchmarks": [
        "all are written down: False",
        "8 of 8 trials are written down",
        "2nd: tabletop 4: noisy-oracle:0.5 (noisy)",
        "trials that differ: 2",
    ],
    "06_drawing_and_kitchen": [
        "make both bigger: changed the drawing",
        "effect: moved apple, orange from table to bowl",
        "effect: drove",
    ],
    "07_planners": [
        "done: the world matches the instruction",
        "pick up the apple: somebody kept it from succeeding",
        "stack_objects_in_order(",
    ],
    "08_controllers": [
        "upright_steps 500 (500 to 500)",
        "cartpole       0.0 (0.0-56.1)",
        "-0.0000 rad after 4 s",
    ],
}
"""What a reader must see."""
NO_PICTURE = ("01_language_model_programs", "08_controllers")


def cells(notebook: Any) -> list[tuple[str, list[str]]]:
    """Return what each cell shows: its words, numbers left out, and the kinds of its pictures.

    What takes a time, or is a sandbox's on this machine, is otherwise each time.
    """
    shown = []
    for cell in notebook["cells"]:
        outputs = cell.get("outputs", ())
        words = "".join(_words(output) for output in outputs if output["output_type"] != "error")
        words = re.sub(r"^layers that hold:.*$", "", words, flags=re.MULTILINE)
        kinds = [kind for output in outputs for kind in output.get("data", ()) if "image" in kind]
        shown.append((re.sub(r"[-+]?[0-9][0-9.e+-]*|0x[0-9a-f]+", "N", words), sorted(kinds)))
    return shown


def _words(output: Any) -> str:
    words = output.get("text") or output.get("data", {}).get("text/plain", "")
    return words if isinstance(words, str) else "".join(words)


def test_every_notebook_has_words_a_reader_must_see() -> None:
    assert [path.stem for path in PATHS] == sorted(SAID)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_it_can_be_read_where_it_lies(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < 300_000
    assert "/root/" not in text
    assert "Traceback" not in text
    notebook = json.loads(text)
    words = "".join(_words(output) for c in notebook["cells"] for output in c.get("outputs", ()))
    assert "\x1b" not in words
    for said in SAID[path.stem]:
        assert said in words
    kinds = [kind for _, found in cells(notebook) for kind in found]
    assert kinds or path.stem in NO_PICTURE
    sources = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert "gpt-4.1-mini" in sources  # the line that asks a real model


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if path.stem.startswith("03") else [pytest.mark.soak])
        for path in PATHS
    ],
    ids=lambda path: path.stem,
)
def test_it_runs_and_shows_what_is_stored(path: Path) -> None:
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert cells(executed(path)) == cells(stored)
