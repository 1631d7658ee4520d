"""Aider's histories, as people have them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.ingest.test_samples import FORMATS, read_all
from twolaned.model.conversation import Conversation

HEADER = "\n# aider chat started at 2026-03-01 10:00:00\n\n"


def history(tmp_path: Path, text: str, *, end: str = "\n") -> list[Conversation]:
    folder = tmp_path / "kiosk"
    folder.mkdir(exist_ok=True)
    path = folder / ".aider.chat.history.md"
    path.write_bytes(text.replace("\n", end).encode())
    return list(read_all(path).conversations.values())


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(str(m.role), m.text) for m in conversation.messages]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_prompts_answers_and_what_was_printed(tmp_path: Path, end: str) -> None:
    text = (
        f"> left over\n{HEADER}> Aider v0.86  \n\n#### rename it  \n####   \n#### everywhere  \n"
        "\nRenamed.\n\n> Tokens: 2k  \n\n#### /run pytest  \n\n> 2 passed  \n\n#### thanks  \n"
    )
    (found,) = history(tmp_path, text, end=end)
    assert said(found) == [
        ("user", "rename it\n\neverywhere"),
        ("assistant", "Renamed."),
        ("user", "/run pytest"),
        ("user", "thanks"),
    ]
    assert found.project == "kiosk"


def test_prompts_with_only_printed_lines_between_them_are_two(tmp_path: Path) -> None:
    (found,) = history(tmp_path, HEADER + "#### /add a.py  \n\n> Added a.py  \n\n#### go  \n")
    assert said(found) == [("user", "/add a.py"), ("user", "go")]


def test_prompts_one_after_the_other_are_two(tmp_path: Path) -> None:
    (found,) = history(tmp_path, HEADER + "#### one  \n#### more  \n\n#### two  \n")
    assert said(found) == [("user", "one\nmore"), ("user", "two")]


def test_a_fence_that_nothing_closes_hides_no_prompt(tmp_path: Path) -> None:
    text = HEADER + "#### first  \n\nHere:\n\n```python\nx = 1\n\n#### second  \n\nDone.\n"
    (found,) = history(tmp_path, text)
    assert [text for role, text in said(found) if role == "user"] == ["first", "second"]


def test_an_answer_that_was_stopped_in_a_fence(tmp_path: Path) -> None:
    text = (
        HEADER + "#### first  \n\n```python\nx = 1\n> ^C KeyboardInterrupt  \n\n#### second  \n\n"
        "```\ny = 2\n```\n"
    )
    (found,) = history(tmp_path, text)
    assert [text for role, text in said(found) if role == "user"] == ["first", "second"]


def test_longer_fences_hold_shorter_ones(tmp_path: Path) -> None:
    fenced = "````markdown\n```\n#### inside\n```\n> inside\n````"
    (found,) = history(tmp_path, f"{HEADER}#### show  \n\n{fenced}\n\n#### next  \n")
    assert said(found) == [("user", "show"), ("assistant", fenced), ("user", "next")]


def test_ids_follow_folder_second_and_number_and_nothing_else(tmp_path: Path) -> None:
    run = HEADER + "#### again  \n\nAnswer.\n"
    before = [c.id for c in history(tmp_path, run + run)]
    assert len(set(before)) == 2
    assert [c.id for c in history(tmp_path, "moved\n" + run + run + run)][:2] == before


def test_a_run_in_an_archive_belongs_to_the_folder_there(tmp_path: Path) -> None:
    sample = FORMATS / "aider" / "history"
    with zipfile.ZipFile(tmp_path / "backup.zip", "w") as archive:
        name = "webhooks/.aider.chat.history.md"
        archive.write(sample / name, f"home/{name}")
    zipped = read_all(tmp_path / "backup.zip").conversations
    assert zipped.keys() == read_all(sample).conversations.keys()


def test_a_prompt_of_nothing_is_no_message(tmp_path: Path) -> None:
    assert history(tmp_path, HEADER + "#### <blank>  \n\n> nothing  \n") == []
    assert read_all(tmp_path).skips["empty_conversation"] == 1
