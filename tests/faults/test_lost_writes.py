"""A power cut that loses all that was not synced: what was acknowledged is on the disk."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from random import Random

import msgspec
import pytest

from tests.faults.test_kill import assert_whole
from tests.faults.trace import STRACE, Disk
from tests.writer import harness
from tests.writer.harness import WriterProcess, conversation, sentence, write_export
from twolaned.writer.protocol import Done, Event, Imported, ImportPath, Save, Saved

CUTS = 14


def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Saves and imports, small and sealed, of a writer under strace; its data and the recording."""
    random = Random(3)
    log, data = tmp_path / "trace", tmp_path / "data"
    popen = subprocess.Popen

    def traced(command: list[str], **options: int) -> subprocess.Popen[bytes]:
        return popen([*STRACE, "-o", str(log), *command], **options)

    monkeypatch.setattr(harness.subprocess, "Popen", traced)
    writer = WriterProcess(data)
    for number in range(4):
        writer.call(Save(source="notes", summary=sentence(random, 20)))
        chats = [conversation(random, turns=6) for _ in range(40 if number % 2 else 700)]
        export = write_export(tmp_path / "export.json", chats)
        assert isinstance(writer.call(ImportPath(path=str(export), name="e")), Done)
        writer.call(Save(source="notes", summary=sentence(random, 20)))
    assert writer.close() == 0
    return data, log


@pytest.mark.slow
@pytest.mark.needs("strace")
@pytest.mark.timeout(300)
def test_nothing_acknowledged_is_lost_with_what_was_not_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, log = record(tmp_path, monkeypatch)
    disk, said, saved, rows, cuts = Disk(data), bytearray(), set(), 0, 0
    with log.open(encoding="ascii") as lines:
        for words in disk.replay(iter(lines)):
            said += words
            acknowledged = False
            while len(said) >= 4 and len(said) >= 4 + struct.unpack_from("<I", said)[0]:
                size = struct.unpack_from("<I", said)[0]
                event = msgspec.msgpack.decode(bytes(said[4 : 4 + size]), type=Event)
                del said[: 4 + size]
                if isinstance(event.body, Done):
                    acknowledged = True
                    if isinstance(event.body.result, Saved):
                        saved.add(event.body.result.id)
                    elif isinstance(event.body.result, Imported):
                        rows += event.body.result.report.rows_new
            if acknowledged and cuts < CUTS:
                cuts += 1
                after = tmp_path / f"cut{cuts}"
                disk.power_cut(after)
                store, index = assert_whole(after)
                with store.view() as view:
                    assert all(view.number(row_id) is not None for row_id in saved)
                    assert len(view.numbers()) >= rows + len(saved)
                del index
                store.close()
    assert cuts >= 12
    assert rows == 1_480
