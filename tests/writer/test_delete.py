"""Deleting: what is gone stays gone, for every reader and on the disk."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from tests.writer.harness import WriterProcess, conversation, write_export
from twolaned.model.source import Source, source_id
from twolaned.search.live import LiveIndex
from twolaned.store import Store
from twolaned.writer.protocol import (
    AddSource,
    Delete,
    Deleted,
    Done,
    Failed,
    Imported,
    ImportPath,
    RemoveSource,
    Save,
    Saved,
    ScanSources,
)

SECRET = "zanzibarquux"


@pytest.fixture
def writer(tmp_path: Path):
    process = WriterProcess(tmp_path / "data")
    yield process
    assert process.close() == 0


def import_chats(writer: WriterProcess, path: Path, chats: list[dict[str, object]]) -> Imported:
    write_export(path, chats)
    done = writer.call(ImportPath(path=str(path), name="export.json"))
    assert isinstance(done, Done), done
    assert isinstance(done.result, Imported)
    return done.result


def delete(writer: WriterProcess, *ids: str, purge: bool = False) -> int:
    done = writer.call(Delete(ids, purge))
    assert isinstance(done, Done), done
    assert isinstance(done.result, Deleted)
    return done.result.rows


def row_ids(data: Path) -> set[str]:
    store = Store.open(data)
    with store.view() as view:
        found = {row.id for row in view.heads()}
    store.close()
    return found


def test_a_deleted_conversation_stays_out_and_so_does_its_grown_copy(
    writer: WriterProcess, tmp_path: Path
) -> None:
    """Neither the same export nor a later one with more turns brings it back."""
    random = Random(5)
    chats = [conversation(random) for _ in range(3)]
    import_chats(writer, tmp_path / "e.json", chats)
    gone = f"claude-ai:{chats[1]['uuid']}"

    assert delete(writer, gone, "claude-ai:not-there", gone) == 1
    assert gone not in row_ids(tmp_path / "data")

    messages = chats[1]["chat_messages"]
    assert isinstance(messages, list)
    messages.append({**messages[0], "uuid": "9d6bcd1b-bbfd-4b2d-9b5d-ab8dfbbd4bed"})
    again = import_chats(writer, tmp_path / "e.json", chats)
    assert again.report.rows_unchanged == 2
    assert [(t.reason, t.count) for t in again.report.skips.values()] == [("deleted", 1)]
    assert gone not in row_ids(tmp_path / "data")


def test_a_fork_loses_the_deleted_words_and_keeps_its_own(
    writer: WriterProcess, tmp_path: Path
) -> None:
    """A copy under another id comes in without the messages that were deleted."""
    random = Random(6)
    first = conversation(random, turns=4)
    import_chats(writer, tmp_path / "e.json", [first])
    delete(writer, f"claude-ai:{first['uuid']}")
    fork = conversation(random, turns=2)
    own = fork["chat_messages"]
    shared = first["chat_messages"]
    assert isinstance(own, list)
    assert isinstance(shared, list)
    fork["chat_messages"] = [*shared, *own]

    import_chats(writer, tmp_path / "e.json", [fork])

    store = Store.open(tmp_path / "data")
    with store.view() as view:
        number = view.number(f"claude-ai:{fork['uuid']}")
        assert number is not None
        spans = view.messages(number)
    store.close()
    assert [s.native_id for s in spans] == [m["uuid"] for m in own]


def test_one_common_request_is_no_copy(writer: WriterProcess, tmp_path: Path) -> None:
    """Another conversation that begins with the same words stays whole."""
    random = Random(7)
    first, second = (conversation(random, turns=4) for _ in range(2))
    for chat in (first, second):
        messages = chat["chat_messages"]
        assert isinstance(messages, list)
        messages[0]["content"] = [{"type": "text", "text": "Write the weekly report. " * 4}]
    import_chats(writer, tmp_path / "e.json", [first])
    delete(writer, f"claude-ai:{first['uuid']}")
    import_chats(writer, tmp_path / "e.json", [second])

    store = Store.open(tmp_path / "data")
    with store.view() as view:
        number = view.number(f"claude-ai:{second['uuid']}")
        assert number is not None
        assert len(view.messages(number)) == 4
    store.close()


def test_saving_again_is_a_wish_of_its_own(writer: WriterProcess, tmp_path: Path) -> None:
    """What is saved after it was deleted is kept."""
    note = Save(source="n", summary="One queue for all.", idempotency_key="k")
    first = writer.call(note)
    assert isinstance(first, Done)
    assert isinstance(first.result, Saved)
    assert delete(writer, first.result.id) == 1
    again = writer.call(note)
    assert isinstance(again, Done)
    assert isinstance(again.result, Saved)
    assert again.result.outcome == "created"
    assert row_ids(tmp_path / "data") == {first.result.id}
    assert writer.call(Save(source="n", summary="Two.", replace_idempotency_key="k"))
    assert row_ids(tmp_path / "data") == {first.result.id}


def test_a_deleted_document_returns_only_with_its_folder(
    writer: WriterProcess, tmp_path: Path
) -> None:
    """Scans leave it out, also after it changed; following the folder anew brings it back."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Anchor\n\nHold fast.")
    (folder / "b.md").write_text("# Berth\n\nRest here.")
    source = Source(id=source_id(str(folder)), path=str(folder))
    writer.call(AddSource(source))
    writer.call(ScanSources())
    gone, kept = f"{folder}:a.md", f"{folder}:b.md"

    assert delete(writer, gone) == 1
    (folder / "a.md").write_text("# Anchor\n\nHold faster than before.")
    writer.call(ScanSources())
    assert row_ids(tmp_path / "data") == {kept}

    writer.call(RemoveSource(source.id))
    writer.call(AddSource(source))
    writer.call(ScanSources())
    assert row_ids(tmp_path / "data") == {gone, kept}


def test_purged_bytes_leave_the_disk(writer: WriterProcess, tmp_path: Path) -> None:
    """No file of the store holds a word of a purged row, and everything else is found."""
    random = Random(8)
    chats = [conversation(random, marker=SECRET if i == 2 else "") for i in range(300)]
    import_chats(writer, tmp_path / "e.json", chats)
    writer.call(Save(source="n", summary=f"The word is {SECRET}.", idempotency_key="k"))
    assert held_by(tmp_path / "data")
    note = next(i for i in row_ids(tmp_path / "data") if i.startswith("saved:"))

    assert delete(writer, f"claude-ai:{chats[2]['uuid']}", note, purge=True) == 2

    assert held_by(tmp_path / "data") == []
    store = Store.open(tmp_path / "data")
    index = LiveIndex(store)
    with store.view() as view:
        rows = [view.row(number) for number in view.numbers()]
        assert view.term_ids([SECRET]) == [None]
    assert index.snapshot.keyword.passages == sum(len(r.passages) for r in rows if r is not None)
    assert len(rows) == 299
    del index
    store.close()
    # The index goes on: new words get numbers of their own.
    saved = writer.call(Save(source="n", summary=f"Again {SECRET} and nebuchadnezzar."))
    assert isinstance(saved, Done)
    store = Store.open(tmp_path / "data")
    with store.view() as view:
        numbers = [number for _, number in view.terms()]
        assert len(set(numbers)) == len(numbers)
    store.close()


def held_by(data: Path) -> list[str]:
    """The files below *data* that hold the secret word."""
    files = [file for file in data.rglob("*") if file.is_file()]
    return [file.name for file in files if SECRET.encode() in file.read_bytes()]


def test_an_import_of_deleted_things_only_says_so(writer: WriterProcess, tmp_path: Path) -> None:
    """Nothing imported is never a success, and the reason is named."""
    chat = conversation(Random(9))
    import_chats(writer, tmp_path / "e.json", [chat])
    delete(writer, f"claude-ai:{chat['uuid']}")
    path = tmp_path / "e.json"
    path.write_text(json.dumps([chat]))
    failed = writer.call(ImportPath(path=str(path), name="e.json"))
    assert isinstance(failed, Failed)
    assert "deleted" in failed.message
