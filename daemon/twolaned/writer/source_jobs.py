"""Following folders: adding, removing and scanning them."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterable
from functools import partial
from pathlib import Path

from twolaned.ingest.drafts import draft_document
from twolaned.ingest.folder import FileState, FoundDocument, Unchanged, scan_folder
from twolaned.ingest.reader import ReadProgress
from twolaned.model.errors import AlreadyExists, NotFound
from twolaned.model.report import ImportReport, Skip
from twolaned.model.source import Source
from twolaned.store.change import Change
from twolaned.store.records import FileRecord
from twolaned.writer.committer import now_ms
from twolaned.writer.context import Job, JobContext, Step, Tell
from twolaned.writer.gather import Gatherer
from twolaned.writer.protocol import (
    AddSource,
    Imported,
    RemoveSource,
    ScanSources,
    SourceAdded,
    SourceRemoved,
)

REMOVE_AT_ONCE = 128
"""Documents removed in one commit, which keeps it short."""


def add_source_job(context: JobContext, command: AddSource) -> Job:
    """Follow a folder. Raises NotFound and AlreadyExists."""
    source = command.source
    if not Path(source.path).is_dir():
        raise NotFound(
            f"There is no folder {source.path}. Give the path of a folder on this machine.",
            path=source.path,
        )
    if any(s.id == source.id for s in _sources(context)):
        raise AlreadyExists(
            f"{source.path} is followed already. Scan it with `twolane source scan`.",
            path=source.path,
        )
    batch = context.batch()
    batch.amend(partial(_follow, source=source), sources_changed=True)
    batch.publish_now()
    return SourceAdded(source)
    yield None  # a job is a generator, even one that needs a single step


def _follow(change: Change, *, source: Source) -> None:
    change.put_source(source)
    # Following a folder anew is the person's own wish, later than any deletion from it.
    for tombstone in list(change.tombstones(f"{source.path}:")):
        change.lift_tombstone(tombstone.row_id)


def remove_source_job(context: JobContext, command: RemoveSource) -> Job:
    """Stop following a folder and remove its documents. Raises NotFound."""
    (source,) = _named(context, (command.id,))
    with context.committer.store.view() as view:
        files = list(view.files(source.id))
    yield from _remove_files(context, source, files)
    batch = context.batch()
    batch.amend(lambda change: change.delete_source(source.id), sources_changed=True)
    batch.publish_now()
    return SourceRemoved(len(files))


def scan_job(context: JobContext, command: ScanSources, tell: Tell) -> Job:
    """Read what changed in the named sources, or in all. Raises NotFound."""
    report = ImportReport(provider="documents")
    for source in _named(context, command.ids):
        yield from _scan(context, source, report, tell)
    report.current = ""
    return Imported(report)


def _scan(
    context: JobContext, source: Source, report: ImportReport, tell: Tell
) -> Generator[Step, None, None]:
    own = ImportReport()
    error = ""
    with context.committer.store.view() as view:
        known = dict(view.files(source.id))
    states = {path: _state(record) for path, record in known.items()}
    gatherer = Gatherer(context, report)
    kept: set[str] = set()
    done_before = report.bytes_seen
    try:
        for item in scan_folder(
            Path(source.path), exclude=source.exclude, limits=context.limits, known=states
        ):
            match item:
                case FoundDocument():
                    kept.add(item.document.path)
                    report.documents += 1
                    draft = draft_document(item.document, source)
                    yield from gatherer.take(draft)
                    _remember(gatherer, source.id, item, draft.id)
                case Unchanged():
                    kept.update(item.paths)
                    report.files_unchanged += len(item.paths)
                    report.rows_unchanged += len(item.paths)
                case Skip():
                    report.add_skip(item)
                    own.add_skip(item)
                    if item.reason == "unreadable":
                        # What cannot be read today has not been deleted.
                        kept.update(p for p in known if _is_at_or_below(p, item.where))
                case ReadProgress():
                    report.bytes_seen = done_before + item.bytes_done
                    report.files_seen = item.files_seen
                    report.current = item.current
                    yield None
            tell(report, source.id)
        yield from gatherer.publish()
    except NotFound as e:
        error, kept = e.message, set(known)
    finally:
        gatherer.batch.discard()
    gone = [(path, record) for path, record in known.items() if path not in kept]
    yield from _remove_files(context, source, gone)
    report.rows_removed += len(gone)
    with context.committer.store.view() as view:
        documents = sum(1 for _ in view.files(source.id))
    after = dataclasses.replace(
        source,
        documents=documents,
        last_scanned_at=source.last_scanned_at if error else now_ms(),
        skips=tuple(own.skips.values()),
        last_error=error,
    )
    batch = context.batch()
    batch.amend(lambda change: change.put_source(after), sources_changed=True)
    batch.publish_now()


def _remember(gatherer: Gatherer, source_id: str, item: FoundDocument, row_id: str) -> None:
    state = item.state
    record = FileRecord(
        state.size, state.mtime_ns, state.inode, state.digest, state.scanned_at_ns, row_id
    )
    path = item.document.path
    gatherer.batch.amend(lambda change: change.put_file(source_id, path, record))


def _state(record: FileRecord) -> FileState:
    return FileState(
        record.size, record.mtime_ns, record.inode, record.digest, record.scanned_at_ns
    )


def _remove_files(
    context: JobContext, source: Source, files: list[tuple[str, FileRecord]]
) -> Generator[Step, None, None]:
    for start in range(0, len(files), REMOVE_AT_ONCE):
        batch = context.batch()
        for path, record in files[start : start + REMOVE_AT_ONCE]:
            batch.remove(record.row_id)
            batch.amend(partial(_forget, source_id=source.id, path=path))
        batch.publish_now()
        yield None


def _forget(change: Change, *, source_id: str, path: str) -> None:
    change.delete_file(source_id, path)


def _is_at_or_below(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place.rstrip('/')}/")


def _sources(context: JobContext) -> list[Source]:
    with context.committer.store.view() as view:
        return view.sources()


def _named(context: JobContext, names: Iterable[str]) -> list[Source]:
    sources = _sources(context)
    wanted = list(names)
    if not wanted:
        return sources
    by_name = {s.id: s for s in sources} | {s.path: s for s in sources}
    missing = [name for name in wanted if name.rstrip("/") not in by_name]
    if missing:
        raise NotFound(
            f"No source is called {missing[0]}. `twolane source list` shows them all.",
            source=missing[0],
        )
    return list({by_name[n.rstrip("/")].id: by_name[n.rstrip("/")] for n in wanted}.values())
