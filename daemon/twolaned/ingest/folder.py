"""Scanning a followed folder: what is new or changed, what is as it was, what is left out."""

from __future__ import annotations

import hashlib
import os
import stat
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from twolaned.ingest.documents import document_of
from twolaned.ingest.git_facts import Attributes, is_repository, project_name
from twolaned.ingest.ignoring import IgnoreRules, rules_above
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.names import TOOL_MARKS, reason_to_skip, reason_to_skip_folder
from twolaned.ingest.plain_files import read_plain
from twolaned.ingest.progress import ReadProgress
from twolaned.model.document import Document
from twolaned.model.errors import NotFound
from twolaned.model.report import Skip

RACY_NS = 2_000_000_000
"""A file that changed so shortly before it was read may change again under the same time stamp."""
AT_ONCE = 1_000
_PROGRESS_FILES = 200


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
    project: str


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
    .gitignore. Raises NotFound where the folder itself is gone or cannot be read.
    """
    try:
        is_there = path.is_dir()
    except OSError as e:
        raise _unreadable(path) from e
    if not is_there:
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
        self._unchanged: list[str] = []
        self._taken: set[str] = set()
        self._seen = 0
        self._bytes = 0
        self._prefix = ""

    def run(self) -> Iterator[FoundDocument | Unchanged | Skip | ReadProgress]:
        place = Path(os.path.realpath(self._root))
        rules, self._prefix = rules_above(place)
        attributes = Attributes.of_parents(place)
        waiting = [_Folder(self._root, "", rules, attributes, project_name(place))]
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
        except OSError as e:
            if not folder.below:
                raise _unreadable(self._root) from e
            yield Skip("unreadable", stored(folder.below.rstrip("/")))
            return
        names = {entry.name for entry in entries}
        if folder.below and not TOOL_MARKS.isdisjoint(names):
            yield Skip("tool_folder", stored(folder.below.rstrip("/")))
            return
        here = self._with_own_rules(folder, names)
        for entry in entries:
            below = f"{folder.below}{entry.name}"
            is_folder = _is_folder(entry)
            reason = self._reason_to_pass_over(here, entry.name, below, is_folder)
            if reason:
                yield Skip(reason, stored(below))
            elif is_folder:
                inner.append(replace(here, path=Path(entry.path), below=f"{below}/"))
            else:
                yield from self._file(entry, below, here)

    def _with_own_rules(self, folder: _Folder, names: set[str]) -> _Folder:
        """*folder* with the rules that the files in it add."""
        rules, attributes, project = folder.rules, folder.attributes, folder.project
        prefix = self._prefix + folder.below
        if folder.below and ".git" in names and is_repository(folder.path):
            rules = rules.in_another_repository(folder.path, prefix)
            attributes, project = Attributes(), project_name(folder.path)
        return replace(
            folder,
            rules=rules.with_folder(folder.path, prefix, names),
            attributes=attributes.with_folder(folder.path, folder.below, names),
            project=project,
        )

    def _reason_to_pass_over(self, folder: _Folder, name: str, below: str, is_folder: bool) -> str:
        reason = reason_to_skip_folder(name) if is_folder else ""
        if reason:
            return reason
        path = f"{below}/" if is_folder else below
        if self._exclude.ignores(path):
            return "excluded"
        return "ignored" if folder.rules.ignores(self._prefix + path) else ""

    def _file(
        self, entry: os.DirEntry[str], below: str, folder: _Folder
    ) -> Iterator[FoundDocument | Unchanged | Skip | ReadProgress]:
        self._seen += 1
        if self._seen % _PROGRESS_FILES == 0:
            yield ReadProgress(self._bytes, 0, self._seen, sayable(below))
        path = stored(below)
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
        yield from self._read(entry.path, below, folder)

    def _refusal(self, status: os.stat_result) -> str:
        if stat.S_ISLNK(status.st_mode):
            return "link"
        if not stat.S_ISREG(status.st_mode):
            return "special_file"
        return "too_large" if status.st_size > self._limits.max_document_bytes else ""

    def _read(
        self, file: str, below: str, folder: _Folder
    ) -> Iterator[FoundDocument | Unchanged | Skip]:
        path, limit = stored(below), self._limits.max_document_bytes
        scanned_at = time.time_ns()
        try:
            reading = read_plain(file, limit)
        except OSError:
            yield Skip("unreadable", path)
            return
        status = reading.status
        self._bytes += len(reading.data)
        if len(reading.data) > limit:
            yield Skip("too_large", path, size=status.st_size)
            return
        found = document_of(
            root=str(self._root),
            path=path,
            data=reading.data,
            modified_at=status.st_mtime_ns // 1_000_000,
            project=folder.project,
            generated=folder.attributes.generated(below),
        )
        if isinstance(found, Skip):
            yield replace(found, size=status.st_size)
            return
        digest = hashlib.blake2b(reading.data, digest_size=16).digest()
        # A time of 0 is never behind the file's own, so that the next scan reads it once more.
        read_at = scanned_at if reading.steady else 0
        yield FoundDocument(
            found, FileState(status.st_size, status.st_mtime_ns, status.st_ino, digest, read_at)
        )


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


def _unreadable(root: Path) -> NotFound:
    return NotFound(
        f"The folder {root} cannot be read. Give the daemon the right to read it and scan again.",
        path=str(root),
    )


def stored(below: str) -> str:
    """The path *below* the source as it is kept: NFC, with a mark for each byte not UTF-8."""
    return unicodedata.normalize("NFC", sayable(below))


def sayable(name: str) -> str:
    """*name* with a mark for each byte that is not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
