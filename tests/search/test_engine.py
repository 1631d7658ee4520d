from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import pytest

from tests.search.corpus import Corpus
from tests.search.world import DAY, NOW
from twolaned.config.settings import RankingSettings
from twolaned.model.errors import InvalidInput
from twolaned.model.query import Filters, RankingDate, Scope, SearchQuery, Similarity
from twolaned.model.result import FoundBy, LaneReceipt, SearchMode, SourceLag
from twolaned.model.row import Passage, PassageKind, Quality, RowKind, Tier
from twolaned.model.source import Source, SourceScope


@pytest.fixture
def corpus() -> Corpus:
    return Corpus()


def test_words_are_alternatives_and_rarer_ones_count_more(corpus: Corpus) -> None:
    """A row with one of the words is found; one with the rarer word comes first."""
    for n in range(5):
        corpus.add("the harbour is closed today", id=f"common-{n}")
    corpus.add("the ledger is closed today", id="rare")

    found = corpus.ids("harbour ledger")

    assert "rare" == found[0]
    assert 6 == len(found)


def test_explain_tells_the_terms_of_the_score(corpus: Corpus) -> None:
    """They add up to the score, in float64."""
    corpus.add("queue queue", quality=Quality.HIGH, indexed_at=NOW - 7 * DAY)
    corpus.add("queue and something else", tier=Tier.COLD)
    best, second = corpus.search("queue", explain=True).results
    parts = best.parts
    assert parts is not None
    assert second.parts is not None

    assert 1.0 == parts.similarity
    assert 1.0 == parts.quality
    assert 0.7 == second.parts.tier
    assert pytest.approx(second.parts.bm25 / parts.bm25) == second.parts.similarity  # type: ignore[operator]
    assert None is parts.cosine
    assert best.score == pytest.approx(
        0.55 + 0.10 / 1.07 + 0.10 + 0.10 + 0.10 + 0.05 + 0.05 * 2.718281828459045**-0.5,
        rel=0, abs=1e-9,
    )  # fmt: skip
    assert FoundBy.KEYWORD is best.found_by
    assert None is corpus.search("queue").results[0].parts


def test_equal_scores_are_ordered_by_id(corpus: Corpus) -> None:
    """Of more rows than a lane returns, those with the smallest ids are the ones."""
    for n in range(60):
        corpus.add("same words", id=f"id-{(n * 37) % 60:02}")

    assert [f"id-{n:02}" for n in range(10)] == corpus.ids("words")


def test_the_ranking_date_may_be_the_rows_own() -> None:
    """Then an export of old chats does not look new."""
    for date, days in ((RankingDate.INDEXED, 0.0), (RankingDate.OCCURRED, 100.0)):
        corpus = Corpus(ranking=RankingSettings(date=date))
        corpus.add("queue", occurred_at=NOW - 100 * DAY)
        answer = corpus.search("queue", explain=True)
        parts = answer.results[0].parts

        assert parts is not None
        assert 1 / (1 + 0.01 * days) == parts.recency
        assert date is answer.receipt.ranking_date


def test_quoted_words_must_occur_as_a_phrase(corpus: Corpus) -> None:
    """In the body or the title, over line breaks, without regard to case and accents."""
    corpus.add("retry with full\n   Jitter, always", id="body")
    corpus.add("jitter that is full", id="words")
    corpus.add("we retry", id="title", title="Full jitter")
    corpus.add("full jitters", id="longer")
    corpus.add("FULL JITTÉR", id="loud")

    assert {"body", "title", "loud"} == set(corpus.ids('retry "full jitter"'))
    assert {"body", "title"} == set(corpus.ids('retry "full jitter" "RETRY"'))
    assert [] == corpus.ids('"full jitter is"')


def test_excluded_words_and_phrases_judge_the_whole_row() -> None:
    """Also where they stand in another passage than the one that was found."""
    corpus = Corpus(passage=20)
    corpus.add("we keep the queue. " * 3 + "and redis besides", id="redis")
    corpus.add("we keep the queue", id="plain")
    corpus.add("we keep the queue", id="title", title="Redis or not")
    corpus.add("we keep the queue of rediscovered things", id="longer")

    assert {"plain", "longer"} == set(corpus.ids("queue -redis"))
    assert {"plain"} == set(corpus.ids("queue -redis*"))
    assert {"redis", "plain", "longer"} == set(corpus.ids('queue -"redis or not"'))


def test_exclusion_looks_past_any_number_of_rows() -> None:
    """Hits that fall through leave their places to those behind them."""
    corpus = Corpus()
    for n in range(300):
        corpus.add(f"queue queue broken {n}", id=f"a{n}")
    for n in range(5):
        corpus.add(f"queue and {n} some more words around it", id=f"b{n}")

    assert {f"b{n}" for n in range(5)} == set(corpus.ids("queue -broken"))


def test_a_prefix_stands_for_its_endings(corpus: Corpus) -> None:
    """Also where the terms are stems, which are shorter than what was typed."""
    corpus.add("the configuration", id="long")
    corpus.add("conf", id="short")
    corpus.add("deployment", id="stem")
    corpus.add("universities", id="stem2")
    corpus.add("con", id="none")

    assert {"long", "short"} == set(corpus.ids("conf*"))
    assert ["stem"] == corpus.ids("deployme*")
    assert ["stem2"] == corpus.ids("universitie*")
    assert [] == corpus.ids("zzz*")


def test_filters_in_the_query(corpus: Corpus) -> None:
    """Source, path and dates narrow what the words find."""
    corpus.add("queue", id="a", source="grok", occurred_at=NOW - 10 * DAY)
    corpus.add("queue too", id="b", source="ChatGPT", occurred_at=NOW)
    corpus.add("queue here", document=("/home/x", "docs/q.md"), occurred_at=NOW)

    assert ["b"] == corpus.ids("queue source:chatgpt")
    assert {"a", "b"} == set(corpus.ids("queue source:chatgpt source:GROK"))
    assert ["/home/x:docs/q.md"] == corpus.ids("queue path:docs")
    assert ["a"] == corpus.ids("queue before:3d")
    assert {"b"} == set(corpus.ids("queue after:3d -here"))
    assert ["b"] == corpus.ids("queue source:chatgpt", filters=Filters(since=NOW))
    assert [] == corpus.ids("queue source:chatgpt", filters=Filters(sources=("grok",)))


def test_filters_alone_list_the_newest(corpus: Corpus) -> None:
    """Scored and explained all the same; equal times in order of id."""
    corpus.add("one", id="c", occurred_at=NOW - 3 * DAY)
    corpus.add("two", id="b", indexed_at=NOW - DAY, quality=Quality.LOW)
    corpus.add("three", id="a", occurred_at=NOW - DAY, indexed_at=NOW)
    corpus.add("four", id="d", source="grok")
    answer = corpus.search("source:chatgpt", explain=True)

    assert ["a", "b", "c"] == [r.id for r in answer.results]
    assert SearchMode.LEXICAL is answer.receipt.mode
    parts = answer.results[1].parts
    assert parts is not None
    assert (0.0, 0.4, None) == (parts.similarity, parts.quality, parts.bm25)
    assert not answer.receipt.lanes[0].ran
    assert ["d"] == corpus.ids("", filters=Filters(sources=("grok",)))
    assert {"a", "d"} == set(corpus.ids("-two -one"))


@pytest.mark.parametrize("query", ["", "  ", '""', "( ) * ^ : @ # =", "-", "***", '"?"'])
def test_an_empty_query_has_an_empty_answer(corpus: Corpus, query: str) -> None:
    """So has one of signs only."""
    corpus.add("one")
    answer = corpus.search(query)

    assert () == answer.results
    assert answer.final
    assert 1 == answer.receipt.rows_in_reach


def test_a_query_of_stop_words_keeps_them(corpus: Corpus) -> None:
    """In any other query they do not count."""
    corpus.add("to be or not to be", id="hamlet")
    corpus.add("deadlock", id="deadlock")

    assert ["hamlet"] == corpus.ids("to be or not to be")
    assert ["deadlock"] == corpus.ids("to be or deadlock")


def test_copies_fold_and_reports_stand_behind(corpus: Corpus) -> None:
    """Before the list is cut."""
    corpus.add("queue queue queue", document=("/r", "gen.md"), generated=True)
    same = b"the same text in both"
    corpus.add("the queue", id="b-copy", text_hash=same)
    corpus.add("the queue", id="a-copy", text_hash=same, source="claude-ai")
    corpus.add("a queue, copied by hand", id="c-copy", copy_of="b-copy")
    corpus.add("some other queue entirely", id="other")
    answer = corpus.search("queue", top_k=2)

    assert ["a-copy", "other"] == [r.id for r in answer.results]
    assert (2, {"b-copy", "c-copy"}) == (
        answer.results[0].duplicate_count, set(answer.results[0].duplicate_ids)
    )  # fmt: skip
    assert ["/r:gen.md"] == [r.id for r in corpus.search("queue", top_k=3).results[2:]]
    assert corpus.search("queue", top_k=3).results[2].generated


def test_the_archive_is_in_reach_without_meaning(corpus: Corpus) -> None:
    """Search by meaning is off, so one pass covers everything."""
    corpus.add("old queue", id="old", tier=Tier.COLD)
    receipt = corpus.search("queue").receipt

    assert ["old"] == corpus.ids("queue")
    assert tuple(Tier) == receipt.tiers_searched
    assert not receipt.second_pass


def test_the_receipt(corpus: Corpus) -> None:
    """What ran, what was in reach, and how far the folders lag."""
    corpus.sources = (
        Source(id="r-1", path="/r", last_scanned_at=5),
        Source(id="s-1", path="/s", scope=SourceScope.CLIENT, client_name="Acme"),
    )
    corpus.add("queue", document=("/r", "a.md"))
    corpus.add("queue")
    receipt = corpus.search("queue", similarity=Similarity.BLEND).receipt
    keyword, meaning = receipt.lanes

    assert ("keyword", True, 2, "") == (
        keyword.name, keyword.ran, keyword.candidates, keyword.skipped_because
    )  # fmt: skip
    assert keyword.took_us > 0
    assert LaneReceipt(name="meaning", ran=False, skipped_because="off") == meaning
    assert (corpus.generation, 2, Similarity.BLEND) == (
        receipt.index_generation, receipt.rows_in_reach, receipt.similarity
    )  # fmt: skip
    assert (
        SourceLag(source="r-1", last_scanned_at=5),
        SourceLag(source="s-1", last_scanned_at=None),
    ) == receipt.lags
    assert not receipt.degraded
    only = corpus.search("queue", filters=Filters(scope=Scope.CLIENTS)).receipt
    assert ((Tier.DOCUMENT,), 0) == (only.tiers_searched, only.rows_in_reach)
    assert ["s-1"] == [lag.source for lag in only.lags]
    assert () == corpus.search("queue source:chatgpt").receipt.lags
    assert () == corpus.search("queue", filters=Filters(domain="x")).receipt.lags


def test_took_counts_from_the_calls_arrival(corpus: Corpus) -> None:
    """Time that it waited for its turn is the person's time too."""
    corpus.add("queue")
    query = SearchQuery(query="queue")
    answer = corpus.engine.search(corpus.snapshot(), query, arrived=time.monotonic() - 2)

    assert 2_000_000 <= answer.receipt.took_us < 60_000_000


def test_read_as_text_is_told(corpus: Corpus) -> None:
    """What looks like a filter and is none ranks as words."""
    corpus.add("error and timeout", id="a")
    answer = corpus.search("error:timeout after:someday")

    assert ("error:timeout", "after:someday") == answer.ignored
    assert ["a"] == [r.id for r in answer.results]


def test_a_project_narrows_documents_and_strictly_everything(
    corpus: Corpus, tmp_path: Path
) -> None:
    """The wall holds in results and in counts."""
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    shop = f"{tmp_path}/shop"
    corpus.add("queue", document=(str(tmp_path), "shop/a.md"))
    corpus.add("queue", document=(str(tmp_path), "other/b.md"))
    corpus.add("queue", id="here", cwd=f"{shop}/src")
    corpus.add("the queue", id="elsewhere", cwd=f"{tmp_path}/other")
    corpus.add("a queue", id="nowhere")

    loose = corpus.search("queue", cwd=f"{shop}/src")
    strict = corpus.search("queue", cwd=f"{shop}/src", strict_project=True)

    assert {"here", "elsewhere", "nowhere", f"{tmp_path}:shop/a.md"} == {
        r.id for r in loose.results
    }
    assert {"here", f"{tmp_path}:shop/a.md"} == {r.id for r in strict.results}
    assert (4, 2) == (loose.receipt.rows_in_reach, strict.receipt.rows_in_reach)


def test_a_row_that_is_gone_leaves_its_place(corpus: Corpus) -> None:
    """The store may be a little ahead of the snapshot."""
    corpus.add("queue queue", id="a")
    corpus.add("the queue", id="b")
    snapshot = corpus.snapshot()
    corpus.store.remove("a")

    for text in ("queue", '"queue"', "queue -x"):
        answer = corpus.engine.search(snapshot, SearchQuery(query=text, top_k=1))
        assert ["b"] == [r.id for r in answer.results]


def test_what_is_shown_of_a_row(corpus: Corpus) -> None:
    """The best passage, and where it stands."""
    before, passage, behind = "x " * 25, "Ünïcode queue stands in this passage. ", "y " * 10
    size = len(passage.encode())
    corpus.add(
        before + passage + behind,
        passages=(Passage(0, 50), Passage(50, size), Passage(50 + size, 20)),
        title="A title", summary="What it was about.", project="p", occurred_at=3, id="a",
    )  # fmt: skip
    result = corpus.search("queue").results[0]
    shown = result.snippet

    assert (50, size) == (result.passage_offset, result.passage_length)
    assert PassageKind.PRIMARY is result.passage_kind
    assert passage.strip() == shown.text
    assert ["queue"] == [shown.text[m.start : m.end] for m in shown.matches]
    body = corpus.store.body_bytes(1)
    assert body[shown.offset : shown.offset + shown.length].decode() == shown.text
    assert ("What it was about.", "A title", "p", 3) == (
        result.summary, result.title, result.project, result.occurred_at
    )  # fmt: skip
    assert len(body) == result.content_bytes
    assert "conversation:a" == result.evidence_key
    assert 20 < result.token_estimate < 60


def test_a_row_without_text_is_shown_by_its_title(corpus: Corpus) -> None:
    """Its snippet covers no byte of the body."""
    corpus.add("", title="Which queue?", passages=(Passage(0, 0, "", PassageKind.OFF_BRANCH),))
    result = corpus.search("queue").results[0]

    assert ("Which queue?", 0) == (result.snippet.text, result.snippet.length)
    assert ("queue", PassageKind.OFF_BRANCH) == (
        result.snippet.text[6:11], result.passage_kind
    )  # fmt: skip
    assert 1 == len(result.snippet.matches)


@pytest.mark.parametrize(
    ("field", "query"),
    [
        ("query", SearchQuery(query="x" * 8_193)),
        ("top_k", SearchQuery(query="x", top_k=0)),
        ("top_k", SearchQuery(query="x", top_k=201)),
        ("cwd", SearchQuery(query="x", strict_project=True)),
        ("cwd", SearchQuery(query="x", cwd="relative")),
        ("cwd", SearchQuery(query="x", cwd="/nul\0")),
        ("filters.before", SearchQuery(query="x", filters=Filters(since=2, before=2))),
    ],
)
def test_limits(corpus: Corpus, field: str, query: SearchQuery) -> None:
    """What cannot be served names its field."""
    with pytest.raises(InvalidInput) as refused:
        corpus.engine.search(corpus.snapshot(), query)

    assert field == refused.value.field


def test_the_longest_query_is_served(corpus: Corpus) -> None:
    """With the most results that can be asked for."""
    corpus.add("w12 w13")
    text = " ".join(f"w{n}" for n in range(1_700))[:8_192]

    assert 1 == len(corpus.ids(text, top_k=200))


def test_digests_belong_to_conversations(corpus: Corpus) -> None:
    """A digest weighs more than a conversation of the same text."""
    corpus.add("queue", id="talk", quality=Quality.HIGH)
    corpus.add("queue", id="digest", kind=RowKind.DIGEST)
    corpus.add("queue", document=("/r", "d.md"))
    conversations = Filters(scope=Scope.CONVERSATIONS)

    assert ["digest", "talk"] == corpus.ids("queue", filters=conversations)
    assert ["/r:d.md"] == corpus.ids("queue", filters=Filters(scope=Scope.DOCUMENTS))


def test_answers_are_plain_values(corpus: Corpus) -> None:
    """No numpy number leaks into what other rooms turn into messages."""
    corpus.add("queue", document=("/r", "d.md"))
    answer = dataclasses.asdict(corpus.search("queue", explain=True))

    def kinds(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set().union(*(kinds(v) for v in value.values()))
        if isinstance(value, list | tuple):
            return set().union(*(kinds(v) for v in value)) if value else set()
        return {type(value).__module__}

    assert not any(module.startswith("numpy") for module in kinds(answer))
