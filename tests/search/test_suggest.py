from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.corpus import Corpus
from twolaned.search.suggest import RECENT, Suggester, SuggestionKind

TITLES = (
    "Postgres as a queue",
    "Queue design for bookings",
    "Why Redis lost jobs",
    "Querying JSON in Postgres",
    "語の検索",
)

Ask = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def corpus() -> Corpus:
    corpus = Corpus()
    for number, title in enumerate(TITLES):
        corpus.add(f"body {number}", title=title)
    return corpus


@pytest.fixture
def ask(corpus: Corpus) -> Ask:
    suggester = Suggester()

    def ask(prefix: str, limit: int = 8) -> list[tuple[str, str]]:
        found = suggester.suggest(corpus.snapshot(), prefix, limit)
        return [(s.kind.value, s.text) for s in found]

    return ask


def test_words_come_first_then_the_newest_titles(ask: Ask) -> None:
    assert ask("que") == [
        ("word", "queue"),
        ("word", "querying"),
        ("title", "Querying JSON in Postgres"),
        ("title", "Queue design for bookings"),
        ("title", "Postgres as a queue"),
    ]


def test_a_title_may_be_typed_from_any_of_its_words(ask: Ask) -> None:
    assert ask("REDIS lo") == [("word", "REDIS lost"), ("title", "Why Redis lost jobs")]
    assert ask("json ") == [("title", "Querying JSON in Postgres")]
    assert ask("検索") == []
    assert ask("語") == [("word", "語の検索"), ("title", "語の検索")]


def test_what_was_typed_before_is_kept(ask: Ask) -> None:
    assert ask("my own boo") == [
        ("word", "my own bookings"),
        ("title", "Queue design for bookings"),
    ]


def test_nothing_is_suggested_for_nothing(ask: Ask) -> None:
    assert ask("") == ask("   ") == ask("zzz") == []


def test_the_limit_holds(ask: Ask) -> None:
    assert len(ask("q", 3)) == 3
    assert len(ask("q", 1)) == 1


def test_rows_that_came_and_went_are_followed(corpus: Corpus, ask: Ask) -> None:
    gone = corpus.add("x", title="Quay walls")
    assert ("title", "Quay walls") in ask("quay")
    corpus.remove(gone)
    assert ask("quay") == []
    for number in range(RECENT + 5):
        corpus.add("x", title=f"Quorum {number}")
    assert ("word", "quorum") in ask("quo")
    assert ("title", "Postgres as a queue") in ask("queue")


@given(st.text(max_size=20), st.integers(1, 10))
def test_no_prefix_fails(prefix: str, limit: int) -> None:
    corpus = Corpus()
    for title in TITLES:
        corpus.add("body", title=title)
    found = Suggester().suggest(corpus.snapshot(), prefix, limit)
    assert len(found) <= limit
    assert all(s.row_id for s in found if s.kind is SuggestionKind.TITLE)
