"""Effects that examples state: the true ones pass, each wrong one is a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from cap.models.nearest.nearest import Nearest
from cap.prompt.examples import without_synonyms
from cap.validation.prompts import check_robot_prompts
from tests.rows import table

HEADER = '# /// cap\n# context = ["objects"]\n# session = true\n# actions = true\n# ///\n'
HINTS = "import numpy as np\nfrom robot import put_first_on_second, get_obj_pos, say\n\n"
CONTEXT = "objects = ['red block', 'blue block', 'blue bowl']\n"
PUT = "# put it in.\nput_first_on_second('red block', 'blue bowl')\nsay('The block is in')\n"


def findings(folder: Path, examples: str) -> list[str]:
    (folder / "ui.py").write_text(HEADER + HINTS + CONTEXT + examples, encoding="utf-8")
    checked = check_robot_prompts("ravens", Nearest(), folder)
    return [found.reason for _, _, some in checked for found in some]


@pytest.mark.parametrize(
    ("words", "code", "number"),
    [
        ("say 2 times more", "say(f'{(4 + 6) / 2 * 2}')", "2"),
        ("say a 2 cm radius", "say(f'{0.02 * 2 * np.pi}')", "2 cm"),
        ("say three", "say(f'{3} {3}')", "three"),
        ("turn by 45 degrees", "say(f'{np.radians(45)} {45}')", "45 degrees"),
        ("say 2 and 2", "say(f'{2} {2}')", ""),
        ("say 2 times more", "say(f'{np.mean([4, 6]) * 2}')", ""),
    ],
)
def test_a_number_of_the_words_stands_once_in_the_code(
    tmp_path: Path, words: str, code: str, number: str
) -> None:
    found = [
        reason.partition(" stands")[0] for reason in findings(tmp_path, f"# {words}.\n{code}\n")
    ]
    assert found == ([f"the number {number}"] if number else [])


@pytest.mark.parametrize(
    "line",
    [
        "moved",
        "moved red block to blue bowl; said the BLOCK",
        "said 'The block is in'; as named before",
    ],
)
def test_a_true_effect_passes(tmp_path: Path, line: str) -> None:
    assert findings(tmp_path, f"{PUT}#= {line}\n") == []


@pytest.mark.parametrize(
    ("line", "why"),
    table(__file__, "a wrong effect is a finding").values(),
)
def test_a_wrong_effect_is_a_finding(tmp_path: Path, line: str, why: str) -> None:
    (reason,) = findings(tmp_path, f"{PUT}#= {line}\n")
    assert why in reason


def test_effect_lines_are_no_part_of_the_program(tmp_path: Path) -> None:
    stated = "#= moved red block to blue bowl\n#? moved\n"
    assert findings(tmp_path, f"{PUT}{stated}\n# and say so.\nsay('yes')\n#= said yes\n") == []


@pytest.mark.parametrize(
    "stated",
    [
        "moved red block; moved blue block to red block",
        "moved blue block to red block; moved red block",
        "moved red block",
    ],
)
def test_several_that_moved_are_stated_in_their_order(tmp_path: Path, stated: str) -> None:
    true = "moved red block; moved blue block to red block"
    both = (
        "# two.\nput_first_on_second('red block', 'left side')\n"
        "put_first_on_second('blue block', 'red block')\n"
    )
    wrong = [] if stated == true else [f"'{stated}': {true}"]
    assert findings(tmp_path, f"{both}#= {stated}\n") == wrong


def test_what_is_only_judged_no_language_model_is_sent() -> None:
    text = "#: put = set\n# put it in.\nput()\n#= moved\n#? inside bowl\n# why\n"
    assert without_synonyms(text) == "# put it in.\nput()\n#= moved\n# why\n"
