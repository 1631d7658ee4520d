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
    """Of some 200 labelled tasks 90 % and 85 % of each kind get their label."""
    right = {
        label: sum(intent_of(task) == label for task in tasks) for label, tasks in TASKS.items()
    }
    total = sum(map(len, TASKS.values()))

    assert total >= 200
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


@pytest.mark.parametrize(
    ("task", "intent"),
    [
        ("Add a progress bar to the status page", Intent.BLENDED),
        ("Could you please, upgrade to the latest Django now?", Intent.BLENDED),
        ("Debug why the build is red", Intent.BLENDED),
        ("Please tell me where the keys are", Intent.CURRENT_TRUTH),
        ("release status", Intent.CURRENT_TRUTH),
        ("The add button: is it still there?", Intent.CURRENT_TRUTH),
        ("design decisions of the sync engine", Intent.REASONING_ARCHIVE),
    ],
)
def test_who_sets_out_to_make_something_asks_for_neither(task: str, intent: Intent) -> None:
    """A verb of making in front decides, whatever the thing is called; elsewhere it does not."""
    assert intent_of(task) is intent


def test_a_cue_at_the_beginning_of_a_sentence() -> None:
    """The form of a question is one only there."""
    assert intent_of("Retries fail. Are they logged?") is Intent.CURRENT_TRUTH
    assert intent_of("Retries that are logged") is Intent.BLENDED
