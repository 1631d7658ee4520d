from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.corpus import Corpus
from twolaned.search.suggest import KEY, RECENT, STEP, Suggester, SuggestionKind

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
        snapshot = corpus.snapshot()
        while suggester.is_behind(snapshot):
            suggester.follow(snapshot)
        found = suggester.suggest(snapshot, prefix, limit)
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


def test_a_prefix_longer_than_what_is_sorted_is_compared_with_the_title(
    corpus: Corpus, ask: Ask
) -> None:
    begin = "Überlänge in allen Bereichen der Verwaltung"
    for end in ("von gestern", "von heute"):
        corpus.add("x", title=f"{begin} {end}")

    titles = {kept: f"{begin} von {kept}" for kept in ("gestern", "heute")}
    assert ask(f"{begin} von h")[-1:] == [("title", titles["heute"])]
    assert ask(f"{begin[10:]} VON ges")[-1:] == [("title", titles["gestern"])]
    assert {text for kind, text in ask(f"{begin} ") if kind == "title"} == set(titles.values())
    assert ask(f"{begin} von x") == []


@pytest.mark.parametrize("length", [KEY - 1, KEY, KEY + 1])
def test_a_word_as_long_as_what_is_sorted_is_found(corpus: Corpus, ask: Ask, length: int) -> None:
    word = "y" * length
    corpus.add("x", title=f"{word}zz")

    assert ask(word) == [("word", f"{word}zz"), ("title", f"{word}zz")]
    assert ask("y" * (KEY + 5)) == []


def test_the_same_title_is_suggested_once(corpus: Corpus, ask: Ask) -> None:
    for _ in range(3):
        corpus.add("x", title="Kept twice")

    assert ask("kept") == [("title", "Kept twice")]


def test_rows_are_read_in_steps(corpus: Corpus) -> None:
    for number in range(STEP):
        corpus.add("x", title=f"Quorum {number}")
    snapshot, suggester = corpus.snapshot(), Suggester()

    suggester.follow(snapshot)
    assert suggester.is_behind(snapshot)
    assert suggester.suggest(snapshot, "Queue des", 8)
    suggester.follow(snapshot)
    assert not suggester.is_behind(snapshot)


@given(st.text(max_size=20), st.integers(1, 10))
def test_no_prefix_fails(prefix: str, limit: int) -> None:
    corpus = Corpus()
    for title in TITLES:
        corpus.add("body", title=title)
    suggester = Suggester()
    suggester.follow(corpus.snapshot())
    found = suggester.suggest(corpus.snapshot(), prefix, limit)
    assert len(found) <= limit
    assert all(s.row_id for s in found if s.kind is SuggestionKind.TITLE)
