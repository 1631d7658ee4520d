"""Both lanes together: what is found, how it is marked and scored, and what the receipt says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.corpus import Corpus
from tests.search.world import DAY, NOW
from twolaned.lanes.meaning import MeaningIndex
from twolaned.model.embedding import EmbeddingFailure, FailureReason
from twolaned.model.query import SearchQuery, Similarity
from twolaned.model.result import FoundBy, SearchAnswer, SearchMode
from twolaned.model.row import Quality, Tier
from twolaned.search import score
from twolaned.search.question import NO_TEXT, NOT_YET, MeaningQuestion

SPACE = "test"
LATE = EmbeddingFailure(FailureReason.TIMEOUT, "Test did not embed the question within 1.5 s.")


class TwoLanes:
    """A corpus whose rows have a vector each: at the cosine that is asked for to the question."""

    def __init__(self, **options: Any) -> None:
        self.corpus = Corpus(**options)
        self.index = MeaningIndex.empty()

    def add(self, body: str, cosine: float | None = None, **fields: Any) -> str:
        row_id = self.corpus.add(body, quality=Quality.MEDIUM, **fields)
        if cosine is not None:
            number = np.array([self.corpus.store.live[row_id]], np.uint32)
            side = 1 if number[0] % 2 else -1
            vector = np.array([[cosine, side * np.sqrt(1 - cosine * cosine)]], np.float32)
            self.index = self.index.with_rows(SPACE, number, np.zeros(1, np.uint32), vector, 2)
        return row_id

    def ask(
        self, query: str, meaning: MeaningQuestion | None = None, **arguments: Any
    ) -> SearchAnswer:
        snapshot = replace(self.corpus.snapshot(), meaning=self.index)
        asked = MeaningQuestion({SPACE: np.array([1.0, 0.0])}) if meaning is None else meaning
        return self.corpus.engine.search(
            snapshot, SearchQuery(query=query, **arguments), meaning=asked
        )


def test_each_lane_finds_what_the_other_does_not() -> None:
    """And says which one it was."""
    lanes = TwoLanes()
    both = lanes.add("ferry queue", 0.9)
    words = lanes.add("ferry timetable")
    sense = lanes.add("boats wait in line", 0.8)
    answer = lanes.ask("ferry")

    assert {both: FoundBy.HYBRID, words: FoundBy.KEYWORD, sense: FoundBy.VECTOR} == {
        result.id: result.found_by for result in answer.results
    }
    keyword, meaning = answer.receipt.lanes
    assert (True, 2, True, 2) == (keyword.ran, keyword.candidates, meaning.ran, meaning.candidates)
    assert (SearchMode.HYBRID, False) == (answer.receipt.mode, answer.receipt.degraded)


def test_words_and_vectors_are_scored_as_the_rules_say() -> None:
    """Keyword shares are on the scale of the best cosine; the larger similarity counts."""
    lanes = TwoLanes()
    lanes.add("ferry ferry ferry queue", 0.5)
    lanes.add("ferry and so on and on and on", 0.8)
    lanes.add("harbour", 0.3)
    parts = {r.title: r.parts for r in lanes.ask("ferry", explain=True).results}
    (first, second, third) = (parts[f"Title {n}"] for n in (1, 2, 3))
    assert first
    assert second
    assert third

    best = max(first.bm25 or 0, second.bm25 or 0)
    assert first.similarity == pytest.approx((first.bm25 or 0) / best * 0.8)
    assert second.similarity == pytest.approx(0.8)
    assert third.similarity == pytest.approx(0.3)
    assert (1.3, 1.3, 1.0) == tuple(p.found_both_ways for p in (first, second, third))


def test_blending_uses_the_cosine_of_rows_that_the_words_found() -> None:
    """A row beyond the meaning lane's list still has its cosine counted."""
    lanes = TwoLanes()
    word = lanes.add("ferry", 0.58)
    for n in range(40):
        lanes.add(f"other {n}", 0.5 + n / 100)
    answer = lanes.ask("ferry", similarity=Similarity.BLEND, explain=True, top_k=10)
    (found,) = [r for r in answer.results if r.id == word]
    assert found.parts is not None
    mean = lanes.index.spaces[0].mean_cosine
    raised = (0.58 - mean) / (0.89 - mean)

    assert 0 < mean < 0.58
    assert FoundBy.KEYWORD is found.found_by
    assert found.parts.similarity == pytest.approx((0.4 * raised + 0.6) * 0.89, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["ferry", "ferry queue", "boat", "boat queue", "ferry boat x y z"]),
            st.none() | st.integers(-9, 9),
            st.integers(0, 200),
            st.sampled_from([Tier.HOT, Tier.COLD]),
        ),
        max_size=25,
    ),
    query=st.sampled_from(["ferry", "queue boat", '"ferry queue"', "ferry -queue", "nothing"]),
)
def test_the_order_is_that_of_the_formula_over_both_lists(
    rows: list[tuple[str, int | None, int, Tier]], query: str
) -> None:
    """Whatever is there, the answer equals scoring all rows that either lane may find."""
    lanes = TwoLanes()
    facts = {}
    for body, cosine, days, tier in rows:
        value = None if cosine is None else cosine / 10
        row = lanes.add(body, value, tier=tier, indexed_at=NOW - days * DAY)
        facts[row] = (value, days, tier)
    answer = lanes.ask(query, explain=True, top_k=200)

    found = [r.id for r in answer.results]
    tiers = set(answer.receipt.tiers_searched)
    for result in answer.results:
        cosine, days, tier = facts[result.id]
        assert tier in tiers
        assert result.parts is not None
        if cosine is not None:
            assert result.parts.cosine == pytest.approx(cosine, abs=1e-6)
        similarity = result.parts.similarity
        total = (
            0.55 * similarity
            + 0.10 / (1 + 0.01 * days)
            + 0.07
            + 0.10 * (1.0 if tier is Tier.HOT else 0.7)
            + 0.10
            + 0.05 * (1.3 if result.found_by is FoundBy.HYBRID else 1.0)
            + 0.05 * float(score.freshness(np.array([float(days)]))[0])
        )
        assert result.score == pytest.approx(total, abs=1e-6)
    assert sorted(answer.results, key=lambda r: (-r.score, r.id)) == list(answer.results)
    if query == "ferry":
        wanted = {i for i, (c, _, t) in facts.items() if c is not None and t in tiers}
        assert wanted <= set(found)
    if query == "ferry -queue":
        assert not any(
            "queue" in lanes.corpus.store.bodies[lanes.corpus.store.live[i]].decode() for i in found
        )


def test_the_archive_is_searched_where_the_first_pass_is_weak() -> None:
    """With search by meaning on, what is cold is left alone as long as something good is there."""
    lanes = TwoLanes()
    lanes.add("ferry", 0.9)
    cold = lanes.add("ferry from long ago", 0.95, tier=Tier.COLD)
    good = lanes.ask("ferry")
    lanes.corpus.remove("chatgpt:0001")
    lanes.index = lanes.index.with_dead(np.array([1], np.uint32))
    weak = lanes.ask("ferry")

    assert cold not in [r.id for r in good.results]
    assert not good.receipt.second_pass
    assert ([cold], True) == ([r.id for r in weak.results], weak.receipt.second_pass)


def test_an_answer_without_the_questions_vector_says_so() -> None:
    """It is the keyword answer, still hybrid by mode, with the reason."""
    lanes = TwoLanes()
    word = lanes.add("ferry", 0.9)
    lanes.add("boat", 0.9)
    answer = lanes.ask("ferry", MeaningQuestion(failure=LATE))
    receipt = answer.receipt

    assert [word] == [r.id for r in answer.results]
    assert (SearchMode.HYBRID, True, "timeout") == (
        receipt.mode,
        receipt.degraded,
        receipt.degraded_reason,
    )
    assert LATE.message == receipt.degraded_message
    assert (False, "timeout") == (receipt.lanes[1].ran, receipt.lanes[1].skipped_because)
    assert answer.final


def test_a_first_answer_is_not_the_last_one_and_not_degraded() -> None:
    """It goes out while the question is still being embedded."""
    lanes = TwoLanes()
    lanes.add("ferry", 0.9)
    answer = lanes.ask("ferry", NOT_YET)

    assert (False, False, "pending") == (
        answer.final,
        answer.receipt.degraded,
        answer.receipt.lanes[1].skipped_because,
    )


def test_a_query_of_filters_alone_embeds_nothing() -> None:
    """It lists rows by date, in hybrid mode too, and is not degraded."""
    lanes = TwoLanes()
    lanes.add("ferry", 0.9)
    answer = lanes.ask("source:chatgpt", NO_TEXT)

    assert (1, False, "no words") == (
        len(answer.results),
        answer.receipt.degraded,
        answer.receipt.lanes[1].skipped_because,
    )
    assert "" == lanes.corpus.engine.text_to_embed(SearchQuery(query="source:chatgpt"))
    assert "ferry queue" == lanes.corpus.engine.text_to_embed(
        SearchQuery(query='source:chatgpt ferry "queue" -boat')
    )


def test_filters_bind_the_meaning_lane() -> None:
    """Before it picks its best, so that what is filtered out takes no place."""
    lanes = TwoLanes()
    for n in range(60):
        lanes.add(f"other {n}", 0.9)
    mine = lanes.add("mine", 0.1, source="claude-code")

    assert [mine] == [r.id for r in lanes.ask("words source:claude-code").results]
