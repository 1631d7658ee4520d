from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from twolaned.context.intent import intent_of
from twolaned.context.pack import Intent

TASKS: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "tasks.toml").read_text(encoding="utf-8")
)


def test_nine_tasks_in_ten_are_understood() -> None:
    """At least 60 labelled tasks; 90 % of them, and 85 % of each kind, get their label."""
    right = {
        label: sum(intent_of(task) == label for task in tasks) for label, tasks in TASKS.items()
    }
    total = sum(map(len, TASKS.values()))

    assert total >= 60
    assert set(TASKS) == {intent.value for intent in Intent}
    assert sum(right.values()) / total >= 0.9, right
    assert all(right[label] / len(TASKS[label]) >= 0.85 for label in TASKS), right


@pytest.mark.parametrize(
    ("task", "intent"),
    [
        ("WHY did we choose it?", Intent.REASONING_ARCHIVE),
        ("whyever", Intent.BLENDED),
        ('Rename the function "why_now"', Intent.BLENDED),
        ("Pourquoi ?", Intent.REASONING_ARCHIVE),
        ("What’s the status?", Intent.CURRENT_TRUTH),
        ("なぜ変えたのか", Intent.REASONING_ARCHIVE),
        ("", Intent.BLENDED),
    ],
)
def test_cues_are_whole_words_of_any_language(task: str, intent: Intent) -> None:
    """Case, accents and typographic apostrophes do not matter; quoted words are names."""
    assert intent_of(task) is intent


def test_the_form_of_a_question_gives_way_to_what_is_asked_for() -> None:
    """``What is`` asks for the present only where nothing asks for reasons."""
    assert intent_of("What is the port?") is Intent.CURRENT_TRUTH
    assert intent_of("What is the reason for the port?") is Intent.REASONING_ARCHIVE
