"""Making postings: from tokens, from several batches, from a part of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import LONGEST_PASSAGE, MOST_OCCURRENCES
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.tokenizer import TokenBatch

__all__ = ["PostingBatch", "invert", "merge", "merged_parts", "ranges_of", "select"]

_INVERTED = 4 << 20
"""Tokens that are inverted in one step, and postings that are moved in one."""


def invert(tokens: TokenBatch) -> PostingBatch:
    """The postings of *tokens*' texts, each of which is a passage."""
    ends = np.cumsum(tokens.lengths)
    if len(ends) and ends[-1] > _INVERTED and len(ends) > 1:
        middle = min(max(int(np.searchsorted(ends, ends[-1] // 2)), 1), len(ends) - 1)
        cut = int(ends[middle - 1])
        halves = (
            TokenBatch(tokens.term_ids[:cut], tokens.lengths[:middle]),
            TokenBatch(tokens.term_ids[cut:], tokens.lengths[middle:]),
        )
        return merge([invert(half) for half in halves])
    return _invert(tokens)


def _invert(tokens: TokenBatch) -> PostingBatch:
    """Invert by one sort of (term, passage) pairs, each packed into 64 bits."""
    count = len(tokens.lengths)
    passages = np.repeat(np.arange(count, dtype=np.uint64), tokens.lengths)
    pairs = (tokens.term_ids.astype(np.uint64) << np.uint64(32)) | passages
    pairs.sort()
    firsts = np.flatnonzero(_starts(pairs))
    occurrences = np.diff(firsts, append=len(pairs))
    pairs = pairs[firsts]
    terms = (pairs >> np.uint64(32)).astype(np.uint32)
    heads = np.flatnonzero(_starts(terms))
    return PostingBatch(
        terms[heads],
        np.append(heads, len(terms)).astype(np.int64),
        pairs.astype(np.uint32),
        np.minimum(occurrences, MOST_OCCURRENCES).astype(np.uint8),
        np.minimum(tokens.lengths, LONGEST_PASSAGE).astype(np.uint16),
    )


def _starts(ordered: NDArray[np.uint64] | NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Where in *ordered* another value begins."""
    starts = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    return starts


def merge(batches: Sequence[PostingBatch]) -> PostingBatch:
    """All *batches* as one; passages are numbered on from one batch to the next."""
    if len(batches) == 1:
        return batches[0]
    if not batches:
        return PostingBatch.empty()
    terms = np.concatenate([batch.terms for batch in batches])
    counts = np.concatenate([batch.frequencies for batch in batches])
    order = np.argsort(terms, kind="stable")
    # Where each batch's run of postings of a term goes.
    targets = np.empty(len(terms), np.int64)
    targets[order] = np.cumsum(counts[order]) - counts[order]
    ordered = terms[order]
    heads = np.flatnonzero(_starts(ordered))
    total = int(counts.sum())
    passages = np.empty(total, np.uint32)
    tf = np.empty(total, np.uint8)
    base, first = 0, 0
    for batch in batches:
        of_batch = targets[first : first + len(batch.terms)]
        for place, part in _moves(batch.offsets, of_batch):
            passages[place] = batch.passages[part] + np.uint32(base)
            tf[place] = batch.tf[part]
        base += len(batch.lengths)
        first += len(batch.terms)
    return PostingBatch(
        ordered[heads],
        np.append(targets[order][heads], total),
        passages,
        tf,
        np.concatenate([batch.lengths for batch in batches]),
    )


def _moves(
    offsets: NDArray[np.int64], targets: NDArray[np.int64]
) -> list[tuple[NDArray[np.int64], slice]]:
    """Steps that bring runs of postings to *targets*: places to write, and what to read.

    Bounded in memory: each step but one with a longer run moves at most `_INVERTED` postings.
    """
    steps = []
    start = 0
    while start < len(targets):
        end = int(np.searchsorted(offsets, offsets[start] + _INVERTED, "right")) - 1
        end = min(max(end, start + 1), len(targets))
        part = slice(int(offsets[start]), int(offsets[end]))
        counts = np.diff(offsets[start : end + 1])
        place = np.repeat(targets[start:end] - offsets[start:end], counts)
        place += np.arange(part.start, part.stop)
        steps.append((place, part))
        start = end
    return steps


def select(batch: PostingBatch, order: NDArray[np.int64]) -> PostingBatch:
    """Just the passages *order* (distinct numbers) of *batch*, in this order."""
    ascending = _ascending(order)
    if ascending and len(order) == len(batch.lengths):
        return batch
    return _renumbered(batch, _numbers(order, len(batch.lengths)), order, ascending)


class PostingSource(Protocol):
    """Postings that can be had by ranges of terms."""

    @property
    def terms(self) -> NDArray[np.uint32]:
        """Distinct and ascending."""

    @property
    def lengths(self) -> NDArray[np.uint16]:
        """Each passage's number of terms."""

    @property
    def frequencies(self) -> NDArray[np.int64] | NDArray[np.uint32]:
        """In how many passages each of *terms* occurs."""

    def of_terms(self, first: int, last: int) -> PostingBatch:
        """The postings of the terms from *first* to before *last*, of the same passages."""

    def tf_counts(self) -> NDArray[np.int64]:
        """How many postings have each tf (int64 [256])."""


def merged_parts(
    sources: Sequence[PostingSource], order: NDArray[np.int64]
) -> Iterator[PostingBatch]:
    """What ``select(merge(sources), order)`` gives, a range of terms at a time.

    So it needs little memory besides its arguments, however much there is.
    """
    count = sum(len(source.lengths) for source in sources)
    number, ascending = _numbers(order, count), _ascending(order)
    for first, last in ranges_of(sources):
        merged = merge([source.of_terms(first, last) for source in sources])
        yield _renumbered(merged, number, order, ascending)


def ranges_of(sources: Sequence[PostingSource]) -> list[tuple[int, int]]:
    """Ranges of term numbers that together are all, with about `_INVERTED` postings each."""
    terms = np.concatenate([np.empty(0, np.uint32), *(source.terms for source in sources)])
    counts = np.concatenate([np.empty(0, np.int64), *(source.frequencies for source in sources)])
    order = np.argsort(terms)
    running = np.cumsum(counts[order])
    steps = np.arange(_INVERTED, int(running[-1]) if len(running) else 0, _INVERTED)
    cuts = np.unique(terms[order][running.searchsorted(steps)]).tolist()
    return list(zip([0, *cuts], [*cuts, 1 << 32], strict=True))


def _ascending(order: NDArray[np.int64]) -> bool:
    return bool((order[1:] > order[:-1]).all())


def _numbers(order: NDArray[np.int64], count: int) -> NDArray[np.uint32]:
    """The place of each of *count* passages in *order*; its length where it is not there."""
    number = np.full(count, len(order), np.uint32)
    number[order] = np.arange(len(order), dtype=np.uint32)
    return number


def _renumbered(
    batch: PostingBatch, number: NDArray[np.uint32], order: NDArray[np.int64], ascending: bool
) -> PostingBatch:
    """The passages *order* of *batch*; *number* are their new numbers."""
    renumbered = number[batch.passages]
    kept = renumbered < len(order)
    counts = _sums(kept, batch.offsets)
    passages, tf = renumbered[kept], batch.tf[kept]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    if not ascending:
        keys = np.repeat(np.arange(len(counts), dtype=np.uint64) << np.uint64(32), counts)
        by_passage = np.argsort(keys | passages, kind="stable")
        passages, tf = passages[by_passage], tf[by_passage]
    held = counts > 0
    return PostingBatch(
        batch.terms[held],
        np.append(offsets[:-1][held], offsets[-1]),
        passages,
        tf,
        batch.lengths[order],
    )


def _sums(flags: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of *flags* are set in each part that *offsets* cuts them into; none is empty."""
    if len(offsets) == 1:
        return np.empty(0, np.int64)
    sums: NDArray[np.int64] = np.add.reduceat(flags, offsets[:-1], dtype=np.int64)
    return sums
