"""Every request fits the 4,096 tokens that small local servers hold, with room for the answer."""

import json
import re
from pathlib import Path

import pytest

from cap.cli.main import run
from cap.cli.prompts import requests
from cap.engine.lmp import hinted
from cap.models.nearest.nearest import Nearest
from cap.models.openai.model import SYSTEM
from cap.prompt.context import program_lines
from cap.prompt.docs import imports
from cap.prompt.prompt import CHARS_PER_TOKEN, MAX_REQUEST_TOKENS
from cap.robot import registry
from cap.session.session import Session
from cap.validation.prompts import request_chars
from tests.cap.conftest import Cap

MOST_CHARS = MAX_REQUEST_TOKENS * CHARS_PER_TOKEN
ROBOTS = ["ravens", "drawing", "kitchen"]


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_request_of_each_prompt_fits(robot: str) -> None:
    texts = requests(registry.robot_prompts(robot), robot)
    sizes = {name: request_chars(text) for name, text in texts.items()}
    assert {name: size for name, size in sizes.items() if size > MOST_CHARS} == {}
    assert min(sizes.values()) > len(SYSTEM) + 1_000, "docs and examples are counted"


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_request_for_a_function_fits_whatever_the_program_s_length(robot: str) -> None:
    program = "".join(f"x{number} = get_obj_pos('red block')\n" for number in range(500))
    given = program_lines("put the red block in the bowl", program, [7, 480])
    assert "x7 = " in given
    assert "x479 = " in given
    with Session.open(robot, Nearest(), mode="instant") as session:
        prompt = session.engine.prompts["ui"]
        docs = session.engine.docs(prompt)
        docs += f"\n{imports(hinted(prompt, session.engine.scope(prompt)))}"
        asked = registry.function_prompt().render("f(1)", docs=docs, given=given)
    assert "\nfrom robot import " in asked
    assert len(SYSTEM) + len(asked) <= MOST_CHARS


def test_sizes_are_listed(cap: Cap) -> None:
    rows = {row["prompt"]: row for row in json.loads(cap(["prompts", "list", "--json"]).out)}
    row = rows["ravens/ui"]
    text = requests(registry.robot_prompts("ravens"), "ravens")["ui"]
    assert row["characters"] == request_chars(text)
    assert row["tokens"] == -(-row["characters"] // 4)
    assert row["nearest"] > row["examples"] > 20
    assert all(row["characters"] for row in rows.values())


LONG = "".join(f"# say {'word ' * 20}{number}.\nsay('{number}')\n" for number in range(120))


@pytest.mark.parametrize("by", [["--prompts"], []], ids=["executed", "a folder"])
def test_a_custom_prompt_over_the_limit_fails_the_check(
    tmp_path: Path, by: list[str], cap: Cap
) -> None:
    (tmp_path / "ui.py").write_text(f"from robot import say\n\n{LONG}", encoding="utf-8")
    shown = cap(["prompts", "check", *by, str(tmp_path)], 1).out
    assert re.search(r"ui(\.py)?: its request has about \d,\d{3} tokens", shown)
    assert re.search(r"ui(\.py)?: (120 of )?120 examples", shown)
    (tmp_path / "ui.py").write_text("from robot import say\n\n# say one.\nsay('1')\n")
    assert run(["prompts", "check", *by, str(tmp_path)]) == 0
