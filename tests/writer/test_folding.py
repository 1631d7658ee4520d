"""The terms of saved notes move to their place once their postings are sealed."""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest

from twolaned.ingest.reader import IngestLimits
from twolaned.lanes.keyword.analyzer import analyze
from twolaned.store import Store
from twolaned.writer import maintenance
from twolaned.writer.loop import WriterLoop
from twolaned.writer.protocol import Committed, Event, Request, Save, frame

TEXT = "Zanzibar ferries wait for the quixotic tide"


def next_generation(events: BinaryIO) -> int:
    """The generation of the next commit that is announced."""
    while True:
        (length,) = struct.unpack("<I", events.read(4))
        event = msgspec.msgpack.decode(events.read(length), type=Event)
        if isinstance(event.body, Committed):
            return event.body.generation


def test_terms_get_their_place_after_the_seal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer moves them of its own accord, and they keep their numbers."""
    store = Store.open(tmp_path, write=True)
    to_writer, from_writer = os.pipe(), os.pipe()
    with (
        os.fdopen(to_writer[0], "rb") as requests,
        os.fdopen(to_writer[1], "wb") as sending,
        os.fdopen(from_writer[0], "rb") as events,
        os.fdopen(from_writer[1], "wb") as telling,
    ):
        loop = WriterLoop(store, requests, telling, IngestLimits())
        thread = threading.Thread(target=loop.run)
        thread.start()
        sending.write(frame(Request(1, Save(source="n", summary=TEXT))))
        sending.flush()
        saved = next_generation(events)
        with store.view() as view:
            waiting = view.fresh_terms(saved)
            assert view.count("terms") == 0
            numbers = view.term_ids(analyze(TEXT))
        assert waiting
        assert None not in numbers
        monkeypatch.setattr(maintenance, "SEAL_LOG_AT", 1)
        sending.write(frame(Request(2, Save(source="n", summary="Another note"))))
        sending.flush()
        with store.view() as view:
            sealed = view.manifest.sealed_seq
        while not sealed:
            next_generation(events)
            with store.view() as view:
                sealed = view.manifest.sealed_seq
        sending.close()
        thread.join()
    with store.view() as view:
        assert view.fresh_terms(sealed) == []
        assert view.count("terms") >= len(waiting)
        assert view.term_ids(analyze(TEXT)) == numbers
    store.close()
