"""The main environment: format, records, keys and transactions."""

from __future__ import annotations

from pathlib import Path

import lmdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.model.conversation import MessageKind, Role
from twolaned.model.errors import StoreCorrupt, StoreTooNew
from twolaned.model.row import MessageSpan, Passage, PassageKind, RowDraft, RowKind, Tier
from twolaned.model.source import Source
from twolaned.store import Store
from twolaned.store.keys import file_key, text_key
from twolaned.store.layout import MAX_KEY, main_path
from twolaned.store.manifest import DeadRow, LogRecord, Manifest
from twolaned.store.records import FileRecord, FormatRecord, RowRecord, seal


@pytest.fixture
def store(tmp_path: Path):
    with_store = Store.open(tmp_path, write=True)
    yield with_store
    with_store.close()


def draft(body: str = "User: hello", **fields: object) -> RowDraft:
    return RowDraft(
        id="chatgpt:1",
        kind=RowKind.CONVERSATION,
        source="chatgpt",
        title="Greeting",
        body=body,
        passages=(Passage(0, len(body.encode()), "User", PassageKind.PRIMARY),),
        messages=(MessageSpan(6, 5, Role.USER, MessageKind.HUMAN, "m1", 12),),
        content_hash=b"c" * 16,
        text_hash=b"t" * 16,
        **fields,
    )


def put(store: Store, number: int, row: RowDraft) -> None:
    body = row.body.encode()
    with store.change() as change:
        record = RowRecord.of(row, body, tier=Tier.HOT, indexed_at=1000)
        change.stage_row(number, record, row, body)
        change.publish_row(number, row.id)


def test_a_row_reads_back_as_it_was_written(store: Store) -> None:
    """Record, passages, body and messages of a row survive the round trip."""
    row = draft(project="ferry", decisions=("use a queue",), extra={"git_branch": "main"})
    put(store, 7, row)
    with store.view() as view:
        number = view.number("chatgpt:1")
        stored = view.row(7)
        assert number == 7
        assert stored is not None
        assert view.body(7) == row.body
        assert view.messages(7) == row.messages
        assert view.body_slice(7, 6, 5) == "hello"
    assert stored.passages == row.passages
    assert (stored.project, stored.decisions, stored.extra) == (
        "ferry",
        ("use a queue",),
        {"git_branch": "main"},
    )
    assert stored.evidence_key == "conversation:chatgpt:1"


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    """An error inside a change undoes all of it."""

    def fail() -> None:
        with store.change() as change:
            change.put_terms({"a": 0})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.view() as view:
        assert view.term_ids(["a"]) == [None]


def test_a_damaged_body_is_detected_and_not_served(store: Store, tmp_path: Path) -> None:
    """A body whose bytes changed on disk raises StoreCorrupt instead of coming back."""
    row = draft("User: a body long enough to stand in pages of its own " * 200)
    put(store, 1, row)
    store.close()
    file = main_path(tmp_path) / "data.mdb"
    raw = file.read_bytes()
    assert b"a body long enough" in raw
    # Wherever it stands: a page that a later commit has freed may hold it too.
    file.write_bytes(raw.replace(b"a body long enough", b"e body long enough"))
    damaged = Store.open(tmp_path, write=True)
    with pytest.raises(StoreCorrupt, match="twolane doctor"), damaged.view() as view:
        view.body(1)
    damaged.close()


def test_a_store_of_a_later_version_is_refused_by_name(tmp_path: Path) -> None:
    """Both versions stand in the message, and nothing is touched."""
    Store.open(tmp_path, write=True).close()
    env = lmdb.open(str(main_path(tmp_path)), max_dbs=20, map_size=1 << 30)
    meta = env.open_db(b"meta")
    with env.begin(write=True) as txn:
        txn.put(b"format", seal(FormatRecord(9, 9, "9.0.0")), db=meta)
    env.close()
    with pytest.raises(StoreTooNew, match=r"9\.0\.0 .format 9."):
        Store.open(tmp_path)


def test_opening_for_reading_makes_an_empty_store(tmp_path: Path) -> None:
    """The first start needs no writer to have run before."""
    opened = Store.open(tmp_path)
    with opened.view() as view:
        assert view.manifest == Manifest()
        assert view.format_version == 1
    opened.close()


def test_the_log_is_read_in_order_and_trimmed_from_its_start(store: Store) -> None:
    """`log` gives what lies behind a generation; trimming forgets the oldest."""
    with store.change() as change:
        for sequence in (1, 2, 3):
            change.append_log(sequence, LogRecord(rows=bytes([sequence])))
    with store.view() as view:
        assert [s for s, _ in view.log(1)] == [2, 3]
    with store.change() as change:
        change.trim_log(3)
    with store.view() as view:
        assert [(s, r.rows) for s, r in view.log(0)] == [(3, b"\x03")]


def test_terms_are_found_by_prefix_in_byte_order(store: Store) -> None:
    """A prefix scan gives every term that begins with it, and no other."""
    with store.change() as change:
        change.put_terms({"deploy": 0, "deployed": 1, "dep": 2, "east": 3, "": 4})
    with store.view() as view:
        assert list(view.terms_with_prefix("depl")) == [("deploy", 0), ("deployed", 1)]
        assert view.term_ids(["east", "", "west"]) == [3, 4, None]


def test_sources_and_files_read_back(store: Store) -> None:
    """Files belong to their source and keep paths that are longer than a key."""
    source = Source(id="s1", path="/notes", exclude=("*.tmp",))
    long_path = "deep/" * 300 + "file.md"
    record = FileRecord(1, 2, 3, b"d", 4, "document:/notes:x")
    with store.change() as change:
        change.put_source(source)
        change.put_file("s1", long_path, record)
        change.put_file("s2", "other.md", record)
    with store.view() as view:
        assert view.sources() == [source]
        assert list(view.files("s1")) == [(long_path, record)]
    with store.change() as change:
        change.delete_file("s1", long_path)
        change.delete_source("s1")
    with store.view() as view:
        assert (view.sources(), list(view.files("s1"))) == ([], [])


def test_dead_rows_are_remembered_until_they_are_reclaimed(store: Store) -> None:
    """A dead version keeps the counts that it takes from the statistics."""
    dead = DeadRow(5, 2, b"\x01\x00\x00\x00", b"\x02\x00\x00\x00")
    with store.change() as change:
        change.put_dead(dead)
    with store.view() as view:
        assert list(view.dead_rows()) == [dead]
    with store.change() as change:
        change.reclaim_dead([5])
    with store.view() as view:
        assert list(view.dead_rows()) == []


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=700), st.text(max_size=700))
def test_keys_fit_and_tell_texts_apart(a: str, b: str) -> None:
    """Every text has a key that LMDB takes, and different texts have different keys."""
    assert 0 < len(text_key(a)) <= MAX_KEY
    assert len(file_key("s", a)) <= MAX_KEY
    if a != b and "\x00" not in (a, b):
        assert text_key(a) != text_key(b)
