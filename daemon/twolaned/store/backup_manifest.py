"""What a backup says of itself, and the digests that its files are checked with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from twolaned.model.errors import BackupUnusable
from twolaned.store.vector_file import make_durable

MANIFEST: Final = "manifest.json"
SUMS: Final = "SHA256SUMS"
CONFIG: Final = "config.toml"
FORMAT: Final = 1
"""The version of this layout."""


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup is a copy of. Times are UTC milliseconds."""

    format: int
    twolane: str
    created_at: int
    generation: int
    store_format: int
    min_reader_version: int
    rows: int
    vectors: int
    files: int
    """Files of the backup, this one and `SUMS` included."""
    size: int
    """Bytes of the others."""


def write_sums(folder: Path, manifest: BackupManifest, sums: Mapping[str, str]) -> None:
    """Write *manifest*, then *sums* (digests by path) and its own; durable on return."""
    data = msgspec.json.format(msgspec.json.encode(manifest)) + b"\n"
    _write(folder / MANIFEST, data)
    every = {**sums, MANIFEST: hashlib.sha256(data).hexdigest()}
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(every.items()))
    _write(folder / SUMS, lines.encode())


def read_sums(folder: Path) -> tuple[BackupManifest, dict[str, str]]:
    """What the backup in *folder* says of itself. Raises BackupUnusable."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
        data = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError) as e:
        raise BackupUnusable(
            f"{folder} is no backup: it has no {MANIFEST} and {SUMS}. Name the folder that"
            " `twolane backup` made.",
            reason="NO_BACKUP",
        ) from e
    except (OSError, UnicodeDecodeError) as e:
        raise _damaged(folder, SUMS) from e
    sums = dict(_sum_of(folder, line) for line in lines)
    if sums.get(MANIFEST) != hashlib.sha256(data).hexdigest():
        raise _damaged(folder, MANIFEST)
    try:
        manifest = msgspec.json.decode(data, type=BackupManifest)
    except msgspec.DecodeError as e:
        raise BackupUnusable(
            f"A later twolane made the backup in {folder}. Upgrade twolane to restore it.",
            reason="BACKUP_TOO_NEW",
        ) from e
    if manifest.format > FORMAT:
        raise BackupUnusable(
            f"twolane {manifest.twolane} made the backup in {folder} (format {manifest.format});"
            f" this one reads up to format {FORMAT}. Upgrade twolane to restore it.",
            reason="BACKUP_TOO_NEW",
        )
    if len(sums) + 1 != manifest.files:
        raise _damaged(folder, SUMS)
    return manifest, sums


def _sum_of(folder: Path, line: str) -> tuple[str, str]:
    digest, _, path = line.partition("  ")
    parts = PurePosixPath(path).parts
    if len(digest) != 64 or not parts or path.startswith("/") or ".." in parts:
        raise _damaged(folder, SUMS)
    return path, digest


def _damaged(folder: Path, name: str) -> BackupUnusable:
    return BackupUnusable(
        f"The backup in {folder} is damaged: {name} is not what it was. Use another backup.",
        reason="BACKUP_DAMAGED",
    )


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        make_durable(file.fileno())
