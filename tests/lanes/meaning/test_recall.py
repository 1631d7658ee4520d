"""Recall: the bars hold on clustered texts and on texts full of copies, and a poor search shows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from bench.vectors.data import Texts, with_near_copies
from tests.lanes.meaning.conftest import index_of
from twolaned.lanes.meaning import RecallReport, VectorIndex, compare, measure_recall
from twolaned.lanes.meaning.recall import recall
from twolaned.model.result import LaneHits


@pytest.mark.parametrize("passages_a_row", [1, 14])
def test_clustered_texts(clustered: np.ndarray, questions: np.ndarray, passages_a_row: int) -> None:
    """512 dimensions, one bit each."""
    report = measure_recall(index_of(clustered, passages_a_row), questions)

    assert report is not None
    assert (60, 30) == (report.questions, report.n)
    assert report.is_good, report


def test_texts_full_of_near_copies(copies: np.ndarray, questions: np.ndarray) -> None:
    """Six in ten are copies of a few, some exact; asked about those texts, and about others."""
    rng = np.random.default_rng(4)
    noise = rng.standard_normal((60, 512), dtype=np.float32)
    about = copies[rng.choice(30_000, 60, replace=False)] + np.float32(0.015) * noise

    report = measure_recall(index_of(copies), [*about, *questions])

    assert report is not None
    assert report.is_good, report


@pytest.mark.parametrize("dimensions", [256, 384, 768])
def test_other_widths(dimensions: int) -> None:
    """Two bits a dimension for narrow spaces, one for wide ones."""
    texts = Texts(dimensions)
    vectors = with_near_copies(texts.draw(20_000, seed=1), 0.1, seed=2)

    report = measure_recall(index_of(vectors), texts.draw(40, seed=3))

    assert report is not None
    assert report.is_good, report


def test_texts_unlike_those_before() -> None:
    """The codes' centre was taken of other texts than most of those that are there now."""
    old, new = Texts(512, seed=7), Texts(512, seed=21)
    vectors = np.concatenate([old.draw(17_000, seed=1), new.draw(30_000, seed=2)])

    report = measure_recall(index_of(vectors), [*old.draw(20, seed=3), *new.draw(30, seed=4)])

    assert report is not None
    assert report.is_good, report


def test_questions_that_nothing_answers() -> None:
    """Random directions, near to which nothing is, are the hardest; they are answered too."""
    index = index_of(Texts(512).draw(20_000, seed=1))
    questions = np.random.default_rng(2).standard_normal((20, 512))

    report = measure_recall(index, questions)

    assert report is not None
    assert report.is_good, report


def test_a_poor_search_is_seen(
    monkeypatch: pytest.MonkeyPatch, clustered: np.ndarray, questions: np.ndarray
) -> None:
    """A search that stops at its first 64 candidates misses the bars."""
    monkeypatch.setattr(compare, "FIRST_BATCH", 64)
    monkeypatch.setattr(compare, "NEGLIGIBLE", 1e9)

    report = measure_recall(index_of(clustered), questions)

    assert report is not None
    assert not report.is_good
    assert report.worst < report.mean < 0.995


def test_it_stops_when_it_should(clustered: np.ndarray, questions: np.ndarray) -> None:
    """It asks before each question, and takes no further ones."""
    taken = []

    def asked() -> Iterator[np.ndarray]:
        for question in questions:
            taken.append(question)
            yield question

    index = index_of(clustered[:5_000])
    report = measure_recall(index, asked(), go_on=lambda: len(taken) <= 3)

    assert RecallReport(3, 30, 1.0, 1.0) == report
    assert 4 == len(taken)


def test_nothing_to_measure_is_no_report(questions: np.ndarray) -> None:
    """Neither without questions nor without vectors."""
    assert measure_recall(VectorIndex.empty("test", 512), questions) is None
    assert measure_recall(index_of(questions), []) is None


def test_of_rows_that_tie_any_will_do() -> None:
    """Recall counts scores, since ties with the last are interchangeable."""
    rows, passages = np.arange(4, dtype=np.uint32), np.zeros(4, np.uint32)
    exact = LaneHits(rows, np.array([0.9, 0.5, 0.5, 0.5], np.float32), passages)
    other = LaneHits(rows[2:], np.array([0.9, 0.5], np.float32), passages[2:])
    worse = LaneHits(rows[2:], np.array([0.9, 0.4], np.float32), passages[2:])

    assert (1.0, 0.5) == (recall(other, exact, 2), recall(worse, exact, 2))
