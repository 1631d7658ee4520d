"""Segments become few while nothing is written."""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolaned.ingest.reader import IngestLimits
from twolaned.store import Store
from twolaned.store.manifest import SegmentInfo
from twolaned.writer import maintenance
from twolaned.writer.loop import WriterLoop
from twolaned.writer.maintenance import SEAL_LOG_AT, TIDY_GROWTH, to_tidy
from twolaned.writer.protocol import Committed, Event, Request, Save, frame


def infos(sizes: list[int]) -> list[SegmentInfo]:
    return [SegmentInfo(f"{place:016x}", size, size) for place, size in enumerate(sizes)]


@given(st.lists(st.integers(1, 2_000_000), max_size=12))
def test_what_remains_is_few_and_grows(sizes: list[int]) -> None:
    """Tidied until nothing is left to do, each segment dwarfs all smaller ones together."""
    kept = infos(sizes)
    while chosen := to_tidy(kept):
        assert len(chosen) > 1
        gone = {segment.id for segment in chosen}
        merged = SegmentInfo("m" * 16, sum(s.passages for s in chosen), 0)
        kept = [*(s for s in kept if s.id not in gone), merged]
    passages = sorted(s.passages for s in kept)
    assert sum(passages) == sum(sizes)
    for place, size in enumerate(passages[1:], 1):
        assert size > TIDY_GROWTH * max(sum(passages[:place]), SEAL_LOG_AT)


def committed(events: BinaryIO) -> None:
    """Return when the next commit is announced."""
    while True:
        (length,) = struct.unpack("<I", events.read(4))
        if isinstance(msgspec.msgpack.decode(events.read(length), type=Event).body, Committed):
            return


def test_a_quiet_writer_makes_one_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does so of its own accord, and the rows stay."""
    monkeypatch.setattr(maintenance, "SEAL_LOG_AT", 1)
    monkeypatch.setattr(maintenance, "QUIET_SECONDS", 0.05)
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
        for number in range(3):
            sending.write(frame(Request(number + 1, Save(source="n", summary=f"Note {number}"))))
        sending.flush()
        passages: list[int] = []
        while passages != [3]:
            committed(events)
            with store.view() as view:
                passages = [segment.passages for segment in view.manifest.segments]
        sending.close()
        thread.join(timeout=30)
        assert not thread.is_alive()
    with store.view() as view:
        assert len(view.numbers()) == 3
    store.close()
