"""A store from a backup, in a folder of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from twolaned.model.backup import BackupReport
from twolaned.model.errors import AlreadyExists, BackupUnusable, StoreError, StoreTooNew
from twolaned.store.arrays import sync_folder
from twolaned.store.backup import Copying, Tell, require_room
from twolaned.store.backup_manifest import BackupManifest, read_sums
from twolaned.store.faults import translated
from twolaned.store.layout import FORMAT_VERSION
from twolaned.store.store import Store

PARTIAL = "restore.partial"
_STORE = "store"
_OWN = {PARTIAL, "daemon.lock", "writer.lock"}
"""What a data folder may hold and still count as empty."""


def restore(backup: Path, data: Path, *, tell: Tell) -> BackupReport:
    """Make the data folder *data*, which exists and is empty, from the folder *backup*.

    Every file's digest is checked on its way, and the store is opened, before it takes its place:
    a folder *data* has a whole store or none. Only the holder of the locks of *data* may call this.
    Raises BackupUnusable, AlreadyExists, StoreTooNew, DiskFull and whatever *tell* raises.
    """
    manifest, sums = read_sums(backup)
    _check_format(manifest)
    taken = sorted(entry.name for entry in data.iterdir() if entry.name not in _OWN)
    if taken:
        raise AlreadyExists(
            f"{data} is not empty: it holds {', '.join(taken[:3])}. Restore into an empty folder;"
            " put it in the old one's place when you have looked at it.",
            path=str(data),
        )
    making = data / PARTIAL
    shutil.rmtree(making, ignore_errors=True)
    try:
        with translated(data):
            making.mkdir(mode=0o700)
            require_room(making, manifest.size)
            _copy(backup, making, manifest, sums, tell)
            _try_out(making, manifest)
            (making / _STORE).rename(data / _STORE)
            sync_folder(data)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return BackupReport(
        path=str(backup),
        generation=manifest.generation,
        created_at=manifest.created_at,
        rows=manifest.rows,
        vectors=manifest.vectors,
        files=manifest.files,
        size=manifest.size,
    )


def _check_format(manifest: BackupManifest) -> None:
    if manifest.min_reader_version > FORMAT_VERSION:
        raise StoreTooNew(
            f"The backup's store was written by twolane {manifest.twolane} (format"
            f" {manifest.store_format}); this one reads up to format {FORMAT_VERSION}. Upgrade"
            " twolane to restore it.",
            written_by=manifest.twolane,
            store_format=str(manifest.store_format),
            own_format=str(FORMAT_VERSION),
        )


def _copy(
    backup: Path, making: Path, manifest: BackupManifest, sums: dict[str, str], tell: Tell
) -> None:
    copying = Copying(making, manifest.size, tell)
    bad = []
    for name, digest in sums.items():
        try:
            with (backup / name).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if copying.copy(file, size, making / name) != digest:
                    bad.append(f"{name} is not what it was")
        except FileNotFoundError:
            bad.append(f"{name} is missing")
    if bad:
        more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
        raise BackupUnusable(
            f"The backup in {backup} is damaged: {', '.join(bad[:5])}{more}. Nothing was restored."
            " Use another backup.",
            reason="BACKUP_DAMAGED",
        )
    for folder, _, _ in os.walk(making):
        sync_folder(Path(folder))


def _try_out(making: Path, manifest: BackupManifest) -> None:
    """Open the copy as a store, so that nobody is told of one that does not open."""
    try:
        store = Store.open(making)
        try:
            with store.view() as view:
                is_it = view.generation == manifest.generation
        finally:
            store.close()
    except StoreTooNew:
        raise
    except StoreError as e:
        is_it = False
        cause: StoreError | None = e
    else:
        cause = None
    if not is_it:
        raise BackupUnusable(
            "The backup is a copy of a store that was damaged. Use another backup.",
            reason="BACKUP_DAMAGED",
        ) from cause
