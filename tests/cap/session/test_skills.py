"""Skills: one readable file each, checked whenever it is read, offered where it can work."""

from __future__ import annotations

from pathlib import Path

import pytest

from cap.errors import SkillError, UsageError
from cap.robot.registry import function_prompt
from cap.session.skills.store import Skill, SkillStore
from tests.cap.conftest import Open
from tests.fakes.scripted import PROMPTS, model_of, said
from tests.rows import table

GENERATED = {
    "move it": "say(str(get_double(x=4)))",
    "define function: get_double(x=4)": (
        "def get_double(x):\n    '''Return twice a number. Really.'''\n    return get_sum(x, x)\n"
    ),
    "define function: get_sum(x, x)": "def get_sum(a, b):\n    return a + b\n",
}


@pytest.fixture
def store(tmp_path: Path) -> SkillStore:
    return SkillStore(tmp_path / "skills")


@pytest.fixture
def begin(open_session: Open, store: SkillStore) -> Open:
    """Open a session with the folder of skills."""
    return lambda answers, **options: open_session(answers, **{"skills": store, **options})


def write(store: SkillStore, name: str, text: str) -> Path:
    store.folder.mkdir(exist_ok=True)
    path = store.folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_generated_function_is_kept_with_its_helpers_and_its_origin(
    begin: Open, store: SkillStore
) -> None:
    session = begin(GENERATED)
    assert session.run("move it").failure is None
    path = session.save_skill("get_double")
    assert path == store.folder / "get_double.py"
    double, total = map(store.get, store.names())
    assert (double.name, double.requires, total.name) == ("get_double", ("get_sum",), "get_sum")
    assert double.instruction == "move it"
    assert (double.model, double.robot) == ("scripted", "ravens")
    assert double.prompt_sha256 == function_prompt().sha256
    assert double.signature == "get_double(x)"
    assert double.doc == "Return twice a number"
    assert path.read_text().splitlines()[-3].startswith("def get_double(x):")


def test_a_later_session_is_told_of_a_skill_and_can_call_it(begin: Open) -> None:
    first = begin(GENERATED)
    first.run("move it")
    first.save_skill("get_double")
    later = begin({"again": "say(str(get_double(5)))"})
    turn = later.run("again")
    assert turn.failure is None
    assert said(later) == ["10"]
    assert "def get_sum" in turn.program
    lines = model_of(later).prompts[0].splitlines()
    assert "from skills import get_double  # get_double(x): Return twice a number" in lines
    assert len(model_of(later).prompts) == 1


def test_a_name_that_is_taken_is_an_error_and_nothing_is_overwritten(
    begin: Open, store: SkillStore
) -> None:
    path = write(store, "get_double", "def get_double(x):\n    return 0\n")
    session = begin(GENERATED, skills=None)
    session.run("move it")
    with pytest.raises(UsageError, match="no folder for skills"):
        session.save_skill("get_double")
    session.skills = store
    with pytest.raises(UsageError, match="skill 'get_double' already"):
        session.save_skill("get_double")
    assert path.read_text() == "def get_double(x):\n    return 0\n"
    assert store.names() == ("get_double",)


@pytest.mark.parametrize(
    ("name", "message"), table(__file__, "names that no skill may have").values()
)
def test_names_that_no_skill_may_have(store: SkillStore, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        store.save(Skill(name, "def half(x):\n    return x / 2\n"))
    assert store.names() == ()


def test_what_the_robot_has_is_no_skill(begin: Open) -> None:
    with pytest.raises(UsageError, match="the robot's own"):
        begin({}).save_skill("get_obj_pos")


def test_functions_are_kept_with_the_name_that_they_call_themselves_by(
    begin: Open, store: SkillStore
) -> None:
    source = (
        "def down(n):\n    return 0 if n == 0 else down(n - 1)\n\ndef run_down(n):\n"
        "    return down(n)\n"
    )
    session = begin({"def a": source})
    session.run("def a")
    session.save_skill("down")
    assert store.get("down").instruction == "def a"
    assert store.get("down").prompt_sha256 == PROMPTS["ui"].sha256
    session.save_skill("run_down")
    assert store.names() == ("down", "run_down")
    assert store.get("run_down").requires == ("down",)


SESSION = """factor = 3
def half(x):
    return x / 2

def uses_it(x):
    return factor
"""


@pytest.mark.parametrize(
    ("name", "message"), table(__file__, "functions that are no skills").values()
)
def test_what_needs_more_of_its_session_is_no_skill(
    begin: Open, store: SkillStore, name: str, message: str
) -> None:
    session = begin({"a": SESSION})
    assert session.run("a").ok
    with pytest.raises(UsageError, match=message):
        session.save_skill(name)
    assert store.names() == ()


def test_a_skill_whose_primitives_the_robot_lacks_is_left_out_with_those_that_need_it(
    begin: Open, store: SkillStore
) -> None:
    write(store, "drive", "def drive():\n    goto_loc('desk')\n")
    write(store, "drive_twice", "def drive_twice():\n    drive()\n    drive()\n")
    write(store, "half", "def half(x):\n    return x / 2\n")
    write(store, "say", "def say(text):\n    pass\n")
    session = begin({"go": "x = half(4)"}, skills=None)
    offer = session.use_skills(store)
    assert [skill.name for skill in offer.skills] == ["half"]
    assert offer.left_out == {
        "drive": "needs goto_loc",
        "drive_twice": "needs drive",
        "say": "the robot has something of that name",
    }
    assert session.run("go").failure is None


@pytest.mark.parametrize(
    ("text", "message"),
    table(__file__, "a file edited by hand is checked again and never run").values(),
)
def test_a_file_edited_by_hand_is_checked_again_and_never_run(
    begin: Open, store: SkillStore, text: str, message: str
) -> None:
    path = write(store, "f", text)
    write(store, "good", "def good():\n    return 1\n")
    write(store, "user", "def user():\n    return f()\n")
    session = begin({"go": "say(str(good()))"})
    told = session.damaged_skills["f"]
    assert "skills/f.py" in told
    assert message in told
    assert "cap skills remove f" in told
    assert [entry.name for entry in session.state.definitions] == ["good"]
    assert session.run("go").effect.said == ("1",)
    with pytest.raises(SkillError):
        store.get("f")
    store.remove("user")
    store.remove("f")
    assert not path.exists()


def test_what_is_saved_reads_back_the_same_whatever_the_words(store: SkillStore) -> None:
    words = 'say "hi" \\ und grüße\u2028 🥣 # /// \x1b[31m'
    skill = Skill("f", "def f():\n    pass\n", "f()", instruction=words, requires=("g", "h"))
    store.save(skill)
    read = store.get("f")
    assert read.requires == ("g", "h")
    assert read.instruction == 'say "hi" \\ und grüße 🥣 # /// [31m'
    assert read.source == skill.source


def test_a_skill_that_others_need_is_not_removed(store: SkillStore) -> None:
    write(store, "g", "def g():\n    return f()\n")
    write(store, "f", "def f():\n    return 1\n")
    with pytest.raises(UsageError, match="needed by g"):
        store.remove("f")
    store.remove("g")
    store.remove("f")
    assert store.names() == ()


def test_a_skill_that_is_not_there(store: SkillStore) -> None:
    write(store, "get_area", "def get_area():\n    return 1\n")
    with pytest.raises(UsageError, match="Did you mean 'get_area'"):
        store.get("get_aria")


def test_a_skill_whose_helper_was_removed_is_left_out(store: SkillStore, begin: Open) -> None:
    session = begin(GENERATED)
    assert session.run("move it").ok
    session.save_skill("get_double")
    assert begin(GENERATED).damaged_skills == {}
    (store.folder / "get_sum.py").unlink()
    session = begin(GENERATED)
    assert session.state.definitions == ()
