"""Texts of many scripts, and what people type to find them again."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.search.corpus import Corpus
from twolaned.search.words import is_unspaced

TEXTS = (
    "步骤2 重跑gen-itgc后50条悬空引用清零，修复已验证",
    "リンゴを食べます。テスト",
    "Ticket POL-358 and ask-codex: error:timeout in C++ and a'b and @nasa 50% grammar",
    "naïve café Straße ﬁle İstanbul",
    "검색이 되지 않는 문제 広西",
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    corpus = Corpus()
    for number, text in enumerate(TEXTS):
        corpus.add(text, id=str(number), title=f"Search text {number}")
    return corpus


HITS = {
    "0": ["悬空", "itgc", "引用", "gen-itgc", '"悬空引用"', '"引用清"', "悬空引*", "gen*"],
    "1": ["食べ", "テスト", "ﾃｽﾄ", '"を食べ"'],
    "2": [
        *("POL-358", "pol-358", "ask-codex", "error:timeout", "a'b", '"a\'b"', "C++", '"C++"'),
        *("@nasa", "50% grammar", "“error:timeout in c++”", "gramm*"),
    ],
    "3": ["cafe", "CAFÉ", "strasse", "file", "istanbul", "naive", "strass*", '"cafe strasse"'],
    "4": ["검색", "広西", "문제", '"되지 않는"'],
}


@pytest.mark.parametrize(
    ("found", "query"), [(n, q) for n, queries in HITS.items() for q in queries]
)
def test_hits(corpus: Corpus, found: str, query: str) -> None:
    """The text is found, first, and something of it is marked."""
    results = corpus.search(query).results

    assert found == results[0].id
    assert results[0].snippet.matches


def test_alternatives_in_two_scripts(corpus: Corpus) -> None:
    """`OR` is a word like any other: words are alternatives anyway."""
    assert {"0", "4"} == set(corpus.ids("広西 OR 引用"))


ODD = (
    *('" ( ) * ^ : - AND OR NOT NEAR @ # = 50% C++', '"', "(", ")", "*", "^", ":", "-", "@", "#"),
    *("=", "AND", "OR", "NOT", "NEAR", "50%", "C++", 'an "unbalanced quote', "NEAR(a b)"),
    *("a AND NOT b", "col:val", "{x}", "[y]", "a/b\\c", "\x00", "\u202e", "🙂", "%s %d", "'; --"),
)


@pytest.mark.parametrize("query", ODD)
def test_nothing_is_a_syntax_error(corpus: Corpus, query: str) -> None:
    """Every query has an answer."""
    assert corpus.search(query).final


def test_every_pair_of_unspaced_characters_is_found(corpus: Corpus) -> None:
    """Two characters are a word in Chinese, Japanese and Korean."""
    for number, text in enumerate(TEXTS):
        for a, b in pairwise(text):
            if is_unspaced(a) and is_unspaced(b):
                assert str(number) in corpus.ids(a + b)
                assert [str(number)] == corpus.ids(f'"{a}{b}"')
