"""The index: its answers are the reference's, and each snapshot keeps its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.vectors.data import Texts, unit
from tests.lanes.meaning.conftest import index_of, numbers
from twolaned.lanes.meaning import VectorIndex
from twolaned.lanes.meaning import index as module
from twolaned.lanes.meaning.recall import recall
from twolaned.lanes.meaning.reference import ReferenceVector, reference_search
from twolaned.model.result import LaneHits
from twolaned.store.vector_file import VectorFile, VectorMap


def assert_equal_hits(expected: LaneHits, found: LaneHits) -> None:
    assert expected.rows.tolist() == found.rows.tolist()
    assert expected.passages.tolist() == found.passages.tolist()
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
    types = (found.rows.dtype, found.scores.dtype, found.passages.dtype)
    assert (np.uint32, np.float32, np.uint32) == types


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, list[list[tuple[int, list[int]]]], set[int]]:
    """Dimensions, batches of (row, vector of small whole numbers), and rows that died."""
    dimensions = draw(st.integers(1, 5))
    vector = st.lists(st.integers(-2, 2), min_size=dimensions, max_size=dimensions)
    batch = st.lists(st.tuples(st.integers(0, 9), vector), max_size=25)
    return dimensions, draw(st.lists(batch, max_size=6)), draw(st.sets(st.integers(0, 11)))


@pytest.mark.parametrize("exact_up_to", [0, 1_000])
@settings(max_examples=150, deadline=None)
@given(
    history=histories(),
    question=st.lists(st.integers(-2, 2), min_size=5, max_size=5),
    n=st.integers(1, 12),
    allowed=st.none() | st.lists(st.booleans(), max_size=12),
    seed=st.integers(0, 9),
)
def test_few_vectors_are_searched_exactly(
    exact_up_to: int,
    history: tuple[int, list[list[tuple[int, list[int]]]], set[int]],
    question: list[int],
    n: int,
    allowed: list[bool] | None,
    seed: int,
) -> None:
    """By product and by codes alike: batches, deaths, filters, ties, rows in pieces, zeros.

    Whole numbers make many ties and equal vectors; some questions are turned a little instead.
    """
    dimensions, batches, dead = history
    asked = np.array(question[:dimensions], np.float32)
    if seed > 4 or not asked.any():
        asked = np.random.default_rng(seed).standard_normal(dimensions)
    index, kept = VectorIndex.empty("test", dimensions), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "EXACT_UP_TO", exact_up_to)
        patch.setattr(module, "GATHERED_UP_TO", 5 if seed % 2 else 2_048)
        for number, batch in enumerate(batches):
            rows = np.array([row for row, _ in batch], np.uint32)
            passages = np.arange(len(batch), dtype=np.uint32) + number * 100
            vectors = np.array([v for _, v in batch], np.float32).reshape(-1, dimensions)
            index = index.with_rows(rows, passages, vectors)
            kept += [ReferenceVector(*each) for each in zip(rows, passages, vectors, strict=True)]
            if number == 2:
                index = index.without(np.array(sorted(dead), np.uint32))
                kept = [v for v in kept if v.row not in dead]
        mask = None if allowed is None else np.array(allowed, np.bool_)
        found = index.search(asked, n, mask)

    expected = reference_search(kept, asked, n, mask)
    assert_equal_hits(expected, found)
    assert expected.exhausted or not found.exhausted
    assert found.exhausted or len(found.rows) >= n
    assert index.count == sum(bool(v.numbers.any()) for v in kept)


def test_every_snapshot_keeps_its_answer(clustered: np.ndarray, questions: np.ndarray) -> None:
    """Later rows and deaths change nothing in an index that is held, also across new codes."""
    index = VectorIndex.empty("test", 512)
    snapshots = []
    for start in range(0, 30_000, 6_000):
        part = numbers(6_000) + np.uint32(start)
        index = index.with_rows(part, part, clustered[start : start + 6_000])
        snapshots.append((index, index.search(questions[0], 30)))
        index = index.without(index.search(questions[0], 5).rows)
        snapshots.append((index, index.search(questions[0], 30)))

    for snapshot, before in snapshots:
        assert_equal_hits(before, snapshot.search(questions[0], 30))
    assert 10 == len({tuple(before.rows) for _, before in snapshots})


def test_batches_do_not_matter(clustered: np.ndarray, questions: np.ndarray) -> None:
    """An index made at once, as after a restart, answers as the one that grew."""
    grown = VectorIndex.empty("test", 512)
    for start in range(0, 20_000, 777):
        part = numbers(20_000)[start : start + 777]
        grown = grown.with_rows(part, np.zeros_like(part), clustered[part])
    at_once = index_of(clustered[:20_000])

    assert at_once.mean_cosine == grown.mean_cosine
    assert at_once.code_bytes == grown.code_bytes == 64 * 20_000
    for question in questions:
        assert_equal_hits(at_once.search(question, 30), grown.search(question, 30))


def test_a_row_with_the_best_passages_does_not_starve_the_rest(clustered: np.ndarray) -> None:
    """One row owns the 3,000 best passages; the 29 next rows are in the answer all the same."""
    rng = np.random.default_rng(0)
    vectors = clustered[:25_000].copy()
    noise = rng.standard_normal((3_000, 512), dtype=np.float32)
    vectors[5_000:8_000] = unit(vectors[3] + np.float32(0.01) * noise)
    rows = numbers(25_000)
    rows[5_000:8_000] = 5_000
    index = VectorIndex.empty("test", 512).with_rows(rows, numbers(25_000), vectors)
    question = vectors[3] + np.float32(0.01) * noise[0]

    hits, exact = index.search(question, 30), index.search_exactly(question, 30)

    assert len(hits.rows) >= 30
    assert recall(hits, exact, 30) >= 29 / 30


def test_all_that_tie_with_the_last_are_there(clustered: np.ndarray, questions: np.ndarray) -> None:
    """2,500 copies of one text, of which a search for 30 rows would cut most off."""
    vectors = clustered.copy()
    places = np.sort(np.random.default_rng(1).choice(30_000, 2_500, replace=False))
    vectors[places] = questions[7]
    index = index_of(vectors)

    hits = index.search(questions[7], 30)

    assert places.tolist() == hits.rows.tolist()
    assert {np.float32(1.0)} == set(hits.scores)
    assert not hits.exhausted


def test_scores_are_exact(clustered: np.ndarray, questions: np.ndarray) -> None:
    """Found by codes or by product, a row's score is its float64 cosine."""
    index = index_of(clustered)
    for question in questions[:20]:
        hits = index.search(question, 30)
        cosines = clustered[hits.rows].astype(np.float64) @ question.astype(np.float64)

        np.testing.assert_allclose(hits.scores, cosines, rtol=1e-5)
        assert (np.diff(hits.scores) <= 0).all()


@pytest.mark.parametrize("share", [0.5, 0.2, 0.1, 0.02, 0.001, 0.0])
def test_filters_narrow_before_the_best_are_picked(
    clustered: np.ndarray, questions: np.ndarray, share: float
) -> None:
    """Whatever a filter leaves, recall stays and nothing else is returned; deaths count too."""
    rng = np.random.default_rng(2)
    dead = rng.choice(30_000, 3_000, replace=False).astype(np.uint32)
    allowed = rng.random(30_000) < share
    index = index_of(clustered).without(dead)
    live = allowed.copy()
    live[dead] = False

    recalls = []
    for question in questions[:20]:
        hits = index.search(question, 30, allowed)
        exact = index.search_exactly(question, 30, allowed)
        assert live[hits.rows].all()
        assert min(30, live.sum()) <= len(hits.rows)
        recalls.append(recall(hits, exact, 30) if len(exact.rows) else 1.0)

    assert np.mean(recalls) >= 0.995
    assert min(recalls) >= 0.95


def test_cosines_of_rows_are_those_of_their_best_passages(
    clustered: np.ndarray, questions: np.ndarray
) -> None:
    """Equal to the score of a search; not a number for rows that are dead or never had a vector."""
    index = index_of(clustered, passages_a_row=3)
    hits = index.search(questions[0], 30)
    wanted = np.concatenate([hits.rows[::-1], np.array([10_000, 99], np.uint32)])
    index = index.without(np.array([99], np.uint32))

    found = index.cosines(questions[0], wanted)

    assert np.float32 == found.dtype
    np.testing.assert_array_equal(found[: len(hits.rows)], hits.scores[::-1])
    assert np.isnan(found[-2:]).all()
    assert 0 == len(index.cosines(questions[0], np.empty(0, np.uint32)))


def test_vectors_without_a_direction_are_never_found(
    clustered: np.ndarray, questions: np.ndarray
) -> None:
    """Zeros and numbers that are not finite hold their place and do no harm."""
    vectors = clustered.copy()
    vectors[1_000:2_000] = 0
    vectors[2_000] = np.nan
    vectors[2_001] = np.inf
    vectors[0] = np.nan
    index = index_of(vectors)

    rows = np.concatenate([index.search(q, 30).rows for q in questions[:10]])
    everything = index.search_exactly(questions[0], 40_000)

    assert 30_000 - 1_003 == index.count == len(everything.rows)
    assert not np.isin(rows, [0, *range(1_000, 2_002)]).any()


def test_an_index_of_nothing_finds_nothing() -> None:
    """Neither without vectors, nor with only such as have no direction."""
    empty = VectorIndex.empty("test", 8)
    hopeless = empty.with_rows(numbers(20_000), numbers(20_000), np.zeros((20_000, 8), np.float32))
    for index in (empty, hopeless, empty.with_rows(numbers(0), numbers(0), np.zeros((0, 8)))):
        hits = index.search(np.ones(8), 30)
        assert (0, True) == (len(hits.rows), hits.exhausted)
        assert np.isnan(index.cosines(np.ones(8), numbers(2))).all()
        assert 0.0 == index.mean_cosine


def test_unrelated_texts_have_the_mean_cosine(clustered: np.ndarray) -> None:
    """It is near the mean over all pairs, and is not pulled up by long rows of like passages."""
    index = index_of(clustered)
    total = clustered.sum(axis=0, dtype=np.float64)
    mean = (total @ total - 30_000) / (30_000 * 29_999)
    alike = index_of(np.repeat(clustered[::500], 500, axis=0), passages_a_row=500)

    assert index.mean_cosine == pytest.approx(mean, abs=0.01)
    assert alike.mean_cosine == pytest.approx(mean, abs=0.04)


def test_an_index_reads_from_its_file(tmp_path: Path, questions: np.ndarray) -> None:
    """What was appended and committed is found, from maps that grow with it."""
    texts = Texts(512).draw(18_000, seed=8)
    file = VectorFile.create(tmp_path / "v", space="test", dimensions=512)
    reader = VectorMap(tmp_path / "v", space="test", dimensions=512)
    index = VectorIndex.empty("test", 512)
    snapshots = []
    for start in range(0, 18_000, 4_500):
        file.append(texts[start : start + 4_500])
        part = numbers(4_500) + np.uint32(start)
        index = index.with_rows(part, np.zeros_like(part), reader)
        snapshots.append(index)
    reader.close()
    file.close()

    for number, snapshot in enumerate(snapshots):
        in_memory = index_of(texts[: 4_500 * (number + 1)])
        for question in questions[:5]:
            assert_equal_hits(in_memory.search(question, 30), snapshot.search(question, 30))


def test_searches_in_many_threads_do_not_mix(clustered: np.ndarray, questions: np.ndarray) -> None:
    """Each thread scans with buffers of its own, while the index grows."""
    index = index_of(clustered)
    expected = [index.search(q, 30) for q in questions]
    with ThreadPoolExecutor(6) as pool:
        found = pool.map(lambda q: index.search(q, 30), list(questions) * 3)
        grown = index
        for number in range(30_000, 30_200):
            one = np.array([number], np.uint32)
            grown = grown.with_rows(one, one, questions[number % 60][np.newaxis])

    for hits, again in zip(expected * 3, found, strict=True):
        assert_equal_hits(hits, again)
    assert 30_200 == grown.count


@pytest.mark.parametrize("n", [1, 30, 300])
def test_more_rows_are_found_when_more_are_asked_for(
    clustered: np.ndarray, questions: np.ndarray, n: int
) -> None:
    """Recall does not depend on n."""
    index = index_of(clustered, passages_a_row=4)
    recalls = [recall(index.search(q, n), index.search_exactly(q, n), n) for q in questions[:20]]

    assert np.mean(recalls) >= 0.995
