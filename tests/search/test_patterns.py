from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.keyword.analyzer import analyze, fold
from twolaned.lanes.keyword.characters import Kind, kind_of
from twolaned.search.patterns import Pattern, fold_quickly
from twolaned.search.words import WORD_CHARACTER, is_unspaced


def holds(text: str, said: str, *, prefix: bool = False) -> bool:
    pattern = Pattern.of(said, prefix=prefix)
    assert pattern is not None
    return pattern.occurs_in(fold_quickly(text))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("full jitter", "with Full\n\t JITTER."), ("Full  Jitter", "full jitter"),
        ("cafe", "un café noir"), ("café", "CAFE"), ("strasse", "Straße"), ("file", "ﬁle"),
        ("istanbul", "İstanbul"), ("C++", "in C++ and"), ("#hash", "a #hash"),
        ("a'b", "and a'b and"), ("error:timeout", "an error:timeout in"),
        ("gen-itgc", "重跑gen-itgc后"), ("引用", "悬空引用清零"), ("引", "悬空引用"),
        ("검색", "검색이 되지"), ("テスト", "りんご。ﾃｽﾄ"), ("POL-358", "(pol-358)"),
        ("50%", "50% of"), (".py", "main.py is"), ("user_id", "the user_id, or"), ("x", "x"),
        ("ก", "กำลัง"), ("full jitter", "full\u00a0jitter"),
    ],
)  # fmt: skip
def test_occurs(said: str, text: str) -> None:
    """Folded, at word borders; a sign has none, and neither have scripts without spaces."""
    assert holds(text, said)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("full jitter", "full jitters"), ("jitter", "antijitter"), ("C++", "in C and"),
        ("full jitter", "full, jitter"), ("user", "the user_id"), ("引用", "引 用"), ("x", "x1"),
        ("full jitter", "fulljitter"), ("a'b", "aa'b"),
    ],
)  # fmt: skip
def test_does_not_occur(said: str, text: str) -> None:
    """Inside a word, with a letter more, or with a sign between."""
    assert not holds(text, said)


def test_a_prefix_has_no_border_behind_it() -> None:
    """And covers the word to its end."""
    assert holds("rediscovered", "redis", prefix=True)
    assert not holds("predis", "redis", prefix=True)
    pattern = Pattern.of("redis", prefix=True)
    assert pattern is not None
    assert [(2, 14), (15, 20)] == pattern.spans("a rediscovered redis")


@pytest.mark.parametrize("said", ["", " ", "!?", "- -", "\u0301"])
def test_there_must_be_something_to_look_for(said: str) -> None:
    """Signs alone are no phrase."""
    assert None is Pattern.of(said)


CHARACTERS = "ab B-_.'1é引用검กำ \nहि्+#ｶﾞæ・\u0301"

texts = st.text(st.sampled_from(CHARACTERS), max_size=30)


@given(texts, texts, texts)
@settings(max_examples=500, deadline=None)
def test_a_text_with_the_pattern_has_its_terms(before: str, said: str, after: str) -> None:
    """So that looking only at rows with all the terms misses none."""
    pattern = Pattern.of(said)
    if pattern is not None and pattern.occurs_in(fold(f"{before}{said}{after}")):
        assert pattern.terms() <= set(analyze(f"{before}{said}{after}"))


def test_scripts_without_spaces_are_the_analyzers() -> None:
    """What is found by pairs or triples of characters has no word borders here either."""
    for character in map(chr, range(0x80, 0x40000)):
        if kind_of(character) >= Kind.PAIRS:
            assert is_unspaced(character)
        elif character.isalnum() and not "\uff66" <= character <= "\uffdc":
            assert not is_unspaced(character)


@given(texts, st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_pattern_occurs_in_its_own_text(said: str, prefix: bool) -> None:
    """Whatever the text."""
    pattern = Pattern.of(said, prefix=prefix)
    if pattern is not None:
        assert pattern.occurs_in(fold_quickly(said))
        assert pattern.occurs_in(fold_quickly(f"( {said} )"))


@given(texts, texts, texts, st.booleans())
@settings(max_examples=500, deadline=None)
def test_it_finds_what_one_expression_would(
    before: str, said: str, after: str, prefix: bool
) -> None:
    """Looking at the borders by hand is no other rule than looking at them in the expression."""
    pattern = Pattern.of(said, prefix=prefix)
    if pattern is None:
        return
    left = f"(?<!{WORD_CHARACTER})" if re.match(WORD_CHARACTER, pattern.text[0]) else ""
    right = f"(?!{WORD_CHARACTER})" if re.match(WORD_CHARACTER, pattern.text[-1]) else ""
    words = r"\s+".join(map(re.escape, pattern.text.split()))
    expression = f"{left}{words}" + (f"{WORD_CHARACTER}*" if prefix else right)
    text = fold_quickly(f"{before}{said}{after} {said}{said}")
    assert pattern.spans(text) == [match.span() for match in re.finditer(expression, text)]


@given(st.text(st.sampled_from(CHARACTERS + "İßﬁﾞ\u200b\u00a0\u3000\u0345Σς\u1e9e"), max_size=14))
@settings(max_examples=500, deadline=None)
def test_folding_quickly_is_folding(text: str) -> None:
    """But for white space, which stays as it is."""
    assert " ".join(fold_quickly(text).split()) == fold(text)
