"""Skills: one readable file each, checked whenever it is read; and how sessions learn them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from cap.errors import SkillError, UsageError
from cap.prompt.prompt import Prompt, parse
from cap.robot.registry import function_prompt
from cap.session.session import Session
from cap.session.skills.learning import OfferedSkill
from cap.session.skills.skill_check import check_all
from cap.session.skills.store import Skill, SkillStore
from cap.trace.trace import Event
from tests.cap.conftest import Open
from tests.fakes.scripted import (
    NAME,
    POSITION,
    PROMPTS,
    UI,
    WITH_GOAL,
    Scripted,
    listened,
    model_of,
    said,
    table_session,
)
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


def test_a_skill_whose_helper_was_removed_is_left_out(store: SkillStore, begin: Open) -> None:
    session = begin(GENERATED)
    assert session.run("move it").ok
    session.save_skill("get_double")
    assert begin(GENERATED).damaged_skills == {}
    (store.folder / "get_sum.py").unlink()
    session = begin(GENERATED)
    assert session.state.definitions == ()


# --- learning: functions whose effect was verified become skills with examples, which are checked

WORDS = "put the red one in the bowl"
ANSWERS = {
    WORDS: """def place(name, times=1):
    '''Put something into the blue bowl.'''
    for _ in range(times):
        put_first_on_second(get_exact(name), 'blue bowl')

# It is named in words.
place(parse_obj_name('the red one'))
""",
    "the red one": "ret_val = 'red block'\n",
    "define function: get_exact(name)": "def get_exact(name):\n    return str(name)\n",
    "put the blue one there too": "place('blue block')\n",
    "say hello": "def greet():\n    say('hello')\n\ngreet()\n",
    "do nothing much": "def rest():\n    return 1\n\nx = rest()\nprint(x)\n",
}
NEAR = "abs(get_obj_pos('red block')[0] - get_obj_pos('blue bowl')[0])"


def yes(offered: OfferedSkill) -> bool:
    return True


def opened(
    store: SkillStore, prompts: Mapping[str, Prompt] = PROMPTS, model: Any = ANSWERS, **options: Any
) -> tuple[Session, list[Event]]:
    options = {"learn": yes, **options}
    session = table_session(model, skills=store, prompts=prompts, **options)
    return session, listened(session)


def learned(events: list[Event]) -> Mapping[str, Any]:
    (event,) = (event for event in events if event.kind == "learned")
    return event.data


@pytest.fixture
def taught(store: SkillStore) -> SkillStore:
    session, _ = opened(store)
    with session:
        assert session.run(WORDS, expect=["moved"]).ok
    return store


def change(store: SkillStore, name: str, old: str, new: str) -> None:
    path = store.folder / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def damage(store: SkillStore, **values: Any) -> None:
    path = store.example("place")
    known = json.loads(path.read_text(encoding="utf-8"))
    for name, value in values.items():
        whole, _, part = name.rpartition("__")
        (known[whole] if whole else known)[part] = value
    path.write_text(json.dumps(known), encoding="utf-8")


def checked(store: SkillStore, tmp_path: Path) -> dict[str, tuple[str, str]]:
    folder = tmp_path / "prompts"
    folder.mkdir(exist_ok=True)
    for name, text in (("ui", UI), ("parse_obj_name", NAME), ("parse_position", POSITION)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return {one.skill: (one.came, one.reason) for one in check_all(store, prompts=folder)}


def test_a_verified_function_is_offered_with_its_example_and_kept(store: SkillStore) -> None:
    asked = list[OfferedSkill]()
    session, events = opened(store, learn=lambda offered: not asked.append(offered))
    with session:
        assert session.run(WORDS, expect=["moved"]).ok
        assert [entry.origin for entry in session.state.definitions] == ["skill", "skill"]
    assert [one.definition.name for one in asked] == ["place"]
    assert asked[0].did == "moved red block to blue bowl"
    assert list(learned(events)["kept"]) == ["place"]
    assert store.names() == ("get_exact", "place")
    kept = json.loads(store.example("place").read_text(encoding="utf-8"))
    assert kept["instruction"] == WORDS
    assert "def place" not in kept["program"]
    assert "place(parse_obj_name('the red one'))" in kept["program"]
    assert kept["before"]["world"]
    session, _ = opened(store)
    with session:
        turn = session.run("put the blue one there too")
        assert list(turn.moved) == ["blue block"]


@pytest.mark.parametrize(
    ("words", "expect", "why"),
    [
        (WORDS, (), "nothing but its own program says"),
        ("put the blue one there too", ("moved",), "failed"),
        ("do nothing much", ("answered",), ""),
    ],
)
def test_only_what_was_verified_is_learned(
    store: SkillStore, words: str, expect: tuple[str, ...], why: str
) -> None:
    session, events = opened(store)
    with session:
        session.run(words, expect)
    kinds = [event.kind for event in events]
    if why == "failed":
        assert "learned" not in kinds
    else:
        assert why in learned(events)["why"]
    assert store.names() == (() if why else ("rest",))


def test_a_goal_check_verifies_a_single_program(store: SkillStore) -> None:
    program = ANSWERS[WORDS].replace("parse_obj_name('the red one')", "'red block'")
    answers = {**ANSWERS, WORDS: program}
    goal = f"ret_val = bool({NEAR} < 0.05)"
    session, events = opened(store, WITH_GOAL, Scripted(answers, goal=goal))
    with session:
        assert session.run(WORDS).ok
    assert list(learned(events)["kept"]) == ["place"]


@pytest.mark.parametrize(
    ("goal", "why"), table(__file__, "goal checks that do not accept").values()
)
@pytest.mark.parametrize("expect", [(), ("moved",)])
def test_what_a_goal_check_does_not_accept_is_not_learned_whatever_was_expected(
    store: SkillStore, goal: str, why: str, expect: tuple[str, ...]
) -> None:
    session, events = opened(store, WITH_GOAL, Scripted(ANSWERS, goal=goal))
    with session:
        assert session.run(WORDS, expect).ok
    assert learned(events)["why"].startswith(why)
    assert store.names() == ()


def test_a_function_without_which_all_comes_out_alike_is_not_learned(
    store: SkillStore, tmp_path: Path
) -> None:
    place = "def place(name):\n    put_first_on_second(name, 'blue bowl')\n"
    program = f"def helper():\n    return 1\n\n{place}\nhelper()\nplace('red block')\n"
    session, events = opened(store, model={**ANSWERS, WORDS: program})
    with session:
        session.run(WORDS, ["moved"])
        session.run("do nothing much", ["answered"])
    first, second = (event.data for event in events if event.kind == "learned")
    assert first["left_out"] == {"helper": "its example comes out the same if it does nothing"}
    assert list(first["kept"]) == ["place"]
    assert list(second["kept"]) == ["rest"]
    change(store, "rest", "return 1", "return 2")
    assert checked(store, tmp_path)["rest"][0] == "set aside"


def test_what_a_person_declines_is_not_kept(store: SkillStore) -> None:
    session, events = opened(store, learn=lambda offered: False)
    with session:
        session.run(WORDS, expect=["moved"])
    assert learned(events)["left_out"] == {"place": "it was declined"}
    assert store.names() == ()


def test_a_session_that_learns_has_a_folder() -> None:
    with pytest.raises(UsageError, match="needs a folder for skills"):
        opened(None)  # type: ignore[arg-type]


OTHERWISE = table(__file__, "skills that do otherwise")


@pytest.mark.parametrize(("old", "new", "why"), OTHERWISE.values(), ids=OTHERWISE)
def test_a_skill_that_does_otherwise_is_set_aside_until_it_holds_again(
    taught: SkillStore, tmp_path: Path, old: str, new: str, why: str
) -> None:
    assert checked(taught, tmp_path)["place"] == ("holds", "")
    change(taught, "place", old, new)
    came, reason = checked(taught, tmp_path)["place"]
    assert (came, why in reason) == ("set aside" if why else "holds", True)
    session, _ = opened(taught)
    session.close()
    assert (why in session.damaged_skills.get("place", "")) if why else not session.damaged_skills
    change(taught, "place", new, old)
    session, _ = opened(taught)
    session.close()
    assert not session.damaged_skills


def test_examples_are_run_again_only_where_something_changed(
    taught: SkillStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = list[str]()
    method = "cap.session.skills.skill_check.CheckedRobot.run"
    monkeypatch.setattr(method, lambda self, example, *rest: ran.append(example.instruction) or "")
    opened(taught)[0].close()
    assert not ran
    opened(taught, {**PROMPTS, "ui": parse(UI + "# more\n", "ui")})[0].close()
    assert ran == [WORDS]
    opened(taught, {**PROMPTS, "ui": parse(UI + "# more\n", "ui")})[0].close()
    assert ran == [WORDS]
    change(taught, "get_exact", "str(name)", "str(name) + ''")
    opened(taught, {**PROMPTS, "ui": parse(UI + "# more\n", "ui")})[0].close()
    assert ran == [WORDS] * 2


EXAMPLES = table(__file__, "examples that cannot be run")


@pytest.mark.parametrize(("values", "why"), EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_that_cannot_be_run_is_told(
    taught: SkillStore, tmp_path: Path, values: Mapping[str, Any], why: str
) -> None:
    damage(taught, **values, held="")
    came, reason = checked(taught, tmp_path)["place"]
    assert came in ("not run", "set aside")
    assert why in reason
    assert "\n" not in reason
    damage(taught, held="")


def test_a_damaged_example_leaves_its_skill_out(taught: SkillStore) -> None:
    taught.example("place").write_text("{", encoding="utf-8")
    session, _ = opened(taught)
    session.close()
    assert "cannot be used" in session.damaged_skills["place"]
    assert "get_exact" in {entry.name for entry in session.state.definitions}


def test_the_command_runs_them_all(
    taught: SkillStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checked(taught, tmp_path)
    where = ["--skills", str(taught.folder), "--prompts", str(tmp_path / "prompts")]
    capsys.readouterr()
    assert run(["skills", "check", *where, "--json"]) == 0
    rows = {row["skill"]: row["came"] for row in json.loads(capsys.readouterr().out)}
    assert rows == {"get_exact": "no example", "place": "holds"}
    change(taught, "place", "'blue bowl'", "'blue block'")
    assert run(["skills", "check", *where]) == 1
    assert "set aside" in capsys.readouterr().out
    assert run(["skills", "list", "--skills", str(taught.folder), "--json"]) == 0
    about = {row["skill"]: row["about"] for row in json.loads(capsys.readouterr().out)}
    assert "set aside: its example did" in about["place"]
    assert run(["skills", "check", *where, "-m", "no/such"]) == 2
