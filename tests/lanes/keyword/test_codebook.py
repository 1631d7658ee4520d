"""Codes: exact tf, bounds that hold and ascend."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.codebook import CLASSES, CODES, Encoder
from twolaned.lanes.keyword.impacts import impacts

POSTINGS = st.lists(st.tuples(st.integers(1, 255), st.integers(0, 65_535)), min_size=1, max_size=60)
CONSTANTS = st.builds(
    Bm25, k1=st.sampled_from([0.9, 2.0]), b=st.sampled_from([0.0, 0.4, 1.0]),
    average_length=st.sampled_from([1.0, 180.0]),
)  # fmt: skip


def check(tf: list[int], lengths: list[int], bm25: Bm25) -> np.ndarray:
    """Encode a posting in each passage, and return how far its bound lies above its impact."""
    occurs, of_passage = np.array(tf, np.uint8), np.array(lengths, np.uint16)
    counts = np.bincount(occurs, minlength=256)
    encoder = Encoder(of_passage, counts, bm25)
    codes = encoder.encode(occurs, np.arange(len(tf), dtype=np.uint32))
    book = encoder.book
    assert book.tf[codes].tolist() == tf
    impact = impacts(occurs, bm25.norms(of_passage))
    assert (book.bounds[codes] >= impact).all()
    assert (book.bounds[1:] >= book.bounds[:-1]).all()
    assert book.ladder == book.bounds.tolist()
    return book.bounds[codes] - impact


@settings(max_examples=200, deadline=None)
@given(POSTINGS, CONSTANTS)
def test_codes_give_tf_back_and_bound_the_impact(
    postings: list[tuple[int, int]], bm25: Bm25
) -> None:
    tf, lengths = zip(*postings, strict=True)
    check(list(tf), list(lengths), bm25)


def test_every_tf_can_occur_at_once() -> None:
    check(list(range(1, 256)) * 3, list(range(765)), Bm25(average_length=300.0))


def test_frequent_tf_get_the_close_bounds() -> None:
    generator = np.random.default_rng(2)
    tf = np.minimum(generator.zipf(2.5, 50_000), 255)
    lengths = generator.integers(40, 300, len(tf))
    above = check(tf.tolist(), lengths.tolist(), Bm25(average_length=150.0))
    assert above.mean() < 1 / 255


@pytest.mark.parametrize("lengths", [[], [0] * CLASSES * 2])
def test_no_postings_need_no_codes(lengths: list[int]) -> None:
    encoder = Encoder(np.array(lengths, np.uint16), np.zeros(256, np.int64), Bm25(average_length=1))
    assert encoder.book.ladder == [np.inf] * CODES
