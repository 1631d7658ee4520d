"""What people hand in beside whole, clean exports: side files, odd names, doubled parts."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.test_samples import FORMATS, read_all
from twolaned.ingest.reader import IngestLimits, read
from twolaned.model.conversation import Conversation, TitleFrom
from twolaned.model.errors import InvalidInput, NotFound


def chat(row_id: str, text: str, **fields: Any) -> dict[str, Any]:
    """A ChatGPT conversation of one message."""
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": "user"}, "content": content}
    return {"id": row_id, "mapping": {"n": {"parent": None, "message": message}}, **fields}


def claude(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    """A Claude.ai export of one conversation."""
    return [{"uuid": "u", "chat_messages": list(messages)}]


def written(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize("sample", ["claude-ai/basic", "chatgpt/split-zip"])
def test_no_file_of_an_ordinary_export_is_an_unknown_format(sample: str) -> None:
    folder = FORMATS / sample
    paths = [p for p in folder.iterdir() if p.name != "expected.json"]
    skips = read_all(*paths).skips
    assert skips["not_conversations"] > 0
    assert skips["unknown_schema"] == 0


def test_the_index_of_sessions_is_no_unknown_format() -> None:
    skips = read_all(FORMATS / "claude-code" / "lossy-dirname" / "projects").skips
    assert skips["unknown_schema"] == 0


def test_a_list_without_words_beside_single_conversations(tmp_path: Path) -> None:
    """The shape of Claude.ai's newer archives: an index, and a file for each conversation."""
    listed = {"uuid": "u", "name": "Tea", "created_at": "2026-05-01T10:00:00Z", "account": {}}
    written(tmp_path / "conversations.json", [listed])
    (tmp_path / "conversations").mkdir()
    (whole,) = claude({"uuid": "m", "sender": "human", "text": "Which tea?"})
    written(tmp_path / "conversations" / "u.json", whole | listed)
    found = read_all(tmp_path)
    assert [c.title for c in found.conversations.values()] == ["Tea"]
    assert (found.skips["not_conversations"], found.skips["unknown_schema"]) == (1, 0)


def test_one_file_beside_its_parts_gives_only_what_no_part_has(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/conversations.json", json.dumps([chat("x", "old"), chat("y", "own")]))
        archive.writestr("a/conversations-000.json", json.dumps([chat("x", "new")]))
        archive.writestr("b/conversations.json", json.dumps([chat("x", "elsewhere")]))
    items = list(read(path, name="export.zip", limits=IngestLimits()))
    texts = [item.messages[0].text for item in items if isinstance(item, Conversation)]
    assert texts == ["new", "own", "elsewhere"]
    assert read_all(path).skips["duplicate"] == 1


@pytest.mark.parametrize("title", ["New chat", "Untitled", "new session - 2026-05-01", " "])
def test_a_title_that_names_nothing_gives_way_to_the_first_words(
    tmp_path: Path, title: str
) -> None:
    path = written(tmp_path / "x.json", [chat("x", "Which tea is mild?", title=title)])
    (found,) = read_all(path).conversations.values()
    assert (found.title, found.title_from) == ("Which tea is mild?", TitleFrom.FIRST_HUMAN_LINE)


@pytest.mark.parametrize("title", ["New chat app", "Untitled Goose Game", "New sessions"])
def test_a_title_that_only_begins_like_a_placeholder_is_kept(tmp_path: Path, title: str) -> None:
    path = written(tmp_path / "x.json", [chat("x", "Words", title=title)])
    (found,) = read_all(path).conversations.values()
    assert (found.title, found.title_from) == (title, TitleFrom.PROVIDER)


@pytest.mark.parametrize("kind", [["x"], {"a": 1}, None, 7])
def test_a_block_whose_type_is_no_name_costs_only_itself(tmp_path: Path, kind: object) -> None:
    blocks = [{"type": kind}, {"type": "text", "text": "Kept"}]
    export = claude({"uuid": "m", "sender": "human", "content": blocks})
    found = read_all(written(tmp_path / "x.json", export))
    assert [m.text for c in found.conversations.values() for m in c.messages] == ["Kept"]
    assert found.skips["unknown_block"] == 1


def test_messages_in_a_circle_are_kept_and_counted(tmp_path: Path) -> None:
    export = claude(
        {"uuid": "a", "parent_message_uuid": "b", "sender": "human", "text": "One"},
        {"uuid": "b", "parent_message_uuid": "a", "sender": "assistant", "text": "Two"},
    )
    found = read_all(written(tmp_path / "x.json", export))
    assert [m.text for c in found.conversations.values() for m in c.messages] == ["One", "Two"]
    assert found.skips["cycle"] == 1


def test_a_session_in_an_archive_keeps_its_subagents(tmp_path: Path) -> None:
    base = FORMATS / "claude-code" / "subagents"
    path = tmp_path / "backup.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in base.rglob("projects/**/*"):
            if file.is_file():
                archive.write(file, f"home/.claude/{file.relative_to(base)}")
    assert read_all(path).conversations == read_all(base / "projects").conversations


def test_a_link_to_a_folder_is_not_followed_and_is_counted(tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(FORMATS / "chatgpt", target_is_directory=True)
    found = read_all(tmp_path)
    assert not found.conversations
    assert found.skips["link"] == 1


@pytest.mark.parametrize("name", ["missing", "x" * 5_000, "nul\0inside"])
def test_a_path_with_nothing_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound):
        list(read(tmp_path / name, name="x", limits=IngestLimits()))


def test_a_path_that_may_not_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Path) -> bool:
        raise PermissionError

    monkeypatch.setattr(Path, "is_dir", refused)
    with pytest.raises(InvalidInput, match=r"Check the rights") as caught:
        list(read(tmp_path, name="folder", limits=IngestLimits()))
    assert caught.value.reason == "UNREADABLE"
