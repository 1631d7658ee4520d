from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.world import MemoryStore, make_row
from twolaned.model.result import LaneHits
from twolaned.search.patterns import Pattern
from twolaned.search.phrases import KEPT_PATTERNS, Judge, Verdicts


class CountingStore(MemoryStore):
    """Counts how often a text is read."""

    reads = 0

    def body_bytes(self, number: int, /) -> bytes:
        self.reads += 1
        return super().body_bytes(number)


def store_of(*bodies: str) -> CountingStore:
    store = CountingStore()
    for number, body in enumerate(bodies):
        store.put(make_row(number, title=f"No. {number}"), body)
    return store


def judge_of(
    store: MemoryStore,
    required: tuple[str, ...] = (),
    excluded: tuple[str, ...] = (),
    verdicts: Verdicts | None = None,
) -> Judge:
    return Judge(
        [Pattern(text) for text in required],
        [Pattern(text) for text in excluded],
        view=store,
        verdicts=verdicts or Verdicts(),
        size=len(store.bodies),
    )


def asking(rows: list[int]) -> Callable[[int], LaneHits]:
    def ask(n: int) -> LaneHits:
        first = np.array(rows[:n], np.uint32)
        return LaneHits(first, np.ones(len(first), np.float32), first, len(rows) <= n)

    return ask


def test_required_and_excluded_judge_title_and_body() -> None:
    """A phrase does not run from the title into the body."""
    store = store_of("full jitter", "jitter", "full jitter and redis")

    assert [True, False, False] == [
        judge_of(store, ("full jitter",), ("redis",)).passes(n) for n in range(3)
    ]
    assert judge_of(store, ("no. 1",)).passes(1)
    assert not judge_of(store, ("1 jitter",)).passes(1)
    assert not judge_of(store, (), ("no. 0",)).passes(0)


def test_a_text_is_read_once_for_a_pattern() -> None:
    """Over searches: a row version's text never changes."""
    store, verdicts = store_of("full jitter", "jitter"), Verdicts()
    for _ in range(3):
        judge = judge_of(store, ("full jitter",), (), verdicts)
        assert [0] == judge.proven(asking([0, 1]), 5).rows.tolist()

    assert 2 == store.reads


def test_nothing_is_read_where_nothing_is_to_be_judged() -> None:
    """Plain words cost no text."""
    store = store_of("a", "b")

    assert [0, 1] == judge_of(store).proven(asking([0, 1]), 5).rows.tolist()
    assert 0 == store.reads


def test_of_a_common_phrase_few_texts_are_read() -> None:
    """Those of the first hits."""
    store = store_of(*["the queue"] * 500)
    proven = judge_of(store, ("queue",)).proven(asking(list(range(500))), 30)

    assert list(range(30)) == proven.rows.tolist()
    assert 30 == store.reads


def test_rows_that_cannot_hold_a_pattern_are_not_read() -> None:
    """An excluded word that no row has costs nothing."""
    store = store_of("queue", "redis", "redis")
    mask = np.array([False, True, False])
    judge = Judge(
        [], [Pattern("redis")], view=store, verdicts=Verdicts(), size=3, may_hold=lambda _: mask
    )

    assert [True, False, True] == [judge.passes(n) for n in range(3)]
    assert 1 == store.reads


def test_a_row_that_is_gone_does_not_pass() -> None:
    """And is asked for again, should it come back."""
    store, verdicts = store_of("queue"), Verdicts()
    body, row = store.bodies.pop(0), store.rows.pop(0)
    judge = Judge([Pattern("queue")], [], view=store, verdicts=verdicts, size=1)
    assert not judge.passes(0)
    store.bodies[0], store.rows[0] = body, row

    assert judge.passes(0)


def test_verdicts_grow_with_the_index_and_are_limited() -> None:
    """What was known stays known; the oldest patterns are forgotten."""
    verdicts = Verdicts()
    verdicts.of(Pattern("a"), 10)[3] = 1

    assert 1 == verdicts.of(Pattern("a"), 10_000)[3]
    assert len(verdicts.of(Pattern("a"), 10_000)) >= 10_000
    for n in range(KEPT_PATTERNS):
        verdicts.of(Pattern(f"p{n}"), 1)
    assert 0 == verdicts.of(Pattern("a"), 10)[3]


bodies_of = st.sampled_from(["full jitter", "jitter full", "full jitter redis", "redis"])


@given(st.lists(bodies_of, max_size=40), st.integers(1, 12), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_proven_hits_are_the_first_that_pass(
    bodies: list[str], n: int, phrase: bool, exclusion: bool
) -> None:
    """Exact, however many fall through."""
    store = store_of(*bodies)
    judge = judge_of(store, ("full jitter",) if phrase else (), ("redis",) if exclusion else ())
    expected = [
        number
        for number, body in enumerate(bodies)
        if (not phrase or "full jitter" in body) and (not exclusion or "redis" not in body)
    ]

    proven = judge.proven(asking(list(range(len(bodies)))), n)

    assert expected[:n] == proven.rows.tolist()
