"""Recent runs: few parts, however many commits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lanes.keyword.world import World, inverted
from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.memtable import RecentPart, Run, after, with_run
from twolaned.lanes.keyword.query import KeywordQuery

BM25 = Bm25(average_length=4.0)
NONE = np.empty(0, np.uint32)


def parts_of(sizes: list[int]) -> tuple[RecentPart, ...]:
    parts: tuple[RecentPart, ...] = ()
    number = 0
    for sequence, size in enumerate(sizes, 1):
        rows = np.arange(number, number + size, dtype=np.uint32)
        batch = inverted([[1, row + 2] for row in rows.tolist()])
        parts = with_run(parts, Run(sequence, rows, batch), BM25, NONE)
        number += size
    return parts


@pytest.mark.parametrize("sizes", [[1] * 700, [90] * 20, [1, 2, 4, 8] * 40, [500] + [1] * 80])
def test_runs_are_merged_into_few_parts(sizes: list[int]) -> None:
    parts = parts_of(sizes)
    assert len(parts) <= 1 + np.log2(sum(sizes)) / 3
    assert [run.sequence for part in parts for run in part.runs] == list(range(1, len(sizes) + 1))
    rows = np.concatenate([part.rows for part in parts])
    assert rows.tolist() == list(range(sum(sizes)))


def test_a_cut_inside_a_merged_part_keeps_the_later_runs() -> None:
    parts = after(parts_of([1] * 60), 37, BM25, np.array([40], np.uint32))
    assert np.concatenate([part.rows for part in parts]).tolist() == list(range(37, 60))
    assert sum(part.live for part in parts) == 22


def test_what_died_stays_dead_when_runs_are_merged() -> None:
    world = World()
    for _ in range(5):
        world.add_run([[[1, 2]], [[1, 3], [2]]])
        world.remove([max(world.rows)])
    assert world.check(KeywordQuery((1, 2)), 20).rows.size == 5
    for _ in range(30):
        world.add_run([[[1]]])
    world.check(KeywordQuery((1, 2)), 50)


def test_hundreds_of_small_runs_are_searched_like_one() -> None:
    world = World()
    generator = np.random.default_rng(2)
    for _ in range(300):
        world.add_run([[generator.integers(0, 20, 6).tolist()]])
    for terms in ((3,), (1, 4, 15), (0, 99)):
        world.check(KeywordQuery(terms), 10)
