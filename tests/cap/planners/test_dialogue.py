"""The dialogue a model continues: written, and read back by whoever stands in for a model."""

from __future__ import annotations

import re
from pathlib import Path

from cap.planners.dialogue import (
    Dialogue,
    DialogueLine,
    DialoguePrompt,
    match,
    plan_in,
    read,
)
from cap.robot.registry import prompts_path
from tests.rows import rows, table

EXAMPLE = """\
Person: wave
Robot goal: waved
Robot: 1. wave.
[success: no]
Robot: 2. wave.
Robot: 3. done."""
PROMPT = DialoguePrompt(("I am a robot.",), (EXAMPLE,))
TEXT = f"""\
I am a robot.

{EXAMPLE}

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


def test_the_form_of_prompt_files_has_steps_alone_and_one_article() -> None:
    example = "Person: get a cup\nRobot: 1. find a cup.\n[scene: cup]\nRobot: 2. done."
    prompt = DialoguePrompt((), (example,), ("cup",))
    assert Dialogue(prompt, "get an egg.").as_program(["egg"]) == (
        "objects = ['cup', 'egg']\n\n# get the cup.\nplan = ['find the cup', 'done']\n\n"
        "# get the egg.\n"
    )


@rows("path", sorted((prompts_path() / "planners").glob("*.toml")))
def test_the_shipped_prompts_are_read_and_are_short(path: Path) -> None:
    prompt = DialoguePrompt.load(path)
    assert prompt.header
    for example in prompt.examples:
        steps = plan_in(example)[1]
        assert steps[-1] == "done"
        numbers = [int(number) for number in re.findall(r"^Robot: (\d+)\.", example, re.M)]
        assert numbers == list(range(1, len(steps) + 1))
    assert len(Dialogue(prompt, "x").text()) < 4 * 3000
    if path.stem == "kitchen":
        assert len(prompt.examples) == 17


MATCHES = table(__file__, "match")


@rows(("text", "steps", "number"), MATCHES.values(), MATCHES)
def test_words_are_matched_to_the_step_they_mean(
    text: str, steps: list[str], number: int | None
) -> None:
    assert match(text, steps) == number


def test_a_prompt_without_feedback_neither_announces_nor_shows_any() -> None:
    shown = DialoguePrompt.load(prompts_path() / "planners" / "tabletop.toml")
    with_it, without = (Dialogue(each, "x").text() for each in (shown, shown.without_feedback()))
    assert "whether it succeeded" in with_it
    assert "Success: no" in with_it
    assert "ucce" not in without
    assert without.count("Robot: ") == with_it.count("Robot: ")
