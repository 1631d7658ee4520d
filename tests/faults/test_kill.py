"""Power cuts: kill -9 at any moment loses nothing acknowledged and leaves nothing half done."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.writer.harness import WriterProcess, conversation, sentence, write_export
from twolaned.search.live import LiveIndex
from twolaned.store import Store
from twolaned.store.arrays import ArrayBundle
from twolaned.writer.protocol import Done, ImportPath, Progress, Save, Saved

ROUNDS = 50
CONVERSATIONS = 400


class Acknowledged:
    """What the writer has told us is safe."""

    def __init__(self) -> None:
        self.saved: dict[str, str] = {}
        self.imported = 0
        self.generation = 0


def run_until_killed(writer: WriterProcess, export: Path, random: Random) -> Acknowledged:
    """Import and save side by side until the writer is killed at a random moment."""
    known = Acknowledged()
    summaries = {}
    writer.send(ImportPath(path=str(export), name="export.json"))
    for _ in range(10):
        summary = sentence(random, 30)
        summaries[writer.send(Save(source="notes", summary=summary))] = summary
    killer = threading.Timer(random.uniform(0.01, 0.9), writer.process.kill)
    killer.start()
    for event in writer.events():
        match event.body:
            case Done(result=Saved() as saved):
                known.saved[saved.id] = summaries[event.request]
                known.generation = max(known.generation, event.body.generation)
            case Progress() | Done():
                report = event.body.report if isinstance(event.body, Progress) else None
                if report is not None:
                    known.imported = max(known.imported, report.rows_new)
    killer.join()
    writer.kill()
    return known


def assert_whole(data: Path) -> tuple[Store, LiveIndex]:
    """Every live row has its record, passages, body and postings, and every checksum holds."""
    store = Store.open(data)
    with store.view() as view:
        manifest = view.manifest
    for info in manifest.segments:
        bundle = ArrayBundle(store.segment_path(info.id))
        assert bundle.damaged() == []
        bundle.close()
    index = LiveIndex(store)
    with store.view() as view:
        assert view.generation == manifest.generation
        numbers = view.numbers()
        passages = 0
        for number in numbers:
            row = view.row(number)
            assert row is not None
            body = view.body_bytes(number)
            assert sum(p.length for p in row.passages) <= len(body)
            assert all(0 <= s.offset <= s.offset + s.length <= len(body)
                       for s in view.messages(number))  # fmt: skip
            assert view.number(row.id) == number
            passages += len(row.passages)
    assert index.snapshot.keyword.passages == passages
    return store, index


@pytest.mark.timeout(600)
def test_the_writer_killed_at_random_moments(tmp_path: Path) -> None:
    """Fifty power cuts in one archive's life: what was acknowledged is there, whole."""
    random = Random(20)
    data = tmp_path / "data"
    saved: dict[str, str] = {}
    for round_number in range(ROUNDS):
        chats = [conversation(random, turns=5) for _ in range(CONVERSATIONS)]
        export = write_export(tmp_path / "export.json", chats)
        if round_number:
            store = Store.open(data)
            with store.view() as view:
                before = len(view.numbers())
            store.close()
        else:
            before = 0
        known = run_until_killed(WriterProcess(data), export, random)
        saved |= known.saved
        store, index = assert_whole(data)
        assert index.generation >= known.generation
        with store.view() as view:
            assert len(view.numbers()) >= before + known.imported + len(known.saved)
            for row_id, summary in saved.items():
                number = view.number(row_id)
                assert number is not None
                row = view.row(number)
                assert row is not None
                assert row.summary == summary
        del index
        store.close()
    writer = WriterProcess(data)
    done = writer.call(ImportPath(path=str(export), name="export.json"))
    assert isinstance(done, Done)
    assert writer.close() == 0
    store, index = assert_whole(data)
    with store.view() as view:
        assert view.staged() == []
        assert len(np.unique(view.numbers())) == len(view.numbers())
    del index
    store.close()
