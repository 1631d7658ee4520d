"""Making the bytes of what was deleted leave the disk."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from twolaned.lanes.keyword.postings import PostingBatch
from twolaned.store.arrays import ArrayBundle
from twolaned.writer.context import JobContext, Step

TERMS_AT_ONCE = 2_000
PAGE_FILLING = 1_900
"""Bytes of a value of which two fill a page."""
FILLINGS_AT_ONCE = 256
BEYOND = 64
"""Pages by which the file grows before all that were free are known to be written over."""


def purge(context: JobContext) -> Generator[Step, None, None]:
    """Rewrite index and vectors without dead rows, forget words, and write over free pages.

    Only for a job that runs alone: what another has tokenized would lose its terms.
    """
    # Free pages are not free for good while a backup reads an earlier state.
    yield from context.copies
    yield context.maintenance.request_rewrite()
    context.committer.forget_words()
    if context.embedding is not None:
        yield context.embedding.request_purge()
    yield from _forget_terms(context)
    yield from _fill_free_pages(context)


def _forget_terms(context: JobContext) -> Generator[Step, None, None]:
    store = context.committer.store
    while context.maintenance.fold_terms():
        yield None
    sealed: set[int] = set()
    for info in context.committer.manifest.segments:
        bundle = ArrayBundle(store.segment_path(info.id))
        sealed.update(bundle.arrays["terms"].tolist())
        bundle.close()
    with store.view() as view:
        unused = [term for term, number in view.terms() if number not in sealed]
    for start in range(0, len(unused), TERMS_AT_ONCE):
        some = unused[start : start + TERMS_AT_ONCE]
        # A save that came in between may have used one of them again.
        logged = set(_logged_terms(context))
        with store.change() as change:
            numbers = change.term_ids(some)
            change.delete_terms(
                term for term, number in zip(some, numbers, strict=True) if number not in logged
            )
        yield None


def _logged_terms(context: JobContext) -> Iterator[int]:
    with context.committer.store.view() as view:
        for _, record in view.log(view.manifest.sealed_seq):
            if record.postings:
                yield from PostingBatch.from_bytes(record.postings).terms.tolist()


def _fill_free_pages(context: JobContext) -> Generator[Step, None, None]:
    store = context.committer.store
    before, key = store.pages(), 0
    while store.pages() < before + BEYOND:
        with store.change() as change:
            for _ in range(FILLINGS_AT_ONCE):
                change.fill(key, bytes(PAGE_FILLING))
                key += 1
        yield None
    for start in range(0, key, FILLINGS_AT_ONCE):
        with store.change() as change:
            change.clear_filling(range(start, min(start + FILLINGS_AT_ONCE, key)))
        yield None
    store.clear_gaps()
