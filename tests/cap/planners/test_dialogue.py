"""The dialogue a model continues: written, and read back by whoever stands in for a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from cap.errors import ConfigError
from cap.planners import affordances
from cap.planners.dialogue import (
    Dialogue,
    DialogueExample,
    DialogueLine,
    DialoguePrompt,
    load,
    match,
    read,
    with_article,
)
from cap.robot.registry import prompts_path
from tests.rows import rows, table

PROMPT = DialoguePrompt(
    ("I am a robot.",),
    (DialogueExample("wave", ("goal: waved", "wave", "[success: no]", "wave", "done"), "A wave."),),
)
TEXT = """\
I am a robot.

Person: wave
Robot goal: waved
Robot: 1. wave.
[success: no]
Robot: 2. wave.
Robot: 3. done.

[scene: nobody]
Person: bow twice
Robot: 1. bow.
[success: no]
Person: take your time
Robot thought: slowly then
Robot: 2. bow.
"""


def test_a_dialogue_is_written_line_by_line_and_its_last_episode_is_read_back() -> None:
    dialogue = Dialogue(PROMPT, "bow twice", ["[scene: nobody]"])
    dialogue.add("step", "bow", ("[success: no]", "Person: take your time"))
    dialogue.add("thought", "slowly then")
    dialogue.add("step", "bow")
    assert dialogue.text() == TEXT
    assert dialogue.before_step() == TEXT + "Robot: 3."  # the step that is due is no step
    opening = DialogueLine("feedback", "[scene: nobody]"), DialogueLine("person", "bow twice")
    assert read(dialogue.before_step()) == (*opening, *dialogue.lines)
    explained = Dialogue(PROMPT, "bow", explained=True).text()
    assert "Person: wave\nExplanation: A wave.\n" in explained


def test_the_form_of_prompt_files_has_steps_alone_and_one_article() -> None:
    example = DialogueExample("get a cup", ("find a cup", "[scene: cup]", "done"))
    prompt = DialoguePrompt((), (example,), ("cup",))
    assert Dialogue(prompt, "get an egg.").as_program(["egg"]) == (
        "objects = ['cup', 'egg']\n\n# get the cup.\nplan = ['find the cup', 'done']\n\n"
        "# get the egg.\n"
    )


def test_names_have_articles() -> None:
    names = ("apple", "cup", "rice chips", "glass")
    assert list(map(with_article, names)) == ["an apple", "a cup", "the rice chips", "a glass"]


@rows("path", sorted((prompts_path() / "planners").glob("*.toml")))
def test_the_shipped_prompts_are_read_and_are_short(path: Path) -> None:
    prompt = load(path)
    assert prompt.header
    assert all(example.steps[-1] == "done" for example in prompt.examples)
    assert len(Dialogue(prompt, "x").text()) < 4 * 3000
    if path.stem == "kitchen":
        assert len(prompt.examples) == 17
        assert all(example.explanation for example in prompt.examples)


REFUSED, MATCHES = table(__file__, "refused prompts"), table(__file__, "match")


@rows(("text", "why"), REFUSED.values(), REFUSED)
def test_a_prompt_that_cannot_be_used_is_refused_with_its_line(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(ConfigError, match=why):
        load(tmp_path / "own.toml")


@rows(("text", "steps", "number"), MATCHES.values(), MATCHES)
def test_words_are_matched_to_the_longest_step_they_begin_with(
    text: str, steps: list[str], number: int | None
) -> None:
    assert match(text, steps) == number


def test_a_prompt_without_feedback_neither_announces_nor_shows_any() -> None:
    shown = load(prompts_path() / "planners" / "tabletop.toml")
    with_it, without = (Dialogue(each, "x").text() for each in (shown, shown.without_feedback()))
    assert "whether it succeeded" in with_it
    assert "Success: no" in with_it
    assert "ucce" not in without
    assert without.count("Robot: ") == with_it.count("Robot: ")


CASES = table(__file__, "affordances")


@rows(("kind", "given", "expected"), CASES.values(), CASES)
def test_affordances(kind: str, given: float, expected: float) -> None:
    assert getattr(affordances, kind)(given) == pytest.approx(expected)
