"""Scanning a followed folder: what is new or changed, what is as it was, what is left out."""

from __future__ import annotations

import hashlib
import os
import stat
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from twolaned.ingest.documents import document_of
from twolaned.ingest.git_facts import Attributes, project_name
from twolaned.ingest.ignoring import RULE_FILES, IgnoreRules, rules_above
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.names import FOLDERS, reason_to_skip
from twolaned.ingest.progress import ReadProgress
from twolaned.model.document import Document
from twolaned.model.errors import NotFound
from twolaned.model.report import Skip

RACY_NS = 2_000_000_000
"""A file that changed so shortly before it was read may change again under the same time stamp."""
AT_ONCE = 1_000
_PROGRESS_FILES = 200
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class FileState:
    """What a scan knew of a file when it read it. Times are nanoseconds since the epoch."""

    size: int
    mtime_ns: int
    inode: int
    digest: bytes
    scanned_at_ns: int


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A file that is new or has changed."""

    document: Document
    state: FileState


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Files that are as they were, by their path below the folder."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    below: str
    """The path from the source, ending with a slash unless empty."""
    rules: IgnoreRules
    attributes: Attributes


def scan_folder(
    path: Path,
    *,
    exclude: Sequence[str],
    limits: IngestLimits,
    known: Mapping[str, FileState],
) -> Iterator[FoundDocument | Unchanged | Skip | ReadProgress]:
    """What lies below the folder *path*, compared with what was *known* of it.

    Links to folders are not followed. A file whose size, times and inode are as they were is not
    opened. What cannot be read is a Skip, which is not a deletion. *exclude* has the syntax of a
    .gitignore. Raises NotFound where the folder is gone.
    """
    if not path.is_dir():
        raise NotFound(
            f"The folder {path} is not there. If it was moved, remove the source and add it anew.",
            path=str(path),
        )
    yield from _Scan(path, exclude, limits, known).run()


class _Scan:
    def __init__(
        self,
        root: Path,
        exclude: Sequence[str],
        limits: IngestLimits,
        known: Mapping[str, FileState],
    ) -> None:
        self._root = root
        self._limits = limits
        self._known = known
        self._exclude = IgnoreRules().with_patterns("", exclude)
        self._project = project_name(root)
        self._unchanged: list[str] = []
        self._taken: set[str] = set()
        self._seen = 0
        self._bytes = 0
        self._prefix = ""

    def run(self) -> Iterator[FoundDocument | Unchanged | Skip | ReadProgress]:
        rules, self._prefix = rules_above(self._root)
        waiting = [_Folder(self._root, "", rules, Attributes.of_parents(self._root))]
        while waiting:
            folder = waiting.pop()
            inner: list[_Folder] = []
            yield from self._folder(folder, inner)
            waiting += reversed(inner)
        if self._unchanged:
            yield Unchanged(tuple(self._unchanged))
        yield ReadProgress(self._bytes, 0, self._seen, "")

    def _folder(
        self, folder: _Folder, inner: list[_Folder]
    ) -> Iterator[FoundDocument | Unchanged | Skip | ReadProgress]:
        try:
            with os.scandir(folder.path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            yield Skip("unreadable", folder.below.rstrip("/") or ".")
            return
        names = {entry.name for entry in entries}
        rules = folder.rules.with_folder(
            folder.path, self._prefix + folder.below, [n for n in RULE_FILES if n in names]
        )
        attributes = folder.attributes.with_folder(folder.path, folder.below, names)
        for entry in entries:
            below = f"{folder.below}{entry.name}"
            is_folder = _is_folder(entry)
            if is_folder and entry.name in FOLDERS:
                yield Skip("tool_folder", below)
            elif self._exclude.ignores(f"{below}/" if is_folder else below):
                yield Skip("excluded", below)
            elif rules.specs and rules.ignores(self._prefix + below + ("/" if is_folder else "")):
                yield Skip("ignored", below)
            elif is_folder:
                inner.append(_Folder(Path(entry.path), f"{below}/", rules, attributes))
            else:
                yield from self._file(entry, below, attributes)

    def _file(
        self, entry: os.DirEntry[str], below: str, attributes: Attributes
    ) -> Iterator[FoundDocument | Unchanged | Skip | ReadProgress]:
        self._seen += 1
        if self._seen % _PROGRESS_FILES == 0:
            yield ReadProgress(self._bytes, 0, self._seen, sayable(below))
        path = unicodedata.normalize("NFC", sayable(below))
        if path in self._taken:
            yield Skip("same_name", path)
            return
        reason = reason_to_skip(entry.name)
        if not reason and path != below and "\ufffd" in path:
            reason = "unreadable_name"
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            yield Skip("unreadable", path)
            return
        if not reason:
            reason = self._refusal(status)
        if reason:
            yield Skip(reason, path, size=status.st_size)
            return
        self._taken.add(path)
        before = self._known.get(path)
        if before is not None and _is_as_before(before, status):
            self._unchanged.append(path)
            if len(self._unchanged) >= AT_ONCE:
                yield Unchanged(tuple(self._unchanged))
                self._unchanged = []
            return
        yield from self._read(entry.path, path, attributes.generated(below))

    def _refusal(self, status: os.stat_result) -> str:
        if stat.S_ISLNK(status.st_mode):
            return "link"
        if not stat.S_ISREG(status.st_mode):
            return "special_file"
        return "too_large" if status.st_size > self._limits.max_document_bytes else ""

    def _read(
        self, file: str, path: str, generated: bool | None
    ) -> Iterator[FoundDocument | Unchanged | Skip]:
        scanned_at = time.time_ns()
        try:
            data, status = _read_once(file, self._limits.max_document_bytes)
        except OSError:
            yield Skip("unreadable", path)
            return
        if len(data) > self._limits.max_document_bytes:
            yield Skip("too_large", path, size=status.st_size)
            return
        self._bytes += len(data)
        digest = hashlib.blake2b(data, digest_size=16).digest()
        found = document_of(
            root=str(self._root),
            path=path,
            data=data,
            modified_at=status.st_mtime_ns // 1_000_000,
            project=self._project,
            generated=generated,
        )
        if isinstance(found, Skip):
            yield found
            return
        state = FileState(status.st_size, status.st_mtime_ns, status.st_ino, digest, scanned_at)
        yield FoundDocument(found, state)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_as_before(before: FileState, status: os.stat_result) -> bool:
    return (
        before.size == status.st_size
        and before.mtime_ns == status.st_mtime_ns
        and before.inode == status.st_ino
        and before.scanned_at_ns - status.st_mtime_ns > RACY_NS
    )


def _read_once(file: str, limit: int) -> tuple[bytes, os.stat_result]:
    """The first *limit* bytes of *file* and one more, and its state behind the reading."""
    descriptor = os.open(file, _OPEN)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("no plain file")
        return stream.read(limit + 1), os.fstat(descriptor)


def sayable(name: str) -> str:
    """*name* with a mark for each byte that is not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
