"""Our engine as a contestant: passages in segments on disk, and searches of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.keyword.data import Corpus
from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.postings import PostingBatch, invert
from twolaned.lanes.keyword.segment import Segment, build_segment
from twolaned.lanes.keyword.tokenizer import TokenBatch
from twolaned.store.arrays import ArrayBundle, write_arrays


def bm25_of(corpus: Corpus) -> Bm25:
    return Bm25(average_length=float(corpus.lengths.mean()))


def postings_of(corpus: Corpus, first: int, last: int) -> PostingBatch:
    """The postings of the passages from *first* to *last*."""
    starts = corpus.starts
    tokens = np.asarray(corpus.tokens[starts[first] : starts[last]]).astype(np.uint32)
    return invert(TokenBatch(tokens, corpus.lengths[first:last].astype(np.int64)))


def rows_of(first: int, last: int, passages_a_row: int) -> NDArray[np.uint32]:
    """The row by passage."""
    return (np.arange(first, last) // passages_a_row).astype(np.uint32)


def write_segment(
    folder: Path, corpus: Corpus, first: int, last: int, bm25: Bm25, passages_a_row: int = 1
) -> int:
    """Write a segment of some passages and return its bytes on disk."""
    shutil.rmtree(folder, ignore_errors=True)
    arrays = build_segment(
        postings_of(corpus, first, last), rows_of(first, last, passages_a_row), bm25=bm25
    )
    return write_arrays(folder, arrays)


def with_segment(index: KeywordIndex, folder: Path) -> KeywordIndex:
    """*index* and the segment in *folder*."""
    bundle = ArrayBundle(folder)
    return index.with_segment(folder.name, Segment(bundle.arrays, keepalive=bundle))
