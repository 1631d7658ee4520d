from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.keyword.analyzer import analyze, analyze_query, fold
from twolaned.search.folded_text import FoldedText
from twolaned.search.marking import Marker
from twolaned.search.patterns import Pattern


def marked(text: str, query: str, *, prefixes: tuple[str, ...] = (), phrase: str = "") -> list[str]:
    pattern = Pattern.of(phrase)
    marker = Marker(analyze_query(query), prefixes, [pattern] if pattern else [])
    return [text[mark.start : mark.end] for mark in marker.marks(text)]


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("We deploy; deployment is deployed.", "deploying", ["deploy", "deployment", "deployed"]),
        ("The queues, a Queue", "queue", ["queues", "Queue"]),
        ("class AppConfig: app_config", "config", ["AppConfig", "app_config"]),
        ("dying, tied, skies, happy", "die tie sky happiness", ["dying", "tied", "skies", "happy"]),
        ("Ticket POL-358.", "POL-358", ["POL", "358"]),
        ("un Café noir, Straße, ﬁles", "cafe strasse file", ["Café", "Straße", "ﬁles"]),
        ("Москва и москва", "МОСКВА", ["Москва", "москва"]),
        ("重跑gen-itgc后", "itgc", ["itgc"]),
        ("none of these", "other", []),
        ("", "queue", []),
        ("x" * 5_000, "x", []),
    ],
)
def test_words_are_marked_by_their_stem(text: str, query: str, words: list[str]) -> None:
    """As they stand in the text."""
    assert words == marked(text, query)


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("步骤后50条悬空引用清零", "悬空", ["悬空"]),
        ("悬空引用清零", "悬空引用", ["悬空", "空引", "引用"]),
        ("食べますﾃｽﾄ", "テスト", ["ﾃｽ", "ｽﾄ"]),
        ("검색이 되지", "검색", ["검색"]),
        ("ABC引用", "引用", ["引用"]),
    ],
)
def test_scripts_without_spaces_are_marked_by_pairs(
    text: str, query: str, words: list[str]
) -> None:
    """Overlapping pairs make one span of a snippet."""
    assert words == marked(text, query)


def test_prefixes_and_phrases_are_marked() -> None:
    """A prefix to its word's end, a phrase with the white space in it."""
    text = "Configure with full\n jitter; AppConfig, conf"

    assert ["Configure", "AppConfig", "conf"] == marked(text, "", prefixes=("conf",))
    assert ["full\n jitter"] == marked(text, "", phrase="Full Jitter")
    assert ["引用"] == marked("悬空引用", "", prefixes=("引用",))


WORDS = (
    "deploy deployed deployment deploying deploys queue queues queueing queued city cities"
    " die dying dies lie lying lies sky skies tie tying ugly early only idly gently singly"
    " news happy happily happiness study studies studying studied run running runs runner"
    " relational conditional universe university organize organization generous generously"
    " hopping hopped analysis say easy by bye eye eyed ion ions it its a I be being been is"
    " Über naïve cafés"
).split()


@given(st.sampled_from(WORDS), st.sampled_from(WORDS))
@settings(max_examples=400, deadline=None)
def test_a_word_is_marked_if_its_terms_are_the_querys(query: str, word: str) -> None:
    """Looking only at words with the right beginning misses none."""
    terms = set(analyze_query(query))

    assert bool(terms & set(analyze(word))) == bool(marked(f"({word})", query))


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_folded_characters_lead_back_to_the_text(text: str) -> None:
    """Every character of the folded text came from a piece of the text, in order."""
    folded = FoldedText(text)
    places = [folded.original(i, i + 1) for i in range(len(folded.folded))]

    assert places == sorted(places)
    for (start, end), character in zip(places, folded.folded, strict=True):
        assert 0 <= start < end <= len(text)
        assert character in (text[start], *fold(text[start:end]))


@pytest.mark.parametrize("text", ["e\u0301t\u00e9", "ｶﾞﾗｽ", "æsir ﬁle", "हिन्दी", "กำลัง", "ǅ", "½"])
def test_a_text_folds_as_its_pieces_do(text: str) -> None:
    """Marks go with their letters."""
    assert fold(text) == FoldedText(text).folded


@given(st.text(max_size=60), st.text(max_size=20))
@settings(max_examples=300, deadline=None)
def test_marks_stay_within_the_text(text: str, query: str) -> None:
    """Whatever the text and the query."""
    pattern = Pattern.of(query)
    marker = Marker(analyze_query(query), [fold(query)], [pattern] if pattern else [])
    for mark in marker.marks(text):
        assert 0 <= mark.start < mark.end <= len(text)
        assert mark.parts
