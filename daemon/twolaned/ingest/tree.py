"""What somebody hands in, as named streams: a file, a folder, an archive, archives in archives."""

from __future__ import annotations

import lzma
import os
import stat
import tempfile
import zipfile
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

import zstandard

from twolaned.ingest.limits import RATIO_FROM, IngestLimits
from twolaned.model.report import Skip

_CLUTTER = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")
_SPOOL_IN_MEMORY = 4 << 20
_ENCRYPTED = 0x1
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
)  # fmt: skip
"""What reading an entry raises where its bytes are not what they should be."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A named stream. *name* has ``/`` separators; *size* is in bytes, as far as it is known."""

    name: str
    size: int
    stored_size: int
    open: Callable[[], AbstractContextManager[BinaryIO]]
    path: Path | None = None
    """Where it lies on the disk; None inside an archive."""

    @property
    def stem(self) -> str:
        """The last part of the name without its ending."""
        return PurePosixPath(self.name).stem


class OverBudget(OSError):
    """An entry gives more bytes than it may. *reason* is a skip's."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Budget:
    """What all archives of one import may still inflate to."""

    limits: IngestLimits
    entries: int = 0
    inflated: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """Entries that belong together: a folder's, an archive's, or one file with what is its own."""

    entries: tuple[Entry, ...]
    skips: tuple[Skip, ...] = ()
    by_name: dict[str, Entry] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: list[Entry], skips: list[Skip]) -> Tree:
        """A tree of *entries*, in order of their names."""
        ordered = sorted(entries, key=lambda entry: entry.name)
        return cls(tuple(ordered), tuple(skips), {entry.name: entry for entry in ordered})

    def below(self, folder: str) -> list[Entry]:
        """The entries in *folder* and its folders."""
        first = bisect_left(self.entries, f"{folder}/", key=_name_of)
        last = bisect_left(self.entries, f"{folder}0", key=_name_of)  # "0" follows "/"
        return list(self.entries[first:last])


def _name_of(entry: Entry) -> str:
    return entry.name


def folder_tree(root: Path) -> Tree:
    """All plain files below *root*. Links to folders are not followed."""
    entries: list[Entry] = []
    skips: list[Skip] = []

    def failed(error: OSError) -> None:
        skips.append(Skip("unreadable", _relative(root, str(error.filename))))

    for folder, folders, files in os.walk(root, onerror=failed):
        folders.sort()
        links = (path for path in map(Path(folder).joinpath, folders) if path.is_symlink())
        skips += [Skip("link", _relative(root, str(path))) for path in links]
        for file in files:
            path = Path(folder, file)
            name = _relative(root, str(path))
            if _is_clutter(name):
                continue
            found = _file_entry(path, name)
            if isinstance(found, Entry):
                entries.append(found)
            else:
                skips.append(found)
    return Tree.of(entries, skips)


def file_tree(path: Path, name: str) -> Tree:
    """The file *path*, and the folder of its own beside it that a session's file may have.

    A *name* that is not the file's own stands for one that was sent, and lies nowhere.
    """
    found = _file_entry(path, name)
    if isinstance(found, Skip):
        return Tree.of([], [found])
    if path.name != name:
        found = replace(found, path=None)
    own = path.with_suffix("")
    if not path.suffix or not own.is_dir():
        return Tree.of([found], [])
    prefix = str(PurePosixPath(name).with_suffix(""))
    beside = folder_tree(own)
    entries = [
        Entry(f"{prefix}/{entry.name}", entry.size, entry.stored_size, entry.open, entry.path)
        for entry in beside.entries
    ]
    return Tree.of([found, *entries], list(beside.skips))


@contextmanager
def zip_tree(stream: BinaryIO, name: str, budget: Budget) -> Iterator[Tree]:
    """The entries of the archive *stream*. One that cannot be read gives an empty tree.

    Nothing is written by an entry's name. An entry raises OverBudget when it gives too much.
    """
    try:
        archive = zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError):
        yield Tree.of([], [Skip("bad_zip", name)])
        return
    with closing(archive):
        entries: list[Entry] = []
        skips: list[Skip] = []
        for info in archive.infolist():
            if info.is_dir() or _is_clutter(info.filename):
                continue
            budget.entries += 1
            place = f"{name}/{info.filename}"
            reason = _refusal(info, budget)
            if reason:
                skips.append(Skip(reason, place, size=info.file_size))
                if reason == "too_many_entries":
                    break
                continue
            entries.append(_zip_entry(archive, info, place, budget))
        yield Tree.of(entries, skips)


@contextmanager
def spooled(entry: Entry) -> Iterator[BinaryIO]:
    """The bytes of *entry* in a file that can be read in any order and has no name."""
    with entry.open() as stream, tempfile.SpooledTemporaryFile(_SPOOL_IN_MEMORY) as copy:
        while chunk := stream.read(1 << 20):
            copy.write(chunk)
        copy.seek(0)
        yield cast("BinaryIO", copy)


def decompressed(entry: Entry, budget: Budget) -> Entry:
    """What *entry*, a file compressed with zstd, holds, under its name without the ending."""

    @contextmanager
    def opened() -> Iterator[BinaryIO]:
        with entry.open() as stream:
            reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
            yield cast("BinaryIO", _Metered(reader, entry.size, budget))

    return Entry(entry.name.removesuffix(".zst"), entry.size, entry.size, opened)


def _refusal(info: zipfile.ZipInfo, budget: Budget) -> str:
    limits = budget.limits
    # The name as it stands in the archive: zipfile has already turned backslashes into slashes.
    original = info.orig_filename
    parts = PurePosixPath(original.replace("\\", "/")).parts
    if "\\" in original or original.startswith("/") or ".." in parts or original[1:2] == ":":
        return "unsafe_entry_name"
    if budget.entries > limits.max_entries:
        return "too_many_entries"
    if info.flag_bits & _ENCRYPTED:
        return "encrypted_entry"
    if info.file_size > limits.max_entry_bytes:
        return "entry_too_large"
    return ""


def _zip_entry(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: str, budget: Budget
) -> Entry:
    @contextmanager
    def opened() -> Iterator[BinaryIO]:
        try:
            with archive.open(info) as stream:
                yield cast("BinaryIO", _Metered(stream, info.compress_size, budget))
        except _DAMAGED as e:
            raise OverBudget("bad_zip") from e

    return Entry(place, info.file_size, info.compress_size, opened)


class _Metered:
    """Counts what an entry gives and stops it where that is too much."""

    def __init__(self, stream: IO[bytes], stored: int, budget: Budget) -> None:
        self._stream = stream
        self._stored = stored
        self._budget = budget
        self._given = 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._stream.read(size)
        limits = self._budget.limits
        self._given += len(chunk)
        self._budget.inflated += len(chunk)
        if self._given > limits.max_entry_bytes:
            raise OverBudget("entry_too_large")
        if self._budget.inflated > limits.max_inflated_bytes:
            raise OverBudget("archive_too_large")
        if self._given > max(RATIO_FROM, self._stored * limits.max_ratio):
            raise OverBudget("compression_ratio")
        return chunk


def _file_entry(path: Path, name: str) -> Entry | Skip:
    try:
        status = path.stat()
    except OSError:
        return Skip("unreadable", name)
    if not stat.S_ISREG(status.st_mode):
        return Skip("special_file", name)
    return Entry(name, status.st_size, status.st_size, lambda: path.open("rb"), path)


def _relative(root: Path, path: str) -> str:
    name = os.path.relpath(path, root).replace(os.sep, "/")
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _is_clutter(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part in _CLUTTER for part in parts) or bool(parts and parts[-1].startswith("._"))
