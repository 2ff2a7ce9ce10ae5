"""What the names of prompt files stand for."""

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import undefined
from cap.cli.prompts import requests
from cap.engine.lmp import hinted
from cap.models.nearest.nearest import Nearest
from cap.models.openai.model import SYSTEM
from cap.program.program import Program
from cap.program.scope import Primitive
from cap.prompt.context import program_lines
from cap.prompt.docs import imports
from cap.prompt.examples import without_synonyms
from cap.prompt.prompt import CHARS_PER_TOKEN
from cap.robot import registry
from cap.session.session import Session
from cap.validation.prompts import (
    MAX_REQUEST_TOKENS,
    PromptReport,
    check_robot_prompts,
    inspect_names,
    request_chars,
)
from tests.cap.conftest import Cap
from tests.rows import table

BARE = Path(__file__).parents[2] / "prompts" / "bare"


def get_obj_pos(name: str) -> list[float]:
    return [0.0, 0.0]


def say(text: str) -> None:
    pass


PRIMITIVES = {f.__name__: Primitive.of(f, "perception") for f in (get_obj_pos, say)}
Write = Callable[..., PromptReport]


@pytest.fixture
def look_at(tmp_path: Path) -> Write:
    def write(text: str, lmps: tuple[str, ...] = ()) -> PromptReport:
        path = tmp_path / "p.py"
        path.write_text(text, encoding="utf-8")
        (report,) = inspect_names(path, PRIMITIVES, lmps)
        return report

    return write


def test_names_are_sorted_by_what_they_stand_for(look_at: Write) -> None:
    report = look_at(
        "import numpy as np\n"
        "from env_utils import get_obj_pos, parse_it, stack_all\n\n"
        "# a.\nstack_all(parse_it('b', c))\nmake_line(d)\nsay('e')\n",
        lmps=("parse_it",),
    )
    assert report.generated == ["stack_all", "make_line"]
    assert report.given == ["c", "d"]
    assert report.findings == []


def test_the_other_files_of_a_folder_are_lmps() -> None:
    reports = {report.prompt.name: report for report in inspect_names(BARE, PRIMITIVES, ())}
    assert "parse_obj_name" not in reports["tray_ui"].generated
    assert reports["transform_shape_pts"].given == ["shape_pts"]
    assert "get_closest_idx" in reports["parse_obj_name"].generated
    assert not any(report.findings for report in reports.values())


def test_variables_of_earlier_turns_are_set(look_at: Write) -> None:
    text = "from u import say\n\nobjects = ['a']\n# a.\nplace = 1\nsay('b')\n# c.\nsay(place)\n"
    assert look_at(text).given == []


FINDINGS = {
    "wrong call": ("# a.\nsay('b', 'c')\n", "line 1: say(text: str) -> None: too many"),
    "unknown attribute": ("# a.\nnp.no_such(1)\n", "np.no_such|numpy has no 'no_such'"),
    "no code": ("# a.\n\n# b.\nsay('c')\n", "there is no code"),
    "another variable": (
        "# a.\nret_val = 1\n# b.\nret_val = 2\n# c.\nvalue = 3\n",
        "it does not set 'ret_val'",
    ),
    "context that is none": (
        "# /// cap\n# ///\nobjects = [f()]\n# a.\nsay(objects)\n",
        "must be lines of",
    ),
}


@pytest.mark.parametrize(("text", "reason"), FINDINGS.values(), ids=FINDINGS)
def test_what_cannot_be_is_a_finding(text: str, reason: str, look_at: Write) -> None:
    found = [str(finding) for finding in look_at(text).findings]
    assert any(part in line for line in found for part in reason.split("|")), found


def test_the_command_tells_names_and_what_was_inferred(cap: Cap) -> None:
    shown = cap(["prompts", "check", str(BARE / "tray_ui.py"), "-r", "ravens"]).out
    assert "tray_ui.py: 5 examples" in shown
    assert "no header, inferred: session = true" in shown
    assert "to be generated: line_up_objects, shift_left" in shown


def test_the_command_fails_on_a_finding(tmp_path: Path, cap: Cap) -> None:
    path = tmp_path / "p.py"
    path.write_text("from u import say\n\n# a\x1b[31m.\nsay('b', 'c')\n")
    shown = cap(["prompts", "check", str(path)], 1).out
    assert "p.py line 3: 'a" in shown
    assert "\x1b" not in shown


def test_the_command_names_a_path_with_no_prompts(tmp_path: Path, cap: Cap) -> None:
    for path, why in (
        ("none/at/all", "no file or folder of that name"),
        (tmp_path, "no prompt files (*.py"),
    ):
        assert why in cap(["prompts", "check", str(path)], 2).err


@pytest.mark.parametrize(
    ("call", "rule"),
    [("robot.say('a')", []), ("robot.say()", ["CAP113"]), ("robot.fly()", ["CAP109"])],
)
def test_a_group_of_primitives_is_held_to_what_it_has(
    call: str, rule: list[str], look_at: Write
) -> None:
    report = look_at(f"import robot\n\n# go.\n{call}\n\n# on.\n{call}\n")
    assert [finding.reason.split()[0] for finding in report.findings] == rule * 2


def test_a_goal_check_beside_them_takes_no_name_from_programs(tmp_path: Path) -> None:
    shipped = Path(__file__).parents[3] / "prompts" / "ravens"
    for name in ("goal.py", "parse_traj.py"):
        (tmp_path / name).write_text((shipped / name).read_text())
    (report,) = (one for one in inspect_names(tmp_path, {}, ()) if one.prompt.name == "parse_traj")
    assert "goal = " in report.prompt.text
    assert not [finding for finding in report.findings if "'goal' is provided" in str(finding)]


def test_each_example_of_a_function_defines_it_and_calls_what_is_there() -> None:
    prompt, defined = registry.function_prompt(), set[str]()
    for example in prompt.examples:
        call = ast.parse(example.instruction).body[0]
        assert isinstance(call, ast.Assign | ast.Expr)
        assert isinstance(call.value, ast.Call)
        own = {getattr(node, "name", "") for node in ast.parse(example.code).body}
        assert ast.unparse(call.value.func) in own
        defined |= own
        program = Program.parse(example.code + "\n")
        assert undefined(program, EVERYWHERE | defined) == ()


# --- effects that examples state: the true ones pass, each wrong one is a finding

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
    wrong = [] if stated == true else [f"stated: {stated}; in fact: {true}"]
    assert findings(tmp_path, f"{both}#= {stated}\n") == wrong


def test_what_is_only_judged_no_language_model_is_sent() -> None:
    text = "#: put = set\n# put it in.\nput()\n#= moved\n#? inside bowl\n# why\n"
    assert without_synonyms(text) == "# put it in.\nput()\n#= moved\n# why\n"


# --- every request fits the 4,096 tokens that small local servers hold, with room for the answer

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
    cap(["prompts", "check", *by, str(tmp_path)])
