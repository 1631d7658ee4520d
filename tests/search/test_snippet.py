from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.keyword.analyzer import analyze_query
from twolaned.model.result import Snippet
from twolaned.search import words
from twolaned.search.marking import Marker
from twolaned.search.snippet import SNIPPET, cut_snippet, title_snippet


def cut(passage: str, query: str) -> Snippet:
    return cut_snippet(passage, Marker(analyze_query(query)), offset=100)


def matches(snippet: Snippet) -> list[str]:
    return [snippet.text[span.start : span.end] for span in snippet.matches]


def test_a_short_passage_is_shown_whole() -> None:
    """With its matches, and where it stands in the body."""
    snippet = cut(" The queue: Ünïcode queues.\n", "queue")

    assert "The queue: Ünïcode queues." == snippet.text
    assert ["queue", "queues"] == matches(snippet)
    assert (101, len("The queue: Ünïcode queues.".encode())) == (snippet.offset, snippet.length)


def test_the_densest_stretch_is_shown() -> None:
    """The one with the most different words, however often another one occurs."""
    filler = "nothing to see here " * 40
    passage = f"{filler}retry retry retry retry {filler}a queue with a retry {filler}"
    snippet = cut(passage, "queue retry")

    assert ["queue", "retry"] == matches(snippet)
    assert len(snippet.text) <= SNIPPET


def test_the_first_of_equal_stretches_is_shown() -> None:
    """A reader begins at the start."""
    filler = "nothing to see here " * 40
    snippet = cut(f"first queue {filler}second queue {filler}", "queue")

    assert snippet.text.startswith("first queue")


def test_without_matches_the_start_is_shown() -> None:
    """The words were found in the title, then."""
    snippet = cut("word " * 200, "queue")

    assert ("word " * 80).strip() == snippet.text
    assert () == snippet.matches
    assert 100 == snippet.offset


def test_cuts_fall_between_words() -> None:
    """On both sides of the matches."""
    passage = " ".join(f"word{i}" for i in range(300)) + " queue " + "other " * 200
    snippet = cut(passage, "queue")

    assert set(snippet.text.split()) <= set(passage.split())
    assert 300 < len(snippet.text) <= SNIPPET


def test_overlapping_marks_are_one_span() -> None:
    """Pairs of Chinese characters run together."""
    assert ["悬空引用"] == matches(cut("50条悬空引用清零", "悬空引用"))


def test_a_match_longer_than_a_snippet_is_cut() -> None:
    """There is no place between words in it."""
    snippet = cut("x " + "引用" * 300, "引用")

    assert len(snippet.text) <= SNIPPET
    assert snippet.matches


def test_a_title_stands_for_a_row_without_text() -> None:
    """It covers no bytes of the body."""
    snippet = title_snippet("Which queue?", Marker(analyze_query("queue")))

    assert ("Which queue?", ["queue"]) == (snippet.text, matches(snippet))
    assert (0, 0) == (snippet.offset, snippet.length)


pieces = st.sampled_from(
    [
        *("queue ", "retry", " ", "\n\n", "word ", "longerword ", "x" * 90),
        *("引用悬空", "é", "e\u0301", "👨‍👩‍👧"),
    ]
)


@given(st.lists(pieces, max_size=150).map("".join), st.sampled_from(["queue retry", "引用", "no"]))
@settings(max_examples=300, deadline=None)
def test_any_snippet(passage: str, query: str) -> None:
    """At most 400 characters, whole characters, the bytes that it says, matches that are there."""
    snippet = cut(passage, query)
    body = b"." * 100 + passage.encode()

    assert len(snippet.text) <= SNIPPET
    assert body[snippet.offset : snippet.offset + snippet.length].decode() == snippet.text
    start = len(body[100 : snippet.offset].decode())
    end = start + len(snippet.text)
    if snippet.text:
        assert words.is_grapheme_border(passage, start)
        assert words.is_grapheme_border(passage, end)
    if " " in snippet.text and "x" * 90 not in passage:
        assert words.is_word_border(passage, start)
        assert words.is_word_border(passage, end)
    places = [(span.start, span.end) for span in snippet.matches]
    assert places == sorted(places)
    assert all(0 <= a < b <= len(snippet.text) for a, b in places)
    assert all(b <= c for (_, b), (c, _) in pairwise(places))
