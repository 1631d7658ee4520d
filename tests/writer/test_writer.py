"""The writer process: what it makes durable, what a reader sees, and in which order."""

from __future__ import annotations

import gc
from pathlib import Path
from random import Random

import pytest

from tests.writer.harness import WriterProcess, conversation, sentence, write_export
from twolaned.model.source import Source
from twolaned.search.live import LiveIndex
from twolaned.store import Store
from twolaned.writer.protocol import (
    AddSource,
    Cancel,
    Cancelled,
    Committed,
    Done,
    Failed,
    Imported,
    ImportPath,
    Progress,
    RemoveSource,
    Save,
    Saved,
    ScanSources,
    SourceAdded,
    SourceRemoved,
)


@pytest.fixture
def writer(tmp_path: Path):
    process = WriterProcess(tmp_path / "data")
    yield process
    assert process.close() == 0


def import_file(writer: WriterProcess, path: Path) -> Imported:
    done = writer.call(ImportPath(path=str(path), name=path.name))
    assert isinstance(done, Done), done
    assert isinstance(done.result, Imported)
    return done.result


def test_a_saved_note_is_durable_and_seen_when_it_is_acknowledged(
    writer: WriterProcess, tmp_path: Path
) -> None:
    """The row's body, title and decisions are there for a reader that opens the store now."""
    done = writer.call(
        Save(source="notes", summary="We chose a queue.", decisions=("Use one queue.",))
    )
    assert isinstance(done, Done)
    assert isinstance(done.result, Saved)
    assert done.result.outcome == "created"
    store = Store.open(tmp_path / "data")
    index = LiveIndex(store)
    assert index.generation == done.generation
    with store.view() as view:
        number = view.number(done.result.id)
        assert number is not None
        row = view.row(number)
    assert row is not None
    assert row.decisions == ("Use one queue.",)
    store.close()


def test_the_same_key_again_changes_nothing_and_another_text_replaces(
    writer: WriterProcess,
) -> None:
    """Idempotency keys name a conversation; replacing keeps its id."""
    first = writer.call(Save(source="n", summary="One.", idempotency_key="k"))
    again = writer.call(Save(source="n", summary="One.", idempotency_key="k"))
    other = writer.call(Save(source="n", summary="Two.", replace_idempotency_key="k"))
    assert isinstance(first, Done)
    assert isinstance(again, Done)
    assert isinstance(other, Done)
    outcomes = [d.result.outcome for d in (first, again, other) if isinstance(d.result, Saved)]
    ids = {d.result.id for d in (first, again, other) if isinstance(d.result, Saved)}
    assert outcomes == ["created", "unchanged", "replaced"]
    assert len(ids) == 1
    assert first.generation == again.generation < other.generation


def test_importing_twice_changes_nothing_and_a_grown_conversation_replaces_its_row(
    writer: WriterProcess, tmp_path: Path
) -> None:
    """Rows are new once, unchanged the second time, replaced when they grow."""
    random = Random(1)
    chats = [conversation(random) for _ in range(20)]
    path = write_export(tmp_path / "export.json", chats)
    first = import_file(writer, path)
    second = import_file(writer, path)
    messages = chats[3]["chat_messages"]
    assert isinstance(messages, list)
    messages.append({**messages[0], "uuid": "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"})
    third = import_file(writer, write_export(path, chats))
    assert (first.report.rows_new, first.report.rows_unchanged) == (20, 0)
    assert (second.report.rows_new, second.report.rows_unchanged) == (0, 20)
    assert (third.report.rows_replaced, third.report.rows_unchanged) == (1, 19)


def test_an_import_of_nothing_is_an_error_that_says_what_was_seen(
    writer: WriterProcess, tmp_path: Path
) -> None:
    """Nothing imported is never a success."""
    path = tmp_path / "conversations.json"
    path.write_text('[{"colour": "blue"}]')
    failed = writer.call(ImportPath(path=str(path), name="conversations.json"))
    assert isinstance(failed, Failed)
    assert failed.error == "NothingImported"
    assert "unknown_schema" in failed.message


def test_a_save_overtakes_an_import_in_hand(writer: WriterProcess, tmp_path: Path) -> None:
    """A save sent after an import is answered before the import ends."""
    random = Random(2)
    path = write_export(tmp_path / "e.json", [conversation(random) for _ in range(600)])
    bulk = writer.send(ImportPath(path=str(path), name="e.json"))
    save = writer.send(Save(source="n", summary="Now, please."))
    ended = []
    for event in writer.events():
        if isinstance(event.body, Done | Failed):
            ended.append(event.request)
        if len(ended) == 2:
            break
    assert ended == [save, bulk]


def test_a_cancelled_import_keeps_what_it_published_and_nothing_half(
    writer: WriterProcess, tmp_path: Path
) -> None:
    """Cancel ends the job; the store holds whole rows only, and takes the import again."""
    random = Random(3)
    path = write_export(tmp_path / "e.json", [conversation(random) for _ in range(600)])
    bulk = writer.send(ImportPath(path=str(path), name="e.json"))
    writer.send(Cancel(bulk))
    for event in writer.events():
        if event.request == bulk and isinstance(event.body, Done | Failed):
            assert isinstance(event.body, Done)
            assert event.body.result == Cancelled()
            break
    assert import_file(writer, path).report.rows == 600


def test_a_folder_is_scanned_in_proportion_to_what_changed(
    writer: WriterProcess, tmp_path: Path
) -> None:
    """New, changed and removed files become rows; unchanged ones are not read again."""
    root = tmp_path / "notes"
    root.mkdir()
    for i in range(5):
        (root / f"note{i}.md").write_text(f"# Note {i}\n\nThe ferry leaves at {i}.\n")
    source = Source(id="notes", path=str(root))
    added = writer.call(AddSource(source))
    assert isinstance(added, Done)
    assert added.result == SourceAdded(source)
    assert isinstance(writer.call(AddSource(source)), Failed)

    def scan() -> tuple[int, int, int, int]:
        done = writer.call(ScanSources())
        assert isinstance(done, Done)
        assert isinstance(done.result, Imported)
        r = done.result.report
        return r.rows_new, r.rows_replaced, r.rows_unchanged, r.rows_removed

    assert scan() == (5, 0, 0, 0)
    assert scan() == (0, 0, 5, 0)
    (root / "note1.md").write_text("# Note 1\n\nThe ferry does not leave any more today.\n")
    (root / "note2.md").unlink()
    assert scan() == (0, 1, 3, 1)
    removed = writer.call(RemoveSource(str(root)))
    assert isinstance(removed, Done)
    assert removed.result == SourceRemoved(4)
    missing = writer.call(ScanSources(("notes",)))
    assert isinstance(missing, Failed)
    assert missing.error == "NotFound"


def test_a_reader_follows_record_by_record_and_after_a_reload_alike(
    writer: WriterProcess, tmp_path: Path
) -> None:
    """An index that followed every commit equals one that was loaded at the end."""
    store = Store.open(tmp_path / "data")
    live = LiveIndex(store)
    random = Random(4)
    chats = [conversation(random, turns=6) for _ in range(900)]
    for start in range(0, 900, 300):
        import_file(writer, write_export(tmp_path / "e.json", chats[start : start + 300]))
        live.refresh()
    for i in range(30):
        writer.call(Save(source="n", summary=sentence(random), idempotency_key=str(i)))
        live.refresh()
    for i in range(0, 30, 3):
        writer.call(Save(source="n", summary=sentence(random), replace_idempotency_key=str(i)))
    live.refresh()
    fresh = LiveIndex(store)
    assert live.generation == fresh.generation
    with store.view() as view:
        terms = [number for _, number in view.terms_with_prefix("") if number is not None]
    assert live.snapshot.keyword.passages == fresh.snapshot.keyword.passages
    assert (
        live.snapshot.keyword.document_frequency(terms).tolist()
        == fresh.snapshot.keyword.document_frequency(terms).tolist()
    )
    del live, fresh
    gc.collect()
    store.close()


def test_progress_and_commits_are_announced(writer: WriterProcess, tmp_path: Path) -> None:
    """A long import says how far it is, and every commit is announced with its generation."""
    random = Random(5)
    path = write_export(tmp_path / "e.json", [conversation(random) for _ in range(1500)])
    number = writer.send(ImportPath(path=str(path), name="e.json"))
    progress, commits = 0, []
    for event in writer.events():
        if isinstance(event.body, Progress):
            progress += 1
        if isinstance(event.body, Committed):
            commits.append(event.body.generation)
        if event.request == number and isinstance(event.body, Done):
            assert event.body.generation == commits[-1]
            break
    assert progress > 0
    assert commits == sorted(set(commits))
