"""Making postings, against plain dicts; and their bytes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.keyword import postings as module
from twolaned.lanes.keyword.bm25 import LONGEST_PASSAGE
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.postings import (
    invert,
    merge,
    merged_parts,
    select,
)
from twolaned.lanes.keyword.tokenizer import TokenBatch
from twolaned.model.errors import StoreCorrupt

Texts = list[list[int]]
TEXTS = st.lists(st.lists(st.integers(0, 9) | st.sampled_from([70_000, 2**32 - 1]), max_size=12))


def tokens(texts: Texts) -> TokenBatch:
    return TokenBatch(
        np.array([term for text in texts for term in text], np.uint32),
        np.array([len(text) for text in texts], np.int64),
    )


def batch_of(texts: Texts) -> PostingBatch:
    return invert(tokens(texts))


def reference(texts: Texts) -> dict[int, dict[int, int]]:
    """For each term, how often each passage holds it."""
    found: dict[int, dict[int, int]] = {}
    for passage, text in enumerate(texts):
        for term, count in Counter(text).items():
            found.setdefault(term, {})[passage] = min(count, 255)
    return found


def content(batch: PostingBatch) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    terms = batch.terms.tolist()
    assert terms == sorted(set(terms))
    for place, term in enumerate(terms):
        part = slice(int(batch.offsets[place]), int(batch.offsets[place + 1]))
        passages = batch.passages[part].tolist()
        assert passages == sorted(set(passages))
        assert passages
        found[term] = dict(zip(passages, batch.tf[part].tolist(), strict=True))
    assert len(batch.passages) == len(batch.tf) == batch.offsets[-1]
    return found


def assert_holds(batch: PostingBatch, texts: Texts) -> None:
    assert content(batch) == reference(texts)
    assert batch.lengths.tolist() == [min(len(text), LONGEST_PASSAGE) for text in texts]
    kinds = [a.dtype.str[1:] for a in (batch.terms, batch.offsets, batch.passages, batch.tf)]
    assert kinds == ["u4", "i8", "u4", "u1"]
    assert batch.lengths.dtype == np.uint16


@settings(deadline=None)
@given(TEXTS)
def test_inversion(texts: Texts) -> None:
    assert_holds(batch_of(texts), texts)


@settings(deadline=None)
@given(TEXTS)
def test_inversion_in_several_steps(texts: Texts) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_INVERTED", 5)
        assert_holds(batch_of(texts), texts)


def test_occurrences_and_lengths_count_to_their_limits() -> None:
    texts = [[1] * 300 + [2], [1] * 70_000]
    assert_holds(batch_of(texts), texts)


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=4), st.sampled_from([3, 1 << 20]))
def test_merging(parts: list[Texts], step: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_INVERTED", step)
        merged = merge([batch_of(part) for part in parts])
    assert_holds(merged, [text for part in parts for text in part])


@settings(deadline=None)
@given(TEXTS, st.randoms(use_true_random=False))
def test_selecting_in_any_order(texts: Texts, random) -> None:
    order = random.sample(range(len(texts)), random.randint(0, len(texts)))
    chosen = select(batch_of(texts), np.array(order, np.int64))
    assert_holds(chosen, [texts[place] for place in order])


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=4), st.randoms(use_true_random=False), st.sampled_from([1, 4, 99]))
def test_merging_and_selecting_in_steps(parts: list[Texts], random, step: int) -> None:
    texts = [text for part in parts for text in part]
    order = random.sample(range(len(texts)), random.randint(0, len(texts)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_INVERTED", step)
        found = list(merged_parts([batch_of(p) for p in parts], np.array(order, np.int64)))
    chosen: dict[int, dict[int, int]] = {}
    for part in found:
        assert not chosen or int(part.terms[0]) > max(chosen) if len(part.terms) else True
        chosen |= content(part)
        assert part.lengths.tolist() == [len(texts[place]) for place in order]
    assert chosen == reference([texts[place] for place in order])


@settings(deadline=None)
@given(TEXTS)
def test_bytes_give_the_batch_back(texts: Texts) -> None:
    assert_holds(PostingBatch.from_bytes(memoryview(batch_of(texts).to_bytes())), texts)


def test_bytes_of_more_passages_than_16_bits_hold() -> None:
    texts: Texts = [[]] * 65_536 + [[3], [3, 4]]
    assert_holds(PostingBatch.from_bytes(batch_of(texts).to_bytes()), texts)


TWO = [[5, 6, 6], [5, 9]]
"""Its bytes: 24 of header, lengths, terms, frequencies 2 1 1, passages 0 1 0 1, tf 1 1 2 1."""
PASSAGES = 24 + 2 * 2 + 3 * 4 + 3 * 4


def damaged(at: int, value: int) -> bytes:
    data = bytearray(batch_of(TWO).to_bytes())
    data[at] = value
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 10,
        batch_of(TWO).to_bytes()[:-1],
        batch_of(TWO).to_bytes() + b"\x00",
        damaged(0, 0),
        damaged(4, 99),
        damaged(28, 200),  # terms out of order
        damaged(40, 3),  # frequencies beyond the postings
        damaged(44, 0),  # a term without postings
        damaged(PASSAGES, 1),  # a passage twice
        damaged(PASSAGES, 2),  # no such passage
        damaged(PASSAGES + 8, 0),  # no occurrence
    ],
)
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(StoreCorrupt):
        PostingBatch.from_bytes(data)


@settings(deadline=None)
@given(TEXTS, st.data())
def test_bytes_cut_off_anywhere_are_refused(texts: Texts, data: st.DataObject) -> None:
    whole = batch_of(texts).to_bytes()
    with pytest.raises(StoreCorrupt):
        PostingBatch.from_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
