"""The recall check: with questions that were asked, while nobody asks, and where it can be less."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from twolaned.lanes.meaning import MeaningIndex, VectorIndex, index
from twolaned.search.recall_check import QUIET, AskedQuestions, RecallChecker

SPACE = "test/model/64"


def coded(count: int = 3_000) -> VectorIndex:
    vectors = np.random.default_rng(1).standard_normal((count, 64)).astype(np.float32)
    rows = np.arange(count, dtype=np.uint32)
    return VectorIndex.empty(SPACE, 64).with_rows(rows, np.zeros_like(rows), vectors)


def questions(count: int) -> list[np.ndarray]:
    return list(np.random.default_rng(2).standard_normal((count, 64)).astype(np.float32))


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "EXACT_UP_TO", 1_000)


class Pauses:
    """Pauses that take no time; *during* is called in the first ones."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.during: list[AskedQuestions] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        if self.during:
            self.during.pop().add({SPACE: np.ones(64, np.float32)})


@pytest.mark.usefixtures("_small")
async def test_it_tells_the_recall_of_what_was_asked(executor: ThreadPoolExecutor) -> None:
    """Each distinct question once, of one space."""
    asked, pauses = AskedQuestions(), Pauses()
    for question in [*questions(5), *questions(5)]:
        asked.add({SPACE: question})
    meaning = MeaningIndex.of([coded()])
    checker = RecallChecker(asked, lambda: meaning, executor, pause=pauses)
    await checker.check()

    (check,) = checker.checks
    assert (SPACE, 5, 30) == (check.space, check.report.questions, check.report.n)
    assert 0.9 < check.report.worst <= check.report.mean <= 1.0
    assert 5 == pauses.taken.count(QUIET)


@pytest.mark.usefixtures("_small")
async def test_it_waits_while_there_are_searches(executor: ThreadPoolExecutor) -> None:
    """Each one in the meantime begins the wait again."""
    asked, pauses = AskedQuestions(), Pauses()
    asked.add({SPACE: questions(1)[0]})
    pauses.during = [asked] * 3
    meaning = MeaningIndex.of([coded()])
    await RecallChecker(asked, lambda: meaning, executor, pause=pauses).check()

    assert [QUIET] * 4 == pauses.taken[:4]
    assert QUIET != pauses.taken[4]


async def test_exact_answers_are_not_checked(executor: ThreadPoolExecutor) -> None:
    """They have no recall to lose."""
    asked = AskedQuestions()
    asked.add({SPACE: questions(1)[0]})
    meaning = MeaningIndex.of([coded(100)])
    checker = RecallChecker(asked, lambda: meaning, executor, pause=Pauses())
    await checker.check()

    assert not checker.checks


@pytest.mark.usefixtures("_small")
async def test_a_space_that_went_is_told_of_no_more(executor: ThreadPoolExecutor) -> None:
    """Status shows what searches are made with."""
    asked = AskedQuestions()
    asked.add({SPACE: questions(1)[0]})
    spaces = [MeaningIndex.of([coded()])]
    checker = RecallChecker(asked, lambda: spaces[-1], executor, pause=Pauses())
    await checker.check()
    assert checker.checks
    spaces.append(MeaningIndex.empty())

    assert not checker.checks


def test_the_oldest_questions_are_forgotten() -> None:
    """One that is asked again counts as new."""
    asked = AskedQuestions(remembered=2)
    first, second, third = questions(3)
    for question in (first, second, first, third):
        asked.add({SPACE: question})

    kept = asked.of(VectorIndex.empty(SPACE, 64))
    assert [third.tobytes(), first.tobytes()] == [q.tobytes() for q in kept]
    assert 4 == asked.count
