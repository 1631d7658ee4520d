"""What a text and a question are found by."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.keyword.analyzer import (
    LONGEST_IDENTIFIER,
    LONGEST_TERM,
    analyze,
    analyze_query,
    fold,
)
from twolaned.lanes.keyword.stop_words import STOP_WORDS


def found(question: str, text: str) -> bool:
    """Whether every term of *question* is a term of *text*."""
    return set(analyze_query(question)) <= set(analyze(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("migrating databases", "We migrated the database"),
        ("retries", "it retried once and will retry"),
        ("HTTPServer", "class HTTPServer:"),
        ("http server", "class HTTPServer:"),
        ("parse config", "def parse_config(path):"),
        ("parse config", "const parseConfig = 1"),
        ("parse_config", "calls parse_config() twice"),
        ("getURLs", "getURLs()"),
        ("url", "getURLs()"),
        ("utf 8", "utf8"),
        ("server port", "server.port=8080"),
        ("8080", "server.port=8080"),
        ("--dry-run", "run it with --dry-run first"),
        ("dry run", "run it with --dry-run first"),
        ("C++", "the C++ compiler"),
        ("c#", "in C# and F#"),
        ("cafe", "Café"),
        ("café", "cafe"),
        ("STRASSE", "straße"),
        ("Lodz", "Łódź"),
        ("ﬁle", "file"),
        ("検索", "全文検索エンジン"),
        ("検索エンジン", "全文検索エンジン"),
        ("中文", "支持中文分词"),
        ("검색", "검색은"),
        ("ค้นหา", "การค้นหาข้อความ"),
        ("東京", "東京"),
        ("京", "東京"),
        ("ｆｕｌｌ", "full"),
        ("привет", "ПРИВЕТ"),
        ("rename テーブル", "renameテーブル"),
    ],
)
def test_a_question_finds_its_text(question: str, text: str) -> None:
    assert found(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("parser", "sparse"),
        ("C++", "C and java"),
        ("検査", "全文検索エンジン"),
        ("parse_config", "parse the config"),
    ],
)
def test_a_question_does_not_find_another_text(question: str, text: str) -> None:
    assert not found(question, text)


def test_stop_words_are_left_out_of_questions_and_kept_in_texts() -> None:
    assert analyze_query("what is the schema") == ["schema"]
    assert analyze("what is the schema") == ["what", "is", "the", "schema"]


def test_a_question_of_stop_words_keeps_them() -> None:
    assert analyze_query("to be or not to be") == ["to", "be", "or", "not"]


def test_the_stop_words_are_folded_words() -> None:
    assert len(STOP_WORDS) > 100
    assert all(word == fold(word) and analyze(word) for word in STOP_WORDS)


def test_a_questions_terms_are_distinct_and_in_order() -> None:
    assert analyze_query("cache key, cached keys, index") == ["cach", "key", "index"]


def test_identifiers_are_kept_whole_and_in_parts() -> None:
    assert analyze("maxBatchSize") == ["maxbatchs", "max", "batch", "size"]
    assert analyze("max_batch_size") == ["max_batch_s", "max", "batch", "size"]


def test_a_hash_is_not_taken_apart() -> None:
    assert analyze("9f86d081884c7d659a2feaa0") == ["9f86d081884c7d659a2feaa0"]


def test_long_terms_are_cut_and_long_data_is_not_taken_apart() -> None:
    data = "aB3" * LONGEST_IDENTIFIER
    assert analyze(data) == [data.lower()[:LONGEST_TERM]]


def test_a_text_is_found_by_pairs_and_by_single_characters() -> None:
    assert set(analyze("検索機")) == {"検索", "索機", "検", "索", "機"}
    assert analyze_query("検索機") == ["検索", "索機"]
    assert analyze_query("検") == ["検"]


def test_terms_occur_as_often_as_in_the_text() -> None:
    assert analyze("log logs logging logger").count("log") == 3


@pytest.mark.parametrize("text", ["", " \n\t", "...!?", "́", "_ __ ___", "+ # ++", "\u200b\ufeff"])
def test_no_words_no_terms(text: str) -> None:
    assert analyze(text) == []
    assert analyze_query(text) == []


def test_a_lone_surrogate_is_no_error() -> None:
    assert analyze("a\ud800b c") == ["a", "b", "c"]


@settings(deadline=None)
@given(st.text())
def test_every_text_is_found_by_itself(text: str) -> None:
    assert found(text, text)


@settings(deadline=None)
@given(st.text())
def test_terms_are_short_and_not_empty(text: str) -> None:
    assert all(0 < len(term.encode()) <= 4 * LONGEST_TERM for term in analyze(text))


@settings(deadline=None)
@given(st.lists(st.text(max_size=12), max_size=5))
def test_lines_are_analysed_one_by_one(lines: list[str]) -> None:
    assert analyze("\n".join(lines)) == [term for line in lines for term in analyze(line)]


@settings(deadline=None)
@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_folded_texts_compare_without_case_marks_and_white_space() -> None:
    assert fold("  Crème\n\tBRÛLÉE ") == "creme brulee"
