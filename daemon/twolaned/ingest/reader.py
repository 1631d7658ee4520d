"""Reading what somebody hands in: everything it holds that is known, and a word on all the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import zstandard

from twolaned.ingest.closed import Closed
from twolaned.ingest.detect import HEAD, Shape, shape_of
from twolaned.ingest.elements import read_array, read_object
from twolaned.ingest.formats import aider
from twolaned.ingest.formats.common import Item
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.line_files import LineFiles
from twolaned.ingest.place import Place
from twolaned.ingest.progress import ReadProgress
from twolaned.ingest.tree import (
    Budget,
    Entry,
    OverBudget,
    Tree,
    decompressed,
    file_tree,
    folder_tree,
    spooled,
    zip_tree,
)
from twolaned.model.conversation import Conversation
from twolaned.model.errors import InvalidInput, NotFound
from twolaned.model.report import Skip

__all__ = ["IngestLimits", "Item", "ReadProgress", "read"]

_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_REPORT_BYTES = 4 << 20
_WHOLE = "conversations.json"
_PART = re.compile(r"conversations-\d+\.json")


def read(path: Path, *, name: str, limits: IngestLimits) -> Iterator[Item | ReadProgress]:
    """All that the file or folder *path* holds, recognised by its content.

    *name* is what the person calls it. What is not taken comes as a Skip with its reason; bad
    content never raises. Raises NotFound where there is nothing at *path*, InvalidInput where it
    may not be looked at.
    """
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except PermissionError as e:
        message = f"{name} cannot be read. Check the rights of it and of the folders above it."
        raise InvalidInput("path", message, reason="UNREADABLE", path=name) from e
    except OSError:  # such as a name that is too long for any file
        is_folder = exists = False
    if not exists:
        raise NotFound(f"There is nothing at {name}. Check the path.", path=name)
    tree = folder_tree(path) if is_folder else file_tree(path, Path(name).name or name)
    yield from _Reading(limits, tree).all()


class _Reading:
    """One reading and its progress, which is told in bytes on the disk."""

    def __init__(self, limits: IngestLimits, tree: Tree) -> None:
        self._limits = limits
        self._budget = Budget(limits)
        self._tree = tree
        self._total = sum(entry.size for entry in tree.entries)
        self._done = 0
        self._furthest = 0
        self._files = 0
        self._outermost: BinaryIO | None = None

    def all(self) -> Iterator[Item | ReadProgress]:
        """Everything."""
        yield from self._entries(self._tree, depth=0)
        yield ReadProgress(self._total, self._total, self._files, "")

    def _entries(self, tree: Tree, depth: int) -> Iterator[Item | ReadProgress]:
        yield from tree.skips
        lines = LineFiles(tree, self._limits)
        parts = _Parts(tree) if depth else None
        closed = Closed(tree, is_archive=depth > 0)
        for entry in tree.entries:
            self._files += 1
            yield self._progress(entry, self._done)
            if reason := closed.reason(entry.name):
                yield Skip(reason, entry.name, size=entry.size)
                self._done += 0 if depth else entry.size
                continue
            try:
                with entry.open() as stream:
                    if depth == 0:
                        self._outermost = stream
                    items = self._entry(Place(entry, tree), stream, lines, depth)
                    yield from parts.once(entry, items) if parts else items
            except OverBudget as e:
                yield Skip(e.reason, entry.name, size=entry.size)
            except (OSError, EOFError):
                yield Skip("unreadable", entry.name, size=entry.size)
            if depth == 0:
                self._outermost = None
                self._done += entry.size

    def _entry(
        self, place: Place, stream: BinaryIO, lines: LineFiles, depth: int
    ) -> Iterator[Item | ReadProgress]:
        entry = place.entry
        head = stream.read(HEAD)
        whole = _Rejoined(head, stream)
        match shape_of(head, whole=len(head) < HEAD):
            case Shape.ZIP:
                yield from self._archive(entry, depth)
            case Shape.ZSTD:
                yield from self._zstd(place, lines, depth)
            case Shape.ARRAY:
                yield from self._watched(read_array(whole, place, self._limits), entry)
            case Shape.OBJECT:
                yield from self._watched(read_object(whole, place, self._limits), entry)
            case Shape.LINES:
                yield from self._watched(lines.read(entry, whole), entry)
            case Shape.AIDER:
                yield from self._watched(aider.read(place, whole, self._limits), entry)
            case Shape.EMPTY:
                yield Skip("empty_file", entry.name)
            case Shape.OTHER:
                is_json = entry.name.lower().endswith(_JSON_ENDINGS)
                reason = "not_json" if is_json else "not_conversations"
                yield Skip(reason, entry.name, size=entry.size)

    def _zstd(self, place: Place, lines: LineFiles, depth: int) -> Iterator[Item | ReadProgress]:
        """A single file that was compressed by itself."""
        entry = place.entry
        if depth > self._limits.max_zip_depth:
            yield Skip("zip_too_deep", entry.name, size=entry.size)
            return
        inner = decompressed(entry, self._budget)
        try:
            with inner.open() as stream:
                yield from self._entry(Place(inner, place.tree), stream, lines, depth + 1)
        except zstandard.ZstdError:
            yield Skip("bad_zip", entry.name, size=entry.size)

    def _archive(self, entry: Entry, depth: int) -> Iterator[Item | ReadProgress]:
        if depth > self._limits.max_zip_depth:
            yield Skip("zip_too_deep", entry.name, size=entry.size)
            return
        opened: AbstractContextManager[BinaryIO] = spooled(entry) if depth else entry.open()
        with opened as stream:
            if depth == 0:
                self._outermost = stream
            with zip_tree(stream, entry.name, self._budget) as tree:
                yield from self._entries(tree, depth + 1)

    def _watched(self, items: Iterator[Item | None], entry: Entry) -> Iterator[Item | ReadProgress]:
        """*items*, with progress in between; None among them is a chance to tell it."""
        for item in items:
            if item is not None:
                yield item
                continue
            # An archive's entries lie in it in any order, so that its position may also fall.
            position = self._done + (self._outermost.tell() if self._outermost else 0)
            if position - self._furthest >= _REPORT_BYTES:
                yield self._progress(entry, position)

    def _progress(self, entry: Entry, position: int) -> ReadProgress:
        self._furthest = max(self._furthest, min(position, self._total))
        return ReadProgress(self._furthest, self._total, self._files, entry.name)


class _Parts:
    """Knows what an archive holds twice: in parts, and in one file beside them."""

    def __init__(self, tree: Tree) -> None:
        folders = {folder for folder, name in map(_split, tree.entries) if _PART.fullmatch(name)}
        self._seen: dict[str, set[str]] = {
            folder: set() for folder in folders if _named(folder, _WHOLE) in tree.by_name
        }

    def once(
        self, entry: Entry, items: Iterator[Item | ReadProgress]
    ) -> Iterator[Item | ReadProgress]:
        """*items* of *entry*; of the file that has everything only what no part has given.

        The order of names puts the parts first.
        """
        folder, name = _split(entry)
        seen = self._seen.get(folder)
        if seen is None or not (name == _WHOLE or _PART.fullmatch(name)):
            yield from items
            return
        for item in items:
            if isinstance(item, Conversation) and name == _WHOLE and item.id in seen:
                yield Skip("duplicate", entry.name, detail="conversation")
                continue
            if isinstance(item, Conversation) and name != _WHOLE:
                seen.add(item.id)
            yield item


def _split(entry: Entry) -> tuple[str, str]:
    folder, _, name = entry.name.rpartition("/")
    return folder, name


def _named(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


class _Rejoined:
    """*head*, which has been read already, and the rest of *stream*."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int) -> bytes:
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._stream.read(size)
