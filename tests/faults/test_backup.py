"""A backup that is broken off, by a kill or by a full disk, is no backup."""

from __future__ import annotations

import shutil
import subprocess
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.faults.test_full_disk import mounted
from tests.faults.test_kill import assert_whole
from tests.writer.harness import WriterProcess, conversation, sentence, write_export
from twolaned.model.backup import CopyProgress
from twolaned.model.errors import DiskFull
from twolaned.store import Store, backup
from twolaned.store.backup import partial_path, write_backup
from twolaned.writer.protocol import Backup, Done, ImportPath, Progress, Save

KILLS = 12
SMALL = 2 << 20


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a sealed segment and a log."""
    folder = tmp_path_factory.mktemp("archive")
    random = Random(1)
    writer = WriterProcess(folder / "data")
    chats = [conversation(random, turns=6) for _ in range(700)]
    export = write_export(folder / "export.json", chats)
    assert isinstance(writer.call(ImportPath(path=str(export), name="e")), Done)
    assert isinstance(writer.call(Save(source="notes", summary=sentence(random, 9))), Done)
    assert writer.close() == 0
    return folder / "data"


def rows_of(data: Path) -> int:
    store, index = assert_whole(data)
    with store.view() as view:
        rows = len(view.numbers())
    del index
    store.close()
    return rows


@pytest.mark.timeout(300)
def test_a_writer_killed_while_it_copies(data: Path, tmp_path: Path) -> None:
    """At random moments: the folder is whole or not there, and the next backup takes its place."""
    random, target, cut = Random(2), tmp_path / "copy", 0
    expected = rows_of(data)
    for _ in range(KILLS):
        writer = WriterProcess(data)
        number = writer.send(Backup(path=str(target)))
        after = random.randrange(0, 12)
        for event in writer.events():
            if event.request == number and (after == 0 or isinstance(event.body, Done)):
                break
            after -= isinstance(event.body, Progress)
        writer.kill()
        if target.exists():
            assert expected == rows_of(target)
            shutil.rmtree(target)
        else:
            cut += 1
            assert [partial_path(target).name] == [entry.name for entry in tmp_path.iterdir()]
    assert cut
    writer = WriterProcess(data)
    assert isinstance(writer.call(Backup(path=str(target))), Done)
    assert writer.close() == 0
    assert [target.name] == [entry.name for entry in tmp_path.iterdir()]
    assert expected == rows_of(target)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mounted("-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(disk)):
        pytest.skip("mounting a small disk needs root")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_disk_that_is_too_small_is_told_first(data: Path, small_disk: Path) -> None:
    """With how much is needed and how much there is."""
    store = Store.open(data)
    told: list[CopyProgress] = []
    with pytest.raises(DiskFull, match=r"needs about [\d,]+ bytes.* has [\d,]+ free"):
        write_backup(store, small_disk / "copy", tell=told.append)
    store.close()
    assert ([], []) == (told, list(small_disk.iterdir()))


def test_a_disk_that_fills_up_leaves_nothing(
    data: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when another program writes to it at the same time."""
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(backup.shutil, "disk_usage", lambda _: usage(1 << 40))
    store = Store.open(data)
    told: list[CopyProgress] = []
    with pytest.raises(DiskFull):
        write_backup(store, small_disk / "copy", tell=told.append)
    store.close()
    assert told
    assert [] == list(small_disk.iterdir())
