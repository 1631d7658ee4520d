"""The order in which vectors are looked at."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bench.vectors.data import Texts
from tests.lanes.meaning.conftest import numbers
from twolaned.lanes.meaning import candidates as module
from twolaned.lanes.meaning.candidates import Candidates
from twolaned.lanes.meaning.codes import Codec, CodeTable, Words
from twolaned.lanes.meaning.outlook import Line
from twolaned.lanes.meaning.sample import Centre
from twolaned.lanes.meaning.selection import Selection


@pytest.fixture(scope="module")
def table() -> CodeTable:
    units = Texts(512).draw(6_000, seed=1)
    return CodeTable.empty(Codec(Centre.of(units), 1)).extended(units)


@pytest.fixture(scope="module")
def code(table: CodeTable) -> Words:
    return table.codec.encode(Texts(512).draw(1, seed=2))[0]


def drained(candidates: Candidates, size: int) -> list[tuple[np.ndarray, np.ndarray]]:
    batches = []
    while len((batch := candidates.batch(size))[0]):
        batches.append(batch)
    return batches


@pytest.mark.parametrize("size", [1, 100, 5_000, 100_000])
@pytest.mark.parametrize("first_ring", [10, 700, 100_000])
def test_every_vector_comes_once(
    monkeypatch: pytest.MonkeyPatch, table: CodeTable, code: Words, size: int, first_ring: int
) -> None:
    """However small the ring begins and the batches are."""
    monkeypatch.setattr(module, "FIRST_RING", first_ring)

    batches = drained(Candidates.near(table, code, Selection.everything()), size)

    assert list(range(6_000)) == sorted(np.concatenate([at for at, _ in batches]).tolist())
    for at, distances in batches:
        whole = table.coarse_distances(at, code) + table.fine_distances(at, code)
        np.testing.assert_array_equal(whole, distances)


def test_batches_go_outwards(table: CodeTable, code: Words) -> None:
    """Within one ring, no vector is nearer than one of a batch before; ties are not cut apart."""
    batches = drained(Candidates.among(table, code, np.arange(6_000)), 50)

    for (_, before), (_, after) in pairwise(batches):
        assert before.max() < after.min()


def test_only_selected_vectors_come(table: CodeTable, code: Words) -> None:
    """Neither dead ones nor those that a filter leaves out."""
    rng = np.random.default_rng(0)
    live, allowed = rng.random(6_000) < 0.8, rng.random(6_000) < 0.3

    selection = Selection(live, allowed, numbers(6_000))
    batches = drained(Candidates.near(table, code, selection), 500)

    expected = np.flatnonzero(live & allowed).tolist()
    assert expected == sorted(np.concatenate([at for at, _ in batches]).tolist())


def test_the_outlook_falls_to_nothing(
    monkeypatch: pytest.MonkeyPatch, table: CodeTable, code: Words
) -> None:
    """With everything compared, nothing is expected; before, something was beyond the ring."""
    monkeypatch.setattr(module, "FIRST_RING", 100)
    candidates = Candidates.near(table, code, Selection.everything())
    line = Line()
    at, distances = candidates.batch(50)
    line.add(distances, 1 - distances / 400)
    first = candidates.outlook(line, 0.4)

    drained(candidates, 10_000)
    last = candidates.outlook(line, 0.4)

    assert len(at)
    assert first.beyond > 1
    assert (0.0, 0.0, 0) == (last.inside, last.beyond, last.worth)
