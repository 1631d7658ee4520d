"""A data folder from a backup: all that was in it, or nothing."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from twolaned.model.backup import CopyProgress
from twolaned.model.errors import AlreadyExists, BackupUnusable, DiskFull, StoreTooNew
from twolaned.store import Store, backup
from twolaned.store.backup import write_backup
from twolaned.store.backup_manifest import MANIFEST, SUMS, BackupManifest, read_sums
from twolaned.store.restore import PARTIAL, restore

Told = list[CopyProgress]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    store = Store.open(tmp_path / "data", write=True)
    with store.change() as change:
        change.put_saved("notes", "key", "notes:1")
    write_backup(store, tmp_path / "copy", tell=Told().append)
    store.close()
    return tmp_path / "copy"


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def test_what_was_kept_is_there(copy: Path, into: Path) -> None:
    """And progress is told up to the end."""
    told = Told()
    done = restore(copy, into, tell=told.append)
    store = Store.open(into)
    with store.view() as view:
        assert "notes:1" == view.saved_row("notes", "key")
        assert done.generation == view.generation
    store.close()
    assert done.size == told[-1].done == told[-1].total


def flipped(copy: Path) -> None:
    path = copy / "store" / "main" / "data.mdb"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(copy: Path) -> None:
    path = copy / "store" / "main" / "data.mdb"
    path.write_bytes(path.read_bytes()[:-1])


def missing(copy: Path) -> None:
    (copy / "store" / "main" / "data.mdb").unlink()


def one_line_less(copy: Path) -> None:
    lines = (copy / SUMS).read_text().splitlines(keepends=True)
    (copy / SUMS).write_text("".join(line for line in lines if "data.mdb" not in line))


def other_manifest(copy: Path) -> None:
    path = copy / MANIFEST
    path.write_text(path.read_text().replace('"rows": 0', '"rows": 1'))


def out_of_the_folder(copy: Path) -> None:
    path = copy / SUMS
    path.write_text(path.read_text().replace("store/main", "../main"))


def empty_sums(copy: Path) -> None:
    (copy / SUMS).write_bytes(b"")


def not_text(copy: Path) -> None:
    (copy / SUMS).write_bytes(b"\xff\xfe")


def no_sums(copy: Path) -> None:
    (copy / SUMS).unlink()


@pytest.mark.parametrize(
    "damage",
    [
        flipped, cut, missing, one_line_less, other_manifest, out_of_the_folder, empty_sums,
        not_text, no_sums,
    ],
)  # fmt: skip
def test_what_is_not_whole_restores_nothing(
    copy: Path, into: Path, damage: Callable[[Path], None]
) -> None:
    """Whatever is wrong with it, it is said, and the folder stays empty."""
    damage(copy)
    with pytest.raises(BackupUnusable) as said:
        restore(copy, into, tell=Told().append)
    assert said.value.reason == ("NO_BACKUP" if damage is no_sums else "BACKUP_DAMAGED")
    assert [] == list(into.iterdir())


def test_a_copy_of_a_damaged_store_restores_nothing(copy: Path, into: Path) -> None:
    """Its digests hold, but it does not open as what it says it is."""
    _resign(copy, lambda manifest: msgspec.structs.replace(manifest, generation=9))
    with pytest.raises(BackupUnusable, match="store that was damaged"):
        restore(copy, into, tell=Told().append)
    assert [] == list(into.iterdir())


def test_what_a_later_version_made_is_refused(copy: Path, into: Path) -> None:
    """Both what a later layout is, and a later store in this layout."""
    _resign(copy, lambda manifest: msgspec.structs.replace(manifest, min_reader_version=99))
    with pytest.raises(StoreTooNew, match="Upgrade"):
        restore(copy, into, tell=Told().append)
    _resign(copy, lambda manifest: msgspec.structs.replace(manifest, format=99))
    with pytest.raises(BackupUnusable, match="format 99"):
        restore(copy, into, tell=Told().append)
    assert [] == list(into.iterdir())


def _resign(copy: Path, change: Callable[[BackupManifest], BackupManifest]) -> None:
    manifest, sums = read_sums(copy)
    data = msgspec.json.encode(change(manifest))
    (copy / MANIFEST).write_bytes(data)
    sums[MANIFEST] = hashlib.sha256(data).hexdigest()
    (copy / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))


def test_only_an_empty_folder_will_do(copy: Path, into: Path) -> None:
    """But what a restore left that was killed counts as nothing."""
    (into / PARTIAL).mkdir()
    (into / PARTIAL / "half").write_text("half")
    restore(copy, into, tell=Told().append)
    assert ["store"] == [entry.name for entry in into.iterdir()]
    with pytest.raises(AlreadyExists, match="it holds store"):
        restore(copy, into, tell=Told().append)


def test_a_full_disk_leaves_the_folder_empty(
    copy: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told before anything is copied."""
    monkeypatch.setattr(backup.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 0))
    with pytest.raises(DiskFull):
        restore(copy, into, tell=Told().append)
    assert [] == list(into.iterdir())
